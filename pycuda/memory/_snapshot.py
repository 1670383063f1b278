"""Snapshots: what holds memory now, by allocation and by line."""

from __future__ import annotations

import gc
import json
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pycuda import _driver, driver as drv
from pycuda._page import encodable
from pycuda.memory import _picture, _processes, _report
from pycuda.memory._processes import Process
from pycuda.memory._records import (
    EVENT,
    Allocation,
    DevicePool,
    DeviceUse,
    Line,
    LineUse,
)


@dataclass(frozen=True)
class Snapshot:
    """What holds memory at one moment, and what happened before.

    ``allocations``: every :class:`Allocation`, the largest first. ``devices``: the
    memory of the current device. ``pools``: the driver's pools.
    ``processes``: the processes on the first device. ``events``: the history, a NumPy
    array of dtype ``pycuda.memory._records.EVENT``. ``time``: nanoseconds of
    ``time.monotonic_ns()``.
    """

    allocations: list[Allocation]
    devices: list[DeviceUse]
    pools: list[DevicePool]
    processes: list[Process]
    events: np.ndarray[Any, Any]
    #: The number of events since the recording began; older ones were dropped.
    event_count: int
    time: int
    #: Allocations that could not be noted for lack of memory.
    missed: int = 0
    _lines: dict[int, Line] = field(default_factory=dict, repr=False)

    # -- numbers -----------------------------------------------------------------------

    def lines(self, *, host: bool = False, device: int | None = None) -> list[LineUse]:
        """Return what each line holds, the most bytes first.

        Memory that pools hold unused belongs to no line. ``host``: lines that hold
        page-locked memory of the host instead of device memory.
        """
        found: dict[Line, list[int]] = {}
        for a in self._chosen(host, device):
            if not a.held:
                total = found.setdefault(a.line, [0, 0])
                total[0] += a.bytes
                total[1] += 1
        uses = [LineUse(line, size, count) for line, (size, count) in found.items()]
        return sorted(uses, key=lambda use: (-use.bytes, str(use.line)))

    def used(self, *, host: bool = False, device: int | None = None) -> int:
        """Return the bytes that the program uses."""
        return sum(a.bytes for a in self._chosen(host, device) if not a.held)

    def held(self, *, host: bool = False, device: int | None = None) -> int:
        """Return the bytes that pools hold unused. ``free_held()`` releases them."""
        return sum(a.bytes for a in self._chosen(host, device) if a.held)

    def rounding(self, *, host: bool = False, device: int | None = None) -> int:
        """Return the bytes by which blocks of pools exceed what was asked for."""
        chosen = self._chosen(host, device)
        return sum(a.bytes - a.asked for a in chosen if not a.held)

    def _chosen(self, host: bool, device: int | None) -> Iterable[Allocation]:
        for a in self.allocations:
            if a.on_host == host and device in (None, a.device):
                yield a

    def line_of(self, site: int) -> Line:
        """Return the line of the number ``site`` of an event."""
        return self._lines.get(int(site), Line(None, 0, None))

    # -- text and files ----------------------------------------------------------------

    def text(self, top: int = 10) -> str:
        """Return a report: the ``top`` lines, pools, and other processes."""
        return _report.text(self, top)

    def __str__(self) -> str:
        return self.text()

    def svg(self, *, device: int | None = None, host: bool = False) -> str:
        """Return a picture of the use over time as an SVG file.

        Each band is a line of the program, the heaviest at the bottom. ``device``: its
        number; by default the one with the most memory in use.
        """
        return _picture.svg(self, device, host)

    def html(self) -> str:
        """Return a page with the picture and tables, as one file."""
        return _picture.html(self)

    def _repr_html_(self) -> str:
        return _picture.cell(self)

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
    processes = _processes.of_device(drv.Device(numbers[0])) if numbers else []
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
