"""Copies of arrays in an order of memory, and shapes that may need such a copy."""

from __future__ import annotations

from pycuda._array.streams import on_stream
from pycuda._driver import ArrayFlags, GPUArray, _plain_array


def c_copy(a, order="C", stream=None):
    result = GPUArray(a.shape, a.dtype, a.allocator, order=order)
    result.set_async(a, stream)
    result._counts_as = a._counts_as
    return result


def in_c_order(a, stream):
    """Return an array, or a copy that the stream makes, packed in C order."""
    return a if a.flags.c_contiguous else c_copy(a, stream=stream)


def np_reshape(a, /, shape, order="C"):
    """Read the elements by their indices, whatever their order in memory."""
    if order == "A":
        flags = ArrayFlags(a)
        order = "F" if flags.f_contiguous and not flags.c_contiguous else "C"
    if order not in ("C", "F"):
        raise ValueError(f"order must be 'C', 'F' or 'A', not {order!r}")
    flags = ArrayFlags(a)
    lies_so = flags.c_contiguous if order == "C" else flags.f_contiguous
    return (a if lies_so else c_copy(a, order)).reshape(shape, order=order)


def np_ravel(a, order="C"):
    if order == "K":
        return a.ravel()
    return np_reshape(a, (_plain_array(a).size,), order)


def copy_into(target, source, stream):
    with on_stream(stream):
        target[...] = source


def memcpy_discontig(dst, src, async_=False, stream=None):
    """Copy one array to another of its shape and dtype; one may be of the host."""
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
    """Return a new array that lies in memory as one without gaps does."""
    return GPUArray(
        packed.shape, packed.dtype, packed.allocator, strides=packed.strides
    )
