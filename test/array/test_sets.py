"""Compare the different elements of arrays, and arrays as sets, with NumPy."""

import numpy as np
import pytest

from pycuda import array_api, gpuarray
from pycuda._array.functions import sets
from pycuda.gpuarray import GPUArray, to_gpu
from support.arrays import DTYPES, same, sample

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore::RuntimeWarning")]


def repeated(dtype, shape, seed=0):
    """Return an array of few values, with NaNs and both zeros if there are any."""
    host = sample(dtype, shape, seed)
    if host.dtype.kind in "fc":
        rng = np.random.default_rng(seed)
        host = np.rint(host)
        host[rng.random(shape) < 0.2] = np.nan
        host[rng.random(shape) < 0.2] = -0.0
    return host


def all_same(got, expected):
    assert len(got) == len(expected)
    for device, host in zip(got, expected, strict=True):
        same(device, host)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_unique(ctx, dtype):
    for shape in ((60,), (4, 9), (0,), (1,)):
        host = repeated(dtype, shape)
        x = to_gpu(host)
        same(np.unique(x), np.unique(host))
        all_same(np.unique(x, True, True, True), np.unique(host, True, True, True))
        all_same(np.unique(x, return_counts=True), np.unique(host, return_counts=True))


@pytest.mark.parametrize("dtype", ["int16", "float32", "complex64"])
def test_unique_of_the_array_standard(ctx, dtype):
    host = repeated(dtype, (3, 30))
    x = to_gpu(host)
    values, indices, inverse, counts = gpuarray.unique_all(x)
    flat = host.ravel()
    same(values, flat[indices.get()])
    np.testing.assert_array_equal(values.get()[inverse.get()], host)
    assert counts.get().sum() == flat.size
    assert values.size == np.unique(flat, equal_nan=False).size
    np.testing.assert_array_equal(
        np.bincount(inverse.get().ravel(), minlength=values.size), counts.get()
    )
    same(gpuarray.unique_counts(x).counts, counts.get())
    same(gpuarray.unique_inverse(x).inverse_indices, inverse.get())
    same(gpuarray.unique_values(x), values.get())


@pytest.mark.parametrize("dtype", ["uint8", "float64"])
def test_unique_along_an_axis(ctx, dtype):
    host = np.random.default_rng(2).integers(0, 2, (12, 3, 2)).astype(dtype)
    for axis in (0, 1, -1):
        keywords = {"axis": axis, "return_index": True, "return_counts": True}
        all_same(np.unique(to_gpu(host), **keywords), np.unique(host, **keywords))
    values, inverse = np.unique(to_gpu(host), return_inverse=True, axis=0)
    assert inverse.shape == (12,)
    np.testing.assert_array_equal(values.get()[inverse.get()], host)
    same(np.unique(to_gpu(host[:0]), axis=0), host[:0])


@pytest.mark.parametrize("name", ["union1d", "intersect1d", "setdiff1d", "setxor1d"])
def test_sets(ctx, name):
    for first, second in (("int8", "int32"), ("float32", "float32"), ("f8", "i4")):
        for sizes in ((50, 20), (0, 20), (20, 0), (1, 1)):
            a, b = repeated(first, sizes[0]), repeated(second, sizes[1], 1)
            got = getattr(np, name)(to_gpu(a), to_gpu(b))
            assert isinstance(got, GPUArray)
            same(got, getattr(np, name)(a, b))


def test_intersection_with_indices(ctx):
    a, b = repeated("int8", (5, 9)), repeated("int8", 20, 1)
    call = (to_gpu(a), to_gpu(b))
    all_same(
        np.intersect1d(*call, return_indices=True),
        np.intersect1d(a, b, return_indices=True),
    )
    a, b = np.array([3, 1, 2]), np.array([2, 5, 3])
    call = (to_gpu(a), to_gpu(b))
    all_same(
        np.intersect1d(*call, assume_unique=True, return_indices=True),
        np.intersect1d(a, b, assume_unique=True, return_indices=True),
    )
    same(np.setdiff1d(*call, assume_unique=True), np.setdiff1d(a, b, True))
    same(np.setxor1d(*call, assume_unique=True), np.setxor1d(a, b, True))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_isin(ctx, dtype):
    element, tests = repeated(dtype, (6, 7)), repeated(dtype, 8, 5)
    for b in (tests, tests[:1], tests[:0]):
        for invert in (False, True):
            got = np.isin(to_gpu(element), to_gpu(b), invert=invert)
            same(got, np.isin(element, b, invert=invert))
    with pytest.raises(ValueError, match="kind is"):
        gpuarray.isin(to_gpu(element), to_gpu(tests), kind="hash")


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_isin_by_a_table(ctx, dtype, invert, monkeypatch):
    element, tests = repeated(dtype, (6, 7)), repeated(dtype, 8, 5)
    if dtype.kind == "f":
        tests[:2] = 0, np.inf
    wanted = np.isin(element, tests, invert=invert)
    x, y = to_gpu(element), to_gpu(tests)
    same(gpuarray.isin(x, y, invert=invert, kind="sort"), wanted)
    if dtype.itemsize > 4 or dtype.kind == "c":
        same(gpuarray.isin(x, y, invert=invert, kind="table"), wanted)
        return
    monkeypatch.setattr(sets, "sort", None)
    same(gpuarray.isin(x, y, invert=invert, kind="table"), wanted)
    with pytest.raises(TypeError, match="not callable"):
        gpuarray.isin(x, y, kind="sort")


def test_isin_lists_and_arrays_of_the_host(ctx):
    element = np.arange(6.0).reshape(2, 3)
    x = to_gpu(element)
    for tests in ([1, 5.0, 9], (2,), np.array([[4, 0]]), 3, []):
        wanted = np.isin(element, tests)
        same(np.isin(x, tests), wanted)
        same(array_api.isin(x, tests), wanted)
        same(array_api.isin(x, tests, invert=True), ~wanted)
    for function in (np.isin, array_api.isin):
        with pytest.raises(TypeError, match="list cannot become an array of numbers"):
            function(x, ["word"])
