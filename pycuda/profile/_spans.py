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
    """What a device can do.

    Attributes
    ----------
    name : str
        The name of the device.
    multiprocessors : int
        The number of multiprocessors.
    threads_per_multiprocessor : int
        The largest number of threads on a multiprocessor at one time.
    bandwidth : float or None
        The bandwidth of the memory, in bytes per second; None if not known.
    """

    name: str
    multiprocessors: int
    threads_per_multiprocessor: int
    bandwidth: float | None


class Kernel(NamedTuple):
    """A kernel with a size of its blocks, and what it needs.

    Attributes
    ----------
    name : str
        The name of the kernel.
    threads : int
        The number of threads of a block.
    shared : int
        The dynamic shared memory of a block, in bytes.
    registers : int
        The number of registers of a thread.
    static_shared : int
        The shared memory of a block that the source declares, in bytes.
    local : int
        The local memory of a thread, in bytes.
    blocks_per_multiprocessor : int
        Blocks that fit on a multiprocessor at the same time; 0 if not known.
    """

    name: str
    threads: int
    shared: int
    registers: int
    static_shared: int
    local: int
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
    a capture.

    Attributes
    ----------
    kind : str
        The kind of the call, such as ``"kernel"``, ``"copy to host"`` or ``"wait"``.
    name : str
        The kernel, the function of the driver, or the name of a span of Python.
    routine : str
        The function of the driver that was called.
    begin : int
        The begin of the call, in ns.
    end : int
        The end of the call, in ns.
    device_begin : int or None
        The begin of the device's work, in ns.
    device_end : int or None
        The end of the device's work, in ns.
    thread : int
        The thread that made the call.
    stream : int
        The stream of the work, a ``CUstream``; 0 is the default stream.
    context : int or None
        The context of the call, a number.
    device : int or None
        The number of the device.
    line : pycuda.memory.Line
        The line of the program that made the call.
    kernel : Kernel or None
        The attributes of the kernel.
    grid : tuple of int
        The blocks as (x, y, z); zeros if there was no kernel.
    block : tuple of int
        The threads of a block as (x, y, z); zeros if there was no kernel.
    bytes : int
        The bytes that were copied or filled; of a kernel, those of its arrays.
    failed : bool
        Whether the call failed.
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
        """Return how long the call took, in ns."""
        return self.end - self.begin

    @property
    def device_time(self) -> int:
        """Return how long the device worked, in ns; 0 if that is not known."""
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
