"""Axes, strides and shapes of arrays. Nothing here copies elements."""

from __future__ import annotations

import numpy as np

from pycuda._driver import ArrayFlags, GPUArray, _plain_array
from pycuda.compyte.array import c_contiguous_strides

#: A ValueError and an IndexError. NumPy before version 1.25 has it in its namespace.
AxisError = getattr(np, "exceptions", np).AxisError


def normal_axis(axis, ndim):
    """Return the number of an axis from 0 on; AxisError if there is no such axis.

    AxisError is a ValueError and an IndexError.
    """
    if not -ndim <= axis < ndim:
        raise AxisError(f"axis {axis} is not one of the {ndim} axes")
    return axis % ndim


def normal_axes(axis, ndim):
    """Return the axes that ``axis`` names, from 0 on: None, a number, or several.

    AxisError if there is no such axis, ValueError if it is named twice.
    """
    if axis is None:
        return tuple(range(ndim))
    axes = axis if np.iterable(axis) else (axis,)
    result = tuple(normal_axis(k, ndim) for k in axes)
    if len({*result}) != len(result):
        raise ValueError(f"axis {axis} names an axis twice")
    return result


def packed_like(ary, itemsize):
    """Return strides without gaps that keep the memory order of an array's axes.

    Return None if two axes have the same stride, so that there is no order.
    """
    axes = sorted(range(ary.ndim), key=lambda axis: abs(ary.strides[axis]))
    if ary.ndim > 1 and len({abs(stride) for stride in ary.strides}) < ary.ndim:
        return None
    strides = [0] * ary.ndim
    for axis in axes:
        strides[axis] = itemsize
        itemsize *= max(ary.shape[axis], 1)
    return tuple(strides)


def compact_strides(a):
    """Return strides without gaps that keep the memory order of the axes, a list."""
    return list(
        packed_like(a, a.dtype.itemsize)
        or c_contiguous_strides(a.dtype.itemsize, a.shape)
    )


def array_like_helper(other_ary, dtype, order):
    """Return (dtype, order, strides) for a new array like another one."""
    dtype = np.dtype(other_ary.dtype if dtype is None else dtype)
    strides = None
    flags = ArrayFlags(other_ary)
    if order == "A":
        order = "F" if flags.f_contiguous and not flags.c_contiguous else "C"
    elif order == "K":
        order = "C"
        if not flags.c_contiguous:
            strides = packed_like(other_ary, dtype.itemsize)
    return dtype, order, strides


def broadcast_row(a, ndim):
    """Return the strides of an array that is broadcast to ``ndim`` axes, a list."""
    row = [0] * (ndim - a.ndim)
    for length, stride in zip(a.shape, a.strides, strict=True):
        row.append(0 if length == 1 else stride)
    return row


def broadcast_to(a, shape):
    """Return a view of another shape that repeats the elements."""
    given, a = a, _plain_array(a)
    if a.shape == shape:
        return given
    missing = len(shape) - a.ndim
    pairs = zip(a.shape, shape[missing:], strict=True) if missing >= 0 else [(2, 0)]
    if not all(length in (1, wanted) for length, wanted in pairs):
        raise ValueError(f"an array of shape {a.shape} cannot be broadcast to {shape}")
    return strided(given, shape, tuple(broadcast_row(a, len(shape))))


def strided(given, shape, strides):
    """Return a view with a shape and strides, which must stay in the array's memory."""
    a = _plain_array(given)
    if a.gpudata is None or 0 in shape:
        return GPUArray(shape, a.dtype, a.allocator)
    view = GPUArray(
        shape, a.dtype, a.allocator, base=given, gpudata=a.gpudata, strides=strides
    )
    view._counts_as = a._counts_as
    return view
