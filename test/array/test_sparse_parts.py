"""The forms of sparse matrices: their attributes, steps and kernels."""

import numpy as np
import pytest

from pycuda import gpuarray
from pycuda.gpuarray import GPUArray, to_gpu
from pycuda.sparse import coordinate, packeted, pkt_build, pkt_build_cython
from pycuda.sparse._matrix import HostCSR
from pycuda.sparse.coordinate import CoordinateSpMV
from pycuda.sparse.packeted import PacketedSpMV

pytestmark = pytest.mark.gpu

#: Two packets of three rows, {0, 2, 4} and {1, 3, 5}. (0, 1) and (5, 2) are outside.
DENSE = np.array(
    [
        [1.0, 2, 0, 0, 3, 0],
        [0, 4, 0, 0, 0, 0],
        [5, 0, 6, 0, 7, 0],
        [0, 8, 0, 9, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 10, 0, 0, 11],
    ]
)
PACKETS = [np.array([0, 2, 4]), np.array([1, 3, 5])]
PACKET_OF = np.array([0, 1, 0, 1, 0, 1])
NEW2OLD, OLD2NEW = [0, 2, 4, 1, 3, 5], [0, 3, 1, 4, 2, 5]


def matrix():
    rows, columns = np.nonzero(DENSE)
    indptr = np.searchsorted(rows, np.arange(7))
    return HostCSR(indptr, columns, DENSE[rows, columns], (6, 6))


@pytest.fixture
def packets(ctx, monkeypatch):
    """The matrix in the two packets, with four threads each."""
    monkeypatch.setattr(packeted, "_partition", lambda *args: PACKETS)
    return PacketedSpMV(matrix(), True, np.float64)


# -- packets ---------------------------------------------------------------------------


def test_attributes_of_packets(packets):
    assert packets.dtype == np.float64 and packets.shape == (6, 6)
    assert packets.index_dtype == np.int32
    assert packets.packed_index_dtype == np.uint32
    assert packets.threads_per_packet == 256
    assert packets.rows_per_packet == 1024
    assert packets.block_count == 2
    assert packets.packet_base_rows.get().tolist() == [0, 3, 6]
    assert packets.new2old_fetch_indices.get().tolist() == NEW2OLD
    assert packets.old2new_fetch_indices.get().tolist() == OLD2NEW
    assert isinstance(packets.remaining_coo_gpu, CoordinateSpMV)
    assert packets.remaining_coo_gpu.nnz == 2
    for name in ("index_array", "data_array", "thread_starts", "thread_ends"):
        assert isinstance(getattr(packets, name), GPUArray)
    x = np.arange(1.0, 7)
    y = packets.unpermute(packets(packets.permute(to_gpu(x))))
    assert y.get().tolist() == (DENSE @ x).tolist()


def test_simple_indices(packets):
    new2old, old2new, base = packets.find_simple_index_stuff(PACKETS)
    assert (new2old.tolist(), old2new.tolist()) == (NEW2OLD, OLD2NEW)
    assert base.tolist() == [0, 3, 6]
    assert {array.dtype for array in (new2old, old2new, base)} == {np.dtype(np.int32)}


def test_costs_and_the_rest(packets):
    costs, rest = packets.find_local_row_costs_and_remaining_coo(
        matrix(), PACKET_OF, np.array(OLD2NEW)
    )
    assert costs.tolist() == [2, 1, 3, 2, 0, 1]
    rows, columns, data = (part.tolist() for part in rest)
    assert (rows, columns, data) == ([0, 5], [3, 1], [2, 10])


def test_threads(packets):
    costs = np.array([2, 1, 3, 2, 0, 1])
    most, threads = packets.find_thread_assignment(PACKETS, costs, 2)
    # 2 and 0 come first. 4 is added to the shorter one, and so are 3, 1 and 5.
    assert threads.tolist() == [1, 1, 0, 0, 1, 1]
    assert most.tolist() == [3, 2]


@pytest.mark.parametrize("way", ["method", "function", "cython"])
def test_the_arrays_of_the_kernel(packets, way):
    costs = np.array([2, 1, 3, 2, 0, 1])
    most, threads = packets.find_thread_assignment(PACKETS, costs, 2)
    given = (PACKETS, most, np.array(OLD2NEW), matrix(), 2, threads, costs)
    if way == "method":
        packets.build_gpu_data_structure(*given)
    elif way == "function":
        pkt_build.build_pkt_data_structure(packets, *given)
    else:
        pkt_build_cython.build_pkt_data_structure(packets, *given)
    assert packets.thread_starts.get().tolist() == [0, 1, 6, 7]
    assert packets.thread_ends.get().tolist() == [6, 5, 10, 11]
    found = {}
    index, data = packets.index_array.get(), packets.data_array.get()
    assert len(index) == len(data) == 10 and index.dtype == np.uint32
    for thread, (start, end) in enumerate([(0, 6), (1, 5), (6, 10), (7, 11)]):
        for place in range(start, end, 2):
            base = 3 * (thread // 2)
            row, column = (
                (int(index[place]) >> 16) + base,
                (index[place] & 0xFFFF) + base,
            )
            found[NEW2OLD[row], NEW2OLD[column]] = float(data[place])
            assert threads[NEW2OLD[row]] == thread % 2
    rows, columns = np.nonzero(DENSE)
    wanted = {
        (i, j): DENSE[i, j]
        for i, j in zip(rows.tolist(), columns.tolist(), strict=True)
        if PACKET_OF[i] == PACKET_OF[j]
    }
    assert found == wanted


def test_packets_that_take_too_many_places(packets):
    most = np.array([2**30, 1])
    given = (PACKETS, most, np.array(OLD2NEW), matrix(), 2, np.zeros(6, int), None)
    with pytest.raises(ValueError, match="2147483650 places"):
        packets.build_gpu_data_structure(*given)


def test_the_kernel_of_packets(packets):
    assert "spmv_pkt_kernel" in packeted.PKT_KERNEL_TEMPLATE
    kernel = packets.get_kernel()
    assert packets.get_kernel() is kernel
    x = np.arange(1.0, 7)
    y = gpuarray.full(6, 77.0)
    arrays = (
        *(packets.packet_base_rows, packets.thread_starts, packets.thread_ends),
        *(packets.index_array, packets.data_array, to_gpu(x[NEW2OLD]), y),
    )
    kernel.prepared_call((2, 1), (256, 1, 1), *(array.ptr for array in arrays))
    inside = np.where(PACKET_OF[:, None] == PACKET_OF, DENSE, 0)
    assert y.get().tolist() == (inside @ x)[NEW2OLD].tolist()


# -- coordinates -----------------------------------------------------------------------


def test_attributes_of_coordinates(ctx):
    host = HostCSR([0, 200, 200, 300], np.arange(300) % 7, np.ones(300), (3, 7))
    operator = CoordinateSpMV(host)
    assert operator.dtype == np.float64 and operator.shape == (3, 7)
    assert operator.index_dtype == np.int32
    assert (operator.nnz, operator.tail) == (300, 256)
    assert (operator.block_size, operator.num_blocks) == (256, 1)
    assert operator.interval_size == 128
    assert operator.row_gpu.get().tolist() == [0] * 200 + [2] * 100
    assert operator.col_gpu.get().tolist() == host.indices.tolist()
    assert operator.data_gpu.get().tolist() == [1] * 300


def test_the_kernels_of_coordinates(ctx):
    assert "spmv_coo_flat_kernel" in coordinate.COO_FLAT_KERNEL_TEMPLATE
    assert "spmv_coo_serial_kernel" in coordinate.COO_SERIAL_KERNEL_TEMPLATE
    rng = np.random.default_rng(0)
    columns, data = rng.integers(0, 7, 300), rng.integers(-9, 9, 300) / 2
    operator = CoordinateSpMV(HostCSR([0, 200, 200, 300], columns, data, (3, 7)))
    x, y = to_gpu(np.arange(7.0)), gpuarray.ones(3)
    arrays = (operator.row_gpu, operator.col_gpu, operator.data_gpu, x, y)
    arrays = [array.ptr for array in arrays]
    products = data * columns
    operator.get_flat_kernel().prepared_call((1, 1), (256, 1, 1), 256, 128, *arrays)
    wanted = np.array([products[:200].sum(), 0, products[200:256].sum()]) + 1
    assert y.get().tolist() == wanted.tolist()
    operator.get_serial_kernel().prepared_call((1, 1), (32, 1, 1), 256, 300, *arrays)
    wanted[2] += products[256:].sum()
    assert y.get().tolist() == wanted.tolist()


@pytest.mark.parametrize("nnz", [0, 1, 127, 128, 129, 1024, 2500])
def test_intervals_of_several_warps(ctx, nnz):
    """Rows end at, before and after the ends of warps."""
    lengths = np.array([nnz // 3, 0, nnz - nnz // 3 - nnz // 4, nnz // 4])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    data = np.arange(nnz) % 16 / 4
    operator = CoordinateSpMV(HostCSR(indptr, np.zeros(nnz, int), data, (4, 1)))
    assert (operator._flat is None) == (nnz < 128)
    wanted = [data[a:b].sum() for a, b in zip(indptr, indptr[1:], strict=False)]
    assert operator(to_gpu(np.ones(1))).get().tolist() == wanted
