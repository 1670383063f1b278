"""Rows of memory pools and of what streams and DLPack exchange with others."""

import pycuda.driver as drv

from .row import calls, row

# -- pools -----------------------------------------------------------------------------

row("DeviceMemoryPool", lambda w: drv.DeviceMemoryPool)
row("PageLockedAllocator", lambda w: drv.PageLockedAllocator)
row("PageLockedMemoryPool", lambda w: drv.PageLockedMemoryPool)


def device(function):
    """A call on a fresh pool of device memory."""
    return lambda w: lambda pool=drv.DeviceMemoryPool(): function(pool)


for name in ("held_blocks", "active_blocks", "managed_bytes", "active_bytes"):
    for kind in (drv.DeviceMemoryPool, drv.PageLockedMemoryPool):
        row(
            f"{kind.__name__}.{name}",
            lambda w, kind=kind, name=name: lambda pool=kind(): getattr(pool, name),
        )
for kind in (drv.DeviceMemoryPool, drv.PageLockedMemoryPool):
    for name in ("free_held", "stop_holding"):
        row(
            f"{kind.__name__}.{name}",
            lambda w, kind=kind, name=name: getattr(kind(), name),
        )
    for name in ("bin_number", "alloc_size"):
        row(
            f"{kind.__name__}.{name}",
            lambda w, kind=kind, name=name: lambda pool=kind(): getattr(pool, name)(9),
        )
row("DeviceMemoryPool.allocate", device(lambda pool: pool.allocate(100)))

# -- streams and DLPack ----------------------------------------------------------------

calls("Stream.from_handle", lambda s: drv.Stream.from_handle(s.handle), "stream")
row("Stream.get_current", lambda w: drv.Stream.get_current)
calls("Stream.priority", lambda s: s.priority, "stream")
calls("Stream.flags", lambda s: s.flags, "stream")
row(
    "Context.get_stream_priority_range", lambda w: drv.Context.get_stream_priority_range
)
