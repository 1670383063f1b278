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
    """Return the sum of the elements whose flat indices are in ``subset``.

    Parameters
    ----------
    subset : GPUArray
        Flat indices, integers.
    a : GPUArray
        Array of numbers.
    dtype : dtype_like, optional
        Dtype of the result. The default is that of ``sum``.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.
    allocator : callable, optional
        Function of a number of bytes that returns device memory. The default is the
        allocator of the array.

    Returns
    -------
    GPUArray
        A new array without axes.

    Notes
    -----
    The call does not wait. If an index is out of bounds, the next call that waits for
    the device raises IndexError.

    Examples
    --------
    >>> x = gpuarray.to_gpu(np.array([1.0, 2, 4]))
    >>> print(gpuarray.subset_sum(gpuarray.to_gpu(np.array([0, 2])), x))
    5.0
    """
    return _sum(_subset(a, subset, stream), dtype, stream, allocator)


def subset_dot(subset, a, b, dtype=None, stream=None, allocator=None):
    """Return the sum of products of the elements whose flat indices are in ``subset``.

    Parameters
    ----------
    subset : GPUArray
        Flat indices, integers.
    a : GPUArray
        First array.
    b : GPUArray
        Second array.
    dtype : dtype_like, optional
        Dtype of the result. The default is the common dtype.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.
    allocator : callable, optional
        Function of a number of bytes that returns device memory. The default is the
        allocator of the array.

    Returns
    -------
    GPUArray
        A new array without axes.

    Notes
    -----
    The call does not wait. If an index is out of bounds, the next call that waits for
    the device raises IndexError.

    Examples
    --------
    >>> x = gpuarray.to_gpu(np.array([1.0, 2, 4]))
    >>> print(gpuarray.subset_dot(gpuarray.to_gpu(np.array([0, 2])), x, x))
    17.0
    """
    a, b = _subset(a, subset, stream), _subset(b, subset, stream)
    return reductions.dot(a, b, dtype, stream, allocator)


def subset_min(subset, a, stream=None):
    """Return the least of the elements whose flat indices are in ``subset``.

    Parameters
    ----------
    subset : GPUArray
        Flat indices, integers.
    a : GPUArray
        Array of numbers.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array without axes.

    Notes
    -----
    The call does not wait. If an index is out of bounds, the next call that waits for
    the device raises IndexError.

    Examples
    --------
    >>> x = gpuarray.to_gpu(np.array([1.0, 2, 4]))
    >>> print(gpuarray.subset_min(gpuarray.to_gpu(np.array([1, 2])), x))
    2.0
    """
    return _min(_subset(a, subset, stream), stream)


def subset_max(subset, a, stream=None):
    """Return the greatest of the elements whose flat indices are in ``subset``.

    Parameters
    ----------
    subset : GPUArray
        Flat indices, integers.
    a : GPUArray
        Array of numbers.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array without axes.

    Notes
    -----
    The call does not wait. If an index is out of bounds, the next call that waits for
    the device raises IndexError.

    Examples
    --------
    >>> x = gpuarray.to_gpu(np.array([1.0, 2, 4]))
    >>> print(gpuarray.subset_max(gpuarray.to_gpu(np.array([0, 1])), x))
    2.0
    """
    return _max(_subset(a, subset, stream), stream)


def put(a, indices, values, mode="raise", stream=None):
    """Assign values to the elements at flat indices in C order.

    Parameters
    ----------
    a : GPUArray
        Array that is changed. One that is not in C order is copied in between.
    indices : array_like
        Flat indices, integers.
    values : array_like
        The values, which are repeated if there are fewer than indices.
    mode : {"raise", "wrap", "clip"}, optional
        What an index out of bounds means.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Raises
    ------
    ValueError
        If there are indices but no values.

    See Also
    --------
    take : Read the elements.
    put_along_axis : Indices along an axis.

    Notes
    -----
    The call does not wait. With "raise", the next call that waits for the device raises
    IndexError if an index is out of bounds.

    Examples
    --------
    >>> x = gpuarray.zeros(4, np.int32)
    >>> gpuarray.put(x, [0, 2], [7, 8])
    >>> x
    array([7, 0, 8, 0], dtype=int32)
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

    Parameters
    ----------
    condlist : sequence of GPUArray
        Arrays of bool.
    choicelist : sequence of GPUArray or number
        As many arrays or numbers. All broadcast.
    default : number or GPUArray, optional
        Value where no condition is true.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array of the dtype to which NumPy promotes choices and default.

    Raises
    ------
    TypeError
        If a condition is not bool.
    ValueError
        If the lists are empty or differ in length.

    See Also
    --------
    where : One condition.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> x = gpuarray.arange(5, dtype=np.int64)
    >>> gpuarray.select([x < 2, x > 2], [x, 10 * x], 99)
    array([ 0,  1, 99, 30, 40])
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

    Parameters
    ----------
    arr : GPUArray
        Array of any dtype.
    indices : GPUArray
        Integers, with as many axes as ``arr``; the others broadcast.
    axis : int or None, default -1
        Axis of the indices. None means flat indices in C order.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    See Also
    --------
    argsort : Indices that sort.

    Notes
    -----
    The call does not wait. If an index is out of bounds, the next call that waits for
    the device raises IndexError.

    Examples
    --------
    >>> x = gpuarray.to_gpu(np.array([[3, 1], [2, 4]]))
    >>> gpuarray.take_along_axis(x, gpuarray.argsort(x), axis=-1)
    array([[1, 3],
           [2, 4]])
    """
    if axis is None:
        arr, axis = np_ravel(arr), 0
    return _take_along_axis(arr, indices, axis, stream)


def put_along_axis(arr, indices, values, axis, *, stream=None):
    """Assign values to the elements at indices along an axis.

    Parameters
    ----------
    arr : GPUArray
        Array that is changed.
    indices : GPUArray
        Integers, with as many axes as ``arr``; the others broadcast.
    values : array_like
        The values, which broadcast to the indices.
    axis : int or None
        Axis of the indices. None means flat indices in C order.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    See Also
    --------
    take_along_axis : Read the elements.

    Notes
    -----
    The call does not wait. If an index is out of bounds, the next call that waits for
    the device raises IndexError.

    Examples
    --------
    >>> x = gpuarray.zeros((2, 2), np.int64)
    >>> gpuarray.put_along_axis(x, gpuarray.to_gpu(np.array([[1], [0]])), 5, 1)
    >>> x
    array([[0, 5],
           [5, 0]])
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
    """Return the elements at flat indices of several arrays.

    Parameters
    ----------
    arrays : sequence of GPUArray
        The arrays.
    indices : GPUArray
        Flat indices, integers.
    out : sequence of GPUArray, optional
        Arrays for the results. The default is new arrays.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    list of GPUArray
        The results.

    Raises
    ------
    ValueError
        If ``out`` has another length.

    See Also
    --------
    take : One array.

    Notes
    -----
    The call does not wait. If an index is out of bounds, the next call that waits for
    the device raises IndexError.

    Examples
    --------
    >>> x = gpuarray.arange(4, dtype=np.float32)
    >>> gpuarray.multi_take([x, 2 * x], gpuarray.to_gpu(np.array([1, 3])))
    [array([1., 3.], dtype=float32), array([2., 6.], dtype=float32)]
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

    Parameters
    ----------
    arrays : sequence of GPUArray
        The arrays.
    dest_indices : GPUArray
        Flat indices, integers.
    dest_shape : int or tuple of int, optional
        Shape of new outputs. Their other elements are not set.
    out : sequence of GPUArray, optional
        The outputs. The default is new arrays.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    list of GPUArray
        The outputs.

    Raises
    ------
    ValueError
        If neither ``dest_shape`` nor ``out`` is given, or if ``out`` has another
        length.

    See Also
    --------
    put : One array.

    Notes
    -----
    The call does not wait. If an index is out of bounds, the next call that waits for
    the device raises IndexError.

    Examples
    --------
    >>> x = gpuarray.arange(2, dtype=np.float32)
    >>> places = gpuarray.to_gpu(np.array([1, 0]))
    >>> gpuarray.multi_put([x, x + 5], places, dest_shape=2)
    [array([1., 0.], dtype=float32), array([6., 5.], dtype=float32)]
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

    Parameters
    ----------
    arrays : sequence of GPUArray
        The arrays.
    dest_indices : GPUArray
        Flat indices of the outputs, integers.
    src_indices : GPUArray
        Flat indices of the arrays, integers.
    dest_shape : int or tuple of int, optional
        Shape of new outputs. Their other elements are not set.
    out : sequence of GPUArray, optional
        The outputs. The default is new arrays.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.
    src_offsets : sequence of int, optional
        A number for each array, which is added to its indices.

    Returns
    -------
    list of GPUArray
        The outputs.

    Raises
    ------
    ValueError
        If neither ``dest_shape`` nor ``out`` is given, or if a list has another length.

    See Also
    --------
    multi_take : Without places in the outputs.

    Notes
    -----
    The call does not wait. If an index is out of bounds, the next call that waits for
    the device raises IndexError.

    Examples
    --------
    >>> x = gpuarray.arange(4, dtype=np.float32)
    >>> first, last = (gpuarray.to_gpu(np.array(i)) for i in ([0, 1], [2, 3]))
    >>> gpuarray.multi_take_put([x], first, last, dest_shape=2)
    [array([2., 3.], dtype=float32)]
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

    Parameters
    ----------
    condition : GPUArray or array_like
        Condition. The indices of one in host memory are copied to the device.
    arr : GPUArray
        Array of any dtype.

    Returns
    -------
    GPUArray
        A new array with one axis and the same dtype.

    Raises
    ------
    IndexError
        If the condition is true beyond the end of ``arr``.

    See Also
    --------
    compress : Parts along an axis.

    Notes
    -----
    The call waits for the length of the result.

    Examples
    --------
    >>> x = gpuarray.arange(5, dtype=np.int32)
    >>> gpuarray.extract(x > 2, x)
    array([3, 4], dtype=int32)
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

    Parameters
    ----------
    condition : GPUArray or array_like
        Condition with one axis. One in host memory is copied to the device.
    a : GPUArray
        Array of any dtype.
    axis : int or None, optional
        Axis along which to compute. The default is the flat array.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.

    Returns
    -------
    GPUArray
        The result: ``out``, or a new array of the same dtype.

    Raises
    ------
    IndexError
        If the condition is true beyond the end of the axis.
    ValueError
        If the condition has more axes.

    See Also
    --------
    extract : A condition of the array's shape.

    Notes
    -----
    The call waits for the length of the result.

    Examples
    --------
    >>> x = gpuarray.to_gpu(np.array([[1, 2], [3, 4]]))
    >>> gpuarray.compress([False, True], x, axis=0)
    array([[3, 4]])
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

    Parameters
    ----------
    arr : GPUArray
        Array that is changed.
    mask : GPUArray
        Array of bool with the same shape.
    vals : array_like
        The values, which are repeated if they are fewer than the true elements.

    Raises
    ------
    TypeError
        If values cannot be stored safely in the array's dtype.
    ValueError
        If there is no value.

    See Also
    --------
    putmask : Each value in the place that it has itself.

    Notes
    -----
    The call waits for the number of true elements, unless there is one value.

    Examples
    --------
    >>> x = gpuarray.arange(4, dtype=np.int64)
    >>> gpuarray.place(x, x > 1, [7, 8])
    >>> x
    array([0, 1, 7, 8])
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

    Parameters
    ----------
    a : GPUArray
        Array that is changed.
    mask : GPUArray
        Array of bool with the same shape.
    values : array_like
        The values. The flat elements of an array are repeated up to the size of ``a``.

    Raises
    ------
    TypeError
        If values cannot be stored safely in the array's dtype.
    ValueError
        If there is no value.

    See Also
    --------
    place : Values one after the other.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> x = gpuarray.arange(4, dtype=np.int64)
    >>> gpuarray.putmask(x, x > 1, -x)
    >>> x
    array([ 0,  1, -2, -3])
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
