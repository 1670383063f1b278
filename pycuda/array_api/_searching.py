"""Searching, sorting, set and indexing functions of the standard."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

import pycuda.gpuarray as _ga
from pycuda._array.layout import normal_axis
from pycuda._driver import _nonzero
from pycuda.gpuarray import GPUArray

__all__ = [
    "argmax",
    "argmin",
    "argsort",
    "count_nonzero",
    "isin",
    "nonzero",
    "searchsorted",
    "sort",
    "take",
    "take_along_axis",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]


def argmax(
    x: GPUArray, /, *, axis: int | None = None, keepdims: bool = False
) -> GPUArray:
    """Return the index of the first greatest element, flat or along an axis.

    Parameters
    ----------
    x : GPUArray
        Array of numbers.
    axis : int or None, optional
        Axis along which to compute. The default is the flat array.
    keepdims : bool, optional
        If true, the result keeps the axes along which it was computed, with length 1.

    Returns
    -------
    GPUArray
        A new array of int64, which may have no axes. NaN is less and greater than all
        numbers.

    Raises
    ------
    ValueError
        If there is no such axis, or if there is no element.

    See Also
    --------
    pycuda.gpuarray.argmax : It has ``stream``, ``out``, ``allocator`` too.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))
    >>> xp.argmax(x, axis=1)
    array([1, 1])
    """
    return _ga.argmax(x, axis=axis, keepdims=keepdims)


def argmin(
    x: GPUArray, /, *, axis: int | None = None, keepdims: bool = False
) -> GPUArray:
    """Return the index of the first smallest element, flat or along an axis.

    Parameters
    ----------
    x : GPUArray
        Array of numbers.
    axis : int or None, optional
        Axis along which to compute. The default is the flat array.
    keepdims : bool, optional
        If true, the result keeps the axes along which it was computed, with length 1.

    Returns
    -------
    GPUArray
        A new array of int64, which may have no axes. NaN is less and greater than all
        numbers.

    Raises
    ------
    ValueError
        If there is no such axis, or if there is no element.

    See Also
    --------
    pycuda.gpuarray.argmin : It has ``stream``, ``out``, ``allocator`` too.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))
    >>> xp.argmin(x, axis=1)
    array([0, 0])
    """
    return _ga.argmin(x, axis=axis, keepdims=keepdims)


def count_nonzero(
    x: GPUArray,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
) -> GPUArray:
    """Return the number of elements that are not 0, in all or along axes.

    Parameters
    ----------
    x : GPUArray
        Array of numbers.
    axis : int, tuple of int or None, optional
        Axis or axes along which to compute. The default is all axes.
    keepdims : bool, optional
        If true, the result keeps the axes along which it was computed, with length 1.

    Returns
    -------
    GPUArray
        A new array of int64, which may have no axes.

    Raises
    ------
    ValueError
        If there is no such axis.

    See Also
    --------
    pycuda.gpuarray.count_nonzero : It has ``stream``, ``out``, ``allocator`` too.
    nonzero : Their indices.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> print(xp.count_nonzero(gpuarray.to_gpu(np.array([0, 1, 2]))))
    2
    """
    return _ga.count_nonzero(x, axis=axis, keepdims=keepdims)


def nonzero(x: GPUArray, /) -> tuple[GPUArray, ...]:
    """Return the indices of the elements that are not 0, an array for each axis.

    Parameters
    ----------
    x : GPUArray
        Array of numbers with one axis or more.

    Returns
    -------
    tuple of GPUArray
        Arrays of int64, in the C order of the elements.

    Raises
    ------
    ValueError
        If the array has no axes.

    See Also
    --------
    pycuda.gpuarray.nonzero : It has ``stream`` too.
    count_nonzero : Their number.

    Notes
    -----
    The call waits for the number of indices.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.nonzero(gpuarray.to_gpu(np.array([0, 5, 6])))
    (array([1, 2]),)
    """
    return _nonzero(x)


def searchsorted(
    x1: GPUArray,
    x2: GPUArray | float,
    /,
    *,
    side: Literal["left", "right"] = "left",
    sorter: GPUArray | None = None,
) -> GPUArray:
    """Return where the elements of ``x2`` belong in the sorted array ``x1``.

    Parameters
    ----------
    x1 : GPUArray
        Array with one axis, sorted from least to greatest, with NaN behind all numbers.
    x2 : GPUArray or number
        The values.
    side : {"left", "right"}, optional
        Whether a place is before equal elements or behind them.
    sorter : GPUArray, optional
        Indices that sort ``x1``, if it is not sorted.

    Returns
    -------
    GPUArray
        A new array of int64 in the shape of ``x2``.

    Raises
    ------
    ValueError
        If ``x1`` has more than one axis, or if ``side`` is something else.

    See Also
    --------
    pycuda.gpuarray.searchsorted : It has ``stream``, ``allocator`` too.
    sort : Sort an array.

    Notes
    -----
    The call does not wait. The values are compared in the common dtype.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> a = gpuarray.to_gpu(np.array([1.0, 2, 3]))
    >>> xp.searchsorted(a, gpuarray.to_gpu(np.array([2.5, 0])))
    array([2, 0])
    """
    if not isinstance(x2, GPUArray):
        x2 = _ga.asarray(x2, np.result_type(x1.dtype, x2))
    return _ga.searchsorted(x1, x2, side, sorter)


# -- sorting ---------------------------------------------------------------------------


def argsort(
    x: GPUArray, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> GPUArray:
    """Return the indices that sort an array along an axis.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype of numbers.
    axis : int or None, default -1
        Axis along which to sort. None sorts the flat array.
    descending : bool, optional
        If true, sort from the greatest to the least.
    stable : bool, optional
        Not used: the sort is always stable.

    Returns
    -------
    GPUArray
        The indices, int64, in the shape of ``x``.

    Raises
    ------
    ValueError
        If there is no such axis.

    See Also
    --------
    pycuda.gpuarray.argsort : It has ``kind``, ``order``, ``stream``, ``allocator`` too.
    sort : The elements.

    Notes
    -----
    The call does not wait. NaNs are the greatest elements.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.argsort(gpuarray.to_gpu(np.array([3, 1, 2])))
    array([1, 2, 0])
    """
    return _ga.argsort(x, axis, descending=descending, stable=stable)


def sort(
    x: GPUArray, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> GPUArray:
    """Return a sorted copy of an array along an axis.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype of numbers.
    axis : int or None, default -1
        Axis along which to sort. None sorts the flat array.
    descending : bool, optional
        If true, sort from the greatest to the least.
    stable : bool, optional
        Not used: the sort is always stable.

    Returns
    -------
    GPUArray
        A new array of the same dtype.

    Raises
    ------
    ValueError
        If there is no such axis.

    See Also
    --------
    pycuda.gpuarray.sort : It has ``kind``, ``order``, ``stream``, ``allocator`` too.
    argsort : The indices.

    Notes
    -----
    The call does not wait. NaNs are the greatest elements. Complex numbers are compared
    by real part, then by imaginary part.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.sort(gpuarray.to_gpu(np.array([3, 1, 2])))
    array([1, 2, 3])
    """
    return _ga.sort(x, axis, descending=descending, stable=stable)


# -- sets ------------------------------------------------------------------------------


def isin(
    x1: GPUArray | complex, x2: GPUArray | complex, /, *, invert: bool = False
) -> GPUArray:
    """Return for each element of ``x1`` whether it is in ``x2``.

    Parameters
    ----------
    x1 : GPUArray or number
        Array of any dtype of numbers. One of both is an array.
    x2 : GPUArray or number
        The other array, or one number.
    invert : bool, optional
        If true, return whether each element is not in the other array.

    Returns
    -------
    GPUArray
        A new array of bool in the shape of ``x1``. NaN is in no array.

    See Also
    --------
    pycuda.gpuarray.isin : It has ``assume_unique``, ``kind``, ``stream`` too.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.arange(4, dtype=np.int32)
    >>> xp.isin(x, gpuarray.to_gpu(np.array([1, 3], np.int32)))
    array([False,  True, False,  True])
    """
    dtype = np.result_type(
        *(x.dtype if isinstance(x, GPUArray) else x for x in (x1, x2))
    )
    return _ga.isin(_ga.asarray(x1, dtype), _ga.asarray(x2, dtype), invert=invert)


def unique_all(x: GPUArray, /) -> Any:
    """Return (values, indices, inverse_indices, counts) of the distinct elements.

    ``values`` is sorted. ``indices`` are those of the first occurrences in the flat
    array, ``inverse_indices`` has the shape of ``x`` and gives it back from ``values``,
    ``counts`` are the numbers of occurrences. Each NaN is distinct.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype of numbers. NaNs differ from each other.

    Returns
    -------
    UniqueAllResult
        Named tuple (values, indices, inverse_indices, counts).

    See Also
    --------
    pycuda.gpuarray.unique_all : The function that it calls.

    Notes
    -----
    The call waits for the number of elements of the result.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.unique_all(gpuarray.to_gpu(np.array([2, 1, 2]))).indices
    array([1, 0])
    """
    return _ga.unique_all(x)


def unique_counts(x: GPUArray, /) -> Any:
    """Return (values, counts) of the distinct elements.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype of numbers. NaNs differ from each other.

    Returns
    -------
    UniqueCountsResult
        Named tuple (values, counts).

    See Also
    --------
    pycuda.gpuarray.unique_counts : The function that it calls.

    Notes
    -----
    The call waits for the number of elements of the result.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> values, counts = xp.unique_counts(gpuarray.to_gpu(np.array([2, 1, 2])))
    >>> values, counts
    (array([1, 2]), array([1, 2]))
    """
    return _ga.unique_counts(x)


def unique_inverse(x: GPUArray, /) -> Any:
    """Return (values, inverse_indices) of the distinct elements.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype of numbers. NaNs differ from each other.

    Returns
    -------
    UniqueInverseResult
        Named tuple (values, inverse_indices).

    See Also
    --------
    pycuda.gpuarray.unique_inverse : The function that it calls.

    Notes
    -----
    The call waits for the number of elements of the result.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.unique_inverse(gpuarray.to_gpu(np.array([2, 1, 2]))).inverse_indices
    array([1, 0, 1])
    """
    return _ga.unique_inverse(x)


def unique_values(x: GPUArray, /) -> GPUArray:
    """Return the distinct elements, sorted.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype of numbers. NaNs differ from each other.

    Returns
    -------
    GPUArray
        A new array with one axis.

    See Also
    --------
    pycuda.gpuarray.unique_values : The function that it calls.

    Notes
    -----
    The call waits for the number of elements of the result.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.unique_values(gpuarray.to_gpu(np.array([2, 1, 2])))
    array([1, 2])
    """
    return _ga.unique_values(x)


# -- indexing --------------------------------------------------------------------------


def take(x: GPUArray, indices: GPUArray, /, *, axis: int | None = None) -> GPUArray:
    """Return the elements at indices along an axis.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype.
    indices : GPUArray
        Integers. Negative ones count from the end.
    axis : int or None, default None
        Axis of the indices. It can be left out for an array with one axis.

    Returns
    -------
    GPUArray
        A new array of the dtype of ``x``, with the axes of the indices in the place of
        the axis.

    Raises
    ------
    IndexError
        If an index of the host is out of bounds. For one on the device, the next call
        that waits raises it.
    ValueError
        If there is no such axis, or if it is missing.

    See Also
    --------
    pycuda.gpuarray.take : It has ``out``, ``stream``, ``mode`` too.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.to_gpu(np.array([1.5, 2.5, 3.5]))
    >>> xp.take(x, gpuarray.to_gpu(np.array([2, 0])))
    array([3.5, 1.5])
    """
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take() of an array of shape {x.shape} needs an axis")
        axis = 0
    return x[(slice(None),) * normal_axis(axis, x.ndim) + (indices,)]


def take_along_axis(x: GPUArray, indices: GPUArray, /, *, axis: int = -1) -> GPUArray:
    """Return the elements at indices that differ along the other axes.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype.
    indices : GPUArray
        Integers, with as many axes as ``x``; the others broadcast.
    axis : int or None, default -1
        Axis of the indices. None means flat indices in C order.

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
    pycuda.gpuarray.take_along_axis : It has ``stream`` too.
    argsort : Indices that sort.

    Notes
    -----
    The call does not wait. If an index is out of bounds, the next call that waits for
    the device raises IndexError.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.to_gpu(np.array([[3, 1], [2, 4]]))
    >>> xp.take_along_axis(x, xp.argsort(x))
    array([[1, 3],
           [2, 4]])
    """
    return _ga.take_along_axis(x, indices, axis)
