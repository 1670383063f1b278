"""Copies of arrays, the stream that makes them, and arrays that share memory."""

from __future__ import annotations

import contextlib

import numpy as np

from pycuda._driver import ArrayFlags, GPUArray, Stream, _plain_array


def on_stream(stream):
    """Return a context manager that makes a stream current; None changes nothing."""
    if stream is None:
        return contextlib.nullcontext()
    if isinstance(stream, Stream):
        return stream
    return Stream.from_handle(stream)  # of another library


def is_captured():
    """Return whether the current stream is being captured."""
    stream = Stream.get_current()
    return stream is not None and stream.is_capturing


# -- copies in C or Fortran order, and shapes that may need one ------------------------


def c_copy(a, order="C", stream=None):
    """Return a copy without gaps, which the stream makes, in C or Fortran order."""
    result = GPUArray(a.shape, a.dtype, a.allocator, order=order)
    result.set_async(a, stream)
    result._counts_as = a._counts_as
    return result


def as_values(values, a):
    """Return values that an array shall hold, as an array of the device.

    Numbers and lists are converted as in an assignment: OverflowError for an integer
    that the dtype of ``a`` does not hold.
    """
    if isinstance(values, GPUArray):
        return values
    result = GPUArray(np.shape(values), a.dtype, a.allocator)
    result[...] = values
    return result


def np_reshape(a, /, shape, order="C"):
    """Return another shape as NumPy does: in the order of indices, not of memory."""
    if order == "A":
        flags = ArrayFlags(a)
        order = "F" if flags.f_contiguous and not flags.c_contiguous else "C"
    if order not in ("C", "F"):
        raise ValueError(f"order must be 'C', 'F' or 'A', not {order!r}")
    flags = ArrayFlags(a)
    is_ordered = flags.c_contiguous if order == "C" else flags.f_contiguous
    if not is_ordered:
        a = c_copy(a, order)
    return a.reshape(shape, order=order)


def np_ravel(a, order="C"):
    """Return the elements along one axis as NumPy does."""
    if order == "K":
        return a.ravel()
    return np_reshape(a, (_plain_array(a).size,), order)


def copy_into(target, source, stream):
    """Assign to all elements of an array; the stream converts and copies."""
    with on_stream(stream):
        target[...] = source


def memcpy_discontig(dst, src, async_=False, stream=None):
    """Copy an array to one of the same shape and dtype; one may be a NumPy array."""
    if not isinstance(src, GPUArray) and not isinstance(dst, GPUArray):
        dst[...] = src
        return
    if src.shape != dst.shape:
        raise ValueError(f"shapes {src.shape} and {dst.shape} differ")
    if src.dtype != dst.dtype:
        raise TypeError(f"dtypes {src.dtype} and {dst.dtype} differ")
    if isinstance(dst, GPUArray):
        dst.set(src, async_=async_, stream=stream)
    else:
        src.get(dst, async_=async_, stream=stream)


def empty_alike(packed):
    """Return a new array with the strides of an array that has no gaps."""
    return GPUArray(
        packed.shape, packed.dtype, packed.allocator, strides=packed.strides
    )


# -- arrays that share memory ----------------------------------------------------------


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
