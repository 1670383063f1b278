"""The records of a timeline: spans, kernels, limits of devices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from pycuda import _driver, driver as drv
from pycuda.memory import Line

#: Kinds of spans that are work of a stream.
ON_DEVICE = (
    "kernel",
    "graph",
    "host function",
    "copy to device",
    "copy to host",
    "copy",
    "fill",
)

#: Kinds of spans whose work moves ``bytes`` bytes.
COPIES = ("copy to device", "copy to host", "copy", "fill")


class Limits(NamedTuple):
    """What a device can do. ``bandwidth`` is in bytes per second, None if unknown."""

    name: str
    multiprocessors: int
    threads_per_multiprocessor: int
    bandwidth: float | None


class Kernel(NamedTuple):
    """A kernel with a size of its blocks, and what it needs."""

    name: str
    threads: int
    shared: int
    registers: int
    static_shared: int
    local: int
    #: Blocks that fit on a multiprocessor at the same time; 0 if not known.
    blocks_per_multiprocessor: int

    def occupancy(self, limits: Limits) -> float | None:
        """Return the share of a multiprocessor's threads that can be resident."""
        if not self.blocks_per_multiprocessor or not limits.threads_per_multiprocessor:
            return None
        resident = self.blocks_per_multiprocessor * self.threads
        return resident / limits.threads_per_multiprocessor


@dataclass(frozen=True)
class Span:
    """A call, and the work of the device that it started. Times are in nanoseconds.

    They count from the begin of the timeline. ``device_begin`` and ``device_end`` are
    None if the call started no work, or if no events could be recorded, such as during
    a capture. ``name`` is the kernel, the function of the driver, or what a span of
    Python is called. ``bytes`` were copied or filled; for a kernel they are the sizes
    of the arrays among its arguments.
    """

    kind: str
    name: str
    routine: str
    begin: int
    end: int
    device_begin: int | None
    device_end: int | None
    thread: int
    stream: int
    context: int | None
    device: int | None
    line: Line
    kernel: Kernel | None
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    bytes: int
    failed: bool

    @property
    def host_time(self) -> int:
        """Return how long the call took."""
        return self.end - self.begin

    @property
    def device_time(self) -> int:
        """Return how long the device worked, 0 if that is not known."""
        if self.device_begin is None or self.device_end is None:
            return 0
        return self.device_end - self.device_begin


def limits_of(number: int) -> Limits:
    """Return the limits of a device."""
    device = drv.Device(number)
    get, attribute = device.get_attribute, drv.device_attribute
    bandwidth = None
    if not _driver._is_emulated():
        clock = get(attribute.MEMORY_CLOCK_RATE)  # kHz; two transfers in a cycle
        width = get(attribute.GLOBAL_MEMORY_BUS_WIDTH)  # bits
        bandwidth = 2 * clock * 1000 * width / 8 or None
    return Limits(
        device.name(),
        get(attribute.MULTIPROCESSOR_COUNT),
        get(attribute.MAX_THREADS_PER_MULTIPROCESSOR),
        bandwidth,
    )


def spans_of(rows: list[Any], kernels: list[Kernel], start: int) -> list[Span]:
    """Return spans from the tuples of the extension, in the order of their calls."""
    lines: dict[int, Line] = {}
    spans = []
    for row in rows:
        kind, name, begin, end, on, off, thread, stream, site, *rest = row
        context, device, number, grid, block, size, failed = rest
        if site not in lines:
            lines[site] = Line(*_driver._call_site(site))
        kernel = kernels[number] if number >= 0 else None
        spans.append(
            Span(
                kind,
                kernel.name if kernel else name,
                name if name.startswith("cu") else "",
                begin - start,
                end - start,
                on - start if on else None,
                off - start if on else None,
                thread,
                stream,
                context if context >= 0 else None,
                device if device >= 0 else None,
                lines[site],
                kernel,
                grid,
                block,
                size,
                failed,
            )
        )
    return sorted(spans, key=lambda span: span.begin)
