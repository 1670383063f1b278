"""Sorting functions of the standard."""

from __future__ import annotations

import pycuda.gpuarray as _ga
from pycuda.gpuarray import GPUArray


def argsort(
    x: GPUArray, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> GPUArray:
    """Return the indices that sort an array along an axis, of int64. NaN is last."""
    return _ga.argsort(x, axis, descending=descending, stable=stable)


def sort(
    x: GPUArray, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> GPUArray:
    """Return a sorted copy of an array along an axis. NaN is last."""
    return _ga.sort(x, axis, descending=descending, stable=stable)
