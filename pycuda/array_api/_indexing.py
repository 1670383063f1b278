"""Indexing functions of the standard."""

from __future__ import annotations

import pycuda.gpuarray as _ga
from pycuda._array.layout import normal_axis
from pycuda.gpuarray import GPUArray


def take(x: GPUArray, indices: GPUArray, /, *, axis: int | None = None) -> GPUArray:
    """Return the elements at indices along an axis.

    Negative indices count from the end. Raises ValueError without an axis unless the
    array has one axis, IndexError for an index out of bounds.
    """
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take() of an array of shape {x.shape} needs an axis")
        axis = 0
    return x[(slice(None),) * normal_axis(axis, x.ndim) + (indices,)]


def take_along_axis(x: GPUArray, indices: GPUArray, /, *, axis: int = -1) -> GPUArray:
    """Return the elements at indices that differ along the other axes.

    ``indices`` has as many axes as ``x`` and broadcasts with it on the other axes.
    """
    return _ga.take_along_axis(x, indices, axis)
