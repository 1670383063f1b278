"""Products of sparse matrices with vectors: compressed rows, coordinates, packets."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.gpuarray import GPUArray, to_gpu
from pycuda.sparse import csr, packeted
from pycuda.sparse._matrix import HostCSR, read_matrix
from pycuda.sparse.coordinate import CoordinateSpMV
from pycuda.sparse.csr import CsrSpMV
from pycuda.sparse.cusparse import CusparseSpMV
from pycuda.sparse.operator import DiagonalPreconditioner
from pycuda.sparse.packeted import PacketedSpMV, _partition, _symmetric_pattern
from pycuda.tools import DeviceMemoryPool
from support.child import run_child
from support.faults import OUT_OF_MEMORY, fail_calls  # noqa: F401

DTYPES = ("float32", "float64", "complex64", "complex128")
ROOT = Path(__file__).resolve().parents[2]


def random_rows(lengths, columns, dtype="float64", seed=0):
    """Return a HostCSR with rows of these lengths. Columns may repeat in a row."""
    rng = np.random.default_rng(seed)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    nnz = int(indptr[-1])
    data = rng.integers(-8, 9, nnz) / 4
    if np.dtype(dtype).kind == "c":
        data = data + 1j * rng.integers(-8, 9, nnz) / 4
    indices = rng.integers(0, max(columns, 1), nnz)
    return HostCSR(indptr, indices, data, (len(lengths), columns), dtype)


def vector(size, dtype, seed=1):
    """Return values with few bits, so that sums of products are exact in any order."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-8, 9, size) / 2
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.integers(-8, 9, size) / 2
    return values.astype(dtype)


def product(host, x):
    """Return the product, computed by NumPy."""
    y = np.zeros(host.shape[0], np.result_type(host.dtype, x.dtype))
    rows = np.repeat(np.arange(host.shape[0]), np.diff(host.indptr))
    np.add.at(y, rows, host.data * x[host.indices])
    return y


def dense(host):
    result = np.zeros(host.shape, host.dtype)
    rows = np.repeat(np.arange(host.shape[0]), np.diff(host.indptr))
    np.add.at(result, (rows, host.indices), host.data)
    return result


RNG = np.random.default_rng(5)
#: Rows by length, and the number of columns.
SHAPES = {
    "no rows": ([], 7),
    "no columns": ([0, 0, 0], 0),
    "no elements": ([0] * 40, 9),
    "one element": ([1], 1),
    "one row": ([600], 90),
    "a column": ([1] * 700, 1),
    "short rows": (RNG.integers(0, 6, 900), 300),
    "rows of 8": ([8] * 500, 64),
    "rows of 16": ([16] * 300, 200),
    "rows of 64": ([64] * 70, 500),
    "rows of 500": ([500] * 9, 700),
    "empty rows between": ([0, 0, 3, 0, 0, 0, 70, 0] * 40, 80),
    "ten thousand empty rows": ([3] + [0] * 20_000 + [5], 80),
    "rows of all lengths": (RNG.permutation(np.arange(150) ** 2 // 40), 400),
    "one long row": ([2] * 100 + [1500] + [0, 3] * 50, 400),
    "one huge row": ([1] * 10 + [20_000] + [4] * 300, 900),
    "huge rows": ([17_001, 3, 40_000, 0, 16_384, 16_385], 33),
}


@pytest.fixture(params=[CsrSpMV, CoordinateSpMV], ids=["csr", "coordinate"])
def form(request):
    return request.param


# -- products --------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("name", SHAPES)
def test_a_product(ctx, form, name):
    host = random_rows(*SHAPES[name])
    x = vector(host.shape[1], host.dtype)
    operator = form(host)
    y = operator(to_gpu(x))
    assert y.dtype == host.dtype and y.shape == (host.shape[0],)
    assert operator.shape == host.shape and operator.nnz == len(host.data)
    np.testing.assert_array_equal(y.get(), product(host, x))


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["short rows", "rows of all lengths", "huge rows"])
def test_dtypes(ctx, form, name, dtype):
    host = random_rows(*SHAPES[name], dtype)
    x = vector(host.shape[1], dtype)
    operator = form(host)
    assert operator.dtype == dtype
    np.testing.assert_array_equal(operator(to_gpu(x)).get(), product(host, x))


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "name", ["no rows", "no elements", "short rows", "one element"]
)
@pytest.mark.parametrize("is_symmetric", [False, True])
def test_packets(ctx, monkeypatch, name, dtype, is_symmetric):
    # Small packets, so that a small matrix has several of them.
    monkeypatch.setattr(packeted, "_ROOM", 1024)
    lengths, _ = SHAPES[name]
    host = random_rows(lengths, len(lengths), dtype)
    operator = PacketedSpMV(host, is_symmetric, dtype)
    x = vector(host.shape[1], dtype)
    y = operator(operator.permute(to_gpu(x)))
    np.testing.assert_array_equal(operator.unpermute(y).get(), product(host, x))
    assert operator.block_count == -(-len(lengths) // operator.rows_per_packet)


@pytest.mark.gpu
def test_the_twin_of_a_product(ctx, form):
    """The comparison detects the product of another matrix."""
    host = random_rows(*SHAPES["one huge row"])
    x = vector(host.shape[1], host.dtype)
    y = form(host)(to_gpu(x)).get()
    host.data[500] += 0.25
    x[host.indices[500]] = 1
    with pytest.raises(AssertionError):
        np.testing.assert_array_equal(y, product(host, x))


@pytest.mark.gpu
def test_into_memory_that_is_there(ctx, form):
    host = random_rows(*SHAPES["huge rows"])
    x = to_gpu(vector(host.shape[1], host.dtype))
    y = gpuarray.full(host.shape[0], 77.0)
    assert form(host)(x, y) is y
    np.testing.assert_array_equal(y.get(), product(host, x.get()))


@pytest.mark.gpu
def test_new_values(ctx):
    host = random_rows(*SHAPES["short rows"])
    operator = CsrSpMV(host)
    operator.data[...] = 2 * operator.data
    x = vector(host.shape[1], host.dtype)
    np.testing.assert_array_equal(operator(to_gpu(x)).get(), 2 * product(host, x))


@pytest.mark.gpu
def test_results_are_allocated_like_x(ctx, form):
    pool = DeviceMemoryPool()
    host = random_rows([1, 2], 3)
    y = form(host)(to_gpu(vector(3, "float64"), pool.allocate))
    assert y.allocator == pool.allocate


@pytest.mark.gpu
def test_the_same_bits_each_time(ctx):
    rng = np.random.default_rng(2)
    host = random_rows(*SHAPES["one huge row"], "float32")
    host.data[:] = rng.standard_normal(len(host.data))
    operator = CsrSpMV(host)
    x = to_gpu(rng.standard_normal(host.shape[1]).astype("float32"))
    first = operator(x).get()
    for _ in range(3):
        np.testing.assert_array_equal(operator(x).get(), first)
    np.testing.assert_allclose(first, product(host, x.get()), rtol=0, atol=1e-3)


# -- how a matrix is cut ---------------------------------------------------------------


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize(("wide", "items"), [(False, 8), (True, 4)])
def test_each_element_is_in_one_job(name, wide, items):
    lengths, _ = SHAPES[name]
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    plan = csr.Plan(indptr, wide, 128, items)
    assert plan.jobs.dtype.itemsize == (32 if wide else 16)
    assert plan.cut == bool(max(lengths, default=0) > 16 * items)
    parts = [[] for _ in lengths]  # of each row: begin, end, place
    places = []
    for number, job in enumerate(plan.jobs):
        begin, end = int(job["begin"]), int(job["end"])
        assert 0 <= end - (begin & ~7) <= 128 * items
        slot = int(plan.slots[number]) if plan.cut else 0
        for row in range(job["row"], job["last"]):
            first, last = max(indptr[row], begin), min(indptr[row + 1], end)
            begun, goes_on = indptr[row] < begin, indptr[row + 1] > end
            place = slot // 2 + (0 if begun else slot % 2) if begun or goes_on else None
            parts[row].append((first, last, place))
            places += [] if place is None else [place]
    assert places == list(range(plan.slot_count))
    joined = {row: range(first, last) for row, first, last in plan.joints.tolist()}
    for row, found in enumerate(parts):
        assert found[0][0] == indptr[row] and found[-1][1] == indptr[row + 1]
        assert all(a[1] == b[0] for a, b in zip(found, found[1:], strict=False))
        if len(found) == 1:
            assert found[0][2] is None and row not in joined
        else:
            assert [place for _, _, place in found] == list(joined.pop(row))
            assert all(first < last for first, last, _ in found)
    assert joined == {}


@pytest.mark.parametrize("seed", range(20))
def test_cuts_anywhere(seed):
    """Rows of random lengths, some empty and some long, in small tiles."""
    rng = np.random.default_rng(seed)
    lengths = rng.choice(
        [0, 0, 1, 2, 7, 8, 9, 24, 25, 26, 60, 300], rng.integers(1, 90)
    )
    SHAPES["random"] = (lengths, 1)
    try:
        test_each_element_is_in_one_job("random", False, 1)
    finally:
        del SHAPES["random"]


def test_a_huge_row_is_cut():
    lengths, _ = SHAPES["one huge row"]
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    plan = csr.Plan(indptr, False, 128, 8)
    sizes = plan.jobs["end"] - plan.jobs["begin"]
    assert sizes.max() <= 1024 and len(sizes) < 1.2 * indptr[-1] / 1024
    ((row, first, last),) = plan.joints[plan.joints[:, 2] > plan.joints[:, 1] + 5]
    assert (row, first) == (10, 0) and last >= 20_000 / 1024


@pytest.mark.parametrize("itemsize", [4, 8, 16])
def test_blocks_follow_the_longest_row(itemsize):
    short, long = ([0, 3, 5 + longest] for longest in (1, 5000))
    assert csr.shape_for(np.array(short), itemsize) == csr.WHOLE[itemsize]
    assert csr.shape_for(np.array(long), itemsize) == csr.CUT[itemsize]
    assert csr.shape_for(np.array([0]), itemsize) == csr.WHOLE[itemsize]


@pytest.mark.gpu
def test_where_rows_are_cut_more_of_the_cache_is_for_x(ctx):
    asked = drv.function_attribute.PREFERRED_SHARED_MEMORY_CARVEOUT
    cut = CsrSpMV(random_rows([20_000, 1], 5))._multiply
    whole = CsrSpMV(random_rows([2] * 6, 6))._multiply
    assert cut.get_attribute(asked) == 25
    assert whole.get_attribute(asked) == -1


def test_lanes_follow_the_length_of_rows():
    lanes = []
    for length in (1, 5, 16, 40, 100, 400):
        indptr = np.arange(1001) * length
        lanes.append(csr.Plan(indptr, False, 128, 8).lanes)
    assert lanes == sorted(lanes) and lanes[0] == lanes[1] == 1 and lanes[-1] == 32


@pytest.mark.gpu
def test_wide_offsets_and_indices(ctx):
    """Run the kernel for more than 2**31 elements on fewer elements."""
    host = random_rows(*SHAPES["one huge row"])
    x = vector(host.shape[1], host.dtype)
    shape = csr.shape_for(host.indptr, 8)
    plan = csr.Plan(host.indptr, True, shape.threads, shape.items)
    words = (shape, plan.lanes, plan.passes, plan.uneven, plan.cut)
    multiply, join = csr._functions(csr.Kind(host.dtype, True, True, *words))
    arrays = [to_gpu(plan.jobs.view(np.uint8)), to_gpu(plan.slots), to_gpu(host.indptr)]
    arrays += [csr._padded(host.indices, np.int64, None)]
    arrays += [csr._padded(host.data, host.dtype, None), to_gpu(x)]
    y = gpuarray.zeros(host.shape[0], np.float64)
    partial = GPUArray((plan.slot_count,), np.float64)
    joints = to_gpu(plan.joints)
    pointers = [array.ptr for array in (*arrays, y, partial)]
    multiply.prepared_call((len(plan.jobs), 1), (shape.threads, 1, 1), *pointers)
    count = len(plan.joints)
    join.prepared_call(
        (-(-count // 8), 1), (256, 1, 1), joints.ptr, partial.ptr, y.ptr, count
    )
    np.testing.assert_array_equal(y.get(), product(host, x))


# -- packets ---------------------------------------------------------------------------


def grid(side):
    """Return (indptr, indices) of the neighbors in a square, including itself."""
    place = np.arange(side * side).reshape(side, side)
    pairs = [(place, place), (place[1:], place[:-1]), (place[:, 1:], place[:, :-1])]
    a = np.concatenate([pair[0].ravel() for pair in pairs])
    b = np.concatenate([pair[1].ravel() for pair in pairs])
    order = np.argsort(a, kind="stable")
    indptr = np.searchsorted(a[order], np.arange(side * side + 1))
    return _symmetric_pattern(indptr, b[order])


def test_parts_are_whole_and_hang_together():
    indptr, indices = grid(40)
    parts = _partition(indptr, indices, 40)
    assert [len(part) for part in parts] == [40] * 40
    assert sorted(np.concatenate(parts)) == list(range(1600))
    number = np.empty(1600, int)
    for k, part in enumerate(parts):
        number[part] = k
    rows = np.repeat(np.arange(1600), np.diff(indptr))
    cut = (number[rows] != number[indices]).mean()
    by_lines = (rows // 40 != indices // 40).mean()
    assert cut < 0.2 < 0.3 < by_lines


@pytest.mark.parametrize("most", [1, 7, 10, 11])
def test_parts_of_what_is_in_pieces(most):
    indptr, indices = np.zeros(11, np.int64), np.empty(0, np.int64)
    parts = _partition(indptr, indices, most)
    assert len(parts) == -(-10 // most) and max(map(len, parts)) <= most
    assert sorted(np.concatenate(parts)) == list(range(10))


def test_no_part_of_nothing():
    assert _partition(np.zeros(1, np.int64), np.empty(0, np.int64), 5) == []


@pytest.mark.gpu
def test_most_of_a_grid_is_in_packets(ctx, monkeypatch):
    monkeypatch.setattr(packeted, "_ROOM", 4096)  # 256 rows of float64
    indptr, indices = grid(40)
    host = HostCSR(indptr, indices, np.ones(len(indices)), (1600, 1600))
    operator = PacketedSpMV(host, True, np.float64)
    assert operator.block_count == 7
    assert operator.remaining_coo_gpu.nnz < 0.15 * len(indices)


@pytest.mark.gpu
def test_permutations(ctx, monkeypatch):
    monkeypatch.setattr(packeted, "_ROOM", 256)
    host = random_rows([2] * 50, 50, "float32")
    operator = PacketedSpMV(host, False, np.float32)
    x = to_gpu(np.arange(50, dtype=np.float32))
    there = operator.permute(x)
    old = operator.new2old_fetch_indices.get()
    assert there.get().tolist() == old.tolist() != list(range(50))
    assert operator.unpermute(there).get().tolist() == list(range(50))
    assert operator.old2new_fetch_indices.get()[old].tolist() == list(range(50))
    with pytest.raises(ValueError, match="permute|shape"):
        operator.permute(x[:3])


# -- matrices of others ----------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
@pytest.mark.parametrize("kind", ["matrix", "array"])
def test_from_scipy_and_back(ctx, form, format, kind):
    sparse = pytest.importorskip("scipy.sparse")
    host = random_rows([2, 0, 5, 1, 3], 5)
    theirs = getattr(sparse, f"{format}_{kind}")(dense(host))
    operator = form(theirs)
    x = vector(5, host.dtype)
    np.testing.assert_array_equal(operator(to_gpu(x)).get(), theirs @ x)
    back = operator.to_scipy()
    assert back.dtype == theirs.dtype
    np.testing.assert_array_equal(back.toarray(), theirs.toarray())


@pytest.mark.gpu
def test_packets_to_scipy(ctx, monkeypatch):
    pytest.importorskip("scipy.sparse")
    monkeypatch.setattr(packeted, "_ROOM", 256)
    host = random_rows([3] * 60, 60)
    back = PacketedSpMV(host, False, np.float64).to_scipy()
    np.testing.assert_array_equal(back.toarray(), dense(host))


@pytest.mark.gpu
def test_numpy_and_other_dtypes(ctx, form):
    theirs = np.array([[0, 2, 0], [1, 0, 3]])
    operator = form(theirs, np.float32)
    assert operator.nnz == 3
    y = operator(to_gpu(np.array([1, 10, 100], np.float32)))
    assert y.get().tolist() == [20, 301]
    with pytest.raises(TypeError, match="int64.*float32, float64"):
        form(theirs)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u4", "i8", "u8"])
def test_dtypes_of_indices(ctx, dtype):
    """Differences of unsigned integers are never negative. Small integers wrap."""
    indices, data = np.array([0, 1, 2], dtype), np.array([1.0, 2.0, 4.0])
    x = to_gpu(np.array([1.0, 10.0, 100.0]))
    operator = CsrSpMV.from_arrays(np.array([0, 2, 2, 3], dtype), indices, data, (3, 3))
    assert operator(x).get().tolist() == [21, 0, 400]
    rows = np.array([2, 0, 2], dtype)
    operator = CoordinateSpMV.from_arrays(rows, indices, data, (3, 3))
    assert operator(x).get().tolist() == [20, 0, 401]
    with pytest.raises(ValueError, match="indptr must rise"):
        CsrSpMV.from_arrays(np.array([0, 5, 2, 3], dtype), indices, data, (3, 3))


def test_from_arrays(ctx):
    indptr, indices, data = [0, 2, 2, 3], [0, 1, 1], [1.0, 2.0, 3.0]
    x = to_gpu(np.array([1.0, 10.0]))
    operator = CsrSpMV.from_arrays(indptr, indices, data, (3, 2))
    assert operator(x).get().tolist() == [21, 0, 30]
    arrays = [to_gpu(np.array(each)) for each in (indptr, indices, data)]
    assert CsrSpMV.from_arrays(*arrays, (3, 2))(x).get().tolist() == [21, 0, 30]
    assert operator.indptr.get().tolist() == indptr
    assert operator.indices.get().tolist() == indices
    assert operator.data.get().tolist() == data
    operator = CoordinateSpMV.from_arrays([2, 0, 0], [1, 0, 1], [3.0, 1.0, 2.0], (3, 2))
    assert operator(x).get().tolist() == [21, 0, 30]


def test_without_scipy():
    """The modules work without SciPy. An error says that its matrices need SciPy."""
    code = """
import sys
sys.modules["scipy"] = None
import pycuda.sparse.csr, pycuda.sparse.cg, pycuda.sparse.packeted
import pycuda.sparse.cusparse
from pycuda.sparse._matrix import scipy_sparse
try:
    scipy_sparse()
except ImportError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    assert "pip install scipy" in done.stdout


# -- what is wrong ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"indptr": [0, 2]}, ValueError, "2 entries; 2 rows need 3"),
        ({"indptr": [0, 3, 2]}, ValueError, "rise from 0"),
        ({"indptr": [1, 2, 2]}, ValueError, "rise from 0"),
        ({"indptr": [[0, 1, 2]]}, ValueError, "one axis"),
        ({"indptr": [0.0, 1.0, 2.0]}, TypeError, "float64; it must be integers"),
        ({"indices": [0, 3]}, ValueError, "column index 3 .*(2, 3)"),
        ({"indices": [-1, 0]}, ValueError, "column index -1"),
        ({"indices": [0]}, ValueError, "1 column indices and 2 elements"),
        ({"data": ["a", "b"]}, TypeError, "not multiplied"),
        ({"data": [1, 2]}, TypeError, "int64"),
        ({"shape": (-1, 3), "indptr": []}, ValueError, "shape"),
        ({"data": [1j, 2], "dtype": "float32"}, TypeError, "imaginary"),
        ({"dtype": "float16"}, TypeError, "float16"),
        ({"dtype": ">f4"}, TypeError, ">f4"),
    ],
)
def test_matrices_that_are_none(change, error, said):
    good = {"indptr": [0, 1, 2], "indices": [0, 2], "data": [1.0, 2.0], "shape": (2, 3)}
    assert HostCSR(**good).dtype == np.float64
    with pytest.raises(error, match=said):
        HostCSR(**{**good, **change})


def test_things_that_are_no_matrices():
    with pytest.raises(TypeError, match="list is no matrix"):
        read_matrix([[1.0]])
    with pytest.raises(ValueError, match="two axes"):
        read_matrix(np.ones(3))


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("rows", "columns", "said"),
    [
        ([2], [0], "row index 2"),
        ([0], [-1], "column index -1"),
        ([0, 1], [0], "2 rows"),
    ],
)
def test_coordinates_outside(ctx, rows, columns, said):
    with pytest.raises(ValueError, match=said):
        CoordinateSpMV.from_arrays(rows, columns, [1.0], (2, 2))


@pytest.fixture(params=[CsrSpMV, CoordinateSpMV, PacketedSpMV, CusparseSpMV])
def square(request, ctx):
    host = random_rows([2] * 6, 6, "float32")
    more = (False,) if request.param is PacketedSpMV else ()
    return request.param(host, *more)


@pytest.mark.gpu
def test_operands_that_do_not_go(square):
    x, y = (gpuarray.zeros(6, np.float32) for _ in "xy")
    assert square(x, y) is y
    long = gpuarray.zeros(12, np.float32)
    with pytest.raises(ValueError, match=r"x has shape \(12,\).*\(6, 6\)"):
        square(long)
    with pytest.raises(ValueError, match=r"y has shape \(12,\)"):
        square(x, long)
    with pytest.raises(ValueError, match=r"x has shape \(2, 6\) and 12 elements.*6"):
        square(long.reshape(2, 6))
    with pytest.raises(ValueError, match=r"y has shape \(4, 1\) and 4 elements"):
        square(x, gpuarray.zeros((4, 1), np.float32))
    with pytest.raises(TypeError, match="x has dtype float64, the matrix has float32"):
        square(x.astype(np.float64))
    with pytest.raises(TypeError, match="y has dtype float64"):
        square(x, y.astype(np.float64))
    with pytest.raises(TypeError, match="x must be a GPUArray, not ndarray"):
        square(x.get())
    with pytest.raises(ValueError, match=r"x has strides \(8,\)"):
        square(long[::2])
    with pytest.raises(ValueError, match=r"y has strides \(8,\)"):
        square(x, long[::2])
    with pytest.raises(ValueError, match="share memory"):
        square(x, x)
    with pytest.raises(ValueError, match="share memory"):
        square(long[:6], long[5:11])
    assert square(long[:6], long[6:]).get().tolist() == [0] * 6
    assert square(long[6:], long[:6]).get().tolist() == [0] * 6


@pytest.mark.gpu
def test_vectors_of_any_packed_shape(square):
    host = np.arange(1, 7, dtype=np.float32)
    x, expected = to_gpu(host), square(to_gpu(host)).get()
    for shape in ((6, 1), (1, 6), (2, 3), (1, 6, 1)):
        assert square(x.reshape(shape)).shape == (6,)
        np.testing.assert_array_equal(square(x.reshape(shape)).get(), expected)
    y = gpuarray.zeros((6, 1), np.float32)
    assert square(x.reshape(6, 1), y) is y
    np.testing.assert_array_equal(y.get(), expected.reshape(6, 1))
    gaps = gpuarray.zeros((6, 2), np.float32)[:, :1]
    with pytest.raises(ValueError, match=r"x has strides \(8, 4\)"):
        square(gaps)
    with pytest.raises(ValueError, match="share memory"):
        square(x, x.reshape(6, 1))


@pytest.mark.gpu
def test_the_order_of_packets_of_a_column(ctx):
    host = random_rows([2] * 6, 6, "float32")
    packets = PacketedSpMV(host, False)
    x = to_gpu(np.arange(6, dtype=np.float32))
    column = packets.permute(x.reshape(6, 1))
    np.testing.assert_array_equal(column.get(), packets.permute(x).get())
    np.testing.assert_array_equal(packets.unpermute(column).get(), x.get())
    with pytest.raises(ValueError, match=r"x has shape \(3, 1\) and 3 elements"):
        packets.permute(x[:3].reshape(3, 1))


@pytest.mark.gpu
def test_a_diagonal_and_a_column(ctx):
    operator = DiagonalPreconditioner(to_gpu(np.array([1, 2, 3], np.float32)))
    column = to_gpu(np.array([[1], [10], [100]], np.float32))
    assert operator(column).get().tolist() == [[1], [20], [300]]
    out = gpuarray.zeros((3, 1), np.float32)
    assert operator(column, out) is out
    assert out.get().tolist() == [[1], [20], [300]]


@pytest.mark.gpu
def test_misaligned_vectors(square):
    room = gpuarray.zeros(32, np.uint8)
    x = GPUArray((6,), np.float32, gpudata=room.ptr + 2, base=room)
    with pytest.raises(ValueError, match="no multiple of 4"):
        square(x)


@pytest.mark.gpu
def test_another_context(square, strict):
    x = gpuarray.zeros(6, np.float32)
    other = drv.Device(0).make_context()
    try:
        theirs = gpuarray.zeros(6, np.float32)
        with pytest.raises(drv.LogicError, match="another context"):
            square(theirs)
    finally:
        other.pop()
    with pytest.raises(drv.LogicError, match="another context"):
        square(theirs)
    with pytest.raises(drv.LogicError, match="another context"):
        square(x, theirs)
    assert square(x).get().tolist() == [0] * 6
    other.detach()


def test_without_a_context():
    with pytest.raises(drv.Error, match="context"):
        CsrSpMV(np.eye(2))


@pytest.mark.gpu
def test_packets_are_square(ctx):
    with pytest.raises(ValueError, match=r"\(2, 3\)"):
        PacketedSpMV(np.ones((2, 3)), False)


# -- streams and calls of the driver ---------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["short rows", "one huge row"])
def test_streams(ctx, form, name):
    host = random_rows(*SHAPES[name])
    operator = form(host)
    x = vector(host.shape[1], host.dtype)
    gpu_x, wanted = to_gpu(x), product(host, x)
    streams = [None, drv.Stream(), drv.Stream(), None]
    results = [gpuarray.zeros(host.shape[0], host.dtype) for _ in streams]
    for stream, y in zip(streams, results, strict=True):
        operator(gpu_x, y, stream=stream)
    with streams[1]:
        results.append(operator(gpu_x))
    ctx.synchronize()
    for y in results:
        np.testing.assert_array_equal(y.get(), wanted)


LATE = """
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.sparse.csr import CsrSpMV

host = np.ones((1, 40_000), np.float32)
operator = CsrSpMV(host)
assert operator._joint_count
x = gpuarray.zeros(40_000, np.float32) + 1
first, second = gpuarray.zeros(1, np.float32), gpuarray.zeros(1, np.float32)
pycuda.autoinit.context.synchronize()
a, b, c = (drv.Stream(1) for _ in range(3))  # NON_BLOCKING
for number in range(2):
    first.fill(0, c)
    c.synchronize()
    operator(x, first, stream=a)
    operator(x, second, stream=b)
    b.synchronize()
    seen = drv.pagelocked_zeros(1, np.float32)
    drv.memcpy_dtoh_async(seen, first.ptr, c)
    c.synchronize()
    print(seen[0])
"""


@pytest.mark.gpu
@pytest.mark.software(why="about deferred streams")
def test_a_stream_waits_for_the_product_before_on_another_one():
    """Both products use the same memory for rows that several blocks share."""
    done = run_child(LATE, PYCUDA_EMULATOR_STREAMS="late")
    assert done.stdout == "40000.0\n" * 2


WHOLE = """
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.sparse import packeted
from pycuda.sparse.coordinate import CoordinateSpMV
from pycuda.sparse.csr import CsrSpMV

packeted._ROOM = 2048  # small packets, and elements outside of them
n = 400
host = np.eye(n, dtype=np.float32)
host[0] = host[:, 0] = 2
wanted = host.sum(1)
for form in (CsrSpMV, CoordinateSpMV, lambda m: packeted.PacketedSpMV(m, True)):
    operator = form(host)
    if isinstance(operator, packeted.PacketedSpMV):
        assert operator.remaining_coo_gpu.nnz > 0
    x, y = gpuarray.zeros(n, np.float32) + 1, gpuarray.zeros(n, np.float32)
    pycuda.autoinit.context.synchronize()
    a = drv.Stream(1)  # NON_BLOCKING
    operator(x, y, stream=a)
    seen = drv.pagelocked_zeros(n, np.float32)
    drv.memcpy_dtoh_async(seen, y.ptr, a)
    a.synchronize()
    print((seen == wanted).all())
"""


@pytest.mark.gpu
@pytest.mark.software(why="about deferred streams")
def test_all_parts_of_a_product_are_work_of_its_stream():
    done = run_child(WHOLE, PYCUDA_EMULATOR_STREAMS="late")
    assert done.stdout == "True\n" * 3


CALLS = {
    CsrSpMV: {"cuLaunchKernel": 2},
    CoordinateSpMV: {"cuLaunchKernel": 2, "cuMemsetD8Async": 1},
    PacketedSpMV: {"cuLaunchKernel": 3},
}
#: All driver calls of the package that wait, allocate or free.
NEVER = (
    *("cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize"),
    *("cuMemAlloc", "cuMemFree", "cuMemAllocAsync", "cuMemFreeAsync", "cuMemAllocHost"),
    *("cuMemAllocPitch", "cuMemHostAlloc", "cuMemcpyDtoH", "cuMemcpyHtoD"),
    *("cuEventCreate", "cuModuleLoadData"),
)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", CALLS, ids=lambda kind: kind.__name__)
def test_the_calls_of_a_product(ctx, fail_calls, kind, monkeypatch):  # noqa: F811
    monkeypatch.setattr(packeted, "_ROOM", 2048)
    host = random_rows([20_000] + [1] * 399, 400)
    more = (False,) if kind is PacketedSpMV else ()
    operator = kind(host, *more)
    x, y = (gpuarray.zeros(400, np.float64) for _ in "xy")
    operator(x, y)
    watched = {name: fail_calls.count(name) for name in (*CALLS[kind], *NEVER)}
    for _ in range(5):
        operator(x, y)
    made = {name: fail_calls.count(name) - was for name, was in watched.items()}
    wanted = dict.fromkeys(NEVER, 0)
    wanted |= {name: 5 * number for name, number in CALLS[kind].items()}
    assert made == wanted
    # The counterpart: without y there is an allocation.
    operator(x)
    assert fail_calls.count("cuMemAlloc") == watched["cuMemAlloc"] + 1


@pytest.mark.gpu
@pytest.mark.parametrize("kind", [*CALLS, CusparseSpMV], ids=lambda kind: kind.__name__)
def test_no_memory(ctx, fail_calls, kind, monkeypatch):  # noqa: F811
    """After the failure of an allocation nothing is left, and the next matrix works."""
    monkeypatch.setattr(packeted, "_ROOM", 2048)
    host = random_rows([3_000] + [1] * 399, 400)
    more = (False,) if kind is PacketedSpMV else ()
    failures = 0
    for number in range(1, 20):
        # A failed allocation is retried once.
        fail_calls("cuMemAlloc", number, number + 1, code=OUT_OF_MEMORY)
        try:
            kind(host, *more)
        except drv.MemoryError:
            failures += 1
        else:
            break
    fail_calls.clear()
    assert 3 <= failures == number - 1
    x = to_gpu(vector(400, "float64"))
    y = CsrSpMV(host)(x)
    np.testing.assert_array_equal(y.get(), product(host, x.get()))


@pytest.mark.gpu
def test_a_matrix_that_is_too_high():
    class High:
        shape = (2**31 - 10, 1)
        dtype = np.dtype(np.float32)
        data = indices = indptr = np.zeros(0, np.float32)

    context = drv.Device(0).make_context()
    try:
        with pytest.raises(ValueError, match="2147483638 rows are too many"):
            CsrSpMV.__new__(CsrSpMV)._build(High(), None)
    finally:
        context.pop()
        context.detach()


@pytest.mark.gpu
def test_a_launch_that_fails(ctx, fail_calls):  # noqa: F811
    host = random_rows([20_000, 1], 5)
    operator = CsrSpMV(host)
    x = to_gpu(vector(5, "float64"))
    y = operator(x)
    for number in (1, 2):
        fail_calls("cuLaunchKernel", number)
        with pytest.raises(drv.LogicError, match="cuLaunchKernel"):
            operator(x, y)
    operator(x, y)
    np.testing.assert_array_equal(y.get(), product(host, x.get()))
