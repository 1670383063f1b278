"""Functions of the elements at index arrays, and of those that a condition selects.

No function of index arrays waits for a kernel. A kernel skips an element whose index is
out of bounds; the next call that waits for the device raises the IndexError.
"""

from __future__ import annotations

import numpy as np

from pycuda._array.copies import (
    apart,
    as_values,
    c_copy,
    np_ravel,
    np_reshape,
    on_stream,
)
from pycuda._array.creation import arange
from pycuda._array.functions import operations, reductions
from pycuda._array.layout import normal_axis
from pycuda._array.numpy_calls import into, mask_of
from pycuda._driver import (
    GPUArray,
    _array_ops,
    _count_nonzero as count_nonzero,
    _elementwise,
    _flatnonzero,
    _max,
    _min,
    _put,
    _put_along_axis,
    _sum,
    _take,
    _take_along_axis,
)


def _subset(a, subset, stream):
    return _take(a, subset, stream=stream)


def subset_sum(subset, a, dtype=None, stream=None, allocator=None):
    """Return the sum of the elements whose flat indices are in ``subset``."""
    return _sum(_subset(a, subset, stream), dtype, stream, allocator)


def subset_dot(subset, a, b, dtype=None, stream=None, allocator=None):
    """Return the dot of the elements whose flat indices are in ``subset``."""
    a, b = _subset(a, subset, stream), _subset(b, subset, stream)
    return reductions.dot(a, b, dtype, stream, allocator)


def subset_min(subset, a, stream=None):
    """Return the least of the elements whose flat indices are in ``subset``."""
    return _min(_subset(a, subset, stream), stream)


def subset_max(subset, a, stream=None):
    """Return the greatest of the elements whose flat indices are in ``subset``."""
    return _max(_subset(a, subset, stream), stream)


def put(a, indices, values, mode="raise", stream=None):
    """Assign values to the elements at flat indices in C order, as ``numpy.put`` does.

    ``values`` are repeated if there are fewer than indices. An array that is not in C
    order is copied. ``mode`` and errors are those of ``take``.
    """
    if not a.flags.c_contiguous:
        with on_stream(stream):
            flat = c_copy(a)
            put(flat, indices, values, mode)
            a[...] = flat
        return
    count = indices.size if isinstance(indices, GPUArray) else np.size(indices)
    with on_stream(stream):
        values = as_values(values, a)
        if count == 0:
            return
        if values.size not in (1, count):
            if values.size == 0:
                raise ValueError(f"put: there are no values for {count} indices")
            order = arange(count, dtype=np.int64)
            values = _take(np_ravel(values), order, mode="wrap")
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
    dtype = np.result_type(*map(_weak_dtype, [*choices, default]))
    with on_stream(stream):
        choices = [_as_dtype(choice, dtype, "same_kind") for choice in choices]
        result = _as_dtype(default, dtype, "unsafe")
        for condition, choice in zip(conditions[::-1], choices[::-1], strict=True):
            result = operations.where(condition, choice, result)
    return result


def _weak_dtype(value):
    """Return what a choice contributes to the dtype: Python's numbers adapt to it."""
    if type(value) in (int, float, complex):
        return value
    return getattr(value, "dtype", None) or np.asarray(value).dtype


def _as_dtype(value, dtype, casting):
    """Return an array or a number in a dtype, as NumPy converts elements."""
    if not isinstance(value, GPUArray):
        return np.asarray(value).astype(dtype, casting=casting)[()]
    return value if value.dtype == dtype else value.astype(dtype)


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

    ``values`` broadcast to the indices; the rest is as in ``take_along_axis``.
    """
    if axis is not None:
        _put_along_axis(arr, indices, values, axis, stream)
        return
    with on_stream(stream):
        flat = arr if arr.flags.c_contiguous else c_copy(arr)
        _put_along_axis(flat.reshape(-1), indices, values, 0)
        if flat is not arr:
            arr[...] = flat


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


# -- elements that a condition selects -------------------------------------------------


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
        return into(extract(condition, a), out, "unsafe")
    axis = normal_axis(axis, a.ndim)
    chosen = _condition(condition)
    if isinstance(chosen, GPUArray):
        chosen = _flatnonzero(chosen)
    return into(a[(slice(None),) * axis + (chosen,)], out, "unsafe")


def _repeated(values, indices):
    """Return the values at indices, of values that are repeated without end."""
    size = values.size
    return np_ravel(values)[indices % size]


def _check_values(name, values, a):
    """Refuse an array of values that cannot be converted safely, as NumPy does."""
    if not isinstance(values, (GPUArray, np.ndarray)):
        return  # numbers and lists are converted as in an assignment
    if not np.can_cast(values.dtype, a.dtype, "safe"):
        raise TypeError(
            f"{name}: values of dtype {values.dtype} cannot be stored safely in an "
            f"array of dtype {a.dtype}; convert with astype()"
        )


def place(arr, mask, vals):
    """Store values where a mask is true, one after the other.

    ``mask`` is a GPUArray of bool with the shape of ``arr``. ``vals`` are a GPUArray, a
    NumPy array or numbers; they are repeated if they are fewer than the true elements.
    Their number is read back unless there is one value. ValueError without a value.
    """
    mask = mask_of(mask, arr)
    values = as_values(vals, arr)
    if values.size == 0:
        raise ValueError("place: there is no value to store")
    _check_values("place", vals, arr)
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
    given, values = values, as_values(values, a)
    if values.size == 0:
        raise ValueError("putmask: there is no value to store")
    _check_values("putmask", given, a)
    if values.shape != a.shape:
        indices = arange(a.size, dtype=np.int64)
        values = np_reshape(_repeated(values, indices), a.shape)
    if values.dtype != a.dtype:
        values = values.astype(a.dtype)
    _elementwise(_array_ops["where"], (mask, values, a), a)
