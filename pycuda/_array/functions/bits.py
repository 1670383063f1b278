"""Bits as elements, and elements as bits."""

from __future__ import annotations

import operator

import numpy as np

from pycuda._array.copies import c_copy, np_ravel, on_stream
from pycuda._array.functions.conversion import operand
from pycuda._array.functions.shapes import moveaxis
from pycuda._array.layout import normal_axis
from pycuda._context_cache import context_dependent_memoize
from pycuda._driver import GPUArray


def _kernel(arguments, operation, name):
    # Imported here: NumPy's functions of arrays load this file.
    from pycuda._array.kernels.elementwise_kernel import ElementwiseKernel

    return ElementwiseKernel(arguments, operation, name)


@context_dependent_memoize
def _packer(dtype, little):
    """Return the kernel that packs lines of elements into bytes."""
    from pycuda._array.kernels.c_types import dtype_to_ctype

    shift = "k" if little else "7 - k"
    return _kernel(
        f"unsigned char *z, {dtype_to_ctype(dtype)} *a, long length, long bytes",
        "const long line = (long)i / bytes, first = ((long)i - line * bytes) * 8; "
        "unsigned sum = 0; "
        "for (int k = 0; k < 8 && first + k < length; k++) "
        f"sum |= (a[line * length + first + k] != 0 ? 1u : 0u) << ({shift}); "
        "z[i] = sum;",
        "packbits",
    )


@context_dependent_memoize
def _unpacker(little):
    """Return the kernel that gives each bit of lines of bytes an element."""
    shift = "place & 7" if little else "7 - (place & 7)"
    return _kernel(
        "unsigned char *z, unsigned char *a, long length, long bytes",
        "const long line = (long)i / length, place = (long)i - line * length; "
        "z[i] = place >> 3 < bytes "
        f"? a[line * bytes + (place >> 3)] >> ({shift}) & 1 : 0;",
        "unpackbits",
    )


@context_dependent_memoize
def _spreader(little):
    """Return the kernel that gives each bit of bytes an element, eight at once."""
    reverse = "byte = __brev(byte) >> 24; " if little else ""
    return _kernel(
        "unsigned long *z, unsigned char *a",
        f"unsigned byte = a[i]; {reverse}"
        "z[i] = ((unsigned long)byte * 0x8040201008040201ul) >> 7 "
        "& 0x0101010101010101ul;",
        "unpack_bytes",
    )


def _check_order(name, bitorder):
    if bitorder not in ("big", "little"):
        raise ValueError(f"{name}: bitorder is 'big' or 'little', not {bitorder!r}")


def _lines(a, axis):
    """Return the array in C order with an axis last, and the number of that axis."""
    if axis is None:
        a, axis = np_ravel(a), 0
    axis = normal_axis(operator.index(axis), a.ndim)
    if axis != a.ndim - 1:
        a = moveaxis(a, axis, -1)
    return (a if a.flags.c_contiguous else c_copy(a)), axis


def _placed(a, axis):
    """Return a view with the last axis in its place."""
    return a if axis == a.ndim - 1 else moveaxis(a, -1, axis)


def packbits(a, axis=None, bitorder="big", *, stream=None):
    """Return bytes whose bits say which elements are not 0.

    Parameters
    ----------
    a : GPUArray
        Array of bool or integers.
    axis : int or None, optional
        Axis along which to compute. The default is the flat array.
    bitorder : {"big", "little"}, optional
        Whether the first element is the highest bit or the lowest.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array of uint8. The last byte is filled with zero bits.

    Raises
    ------
    TypeError
        If the dtype is another one.

    See Also
    --------
    unpackbits : The inverse.

    Examples
    --------
    >>> gpuarray.packbits(gpuarray.to_gpu(np.array([1, 0, 1], np.uint8)))
    array([160], dtype=uint8)
    """
    _check_order("packbits", bitorder)
    with on_stream(stream):
        a = operand("packbits", a)
        if a.dtype.kind not in "biu":
            raise TypeError(f"packbits takes bool and integers, not {a.dtype}")
        a, axis = _lines(a, axis)
        length = a.shape[-1]
        count = (length + 7) // 8
        result = GPUArray((*a.shape[:-1], count), np.uint8, a.allocator)
        if result.size:
            _packer(a.dtype, bitorder == "little")(result, a, length, count)
        return _placed(result, axis)


def unpackbits(a, axis=None, count=None, bitorder="big", *, stream=None):
    """Return the bits of an array of uint8 as elements 0 and 1.

    Parameters
    ----------
    a : GPUArray
        Array of uint8.
    axis : int or None, optional
        Axis along which to compute. The default is the flat array.
    count : int, optional
        Number of elements along the axis. A negative one leaves out so many at the end,
        one beyond the bits adds zeros.
    bitorder : {"big", "little"}, optional
        Whether the first element is the highest bit or the lowest.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array of uint8.

    Raises
    ------
    TypeError
        If the dtype is another one.
    ValueError
        If ``count`` leaves out more than the bits.

    See Also
    --------
    packbits : The inverse.

    Examples
    --------
    >>> gpuarray.unpackbits(gpuarray.to_gpu(np.array([5], np.uint8)))
    array([0, 0, 0, 0, 0, 1, 0, 1], dtype=uint8)
    """
    _check_order("unpackbits", bitorder)
    with on_stream(stream):
        a = operand("unpackbits", a)
        if a.dtype != np.uint8:
            raise TypeError(f"unpackbits takes uint8, not {a.dtype}")
        a, axis = _lines(a, axis)
        size = a.shape[-1]
        if count is None:
            result = GPUArray((*a.shape[:-1], 8 * size), np.uint8, a.allocator)
            if result.size:
                _spreader(bitorder == "little")(result.view(np.uint64), a)
            return _placed(result, axis)
        length = 8 * size
        count = operator.index(count)
        length = count if count >= 0 else length + count
        if length < 0:
            raise ValueError(
                f"unpackbits: count {count} leaves out more than the {8 * size} bits"
            )
        result = GPUArray((*a.shape[:-1], length), np.uint8, a.allocator)
        if result.size:
            _unpacker(bitorder == "little")(result, a, length, size)
        return _placed(result, axis)
