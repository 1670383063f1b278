"""Creation functions of the standard."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

import pycuda.gpuarray as _ga
from pycuda._array.numpy_protocol.creation import arange as numpy_range
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
    """
    check_device(device)
    return _ga.asarray(obj, dtype, copy=copy)


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
    return numpy_range(start, stop, step, dtype=dtype)


def empty(
    shape: int | tuple[int, ...],
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> GPUArray:
    """Return a new array without setting its elements.

    See Also
    --------
    zeros : Set the elements to 0.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> xp.empty((2, 3)).shape
    (2, 3)
    """
    check_device(device)
    return GPUArray(shape, _chosen(dtype))


def empty_like(
    x: GPUArray, /, *, dtype: DType | None = None, device: Device | None = None
) -> GPUArray:
    """Return a new array of another's shape, without setting its elements."""
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
    """Return a matrix with ones on diagonal ``k`` and zeros elsewhere."""
    check_device(device)
    return _ga.eye(n_rows, n_cols, k, _chosen(dtype))


def from_dlpack(
    x: Any, /, *, device: Device | None = None, copy: bool | None = None
) -> GPUArray:
    """Return another library's array, which has ``__dlpack__``."""
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
    """Return a new array of one value."""
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
    """Return a new array of one value, of another's shape and data type."""
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

    Returns
    -------
    GPUArray
        A new array with the values of ``numpy.linspace``.
    """
    check_device(device)
    return _ga.linspace(start, stop, num, endpoint, dtype=dtype)


def meshgrid(
    *arrays: GPUArray, indexing: Literal["xy", "ij"] = "xy"
) -> tuple[GPUArray, ...]:
    """Return the coordinates of a grid whose axes are given by arrays of one axis.

    Raises
    ------
    ValueError
        If the arrays differ in dtype, if one has more axes, or if ``indexing`` is
        something else.
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
    """Return a new array of ones, float64 by default."""
    check_device(device)
    return GPUArray(shape, _chosen(dtype)).fill(1)


def ones_like(
    x: GPUArray, /, *, dtype: DType | None = None, device: Device | None = None
) -> GPUArray:
    """Return a new array of ones of another's shape and data type."""
    return empty_like(x, dtype=dtype, device=device).fill(1)


def tril(x: GPUArray, /, *, k: int = 0) -> GPUArray:
    """Return matrices with zeros above diagonal ``k``."""
    return _ga.tril(x, k)


def triu(x: GPUArray, /, *, k: int = 0) -> GPUArray:
    """Return matrices with zeros below diagonal ``k``."""
    return _ga.triu(x, k)


def zeros(
    shape: int | tuple[int, ...],
    *,
    dtype: DType | None = None,
    device: Device | None = None,
) -> GPUArray:
    """Return a new array of zeros, float64 by default."""
    check_device(device)
    return GPUArray(shape, _chosen(dtype)).fill(0)


def zeros_like(
    x: GPUArray, /, *, dtype: DType | None = None, device: Device | None = None
) -> GPUArray:
    """Return a new array of zeros of another's shape and data type."""
    return empty_like(x, dtype=dtype, device=device).fill(0)
