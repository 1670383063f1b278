"""Rows: memory pools and their blocks, exchange of streams with other libraries."""

from operator import attrgetter

import numpy as np

import pycuda.driver as drv

from .row import calls, row

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

# -- streams ---------------------------------------------------------------------------

row(
    "Context.get_stream_priority_range", lambda w: drv.Context.get_stream_priority_range
)
calls("Stream.flags", lambda s: s.flags, "stream")
calls("Stream.priority", lambda s: s.priority, "stream")
calls("Stream (priority)", lambda: drv.Stream(0, -1))
calls(
    "Stream.from_handle",
    lambda s: drv.Stream.from_handle(s.handle, s),
    "stream",
    absorbs={"cuStreamGetFlags": "the stream counts as a non-blocking one"},
)
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
