"""Arrays of the device made from other objects, and what arrays are.

The latter functions do not look at elements, except ``array_equiv`` and
``real_if_close``.
"""

from __future__ import annotations

import numpy as np

from pycuda._array.copies import c_copy, may_overlap, on_stream
from pycuda._array.creation import from_dlpack
from pycuda._driver import (
    GPUArray,
    _all,
    _stack as stack,
    to_gpu,
)


def _refuse_to_copy(what):
    raise ValueError(f"{what} needs a copy, which copy=False forbids")


def _has_arrays(a):
    """Return whether a list or tuple contains a GPUArray, at any depth."""
    if isinstance(a, (list, tuple)):
        return any(map(_has_arrays, a))
    return isinstance(a, GPUArray)


def _joined(a, dtype):
    """Return a list of arrays and numbers as one array."""
    parts = [asarray(part, dtype) for part in a]
    return stack(parts) if parts[0].ndim == 0 else c_copy(stack(parts))


def _of_host(a, dtype):
    """Return numbers, lists or an array in host memory as an array of the device."""
    host = np.asarray(a, dtype)
    if host.dtype.kind == "O" and dtype is None:
        flat = list(host.flat)
        if flat and all(isinstance(item, int) for item in flat):
            raise OverflowError("an integer does not fit into 64 bits")
    if host.dtype.kind not in "biufcV":
        raise TypeError(f"{type(a).__name__} cannot become an array of numbers")
    return to_gpu(host)


def _is_on_device(a):
    """Return whether an object of another library is an array of a GPU."""
    device = getattr(a, "__dlpack_device__", None)
    return device is not None and tuple(device())[0] != 1


def asarray(a, dtype=None, order=None, *, copy=None, stream=None):
    """Return an object as a GPUArray, the object itself if it is one.

    Parameters
    ----------
    a : object
        GPUArray, array of another library with ``__dlpack__``, NumPy array, number, or
        list of numbers or of arrays.
    dtype : dtype_like, optional
        Dtype of the result. The default is that of the object.
    order : {None, "C", "F"}, optional
        Order of the elements in memory. None takes any.
    copy : bool, optional
        If true, always make a copy; if false, never.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

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
        If ``copy`` is false and a copy is needed.

    See Also
    --------
    to_gpu : Copy an array of NumPy.

    Examples
    --------
    >>> gpuarray.asarray([1, 2, 3])
    array([1, 2, 3])
    """
    with on_stream(stream):
        if isinstance(a, GPUArray):
            result = a
        elif _is_on_device(a):
            result = from_dlpack(a)
        elif copy is False:
            _refuse_to_copy(f"an object in host memory, {type(a).__name__},")
        elif _has_arrays(a):
            result = _joined(a, dtype)
        else:
            result = _of_host(a, dtype)
        converted = _converted(result, dtype, order, copy)
        if copy and converted is a:
            return converted.copy()
        if copy and converted is result and _is_on_device(a):
            return converted.copy()
        return converted


def operand(name, a, dtype=None):
    """Return an argument of a function: an array of the device, numbers or a list.

    TypeError for an array in host memory, as in all operations: the program copies it.
    """
    if isinstance(a, np.ndarray) and a.ndim:
        raise TypeError(f"{name} takes GPUArrays, not ndarray; copy it with to_gpu()")
    return asarray(a, dtype)


def _converted(array, dtype, order, copy):
    """Return an array in another dtype or order, the array itself if it has both."""
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            _refuse_to_copy(f"converting {array.dtype} to {np.dtype(dtype)}")
        array = array.astype(dtype)
    flags = array.flags
    if (order == "C" and not flags.c_contiguous) or (
        order == "F" and not flags.f_contiguous
    ):
        if copy is False:
            _refuse_to_copy(f"order {order!r}")
        array = c_copy(array, order)
    return array


def ascontiguousarray(a, dtype=None, *, stream=None):
    """Return an object as an array in C order, itself if it is one.

    Parameters
    ----------
    a : object
        What ``asarray`` takes.
    dtype : dtype_like, optional
        Dtype of the result. The default is that of the object.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        The object, or a new array.

    See Also
    --------
    asarray : Any order.

    Examples
    --------
    >>> x = gpuarray.zeros((2, 3), order="F")
    >>> gpuarray.ascontiguousarray(x).strides
    (24, 8)
    """
    return asarray(a, dtype, "C", stream=stream)


def asfortranarray(a, dtype=None, *, stream=None):
    """Return an object as an array in Fortran order, itself if it is one.

    Parameters
    ----------
    a : object
        What ``asarray`` takes.
    dtype : dtype_like, optional
        Dtype of the result. The default is that of the object.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        The object, or a new array.

    See Also
    --------
    asarray : Any order.

    Examples
    --------
    >>> gpuarray.asfortranarray(gpuarray.zeros((2, 3))).strides
    (8, 16)
    """
    return asarray(a, dtype, "F", stream=stream)


def copy(a, *, stream=None):
    """Return a copy of an array without gaps, with the same order of axes.

    Parameters
    ----------
    a : object
        What ``asarray`` takes.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array.

    See Also
    --------
    GPUArray.copy : The method.

    Examples
    --------
    >>> x = gpuarray.arange(6, dtype=np.int32)[::2]
    >>> gpuarray.copy(x).strides
    (4,)
    """
    return asarray(a, copy=True, stream=stream)


# -- what arrays are, and whether they share memory ------------------------------------


def _plain(value):
    """Return the dtype of an array; other values themselves."""
    return value.dtype if isinstance(value, GPUArray) else value


def can_cast(from_, to, casting="safe"):
    """Return whether a dtype, or that of an array, can be cast to another one."""
    return np.can_cast(_plain(from_), to, casting)


def common_type(*arrays):
    """Return the type of inexact numbers that all arrays' elements can have."""
    return np.common_type(*(np.empty(0, _plain(a)) for a in arrays))


def min_scalar_type(a, /):
    """Return the dtype of an array, or the smallest one that holds a number."""
    return a.dtype if isinstance(a, GPUArray) else np.min_scalar_type(a)


def astype(x, dtype, /, *, copy=True, device=None):
    """Return the array in a dtype.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype.
    dtype : dtype_like
        Dtype of the result.
    copy : bool, optional
        If false and ``x`` has the dtype, return ``x`` itself.
    device : None, optional
        Not supported; the array API standard has this parameter.

    Returns
    -------
    GPUArray
        A new array, or ``x``.

    Raises
    ------
    TypeError
        If ``device`` is given.

    See Also
    --------
    GPUArray.astype : The method.

    Examples
    --------
    >>> gpuarray.astype(gpuarray.to_gpu(np.array([1.5, 2.5])), np.int32)
    array([1, 2], dtype=int32)
    """
    if device is not None:
        raise TypeError(f"device= is for arrays in host memory, not {device!r}")
    return x if not copy and x.dtype == dtype else x.astype(dtype)


def real_if_close(a, tol=100):
    """Return the real parts if all imaginary parts are close to 0.

    Parameters
    ----------
    a : GPUArray
        Array of numbers.
    tol : float, optional
        Bound of the imaginary parts. Above 1 it is multiplied by the precision of the
        dtype.

    Returns
    -------
    GPUArray
        The real parts, or ``a`` itself.

    Notes
    -----
    The call waits for the comparison of a complex array.

    Examples
    --------
    >>> gpuarray.real_if_close(gpuarray.to_gpu(np.array([1 + 0j, 2])))
    array([1., 2.])
    """
    if a.dtype.kind != "c":
        return a
    if tol > 1:
        tol = np.finfo(a.dtype).eps * tol
    return a.real if bool(_all(abs(a.imag) < tol)) else a


def array_equiv(a1, a2):
    """Return whether arrays broadcast to one shape and have equal elements there.

    Parameters
    ----------
    a1 : GPUArray or number
        First operand.
    a2 : GPUArray or number
        Second operand.

    Returns
    -------
    bool
        True if all elements are equal.

    Notes
    -----
    The call waits for the comparison.

    Examples
    --------
    >>> gpuarray.array_equiv(gpuarray.ones((2, 3)), gpuarray.ones(3))
    True
    """
    arrays = [a for a in (a1, a2) if isinstance(a, GPUArray)]
    try:
        np.broadcast_shapes(*(a.shape for a in arrays))
    except ValueError:
        return False
    return bool(_all(a1 == a2))


class _Layout:
    """The memory of an array, as NumPy reads its place without reading the memory."""

    def __init__(self, array):
        self.array = array
        self.__array_interface__ = {
            "version": 3,
            "shape": array.shape,
            "strides": array.strides,
            "typestr": f"|V{array.dtype.itemsize}",
            "data": (array.ptr, False),
        }


def shares_memory(a, b, max_work=None):
    """Return whether two arrays have a byte of memory in common.

    Parameters
    ----------
    a : GPUArray
        First array.
    b : GPUArray
        Second array.
    max_work : int, optional
        Effort, as for ``numpy.shares_memory``.

    Returns
    -------
    bool
        True if they share memory; false for other objects.

    Raises
    ------
    ValueError
        If the problem is harder than ``max_work`` permits.

    Notes
    -----
    The call does not read the elements.

    Examples
    --------
    >>> x = gpuarray.zeros(6)
    >>> gpuarray.shares_memory(x, x[2:])
    True
    """
    if not (isinstance(a, GPUArray) and isinstance(b, GPUArray)):
        return False
    if not may_overlap(a, b):
        return False
    return np.shares_memory(
        np.asarray(_Layout(a)), np.asarray(_Layout(b)), max_work=max_work
    )
