"""Products of matrices in compressed rows with vectors: ``CsrSpMV``.

The kernel is in ``cuda/pycuda-sparse.hpp``. This file divides a matrix into the work
of its blocks, once, when it is made.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import pycuda.driver as _cuda
from pycuda import _hide_imports
from pycuda._array.kernels.compilation import load
from pycuda._driver import GPUArray, to_gpu
from pycuda.sparse._matrix import (
    CTYPES,
    DeviceOperator,
    HostCSR,
    address,
    read_matrix,
    scipy_sparse,
)
from pycuda.tools import context_dependent_memoize

__all__ = ["CsrSpMV"]
_hide_imports(globals())


class Shape(NamedTuple):
    """Threads of a block, elements that each reads, and blocks of a multiprocessor.

    Parameters
    ----------
    threads : int
        Threads of a block.
    items : int
        Elements that a thread reads.
    blocks : int
        Blocks of a multiprocessor, which limit the registers.

    Attributes
    ----------
    threads : int
        The number of threads of a block.
    items : int
        The number of elements that a thread reads.
    blocks : int
        The number of blocks of a multiprocessor.

    Notes
    -----
    All loads of a thread are in flight at the same time. More loads leave registers for
    fewer threads.
    """

    threads: int
    items: int
    blocks: int


#: By the size of an element, measured on an H200: for tiles of whole rows, and for
#: tiles that cut rows. In matrices with long rows, many rows share a column, and fewer
#: threads leave more of the L1 cache to ``x``.
WHOLE = {4: Shape(128, 8, 10), 8: Shape(128, 8, 8), 16: Shape(128, 4, 8)}
CUT = {4: Shape(256, 8, 4), 8: Shape(256, 4, 6), 16: Shape(128, 4, 8)}

#: The percentage of the L1 cache that is shared memory if rows are cut. It is enough
#: for the tiles of all blocks; the driver would choose more.
_CARVEOUT = 25

#: How far the numbers of a block may exceed those of the matrix.
_SPARE = 2**16

#: Rows count as an eighth of an element when tiles are cut.
_ROW_WEIGHT = 8

_TEXT = """#include <pycuda-sparse.hpp>
using namespace pycuda_sparse;
typedef {value} T;
typedef rows<T, {index}, {offset}, {threads}, {items}, {lanes}, {passes}, {uneven},
             {cut}> R;

extern "C" __global__ void
__launch_bounds__({threads}, PYCUDA_SPARSE_BLOCKS({threads}, {blocks}))
multiply(const job<{offset}> *jobs, const int *slots, const {offset} *indptr,
         const {index} *indices, const T *values, const T *x, T *y, T *partial)
{{
    R::tile(jobs, slots, indptr, indices, values, x, y, partial);
}}

extern "C" __global__ void
join_parts(const joint *joints, const T *partial, T *y, int count)
{{
    join(joints, count, partial, y);
}}
"""


class Kind(NamedTuple):
    """Parameters of a kernel's source.

    Parameters
    ----------
    dtype : numpy.dtype
        Dtype of the elements.
    wide_index : bool
        If true, columns have 64 bits.
    wide_offset : bool
        If true, places of elements have 64 bits.
    shape : Shape
        The shape of the blocks.
    lanes : int
        Number of lanes that process a row, from a plan.
    passes : int
        Number of passes over the rows of a tile, from a plan.
    uneven : bool
        If true, warps process rows that are far longer than most, from a plan.
    cut : bool
        If true, tiles may end within a row, from a plan.

    Attributes
    ----------
    dtype : numpy.dtype
        The dtype of the elements.
    wide_index : bool
        Whether columns take 8 bytes instead of 4.
    wide_offset : bool
        Whether places of elements take 8 bytes instead of 4.
    shape : Shape
        The shape of the blocks.
    lanes : int
        The number of threads that process a row.
    passes : int
        The number of rows whose bounds a thread reads ahead.
    uneven : bool
        Whether warps process rows that are far longer than most.
    cut : bool
        Whether a tile may end within a row.
    """

    dtype: np.dtype[Any]
    wide_index: bool
    wide_offset: bool
    shape: Shape
    lanes: int
    passes: int
    uneven: bool
    cut: bool


def kernel_text(kind: Kind) -> str:
    """Return the source of the kernels for matrices of one kind.

    Parameters
    ----------
    kind : Kind
        Parameters of the source.

    Returns
    -------
    str
        The source in CUDA C++.
    """
    return _TEXT.format(
        value=CTYPES[kind.dtype.name],
        index="long long" if kind.wide_index else "int",
        offset="long long" if kind.wide_offset else "int",
        lanes=kind.lanes,
        passes=kind.passes,
        uneven="true" if kind.uneven else "false",
        cut="true" if kind.cut else "false",
        **kind.shape._asdict(),
    )


def sample_sources() -> Iterator[tuple[str, str]]:
    """Yield names and sources of kernels, for checks with other compilers.

    Yields
    ------
    name : str
        Name of the kernel.
    source : str
        The source in CUDA C++.
    """
    for name in CTYPES:
        dtype: np.dtype[Any] = np.dtype(name)
        whole, cut = WHOLE[dtype.itemsize], CUT[dtype.itemsize]
        short = Kind(dtype, False, False, whole, 1, 2, False, False)
        uneven = Kind(dtype, True, True, cut, 8, 1, True, True)
        yield f"{name}, short rows", kernel_text(short)
        yield f"{name}, uneven rows", kernel_text(uneven)


@context_dependent_memoize
def _functions(kind: Kind) -> tuple[Any, Any]:
    module = load(kernel_text(kind), ["-w"])
    multiply = module.get_function("multiply").prepare("PPPPPPPP")
    if kind.cut:
        carveout = _cuda.function_attribute.PREFERRED_SHARED_MEMORY_CARVEOUT
        multiply.set_attribute(carveout, _CARVEOUT)
    return multiply, module.get_function("join_parts").prepare("PPPi")


# -- the work of blocks ----------------------------------------------------------------


def _job_dtype(wide: bool) -> np.dtype[Any]:
    """Return the dtype of ``job`` in the header: 16 bytes, or 32 with wide offsets."""
    offset = "<i8" if wide else "<i4"
    fields = [("begin", offset), ("end", offset), ("row", "<i4"), ("last", "<i4")]
    return np.dtype([*fields, ("", "V8")] if wide else fields)


def shape_for(indptr: np.ndarray[Any, Any], itemsize: int) -> Shape:
    """Return the shape of the blocks for a matrix with these rows.

    Parameters
    ----------
    indptr : numpy.ndarray
        Places where the rows begin, and the number of elements.
    itemsize : int
        Bytes of an element.

    Returns
    -------
    Shape
        The shape.
    """
    whole = WHOLE[itemsize]
    longest = int(np.diff(indptr).max(initial=0))
    cut = longest > whole.threads * whole.items // 8
    return (CUT if cut else WHOLE)[itemsize]


class Plan:
    """Division of a matrix into tiles of at most ``threads * items`` elements.

    If no row has more than an eighth of that, tiles are whole rows. Otherwise a tile
    may end within a row.

    Parameters
    ----------
    indptr : numpy.ndarray
        Places where the rows begin, and the number of elements.
    wide : bool
        If true, places of elements have 64 bits.
    threads : int
        Threads of a block.
    items : int
        Elements that a thread reads.

    Attributes
    ----------
    cut : bool
        Whether a tile may end within a row.
    jobs : numpy.ndarray
        The elements and rows of each tile, a structure of 16 or 32 bytes.
    slots : numpy.ndarray
        The places of partial sums, int32 of shape (tiles,).
    joints : numpy.ndarray
        The rows that were cut with the places of their sums, int32 of shape (rows, 3).
    slot_count : int
        The number of places of partial sums.
    lanes : int
        The number of threads that process a row.
    passes : int
        The number of rows whose bounds a thread reads ahead.
    uneven : bool
        Whether warps process rows that are far longer than most.
    """

    def __init__(
        self, indptr: np.ndarray[Any, Any], wide: bool, threads: int, items: int
    ) -> None:
        chunk = threads * items
        indptr = indptr.astype(np.int64, copy=False)
        lengths = np.diff(indptr)
        longest = int(lengths.max(initial=0))
        self.cut: bool = longest > chunk // 8
        # A tile begins at the sector of its first element: at most seven others.
        capacity = chunk - 7 - (0 if self.cut else longest)
        tiles = self._cut_tiles if self.cut else self._whole_tiles
        begin, row, last = tiles(indptr, lengths, capacity)
        self.jobs: npt.NDArray[Any] = np.zeros(len(row), _job_dtype(wide))
        self.jobs["begin"] = begin[:-1]
        self.jobs["end"] = begin[1:]
        self.jobs["row"], self.jobs["last"] = row, last
        # Warps instead of lanes process rows that are far longer than most. Such rows
        # leave space for fewer rows in a tile.
        typical = 0.0
        if len(lengths):
            most = 4 * float(np.median(lengths)) + 8
            capped = float(np.minimum(lengths, most).mean())
            typical = (capped * float(lengths.mean())) ** 0.5
        rows_per_tile = max(capacity / max(typical, 1 / _ROW_WEIGHT), 1)
        lanes = 1
        while lanes < 32 and 2 * lanes * rows_per_tile <= threads:
            lanes *= 2
        self.lanes = lanes
        self.passes: int = int(np.clip(np.ceil(rows_per_tile * lanes / threads), 1, 4))
        self.uneven: bool = longest > 16 * lanes + 16

    def _whole_tiles(
        self,
        indptr: np.ndarray[Any, Any],
        lengths: np.ndarray[Any, Any],
        capacity: int,
    ) -> tuple[Any, Any, Any]:
        """Return (element where each tile begins and the end, first rows, ends)."""
        weights = _ROW_WEIGHT * lengths + 1
        number = (np.cumsum(weights) - weights) // (_ROW_WEIGHT * capacity)
        begins = np.ones(len(lengths), bool)
        begins[1:] = number[1:] != number[:-1]
        rows = np.flatnonzero(begins)
        last = np.append(rows[1:], len(lengths))[: len(rows)]
        self.slots: npt.NDArray[Any] = np.empty(0, np.int32)
        self.joints: npt.NDArray[Any] = np.empty((0, 3), np.int32)
        self.slot_count: int = 0
        return indptr[np.append(rows, len(lengths))], rows, last

    def _cut_tiles(
        self,
        indptr: np.ndarray[Any, Any],
        lengths: np.ndarray[Any, Any],
        capacity: int,
    ) -> tuple[Any, Any, Any]:
        # Row r occupies a range from keys[r] on, its elements first.
        keys = _ROW_WEIGHT * indptr[:-1] + np.arange(len(lengths))
        total = _ROW_WEIGHT * int(indptr[-1]) + len(lengths)
        cuts = np.arange(_ROW_WEIGHT * capacity, total, _ROW_WEIGHT * capacity)
        row = np.searchsorted(keys, cuts, "right") - 1
        done = np.minimum((cuts - keys[row]) // _ROW_WEIGHT, lengths[row])
        goes_on = (done > 0) & (done < lengths[row])
        begun = np.concatenate([[False], goes_on])
        open_end = np.concatenate([goes_on, [False]])
        first = np.concatenate([[0], row + ((done > 0) & ~goes_on)])
        last = np.concatenate([row + (done > 0), [len(lengths)]])
        inside = begun & open_end & (last - first == 1)
        counts = begun.astype(np.int64) + open_end - inside
        places = np.cumsum(counts) - counts
        self.slots = (2 * places + begun).astype(np.int32)
        self.slot_count = int(counts.sum())
        # The row of each place. The places of one row are neighbours.
        rows = np.empty(self.slot_count, np.int64)
        tail = open_end & ~inside
        rows[places[tail] + begun[tail]] = last[tail] - 1
        rows[places[begun]] = first[begun]
        starts = np.flatnonzero(np.diff(rows, prepend=-1))
        ends = np.append(starts[1:], len(rows))[: len(starts)]
        self.joints = np.stack([rows[starts], starts, ends], axis=1).astype(np.int32)
        begin = np.concatenate([[0], indptr[row] + done, indptr[-1:]])
        return begin, first, last


# -- the matrix ------------------------------------------------------------------------


def _padded(array: np.ndarray[Any, Any], dtype: Any, allocator: Any) -> GPUArray:
    """Return a device array padded with zeros to a multiple of four elements."""
    host = np.zeros(-(-len(array) // 4) * 4, dtype)
    host[: len(array)] = array
    return to_gpu(host, allocator)


class CsrSpMV(DeviceOperator):
    """Matrix in compressed rows on the device: ``y = A(x)``.

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
    nnz : int
        Number of elements.
    indptr : GPUArray
        Places where the rows begin, and the number of elements.
    index_dtype : numpy.dtype
        Dtype of the columns: int32 where they fit, else int64.
    num_blocks : int
        Number of blocks.
    block_size : int
        Threads of a block.

    Raises
    ------
    TypeError
        If the dtype is another one, or if ``mat`` is no matrix.
    ValueError
        If an index is outside the matrix.

    See Also
    --------
    pycuda.sparse.packeted.PacketedSpMV : Packets, for square matrices.
    pycuda.sparse.cg.CGStateContainer : Solve a system of equations.

    Notes
    -----
    The matrix is copied to the current context.

    Examples
    --------
    >>> from pycuda.sparse.csr import CsrSpMV
    >>> A = CsrSpMV(np.array([[1.0, 0, 2], [0, 3, 0]]))
    >>> A(gpuarray.to_gpu(np.array([1.0, 1, 1])))
    array([3., 3.])
    """

    def __init__(self, mat: Any, dtype: Any = None, allocator: Any = None) -> None:
        self._build(read_matrix(mat, dtype), allocator)

    @classmethod
    def from_arrays(
        cls,
        indptr: Any,
        indices: Any,
        data: Any,
        shape: tuple[int, int],
        dtype: Any = None,
        allocator: Any = None,
    ) -> CsrSpMV:
        """Return a matrix made of its three arrays.

        Row ``i`` has the elements ``data[indptr[i]:indptr[i + 1]]`` in the columns
        ``indices[indptr[i]:indptr[i + 1]]``.

        Parameters
        ----------
        indptr : array_like
            Places where the rows begin, and the number of elements, NumPy or GPUArray.
        indices : array_like
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
        CsrSpMV
            The matrix.

        Raises
        ------
        TypeError
            If the dtype is another one than the class takes.
        ValueError
            If the arrays do not describe a matrix of this shape.

        Notes
        -----
        GPUArrays are copied to the host for checks.

        Examples
        --------
        >>> from pycuda.sparse.csr import CsrSpMV
        >>> A = CsrSpMV.from_arrays([0, 1, 2], [1, 0], [3.0, 2.0], shape=(2, 2))
        >>> A(gpuarray.to_gpu(np.array([1.0, 10])))
        array([30.,  2.])
        """
        self = cls.__new__(cls)
        self._build(HostCSR(indptr, indices, data, shape, dtype), allocator)
        return self

    def _build(self, host: HostCSR, allocator: Any) -> None:
        super().__init__(host.shape, host.dtype)
        self.nnz: int = len(host.data)
        most = np.iinfo(np.int32).max
        rows, columns = host.shape
        if rows > most - _SPARE:
            raise ValueError(f"{rows} rows are too many: the limit is {most - _SPARE}")
        wide_index = columns > most
        wide = self.nnz > most - _SPARE
        self.index_dtype: np.dtype[Any] = np.dtype(np.int64 if wide_index else np.int32)
        shape = shape_for(host.indptr, host.dtype.itemsize)
        plan = Plan(host.indptr, wide, shape.threads, shape.items)
        self.block_size: int = shape.threads
        self.num_blocks: int = len(plan.jobs)
        self._indices = _padded(host.indices, self.index_dtype, allocator)
        self._data = _padded(host.data, host.dtype, allocator)
        self.indptr: GPUArray = to_gpu(
            host.indptr.astype(np.int64 if wide else np.int32), allocator
        )
        self._jobs = to_gpu(plan.jobs.view(np.uint8), allocator)
        self._joint_count = len(plan.joints)
        self._slots: GPUArray | None = None
        self._joints: Any = None
        self._partial: Any = None
        if plan.cut:
            self._slots = to_gpu(plan.slots, allocator)
        if self._joint_count:
            self._joints = to_gpu(plan.joints, allocator)
            self._partial = GPUArray((plan.slot_count,), host.dtype, allocator)
        self._lock = threading.Lock()
        self._last_stream: Any = None
        parts = (plan.lanes, plan.passes, plan.uneven, plan.cut)
        kind = Kind(host.dtype, wide_index, wide, shape, *parts)
        self._multiply, self._join = _functions(kind)

    @property
    def indices(self) -> GPUArray:
        """The columns of the elements, row by row: a view."""
        return self._indices[: self.nnz]

    @property
    def data(self) -> GPUArray:
        """The elements, row by row: a view that may be written to."""
        return self._data[: self.nnz]

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
        The call does not wait. With ``y`` nothing is allocated. The matrix owns memory
        for the sums of rows that several blocks share, so a call in another stream
        waits on the device for the previous call.
        """
        y = self._check_operands(x, y)
        if self.num_blocks == 0:
            return y
        if self._joint_count == 0:
            self._launch(x, y, stream)
            return y
        stream = self._stream_of(stream)
        if stream.is_capturing:  # a graph has partial sums of its own
            partial = GPUArray(self._partial.shape, self.dtype)
            self._launch_joined(x, y, stream, partial)
            return y
        # The matrix owns the partial sums of rows, so another stream waits.
        with self._lock:
            self._launch_joined(x, y, self._ordered(stream), self._partial)
        return y

    def _launch_joined(
        self, x: GPUArray, y: GPUArray, stream: _cuda.Stream, partial: GPUArray
    ) -> None:
        self._launch(x, y, stream, partial)
        self._join.prepared_async_call(
            (-(-self._joint_count // 8), 1),
            (256, 1, 1),
            stream,
            self._joints.gpudata,
            partial.gpudata,
            y.ptr,
            self._joint_count,
        )

    @staticmethod
    def _stream_of(stream: Any) -> _cuda.Stream:
        if stream is None:
            return _cuda.Stream.get_current() or _cuda.Stream.from_handle(0)
        if isinstance(stream, _cuda.Stream):
            return stream
        return _cuda.Stream.from_handle(stream)

    def _ordered(self, stream: _cuda.Stream) -> _cuda.Stream:
        """Return the stream of a call, which waits for the previous call's stream.

        The caller holds the lock.
        """
        last: _cuda.Stream | None = self._last_stream
        if last is not None and last.handle != stream.handle:
            event = _cuda.Event(_cuda.event_flags.DISABLE_TIMING)
            event.record(last)
            stream.wait_for_event(event)
        self._last_stream = stream
        return stream

    def _launch(
        self, x: GPUArray, y: GPUArray, stream: Any, partial: GPUArray | None = None
    ) -> None:
        self._multiply.prepared_async_call(
            (self.num_blocks, 1),
            (self.block_size, 1, 1),
            stream,
            self._jobs.gpudata,
            0 if self._slots is None else self._slots.gpudata,
            self.indptr.gpudata,
            address(self._indices),
            address(self._data),
            address(x),
            address(y),
            0 if partial is None else partial.gpudata,
        )

    def to_scipy(self) -> Any:
        """Return the matrix in SciPy's form.

        Returns
        -------
        scipy.sparse.csr_matrix
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
        arrays = (self.data.get(), self.indices.get(), self.indptr.get())
        return scipy_sparse().csr_matrix(arrays, shape=self.shape)
