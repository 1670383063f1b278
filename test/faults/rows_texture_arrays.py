"""Rows: texture arrays, textures, surfaces, and their bindings."""

import numpy as np

import pycuda.driver as drv

from .row import calls, row

FLOAT = drv.array_format.FLOAT

#: The PTX of a texture<float, 2> and a surface<> of pycuda-textures.hpp.
PTX = b"""
.version 6.4
.target sm_75
.address_size 64
.const .align 8 .b8 tex[16] = {0,0,0,0,0,0,0,0, 116,114,101,102, 32,1,0,2};
.const .align 8 .b8 surf[16] = {0,0,0,0,0,0,0,0, 115,114,101,102, 0,0,0,2};
.visible .entry read(.param .u64 p)
{
    .reg .f32 %f<7>; .reg .b32 %r<2>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, %tid.x;
    cvt.rn.f32.u32 %f1, %r1; ld.const.u64 %rd3, [tex]; mov.f32 %f2, 0f00000000;
    tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd3, {%f1, %f2}];
    mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd2, %rd4; st.global.f32 [%rd5], %f3;
    ret;
}
.visible .entry write(.param .u64 p)
{
    .reg .b32 %r<5>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3; ld.global.u32 %r2, [%rd4];
    shl.b32 %r3, %r1, 2; ld.const.u64 %rd5, [surf]; mov.u32 %r4, 0;
    sust.b.2d.b32.trap [%rd5, {%r3, %r4}], {%r2};
    ret;
}
\0"""


def plan(width=16, height=4):
    descriptor = drv.ArrayDescriptor()
    descriptor.width, descriptor.height = width, height
    descriptor.format, descriptor.num_channels = FLOAT, 1
    return descriptor


def plan_3d(depth=2, flags=0):
    descriptor = drv.ArrayDescriptor3D()
    descriptor.width, descriptor.height, descriptor.depth = 16, 4, depth
    descriptor.format, descriptor.num_channels = FLOAT, 1
    descriptor.flags = flags
    return descriptor


def floats(w):
    """Four rows of 16 floats."""
    return drv.Array(plan())


def line(w):
    """A line of 16 floats, whose bytes are copied by offset."""
    return drv.Array(plan(16, 0))


def volume(w):
    return drv.Array(plan_3d())


def writable(w):
    """An array that allows surfaces."""
    return drv.Array(plan_3d(0, drv.array3d_flags.SURFACE_LDST))


def matrix(w):
    return np.ones((4, 16), np.float32)


class OnDevice:
    """An object with the attributes that the functions for device arrays read."""

    def __init__(self, w):
        values = matrix(w)
        self.shape, self.dtype, self.strides = (
            values.shape,
            values.dtype,
            values.strides,
        )
        self.size, self.nbytes = values.size, values.nbytes
        self.gpudata = w.memory
        self.flags = values.flags


# -- arrays ----------------------------------------------------------------------------

DESCRIBED = ("width", "height", "format", "num_channels")

row("ArrayDescriptor", lambda w: drv.ArrayDescriptor)
row("ArrayDescriptor3D", lambda w: drv.ArrayDescriptor3D)
row(
    "ArrayDescriptor.width",
    lambda w: plan,
    also=[f"ArrayDescriptor.{name}" for name in DESCRIBED],
)
row(
    "ArrayDescriptor3D.width",
    lambda w: plan_3d,
    also=[f"ArrayDescriptor3D.{name}" for name in (*DESCRIBED, "depth", "flags")],
)
calls("Array", drv.Array, lambda w: plan())
calls("Array (3D)", drv.Array, lambda w: plan_3d())
row("Array (dropped)", lambda w: [floats(w)].clear)
calls("Array.free", lambda a: a.free(), floats)
calls("Array.handle", lambda a: a.handle, floats)
calls("Array.get_descriptor", lambda a: a.get_descriptor(), floats)
calls("Array.get_descriptor_3d", lambda a: a.get_descriptor_3d(), volume)
calls("Array.set", lambda a, m: a.set(m), floats, matrix)
calls("Array.get", lambda a: a.get(), floats)
calls("dtype_to_array_format", lambda: drv.dtype_to_array_format(np.float32))
for _order in "CF":
    calls(
        f"matrix_to_array ({_order})",
        lambda m, order=_order: drv.matrix_to_array(m, order),
        lambda w, order=_order: np.asarray(matrix(w), order=order),
    )
calls("matrix_to_array", lambda m: drv.matrix_to_array(m, "C"), matrix)
calls("np_to_array", lambda m: drv.np_to_array(m, "C"), matrix)
calls("gpuarray_to_array", lambda a: drv.gpuarray_to_array(a, "C"), OnDevice)
calls(
    "make_multichannel_2d_array",
    lambda a: drv.make_multichannel_2d_array(a, "C"),
    lambda w: np.ones((4, 8, 2), np.float32),
)

# -- copies ----------------------------------------------------------------------------

calls("memcpy_atoa", lambda a, b: drv.memcpy_atoa(a, 0, b, 0, 64), line, line)
calls("memcpy_atod", lambda m, a: drv.memcpy_atod(m, a, 0, 64), "memory", line)
calls("memcpy_dtoa", lambda a, m: drv.memcpy_dtoa(a, 0, m, 64), line, "memory")
for _name in ("memcpy_atoh", "py_memcpy_atoh"):
    calls(
        _name,
        lambda h, a, name=_name: getattr(drv, name)(h, a, 0),
        lambda w: np.empty(16, np.float32),
        line,
    )
for _name in ("memcpy_htoa", "py_memcpy_htoa"):
    calls(
        _name,
        lambda a, h, name=_name: getattr(drv, name)(a, 0, h),
        line,
        lambda w: np.ones(16, np.float32),
    )
calls(
    "memcpy_atoh_async",
    lambda h, a, s: drv.memcpy_atoh_async(h[:16], a, 0, s),
    "pinned",
    line,
    "stream",
)
calls(
    "memcpy_htoa_async",
    lambda a, h, s: drv.memcpy_htoa_async(a, 0, h[:16], s),
    line,
    "pinned",
    "stream",
)

# -- objects ---------------------------------------------------------------------------


def texture(w):
    return drv.TextureObject(floats(w))


def surface(w):
    return drv.SurfaceObject(writable(w))


calls("TextureObject", drv.TextureObject, floats)
calls(
    "TextureObject (linear)",
    lambda m: drv.TextureObject(m, plan(16, 0)),
    "memory",
)
calls("TextureObject.handle", lambda t: t.handle, texture)
calls("TextureObject.source", lambda t: t.source, texture)
calls("TextureObject.free", lambda t: t.free(), texture)
row("TextureObject (dropped)", lambda w: [texture(w)].clear)
calls("SurfaceObject", drv.SurfaceObject, writable)
calls("SurfaceObject.handle", lambda s: s.handle, surface)
calls("SurfaceObject.source", lambda s: s.source, surface)
calls("SurfaceObject.free", lambda s: s.free(), surface)
row("SurfaceObject (dropped)", lambda w: [surface(w)].clear)

# -- references ------------------------------------------------------------------------


def module(w):
    return drv.module_from_buffer(PTX)


def reference(w):
    return module(w).get_texref("tex")


def bound(w):
    texref = reference(w)
    texref.set_array(floats(w))
    return texref


def on_memory(w):
    texref = reference(w)
    texref.set_address(w.memory, 64)
    return texref


def reader(w):
    """A kernel, and a bound reference that is new to the module."""
    loaded = module(w)
    texref = loaded.get_texref("tex")
    texref.set_array(floats(w))
    return loaded.get_function("read"), texref, loaded


def writer(w):
    loaded = module(w)
    surfref = loaded.get_surfref("surf")
    surfref.set_array(writable(w))
    return loaded.get_function("write"), surfref, loaded


calls("Module.get_texref", lambda m: m.get_texref("tex"), module)
calls("Module.get_surfref", lambda m: m.get_surfref("surf"), module)
row("TextureReference", lambda w: drv.TextureReference)
calls("TextureReference.set_array", lambda t, a: t.set_array(a), reference, floats)
calls(
    "TextureReference.set_address",
    lambda t, m: t.set_address(m, 64),
    reference,
    "memory",
)
calls(
    "TextureReference.set_address_2d",
    lambda t, m: t.set_address_2d(m, plan(), 64),
    reference,
    "memory",
)
calls("TextureReference.set_format", lambda t: t.set_format(FLOAT, 1), reference)
calls(
    "TextureReference.set_address_mode",
    lambda t: t.set_address_mode(0, drv.address_mode.CLAMP),
    reference,
)
calls(
    "TextureReference.set_filter_mode",
    lambda t: t.set_filter_mode(drv.filter_mode.POINT),
    reference,
)
calls("TextureReference.set_flags", lambda t: t.set_flags(0), reference)
calls("TextureReference.get_address", lambda t: t.get_address(), on_memory)
calls("TextureReference.get_array", lambda t: t.get_array(), bound)
calls("TextureReference.get_address_mode", lambda t: t.get_address_mode(0), reference)
calls("TextureReference.get_filter_mode", lambda t: t.get_filter_mode(), reference)
calls("TextureReference.get_format", lambda t: t.get_format(), reference)
calls("TextureReference.get_flags", lambda t: t.get_flags(), reference)
row("TextureReference (dropped)", lambda w: [bound(w)].clear)
calls(
    "SurfaceReference.set_array",
    lambda m, a: m.get_surfref("surf").set_array(a),
    module,
    writable,
)
calls("SurfaceReference.get_array", lambda s: s[1].get_array(), writer)
calls("bind_array_to_texref", drv.bind_array_to_texref, floats, reference)
calls(
    "matrix_to_texref", lambda m, t: drv.matrix_to_texref(m, t, "C"), matrix, reference
)
calls("gpuarray_to_texref", drv.gpuarray_to_texref, OnDevice, reference)

#: The driver returns this error after the last parameter.
NO_MORE = {
    ("cuFuncGetParamInfo", 1): "it says that there are no more parameters",
    "cuStreamIsCapturing": "a stream that cannot be asked is none that captures",
}
KEEPS_EVENT = (
    "an allocation",
    *("cuTexObjectCreate", "cuSurfObjectCreate", "cuArray3DGetDescriptor"),
    *("cuMemcpyHtoD", "cuMemcpyHtoDAsync", "cuLaunchKernel", "cuEventRecord"),
    "cuCtxGetCurrent",
)
KEPT = "the module keeps the event that orders the stores to its references"

calls(
    "Function.__call__ (texture reference)",
    lambda kernel, m: kernel[0](m, block=(16, 1, 1), texrefs=[kernel[1]]),
    reader,
    "memory",
    absorbs=NO_MORE,
    changes=dict.fromkeys(KEEPS_EVENT, KEPT),
)
calls(
    "Function.__call__ (surface reference)",
    lambda kernel, m: kernel[0](m, block=(16, 1, 1)),
    writer,
    "memory",
    absorbs=NO_MORE,
    changes=dict.fromkeys(KEEPS_EVENT, KEPT),
)
calls(
    "Function.__call__ (stream, texture reference)",
    lambda kernel, m, s: kernel[0](m, block=(16, 1, 1), stream=s, texrefs=[kernel[1]]),
    reader,
    "memory",
    "stream",
    absorbs=NO_MORE,
    changes=dict.fromkeys(KEEPS_EVENT, KEPT),
)
calls(
    "Function.param_set_texref",
    lambda kernel: kernel[0].param_set_texref(kernel[1]),
    reader,
)
