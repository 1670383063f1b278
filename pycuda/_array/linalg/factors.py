"""Decompositions: Cholesky, QR, singular values, eigenvalues. By cuSOLVER."""

from __future__ import annotations

from ctypes import byref, c_byte, c_int64, c_size_t, c_void_p
from typing import NamedTuple

import numpy as np

import pycuda.driver as _cuda
from pycuda import _extras
from pycuda._array.copies import on_stream
from pycuda._array.creation import zeros
from pycuda._array.functions.diagonals import diagonal, tril, triu
from pycuda._array.functions.operations import where
from pycuda._array.linalg import host
from pycuda._array.linalg.cusolver import (
    LOWER,
    UPPER,
    VALUES,
    VECTORS,
    Routines,
    at,
    check_cusolver,
)
from pycuda._array.linalg.matrices import (
    addresses,
    are_many_small,
    by_column,
    by_row,
    check_square,
    check_stack,
    common_dtype,
    is_convertible,
    real_dtype,
    refuse_stopped,
    result,
    turned,
)
from pycuda._driver import (
    Context,
    GPUArray,
    _any,
    _count_nonzero,
    _max,
    _small_solver,
    _sum,
    _values_of_diagonals,
    device_attribute,
    matmul,
)
from pycuda._public import published_by

#: The most columns of matrices whose singular values Jacobi's method finds sooner than
#: bisection of a bidiagonal matrix: measured on an H200.
JACOBI_MOST = 900


@published_by("pycuda.linalg")
class QRResult(NamedTuple):
    """Factors of a QR decomposition.

    Parameters
    ----------
    Q : GPUArray
        Matrices with orthonormal columns.
    R : GPUArray
        Upper triangular matrices.

    Attributes
    ----------
    Q : GPUArray
        The factor with orthonormal columns, of shape (..., m, k).
    R : GPUArray
        The upper triangular factor, of shape (..., k, n).
    """

    Q: GPUArray
    R: GPUArray


@published_by("pycuda.linalg")
class SVDResult(NamedTuple):
    """Factors of a singular value decomposition: ``U * S @ Vh``.

    Parameters
    ----------
    U : GPUArray
        Left singular vectors, as columns.
    S : GPUArray
        Singular values, descending.
    Vh : GPUArray
        Right singular vectors, conjugate, as rows.

    Attributes
    ----------
    U : GPUArray
        The left singular vectors as columns, of shape (..., m, k).
    S : GPUArray
        The singular values in descending order, of shape (..., min(m, n)).
    Vh : GPUArray
        The right singular vectors as conjugate rows, of shape (..., k, n).
    """

    U: GPUArray
    S: GPUArray
    Vh: GPUArray


@published_by("pycuda.linalg")
class EighResult(NamedTuple):
    """Eigenvalues, in ascending order, and the eigenvectors as columns.

    Parameters
    ----------
    eigenvalues : GPUArray
        Real numbers, ascending.
    eigenvectors : GPUArray
        The vectors, as columns.

    Attributes
    ----------
    eigenvalues : GPUArray
        The eigenvalues in ascending order, real, of shape (..., n).
    eigenvectors : GPUArray
        The eigenvectors as columns, of shape (..., n, n).
    """

    eigenvalues: GPUArray
    eigenvectors: GPUArray


# -- Cholesky and QR -------------------------------------------------------------------


def cholesky(a, /, *, upper=False, stream=None):
    """Return the Cholesky factors of positive definite matrices.

    Parameters
    ----------
    a : GPUArray
        Matrices, shape (..., n, n). Only one triangle is read.
    upper : bool, optional
        If true, read the upper triangle and return upper factors.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        Lower triangular matrices ``L`` of the same shape: ``L @ L.conj().T`` is ``a``.
        With ``upper`` it is ``U.conj().T @ U``.

    Raises
    ------
    LinAlgError
        If a matrix is not square or not positive definite.

    Notes
    -----
    The call waits for the result, to see if the matrices are positive definite.
    Integers are computed in float64. A generated kernel computes small matrices,
    cuSOLVER (``potrf``) larger ones.

    Examples
    --------
    >>> from pycuda import linalg
    >>> linalg.cholesky(gpuarray.to_gpu(np.array([[4.0, 2], [2, 5]])))
    array([[2., 0.],
           [1., 2.]])
    """
    if host.serves(a, stream=stream):
        return host.apply("cholesky", host.cholesky(upper), a, stream=stream)
    factor = _small_solver("cholesky", a, None, bool(upper), stream)
    if factor is not None:
        return factor
    dtype = common_dtype("cholesky", a)
    check_square("cholesky", a)
    with on_stream(stream):
        if is_convertible("cholesky", a):
            return cholesky(a.astype(dtype), upper=upper)
        work = by_row(a, dtype)
        n = a.shape[-1]
        if work.size:
            # By row, LAPACK sees the other triangle.
            side = LOWER if upper else UPPER
            routines = Routines(dtype, work.shape[0], a.allocator)
            if are_many_small(work):
                routines.call_all("potrf", side, n, addresses(work), n)
            else:
                space, length = routines.space("potrf", side, n, work, n)
                for i in range(work.shape[0]):
                    routines.call("potrf", i, side, n, at(work, i), n, space, length)
            refuse_stopped(routines.stopped(), "Matrix is not positive definite")
        return (triu if upper else tril)(work.reshape(a.shape))


_QR_MODES = ("reduced", "complete", "r", "raw")  # the last one is cuSOLVER's only


def qr(a, mode="reduced", *, stream=None):
    """Return the QR decomposition of matrices.

    Parameters
    ----------
    a : GPUArray
        Matrices, shape (..., m, n).
    mode : {"reduced", "complete", "r", "raw"}, optional
        What to return. With k = min(m, n), "reduced" gives shapes (..., m, k) and (...,
        k, n), "complete" (..., m, m) and (..., m, n).
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    QRResult, GPUArray or tuple
        The named tuple ``(Q, R)``. With "r" it is R alone, with "raw" the arrays ``h``
        and ``tau`` of LAPACK.

    Raises
    ------
    LinAlgError
        If ``a`` has fewer than two axes.
    ValueError
        If there is no such mode.

    Notes
    -----
    The call does not wait. Integers are computed in float64. A generated kernel
    computes small matrices, cuSOLVER (``geqrf``, ``orgqr``) larger ones and mode "raw".

    Examples
    --------
    >>> from pycuda import linalg
    >>> a = gpuarray.to_gpu(np.array([[3.0, 1], [4, 2]]))
    >>> q, r = linalg.qr(a)
    >>> bool(np.allclose(q @ r, a))
    True
    """
    if mode not in _QR_MODES:
        raise ValueError(f"mode is {mode!r}, it must be one of {_QR_MODES}")
    if host.serves(a, stream=stream):
        made = host.apply(
            "qr", lambda x: np.linalg.qr(x, mode), a, stream=stream, check=check_stack
        )
        return made if mode in ("r", "raw") else QRResult(*made)
    if mode != "raw":
        factors = _small_solver("qr", a, None, _QR_MODES.index(mode), stream)
        if factors is not None:
            return factors if mode == "r" else QRResult(*factors)
    dtype = common_dtype("qr", a)
    check_stack("qr", a)
    m, n = a.shape[-2:]
    k, batch = min(m, n), a.shape[:-2]
    with on_stream(stream):
        if mode != "raw" and is_convertible("qr", a):
            return qr(a.astype(dtype), mode)
        work = by_column(a, dtype)
        tau = GPUArray((work.shape[0], k), dtype, a.allocator)
        if work.size:
            routines = Routines(dtype, work.shape[0], a.allocator)
            space, length = routines.space("geqrf", m, n, work, m)
            for i in range(work.shape[0]):
                routines.call(
                    *("geqrf", i, m, n, at(work, i), m, at(tau, i), space, length)
                )
        if mode == "raw":
            return work.reshape((*batch, n, m)), tau.reshape((*batch, k))
        rows = m if mode == "complete" else k
        upper = triu(turned(work[:, :, :rows])).reshape((*batch, rows, n))
        if mode == "r":
            return upper
        return QRResult(_orthogonal(work, tau, rows, batch), upper)


def _orthogonal(work, tau, columns, batch):
    """Return the first columns of Q from what ``geqrf`` has made."""
    count, n, m = work.shape
    k = tau.shape[1]
    if columns == n == k:  # Q takes the place of the factors
        full = work
    else:
        full = zeros((count, columns, m), work.dtype, work.allocator)
    if full.size and k == 0:
        diagonal(full, axis1=-2, axis2=-1)[...] = 1
    elif full.size:
        if full is not work:
            full[:, :k] = work[:, :k]
        name = "ungqr" if work.dtype.kind == "c" else "orgqr"
        routines = Routines(work.dtype, count, work.allocator)
        space, length = routines.space(name, m, columns, k, full, m, tau)
        for i in range(count):
            routines.call(
                *(name, i, m, columns, k, at(full, i), m, at(tau, i), space, length)
            )
    return result(full, batch)


# -- values by bisection ---------------------------------------------------------------


def _can_bisect(n, dtype):
    """Return whether a kernel can find the values of diagonals of length n."""
    room = Context.get_device().get_attribute(
        device_attribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    )
    return 2 * n * real_dtype(dtype).itemsize <= room


def _bisected(work, routine, before, scales, is_bidiagonal):
    """Return the values of a stack of matrices, which are overwritten.

    The routine makes diagonals of each matrix. ``before`` are its arguments before the
    matrix, ``scales`` is the number of its arrays for the scales of reflectors.
    """
    count, n, leading = work.shape
    diagonals = GPUArray((2, count, n), real_dtype(work.dtype), work.allocator)
    taus = [GPUArray((n,), work.dtype, work.allocator) for _ in range(scales)]
    routines = Routines(work.dtype, count, work.allocator)
    main, beside = diagonals[0], diagonals[1]
    if is_bidiagonal:
        space, length = routines.space(routine, *before)
    else:
        space, length = routines.space(
            routine, *before, work, leading, main, beside, *taus
        )
    for i in range(count):
        routines.call(
            *(routine, i, *before, at(work, i), leading, at(main, i), at(beside, i)),
            *(*taus, space, length),
        )
    return _values_of_diagonals(main, beside, is_bidiagonal)


# -- singular values -------------------------------------------------------------------


def _decompose(work, job):
    """Decompose matrices of shape (batch, n, m), which LAPACK sees as m rows, m >= n.

    ``job`` is "A" for all vectors, "S" for the first n, "N" for none. Return the
    vectors on the left, the values, and those on the right, stored by column.
    """
    count, n, m = work.shape
    dtype, allocator = work.dtype, work.allocator
    values = GPUArray((count, n), real_dtype(dtype), allocator)
    columns = {"A": m, "S": n, "N": 0}[job]
    if job == "N" and values.size and n <= JACOBI_MOST:
        stopped = Routines(dtype, count, allocator).jacobi_values(work, values)
        refuse_stopped(stopped, "SVD did not converge")
        return None, values, None
    if job == "N" and values.size and _can_bisect(n, dtype):
        return None, _bisected(work, "gebrd", (m, n), 2, True), None
    left = GPUArray((count, columns, m), dtype, allocator)
    right = GPUArray((count, n if columns else 0, n), dtype, allocator)
    if not values.size:
        for vectors in (left, right):
            if vectors.size:
                vectors.fill(0)
                diagonal(vectors, axis1=-2, axis2=-1)[...] = 1
        return left, values, right
    routines = Routines(dtype, count, allocator)
    space, length = routines.space("gesvd", m, n)
    rest = GPUArray((max(n - 1, 1),), values.dtype, allocator)
    flag = c_byte(ord(job))
    for i in range(count):
        u, v = (at(x, i) if columns else None for x in (left, right))
        routines.call(
            *("gesvd", i, flag, flag, m, n, at(work, i), m, at(values, i)),
            *(u, m, v, n, space, length, rest),
        )
    refuse_stopped(routines.stopped(), "SVD did not converge")
    return left, values, right


def svd(a, full_matrices=True, compute_uv=True, hermitian=False, *, stream=None):
    """Return the singular value decomposition of matrices.

    Parameters
    ----------
    a : GPUArray
        Matrices, shape (..., m, n).
    full_matrices : bool, optional
        If true, the shapes are (..., m, m), (..., k) and (..., n, n), with k = min(m,
        n). Otherwise they are (..., m, k), (..., k) and (..., k, n).
    compute_uv : bool, optional
        If false, return the values alone.
    hermitian : bool, optional
        Not used; NumPy has this parameter.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    SVDResult or GPUArray
        The named tuple ``(U, S, Vh)``, or the values. They descend.

    Raises
    ------
    LinAlgError
        If the iteration does not converge.

    See Also
    --------
    svdvals : The values alone.

    Notes
    -----
    The call waits, to see if cuSOLVER (``gesvd``) has converged. A generated kernel
    computes the values of small matrices. Integers are computed in float64.

    Examples
    --------
    >>> from pycuda import linalg
    >>> a = gpuarray.to_gpu(np.array([[4.0, 1], [1, 3]]))
    >>> linalg.svd(a, compute_uv=False)
    array([4.61803399, 2.38196601])
    """
    if host.serves(a, stream=stream):
        made = host.apply(
            "svd",
            lambda x: np.linalg.svd(x, full_matrices, compute_uv),
            a,
            stream=stream,
            check=check_stack,
        )
        return SVDResult(*made) if compute_uv else made
    if not compute_uv:
        values = _small_solver("svdvals", a, None, 0, stream)
        if values is not None:
            return values
    dtype = common_dtype("svd", a)
    check_stack("svd", a)
    m, n = a.shape[-2:]
    batch, k = a.shape[:-2], min(m, n)
    job = "N" if not compute_uv else "A" if full_matrices else "S"
    with on_stream(stream):
        if not compute_uv and is_convertible("svd", a):
            return svd(a.astype(dtype), compute_uv=False)
        if m >= n:
            left, values, right = _decompose(by_column(a, dtype), job)
            if compute_uv:
                left, right = result(left, batch), result(right, batch)
        else:
            # The transposed matrix has the same values, and the vectors change sides.
            right, values, left = _decompose(by_row(a, dtype), job)
            if compute_uv:
                left = left.reshape((*batch, *left.shape[1:]))
                right = right.reshape((*batch, *right.shape[1:]))
        values = values.reshape((*batch, k))
        return SVDResult(left, values, right) if compute_uv else values


def svdvals(x, /, *, stream=None):
    """Return the singular values of matrices, in descending order.

    Parameters
    ----------
    x : GPUArray
        Matrices, shape (..., m, n).
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        Real numbers of shape (..., min(m, n)).

    Raises
    ------
    LinAlgError
        If the iteration does not converge.

    See Also
    --------
    svd : The vectors too.

    Examples
    --------
    >>> from pycuda import linalg
    >>> linalg.svdvals(gpuarray.to_gpu(np.array([[4.0, 1], [1, 3]])))
    array([4.61803399, 2.38196601])
    """
    return svd(x, compute_uv=False, stream=stream)


def _limit(values, rcond):
    """Return the limits below which singular values count as 0."""
    if isinstance(rcond, GPUArray):
        rcond = rcond.reshape((*rcond.shape, 1))
    return _max(values, axis=-1, keepdims=True) * rcond


def pinv(a, rcond=None, hermitian=False, *, rtol=None, stream=None):
    """Return the pseudo-inverses of matrices.

    Parameters
    ----------
    a : GPUArray
        Matrices, shape (..., m, n).
    rcond : float or GPUArray, optional
        Singular values up to ``rcond`` times the largest count as 0. The default is
        ``max(m, n)`` times the dtype's epsilon; NumPy's is 1e-15.
    hermitian : bool, optional
        Not used; NumPy has this parameter.
    rtol : float or GPUArray, optional
        Another name for ``rcond``, which precedes it.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        Matrices, shape (..., n, m).

    Raises
    ------
    LinAlgError
        If the decomposition does not converge.

    See Also
    --------
    inv : The inverse of a square matrix.

    Notes
    -----
    The call waits for the decomposition.
    """
    dtype = common_dtype("pinv", a)
    check_stack("pinv", a)
    m, n = a.shape[-2:]
    if rcond is None:
        rcond = max(m, n) * np.finfo(dtype).eps if rtol is None else rtol
    with on_stream(stream):
        if not a.size:
            return zeros((*a.shape[:-2], n, m), dtype, a.allocator)
        u, s, vh = svd(a, full_matrices=False)
        kept = s > _limit(s, rcond)
        inverse = where(kept, 1 / where(kept, s, s.dtype.type(1)), s.dtype.type(0))
        scaled = turned(vh.conj()) * inverse[..., None, :]
        return matmul(scaled, turned(u.conj()))


def matrix_rank(A, tol=None, hermitian=False, *, rtol=None, stream=None):  # noqa: N803
    """Return how many singular values are larger than a tolerance.

    Parameters
    ----------
    A : GPUArray
        Matrices, shape (..., m, n). An array with fewer than two axes has rank 1 unless
        all elements are 0.
    tol : float or GPUArray, optional
        Tolerance. The default is ``max(m, n)`` times the dtype's epsilon times the
        largest value.
    hermitian : bool, optional
        Not used; NumPy has this parameter.
    rtol : float or GPUArray, optional
        Singular values up to ``rtol`` times the largest count as 0. The default is
        ``max(m, n)`` times the dtype's epsilon.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        The ranks, int64.

    Raises
    ------
    ValueError
        If ``tol`` and ``rtol`` are given.

    Examples
    --------
    >>> from pycuda import linalg
    >>> print(linalg.matrix_rank(gpuarray.to_gpu(np.array([[1.0, 2], [2, 4]]))))
    1
    """
    if tol is not None and rtol is not None:
        raise ValueError("give tol or rtol, not both")
    with on_stream(stream):
        if A.ndim < 2:
            return _any(A != 0).astype(np.int64)
        s = svdvals(A)
        if tol is None:
            if rtol is None:
                rtol = max(A.shape[-2:]) * np.finfo(s.dtype).eps
            if not s.size:
                return zeros(A.shape[:-2], np.int64, A.allocator)
            tol = _limit(s, rtol)
        elif isinstance(tol, GPUArray):
            tol = tol.reshape((*tol.shape, 1))
        return _count_nonzero(s > tol, axis=-1)


def lstsq(a, b, rcond=None, *, stream=None):
    """Return the least-squares solution of ``a @ x = b``.

    Parameters
    ----------
    a : GPUArray
        Matrix, shape (m, n).
    b : GPUArray
        Right-hand sides, shape (m,) or (m, k).
    rcond : float, optional
        Singular values up to ``rcond`` times the largest count as 0. The default is
        ``max(m, n)`` times the dtype's epsilon.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    x : GPUArray
        The solution of the smallest norm, shape (n,) or (n, k).
    residuals : GPUArray
        Sums of squares of ``b - a @ x``; empty if the rank is below n or m <= n.
    rank : int
        Rank of ``a``.
    s : GPUArray
        Singular values of ``a``.

    Raises
    ------
    LinAlgError
        If the shapes do not fit, or if the decomposition does not converge.

    See Also
    --------
    solve : The solution for a square matrix.

    Notes
    -----
    The call waits for the decomposition by cuSOLVER (``gesvd``) and for the rank.
    """
    dtype = common_dtype("lstsq", a, b)
    if a.ndim != 2 or b.ndim not in (1, 2) or a.shape[0] != b.shape[0]:
        raise np.linalg.LinAlgError(
            f"lstsq takes shapes (m, n) and (m,) or (m, k), not {a.shape} and {b.shape}"
        )
    m, n = a.shape
    if rcond is None:
        rcond = max(m, n) * np.finfo(dtype).eps
    elif rcond < 0:
        rcond = np.finfo(dtype).eps
    with on_stream(stream):
        right = (b[:, None] if b.ndim == 1 else b).astype(dtype)
        k = right.shape[1]
        s = GPUArray((0,), real_dtype(dtype), a.allocator)
        x, rank = zeros((n, k), dtype, a.allocator), 0
        if m and n:
            # A copy would stand in the reports of the checks in place of the operand.
            values = a if a.dtype == dtype else a.astype(dtype)
            u, s, vh = svd(values, full_matrices=False)
            kept = s > _limit(s, rcond)
            rank = int(_count_nonzero(kept).get())
            inverse = where(kept, 1 / where(kept, s, s.dtype.type(1)), s.dtype.type(0))
            parts = matmul(turned(u.conj()), right) * inverse[:, None]
            x = matmul(turned(vh.conj()), parts)
        residuals = GPUArray((0,), real_dtype(dtype), a.allocator)
        if rank == n and m > n:
            away = abs(right - matmul(values, x))
            residuals = _sum(away * away, axis=0)
        if b.ndim == 1:
            x = x.reshape((n,))
        return x, residuals, rank, s


# -- eigenvalues -----------------------------------------------------------------------


def _side(uplo):
    """Return the triangle that a letter names."""
    side = {"L": LOWER, "U": UPPER}.get(str(uplo).upper())
    if side is None:
        raise ValueError(f"UPLO is {uplo!r}, it must be 'L' or 'U'")
    return side


def _eigen(name, a, side, job):
    """Return the eigenvalues, and the vectors stored by column."""
    dtype = common_dtype(name, a)
    check_square(name, a)
    work = by_column(a, dtype)
    count, n = work.shape[0], work.shape[1]
    values = GPUArray((count, n), real_dtype(dtype), a.allocator)
    if work.size and job == VALUES and _can_bisect(n, dtype):
        routine = "hetrd" if dtype.kind == "c" else "sytrd"
        values = _bisected(work, routine, (side, n), 1, False)
    elif work.size:
        routine = "heevd" if dtype.kind == "c" else "syevd"
        routines = Routines(dtype, count, a.allocator)
        space, length = routines.space(routine, job, side, n, work, n, values)
        for i in range(count):
            routines.call(
                *(routine, i, job, side, n, at(work, i), n, at(values, i)),
                *(space, length),
            )
        refuse_stopped(routines.stopped(), "Eigenvalues did not converge")
    return values.reshape((*a.shape[:-2], n)), work


def eigh(a, UPLO="L", *, stream=None):  # noqa: N803
    """Return eigenvalues and eigenvectors of symmetric or Hermitian matrices.

    Parameters
    ----------
    a : GPUArray
        Matrices, shape (..., n, n). Only one triangle is read.
    UPLO : {"L", "U"}, optional
        The triangle that is read.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    EighResult
        Named tuple of the values, shape (..., n), ascending, and the vectors as
        columns, shape (..., n, n).

    Raises
    ------
    LinAlgError
        If a matrix is not square, or if the iteration does not converge.
    ValueError
        If ``UPLO`` is another letter.

    See Also
    --------
    eigvalsh : The values alone.

    Notes
    -----
    The call waits, to see if cuSOLVER (``syevd``, ``heevd``) has converged.
    """
    side = _side(UPLO)
    if host.serves(a, stream=stream):
        made = host.apply("eigh", lambda x: np.linalg.eigh(x, UPLO), a, stream=stream)
        return EighResult(*made)
    with on_stream(stream):
        values, work = _eigen("eigh", a, side, VECTORS)
        return EighResult(values, result(work, a.shape[:-2]))


def eigvalsh(a, UPLO="L", *, stream=None):  # noqa: N803
    """Return the eigenvalues of symmetric or Hermitian matrices.

    Parameters
    ----------
    a : GPUArray
        Matrices, shape (..., n, n). Only one triangle is read.
    UPLO : {"L", "U"}, optional
        The triangle that is read.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        Real numbers, ascending, shape (..., n).

    Raises
    ------
    LinAlgError
        If a matrix is not square, or if the iteration does not converge.
    ValueError
        If ``UPLO`` is another letter.

    See Also
    --------
    eigh : The vectors too.

    Notes
    -----
    A generated kernel computes small matrices, cuSOLVER larger ones.

    Examples
    --------
    >>> from pycuda import linalg
    >>> linalg.eigvalsh(gpuarray.to_gpu(np.array([[4.0, 1], [1, 3]])))
    array([2.38196601, 4.61803399])
    """
    side = _side(UPLO)
    if host.serves(a, stream=stream):
        return host.apply(
            "eigvalsh", lambda x: np.linalg.eigvalsh(x, UPLO), a, stream=stream
        )
    values = _small_solver("eigvalsh", a, None, side, stream)
    if values is not None:
        return values
    with on_stream(stream):
        if is_convertible("eigvalsh", a):
            return eigvalsh(a.astype(common_dtype("eigvalsh", a)), UPLO)
        return _eigen("eigvalsh", a, side, VALUES)[0]


# -- eigenvalues of matrices that need not be symmetric --------------------------------


#: CUDA's numbers of the complex data types.
_DATA_TYPES = {"complex64": 4, "complex128": 5}


@published_by("pycuda.linalg")
class EigResult(NamedTuple):
    """Eigenvalues, and the eigenvectors as columns. Both are complex.

    Parameters
    ----------
    eigenvalues : GPUArray
        Complex numbers.
    eigenvectors : GPUArray
        The vectors, as columns.

    Attributes
    ----------
    eigenvalues : GPUArray
        The eigenvalues, complex, of shape (..., n).
    eigenvectors : GPUArray
        The eigenvectors as columns, complex, of shape (..., n, n).
    """

    eigenvalues: GPUArray
    eigenvectors: GPUArray


class _Parameters:
    """cuSOLVER's object for the settings of a routine that takes any data type."""

    def __init__(self, library):
        self._library = library
        self.value = c_void_p()
        check_cusolver(
            "cusolverDnCreateParams", library.cusolverDnCreateParams(byref(self.value))
        )

    def __enter__(self):
        return self.value

    def __exit__(self, *_):
        self._library.cusolverDnDestroyParams(self.value)


class _General(Routines):
    """The routines that take any data type: they say which one in their arguments."""

    def __init__(self, dtype, batch, allocator):
        super().__init__(dtype, batch, allocator)
        self._letter = "X"
        if getattr(self._library, "cusolverDnXgeev", None) is None:
            raise _cuda.RuntimeError(
                "this cuSOLVER has no cusolverDnXgeev, which eig() needs: install that "
                "of CUDA 12.8 or later, for example with " + _extras.command("linalg")
            )

    def eigen(self, work, values, vectors):
        """Store the eigenvalues, and the vectors by column unless that is None."""
        count, n, _ = work.shape
        kind = _DATA_TYPES[self._dtype.name]
        job = VALUES if vectors is None else VECTORS
        order = c_int64(n)
        device, host = c_size_t(), c_size_t()

        def matrices(i):
            kept = None if vectors is None else at(vectors, i)
            return (
                *(order, kind, at(work, i), order, kind, at(values, i)),
                *(kind, None, order, kind, kept, order, kind),
            )

        with _Parameters(self._library) as parameters:
            begin = (parameters, VALUES, job)
            self._call(
                "geev_bufferSize", *begin, *matrices(0), byref(device), byref(host)
            )
            space = GPUArray((max(device.value, 1),), np.uint8, self._allocator)
            memory = np.empty(max(host.value, 1), np.uint8)
            for i in range(count):
                self.call(
                    *("geev", i, *begin, *matrices(i), space, device),
                    *(c_void_p(memory.ctypes.data), host),
                )
            # This waits, so the memory of the host may go.
            refuse_stopped(self.stopped(), "Eigenvalues did not converge")


def _general_eigen(name, a, with_vectors):
    """Return the eigenvalues, and the vectors or None."""
    check_square(name, a)
    dtype = np.result_type(common_dtype(name, a), np.complex64)
    work = by_column(a, dtype)
    count, n = work.shape[0], work.shape[1]
    values = GPUArray((count, n), dtype, a.allocator)
    vectors = GPUArray((count, n, n), dtype, a.allocator) if with_vectors else None
    if work.size:
        _General(dtype, count, a.allocator).eigen(work, values, vectors)
    values = values.reshape((*a.shape[:-2], n))
    return values, None if vectors is None else result(vectors, a.shape[:-2])


def eig(a, *, stream=None):
    """Return eigenvalues and right eigenvectors of square matrices.

    Parameters
    ----------
    a : GPUArray
        Matrices, shape (..., n, n).
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    EigResult
        Named tuple of the values, shape (..., n), and the vectors of norm 1 as columns,
        shape (..., n, n). Both are complex also where all values are real, other than
        in NumPy. The order of the values is cuSOLVER's.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or if the iteration does not converge.
    RuntimeError
        If cuSOLVER is older than that of CUDA 12.8.

    See Also
    --------
    eigh : Symmetric and Hermitian matrices.

    Notes
    -----
    The call waits for cuSOLVER (``geev``).
    """
    if host.serves(a, stream=stream):
        found = host.apply("eig", np.linalg.eig, a, stream=stream, dtype=np.complex64)
        return EigResult(*found)
    with on_stream(stream):
        return EigResult(*_general_eigen("eig", a, True))


def eigvals(a, *, stream=None):
    """Return the eigenvalues of square matrices, which are complex.

    Parameters
    ----------
    a : GPUArray
        Matrices, shape (..., n, n).
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        Complex numbers, shape (..., n), in the order of cuSOLVER.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or if the iteration does not converge.
    RuntimeError
        If cuSOLVER is older than that of CUDA 12.8.

    See Also
    --------
    eig : The vectors too.
    """
    if host.serves(a, stream=stream):
        return host.apply(
            "eigvals", np.linalg.eigvals, a, stream=stream, dtype=np.complex64
        )
    with on_stream(stream):
        return _general_eigen("eigvals", a, False)[0]
