"""The extension for linear algebra of the standard.

The functions of matrices take stacks of matrices: arrays whose last two axes are rows
and columns. Products work everywhere. Factorizations and solvers are computed by
cuSOLVER, see ``pycuda.linalg``.
"""

from __future__ import annotations

from typing import Literal

import pycuda.gpuarray as _ga
from pycuda import _hide_imports, linalg as _solvers
from pycuda.array_api._data_types import DType
from pycuda.array_api._manipulation import (
    matmul,
    matrix_transpose,
    tensordot,
    vecdot,
)
from pycuda.array_api._statistics import sum as _sum
from pycuda.gpuarray import GPUArray
from pycuda.linalg import EighResult, EigResult, QRResult, SlogdetResult, SVDResult

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]
_hide_imports(globals())


def _check_matrices(x: GPUArray, name: str) -> None:
    """Raise ValueError unless an array has matrices, TypeError if not of floats."""
    if x.ndim < 2:
        raise ValueError(f"{name}() takes matrices, not an array of shape {x.shape}")
    if x.dtype.kind not in "fc":
        raise TypeError(f"{name}() takes floating-point arrays, not {x.dtype}")


# -- products --------------------------------------------------------------------------


def cross(x1: GPUArray, x2: GPUArray, /, *, axis: int = -1) -> GPUArray:
    """Return the cross products of vectors of three elements along an axis.

    Parameters
    ----------
    x1 : GPUArray
        First vectors.
    x2 : GPUArray
        Second vectors. Both broadcast.
    axis : int, default -1
        Axis of the elements, counted from the end.

    Returns
    -------
    GPUArray
        A new array of the common dtype.

    Raises
    ------
    TypeError
        If an operand is not on the device.
    ValueError
        If the vectors do not have three elements, or ``axis`` is not negative.

    See Also
    --------
    pycuda.linalg.cross : It has ``axisa``, ``axisb``, ``axisc`` too.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x, y = (gpuarray.to_gpu(np.array(values)) for values in ([1, 0, 0], [0, 1, 0]))
    >>> xp.linalg.cross(x, y)
    array([0, 0, 1])
    """
    low = -min(x1.ndim, x2.ndim)
    if not low <= axis < 0:
        raise ValueError(f"axis must be between {low} and -1, not {axis}")
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(
            f"axis {axis} of the shapes {x1.shape} and {x2.shape} must have length 3"
        )
    return _solvers.cross(x1, x2, axis=axis)


def outer(x1: GPUArray, x2: GPUArray, /) -> GPUArray:
    """Return the products of all pairs of elements of two arrays of one axis.

    Parameters
    ----------
    x1 : GPUArray
        Array of m elements.
    x2 : GPUArray
        Array of n elements.

    Returns
    -------
    GPUArray
        The result of shape (m, n): a new array.

    Raises
    ------
    TypeError
        If an operand is not on the device.
    ValueError
        If an array has not one axis.

    See Also
    --------
    pycuda.linalg.outer : It has ``out`` too.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.linalg.outer(*[gpuarray.to_gpu(np.array([1, 2]))] * 2)
    array([[1, 2],
           [2, 4]])
    """
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(
            f"outer() takes arrays of one axis, not of shape {x1.shape} and {x2.shape}"
        )
    return _solvers.outer(x1, x2)


# -- diagonals -------------------------------------------------------------------------


def diagonal(x: GPUArray, /, *, offset: int = 0) -> GPUArray:
    """Return a view of a diagonal of each matrix; it is the last axis.

    Parameters
    ----------
    x : GPUArray
        Matrices, shape (..., m, n).
    offset : int, optional
        Number of the diagonal: above 0 it begins in a later column, below 0 in a later
        row.

    Returns
    -------
    GPUArray
        A view, whose last axis is the diagonal.

    Raises
    ------
    ValueError
        If there are fewer than two axes.

    See Also
    --------
    pycuda.gpuarray.diagonal : It has ``axis1``, ``axis2`` too.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.linalg.diagonal(gpuarray.to_gpu(np.array([[1, 2], [3, 4]])))
    array([1, 4])
    """
    return _ga.diagonal(x, offset, -2, -1)


def trace(x: GPUArray, /, *, offset: int = 0, dtype: DType | None = None) -> GPUArray:
    """Return the sum of a diagonal of each matrix.

    Parameters
    ----------
    x : GPUArray
        Matrices, shape (..., m, n).
    offset : int, optional
        Number of the diagonal: above 0 it begins in a later column, below 0 in a later
        row.
    dtype : dtype_like, optional
        Dtype of the result. Small integers add in 64 bits.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    ValueError
        If there are fewer than two axes.

    See Also
    --------
    pycuda.linalg.trace : It has ``axis1``, ``axis2``, ``out`` too.
    diagonal : The elements.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> print(xp.linalg.trace(gpuarray.to_gpu(np.array([[1, 2], [3, 4]]))))
    5
    """
    return _sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


# -- norms -----------------------------------------------------------------------------


def vector_norm(
    x: GPUArray,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    ord: float = 2,
) -> GPUArray:
    """Return the norms of vectors along axes, by default of all elements.

    ``ord`` is the order: a number, inf for the greatest and -inf for the smallest
    absolute value, 0 for the number of elements that are not 0. The result has the real
    data type of the array.

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

    Returns
    -------
    GPUArray
        Real numbers.

    Raises
    ------
    TypeError
        If the elements are not floating-point or complex numbers.
    ValueError
        If there is no such order or axis.

    See Also
    --------
    pycuda.linalg.vector_norm : It has ``stream`` too.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.linalg.vector_norm(gpuarray.to_gpu(np.array([[3.0, 4], [6, 8]])), axis=1)
    array([ 5., 10.])
    """
    if x.dtype.kind not in "fc":
        raise TypeError(f"vector_norm() takes floating-point arrays, not {x.dtype}")
    return _solvers.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)


def matrix_norm(
    x: GPUArray,
    /,
    *,
    keepdims: bool = False,
    ord: float | Literal["fro", "nuc"] | None = "fro",
) -> GPUArray:
    """Return the norm of each matrix.

    ``ord`` is "fro" or None, 1 and -1 for the sums of columns, inf and -inf for those
    of rows, and "nuc", 2 and -2 for norms of the singular values, which cuSOLVER
    computes.

    Parameters
    ----------
    x : GPUArray
        Matrices, shape (..., m, n).
    keepdims : bool, optional
        If true, the result keeps the axes along which it was computed, with length 1.
    ord : {"fro", "nuc"}, int or float, optional
        Order of the norm.

    Returns
    -------
    GPUArray
        Real numbers of shape (...).

    Raises
    ------
    TypeError
        If the elements are not floating-point or complex numbers.
    ValueError
        If there is no such order, or if ``x`` has fewer than two axes.

    See Also
    --------
    pycuda.linalg.matrix_norm : It has ``stream`` too.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> print(xp.linalg.matrix_norm(gpuarray.to_gpu(np.ones((2, 2)))))
    2.0
    """
    _check_matrices(x, "matrix_norm")
    return _solvers.matrix_norm(x, keepdims=keepdims, ord=ord)


# -- factorizations --------------------------------------------------------------------


def cholesky(x: GPUArray, /, *, upper: bool = False) -> GPUArray:
    """Return the triangular factor of positive definite matrices.

    Parameters
    ----------
    x : GPUArray
        Matrices, shape (..., n, n). Only one triangle is read.
    upper : bool, optional
        If true, read the upper triangle and return upper factors.

    Returns
    -------
    GPUArray
        Lower triangular matrices ``L`` of the same shape: ``L @ L.conj().T`` is ``x``.
        With ``upper`` it is ``U.conj().T @ U``.

    Raises
    ------
    LinAlgError
        If a matrix is not square or not positive definite.
    TypeError
        If the elements are not floating-point or complex numbers.
    ValueError
        If ``x`` has fewer than two axes.

    See Also
    --------
    pycuda.linalg.cholesky : It has ``stream`` too.

    Notes
    -----
    The call waits for the result, to see if the matrices are positive definite. A
    generated kernel computes small matrices, cuSOLVER (``potrf``) larger ones.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.linalg.cholesky(gpuarray.to_gpu(np.array([[4.0, 2], [2, 5]])))
    array([[2., 0.],
           [1., 2.]])
    """
    _check_matrices(x, "cholesky")
    return _solvers.cholesky(x, upper=upper)


def qr(x: GPUArray, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """Return (Q, R): an orthogonal and an upper triangular factor of each matrix.

    Parameters
    ----------
    x : GPUArray
        Matrices, shape (..., m, n).
    mode : {"reduced", "complete"}, optional
        With k = min(m, n), "reduced" gives shapes (..., m, k) and (..., k, n),
        "complete" (..., m, m) and (..., m, n).

    Returns
    -------
    QRResult
        The named tuple ``(Q, R)``.

    Raises
    ------
    TypeError
        If the elements are not floating-point or complex numbers.
    ValueError
        If there is no such mode, or if ``x`` has fewer than two axes.

    See Also
    --------
    pycuda.linalg.qr : It has ``stream`` too.

    Notes
    -----
    The call does not wait. A generated kernel computes small matrices, cuSOLVER
    (``geqrf``, ``orgqr``) larger ones.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> a = gpuarray.to_gpu(np.array([[3.0, 1], [4, 2]]))
    >>> q, r = xp.linalg.qr(a)
    >>> bool(np.allclose(q @ r, a))
    True
    """
    _check_matrices(x, "qr")
    if mode not in ("reduced", "complete"):
        raise ValueError(f"mode must be 'reduced' or 'complete', not {mode!r}")
    return _solvers.qr(x, mode=mode)


def svd(x: GPUArray, /, *, full_matrices: bool = True) -> SVDResult:
    """Return (U, S, Vh), the singular value decomposition of each matrix.

    Parameters
    ----------
    x : GPUArray
        Matrices, shape (..., m, n).
    full_matrices : bool, optional
        If true, the shapes are (..., m, m), (..., k) and (..., n, n), with k = min(m,
        n). Otherwise they are (..., m, k), (..., k) and (..., k, n).

    Returns
    -------
    SVDResult
        The named tuple ``(U, S, Vh)``. The values descend.

    Raises
    ------
    LinAlgError
        If the iteration does not converge.
    RuntimeError
        On the software device, which has no cuSOLVER.
    TypeError
        If the elements are not floating-point or complex numbers.
    ValueError
        If ``x`` has fewer than two axes.

    See Also
    --------
    pycuda.linalg.svd : It has ``compute_uv``, ``hermitian``, ``stream`` too.
    svdvals : The values alone.

    Notes
    -----
    The call waits, to see if cuSOLVER (``gesvd``) has converged. A generated kernel
    computes the values of small matrices.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> a = gpuarray.to_gpu(np.array([[4.0, 1], [1, 3]]))
    >>> xp.linalg.svdvals(a)
    array([4.61803399, 2.38196601])
    """
    _check_matrices(x, "svd")
    return _solvers.svd(x, full_matrices=full_matrices)


def svdvals(x: GPUArray, /) -> GPUArray:
    """Return the singular values of matrices, in descending order.

    Parameters
    ----------
    x : GPUArray
        Matrices, shape (..., m, n).

    Returns
    -------
    GPUArray
        Real numbers of shape (..., min(m, n)).

    Raises
    ------
    LinAlgError
        If the iteration does not converge.
    TypeError
        If the elements are not floating-point or complex numbers.
    ValueError
        If ``x`` has fewer than two axes.

    See Also
    --------
    pycuda.linalg.svdvals : It has ``stream`` too.
    svd : The vectors too.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.linalg.svdvals(gpuarray.to_gpu(np.array([[4.0, 1], [1, 3]])))
    array([4.61803399, 2.38196601])
    """
    _check_matrices(x, "svdvals")
    return _solvers.svdvals(x)


def eigh(x: GPUArray, /) -> EighResult:
    """Return eigenvalues and eigenvectors of symmetric or Hermitian matrices.

    Parameters
    ----------
    x : GPUArray
        Matrices, shape (..., n, n). Only one triangle is read.

    Returns
    -------
    EighResult
        Named tuple of the values, shape (..., n), ascending, and the vectors as
        columns, shape (..., n, n).

    Raises
    ------
    LinAlgError
        If a matrix is not square, or if the iteration does not converge.
    RuntimeError
        On the software device, which has no cuSOLVER.
    TypeError
        If the elements are not floating-point or complex numbers.
    ValueError
        If ``x`` has fewer than two axes.

    See Also
    --------
    pycuda.linalg.eigh : It has ``UPLO``, ``stream`` too.
    eigvalsh : The values alone.

    Notes
    -----
    The call waits, to see if cuSOLVER (``syevd``, ``heevd``) has converged.
    """
    _check_matrices(x, "eigh")
    return _solvers.eigh(x)


def eigvalsh(x: GPUArray, /) -> GPUArray:
    """Return the eigenvalues of symmetric or Hermitian matrices.

    Parameters
    ----------
    x : GPUArray
        Matrices, shape (..., n, n). Only one triangle is read.

    Returns
    -------
    GPUArray
        Real numbers, ascending, shape (..., n).

    Raises
    ------
    LinAlgError
        If a matrix is not square, or if the iteration does not converge.
    TypeError
        If the elements are not floating-point or complex numbers.
    ValueError
        If ``x`` has fewer than two axes.

    See Also
    --------
    pycuda.linalg.eigvalsh : It has ``UPLO``, ``stream`` too.
    eigh : The vectors too.

    Notes
    -----
    A generated kernel computes small matrices, cuSOLVER larger ones.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.linalg.eigvalsh(gpuarray.to_gpu(np.array([[4.0, 1], [1, 3]])))
    array([2.38196601, 4.61803399])
    """
    _check_matrices(x, "eigvalsh")
    return _solvers.eigvalsh(x)


def eig(x: GPUArray, /) -> EigResult:
    """Return eigenvalues and right eigenvectors of square matrices.

    Parameters
    ----------
    x : GPUArray
        Matrices, shape (..., n, n).

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
        On the software device, and if cuSOLVER is older than that of CUDA 12.8.
    TypeError
        If the elements are not floating-point or complex numbers.
    ValueError
        If ``x`` has fewer than two axes.

    See Also
    --------
    pycuda.linalg.eig : It has ``stream`` too.
    eigh : Symmetric and Hermitian matrices.

    Notes
    -----
    The call waits for cuSOLVER (``geev``).
    """
    _check_matrices(x, "eig")
    return _solvers.eig(x)


def eigvals(x: GPUArray, /) -> GPUArray:
    """Return the eigenvalues of square matrices.

    Parameters
    ----------
    x : GPUArray
        Matrices, shape (..., n, n).

    Returns
    -------
    GPUArray
        Complex numbers, shape (..., n), in the order of cuSOLVER.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or if the iteration does not converge.
    RuntimeError
        On the software device, and if cuSOLVER is older than that of CUDA 12.8.
    TypeError
        If the elements are not floating-point or complex numbers.
    ValueError
        If ``x`` has fewer than two axes.

    See Also
    --------
    pycuda.linalg.eigvals : It has ``stream`` too.
    eig : The vectors too.
    """
    _check_matrices(x, "eigvals")
    return _solvers.eigvals(x)


# -- solvers ---------------------------------------------------------------------------


def det(x: GPUArray, /) -> GPUArray:
    """Return the determinants of square matrices.

    Parameters
    ----------
    x : GPUArray
        Matrices, shape (..., n, n).

    Returns
    -------
    GPUArray
        Numbers of shape (...).

    Raises
    ------
    LinAlgError
        If they are not square.
    TypeError
        If the elements are not floating-point or complex numbers.
    ValueError
        If ``x`` has fewer than two axes.

    See Also
    --------
    pycuda.linalg.det : It has ``stream`` too.
    slogdet : The logarithm, which does not overflow.

    Notes
    -----
     A generated kernel factors small matrices, cuSOLVER (``getrf``) larger ones, and
    cuBLAS stacks of them.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> print(xp.linalg.det(gpuarray.to_gpu(np.array([[2.0, 0], [0, 4]]))))
    8.0
    """
    _check_matrices(x, "det")
    return _solvers.det(x)


def slogdet(x: GPUArray, /) -> SlogdetResult:
    """Return the signs and the logarithms of the absolute values of determinants.

    Parameters
    ----------
    x : GPUArray
        Matrices, shape (..., n, n).

    Returns
    -------
    SlogdetResult
        Named tuple ``(sign, logabsdet)``. For a singular matrix they are 0 and minus
        infinity.

    Raises
    ------
    LinAlgError
        If they are not square.
    TypeError
        If the elements are not floating-point or complex numbers.
    ValueError
        If ``x`` has fewer than two axes.

    See Also
    --------
    pycuda.linalg.slogdet : It has ``stream`` too.
    det : The determinants.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> a = gpuarray.to_gpu(np.array([[0.0, 1], [1, 0]]))
    >>> sign, logarithm = xp.linalg.slogdet(a)
    >>> print(sign, logarithm)
    -1.0 0.0
    """
    _check_matrices(x, "slogdet")
    return _solvers.slogdet(x)


def inv(x: GPUArray, /) -> GPUArray:
    """Return the inverses of square matrices.

    Parameters
    ----------
    x : GPUArray
        Matrices, shape (..., n, n).

    Returns
    -------
    GPUArray
        Matrices of the same shape.

    Raises
    ------
    LinAlgError
        If a matrix is singular or not square.
    TypeError
        If the elements are not floating-point or complex numbers.
    ValueError
        If ``x`` has fewer than two axes.

    See Also
    --------
    pycuda.linalg.inv : It has ``stream`` too.
    solve : More accurate and faster for equations.

    Notes
    -----
    The call waits for the result, to see if a matrix is singular. A generated kernel
    computes small matrices, cuSOLVER (``getrf``, ``getrs``) larger ones, and cuBLAS
    stacks of them.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.linalg.inv(gpuarray.to_gpu(np.array([[2.0, 0], [0, 4]])))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    _check_matrices(x, "inv")
    return _solvers.inv(x)


def solve(x1: GPUArray, x2: GPUArray, /) -> GPUArray:
    """Return the ``x`` for which ``x1 @ x`` is ``x2``.

    Parameters
    ----------
    x1 : GPUArray
        Matrices, shape (..., n, n).
    x2 : GPUArray
        Right-hand sides, shape (n,), or (..., n, k), whose axes before the last two
        broadcast with those of ``x1``.

    Returns
    -------
    GPUArray
        The solutions, in the shape of ``x2`` after broadcasting.

    Raises
    ------
    LinAlgError
        If a matrix is singular or not square.
    TypeError
        If the elements are not floating-point or complex numbers.
    ValueError
        If ``x1`` has fewer than two axes.

    See Also
    --------
    pycuda.linalg.solve : It has ``stream`` too.

    Notes
    -----
    The call waits for the result, to see if a matrix is singular. A generated kernel
    computes small matrices, cuSOLVER (``getrf``, ``getrs``) larger ones, and cuBLAS
    stacks of them.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> a = gpuarray.to_gpu(np.array([[2.0, 0], [0, 4]]))
    >>> xp.linalg.solve(a, gpuarray.to_gpu(np.array([1.0, 2])))
    array([0.5, 0.5])
    """
    _check_matrices(x1, "solve")
    if x2.ndim == 1:
        return _solvers.solve(x1, x2[:, None])[..., 0]
    return _solvers.solve(x1, x2)


def matrix_power(x: GPUArray, n: int, /) -> GPUArray:
    """Return square matrices to a whole power; a negative one is of the inverse.

    Parameters
    ----------
    x : GPUArray
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
        If the elements are not floating-point or complex numbers.
    ValueError
        If ``x`` has fewer than two axes.

    See Also
    --------
    pycuda.linalg.matrix_power : The function that it calls.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.linalg.matrix_power(gpuarray.to_gpu(np.array([[1.0, 1], [0, 1]])), 5)
    array([[1., 5.],
           [0., 1.]])
    """
    _check_matrices(x, "matrix_power")
    return _solvers.matrix_power(x, n)


def matrix_rank(x: GPUArray, /, *, rtol: GPUArray | float | None = None) -> GPUArray:
    """Return the number of singular values above ``rtol`` times the greatest one.

    Parameters
    ----------
    x : GPUArray
        Matrices, shape (..., m, n).
    rtol : float or GPUArray, optional
        Singular values up to ``rtol`` times the largest count as 0. The default is
        ``max(m, n)`` times the dtype's epsilon.

    Returns
    -------
    GPUArray
        The ranks, int64.

    Raises
    ------
    TypeError
        If the elements are not floating-point or complex numbers.
    ValueError
        If ``x`` has fewer than two axes.

    See Also
    --------
    pycuda.linalg.matrix_rank : It has ``tol``, ``hermitian``, ``stream`` too.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> print(xp.linalg.matrix_rank(gpuarray.to_gpu(np.array([[1.0, 2], [2, 4]]))))
    1
    """
    _check_matrices(x, "matrix_rank")
    return _solvers.matrix_rank(x, rtol=rtol)


def pinv(x: GPUArray, /, *, rtol: GPUArray | float | None = None) -> GPUArray:
    """Return the pseudo-inverses of matrices.

    Parameters
    ----------
    x : GPUArray
        Matrices, shape (..., m, n).
    rtol : float or GPUArray, optional
        Singular values up to ``rtol`` times the largest count as 0. The default is
        ``max(m, n)`` times the dtype's epsilon.

    Returns
    -------
    GPUArray
        Matrices, shape (..., n, m).

    Raises
    ------
    LinAlgError
        If the decomposition does not converge.
    RuntimeError
        On the software device, which has no cuSOLVER.
    TypeError
        If the elements are not floating-point or complex numbers.
    ValueError
        If ``x`` has fewer than two axes.

    See Also
    --------
    pycuda.linalg.pinv : It has ``rcond``, ``hermitian``, ``stream`` too.
    inv : The inverse of a square matrix.

    Notes
    -----
    The call waits for the decomposition.
    """
    _check_matrices(x, "pinv")
    return _solvers.pinv(x, rtol=rtol)
