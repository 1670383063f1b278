"""Rows: arrays, textures, surfaces."""

import numpy as np

import pycuda.driver as drv

from .row import calls, row

#: image and canvas as pycuda-textures.hpp declares them, and a reference of the driver.
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


class FakeGPUArray:
    """What the helpers ask of an array on the device."""

    class flags:
        forc = True

    def __init__(self, memory):
        self.gpudata = memory
        self.shape, self.strides, self.dtype = (2, 4), (16, 4), np.dtype(np.float32)


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
    """A module whose references are bound and stored, and its kernel."""
    loaded = module()
    loaded.get_texref("image").set_array(array())
    loaded.get_surfref("canvas").set_array(array())
    kernel, out = loaded.get_function("read"), drv.mem_alloc(4)
    kernel(out, block=BLOCK)
    return loaded, kernel, out


def reference(name, function, **more):
    """A row for a method of TextureReference: of a variable, and of the driver's."""
    for variable, what in (("image", ""), ("old", " (of the driver)")):

        def make(w, variable=variable):
            texref = module().get_texref(variable)
            texref.set_array(array())
            memory = w.memory
            return lambda: function(texref, memory)

        row(f"TextureReference.{name}{what}", make, **more)


# -- arrays ----------------------------------------------------------------------------

row("ArrayDescriptor", lambda w: drv.ArrayDescriptor)
row("ArrayDescriptor3D", lambda w: drv.ArrayDescriptor3D)
for type_, make_one, fields in (
    ("ArrayDescriptor", flat, ("width", "height", "num_channels", "format")),
    (
        "ArrayDescriptor3D",
        full,
        ("width", "height", "depth", "num_channels", "format", "flags"),
    ),
):
    for field in fields:

        def get_and_set(w, make_one=make_one, field=field):
            d = make_one()
            return lambda: setattr(d, field, getattr(d, field))

        row(f"{type_}.{field}", get_and_set)

row("Array", lambda w: lambda: drv.Array(flat()))
row("Array (3D)", lambda w: lambda: drv.Array(full()))
row("Array (dropped)", lambda w: [array()].clear)
row("Array.free", lambda w: array().free)
row("Array.handle", lambda w: (lambda a: lambda: a.handle)(array()))
row("Array.get_descriptor", lambda w: array().get_descriptor)
row("Array.get_descriptor_3d", lambda w: array().get_descriptor_3d)
row("Array.get", lambda w: array().get)
row("Array.set", lambda w: (lambda a: lambda: a.set(FLOATS))(array()))
row(
    "Array.set (device)",
    lambda w: (lambda a, m: lambda: a.set(m))(array(), w.memory),
)
row(
    "Array.set (stream)",
    lambda w: (lambda a, s: lambda: a.set(FLOATS, stream=s))(array(), w.stream),
)

row("dtype_to_array_format", lambda w: lambda: drv.dtype_to_array_format("float32"))
row("matrix_to_array", lambda w: lambda: drv.matrix_to_array(FLOATS, "F"))
row("np_to_array", lambda w: lambda: drv.np_to_array(FLOATS, "C", True))
row(
    "make_multichannel_2d_array",
    lambda w: lambda: drv.make_multichannel_2d_array(FLOATS[..., None], "C"),
)
calls(
    "gpuarray_to_array", lambda m: drv.gpuarray_to_array(FakeGPUArray(m), "C"), "memory"
)

# -- objects ---------------------------------------------------------------------------

row("TextureObject", lambda w: (lambda a: lambda: drv.TextureObject(a))(array()))
calls("TextureObject (memory)", lambda m: drv.TextureObject(m, flat(), 64), "memory")
row("TextureObject (dropped)", lambda w: [drv.TextureObject(array())].clear)
row("TextureObject.free", lambda w: drv.TextureObject(array()).free)
row(
    "TextureObject.handle",
    lambda w: (lambda t: lambda: t.handle)(drv.TextureObject(array())),
)
row(
    "TextureObject.source",
    lambda w: (lambda t: lambda: t.source)(drv.TextureObject(array())),
)
row("SurfaceObject", lambda w: (lambda a: lambda: drv.SurfaceObject(a))(array()))
row("SurfaceObject (dropped)", lambda w: [drv.SurfaceObject(array())].clear)
row("SurfaceObject.free", lambda w: drv.SurfaceObject(array()).free)
row(
    "SurfaceObject.handle",
    lambda w: (lambda s: lambda: s.handle)(drv.SurfaceObject(array())),
)
row(
    "SurfaceObject.source",
    lambda w: (lambda s: lambda: s.source)(drv.SurfaceObject(array())),
)


def call_with_objects(w):
    kernel, memory = module().get_function("read_object"), w.memory
    texture, surface = drv.TextureObject(array()), drv.SurfaceObject(array())
    kernel(texture, surface, memory, block=BLOCK)  # it knows the kernel from now on
    return lambda: kernel(texture, surface, memory, block=BLOCK)


row("Function.__call__ (objects)", call_with_objects)

# -- references ------------------------------------------------------------------------

for variable, what in (("image", ""), ("old", " (of the driver)")):

    def get_texref(w, variable=variable):
        loaded = module()
        return lambda: loaded.get_texref(variable)

    row(f"Module.get_texref{what}", get_texref)
row(
    "Module.get_surfref",
    lambda w: (lambda m: lambda: m.get_surfref("canvas"))(module()),
)


def call_with_references(w):
    loaded, kernel, out = bound()
    for number in range(3):  # in two streams, so that a change has to wait for them
        kernel(out, block=BLOCK, stream=w.stream if number == 1 else None)
    loaded.get_texref("image").set_filter_mode(1)
    loaded.get_surfref("canvas").set_array(array())
    return lambda: kernel(out, block=BLOCK)


MADE = "the module keeps what was made of its references, for the next launch"
row(
    "Function.__call__ (references)",
    call_with_references,
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

row("TextureReference", lambda w: drv.TextureReference)
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


def get_address(w):
    texref = module().get_texref("old")
    texref.set_address(w.memory, 64)
    return texref.get_address


row("TextureReference.get_address", get_address)


def surface_reference(function):
    def make(w):
        surfref = module().get_surfref("canvas")
        surfref.set_array(made := array())
        return lambda: function(surfref, made)

    return make


row("SurfaceReference.set_array", surface_reference(lambda s, a: s.set_array(a)))
row("SurfaceReference.get_array", surface_reference(lambda s, a: s.get_array()))

row(
    "bind_array_to_texref",
    lambda w: (lambda a, t: lambda: drv.bind_array_to_texref(a, t))(
        array(), drv.TextureReference()
    ),
)
row(
    "matrix_to_texref",
    lambda w: (lambda t: lambda: drv.matrix_to_texref(FLOATS, t, "C"))(
        drv.TextureReference()
    ),
)
row(
    "gpuarray_to_texref",
    lambda w: (lambda t, m: lambda: drv.gpuarray_to_texref(FakeGPUArray(m), t))(
        drv.TextureReference(), w.memory
    ),
)
