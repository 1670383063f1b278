"""Calls of reductions and cumulative functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from support.standard.draws import Case, Draw, Drawer
from support.standard.operands import (
    ALL,
    COMPLEX,
    FLOATS,
    NUMBERS,
    REAL,
    Operand,
    Shape,
    Type,
    draw,
    draw_axis,
    draw_shape,
)
from support.standard.results import Tolerance


def _axes(pick: Draw, shape: Shape, several: bool = True) -> dict[str, Any]:
    """Return the keywords axis and keepdims of a reduction."""
    keywords: dict[str, Any] = {}
    ndim = len(shape)
    if ndim and pick.chance(0.7):
        keywords["axis"] = draw_axis(pick.rng, ndim)
        if several and pick.chance(0.3):
            count = pick.whole(1, ndim)
            chosen = pick.rng.choice(ndim, count, replace=False)
            keywords["axis"] = tuple(int(axis) for axis in chosen)
    if pick.chance(0.4):
        keywords["keepdims"] = pick.chance(0.7)
    return keywords


#: Name: (data types, share of special values, whether arrays may be empty).
_REDUCTIONS: dict[str, tuple[tuple[str, ...], float, bool]] = {
    "all": (ALL, 0.1, True),
    "any": (ALL, 0.1, True),
    "argmax": (REAL, 0.1, False),
    "argmin": (REAL, 0.1, False),
    "count_nonzero": (ALL, 0.3, True),
    "max": (REAL, 0.1, False),
    "mean": ((*FLOATS, *COMPLEX), 0.02, True),
    "min": (REAL, 0.1, False),
    "prod": (NUMBERS, 0.0, True),
    "std": (FLOATS, 0.0, True),
    "sum": (NUMBERS, 0.02, True),
    "var": (FLOATS, 0.0, True),
}


def _size(x: Operand) -> float:
    """Return the sum of the absolute values of the finite elements."""
    host = x.host
    if host.dtype.kind not in "fc":
        return 0.0
    with np.errstate(all="ignore"):
        sizes = np.abs(host).astype(np.float64)
    return float(np.sum(np.where(np.isfinite(sizes), sizes, 0)))


def _reduction(pick: Draw, name: str) -> Case:
    dtypes, special, empty = _REDUCTIONS[name]
    dtype = pick.dtype(name, dtypes)
    if "complex" in dtype and name not in ("all", "any", "count_nonzero"):
        special = 0.0
    x = draw(pick.rng, dtype, draw_shape(pick.rng, zero=empty), special)
    if name == "prod" and np.dtype(dtype).kind in "fc":  # no overflow in any order
        x = Operand((x.base / (1 + np.abs(x.base) / 2)).astype(dtype), x.layout)
    keywords = _axes(pick, x.host.shape, name not in ("argmax", "argmin"))
    scale = 0.0
    ulps = 8.0
    if name in ("sum", "prod", "mean"):
        scale = _size(x)
        if name == "prod":
            ulps, scale = 64.0, 0.0
        if name != "mean" and pick.chance(0.2):
            keywords["dtype"] = Type(
                {"i": "int64", "u": "uint64", "f": "float64", "c": "complex128"}[
                    np.dtype(dtype).kind
                ]
            )
    if name in ("var", "std"):
        keywords["correction"] = pick.one(0, 0.0, 1, 0.5)
        low = int(np.prod(x.host.shape))
        axis = keywords.get("axis")
        if axis is not None:
            axes = axis if isinstance(axis, tuple) else (axis,)
            low = int(np.prod([x.host.shape[k] for k in axes]))
        if low <= 1:  # otherwise 0 / 0, or fewer than no degrees of freedom
            keywords["correction"] = 0
        scale = float(np.max(np.abs(x.host), initial=0)) ** (2 if name == "var" else 1)
        ulps = 32.0
    return Case(name, (x,), keywords, Tolerance(ulps, scale))


def _cumulative(pick: Draw, name: str) -> Case:
    dtype = pick.dtype(name, NUMBERS)
    x = draw(pick.rng, dtype, draw_shape(pick.rng, low=1), 0.0)
    keywords: dict[str, Any] = {}
    if x.host.ndim > 1 or pick.chance(0.5):
        keywords["axis"] = draw_axis(pick.rng, x.host.ndim)
    if pick.chance(0.4):
        keywords["include_initial"] = True
    if pick.chance(0.2):
        names = {"i": "int64", "u": "uint64", "f": "float64", "c": "complex128"}
        keywords["dtype"] = Type(names[np.dtype(dtype).kind])
    scale = _size(x) if name == "cumulative_sum" else 0.0
    return Case(name, (x,), keywords, Tolerance(64, scale))


def _diff(pick: Draw, name: str) -> Case:
    dtype = pick.dtype(name, NUMBERS)
    x = draw(pick.rng, dtype, draw_shape(pick.rng, low=1), 0.0)
    axis = draw_axis(pick.rng, x.host.ndim)
    keywords: dict[str, Any] = {"axis": axis, "n": pick.whole(0, 2)}
    for word in ("prepend", "append"):
        if pick.chance(0.3):
            shape = list(x.host.shape)
            shape[axis] = pick.whole(1, 3)
            keywords[word] = draw(pick.rng, dtype, tuple(shape), 0.0)
    return Case(name, (x,), keywords, Tolerance(4, _size(x)))


DRAWERS: dict[str, Drawer] = {
    **dict.fromkeys(_REDUCTIONS, _reduction),
    "cumulative_prod": _cumulative,
    "cumulative_sum": _cumulative,
    "diff": _diff,
}
