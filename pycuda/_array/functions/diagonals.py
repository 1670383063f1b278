"""Diagonals and triangles of matrices, and matrices made of them."""

from __future__ import annotations

import operator

import numpy as np

from pycuda._array.copies import np_ravel
from pycuda._array.creation import allocator_of
from pycuda._array.layout import normal_axis
from pycuda._array.streams import on_stream
from pycuda._driver import (
    GPUArray,
    _fill_triangle,
    _nonzero as nonzero,
    _plain_array,
    _triangle,
)


def _length(value, name):
    """Return a length of an axis; ValueError if it is negative."""
    length = operator.index(value)
    if length < 0:
        raise ValueError(f"{name} must be 0 or more, not {length}")
    return length


def eye(N, M=None, k=0, dtype=np.float64, order="C", *, allocator=None, stream=None):
    """Return an ``N`` by ``M`` matrix with ones on diagonal ``k``, zeros elsewhere.

    ``M`` is ``N`` by default. A negative ``k`` is below the main diagonal.
    """
    rows = _length(N, "N")
    columns = rows if M is None else _length(M, "M")
    result = GPUArray((rows, columns), dtype, allocator, order=order)
    k = operator.index(k)
    result.fill(0, stream)
    length = min(rows + min(k, 0), columns - max(k, 0))
    if length > 0:
        step, begin = columns + 1, k if k >= 0 else -k * columns
        if not result.flags.c_contiguous:  # in the order of memory
            step, begin = rows + 1, k * rows if k >= 0 else -k
        ones = result.ravel()[begin : begin + (length - 1) * step + 1 : step]
        ones.fill(1, stream)
    return result


def identity(n, dtype=np.float64, *, allocator=None, stream=None):
    """Return the identity matrix of ``n`` rows."""
    return eye(n, dtype=dtype, allocator=allocator, stream=stream)


def tri(N, M=None, k=0, dtype=np.float64, *, allocator=None, stream=None):
    """Return an ``N`` by ``M`` matrix with ones at and below diagonal ``k``."""
    rows = _length(N, "N")
    columns = rows if M is None else _length(M, "M")
    result = GPUArray((rows, columns), dtype, allocator)
    return _fill_triangle(result, True, operator.index(k), stream)


def tril(m, k=0, *, stream=None):
    """Return a copy of matrices with zeros above diagonal ``k``.

    The matrices are in the last two axes. Raises ValueError for fewer than two axes.
    """
    return _triangle(m, True, operator.index(k), stream)


def triu(m, k=0, *, stream=None):
    """Return a copy of matrices with zeros below diagonal ``k``.

    The matrices are in the last two axes. Raises ValueError for fewer than two axes.
    """
    return _triangle(m, False, operator.index(k), stream)


def tril_indices(n, k=0, m=None, *, allocator=None, stream=None):
    """Return the indices of the lower triangle of an ``n`` by ``m`` matrix.

    The result is (rows, columns), two arrays of int64.
    """
    mask = tri(n, m, k, bool, allocator=allocator, stream=stream)
    return tuple(nonzero(mask, stream))


def triu_indices(n, k=0, m=None, *, allocator=None, stream=None):
    """Return the indices of the upper triangle of an ``n`` by ``m`` matrix.

    The result is (rows, columns), two arrays of int64.
    """
    rows = _length(n, "n")
    columns = rows if m is None else _length(m, "m")
    mask = GPUArray((rows, columns), bool, allocator)
    _fill_triangle(mask, False, operator.index(k), stream)
    return tuple(nonzero(mask, stream))


def _matrix_shape(arr):
    if arr.ndim != 2:
        raise ValueError(f"the array must have two axes, not shape {arr.shape}")
    return arr.shape


def tril_indices_from(arr, k=0):
    """Return the indices of the lower triangle of a matrix."""
    rows, columns = _matrix_shape(arr)
    return tril_indices(rows, k, columns, allocator=arr.allocator)


def triu_indices_from(arr, k=0):
    """Return the indices of the upper triangle of a matrix."""
    rows, columns = _matrix_shape(arr)
    return triu_indices(rows, k, columns, allocator=arr.allocator)


def diagonal(a, offset=0, axis1=0, axis2=1):
    """Return a view of a diagonal of two axes. It is the last axis of the view.

    ``offset`` is the number of the diagonal: above 0 it begins in a later column, below
    0 in a later row. Raises ValueError for fewer than two axes, or if both are the
    same.
    """
    if a.ndim < 2:
        raise ValueError(
            f"an array of shape {a.shape} has no diagonal: two axes needed"
        )
    row_axis, column_axis = normal_axis(axis1, a.ndim), normal_axis(axis2, a.ndim)
    if row_axis == column_axis:
        raise ValueError(f"axis1 and axis2 are the same axis, {row_axis}")
    others = [k for k in range(a.ndim) if k not in (row_axis, column_axis)]
    given, a = a, _plain_array(a).transpose(*others, row_axis, column_axis)
    offset = operator.index(offset)
    length = min(a.shape[-2] + min(offset, 0), a.shape[-1] - max(offset, 0))
    shape = (*a.shape[:-2], max(length, 0))
    if 0 in shape:
        return GPUArray(shape, a.dtype, given.allocator)
    corner = a[..., max(-offset, 0) :, max(offset, 0) :]
    view = GPUArray(
        shape,
        a.dtype,
        given.allocator,
        base=corner,
        gpudata=corner.gpudata,
        strides=(*corner.strides[:-2], corner.strides[-2] + corner.strides[-1]),
    )
    view._counts_as = a._counts_as
    return view


def diag(v, k=0, *, stream=None):
    """Return diagonal ``k`` of a matrix as a copy, or a matrix with this diagonal.

    An array with one axis makes a square matrix, zero outside of the diagonal. Raises
    ValueError for other numbers of axes.
    """
    k = operator.index(k)
    with on_stream(stream):
        if v.ndim == 2:
            return diagonal(v, k).copy()
        if v.ndim != 1:
            raise ValueError(f"diag() takes one or two axes, not shape {v.shape}")
        side = v.shape[0] + abs(k)
        result = GPUArray((side, side), v.dtype, allocator_of(None, v))
        result.fill(np.zeros((), v.dtype)[()])
        diagonal(result, k)[...] = v
        return result


def diagflat(v, k=0, *, stream=None):
    """Return a square matrix with all elements of an array on diagonal ``k``."""
    return diag(np_ravel(v), k, stream=stream)
