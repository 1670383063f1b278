"""NumPy's functions of linear algebra and their counterparts, for its protocols."""

from __future__ import annotations

import numpy as np

from pycuda._array.functions import diagonals, shapes
from pycuda._array.linalg import (
    eigenvalues,
    einsum,
    factors,
    norms,
    products,
    systems,
)
from pycuda._array.numpy_calls import into
from pycuda._driver import matmul


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


def _einsum_path(subscripts, *operands, optimize="greedy"):
    """Return NumPy's order of the products; only the shapes matter."""
    empty = [np.broadcast_to(np.empty((), a.dtype), a.shape) for a in operands]
    return np.einsum_path(subscripts, *empty, optimize=optimize)


def _linalg_matmul(x1, x2, /):
    return matmul(x1, x2)


#: {name in numpy: counterpart}
_NUMPY = {
    "dot": products.dot,
    "vdot": products.vdot,
    "inner": products.inner,
    "outer": products.outer,
    "tensordot": products.tensordot,
    "kron": products.kron,
    "cross": products.cross,
    "trace": products.trace,
    "einsum": _einsum,
    "einsum_path": _einsum_path,
}

#: {name in numpy.linalg: counterpart}; an older NumPy lacks some.
_LINALG = {
    "norm": norms.norm,
    "vector_norm": norms.vector_norm,
    "matrix_norm": norms.matrix_norm,
    "matmul": _linalg_matmul,
    "outer": products.outer,
    "tensordot": products.tensordot,
    "vecdot": products.vecdot,
    "matrix_transpose": shapes.matrix_transpose,
    "diagonal": _linalg_diagonal,
    "trace": _linalg_trace,
    "cross": _linalg_cross,
    "multi_dot": products.multi_dot,
    "matrix_power": systems.matrix_power,
    "cond": norms.cond,
    "tensorsolve": systems.tensorsolve,
    "tensorinv": systems.tensorinv,
    "solve": systems.solve,
    "inv": systems.inv,
    "det": systems.det,
    "slogdet": systems.slogdet,
    "cholesky": factors.cholesky,
    "qr": factors.qr,
    "svd": factors.svd,
    "svdvals": factors.svdvals,
    "pinv": factors.pinv,
    "matrix_rank": factors.matrix_rank,
    "lstsq": factors.lstsq,
    "eigh": factors.eigh,
    "eigvalsh": factors.eigvalsh,
    "eig": eigenvalues.eig,
    "eigvals": eigenvalues.eigvals,
}

FUNCTIONS = {
    getattr(module, name): function
    for module, names in ((np, _NUMPY), (np.linalg, _LINALG))
    for name, function in names.items()
    if hasattr(module, name)
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
