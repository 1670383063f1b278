"""Reductions of the elements that are not NaN, as their kernels do not do them.

``pycuda.gpuarray`` has C functions of these names, which call the functions here for
``initial``, ``where`` and other dtypes.
"""

from __future__ import annotations

from pycuda._array.functions import reductions
from pycuda._array.masks import mask_of
from pycuda._driver import _array_ops, _elementwise


def _without_nan(a, where, stream):
    """Return the mask of the elements that count."""
    mask = _elementwise(_array_ops["isnan"], (a,), None, None, stream)
    mask = _elementwise(_array_ops["logical_not"], (mask,), None, None, stream)
    if where is True:
        return mask
    pair = (mask, mask_of(where, a))
    return _elementwise(_array_ops["logical_and"], pair, None, None, stream)


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
        if dtype is not None:
            a = a.astype(dtype, stream)
        where = _without_nan(a, where, stream)
        return function(
            a,
            axis,
            ddof,
            keepdims,
            out=out,
            stream=stream,
            allocator=allocator,
            where=where,
        )

    return call


nanvar, nanstd = _nan_deviation(reductions.var), _nan_deviation(reductions.std)
