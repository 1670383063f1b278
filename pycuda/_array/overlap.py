"""Arrays that share memory."""

from __future__ import annotations

from pycuda._array.copies import c_copy
from pycuda._driver import GPUArray, _plain_array


def may_overlap(one, other):
    """Return whether the address ranges of two arrays overlap."""
    if one.size == 0 or other.size == 0:
        return False
    (low, high), (begin, end) = _extent(one), _extent(other)
    return low < end and begin < high


def _extent(array):
    """Return the addresses of an array's first byte and of the byte after its last."""
    reaches = [
        (length - 1) * stride
        for length, stride in zip(array.shape, array.strides, strict=True)
    ]
    low = array.ptr + sum(reach for reach in reaches if reach < 0)
    high = array.ptr + sum(reach for reach in reaches if reach > 0)
    return low, high + array.dtype.itemsize


def has_same_elements(one, other):
    """Return whether two arrays are the same view of the same memory."""
    return one is other or (
        isinstance(other, GPUArray)
        and one.shape == other.shape
        and one.ptr == other.ptr
        and one.strides == other.strides
        and one.dtype.itemsize == other.dtype.itemsize
    )


def shares_some(array, other):
    """Return whether another array may share some elements but not all, in order."""
    if not isinstance(other, GPUArray):
        return True  # the memory of a foreign type is unknown
    return not has_same_elements(array, other) and may_overlap(array, other)


def apart(array, outs, stream):
    """Return the array, or a copy of it if it may share memory with an output."""
    if isinstance(array, GPUArray):
        plain = _plain_array(array)
        if any(
            out is not None and may_overlap(plain, _plain_array(out)) for out in outs
        ):
            return c_copy(plain, stream=stream)
    return array
