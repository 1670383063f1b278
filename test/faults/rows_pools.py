"""Rows of memory pools and of what streams exchange with others."""

import operator

import pycuda.driver as drv

from .row import calls, row

POOLS = (drv.DeviceMemoryPool, drv.PageLockedMemoryPool)


def on_new(kind, function):
    """A row's function: a call on a fresh object of a class."""

    def make(w):
        thing = kind()
        return lambda: function(thing)

    return make


# -- pools -----------------------------------------------------------------------------

row("PageLockedAllocator", lambda w: drv.PageLockedAllocator)
for kind in POOLS:
    row(kind.__name__, lambda w, kind=kind: kind)
    for name in ("held_blocks", "active_blocks", "managed_bytes", "active_bytes"):
        row(f"{kind.__name__}.{name}", on_new(kind, operator.attrgetter(name)))
    for name in ("free_held", "stop_holding"):
        row(f"{kind.__name__}.{name}", on_new(kind, operator.methodcaller(name)))
    for name in ("bin_number", "alloc_size"):
        row(f"{kind.__name__}.{name}", on_new(kind, operator.methodcaller(name, 9)))
row(
    "DeviceMemoryPool.allocate",
    on_new(drv.DeviceMemoryPool, operator.methodcaller("allocate", 100)),
)

# -- streams ---------------------------------------------------------------------------

calls("Stream.from_handle", lambda s: drv.Stream.from_handle(s.handle), "stream")
row("Stream.get_current", lambda w: drv.Stream.get_current)
calls("Stream.priority", lambda s: s.priority, "stream")
calls("Stream.flags", lambda s: s.flags, "stream")
row(
    "Context.get_stream_priority_range", lambda w: drv.Context.get_stream_priority_range
)
