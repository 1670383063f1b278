"""Elementwise functions of the standard.

A function of two arrays broadcasts them. One of the two may be a Python number, which
adapts to the data type of the other. What the standard leaves open, such as mixed kinds
of data types, follows NumPy's rules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from pycuda._array.numpy_functions import round as _rounded
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

abs = _unary("abs", "absolute", "Return the absolute values; of complex numbers too.")
acos = _unary("acos", "arccos", "Return the inverse cosines.")
acosh = _unary("acosh", "arccosh", "Return the inverse hyperbolic cosines.")
asin = _unary("asin", "arcsin", "Return the inverse sines.")
asinh = _unary("asinh", "arcsinh", "Return the inverse hyperbolic sines.")
atan = _unary("atan", "arctan", "Return the inverse tangents.")
atanh = _unary("atanh", "arctanh", "Return the inverse hyperbolic tangents.")
bitwise_invert = _unary(
    "bitwise_invert", "invert", "Return the elements with all bits inverted."
)
ceil = _unary("ceil", "ceil", "Return the next whole numbers, rounded up.")
conj = _unary("conj", "conjugate", "Return the complex conjugates.")
cos = _unary("cos", "cos", "Return the cosines.")
cosh = _unary("cosh", "cosh", "Return the hyperbolic cosines.")
exp = _unary("exp", "exp", "Return e to the power of the elements.")
expm1 = _unary("expm1", "expm1", "Return e to the power of the elements, less 1.")
floor = _unary("floor", "floor", "Return the next whole numbers, rounded down.")
imag = _unary("imag", "imag", "Return the imaginary parts.")
isfinite = _unary("isfinite", "isfinite", "Return whether elements are finite.")
isinf = _unary("isinf", "isinf", "Return whether elements are infinite.")
isnan = _unary("isnan", "isnan", "Return whether elements are NaN.")
log = _unary("log", "log", "Return the natural logarithms.")
log10 = _unary("log10", "log10", "Return the logarithms to base 10.")
log1p = _unary("log1p", "log1p", "Return the natural logarithms of 1 + x.")
log2 = _unary("log2", "log2", "Return the logarithms to base 2.")
logical_not = _unary("logical_not", "logical_not", "Return whether elements are false.")
negative = _unary("negative", "negative", "Return the elements with opposite sign.")
positive = _unary("positive", "positive", "Return a copy of the elements.")
real = _unary("real", "real", "Return the real parts.")
reciprocal = _unary("reciprocal", "reciprocal", "Return 1 divided by the elements.")
sign = _unary("sign", "sign", "Return the signs: -1, 0, 1, or z / abs(z).")
signbit = _unary("signbit", "signbit", "Return whether the sign bit is set.")
sin = _unary("sin", "sin", "Return the sines.")
sinh = _unary("sinh", "sinh", "Return the hyperbolic sines.")
sqrt = _unary("sqrt", "sqrt", "Return the square roots.")
square = _unary("square", "square", "Return the squares.")
tan = _unary("tan", "tan", "Return the tangents.")
tanh = _unary("tanh", "tanh", "Return the hyperbolic tangents.")
trunc = _unary("trunc", "trunc", "Return the whole numbers, rounded towards 0.")


def round(x: GPUArray, /) -> GPUArray:
    """Return the nearest whole numbers; halves become even. Integers are copied."""
    return _rounded(x)


# -- functions of two arrays -----------------------------------------------------------

add = _binary("add", "add", "Return the sums.")
atan2 = _binary("atan2", "arctan2", "Return the angles of the points (x2, x1).")
bitwise_and = _binary("bitwise_and", "bitwise_and", "Return the bits set in both.")
bitwise_left_shift = _binary(
    "bitwise_left_shift", "left_shift", "Return the bits of x1 moved left by x2."
)
bitwise_or = _binary("bitwise_or", "bitwise_or", "Return the bits set in either.")
bitwise_right_shift = _binary(
    "bitwise_right_shift", "right_shift", "Return the bits of x1 moved right by x2."
)
bitwise_xor = _binary("bitwise_xor", "bitwise_xor", "Return the bits set in one only.")
copysign = _binary("copysign", "copysign", "Return x1 with the signs of x2.")
divide = _binary("divide", "divide", "Return the quotients; of integers in float64.")
equal = _binary("equal", "equal", "Return whether elements are equal.")
floor_divide = _binary(
    "floor_divide", "floor_divide", "Return the quotients, rounded down."
)
greater = _binary("greater", "greater", "Return whether x1 > x2.")
greater_equal = _binary("greater_equal", "greater_equal", "Return whether x1 >= x2.")
hypot = _binary("hypot", "hypot", "Return the root of x1**2 + x2**2.")
less = _binary("less", "less", "Return whether x1 < x2.")
less_equal = _binary("less_equal", "less_equal", "Return whether x1 <= x2.")
logaddexp = _binary("logaddexp", "logaddexp", "Return log(exp(x1) + exp(x2)).")
logical_and = _binary("logical_and", "logical_and", "Return whether both are true.")
logical_or = _binary("logical_or", "logical_or", "Return whether either is true.")
logical_xor = _binary("logical_xor", "logical_xor", "Return whether just one is true.")
maximum = _binary("maximum", "maximum", "Return the greater elements; NaN if any is.")
minimum = _binary("minimum", "minimum", "Return the smaller elements; NaN if any is.")
multiply = _binary("multiply", "multiply", "Return the products.")
nextafter = _binary("nextafter", "nextafter", "Return the next numbers towards x2.")
not_equal = _binary("not_equal", "not_equal", "Return whether elements differ.")
pow = _binary("pow", "power", "Return x1 to the powers x2.")
remainder = _binary("remainder", "remainder", "Return the remainders, signed as x2.")
subtract = _binary("subtract", "subtract", "Return the differences.")


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
