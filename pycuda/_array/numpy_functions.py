"""``__array_function__``: NumPy's functions applied to GPUArrays.

A function or a keyword that GPUArrays do not support raises a TypeError that names it.
An operand whose type has its own ``__array_function__`` gets the call instead.
"""

from __future__ import annotations

import numpy as np

from pycuda._array import (
    creation,
    elements,
    joining,
    numpy_reductions,
    numpy_shapes,
    operations,
    reductions,
)
from pycuda._array.copies import c_copy, np_ravel, np_reshape
from pycuda._array.layout import broadcast_to, normal_axis
from pycuda._array.linalg import numpy_names as linear_algebra
from pycuda._array.masks import as_mask
from pycuda._array.nonzero import nonzero as nonzero_of_mask
from pycuda._array.numpy_calls import called, into
from pycuda._array.overlap import may_overlap
from pycuda._driver import GPUArray, _array_ops, _elementwise


def take(a, indices, axis=None, out=None):
    """Return the elements at indices, flat ones or those along an axis."""
    if axis is None:
        return elements.take(np_ravel(a), indices, out)
    result = a[(slice(None),) * normal_axis(axis, a.ndim) + (indices,)]
    return into(result, out)


def nonzero(a):
    """Return the indices of the elements that are not 0, one array for each axis."""
    if a.ndim == 0:
        raise ValueError("nonzero of an array without axes: use atleast_1d()")
    return tuple(nonzero_of_mask(a if a.dtype == bool else a != 0))


def flatnonzero(a):
    """Return the flat indices of the elements that are not 0."""
    return nonzero(np_ravel(a))[0]


def where(condition, x=None, y=None):
    """Return ``x`` where the condition is true, ``y`` elsewhere.

    Without ``x`` and ``y``, return the indices of the true elements.
    """
    if x is None and y is None:
        return nonzero(condition)
    return operations.where(condition, x, y)


def clip(a, min=None, max=None, out=None):
    """Return the elements, with those outside the bounds replaced by the bounds."""
    if min is None and max is None:
        return into(a.copy(), out)
    result = a
    if min is not None:  # out may be the array of the maxima: write to it last
        first_out = out if max is None else None
        result = _elementwise(_array_ops["maximum"], (result, min), first_out)
    if max is not None:
        result = _elementwise(_array_ops["minimum"], (result, max), out)
    return result


def round(a, decimals=0, out=None):
    """Return the elements rounded to a number of decimals; halves become even."""
    if a.dtype.kind in "biu" and decimals >= 0:
        return into(a.copy(), out)
    if a.dtype.kind == "c":
        result = round(a.real, decimals) + 1j * round(a.imag, decimals)
    elif a.dtype.kind in "biu":
        unit = 10**-decimals
        result = (np.rint(a / unit) * unit).astype(a.dtype)
    elif decimals == 0:
        result = np.rint(a)
    elif decimals > 0:
        unit = 10.0**decimals
        result = np.rint(a * unit) / unit
    else:
        unit = 10.0**-decimals
        result = np.rint(a / unit) * unit
    return into(result, out)


def copyto(dst, src, casting="same_kind", where=True):
    """Copy values into an array, or only where a mask is true."""
    dtype = getattr(src, "dtype", None)
    if dtype is not None and not np.can_cast(dtype, dst.dtype, casting):
        raise TypeError(f"cannot convert {dtype} to {dst.dtype} by {casting!r} casting")
    if where is True:
        dst[...] = src
        return
    mask = broadcast_to(as_mask(where), dst.shape)
    values = GPUArray(dst.shape, dst.dtype, dst.allocator)
    values[...] = src
    _elementwise(_array_ops["where"], (mask, values, dst), dst)


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Return whether elements differ by no more than ``atol + rtol * abs(b)``."""
    if result_type(b).kind in "biu":  # differences of integers would wrap around
        b = b.astype(np.float64) if isinstance(b, GPUArray) else np.float64(b)
    near = abs(a - b) <= atol + rtol * abs(b)
    if isinstance(b, GPUArray):
        near = near & np.isfinite(b)
    elif not np.isfinite(b):
        near = near & False
    near = near | (a == b)
    if equal_nan:
        near = near | (np.isnan(a) & np.isnan(b))
    return near


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Return whether all elements are close, as Python's bool."""
    return bool(reductions.all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a1, a2):
    """Return whether shapes and elements are equal, as Python's bool."""
    if not (isinstance(a1, GPUArray) and isinstance(a2, GPUArray)):
        raise TypeError("array_equal takes two GPUArrays; copy with to_gpu()")
    return a1.shape == a2.shape and bool(reductions.all(a1 == a2))


def may_share_memory(a, b, max_work=None):
    """Return whether the address ranges of two arrays overlap."""
    if not (isinstance(a, GPUArray) and isinstance(b, GPUArray)):
        return False
    return may_overlap(a, b)


def result_type(*arrays_and_dtypes):
    """Return the dtype of a result by NumPy's rules for dtypes, arrays and numbers."""
    return np.result_type(
        *(a.dtype if isinstance(a, GPUArray) else a for a in arrays_and_dtypes)
    )


def _like(function):
    def call(a, dtype=None, order="K"):
        return function(a, dtype, order)

    return call


def _like_full(a, fill_value, dtype=None, order="K"):
    return creation.full_like(a, fill_value, dtype, order)


def _text(function):
    """Return the function applied to a copy of the array in host memory."""

    def call(a, *args, **kwargs):
        return function(a.get(), *args, **kwargs)

    return call


_FUNCTIONS = {
    np.sum: numpy_reductions.sum,
    np.prod: numpy_reductions.prod,
    np.mean: numpy_reductions.mean,
    np.var: numpy_reductions.var,
    np.std: numpy_reductions.std,
    np.min: numpy_reductions.min,
    np.max: numpy_reductions.max,
    np.amin: numpy_reductions.min,
    np.amax: numpy_reductions.max,
    np.argmin: numpy_reductions.argmin,
    np.argmax: numpy_reductions.argmax,
    np.any: numpy_reductions.any,
    np.all: numpy_reductions.all,
    np.count_nonzero: numpy_reductions.count_nonzero,
    np.cumsum: numpy_reductions.cumsum,
    np.cumprod: numpy_reductions.cumprod,
    np.ptp: numpy_reductions.ptp,
    np.where: where,
    np.concatenate: lambda arrays, axis=0: (
        joining.concatenate([np_ravel(a) for a in arrays])
        if axis is None
        else joining.concatenate(arrays, axis)
    ),
    np.stack: lambda arrays, axis=0: c_copy(joining.stack(arrays, axis)),
    np.vstack: numpy_shapes.vstack,
    np.hstack: numpy_shapes.hstack,
    np.split: numpy_shapes.split,
    np.array_split: numpy_shapes.array_split,
    np.reshape: np_reshape,
    np.ravel: np_ravel,
    np.transpose: operations.transpose,
    np.squeeze: numpy_shapes.squeeze,
    np.expand_dims: numpy_shapes.expand_dims,
    np.swapaxes: numpy_shapes.swapaxes,
    np.moveaxis: numpy_shapes.moveaxis,
    np.flip: numpy_shapes.flip,
    np.flipud: lambda m: numpy_shapes.flip(m, 0),
    np.fliplr: lambda m: numpy_shapes.flip(m, 1),
    np.roll: numpy_shapes.roll,
    np.broadcast_to: numpy_shapes.broadcast_to,
    np.atleast_1d: numpy_shapes.atleast_1d,
    np.atleast_2d: numpy_shapes.atleast_2d,
    np.diff: numpy_shapes.diff,
    np.take: take,
    np.nonzero: nonzero,
    np.flatnonzero: flatnonzero,
    np.clip: clip,
    np.round: round,
    np.around: round,
    np.copyto: copyto,
    np.empty_like: _like(creation.empty_like),
    np.zeros_like: _like(creation.zeros_like),
    np.ones_like: _like(creation.ones_like),
    np.full_like: _like_full,
    np.copy: lambda a: a.copy(),
    np.real: lambda val: val.real,
    np.imag: lambda val: val.imag,
    np.angle: lambda z: _elementwise(_array_ops["angle"], (z,)),
    np.isreal: lambda x: x.imag == 0,
    np.iscomplex: lambda x: x.imag != 0,
    np.isrealobj: lambda x: x.dtype.kind != "c",
    np.iscomplexobj: lambda x: x.dtype.kind == "c",
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: a.size if axis is None else a.shape[axis],
    np.result_type: result_type,
    np.isclose: isclose,
    np.allclose: allclose,
    np.array_equal: array_equal,
    np.may_share_memory: may_share_memory,
    np.array_repr: _text(np.array_repr),
    np.array_str: _text(np.array_str),
    np.array2string: _text(np.array2string),
    **linear_algebra.FUNCTIONS,
}


def array_function(array, function, types, args, kwargs):
    """Apply a function of NumPy by its counterpart for the device."""
    if not all(issubclass(kind, (GPUArray, np.ndarray)) for kind in types):
        return NotImplemented
    full = f"{function.__module__}.{function.__name__}"
    ours = _FUNCTIONS.get(function)
    if ours is None:
        raise TypeError(f"{full} has no counterpart for GPUArrays: fetch with get()")
    kwargs = {k: v for k, v in kwargs.items() if v is not np._NoValue}
    return called(full, ours, args, kwargs)
