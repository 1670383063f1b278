"""Rows: memory, copies, fills."""

import atexit
import functools
import subprocess
import sys
from functools import partial

import numpy as np

import pycuda.driver as drv
import pycuda.memory as memory

from .row import SIZE, calls, refused, row

WORDS = SIZE // 4


class Holder(drv.PointerHolderBase):
    """A class as programs write it to pass their own memory."""

    def __init__(self, memory):
        super().__init__()
        self.memory = memory

    def get_pointer(self):
        return int(self.memory)


# -- memory ----------------------------------------------------------------------------

row("mem_alloc", lambda w: lambda: drv.mem_alloc(SIZE))
row("mem_alloc_like", lambda w: lambda: drv.mem_alloc_like(w.host))
row("mem_get_info", lambda w: drv.mem_get_info)
row("release_staging", lambda w: drv.release_staging)
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

row("mem_alloc_pitch", lambda w: lambda: drv.mem_alloc_pitch(100, 4, 4))
calls("mem_get_address_range", drv.mem_get_address_range, "memory")

GLOBAL = drv.mem_attach_flags.GLOBAL

for _make in (drv.aligned_empty, drv.aligned_zeros):
    row(_make.__name__, lambda w, f=_make: partial(f, 100, np.int32))
for _make in (drv.managed_empty, drv.managed_zeros):
    row(_make.__name__, lambda w, f=_make: partial(f, 100, "f4", mem_flags=GLOBAL))
row("aligned_empty_like", lambda w: lambda: drv.aligned_empty_like(w.host))
row("aligned_zeros_like", lambda w: lambda: drv.aligned_zeros_like(w.host))
row("managed_empty_like", lambda w: lambda: drv.managed_empty_like(w.host, GLOBAL))
row("managed_zeros_like", lambda w: lambda: drv.managed_zeros_like(w.host, GLOBAL))


def aligned(w):
    return drv.aligned_empty(4096, np.uint8)


def registered(w):
    return drv.register_host_memory(aligned(w), drv.mem_host_register_flags.DEVICEMAP)


def managed(w):
    return drv.managed_empty(WORDS, np.int32, mem_flags=GLOBAL)


calls("register_host_memory", drv.register_host_memory, aligned)
calls("RegisteredHostMemory.base", lambda a: a.base.base, registered)
calls("RegisteredHostMemory.unregister", lambda a: a.base.unregister(), registered)
row("RegisteredHostMemory (dropped)", lambda w: [registered(w)].clear)
calls("AlignedHostAllocation.free", lambda a: a.base.free(), aligned)
calls(
    "AlignedHostAllocation.get_device_pointer",
    lambda a: refused(drv.Error, a.base.get_device_pointer),
    aligned,
    absorbs=dict.fromkeys(
        ("cuMemHostGetDevicePointer", "cuCtxGetCurrent"),
        "the driver does not know this memory, and the row expects an error",
    ),
)
calls(
    "ManagedAllocation.get_device_pointer",
    lambda a: a.base.get_device_pointer(),
    managed,
)
calls(
    "ManagedAllocation.attach",
    lambda a, s: a.base.attach(drv.mem_attach_flags.SINGLE, s),
    managed,
    "stream",
)
row("ManagedAllocation (dropped)", lambda w: [managed(w)].clear)

# -- between processes -----------------------------------------------------------------

EXPORTER = """
import sys
import pycuda.driver as drv
import pycuda.memory as memory
drv.init()
context = drv.Device(0).make_context()
memory = drv.mem_alloc(1000)
event = drv.Event(drv.event_flags.INTERPROCESS | drv.event_flags.DISABLE_TIMING)
print(drv.mem_get_ipc_handle(memory).hex(), event.ipc_handle().hex(), flush=True)
sys.stdin.read()
event = memory = None
context.pop()
"""


@functools.cache
def exporter():
    """A process that exports memory and an event. It ends with this process."""
    return subprocess.Popen(
        [sys.executable, "-c", EXPORTER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@functools.cache
def exported():
    """The handles of the exporter's memory and event."""
    process = exporter()
    atexit.register(process.communicate)
    return [bytearray.fromhex(part) for part in process.stdout.readline().split()]


def opened(w):
    return drv.IPCMemoryHandle(exported()[0])


def shared_event(w):
    flags = drv.event_flags.INTERPROCESS | drv.event_flags.DISABLE_TIMING
    return drv.Event(flags)


calls("mem_get_ipc_handle", drv.mem_get_ipc_handle, "memory")
calls("IPCMemoryHandle", drv.IPCMemoryHandle, lambda w: exported()[0])
calls("IPCMemoryHandle.__int__", int, opened)
calls("IPCMemoryHandle.__index__", lambda h: h.__index__(), opened)
calls("IPCMemoryHandle.close", lambda h: h.close(), opened)
row("IPCMemoryHandle (dropped)", lambda w: [opened(w)].clear)
calls("Event.ipc_handle", lambda e: e.ipc_handle(), shared_event)
calls("Event.from_ipc_handle", drv.Event.from_ipc_handle, lambda w: exported()[1])

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
    _fill_2d = getattr(drv, f"memset_d2d{_bits}")
    _fill_2d_async = getattr(drv, f"memset_d2d{_bits}_async")
    calls(f"memset_d2d{_bits}", lambda m, f=_fill_2d: f(m, 32, 1, 4, 2), "memory")
    calls(
        f"memset_d2d{_bits}_async",
        lambda m, s, f=_fill_2d_async: f(m, 32, 1, 4, 2, s),
        "memory",
        "stream",
    )


# -- which lines hold memory -----------------------------------------------------------

NO_FIGURES = "the snapshot has no figures of the device"
row(
    "memory.snapshot",
    lambda w: (w.memory, memory.snapshot)[1],
    absorbs=dict.fromkeys(
        (
            *("cuCtxGetCurrent", "cuCtxGetDevice", "cuDeviceGetCount", "cuDeviceGet"),
            "cuMemGetInfo",
            *("cuDeviceGetName", "cuDeviceGetPCIBusId", "cuDeviceGetMemPool"),
            *("cuDeviceGetDefaultMemPool", "cuMemPoolGetAttribute"),
        ),
        NO_FIGURES,
    ),
)
