"""Systems of equations, inverses, determinants: by LU decompositions."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pycuda._array.copies import np_ravel, np_reshape, on_stream
from pycuda._array.creation import ones, zeros
from pycuda._array.functions.diagonals import diagonal
from pycuda._array.layout import normal_axes
from pycuda._array.linalg import host
from pycuda._array.linalg.cusolver import decompose
from pycuda._array.linalg.matrices import (
    by_column,
    by_row,
    check_square,
    common_dtype,
    converted,
    is_convertible,
    may_be_small,
    real_dtype,
    refuse_stopped,
    result,
)
from pycuda._driver import GPUArray, _small_solver, matmul
from pycuda._public import published_by

_SINGULAR = "Singular matrix"


@published_by("pycuda.linalg")
class SlogdetResult(NamedTuple):
    """Sign of a determinant and the logarithm of its absolute value.

    Parameters
    ----------
    sign : GPUArray
        A number of absolute value 1, or 0.
    logabsdet : GPUArray
        Real numbers; minus infinity for a singular matrix.

    Attributes
    ----------
    sign : GPUArray
        The sign of the determinant: of modulus 1, or 0.
    logabsdet : GPUArray
        The logarithm of the absolute value of the determinant.
    """

    sign: GPUArray
    logabsdet: GPUArray


def _check_right_side(a, b):
    """Refuse matrices that are not square, and another number of rows."""
    check_square("solve", a)
    if b.ndim == 0 or b.shape[0 if b.ndim == 1 else -2] != a.shape[-1]:
        raise ValueError(
            f"solve: shapes {a.shape} and {b.shape} do not fit: the right side needs "
            f"{a.shape[-1]} rows"
        )


def _solve_on_host(a, b):
    """Return the solutions, as NumPy 2 has them in all its versions."""
    if b.ndim == 1:
        return np.linalg.solve(a, b[:, None])[..., 0]
    return np.linalg.solve(a, b)


def solve(a, b, *, stream=None):
    """Return the ``x`` for which ``a @ x`` is ``b``.

    Parameters
    ----------
    a : GPUArray
        Matrices, shape (..., n, n).
    b : GPUArray
        Right-hand sides, shape (n,), or (..., n, k), whose axes before the last two
        broadcast with those of ``a``.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        The solutions, in the shape of ``b`` after broadcasting.

    Raises
    ------
    LinAlgError
        If a matrix is singular or not square.
    ValueError
        If the shapes do not fit.

    See Also
    --------
    lstsq : Least squares, for other matrices.

    Notes
    -----
    The call waits for the result, to see if a matrix is singular. Integers are computed
    in float64. A generated kernel computes small matrices, cuSOLVER (``getrf``,
    ``getrs``) larger ones, and cuBLAS stacks of them.

    Examples
    --------
    >>> from pycuda import linalg
    >>> a = gpuarray.to_gpu(np.array([[2.0, 0], [0, 4]]))
    >>> linalg.solve(a, gpuarray.to_gpu(np.array([1.0, 2])))
    array([0.5, 0.5])
    """
    if b.ndim > 1 and b.shape[-1] == 0 and 0 not in b.shape[:-2]:
        inv(a, stream=stream)  # refuses a singular matrix, which no column would show
    if host.serves(a, b, stream=stream):
        _check_right_side(a, b)
        return host.apply("solve", _solve_on_host, a, b, stream=stream)
    x = _small_solver("solve", a, b, 0, stream)
    if x is not None:
        return x
    dtype = common_dtype("solve", a, b)
    _check_right_side(a, b)
    is_vector = b.ndim == 1
    with on_stream(stream):
        columns = b[:, None] if is_vector else b
        batch = np.broadcast_shapes(a.shape[:-2], columns.shape[:-2])
        if may_be_small(a):
            x = _small_solver(
                "solve", converted(a, dtype, batch), converted(columns, dtype, batch)
            )
            if x is not None:
                return x.reshape((*batch, a.shape[-1])) if is_vector else x
        right = by_column(columns, dtype, batch)
        if right.size:
            work = by_column(a, dtype, batch)
            lu = decompose(work)
            refuse_stopped(lu.stopped(), _SINGULAR)
            lu.substitute(right)
        if is_vector:
            return right.reshape((*batch, a.shape[-1]))
        return result(right, batch)


def inv(a, *, stream=None):
    """Return the inverses of square matrices.

    Parameters
    ----------
    a : GPUArray
        Matrices, shape (..., n, n).
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        Matrices of the same shape.

    Raises
    ------
    LinAlgError
        If a matrix is singular or not square.

    See Also
    --------
    solve : More accurate and faster for equations.

    Notes
    -----
    The call waits for the result, to see if a matrix is singular. Integers are computed
    in float64. A generated kernel computes small matrices, cuSOLVER (``getrf``,
    ``getrs``) larger ones, and cuBLAS stacks of them.

    Examples
    --------
    >>> from pycuda import linalg
    >>> linalg.inv(gpuarray.to_gpu(np.array([[2.0, 0], [0, 4]])))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    if host.serves(a, stream=stream):
        return host.apply("inv", np.linalg.inv, a, stream=stream)
    inverse = _small_solver("inv", a, None, 0, stream)
    if inverse is not None:
        return inverse
    dtype = common_dtype("inv", a)
    check_square("inv", a)
    with on_stream(stream):
        if is_convertible("inv", a):
            return inv(a.astype(dtype))
        # By row, LAPACK sees the transposed matrix, and so its transposed inverse.
        work = by_row(a, dtype)
        n = a.shape[-1]
        inverse = zeros(work.shape, dtype, a.allocator)
        if work.size:
            diagonal(inverse, axis1=-2, axis2=-1)[...] = 1
            lu = decompose(work)
            refuse_stopped(lu.stopped(), _SINGULAR)
            lu.substitute(inverse)
        return inverse.reshape((*a.shape[:-2], n, n))


def _of_factors(kind, a):
    """Return what a kernel finds of the factors of matrices, None if there are none."""
    dtype = common_dtype(kind, a)
    check_square(kind, a)
    work = by_row(a, dtype)
    if not work.size:
        return None
    pivots = decompose(work).pivots
    return _small_solver(f"{kind} of factors", work, pivots.reshape((*pivots.shape, 1)))


def det(a, *, stream=None):
    """Return the determinants of square matrices.

    Parameters
    ----------
    a : GPUArray
        Matrices, shape (..., n, n).
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        Numbers of shape (...).

    Raises
    ------
    LinAlgError
        If they are not square.

    See Also
    --------
    slogdet : The logarithm, which does not overflow.

    Notes
    -----
    Integers are computed in float64. A generated kernel factors small matrices,
    cuSOLVER (``getrf``) larger ones, and cuBLAS stacks of them.

    Examples
    --------
    >>> from pycuda import linalg
    >>> value = linalg.det(gpuarray.to_gpu(np.array([[2.0, 0], [0, 4]])))
    >>> print(value.get().round(6))
    8.0
    """
    if host.serves(a, stream=stream):
        return host.apply("det", np.linalg.det, a, stream=stream)
    value = _small_solver("det", a, None, 0, stream)
    if value is not None:
        return value
    with on_stream(stream):
        if is_convertible("det", a):
            return det(a.astype(common_dtype("det", a)))
        value = _of_factors("det", a)
        batch = a.shape[:-2]
        if value is None:
            return ones(batch, common_dtype("det", a), a.allocator)
        return value.reshape(batch)


def slogdet(a, *, stream=None):
    """Return the signs and the logarithms of the absolute values of determinants.

    Parameters
    ----------
    a : GPUArray
        Matrices, shape (..., n, n).
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    SlogdetResult
        Named tuple ``(sign, logabsdet)``. For a singular matrix they are 0 and minus
        infinity.

    Raises
    ------
    LinAlgError
        If they are not square.

    See Also
    --------
    det : The determinants.

    Examples
    --------
    >>> from pycuda import linalg
    >>> sign, logarithm = linalg.slogdet(gpuarray.to_gpu(np.array([[0.0, 1], [1, 0]])))
    >>> print(sign, logarithm)
    -1.0 0.0
    """
    if host.serves(a, stream=stream):
        made = host.apply("slogdet", np.linalg.slogdet, a, stream=stream)
        return SlogdetResult(*made)
    values = _small_solver("slogdet", a, None, 0, stream)
    if values is not None:
        return SlogdetResult(*values)
    with on_stream(stream):
        if is_convertible("slogdet", a):
            return slogdet(a.astype(common_dtype("slogdet", a)))
        values = _of_factors("slogdet", a)
        batch = a.shape[:-2]
        if values is None:
            dtype = common_dtype("slogdet", a)
            return SlogdetResult(
                ones(batch, dtype, a.allocator),
                zeros(batch, real_dtype(dtype), a.allocator),
            )
        sign, logarithm = values
        return SlogdetResult(sign.reshape(batch), logarithm.reshape(batch))


def matrix_power(a, n):
    """Return a square matrix, or each matrix of a stack, raised to a whole power.

    Parameters
    ----------
    a : GPUArray
        Matrices, shape (..., n, n).
    n : int
        The power. A negative power is that of the inverse, power 0 is the identity.

    Returns
    -------
    GPUArray
        Matrices of the same shape.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or if the power is negative and a matrix is singular.
    TypeError
        If ``a`` is not on the device, or if ``n`` is not an integer.

    Examples
    --------
    >>> from pycuda import linalg
    >>> linalg.matrix_power(gpuarray.to_gpu(np.array([[1.0, 1], [0, 1]])), 5)
    array([[1., 5.],
           [0., 1.]])
    """
    if not isinstance(a, GPUArray):
        raise TypeError(f"matrix_power takes a GPUArray, not {type(a).__name__}")
    check_square("matrix_power", a)
    try:
        power = int(n.__index__())
    except AttributeError:
        raise TypeError(f"the power must be an integer, not {n!r}") from None
    if power == 0:
        identity = zeros(a.shape, a.dtype, a.allocator)
        if identity.size:
            diagonal(identity, axis1=-2, axis2=-1)[...] = 1
        return identity
    if power < 0:
        a, power = inv(a), -power
    total = None
    while True:
        if power % 2:
            total = a.copy() if total is None else matmul(total, a)
        power //= 2
        if not power:
            return total
        a = matmul(a, a)


def tensorsolve(a, b, axes=None):
    """Return the ``x`` for which ``tensordot(a, x, x.ndim)`` is ``b``.

    Parameters
    ----------
    a : GPUArray
        Array whose first axes are those of ``b`` and whose others are those of ``x``.
    b : GPUArray
        Right-hand side.
    axes : sequence of int, optional
        Axes of ``a`` that go to the end first.

    Returns
    -------
    GPUArray
        The solution.

    Raises
    ------
    LinAlgError
        If the shapes do not fit, or if the matrix is singular.

    See Also
    --------
    solve : The equation with matrices.

    Examples
    --------
    >>> from pycuda import linalg
    >>> a = gpuarray.to_gpu(2.0 * np.eye(4).reshape(2, 2, 4))
    >>> linalg.tensorsolve(a, gpuarray.to_gpu(np.array([[1.0, 2], [3, 4]])))
    array([0.5, 1. , 1.5, 2. ])
    """
    common_dtype("tensorsolve", a, b)
    if axes is not None:
        moved = normal_axes(axes, a.ndim)
        a = a.transpose([k for k in range(a.ndim) if k not in moved] + [*moved])
    shape = a.shape[b.ndim :]
    if a.shape[: b.ndim] != b.shape or math.prod(shape) != math.prod(b.shape):
        raise np.linalg.LinAlgError(
            f"tensorsolve: the shapes {a.shape} and {b.shape} do not fit"
        )
    matrix = np_reshape(a, (math.prod(b.shape), math.prod(shape)))
    return solve(matrix, np_ravel(b)).reshape(shape)


def tensorinv(a, ind=2):
    """Return the inverse of ``a`` as the matrix of ``tensordot`` along ``ind`` axes.

    Parameters
    ----------
    a : GPUArray
        Array. The product of the lengths of its first ``ind`` axes is that of the
        others.
    ind : int, optional
        Number of axes.

    Returns
    -------
    GPUArray
        Array that has the other axes first.

    Raises
    ------
    LinAlgError
        If the products differ, or if the matrix is singular.
    ValueError
        If ``ind`` is below 1.

    See Also
    --------
    inv : The inverse of a matrix.

    Examples
    --------
    >>> from pycuda import linalg
    >>> a = gpuarray.to_gpu(2.0 * np.eye(4).reshape(2, 2, 4))
    >>> linalg.tensorinv(a).shape
    (4, 2, 2)
    """
    common_dtype("tensorinv", a)
    if ind <= 0:
        raise ValueError(f"ind must be 1 or more, not {ind}")
    rows, columns = a.shape[:ind], a.shape[ind:]
    if math.prod(rows) != math.prod(columns):
        raise np.linalg.LinAlgError(
            f"tensorinv: the axes {rows} and {columns} differ in size"
        )
    matrix = np_reshape(a, (math.prod(rows), math.prod(columns)))
    return inv(matrix).reshape((*columns, *rows))
