"""Rows: memory, copies, fills."""

import numpy as np

import pycuda.driver as drv

from .row import SIZE, calls, row

WORDS = SIZE // 4


class Holder(drv.PointerHolderBase):
    """What programs write to pass memory of their own."""

    def __init__(self, memory):
        super().__init__()
        self.memory = memory

    def get_pointer(self):
        return int(self.memory)


# -- memory ----------------------------------------------------------------------------

row("mem_alloc", lambda w: lambda: drv.mem_alloc(SIZE))
row("mem_alloc_like", lambda w: lambda: drv.mem_alloc_like(w.host))
row("mem_get_info", lambda w: drv.mem_get_info)
row("to_device", lambda w: lambda: drv.to_device(w.host))
row("to_device (bytes)", lambda w: lambda: drv.to_device(b"abcd"))
row("to_device (gaps)", lambda w: (lambda a: lambda: drv.to_device(a))(w.host[::2]))
calls("from_device", lambda m: drv.from_device(m, WORDS, np.int32), "memory")
calls("from_device_like", drv.from_device_like, "memory", "host")

row("DeviceAllocation.free", lambda w: drv.mem_alloc(SIZE).free)
row("DeviceAllocation (dropped)", lambda w: [drv.mem_alloc(SIZE)].clear)
calls("DeviceAllocation.__int__", int, "memory")
calls("DeviceAllocation.__index__", lambda m: m.__index__(), "memory")
calls("DeviceAllocation.__long__", lambda m: m.__long__(), "memory")
calls("DeviceAllocation.as_buffer", lambda m: m.as_buffer(SIZE), "memory")

row("PointerHolderBase", lambda w: drv.PointerHolderBase)
calls("PointerHolderBase.__int__", lambda m: int(Holder(m)), "memory")
calls("PointerHolderBase.__index__", lambda m: Holder(m).__index__(), "memory")
calls("PointerHolderBase.__long__", lambda m: Holder(m).__long__(), "memory")
calls("PointerHolderBase.get_pointer", lambda m: Holder(m).get_pointer(), "memory")
calls("PointerHolderBase.as_buffer", lambda m: Holder(m).as_buffer(SIZE), "memory")

row("pagelocked_empty", lambda w: lambda: drv.pagelocked_empty(WORDS, np.int32))
row("pagelocked_zeros", lambda w: lambda: drv.pagelocked_zeros((2, 3), "f4", order="F"))
row("pagelocked_empty_like", lambda w: lambda: drv.pagelocked_empty_like(w.host))
row("pagelocked_zeros_like", lambda w: lambda: drv.pagelocked_zeros_like(w.host))
calls("HostPointer.get_device_pointer", lambda a: a.base.get_device_pointer(), "pinned")
row(
    "PagelockedHostAllocation.free",
    lambda w: drv.pagelocked_empty(4, "i4").base.free,
)
row(
    "PagelockedHostAllocation (dropped)",
    lambda w: [drv.pagelocked_empty(4, "i4")].clear,
)
calls("PagelockedHostAllocation.get_flags", lambda a: a.base.get_flags(), "pinned")

# -- copies ----------------------------------------------------------------------------

calls("memcpy_htod", drv.memcpy_htod, "memory", "host")
calls("memcpy_htod_async", drv.memcpy_htod_async, "memory", "pinned", "stream")
calls("memcpy_dtoh", drv.memcpy_dtoh, "host", "memory")
calls("memcpy_dtoh_async", drv.memcpy_dtoh_async, "pinned", "memory", "stream")
calls("memcpy_dtod", lambda a, b: drv.memcpy_dtod(a, b, SIZE), "memory", "memory2")
calls(
    "memcpy_dtod_async",
    lambda a, b, s: drv.memcpy_dtod_async(a, b, SIZE, s),
    "memory",
    "memory2",
    "stream",
)
calls("memcpy_peer", lambda a, b: drv.memcpy_peer(a, b, SIZE), "memory", "memory2")
calls(
    "memcpy_peer_async",
    lambda a, b, c, s: drv.memcpy_peer_async(a, b, SIZE, c, c, s),
    "memory",
    "memory2",
    "context",
    "stream",
)
calls(
    "memcpy_htod (a holder)",
    lambda m, h: drv.memcpy_htod(Holder(m), h),
    "memory",
    "host",
)

# -- fills -----------------------------------------------------------------------------

for _bits in (8, 16, 32):
    _fill = getattr(drv, f"memset_d{_bits}")
    _fill_async = getattr(drv, f"memset_d{_bits}_async")
    calls(f"memset_d{_bits}", lambda m, f=_fill: f(m, 1, 4), "memory")
    calls(
        f"memset_d{_bits}_async",
        lambda m, s, f=_fill_async: f(m, 1, 4, s),
        "memory",
        "stream",
    )
