"""Creation functions of the standard."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

import pycuda.gpuarray as _ga
from pycuda._driver import _array_ops, _elementwise
from pycuda.array_api._data_types import DType, Number, check_device
from pycuda.driver import Device
from pycuda.gpuarray import GPUArray

__all__ = [
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]

_DEFAULT = np.dtype("float64")
_INT64 = np.dtype("int64")
_EXACT = 2**53


def _chosen(dtype: DType | None, default: Any = _DEFAULT) -> DType:
    """Return a dtype argument, or the default."""
    return np.dtype(default) if dtype is None else np.dtype(dtype)


def _dtype_of_number(value: Any) -> DType:
    """Return the default data type of a number."""
    if isinstance(value, (np.generic, GPUArray)):
        return value.dtype
    for kind in (bool, int, float, complex):
        if isinstance(value, kind):
            return np.dtype(kind)
    raise TypeError(f"a fill value is a number, not {type(value).__name__}")


def asarray(
    obj: Any,
    /,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    copy: bool | None = None,
) -> GPUArray:
    """Return an object as an array: numbers, nested lists of them, arrays.

    Arrays of other libraries on the device are used without a copy, those in host
    memory are copied.

    Parameters
    ----------
    obj : object
        GPUArray, array of another library with ``__dlpack__``, NumPy array, number, or
        list of numbers or of arrays.
    dtype : dtype_like, optional
        Dtype of the result. The default is that of the object.
    device : Device, optional
        The device, which must be that of the current context.
    copy : bool, optional
        If true, always make a copy; if false, never.

    Returns
    -------
    GPUArray
        The object, an array that shares its memory, or a new array.

    Raises
    ------
    OverflowError
        If an integer does not fit into 64 bits.
    TypeError
        If the object has no numbers.
    ValueError
        If ``copy`` is false and a copy is needed, or if ``device`` is another one.

    See Also
    --------
    pycuda.gpuarray.asarray : It has ``order``, ``stream`` too.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.asarray([1, 2, 3])
    array([1, 2, 3])
    """
    check_device(device)
    return _ga.asarray(obj, dtype, copy=copy)


def _steps(start: Any, stop: Any, step: Any) -> int:
    """Return the number of elements of arange()."""
    if step == 0:
        raise ValueError("arange() needs a step other than 0")
    if all(isinstance(value, int) for value in (start, stop, step)):
        return max(-((start - stop) // step), 0)
    return max(math.ceil((stop - start) / step), 0)


def _wrapped(value: Any, dtype: DType) -> Any:
    """Return a number in a dtype, as NumPy converts: integers modulo the range."""
    if dtype.kind in "iu" and isinstance(value, int):
        bits = 8 * dtype.itemsize
        value %= 1 << bits
        if dtype.kind == "i" and value >> (bits - 1):
            value -= 1 << bits
    return np.asarray(value).astype(dtype)[()]


def _first_and_step(
    start: float, step: float, size: int, dtype: DType
) -> tuple[Any, Any]:
    """Return the first number of a range and NumPy's step: of the first two."""
    whole = isinstance(start, int) and isinstance(step, int)
    if dtype == _INT64 and whole and max(abs(start), abs(step)) <= _EXACT:
        return start, step
    if dtype == _DEFAULT and not isinstance(start, np.generic):
        first = float(start)
        return first, float(start + step) - first
    first = _wrapped(start, dtype)
    with np.errstate(over="ignore"):
        return first, _wrapped(start + step, dtype) - first if size > 1 else first


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> GPUArray:
    """Return ``start``, ``start + step``, ... below ``stop``, an array of one axis.

    Parameters
    ----------
    start : number
        First number. If it is the only one, it is ``stop``, and the array begins at 0.
    stop : number, optional
        Bound, which is not in the array.
    step : number, optional
        Distance of neighbours. The default is 1.
    dtype : dtype_like, optional
        Dtype of the result. The default is int64 for integers, otherwise float64.
    device : Device, optional
        The device, which must be that of the current context.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    ValueError
        If the step is 0, or if ``device`` is another one.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.arange(1, 6, 2)
    array([1, 3, 5])
    """
    check_device(device)
    if stop is None:
        start, stop = 0, start
    if dtype is None:
        whole = all(isinstance(value, int) for value in (start, stop, step))
        dtype = np.dtype("int64" if whole else "float64")
    dtype = np.dtype(dtype)
    size = _steps(start, stop, step)
    result = GPUArray((size,), dtype)
    if size == 0:
        return result
    numbers = _first_and_step(start, step, size, dtype)
    return _elementwise(_array_ops["arange"], numbers, result, dtype)


def empty(
    shape: int | tuple[int, ...],
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> GPUArray:
    """Return a new array without setting its elements.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of the array.
    dtype : dtype_like, optional
        Dtype of the result. The default is float64.
    device : Device, optional
        The device, which must be that of the current context.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    MemoryError
        If the device has not enough free memory.
    ValueError
        If ``device`` is another one.

    See Also
    --------
    pycuda.gpuarray.GPUArray : It has ``allocator``, ``strides``, ``order`` too.
    zeros : Set the elements to 0.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.empty((2, 3)).shape
    (2, 3)
    """
    check_device(device)
    return GPUArray(shape, _chosen(dtype))


def empty_like(
    x: GPUArray, /, *, dtype: DType | None = None, device: Device | None = None
) -> GPUArray:
    """Return a new array of another's shape, without setting its elements.

    Parameters
    ----------
    x : GPUArray
        Array with the shape and dtype.
    dtype : dtype_like, optional
        Dtype of the array. The default is that of the other one.
    device : Device, optional
        The device, which must be that of the current context.

    Returns
    -------
    GPUArray
        A new array, of the allocator of a GPUArray.

    Raises
    ------
    MemoryError
        If the device has not enough free memory.
    ValueError
        If ``device`` is another one.

    See Also
    --------
    pycuda.gpuarray.empty_like : It has ``order`` too.
    zeros_like : Set the elements to 0.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.ones((2, 3), np.float32)
    >>> xp.empty_like(x).shape
    (2, 3)
    """
    check_device(device)
    return GPUArray(x.shape, _chosen(dtype, x.dtype), x.allocator)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DType | None = None,
    device: Device | None = None,
) -> GPUArray:
    """Return a matrix with ones on diagonal ``k`` and zeros elsewhere.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_cols : int, optional
        Number of columns. The default is ``n_rows``.
    k : int, optional
        Number of the diagonal. A negative one is below the main diagonal.
    dtype : dtype_like, optional
        Dtype of the result. The default is float64.
    device : Device, optional
        The device, which must be that of the current context.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    ValueError
        If a length is negative, or if ``device`` is another one.

    See Also
    --------
    pycuda.gpuarray.eye : It has ``order``, ``allocator``, ``stream`` too.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.eye(2, 3)
    array([[1., 0., 0.],
           [0., 1., 0.]])
    """
    check_device(device)
    return _ga.eye(n_rows, n_cols, k, _chosen(dtype))


def from_dlpack(
    x: Any, /, *, device: Device | None = None, copy: bool | None = None
) -> GPUArray:
    """Return another library's array, which has ``__dlpack__``.

    Parameters
    ----------
    x : object
        Array that has ``__dlpack__``, such as one of CuPy, PyTorch or JAX.
    device : Device, optional
        The device, which must be that of the current context.
    copy : bool, optional
        If true, make a copy. Arrays in host memory and read-only arrays need it.

    Returns
    -------
    GPUArray
        An array that shares the memory, or a copy.

    Raises
    ------
    BufferError
        If the array needs a copy, or if it is on another device.
    ValueError
        If ``device`` is not that of the current context.

    See Also
    --------
    pycuda.gpuarray.from_dlpack : It has ``stream`` too.
    asarray : Also take arrays in host memory and lists.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.arange(3, dtype=np.float32)
    >>> xp.from_dlpack(x)
    array([0., 1., 2.], dtype=float32)
    """
    return _ga.from_dlpack(x, device=device, copy=copy)


def _filled(array: GPUArray, value: Any) -> GPUArray:
    if isinstance(value, GPUArray):
        array[...] = value
        return array
    return array.fill(value)


def full(
    shape: int | tuple[int, ...],
    fill_value: Number,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> GPUArray:
    """Return a new array of one value.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of the array.
    fill_value : number
        Value of all elements.
    dtype : dtype_like, optional
        Dtype of the array. The default is that of the value.
    device : Device, optional
        The device, which must be that of the current context.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    MemoryError
        If the device has not enough free memory.
    ValueError
        If ``device`` is another one.

    See Also
    --------
    pycuda.gpuarray.full : It has ``allocator``, ``order`` too.
    full_like : The shape and dtype of another array.

    Notes
    -----
    The elements are set in the current stream. The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.full((2, 2), 7)
    array([[7, 7],
           [7, 7]])
    """
    check_device(device)
    dtype = np.dtype(dtype) if dtype is not None else _dtype_of_number(fill_value)
    return _filled(GPUArray(shape, dtype), fill_value)


def full_like(
    x: GPUArray,
    /,
    fill_value: Number,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> GPUArray:
    """Return a new array of one value, of another's shape and data type.

    Parameters
    ----------
    x : GPUArray
        Array with the shape and dtype.
    fill_value : number
        Value of all elements.
    dtype : dtype_like, optional
        Dtype of the array. The default is that of the other one.
    device : Device, optional
        The device, which must be that of the current context.

    Returns
    -------
    GPUArray
        A new array, of the allocator of a GPUArray.

    Raises
    ------
    MemoryError
        If the device has not enough free memory.
    ValueError
        If ``device`` is another one.

    See Also
    --------
    pycuda.gpuarray.full_like : It has ``order`` too.
    full : A given shape.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.full_like(gpuarray.zeros(3, np.int32), 7)
    array([7, 7, 7], dtype=int32)
    """
    return _filled(empty_like(x, dtype=dtype, device=device), fill_value)


def linspace(
    start: Number,
    stop: Number,
    /,
    num: int,
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    endpoint: bool = True,
) -> GPUArray:
    """Return ``num`` evenly spaced numbers from ``start`` to ``stop``.

    Parameters
    ----------
    start : number
        First number.
    stop : number
        Last number.
    num : int
        Number of elements.
    dtype : dtype_like, optional
        Dtype of the result. The default is that to which NumPy promotes the bounds,
        float64 for integers. Integers are rounded down.
    device : Device, optional
        The device, which must be that of the current context.
    endpoint : bool, optional
        If false, the last number is one step before ``stop``.

    Returns
    -------
    GPUArray
        A new array with the values of ``numpy.linspace``.

    Raises
    ------
    TypeError
        If a bound is an array in host memory.
    ValueError
        If ``num`` is negative, or if ``device`` is another one.

    See Also
    --------
    pycuda.gpuarray.linspace : It has ``retstep``, ``axis``, ``allocator``, ``stream``
        too.
    arange : A step instead of a number of elements.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.linspace(0, 1, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    check_device(device)
    return _ga.linspace(start, stop, num, endpoint, dtype=dtype)


def meshgrid(
    *arrays: GPUArray, indexing: Literal["xy", "ij"] = "xy"
) -> tuple[GPUArray, ...]:
    """Return the coordinates of a grid whose axes are given by arrays of one axis.

    Parameters
    ----------
    *arrays : GPUArray
        The coordinates along each axis, arrays with one axis.
    indexing : {"xy", "ij"}, optional
        With "ij" the result has the shape of the lengths; with "xy" the first two axes
        are exchanged.

    Returns
    -------
    tuple of GPUArray
        An array for each axis.

    Raises
    ------
    ValueError
        If the arrays differ in dtype, if one has more axes, or if ``indexing`` is
        something else.

    See Also
    --------
    pycuda.gpuarray.meshgrid : It has ``copy``, ``sparse``, ``stream`` too.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.arange(2, dtype=np.int32)
    >>> xp.meshgrid(x, x)[0]
    array([[0, 1],
           [0, 1]], dtype=int32)
    """
    if len({array.dtype for array in arrays}) > 1:
        names = ", ".join(str(array.dtype) for array in arrays)
        raise ValueError(f"meshgrid() takes arrays of one data type, not of {names}")
    return _ga.meshgrid(*arrays, indexing=indexing)


def ones(
    shape: int | tuple[int, ...],
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> GPUArray:
    """Return a new array of ones, float64 by default.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of the array.
    dtype : dtype_like, optional
        Dtype of the result. The default is float64.
    device : Device, optional
        The device, which must be that of the current context.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    MemoryError
        If the device has not enough free memory.
    ValueError
        If ``device`` is another one.

    See Also
    --------
    pycuda.gpuarray.ones : It has ``allocator``, ``order`` too.
    ones_like : The shape and dtype of another array.

    Notes
    -----
    The elements are set in the current stream. The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.ones(3)
    array([1., 1., 1.])
    """
    check_device(device)
    return GPUArray(shape, _chosen(dtype)).fill(1)


def ones_like(
    x: GPUArray, /, *, dtype: DType | None = None, device: Device | None = None
) -> GPUArray:
    """Return a new array of ones of another's shape and data type.

    Parameters
    ----------
    x : GPUArray
        Array with the shape and dtype.
    dtype : dtype_like, optional
        Dtype of the array. The default is that of the other one.
    device : Device, optional
        The device, which must be that of the current context.

    Returns
    -------
    GPUArray
        A new array, of the allocator of a GPUArray.

    Raises
    ------
    MemoryError
        If the device has not enough free memory.
    ValueError
        If ``device`` is another one.

    See Also
    --------
    pycuda.gpuarray.ones_like : It has ``order`` too.
    ones : A given shape and dtype.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.ones_like(gpuarray.zeros(3, np.int32))
    array([1, 1, 1], dtype=int32)
    """
    return empty_like(x, dtype=dtype, device=device).fill(1)


def tril(x: GPUArray, /, *, k: int = 0) -> GPUArray:
    """Return matrices with zeros above diagonal ``k``.

    Parameters
    ----------
    x : GPUArray
        Matrices, shape (..., m, n). One axis is repeated to a matrix of equal rows.
    k : int, optional
        Number of the diagonal. A negative one is below the main diagonal.

    Returns
    -------
    GPUArray
        A new array of the same dtype.

    Raises
    ------
    ValueError
        If the array has no axis.

    See Also
    --------
    pycuda.gpuarray.tril : It has ``stream`` too.
    triu : The upper triangle.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.tril(gpuarray.ones((2, 2)))
    array([[1., 0.],
           [1., 1.]])
    """
    return _ga.tril(x, k)


def triu(x: GPUArray, /, *, k: int = 0) -> GPUArray:
    """Return matrices with zeros below diagonal ``k``.

    Parameters
    ----------
    x : GPUArray
        Matrices, shape (..., m, n). One axis is repeated to a matrix of equal rows.
    k : int, optional
        Number of the diagonal. A negative one is below the main diagonal.

    Returns
    -------
    GPUArray
        A new array of the same dtype.

    Raises
    ------
    ValueError
        If the array has no axis.

    See Also
    --------
    pycuda.gpuarray.triu : It has ``stream`` too.
    tril : The lower triangle.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.triu(gpuarray.ones((2, 2)))
    array([[1., 1.],
           [0., 1.]])
    """
    return _ga.triu(x, k)


def zeros(
    shape: int | tuple[int, ...],
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> GPUArray:
    """Return a new array of zeros, float64 by default.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of the array.
    dtype : dtype_like, optional
        Dtype of the result. The default is float64.
    device : Device, optional
        The device, which must be that of the current context.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    MemoryError
        If the device has not enough free memory.
    ValueError
        If ``device`` is another one.

    See Also
    --------
    pycuda.gpuarray.zeros : It has ``allocator``, ``order`` too.
    zeros_like : The shape and dtype of another array.
    empty : Without setting the elements.

    Notes
    -----
    The elements are set in the current stream. The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.zeros((2, 3), dtype=xp.float32).shape
    (2, 3)
    """
    check_device(device)
    return GPUArray(shape, _chosen(dtype)).fill(0)


def zeros_like(
    x: GPUArray, /, *, dtype: DType | None = None, device: Device | None = None
) -> GPUArray:
    """Return a new array of zeros of another's shape and data type.

    Parameters
    ----------
    x : GPUArray
        Array with the shape and dtype.
    dtype : dtype_like, optional
        Dtype of the array. The default is that of the other one.
    device : Device, optional
        The device, which must be that of the current context.

    Returns
    -------
    GPUArray
        A new array, of the allocator of a GPUArray.

    Raises
    ------
    MemoryError
        If the device has not enough free memory.
    ValueError
        If ``device`` is another one.

    See Also
    --------
    pycuda.gpuarray.zeros_like : It has ``order`` too.
    zeros : A given shape and dtype.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.zeros_like(gpuarray.ones(3, np.int32))
    array([0, 0, 0], dtype=int32)
    """
    return empty_like(x, dtype=dtype, device=device).fill(0)
