"""Statistical and utility functions of the standard.

``axis`` is a number, a tuple of numbers, or None for all axes. With ``keepdims`` the
axes stay with length 1.
"""

from __future__ import annotations

from typing import TypeAlias

import pycuda.gpuarray as _ga
from pycuda.array_api._data_types import DType, int64
from pycuda.gpuarray import GPUArray

__all__ = [
    "all",
    "any",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]

_Axis: TypeAlias = int | tuple[int, ...] | None


def _number_dtype(x: GPUArray, dtype: DType | None) -> DType | None:
    """Return the dtype of a sum. Truth values count as int64, also those compared."""
    return int64 if dtype is None and x.dtype.kind == "b" else dtype


def cumulative_prod(
    x: GPUArray,
    /,
    *,
    axis: int | None = None,
    dtype: DType | None = None,
    include_initial: bool = False,
) -> GPUArray:
    """Return the products up to each element along an axis.

    ``include_initial`` puts a 1 first.

    Parameters
    ----------
    x : GPUArray
        Array of numbers.
    axis : int or None, default None
        Axis along which to compute. It can be left out for an array with one axis.
    dtype : dtype_like, optional
        Dtype of the result. The default is that of the elements; bool and integers
        become the integer of 64 bits of their sign.
    include_initial : bool, optional
        If true, each line of the result begins with the value of no elements, so it is
        longer by one.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    ValueError
        If there is no such axis, or if it is missing.

    See Also
    --------
    pycuda.gpuarray.cumulative_prod : It has ``out``, ``stream`` too.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.to_gpu(np.array([3.0, 1, 4]))
    >>> xp.cumulative_prod(x, include_initial=True)
    array([ 1.,  3.,  3., 12.])
    """
    return _ga.cumulative_prod(
        x,
        axis=axis,
        dtype=_number_dtype(x, dtype),
        include_initial=include_initial,
    )


def cumulative_sum(
    x: GPUArray,
    /,
    *,
    axis: int | None = None,
    dtype: DType | None = None,
    include_initial: bool = False,
) -> GPUArray:
    """Return the sums up to each element along an axis.

    ``include_initial`` puts a 0 first.

    Parameters
    ----------
    x : GPUArray
        Array of numbers.
    axis : int or None, default None
        Axis along which to compute. It can be left out for an array with one axis.
    dtype : dtype_like, optional
        Dtype of the result. The default is that of the elements; bool and integers
        become the integer of 64 bits of their sign.
    include_initial : bool, optional
        If true, each line of the result begins with the value of no elements, so it is
        longer by one.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    ValueError
        If there is no such axis, or if it is missing.

    See Also
    --------
    pycuda.gpuarray.cumulative_sum : It has ``out``, ``stream`` too.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.to_gpu(np.array([3.0, 1, 4]))
    >>> xp.cumulative_sum(x, include_initial=True)
    array([0., 3., 4., 8.])
    """
    return _ga.cumulative_sum(
        x,
        axis=axis,
        dtype=_number_dtype(x, dtype),
        include_initial=include_initial,
    )


def max(x: GPUArray, /, *, axis: _Axis = None, keepdims: bool = False) -> GPUArray:
    """Return the greatest element; NaN if there is one.

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
        A new array, which may have no axes. It is NaN where an element is.

    Raises
    ------
    ValueError
        If there is no such axis, or if there is no element.

    See Also
    --------
    pycuda.gpuarray.max : It has ``stream``, ``out``, ``allocator``, ``initial``,
        ``where`` too.
    maximum : The greater of two arrays.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))
    >>> xp.max(x, axis=0)
    array([3., 4.])
    """
    return _ga.max(x, axis=axis, keepdims=keepdims)


def mean(x: GPUArray, /, *, axis: _Axis = None, keepdims: bool = False) -> GPUArray:
    """Return the mean, in the array's data type if that is a floating-point one.

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
        A new array, which may have no axes.

    Raises
    ------
    ValueError
        If there is no such axis.

    See Also
    --------
    pycuda.gpuarray.mean : It has ``dtype``, ``stream``, ``allocator``, ``out``,
        ``where`` too.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))
    >>> xp.mean(x, axis=0)
    array([2., 3.])
    """
    return _ga.mean(x, axis=axis, keepdims=keepdims)


def min(x: GPUArray, /, *, axis: _Axis = None, keepdims: bool = False) -> GPUArray:
    """Return the smallest element; NaN if there is one.

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
        A new array, which may have no axes. It is NaN where an element is.

    Raises
    ------
    ValueError
        If there is no such axis, or if there is no element.

    See Also
    --------
    pycuda.gpuarray.min : It has ``stream``, ``out``, ``allocator``, ``initial``,
        ``where`` too.
    minimum : The lesser of two arrays.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))
    >>> xp.min(x, axis=0)
    array([1., 2.])
    """
    return _ga.min(x, axis=axis, keepdims=keepdims)


def prod(
    x: GPUArray,
    /,
    *,
    axis: _Axis = None,
    dtype: DType | None = None,
    keepdims: bool = False,
) -> GPUArray:
    """Return the product of the elements.

    Parameters
    ----------
    x : GPUArray
        Array of numbers.
    axis : int, tuple of int or None, optional
        Axis or axes along which to compute. The default is all axes.
    dtype : dtype_like, optional
        Dtype of the result. The default is that of the elements; bool and small
        integers become integers of 64 bits.
    keepdims : bool, optional
        If true, the result keeps the axes along which it was computed, with length 1.

    Returns
    -------
    GPUArray
        A new array, which may have no axes.

    Raises
    ------
    ValueError
        If there is no such axis.

    See Also
    --------
    pycuda.gpuarray.prod : It has ``stream``, ``allocator``, ``out``, ``initial``,
        ``where`` too.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))
    >>> xp.prod(x, axis=0)
    array([3., 8.])
    """
    return _ga.prod(x, _number_dtype(x, dtype), axis=axis, keepdims=keepdims)


def std(
    x: GPUArray,
    /,
    *,
    axis: _Axis = None,
    correction: float = 0.0,
    keepdims: bool = False,
) -> GPUArray:
    """Return the standard deviation: the root of the variance.

    Parameters
    ----------
    x : GPUArray
        Array of numbers.
    axis : int, tuple of int or None, optional
        Axis or axes along which to compute. The default is all axes.
    correction : number, optional
        The divisor is the number of elements less ``correction``. The default is 0.
    keepdims : bool, optional
        If true, the result keeps the axes along which it was computed, with length 1.

    Returns
    -------
    GPUArray
        A new array of real numbers, which may have no axes. Integers give float64.

    Raises
    ------
    ValueError
        If there is no such axis.

    See Also
    --------
    pycuda.gpuarray.std : It has ``out``, ``stream``, ``allocator``, ``where`` too.

    Notes
    -----
    The call does not wait. One pass over the elements computes the result; numbers far
    from 0 lose no digits.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))
    >>> xp.std(x, axis=0)
    array([1., 1.])
    """
    return _ga.std(x, axis, correction, keepdims)


def sum(
    x: GPUArray,
    /,
    *,
    axis: _Axis = None,
    dtype: DType | None = None,
    keepdims: bool = False,
) -> GPUArray:
    """Return the sum of the elements.

    Parameters
    ----------
    x : GPUArray
        Array of numbers.
    axis : int, tuple of int or None, optional
        Axis or axes along which to compute. The default is all axes.
    dtype : dtype_like, optional
        Dtype of the result. The default is that of the elements; bool and small
        integers become integers of 64 bits.
    keepdims : bool, optional
        If true, the result keeps the axes along which it was computed, with length 1.

    Returns
    -------
    GPUArray
        A new array, which may have no axes.

    Raises
    ------
    ValueError
        If there is no such axis.

    See Also
    --------
    pycuda.gpuarray.sum : It has ``stream``, ``allocator``, ``out``, ``initial``,
        ``where`` too.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))
    >>> xp.sum(x, axis=0)
    array([4., 6.])
    """
    return _ga.sum(x, _number_dtype(x, dtype), axis=axis, keepdims=keepdims)


def var(
    x: GPUArray,
    /,
    *,
    axis: _Axis = None,
    correction: float = 0.0,
    keepdims: bool = False,
) -> GPUArray:
    """Return the variance.

    It is the sum of the squared distances from the mean, divided by the number of
    elements less ``correction``.

    Parameters
    ----------
    x : GPUArray
        Array of numbers.
    axis : int, tuple of int or None, optional
        Axis or axes along which to compute. The default is all axes.
    correction : number, optional
        The divisor is the number of elements less ``correction``. The default is 0.
    keepdims : bool, optional
        If true, the result keeps the axes along which it was computed, with length 1.

    Returns
    -------
    GPUArray
        A new array of real numbers, which may have no axes. Integers give float64.

    Raises
    ------
    ValueError
        If there is no such axis.

    See Also
    --------
    pycuda.gpuarray.var : It has ``out``, ``stream``, ``allocator``, ``where`` too.

    Notes
    -----
    The call does not wait. One pass over the elements computes the result; numbers far
    from 0 lose no digits.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))
    >>> xp.var(x, axis=0)
    array([1., 1.])
    """
    return _ga.var(x, axis, correction, keepdims)


# -- utilities -------------------------------------------------------------------------


def all(
    x: GPUArray,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
) -> GPUArray:
    """Return whether all elements are true; true if there are none.

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
        A new array of bool, which may have no axes.

    Raises
    ------
    ValueError
        If there is no such axis.

    See Also
    --------
    pycuda.gpuarray.all : It has ``stream``, ``allocator``, ``out``, ``initial``,
        ``where`` too.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))
    >>> xp.all(x > 1, axis=0)
    array([False,  True])
    """
    return _ga.all(x, axis=axis, keepdims=keepdims)


def any(
    x: GPUArray,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
) -> GPUArray:
    """Return whether any element is true; false if there are none.

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
        A new array of bool, which may have no axes.

    Raises
    ------
    ValueError
        If there is no such axis.

    See Also
    --------
    pycuda.gpuarray.any : It has ``stream``, ``allocator``, ``out``, ``initial``,
        ``where`` too.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]]))
    >>> xp.any(x > 3, axis=0)
    array([False,  True])
    """
    return _ga.any(x, axis=axis, keepdims=keepdims)


def diff(
    x: GPUArray,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: GPUArray | None = None,
    append: GPUArray | None = None,
) -> GPUArray:
    """Return the differences of neighbours along an axis, taken ``n`` times.

    Parameters
    ----------
    x : GPUArray
        Array of numbers. Differences of bool are ``!=``.
    axis : int, optional
        Axis along which to compute. The default is the last one.
    n : int, optional
        Number of times.
    prepend : GPUArray or number, optional
        Values put before the elements.
    append : GPUArray or number, optional
        Values put after the elements.

    Returns
    -------
    GPUArray
        A new array with ``n`` elements less along the axis.

    Raises
    ------
    ValueError
        If ``n`` is negative, or if there is no such axis.

    See Also
    --------
    pycuda.gpuarray.diff : The function that it calls.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.diff(gpuarray.to_gpu(np.array([1, 3, 6])))
    array([2, 3])
    """
    if n == 0:  # as in NumPy, nothing is put before or after
        return x.copy()
    return _ga.diff(x, n, axis, prepend, append)
