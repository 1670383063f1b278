"""Functions of the elements of arrays: ``cumath.sin(x)``, ``cumath.sin(x, out=y)``.

Integers become the floats that NumPy's functions make of them.
"""

from __future__ import annotations

import warnings

from pycuda._driver import _apply, _array_ops


def _check_out(array, out):
    if out.dtype != array.dtype:
        raise AssertionError(f"out has dtype {out.dtype}, the array has {array.dtype}")
    if out.shape != array.shape or out.strides != array.strides:
        raise AssertionError(
            f"out has shape {out.shape} and strides {out.strides}, the array has "
            f"{array.shape} and {array.strides}"
        )


def _make(name, operation):
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
        return _apply(number, (array,), out, None, stream)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Return {name} of the elements, in ``out`` if that is given.

    ``out`` must have the dtype, shape and strides of the array (AssertionError).
    """
    return function


acos = _make("acos", "arccos")
asin = _make("asin", "arcsin")
atan = _make("atan", "arctan")
ceil = _make("ceil", "ceil")
cos = _make("cos", "cos")
cosh = _make("cosh", "cosh")
exp = _make("exp", "exp")
fabs = _make("fabs", "fabs")
floor = _make("floor", "floor")
log = _make("log", "log")
log10 = _make("log10", "log10")
sin = _make("sin", "sin")
sinh = _make("sinh", "sinh")
sqrt = _make("sqrt", "sqrt")
tan = _make("tan", "tan")
tanh = _make("tanh", "tanh")


def fmod(arg, mod, stream=None):
    """Return the rest of ``arg / mod``, of the sign of ``arg``, as C's fmod."""
    return _apply(_array_ops["fmod"], (arg, mod), None, None, stream)


def frexp(arg, stream=None):
    """Return (significand, exponent): ``arg == significand * 2**exponent``.

    The exponents are of the significands' dtype.
    """
    significand, exponent = _apply(_array_ops["frexp"], (arg,), None, None, stream)
    return significand, exponent.astype(significand.dtype, stream)


def ldexp(significand, exponent, stream=None):
    """Return ``significand * 2**exponent``; exponents lose their fraction."""
    return _apply(_array_ops["ldexp"], (significand, exponent), None, None, stream)


def modf(arg, stream=None):
    """Return (fractional part, whole part) of the elements."""
    return _apply(_array_ops["modf"], (arg,), None, None, stream)
