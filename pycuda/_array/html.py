"""How notebooks show an array: what it is, and its first and last elements.

C calls ``_repr_html_``. The text form of an array does not change.
"""

from __future__ import annotations

from html import escape

import numpy as np

from pycuda import _driver
from pycuda._page import bytes_text

#: Elements that are shown at each end of an axis, and without gap.
_END, _ALL = 4, 10
#: Arrays of fewer bytes are copied to the host as a whole.
_SMALL = 1 << 16

_GAP = "\u2026"
_STYLE = 'style="padding:2px 8px"'

_KINDS = {
    "DeviceAllocation": "device memory",
    "PooledDeviceAllocation": "a memory pool",
    "ManagedAllocation": "managed memory",
    "StreamAllocation": "a pool of the driver",
    "VirtualMemory": "reserved addresses",
    "ForeignAllocation": "memory of another library",
}


def _ends(length):
    """Return the indices that are shown of an axis; None is the gap."""
    if length <= _ALL:
        return list(range(length))
    return [*range(_END), None, *range(length - _END, length)]


def _shown(a):
    """Return the elements that are shown, as an array of the host, and its indices.

    The array has at most two axes. Of the axes before them the first element is shown.
    """
    for _ in range(a.ndim - 2):
        a = a[0]
    places = [_ends(length) for length in a.shape]
    if a.nbytes <= _SMALL:
        host = a.get()
    else:
        for axis, length in enumerate(a.shape):
            if length > _ALL:
                before = (slice(None),) * axis
                first = a[before + (slice(0, _END),)].copy()
                last = a[before + (slice(length - _END, length),)].copy()
                a = _driver._concatenate([first, last], axis)
        host = a.get()
    for axis, wanted in enumerate(places):
        if None in wanted and host.shape[axis] > 2 * _END:
            keep = [place for place in wanted if place is not None]
            host = np.take(host, keep, axis)
    return host, places


def _text(value):
    """Return an element in few characters."""
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    if isinstance(value, (complex, np.complexfloating)):
        return f"{value:.4g}"
    return str(value)


def _row(cells, head=""):
    parts = [f"<th {_STYLE}>{head}</th>"] if head else []
    parts += [f"<td {_STYLE}>{each}</td>" for each in cells]
    return f"<tr>{''.join(parts)}</tr>"


def _with_gap(cells, places):
    """Return texts with the gap between the first and the last."""
    cells = iter(cells)
    return [_GAP if place is None else next(cells) for place in places]


def _elements(a):
    """Return a table of elements."""
    if a.size == 0:
        return ""
    host, places = _shown(a)
    if host.ndim == 0:
        return f"<table>{_row([escape(_text(host[()]))])}</table>"
    columns = places[-1]
    head = "".join(
        f"<th {_STYLE}>{_GAP if each is None else each}</th>" for each in columns
    )
    if host.ndim == 1:
        cells = [escape(_text(value)) for value in host]
        return f"<table><tr>{head}</tr>{_row(_with_gap(cells, columns))}</table>"
    lines = iter(host)
    rows = []
    for place in places[0]:
        cells = [_GAP] * len(columns)
        if place is not None:
            values = [escape(_text(value)) for value in next(lines)]
            cells = _with_gap(values, columns)
        rows.append(_row(cells, _GAP if place is None else str(place)))
    first = ""
    if a.ndim > 2:
        index = ", ".join(["0"] * (a.ndim - 2))
        first = f"<div>[{index}, :, :]</div>"
    return f"{first}<table><tr><th></th>{head}</tr>{''.join(rows)}</table>"


def _memory(a):
    """Return where the elements are, and how many bytes they have."""
    words = bytes_text(a.nbytes)
    kind = _KINDS.get(type(a.gpudata).__name__)
    if a.size and kind:
        words += f" of {kind}"
    if a.size and not a.flags.c_contiguous:
        words += f", strides {a.strides}"
    return words


def _repr_html_(a):
    """Return the array as HTML: shape, dtype, device, memory, elements."""
    name = f"{type(a).__name__} {a.shape} {a.dtype}"
    facts = {
        "shape": str(tuple(a.shape)),
        "dtype": str(a.dtype),
        "device": f"{a.device.name()}",
        "memory": _memory(a),
    }
    try:
        elements = _elements(a)
    except _driver.Error as error:
        reason = str(error).splitlines()[0]
        elements = f"<div>The elements cannot be read: {escape(reason)}</div>"
    rows = "".join(
        f'<tr><th style="text-align:left;padding:2px 8px">{key}</th>'
        f'<td style="text-align:left;padding:2px 8px">{escape(value)}</td></tr>'
        for key, value in facts.items()
    )
    return (
        f'<div class="pycuda-array" title="{escape(name)}">'
        f"<table>{rows}</table>{elements}</div>"
    )
