"""The arrays that the kernel of ``pycuda.sparse.packeted`` reads."""

from __future__ import annotations

from typing import Any

import numpy as np

from pycuda import _hide_imports
from pycuda._driver import to_gpu

__all__ = ["build_pkt_data_structure"]
_hide_imports(globals())


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

    Parameters
    ----------
    spmv : pycuda.sparse.packeted.PacketedSpMV
        The matrix that gets the arrays.
    packet_nr_to_dofs : list of array_like of int
        The rows of each packet.
    max_thread_costs : sequence of int
        The most elements that a thread of each packet has.
    old2new_fetch_indices : array_like of int
        The new number of each row.
    csr_mat : scipy.sparse.csr_array
        The matrix. Elements outside the blocks on the diagonal are skipped.
    thread_count : int
        Threads of a packet.
    thread_assignments : array_like of int
        The thread of each row.
    local_row_costs : array_like of int
        Not used; PyCUDA has this parameter.

    Notes
    -----
    Thread ``t`` of a packet has every ``thread_count``-th word from its start to its
    end, so that neighbouring threads read neighbouring words. A word of ``index_array``
    is the row in the packet, shifted by 16 bits, and the column in the packet.
    """
    count = csr_mat.shape[0]
    lengths = np.diff(csr_mat.indptr)
    rows_of = np.repeat(np.arange(count), lengths)
    columns_of = np.asarray(csr_mat.indices, np.int64)
    sizes = np.array([len(dofs) for dofs in packet_nr_to_dofs], np.int64)
    base = np.cumsum(sizes) - sizes
    new_rows = np.asarray(old2new_fetch_indices, np.int64)
    packet_of_new = np.repeat(np.arange(len(sizes)), sizes)
    packet_of = packet_of_new[new_rows]
    local = packet_of[rows_of] == packet_of[columns_of]
    columns = columns_of[local]
    data = np.asarray(csr_mat.data)[local]
    costs = np.bincount(rows_of[local], minlength=count)
    begins = np.cumsum(costs) - costs
    # Rows by packet and thread, then their elements in order.
    slot_of = packet_of * thread_count + np.asarray(thread_assignments, np.int64)
    order = np.lexsort((new_rows, slot_of))
    ends = np.cumsum(costs[order])
    element = np.repeat(begins[order] - ends + costs[order], costs[order])
    element += np.arange(len(element))
    row = np.repeat(order, costs[order])
    slot = slot_of[row]
    counts = np.bincount(slot, minlength=len(sizes) * thread_count)
    within = np.arange(len(slot)) - (np.cumsum(counts) - counts)[slot]
    room = np.asarray(max_thread_costs, np.int64) * thread_count
    total = int(room.sum())
    # The last step of a thread goes beyond its end.
    if total + 4 * thread_count > np.iinfo(spmv.index_dtype).max:
        raise ValueError(
            f"the packets of this matrix take {total} places, more than indices of "
            f"dtype {spmv.index_dtype} count: its rows differ too much for packets"
        )
    starts = np.repeat(np.cumsum(room) - room, thread_count)
    starts += np.tile(np.arange(thread_count), len(sizes))
    place = starts[slot] + within * thread_count
    index_array = np.zeros(total, spmv.packed_index_dtype)
    data_array = np.zeros(total, spmv.dtype)
    first = base[packet_of[row]]
    index_array[place] = ((new_rows[row] - first) << 16) + (
        new_rows[columns[element]] - first
    )
    data_array[place] = data[element]
    spmv.index_array = to_gpu(index_array)
    spmv.data_array = to_gpu(data_array)
    spmv.thread_starts = to_gpu(starts.astype(spmv.index_dtype))
    spmv.thread_ends = to_gpu((starts + counts * thread_count).astype(spmv.index_dtype))
