"""The records of a snapshot: lines, allocations, events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

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
