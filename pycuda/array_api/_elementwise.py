"""Elementwise functions of the standard.

A function of two arrays broadcasts them. One of the two may be a Python number, which
adapts to the data type of the other. What the standard leaves open, such as mixed kinds
of data types, follows NumPy's rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from pycuda._array.numpy_protocol.functions import round as _rounded
from pycuda._driver import _array_ops, _elementwise
from pycuda.array_api._data_types import Number
from pycuda.gpuarray import GPUArray

_Unary: TypeAlias = Callable[[GPUArray], GPUArray]
_Binary: TypeAlias = Callable[[GPUArray | Number, GPUArray | Number], GPUArray]


def _unary(name: str, operation: str, doc: str) -> _Unary:
    """Return a function of one array."""
    number = _array_ops[operation]

    def function(x: GPUArray, /) -> GPUArray:
        return _elementwise(number, (x,))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _binary(name: str, operation: str, doc: str) -> _Binary:
    """Return a function of two arrays, or of an array and a number."""
    number = _array_ops[operation]

    def function(x1: GPUArray | Number, x2: GPUArray | Number, /) -> GPUArray:
        return _elementwise(number, (x1, x2))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


# -- functions of one array ------------------------------------------------------------

abs: _Unary = _unary(
    "abs", "absolute", "Return the absolute values; of complex numbers too."
)
acos: _Unary = _unary("acos", "arccos", "Return the inverse cosines.")
acosh: _Unary = _unary("acosh", "arccosh", "Return the inverse hyperbolic cosines.")
asin: _Unary = _unary("asin", "arcsin", "Return the inverse sines.")
asinh: _Unary = _unary("asinh", "arcsinh", "Return the inverse hyperbolic sines.")
atan: _Unary = _unary("atan", "arctan", "Return the inverse tangents.")
atanh: _Unary = _unary("atanh", "arctanh", "Return the inverse hyperbolic tangents.")
bitwise_invert: _Unary = _unary(
    "bitwise_invert", "invert", "Return the elements with all bits inverted."
)
ceil: _Unary = _unary("ceil", "ceil", "Return the next whole numbers, rounded up.")
conj: _Unary = _unary("conj", "conjugate", "Return the complex conjugates.")
cos: _Unary = _unary("cos", "cos", "Return the cosines.")
cosh: _Unary = _unary("cosh", "cosh", "Return the hyperbolic cosines.")
exp: _Unary = _unary("exp", "exp", "Return e to the power of the elements.")
expm1: _Unary = _unary(
    "expm1", "expm1", "Return e to the power of the elements, less 1."
)
floor: _Unary = _unary("floor", "floor", "Return the next whole numbers, rounded down.")
imag: _Unary = _unary("imag", "imag", "Return the imaginary parts.")
isfinite: _Unary = _unary("isfinite", "isfinite", "Return whether elements are finite.")
isinf: _Unary = _unary("isinf", "isinf", "Return whether elements are infinite.")
isnan: _Unary = _unary("isnan", "isnan", "Return whether elements are NaN.")
log: _Unary = _unary("log", "log", "Return the natural logarithms.")
log10: _Unary = _unary("log10", "log10", "Return the logarithms to base 10.")
log1p: _Unary = _unary("log1p", "log1p", "Return the natural logarithms of 1 + x.")
log2: _Unary = _unary("log2", "log2", "Return the logarithms to base 2.")
logical_not: _Unary = _unary(
    "logical_not", "logical_not", "Return whether elements are false."
)
negative: _Unary = _unary(
    "negative", "negative", "Return the elements with opposite sign."
)
positive: _Unary = _unary("positive", "positive", "Return a copy of the elements.")
real: _Unary = _unary("real", "real", "Return the real parts.")
reciprocal: _Unary = _unary(
    "reciprocal", "reciprocal", "Return 1 divided by the elements."
)
sign: _Unary = _unary("sign", "sign", "Return the signs: -1, 0, 1, or z / abs(z).")
signbit: _Unary = _unary("signbit", "signbit", "Return whether the sign bit is set.")
sin: _Unary = _unary("sin", "sin", "Return the sines.")
sinh: _Unary = _unary("sinh", "sinh", "Return the hyperbolic sines.")
sqrt: _Unary = _unary("sqrt", "sqrt", "Return the square roots.")
square: _Unary = _unary("square", "square", "Return the squares.")
tan: _Unary = _unary("tan", "tan", "Return the tangents.")
tanh: _Unary = _unary("tanh", "tanh", "Return the hyperbolic tangents.")
trunc: _Unary = _unary("trunc", "trunc", "Return the whole numbers, rounded towards 0.")


def round(x: GPUArray, /) -> GPUArray:
    """Return the nearest whole numbers; halves become even. Integers are copied."""
    return _rounded(x)


# -- functions of two arrays -----------------------------------------------------------

add: _Binary = _binary("add", "add", "Return the sums.")
atan2: _Binary = _binary(
    "atan2", "arctan2", "Return the angles of the points (x2, x1)."
)
bitwise_and: _Binary = _binary(
    "bitwise_and", "bitwise_and", "Return the bits set in both."
)
bitwise_left_shift: _Binary = _binary(
    "bitwise_left_shift", "left_shift", "Return the bits of x1 moved left by x2."
)
bitwise_or: _Binary = _binary(
    "bitwise_or", "bitwise_or", "Return the bits set in either."
)
bitwise_right_shift: _Binary = _binary(
    "bitwise_right_shift", "right_shift", "Return the bits of x1 moved right by x2."
)
bitwise_xor: _Binary = _binary(
    "bitwise_xor", "bitwise_xor", "Return the bits set in one only."
)
copysign: _Binary = _binary("copysign", "copysign", "Return x1 with the signs of x2.")
divide: _Binary = _binary(
    "divide", "divide", "Return the quotients; of integers in float64."
)
equal: _Binary = _binary("equal", "equal", "Return whether elements are equal.")
floor_divide: _Binary = _binary(
    "floor_divide", "floor_divide", "Return the quotients, rounded down."
)
greater: _Binary = _binary("greater", "greater", "Return whether x1 > x2.")
greater_equal: _Binary = _binary(
    "greater_equal", "greater_equal", "Return whether x1 >= x2."
)
hypot: _Binary = _binary("hypot", "hypot", "Return the root of x1**2 + x2**2.")
less: _Binary = _binary("less", "less", "Return whether x1 < x2.")
less_equal: _Binary = _binary("less_equal", "less_equal", "Return whether x1 <= x2.")
logaddexp: _Binary = _binary("logaddexp", "logaddexp", "Return log(exp(x1) + exp(x2)).")
logical_and: _Binary = _binary(
    "logical_and", "logical_and", "Return whether both are true."
)
logical_or: _Binary = _binary(
    "logical_or", "logical_or", "Return whether either is true."
)
logical_xor: _Binary = _binary(
    "logical_xor", "logical_xor", "Return whether just one is true."
)
maximum: _Binary = _binary(
    "maximum", "maximum", "Return the greater elements; NaN if any is."
)
minimum: _Binary = _binary(
    "minimum", "minimum", "Return the smaller elements; NaN if any is."
)
multiply: _Binary = _binary("multiply", "multiply", "Return the products.")
nextafter: _Binary = _binary(
    "nextafter", "nextafter", "Return the next numbers towards x2."
)
not_equal: _Binary = _binary(
    "not_equal", "not_equal", "Return whether elements differ."
)
pow: _Binary = _binary("pow", "power", "Return x1 to the powers x2.")
remainder: _Binary = _binary(
    "remainder", "remainder", "Return the remainders, signed as x2."
)
subtract: _Binary = _binary("subtract", "subtract", "Return the differences.")


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
    name = "minimum" if is_upper else "maximum"
    result = _elementwise(_array_ops[name], (x, bound))
    return result if result.dtype == x.dtype else result.astype(x.dtype)


def clip(
    x: GPUArray,
    /,
    min: GPUArray | float | None = None,
    max: GPUArray | float | None = None,
) -> GPUArray:
    """Return the elements, limited to the range from ``min`` to ``max``.

    The bounds are arrays, which broadcast with ``x``, numbers, or None. The result has
    the data type of ``x``. It is NaN where an operand is NaN.
    """
    result = _limit(_limit(x, min, False), max, True)
    return x.copy() if result is x else result
