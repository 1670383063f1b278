"""Searching functions of the standard."""

from __future__ import annotations

from typing import Literal

import numpy as np

import pycuda.gpuarray as _ga
from pycuda._driver import _array_ops, _elementwise, _nonzero
from pycuda.array_api._data_types import Number
from pycuda.gpuarray import GPUArray

_WHERE = _array_ops["where"]


def argmax(
    x: GPUArray, /, *, axis: int | None = None, keepdims: bool = False
) -> GPUArray:
    """Return the index of the first greatest element, flat or along an axis.

    The result is of int64. Raises ValueError if there are no elements.
    """
    return _ga.argmax(x, axis=axis, keepdims=keepdims)


def argmin(
    x: GPUArray, /, *, axis: int | None = None, keepdims: bool = False
) -> GPUArray:
    """Return the index of the first smallest element, flat or along an axis.

    The result is of int64. Raises ValueError if there are no elements.
    """
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
    """Return the indices of the elements that are not 0, an array for each axis.

    Raises ValueError for an array without axes. This waits for the device.
    """
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

    ``side`` says on which side of equal elements. ``sorter`` has the indices that sort
    ``x1``. The result is of int64.
    """
    if not isinstance(x2, GPUArray):
        x2 = _ga.asarray(x2, np.result_type(x1.dtype, x2))
    return _ga.searchsorted(x1, x2, side, sorter)


def where(
    condition: GPUArray, x1: GPUArray | Number, x2: GPUArray | Number, /
) -> GPUArray:
    """Return the elements of ``x1`` where the condition is true, of ``x2`` elsewhere.

    All operands broadcast. ``x1`` or ``x2`` may be a number.
    """
    return _elementwise(_WHERE, (condition, x1, x2))
