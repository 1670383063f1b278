"""Diagonals and triangles of matrices, and matrices made of them."""

from __future__ import annotations

import operator

import numpy as np

from pycuda._array.copies import as_values, c_copy, np_ravel, on_stream
from pycuda._array.creation import allocator_of
from pycuda._array.functions.shapes import tile
from pycuda._array.layout import broadcast_to, normal_axis
from pycuda._driver import (
    GPUArray,
    _array_ops,
    _elementwise,
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
    """Return a matrix with ones on a diagonal and zeros elsewhere.

    Parameters
    ----------
    N : int
        Number of rows.
    M : int, optional
        Number of columns. The default is ``N``.
    k : int, optional
        Number of the diagonal. A negative one is below the main diagonal.
    dtype : dtype_like, optional
        Dtype of the result. The default is float64.
    order : {"C", "F"}, optional
        Order of the elements in memory.
    allocator : callable or None, optional
        Function of a number of bytes that returns device memory. The default is the
        default allocator.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    ValueError
        If a length is negative.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> gpuarray.eye(2, 3)
    array([[1., 0., 0.],
           [0., 1., 0.]])
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
    """Return the identity matrix.

    Parameters
    ----------
    n : int
        Number of rows.
    dtype : dtype_like, optional
        Dtype of the result.
    allocator : callable or None, optional
        Function of a number of bytes that returns device memory. The default is the
        default allocator.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    ValueError
        If ``n`` is negative.

    See Also
    --------
    eye : Other diagonals.

    Examples
    --------
    >>> gpuarray.identity(2)
    array([[1., 0.],
           [0., 1.]])
    """
    return eye(n, dtype=dtype, allocator=allocator, stream=stream)


def tri(N, M=None, k=0, dtype=np.float64, *, allocator=None, stream=None):
    """Return a matrix with ones at and below a diagonal.

    Parameters
    ----------
    N : int
        Number of rows.
    M : int, optional
        Number of columns. The default is ``N``.
    k : int, optional
        Number of the diagonal. A negative one is below the main diagonal.
    dtype : dtype_like, optional
        Dtype of the result.
    allocator : callable or None, optional
        Function of a number of bytes that returns device memory. The default is the
        default allocator.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    ValueError
        If a length is negative.

    See Also
    --------
    tril : The lower triangle of a matrix.

    Examples
    --------
    >>> gpuarray.tri(2, 3)
    array([[1., 0., 0.],
           [1., 1., 0.]])
    """
    rows = _length(N, "N")
    columns = rows if M is None else _length(M, "M")
    result = GPUArray((rows, columns), dtype, allocator)
    return _fill_triangle(result, True, operator.index(k), stream)


def _with_rows(m):
    """Return an array of one axis as a square matrix of equal rows, as NumPy does."""
    if isinstance(m, GPUArray) and m.ndim == 1:
        return broadcast_to(m, (m.shape[0], m.shape[0]))
    return m


def tril(m, k=0, *, stream=None):
    """Return a copy of matrices with zeros above a diagonal.

    Parameters
    ----------
    m : GPUArray
        Matrices, shape (..., m, n). One axis is repeated to a matrix of equal rows.
    k : int, optional
        Number of the diagonal. A negative one is below the main diagonal.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array of the same dtype.

    Raises
    ------
    ValueError
        If the array has no axis.

    See Also
    --------
    triu : The upper triangle.

    Examples
    --------
    >>> gpuarray.tril(gpuarray.ones((2, 2)))
    array([[1., 0.],
           [1., 1.]])
    """
    return _triangle(_with_rows(m), True, operator.index(k), stream)


def triu(m, k=0, *, stream=None):
    """Return a copy of matrices with zeros below a diagonal.

    Parameters
    ----------
    m : GPUArray
        Matrices, shape (..., m, n). One axis is repeated to a matrix of equal rows.
    k : int, optional
        Number of the diagonal. A negative one is below the main diagonal.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array of the same dtype.

    Raises
    ------
    ValueError
        If the array has no axis.

    See Also
    --------
    tril : The lower triangle.

    Examples
    --------
    >>> gpuarray.triu(gpuarray.ones((2, 2)))
    array([[1., 1.],
           [0., 1.]])
    """
    return _triangle(_with_rows(m), False, operator.index(k), stream)


def tril_indices(n, k=0, m=None, *, allocator=None, stream=None):
    """Return the indices of the lower triangle of a matrix.

    Parameters
    ----------
    n : int
        Number of rows.
    k : int, optional
        Number of the diagonal. A negative one is below the main diagonal.
    m : int, optional
        Number of columns. The default is ``n``.
    allocator : callable or None, optional
        Function of a number of bytes that returns device memory. The default is the
        default allocator.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    tuple of GPUArray
        Rows and columns, two arrays of int64.

    Raises
    ------
    ValueError
        If a length is negative.

    See Also
    --------
    triu_indices : The upper triangle.

    Notes
    -----
    The call waits for the number of indices.

    Examples
    --------
    >>> gpuarray.tril_indices(2)
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    mask = tri(n, m, k, bool, allocator=allocator, stream=stream)
    return tuple(nonzero(mask, stream))


def triu_indices(n, k=0, m=None, *, allocator=None, stream=None):
    """Return the indices of the upper triangle of a matrix.

    Parameters
    ----------
    n : int
        Number of rows.
    k : int, optional
        Number of the diagonal. A negative one is below the main diagonal.
    m : int, optional
        Number of columns. The default is ``n``.
    allocator : callable or None, optional
        Function of a number of bytes that returns device memory. The default is the
        default allocator.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    tuple of GPUArray
        Rows and columns, two arrays of int64.

    Raises
    ------
    ValueError
        If a length is negative.

    See Also
    --------
    tril_indices : The lower triangle.

    Notes
    -----
    The call waits for the number of indices.

    Examples
    --------
    >>> gpuarray.triu_indices(2)
    (array([0, 0, 1]), array([0, 1, 1]))
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
    """Return the indices of the lower triangle of a matrix.

    Parameters
    ----------
    arr : GPUArray
        Matrix with the shape.
    k : int, optional
        Number of the diagonal. A negative one is below the main diagonal.

    Returns
    -------
    tuple of GPUArray
        Rows and columns, two arrays of int64.

    Raises
    ------
    ValueError
        If the array does not have two axes.

    See Also
    --------
    tril_indices : A given shape.

    Notes
    -----
    The call waits for the number of indices.

    Examples
    --------
    >>> gpuarray.tril_indices_from(gpuarray.zeros((2, 2)))
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    rows, columns = _matrix_shape(arr)
    return tril_indices(rows, k, columns, allocator=arr.allocator)


def triu_indices_from(arr, k=0):
    """Return the indices of the upper triangle of a matrix.

    Parameters
    ----------
    arr : GPUArray
        Matrix with the shape.
    k : int, optional
        Number of the diagonal. A negative one is below the main diagonal.

    Returns
    -------
    tuple of GPUArray
        Rows and columns, two arrays of int64.

    Raises
    ------
    ValueError
        If the array does not have two axes.

    See Also
    --------
    triu_indices : A given shape.

    Notes
    -----
    The call waits for the number of indices.

    Examples
    --------
    >>> gpuarray.triu_indices_from(gpuarray.zeros((2, 2)))
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    rows, columns = _matrix_shape(arr)
    return triu_indices(rows, k, columns, allocator=arr.allocator)


def diagonal(a, offset=0, axis1=0, axis2=1):
    """Return a view of a diagonal of two axes.

    Parameters
    ----------
    a : GPUArray
        Array with two axes or more.
    offset : int, optional
        Number of the diagonal: above 0 it begins in a later column, below 0 in a later
        row.
    axis1 : int, optional
        Axis of the rows.
    axis2 : int, optional
        Axis of the columns.

    Returns
    -------
    GPUArray
        A view, whose last axis is the diagonal.

    Raises
    ------
    ValueError
        If there are fewer than two axes. If ``axis1`` is ``axis2``.

    See Also
    --------
    diag : A copy, or a matrix with a diagonal.

    Examples
    --------
    >>> gpuarray.diagonal(gpuarray.to_gpu(np.array([[1, 2], [3, 4]])))
    array([1, 4])
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
    """Return a diagonal of a matrix as a copy, or a matrix with this diagonal.

    Parameters
    ----------
    v : GPUArray
        Matrix, or array with one axis.
    k : int, optional
        Number of the diagonal. A negative one is below the main diagonal.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array: the diagonal, or a square matrix that is 0 outside of the diagonal.

    Raises
    ------
    ValueError
        If the array has no axis or more than two.

    See Also
    --------
    diagonal : A view.

    Examples
    --------
    >>> gpuarray.diag(gpuarray.to_gpu(np.array([1, 2])))
    array([[1, 0],
           [0, 2]])
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
    """Return a square matrix with all elements of an array on a diagonal.

    Parameters
    ----------
    v : GPUArray
        Array of any shape.
    k : int, optional
        Number of the diagonal. A negative one is below the main diagonal.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array.

    See Also
    --------
    diag : An array with one axis.

    Examples
    --------
    >>> gpuarray.diagflat(gpuarray.to_gpu(np.array([[1, 2]])))
    array([[1, 0],
           [0, 2]])
    """
    return diag(np_ravel(v), k, stream=stream)


def diag_indices(n, ndim=2, *, allocator=None, stream=None):
    """Return the indices of the main diagonal of an array with equal axes.

    Parameters
    ----------
    n : int
        Length of the axes.
    ndim : int, optional
        Number of axes.
    allocator : callable or None, optional
        Function of a number of bytes that returns device memory. The default is the
        default allocator.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    tuple of GPUArray
        One array of int64 for all axes.

    Raises
    ------
    ValueError
        If ``n`` is negative.

    Examples
    --------
    >>> gpuarray.diag_indices(3)[0]
    array([0, 1, 2])
    """
    count = _length(n, "n")
    with on_stream(stream):
        numbers = GPUArray((count,), np.int64, allocator)
        _elementwise(_array_ops["arange"], (0, 1), numbers, np.int64)
    return (numbers,) * operator.index(ndim)


def diag_indices_from(arr):
    """Return the indices of the main diagonal of an array.

    Parameters
    ----------
    arr : GPUArray
        Array with two axes or more of one length.

    Returns
    -------
    tuple of GPUArray
        One array of int64 for all axes.

    Raises
    ------
    ValueError
        If there are fewer than two axes, or if their lengths differ.

    See Also
    --------
    diag_indices : A given length.

    Examples
    --------
    >>> gpuarray.diag_indices_from(gpuarray.zeros((3, 3)))[0]
    array([0, 1, 2])
    """
    _check_equal_axes("diag_indices_from", arr)
    return diag_indices(arr.shape[0], arr.ndim, allocator=arr.allocator)


def _check_equal_axes(name, a):
    if a.ndim < 2 or len({*a.shape}) > 1:
        raise ValueError(
            f"{name} takes two axes or more of one length, not shape {a.shape}"
        )


def _diagonal_view(a, wrap):
    """Return a view of the main diagonal of an array."""
    if a.ndim == 2:
        rows, columns = a.shape
        length = min(rows, columns)
        if wrap and columns and rows > columns + 1:
            # One row stays free between two diagonals.
            length = -(-rows * columns // (columns + 1))
            if not a.flags.c_contiguous:
                return None
            return a.reshape(-1)[:: columns + 1]
        stride = sum(a.strides)
    else:
        _check_equal_axes("fill_diagonal", a)
        length, stride = a.shape[0], sum(a.strides)
    if length == 0:
        return GPUArray((0,), a.dtype, a.allocator)
    return GPUArray(
        (length,), a.dtype, a.allocator, base=a, gpudata=a.gpudata, strides=(stride,)
    )


def fill_diagonal(a, val, wrap=False, *, stream=None):
    """Set the main diagonal of an array, in place.

    Parameters
    ----------
    a : GPUArray
        Array that is changed, with two axes or more.
    val : array_like
        The value, or values that are repeated if there are too few.
    wrap : bool, optional
        If true, the diagonal of a tall matrix begins again after its end.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Raises
    ------
    ValueError
        If there are fewer than two axes, or three or more of different lengths.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> x = gpuarray.zeros((2, 2))
    >>> gpuarray.fill_diagonal(x, 5)
    >>> x
    array([[5., 0.],
           [0., 5.]])
    """
    if a.ndim < 2:
        raise ValueError(f"fill_diagonal takes two axes or more, not shape {a.shape}")
    with on_stream(stream):
        if a.ndim == 2 and a.flags.c_contiguous and isinstance(val, (int, float)):
            rows, columns = a.shape
            end = None if wrap else columns * columns
            if a.size:
                a.reshape(-1)[: end : columns + 1].fill(val)
            return
        target = a
        view = _diagonal_view(a, wrap)
        if view is None:
            target = c_copy(a)
            view = _diagonal_view(target, wrap)
        if np.ndim(val):
            flat = np_ravel(as_values(val, a))
            if flat.size == 0:
                raise ValueError("fill_diagonal: val has no elements")
            times = -(-view.size // flat.size)
            val = flat if flat.size == 1 else tile(flat, times)[: view.size]
        view[...] = val
        if target is not a:
            a[...] = target
