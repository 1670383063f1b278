"""The processes that use a device, as NVML lists them."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pycuda import _driver, driver as drv

#: The value that NVML stores where the memory of a process is not known.
_UNKNOWN = 2**64 - 1
_MOST = 512


class Process(NamedTuple):
    """A process that uses a device. ``bytes`` is None if it is not known."""

    pid: int
    name: str
    bytes: int | None


#: nvmlProcessInfo_t: the process, its bytes, and two numbers of instances.
_INFO = np.dtype(
    [("pid", "u4"), ("unused", "u4"), ("bytes", "u8"), ("instances", "u4", 2)]
)


def _library() -> ctypes.CDLL | None:
    """Return NVML; with the software device it is in the same library as the driver."""
    name = "libnvidia-ml.so.1"
    if _driver._is_emulated():
        name = str(Path(_driver.__file__).with_name("libpycuda_emulator.so"))
    try:
        library = ctypes.CDLL(name)
        if library.nvmlInit_v2() == 0:
            return library
    except (OSError, AttributeError):
        pass
    return None


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return "?"


def of_device(device: drv.Device) -> list[Process]:
    """Return the processes that use a device, this one included, the largest first.

    The result is empty if NVML is missing. In a container it may list no process, or
    process ids of the host.
    """
    library = _library()
    if library is None:
        return []
    try:
        return _list(library, device.pci_bus_id().encode())
    except (AttributeError, drv.Error, ctypes.ArgumentError):
        return []
    finally:
        library.nvmlShutdown()


def _list(library: ctypes.CDLL, bus_id: bytes) -> list[Process]:
    handle = ctypes.c_void_p()
    find = library.nvmlDeviceGetHandleByPciBusId_v2
    if find(ctypes.c_char_p(bus_id), ctypes.byref(handle)) != 0:
        return []
    count = ctypes.c_uint(_MOST)
    infos = np.zeros(_MOST, _INFO)
    ask = library.nvmlDeviceGetComputeRunningProcesses_v3
    if ask(handle, ctypes.byref(count), ctypes.c_void_p(infos.ctypes.data)) != 0:
        return []
    found = []
    for info in infos[: count.value]:
        pid, used = int(info["pid"]), int(info["bytes"])
        found.append(Process(pid, _name(pid), None if used == _UNKNOWN else used))
    return sorted(found, key=lambda p: -(p.bytes or 0))


def others(processes: list[Process]) -> list[Process]:
    """Return the processes that are not this one."""
    return [p for p in processes if p.pid != os.getpid()]
