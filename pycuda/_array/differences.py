"""Differences of neighbouring elements."""

from __future__ import annotations

import operator

import numpy as np

from pycuda._array.joining import concatenate
from pycuda._array.layout import broadcast_to, normal_axis
from pycuda._driver import GPUArray


def _extended(a, axis, prepend, append):
    """Return an array with elements before and after its own along an axis."""
    parts = []
    for extra in (prepend, a, append):
        if extra is None:
            continue
        if not isinstance(extra, GPUArray):
            if np.ndim(extra):
                raise TypeError(
                    "prepend and append are GPUArrays or numbers, not "
                    f"{type(extra).__name__}; copy it with to_gpu()"
                )
            dtype = np.result_type(a.dtype, extra)
            extra = GPUArray((), dtype, a.allocator).fill(extra)
        if extra.ndim == 0:
            shape = [*a.shape]
            shape[axis] = 1
            extra = broadcast_to(extra, tuple(shape))
        parts.append(extra)
    return concatenate(parts, axis)


def diff(
    a: GPUArray,
    n: int = 1,
    axis: int = -1,
    prepend: GPUArray | float | None = None,
    append: GPUArray | float | None = None,
) -> GPUArray:
    """Return the differences of neighbouring elements along an axis, ``n`` times.

    The result has ``n`` elements less along the axis. Differences of bool are ``!=``.
    ``prepend`` and ``append`` are arrays or numbers that are put before and after the
    elements. Raises ValueError for a negative ``n``, an array without axes and an axis
    that is none.
    """
    if n < 0:
        raise ValueError(f"diff: n is {n}, but cannot be negative")
    if a.ndim == 0:
        raise ValueError("diff takes an array with at least one axis, not shape ()")
    axis = normal_axis(axis, a.ndim)
    if n == 0:
        return a
    if prepend is not None or append is not None:
        a = _extended(a, axis, prepend, append)
    front = (slice(None),) * axis
    difference = operator.ne if a.dtype == bool else operator.sub
    for _ in range(n):
        after, before = a[(*front, slice(1, None))], a[(*front, slice(None, -1))]
        a = difference(after, before)
    return a
