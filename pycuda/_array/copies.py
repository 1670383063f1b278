"""Copies of arrays in C or Fortran order, and shapes that may need such a copy."""

from __future__ import annotations

from pycuda._array.streams import on_stream
from pycuda._driver import ArrayFlags, GPUArray, _plain_array


def c_copy(a, order="C", stream=None):
    """Return a copy without gaps, which the stream makes, in C or Fortran order."""
    result = GPUArray(a.shape, a.dtype, a.allocator, order=order)
    result.set_async(a, stream)
    result._counts_as = a._counts_as
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
