"""The extension for linear algebra of the standard.

The functions of matrices take stacks of matrices: arrays whose last two axes are rows
and columns. Products work everywhere. Factorizations and solvers are computed by
cuSOLVER, see ``pycuda.linalg``.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

import pycuda.gpuarray as _ga
from pycuda import linalg as _solvers
from pycuda.array_api._data_types import DType
from pycuda.array_api._elementwise import abs as _abs, conj as _conj
from pycuda.array_api._linear_algebra import (
    matmul,
    matrix_transpose,
    tensordot,
    vecdot,
)
from pycuda.array_api._manipulation import broadcast_arrays
from pycuda.array_api._statistics import max as _max, min as _min, sum as _sum
from pycuda.gpuarray import GPUArray

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


class EigResult(NamedTuple):
    """The result of ``eig``."""

    eigenvalues: GPUArray
    eigenvectors: GPUArray


class EighResult(NamedTuple):
    """The result of ``eigh``."""

    eigenvalues: GPUArray
    eigenvectors: GPUArray


class QRResult(NamedTuple):
    """The result of ``qr``."""

    Q: GPUArray
    R: GPUArray


class SlogdetResult(NamedTuple):
    """The result of ``slogdet``."""

    sign: GPUArray
    logabsdet: GPUArray


class SVDResult(NamedTuple):
    """The result of ``svd``."""

    U: GPUArray
    S: GPUArray
    Vh: GPUArray


def _check_matrices(x: GPUArray, name: str) -> None:
    """Raise ValueError unless an array has matrices, TypeError if not of floats."""
    if x.ndim < 2:
        raise ValueError(f"{name}() takes matrices, not an array of shape {x.shape}")
    if x.dtype.kind not in "fc":
        raise TypeError(f"{name}() takes floating-point arrays, not {x.dtype}")


# -- products --------------------------------------------------------------------------


def cross(x1: GPUArray, x2: GPUArray, /, *, axis: int = -1) -> GPUArray:
    """Return the cross products of vectors of three elements along an axis.

    ``axis`` is negative; the other axes broadcast. Raises ValueError for an axis of
    another length.
    """
    low = -min(x1.ndim, x2.ndim)
    if not low <= axis < 0:
        raise ValueError(f"axis must be between {low} and -1, not {axis}")
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(
            f"axis {axis} of the shapes {x1.shape} and {x2.shape} must have length 3"
        )
    x1, x2 = broadcast_arrays(x1, x2)
    a = _ga.unstack(x1, axis=axis)
    b = _ga.unstack(x2, axis=axis)
    parts = [
        a[k - 2] * b[k - 1] - a[k - 1] * b[k - 2]  # k - 2 and k - 1 are k + 1 and k + 2
        for k in range(3)
    ]
    shape = np.broadcast_shapes(x1.shape, x2.shape)
    result = GPUArray(shape, parts[0].dtype, x1.allocator)
    for part, place in zip(parts, _ga.unstack(result, axis=axis), strict=True):
        place[...] = part
    return result


def outer(x1: GPUArray, x2: GPUArray, /) -> GPUArray:
    """Return the products of all pairs of elements of two arrays of one axis.

    Raises ValueError for other numbers of axes.
    """
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(
            f"outer() takes arrays of one axis, not of shape {x1.shape} and {x2.shape}"
        )
    return x1[:, None] * x2[None, :]


# -- diagonals -------------------------------------------------------------------------


def diagonal(x: GPUArray, /, *, offset: int = 0) -> GPUArray:
    """Return a view of a diagonal of each matrix; it is the last axis."""
    return _ga.diagonal(x, offset, -2, -1)


def trace(x: GPUArray, /, *, offset: int = 0, dtype: DType | None = None) -> GPUArray:
    """Return the sum of a diagonal of each matrix. Small integers become 64 bits."""
    return _sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


# -- norms -----------------------------------------------------------------------------


def _vector_norm(x: GPUArray, axis: Any, keepdims: bool, ord: float) -> GPUArray:
    """Return the norm along axes, in the real data type of the array."""
    size = _abs(x)
    if ord == np.inf:
        return _max(size, axis=axis, keepdims=keepdims)
    if ord == -np.inf:
        return _min(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        return _sum((size != 0).astype(size.dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return _sum(size, axis=axis, keepdims=keepdims)
    if ord == 2:
        return np.sqrt(_sum(size * size, axis=axis, keepdims=keepdims))
    powers = _sum(size**ord, axis=axis, keepdims=keepdims)
    return powers ** (1 / ord)


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
    data type of the array. Raises TypeError unless that is a floating-point one.
    """
    if x.dtype.kind not in "fc":
        raise TypeError(f"vector_norm() takes floating-point arrays, not {x.dtype}")
    return _vector_norm(x, axis, keepdims, ord)


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
    computes. Raises ValueError for another order.
    """
    _check_matrices(x, "matrix_norm")
    if ord in ("fro", None):
        return _vector_norm(x, (-2, -1), keepdims, 2)
    if ord in (1, -1, np.inf, -np.inf):
        order = float(ord)
        by_rows = np.isinf(order)
        sums = _sum(_abs(x), axis=-1 if by_rows else -2, keepdims=True)
        chosen = _max if order > 0 else _min
        return chosen(sums, axis=(-2, -1), keepdims=keepdims)
    if ord in (2, -2, "nuc"):
        values = svdvals(x)
        reduced = {2: _max, -2: _min, "nuc": _sum}[ord](values, axis=-1)
        return reduced[..., None, None] if keepdims else reduced
    raise ValueError(f"{ord!r} is not the order of a norm of matrices")


# -- factorizations --------------------------------------------------------------------


def cholesky(x: GPUArray, /, *, upper: bool = False) -> GPUArray:
    """Return the triangular factor of positive definite matrices.

    The lower one, or the upper one with ``upper``. Only the lower triangles of the
    matrices are read, with ``upper`` the upper ones. Raises LinAlgError for a matrix
    that is not positive definite. cuSOLVER computes it.
    """
    _check_matrices(x, "cholesky")
    return _solvers.cholesky(x, upper=upper)


def qr(x: GPUArray, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """Return (Q, R): an orthogonal and an upper triangular factor of each matrix.

    cuSOLVER computes it. Raises ValueError for another mode.
    """
    _check_matrices(x, "qr")
    if mode not in ("reduced", "complete"):
        raise ValueError(f"mode must be 'reduced' or 'complete', not {mode!r}")
    return QRResult(*_solvers.qr(x, mode=mode))


def svd(x: GPUArray, /, *, full_matrices: bool = True) -> SVDResult:
    """Return (U, S, Vh), the singular value decomposition of each matrix.

    cuSOLVER computes it.
    """
    _check_matrices(x, "svd")
    return SVDResult(*_solvers.svd(x, full_matrices=full_matrices))


def svdvals(x: GPUArray, /) -> GPUArray:
    """Return the singular values of each matrix, the greatest first, by cuSOLVER."""
    _check_matrices(x, "svdvals")
    return _solvers.svd(x, compute_uv=False)


def eigh(x: GPUArray, /) -> EighResult:
    """Return (eigenvalues, eigenvectors) of Hermitian matrices, ascending.

    Only the lower triangles are read. cuSOLVER computes it.
    """
    _check_matrices(x, "eigh")
    return EighResult(*_solvers.eigh(x))


def eigvalsh(x: GPUArray, /) -> GPUArray:
    """Return the eigenvalues of Hermitian matrices, ascending, by cuSOLVER."""
    _check_matrices(x, "eigvalsh")
    return _solvers.eigvalsh(x)


def eig(x: GPUArray, /) -> EigResult:
    """Return (eigenvalues, eigenvectors) of square matrices, which are complex.

    cuSOLVER computes it.
    """
    _check_matrices(x, "eig")
    return EigResult(*_solvers.eig(x))


def eigvals(x: GPUArray, /) -> GPUArray:
    """Return the eigenvalues of square matrices, which are complex, by cuSOLVER."""
    _check_matrices(x, "eigvals")
    return _solvers.eigvals(x)


# -- solvers ---------------------------------------------------------------------------


def det(x: GPUArray, /) -> GPUArray:
    """Return the determinants of square matrices, by cuSOLVER."""
    _check_matrices(x, "det")
    return _solvers.det(x)


def slogdet(x: GPUArray, /) -> SlogdetResult:
    """Return (sign, logabsdet): the determinants' signs and logarithms, by cuSOLVER."""
    _check_matrices(x, "slogdet")
    return SlogdetResult(*_solvers.slogdet(x))


def inv(x: GPUArray, /) -> GPUArray:
    """Return the inverses of square matrices; LinAlgError if one has none.

    cuSOLVER computes it.
    """
    _check_matrices(x, "inv")
    return _solvers.inv(x)


def solve(x1: GPUArray, x2: GPUArray, /) -> GPUArray:
    """Return x with ``x1 @ x == x2``; LinAlgError for a singular matrix.

    ``x2`` is one vector if it has one axis, otherwise matrices. cuSOLVER computes it.
    """
    _check_matrices(x1, "solve")
    if x2.ndim == 1:
        return _solvers.solve(x1, x2[:, None])[..., 0]
    return _solvers.solve(x1, x2)


def matrix_power(x: GPUArray, n: int, /) -> GPUArray:
    """Return square matrices to a whole power; a negative one is of the inverse.

    Raises ValueError for matrices that are not square.
    """
    _check_matrices(x, "matrix_power")
    if x.shape[-1] != x.shape[-2]:
        raise ValueError(f"matrices of shape {x.shape[-2:]} are not square")
    if n < 0:
        x, n = inv(x), -n
    if n == 0:
        result = GPUArray(x.shape, x.dtype, x.allocator)
        result[...] = _ga.eye(x.shape[-1], dtype=x.dtype)
        return result
    result = None
    while n:
        if n & 1:
            result = x if result is None else matmul(result, x)
        n >>= 1
        if n:
            x = matmul(x, x)
    assert result is not None
    return result.copy() if result is x else result


def _tolerance(x: GPUArray, values: GPUArray, rtol: GPUArray | float | None) -> Any:
    """Return the size below which singular values count as 0."""
    if rtol is None:
        rtol = max(x.shape[-2:]) * float(np.finfo(x.dtype).eps)
    if isinstance(rtol, GPUArray):
        rtol = rtol[..., None]
    return _max(values, axis=-1, keepdims=True) * rtol


def matrix_rank(x: GPUArray, /, *, rtol: GPUArray | float | None = None) -> GPUArray:
    """Return the number of singular values above ``rtol`` times the greatest one.

    The default is the larger length times the eps of the data type. cuSOLVER computes
    the singular values.
    """
    _check_matrices(x, "matrix_rank")
    values = svdvals(x)
    return _ga.count_nonzero(values > _tolerance(x, values, rtol), axis=-1)


def pinv(x: GPUArray, /, *, rtol: GPUArray | float | None = None) -> GPUArray:
    """Return the pseudo-inverses of matrices.

    Singular values up to ``rtol`` times the greatest one count as 0; the default is the
    larger length times the eps of the data type. cuSOLVER computes them.
    """
    _check_matrices(x, "pinv")
    if 0 in x.shape:
        return GPUArray((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    left, values, right = svd(x, full_matrices=False)
    kept = values > _tolerance(x, values, rtol)
    inverse = _ga.where(kept, 1 / _ga.where(kept, values, 1), 0).astype(values.dtype)
    return matmul(_conj(right).mT * inverse[..., None, :], _conj(left).mT)
