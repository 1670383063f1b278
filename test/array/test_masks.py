"""Compare selections by masks, and the indices of true elements, with NumPy."""

import numpy as np
import pytest

from pycuda import gpuarray
from pycuda.gpuarray import GPUArray, to_gpu
from support.arrays import DTYPES, same

pytestmark = pytest.mark.gpu

RECORD = np.dtype([("a", "i4"), ("b", "u1"), ("c", "f8")])
#: From one element to several tiles of 32,768.
SHAPES = [(1,), (31,), (1000,), (8192,), (32768,), (70_001,), (0,)]
SHAPES += [(50, 40), (7, 5, 9), (300, 0), (3, 1, 4)]
SHARES = [0.5, 0.0, 1.0, 0.02]


def values(dtype, shape):
    random = np.random.default_rng(3)
    if np.dtype(dtype).names is None:
        return random.integers(0, 3, shape).astype(dtype)
    result = np.zeros(shape, dtype)
    result["a"] = random.integers(0, 100, shape)
    result["c"] = random.random(shape)
    return result


def masks(shape):
    random = np.random.default_rng(4)
    for share in SHARES:
        yield random.random(shape) < share


def holds(device, host):
    got = device.get()
    assert got.dtype == host.dtype and got.shape == host.shape
    assert np.array_equal(got, host)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex128", "bool", RECORD])
@pytest.mark.parametrize("shape", SHAPES)
def test_reading_and_assigning(ctx, dtype, shape):
    a = values(dtype, shape)
    x = to_gpu(a)
    for m in masks(shape):
        mask = to_gpu(m)
        holds(x[mask], a[m])
        want, got = a.copy(), x.copy()
        want[m] = a[m][::-1]
        got[mask] = to_gpu(a[m])[::-1]
        holds(got, want)
        if a.dtype.names is None:
            want[m] = 1
            got[mask] = 1
            holds(got, want)
            want[m] = np.arange(m.sum()) % 2
            got[mask] = np.arange(m.sum()) % 2
            holds(got, want)
        if a.size:
            want[m] = a[(0,) * a.ndim]
            got[mask] = to_gpu(a.ravel()[:1])
            holds(got, want)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_indices_of_every_dtype(ctx, dtype):
    for shape in [(5000,), (50, 40), (7, 5, 9), (0,), (1, 1)]:
        a = values(dtype, shape)
        x = to_gpu(a)
        for got in (x.nonzero(), np.nonzero(x), gpuarray.nonzero(x), np.where(x)):
            assert isinstance(got, tuple) and len(got) == a.ndim
            for ours, theirs in zip(got, a.nonzero(), strict=True):
                same(ours, theirs)
        same(np.flatnonzero(x), np.flatnonzero(a))
        same(np.argwhere(x), np.argwhere(a))
    single = to_gpu(np.array(2).astype(dtype))
    same(gpuarray.flatnonzero(single), np.array([0]))
    assert gpuarray.argwhere(single).shape == (1, 0)
    with pytest.raises(ValueError, match="without axes"):
        single.nonzero()


def test_not_a_number_is_true(ctx):
    a = np.array([0.0, -0.0, np.nan, np.inf, 1e-40, 0.0], np.float32)
    same(gpuarray.flatnonzero(to_gpu(a)), np.array([2, 3, 4]))


def test_many_tiles(ctx):
    m = np.random.default_rng(5).random(1_400_000) < 0.3
    same(gpuarray.flatnonzero(to_gpu(m)), np.flatnonzero(m))
    a = np.arange(m.size, dtype=np.int16)
    same(to_gpu(a)[to_gpu(m)], a[m])


VIEWS = {
    "steps": lambda a: a[::2, ::3],
    "transposed": lambda a: a.T,
    "backwards": lambda a: a[::-1],
    "inner": lambda a: a[3:, 5:],
    "three axes": lambda a: a.reshape(6, 10, 50).transpose(2, 0, 1),
}


@pytest.mark.parametrize("dtype", ["int8", "float64", RECORD])
@pytest.mark.parametrize("view", VIEWS)
def test_views(ctx, dtype, view):
    a = values(dtype, (60, 50))
    flags = np.random.default_rng(6).random((60, 50)) < 0.4
    part, x = VIEWS[view](a), VIEWS[view](to_gpu(a))
    for m, mask in (
        (VIEWS[view](flags), VIEWS[view](to_gpu(flags))),
        (VIEWS[view](flags).copy(), to_gpu(VIEWS[view](flags).copy())),
    ):
        holds(x[mask], part[m])
        for ours, theirs in zip(mask.nonzero(), m.nonzero(), strict=True):
            same(ours, theirs)
        want, whole = a.copy(), to_gpu(a)
        VIEWS[view](want)[m] = part[m][::-1]
        VIEWS[view](whole)[mask] = to_gpu(part[m][::-1].copy())
        holds(whole, want)
        if a.dtype.names is None:
            VIEWS[view](want)[m] = 7
            VIEWS[view](whole)[mask] = 7
            holds(whole, want)


def test_addresses_that_are_not_aligned(ctx):
    m = np.random.default_rng(7).random(5000) < 0.5
    a = np.arange(5000, dtype=np.int16)
    mask, x = to_gpu(m), to_gpu(a)
    for begin in (1, 3, 8, 17):
        holds(x[begin:][mask[begin:]], a[begin:][m[begin:]])
        want, got = a.copy(), to_gpu(a)
        want[begin:][m[:-begin]] = -1
        got[begin:][mask[:-begin]] = -1
        holds(got, want)


def test_masks_of_the_first_axes(ctx):
    a = values("int32", (20, 6, 5))
    for m in (a[:, 0, 0] > 1, a[:, :, 0] > 0):
        mask = to_gpu(m)
        x = to_gpu(a)
        holds(x[mask], a[m])
        want = a.copy()
        want[m] = 9
        x[mask] = 9
        holds(x, want)
        want[m] = np.arange(5)
        x[mask] = np.arange(5)
        holds(x, want)


def test_a_mask_that_is_the_array(ctx):
    flags = np.random.default_rng(8).random(3000) < 0.5
    m = to_gpu(flags)
    holds(m[m], flags[flags])
    m[m] = False
    assert not m.get().any()
    for shift in (1, 16):
        want, got = flags.copy(), to_gpu(flags)
        want[shift:][want[:-shift].copy()] = False
        got[shift:][got[:-shift]] = False
        holds(got, want)


def test_values_that_share_memory(ctx):
    a = values("int32", 4000)
    m = np.arange(4000) % 2 == 0
    want, x = a.copy(), to_gpu(a)
    want[m] = a[:2000]
    x[to_gpu(m)] = x[:2000]
    holds(x, want)


def test_conversion_of_values(ctx):
    a = values("int32", 100)
    m = a > 0
    want, x = a.copy(), to_gpu(a)
    for value in (2.75, np.float32(3.5), np.linspace(0, 9, m.sum()), [4]):
        want[m] = value
        x[to_gpu(m)] = value
        holds(x, want)
    x[to_gpu(m)] = to_gpu(np.linspace(0, 5, m.sum()))
    want[m] = np.linspace(0, 5, m.sum())
    holds(x, want)


def test_the_result_has_its_own_size(ctx):
    x = to_gpu(np.arange(10_000))
    got = x[x < 10]
    assert got.nbytes == got.mem_size * 8 == 80
    assert got.base is None


@pytest.mark.parametrize("count", [0, 1, 3, 7])
def test_wrong_numbers_of_values_are_refused(ctx, count):
    m = np.arange(9) < 5
    x = to_gpu(np.arange(9.0))
    if count == 1:
        x[to_gpu(m)] = np.ones(1)
        return
    for value in (np.ones(count), to_gpu(np.ones(count))):
        with pytest.raises(ValueError, match=rf"5.*\({count},\)"):
            x[to_gpu(m)] = value
    same(x, np.arange(9.0))


def test_masks_of_another_shape_are_refused(ctx):
    x = to_gpu(np.zeros((3, 4)))
    for shape in [(4,), (3, 3), (3, 4, 1)]:
        mask = gpuarray.zeros(shape, bool)
        with pytest.raises(IndexError):
            x[mask]
        with pytest.raises(IndexError):
            x[mask] = 1
    with pytest.raises(TypeError, match="true nor false"):
        gpuarray.nonzero(GPUArray(3, RECORD))
    for function in (gpuarray.nonzero, gpuarray.flatnonzero, gpuarray.argwhere):
        with pytest.raises(TypeError, match="to_gpu"):
            function(np.ones(3))


def test_extract_and_compress(ctx):
    a = values("int32", (30, 20))
    c = a > 1
    x, condition = to_gpu(a), to_gpu(c)
    same(np.extract(condition, x), np.extract(c, a))
    same(gpuarray.extract(c, x), np.extract(c, a))
    same(gpuarray.extract(x, x), np.extract(a, a))
    for axis, pick in ((0, c[:, 0]), (1, c[0]), (-1, c[0][:7])):
        same(np.compress(to_gpu(pick), x, axis), np.compress(pick, a, axis))
        same(gpuarray.compress(pick, x, axis), np.compress(pick, a, axis))
    same(gpuarray.compress([True, False, True], x), np.compress([1, 0, 1], a))
    out = GPUArray((2, 20), np.int32)
    assert gpuarray.compress([0, 1, 1], x, 0, out) is out
    same(out, a[1:3])
    with pytest.raises(ValueError, match="one axis"):
        gpuarray.compress(condition, x, 0)
    with pytest.raises(IndexError):
        gpuarray.compress([0, 0, 0, 1], x[:, :3], 1)


def test_place_and_putmask(ctx):
    a = values("int32", (30, 20))
    m = a > 1
    mask = to_gpu(m)
    some = np.array([7, 8, 9], np.int32)
    for function in (np.place, np.putmask):
        for given in (some, some[:1], 5):
            want, x = a.copy(), to_gpu(a)
            function(want, m, given)
            function(x, mask, given)
            same(x, want)
    want, x = a.copy(), to_gpu(a)
    np.putmask(want, m, a * 2)
    gpuarray.putmask(x, mask, to_gpu(a * 2))
    same(x, want)
    for function in (gpuarray.place, gpuarray.putmask):
        with pytest.raises(ValueError, match="no value"):
            function(x, mask, np.empty(0))
