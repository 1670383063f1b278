"""Weighted means."""

from __future__ import annotations

import numpy as np

from pycuda._array.copies import np_reshape
from pycuda._array.creation import full
from pycuda._array.layout import broadcast_to, normal_axis
from pycuda._array.streams import on_stream
from pycuda._driver import _array_reductions, _mean, _plain_array, _reduce, _sum


def average(
    a,
    axis=None,
    weights=None,
    returned=False,
    *,
    keepdims=False,
    stream=None,
    allocator=None,
):
    """Return the weighted mean, along all axes or along ``axis``.

    ``weights`` have the shape of ``a``, or of ``a`` along ``axis``. With ``returned``
    the result is a tuple of the mean and the sums of the weights. A sum of 0
    gives NaN or infinity: the call does not wait to find out. TypeError for shapes that
    differ without an axis, ValueError if the weights do not fit the axes.
    """
    with on_stream(stream):
        if weights is None:
            result = _mean(a, allocator=allocator, axis=axis, keepdims=keepdims)
            if not returned:
                return result
            count = _plain_array(a).size // max(_plain_array(result).size, 1)
            return result, full(result.shape, count, result.dtype, allocator)
        exact = a.dtype.kind in "biu"
        dtype = np.result_type(a.dtype, weights.dtype, *(["f8"] if exact else []))
        weights = _weights_along(a, axis, weights)
        # One kernel multiplies and adds; the weights may be broadcast.
        total = _reduce(
            _array_reductions["dot"],
            (a, weights),
            axis,
            keepdims,
            dtype,
            allocator=allocator,
        )
        scale = _sum(
            broadcast_to(weights, a.shape), dtype, axis=axis, keepdims=keepdims
        )
        result = total / scale
        return (result, scale) if returned else result


def _weights_along(a, axis, weights):
    """Return the weights in a shape that broadcasts to the array's."""
    if weights.shape == a.shape:
        return weights
    if axis is None:
        raise TypeError(
            f"average: a has shape {a.shape}, weights have shape {weights.shape}; "
            "give the axis of the weights"
        )
    axes = [normal_axis(k, a.ndim) for k in (axis if np.iterable(axis) else (axis,))]
    if weights.shape != tuple(a.shape[k] for k in axes):
        raise ValueError(
            f"average: weights have shape {weights.shape}, a has shape {a.shape}, of "
            f"which the axes are {axis}"
        )
    order = sorted(range(len(axes)), key=axes.__getitem__)
    shape = [1] * a.ndim
    for k in axes:
        shape[k] = a.shape[k]
    return np_reshape(weights.transpose(order), tuple(shape))
