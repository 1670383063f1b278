"""Rows: copies of rectangles and boxes."""

import numpy as np

import pycuda.driver as drv

from .row import calls, row
from .rows_texture_arrays import floats, volume

WIDTH, HEIGHT = 16, 4  # bytes and rows


def _plan(kind, source, dest, w):
    """Return a copy between two kinds of memory, ready to be called."""
    copy = kind()
    things = {
        "host": np.zeros(WIDTH * HEIGHT, np.uint8),
        "device": w.memory,
        "array": floats(w) if kind is drv.Memcpy2D else volume(w),
    }
    getattr(copy, f"set_src_{source}")(things[source])
    getattr(copy, f"set_dst_{dest}")(things[dest])
    copy.width_in_bytes = copy.src_pitch = copy.dst_pitch = WIDTH
    copy.height = HEIGHT
    if kind is not drv.Memcpy2D:
        copy.depth, copy.src_height, copy.dst_height = 1, HEIGHT, HEIGHT
    return copy


def planned(kind, source="host", dest="device"):
    return lambda w: _plan(kind, source, dest, w)


SETTERS = {
    "host": lambda w: w.host,
    "device": lambda w: w.memory,
    "array": lambda w: floats(w),
    "unified": lambda w: w.memory,
    "context": lambda w: w.context,
}

for _kind in (drv.Memcpy2D, drv.Memcpy3D, drv.Memcpy3DPeer):
    _name = _kind.__name__
    row(_name, lambda w, kind=_kind: kind)
    calls(f"{_name}.__call__", lambda copy: copy(), planned(_kind))
    for _source, _dest in (("device", "host"), ("array", "device"), ("host", "array")):
        calls(
            f"{_name}.__call__ ({_source} to {_dest})",
            lambda copy: copy(),
            planned(_kind, _source, _dest),
        )
    calls(
        f"{_name}.__call__ (stream)",
        lambda copy, stream: copy(stream),
        planned(_kind, "device", "device"),
        "stream",
    )
    for _side in ("src", "dst"):
        for _what, _thing in SETTERS.items():
            _setter = f"set_{_side}_{_what}"
            if hasattr(_kind, _setter):
                calls(
                    f"{_name}.{_setter}",
                    lambda copy, thing, setter=_setter: getattr(copy, setter)(thing),
                    planned(_kind),
                    _thing,
                )
    calls(
        f"{_name}.height",
        lambda copy: setattr(copy, "height", copy.height),
        planned(_kind),
        also=[
            f"{_name}.{field}"
            for field in vars(_kind)
            if not field.startswith(("_", "set_")) and field != "height"
        ],
    )
calls(
    "Memcpy2D.__call__ (unaligned)",
    lambda copy: copy(aligned=False),
    planned(drv.Memcpy2D),
)
