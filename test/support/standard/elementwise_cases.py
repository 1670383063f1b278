"""Calls of elementwise functions and of operators."""

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
    REAL,
    Operand,
    draw,
    draw_broadcast,
    draw_shape,
)
from support.standard.results import Tolerance

_FLOATING = (*FLOATS, *COMPLEX)
_WHOLE = ("bool", *INTEGERS)

#: Name: (data types, units of the last place).
_UNARY: dict[str, tuple[tuple[str, ...], float]] = {
    "abs": (NUMBERS, 0),
    "acos": (_FLOATING, 8),
    "acosh": (_FLOATING, 8),
    "asin": (_FLOATING, 8),
    "asinh": (_FLOATING, 8),
    "atan": (_FLOATING, 8),
    "atanh": (_FLOATING, 8),
    "bitwise_invert": (_WHOLE, 0),
    "ceil": (REAL, 0),
    "conj": (NUMBERS, 0),
    "cos": (_FLOATING, 8),
    "cosh": (_FLOATING, 8),
    "exp": (_FLOATING, 8),
    "expm1": (_FLOATING, 8),
    "floor": (REAL, 0),
    "imag": (COMPLEX, 0),
    "isfinite": (NUMBERS, 0),
    "isinf": (NUMBERS, 0),
    "isnan": (NUMBERS, 0),
    "log": (_FLOATING, 8),
    "log10": (_FLOATING, 8),
    "log1p": (_FLOATING, 8),
    "log2": (_FLOATING, 8),
    "logical_not": (("bool",), 0),
    "negative": (NUMBERS, 0),
    "positive": (NUMBERS, 0),
    "real": (NUMBERS, 0),
    "reciprocal": (_FLOATING, 0),
    "round": (NUMBERS, 0),
    "sign": (NUMBERS, 0),
    "signbit": (FLOATS, 0),
    "sin": (_FLOATING, 8),
    "sinh": (_FLOATING, 8),
    "sqrt": (_FLOATING, 0),
    "square": (NUMBERS, 0),
    "tan": (_FLOATING, 8),
    "tanh": (_FLOATING, 8),
    "trunc": (REAL, 0),
}

#: Functions whose complex results are defined for infinite and NaN parts too.
_PLAIN_COMPLEX = {
    "abs", "conj", "imag", "isfinite", "isinf", "isnan", "negative", "positive", "real",
}  # fmt: skip


def _moderate(x: Any, name: str) -> Any:
    """Return complex operands so small that no step of a function overflows."""
    if not isinstance(x, Operand) or x.base.dtype.kind != "c":
        return x
    limit = 4 if name == "pow" else 20
    return Operand(
        (x.base / (1 + np.abs(x.base) / limit)).astype(x.base.dtype), x.layout
    )


#: Functions that also get complex operands whose results overflow.
_OVERFLOWING = {
    "cos", "cosh", "divide", "exp", "expm1", "multiply", "pow", "reciprocal", "sin",
    "sinh", "square", "tan", "tanh",
}  # fmt: skip


def _large(pick: Draw, x: Any) -> Any:
    """Return complex operands of all sizes, some of them near the largest number."""
    if not isinstance(x, Operand) or x.base.dtype.kind != "c":
        return x
    most = np.log10(float(np.finfo(x.base.dtype).max)) * 0.7
    sizes = 10.0 ** pick.rng.uniform(-most / 2, most, x.base.shape)
    values = x.base.astype(np.complex128) * sizes
    return Operand(values.astype(x.base.dtype), x.layout)


def _unary(pick: Draw, name: str) -> Case:
    dtypes, ulps = _UNARY[name]
    dtype = pick.dtype(name, dtypes)
    is_complex = dtype.startswith("complex")
    special = 0.0 if is_complex and name not in _PLAIN_COMPLEX else 0.15
    x = draw(pick.rng, dtype, draw_shape(pick.rng), special)
    overflow = is_complex and name in _OVERFLOWING and pick.chance(0.3)
    if overflow:
        x, ulps = _large(pick, x), 16
    elif is_complex:
        x = x if name in _PLAIN_COMPLEX else _moderate(x, name)
        ulps = max(ulps, 4) if name in _PLAIN_COMPLEX else 16
    return Case(name, (x,), {}, Tolerance(ulps, 0, not is_complex, overflow))


#: Name: (data types, units of the last place).
_BINARY: dict[str, tuple[tuple[str, ...], float]] = {
    "add": (NUMBERS, 0),
    "atan2": (FLOATS, 8),
    "bitwise_and": (_WHOLE, 0),
    "bitwise_or": (_WHOLE, 0),
    "bitwise_xor": (_WHOLE, 0),
    "bitwise_left_shift": (INTEGERS, 0),
    "bitwise_right_shift": (INTEGERS, 0),
    "copysign": (FLOATS, 0),
    "divide": (_FLOATING, 0),
    "equal": (ALL, 0),
    "floor_divide": (REAL, 0),
    "greater": (REAL, 0),
    "greater_equal": (REAL, 0),
    "hypot": (FLOATS, 8),
    "less": (REAL, 0),
    "less_equal": (REAL, 0),
    "logaddexp": (FLOATS, 8),
    "logical_and": (("bool",), 0),
    "logical_or": (("bool",), 0),
    "logical_xor": (("bool",), 0),
    "maximum": (REAL, 0),
    "minimum": (REAL, 0),
    "multiply": (NUMBERS, 0),
    "nextafter": (FLOATS, 0),
    "not_equal": (ALL, 0),
    "pow": (NUMBERS, 8),
    "remainder": (REAL, 0),
    "subtract": (NUMBERS, 0),
}

_OPERATORS = {
    "__add__": "add",
    "__and__": "bitwise_and",
    "__eq__": "equal",
    "__floordiv__": "floor_divide",
    "__ge__": "greater_equal",
    "__gt__": "greater",
    "__le__": "less_equal",
    "__lshift__": "bitwise_left_shift",
    "__lt__": "less",
    "__mod__": "remainder",
    "__mul__": "multiply",
    "__ne__": "not_equal",
    "__or__": "bitwise_or",
    "__pow__": "pow",
    "__rshift__": "bitwise_right_shift",
    "__sub__": "subtract",
    "__truediv__": "divide",
    "__xor__": "bitwise_xor",
}
_REFLECTED = {
    f"__r{operator[2:]}": name
    for operator, name in _OPERATORS.items()
    if name not in ("equal", "not_equal") and "less" not in name and "gr" not in name
}
_IN_PLACE = {f"__i{operator[3:]}": name for operator, name in _REFLECTED.items()}
_UNARY_OPERATORS = {
    "__abs__": "abs",
    "__invert__": "bitwise_invert",
    "__neg__": "negative",
    "__pos__": "positive",
}


def _partner(pick: Draw, name: str, dtype: str) -> str:
    """Return the data type of a second operand: of the same kind, often the same."""
    kind = np.dtype(dtype).kind
    if pick.chance(0.7) or kind == "b":
        return dtype
    group = {"i": INTEGERS[:4], "u": INTEGERS[4:], "f": FLOATS, "c": COMPLEX}[kind]
    if kind == "c" and pick.chance(0.3):
        group = FLOATS
    return pick.dtype(f"{name}, {dtype}", group)


def _number(pick: Draw, dtype: str) -> Any:
    """Return a Python number that fits a data type."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return pick.chance(0.5)
    if kind == "u":
        return pick.whole(0, 7)
    if kind == "i" or pick.chance(0.4):
        return pick.whole(-7, 7)
    if kind == "c" and pick.chance(0.5):
        return complex(pick.whole(-3, 3), 1.5)
    return float(pick.rng.standard_normal())


def _safe(pick: Draw, name: str, x: Any) -> Any:
    """Return a second operand for which integers have a defined result."""
    bounds = {
        "bitwise_left_shift": (0, 7),
        "bitwise_right_shift": (0, 7),
        "floor_divide": (1, 9),
        "remainder": (1, 9),
        "pow": (0, 3),
    }.get(name)
    if bounds is None:
        return x
    if name == "pow":
        x = _moderate(x, name)
    if not isinstance(x, Operand):
        return pick.whole(*bounds) if isinstance(x, int) else x
    if x.base.dtype.kind not in "iu":
        return x
    values = pick.rng.integers(bounds[0], bounds[1] + 1, x.base.shape)
    return Operand(values.astype(x.base.dtype), x.layout)


def _two_operands(pick: Draw, name: str) -> tuple[Any, Any]:
    """Return two operands that broadcast; one may be a number."""
    dtype = pick.dtype(name, _BINARY[name][0])
    other = _partner(pick, name, dtype)
    is_complex = "complex" in dtype or "complex" in other
    special = 0.0 if is_complex and name not in ("equal", "not_equal", "add") else 0.15
    if name == "pow" and dtype in INTEGERS:
        special = 0.0
    shape = draw_shape(pick.rng)
    x1: Any = draw(pick.rng, dtype, shape, special)
    if name == "pow":
        x1 = _moderate(x1, name)
    if pick.chance(0.25):
        return x1, _safe(pick, name, _number(pick, dtype))
    second = shape if pick.chance(0.6) else draw_broadcast(pick.rng, shape)
    x2: Any = _safe(pick, name, draw(pick.rng, other, second, special))
    return x1, x2


def _two_results(name: str, x1: Any, x2: Any, pick: Draw) -> Tolerance:
    """Return the tolerance of a function of two operands."""
    ulps = _BINARY[name][1]
    hosts = [x.host if isinstance(x, Operand) else np.asarray(x) for x in (x1, x2)]
    if any(host.dtype.kind == "c" for host in hosts):
        if name == "pow":  # exp(x2 * log(x1)): the error grows with the exponent
            ulps *= 1 + float(np.max(np.abs(hosts[1]), initial=0))
            ulps *= 1 + float(np.max(np.abs(np.log(hosts[0])), initial=0))
        return Tolerance(max(ulps, 16), 0, False, name in _OVERFLOWING)
    scale = 1.0 if name == "logaddexp" else 0.0
    return Tolerance(ulps, scale, name not in ("maximum", "minimum"))


def _binary(pick: Draw, name: str) -> Case:
    x1, x2 = _two_operands(pick, name)
    if name in _OVERFLOWING and pick.chance(0.3):
        x1 = _large(pick, x1)
        x2 = x2 if name == "pow" else _large(pick, x2)
    may_swap = name not in ("floor_divide", "remainder", "pow") and "shift" not in name
    if may_swap and not isinstance(x2, Operand) and pick.chance(0.3):
        x1, x2 = x2, x1
    return Case(name, (x1, x2), {}, _two_results(name, x1, x2, pick))


def _operator(pick: Draw, name: str) -> Case:
    function = _OPERATORS[name]
    x1, x2 = _two_operands(pick, function)
    return Case(f"array.{name}", (x1, x2), {}, _two_results(function, x1, x2, pick))


def _reflected(pick: Draw, name: str) -> Case:
    function = _REFLECTED[name]
    dtype = pick.dtype(function, _BINARY[function][0])
    special = 0.0 if "complex" in dtype else 0.15
    x: Any = draw(pick.rng, dtype, draw_shape(pick.rng), special)
    number = _safe(pick, function, _number(pick, dtype))
    x = _safe(pick, function, x)
    tolerance = _two_results(function, x, number, pick)
    return Case(f"array.{name}", (x, number), {}, tolerance)


def _in_place(pick: Draw, name: str) -> Case:
    function = _IN_PLACE[name]
    dtype = pick.dtype(function, _BINARY[function][0])
    special = 0.0 if "complex" in dtype or function == "pow" else 0.15
    shape = draw_shape(pick.rng)
    x1: Any = draw(pick.rng, dtype, shape, special)
    if function == "pow":
        x1 = _moderate(x1, function)
    x2: Any = draw(pick.rng, dtype, draw_broadcast(pick.rng, shape), special)
    if pick.chance(0.25):
        x2 = _number(pick, dtype)
        x2 = x2.real if isinstance(x2, complex) and "complex" not in dtype else x2
    x2 = _safe(pick, function, x2)
    return Case(f"array.{name}", (x1, x2), {}, _two_results(function, x1, x2, pick))


def _unary_operator(pick: Draw, name: str) -> Case:
    case = _unary(pick, _UNARY_OPERATORS[name])
    return Case(f"array.{name}", case.args, {}, case.tolerance)


def _clip(pick: Draw, name: str) -> Case:
    dtype = pick.dtype(name, REAL)
    shape = draw_shape(pick.rng)
    x = draw(pick.rng, dtype, shape)
    low: Any
    high: Any
    if pick.chance(0.5):
        least = 0 if dtype.startswith("uint") else -5
        low, high = sorted((pick.whole(least, 5), pick.whole(least, 9)))
        if dtype in FLOATS and pick.chance(0.5):
            low, high = low - 0.5, high + 0.25
        low, high = pick.one((low, high), (None, high), (low, None), (None, None))
    else:
        second = draw_broadcast(pick.rng, shape)
        low = draw(pick.rng, dtype, second, 0.0)
        span = np.abs(low.host) + np.asarray(3, dtype)
        high = Operand((low.host + np.minimum(span, 9)).astype(dtype))
        low, high = pick.one((low, high), (None, high), (low, None))
    return Case(name, (x, low, high))


def _where(pick: Draw, name: str) -> Case:
    dtype = pick.dtype(name, ALL)
    shape = draw_shape(pick.rng)
    condition = draw(pick.rng, "bool", draw_broadcast(pick.rng, shape))
    x1: Any = draw(pick.rng, dtype, shape)
    x2: Any = draw(
        pick.rng, _partner(pick, name, dtype), draw_broadcast(pick.rng, shape)
    )
    if pick.chance(0.3):
        x2 = _number(pick, dtype)
        if pick.chance(0.5):
            x1, x2 = x2, x1
    return Case(name, (condition, x1, x2), {}, Tolerance(signs=True))


DRAWERS: dict[str, Drawer] = {
    **dict.fromkeys(_UNARY, _unary),
    **dict.fromkeys(_BINARY, _binary),
    **dict.fromkeys(_OPERATORS, _operator),
    **dict.fromkeys(_REFLECTED, _reflected),
    **dict.fromkeys(_IN_PLACE, _in_place),
    **dict.fromkeys(_UNARY_OPERATORS, _unary_operator),
    "clip": _clip,
    "where": _where,
}
