"""Pictures of memory over time, and the page of a snapshot."""

from __future__ import annotations

from collections.abc import Hashable
from html import escape
from typing import Any, NamedTuple

import numpy as np

from pycuda._page import (
    PICTURE_STYLE,
    bar_html,
    bytes_text,
    page,
    path_html,
    table_html,
    tiles_html,
    time_text,
)
from pycuda.memory._records import (
    ALLOCATED,
    FREED,
    GROWN,
    HOST_KINDS,
    KINDS,
    RETURNED,
    SHRUNK,
    TAKEN,
    Line,
    LineUse,
    Records,
)

#: Bands of lines in a picture; the others are one band.
_BANDS = 8
#: Places along the axis of time at most.
_COLUMNS = 600

_HELD = "held by pools, unused"
_OTHERS = "other lines"

#: What a change adds to the bytes of its line, and to those that pools hold.
_TO_LINE = {ALLOCATED: 1, FREED: -1, TAKEN: 1, RETURNED: -1}
_TO_HELD = {GROWN: 1, SHRUNK: -1, TAKEN: -1, RETURNED: 1}


class Curve(NamedTuple):
    """The bytes of each band over time: ``bytes[band, moment]``."""

    times: np.ndarray[Any, Any]  # nanoseconds
    names: list[Hashable]  # a Line, _OTHERS or _HELD
    bytes: np.ndarray[Any, Any]


# -- from events to curves -------------------------------------------------------------


def _chosen_events(snapshot: Records, device: int, host: bool) -> np.ndarray[Any, Any]:
    on_host = np.array([kind in HOST_KINDS for kind in KINDS])
    events = snapshot.events
    chosen = (on_host[events["kind"]] == host) & (events["device"] == device)
    kept: np.ndarray[Any, Any] = events[chosen]
    return kept


def _steps(snapshot: Records, events: np.ndarray[Any, Any]) -> list[Any]:
    """Return (number of the event, name, signed bytes) for every change of a band."""
    found: list[Any] = []
    changes = zip(
        events["change"].tolist(),
        events["bytes"].tolist(),
        events["site"].tolist(),
        strict=True,
    )
    for moment, (change, size, site) in enumerate(changes):
        if change in _TO_LINE:
            found.append((moment, snapshot.line_of(site), _TO_LINE[change] * size))
        if change in _TO_HELD:
            found.append((moment, _HELD, _TO_HELD[change] * size))
    return found


def _final(snapshot: Records, device: int, host: bool) -> dict[Hashable, int]:
    """Return the bytes of each band at the moment of the snapshot."""
    total: dict[Hashable, int] = {}
    for a in snapshot.allocations:
        if a.on_host == host and a.device == device:
            name = _HELD if a.held else a.line
            total[name] = total.get(name, 0) + a.bytes
    return total


def curve(snapshot: Records, device: int, host: bool) -> Curve:
    """Return the use over time.

    The history may have lost its beginning, so the bytes before the first event follow
    from the end. Memory that ended with its context is in no event: it ends at the last
    moment.
    """
    events = _chosen_events(snapshot, device, host)
    steps = _steps(snapshot, events)
    final = _final(snapshot, device, host)
    change: dict[Hashable, int] = {}
    for _, name, size in steps:
        change[name] = change.get(name, 0) + size
    names = list(dict.fromkeys([*final, *change]))
    row = {name: i for i, name in enumerate(names)}
    start = [max(0, final.get(n, 0) - change.get(n, 0)) for n in names]
    table = np.zeros((len(names), len(events) + 2))
    table[:, 0] = start
    for moment, name, size in steps:
        table[row[name], moment + 1] += size
    np.cumsum(table, axis=1, out=table)
    np.maximum(table, 0, out=table)
    table[:, -1] = [final.get(n, 0) for n in names]
    first = float(snapshot.events["time"][0]) if len(snapshot.events) else 0.0
    ends = [first or snapshot.time - 1.0, float(snapshot.time)]
    return Curve(np.insert(ends, 1, events["time"]), names, table)


def _join(c: Curve) -> Curve:
    """Keep the bands with the highest peaks, the heaviest first; join the others."""
    lines = [i for i, n in enumerate(c.names) if n != _HELD]
    lines.sort(key=lambda i: -c.bytes[i].max(initial=0))
    names: list[Hashable] = [c.names[i] for i in lines[:_BANDS]]
    rows = [c.bytes[i] for i in lines[:_BANDS]]
    if lines[_BANDS:]:
        names.append(_OTHERS)
        rows.append(c.bytes[lines[_BANDS:]].sum(axis=0))
    if _HELD in c.names:
        names.append(_HELD)
        rows.append(c.bytes[c.names.index(_HELD)])
    return Curve(c.times, names, np.array(rows).reshape(len(rows), len(c.times)))


def _thin(c: Curve) -> Curve:
    """Keep one moment for each column of the picture: the one with the most bytes."""
    if len(c.times) <= _COLUMNS:
        return c
    span = max(c.times[-1] - c.times[0], 1.0)
    column = ((c.times - c.times[0]) / span * (_COLUMNS - 1)).astype(int)
    total = c.bytes.sum(axis=0)
    order = np.lexsort((total, column))
    last = np.flatnonzero(np.diff(column[order], append=_COLUMNS))
    kept = np.union1d(order[last], [0, len(c.times) - 1])
    return Curve(c.times[kept], c.names, c.bytes[:, kept])


# -- drawing ---------------------------------------------------------------------------

_WIDTH, _HEIGHT = 1100, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 78, 16, 40, 30
_ROW = 20


def _unit_step(most: float) -> float:
    """Return the distance of the lines of the grid: a round number of bytes."""
    step = 1.0
    while most / step > 5:
        step *= 2
    return step


def _band(xs: list[float], low: Any, high: Any, scale: float, floor: float) -> str:
    """Return the path of a band as steps."""

    def y(value: float) -> str:
        return f"{floor - value * scale:.1f}"

    up = [f"M{xs[0]:.1f} {y(high[0])}"]
    for i in range(1, len(xs)):
        up.append(f"H{xs[i]:.1f}V{y(high[i])}")
    down = [f"L{xs[-1]:.1f} {y(low[-1])}"]
    for i in range(len(xs) - 1, 0, -1):
        down.append(f"V{y(low[i - 1])}H{xs[i - 1]:.1f}" if i else "")
    return "".join(up + [f"V{y(low[-1])}"] + down[1:]) + "Z"


def _name_text(name: Hashable) -> str:
    if isinstance(name, Line) and name.file is not None:
        return f"{name.file.rpartition('/')[2]}:{name.line} in {name.function}"
    return str(name)


def _class(index: int, name: Hashable) -> str:
    return "rest" if name == _HELD else ("c9" if name == _OTHERS else f"c{index}")


def _grid(most: float, scale: float, floor: float) -> list[str]:
    out = []
    step = _unit_step(most)
    value = 0.0
    while value <= most * 1.0001:
        y = floor - value * scale
        out.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" '
            f'y2="{y:.1f}"/><text x="{_LEFT - 8}" y="{y + 4:.1f}" '
            f'text-anchor="end">{bytes_text(value)}</text>'
        )
        value += step
    return out


def _time_axis(span: float, floor: float) -> list[str]:
    out = []
    for i in range(6):
        x = _LEFT + (_WIDTH - _LEFT - _RIGHT) * i / 5
        anchor = ("start", "middle", "end")[(i > 0) + (i == 5)]
        out.append(
            f'<text x="{x:.1f}" y="{floor + 19}" text-anchor="{anchor}">'
            f"{time_text(span * i / 5)}</text>"
        )
    return out


def _legend(c: Curve, top: float) -> list[str]:
    out = []
    for i, name in enumerate(c.names):
        y = top + i * _ROW
        peak = bytes_text(c.bytes[i].max(initial=0))
        out.append(
            f'<rect class="{_class(i, name)}" x="{_LEFT}" y="{y:.1f}" width="11" '
            f'height="11" rx="2"/><text x="{_LEFT + 19}" y="{y + 10:.1f}">'
            f"{escape(_name_text(name))}</text>"
            f'<text x="{_WIDTH - _RIGHT}" y="{y + 10:.1f}" text-anchor="end">'
            f"at most {peak}</text>"
        )
    return out


def draw(snapshot: Records, device: int, host: bool) -> str:
    """Return the picture as an ``<svg>`` element without a style of its own."""
    c = _thin(_join(curve(snapshot, device, host)))
    floor = _TOP + _HEIGHT
    height = floor + _BOTTOM + len(c.names) * _ROW + 14
    tops = np.cumsum(c.bytes, axis=0)
    most = float(tops.max(initial=0)) or 1.0
    scale = _HEIGHT / (most * 1.06)
    span = max(float(c.times[-1] - c.times[0]), 1.0)
    width = _WIDTH - _LEFT - _RIGHT
    xs = [_LEFT + (float(t - c.times[0]) / span) * width for t in c.times]
    noun = "Page-locked host memory" if host else f"Memory of device {device}"
    out = [
        f'<svg class="pycuda-picture" xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{noun} over time">',
        f'<rect width="{_WIDTH}" height="{height}" style="fill:var(--paper)"/>',
        f'<text class="strong" x="{_LEFT}" y="22">{noun} over time, by line</text>',
        f'<text x="{_WIDTH - _RIGHT}" y="22" text-anchor="end">'
        f"at most {bytes_text(most if c.names else 0)}</text>",
        *_grid(most, scale, floor),
        *_time_axis(span, floor),
    ]
    for i, name in enumerate(c.names):
        low = tops[i] - c.bytes[i]
        path = _band(xs, low, tops[i], scale, floor)
        peak = bytes_text(c.bytes[i].max(initial=0))
        out.append(
            f'<path class="{_class(i, name)}" d="{path}">'
            f"<title>{escape(str(name))}: at most {peak}</title></path>"
        )
    out += _legend(c, floor + _BOTTOM + 6)
    return "".join(out) + "</svg>"


def _main_device(snapshot: Records) -> int:
    total: dict[int, int] = {}
    for a in snapshot.allocations:
        total[a.device] = total.get(a.device, 0) + a.bytes
    if not total:
        total = {int(d): 0 for d in snapshot.events["device"][-1:]} or {0: 0}
    return max(total, key=lambda d: total[d])


def svg_of(snapshot: Records, device: int | None, host: bool) -> str:
    """Return a picture with its style, as the text of a file."""
    if device is None:
        device = _main_device(snapshot)
    picture = draw(snapshot, device, host)
    return picture.replace(">", f"><style>{PICTURE_STYLE}</style>", 1)


def cell_of(snapshot: Records) -> str:
    """Return the picture for the output of a notebook."""
    return f'<div style="max-width:1100px">{svg_of(snapshot, None, False)}</div>'


# -- the page --------------------------------------------------------------------------


def _line_rows(uses: list[LineUse]) -> list[list[str]]:
    most = max((use.bytes for use in uses), default=1)
    return [
        [
            bytes_text(use.bytes),
            str(use.count),
            path_html(use.line.file, use.line.line),
            escape(use.line.function or ""),
            bar_html(use.bytes / most),
        ]
        for use in uses
    ]


def _allocation_rows(snapshot: Records, most: int = 100) -> list[list[str]]:
    return [
        [
            bytes_text(a.bytes),
            bytes_text(a.asked) if not a.held else "held by a pool",
            a.kind,
            f"<code>0x{a.address:x}</code>",
            time_text(max(0, snapshot.time - a.time)),
            path_html(a.line.file, a.line.line),
        ]
        for a in snapshot.allocations[:most]
    ]


def _section(title: str, heads: list[str], rows: list[Any], numbers: list[int]) -> str:
    if not rows:
        return ""
    return f"<h2>{escape(title)}</h2>" + table_html(heads, rows, numbers)


def _tiles(snapshot: Records) -> str:
    tiles = [
        (bytes_text(snapshot.used()), "device memory in use"),
        (bytes_text(snapshot.held()), "held by pools, unused"),
        (bytes_text(snapshot.used(host=True)), "page-locked host memory"),
        (str(sum(not a.held for a in snapshot.allocations)), "allocations"),
    ]
    for d in snapshot.devices:
        tiles.append((bytes_text(d.free), f"free of {bytes_text(d.total)}, {d.name}"))
    return tiles_html(tiles)


def _pictures(snapshot: Records) -> list[str]:
    used = {(a.device, a.on_host) for a in snapshot.allocations}
    for device, kind in {*zip(*_pairs(snapshot), strict=True)}:
        used.add((device, KINDS[kind] in HOST_KINDS))
    if not used:
        used = {(0, False)}
    return [
        f'<div class="picture">{draw(snapshot, device, host)}</div>'
        for device, host in sorted(used, key=lambda pair: (pair[1], pair[0]))
    ]


def _pairs(snapshot: Records) -> tuple[list[int], list[int]]:
    return snapshot.events["device"].tolist(), snapshot.events["kind"].tolist()


def page_of(snapshot: Records) -> str:
    """Return the page of a snapshot."""
    dropped = snapshot.event_count - len(snapshot.events)
    note = (
        "Each band is a line of the program; the heaviest lines are at the bottom. "
        "Point at a band to see its line."
    )
    if dropped:
        note += f" The history keeps the last {len(snapshot.events)} events; {dropped} "
        note += "older ones were dropped."
    heads = ["bytes", "allocations", "line", "function", ""]
    body = [
        "<h1>Memory</h1>",
        f'<p class="note">{escape(note)}</p>',
        _tiles(snapshot),
        *_pictures(snapshot),
        _section("Device memory by line", heads, _line_rows(snapshot.lines()), [0, 1]),
        _section(
            "Page-locked host memory by line",
            heads,
            _line_rows(snapshot.lines(host=True)),
            [0, 1],
        ),
        _section(
            "Pools of the driver",
            ["device", "reserved", "used"],
            [
                [str(p.device), bytes_text(p.reserved), bytes_text(p.used)]
                for p in snapshot.pools
            ],
            [1, 2],
        ),
        _section(
            "Other processes on the device",
            ["process", "name", "bytes"],
            [
                [str(p.pid), escape(p.name), bytes_text(p.bytes or 0)]
                for p in snapshot.others()
            ],
            [2],
        ),
        _section(
            "The largest allocations",
            ["bytes", "asked for", "kind", "address", "age", "line"],
            _allocation_rows(snapshot),
            [0, 1, 4],
        ),
    ]
    return page("Memory", "".join(body))
