"""Elements that a condition selects: extract, compress, place, putmask."""

from __future__ import annotations

import numpy as np

from pycuda._array.copies import np_ravel, np_reshape
from pycuda._array.creation import arange
from pycuda._array.functions.reductions import count_nonzero
from pycuda._array.layout import normal_axis
from pycuda._array.masks import mask_of
from pycuda._array.numpy_calls import into
from pycuda._driver import GPUArray, _array_ops, _elementwise, _flatnonzero, to_gpu


def _condition(condition):
    """Return a condition on the device as a mask, one of the host as indices."""
    if isinstance(condition, GPUArray):
        return condition if condition.dtype == bool else condition != 0
    return np.flatnonzero(condition)


def extract(condition, arr):
    """Return the elements of a flat array where a flat condition is not 0.

    ``condition`` is a GPUArray of the size of ``arr``, or a NumPy array, whose
    indices are copied to the device. The result has one axis and the dtype of ``arr``.
    Its length is read back. IndexError if the condition is true beyond the end of
    ``arr``.
    """
    chosen = _condition(condition)
    flat = np_ravel(arr)
    if isinstance(chosen, GPUArray):
        chosen = np_ravel(chosen)
        if chosen.size != flat.size:
            chosen = _flatnonzero(chosen)
    return flat[chosen]


def compress(condition, a, axis=None, out=None):
    """Return the parts of an array along an axis where a condition is not 0.

    ``condition`` has one axis: a GPUArray, or a NumPy array or list, which is copied to
    the device. Without an axis the array is flat. The result has the dtype of ``a``;
    ``out`` gets it if given. Raises ValueError if the condition has more axes, and
    IndexError if it is true beyond the end of the axis.
    """
    if np.ndim(condition) != 1:
        raise ValueError(
            f"compress takes a condition with one axis, not {np.ndim(condition)}"
        )
    if axis is None:
        return into(extract(condition, a), out)
    axis = normal_axis(axis, a.ndim)
    chosen = _condition(condition)
    if isinstance(chosen, GPUArray):
        chosen = _flatnonzero(chosen)
    return into(a[(slice(None),) * axis + (chosen,)], out)


def _repeated(values, indices):
    """Return the values at indices, of values that are repeated without end."""
    size = values.size
    return np_ravel(values)[indices % size]


def place(arr, mask, vals):
    """Store values where a mask is true, one after the other.

    ``mask`` is a GPUArray of bool with the shape of ``arr``. ``vals`` are a GPUArray, a
    NumPy array or numbers; they are repeated if they are fewer than the true elements.
    Their number is read back unless there is one value. ValueError without a value.
    """
    mask = mask_of(mask, arr)
    values = vals if isinstance(vals, GPUArray) else to_gpu(np.ravel(vals))
    if values.size == 0:
        raise ValueError("place: there is no value to store")
    if values.size > 1:
        count = int(count_nonzero(mask).get())
        values = _repeated(values, arange(count, dtype=np.int64))
    arr[mask] = values


def putmask(a, mask, values):
    """Store values where a mask is true, each in the place that it has itself.

    ``mask`` is a GPUArray of bool with the shape of ``a``. ``values`` are a number, a
    GPUArray or a NumPy array; the flat elements of an array are repeated up to the size
    of ``a``. ValueError without a value. An elementwise kernel stores them.
    """
    mask = mask_of(mask, a)
    if np.ndim(values) == 0 and not isinstance(values, GPUArray):
        a[mask] = values
        return
    if not isinstance(values, GPUArray):
        values = to_gpu(np.asarray(values))
    if values.size == 0:
        raise ValueError("putmask: there is no value to store")
    if values.shape != a.shape:
        indices = arange(a.size, dtype=np.int64)
        values = np_reshape(_repeated(values, indices), a.shape)
    if values.dtype != a.dtype:
        values = values.astype(a.dtype)
    _elementwise(_array_ops["where"], (mask, values, a), a)
