"""Differences of neighbouring elements."""

from __future__ import annotations

import operator

import numpy as np

from pycuda._array.copies import np_ravel
from pycuda._array.functions.joining import concatenate
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


def ediff1d(ary, to_end=None, to_begin=None):
    """Return the differences of neighbouring elements of the flattened array.

    ``to_begin`` and ``to_end`` are GPUArrays that are put before and after them.
    """
    flat = diff(np_ravel(ary))
    parts = [to_begin, flat, to_end]
    parts = [np_ravel(part) for part in parts if part is not None]
    for part in parts:
        if not np.can_cast(part.dtype, ary.dtype, "same_kind"):
            raise TypeError(
                f"ediff1d: elements of dtype {part.dtype} cannot be put beside "
                f"differences of dtype {ary.dtype}"
            )
    return flat if len(parts) == 1 else concatenate(parts).astype(ary.dtype)


def gradient(f, *varargs, axis=None, edge_order=1):
    """Return the derivative along an axis, or a tuple of those along several.

    The spacings are numbers, one for all axes or one for each. Inner elements have
    central differences, those at the edges one-sided ones of the first or second
    ``edge_order``. Raises ValueError for an axis with fewer than ``edge_order + 1``
    elements.
    """
    axes = range(f.ndim) if axis is None else np.atleast_1d(axis).tolist()
    axes = [normal_axis(k, f.ndim) for k in axes]
    spacings = list(varargs) or [1.0]
    if len(spacings) == 1:
        spacings *= len(axes)
    if len(spacings) != len(axes):
        raise TypeError(f"gradient: {len(varargs)} spacings for {len(axes)} axes")
    if any(np.ndim(spacing) for spacing in spacings):
        raise TypeError("gradient of a GPUArray takes spacings that are numbers")
    if edge_order not in (1, 2):
        raise ValueError(f"gradient: edge_order is {edge_order}, not 1 or 2")
    if f.dtype.kind in "biu":
        f = f.astype(np.float64)
    results = [
        _derivative(f, k, float(h), edge_order)
        for k, h in zip(axes, spacings, strict=True)
    ]
    return results[0] if len(axes) == 1 else tuple(results)


def _derivative(f, axis, spacing, edge_order):
    """Return the derivative along an axis with evenly spaced elements."""
    if f.shape[axis] < edge_order + 1:
        raise ValueError(
            f"gradient: axis {axis} has {f.shape[axis]} elements, edge_order "
            f"{edge_order} needs {edge_order + 1}"
        )

    def part(start, stop):
        return (slice(None),) * axis + (slice(start, stop),)

    result = GPUArray(f.shape, f.dtype, f.allocator)
    if f.shape[axis] > 2:
        inner = f[part(2, None)] - f[part(None, -2)]
        result[part(1, -1)] = inner / (2.0 * spacing)
    for first, place in ((0, part(0, 1)), (-1, part(-1, None))):
        step = 1 if first == 0 else -1
        near = [f[part(k, k + 1 or None)] for k in (first, first + step)]
        edge = near[1] - near[0]
        if edge_order == 2:
            k = first + 2 * step
            edge = 2.0 * near[1] - 1.5 * near[0] - 0.5 * f[part(k, k + 1 or None)]
        result[place] = edge / (step * spacing)
    return result
