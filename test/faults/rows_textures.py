"""Rows: texture references of the driver, launches that change them, objects."""

import numpy as np

import pycuda.driver as drv

from .row import calls, row

#: image and canvas as pycuda-textures.hpp declares them, and a driver's reference.
PTX = b"""
.version 6.4
.target sm_50
.address_size 64
.const .align 8 .b8 image[16] = {0,0,0,0,0,0,0,0,116,114,101,102,32,1,0,2};
.const .align 8 .b8 canvas[16] = {0,0,0,0,0,0,0,0,115,114,101,102,0,0,0,2};
.global .texref old;
.visible .entry read(.param .u64 out) {
    .reg .b64 %rd<4>; .reg .f32 %f<5>; .reg .b32 %r<5>;
    ld.param.u64 %rd1, [out];
    ld.const.u64 %rd2, [image];
    mov.f32 %f1, 0f00000000;
    tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd2, {%f1, %f1}];
    ld.const.u64 %rd3, [canvas];
    mov.u32 %r1, 0;
    suld.b.2d.b32.trap {%r2}, [%rd3, {%r1, %r1}];
    st.global.f32 [%rd1], %f1;
    ret;
}
.visible .entry read_object(.param .u64 t, .param .u64 s, .param .u64 out) {
    .reg .b64 %rd<4>; .reg .f32 %f<5>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [t];
    mov.f32 %f1, 0f00000000;
    tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd2, {%f1, %f1}];
    st.global.f32 [%rd1], %f1;
    ret;
}
\0"""

FLOATS = np.arange(8, dtype=np.float32).reshape(2, 4)
BLOCK = (1, 1, 1)


def flat():
    d = drv.ArrayDescriptor()
    d.width, d.height, d.format, d.num_channels = 4, 2, drv.array_format.FLOAT, 1
    return d


def full(flags=drv.array3d_flags.SURFACE_LDST):
    d = drv.ArrayDescriptor3D()
    d.width, d.height, d.format, d.num_channels = 4, 2, drv.array_format.FLOAT, 1
    d.flags = flags
    return d


def array():
    made = drv.Array(full())
    made.set(FLOATS)
    return made


def module():
    return drv.module_from_buffer(PTX)


def bound():
    """A module with bound and stored references, and its kernel."""
    loaded = module()
    loaded.get_texref("image").set_array(array())
    loaded.get_surfref("canvas").set_array(array())
    kernel, out = loaded.get_function("read"), drv.mem_alloc(4)
    kernel(out, block=BLOCK)
    return loaded, kernel, out


def reference(name, function):
    """Add a row for a method of a TextureReference of the driver."""

    def make(w):
        texref = module().get_texref("old")
        texref.set_array(array())
        memory = w.memory
        return lambda: function(texref, memory)

    row(f"TextureReference.{name} (of the driver)", make)


row(
    "Array.set (device)",
    lambda w: (lambda a, m: lambda: a.set(m))(array(), w.memory),
)
row(
    "Array.set (stream)",
    lambda w: (lambda a, s: lambda: a.set(FLOATS, stream=s))(array(), w.stream),
)
calls("TextureObject (memory)", lambda m: drv.TextureObject(m, flat(), 64), "memory")


def call_with_objects(w):
    kernel, memory = module().get_function("read_object"), w.memory
    texture, surface = drv.TextureObject(array()), drv.SurfaceObject(array())
    kernel(texture, surface, memory, block=BLOCK)  # makes the kernel known
    return lambda: kernel(texture, surface, memory, block=BLOCK)


row("Function.__call__ (objects)", call_with_objects)


def call_with_references(w):
    loaded, kernel, out = bound()
    for number in range(3):  # in two streams, so that a change must wait for both
        kernel(out, block=BLOCK, stream=w.stream if number == 1 else None)
    loaded.get_texref("image").set_filter_mode(1)
    loaded.get_surfref("canvas").set_array(array())
    return lambda: kernel(out, block=BLOCK)


MADE = "the module keeps what was made of its references, for the next launch"
row(
    "Function.__call__ (references)",
    call_with_references,
    absorbs={"cuStreamIsCapturing": "the stream counts as not captured"},
    changes=dict.fromkeys(
        (
            "cuSurfObjectCreate",
            "cuTexObjectCreate",
            "cuMemcpyHtoDAsync",
            "cuEventRecord",
            "cuLaunchKernel",
        ),
        MADE,
    ),
    no_allocations=MADE,
)

row(
    "Module.get_texref (of the driver)",
    lambda w: (lambda m: lambda: m.get_texref("old"))(module()),
    absorbs={
        ("cuModuleGetGlobal", 1): "a driver says so of names that are no variable's",
        ("cuModuleGetTexRef", 1): "the error then is what it said of the variable",
    },
)
reference("set_array", lambda t, m: t.set_array(t.get_array()))
reference("set_address", lambda t, m: t.set_address(m, 64))
reference("set_address_2d", lambda t, m: t.set_address_2d(m, flat(), 64))
reference("set_format", lambda t, m: t.set_format(drv.array_format.FLOAT, 2))
reference("set_address_mode", lambda t, m: t.set_address_mode(1, 2))
reference("set_filter_mode", lambda t, m: t.set_filter_mode(1))
reference("set_flags", lambda t, m: t.set_flags(2))
reference("get_array", lambda t, m: t.get_array())
reference("get_address_mode", lambda t, m: t.get_address_mode(0))
reference("get_filter_mode", lambda t, m: t.get_filter_mode())
reference("get_format", lambda t, m: t.get_format())
reference("get_flags", lambda t, m: t.get_flags())

# -- mipmapped arrays ------------------------------------------------------------------


def _mipmap():
    d = drv.ArrayDescriptor3D()
    d.width, d.height, d.depth = 8, 4, 0
    d.format, d.num_channels = drv.array_format.FLOAT, 1
    return drv.MipmappedArray(d)


row("MipmappedArray", lambda w: _mipmap)
row("MipmappedArray (dropped)", lambda w: [_mipmap()].clear)
row("MipmappedArray.free", lambda w: _mipmap().free)
row("MipmappedArray.levels", lambda w: (lambda a: lambda: a.levels)(_mipmap()))
row("MipmappedArray.handle", lambda w: (lambda a: lambda: a.handle)(_mipmap()))
row(
    "MipmappedArray.get_level",
    lambda w: (lambda a: lambda: a.get_level(1))(_mipmap()),
)
row("MipmappedArray.get_descriptor_3d", lambda w: _mipmap().get_descriptor_3d)
row(
    "TextureObject (mipmapped)",
    lambda w: (lambda a: lambda: drv.TextureObject(a, normalized_coords=True))(
        _mipmap()
    ),
)
