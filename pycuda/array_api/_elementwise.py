"""Elementwise functions of the standard, in C: the same calls as those of operators.

A function of two arrays broadcasts them. One of the two may be a Python number, which
adapts to the data type of the other. What the standard leaves open, such as mixed kinds
of data types, follows NumPy's rules.
"""

from __future__ import annotations

import numpy as np

from pycuda._driver import (
    _abs as abs,
    _acos as acos,
    _acosh as acosh,
    _add as add,
    _asin as asin,
    _asinh as asinh,
    _atan as atan,
    _atan2 as atan2,
    _atanh as atanh,
    _bitwise_and as bitwise_and,
    _bitwise_invert as bitwise_invert,
    _bitwise_left_shift as bitwise_left_shift,
    _bitwise_or as bitwise_or,
    _bitwise_right_shift as bitwise_right_shift,
    _bitwise_xor as bitwise_xor,
    _ceil as ceil,
    _clip as clip,
    _conj as conj,
    _copysign as copysign,
    _cos as cos,
    _cosh as cosh,
    _divide as divide,
    _equal as equal,
    _exp as exp,
    _expm1 as expm1,
    _floor as floor,
    _floor_divide as floor_divide,
    _greater as greater,
    _greater_equal as greater_equal,
    _hypot as hypot,
    _imag as imag,
    _isfinite as isfinite,
    _isinf as isinf,
    _isnan as isnan,
    _less as less,
    _less_equal as less_equal,
    _log as log,
    _log1p as log1p,
    _log2 as log2,
    _log10 as log10,
    _logaddexp as logaddexp,
    _logical_and as logical_and,
    _logical_not as logical_not,
    _logical_or as logical_or,
    _logical_xor as logical_xor,
    _maximum as maximum,
    _minimum as minimum,
    _multiply as multiply,
    _negative as negative,
    _nextafter as nextafter,
    _not_equal as not_equal,
    _positive as positive,
    _pow as pow,
    _real as real,
    _reciprocal as reciprocal,
    _remainder as remainder,
    _round as round,
    _sign as sign,
    _signbit as signbit,
    _sin as sin,
    _sinh as sinh,
    _sqrt as sqrt,
    _square as square,
    _subtract as subtract,
    _tan as tan,
    _tanh as tanh,
    _trunc as trunc,
    _where as where,
)
from pycuda.gpuarray import GPUArray

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "divide",
    "equal",
    "exp",
    "expm1",
    "floor",
    "floor_divide",
    "greater",
    "greater_equal",
    "hypot",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "trunc",
    "where",
]


def _limit(x: GPUArray, bound: GPUArray | float | None, is_upper: bool) -> GPUArray:
    """Return the elements, replaced by a bound where they are beyond it."""
    if bound is None:
        return x
    if not isinstance(bound, GPUArray) and x.dtype.kind in "iu":
        limits = np.iinfo(x.dtype)
        if bound <= limits.min if not is_upper else bound >= limits.max:
            return x
        if not limits.min <= bound <= limits.max:
            bound = limits.min if bound < limits.min else limits.max
    result = minimum(x, bound) if is_upper else maximum(x, bound)
    return result if result.dtype == x.dtype else result.astype(x.dtype)


def _clip_by_others(
    x: GPUArray,
    min: GPUArray | float | None,
    max: GPUArray | float | None,
) -> GPUArray:
    """Return what ``clip`` does with bounds of another data type than the array's.

    C does the other calls, and calls this one.
    """
    result = _limit(_limit(x, min, False), max, True)
    return x.copy() if result is x else result
