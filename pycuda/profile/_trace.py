"""A timeline in the trace event format, which Perfetto and Chrome show."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from pycuda.profile._spans import Limits, Span

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


def events(spans: Iterable[Span], limits: dict[int, Limits]) -> list[dict[str, Any]]:
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


def text(spans: Iterable[Span], limits: dict[int, Limits]) -> str:
    """Return the trace as the text of a file."""
    trace = {"traceEvents": events(spans, limits), "displayTimeUnit": "ns"}
    return json.dumps(trace)
