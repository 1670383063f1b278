"""Eigenvalues of matrices that need not be symmetric. By cuSOLVER."""

from __future__ import annotations

from ctypes import byref, c_int64, c_size_t, c_void_p
from typing import NamedTuple

import numpy as np

import pycuda.driver as _cuda
from pycuda import _extras
from pycuda._array.copies import on_stream
from pycuda._array.linalg.cusolver import (
    VALUES,
    VECTORS,
    Routines,
    at,
    check_cusolver,
)
from pycuda._array.linalg.matrices import (
    by_column,
    check_square,
    common_dtype,
    refuse_stopped,
    result,
)
from pycuda._driver import GPUArray
from pycuda._public import published_by

#: CUDA's numbers of the complex data types.
_DATA_TYPES = {"complex64": 4, "complex128": 5}


@published_by("pycuda.linalg")
class EigResult(NamedTuple):
    """Eigenvalues, and the eigenvectors as columns. Both are complex."""

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


def _eigen(name, a, with_vectors):
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
    """Return eigenvalues and right eigenvectors of square matrices, shape (..., n, n).

    The result is a named tuple of shapes (..., n) and (..., n, n), whose columns are
    the vectors, of norm 1. Both are complex also where all values are real, other than
    in NumPy. The order of the values is cuSOLVER's (``geev``), which computes it; it is
    in CUDA 12.8 and later. LinAlgError if a matrix is not square.
    """
    with on_stream(stream):
        return EigResult(*_eigen("eig", a, True))


def eigvals(a, *, stream=None):
    """Return the eigenvalues of square matrices, which are complex. See ``eig``."""
    with on_stream(stream):
        return _eigen("eigvals", a, False)[0]
