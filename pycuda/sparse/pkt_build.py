"""The arrays that the kernel of ``pycuda.sparse.packeted`` reads."""

from __future__ import annotations

from typing import Any

import numpy as np

from pycuda.gpuarray import to_gpu


def build_pkt_data_structure(
    spmv: Any,
    packet_nr_to_dofs: Any,
    max_thread_costs: Any,
    old2new_fetch_indices: Any,
    csr_mat: Any,
    thread_count: int,
    thread_assignments: Any,
    local_row_costs: Any,
) -> None:
    """Set ``index_array``, ``data_array``, ``thread_starts`` and ``thread_ends``.

    ``packet_nr_to_dofs`` are the rows of each packet; ``max_thread_costs`` the most
    elements that a thread of a packet has; ``thread_assignments`` the thread of each
    row. Elements outside of the blocks on the diagonal are passed over.

    Thread ``t`` of a packet has every ``thread_count``-th word from its start to its
    end, so that threads side by side read words side by side. A word of ``index_array``
    is the row in the packet, shifted by 16 bits, and the column in it.
    """
    rows_of = np.repeat(np.arange(csr_mat.shape[0]), np.diff(csr_mat.indptr))
    columns_of = np.asarray(csr_mat.indices, np.int64)
    sizes = np.array([len(dofs) for dofs in packet_nr_to_dofs], np.int64)
    base = np.cumsum(sizes) - sizes
    new_rows = np.asarray(old2new_fetch_indices, np.int64)
    packet_of = np.empty(csr_mat.shape[0], np.int64)
    packet_of[
        np.concatenate([*packet_nr_to_dofs, np.empty(0, np.int64)]).astype(int)
    ] = np.repeat(np.arange(len(sizes)), sizes)
    local = packet_of[rows_of] == packet_of[columns_of]
    rows_of, columns_of = rows_of[local], columns_of[local]
    packet = packet_of[rows_of]
    thread = np.asarray(thread_assignments, np.int64)[rows_of]
    slot = packet * thread_count + thread
    order = np.lexsort((new_rows[columns_of], new_rows[rows_of], slot))
    slot, packet = slot[order], packet[order]
    counts = np.bincount(slot, minlength=len(sizes) * thread_count)
    within = np.arange(len(slot)) - (np.cumsum(counts) - counts)[slot]
    room = np.asarray(max_thread_costs, np.int64) * thread_count
    packet_start = np.cumsum(room) - room
    starts = np.repeat(packet_start, thread_count)
    starts = starts + np.tile(np.arange(thread_count), len(sizes))
    place = starts[slot] + within * thread_count
    index = np.zeros(int(room.sum()), spmv.packed_index_dtype)
    data = np.zeros(int(room.sum()), spmv.dtype)
    row = new_rows[rows_of[order]] - base[packet]
    column = new_rows[columns_of[order]] - base[packet]
    index[place] = (row << 16) + column
    data[place] = np.asarray(csr_mat.data)[local][order]
    spmv.index_array = to_gpu(index)
    spmv.data_array = to_gpu(data)
    spmv.thread_starts = to_gpu(starts.astype(spmv.index_dtype))
    ends = starts + counts * thread_count
    spmv.thread_ends = to_gpu(ends.astype(spmv.index_dtype))
