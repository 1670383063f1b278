"""Searching functions of the standard."""

from __future__ import annotations

from typing import Literal

import numpy as np

import pycuda.gpuarray as _ga
from pycuda._driver import _nonzero
from pycuda.gpuarray import GPUArray


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
