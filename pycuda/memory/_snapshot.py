"""Snapshots: what holds memory now, by allocation and by line."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pycuda import _driver, driver as drv
from pycuda._page import encodable
from pycuda.memory._picture import cell_of, page_of, svg_of
from pycuda.memory._records import (
    EVENT,
    Allocation,
    DevicePool,
    DeviceUse,
    Line,
    Process,
    Records,
)
from pycuda.memory._report import out_of_memory, text_of


@dataclass(frozen=True)
class Snapshot(Records):
    """What holds memory at one moment, and what happened before.

    Attributes
    ----------
    allocations : list of Allocation
        The allocations in use, the largest first.
    devices : list of DeviceUse
        The memory of the current device, in bytes.
    pools : list of DevicePool
        The driver's pools.
    processes : list of Process
        The processes on the first device.
    events : numpy.ndarray
        The history, of dtype ``pycuda.memory._records.EVENT``, the oldest event first.
    time : int
        The time of the snapshot, in ns of ``time.monotonic_ns()``.
    """

    def text(self, top: int = 10) -> str:
        """Return a report: the ``top`` lines, pools, and other processes."""
        return text_of(self, top)

    def __str__(self) -> str:
        return self.text()

    def svg(self, *, device: int | None = None, host: bool = False) -> str:
        """Return a picture of the use over time as an SVG file.

        Each band is a line of the program, the heaviest at the bottom. ``device``: its
        number; by default the one with the most memory in use.
        """
        return svg_of(self, device, host)

    def html(self) -> str:
        """Return a page with the picture and tables, as one file."""
        return page_of(self)

    def _repr_html_(self) -> str:
        return cell_of(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the snapshot without its history, made of numbers, texts and lists."""
        return {
            "time": self.time,
            "devices": [d._asdict() for d in self.devices],
            "pools": [p._asdict() for p in self.pools],
            "processes": [p._asdict() for p in self.processes],
            "allocations": [
                {**a._asdict(), "line": a.line._asdict()} for a in self.allocations
            ],
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file: ``.html``, ``.svg``, ``.json`` or ``.txt``, by its name."""
        name = os.fsdecode(path)
        writers: dict[str, Callable[[], str]] = {
            ".html": self.html,
            ".svg": self.svg,
            ".json": lambda: json.dumps(self.to_dict(), indent=1),
            ".txt": self.text,
        }
        end = os.path.splitext(name)[1].lower()
        if end not in writers:
            raise ValueError(
                f"{name!r} has no ending that names a format; use "
                f"{', '.join(sorted(writers))}"
            )
        text = writers[end]()
        with open(name, "w", encoding="utf-8") as file:
            file.write(encodable(text))


# -- taking ----------------------------------------------------------------------------


def _allocations(notes: list[tuple[Any, ...]], lines: dict[int, Line]) -> list[Any]:
    found = [
        Allocation(address, size, asked, kind, bool(held), time, lines[site], device)
        for address, size, asked, kind, held, time, site, device, _ in notes
    ]
    return sorted(found, key=lambda a: (-a.bytes, a.address))


def _device_use(number: int) -> DeviceUse | None:
    """Return what the driver says about a device: of the current context only."""
    try:
        device = drv.Device(number)
        if drv.Context.get_device() != device:
            return None
        free, total = drv.mem_get_info()
        return DeviceUse(number, device.name(), free, total)
    except drv.Error:
        return None


def _device_pools(number: int) -> list[DevicePool]:
    """Return the driver's pools of a device that have memory."""
    pools: dict[int, DevicePool] = {}
    current = drv.mem_pool_attribute
    try:
        objects = [
            drv.MemoryPool.get_default(number),
            drv.MemoryPool.get_current(number),
        ]
        objects += [o for o in gc.get_objects() if issubclass(type(o), drv.MemoryPool)]
        for pool in objects:
            if (
                pool.device == drv.Device(number)
                and pool.handle
                and pool.handle not in pools
            ):
                reserved = int(pool.get_attribute(current.RESERVED_MEM_CURRENT))
                used = int(pool.get_attribute(current.USED_MEM_CURRENT))
                pools[pool.handle] = DevicePool(number, reserved, used)
    except drv.Error:
        pass
    return [pool for pool in pools.values() if pool.reserved]


def take() -> Snapshot:
    """Return a snapshot of this moment."""
    data, event_count = _driver._memory_events()
    notes = _driver._memory_notes()
    now = time.monotonic_ns()
    events = np.frombuffer(data, dtype=EVENT)
    sites = {row[6] for row in notes}
    sites.update(np.unique(events["site"]).tolist())
    lines = {site: Line(*_driver._call_site(site)) for site in sites}
    numbers = sorted({row[7] for row in notes} | _current_device())
    devices = [use for n in numbers if (use := _device_use(n)) is not None]
    pools = [pool for n in numbers for pool in _device_pools(n)]
    processes = processes_of(drv.Device(numbers[0])) if numbers else []
    missed = _driver._memory_recording()[2]
    return Snapshot(
        _allocations(notes, lines),
        devices,
        pools,
        processes,
        events,
        event_count,
        now,
        missed,
        lines,
    )


def _current_device() -> set[int]:
    try:
        device = drv.Context.get_device()
        return {n for n in range(drv.Device.count()) if drv.Device(n) == device}
    except drv.Error:
        return set()


def explain(asked: int, host: bool) -> str:
    """Return what the extension adds to the text of a MemoryError.

    It is the lines that hold the most, pools and other processes. ``asked``: the bytes
    of the request. ``host``: for page-locked memory. The result is empty or begins with
    a line end.
    """
    return out_of_memory(take(), asked, host)


# -- processes -------------------------------------------------------------------------

#: The value that NVML stores where the memory of a process is not known.
_UNKNOWN = 2**64 - 1
_MOST = 512

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


def processes_of(device: drv.Device) -> list[Process]:
    """Return the processes that use a device, this one included, the largest first.

    The result is empty if NVML is missing. In a container it may list no process, or
    process ids of the host.
    """
    library = _library()
    if library is None:
        return []
    try:
        return _listed(library, device.pci_bus_id().encode())
    except (AttributeError, drv.Error, ctypes.ArgumentError):
        return []
    finally:
        library.nvmlShutdown()


def _listed(library: ctypes.CDLL, bus_id: bytes) -> list[Process]:
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
