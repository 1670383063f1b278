"""NumPy's functions of linear algebra and their counterparts, for its protocols."""

from __future__ import annotations

import numpy as np

from pycuda._array.functions import diagonals, shapes
from pycuda._array.linalg import (
    einsum,
    factors,
    norms,
    products,
    systems,
)
from pycuda._array.numpy_calls import into, same
from pycuda._driver import GPUArray, matmul


def _linalg_diagonal(x, /, *, offset=0):
    return diagonals.diagonal(x, offset, -2, -1)


def _linalg_trace(x, /, *, offset=0, dtype=None):
    return products.trace(x, offset, -2, -1, dtype)


def _linalg_cross(x1, x2, /, *, axis=-1):
    return products.cross(x1, x2, axis=axis)


def _einsum(*operands, out=None, optimize=True, dtype=None, casting="safe", order="K"):
    return einsum.einsum(
        *operands, out=out, dtype=dtype, casting=casting, optimize=optimize
    )


def _einsum_path(*operands, optimize="greedy"):
    """Return NumPy's order of the products; only the shapes matter."""
    shapes = [
        np.broadcast_to(np.empty((), a.dtype), a.shape)
        if isinstance(a, GPUArray)
        else a
        for a in operands
    ]
    return np.einsum_path(*shapes, optimize=optimize)


def _linalg_matmul(x1, x2, /):
    return matmul(x1, x2)


_ODD = {  # other parameters
    "diagonal": _linalg_diagonal,
    "trace": _linalg_trace,
    "cross": _linalg_cross,
    "matmul": _linalg_matmul,
}

FUNCTIONS = {
    np.einsum: _einsum,
    np.einsum_path: _einsum_path,
    **same(np, {products: "dot vdot inner outer tensordot kron cross trace"}),
    **same(
        np.linalg,
        {
            factors: (
                "cholesky eig eigh eigvals eigvalsh lstsq matrix_rank pinv qr svd "
                "svdvals"
            ),
            norms: "cond matrix_norm norm vector_norm",
            products: "multi_dot outer tensordot vecdot",
            shapes: "matrix_transpose",
            systems: "det inv matrix_power slogdet solve tensorinv tensorsolve",
        },
    ),
    **{
        getattr(np.linalg, name): function
        for name, function in _ODD.items()
        if hasattr(np.linalg, name)
    },
}


def _matmul(x1, x2, out=None, dtype=None, axes=None, axis=None, keepdims=False):
    if axes is not None or axis is not None or keepdims:
        raise TypeError("matmul of GPUArrays takes no axes=, axis= and keepdims=")
    return matmul(x1, x2, out, dtype)


def _vecdot(x1, x2, out=None, axis=-1, dtype=None):
    return into(products.vecdot(x1, x2, axis=axis, dtype=dtype), out)


#: {name: counterpart} of the universal functions that multiply matrices.
UFUNCS = {
    "matmul": _matmul,
    "vecdot": _vecdot,
    "matvec": products.matvec,
    "vecmat": products.vecmat,
}
