"""Linear algebra of GPUArrays: ``numpy.linalg`` on the device.

Products of matrices go through cuBLAS where it is found (extra ``blas``) or
through generated kernels. Solvers and decompositions go through cuSOLVER (extra
``linalg``).
"""

# ruff: noqa: F401  all names are public

from __future__ import annotations

from numpy.linalg import LinAlgError

from pycuda import _hide_imports
from pycuda._array.linalg.factors import (
    EighResult,
    EigResult,
    QRResult,
    SVDResult,
    cholesky,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    lstsq,
    matrix_rank,
    pinv,
    qr,
    svd,
    svdvals,
)
from pycuda._array.linalg.norms import cond, matrix_norm, norm, vector_norm
from pycuda._array.linalg.products import multi_dot
from pycuda._array.linalg.systems import (
    SlogdetResult,
    det,
    inv,
    matrix_power,
    slogdet,
    solve,
    tensorinv,
    tensorsolve,
)
from pycuda._driver import _product_library, matmul
from pycuda._public import publish as _publish
from pycuda.gpuarray import (
    cross,
    diagonal,
    matrix_transpose,
    outer,
    tensordot,
    trace,
    vecdot,
)

__all__ = [
    "EigResult",
    "EighResult",
    "LinAlgError",
    "QRResult",
    "SVDResult",
    "SlogdetResult",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "product_library",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]
_hide_imports(globals())


def product_library() -> str:
    """Return a sentence that says what multiplies matrices in the current context.

    It is cuBLAS with its version, or generated kernels with the reason.

    Returns
    -------
    str
        The sentence.

    Notes
    -----
    The environment variable PYCUDA_BLAS chooses when a context multiplies for the first
    time: "auto" takes cuBLAS if it is found, "cublas" insists on it, "generated" does
    without.
    """
    return _product_library()


_publish(globals())
