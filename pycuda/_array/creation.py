"""New arrays: of one value, of a range, like another array, from other libraries."""

from __future__ import annotations

import math
import warnings

import numpy as np

from pycuda import _driver
from pycuda._array.layout import array_like_helper
from pycuda._driver import Context, GPUArray, _array_ops, _elementwise, to_gpu


def allocator_of(allocator, array):
    """Return the allocator, by default that of the array."""
    return array.allocator if allocator is None else allocator


def remember_counts(result, arrays):
    """Give a bool array, made of others' elements, the dtype that these count as.

    A comparison gives an array of bool. In arithmetic it counts as the dtype that was
    compared.
    """
    dtypes = [array._counts_as for array in arrays]
    dtypes = [dtype for dtype in dtypes if dtype is not None]
    if result.dtype == bool and len(dtypes) == len(arrays):
        result._counts_as = np.result_type(*dtypes)


def zeros(shape, dtype=np.float64, allocator=None, order="C"):
    """Return a new array of zeros.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of the array.
    dtype : dtype_like, optional
        Dtype of the array. The default is float64.
    allocator : callable or None, optional
        Function of a number of bytes that returns device memory. The default is the
        default allocator.
    order : {"C", "F"}, optional
        Order of the elements in memory.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    MemoryError
        If the device has not enough free memory.

    See Also
    --------
    zeros_like : The shape and dtype of another array.
    empty : Without setting the elements.

    Notes
    -----
    The elements are set in the current stream. The call does not wait.

    Examples
    --------
    >>> gpuarray.zeros((2, 3), dtype=np.float32)
    array([[0., 0., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    return GPUArray(shape, dtype, allocator, order=order).fill(_zero_of(dtype))


def ones(shape, dtype=np.float64, allocator=None, order="C"):
    """Return a new array of ones.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of the array.
    dtype : dtype_like, optional
        Dtype of the array. The default is float64.
    allocator : callable or None, optional
        Function of a number of bytes that returns device memory. The default is the
        default allocator.
    order : {"C", "F"}, optional
        Order of the elements in memory.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    MemoryError
        If the device has not enough free memory.

    See Also
    --------
    ones_like : The shape and dtype of another array.

    Notes
    -----
    The elements are set in the current stream. The call does not wait.

    Examples
    --------
    >>> gpuarray.ones(3)
    array([1., 1., 1.])
    """
    return GPUArray(shape, dtype, allocator, order=order).fill(1)


def full(shape, fill_value, dtype=None, allocator=None, order="C"):
    """Return a new array of one value.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of the array.
    fill_value : number
        Value of all elements.
    dtype : dtype_like, optional
        Dtype of the array. The default is that of the value.
    allocator : callable or None, optional
        Function of a number of bytes that returns device memory. The default is the
        default allocator.
    order : {"C", "F"}, optional
        Order of the elements in memory.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    MemoryError
        If the device has not enough free memory.

    See Also
    --------
    full_like : The shape and dtype of another array.

    Notes
    -----
    The elements are set in the current stream. The call does not wait.

    Examples
    --------
    >>> gpuarray.full((2, 2), 7)
    array([[7, 7],
           [7, 7]])
    """
    if dtype is None:
        dtype = np.asarray(fill_value).dtype
    return GPUArray(shape, dtype, allocator, order=order).fill(fill_value)


def _zero_of(dtype):
    dtype = np.dtype(dtype)
    return 0 if dtype.kind in "biufc" else np.zeros((), dtype)


def empty_like(other_ary, dtype=None, order="K"):
    """Return a new array of another's shape, without setting its elements.

    Parameters
    ----------
    other_ary : GPUArray or numpy.ndarray
        Array with the shape and dtype.
    dtype : dtype_like, optional
        Dtype of the array. The default is that of the other one.
    order : {"C", "F", "A", "K"}, optional
        Order of the elements in memory. "K" keeps the order of the axes, "A" is "F" for
        an array in Fortran order, else "C".

    Returns
    -------
    GPUArray
        A new array, of the allocator of a GPUArray.

    Raises
    ------
    MemoryError
        If the device has not enough free memory.

    See Also
    --------
    zeros_like : Set the elements to 0.

    Examples
    --------
    >>> x = gpuarray.ones((2, 3), np.float32)
    >>> gpuarray.empty_like(x).shape
    (2, 3)
    """
    dtype, order, strides = array_like_helper(other_ary, dtype, order)
    allocator = getattr(other_ary, "allocator", None)
    result = GPUArray(other_ary.shape, dtype, allocator, strides=strides, order=order)
    if isinstance(other_ary, GPUArray):
        remember_counts(result, [other_ary])
    return result


def zeros_like(other_ary, dtype=None, order="K"):
    """Return a new array of zeros of another's shape.

    Parameters
    ----------
    other_ary : GPUArray or numpy.ndarray
        Array with the shape and dtype.
    dtype : dtype_like, optional
        Dtype of the array. The default is that of the other one.
    order : {"C", "F", "A", "K"}, optional
        Order of the elements in memory. "K" keeps the order of the axes, "A" is "F" for
        an array in Fortran order, else "C".

    Returns
    -------
    GPUArray
        A new array, of the allocator of a GPUArray.

    Raises
    ------
    MemoryError
        If the device has not enough free memory.

    See Also
    --------
    zeros : A given shape and dtype.

    Examples
    --------
    >>> gpuarray.zeros_like(gpuarray.ones(3, np.int32))
    array([0, 0, 0], dtype=int32)
    """
    result = empty_like(other_ary, dtype, order)
    return result.fill(_zero_of(result.dtype))


def ones_like(other_ary, dtype=None, order="K"):
    """Return a new array of ones of another's shape.

    Parameters
    ----------
    other_ary : GPUArray or numpy.ndarray
        Array with the shape and dtype.
    dtype : dtype_like, optional
        Dtype of the array. The default is that of the other one.
    order : {"C", "F", "A", "K"}, optional
        Order of the elements in memory. "K" keeps the order of the axes, "A" is "F" for
        an array in Fortran order, else "C".

    Returns
    -------
    GPUArray
        A new array, of the allocator of a GPUArray.

    Raises
    ------
    MemoryError
        If the device has not enough free memory.

    See Also
    --------
    ones : A given shape and dtype.

    Examples
    --------
    >>> gpuarray.ones_like(gpuarray.zeros(3, np.int32))
    array([1, 1, 1], dtype=int32)
    """
    return empty_like(other_ary, dtype, order).fill(1)


def full_like(other_ary, fill_value, dtype=None, order="K"):
    """Return a new array of one value of another's shape.

    Parameters
    ----------
    other_ary : GPUArray or numpy.ndarray
        Array with the shape and dtype.
    fill_value : number
        Value of all elements.
    dtype : dtype_like, optional
        Dtype of the array. The default is that of the other one.
    order : {"C", "F", "A", "K"}, optional
        Order of the elements in memory. "K" keeps the order of the axes, "A" is "F" for
        an array in Fortran order, else "C".

    Returns
    -------
    GPUArray
        A new array, of the allocator of a GPUArray.

    Raises
    ------
    MemoryError
        If the device has not enough free memory.

    See Also
    --------
    full : A given shape.

    Examples
    --------
    >>> gpuarray.full_like(gpuarray.zeros(3, np.int32), 7)
    array([7, 7, 7], dtype=int32)
    """
    return empty_like(other_ary, dtype, order).fill(fill_value)


#: The keywords of arange() beside its numbers.
_ARANGE_OPTIONS = {"dtype", "allocator", "stream"}


def _arange_settings(args, kwargs):
    """Return all arguments of arange(): start, stop, step, dtype, allocator, stream.

    Those that are not given are None.
    """
    get = kwargs.get
    if (
        len(args) == 1
        and _ARANGE_OPTIONS.issuperset(kwargs)
        and isinstance(args[0], (int, float))
    ):
        return 0, args[0], 1, get("dtype"), get("allocator"), get("stream")
    args = list(args)
    settings = dict.fromkeys(("start", "stop", "step", "dtype", "allocator", "stream"))
    given = {}
    if args and isinstance(args[-1], np.dtype):
        given["dtype"] = args.pop()
    if len(args) > 3:
        raise TypeError(f"arange() takes up to 3 numbers, not {len(args)}")
    places = ("stop",) if len(args) == 1 else ("start", "stop", "step")
    given.update(zip(places, args, strict=False))
    for name, value in kwargs.items():
        if name in given:
            raise ValueError(f"arange(): {name} is given by position and by keyword")
        if name not in settings:
            raise ValueError(
                "arange() takes the keywords start, stop, step, dtype, allocator, "
                f"stream, not {name}"
            )
        given[name] = value
    if given.get("stop") is None:
        raise ValueError("arange() needs a stop")
    return (settings | given).values()


def arange(*args, **kwargs):
    """Return the numbers from ``start`` up to ``stop``, in steps of ``step``.

    The calls are ``arange(stop)``, ``arange(start, stop)`` and ``arange(start, stop,
    step)``. A numpy.dtype may follow the numbers.

    Parameters
    ----------
    *args : number or numpy.dtype
        The numbers, then the dtype.
    **kwargs
        ``start``, ``stop``, ``step``, ``dtype``, ``allocator`` and ``stream`` by
        keyword. The default dtype is that of NumPy for the numbers, with a warning
        unless it is float32.

    Returns
    -------
    GPUArray
        A new array with one axis.

    Raises
    ------
    TypeError
        If there are more than three numbers.
    ValueError
        If a name is given twice or is unknown, or if ``stop`` is missing.

    See Also
    --------
    linspace : A number of elements instead of a step.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> gpuarray.arange(2, 10, 3, dtype=np.int32)
    array([2, 5, 8], dtype=int32)
    """
    start, stop, step, dtype, allocator, stream = _arange_settings(args, kwargs)
    start = 0 if start is None else start
    step = 1 if step is None else step
    if step == 0:
        raise ZeroDivisionError("arange: the step is 0")
    if dtype is None:
        dtype = np.array([start, stop, step]).dtype
        if dtype != np.float32:
            warnings.warn(
                f"arange() chose dtype {dtype}; pass dtype= to avoid this warning",
                stacklevel=2,
            )
    dtype = np.dtype(dtype)
    size = max(math.ceil((stop - start) / step), 0)
    result = GPUArray((size,), dtype, allocator)
    if dtype.kind == "u" and step < 0:  # the same step, modulo the dtype's range
        step = int(step) % (np.iinfo(dtype).max + 1)
    numbers = (dtype.type(start), dtype.type(step))
    return _elementwise(_array_ops["arange"], numbers, result, dtype, stream)


def from_dlpack(x, /, *, device=None, copy=None, stream=None):
    """Return another library's array without copying it.

    Parameters
    ----------
    x : object
        Array that has ``__dlpack__``, such as one of CuPy, PyTorch or JAX.
    device : Device, optional
        The device, which must be that of the current context.
    copy : bool, optional
        If true, make a copy. Arrays in host memory and read-only arrays need it.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

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
    asarray : Also take arrays in host memory and lists.

    Notes
    -----
    The other library makes the array safe for work on ``stream``.

    Examples
    --------
    >>> x = gpuarray.arange(3, dtype=np.float32)
    >>> gpuarray.from_dlpack(x)
    array([0., 1., 2.], dtype=float32)
    """
    here = Context.get_device()
    if device is not None and device != here:
        raise ValueError(f"device {device} is not that of the current context")
    if type(x).__name__ != "PyCapsule" and tuple(x.__dlpack_device__())[0] == 1:
        if not copy:
            raise BufferError("the array is in host memory: pass copy=True")
        return to_gpu(np.from_dlpack(x))
    borrowed = _driver.from_dlpack(x, stream)
    kind, number = borrowed.device
    if kind == 2 and number != hash(here):
        raise BufferError(
            f"the array is on device {number}, the current context on {hash(here)}"
        )
    if borrowed.readonly and not copy:
        raise BufferError("the array is read-only: pass copy=True")
    memory = {}
    if 0 not in borrowed.shape:
        memory = {"gpudata": borrowed, "base": borrowed}
    array = GPUArray(borrowed.shape, borrowed.dtype, strides=borrowed.strides, **memory)
    if isinstance(x, GPUArray):
        array._counts_as = x._counts_as
    return array.copy() if copy else array


def _unpickle(cls, host, counts_as=None):
    """Return the array that a pickle describes by its elements in host memory.

    ``counts_as`` is the dtype that a bool array has in arithmetic, or None.
    """
    array = to_gpu(host)
    if cls is not GPUArray:
        plain = array
        array = cls(plain.shape, plain.dtype, strides=plain.strides)
        array.set(plain)
    array._counts_as = counts_as
    return array


_unpickle.__module__ = "pycuda.gpuarray"  # the name in pickles
