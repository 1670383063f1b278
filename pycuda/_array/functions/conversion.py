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

    ``a`` is a GPUArray, an array of another library with ``__dlpack__``, a NumPy array,
    a number, or a list of numbers or of arrays. ``order`` is None, "C" or "F".
    ``copy=True`` always makes a copy, ``copy=False`` never.

    Raises ValueError if ``copy=False`` cannot be obeyed, OverflowError for an integer
    beyond 64 bits, TypeError for objects that are no numbers.
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
    """Return an object as an array in C order, itself if it is one."""
    return asarray(a, dtype, "C", stream=stream)


def asfortranarray(a, dtype=None, *, stream=None):
    """Return an object as an array in Fortran order, itself if it is one."""
    return asarray(a, dtype, "F", stream=stream)


def copy(a, *, stream=None):
    """Return a copy of an array without gaps, with the same order of axes."""
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
    """Return the array in a dtype: itself if it has it and ``copy`` is false."""
    if device is not None:
        raise TypeError(f"device= is for arrays in host memory, not {device!r}")
    return x if not copy and x.dtype == dtype else x.astype(dtype)


def real_if_close(a, tol=100):
    """Return the real parts if all imaginary parts are close to 0; this waits.

    They are close below ``tol``, times the precision of the dtype if it is above 1.
    """
    if a.dtype.kind != "c":
        return a
    if tol > 1:
        tol = np.finfo(a.dtype).eps * tol
    return a.real if bool(_all(abs(a.imag) < tol)) else a


def array_equiv(a1, a2):
    """Return whether arrays broadcast to one shape and have equal elements there."""
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
    """Return whether two arrays have a byte of memory in common."""
    if not (isinstance(a, GPUArray) and isinstance(b, GPUArray)):
        return False
    if not may_overlap(a, b):
        return False
    return np.shares_memory(
        np.asarray(_Layout(a)), np.asarray(_Layout(b)), max_work=max_work
    )
