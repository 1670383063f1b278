"""Norms of vectors and matrices."""

from __future__ import annotations

import numpy as np

from pycuda._array.copies import on_stream
from pycuda._array.layout import normal_axes
from pycuda._array.linalg.factors import svdvals
from pycuda._array.linalg.products import require_arrays
from pycuda._array.linalg.systems import inv
from pycuda._driver import (
    _array_reductions,
    _count_nonzero,
    _max,
    _min,
    _reduce,
    _sum,
)

_NORM = _array_reductions["norm"]
_ABSOLUTE_SUM = _array_reductions["absolute_sum"]


def _inexact(name, x):
    """Return an array of floating-point or complex numbers."""
    require_arrays(name, x)
    if x.dtype.kind in "biu":
        return x.astype(np.float64)
    if x.dtype.kind not in "fc":
        raise TypeError(f"{name} does not take arrays of dtype {x.dtype}")
    return x


def _euclidean(x, axis, keepdims):
    """Return the root of the sum of squares, by one reduction."""
    return _reduce(_NORM, (x,), axis, keepdims)


def _greatest(x, axis, keepdims=False):
    """Return the greatest elements; 0 of no elements, as these have no size."""
    initial = 0 if 0 in x.shape else None
    return _max(x, axis=axis, keepdims=keepdims, initial=initial)


def _vector(x, order, axis, keepdims):
    if order is None or order == 2:
        return _euclidean(x, axis, keepdims)
    if order == 1:
        return _reduce(_ABSOLUTE_SUM, (x,), axis, keepdims)
    size = abs(x)
    if order == np.inf:
        return _greatest(size, axis, keepdims)
    if order == -np.inf:
        return _min(size, axis=axis, keepdims=keepdims)
    if order == 0:
        count = _count_nonzero(x, axis=axis, keepdims=keepdims)
        return count.astype(size.dtype)
    if isinstance(order, str):
        raise ValueError(f"{order!r} is not an order of a norm of vectors")
    total = _sum(size**order, axis=axis, keepdims=keepdims)
    return total ** (1 / order)


def _matrix(x, order, row, column, keepdims):
    """Return the norms of matrices whose axes are ``row`` and ``column``."""
    if order in (None, "fro"):
        return _euclidean(x, (row, column), keepdims)
    if order in ("nuc", 2, -2):
        rest = [k for k in range(x.ndim) if k not in (row, column)]
        values = svdvals(x.transpose((*rest, row, column)))
        reduce = {"nuc": _sum, 2: _greatest, -2: _min}[order]
        result = reduce(values, axis=-1)
    elif order in (1, -1, np.inf, -np.inf):
        inside, outside = (row, column) if abs(order) == 1 else (column, row)
        sums = _reduce(_ABSOLUTE_SUM, (x,), inside, True)
        reduce = _greatest if order > 0 else _min
        result = reduce(sums, axis=(inside, outside))
    else:
        raise ValueError(f"{order!r} is not an order of a norm of matrices")
    if keepdims:
        shape = [1 if k in (row, column) else x.shape[k] for k in range(x.ndim)]
        result = result.reshape(tuple(shape))
    return result


def norm(x, ord=None, axis=None, keepdims=False, *, stream=None):
    """Return norms of vectors or matrices, as ``numpy.linalg.norm`` defines them.

    Parameters
    ----------
    x : GPUArray
        Array of numbers.
    ord : {None, "fro", "nuc"}, int or float, optional
        Order of the norm. The default is the root of the sum of all squares.
    axis : int or pair of int, optional
        An axis gives norms of vectors, a pair those of matrices. The default is all
        axes.
    keepdims : bool, optional
        If true, the result keeps the axes along which it was computed, with length 1.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        Real numbers.

    Raises
    ------
    TypeError
        If ``x`` is not an array of numbers on the device.
    ValueError
        If there is no such order or axis.

    Notes
    -----
    Integers are computed in float64. The orders 2, -2 and "nuc" of matrices are those
    of singular values, see ``svd``. For other orders the call does not wait.

    Examples
    --------
    >>> from pycuda import linalg
    >>> print(linalg.norm(gpuarray.to_gpu(np.array([3.0, 4]))))
    5.0
    """
    x = _inexact("norm", x)
    with on_stream(stream):
        if axis is None and (
            ord is None
            or (ord == 2 and x.ndim == 1)
            or (ord in ("fro", "f") and x.ndim == 2)
        ):
            return _euclidean(x, None, keepdims)
        axes = normal_axes(axis, x.ndim)
        if len(axes) == 1:
            return _vector(x, ord, axes[0], keepdims)
        if len(axes) != 2:
            raise ValueError(
                f"norm takes one axis or two, not {axes} of shape {x.shape}"
            )
        return _matrix(x, "fro" if ord == "f" else ord, *axes, keepdims)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2, stream=None):
    """Return norms of vectors along an axis, several axes, or all of them.

    Parameters
    ----------
    x : GPUArray
        Array of numbers.
    axis : int or tuple of int, optional
        Axes along which to compute. The default is all axes.
    keepdims : bool, optional
        If true, the result keeps the axes along which it was computed, with length 1.
    ord : int or float, optional
        Order of the norm.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        Real numbers.

    Raises
    ------
    TypeError
        If ``x`` is not an array of numbers on the device.
    ValueError
        If there is no such order or axis.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> from pycuda import linalg
    >>> linalg.vector_norm(gpuarray.to_gpu(np.array([[3.0, 4], [6, 8]])), axis=1)
    array([ 5., 10.])
    """
    x = _inexact("vector_norm", x)
    if isinstance(axis, tuple):
        axis = normal_axes(axis, x.ndim)
    with on_stream(stream):
        return _vector(x, ord, axis, keepdims)


def matrix_norm(x, /, *, keepdims=False, ord="fro", stream=None):
    """Return norms of the matrices in the last two axes.

    Parameters
    ----------
    x : GPUArray
        Matrices, shape (..., m, n).
    keepdims : bool, optional
        If true, the result keeps the axes along which it was computed, with length 1.
    ord : {"fro", "nuc"}, int or float, optional
        Order of the norm.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        Real numbers of shape (...).

    Raises
    ------
    TypeError
        If ``x`` is not an array of numbers on the device.
    ValueError
        If there is no such order, or if ``x`` has fewer than two axes.

    See Also
    --------
    norm : Norms of vectors too.

    Examples
    --------
    >>> from pycuda import linalg
    >>> print(linalg.matrix_norm(gpuarray.to_gpu(np.ones((2, 2)))))
    2.0
    """
    x = _inexact("matrix_norm", x)
    if x.ndim < 2:
        raise ValueError(f"matrix_norm takes two axes or more, not shape {x.shape}")
    with on_stream(stream):
        return _matrix(x, ord, x.ndim - 2, x.ndim - 1, keepdims)


def cond(x, p=None, *, stream=None):
    """Return the condition numbers of the matrices in the last two axes.

    Parameters
    ----------
    x : GPUArray
        Matrices, shape (..., m, n).
    p : {None, 1, -1, 2, -2, inf, -inf, "fro", "nuc"}, optional
        Order of the norm. None and 2 give the ratio of the largest to the smallest
        singular value, -2 its reciprocal, the others the norm times that of the
        inverse.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        Real numbers of shape (...).

    Raises
    ------
    LinAlgError
        If there are no elements, or for other orders than None, 2 and -2 if a matrix is
        singular.

    Examples
    --------
    >>> from pycuda import linalg
    >>> print(linalg.cond(gpuarray.to_gpu(np.array([[2.0, 0], [0, 1]]))))
    2.0
    """
    x = _inexact("cond", x)
    if x.ndim < 2 or x.size == 0:
        raise np.linalg.LinAlgError(f"cond takes matrices, not shape {x.shape}")
    with on_stream(stream):
        if p in (None, 2, -2):
            values = svdvals(x)
            first, last = values[..., 0], values[..., -1]
            return last / first if p == -2 else first / last
        return matrix_norm(x, ord=p) * matrix_norm(inv(x), ord=p)
