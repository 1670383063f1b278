"""What arrays are, without a look at their elements, and whether they share memory."""

from __future__ import annotations

import numpy as np

from pycuda._array.functions import reductions
from pycuda._array.overlap import may_overlap
from pycuda._driver import GPUArray


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
    return a.real if bool(reductions.all(abs(a.imag) < tol)) else a


def array_equiv(a1, a2):
    """Return whether arrays broadcast to one shape and have equal elements there."""
    arrays = [a for a in (a1, a2) if isinstance(a, GPUArray)]
    try:
        np.broadcast_shapes(*(a.shape for a in arrays))
    except ValueError:
        return False
    return bool(reductions.all(a1 == a2))


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
