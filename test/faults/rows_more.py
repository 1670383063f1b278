"""Rows: pools, exchange with other libraries, linking, OpenGL."""

import functools
import tempfile
from operator import attrgetter

import numpy as np

import pycuda.compiler as compiler
import pycuda.driver as drv
from support.opengl import StandIn

from .row import PTX, calls, refused, row
from .rows_compiler import options, path

INPUT_PTX = drv.jit_input_type.PTX

# -- pools -----------------------------------------------------------------------------


def device_pool(w):
    return drv.DeviceMemoryPool()


def host_pool(w):
    return drv.PageLockedMemoryPool()


def holding(w):
    """A pool that holds a freed block."""
    pool = device_pool(w)
    pool.allocate(1000).free()
    return pool


def holding_host(w):
    pool = host_pool(w)
    pool.allocate(1000, np.uint8).base.free()
    return pool


def block(w):
    return device_pool(w).allocate(1000)


def host_block(w):
    return host_pool(w).allocate(1000, np.uint8).base


COUNTERS = ("held_blocks", "active_blocks", "managed_bytes", "active_bytes")
HELD = {"an allocation": "the pool holds the block that it has taken"}

row("PageLockedAllocator", lambda w: drv.PageLockedAllocator)
for _kind, _holding, _arguments in (
    (drv.DeviceMemoryPool, holding, (1000,)),
    (drv.PageLockedMemoryPool, holding_host, (1000, np.uint8)),
):
    _name = _kind.__name__
    row(_name, lambda w, kind=_kind: kind)
    calls(
        f"{_name}.allocate",
        lambda pool, arguments=_arguments: pool.allocate(*arguments),
        lambda w, kind=_kind: kind(),
        changes=HELD,
    )
    calls(
        f"{_name}.allocate (held)",
        lambda pool, arguments=_arguments: pool.allocate(*arguments),
        _holding,
    )
    calls(
        f"{_name}.held_blocks",
        attrgetter(*COUNTERS),
        _holding,
        also=[f"{_name}.{name}" for name in COUNTERS],
    )
    calls(f"{_name}.free_held", lambda pool: pool.free_held(), _holding)
    calls(f"{_name}.stop_holding", lambda pool: pool.stop_holding(), _holding)
    calls(f"{_name}.bin_number", lambda pool: pool.bin_number(1000), _holding)
    calls(f"{_name}.alloc_size", lambda pool: pool.alloc_size(40), _holding)
    row(f"{_name} (dropped)", lambda w, make=_holding: [make(w)].clear)

calls("PooledDeviceAllocation.__int__", int, block)
calls("PooledDeviceAllocation.__index__", lambda b: b.__index__(), block)
calls("PooledDeviceAllocation.__len__", len, block)
calls("PooledDeviceAllocation.free", lambda b: b.free(), block)
row("PooledDeviceAllocation (dropped)", lambda w: [block(w)].clear)
calls("PooledHostAllocation.__len__", len, host_block)
calls("PooledHostAllocation.free", lambda b: b.free(), host_block)
row("PooledHostAllocation (dropped)", lambda w: [host_block(w)].clear)

# -- exchange --------------------------------------------------------------------------


class Producer:
    """What another library would give: it has the method of DLPack."""

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
calls("from_dlpack", drv.from_dlpack, Producer, absorbs=NO_ANSWER)
calls("from_dlpack (stream)", drv.from_dlpack, Producer, "stream", absorbs=NO_ANSWER)
calls("ForeignAllocation.__int__", int, foreign)
calls("ForeignAllocation.__index__", lambda f: f.__index__(), foreign)
calls(
    "ForeignAllocation.shape",
    attrgetter(*SEEN),
    foreign,
    also=[f"ForeignAllocation.{name}" for name in SEEN],
)
row("ForeignAllocation (dropped)", lambda w: [foreign(w)].clear)

# -- streams ---------------------------------------------------------------------------

row(
    "Context.get_stream_priority_range", lambda w: drv.Context.get_stream_priority_range
)
calls("Stream.flags", lambda s: s.flags, "stream")
calls("Stream.priority", lambda s: s.priority, "stream")
calls("Stream (priority)", lambda: drv.Stream(0, -1))
calls("Stream.from_handle", lambda s: drv.Stream.from_handle(s.handle, s), "stream")
calls("Stream.get_current", drv.Stream.get_current)


def entered(w):
    stream = drv.Stream()
    stream.__enter__()
    return stream


calls(
    "Stream.__enter__",
    lambda s: s.__enter__(),
    "stream",
    undo=lambda w: w.stream.__exit__(None, None, None),
)
calls("Stream.__exit__", lambda s: s.__exit__(None, None, None), entered)

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
calls("compiler.DynamicModule.link", lambda m: m.link(), _dynamic_fed, changes=ENDED)
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

# -- OpenGL, or what stands for it -----------------------------------------------------


@functools.cache
def gl():
    """The names that OpenGL would have given: a buffer's and an image's."""
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
