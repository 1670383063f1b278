"""NumPy's elementwise functions that are no universal functions."""

from __future__ import annotations

import numpy as np

from pycuda._driver import (
    GPUArray,
    _all,
    _array_ops,
    _elementwise,
)


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Return whether elements differ by no more than ``atol + rtol * abs(b)``."""
    if any(getattr(value, "dtype", None) == np.float16 for value in (a, b)):
        return _isclose_of_halves(a, b, rtol, atol, equal_nan)
    name = "isclose_or_nan" if equal_nan else "isclose"
    return _elementwise(_array_ops[name], (a, b, rtol, atol))


def _isclose_of_halves(a, b, rtol, atol, equal_nan):
    """Return ``isclose`` with every step rounded to half precision, as in NumPy."""
    near = abs(a - b) <= atol + rtol * abs(b)
    if isinstance(b, GPUArray):
        near = near & np.isfinite(b)
    elif not np.isfinite(b):
        near = near & False
    near = near | (a == b)
    if equal_nan:
        near = near | (np.isnan(a) & np.isnan(b))
    return near


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Return whether all elements are close, as Python's bool."""
    return bool(_all(isclose(a, b, rtol, atol, equal_nan)))


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """Return the elements, with numbers in place of NaN and infinities.

    By default infinities become the greatest and the least number of the dtype. Without
    ``copy`` the array itself is changed.
    """
    out = None if copy else x
    if x.dtype.kind not in "fc":
        return x.copy() if copy else x
    limits = np.finfo(x.dtype)
    above = float(limits.max) if posinf is None else posinf
    below = float(limits.min) if neginf is None else neginf
    return _elementwise(_array_ops["nan_to_num"], (x, nan, above, below), out)


def sinc(x):
    """Return ``sin(pi * x) / (pi * x)``, and 1 where an element is 0."""
    return _elementwise(_array_ops["sinc"], (x,))


def fix(x, out=None):
    """Return the elements rounded to whole numbers toward 0."""
    return _elementwise(_array_ops["trunc"], (x,), out)


def isposinf(x, out=None):
    """Return whether elements are positive infinity. TypeError for complex dtypes."""
    return _elementwise(_array_ops["isposinf"], (x,), out)


def isneginf(x, out=None):
    """Return whether elements are negative infinity. TypeError for complex dtypes."""
    return _elementwise(_array_ops["isneginf"], (x,), out)


def angle(z, deg=False):
    """Return the angle of complex numbers, in radians or degrees."""
    result = _elementwise(_array_ops["angle"], (z,))
    if deg:
        _elementwise(_array_ops["rad2deg"], (result,), result)
    return result
