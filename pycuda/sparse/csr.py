"""Products of matrices in compressed rows with vectors: ``CsrSpMV``.

The kernel is in ``cuda/pycuda-sparse.hpp``. Here a matrix is cut into what its blocks
do, once, when it is made.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

import pycuda.driver as _cuda
from pycuda import _codegen
from pycuda.gpuarray import GPUArray, to_gpu
from pycuda.sparse._matrix import (
    CTYPES,
    DeviceOperator,
    HostCSR,
    address,
    read_matrix,
    scipy_sparse,
)
from pycuda.tools import context_dependent_memoize

THREADS = 256

#: Elements that a thread reads, by the size of one: their loads are all under way at
#: once, and more of them would leave room for fewer threads.
ITEMS = {4: 8, 8: 4, 16: 4}

#: Blocks that fit a multiprocessor together, by the same: the limit of registers.
BLOCKS = {4: 5, 8: 6, 16: 4}

#: Elements of a piece of a long row; rows of up to twice as many are one piece.
PIECE = 8192

#: Rows count as an eighth of an element when tiles are cut.
_ROW_WEIGHT = 8

_TEXT = """#include <pycuda-sparse.hpp>
using namespace pycuda_sparse;
typedef {value} T;
typedef rows<T, {index}, {offset}, {threads}, {items}, {lanes}, {passes}, {uneven}> R;

extern "C" __global__ void __launch_bounds__({threads}, {blocks})
multiply(const job<{offset}> *jobs, const {offset} *indptr, const {index} *indices,
         const T *values, const T *x, T *y, T *partial, unsigned int pieces)
{{
    const job<{offset}> here = jobs[blockIdx.x];
    if ({long_rows} && blockIdx.x < pieces)
        R::piece(here, indices, values, x, y, partial);
    else
        R::tile(here, indptr, indices, values, x, y);
}}

extern "C" __global__ void
join_pieces(const joint *joints, const T *partial, T *y, int count)
{{
    join(joints, count, partial, y);
}}
"""


def kernel_text(
    dtype: Any,
    wide_index: bool,
    wide_offset: bool,
    lanes: int,
    passes: int,
    uneven: bool,
    long_rows: bool,
    threads: int = THREADS,
    items: int | None = None,
    blocks: int | None = None,
) -> str:
    """Return the source of the kernels for matrices of one kind."""
    dtype = np.dtype(dtype)
    return _TEXT.format(
        value=CTYPES[dtype.name],
        index="long long" if wide_index else "int",
        offset="long long" if wide_offset else "int",
        threads=threads,
        items=items or ITEMS[dtype.itemsize],
        blocks=blocks or BLOCKS[dtype.itemsize],
        lanes=lanes,
        passes=passes,
        uneven="true" if uneven else "false",
        long_rows="true" if long_rows else "false",
    )


def sample_sources():
    """Yield (name, source) of kernels, for tools/compile_matrix.py."""
    for name in CTYPES:
        yield f"{name}, short rows", kernel_text(name, False, False, 1, 2, False, False)
        yield f"{name}, uneven rows", kernel_text(name, True, True, 8, 1, True, True)


@context_dependent_memoize
def _functions(*words: Any) -> tuple[Any, Any]:
    module = _codegen.load(kernel_text(*words), ["-w"])
    multiply = module.get_function("multiply").prepare("PPPPPPPI")
    return multiply, module.get_function("join_pieces").prepare("PPPi")


# -- what blocks do --------------------------------------------------------------------


def _job_dtype(wide: bool) -> np.dtype[Any]:
    """The layout of ``job`` in the header: 16 bytes, or 32 with wide offsets."""
    offset = "<i8" if wide else "<i4"
    fields = [("begin", offset), ("end", offset), ("row", "<i4"), ("last", "<i4")]
    return np.dtype([*fields, ("", "V8")] if wide else fields)


class Plan:
    """How a matrix is cut: tiles of whole rows, and pieces of rows that are long.

    ``jobs`` are the pieces, then the tiles; ``joints`` say which sums of pieces make
    a row. ``lanes``, ``passes`` and ``uneven`` are what the kernel is made for.
    """

    def __init__(
        self, indptr: np.ndarray[Any, Any], wide: bool, threads: int, items: int
    ) -> None:
        self.threads, self.items = threads, items
        chunk = threads * items
        indptr = indptr.astype(np.int64, copy=False)
        lengths = np.diff(indptr)
        limit = self._limit(lengths, chunk)
        is_long = lengths > limit
        short = lengths[~is_long]
        longest = int(short.max(initial=0))
        # With its last row, and three elements for the sake of alignment, a tile fits.
        capacity = chunk - 3 - longest
        pieces = self._pieces(indptr, lengths, np.flatnonzero(is_long), wide)
        tiles = self._tiles(indptr, lengths, is_long, capacity, wide)
        self.jobs = np.concatenate([pieces, tiles])
        self.piece_count = len(pieces)
        count, total = len(short), int(short.sum())
        mean = total / max(count, 1)
        rows_per_tile = max(capacity / max(mean, 1 / _ROW_WEIGHT), 1)
        lanes = 1
        while lanes < 32 and 2 * lanes * rows_per_tile <= threads:
            lanes *= 2
        self.lanes = lanes
        self.passes = int(np.clip(np.ceil(rows_per_tile * lanes / threads), 1, 4))
        self.uneven = longest > 16 * lanes + 16

    @staticmethod
    def _limit(lengths: np.ndarray[Any, Any], chunk: int) -> int:
        """Return the length from which rows are long, by the number of blocks."""

        def blocks(limit: int) -> float:
            short = lengths[lengths <= limit]
            capacity = chunk - 3 - int(short.max(initial=0))
            return len(lengths) - len(short) + int(short.sum()) / capacity

        return min((chunk // 2, chunk // 4, chunk // 8), key=blocks)

    def _pieces(
        self,
        indptr: np.ndarray[Any, Any],
        lengths: np.ndarray[Any, Any],
        rows: np.ndarray[Any, Any],
        wide: bool,
    ) -> np.ndarray[Any, Any]:
        long = lengths[rows]
        count = np.where(long > 2 * PIECE, -(-long // PIECE), 1)
        first = np.cumsum(count) - count
        row = np.repeat(rows, count)
        number = np.arange(len(row)) - np.repeat(first, count)
        jobs = np.zeros(len(row), _job_dtype(wide))
        each = np.where(count > 1, PIECE, long)
        jobs["begin"] = indptr[row] + number * np.repeat(each, count)
        jobs["end"] = np.minimum(
            jobs["begin"] + np.repeat(each, count), indptr[row + 1]
        )
        jobs["row"] = row
        is_split = count > 1
        slots = np.cumsum(np.where(is_split, count, 0))
        split = np.repeat(is_split, count)
        jobs["last"] = -1
        jobs["last"][split] = np.arange(np.count_nonzero(split))
        self.slot_count = int(slots[-1]) if len(slots) else 0
        self.joints = np.stack(
            [rows[is_split], (slots - count)[is_split], slots[is_split]], axis=1
        ).astype(np.int32)
        return jobs

    @staticmethod
    def _tiles(
        indptr: np.ndarray[Any, Any],
        lengths: np.ndarray[Any, Any],
        is_long: np.ndarray[Any, Any],
        capacity: int,
        wide: bool,
    ) -> np.ndarray[Any, Any]:
        weights = np.where(is_long, 0, _ROW_WEIGHT * lengths + 1)
        number = (np.cumsum(weights) - weights) // (_ROW_WEIGHT * capacity)
        begins = np.ones(len(lengths), bool)
        begins[1:] = (number[1:] != number[:-1]) | is_long[1:] | is_long[:-1]
        rows = np.flatnonzero(begins)
        last = np.append(rows[1:], len(lengths))
        keep = ~is_long[rows]
        rows, last = rows[keep], last[keep]
        jobs = np.zeros(len(rows), _job_dtype(wide))
        jobs["begin"], jobs["end"] = indptr[rows], indptr[last]
        jobs["row"], jobs["last"] = rows, last
        return jobs


# -- the matrix ------------------------------------------------------------------------


def _padded(array: np.ndarray[Any, Any], dtype: Any, allocator: Any) -> GPUArray:
    """Return a device array of whole groups of four elements, with zeros at the end."""
    host = np.zeros(-(-len(array) // 4) * 4, dtype)
    host[: len(array)] = array
    return to_gpu(host, allocator)


class CsrSpMV(DeviceOperator):
    """A matrix in compressed rows on the device: ``y = A(x)``.

    ``mat`` is a matrix of scipy.sparse of any format, what else has ``tocsr()``, or a
    numpy array of two axes. ``dtype`` is float32, float64, complex64 or complex128, by
    default the matrix's. The data are copied to the current context, to memory of
    ``allocator``; indices take 4 bytes where they fit.

    Raises TypeError for other dtypes, ValueError for indices outside of the matrix.
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
        """Return a matrix made of the three arrays of its rows, numpy's or GPUArrays.

        Row ``i`` has the elements ``data[indptr[i]:indptr[i + 1]]`` in the columns
        ``indices[indptr[i]:indptr[i + 1]]``. GPUArrays are read back to be checked.
        """
        self = cls.__new__(cls)
        self._build(HostCSR(indptr, indices, data, shape, dtype), allocator)
        return self

    def _build(
        self,
        host: HostCSR,
        allocator: Any,
        threads: int = THREADS,
        items: int | None = None,
        blocks: int | None = None,
    ) -> None:
        super().__init__(host.shape, host.dtype)
        self.nnz = len(host.data)
        most = np.iinfo(np.int32).max
        rows, columns = host.shape
        if rows >= most:
            raise ValueError(f"{rows} rows are too many: {most - 1} are the most")
        wide_index = columns > most
        wide = self.nnz > most - 4 * threads * (items or 8)
        self.index_dtype = np.dtype(np.int64 if wide_index else np.int32)
        items = items or ITEMS[host.dtype.itemsize]
        plan = Plan(host.indptr, wide, threads, items)
        self.block_size = threads
        self.num_blocks = len(plan.jobs)
        self._pieces = plan.piece_count
        self._indices = _padded(host.indices, self.index_dtype, allocator)
        self._data = _padded(host.data, host.dtype, allocator)
        self.indptr = to_gpu(
            host.indptr.astype(np.int64 if wide else np.int32), allocator
        )
        self._jobs = to_gpu(plan.jobs.view(np.uint8), allocator)
        self._joint_count = len(plan.joints)
        self._joints = self._partial = None
        if self._joint_count:
            self._joints = to_gpu(plan.joints, allocator)
            self._partial = GPUArray((plan.slot_count,), host.dtype, allocator)
        self._lock = threading.Lock()
        self._last_stream: Any = None
        self._multiply, self._join = _functions(
            host.dtype,
            wide_index,
            wide,
            plan.lanes,
            plan.passes,
            plan.uneven,
            plan.piece_count > 0,
            threads,
            items,
            blocks,
        )

    @property
    def indices(self) -> GPUArray:
        """The columns of the elements, row by row: a view."""
        return self._indices[: self.nnz]

    @property
    def data(self) -> GPUArray:
        """The elements, row by row: a view, and new values may be set in it."""
        return self._data[: self.nnz]

    def __call__(self, x: Any, y: Any = None, stream: Any = None) -> GPUArray:
        """Return the product with ``x``, in ``y`` if it is given.

        ``x`` has (columns,) elements, ``y`` (rows,), both of the matrix's dtype and
        side by side. The work is queued to ``stream``, by default the current one.
        With ``y`` nothing is allocated.

        Raises TypeError for other dtypes, ValueError for other shapes and where the two
        share memory, LogicError in another context than the matrix's.
        """
        y = self._check_operands(x, y)
        if self.num_blocks == 0:
            return y
        if self._joint_count == 0:
            self._launch(x, y, stream)
            return y
        # The sums of pieces are in memory of the matrix: another stream waits for it.
        with self._lock:
            stream = self._ordered(stream)
            self._launch(x, y, stream)
            self._join.prepared_async_call(
                (-(-self._joint_count // 8), 1),
                (256, 1, 1),
                stream,
                self._joints.gpudata,
                self._partial.gpudata,
                y.ptr,
                self._joint_count,
            )
        return y

    def _ordered(self, stream: Any) -> _cuda.Stream:
        """Return the stream of a call, after letting it wait for the call before if
        that was on another one; the lock is held."""
        if stream is None:
            stream = _cuda.Stream.get_current() or _cuda.Stream.from_handle(0)
        elif not isinstance(stream, _cuda.Stream):
            stream = _cuda.Stream.from_handle(stream)
        last: _cuda.Stream | None = self._last_stream
        if last is not None and last.handle != stream.handle:
            event = _cuda.Event(_cuda.event_flags.DISABLE_TIMING)
            event.record(last)
            stream.wait_for_event(event)
        self._last_stream = stream
        return stream

    def _launch(self, x: GPUArray, y: GPUArray, stream: Any) -> None:
        self._multiply.prepared_async_call(
            (self.num_blocks, 1),
            (self.block_size, 1, 1),
            stream,
            self._jobs.gpudata,
            self.indptr.gpudata,
            address(self._indices),
            address(self._data),
            address(x),
            address(y),
            0 if self._partial is None else self._partial.gpudata,
            self._pieces,
        )

    def to_scipy(self) -> Any:
        """Return the matrix as a scipy.sparse.csr_matrix; ImportError without SciPy."""
        self._check_context()
        arrays = (self.data.get(), self.indices.get(), self.indptr.get())
        return scipy_sparse().csr_matrix(arrays, shape=self.shape)
