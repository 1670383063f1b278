"""The records of a snapshot, and the numbers that follow from them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

#: The kinds of memory of the host; all others are on a device.
HOST_KINDS = ("page-locked", "page-locked pool")

#: An event of the history: see _memory_events in the extension.
EVENT = np.dtype(
    [
        ("time", np.uint64),
        ("address", np.uint64),
        ("bytes", np.uint64),
        ("site", np.uint32),
        ("kind", np.uint8),
        ("change", np.uint8),
        ("device", np.uint8),
        ("unused", np.uint8),
    ]
)

#: The numbers of changes in events.
ALLOCATED, FREED, GROWN, SHRUNK, TAKEN, RETURNED = range(6)

#: The kinds in the order of their numbers in events.
KINDS = (
    "device",
    "stream",
    "pool",
    "managed",
    "physical",
    "array",
    "page-locked",
    "page-locked pool",
)


class Line(NamedTuple):
    """A line of the program. ``file`` is None if the line is not known."""

    file: str | None
    line: int
    function: str | None

    def __str__(self) -> str:
        if self.file is None:
            return "an unknown line"
        return f"{self.file}:{self.line} in {self.function}"


class Allocation(NamedTuple):
    """Memory that the program holds, or that a pool holds for it."""

    address: int
    #: Bytes of the driver's memory; blocks of pools are rounded up.
    bytes: int
    #: Bytes that the program asked for; 0 if a pool holds the block unused.
    asked: int
    #: "device", "stream", "pool", "managed", "physical", "array", "page-locked" or
    #: "page-locked pool".
    kind: str
    #: Whether a pool holds the block and the program does not use it.
    held: bool
    #: When the program got it: nanoseconds of ``time.monotonic_ns()``.
    time: int
    #: The line that allocated it; for a held block, the line that used it last.
    line: Line
    #: The number of the device; for memory of the host, that of its context.
    device: int

    @property
    def on_host(self) -> bool:
        """Whether it is page-locked memory of the host."""
        return self.kind in HOST_KINDS


@dataclass(frozen=True)
class LineUse:
    """What one line holds."""

    line: Line
    bytes: int
    count: int


class DeviceUse(NamedTuple):
    """The memory of a device, as the driver counts it."""

    device: int
    name: str
    free: int
    total: int


class DevicePool(NamedTuple):
    """A pool of the driver: ``reserved`` bytes, of which allocations use ``used``."""

    device: int
    reserved: int
    used: int


class Process(NamedTuple):
    """A process that uses a device. ``bytes`` is None if it is not known."""

    pid: int
    name: str
    bytes: int | None


@dataclass(frozen=True)
class Records:
    """The records of a snapshot, and the numbers that follow from them."""

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

    def others(self) -> list[Process]:
        """Return the processes that are not this one."""
        return [p for p in self.processes if p.pid != os.getpid()]
