"""Products of matrices in packets with vectors: ``PacketedSpMV``.

The rows and columns of a square matrix are grouped into packets, so that as many
elements as possible are in the packets' blocks on the diagonal. A block of threads has
its packet's part of x and of y in shared memory. An element has two small indices
instead of a column and row pointers. The other elements are in coordinate form.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pycuda import _hide_imports, gpuarray
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
from pycuda.sparse.coordinate import CoordinateSpMV
from pycuda.sparse.pkt_build import build_pkt_data_structure
from pycuda.tools import context_dependent_memoize

__all__ = ["PKT_KERNEL_TEMPLATE", "PacketedSpMV"]
_hide_imports(globals())

PKT_KERNEL_TEMPLATE = """#include <pycuda-sparse.hpp>
using namespace pycuda_sparse;
typedef {value_type} T;

extern "C" __global__ void __launch_bounds__({threads_per_packet})
spmv_pkt_kernel(const {index_type} *packet_base_rows, const {index_type} *thread_starts,
                const {index_type} *thread_ends, const unsigned int *index_array,
                const T *data_array, const T *x, T *y)
{{
    __shared__ __align__(16) char x_room[{rows_per_packet} * sizeof(T)];
    __shared__ __align__(16) char y_room[{rows_per_packet} * sizeof(T)];
    T *x_packet = (T *)x_room, *y_packet = (T *)y_room;
    const {index_type} base = packet_base_rows[blockIdx.x];
    const int count = (int)(packet_base_rows[blockIdx.x + 1] - base);
    const int thread = blockIdx.x * {threads_per_packet} + threadIdx.x;
    const {index_type} end = thread_ends[thread];
    {index_type} i = thread_starts[thread];
    for (int k = threadIdx.x; k < count; k += {threads_per_packet}) {{
        x_packet[k] = fetch(x + base + k);
        y_packet[k] = T(0);
    }}
    __syncthreads();
    // The rows of a thread are its own, and their elements lie one after another.
    T sum = T(0);
    unsigned int row = 0xffffffffu;
#pragma unroll 4
    for (; i < end; i += {threads_per_packet}) {{
        const unsigned int packed = __ldcs(index_array + i);
        const T value = once(data_array + i);
        if (row != packed >> 16) {{
            if (row != 0xffffffffu)
                y_packet[row] = sum;
            row = packed >> 16;
            sum = T(0);
        }}
        sum = sum + value * x_packet[packed & 0xffff];
    }}
    if (row != 0xffffffffu)
        y_packet[row] = sum;
    __syncthreads();
    for (int k = threadIdx.x; k < count; k += {threads_per_packet})
        y[base + k] = y_packet[k];
}}
"""

#: The bytes of shared memory for a packet's parts of x and y.
_ROOM = 16384

_Indices = np.ndarray[Any, np.dtype[np.int64]]


def _text(dtype: Any, index_type: str, threads: int, rows: int) -> str:
    return PKT_KERNEL_TEMPLATE.format(
        value_type=CTYPES[np.dtype(dtype).name],
        index_type=index_type,
        threads_per_packet=threads,
        rows_per_packet=max(rows, 1),
    )


@context_dependent_memoize
def _function(*words: Any) -> Any:
    function = load(_text(*words), ["-w"]).get_function("spmv_pkt_kernel")
    return function.prepare("PPPPPPP")


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
        yield name, _text(name, "int", 256, 512)


class PacketedSpMV(DeviceOperator):
    """Square matrix in packets on the device: ``y = A(x)`` of permuted vectors.

    ``permute`` brings the elements of a vector into the order of the packets, and
    ``unpermute`` brings them back: ``unpermute(A(permute(x)))`` is the product.

    Parameters
    ----------
    mat : sparse matrix or numpy.ndarray
        Matrix of scipy.sparse of any format, any object with ``tocsr()``, or a NumPy
        array with two axes.
    is_symmetric : bool
        True if the transpose has elements in the same places. The packets of other
        matrices are found in the sum of the matrix and its transpose.
    dtype : dtype_like, optional
        Dtype of the elements: float32, float64, complex64 or complex128. The default is
        that of the matrix.

    Attributes
    ----------
    index_array : pycuda.gpuarray.GPUArray
        The rows and columns of the elements within their packets, as
        ``packed_index_dtype``.
    data_array : pycuda.gpuarray.GPUArray
        The values of the elements in the order of the threads.
    thread_starts : pycuda.gpuarray.GPUArray
        For each thread, the place of its first element.
    thread_ends : pycuda.gpuarray.GPUArray
        For each thread, the place after its last element.
    index_dtype : numpy.dtype
        The dtype of places in the arrays: int32, or int64 for large matrices.
    packed_index_dtype : numpy.dtype
        The dtype of ``index_array``: uint32.
    threads_per_packet : int
        The number of threads of a block, which processes a packet.
    rows_per_packet : int
        The largest number of rows of a packet.
    block_count : int
        The number of packets.
    packet_base_rows : pycuda.gpuarray.GPUArray
        The first row of each packet, and the end, in the packets' order.
    new2old_fetch_indices : pycuda.gpuarray.GPUArray
        For each row in the packets' order, its number in the matrix.
    old2new_fetch_indices : pycuda.gpuarray.GPUArray
        For each row of the matrix, its number in the packets' order.
    remaining_coo_gpu : CoordinateSpMV
        The elements that lie in no packet.

    Raises
    ------
    TypeError
        If the dtype is another one, or if ``mat`` is no matrix.
    ValueError
        If the matrix is not square, or if an index is outside the matrix.

    See Also
    --------
    pycuda.sparse.csr.CsrSpMV : Compressed rows, for any matrix.

    Examples
    --------
    >>> from pycuda.sparse.packeted import PacketedSpMV
    >>> A = PacketedSpMV(np.array([[1.0, 2], [2, 0]]), is_symmetric=True)
    >>> x = gpuarray.to_gpu(np.array([1.0, 10]))
    >>> A.unpermute(A(A.permute(x)))
    array([21.,  2.])
    """

    index_array: GPUArray
    data_array: GPUArray
    thread_starts: GPUArray
    thread_ends: GPUArray

    def __init__(self, mat: Any, is_symmetric: bool, dtype: Any = None) -> None:
        host = read_matrix(mat, dtype)
        if host.shape[0] != host.shape[1]:
            raise ValueError(
                f"packets are for square matrices; this one has shape {host.shape}"
            )
        super().__init__(host.shape, host.dtype)
        most = int(np.iinfo(np.int32).max)
        wide = 4 * len(host.data) > most or host.shape[0] > most
        self.index_dtype: np.dtype[Any] = np.dtype(np.int64 if wide else np.int32)
        self.packed_index_dtype: np.dtype[Any] = np.dtype(np.uint32)
        self.threads_per_packet = 256
        self.rows_per_packet: int = _ROOM // (2 * host.dtype.itemsize)
        indptr = host.indptr.astype(np.int64)
        indices = host.indices.astype(np.int64)
        if not is_symmetric:
            indptr, indices = _symmetric_pattern(indptr, indices)
        packet_nr_to_dofs = _partition(indptr, indices, self.rows_per_packet)
        self.block_count: int = len(packet_nr_to_dofs)
        self._build(host, packet_nr_to_dofs)
        self._kernel = self.get_kernel() if self.block_count else None

    def _build(self, host: HostCSR, packet_nr_to_dofs: list[Any]) -> None:
        new2old, old2new, base_rows = self.find_simple_index_stuff(packet_nr_to_dofs)
        dof_to_packet_nr = np.empty(host.shape[0], np.int64)
        for number, dofs in enumerate(packet_nr_to_dofs):
            dof_to_packet_nr[dofs] = number
        costs, remaining = self.find_local_row_costs_and_remaining_coo(
            host, dof_to_packet_nr, old2new
        )
        max_thread_costs, assignments = self.find_thread_assignment(
            packet_nr_to_dofs, costs, self.threads_per_packet
        )
        self.packet_base_rows: GPUArray = to_gpu(base_rows)
        self.new2old_fetch_indices: GPUArray = to_gpu(new2old)
        self.old2new_fetch_indices: GPUArray = to_gpu(old2new)
        rows, columns, data = remaining
        self.remaining_coo_gpu: CoordinateSpMV = CoordinateSpMV.from_arrays(
            rows, columns, data, host.shape, host.dtype
        )
        build_pkt_data_structure(
            self,
            packet_nr_to_dofs,
            max_thread_costs,
            old2new,
            host,
            self.threads_per_packet,
            assignments,
            costs,
        )

    def find_simple_index_stuff(self, packet_nr_to_dofs: Any) -> tuple[Any, Any, Any]:
        """Return the permutations, and the first rows of the packets.

        Parameters
        ----------
        packet_nr_to_dofs : list of numpy.ndarray
            The rows of each packet.

        Returns
        -------
        new2old : numpy.ndarray
            Old index of each new one.
        old2new : numpy.ndarray
            New index of each old one.
        base_rows : numpy.ndarray
            First rows of the packets, followed by the number of rows.
        """
        sizes = [len(dofs) for dofs in packet_nr_to_dofs]
        base_rows = np.concatenate([[0], np.cumsum(sizes)]).astype(self.index_dtype)
        new2old = np.concatenate([np.empty(0, self.index_dtype), *packet_nr_to_dofs])
        new2old = new2old.astype(self.index_dtype)
        old2new = np.empty_like(new2old)
        old2new[new2old] = np.arange(len(new2old), dtype=self.index_dtype)
        return new2old, old2new, base_rows

    def find_local_row_costs_and_remaining_coo(
        self, csr_mat: Any, dof_to_packet_nr: Any, old2new_fetch_indices: Any
    ) -> tuple[Any, Any]:
        """Return what is in the packets' blocks, and what is not.

        Parameters
        ----------
        csr_mat : scipy.sparse.csr_matrix
            The matrix, or an object with ``shape``, ``indptr``, ``indices`` and
            ``data``.
        dof_to_packet_nr : numpy.ndarray
            Packet of each row.
        old2new_fetch_indices : numpy.ndarray
            New index of each old one.

        Returns
        -------
        costs : numpy.ndarray
            Number of elements of each row in its packet's block.
        others : tuple of numpy.ndarray
            Rows and columns of the other elements, in the order of the packets, and
            their values.
        """
        count = csr_mat.shape[0]
        rows = np.repeat(np.arange(count), np.diff(csr_mat.indptr))
        columns = np.asarray(csr_mat.indices)
        packets = np.asarray(dof_to_packet_nr)
        new = np.asarray(old2new_fetch_indices)
        local = packets[rows] == packets[columns]
        costs = np.bincount(rows[local], minlength=count)
        far = ~local
        others = new[rows[far]], new[columns[far]], np.asarray(csr_mat.data)[far]
        return costs, others

    def find_thread_assignment(
        self, packet_nr_to_dofs: Any, local_row_cost: Any, thread_count: int
    ) -> tuple[Any, Any]:
        """Return the work of the threads.

        The rows of a packet, the longest first, are dealt to its threads forwards and
        backwards in turn.

        Parameters
        ----------
        packet_nr_to_dofs : list of numpy.ndarray
            The rows of each packet.
        local_row_cost : numpy.ndarray
            Number of elements of each row in its packet's block.
        thread_count : int
            Threads of a packet.

        Returns
        -------
        most : numpy.ndarray
            Most elements of a thread, for each packet.
        threads : numpy.ndarray
            Thread of each row.
        """
        costs = np.asarray(local_row_cost, np.int64)
        threads = np.zeros(len(costs), np.int64)
        most = np.zeros(len(packet_nr_to_dofs), np.int64)
        for number, dofs in enumerate(packet_nr_to_dofs):
            order = np.asarray(dofs)[np.argsort(-costs[dofs], kind="stable")]
            turn, place = np.divmod(np.arange(len(order)), thread_count)
            there = np.where(turn % 2, thread_count - 1 - place, place)
            threads[order] = there
            totals = np.bincount(there, costs[order], minlength=thread_count)
            most[number] = totals.max(initial=0)
        return most, threads

    def build_gpu_data_structure(
        self,
        packet_nr_to_dofs: Any,
        max_thread_costs: Any,
        old2new_fetch_indices: Any,
        csr_mat: Any,
        thread_count: int,
        thread_assignments: Any,
        local_row_costs: Any,
    ) -> None:
        """Set the arrays of the kernel by ``build_pkt_data_structure``.

        Parameters
        ----------
        packet_nr_to_dofs : list of numpy.ndarray
            The rows of each packet.
        max_thread_costs : numpy.ndarray
            Most elements of a thread, for each packet.
        old2new_fetch_indices : numpy.ndarray
            New index of each old one.
        csr_mat : scipy.sparse.csr_matrix
            The matrix, or an object with ``shape``, ``indptr``, ``indices`` and
            ``data``.
        thread_count : int
            Threads of a packet.
        thread_assignments : numpy.ndarray
            Thread of each row.
        local_row_costs : numpy.ndarray
            Number of elements of each row in its packet's block.
        """
        build_pkt_data_structure(
            self,
            packet_nr_to_dofs,
            max_thread_costs,
            old2new_fetch_indices,
            csr_mat,
            thread_count,
            thread_assignments,
            local_row_costs,
        )

    def get_kernel(self) -> Any:
        """Return the prepared function.

        Returns
        -------
        Function
            The kernel. Its parameters are packet_base_rows, thread_starts, thread_ends,
            index_array, data_array, x and y.
        """
        index_type = "int" if self.index_dtype == np.int32 else "long long"
        return _function(
            self._dtype, index_type, self.threads_per_packet, self.rows_per_packet
        )

    def permute(self, x: GPUArray) -> GPUArray:
        """Return a vector in the packets' order.

        Parameters
        ----------
        x : GPUArray
            Vector in the matrix's order.

        Returns
        -------
        GPUArray
            A new vector.

        Raises
        ------
        ValueError
            If the vector has another number of elements.
        """
        return self._taken(x, self.new2old_fetch_indices)

    def unpermute(self, x: GPUArray) -> GPUArray:
        """Return a vector in the matrix's order.

        Parameters
        ----------
        x : GPUArray
            Vector in the packets' order.

        Returns
        -------
        GPUArray
            A new vector.

        Raises
        ------
        ValueError
            If the vector has another number of elements.
        """
        return self._taken(x, self.old2new_fetch_indices)

    def _taken(self, x: GPUArray, indices: GPUArray) -> GPUArray:
        self._check_context()
        self._check_size(x, self._shape[0], "x")
        taken: GPUArray = gpuarray.take(x, indices)
        return taken

    def __call__(self, x: Any, y: Any = None, stream: Any = None) -> GPUArray:
        """Return the product with a vector; both are permuted.

        Parameters
        ----------
        x : GPUArray
            Vector without gaps, in the matrix's dtype and the packets' order.
        y : GPUArray, optional
            Vector for the result. The default is a new array.
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
        if self._kernel is None:
            return y
        self._kernel.prepared_async_call(
            (self.block_count, 1),
            (self.threads_per_packet, 1, 1),
            stream,
            self.packet_base_rows.gpudata,
            self.thread_starts.gpudata,
            self.thread_ends.gpudata,
            address(self.index_array),
            address(self.data_array),
            x.ptr,
            y.ptr,
        )
        self.remaining_coo_gpu.add_to(x, y, stream)
        return y

    def to_scipy(self) -> Any:
        """Return the matrix, in its own order, in SciPy's form.

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
        starts, ends = self.thread_starts.get(), self.thread_ends.get()
        counts = (ends - starts) // self.threads_per_packet
        slot = np.repeat(np.arange(len(starts)), counts)
        within = np.arange(len(slot)) - np.repeat(np.cumsum(counts) - counts, counts)
        place = starts[slot] + within * self.threads_per_packet
        packed = self.index_array.get()[place].astype(np.int64)
        base = self.packet_base_rows.get()[slot // self.threads_per_packet]
        far = self.remaining_coo_gpu
        rows = np.concatenate([base + (packed >> 16), far.row_gpu.get()])
        columns = np.concatenate([base + (packed & 0xFFFF), far.col_gpu.get()])
        data = np.concatenate([self.data_array.get()[place], far.data_gpu.get()])
        old = self.new2old_fetch_indices.get()
        coo = scipy_sparse().coo_matrix((data, (old[rows], old[columns])), self._shape)
        return coo.tocsr()


# -- connected parts of a graph --------------------------------------------------------


def _symmetric_pattern(
    indptr: _Indices, indices: _Indices
) -> tuple[_Indices, _Indices]:
    """Return (indptr, indices) of the elements of a square matrix and its transpose."""
    count = len(indptr) - 1
    rows = np.repeat(np.arange(count), np.diff(indptr))
    both = np.concatenate([rows, indices]), np.concatenate([indices, rows])
    order = np.argsort(both[0], kind="stable")
    pointers = np.searchsorted(both[0][order], np.arange(count + 1))
    return pointers, both[1][order].astype(np.int64)


def _neighbours(indptr: _Indices, indices: _Indices, vertices: _Indices) -> _Indices:
    begins = indptr[vertices]
    counts = indptr[vertices + 1] - begins
    ends = np.cumsum(counts)
    places = np.arange(ends[-1]) + np.repeat(begins - ends + counts, counts)
    return indices[places]


def _once_each(vertices: _Indices, marks: _Indices) -> _Indices:
    """Return the vertices without repetitions; ``marks`` is a buffer for all."""
    numbers = np.arange(len(vertices))
    marks[vertices] = numbers
    return vertices[marks[vertices] == numbers]


def _partition(indptr: _Indices, indices: _Indices, most: int) -> list[_Indices]:
    """Return parts of at most ``most`` vertices each, as large as possible.

    A part grows from a vertex by whole rings of neighbours that have no part yet. The
    next part begins beside it. ``indptr`` and ``indices`` are the neighbours of each
    vertex.
    """
    count = len(indptr) - 1
    if most >= count:
        return [np.arange(count)] if count else []
    parts_left = -(-count // most)
    free = np.ones(count, bool)
    marks = np.empty(count, np.int64)
    lowest = 0  # no vertex below is free
    border: _Indices = np.empty(0, np.int64)
    parts = []
    left = count
    while left:
        size = -(-left // parts_left)
        rings: list[_Indices] = []
        missing = size
        ring = border[free[border]][:1]
        while missing:
            if not len(ring):
                while not free[lowest]:
                    step = free[lowest : lowest + 4096].argmax()
                    lowest += int(step) or len(free[lowest : lowest + 4096])
                ring = np.array([lowest])
            taken = ring[:missing]
            free[taken] = False
            missing -= len(taken)
            rings.append(taken)
            found = _neighbours(indptr, indices, taken)
            found = _once_each(found[free[found]], marks)
            border = np.concatenate([ring[len(taken) :], found])
            ring = border
        parts.append(np.sort(np.concatenate(rings)))
        left -= size
        parts_left -= 1
    return parts
