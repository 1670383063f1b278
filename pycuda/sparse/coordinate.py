"""Products of matrices in coordinate form with vectors: ``CoordinateSpMV``.

Each element has its row and its column. The warps get equal numbers of elements, for
any lengths of rows. A warp adds up neighbouring elements of one row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import pycuda.driver as _cuda
from pycuda import _hide_imports
from pycuda._array.kernels.compilation import load
from pycuda._driver import GPUArray, to_gpu
from pycuda.sparse._matrix import (
    CTYPES,
    DeviceOperator,
    HostCSR,
    host_array,
    read_matrix,
    scipy_sparse,
    signed,
)
from pycuda.tools import context_dependent_memoize

__all__ = ["COO_FLAT_KERNEL_TEMPLATE", "COO_SERIAL_KERNEL_TEMPLATE", "CoordinateSpMV"]
_hide_imports(globals())

_HEAD = """#include <pycuda-sparse.hpp>
using namespace pycuda_sparse;
typedef {value_type} T;
typedef {index_type} Index;
"""

#: A warp processes ``interval_size`` elements, 128 at a time.
COO_FLAT_KERNEL_TEMPLATE = (
    _HEAD
    + """
extern "C" __global__ void __launch_bounds__({block_size})
spmv_coo_flat_kernel(Index tail, Index interval_size, const Index *row_gpu,
                     const Index *col_gpu, const T *data_gpu, const T *x, T *y)
{{
    const Index warp = ((Index)blockIdx.x * {block_size} + threadIdx.x) / 32;
    const Index begin = warp * interval_size;
    const Index end = min(begin + interval_size, tail);
    coordinates<T, Index>::run(begin, end, row_gpu, col_gpu, data_gpu, x, y);
}}
"""
)

#: One warp processes the last elements, which are fewer than 128.
COO_SERIAL_KERNEL_TEMPLATE = (
    _HEAD
    + """
extern "C" __global__ void
spmv_coo_serial_kernel(Index begin, Index end, const Index *row_gpu,
                       const Index *col_gpu, const T *data_gpu, const T *x, T *y)
{{
    for (Index j = begin + threadIdx.x; j < end; j += 32)
        add(y + row_gpu[j], data_gpu[j] * fetch(x + col_gpu[j]));
}}
"""
)

_BLOCK_SIZE = 256
_STEP = 128  # elements that a warp reads at once
_MOST_STEPS = 8


@context_dependent_memoize
def _function(text: str, name: str, types: str) -> Any:
    return load(text, ["-w"]).get_function(name).prepare(types)


def sample_sources() -> Iterator[tuple[str, str]]:
    """Yield names and sources of kernels, for checks with other compilers.

    Yields
    ------
    name : str
        Name of the kernel.
    source : str
        The source in CUDA C++.
    """
    for name, value in CTYPES.items():
        for template in (COO_FLAT_KERNEL_TEMPLATE, COO_SERIAL_KERNEL_TEMPLATE):
            text = template.format(
                value_type=value, index_type="int", block_size=_BLOCK_SIZE
            )
            yield f"{name}, {'flat' if 'flat' in text else 'serial'}", text


class CoordinateSpMV(DeviceOperator):
    """Matrix in coordinate form on the device: ``y = A(x)``.

    Parameters
    ----------
    mat : sparse matrix or numpy.ndarray
        Matrix of scipy.sparse of any format, any object with ``tocsr()``, or a NumPy
        array with two axes.
    dtype : dtype_like, optional
        Dtype of the elements: float32, float64, complex64 or complex128. The default is
        that of the matrix.
    allocator : callable or None, optional
        Function of a number of bytes that returns device memory. The default is the
        default allocator.

    Attributes
    ----------
    index_dtype : numpy.dtype
        The dtype of ``row_gpu`` and ``col_gpu``: int32, or int64 for large matrices.
    block_size : int
        The number of threads of a block.
    row_gpu : pycuda.gpuarray.GPUArray
        The rows of the elements, of shape (nnz,).
    col_gpu : pycuda.gpuarray.GPUArray
        The columns of the elements, of shape (nnz,).
    data_gpu : pycuda.gpuarray.GPUArray
        The values of the elements, of shape (nnz,).
    nnz : int
        The number of elements that the matrix stores.
    num_blocks : int
        The number of blocks of the first kernel.
    interval_size : int
        The number of elements that a warp processes.
    tail : int
        The number of elements that the first kernel processes; a warp adds the others.

    Raises
    ------
    TypeError
        If the dtype is another one, or if ``mat`` is no matrix.
    ValueError
        If an index is outside the matrix.

    See Also
    --------
    pycuda.sparse.csr.CsrSpMV : Compressed rows.

    Notes
    -----
    The matrix is copied to the current context. The sums of a row that more than two
    warps share may differ in their last bits from run to run, because warps add to it
    in any order.

    Examples
    --------
    >>> from pycuda.sparse.coordinate import CoordinateSpMV
    >>> A = CoordinateSpMV(np.array([[1.0, 0, 2], [0, 3, 0]]))
    >>> A(gpuarray.to_gpu(np.array([1.0, 1, 1])))
    array([3., 3.])
    """

    def __init__(self, mat: Any, dtype: Any = None, allocator: Any = None) -> None:
        host = read_matrix(mat, dtype)
        rows = np.repeat(np.arange(host.shape[0]), np.diff(host.indptr))
        self._build(rows, host.indices, host.data, host.shape, allocator)

    @classmethod
    def from_arrays(
        cls,
        rows: Any,
        columns: Any,
        data: Any,
        shape: tuple[int, int],
        dtype: Any = None,
        allocator: Any = None,
    ) -> CoordinateSpMV:
        """Return a matrix made of rows, columns and values, in any order.

        Parameters
        ----------
        rows : array_like
            The rows of the elements, NumPy or GPUArray.
        columns : array_like
            The columns of the elements, NumPy or GPUArray.
        data : array_like
            The elements, NumPy or GPUArray.
        shape : tuple of int
            Numbers of rows and columns.
        dtype : dtype_like, optional
            Dtype of the elements. The default is that of ``data``.
        allocator : callable or None, optional
            Function of a number of bytes that returns device memory. The default is the
            default allocator.

        Returns
        -------
        CoordinateSpMV
            The matrix.

        Raises
        ------
        TypeError
            If the dtype is another one than the class takes.
        ValueError
            If an index is outside the matrix, or if the arrays have different lengths.

        Notes
        -----
        GPUArrays are copied to the host.

        Examples
        --------
        >>> from pycuda.sparse.coordinate import CoordinateSpMV
        >>> A = CoordinateSpMV.from_arrays([1, 0], [0, 1], [2.0, 3.0], shape=(2, 2))
        >>> A(gpuarray.to_gpu(np.array([1.0, 10])))
        array([30.,  2.])
        """
        rows, columns = host_array(rows, "rows"), host_array(columns, "columns")
        data = host_array(data, "data")
        if not len(rows) == len(columns) == len(data):
            raise ValueError(
                f"there are {len(rows)} rows, {len(columns)} columns and {len(data)} "
                "elements"
            )
        for array, name, most in zip(
            (rows, columns), ("row", "column"), shape, strict=True
        ):
            if len(array) and (array.min() < 0 or array.max() >= most):
                wrong = array.min() if array.min() < 0 else array.max()
                raise ValueError(
                    f"there is a {name} index {wrong} in a matrix of shape {shape}"
                )
        order = np.argsort(rows, kind="stable")
        rows = signed(rows[order])
        indptr = np.searchsorted(rows, np.arange(shape[0] + 1))
        host = HostCSR(indptr, columns[order], data[order], shape, dtype)
        self = cls.__new__(cls)
        self._build(rows, host.indices, host.data, host.shape, allocator)
        return self

    def _build(
        self,
        rows: np.ndarray[Any, Any],
        columns: np.ndarray[Any, Any],
        data: np.ndarray[Any, Any],
        shape: tuple[int, int],
        allocator: Any,
    ) -> None:
        super().__init__(shape, data.dtype)
        self.nnz: int = len(data)
        # The warps of the last block have places beyond the last element.
        reach = self.nnz + _BLOCK_SIZE // 32 * _STEP * _MOST_STEPS
        narrow = max(reach, *shape) <= np.iinfo(np.int32).max
        self.index_dtype: np.dtype[Any] = np.dtype(np.int32 if narrow else np.int64)
        self.block_size = _BLOCK_SIZE
        steps = self.nnz // _STEP
        self.tail: int = steps * _STEP
        warps_each = _BLOCK_SIZE // 32
        each = int(np.clip(steps // 4096, 1, _MOST_STEPS))
        self.interval_size: int = each * _STEP
        self.num_blocks: int = -(-steps // (each * warps_each))
        self.row_gpu: GPUArray = to_gpu(rows.astype(self.index_dtype), allocator)
        self.col_gpu: GPUArray = to_gpu(columns.astype(self.index_dtype), allocator)
        self.data_gpu: GPUArray = to_gpu(data, allocator)
        self._flat = self.get_flat_kernel() if steps else None
        self._serial = self.get_serial_kernel() if self.tail < self.nnz else None

    def _kernel(self, template: str, name: str) -> Any:
        narrow = self.index_dtype == np.int32
        text = template.format(
            value_type=CTYPES[self._dtype.name],
            index_type="int" if narrow else "long long",
            block_size=self.block_size,
        )
        return _function(text, name, "iiPPPPP" if narrow else "qqPPPPP")

    def get_flat_kernel(self) -> Any:
        """Return the prepared function for the first ``tail`` elements.

        Returns
        -------
        Function
            The kernel. Its parameters are tail, interval_size, rows, columns, elements,
            x and y. It adds to y.
        """
        return self._kernel(COO_FLAT_KERNEL_TEMPLATE, "spmv_coo_flat_kernel")

    def get_serial_kernel(self) -> Any:
        """Return the prepared function, for one warp, for the elements after ``tail``.

        Returns
        -------
        Function
            The kernel. Its parameters are tail, nnz, rows, columns, elements, x and y.
            It adds to y.
        """
        return self._kernel(COO_SERIAL_KERNEL_TEMPLATE, "spmv_coo_serial_kernel")

    def __call__(self, x: Any, y: Any = None, stream: Any = None) -> GPUArray:
        """Return the product with a vector.

        Parameters
        ----------
        x : GPUArray
            Vector of (columns,) elements without gaps, in the matrix's dtype.
        y : GPUArray, optional
            Vector of (rows,) elements for the result. The default is a new array.
        stream : Stream, optional
            Stream in which the work is enqueued. The default is the current stream.

        Returns
        -------
        GPUArray
            The vector ``y``, or a new one.

        Raises
        ------
        TypeError
            If a vector has another dtype.
        ValueError
            If a vector has another shape or gaps, or if both share memory.
        LogicError
            If another context than the matrix's is current.

        Notes
        -----
        The call does not wait. With ``y`` nothing is allocated.
        """
        y = self._check_operands(x, y)
        if self.shape[0]:
            nbytes = self.shape[0] * self.dtype.itemsize
            _cuda.memset_d8_async(y.ptr, 0, nbytes, stream)
        self.add_to(x, y, stream)
        return y

    def add_to(self, x: GPUArray, y: GPUArray, stream: Any = None) -> None:
        """Add the product with ``x`` to ``y`` without checks.

        Parameters
        ----------
        x : GPUArray
            Vector of (columns,) elements without gaps, in the matrix's dtype.
        y : GPUArray
            Vector of (rows,) elements, to which the product is added.
        stream : Stream, optional
            Stream in which the work is enqueued. The default is the current stream.
        """
        if self.nnz == 0:
            return
        arrays = (self.row_gpu.ptr, self.col_gpu.ptr, self.data_gpu.ptr, x.ptr, y.ptr)
        if self._flat is not None:
            grid, block = (self.num_blocks, 1), (self.block_size, 1, 1)
            self._flat.prepared_async_call(
                grid, block, stream, self.tail, self.interval_size, *arrays
            )
        if self._serial is not None:
            self._serial.prepared_async_call(
                (1, 1), (32, 1, 1), stream, self.tail, self.nnz, *arrays
            )

    def to_scipy(self) -> Any:
        """Return the matrix in SciPy's form.

        Returns
        -------
        scipy.sparse.coo_matrix
            The matrix on the host.

        Raises
        ------
        ImportError
            If SciPy is not installed.

        Notes
        -----
        The call waits for the copies.
        """
        self._check_context()
        arrays = (self.data_gpu.get(), (self.row_gpu.get(), self.col_gpu.get()))
        return scipy_sparse().coo_matrix(arrays, shape=self.shape)
