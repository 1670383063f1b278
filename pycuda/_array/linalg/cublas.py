"""cuBLAS: where it may be, and its routines for many small matrices at once.

``@`` calls the library from C, which opens it from one of these paths. The solvers
decompose stacks of small matrices through it.
"""

from __future__ import annotations

import threading
from ctypes import byref, c_int, c_void_p

import numpy as np

import pycuda.driver as _cuda
from pycuda import _extras
from pycuda._array.kernels.context_cache import context_dependent_memoize
from pycuda._array.linalg.handles import Handle, open_first
from pycuda._array.linalg.matrices import addresses
from pycuda._compile import toolkit
from pycuda._driver import GPUArray

NAMES = ("libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so")
WHEEL_FOLDERS = ("nvidia/cu13/lib", "nvidia/cublas/lib")
_LETTERS = {"float32": "S", "float64": "D", "complex64": "C", "complex128": "Z"}
_STATUSES = {
    1: "NOT_INITIALIZED",
    3: "ALLOC_FAILED",
    7: "INVALID_VALUE",
    8: "ARCH_MISMATCH",
    11: "MAPPING_ERROR",
    13: "EXECUTION_FAILED",
    14: "INTERNAL_ERROR",
    15: "NOT_SUPPORTED",
}

_lock = threading.Lock()
_library = None


def paths() -> list[str]:
    """Return what to open, in order: names for the loader, then files."""
    return toolkit.library_paths(NAMES, WHEEL_FOLDERS)


def open_library():
    """Return the library, opened once."""
    global _library
    with _lock:
        if _library is None:
            _library = open_first(paths())
        if _library is not None:
            return _library
    raise _cuda.RuntimeError(
        "cuBLAS (libcublas.so) was not found: not where the loader looks, not under "
        "CUDA_HOME, CUDA_PATH or /usr/local/cuda and not in NVIDIA's wheels; install "
        "the CUDA toolkit, or its wheels: " + _extras.command("linalg")
    )


def check(name, status):
    """Raise the exception of a status."""
    if status:
        kind = {3: _cuda.MemoryError, 13: _cuda.LaunchError}.get(
            status, _cuda.LogicError
        )
        raise kind(f"{name} failed: CUBLAS_STATUS_{_STATUSES.get(status, status)}")


@context_dependent_memoize
def _handle():
    names = ("cublasCreate_v2", "cublasDestroy_v2", "cublasSetStream_v2")
    return Handle(open_library, names, check)


def solve_triangle(lower, a, right):
    """Solve for one triangle of a matrix in place of right sides, stored by column.

    The diagonal of a lower triangle is 1.
    """
    n, columns = a.shape[-1], right.shape[0]
    dtype = right.dtype
    one = np.ones((), dtype)
    fill, is_unit = (0, 1) if lower else (1, 0)
    _handle().call(
        f"cublas{_LETTERS[dtype.name]}trsm_v2",
        *(0, fill, 0, is_unit, n, columns, c_void_p(one.ctypes.data)),
        *(a, n, right, n),
    )


class BatchedLU:
    """The LU decompositions of a stack of matrices, made in their place.

    LAPACK sees the matrices by column. ``pivots`` has a row for each matrix.
    """

    def __init__(self, stack):
        count, n, _ = stack.shape
        self._handle = _handle()
        self._letter = _LETTERS[stack.dtype.name]
        self._stack, self._matrices = stack, addresses(stack)
        self.pivots = GPUArray((count, n), np.int32, stack.allocator)
        self._made = GPUArray((count,), np.int32, stack.allocator)
        self._handle.call(
            f"cublas{self._letter}getrfBatched",
            *(n, self._matrices, n, self.pivots, self._made, count),
        )

    def stopped(self):
        """Wait for the decompositions. Return their statuses as a NumPy array."""
        return self._made.get()

    def substitute(self, right):
        """Solve for right sides, which are stored by column, in their place."""
        count, n, _ = self._stack.shape
        wrong = c_int()
        name = f"cublas{self._letter}getrsBatched"
        self._handle.call(
            *(name, 0, n, right.shape[1], self._matrices, n, self.pivots),
            *(addresses(right), n, byref(wrong), count),
        )
        if wrong.value:
            raise _cuda.LogicError(f"{name} refused its argument {-wrong.value}")
