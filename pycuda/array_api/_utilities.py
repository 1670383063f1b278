"""Utility functions of the standard."""

from __future__ import annotations

import pycuda.gpuarray as _ga
from pycuda._array.functions.differences import diff as _diff
from pycuda.array_api._manipulation import concat
from pycuda.gpuarray import GPUArray


def all(
    x: GPUArray,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
) -> GPUArray:
    """Return whether all elements are true; true if there are none."""
    return _ga.all(x, axis=axis, keepdims=keepdims)


def any(
    x: GPUArray,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
) -> GPUArray:
    """Return whether any element is true; false if there are none."""
    return _ga.any(x, axis=axis, keepdims=keepdims)


def diff(
    x: GPUArray,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: GPUArray | None = None,
    append: GPUArray | None = None,
) -> GPUArray:
    """Return the differences of neighbours along an axis, taken ``n`` times.

    ``prepend`` and ``append`` are put before and after the elements first. Raises
    ValueError if ``n`` is negative or an axis does not fit.
    """
    if n < 0:
        raise ValueError(f"n must be 0 or more, not {n}")
    if n == 0:  # as in NumPy, nothing is put before or after
        return x.copy()
    parts = [part for part in (prepend, x, append) if part is not None]
    if len(parts) > 1:
        x = concat(parts, axis=axis)
    return _diff(x, n, axis)
