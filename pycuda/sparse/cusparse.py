"""Products through NVIDIA's library of sparse matrices: ``CusparseSpMV``.

cuSPARSE is opened when it is first asked for: where the loader looks, in a toolkit, or
in NVIDIA's wheel. Where it is not, and on the software device, which runs no machine
code, the kernel of ``pycuda.sparse.csr`` takes its place.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from ctypes import POINTER, byref, c_int, c_int64, c_size_t, c_void_p
from typing import Any

import numpy as np

import pycuda.driver as _cuda
from pycuda import _driver, _hide_imports, _libraries
from pycuda._driver import GPUArray
from pycuda.sparse._matrix import HostCSR
from pycuda.sparse.csr import CsrSpMV

__all__ = ["CusparseSpMV", "get_cusparse_version"]
_hide_imports(globals())

# The library's numbers for what is used of it.
_INDEX = {4: 2, 8: 3}
_VALUE = {"float32": 0, "float64": 1, "complex64": 4, "complex128": 5}
_NOT_TRANSPOSED = _BASE_ZERO = _DEFAULT_ALGORITHM = 0

_SPMV = [c_void_p, c_int, *[c_void_p] * 5, c_int, c_int]
_FUNCTIONS: dict[str, list[Any]] = {
    "cusparseCreate": [POINTER(c_void_p)],
    "cusparseDestroy": [c_void_p],
    "cusparseGetProperty": [c_int, POINTER(c_int)],
    "cusparseSetStream": [c_void_p, c_void_p],
    "cusparseCreateCsr": [
        *(POINTER(c_void_p), c_int64, c_int64, c_int64, c_void_p, c_void_p, c_void_p),
        *(c_int, c_int, c_int, c_int),
    ],
    "cusparseDestroySpMat": [c_void_p],
    "cusparseCreateDnVec": [POINTER(c_void_p), c_int64, c_void_p, c_int],
    "cusparseDestroyDnVec": [c_void_p],
    "cusparseDnVecSetValues": [c_void_p, c_void_p],
    "cusparseSpMV_bufferSize": [*_SPMV, POINTER(c_size_t)],
    "cusparseSpMV": [*_SPMV, c_void_p],
}


def _open() -> ctypes.CDLL:
    return _libraries.CUSPARSE.open(_FUNCTIONS)


def get_cusparse_version() -> tuple[int, int, int]:
    """Return the version of the library.

    Returns
    -------
    tuple of int
        Major and minor version, and patch level.

    Raises
    ------
    RuntimeError
        If the library is not there.
    """
    library = _open()
    parts = []
    for number in range(3):
        value = c_int()
        _check("cusparseGetProperty", library.cusparseGetProperty(number, byref(value)))
        parts.append(value.value)
    return parts[0], parts[1], parts[2]


def _why_not() -> str | None:
    """Say why cuSPARSE cannot be used, None if it can."""
    if _driver._is_emulated():
        return "the software device runs no machine code"
    try:
        _open()
    except _cuda.RuntimeError as error:
        return str(error)
    return None


def _check(name: str, status: int) -> None:
    if status:
        raise _cuda.RuntimeError(f"{name} failed: cuSPARSE's status {status}")


class _Handles:
    """What the library made for one matrix, in order; released in reverse."""

    def __init__(self, library: ctypes.CDLL, context: _cuda.Context) -> None:
        self.library = library
        self.made: list[tuple[str, c_void_p]] = []
        self.context = context
        self.pid = os.getpid()

    def make(self, name: str, end: str, *arguments: Any) -> c_void_p:
        handle = c_void_p()
        _check(name, getattr(self.library, name)(byref(handle), *arguments))
        self.made.append((end, handle))
        return handle

    def release(self) -> None:
        if os.getpid() != self.pid:
            return  # a child process has none of them
        try:
            self.context.push()
        except _cuda.Error:
            return  # they went with their context
        try:
            while self.made:
                end, handle = self.made.pop()
                getattr(self.library, end)(handle)
        finally:
            _cuda.Context.pop()


class CusparseSpMV(CsrSpMV):
    """A matrix in compressed rows whose products cuSPARSE computes: ``y = A(x)``.

    Parameters
    ----------
    mat : sparse matrix or numpy.ndarray
        Matrix, as ``CsrSpMV`` takes it.
    dtype : dtype_like, optional
        Dtype of the elements, one of those of ``CsrSpMV``.
    allocator : callable or None, optional
        Function of a number of bytes that returns device memory. The default is the
        default allocator.

    Attributes
    ----------
    why_not : str or None
        Why the kernel of ``CsrSpMV`` is used; None if cuSPARSE is used.

    See Also
    --------
    pycuda.sparse.csr.CsrSpMV : The same without the library; it has the same errors.

    Notes
    -----
    The library's buffer is allocated when the matrix is made and used by each product:
    products on another stream wait for those before.
    """

    why_not: str | None

    def _build(self, host: HostCSR, allocator: Any) -> None:
        super()._build(host, allocator)
        self.why_not = _why_not()
        if self.why_not is None and (self.index_dtype != self.indptr.dtype):
            self.why_not = "cuSPARSE wants indices and row pointers of one dtype"
        if self.why_not is None and self.nnz == 0:
            self.why_not = "there are no elements"
        if self.why_not is None:
            self._make_handles(allocator)

    def _make_handles(self, allocator: Any) -> None:
        library = _open()
        handles = _Handles(library, self.context)
        # The arrays outlive the handles: the finalizer comes first.
        self._release = weakref.finalize(self, handles.release)
        rows, columns = self._shape
        value = _VALUE[self._dtype.name]
        index = _INDEX[self.index_dtype.itemsize]
        self._library = library
        self._handle = handles.make("cusparseCreate", "cusparseDestroy")
        self._matrix = handles.make(
            *("cusparseCreateCsr", "cusparseDestroySpMat"),
            *(rows, columns, self.nnz),
            *(self.indptr.ptr, self._indices.ptr, self._data.ptr),
            *(index, index, _BASE_ZERO, value),
        )
        vector = "cusparseCreateDnVec", "cusparseDestroyDnVec"
        # Vectors need some address until a product has theirs.
        self._x = handles.make(*vector, columns, self._data.ptr, value)
        self._y = handles.make(*vector, rows, self._data.ptr, value)
        self._factors = np.array([1, 0], self._dtype)
        size = c_size_t()
        _check(
            "cusparseSpMV_bufferSize",
            library.cusparseSpMV_bufferSize(*self._arguments(), byref(size)),
        )
        self._buffer = GPUArray((max(size.value, 1),), np.uint8, allocator)

    def _arguments(self) -> list[Any]:
        one = self._factors.ctypes.data
        zero = one + self._factors.itemsize
        return [
            *(self._handle, _NOT_TRANSPOSED, one, self._matrix, self._x, zero, self._y),
            *(_VALUE[self._dtype.name], _DEFAULT_ALGORITHM),
        ]

    def __call__(self, x: Any, y: Any = None, stream: Any = None) -> GPUArray:
        """Return the product with a vector.

        Parameters
        ----------
        x : GPUArray
            Vector, with an element for each column.
        y : GPUArray, optional
            Vector to which the product goes. The default is a new array.
        stream : Stream, optional
            Stream in which the work is enqueued. The default is the current stream.

        Returns
        -------
        GPUArray
            The product, an element for each row.
        """
        if self.why_not is not None:
            return super().__call__(x, y, stream)
        y = self._check_operands(x, y)
        if not y.size:
            return y
        library = self._library
        stream = self._stream_of(stream)
        buffer = self._buffer
        if stream.is_capturing:  # a graph has memory of its own
            buffer = GPUArray(buffer.shape, buffer.dtype)
        with self._lock:
            if not stream.is_capturing:
                stream = self._ordered(stream)
            _check(
                "cusparseSetStream",
                library.cusparseSetStream(self._handle, stream.handle),
            )
            for vector, array in ((self._x, x), (self._y, y)):
                _check(
                    "cusparseDnVecSetValues",
                    library.cusparseDnVecSetValues(vector, array.ptr),
                )
            status = library.cusparseSpMV(*self._arguments(), buffer.ptr)
            _check("cusparseSpMV", status)
        return y
