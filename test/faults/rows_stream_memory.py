"""Rows: memory in the order of streams, virtual memory, advice on managed memory."""

import os
from types import SimpleNamespace

import numpy as np

import pycuda.driver as drv
from pycuda.gpuarray import GrowableArray

from .row import calls, row

ALREADY_FREED = {"cuMemFreeAsync": "the memory is freed behind all work instead"}
HELD = {"an allocation": "the pool holds the block that it has taken"}

# -- memory in the order of a stream ---------------------------------------------------


def in_stream(w):
    return drv.mem_alloc_async(1000, w.stream)


row("mem_alloc_async", lambda w: lambda: drv.mem_alloc_async(1000))
calls("mem_alloc_async (stream)", lambda s: drv.mem_alloc_async(1000, s), "stream")
calls("StreamAllocation.free", lambda a: a.free(), in_stream)
calls("StreamAllocation.stream", lambda a: a.stream, in_stream)
row(
    "StreamAllocation (dropped)",
    lambda w: [in_stream(w)].clear,
    absorbs=ALREADY_FREED,
)
calls(
    "DeviceAllocation.free (stream)",
    lambda a, s: a.free(s),
    lambda w: drv.mem_alloc(1000),
    "stream",
)


def used_by_two(w):
    """Memory of a stream that another stream uses."""
    other = drv.Stream()
    memory = drv.mem_alloc_async(1000, drv.Stream())
    memory.other = other
    drv.Context.synchronize()  # the other stream does not wait for the allocation
    drv.memset_d8_async(memory, 0, 1000, other)
    return memory


calls(
    "StreamAllocation.free (two streams)",
    lambda a: a.free(),
    used_by_two,
    absorbs={"cuStreamIsCapturing": "the stream is treated as not captured"},
)


def shared_pool(w):
    """A pool that holds a block which another stream has used."""
    pool = drv.DeviceMemoryPool()
    pool.streams = [drv.Stream(), drv.Stream(drv.stream_flags.NON_BLOCKING)]
    block = pool.allocate(1000)
    drv.memset_d8_async(block, 0, 1000, pool.streams[1])
    return pool


calls(
    "DeviceMemoryPool.allocate (streams)",
    lambda pool: pool.allocate(1000),
    shared_pool,
    absorbs={
        "cuEventCreate": "a new block is allocated",
        "cuEventRecord": "a new block is allocated",
        "cuEventQuery": "a new block is allocated",
        "cuCtxGetCurrent": "a new block is allocated",
        "cuStreamIsCapturing": "a new block is allocated",
        "cuThreadExchangeStreamCaptureMode": "the mode stays as it is",
    },
)

# -- pools of the driver ---------------------------------------------------------------


def stream_pool(w):
    return drv.MemoryPool()


def holding(w):
    pool = drv.MemoryPool()
    pool.allocate(1000).free()
    return pool


NUMBERS = (
    *("held_blocks", "active_blocks", "managed_bytes", "active_bytes"),
    *("reserved_bytes", "used_bytes", "release_threshold", "hold_limit"),
    *("device", "handle"),
)
USED = drv.mem_pool_attribute.USED_MEM_CURRENT
THRESHOLD = drv.mem_pool_attribute.RELEASE_THRESHOLD
SYNCHRONOUS = {"cuMemFreeAsync": "the block is freed behind all work instead"}

row("MemoryPool", lambda w: drv.MemoryPool)
calls("MemoryPool.allocate", lambda p: p.allocate(1000), stream_pool, changes=HELD)
calls("MemoryPool.allocate (held)", lambda p: p.allocate(1000), holding)
calls(
    "MemoryPool.held_blocks",
    lambda p: [getattr(p, name) for name in NUMBERS],
    holding,
    also=[f"MemoryPool.{name}" for name in NUMBERS],
)
calls("MemoryPool.free_held", lambda p: p.free_held(), holding, absorbs=SYNCHRONOUS)
calls(
    "MemoryPool.stop_holding", lambda p: p.stop_holding(), holding, absorbs=SYNCHRONOUS
)
calls("MemoryPool.bin_number", lambda p: p.bin_number(1000), stream_pool)
calls("MemoryPool.alloc_size", lambda p: p.alloc_size(40), stream_pool)
calls("MemoryPool.trim", lambda p: p.trim(), stream_pool)
calls("MemoryPool.get_attribute", lambda p: p.get_attribute(USED), stream_pool)
calls("MemoryPool.set_attribute", lambda p: p.set_attribute(THRESHOLD, 0), stream_pool)
calls("MemoryPool.get_access", lambda p: p.get_access(0), stream_pool)
calls("MemoryPool.set_access", lambda p: p.set_access(0), stream_pool)
calls("MemoryPool.get_current", drv.MemoryPool.get_current)
calls("MemoryPool.get_default", drv.MemoryPool.get_default)
calls(
    "MemoryPool.make_current",
    lambda p: p.make_current(),
    lambda w: drv.MemoryPool.get_default(),
)
row("MemoryPool (dropped)", lambda w: [holding(w)].clear, absorbs=SYNCHRONOUS)


def open_pool(w):
    return drv.MemoryPool(ipc=True)


def pool_file(w):
    pool = open_pool(w)
    file = pool.export_handle()
    pool.__dict__["file"] = os.fdopen(file)  # closes it with the pool
    return pool


calls("MemoryPool.export_handle", lambda p: os.close(p.export_handle()), open_pool)
calls(
    "MemoryPool.from_handle",
    lambda p: drv.MemoryPool.from_handle(p.file.fileno()),
    pool_file,
)


def shared_memory(w):
    pool = open_pool(w)
    os.close(pool.export_handle())
    return SimpleNamespace(pool=pool, memory=pool.allocate(1000))


def opened_memory(w):
    """A pool opened in the process that made it, which the software device allows."""
    w = shared_memory(w)
    file = w.pool.export_handle()
    w.opened = drv.MemoryPool.from_handle(file)
    os.close(file)
    w.data = w.pool.export_pointer(w.memory)
    return w


calls(
    "MemoryPool.export_pointer",
    lambda s: s.pool.export_pointer(s.memory),
    shared_memory,
)
calls(
    "MemoryPool.import_pointer",
    lambda s: s.opened.import_pointer(s.data),
    opened_memory,
)

# -- virtual memory --------------------------------------------------------------------


def mapped(w):
    space = drv.VirtualMemory(1)
    space.map(drv.PhysicalMemory(1))
    return space


row("mem_granularity", lambda w: drv.mem_granularity)
row("PhysicalMemory", lambda w: lambda: drv.PhysicalMemory(1))
calls("PhysicalMemory.free", lambda m: m.free(), lambda w: drv.PhysicalMemory(1))
calls("PhysicalMemory.size", lambda m: m.size, lambda w: drv.PhysicalMemory(1))
row("PhysicalMemory (dropped)", lambda w: [drv.PhysicalMemory(1)].clear)
calls(
    "PhysicalMemory.export_handle",
    lambda m: os.close(m.export_handle()),
    lambda w: drv.PhysicalMemory(1, ipc=True),
)


def memory_file(w):
    memory = drv.PhysicalMemory(1, ipc=True)
    memory.file = os.fdopen(memory.export_handle())
    return memory


calls(
    "PhysicalMemory.from_handle",
    lambda m: drv.PhysicalMemory.from_handle(m.file.fileno(), m.size),
    memory_file,
)
row("VirtualMemory", lambda w: lambda: drv.VirtualMemory(1))
calls(
    "VirtualMemory.map",
    lambda s, m: s.map(m),
    lambda w: drv.VirtualMemory(1),
    lambda w: drv.PhysicalMemory(1),
)
calls("VirtualMemory.unmap", lambda s: s.unmap(), mapped)
calls("VirtualMemory.set_access", lambda s: s.set_access(0), mapped)
calls("VirtualMemory.get_access", lambda s: s.get_access(0), mapped)
calls(
    "VirtualMemory.free",
    lambda s: s.free(),
    mapped,
    changes={"cuMemAddressFree": "the memory is unmapped; free() can be called again"},
)
calls(
    "VirtualMemory.size",
    lambda s: (s.size, s.mappings),
    mapped,
    also=["VirtualMemory.mappings"],
)
row("VirtualMemory (dropped)", lambda w: [mapped(w)].clear)
row("GrowableArray.append", lambda w: lambda: GrowableArray(max_rows=9).append([1, 2]))


def rows_of(w):
    """An array of rows that has grown, with memory for more."""
    rows = GrowableArray(max_rows=1 << 22, dtype=np.int32)
    rows.append([1, 2, 3])
    rows.reserve(1 << 20)
    return rows


calls("GrowableArray.append (grown)", lambda r: r.append(5), rows_of)
MAPPED = {"cuMemRelease": "the memory is mapped already, and stays so"}
calls("GrowableArray.reserve", lambda r: r.reserve(1 << 21), rows_of, changes=MAPPED)
calls("GrowableArray.resize", lambda r: r.resize(1 << 21), rows_of, changes=MAPPED)
calls("GrowableArray.trim", lambda r: r.trim(), rows_of)
calls("GrowableArray.get", lambda r: r.get(), rows_of)
calls("GrowableArray.array", lambda r: r.array, rows_of)
calls(
    "GrowableArray.free",
    lambda r: r.free(),
    rows_of,
    changes=dict.fromkeys(
        ("cuMemUnmap", "cuMemAddressFree"),
        "some memory is unmapped; free() can be called again",
    ),
)
row("GrowableArray (dropped)", lambda w: [rows_of(w)].clear)

# -- in a capture ----------------------------------------------------------------------


def captured(name, work, *makers, **more):
    """Add a row that makes objects, and uses and drops them in a captured block."""

    def make(w):
        stream = w.stream

        def call():
            things = [maker(w) for maker in makers]
            with stream.capture():
                work(things)

        return call

    row(f"{name} (captured)", make, **more)


def used(things):
    """Use the first thing in captured work, and drop it."""
    drv.memset_d8_async(things.pop(0), 1, 8)


RELAXED = {
    "cuThreadExchangeStreamCaptureMode": "pools then ask streams in the thread's mode",
    "cuMemGetAddressRange": "the word counts as no address of device memory",
    **dict.fromkeys(
        ("cuCtxGetCurrent", "cuStreamIsCapturing", "cuEventCreate", "cuEventRecord"),
        "the stream that ends has no fence; its memory is freed behind all work",
    ),
    "cuEventQuery": "the fence counts as not passed",
    "cuEventDestroy": "a warning says so",
}
for _name, _maker in (
    ("VirtualMemory", mapped),
    ("GrowableArray", rows_of),
    ("StreamAllocation", in_stream),
    ("StreamAllocation of two streams", used_by_two),
    ("PhysicalMemory", lambda w: drv.PhysicalMemory(1)),
    ("MemoryPool", holding),
):
    captured(f"{_name} dropped", list.clear, _maker, absorbs=RELAXED)
captured("VirtualMemory used", used, mapped, absorbs=RELAXED)
captured("VirtualMemory.free", lambda t: t[0].free(), mapped, absorbs=RELAXED)
captured("StreamAllocation.free", lambda t: t[0].free(), used_by_two, absorbs=RELAXED)
captured("mem_alloc_async", lambda t: drv.mem_alloc_async(64), absorbs=RELAXED)
captured(
    "MemoryPool.allocate",
    lambda t: t[0].allocate(1 << 20),
    stream_pool,
    absorbs=RELAXED,
)

# -- managed memory --------------------------------------------------------------------


def managed(w):
    return drv.managed_empty(100, np.float32, mem_flags=drv.mem_attach_flags.GLOBAL)


READ_MOSTLY = drv.mem_advice.SET_READ_MOSTLY
calls("mem_advise", lambda x: drv.mem_advise(x, READ_MOSTLY), managed)
calls("mem_prefetch", drv.mem_prefetch, managed)
calls("mem_prefetch_batch", lambda x: drv.mem_prefetch_batch([x]), managed)
calls(
    "mem_prefetch_batch (stream)",
    lambda x, s: drv.mem_prefetch_batch([x], stream=s),
    managed,
    "stream",
)
ATTRIBUTES = drv.mem_range_attribute
calls(
    "mem_range_get_attribute",
    lambda x: drv.mem_range_get_attribute(x, ATTRIBUTES.READ_MOSTLY),
    managed,
)
calls(
    "mem_range_get_attribute (accessed by)",
    lambda x: drv.mem_range_get_attribute(x, ATTRIBUTES.ACCESSED_BY),
    managed,
)
calls(
    "mem_range_get_attribute (place)",
    lambda x: drv.mem_range_get_attribute(x, ATTRIBUTES.PREFERRED_LOCATION),
    managed,
)
