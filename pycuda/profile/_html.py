"""The page of a timeline: one file, which needs nothing else.

The spans travel as arrays of numbers; ``_viewer.js`` draws them.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from pycuda._page import (
    bar_html,
    bytes_text,
    frame_html,
    page,
    path_html,
    table_html,
    tiles_html,
    time_text,
)
from pycuda.profile._spans import Span
from pycuda.profile._summary import Summary

#: Kinds of spans in the order of their colours, c0 and following.
_KINDS = (
    "kernel",
    "copy to device",
    "copy to host",
    "copy",
    "graph",
    "fill",
    "compile",
    "wait",
    "load",
    "allocate",
    "free",
    "host function",
    "range",
)

#: Kinds that share the colour of another one.
_SAME = {"free": "allocate", "host function": "graph"}

#: Spans that a page draws; more make it slow.
_MOST = 150_000


class _Names:
    """Texts by number: each text once."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        found = self._numbers.get(text)
        if found is None:
            found = self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return found


def _depths(spans: list[Span]) -> dict[int, int]:
    """Return how deep each range is inside of others of its thread, by its place."""
    depths: dict[int, int] = {}
    open_ends: dict[int, list[int]] = {}
    for place, span in enumerate(spans):
        if span.kind == "range":
            ends = open_ends.setdefault(span.thread, [])
            while ends and ends[-1] <= span.begin:
                ends.pop()
            depths[place] = len(ends)
            ends.append(span.end)
    return depths


def _stream_order(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Sort default streams before others, which stay in the order of their use."""
    return key[1], key[2], key[3] > 2


def _tracks(spans: list[Span]) -> tuple[list[Any], list[str]]:
    """Return a key for each row of the picture, and its title."""
    ranges: dict[Any, bool] = {}
    threads: dict[Any, bool] = {}
    streams: dict[Any, bool] = {}
    depths = _depths(spans)
    for place, span in enumerate(spans):
        if span.kind == "range":
            ranges[("range", span.thread, depths[place])] = True
        else:
            threads[("host", span.thread)] = True
        if span.device_begin is not None:
            streams[("device", span.device, span.context, span.stream)] = True
    keys: list[Any] = []
    titles: list[str] = []
    every = dict.fromkeys([k[1] for k in (*ranges, *threads)])
    for number, thread in enumerate(every):
        title = "host" if len(every) == 1 else f"host, thread {number}"
        for key in sorted(k for k in ranges if k[1] == thread):
            keys.append(key)
            titles.append("ranges" if key[2] == 0 else "")
        if ("host", thread) in threads:
            keys.append(("host", thread))
            titles.append(title)
    for number, stream in enumerate(sorted(streams, key=_stream_order)):
        keys.append(stream)
        name = "default stream" if stream[3] <= 2 else f"stream {number}"
        titles.append(f"device {stream[1]}, {name}")
    return keys, titles


def _detail(span: Span) -> str:
    """Return what a tooltip says about a span besides its times and line."""
    parts = []
    if span.kernel is not None:
        grid, block = (" × ".join(map(str, dims)) for dims in (span.grid, span.block))  # noqa: RUF001
        parts.append(f"grid {grid}, block {block}")
        parts.append(f"{span.kernel.registers} registers")
        shared = span.kernel.shared + span.kernel.static_shared
        if shared:
            parts.append(f"{bytes_text(shared)} of shared memory")
    if span.bytes:
        what = " of arrays" if span.kernel is not None else ""
        parts.append(f"{bytes_text(span.bytes)}{what}")
        if span.device_time:
            rate = span.bytes / span.device_time
            parts.append(f"{rate:,.1f} GB/s")
    if span.failed:
        parts.append("the call failed")
    return ", ".join(parts)


def _data(timeline: Summary) -> dict[str, Any]:
    """Return what the viewer draws. A bar is [track, kind, name, line, detail, span,
    begin, duration]; times are in nanoseconds."""
    spans = timeline.spans[:_MOST]
    keys, titles = _tracks(spans)
    track = {key: i for i, key in enumerate(keys)}
    depths = _depths(spans)
    names, lines, details = _Names(), _Names(), _Names()
    bars: list[list[int]] = []
    for place, span in enumerate(spans):
        head = [
            _KINDS.index(_SAME.get(span.kind, span.kind)),
            names.number(span.name),
            lines.number(str(span.line)),
            details.number(_detail(span)),
            place,
        ]
        key: Any = ("host", span.thread)
        if span.kind == "range":
            key = ("range", span.thread, depths[place])
        bars.append([track[key], *head, span.begin, span.host_time])
        if span.device_begin is not None:
            key = ("device", span.device, span.context, span.stream)
            bars.append([track[key], *head, span.device_begin, span.device_time])
    return {
        "tracks": titles,
        "kinds": _KINDS,
        "names": names.texts,
        "lines": lines.texts,
        "details": details.texts,
        "bars": bars,
        "duration": timeline.duration,
    }


_VIEWER_STYLE = """
<style>
.viewer{position:relative;border:1px solid var(--line);border-radius:8px;
background:var(--paper)}
.viewer canvas{display:block;border-radius:7px;width:100%;cursor:grab;touch-action:none}
.viewer .tip{position:absolute;pointer-events:none;background:var(--panel);
border:1px solid var(--line);border-radius:6px;padding:7px 10px;font-size:12.5px;
width:max-content;max-width:460px;box-shadow:0 4px 14px rgba(0,0,0,.18);
display:none;z-index:2}
.viewer .tip b{display:block;overflow-wrap:anywhere}
.viewer .tip span{color:var(--soft);display:block;overflow-wrap:anywhere}
.legend{display:flex;flex-wrap:wrap;gap:4px 14px;margin:10px 0 0;font-size:12.5px;
color:var(--soft)}
.legend svg{width:10px;height:10px;margin-right:6px}
.bar-row{display:flex;gap:8px;align-items:center;margin:0 0 8px}
.bar-row button{font:inherit;font-size:12.5px;color:var(--ink);background:var(--panel);
border:1px solid var(--line);border-radius:6px;padding:3px 10px;cursor:pointer;
white-space:nowrap}
.bar-row p{margin:0;color:var(--soft);font-size:12.5px}
</style>"""


def _viewer(timeline: Summary) -> tuple[str, str]:
    """Return the markup and the script of the viewer."""
    data = _data(timeline)
    used = sorted({bar[1] for bar in data["bars"]})
    legend = "".join(
        f'<span><svg viewBox="0 0 10 10"><rect class="{_colour(i)}" width="10" '
        f'height="10" rx="2"/></svg>{escape(_KINDS[i])}</span>'
        for i in used
    )
    samples = "".join(
        f'<svg width="0" height="0"><rect class="{_colour(i)}" data-kind="{i}"/></svg>'
        for i in range(len(_KINDS))
    )
    markup = (
        f"{_VIEWER_STYLE}"
        '<div class="bar-row"><button data-zoom="0.5">Zoom in</button>'
        '<button data-zoom="2">Zoom out</button>'
        '<button data-zoom="0">All</button>'
        "<p>Turn the wheel to zoom, drag to move, point at a bar for its line. "
        "A call and its work on the device are marked together.</p></div>"
        f'<div class="viewer" hidden-samples><canvas></canvas><div class="tip"></div>'
        f'<div style="position:absolute;left:-9px;top:0">{samples}</div></div>'
        f'<div class="legend">{legend}</div>'
    ).replace(" hidden-samples", "")
    code = Path(__file__).with_name("_viewer.js").read_text(encoding="utf-8")
    packed = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    return markup, f"const DATA={packed};\n{code}"


def _colour(kind: int) -> str:
    """Return the class of the colour of a kind."""
    return f"c{kind}" if kind < 10 else "rest"


# -- tables ----------------------------------------------------------------------------


def _rate(rate: float | None) -> str:
    return "" if rate is None else f"{rate / 1e9:,.1f}"


def _share(share: float | None) -> str:
    return "" if share is None else f"{share * 100:.0f} %"


def _line_table(timeline: Summary) -> str:
    rows = timeline.lines()[:50]
    most = max((row.time for row in rows), default=1) or 1
    cells = [
        [
            time_text(row.device_time),
            time_text(row.host_time),
            str(row.calls),
            path_html(row.line.file, row.line.line),
            escape(", ".join(row.work[:4])),
            bar_html(row.time / most),
        ]
        for row in rows
    ]
    return table_html(["device", "host", "calls", "line", "work", ""], cells, [0, 1, 2])


def _kernel_table(timeline: Summary) -> str:
    rows = timeline.kernels()[:50]
    most = max((row.device_time for row in rows), default=1) or 1
    cells = [
        [
            f"<code>{escape(row.kernel.name)}</code>",
            time_text(row.device_time),
            str(row.launches),
            time_text(row.device_time / row.launches),
            f"{row.blocks} × {row.kernel.threads}",  # noqa: RUF001
            str(row.kernel.registers),
            bytes_text(row.kernel.shared + row.kernel.static_shared),
            _share(row.occupancy),
            "" if row.waves is None else f"{row.waves:.2f}",
            _rate(row.bandwidth),
            _share(row.of_peak),
            path_html(row.line.file, row.line.line),
            bar_html(row.device_time / most),
        ]
        for row in rows
    ]
    heads = ["kernel", "device", "launches", "each", "blocks × threads", "registers"]  # noqa: RUF001
    heads += ["shared", "occupancy", "waves", "GB/s", "of peak", "line", ""]
    return table_html(heads, cells, range(1, 11))


def _copy_table(timeline: Summary) -> str:
    cells = [
        [
            escape(row.kind),
            str(row.calls),
            bytes_text(row.bytes),
            time_text(row.device_time),
            _rate(row.bandwidth),
        ]
        for row in timeline.copies()
    ]
    return table_html(["kind", "calls", "bytes", "device", "GB/s"], cells, range(1, 5))


def _limits_note(timeline: Summary) -> str:
    parts = []
    for number, limits in timeline.limits.items():
        text = (
            f"Device {number}: {limits.name}, {limits.multiprocessors} multiprocessors "
            f"of {limits.threads_per_multiprocessor} threads"
        )
        if limits.bandwidth:
            text += f", memory moves {limits.bandwidth / 1e9:,.0f} GB/s at most"
        parts.append(text + ".")
    return " ".join(parts)


_KERNEL_NOTE = (
    "Occupancy is the share of a multiprocessor's threads that can be resident; waves "
    "say how often the largest launch fills all multiprocessors. GB/s are the sizes of "
    "the arrays among the arguments over the time, as if each was read or written once."
)


def _tiles(timeline: Summary) -> str:
    busy = timeline.busy()
    share = busy / timeline.duration if timeline.duration else 0
    counts = dict.fromkeys(_KINDS, 0)
    times = dict(counts)
    for span in timeline.spans:
        counts[span.kind] += 1
        times[span.kind] += span.host_time
    copies = sum(n for kind, n in counts.items() if kind.startswith("copy"))
    tiles = [
        (time_text(timeline.duration), "duration"),
        (time_text(busy), f"the device worked ({share * 100:.0f} %)"),
        (str(counts["kernel"]), "launches"),
        (str(copies), "copies"),
        (time_text(times["wait"]), "the host waited"),
        (time_text(times["compile"]), "compilations"),
    ]
    return tiles_html(tiles)


def page_of(timeline: Summary) -> str:
    """Return the page."""
    markup, script = _viewer(timeline)
    notes = [_limits_note(timeline)]
    left_out = timeline.dropped + max(0, len(timeline.spans) - _MOST)
    if left_out:
        notes.append(f"{left_out} later calls are not drawn.")
    body = [
        "<h1>Timeline</h1>",
        f'<p class="note">{escape(" ".join(notes))}</p>',
        _tiles(timeline),
        markup,
        "<h2>The heaviest lines</h2>",
        _line_table(timeline),
    ]
    if timeline.kernels():
        body += ["<h2>Kernels</h2>", f'<p class="note">{escape(_KERNEL_NOTE)}</p>']
        body.append(_kernel_table(timeline))
    if timeline.copies():
        body += ["<h2>Copies and fills</h2>", _copy_table(timeline)]
    return page("Timeline", "".join(body), script)


def cell_of(timeline: Summary) -> str:
    """Return the page inside of a frame, for the output of a notebook."""
    return frame_html(page_of(timeline))
