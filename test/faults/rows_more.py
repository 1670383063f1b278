"""Rows: exchange with other libraries, linking, OpenGL."""

import functools
import tempfile
from operator import attrgetter

import numpy as np

import pycuda.compiler as compiler
import pycuda.driver as drv
from support.opengl import StandIn

from .row import PTX, calls, refused, row
from .rows_compiler import options, path
from .rows_pools import block

INPUT_PTX = drv.jit_input_type.PTX

# -- exchange --------------------------------------------------------------------------


class Producer:
    """An object of another library, with the method of DLPack."""

    def __init__(self, w):
        self.memory = w.memory

    def __dlpack__(self, *, stream=None, max_version=None, **more):
        return self.memory.as_dlpack((4, 4), np.float32)

    def __dlpack_device__(self):
        return 2, 0


def foreign(w):
    return drv.from_dlpack(Producer(w))


NO_ANSWER = {
    "cuPointerGetAttribute": "memory that the driver does not know is the device's own"
}
NOT_CAPTURED = {"cuStreamIsCapturing": "the stream counts as not captured"}
SEEN = ("shape", "strides", "dtype", "device", "readonly", "__cuda_array_interface__")

calls(
    "DeviceAllocation.as_dlpack",
    lambda m: m.as_dlpack(4, "f4"),
    "memory",
    absorbs=NO_ANSWER,
)
calls(
    "PooledDeviceAllocation.as_dlpack",
    lambda b: b.as_dlpack(4, "f4"),
    block,
    absorbs=NO_ANSWER,
)
calls(
    "from_dlpack",
    drv.from_dlpack,
    Producer,
    absorbs={**NO_ANSWER, **NOT_CAPTURED},
)
calls(
    "from_dlpack (stream)",
    drv.from_dlpack,
    Producer,
    "stream",
    absorbs={**NO_ANSWER, **NOT_CAPTURED},
)
calls("ForeignAllocation.__int__", int, foreign)
calls("ForeignAllocation.__index__", lambda f: f.__index__(), foreign)
calls(
    "ForeignAllocation.shape",
    attrgetter(*SEEN),
    foreign,
    also=[f"ForeignAllocation.{name}" for name in SEEN],
)
row("ForeignAllocation (dropped)", lambda w: [foreign(w)].clear)

# -- linking ---------------------------------------------------------------------------


ENDS_LINKER = ("cuLinkComplete", "cuModuleLoadData", "cuLinkDestroy", "an allocation")
ENDED = dict.fromkeys(ENDS_LINKER, "link_module ends the linker, whatever comes of it")


def linker(w):
    return drv.Linker()


def fed(w):
    made = drv.Linker()
    made.add_data(PTX, INPUT_PTX)
    return made


def in_file(w):
    with tempfile.NamedTemporaryFile(dir=path(""), suffix=".ptx", delete=False) as file:
        file.write(PTX.rstrip(b"\0"))
    return file.name


def _chosen(w):
    return {**options(True), "cuda_libdir": path("")}


def _dynamic(w):
    return compiler.DynamicModule(**_chosen(w))


def _dynamic_fed(w):
    module = _dynamic(w)
    module.add_data(PTX, INPUT_PTX)
    return module


row("Linker", lambda w: drv.Linker)
row("Linker (dropped)", lambda w: [fed(w)].clear)
calls("Linker.add_data", lambda x: x.add_data(PTX, INPUT_PTX, "some"), linker)
calls("Linker.add_file", lambda x, f: x.add_file(f, INPUT_PTX), linker, in_file)
calls("Linker.link_module", lambda x: x.link_module(), fed, changes=ENDED)
calls("compiler.DynamicModule", lambda c: compiler.DynamicModule(**c), _chosen)
calls(
    "compiler.DynamicModule.add_source",
    lambda m: m.add_source("some source"),
    lambda w: (_dynamic(w).add_source("some source"), _dynamic(w))[1],
)
calls("compiler.DynamicModule.add_data", lambda m: m.add_data(PTX, INPUT_PTX), _dynamic)
calls(
    "compiler.DynamicModule.add_file",
    lambda m, f: m.add_file(f, INPUT_PTX),
    _dynamic,
    in_file,
)
calls(
    "compiler.DynamicModule.add_stdlib",
    lambda m: refused(FileNotFoundError, m.add_stdlib, "none"),
    _dynamic,
)
calls(
    "compiler.DynamicModule.link",
    lambda m: m.link(),
    _dynamic_fed,
    changes={**ENDED, "cuCtxGetCurrent": "link() drops the linker in any case"},
)
calls(
    "compiler.DynamicModule.get_function",
    lambda m: m.get_function("add"),
    lambda w: _dynamic_fed(w).link(),
)


def _dynamic_source(w):
    chosen = _chosen(w)
    compiler.DynamicSourceModule("some source", **chosen)
    return chosen


calls(
    "compiler.DynamicSourceModule",
    lambda chosen: compiler.DynamicSourceModule("some source", **chosen),
    _dynamic_source,
)

# -- OpenGL, or its stand-in -----------------------------------------------------------


@functools.cache
def gl():
    """The names of a buffer and of an image, as OpenGL would return them."""
    stand_in = StandIn()
    return stand_in, stand_in.buffer(256), stand_in.image(4, 4)


def gl_buffer(w):
    return drv.RegisteredBuffer(gl()[1])


def gl_image(w):
    return drv.RegisteredImage(gl()[2], StandIn.target)


def gl_old(w):
    return drv.BufferObject(gl()[1])


def gl_context(w):
    gl()
    return lambda: drv.make_gl_context(w.device)


row("have_gl_ext", lambda w: drv.have_gl_ext)
row("gl_init", lambda w: drv.gl_init)
row(
    "make_gl_context",
    gl_context,
    absorbs={"cuCtxCreate": "the software device makes it so, the package does not"},
)
calls("RegisteredBuffer", drv.RegisteredBuffer, lambda w: gl()[1])
calls("RegisteredBuffer (dropped)", lambda box: box.clear(), lambda w: [gl_buffer(w)])
calls(
    "RegisteredImage", drv.RegisteredImage, lambda w: gl()[2], lambda w: StandIn.target
)
calls("RegisteredObject.gl_handle", lambda r: r.gl_handle(), gl_buffer)
calls("RegisteredObject.map", lambda r: r.map(), gl_buffer)
calls("RegisteredObject.unregister", lambda r: r.unregister(), gl_buffer)
calls("RegisteredMapping.array", lambda m: m.array(0, 0), lambda w: gl_image(w).map())
calls(
    "RegisteredMapping.device_ptr_and_size",
    lambda m: m.device_ptr_and_size(),
    lambda w: gl_buffer(w).map(),
)
calls("RegisteredMapping.unmap", lambda m: m.unmap(), lambda w: gl_buffer(w).map())
row("RegisteredMapping (dropped)", lambda w: [gl_buffer(w).map()].clear)
calls("BufferObject", drv.BufferObject, lambda w: gl()[1])
row("BufferObject (dropped)", lambda w: [gl_old(w)].clear)
calls("BufferObject.handle", lambda b: b.handle(), gl_old)
calls("BufferObject.map", lambda b: b.map(), gl_old)
calls("BufferObject.unregister", lambda b: b.unregister(), gl_old)
calls(
    "BufferObjectMapping.device_ptr",
    lambda m: m.device_ptr(),
    lambda w: gl_old(w).map(),
)
calls("BufferObjectMapping.size", lambda m: m.size(), lambda w: gl_old(w).map())
calls("BufferObjectMapping.unmap", lambda m: m.unmap(), lambda w: gl_old(w).map())
row("BufferObjectMapping (dropped)", lambda w: [gl_old(w).map()].clear)
