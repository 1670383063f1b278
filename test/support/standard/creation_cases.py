"""Calls of creation functions and of functions of data types."""

from __future__ import annotations

from typing import Any

import numpy as np

from support.standard.draws import Case, Draw, Drawer
from support.standard.operands import (
    ALL,
    COMPLEX,
    FLOATS,
    INTEGERS,
    NUMBERS,
    Operand,
    Type,
    draw,
    draw_shape,
)
from support.standard.results import Tolerance

# -- creation --------------------------------------------------------------------------


def _arange(pick: Draw, name: str) -> Case:
    keywords: dict[str, Any] = {}
    if pick.chance(0.5):
        numbers: list[Any] = [pick.whole(-20, 20) for _ in range(pick.whole(1, 3))]
        dtype = pick.dtype(name, ("int8", "int32", "int64", "float32", "float64"))
    else:
        numbers = [float(pick.rng.normal() * 9) for _ in range(pick.whole(1, 3))]
        dtype = pick.dtype(f"{name}, real", FLOATS)
    if len(numbers) == 3:
        numbers[2] = (
            pick.one(0.1, 0.7, -0.3, 2, -1) if "f" in dtype else pick.one(2, -3)
        )
    if pick.chance(0.5):
        keywords["dtype"] = Type(dtype)
    return Case(name, tuple(numbers), keywords, Tolerance(2, 0, False))


def _shape_argument(pick: Draw) -> Any:
    shape = draw_shape(pick.rng)
    return shape[0] if len(shape) == 1 and pick.chance(0.5) else shape


def _dtype_keyword(pick: Draw, name: str, share: float = 0.7) -> dict[str, Any]:
    return {"dtype": Type(pick.dtype(name, ALL))} if pick.chance(share) else {}


def _filled(pick: Draw, name: str) -> Case:
    return Case(name, (_shape_argument(pick),), _dtype_keyword(pick, name))


def _filled_like(pick: Draw, name: str) -> Case:
    x = draw(pick.rng, pick.dtype(name, ALL), draw_shape(pick.rng))
    return Case(name, (x,), _dtype_keyword(pick, name, 0.4))


def _value(pick: Draw, dtype: str) -> Any:
    kind = np.dtype(dtype).kind
    if kind == "b":
        return pick.chance(0.5)
    if kind in "iu":
        return pick.whole(0, 100)
    if kind == "f":
        return pick.one(1.5, np.inf, np.nan, -0.0, 3)
    return pick.one(1.5 - 2j, 1j, 2.0)


def _full(pick: Draw, name: str) -> Case:
    dtype = pick.dtype(name, ALL)
    keywords = {"dtype": Type(dtype)} if pick.chance(0.6) else {}
    return Case(name, (_shape_argument(pick), _value(pick, dtype)), keywords)


def _full_like(pick: Draw, name: str) -> Case:
    dtype = pick.dtype(name, ALL)
    x = draw(pick.rng, dtype, draw_shape(pick.rng))
    return Case(name, (x, _value(pick, dtype)))


def _eye(pick: Draw, name: str) -> Case:
    args = tuple(pick.whole(0, 7) for _ in range(pick.whole(1, 2)))
    keywords: dict[str, Any] = {"k": pick.whole(-8, 8)} if pick.chance(0.7) else {}
    if pick.chance(0.5):
        keywords["dtype"] = Type(pick.dtype(name, NUMBERS))
    return Case(name, args, keywords)


def _linspace(pick: Draw, name: str) -> Case:
    dtype = pick.dtype(name, (*FLOATS, *COMPLEX))
    bounds: list[Any] = [float(value) for value in pick.rng.normal(size=2) * 20]
    if pick.chance(0.3):
        bounds = [pick.whole(-9, 9), pick.whole(-9, 9)]
    keywords: dict[str, Any] = {"endpoint": False} if pick.chance(0.4) else {}
    if dtype in COMPLEX:
        bounds = [complex(value, 2.5) for value in bounds]
        keywords["dtype"] = Type(dtype)
    elif pick.chance(0.5):
        keywords["dtype"] = Type(dtype)
    return Case(name, (*bounds, pick.whole(0, 40)), keywords, Tolerance(1))


def _meshgrid(pick: Draw, name: str) -> Case:
    dtype = pick.dtype(name, NUMBERS)
    arrays = [
        draw(pick.rng, dtype, (pick.whole(0, 4),)) for _ in range(pick.whole(0, 3))
    ]
    keywords = {"indexing": pick.one("xy", "ij")} if pick.chance(0.6) else {}
    return Case(name, tuple(arrays), keywords)


def _triangle(pick: Draw, name: str) -> Case:
    x = draw(pick.rng, pick.dtype(name, ALL), draw_shape(pick.rng, 2, 4))
    return Case(name, (x,), {"k": pick.whole(-5, 5)} if pick.chance(0.7) else {})


def _asarray(pick: Draw, name: str) -> Case:
    dtype = pick.dtype(name, ALL)
    x: Any = draw(pick.rng, dtype, draw_shape(pick.rng), 0.0)
    keywords: dict[str, Any] = {}
    if pick.chance(0.5):
        x = x.host.tolist()
        keywords["dtype"] = Type(dtype)
        if dtype in ("bool", "int64", "float64", "complex128") and x != []:
            keywords = {}
    elif pick.chance(0.5):
        keywords["copy"] = True
    return Case(name, (x,), keywords)


def _from_dlpack(pick: Draw, name: str) -> Case:
    x = draw(pick.rng, pick.dtype(name, NUMBERS), draw_shape(pick.rng))
    return Case(name, (x,))


# -- data types ------------------------------------------------------------------------

_KINDS = (
    "bool", "signed integer", "unsigned integer", "integral", "real floating",
    "complex floating", "numeric",
)  # fmt: skip


def _astype(pick: Draw, name: str) -> Case:
    source = pick.dtype(name, ALL)
    targets = COMPLEX if source in COMPLEX else ALL
    target = pick.dtype(f"{name}, {source}", targets)
    special = 0.15
    low = None
    if np.dtype(source).kind == "f" and np.dtype(target).kind in "iu":
        special, low = 0.0, 0.0 if np.dtype(target).kind == "u" else None
    x = draw(pick.rng, source, draw_shape(pick.rng), special, low)
    if low is not None or special == 0.0:
        values = np.clip(x.base, 0 if low is not None else -100, 100)
        x = Operand(values.astype(source), x.layout)
    return Case(name, (x, Type(target)), {"copy": True} if pick.chance(0.5) else {})


def _can_cast(pick: Draw, name: str) -> Case:
    group = pick.one(
        INTEGERS, (*FLOATS, *COMPLEX), ("bool",)
    )  # mixed kinds have no rule
    return Case(name, (Type(pick.one(*group)), Type(pick.one(*group))))


def _finfo(pick: Draw, name: str) -> Case:
    return Case(name, (Type(pick.one(*FLOATS, *COMPLEX)),))


def _iinfo(pick: Draw, name: str) -> Case:
    return Case(name, (Type(pick.one(*INTEGERS)),))


def _isdtype(pick: Draw, name: str) -> Case:
    kinds = [pick.one(*_KINDS, *map(Type, ALL)) for _ in range(pick.whole(1, 3))]
    kind: Any = kinds[0] if len(kinds) == 1 else tuple(kinds)
    return Case(name, (Type(pick.one(*ALL)), kind))


def _result_type(pick: Draw, name: str) -> Case:
    kinds = (INTEGERS[:4], INTEGERS[4:], (*FLOATS, *COMPLEX), ("bool",))
    group = pick.one(*kinds)
    args = [Type(pick.one(*group)) for _ in range(pick.whole(1, 3))]
    if group[0] != "bool" and pick.chance(0.3):
        args.append(pick.one(1, 2))
    return Case(name, tuple(args))


def _inspection(pick: Draw, name: str) -> Case:
    if name == "info.dtypes" and pick.chance(0.8):
        kinds = tuple(pick.one(*_KINDS) for _ in range(pick.whole(1, 3)))
        return Case(name, (), {"kind": kinds[0] if len(kinds) == 1 else kinds})
    return Case(name, ())


DRAWERS: dict[str, Drawer] = {
    "arange": _arange,
    "asarray": _asarray,
    "astype": _astype,
    "can_cast": _can_cast,
    "empty": _filled,
    "empty_like": _filled_like,
    "eye": _eye,
    "finfo": _finfo,
    "from_dlpack": _from_dlpack,
    "full": _full,
    "full_like": _full_like,
    "iinfo": _iinfo,
    "isdtype": _isdtype,
    "linspace": _linspace,
    "meshgrid": _meshgrid,
    "ones": _filled,
    "ones_like": _filled_like,
    "result_type": _result_type,
    "tril": _triangle,
    "triu": _triangle,
    "zeros": _filled,
    "zeros_like": _filled_like,
    "info.capabilities": _inspection,
    "info.default_dtypes": _inspection,
    "info.dtypes": _inspection,
}
