"""Recording a timeline, and what it shows."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from types import TracebackType
from typing import Final

from pycuda import _driver
from pycuda._page import bytes_text, encodable, time_text
from pycuda.profile import _html, _spans, _summary, _trace
from pycuda.profile._spans import Kernel, Limits, Span
from pycuda.profile._summary import CopyTime, KernelTime, LineTime

#: Spans that a timeline keeps, by default; about 200 bytes each.
MOST: Final = 1_000_000


class Timeline:
    """What a program did while the timeline recorded.

    It is a context manager. ``spans``, ``limits`` (the devices by number) and the sums
    are there after its end.
    """

    def __init__(self, *paths: str | os.PathLike[str], most: int = MOST) -> None:
        for path in paths:
            self._writer(os.fsdecode(path))
        # absolute, because the program may change its folder
        self._paths = [os.path.abspath(os.fsdecode(path)) for path in paths]
        self._most = most
        self.spans: list[Span] = []
        self.limits: dict[int, Limits] = {}
        #: Nanoseconds from begin to end.
        self.duration: int = 0
        #: Calls that were not kept, because there were more than ``most``.
        self.dropped: int = 0

    # -- recording ---------------------------------------------------------------------

    def start(self) -> Timeline:
        """Begin to record. RuntimeError if a timeline records already."""
        _driver._timeline_begin(self._most)
        return self

    def stop(self) -> Timeline:
        """Wait for the device, end the recording, and write the files."""
        begin, end, self.dropped, rows, kernels = _driver._timeline_finish()
        self.duration = end - begin
        self.spans = _spans.of_rows(rows, [Kernel(*row) for row in kernels], begin)
        devices = {s.device for s in self.spans if s.device is not None}
        self.limits = {n: _spans.limits_of(n) for n in sorted(devices)}
        for path in self._paths:
            self.save(path)
        return self

    def __enter__(self) -> Timeline:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    # -- sums --------------------------------------------------------------------------

    def lines(self) -> list[LineTime]:
        """Return the time of each line of the program, the heaviest first."""
        return _summary.lines(self.spans)

    def kernels(self) -> list[KernelTime]:
        """Return the time of each kernel and size of blocks, the heaviest first."""
        return _summary.kernels(self.spans, self.limits)

    def copies(self) -> list[CopyTime]:
        """Return the time of each kind of copy, the heaviest first."""
        return _summary.copies(self.spans)

    def busy(self) -> int:
        """Return for how many nanoseconds a device worked."""
        return _summary.busy(self.spans)

    # -- text and files ----------------------------------------------------------------

    def text(self, top: int = 15) -> str:
        """Return the heaviest lines and kernels as a table."""
        return _text(self, top)

    def __str__(self) -> str:
        return self.text()

    def html(self) -> str:
        """Return a page: the timeline to zoom into, and tables."""
        return _html.page_of(self)

    def trace(self) -> str:
        """Return a trace for Perfetto and Chrome, in their JSON format."""
        return _trace.text(self.spans, self.limits)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file: ``.html``, ``.json`` (a trace) or ``.txt``, by its name."""
        name = os.fsdecode(path)
        text = self._writer(name)()
        with open(name, "w", encoding="utf-8") as file:
            file.write(encodable(text))

    def _writer(self, path: str) -> Callable[[], str]:
        writers = {".html": self.html, ".json": self.trace, ".txt": self.text}
        end = os.path.splitext(path)[1].lower()
        if end not in writers:
            raise ValueError(
                f"{path!r} has no ending that names a format; use "
                f"{', '.join(sorted(writers))}"
            )
        return functools.partial(writers[end])

    def _repr_html_(self) -> str:
        return _html.cell_of(self)


# -- the table -------------------------------------------------------------------------


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share * 100:.0f}%"


def _rate(rate: float | None) -> str:
    return "" if rate is None else f"{rate / 1e9:,.1f} GB/s"


def _rows(heads: list[str], rows: list[list[str]], left: int) -> list[str]:
    """Return aligned rows; the last ``left`` columns are texts."""
    table = [heads, *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(heads))]
    numbers = len(heads) - left
    lines = []
    for row in table:
        cells = [
            cell.rjust(width) if i < numbers else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def _line_table(timeline: Timeline, top: int) -> list[str]:
    rows = [
        [
            time_text(row.device_time),
            time_text(row.host_time),
            str(row.calls),
            str(row.line),
            ", ".join(row.work[:3]),
        ]
        for row in timeline.lines()[:top]
    ]
    return _rows(["device", "host", "calls", "line", "work"], rows, 2)


def _kernel_table(timeline: Timeline, top: int) -> list[str]:
    rows = [
        [
            time_text(row.device_time),
            str(row.launches),
            time_text(row.device_time / row.launches),
            _percent(row.occupancy),
            _rate(row.bandwidth),
            _percent(row.of_peak),
            f"{row.kernel.name} ({row.kernel.threads} threads)",
        ]
        for row in timeline.kernels()[:top]
    ]
    heads = [
        "device",
        "launches",
        "each",
        "occupancy",
        "bandwidth",
        "of peak",
        "kernel",
    ]
    return _rows(heads, rows, 1)


def _copy_table(timeline: Timeline) -> list[str]:
    rows = [
        [
            time_text(row.device_time),
            str(row.calls),
            bytes_text(row.bytes),
            _rate(row.bandwidth),
            row.kind,
        ]
        for row in timeline.copies()
    ]
    return _rows(["device", "calls", "bytes", "bandwidth", "kind"], rows, 1)


def _text(timeline: Timeline, top: int) -> str:
    busy, duration = timeline.busy(), timeline.duration
    share = busy / duration * 100 if duration else 0
    out = [
        f"{time_text(duration)}, the device worked {time_text(busy)} ({share:.0f}%), "
        f"{len(timeline.spans)} calls."
    ]
    if timeline.dropped:
        out.append(f"{timeline.dropped} more calls were not kept.")
    parts = [
        ("Lines", _line_table(timeline, top), bool(timeline.spans)),
        ("Kernels", _kernel_table(timeline, top), bool(timeline.kernels())),
        ("Copies", _copy_table(timeline), bool(timeline.copies())),
    ]
    for title, rows, is_there in parts:
        if is_there:
            out += ["", f"{title}:", *rows]
    return "\n".join(out)
