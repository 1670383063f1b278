"""Axes, strides and shapes of arrays; no copies."""

from __future__ import annotations

import numpy as np

from pycuda._driver import ArrayFlags, GPUArray, _plain_array
from pycuda.compyte.array import c_contiguous_strides


def normal_axis(axis, ndim):
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is not one of {ndim} axes")
    return axis % ndim


def packed_like(ary, itemsize):
    """Return strides without gaps for the axes in their order in memory."""
    axes = sorted(range(ary.ndim), key=lambda axis: abs(ary.strides[axis]))
    if ary.ndim > 1 and len({abs(stride) for stride in ary.strides}) < ary.ndim:
        return None
    strides = [0] * ary.ndim
    for axis in axes:
        strides[axis] = itemsize
        itemsize *= max(ary.shape[axis], 1)
    return tuple(strides)


def compact_strides(a):
    """Return the strides of ``a`` without gaps, its axes in the order of memory."""
    return list(
        packed_like(a, a.dtype.itemsize)
        or c_contiguous_strides(a.dtype.itemsize, a.shape)
    )


def array_like_helper(other_ary, dtype, order):
    """Return (dtype, order, strides) of an array like another one."""
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


def broadcast_to(a, shape):
    """Return a view of another shape, its elements repeated."""
    given, a = a, _plain_array(a)
    if a.shape == shape:
        return given
    if np.broadcast_shapes(a.shape, shape) != shape:
        raise ValueError(f"an array of shape {a.shape} cannot be broadcast to {shape}")
    strides = (0,) * (len(shape) - a.ndim) + tuple(
        0 if length == 1 else stride
        for length, stride in zip(a.shape, a.strides, strict=True)
    )
    if a.gpudata is None or 0 in shape:
        return GPUArray(shape, a.dtype, a.allocator)
    view = GPUArray(
        shape, a.dtype, a.allocator, base=given, gpudata=a.gpudata, strides=strides
    )
    view._counts_as = a._counts_as
    return view
