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


#: The docstring of a function made by _make().
_TEXT = """Return the {what} of each element.

Parameters
----------
array : GPUArray
    Array of numbers.
stream_or_out : object, optional
    Not used. Another value than None gives a DeprecationWarning.
out : GPUArray, optional
    Array of the result's shape to which the result goes. The default is a new array.
stream : Stream, optional
    Stream in which the work is enqueued. The default is the current stream.
**kwargs
    Not used, as in PyCUDA.

Returns
-------
GPUArray
    ``out``, or a new array of the dtype that NumPy's function gives.

Raises
------
AssertionError
    If ``out`` has another shape, other strides or another dtype.
TypeError
    If the function does not take arrays of this dtype.

Notes
-----
The call does not wait. The result is allocated by the allocator of ``array``.

Examples
--------
>>> from pycuda import cumath
>>> cumath.{name}(gpuarray.to_gpu(np.array([{values}])))
array([{results}])
"""


def _make(
    name: str, operation: str, what: str, values: str, results: str
) -> _Elementwise:
    """Return a function. ``results`` are what it gives for ``values``."""
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
    function.__doc__ = _TEXT.format(
        what=what, name=name, values=values, results=results
    )
    return cast(_Elementwise, function)


acos: _Elementwise = _make(
    "acos", "arccos", "inverse cosine, in radians,", "0., 0.5", "1.57079633, 1.04719755"
)
asin: _Elementwise = _make(
    "asin", "arcsin", "inverse sine, in radians,", "0., 0.5", "0.        , 0.52359878"
)
atan: _Elementwise = _make(
    "atan", "arctan", "inverse tangent, in radians,", "0., 1.", "0.        , 0.78539816"
)
acosh: _Elementwise = _make(
    "acosh", "arccosh", "inverse hyperbolic cosine", "1., 2.", "0.       , 1.3169579"
)
asinh: _Elementwise = _make(
    "asinh", "arcsinh", "inverse hyperbolic sine", "0., 1.", "0.        , 0.88137359"
)
atanh: _Elementwise = _make(
    "atanh",
    "arctanh",
    "inverse hyperbolic tangent",
    "0., 0.5",
    "0.        , 0.54930614",
)
ceil: _Elementwise = _make(
    "ceil", "ceil", "least integer that is not below the value", "1.5, -1.5", " 2., -1."
)
cos: _Elementwise = _make(
    "cos", "cos", "cosine, of radians,", "0., 1.", "1.        , 0.54030231"
)
cosh: _Elementwise = _make(
    "cosh", "cosh", "hyperbolic cosine", "0., 1.", "1.        , 1.54308063"
)
exp: _Elementwise = _make(
    "exp", "exp", "exponential function", "0., 1.", "1.        , 2.71828183"
)
exp2: _Elementwise = _make("exp2", "exp2", "power of 2", "0., 3.", "1., 8.")
expm1: _Elementwise = _make(
    "expm1", "expm1", "exponential function minus 1", "0., 1.", "0.        , 1.71828183"
)
fabs: _Elementwise = _make("fabs", "fabs", "absolute value", "1.5, -1.5", "1.5, 1.5")
floor: _Elementwise = _make(
    "floor",
    "floor",
    "greatest integer that is not above the value",
    "1.5, -1.5",
    " 1., -2.",
)
log: _Elementwise = _make(
    "log", "log", "natural logarithm", "1., 2.", "0.        , 0.69314718"
)
log10: _Elementwise = _make(
    "log10", "log10", "logarithm to base 10", "1., 100.", "0., 2."
)
log1p: _Elementwise = _make(
    "log1p",
    "log1p",
    "natural logarithm of 1 plus the value",
    "0., 1.",
    "0.        , 0.69314718",
)
log2: _Elementwise = _make("log2", "log2", "logarithm to base 2", "1., 8.", "0., 3.")
sin: _Elementwise = _make(
    "sin", "sin", "sine, of radians,", "0., 1.", "0.        , 0.84147098"
)
sinh: _Elementwise = _make(
    "sinh", "sinh", "hyperbolic sine", "0., 1.", "0.        , 1.17520119"
)
sqrt: _Elementwise = _make(
    "sqrt", "sqrt", "square root", "4., 2.", "2.        , 1.41421356"
)
tan: _Elementwise = _make(
    "tan", "tan", "tangent, of radians,", "0., 1.", "0.        , 1.55740772"
)
tanh: _Elementwise = _make(
    "tanh", "tanh", "hyperbolic tangent", "0., 1.", "0.        , 0.76159416"
)


def fmod(arg: GPUArray, mod: GPUArray, stream: Stream | None = None) -> GPUArray:
    """Return the remainder of ``arg / mod`` with the sign of ``arg``, as C's fmod.

    Parameters
    ----------
    arg : GPUArray
        Dividends.
    mod : GPUArray or number
        Divisors.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array of the common dtype.

    Examples
    --------
    >>> from pycuda import cumath
    >>> cumath.fmod(gpuarray.to_gpu(np.array([5.5, -5.5])), 2)
    array([ 1.5, -1.5])
    """
    return _elementwise(_array_ops["fmod"], (arg, mod), None, None, stream)


def frexp(arg: GPUArray, stream: Stream | None = None) -> tuple[GPUArray, GPUArray]:
    """Return significand and exponent of each element.

    Parameters
    ----------
    arg : GPUArray
        Array of real numbers.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    significand : GPUArray
        Numbers from 0.5 to 1, or 0, with the sign of the element.
    exponent : GPUArray
        Powers of 2, in the dtype of the significands: ``arg == significand *
        2**exponent``.

    See Also
    --------
    ldexp : The inverse.

    Examples
    --------
    >>> from pycuda import cumath
    >>> cumath.frexp(gpuarray.to_gpu(np.array([1.5, 8.0])))
    (array([0.75, 0.5 ]), array([1., 4.]))
    """
    significand, exponent = _elementwise(
        _array_ops["frexp"], (arg,), None, None, stream
    )
    return significand, exponent.astype(significand.dtype, stream)


def ldexp(
    significand: GPUArray, exponent: GPUArray, stream: Stream | None = None
) -> GPUArray:
    """Return ``significand * 2**exponent``.

    Parameters
    ----------
    significand : GPUArray
        Array of real numbers.
    exponent : GPUArray or number
        Powers of 2. Fractions are truncated.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array.

    See Also
    --------
    frexp : The inverse.

    Examples
    --------
    >>> from pycuda import cumath
    >>> cumath.ldexp(gpuarray.to_gpu(np.array([0.75, 0.5])), 3)
    array([6., 4.])
    """
    return _elementwise(
        _array_ops["ldexp"], (significand, exponent), None, None, stream
    )


def modf(arg: GPUArray, stream: Stream | None = None) -> tuple[GPUArray, GPUArray]:
    """Return the fractional and the whole part of each element.

    Parameters
    ----------
    arg : GPUArray
        Array of real numbers.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    fractional : GPUArray
        The fractional parts, with the sign of the element.
    whole : GPUArray
        The whole parts, in the same dtype.

    Examples
    --------
    >>> from pycuda import cumath
    >>> cumath.modf(gpuarray.to_gpu(np.array([1.5, -8.25])))
    (array([ 0.5 , -0.25]), array([ 1., -8.]))
    """
    return _elementwise(_array_ops["modf"], (arg,), None, None, stream)
