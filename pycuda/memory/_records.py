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
    """A line of the program.

    Attributes
    ----------
    file : str or None
        The path of the file; None if the line is not known.
    line : int
        The number of the line, from 1.
    function : str or None
        The function that contains the line.
    """

    file: str | None
    line: int
    function: str | None

    def __str__(self) -> str:
        if self.file is None:
            return "an unknown line"
        return f"{self.file}:{self.line} in {self.function}"


class Allocation(NamedTuple):
    """Memory that the program holds, or that a pool holds for it.

    Attributes
    ----------
    address : int
        The address on the device; of page-locked memory, that on the host.
    bytes : int
        The driver's memory, in bytes; blocks of pools are rounded up.
    asked : int
        The bytes that the program asked for; 0 if a pool holds the block unused.
    kind : str
        ``"device"``, ``"stream"``, ``"pool"``, ``"managed"``, ``"physical"``,
        ``"array"``, ``"page-locked"`` or ``"page-locked pool"``.
    held : bool
        Whether a pool holds the block and the program does not use it.
    time : int
        When the program got the memory, in ns of ``time.monotonic_ns()``.
    line : Line
        The line that allocated it; for a held block, the line that used it last.
    device : int
        The number of the device; for memory of the host, that of its context.
    """

    address: int
    bytes: int
    asked: int
    kind: str
    held: bool
    time: int
    line: Line
    device: int

    @property
    def on_host(self) -> bool:
        """Whether it is page-locked memory of the host."""
        return self.kind in HOST_KINDS


@dataclass(frozen=True)
class LineUse:
    """What one line holds.

    Attributes
    ----------
    line : Line
        The line of the program.
    bytes : int
        The bytes that the line holds.
    count : int
        The number of allocations that the line holds.
    """

    line: Line
    bytes: int
    count: int


class DeviceUse(NamedTuple):
    """The memory of a device, as the driver counts it.

    Attributes
    ----------
    device : int
        The number of the device.
    name : str
        The name of the device.
    free : int
        The free memory, in bytes.
    total : int
        All memory, in bytes.
    """

    device: int
    name: str
    free: int
    total: int


class DevicePool(NamedTuple):
    """A pool of the driver.

    Attributes
    ----------
    device : int
        The number of the device.
    reserved : int
        The memory that the pool has from the device, in bytes.
    used : int
        The memory of the pool that allocations use, in bytes.
    """

    device: int
    reserved: int
    used: int


class Process(NamedTuple):
    """A process that uses a device.

    Attributes
    ----------
    pid : int
        The number of the process.
    name : str
        The name of the program.
    bytes : int or None
        The memory of the device that the process uses, in bytes; None if not known.
    """

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
