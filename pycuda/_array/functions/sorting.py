"""Sorts: arrays, the indices that sort them, their first elements, searches in them.

All sorts are stable: equal elements keep their order. NaNs are equal and greater than
all numbers; 0.0 and -0.0 are equal. Complex numbers are compared by real part and then
imaginary part. In a descending order everything but the order of equal elements is
reversed, so NaNs come first.
"""

from __future__ import annotations

import operator

import numpy as np

from pycuda._array.copies import c_copy, np_ravel, on_stream
from pycuda._array.layout import normal_axis
from pycuda._context_cache import context_dependent_memoize
from pycuda._driver import (
    Context,
    GPUArray,
    _check_arrays,
    _digitize,
    _first_few,
    _plain_array,
    _searchsorted,
    _sort,
    _take,
    _take_along_axis,
    device_attribute,
    module_from_buffer,
    to_gpu,
)

# -- the first elements of an order, of packed arrays without complex numbers ----------


_STATE = 256 + 5  # words of 64 bits: struct selection in pycuda-select.hpp
_LEFT = 256  # the word that holds how many elements are wanted
_ALL = (1 << 64) - 1
_BLOCKS = 8  # on a multiprocessor
_EACH = 2048  # elements of a block, at least


@context_dependent_memoize
def _kernels(name):
    """Return (find, store, blocks that fill the device) for a dtype."""
    from pycuda._array.kernels.compilation import compile_text
    from pycuda._array.sources.ordering import selection_text

    module = module_from_buffer(compile_text(selection_text(name)))
    find = module.get_function("find").prepare("PQPQII")
    store = module.get_function("store").prepare("PQPQPP")
    count = device_attribute.MULTIPROCESSOR_COUNT
    return find, store, _BLOCKS * Context.get_device().get_attribute(count)


def _first_of_order(x, k, descending, allocator):
    """Return (elements, indices) of the first ``k`` in the order of a stable sort.

    ``k`` is at least 1. The kernels read all elements once for each byte of a key, and
    once more.
    """
    _check_arrays(x)
    find, store, most = _kernels(x.dtype.name)
    grid = (min(most, -(-x.size // _EACH)), 1)
    block = (256, 1, 1)
    state = GPUArray(_STATE, np.uint64, allocator).fill(0)
    state[_LEFT].fill(k)
    elements = GPUArray(k, x.dtype, allocator)
    indices = GPUArray(k, np.int64, allocator)
    flip = _ALL if descending else 0
    head = (x.ptr, x.size, state.ptr, flip)
    for place in range(x.dtype.itemsize - 1, -1, -1):
        find.prepared_async_call(grid, block, None, *head, place, 0)
    for place in range((x.size.bit_length() - 1) // 8, -1, -1):
        find.prepared_async_call(grid, block, None, *head, place, 1)
    store.prepared_async_call(grid, block, None, *head, elements.ptr, indices.ptr)
    indices, order = _sort(indices, 0, True, True)
    elements, order = _sort(
        _take(elements, order, mode="clip"), 0, True, True, descending
    )
    return elements, _take(indices, order, mode="clip")


# -- sorts -----------------------------------------------------------------------------


#: The length from which ``top_k`` selects many elements; a shorter array is sorted.
_SELECTED_FROM = 1 << 17

_KINDS = ("quicksort", "mergesort", "heapsort", "stable")


def _check_order(name, order):
    """Raise for a field of records, which arrays of the device do not sort."""
    if order is not None:
        field = order if isinstance(order, str) else next(iter(order), "")
        raise ValueError(
            f"{name}: records have no order on the device, so order= is not supported. "
            f"Sort by a field: x[np.argsort(x[{field!r}])]; by several: np.lexsort"
        )


def _check_kind(name, kind, order, stable):
    """Raise for arguments of NumPy's sorts that arrays do not have."""
    if kind is not None and stable is not None:
        raise ValueError(f"{name}: give kind or stable, not both")
    if kind is not None and kind not in _KINDS:
        raise ValueError(f"{name}: kind is one of {', '.join(_KINDS)}, not {kind!r}")
    _check_order(name, order)


def sort(
    a,
    axis=-1,
    kind=None,
    order=None,
    *,
    stable=None,
    descending=False,
    stream=None,
    allocator=None,
):
    """Return a sorted copy.

    Parameters
    ----------
    a : GPUArray
        Array of any dtype of numbers.
    axis : int or None, default -1
        Axis along which to sort. None sorts the flat array.
    kind : {"quicksort", "mergesort", "heapsort", "stable"}, optional
        Not used: the sort is always stable.
    order : None, optional
        Not supported; NumPy has this parameter.
    stable : bool, optional
        Not used: the sort is always stable.
    descending : bool, optional
        If true, sort from the greatest to the least.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.
    allocator : callable, optional
        Function of a number of bytes that returns device memory. The default is the
        allocator of the array.

    Returns
    -------
    GPUArray
        A new array of the same dtype.

    Raises
    ------
    TypeError
        If the dtype has no order.
    ValueError
        If there is no such axis. If ``kind`` is something else.

    See Also
    --------
    argsort : The indices.
    top_k : The greatest elements only.

    Notes
    -----
    The call does not wait. NaNs are the greatest elements. Complex numbers are compared
    by real part, then by imaginary part.

    Examples
    --------
    >>> gpuarray.sort(gpuarray.to_gpu(np.array([3, 1, 2])))
    array([1, 2, 3])
    """
    if kind is not None or order is not None:
        _check_kind("sort", kind, order, stable)
    if axis is None:
        a, axis = np_ravel(a), 0
    return _sort(a, axis, True, False, descending, False, stream, allocator)


def argsort(
    a,
    axis=-1,
    kind=None,
    order=None,
    *,
    stable=None,
    descending=False,
    stream=None,
    allocator=None,
):
    """Return the indices that sort an array.

    Parameters
    ----------
    a : GPUArray
        Array of any dtype of numbers.
    axis : int or None, default -1
        Axis along which to sort. None sorts the flat array.
    kind : {"quicksort", "mergesort", "heapsort", "stable"}, optional
        Not used: the sort is always stable.
    order : None, optional
        Not supported; NumPy has this parameter.
    stable : bool, optional
        Not used: the sort is always stable.
    descending : bool, optional
        If true, sort from the greatest to the least.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.
    allocator : callable, optional
        Function of a number of bytes that returns device memory. The default is the
        allocator of the array.

    Returns
    -------
    GPUArray
        The indices, int64, in the shape of ``a``.

    Raises
    ------
    TypeError
        If the dtype has no order.
    ValueError
        If there is no such axis. If ``kind`` is something else.

    See Also
    --------
    sort : The elements.
    lexsort : Several keys.

    Notes
    -----
    The call does not wait. NaNs are the greatest elements.

    Examples
    --------
    >>> gpuarray.argsort(gpuarray.to_gpu(np.array([3, 1, 2])))
    array([1, 2, 0])
    """
    if kind is not None or order is not None:
        _check_kind("argsort", kind, order, stable)
    if axis is None:
        a, axis = np_ravel(a), 0
    return _sort(a, axis, False, True, descending, False, stream, allocator)


def sort_in_place(a, axis=-1, kind=None, order=None, *, stable=None):
    """Sort an array in place along an axis: the method ``sort``."""
    if kind is not None or order is not None:
        _check_kind("sort", kind, order, stable)
    _sort(a, axis, in_place=True)


def sort_complex(a):
    """Return the elements sorted along the last axis, as complex numbers.

    Parameters
    ----------
    a : GPUArray
        Array of any dtype of numbers.

    Returns
    -------
    GPUArray
        A new array. Integers of 8 and 16 bits become complex64, other real numbers
        complex128.

    See Also
    --------
    sort : Keep the dtype.

    Examples
    --------
    >>> gpuarray.sort_complex(gpuarray.to_gpu(np.array([2, 1])))
    array([1.+0.j, 2.+0.j])
    """
    result = sort(a)
    if a.dtype.kind == "c":
        return result
    is_small = a.dtype.char in "bhBH"
    return result.astype(np.complex64 if is_small else np.complex128)


# -- parts of a sort -------------------------------------------------------------------


def _check_kth(name, a, kth, axis):
    """Raise unless all numbers in ``kth`` are places along the axis."""
    length = a.shape[normal_axis(axis, a.ndim)]
    if _plain_array(a).size == 0:
        return  # as in NumPy: there is nothing to sort
    for place in np.atleast_1d(kth).tolist():
        if not -length <= operator.index(place) < length:
            raise ValueError(
                f"{name}: kth={place} is not one of the {length} places along axis "
                f"{axis}"
            )


def partition(
    a, kth, axis=-1, kind="introselect", order=None, *, stream=None, allocator=None
):
    """Return a copy whose elements at ``kth`` are at their places in the sorted order.

    Parameters
    ----------
    a : GPUArray
        Array of any dtype of numbers.
    kth : int or sequence of int
        The places.
    axis : int or None, default -1
        Axis along which to sort. None sorts the flat array.
    kind : {"introselect"}, optional
        Not used; NumPy has this parameter.
    order : None, optional
        Not supported; NumPy has this parameter.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.
    allocator : callable, optional
        Function of a number of bytes that returns device memory. The default is the
        allocator of the array.

    Returns
    -------
    GPUArray
        A new array, in which all elements are sorted.

    Raises
    ------
    ValueError
        If there is no such place or axis.

    See Also
    --------
    sort : The same result.

    Examples
    --------
    >>> gpuarray.partition(gpuarray.to_gpu(np.array([3, 1, 2])), 1)
    array([1, 2, 3])
    """
    _check_partition("partition", kind, order)
    if axis is None:
        a, axis = np_ravel(a), 0
    _check_kth("partition", a, kth, axis)
    return sort(a, axis, stream=stream, allocator=allocator)


def argpartition(
    a, kth, axis=-1, kind="introselect", order=None, *, stream=None, allocator=None
):
    """Return the indices that ``partition`` an array.

    Parameters
    ----------
    a : GPUArray
        Array of any dtype of numbers.
    kth : int or sequence of int
        The places.
    axis : int or None, default -1
        Axis along which to sort. None sorts the flat array.
    kind : {"introselect"}, optional
        Not used; NumPy has this parameter.
    order : None, optional
        Not supported; NumPy has this parameter.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.
    allocator : callable, optional
        Function of a number of bytes that returns device memory. The default is the
        allocator of the array.

    Returns
    -------
    GPUArray
        The indices, int64.

    Raises
    ------
    ValueError
        If there is no such place or axis.

    See Also
    --------
    argsort : The same result.

    Examples
    --------
    >>> gpuarray.argpartition(gpuarray.to_gpu(np.array([3, 1, 2])), 1)
    array([1, 2, 0])
    """
    _check_partition("argpartition", kind, order)
    if axis is None:
        a, axis = np_ravel(a), 0
    _check_kth("argpartition", a, kth, axis)
    return argsort(a, axis, stream=stream, allocator=allocator)


def partition_in_place(a, kth, axis=-1, kind="introselect", order=None):
    """Partition an array in place along an axis: the method ``partition``."""
    _check_partition("partition", kind, order)
    _check_kth("partition", a, kth, axis)
    _sort(a, axis, in_place=True)


def _check_partition(name, kind, order):
    if kind != "introselect":
        raise ValueError(f"{name}: kind is 'introselect', not {kind!r}")
    _check_order(name, order)


def top_k(x, k, axis=-1, *, largest=True, stream=None, allocator=None):
    """Return the ``k`` largest elements along an axis, and their indices.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype of numbers.
    k : int
        Number of elements.
    axis : int, optional
        Axis along which to compute. The default is the last one.
    largest : bool, optional
        If false, return the smallest elements.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.
    allocator : callable, optional
        Function of a number of bytes that returns device memory. The default is the
        allocator of the array.

    Returns
    -------
    values : GPUArray
        The elements, the largest first, or the smallest first.
    indices : GPUArray
        Their indices, int64. Equal elements are in the order of their indices.

    Raises
    ------
    ValueError
        If the axis has less than ``k`` elements.

    See Also
    --------
    sort : All elements.

    Notes
    -----
    The call does not wait. NaNs are the largest elements.

    Examples
    --------
    >>> gpuarray.top_k(gpuarray.to_gpu(np.array([3, 1, 2])), 2)
    (array([3, 2]), array([0, 2]))
    """
    k = operator.index(k)
    place = normal_axis(axis, x.ndim)
    if not 0 <= k <= x.shape[place]:
        raise ValueError(f"top_k: k={k}, but axis {axis} has length {x.shape[place]}")
    first = (slice(None),) * place + (slice(k),)
    with on_stream(stream):
        few = _first_few(x, k, largest, None, allocator)
        if few is not NotImplemented:
            return few
        if _is_worth_selecting(x, k):
            return _first_of_order(x, k, largest, allocator)
        both = _sort(x, place, True, True, largest, False, None, allocator)
        return tuple(c_copy(array[first]) for array in both)


def _is_worth_selecting(x, k):
    """Return whether to select the first ``k`` elements without sorting the others."""
    return (
        x.ndim == 1
        and x.size >= _SELECTED_FROM
        and 0 < k <= x.size // 64
        and x.dtype.kind != "c"
        and x.flags.forc
    )


def lexsort(keys, axis=-1, *, stream=None):
    """Return the indices that sort by several keys, the last one first.

    Parameters
    ----------
    keys : sequence of GPUArray
        Arrays of one shape, or an array whose rows are the keys. Elements that are
        equal in the last key are sorted by the one before, and so on.
    axis : int, optional
        Axis along which to compute. The default is the last one.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        The indices, int64.

    Raises
    ------
    TypeError
        If there is no key.
    ValueError
        If the shapes differ.

    See Also
    --------
    argsort : One key.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> last = gpuarray.to_gpu(np.array([1, 1, 0]))
    >>> first = gpuarray.to_gpu(np.array([2, 1, 3]))
    >>> gpuarray.lexsort([first, last])
    array([2, 1, 0])
    """
    keys = list(keys)
    if not keys:
        raise TypeError("lexsort: there must be at least one key")
    shape = keys[0].shape
    for key in keys:
        if key.shape != shape:
            raise ValueError(f"lexsort: the keys have shapes {shape} and {key.shape}")
    with on_stream(stream):
        indices = argsort(keys[0], axis)
        for key in keys[1:]:
            order = argsort(along_axis(key, indices, axis), axis)
            indices = along_axis(indices, order, axis)
    return indices


# -- elements along an axis ------------------------------------------------------------


def along_axis(a, indices, axis):
    """Return the elements of ``a`` at indices along an axis, which sorts computed.

    ``indices`` has the shape of ``a``, except along the axis. They are not checked.
    """
    return _take_along_axis(_plain_array(a), indices, axis, None)


# -- searches, which C calls for arguments that are not on the device ------------------


def _on_device(value, allocator):
    """Return a number or a sequence as a GPUArray."""
    if isinstance(value, GPUArray):
        return value
    return to_gpu(np.asarray(value), allocator)


def searchsorted(a, v, side="left", sorter=None, *, stream=None, allocator=None):
    """Return the place at which a number goes into a sorted array."""
    values = _on_device(v, allocator)
    return _searchsorted(a, values, side, sorter, stream=stream, allocator=allocator)


def digitize(x, bins, right=False, *, stream=None, allocator=None):
    """Return the numbers of bins, whose edges may be on the host."""
    if not isinstance(bins, GPUArray):
        bins = np.asarray(bins)
        if bins.ndim != 1:
            raise ValueError(f"digitize: bins must have one axis, not {bins.ndim}")
        rises = bins[1:] >= bins[:-1]
        if not (rises.all() or (bins[1:] <= bins[:-1]).all()):
            raise ValueError(
                "digitize: bins must rise or fall monotonically; sort them first"
            )
        bins = to_gpu(bins, allocator)
    if not isinstance(x, GPUArray):
        if isinstance(x, np.ndarray | list | tuple):
            raise TypeError(
                f"digitize takes a GPUArray, not {type(x).__name__}; copy it with "
                "to_gpu()"
            )
        x = _on_device(x, allocator)
    return _digitize(x, bins, right, stream=stream, allocator=allocator)
