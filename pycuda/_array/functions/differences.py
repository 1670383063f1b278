"""Differences of neighbouring elements."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from pycuda._array.copies import np_ravel
from pycuda._array.functions.conversion import operand
from pycuda._array.layout import broadcast_to, normal_axes, normal_axis
from pycuda._driver import (
    GPUArray,
    _concatenate as concatenate,
    to_gpu,
)


def _extended(a, axis, prepend, append):
    """Return an array with elements before and after its own along an axis."""
    parts = []
    for extra in (prepend, a, append):
        if extra is None:
            continue
        extra = operand("diff", extra)
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
    prepend: Any = None,
    append: Any = None,
) -> GPUArray:
    """Return the differences of neighbouring elements along an axis.

    Parameters
    ----------
    a : GPUArray
        Array of numbers. Differences of bool are ``!=``.
    n : int, optional
        Number of times.
    axis : int, optional
        Axis along which to compute. The default is the last one.
    prepend : GPUArray, number or list, optional
        Values put before the elements.
    append : GPUArray, number or list, optional
        Values put after the elements.

    Returns
    -------
    GPUArray
        A new array with ``n`` elements less along the axis.

    Raises
    ------
    TypeError
        If ``prepend`` or ``append`` is an array in host memory.
    ValueError
        If ``n`` is negative, or if there is no such axis.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> gpuarray.diff(gpuarray.to_gpu(np.array([1, 3, 6])))
    array([2, 3])
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
        after, before = a[front + (slice(1, None),)], a[front + (slice(None, -1),)]
        a = difference(after, before)
    return a


def ediff1d(ary, to_end=None, to_begin=None):
    """Return the differences of neighbouring elements of the flattened array.

    Parameters
    ----------
    ary : GPUArray
        Array of numbers.
    to_end : array_like, optional
        Values put after the differences.
    to_begin : array_like, optional
        Values put before the differences.

    Returns
    -------
    GPUArray
        A new array with one axis.

    Raises
    ------
    TypeError
        If the dtype of values does not fit.

    See Also
    --------
    diff : Along an axis.

    Examples
    --------
    >>> gpuarray.ediff1d(gpuarray.to_gpu(np.array([1, 3, 6])), to_end=0)
    array([2, 3, 0])
    """
    flat = diff(np_ravel(ary))
    parts = [to_begin, flat, to_end]
    parts = [np_ravel(operand("ediff1d", p)) for p in parts if p is not None]
    for part in parts:
        if not np.can_cast(part.dtype, ary.dtype, "same_kind"):
            raise TypeError(
                f"ediff1d: elements of dtype {part.dtype} cannot be put beside "
                f"differences of dtype {ary.dtype}"
            )
    return flat if len(parts) == 1 else concatenate(parts).astype(ary.dtype)


def gradient(f, *varargs, axis=None, edge_order=1):
    """Return the derivative along an axis, or along several.

    Parameters
    ----------
    f : GPUArray
        Array of numbers.
    *varargs : number or array_like
        The spacings: one for all axes or one for each. An array has the coordinates of
        the elements.
    axis : int or tuple of int, optional
        The axes. The default is all.
    edge_order : {1, 2}, optional
        Order of the one-sided differences at the edges. Inner elements have central
        differences.

    Returns
    -------
    GPUArray or tuple of GPUArray
        The derivative along one axis, or those along several.

    Raises
    ------
    TypeError
        If the number of spacings does not fit.
    ValueError
        If an axis has fewer than ``edge_order + 1`` elements, or if the number of
        coordinates does not fit.

    Examples
    --------
    >>> gpuarray.gradient(gpuarray.to_gpu(np.array([1.0, 2, 4, 8])))
    array([1. , 1.5, 3. , 4. ])
    """
    f = operand("gradient", f)
    axes = normal_axes(axis, f.ndim)
    spacings = list(varargs) or [1.0]
    if len(spacings) == 1 and np.ndim(spacings[0]) == 0:
        spacings *= len(axes)
    if len(spacings) != len(axes):
        raise TypeError(f"gradient: {len(varargs)} spacings for {len(axes)} axes")
    if edge_order not in (1, 2):
        raise ValueError(f"gradient: edge_order is {edge_order}, not 1 or 2")
    if f.dtype.kind in "biu":
        f = f.astype(np.float64)
    results = [
        _derivative(f, k, _distances(f, k, spacing), edge_order)
        for k, spacing in zip(axes, spacings, strict=True)
    ]
    return results[0] if len(axes) == 1 else tuple(results)


def _distances(f, axis, spacing):
    """Return the distance of neighbouring elements, or one distance for each pair."""
    if np.ndim(spacing) == 0:
        return float(spacing)
    places = spacing.get() if isinstance(spacing, GPUArray) else np.asarray(spacing)
    if places.shape != (f.shape[axis],):
        raise ValueError(
            f"gradient: coordinates of shape {places.shape} for axis {axis} of "
            f"{f.shape[axis]} elements"
        )
    if places.dtype.kind in "iu":
        places = places.astype(np.float64)  # differences of unsigned integers wrap
    distances = np.diff(places)
    if distances.size and (distances == distances[0]).all():
        return float(distances[0])
    return distances


def _derivative(f, axis, distances, edge_order):
    """Return the derivative along an axis."""
    if f.shape[axis] < edge_order + 1:
        raise ValueError(
            f"gradient: axis {axis} has {f.shape[axis]} elements, edge_order "
            f"{edge_order} needs {edge_order + 1}"
        )

    def part(start, stop):
        return (slice(None),) * axis + (slice(start, stop),)

    result = GPUArray(f.shape, f.dtype, f.allocator)
    if f.shape[axis] > 2:
        result[part(1, -1)] = _inner_derivative(f, axis, part, distances)
    for step, place in ((1, part(0, 1)), (-1, part(-1, None))):
        first = 0 if step == 1 else -1
        near = [f[part(k, k + 1 or None)] for k in (first, first + step)]
        if edge_order == 2:
            k = first + 2 * step
            near.append(f[part(k, k + 1 or None)])
        result[place] = _edge_derivative(near, distances, step)
    return result


def _inner_derivative(f, axis, part, distances):
    """Return the central differences of the elements that have two neighbours."""
    before, middle, after = f[part(None, -2)], f[part(1, -1)], f[part(2, None)]
    if isinstance(distances, float):
        return (after - before) / (2.0 * distances)
    shape = [1] * f.ndim
    shape[axis] = -1
    left, right = distances[:-1], distances[1:]
    weights = (
        -right / (left * (left + right)),
        (right - left) / (left * right),
        left / (right * (left + right)),
    )
    a, b, c = (to_gpu(weight.reshape(shape)) for weight in weights)
    return a * before + b * middle + c * after


def _edge_derivative(near, distances, step):
    """Return the one-sided difference at an edge, from its elements inward."""
    if isinstance(distances, float):
        if len(near) == 2:
            return (near[1] - near[0]) / (step * distances)
        edge = 2.0 * near[1] - 1.5 * near[0] - 0.5 * near[2]
        return edge / (step * distances)
    first, second = distances[:2] if step == 1 else distances[:-3:-1]
    if len(near) == 2:
        return (near[1] - near[0]) / float(step * first)
    both = first + second
    weights = (
        -(first + both) / (first * both),
        both / (first * second),
        -first / (second * both),
    )
    a, b, c = (float(step * weight) for weight in weights)
    return a * near[0] + b * near[1] + c * near[2]
