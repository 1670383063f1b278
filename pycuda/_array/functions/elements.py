"""Functions of the elements at index arrays: ``take``, ``multi_put``, ``subset_sum``.

No function waits for a kernel. A kernel skips an element whose index is out of bounds;
the next call that waits for the device raises the IndexError.
"""

from __future__ import annotations

import numpy as np

from pycuda._array.copies import np_ravel
from pycuda._array.creation import arange
from pycuda._array.functions import operations, reductions
from pycuda._array.overlap import apart
from pycuda._driver import (
    GPUArray,
    _array_ops,
    _elementwise,
    _put,
    _put_along_axis,
    _take,
    _take_along_axis,
)


def _subset(a, subset, stream):
    return _take(a, subset, stream=stream)


def subset_sum(subset, a, dtype=None, stream=None, allocator=None):
    """Return the sum of the elements whose flat indices are in ``subset``."""
    return reductions.sum(_subset(a, subset, stream), dtype, stream, allocator)


def subset_dot(subset, a, b, dtype=None, stream=None, allocator=None):
    """Return the dot of the elements whose flat indices are in ``subset``."""
    a, b = _subset(a, subset, stream), _subset(b, subset, stream)
    return reductions.dot(a, b, dtype, stream, allocator)


def subset_min(subset, a, stream=None):
    """Return the least of the elements whose flat indices are in ``subset``."""
    return reductions.min(_subset(a, subset, stream), stream)


def subset_max(subset, a, stream=None):
    """Return the greatest of the elements whose flat indices are in ``subset``."""
    return reductions.max(_subset(a, subset, stream), stream)


def put(a, indices, values, mode="raise", stream=None):
    """Assign values to the elements at flat indices in C order, as ``numpy.put`` does.

    ``values`` are repeated if there are fewer than indices. The array must be in C
    order. ``mode`` and errors are those of ``take``.
    """
    if not a.flags.c_contiguous:
        raise ValueError("put: the array to put into must be in C order")
    if not isinstance(values, GPUArray):
        host = np.asarray(values)
        values = GPUArray(host.shape, a.dtype, a.allocator)
        values[...] = host
    count = indices.size if isinstance(indices, GPUArray) else np.size(indices)
    if count == 0:
        return
    if values.size not in (1, count):
        if values.size == 0:
            raise ValueError(f"put: there are no values for {count} indices")
        values = _take(np_ravel(values), arange(count, dtype=np.int64), mode="wrap")
    _put(a, indices, values, mode, stream)


def select(condlist, choicelist, default=0, *, stream=None):
    """Return elements of the choice whose condition is the first true one.

    ``condlist`` has arrays of bool, ``choicelist`` as many arrays or numbers; where no
    condition is true, the result is ``default``. All broadcast, and the dtype is the
    one to which NumPy promotes choices and default. Raises ValueError for lists of
    different lengths, TypeError for a condition that is not bool.
    """
    conditions, choices = list(condlist), list(choicelist)
    if len(conditions) != len(choices) or not conditions:
        raise ValueError(
            f"select: there are {len(conditions)} conditions and {len(choices)} choices"
        )
    for condition in conditions:
        if condition.dtype != bool:
            raise TypeError(f"select: conditions must be bool, not {condition.dtype}")
    result = default
    for condition, choice in zip(conditions[::-1], choices[::-1], strict=True):
        result = operations.where(condition, choice, result, stream=stream)
    return result


def take_along_axis(arr, indices, axis=-1, *, stream=None):
    """Return the elements at indices along an axis, with indices for each line.

    ``indices`` has as many axes as ``arr``; the others broadcast. ``axis=None`` takes
    flat indices, in C order.
    """
    if axis is None:
        arr, axis = np_ravel(arr), 0
    return _take_along_axis(arr, indices, axis, stream)


def put_along_axis(arr, indices, values, axis, *, stream=None):
    """Assign values to the elements at indices along an axis.

    ``values`` broadcast to the indices; the rest is as in ``take_along_axis``. For
    ``axis=None`` the array must be in C order.
    """
    if axis is None:
        if not arr.flags.c_contiguous:
            raise ValueError("put_along_axis: the array must be in C order")
        arr, axis = arr.reshape(-1), 0
    _put_along_axis(arr, indices, values, axis, stream)


def multi_take(arrays, indices, out=None, stream=None):
    """Return ``take(array, indices)`` for each of the arrays, without waiting.

    Errors are those of ``take``.
    """
    outs = [None] * len(arrays) if out is None else out
    _same_length(arrays, outs, "out")
    indices = apart(indices, outs, stream)
    arrays = _unchanged(arrays, outs, stream)
    return [
        _take(array, indices, output, stream)
        for array, output in zip(arrays, outs, strict=True)
    ]


def multi_put(arrays, dest_indices, dest_shape=None, out=None, stream=None):
    """Store the elements of each array at flat indices of its output.

    New outputs have the shape ``dest_shape``; their other elements are not set. Returns
    the outputs.
    """
    outs = _outputs(arrays, dest_shape, out)
    dest_indices = apart(dest_indices, outs, stream)
    arrays = _unchanged(arrays, outs, stream)
    for array, output in zip(arrays, outs, strict=True):
        _put(output, dest_indices, array, stream=stream)
    return outs


def multi_take_put(
    arrays,
    dest_indices,
    src_indices,
    dest_shape=None,
    out=None,
    stream=None,
    src_offsets=None,
):
    """Copy elements at flat indices of each array to flat indices of its output.

    ``src_offsets`` has a number for each array, which is added to its indices.
    """
    outs = _outputs(arrays, dest_shape, out)
    offsets = [0] * len(arrays) if src_offsets is None else src_offsets
    _same_length(arrays, offsets, "src_offsets")
    dest_indices = apart(dest_indices, outs, stream)
    src_indices = apart(src_indices, outs, stream)
    arrays = _unchanged(arrays, outs, stream)
    for array, output, offset in zip(arrays, outs, offsets, strict=True):
        indices = _shifted(src_indices, offset, stream)
        taken = _take(array, indices, stream=stream)
        _put(output, dest_indices, taken, stream=stream)
    return outs


def _shifted(indices, offset, stream):
    if not isinstance(indices, GPUArray):
        return np.asarray(indices) + offset
    if not offset:
        return indices
    return _elementwise(_array_ops["add"], (indices, offset), None, np.int64, stream)


def _unchanged(arrays, outs, stream):
    """Return the arrays, with copies of those that an earlier output may overwrite."""
    return [apart(array, outs[:k], stream) for k, array in enumerate(arrays)]


def _same_length(arrays, others, name):
    if len(arrays) != len(others):
        raise ValueError(f"there are {len(arrays)} arrays, but {len(others)} in {name}")


def _outputs(arrays, dest_shape, out):
    if out is not None:
        _same_length(arrays, out, "out")
        return out
    if dest_shape is None:
        raise ValueError("either dest_shape or out must be given")
    return [GPUArray(dest_shape, a.dtype, a.allocator) for a in arrays]
