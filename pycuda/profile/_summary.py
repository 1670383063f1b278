"""Sums of a timeline: by line, by kernel, by copy."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple

from pycuda.memory import Line
from pycuda.profile._spans import COPIES, Kernel, Limits, Span


class LineTime(NamedTuple):
    """The time of one line. Times are in nanoseconds.

    Attributes
    ----------
    line : pycuda.memory.Line
        The line of the program.
    device_time : int
        The time of the device's work, in ns.
    host_time : int
        The time of the calls, in ns.
    calls : int
        The number of calls.
    work : list of str
        The kinds and names of the calls, the slowest first.
    """

    line: Line
    device_time: int
    host_time: int
    calls: int
    work: list[str]

    @property
    def time(self) -> int:
        """Return the larger of the two times."""
        return max(self.device_time, self.host_time)


class KernelTime(NamedTuple):
    """The time of a kernel with one size of blocks. Times are in nanoseconds.

    Attributes
    ----------
    kernel : Kernel
        The kernel.
    launches : int
        The number of launches.
    device_time : int
        The time of all launches, in ns.
    shortest : int
        The time of the shortest launch, in ns.
    longest : int
        The time of the longest launch, in ns.
    blocks : int
        The blocks of the launch with the most blocks.
    occupancy : float or None
        Resident threads, as a share of what a multiprocessor takes; None: not known.
    waves : float or None
        How often the largest launch fills all multiprocessors.
    bytes : int
        Bytes of the arrays among the arguments, of all launches.
    bandwidth : float or None
        These bytes over the time, in bytes per second: as if each was moved once.
    of_peak : float or None
        ``bandwidth`` as a share of the device's; None: not known.
    line : pycuda.memory.Line
        The line of the program that launched the kernel.
    """

    kernel: Kernel
    launches: int
    device_time: int
    shortest: int
    longest: int
    blocks: int
    occupancy: float | None
    waves: float | None
    bytes: int
    bandwidth: float | None
    of_peak: float | None
    line: Line


class CopyTime(NamedTuple):
    """The time of copies of one kind. Times are in nanoseconds.

    Attributes
    ----------
    kind : str
        The kind of the copies, such as ``"copy to host"``.
    calls : int
        The number of copies.
    bytes : int
        The bytes of all copies.
    device_time : int
        The time of all copies, in ns.
    bandwidth : float or None
        Bytes per second.
    """

    kind: str
    calls: int
    bytes: int
    device_time: int
    bandwidth: float | None


def _groups(
    spans: Iterable[Span], key: Callable[[Span], Hashable]
) -> dict[Hashable, list[Span]]:
    found: dict[Hashable, list[Span]] = {}
    for span in spans:
        found.setdefault(key(span), []).append(span)
    return found


def _line(span: Span) -> Hashable:
    return span.line


def _rate(size: int, time: int) -> float | None:
    return size / time * 1e9 if size and time else None


def _kernel_time(group: list[Span], limits: Limits) -> KernelTime:
    kernel = group[0].kernel
    assert kernel is not None
    times = [s.device_time for s in group]
    blocks = max(s.grid[0] * s.grid[1] * s.grid[2] for s in group)
    size, time = sum(s.bytes for s in group), sum(times)
    rate = _rate(size, time)
    resident = kernel.blocks_per_multiprocessor * limits.multiprocessors
    return KernelTime(
        kernel,
        len(group),
        time,
        min(times),
        max(times),
        blocks,
        kernel.occupancy(limits),
        blocks / resident if resident else None,
        size,
        rate,
        rate / limits.bandwidth if rate and limits.bandwidth else None,
        max(group, key=lambda s: s.device_time).line,
    )


def busy(spans: Iterable[Span]) -> int:
    """Return for how many nanoseconds at least one piece of work ran on a device."""
    parts = sorted(
        (s.device_begin, s.device_end)
        for s in spans
        if s.device_begin is not None and s.device_end is not None
    )
    total, reached = 0, 0
    for begin, end in parts:
        begin = max(begin, reached)
        if end > begin:
            total += end - begin
            reached = end
    return total


class Summary:
    """The spans of a timeline, and their sums."""

    #: Nanoseconds from begin to end.
    duration: int
    #: Calls that were not kept, because there were too many.
    dropped: int

    def __init__(self) -> None:
        self._fill([], {}, 0, 0)

    def _fill(
        self,
        spans: list[Span],
        limits: dict[int, Limits],
        duration: int,
        dropped: int,
    ) -> None:
        self.spans = spans
        self.limits = limits
        self.duration = duration
        self.dropped = dropped

    def lines(self) -> list[LineTime]:
        """Return the time of each line of the program, the heaviest first."""
        found = []
        calls = (s for s in self.spans if s.kind != "range")
        for group in _groups(calls, _line).values():
            work: dict[str, int] = {}
            for s in group:
                name = s.name if s.kind in ("kernel", "compile") else s.kind
                work[name] = work.get(name, 0) + max(s.device_time, s.host_time)
            found.append(
                LineTime(
                    group[0].line,
                    sum(s.device_time for s in group),
                    sum(s.host_time for s in group),
                    len(group),
                    sorted(work, key=lambda name: -work[name]),
                )
            )
        return sorted(found, key=lambda row: -row.time)

    def kernels(self) -> list[KernelTime]:
        """Return the time of each kernel and size of blocks, the heaviest first."""
        launched = (
            s for s in self.spans if s.kernel is not None and s.device in self.limits
        )
        groups = _groups(launched, lambda s: (s.device, s.kernel)).values()
        found = [
            _kernel_time(group, self.limits[group[0].device or 0]) for group in groups
        ]
        return sorted(found, key=lambda row: -row.device_time)

    def copies(self) -> list[CopyTime]:
        """Return the time of each kind of copy, the heaviest first."""
        found = []
        groups = _groups((s for s in self.spans if s.kind in COPIES), lambda s: s.kind)
        for group in groups.values():
            size, time = sum(s.bytes for s in group), sum(s.device_time for s in group)
            found.append(
                CopyTime(group[0].kind, len(group), size, time, _rate(size, time))
            )
        return sorted(found, key=lambda row: -row.device_time)

    def busy(self) -> int:
        """Return for how many nanoseconds a device worked."""
        return busy(self.spans)
