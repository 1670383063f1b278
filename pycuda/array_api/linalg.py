"""The extension for linear algebra of the standard.

The functions of matrices take stacks of matrices: arrays whose last two axes are rows
and columns. Products work everywhere. Factorizations and solvers are computed by
cuSOLVER, see ``pycuda.linalg``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar

import pycuda.gpuarray as _ga
from pycuda import _hide_imports, linalg as _solvers
from pycuda.array_api._data_types import DType
from pycuda.array_api._docs import complete as _complete
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


_Result = TypeVar("_Result")


def _check_matrices(x: GPUArray, name: str) -> None:
    """Raise ValueError unless an array has matrices, TypeError if not of floats."""
    if x.ndim < 2:
        raise ValueError(f"{name}() takes matrices, not an array of shape {x.shape}")
    if x.dtype.kind not in "fc":
        raise TypeError(f"{name}() takes floating-point arrays, not {x.dtype}")


def _of_matrices(ours: Callable[..., _Result]) -> Callable[[GPUArray], _Result]:
    """Return a function of ours as the standard has it: of matrices of floats only."""

    def function(x: GPUArray, /) -> _Result:
        _check_matrices(x, ours.__name__)
        return ours(x)

    function.__name__ = function.__qualname__ = ours.__name__
    function.__doc__ = (ours.__doc__ or "").partition("\n\n")[0]
    return function


# -- products --------------------------------------------------------------------------


def cross(x1: GPUArray, x2: GPUArray, /, *, axis: int = -1) -> GPUArray:
    """Return the cross products of vectors of three elements along an axis.

    Parameters
    ----------
    axis : int, default -1
        Axis of the elements, counted from the end.

    Raises
    ------
    ValueError
        If the vectors do not have three elements, or ``axis`` is not negative.
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

    Raises
    ------
    ValueError
        If an array has not one axis.
    """
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(
            f"outer() takes arrays of one axis, not of shape {x1.shape} and {x2.shape}"
        )
    return _solvers.outer(x1, x2)


# -- diagonals -------------------------------------------------------------------------


def diagonal(x: GPUArray, /, *, offset: int = 0) -> GPUArray:
    """Return a view of a diagonal of each matrix; it is the last axis."""
    return _ga.diagonal(x, offset, -2, -1)


def trace(x: GPUArray, /, *, offset: int = 0, dtype: DType | None = None) -> GPUArray:
    """Return the sum of a diagonal of each matrix."""
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

    Raises
    ------
    TypeError
        If the elements are not floating-point or complex numbers.
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
    """
    _check_matrices(x, "matrix_norm")
    return _solvers.matrix_norm(x, keepdims=keepdims, ord=ord)


# -- factorizations --------------------------------------------------------------------


def cholesky(x: GPUArray, /, *, upper: bool = False) -> GPUArray:
    """Return the triangular factor of positive definite matrices."""
    _check_matrices(x, "cholesky")
    return _solvers.cholesky(x, upper=upper)


def qr(x: GPUArray, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """Return (Q, R): an orthogonal and an upper triangular factor of each matrix.

    Parameters
    ----------
    mode : {"reduced", "complete"}, optional
        With k = min(m, n), "reduced" gives shapes (..., m, k) and (..., k, n),
        "complete" (..., m, m) and (..., m, n).

    Returns
    -------
    QRResult
        The named tuple ``(Q, R)``.
    """
    _check_matrices(x, "qr")
    if mode not in ("reduced", "complete"):
        raise ValueError(f"mode must be 'reduced' or 'complete', not {mode!r}")
    return _solvers.qr(x, mode=mode)


def svd(x: GPUArray, /, *, full_matrices: bool = True) -> SVDResult:
    """Return (U, S, Vh), the singular value decomposition of each matrix.

    Returns
    -------
    SVDResult
        The named tuple ``(U, S, Vh)``. The values descend.

    Examples
    --------
    >>> a = gpuarray.to_gpu(np.array([[4.0, 1], [1, 3]]))
    >>> xp.linalg.svdvals(a)
    array([4.61803399, 2.38196601])
    """
    _check_matrices(x, "svd")
    return _solvers.svd(x, full_matrices=full_matrices)


svdvals: Callable[[GPUArray], GPUArray] = _of_matrices(_solvers.svdvals)
eigh: Callable[[GPUArray], EighResult] = _of_matrices(_solvers.eigh)
eigvalsh: Callable[[GPUArray], GPUArray] = _of_matrices(_solvers.eigvalsh)
eig: Callable[[GPUArray], EigResult] = _of_matrices(_solvers.eig)
eigvals: Callable[[GPUArray], GPUArray] = _of_matrices(_solvers.eigvals)


# -- solvers ---------------------------------------------------------------------------


det: Callable[[GPUArray], GPUArray] = _of_matrices(_solvers.det)
slogdet: Callable[[GPUArray], SlogdetResult] = _of_matrices(_solvers.slogdet)
inv: Callable[[GPUArray], GPUArray] = _of_matrices(_solvers.inv)


def solve(x1: GPUArray, x2: GPUArray, /) -> GPUArray:
    """Return the ``x`` for which ``x1 @ x`` is ``x2``."""
    _check_matrices(x1, "solve")
    if x2.ndim == 1:
        return _solvers.solve(x1, x2[:, None])[..., 0]
    return _solvers.solve(x1, x2)


def matrix_power(x: GPUArray, n: int, /) -> GPUArray:
    """Return square matrices to a whole power; a negative one is of the inverse."""
    _check_matrices(x, "matrix_power")
    return _solvers.matrix_power(x, n)


def matrix_rank(x: GPUArray, /, *, rtol: GPUArray | float | None = None) -> GPUArray:
    """Return the number of singular values above ``rtol`` times the greatest one."""
    _check_matrices(x, "matrix_rank")
    return _solvers.matrix_rank(x, rtol=rtol)


def pinv(x: GPUArray, /, *, rtol: GPUArray | float | None = None) -> GPUArray:
    """Return the pseudo-inverses of matrices.

    Parameters
    ----------
    rtol : float or GPUArray, optional
        Singular values up to ``rtol`` times the largest count as 0. The default is
        ``max(m, n)`` times the dtype's epsilon.
    """
    _check_matrices(x, "pinv")
    return _solvers.pinv(x, rtol=rtol)


for _name in __all__:
    _complete(globals()[_name])
