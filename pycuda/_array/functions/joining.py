"""Arrays joined along an axis, and parts put into or taken out of an array."""

from __future__ import annotations

import operator

import numpy as np

from pycuda._array.copies import as_values, copy_into, np_ravel, on_stream
from pycuda._array.functions.conversion import operand
from pycuda._array.layout import normal_axis
from pycuda._array.numpy_calls import check_out
from pycuda._driver import GPUArray, _flatnonzero, _join, _take, to_gpu


def in_steps(
    name,
    arrays,
    axis=0,
    allocator=None,
    out=None,
    dtype=None,
    casting=None,
    stream=None,
):
    """Do what "concatenate", "stack" or "numpy.stack" cannot do in one step."""
    is_new = name != "concatenate"
    if is_new:
        axis = operator.index(axis)
    elif axis is None:
        arrays, axis = [np_ravel(a) for a in arrays], 0
    arrays = list(arrays)
    if out is not None:
        dtype = check_out(out).dtype
    _check_casting(arrays, dtype, casting)
    f_order = name == "stack" and axis != 0
    result = _join(arrays, axis, is_new, dtype, f_order, allocator, stream)
    return result if out is None else _into(out, result, stream)


def _check_casting(arrays, dtype, casting=None):
    """Refuse a conversion that a rule forbids; ``dtype`` is None for the common one."""
    if casting is None and dtype is None:
        return
    casting = "same_kind" if casting is None else casting
    if dtype is None and arrays:
        dtype = np.result_type(*(array.dtype for array in arrays))
    for array in arrays:
        if not np.can_cast(array.dtype, dtype, casting):
            raise TypeError(
                f"cannot convert {array.dtype} to {np.dtype(dtype)} by {casting!r} "
                f"casting"
            )


def _into(out, result, stream):
    if out.shape != result.shape:
        raise ValueError(f"the result has shape {result.shape}, out has {out.shape}")
    out.set_async(result.astype(out.dtype, stream), stream)
    return out


def _with_axes(array, ndim):
    """Return an array with axes of length 1 in front, so that it has ``ndim``."""
    if not hasattr(array, "ndim"):
        raise TypeError(f"only GPUArrays can be joined, not {type(array).__name__}")
    return array[(None,) * (ndim - array.ndim)] if array.ndim < ndim else array


def vstack(tup, *, dtype=None, casting=None, stream=None):
    """Return the arrays joined along the first axis; those with one axis are rows.

    Parameters
    ----------
    tup : sequence of GPUArray
        The arrays.
    dtype : dtype_like, optional
        Dtype of the result. The default is the common dtype.
    casting : str, optional
        Rule of NumPy for the conversion. The default is "same_kind".
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    TypeError
        If ``casting`` forbids a conversion.
    ValueError
        If the shapes do not fit.

    See Also
    --------
    concatenate : Any axis.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> x = gpuarray.arange(3, dtype=np.int32)
    >>> gpuarray.vstack([x, x])
    array([[0, 1, 2],
           [0, 1, 2]], dtype=int32)
    """
    arrays = [_with_axes(a, 2) for a in tup]
    _check_casting(arrays, dtype, casting)
    return _join(arrays, 0, False, dtype, stream=stream)


def hstack(tup, *, dtype=None, casting=None, stream=None):
    """Return the arrays joined along the second axis, or along the only one.

    Parameters
    ----------
    tup : sequence of GPUArray
        The arrays.
    dtype : dtype_like, optional
        Dtype of the result. The default is the common dtype.
    casting : str, optional
        Rule of NumPy for the conversion. The default is "same_kind".
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    TypeError
        If ``casting`` forbids a conversion.
    ValueError
        If the shapes do not fit.

    See Also
    --------
    concatenate : Any axis.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> x = gpuarray.arange(3, dtype=np.int32)
    >>> gpuarray.hstack([x, x])
    array([0, 1, 2, 0, 1, 2], dtype=int32)
    """
    arrays = [_with_axes(a, 1) for a in tup]
    axis = 0 if arrays and arrays[0].ndim == 1 else 1
    _check_casting(arrays, dtype, casting)
    return _join(arrays, axis, False, dtype, stream=stream)


def dstack(tup, *, stream=None):
    """Return the arrays joined along the third axis.

    Arrays of shape (n,) count as (1, n, 1), those of shape (m, n) as (m, n, 1).

    Parameters
    ----------
    tup : sequence of GPUArray
        The arrays.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array of the common dtype.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    See Also
    --------
    concatenate : Any axis.

    Examples
    --------
    >>> x = gpuarray.arange(3, dtype=np.int32)
    >>> gpuarray.dstack([x, x]).shape
    (1, 3, 2)
    """
    arrays = [_with_axes(a, 2) for a in tup]
    arrays = [a[:, :, None] if a.ndim == 2 else a for a in arrays]
    return _join(arrays, 2, False, stream=stream)


def column_stack(tup, *, stream=None):
    """Return the arrays joined along the second axis; those with one axis are columns.

    Parameters
    ----------
    tup : sequence of GPUArray
        The arrays.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array of the common dtype.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    See Also
    --------
    concatenate : Any axis.

    Examples
    --------
    >>> x = gpuarray.arange(3, dtype=np.int32)
    >>> gpuarray.column_stack([x, x])
    array([[0, 0],
           [1, 1],
           [2, 2]], dtype=int32)
    """
    arrays = [_with_axes(a, 1) for a in tup]
    arrays = [a[:, None] if a.ndim == 1 else a for a in arrays]
    return _join(arrays, 1, False, stream=stream)


def _depth(arrays):
    """Return how deep lists are nested: 0 for an array."""
    if not isinstance(arrays, list):
        return 0
    depths = {_depth(item) for item in arrays}
    if len(depths) != 1:
        raise ValueError(
            f"block: lists must be equally deep and not empty, but have depths "
            f"{sorted(depths)}"
        )
    return 1 + depths.pop()


def block(arrays, *, stream=None):
    """Return one array put together from nested lists of arrays.

    The innermost lists are joined along the last axis, those around them along the axis
    before it, and so on, as in ``numpy.block``.

    Parameters
    ----------
    arrays : list or GPUArray
        Nested lists of arrays.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array of the common dtype.

    Raises
    ------
    ValueError
        If the lists have different depths, or if the shapes do not fit.

    See Also
    --------
    concatenate : One list.

    Examples
    --------
    >>> a = gpuarray.ones((1, 2))
    >>> gpuarray.block([[a, 2 * a], [3 * a, 4 * a]])
    array([[1., 1., 2., 2.],
           [3., 3., 4., 4.]])
    """
    depth = _depth(arrays)

    def axes_of(item):
        return max(map(axes_of, item)) if isinstance(item, list) else item.ndim

    ndim = max(axes_of(arrays), depth)

    def joined(item, level):
        if level == 0:
            return _with_axes(item, ndim)
        return _join([joined(i, level - 1) for i in item], -level, False, stream=stream)

    if depth == 0:
        return _join([_with_axes(arrays, 1)], 0, False, stream=stream).reshape(
            arrays.shape
        )
    return joined(arrays, depth)


def append(arr, values, axis=None, *, stream=None):
    """Return the array with values after its last elements.

    Parameters
    ----------
    arr : GPUArray
        Array of any dtype.
    values : array_like
        The values. With an axis they have the array's other lengths.
    axis : int or None, optional
        Axis along which to compute. The default is the flat array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array of the common dtype.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    See Also
    --------
    insert : Values at other places.

    Notes
    -----
    Values in host memory are copied to the device.

    Examples
    --------
    >>> gpuarray.append(gpuarray.arange(3, dtype=np.int64), [7, 8])
    array([0, 1, 2, 7, 8])
    """
    if not isinstance(values, GPUArray):
        values = to_gpu(np.asarray(values))
    if axis is None:
        arr, values, axis = np_ravel(arr), np_ravel(values), 0
    return _join((arr, values), axis, False, stream=stream)


# -- parts put in and taken out --------------------------------------------------------


def _flat_or_along(arr, axis):
    """Return (array, axis): the array flattened if no axis is given."""
    if axis is None:
        return np_ravel(arr), 0
    return arr, normal_axis(axis, arr.ndim)


def _part(arr, axis, begin, end):
    return arr[(slice(None),) * axis + (slice(begin, end),)]


def _places(obj, length, name):
    """Return the indices that ``obj`` means, an integer array of the host."""
    if isinstance(obj, slice):
        return np.arange(*obj.indices(length))
    if isinstance(obj, GPUArray):
        obj = obj.get()
    places = np.asarray(obj)
    if places.dtype == bool:
        if places.shape != (length,):
            raise ValueError(
                f"{name}: a mask of shape {places.shape} does not fit an axis of "
                f"length {length}"
            )
        return np.flatnonzero(places)
    if places.size == 0:
        return np.zeros(0, np.int64)
    if places.dtype.kind not in "iu":
        raise IndexError(
            f"{name}: indices must be integers, a slice or bool, not {places.dtype}"
        )
    return places


def _checked(places, length, beyond, name, axis):
    """Return indices from 0 on; ``beyond`` is the first one that is out of bounds."""
    wrong = (places < -length) | (places >= beyond)
    if wrong.any():
        raise IndexError(
            f"{name}: index {places[wrong][0]} is out of bounds for axis {axis} of "
            f"length {length}"
        )
    return np.where(places < 0, places + length, places)


#: The most parts for which one kernel copies runs of elements.
_MOST_RUNS = 8


def _kept_runs(places, length):
    """Return the (begin, end) of the runs between sorted places; None if many."""
    if not places.size:
        return [(0, length)]
    gaps = np.flatnonzero(np.diff(places) > 1)
    if gaps.size + 2 > _MOST_RUNS:
        return None
    begins = [0, *(places[[*gaps, -1]] + 1).tolist()]
    ends = [*places[[0, *(gaps + 1)]].tolist(), length]
    runs = [run for run in zip(begins, ends, strict=True) if run[0] < run[1]]
    return runs or [(0, 0)]


def delete(arr, obj, axis=None, *, stream=None):
    """Return the array without the elements at some places of an axis.

    Parameters
    ----------
    arr : GPUArray
        Array of any dtype.
    obj : int, slice, sequence of int or mask
        The places. Indices on the device are copied to the host.
    axis : int or None, optional
        Axis along which to compute. The default is the flat array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array of the same dtype.

    Raises
    ------
    IndexError
        If an index is out of bounds.
    ValueError
        If a mask has another length.

    See Also
    --------
    insert : The inverse.

    Notes
    -----
    The call waits for indices on the device, and for the length of the result if many
    places are removed.

    Examples
    --------
    >>> gpuarray.delete(gpuarray.arange(5, dtype=np.int32), [0, 2])
    array([1, 3, 4], dtype=int32)
    """
    arr, axis = _flat_or_along(arr, axis)
    length = arr.shape[axis]
    if isinstance(obj, slice):
        places = range(length)[obj]
        if len(places) > 1 and abs(places.step) == 1:
            first, last = min(places[0], places[-1]), max(places[0], places[-1])
            runs = [(0, first), (last + 1, length)]
        else:
            runs = None
            if len(places) < _MOST_RUNS:
                runs = _kept_runs(np.sort(np.array(places, np.int64)), length)
    else:
        places = _places(obj, length, "delete")
        places = np.unique(_checked(places, length, length, "delete", axis))
        runs = _kept_runs(places, length)
    if runs is not None:
        parts = [_part(arr, axis, begin, end) for begin, end in runs]
        return _join(parts, axis, False, stream=stream)
    with on_stream(stream):
        kept = GPUArray(length, bool, arr.allocator).fill(True)
        kept[obj if isinstance(obj, slice) else places] = False
        return _take(arr, _flatnonzero(kept), axis=axis)


def insert(arr, obj, values, axis=None, *, stream=None):
    """Return the array with values before some places of an axis.

    Parameters
    ----------
    arr : GPUArray
        Array of any dtype.
    obj : int, slice, sequence of int or mask
        The places. Indices on the device are copied to the host.
    values : array_like
        The values, which are converted to the array's dtype and broadcast.
    axis : int or None, optional
        Axis along which to compute. The default is the flat array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array of the same dtype.

    Raises
    ------
    IndexError
        If an index is out of bounds.
    ValueError
        If a mask has another length.

    See Also
    --------
    append : Values at the end.
    delete : The inverse.

    Examples
    --------
    >>> gpuarray.insert(gpuarray.arange(3, dtype=np.int32), 1, 9)
    array([0, 9, 1, 2], dtype=int32)
    """
    arr, axis = _flat_or_along(operand("insert", arr), axis)
    length = arr.shape[axis]
    places = _places(obj, length, "insert")
    is_single = places.size == 1
    places = _checked(places, length, length + 1, "insert", axis).ravel()
    with on_stream(stream):
        values = as_values(values, arr)
    if is_single:
        if np.ndim(obj) == 0 and not isinstance(obj, slice) and values.ndim:
            values = np.moveaxis(_with_axes(values, arr.ndim), 0, axis)
        values = _with_axes(values, arr.ndim)
        count = values.shape[axis]
    else:
        count = places.size
    shape = (*arr.shape[:axis], count, *arr.shape[axis + 1 :])
    added = GPUArray(shape, arr.dtype, arr.allocator)
    if count:
        copy_into(added, values, stream)
    if is_single:
        place = operator.index(places[0])
        parts = [_part(arr, axis, 0, place), added, _part(arr, axis, place, None)]
        return _join(parts, axis, False, stream=stream)
    order = np.argsort(places, kind="stable")
    new = places[order] + np.arange(count)
    source = np.empty(length + count, np.int64)
    is_new = np.zeros(length + count, bool)
    is_new[new] = True
    source[is_new] = length + order
    source[~is_new] = np.arange(length)
    both = _join((arr, added), axis, False, stream=stream)
    return _take(both, source, None, stream, axis)
