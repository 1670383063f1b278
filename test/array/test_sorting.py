"""Compare sorts along axes with NumPy: values, their bits, indices, stability."""

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver, gpuarray
from pycuda._array import host as host_work
from pycuda._array.kernels import compilation
from pycuda.gpuarray import GPUArray, to_gpu
from support.arrays import COMPLEX, DTYPES, FLOATS, same

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore::RuntimeWarning")]


@pytest.fixture(autouse=True)
def sorter(request, monkeypatch):
    """Let kernels sort on the software device, too, unless a test asks for NumPy."""
    if "by_numpy" not in request.fixturenames:
        monkeypatch.setattr(compilation, "may_differ", lambda: False)


#: Lengths on both sides of what lanes, a block and several blocks sort.
LENGTHS = [1, 2, 5, 16, 33, 128, 129, 300, 1100, 5000]
LONG = {1: 17000, 2: 17000, 4: 17000, 8: 8500, 16: 4500}


def keys(dtype, shape, seed=0):
    """Return an array of all kinds of bits: repeated values, infinities, NaNs."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    if dtype.kind == "c":
        part = np.dtype(dtype.char.lower())
        values = np.empty(count, dtype)
        values.real, values.imag = keys(part, count, seed), keys(part, count, seed + 1)
        values.real[::3] = 1
        return values.reshape(shape)
    if dtype.kind in "biu":
        values = rng.integers(0, 256, (count, dtype.itemsize), np.uint8)
        values = values.view(f"u{dtype.itemsize}").ravel().astype(dtype)
        values[rng.random(count) < 0.3] = 1
        return values.reshape(shape)
    values = (rng.standard_normal(count) * 100).astype(dtype)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1.0], dtype)
    where = rng.random(count) < 0.4
    values[where] = rng.choice(special, where.sum())
    return values.reshape(shape)


def same_bits(device, host):
    """Assert that a GPUArray has the bytes of a NumPy array."""
    got = device.get()
    assert got.dtype == host.dtype
    assert got.shape == host.shape
    assert np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(host).tobytes()


def check(x, host, axis=-1):
    """Compare all sorts along an axis; NaNs and zeros keep their order."""
    order = np.argsort(host, axis, kind="stable")
    expected = np.take_along_axis(host, order, axis)
    same_bits(gpuarray.sort(x, axis), expected)
    same(gpuarray.argsort(x, axis), order)
    values, indices = _driver._sort(x, axis, True, True)
    same_bits(values, expected)
    same(indices, order)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_lines_of_all_lengths(ctx, dtype):
    for length in LENGTHS[:: 1 if dtype.itemsize == 4 else 3]:
        host = keys(dtype, (3, length), length)
        check(to_gpu(host), host)


@pytest.mark.parametrize("dtype", ["bool", "float16", "float32", "int64", "complex128"])
def test_lines_of_several_blocks(ctx, dtype):
    host = keys(dtype, (2, LONG[np.dtype(dtype).itemsize]))
    x = to_gpu(host)
    check(x, host)
    check(x[1], host[1])


@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex64"])
def test_in_place(ctx, dtype):
    for shape, axis in [((3, 50), 1), ((3, 50), 0), ((LONG[8],), 0), ((2, 17000), 1)]:
        host = keys(dtype, shape)
        x = to_gpu(host)
        order = np.argsort(host, axis, kind="stable")
        assert x.sort(axis) is None
        same_bits(x, np.take_along_axis(host, order, axis))


def test_axes_and_layouts(ctx):
    host = keys(np.float32, (4, 30, 5))
    x = to_gpu(host)
    for axis in (0, 1, 2, -1, -2):
        check(x, host, axis)
        check(x.T, host.T, axis)
        check(x[::-1, ::2, ::-2], host[::-1, ::2, ::-2], axis)
    same(gpuarray.argsort(x, None), np.argsort(host, None, kind="stable"))
    fortran = to_gpu(np.asfortranarray(host[0]))
    assert gpuarray.sort(fortran, 0).flags.f_contiguous
    part = x[1, :, 2]
    part.sort()
    expected = host.copy()
    expected[1, :, 2].sort(kind="stable")
    same_bits(x, expected)


@pytest.mark.parametrize("dtype", [np.bool_, *FLOATS, *COMPLEX, np.int8, np.uint64])
def test_descending_keeps_the_order_of_equals(ctx, dtype):
    for length in (20, 300, LONG[8]):
        host = keys(dtype, length)
        backward = np.argsort(host[::-1], kind="stable")[::-1]
        order = length - 1 - backward
        x = to_gpu(host)
        same(gpuarray.argsort(x, descending=True), order)
        same_bits(gpuarray.sort(x, descending=True), host[order])


@pytest.mark.parametrize("length", [100, 3000, 17000])
def test_lines_in_order_and_of_one_value(ctx, length):
    for host in (
        np.arange(length, dtype=np.int32),
        np.arange(length, 0, -1, dtype=np.int32),
        np.full(length, -5, np.int32),
    ):
        check(to_gpu(host), host)


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_digits_that_all_elements_share(ctx, dtype):
    host = np.random.default_rng(3).integers(0, 300, (3, 9000)).astype(dtype)
    host[1] = 7
    check(to_gpu(host), host)
    check(to_gpu(host[1]), host[1])


def test_arrays_without_elements(ctx):
    for shape, axis in [((0,), 0), ((3, 0), 1), ((0, 3), 1), ((3, 0), 0)]:
        host = np.empty(shape, np.float64)
        check(to_gpu(host), host, axis)
    same(gpuarray.sort(to_gpu(np.float32(3)), None), np.array([3], np.float32))


def test_streams_and_allocators(ctx):
    host = keys(np.float32, 20000)
    made = []

    def allocate(size):
        made.append(size)
        return drv.mem_alloc(size)

    stream = drv.Stream()
    x = to_gpu(host)
    result = gpuarray.sort(x, stream=stream, allocator=allocate)
    stream.synchronize()
    same_bits(result, host[np.argsort(host, kind="stable")])
    assert result.allocator is allocate
    assert result.nbytes in made
    indices = gpuarray.argsort(x, stream=stream)
    stream.synchronize()
    same(indices, np.argsort(host, kind="stable"))


def test_bool_keeps_what_it_counts_as(ctx):
    x = to_gpu(np.array([3, 1, 2], np.float32))
    mask = gpuarray.sort(x > 1)
    assert (mask * 2.5).dtype == np.float32


@pytest.mark.parametrize("name", ["sort", "argsort"])
def test_numpys_functions(ctx, name):
    host = keys(np.float64, (5, 7))
    x = to_gpu(host)
    function = getattr(np, name)
    for keywords in ({}, {"axis": 0}, {"axis": None}, {"kind": "stable", "axis": -1}):
        got = function(x, **keywords)
        assert isinstance(got, GPUArray)
        same(got, function(host, **{"kind": "stable", **keywords}))
    same(x.argsort(0), host.argsort(0, kind="stable"))


def test_lexsort(ctx):
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 3, (3, 4, 50)).astype(np.float32)
    x = to_gpu(rows)
    for axis in (-1, 0):
        same(np.lexsort(x, axis=axis), np.lexsort(rows, axis=axis))
    pair = (x[0, 0], to_gpu(rows[1, 0].astype(np.int8)))
    same(gpuarray.lexsort(pair), np.lexsort((rows[0, 0], rows[1, 0])))
    with pytest.raises(TypeError, match="at least one key"):
        gpuarray.lexsort([])
    with pytest.raises(ValueError, match=r"\(50,\) and \(4, 50\)"):
        gpuarray.lexsort([x[0, 0], x[0]])


def test_partitions(ctx):
    host = keys(np.float32, (4, 200))
    x = to_gpu(host)
    for kth, axis in ((17, 1), ((3, 90), -1), (-2, 0)):
        ordered = np.sort(host, axis)
        place = np.atleast_1d(kth)
        values = np.partition(x, kth, axis).get()
        same_places = np.take(values, place, axis), np.take(ordered, place, axis)
        np.testing.assert_array_equal(*same_places)
        indices = np.argpartition(x, kth, axis).get()
        np.testing.assert_array_equal(np.take_along_axis(host, indices, axis), values)
        same(x.argpartition(kth, axis), indices)
    x.partition(5)
    np.testing.assert_array_equal(x.get()[:, 5], np.sort(host)[:, 5])
    with pytest.raises(ValueError, match="kth=200 is not one of the 200 places"):
        gpuarray.partition(x, 200)


def test_top_k(ctx):
    host = np.array([[1, 5, 3, 5, 2], [9, 2, 9, 9, -1]], np.int16)
    x = to_gpu(host)
    values, indices = gpuarray.top_k(x, 3)
    same(values, np.array([[5, 5, 3], [9, 9, 9]], np.int16))
    same(indices, np.array([[1, 3, 2], [0, 2, 3]]))
    values, indices = gpuarray.top_k(x, 1, axis=0, largest=False)
    same(values, host.min(0, keepdims=True))
    same(indices, host.argmin(0)[None])
    same(gpuarray.top_k(x, 0)[0], np.empty((2, 0), np.int16))
    with pytest.raises(ValueError, match="k=6, but axis -1 has length 5"):
        gpuarray.top_k(x, 6)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("int8", "c8"), ("uint16", "c8"), ("float32", "c16"), ("complex64", "c8")],
)
def test_sort_complex(ctx, dtype, expected):
    host = keys(dtype, 40)
    got = np.sort_complex(to_gpu(host))
    assert got.dtype == np.dtype(expected)
    same(got, np.sort_complex(host))


def test_records_are_sorted_by_a_field(ctx):
    host = np.array([(1, 2.0), (0, 1.0)], [("id", "i4"), ("mass", "f4")])
    x = to_gpu(host)
    got = x[np.argsort(x["mass"])].get()
    assert (got == np.sort(host, order="mass")).all()


def test_bad_arguments(ctx):
    x = gpuarray.zeros((3, 4), np.float32)
    for call in (gpuarray.sort, gpuarray.argsort, GPUArray.sort):
        with pytest.raises(ValueError, match="axis 2 is not one of the 2 axes"):
            call(x, 2)
        with pytest.raises(ValueError, match="kind is one of"):
            call(x, kind="quick")
        with pytest.raises(ValueError, match="kind or stable"):
            call(x, kind="stable", stable=True)
        for order, field in (("a", "a"), (["b", "a"], "b")):
            text = rf"x\[np.argsort\(x\['{field}'\]\)\]"
            with pytest.raises(ValueError, match=text):
                call(x, order=order)
    with pytest.raises(ValueError, match="axis -1 is not one of the 0 axes"):
        gpuarray.sort(to_gpu(np.float32(1)))
    with pytest.raises(TypeError, match="dtype \\[\\('a', '<i4'\\)\\]"):
        gpuarray.sort(gpuarray.empty(3, np.dtype([("a", "i4")])))
    with pytest.raises(TypeError, match="sort takes a GPUArray, not numpy.ndarray"):
        gpuarray.sort(np.zeros(3))
    with pytest.raises(ValueError, match="in place are the elements only"):
        _driver._sort(x, in_place=True, indices=True)
    with pytest.raises(ValueError, match="introselect"):
        gpuarray.partition(x, 1, kind="quick")


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "int64", "float16"])
def test_top_k_selects_from_long_arrays(ctx, dtype, monkeypatch):
    monkeypatch.setattr("pycuda._array.functions.sorting._SELECTED_FROM", 1000)
    host = keys(dtype, 20000)
    host[host == host[7]] = host[11]
    constant = np.full(20000, host[3])
    for values, k in ((host, 1), (host, 60), (host, 128), (host, 300), (constant, 77)):
        x = to_gpu(values)
        for largest in (False, True):
            got, indices = gpuarray.top_k(x, k, largest=largest)
            order = gpuarray.argsort(x, descending=largest).get()[:k]
            same(indices, order)
            same_bits(got, values[order])


def test_bfloat16(ctx):
    dtype = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    for length in (20, 300, 5000):
        host = keys(np.float32, length).astype(dtype)
        x = to_gpu(host)
        order = np.argsort(host.astype(np.float32), kind="stable")
        same(gpuarray.argsort(x), order)
        same_bits(gpuarray.sort(x), host[order])
        numbers = to_gpu(np.nan_to_num(host.astype(np.float32)).astype(dtype))
        middle = np.median(numbers.get().astype(np.float32)).astype(dtype)
        same(gpuarray.median(numbers), middle)
        assert np.isnan(gpuarray.quantile(x, 0.5).get().astype(np.float32))
        assert bool(gpuarray.isin(numbers, numbers[:3]).get()[:3].all())


# -- by NumPy, on the software device --------------------------------------------------


@pytest.fixture
def by_numpy(ctx, monkeypatch):
    """The calls of NumPy's sort for arrays."""
    calls = []
    sort = host_work.sort

    def noted(*args):
        calls.append(args)
        return sort(*args)

    monkeypatch.setattr(host_work, "sort", noted)
    return calls


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_many_numbers(by_numpy, dtype):
    # The kernels, which sort complex numbers, are slow for many short lines.
    host = keys(dtype, (16, 17, 16) if dtype.kind == "c" else (3, 70, 50))
    x = to_gpu(host)
    numbers = to_gpu(np.abs(host) + host.dtype.type(1)) if dtype.kind != "b" else x
    for axis in (0, 1, -1):
        order = np.argsort(host, axis, kind="stable")
        same_bits(gpuarray.sort(x, axis), np.take_along_axis(host, order, axis))
        same_bits(gpuarray.sort(x.T, axis), np.sort(host.T, axis, kind="stable"))
        turned = np.argsort(np.flip(host, axis), axis, kind="stable")
        falling = np.take_along_axis(np.flip(host, axis), turned, axis)
        values = _driver._sort(x, axis, True, False, descending=True)
        same_bits(values, np.flip(falling, axis))
        same(gpuarray.argsort(x, axis), order)
        both = _driver._sort(x, axis, True, True, descending=True)
        same_bits(both[0], np.flip(falling, axis))
        same(both[1], np.flip(host.shape[axis] - 1 - turned, axis))
        ordered = np.sort(numbers.get(), axis, kind="stable")
        same_bits(gpuarray.sort(numbers, axis), ordered)
    copy = x.copy()
    copy.sort(1)
    same_bits(copy, np.sort(host, 1, kind="stable"))
    is_numpys = _driver._is_emulated() and dtype.kind != "c" and dtype != np.float16
    assert bool(by_numpy) == is_numpys


def test_what_kernels_still_sort(by_numpy, monkeypatch):
    host = keys(np.float32, 5000)
    x = to_gpu(host)
    order = np.argsort(host, kind="stable")
    same(gpuarray.argsort(x[:4000]), np.argsort(host[:4000], kind="stable"))
    same_bits(gpuarray.sort(x[:4000]), np.sort(host[:4000], kind="stable"))
    monkeypatch.setattr(compilation, "may_differ", lambda: False)
    same_bits(gpuarray.sort(x), host[order])
    same(gpuarray.argsort(x), order)
    assert by_numpy == []
