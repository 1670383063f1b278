"""Elementwise mathematical functions: ``cumath.sin(x)``, ``cumath.sin(x, out=y)``.

Integers become floats of the size that NumPy's functions give.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Protocol, cast

from pycuda import _hide_imports
from pycuda._driver import _array_ops, _elementwise

if TYPE_CHECKING:
    from pycuda._driver import GPUArray, Stream

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "floor",
    "fmod",
    "frexp",
    "ldexp",
    "log",
    "log10",
    "log1p",
    "log2",
    "modf",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]
_hide_imports(globals())


class _Elementwise(Protocol):
    """An elementwise function of one array."""

    def __call__(
        self,
        array: GPUArray,
        stream_or_out: object = None,
        *,
        out: GPUArray | None = None,
        stream: Stream | None = None,
    ) -> GPUArray: ...


def _check_out(array, out):
    """Raise AssertionError unless ``out`` has the layout of the array."""
    if array.dtype == bool:  # it counts as the dtype that was compared
        wanted = array._counts_as
        if (wanted is None or wanted == out.dtype) and array.shape == out.shape:
            return
        raise AssertionError(
            f"out has dtype {out.dtype} and shape {out.shape}, the function of the "
            f"array has {wanted} and {array.shape}"
        )
    if out.dtype != array.dtype:
        raise AssertionError(f"out has dtype {out.dtype}, the array has {array.dtype}")
    if out.shape != array.shape or out.strides != array.strides:
        raise AssertionError(
            f"out has shape {out.shape} and strides {out.strides}, the array has "
            f"{array.shape} and {array.strides}"
        )


def _make(name: str, operation: str) -> _Elementwise:
    number = _array_ops[operation]

    def function(array, stream_or_out=None, *, out=None, stream=None, **kwargs):
        if stream_or_out is not None:
            warnings.warn(
                f"the second positional argument of {name}() is ignored: give out= or "
                "stream=",
                DeprecationWarning,
                stacklevel=2,
            )
        if out is not None:
            _check_out(array, out)
        return _elementwise(number, (array,), out, None, stream)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Return {name} of the elements, in ``out`` if it is given.

    ``out`` must have the dtype, shape and strides of the array (AssertionError).
    """
    return cast(_Elementwise, function)


acos: _Elementwise = _make("acos", "arccos")
asin: _Elementwise = _make("asin", "arcsin")
atan: _Elementwise = _make("atan", "arctan")
acosh: _Elementwise = _make("acosh", "arccosh")
asinh: _Elementwise = _make("asinh", "arcsinh")
atanh: _Elementwise = _make("atanh", "arctanh")
ceil: _Elementwise = _make("ceil", "ceil")
cos: _Elementwise = _make("cos", "cos")
cosh: _Elementwise = _make("cosh", "cosh")
exp: _Elementwise = _make("exp", "exp")
exp2: _Elementwise = _make("exp2", "exp2")
expm1: _Elementwise = _make("expm1", "expm1")
fabs: _Elementwise = _make("fabs", "fabs")
floor: _Elementwise = _make("floor", "floor")
log: _Elementwise = _make("log", "log")
log10: _Elementwise = _make("log10", "log10")
log1p: _Elementwise = _make("log1p", "log1p")
log2: _Elementwise = _make("log2", "log2")
sin: _Elementwise = _make("sin", "sin")
sinh: _Elementwise = _make("sinh", "sinh")
sqrt: _Elementwise = _make("sqrt", "sqrt")
tan: _Elementwise = _make("tan", "tan")
tanh: _Elementwise = _make("tanh", "tanh")


def fmod(arg: GPUArray, mod: GPUArray, stream: Stream | None = None) -> GPUArray:
    """Return the remainder of ``arg / mod`` with the sign of ``arg``, as C's fmod."""
    return _elementwise(_array_ops["fmod"], (arg, mod), None, None, stream)


def frexp(arg: GPUArray, stream: Stream | None = None) -> tuple[GPUArray, GPUArray]:
    """Return (significand, exponent): ``arg == significand * 2**exponent``.

    The exponents have the dtype of the significands.
    """
    significand, exponent = _elementwise(
        _array_ops["frexp"], (arg,), None, None, stream
    )
    return significand, exponent.astype(significand.dtype, stream)


def ldexp(
    significand: GPUArray, exponent: GPUArray, stream: Stream | None = None
) -> GPUArray:
    """Return ``significand * 2**exponent``, where exponents are truncated."""
    return _elementwise(
        _array_ops["ldexp"], (significand, exponent), None, None, stream
    )


def modf(arg: GPUArray, stream: Stream | None = None) -> tuple[GPUArray, GPUArray]:
    """Return (fractional part, whole part) of the elements."""
    return _elementwise(_array_ops["modf"], (arg,), None, None, stream)
