"""The types of pycuda.linalg.

mypy's stubtest compares this with the module (test/typing/test_typing.py).
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, SupportsIndex, TypeAlias, overload

from numpy.linalg import LinAlgError as LinAlgError

from pycuda._driver import GPUArray, Stream, matmul as matmul
from pycuda.gpuarray import (
    cross as cross,
    diagonal as diagonal,
    matrix_transpose as matrix_transpose,
    outer as outer,
    tensordot as tensordot,
    trace as trace,
    vecdot as vecdot,
)

# names of pycuda.linalg: written by tools/make_stub.py
# fmt: off
__all__ = [
    "EigResult", "EighResult", "LinAlgError", "QRResult", "SVDResult", "SlogdetResult",
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals",
    "eigvalsh", "inv", "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank",
    "matrix_transpose", "multi_dot", "norm", "outer", "pinv", "product_library", "qr",
    "slogdet", "solve", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve",
    "trace", "vecdot", "vector_norm",
]
# fmt: on
# names of pycuda.linalg: end

_Triangle: TypeAlias = Literal["L", "U", "l", "u"]

class EigResult(NamedTuple):
    eigenvalues: GPUArray
    eigenvectors: GPUArray

class EighResult(NamedTuple):
    eigenvalues: GPUArray
    eigenvectors: GPUArray

class QRResult(NamedTuple):
    Q: GPUArray
    R: GPUArray

class SVDResult(NamedTuple):
    U: GPUArray
    S: GPUArray
    Vh: GPUArray

class SlogdetResult(NamedTuple):
    sign: GPUArray
    logabsdet: GPUArray

def product_library() -> str: ...
def multi_dot(
    arrays: Sequence[GPUArray], *, out: GPUArray | None = None
) -> GPUArray: ...
def matrix_power(a: GPUArray, n: SupportsIndex) -> GPUArray: ...
def norm(
    x: GPUArray,
    ord: float | str | None = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    *,
    stream: Stream | None = None,
) -> GPUArray: ...
def vector_norm(
    x: GPUArray,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    ord: float = 2,
    stream: Stream | None = None,
) -> GPUArray: ...
def matrix_norm(
    x: GPUArray,
    /,
    *,
    keepdims: bool = False,
    ord: float | str | None = "fro",
    stream: Stream | None = None,
) -> GPUArray: ...
def cond(
    x: GPUArray, p: float | str | None = None, *, stream: Stream | None = None
) -> GPUArray: ...
def tensorsolve(
    a: GPUArray, b: GPUArray, axes: Sequence[int] | None = None
) -> GPUArray: ...
def tensorinv(a: GPUArray, ind: int = 2) -> GPUArray: ...
def solve(a: GPUArray, b: GPUArray, *, stream: Stream | None = None) -> GPUArray: ...
def inv(a: GPUArray, *, stream: Stream | None = None) -> GPUArray: ...
def det(a: GPUArray, *, stream: Stream | None = None) -> GPUArray: ...
def slogdet(a: GPUArray, *, stream: Stream | None = None) -> SlogdetResult: ...
def cholesky(
    a: GPUArray, /, *, upper: bool = False, stream: Stream | None = None
) -> GPUArray: ...
@overload
def qr(
    a: GPUArray,
    mode: Literal["reduced", "complete"] = "reduced",
    *,
    stream: Stream | None = None,
) -> QRResult: ...
@overload
def qr(
    a: GPUArray, mode: Literal["r"], *, stream: Stream | None = None
) -> GPUArray: ...
@overload
def qr(
    a: GPUArray, mode: Literal["raw"], *, stream: Stream | None = None
) -> tuple[GPUArray, GPUArray]: ...
@overload
def svd(
    a: GPUArray,
    full_matrices: bool = True,
    compute_uv: Literal[True] = True,
    hermitian: bool = False,
    *,
    stream: Stream | None = None,
) -> SVDResult: ...
@overload
def svd(
    a: GPUArray,
    full_matrices: bool = True,
    *,
    compute_uv: Literal[False],
    hermitian: bool = False,
    stream: Stream | None = None,
) -> GPUArray: ...
def svdvals(x: GPUArray, /, *, stream: Stream | None = None) -> GPUArray: ...
def pinv(
    a: GPUArray,
    rcond: float | GPUArray | None = None,
    hermitian: bool = False,
    *,
    rtol: float | GPUArray | None = None,
    stream: Stream | None = None,
) -> GPUArray: ...
def matrix_rank(
    A: GPUArray,
    tol: float | GPUArray | None = None,
    hermitian: bool = False,
    *,
    rtol: float | GPUArray | None = None,
    stream: Stream | None = None,
) -> GPUArray: ...
def lstsq(
    a: GPUArray,
    b: GPUArray,
    rcond: float | None = None,
    *,
    stream: Stream | None = None,
) -> tuple[GPUArray, GPUArray, int, GPUArray]: ...
def eigh(
    a: GPUArray, UPLO: _Triangle = "L", *, stream: Stream | None = None
) -> EighResult: ...
def eigvalsh(
    a: GPUArray, UPLO: _Triangle = "L", *, stream: Stream | None = None
) -> GPUArray: ...
def eig(a: GPUArray, *, stream: Stream | None = None) -> EigResult: ...
def eigvals(a: GPUArray, *, stream: Stream | None = None) -> GPUArray: ...
