"""Searching, sorting, set and indexing functions of the standard."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

import pycuda.gpuarray as _ga
from pycuda._array.layout import normal_axis
from pycuda._driver import _nonzero
from pycuda.gpuarray import GPUArray

__all__ = [
    "argmax",
    "argmin",
    "argsort",
    "count_nonzero",
    "isin",
    "nonzero",
    "searchsorted",
    "sort",
    "take",
    "take_along_axis",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]


def argmax(
    x: GPUArray, /, *, axis: int | None = None, keepdims: bool = False
) -> GPUArray:
    """Return the index of the first greatest element, flat or along an axis."""
    return _ga.argmax(x, axis=axis, keepdims=keepdims)


def argmin(
    x: GPUArray, /, *, axis: int | None = None, keepdims: bool = False
) -> GPUArray:
    """Return the index of the first smallest element, flat or along an axis."""
    return _ga.argmin(x, axis=axis, keepdims=keepdims)


def count_nonzero(
    x: GPUArray,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
) -> GPUArray:
    """Return the number of elements that are not 0, in all or along axes."""
    return _ga.count_nonzero(x, axis=axis, keepdims=keepdims)


def nonzero(x: GPUArray, /) -> tuple[GPUArray, ...]:
    """Return the indices of the elements that are not 0, an array for each axis."""
    return _nonzero(x)


def searchsorted(
    x1: GPUArray,
    x2: GPUArray | float,
    /,
    *,
    side: Literal["left", "right"] = "left",
    sorter: GPUArray | None = None,
) -> GPUArray:
    """Return where the elements of ``x2`` belong in the sorted array ``x1``.

    Parameters
    ----------
    x2 : GPUArray or number
        The values.
    """
    if not isinstance(x2, GPUArray):
        x2 = _ga.asarray(x2, np.result_type(x1.dtype, x2))
    return _ga.searchsorted(x1, x2, side, sorter)


# -- sorting ---------------------------------------------------------------------------


def argsort(
    x: GPUArray, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> GPUArray:
    """Return the indices that sort an array along an axis."""
    return _ga.argsort(x, axis, descending=descending, stable=stable)


def sort(
    x: GPUArray, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> GPUArray:
    """Return a sorted copy of an array along an axis."""
    return _ga.sort(x, axis, descending=descending, stable=stable)


# -- sets ------------------------------------------------------------------------------


def isin(x1: GPUArray | complex, x2: Any, /, *, invert: bool = False) -> GPUArray:
    """Return for each element of ``x1`` whether it is in ``x2``.

    Parameters
    ----------
    x1 : GPUArray or number
        Array of any dtype of numbers. One of both is an array.
    x2 : GPUArray, number or array_like
        The other array, or one number. One in host memory, or a list, is copied to the
        device.
    """
    if not isinstance(x2, (GPUArray, int, float, complex)):
        x2 = _ga.asarray(x2)
    dtype = np.result_type(
        *(x.dtype if isinstance(x, GPUArray) else x for x in (x1, x2))
    )
    return _ga.isin(_ga.asarray(x1, dtype), _ga.asarray(x2, dtype), invert=invert)


def unique_all(x: GPUArray, /) -> Any:
    """Return (values, indices, inverse_indices, counts) of the distinct elements.

    ``values`` is sorted. ``indices`` are those of the first occurrences in the flat
    array, ``inverse_indices`` has the shape of ``x`` and gives it back from ``values``,
    ``counts`` are the numbers of occurrences. Each NaN is distinct.
    """
    return _ga.unique_all(x)


def unique_counts(x: GPUArray, /) -> Any:
    """Return (values, counts) of the distinct elements."""
    return _ga.unique_counts(x)


def unique_inverse(x: GPUArray, /) -> Any:
    """Return (values, inverse_indices) of the distinct elements."""
    return _ga.unique_inverse(x)


def unique_values(x: GPUArray, /) -> GPUArray:
    """Return the distinct elements, sorted."""
    return _ga.unique_values(x)


# -- indexing --------------------------------------------------------------------------


def take(x: GPUArray, indices: GPUArray, /, *, axis: int | None = None) -> GPUArray:
    """Return the elements at indices along an axis.

    Parameters
    ----------
    indices : GPUArray
        Integers. Negative ones count from the end.
    axis : int or None, default None
        Axis of the indices. It can be left out for an array with one axis.

    Raises
    ------
    ValueError
        If there is no such axis, or if it is missing.
    """
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take() of an array of shape {x.shape} needs an axis")
        axis = 0
    return x[(slice(None),) * normal_axis(axis, x.ndim) + (indices,)]


def take_along_axis(x: GPUArray, indices: GPUArray, /, *, axis: int = -1) -> GPUArray:
    """Return the elements at indices that differ along the other axes."""
    return _ga.take_along_axis(x, indices, axis)
