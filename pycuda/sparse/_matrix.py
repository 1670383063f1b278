"""The base of all sparse matrices: reading a matrix, and checking a call."""

from __future__ import annotations

from typing import Any

import numpy as np

import pycuda.driver as _cuda
from pycuda._driver import (
    GPUArray,
    _array_ops,
    _elementwise,
    _plain_array,
    _working_context,
)
from pycuda.sparse.operator import OperatorBase

_ADD = _array_ops["add"]

#: The name of each dtype that a matrix may have, in device code.
CTYPES = {
    "float32": "float",
    "float64": "double",
    "complex64": "pycuda_sparse::complex64",
    "complex128": "pycuda_sparse::complex128",
}


def checked_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the dtype of a matrix; TypeError unless it is one of CTYPES."""
    dtype = np.dtype(dtype)
    if dtype.name not in CTYPES or not dtype.isnative:
        raise TypeError(
            f"elements of dtype {dtype} are not multiplied: give dtype= as one of "
            f"{', '.join(CTYPES)}"
        )
    return dtype


def host_array(array: Any, name: str) -> np.ndarray[Any, Any]:
    """Return an array with one axis, of the host or the device, as a NumPy array."""
    found = array.get() if isinstance(array, GPUArray) else np.asarray(array)
    if found.ndim != 1:
        raise ValueError(f"{name} has shape {found.shape}; it must have one axis")
    return found


def signed(indices: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return indices in a dtype in which sums and differences cannot overflow."""
    return (
        indices if indices.dtype in (np.int32, np.int64) else indices.astype(np.int64)
    )


class HostCSR:
    """A matrix in compressed rows as NumPy arrays, which were checked."""

    def __init__(
        self, indptr: Any, indices: Any, data: Any, shape: Any, dtype: Any = None
    ) -> None:
        self.indptr = host_array(indptr, "indptr")
        self.indices = host_array(indices, "indices")
        data = host_array(data, "data")
        self.dtype = checked_dtype(data.dtype if dtype is None else dtype)
        if data.dtype.kind == "c" and self.dtype.kind != "c":
            raise TypeError(
                f"elements of dtype {data.dtype} do not become {self.dtype} without "
                "losing their imaginary parts"
            )
        self.data = np.ascontiguousarray(data, dtype=self.dtype)
        rows, columns = map(int, shape)
        self.shape = rows, columns
        self._check()
        self.indptr, self.indices = signed(self.indptr), signed(self.indices)

    def _check(self) -> None:
        rows, columns = self.shape
        if rows < 0 or columns < 0:
            raise ValueError(f"a matrix cannot have shape {self.shape}")
        for array, name in ((self.indptr, "indptr"), (self.indices, "indices")):
            if array.dtype.kind not in "iu" and array.size:
                raise TypeError(f"{name} has dtype {array.dtype}; it must be integers")
        if len(self.indptr) != rows + 1:
            raise ValueError(
                f"indptr has {len(self.indptr)} entries; {rows} rows need {rows + 1}"
            )
        if len(self.indices) != len(self.data):
            raise ValueError(
                f"there are {len(self.indices)} column indices and {len(self.data)} "
                "elements"
            )
        if (
            self.indptr[0] != 0
            or self.indptr[-1] != len(self.data)
            or (self.indptr[1:] < self.indptr[:-1]).any()
        ):
            raise ValueError(
                f"indptr must rise from 0 to the number of elements, {len(self.data)}"
            )
        if len(self.indices):
            least, most = self.indices.min(), self.indices.max()
            if least < 0 or most >= columns:
                wrong = least if least < 0 else most
                raise ValueError(
                    f"there is a column index {wrong} in a matrix of shape {self.shape}"
                )


def read_matrix(mat: Any, dtype: Any = None) -> HostCSR:
    """Return a matrix as a HostCSR.

    ``mat`` is a sparse matrix or array of SciPy of any format, any object with
    ``tocsr()``, or a NumPy array with two axes, whose zeros are left out.
    """
    if isinstance(mat, HostCSR):
        if dtype is None or mat.dtype == dtype:
            return mat
        return HostCSR(mat.indptr, mat.indices, mat.data, mat.shape, dtype)
    if hasattr(mat, "tocsr"):
        csr = mat.tocsr()
        return HostCSR(csr.indptr, csr.indices, csr.data, csr.shape, dtype)
    if isinstance(mat, np.ndarray):
        if mat.ndim != 2:
            raise ValueError(f"a matrix has two axes, not shape {mat.shape}")
        where = mat != 0
        indptr = np.concatenate([[0], np.cumsum(where.sum(axis=1))])
        return HostCSR(indptr, np.nonzero(where)[1], mat[where], mat.shape, dtype)
    raise TypeError(
        f"a {type(mat).__name__} is no matrix: give one of scipy.sparse, or a numpy "
        "array of two axes"
    )


def scipy_sparse() -> Any:
    """Return scipy.sparse; ImportError with advice if SciPy is not installed."""
    try:
        import scipy.sparse
    except ImportError as error:
        raise ImportError(
            "SciPy is not installed, but its matrices are needed: 'pip install scipy'"
        ) from error
    return scipy.sparse


def address(array: GPUArray) -> int:
    """Return the address of an array, 0 if it has no elements."""
    return array.ptr if array.size else 0


def _overlap(a: GPUArray, b: GPUArray) -> bool:
    a, b = _plain_array(a), _plain_array(b)
    first, second = address(a), address(b)
    return first < second + b.nbytes and second < first + a.nbytes


class DeviceOperator(OperatorBase):
    """An operator with data in one context, which must be current at each call."""

    def __init__(self, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        context = _working_context()
        if context is None:
            raise _cuda.LogicError(
                "there is no context: import pycuda.autoinit, or make one"
            )
        self.context = context
        self._shape = shape
        self._dtype = dtype
        self._nothing = GPUArray((0,), dtype)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements, of operands and of results."""
        return self._dtype

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self._shape

    def _check_context(self) -> None:
        if _working_context() != self.context:
            raise _cuda.LogicError(
                f"a matrix of shape {self.shape} belongs to another context than the "
                "current one"
            )

    def _check_size(self, vector: GPUArray, length: int, name: str) -> None:
        """Raise an error unless a vector has the right elements, in any shape."""
        found = int(np.prod(vector.shape, dtype=np.int64))
        if found != length:
            raise ValueError(
                f"{name} has shape {vector.shape} and {found} elements; with a matrix "
                f"of shape {self.shape} it must have {length}, as ({length},) or "
                f"({length}, 1) have"
            )

    def _check_vector(self, vector: Any, length: int, name: str) -> None:
        if not isinstance(vector, GPUArray):
            raise TypeError(f"{name} must be a GPUArray, not {type(vector).__name__}")
        vector = _plain_array(vector)
        if vector.dtype != self._dtype:
            raise TypeError(
                f"{name} has dtype {vector.dtype}, the matrix has {self._dtype}"
            )
        self._check_size(vector, length, name)
        if length > 1 and not vector.flags.forc:
            raise ValueError(
                f"{name} has strides {vector.strides}: its elements must lie side by "
                f"side, as in {name}.copy()"
            )
        if len(vector.shape) != 1:
            vector = vector.ravel()
        if address(vector) % self._dtype.itemsize:
            raise ValueError(
                f"{name} begins at an address that is no multiple of "
                f"{self._dtype.itemsize}"
            )
        if length:
            # An operation without elements launches nothing. It still checks that the
            # memory is allocated and belongs to this context.
            _elementwise(_ADD, (vector[:1], self._nothing), self._nothing)

    def _check_operands(self, x: Any, y: Any) -> GPUArray:
        """Return ``y``, or a new array; LogicError, TypeError or ValueError."""
        self._check_context()
        rows, columns = self._shape
        self._check_vector(x, columns, "x")
        if y is None:
            return GPUArray((rows,), self._dtype, x.allocator)
        self._check_vector(y, rows, "y")
        if rows and columns and _overlap(x, y):
            raise ValueError("x and y share memory")
        result: GPUArray = y
        return result
