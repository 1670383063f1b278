"""Reductions and cumulative operations that leave out NaNs.

``pycuda.gpuarray`` has C functions with the names of these reductions. They call the
functions here for ``initial``, ``where`` and other dtypes, as their kernels do not do
these. Other cumulative operations are C.
"""

from __future__ import annotations

import numpy as np

from pycuda._array.copies import on_stream
from pycuda._array.functions import operations, reductions
from pycuda._array.numpy_calls import into, mask_of
from pycuda._driver import (
    GPUArray,
    _array_ops,
    _cumprod,
    _cumsum,
    _elementwise,
)


def _without_nan(a, where, stream):
    """Return the mask of the elements that count."""
    mask = _elementwise(_array_ops["isnan"], (a,), None, None, stream)
    mask = _elementwise(_array_ops["logical_not"], (mask,), None, None, stream)
    if where is True:
        return mask
    pair = (mask, mask_of(where, a))
    return _elementwise(_array_ops["logical_and"], pair, None, None, stream)


def _check_inexact(a, dtype, out):
    """Refuse an exact dtype for the mean or the deviation of floats, as NumPy does."""
    if a.dtype.kind in "biu":
        return
    for name, given in (("dtype", dtype), ("out", out)):
        asked = getattr(given, "dtype", given)
        if asked is not None and np.dtype(asked).kind in "biu":
            raise TypeError(
                f"{name} must be a floating-point dtype for an array of {a.dtype}, not "
                f"{np.dtype(asked)}; convert the result with astype()"
            )


def _nan_reducer(name):
    def function(
        a,
        axis=None,
        dtype=None,
        out=None,
        keepdims=False,
        initial=None,
        where=True,
        *,
        stream=None,
        allocator=None,
    ):
        where = _without_nan(a, where, stream)
        return reductions._reduced(
            name, a, axis, keepdims, dtype, out, stream, allocator, initial, where
        )

    return function


nansum, nanprod = _nan_reducer("sum"), _nan_reducer("prod")


def _nan_bounder(name):
    def function(
        a,
        axis=None,
        out=None,
        keepdims=False,
        initial=None,
        where=True,
        *,
        stream=None,
        allocator=None,
    ):
        where = _without_nan(a, where, stream)
        return reductions._reduced(
            name, a, axis, keepdims, None, out, stream, allocator, initial, where
        )

    return function


nanmin, nanmax = _nan_bounder("min"), _nan_bounder("max")


def nanmean(
    a,
    axis=None,
    dtype=None,
    out=None,
    keepdims=False,
    *,
    where=True,
    stream=None,
    allocator=None,
):
    """Return the mean of the elements that count and are not NaN."""
    _check_inexact(a, dtype, out)
    where = _without_nan(a, where, stream)
    return reductions.mean(
        a,
        dtype,
        stream,
        allocator,
        axis=axis,
        keepdims=keepdims,
        out=out,
        where=where,
    )


def _nan_deviation(function):
    def call(
        a,
        axis=None,
        dtype=None,
        out=None,
        ddof=0,
        keepdims=False,
        *,
        where=True,
        stream=None,
        allocator=None,
    ):
        _check_inexact(a, dtype, out)
        name = function.__name__
        with on_stream(stream):
            where = mask_of(_without_nan(a, where, None), a)
            if dtype is None:
                result = function(
                    a, axis, ddof, keepdims, allocator=allocator, where=where
                )
            else:
                result = reductions.deviation_in(
                    name, a, dtype, axis, ddof, keepdims, None, where
                )
            if a.dtype.kind in "fc":  # too few elements have no deviation
                count = reductions.count_nonzero(where, axis=axis, keepdims=keepdims)
                nan = result.dtype.type(np.nan)
                result = operations.where(count > ddof, result, nan)
            return into(result, out, reductions.STORED[name])

    return call


nanvar, nanstd = _nan_deviation(reductions.var), _nan_deviation(reductions.std)


# -- cumulative operations -------------------------------------------------------------


def _replaced_nan(a, value, stream):
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
    return _cumsum(_replaced_nan(a, 0, stream), axis, dtype, out, stream)


def nancumprod(a, axis=None, dtype=None, out=None, *, stream=None):
    """Return the products up to each element, in which NaNs count as 1.

    See ``cumprod``. An array of floats or complex numbers is copied first.
    """
    return _cumprod(_replaced_nan(a, 1, stream), axis, dtype, out, stream)
