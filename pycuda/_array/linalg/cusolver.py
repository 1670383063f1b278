"""cuSOLVER: NVIDIA's library that solves systems of equations and decomposes matrices.

It is opened when it is first asked for: where the loader looks, in a toolkit, or in
NVIDIA's wheels (the extra ``linalg``). Each context has a handle, which ends
with it. Matrices are stored by column, as in LAPACK.
"""

from __future__ import annotations

import ctypes
import threading
from ctypes import byref, c_int, c_void_p

import numpy as np

import pycuda.driver as _cuda
from pycuda import _extras
from pycuda._array.kernels.context_cache import context_dependent_memoize
from pycuda._array.linalg.handles import Handle, open_first
from pycuda._compile import toolkit
from pycuda._driver import GPUArray

NAMES = ("libcusolver.so.12", "libcusolver.so.11", "libcusolver.so")
WHEEL_FOLDERS = ("nvidia/cu13/lib", "nvidia/cusolver/lib")
_LETTERS = {"float32": "S", "float64": "D", "complex64": "C", "complex128": "Z"}
_STATUSES = {
    1: "NOT_INITIALIZED",
    2: "ALLOC_FAILED",
    3: "INVALID_VALUE",
    4: "ARCH_MISMATCH",
    5: "MAPPING_ERROR",
    6: "EXECUTION_FAILED",
    7: "INTERNAL_ERROR",
    8: "MATRIX_TYPE_NOT_SUPPORTED",
    9: "NOT_SUPPORTED",
}

LOWER, UPPER = 0, 1
VALUES, VECTORS = 0, 1

_lock = threading.Lock()
_library: ctypes.CDLL | None = None


def paths():
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
        "cuSOLVER (libcusolver.so) was not found: not where the loader looks, not "
        "under CUDA_HOME, CUDA_PATH or /usr/local/cuda and not in NVIDIA's wheels; "
        "install the CUDA toolkit, or its wheels: " + _extras.command("linalg")
    )


def check(name, status):
    """Raise the exception of a status."""
    if status:
        kind = {2: _cuda.MemoryError, 6: _cuda.LaunchError}.get(
            status, _cuda.LogicError
        )
        text = _STATUSES.get(status, status)
        raise kind(f"{name} failed: CUSOLVER_STATUS_{text}")


@context_dependent_memoize
def _handle():
    names = ("cusolverDnCreate", "cusolverDnDestroy", "cusolverDnSetStream")
    return Handle(open_library, names, check)


class Routines:
    """The routines for one dtype, on the current stream.

    ``made`` are the statuses of the matrices of a batch: 0, or the number of the row
    that stopped the routine.
    """

    def __init__(self, dtype, batch, allocator=None):
        self._handle = _handle()
        self._library = self._handle.library
        self._letter = _LETTERS[np.dtype(dtype).name]
        self._dtype = dtype
        self._allocator = allocator
        self.batch = batch
        self.made = GPUArray((max(batch, 1),), np.int32, allocator)

    def space(self, name, *arguments):
        """Return a routine's work space as (array, number of elements)."""
        numbers = [a for a in arguments if isinstance(a, int)]
        key = (self._letter, name, *numbers)
        length = self._handle.lengths.get(key)
        if length is None:
            asked = c_int()
            self._call(f"{name}_bufferSize", *arguments, byref(asked))
            length = self._handle.lengths[key] = asked.value
        return GPUArray((max(length, 1),), self._dtype, self._allocator), length

    def call(self, name, number, *arguments):
        """Call a routine for the matrix of that number in the batch."""
        self._call(name, *arguments, at(self.made, number))

    def call_all(self, name, *arguments):
        """Call a routine for all matrices of the batch at once."""
        self._call(f"{name}Batched", *arguments, self.made, self.batch)

    def jacobi_values(self, work, values):
        """Store the singular values of matrices that LAPACK sees with m >= n.

        ``gesvdj`` computes them. Return its statuses as ``stopped`` does.
        """
        count, n, m = work.shape
        library, asked = self._library, c_int()
        parameters = c_void_p()
        check(
            "cusolverDnCreateGesvdjInfo",
            library.cusolverDnCreateGesvdjInfo(byref(parameters)),
        )

        # Vectors are not computed, but the routine uses their memory.
        left = GPUArray((1, n, m), self._dtype, self._allocator)
        right = GPUArray((1, n, n), self._dtype, self._allocator)

        def matrices(i):
            return (
                *(VALUES, 1, m, n, at(work, i), m, at(values, i)),
                *(at(left, 0), m, at(right, 0), n),
            )

        try:
            self._call("gesvdj_bufferSize", *matrices(0), byref(asked), parameters)
            space = GPUArray((max(asked.value, 1),), self._dtype, self._allocator)
            for i in range(count):
                self._call(
                    *("gesvdj", *matrices(i), space, asked.value),
                    *(at(self.made, i), parameters),
                )
            return self.stopped()
        finally:
            library.cusolverDnDestroyGesvdjInfo(parameters)

    def exchange_rows(self, *arguments):
        """Call ``laswp``, which has no status."""
        self._call("laswp", *arguments)

    def _call(self, name, *arguments):
        self._handle.call(f"cusolverDn{self._letter}{name}", *arguments)

    def stopped(self):
        """Wait for the routines. Return the statuses as a NumPy array."""
        return self.made.get()[: self.batch]


def at(array, number):
    """Return the address of the item of that number along the first axis."""
    step = array.strides[0] if array.ndim else 0
    return c_void_p(array.ptr + number * step)
