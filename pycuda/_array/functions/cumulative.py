"""Cumulative operations that leave out NaNs. The others are C: see ``gpuarray``."""

from __future__ import annotations

from pycuda._driver import (
    GPUArray,
    _array_ops,
    _cumprod,
    _cumsum,
    _elementwise,
)


def _without_nan(a, value, stream):
    """Return an array with a value in place of NaNs; integers as they are."""
    if not isinstance(a, GPUArray) or a.dtype.kind not in "fc":
        return a
    is_nan = _elementwise(_array_ops["isnan"], (a,), None, None, stream)
    where = _array_ops["where"]
    return _elementwise(where, (is_nan, a.dtype.type(value), a), None, None, stream)


def nancumsum(a, axis=None, dtype=None, out=None, *, stream=None):
    """Return the sums up to each element, in which NaNs count as 0.

    See ``cumsum``. An array of floats or complex numbers is copied first.
    """
    return _cumsum(_without_nan(a, 0, stream), axis, dtype, out, stream)


def nancumprod(a, axis=None, dtype=None, out=None, *, stream=None):
    """Return the products up to each element, in which NaNs count as 1.

    See ``cumprod``. An array of floats or complex numbers is copied first.
    """
    return _cumprod(_without_nan(a, 1, stream), axis, dtype, out, stream)
