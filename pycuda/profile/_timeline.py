"""Recording a timeline, and its files: a page, a trace, a table."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Final

from pycuda import _driver
from pycuda._page import bytes_text, encodable, time_text
from pycuda.profile._html import cell_of, page_of
from pycuda.profile._spans import Kernel, Limits, Span, limits_of, spans_of
from pycuda.profile._summary import Summary

#: Spans that a timeline keeps, by default; about 200 bytes each.
MOST: Final = 1_000_000


class Timeline(Summary):
    """What a program did while the timeline recorded.

    It is a context manager. ``spans``, ``limits`` (the devices by number) and the sums
    are there after its end.
    """

    def __init__(self, *paths: str | os.PathLike[str], most: int = MOST) -> None:
        super().__init__()
        for path in paths:
            self._writer(os.fsdecode(path))
        # absolute, because the program may change its folder
        self._paths = [os.path.abspath(os.fsdecode(path)) for path in paths]
        self._most = most

    # -- recording ---------------------------------------------------------------------

    def start(self) -> Timeline:
        """Begin to record. RuntimeError if a timeline records already."""
        _driver._timeline_begin(self._most)
        return self

    def stop(self) -> Timeline:
        """Wait for the device, end the recording, and write the files."""
        begin, end, dropped, rows, kernels = _driver._timeline_finish()
        spans = spans_of(rows, [Kernel(*row) for row in kernels], begin)
        devices = {s.device for s in spans if s.device is not None}
        limits = {n: limits_of(n) for n in sorted(devices)}
        self._fill(spans, limits, end - begin, dropped)
        for path in self._paths:
            self.save(path)
        return self

    def __enter__(self) -> Timeline:
        """Start the timeline and return it."""
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the timeline."""
        self.stop()

    # -- text and files ----------------------------------------------------------------

    def text(self, top: int = 15) -> str:
        """Return the heaviest lines and kernels as a table."""
        return _text(self, top)

    def __str__(self) -> str:
        return self.text()

    def html(self) -> str:
        """Return a page: the timeline to zoom into, and tables."""
        return page_of(self)

    def trace(self) -> str:
        """Return a trace for Perfetto and Chrome, in their JSON format."""
        return _trace(self)

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
        return cell_of(self)


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


def _line_table(timeline: Summary, top: int) -> list[str]:
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


def _kernel_table(timeline: Summary, top: int) -> list[str]:
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


def _copy_table(timeline: Summary) -> list[str]:
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


def _text(timeline: Summary, top: int) -> str:
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


# -- the trace, in the format of Perfetto and Chrome -----------------------------------

#: The process number of the host in a trace; a device has 1 + its number.
_HOST = 0


def _arguments(span: Span) -> dict[str, Any]:
    found: dict[str, Any] = {"line": str(span.line)}
    if span.routine:
        found["call"] = span.routine
    if span.kernel is not None:
        found.update(grid=span.grid, block=span.block, shared=span.kernel.shared)
        found["registers"] = span.kernel.registers
    if span.bytes:
        found["bytes"] = span.bytes
    if span.failed:
        found["failed"] = True
    return found


def _names(kind: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": process, "tid": thread} | {
        "args": {"name": name}
    }


def _work(span: Span, number: int, tracks: dict[Any, int]) -> list[dict[str, Any]]:
    """Return the events of the work of the device, with an arrow from the call."""
    begin, end = span.device_begin, span.device_end
    if begin is None or end is None:
        return []
    process = 1 + (span.device or 0)
    track = tracks.setdefault((span.context, span.stream), len(tracks))
    where = {"pid": process, "tid": track, "ts": begin / 1000}
    arrow = {"name": "work", "cat": "work", "id": number}
    return [
        {"ph": "X", "name": span.name, "cat": span.kind, **where}
        | {"dur": (end - begin) / 1000, "args": _arguments(span)},
        {"ph": "s", "pid": _HOST, "tid": span.thread, "ts": span.begin / 1000, **arrow},
        {"ph": "f", "bp": "e", **where, **arrow},
    ]


def _events(spans: Iterable[Span], limits: dict[int, Limits]) -> list[dict[str, Any]]:
    """Return the events of a trace. Times are in microseconds."""
    found = [_names("process_name", _HOST, 0, "host")]
    for number, device in limits.items():
        found.append(_names("process_name", 1 + number, 0, device.name))
    tracks: dict[Any, int] = {}
    for number, span in enumerate(spans):
        found.append(
            {"ph": "X", "name": span.name, "cat": span.kind}
            | {"pid": _HOST, "tid": span.thread, "ts": span.begin / 1000}
            | {"dur": span.host_time / 1000, "args": _arguments(span)}
        )
        found.extend(_work(span, number, tracks))
    for (_, stream), track in tracks.items():
        name = f"stream 0x{stream:x}" if stream > 2 else "default stream"
        found.extend(_names("thread_name", 1 + n, track, name) for n in limits)
    return found


def _trace(timeline: Summary) -> str:
    """Return the trace as the text of a file."""
    events = _events(timeline.spans, timeline.limits)
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns"})
