"""Compare reductions along all and some axes with NumPy."""

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.gpuarray import GPUArray, to_gpu
from support.arrays import COMPLEX, DTYPES, FLOATS, same, sample

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

EXACT = ["min", "max", "any", "all", "argmin", "argmax", "count_nonzero"]
SHAPES = [(5000,), (7, 300), (3, 4, 5), (300, 33), (1,), (2, 1, 3)]


def every_axis(shape):
    return [None, *range(-1, len(shape))]


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_exact_reductions(ctx, name, dtype):
    for number, shape in enumerate(SHAPES):
        host = sample(dtype, shape, number)
        for a, x in ((host, to_gpu(host)), (host.T, to_gpu(host).T)):
            for axis in every_axis(shape):
                same(getattr(gpuarray, name)(x, axis=axis), getattr(np, name)(a, axis))


@pytest.mark.parametrize("name", ["sum", "prod", "mean"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sums(ctx, name, dtype):
    for number, shape in enumerate(SHAPES):
        host = sample(dtype, shape, number)
        if name == "prod" and host.dtype.kind in "fc":
            host = np.where(host == 0, 1, host).astype(dtype)
            host = (host / np.abs(host)).astype(dtype)
        x = to_gpu(host)
        for axis in every_axis(shape):
            expected = getattr(np, name)(host, axis)
            wide = host.astype(np.complex128 if host.dtype.kind == "c" else np.float64)
            exact = getattr(np, name)(wide, axis)
            got = getattr(gpuarray, name)(x, axis=axis)
            assert got.dtype == expected.dtype
            assert got.shape == expected.shape
            if expected.dtype.kind in "iu":
                same(got, expected)
            else:
                eps = np.finfo(expected.dtype).eps
                np.testing.assert_allclose(
                    got.get(), exact, rtol=4 * eps, atol=64 * eps
                )


def test_tuples_of_axes_and_keepdims(ctx):
    a = sample(np.int32, (3, 4, 5, 6))
    x = to_gpu(a)
    for axis in [(0, 2), (1, 3), (-1, 0), (0, 1, 2, 3), ()]:
        same(gpuarray.sum(x, axis=axis), a.sum(axis))
        same(gpuarray.max(x, axis=axis, keepdims=True), a.max(axis, keepdims=True))
    view = x[::-1, :, ::2].transpose(2, 0, 3, 1)
    host = a[::-1, :, ::2].transpose(2, 0, 3, 1)
    for axis in [None, 0, 1, 2, 3, (0, 3), (1, 2)]:
        same(gpuarray.sum(view, axis=axis), host.sum(axis))
        same(gpuarray.min(view, axis=axis), host.min(axis))
    same(gpuarray.argmax(view), host.argmax())


def test_a_dot_of_different_sizes(ctx):
    x = gpuarray.zeros((3, 4), np.float32)
    with pytest.raises(ValueError, match=r"\(3, 4\) and \(3, 3\) differ .*matmul"):
        gpuarray.dot(x, gpuarray.zeros((3, 3), np.float32))


def test_wrong_axes(ctx):
    x = to_gpu(np.ones((2, 3)))
    for axis in (2, -3, (0, 0), (0, 2)):
        with pytest.raises(ValueError, match="axis"):
            gpuarray.sum(x, axis=axis)
    with pytest.raises(TypeError):
        gpuarray.sum(x, axis=0.5)


def test_reductions_of_nothing(ctx):
    x = to_gpu(np.ones((0, 3)))
    same(gpuarray.sum(x), np.float64(0))
    same(gpuarray.sum(x, axis=0), np.zeros(3))
    same(gpuarray.prod(x, axis=0), np.ones(3))
    same(gpuarray.all(x), np.True_)
    same(gpuarray.any(x), np.False_)
    same(gpuarray.max(x, axis=1), np.zeros(0))
    assert np.isnan(gpuarray.mean(x).get())
    for name in ("min", "max", "argmin", "argmax"):
        with pytest.raises(ValueError, match=name):
            getattr(gpuarray, name)(x)


def test_nan_wins(ctx):
    for dtype in (*FLOATS, *COMPLEX):
        a = np.arange(3000).astype(dtype)
        a[[700, 1500]] = np.nan
        for name in ("min", "max", "argmin", "argmax"):
            same(getattr(gpuarray, name)(to_gpu(a)), getattr(np, name)(a))


def test_infinities(ctx):
    for values in ([np.inf, 1.0], [np.inf, -np.inf], [-np.inf, 5.0]):
        a = np.array(values * 50)
        same(gpuarray.sum(to_gpu(a)), a.sum())
        same(gpuarray.mean(to_gpu(a)), a.mean())


def test_sums_are_accurate(ctx):
    a = np.full(100_003, 0.1, np.float32)
    same(gpuarray.sum(to_gpu(a)), np.float32(a.astype(np.float64).sum()))
    b = np.array([1e16, 1.0, -1e16] * 1001)
    same(gpuarray.sum(to_gpu(b)), np.float64(1001))


def test_the_same_input_gives_the_same_bits(ctx):
    a = np.random.default_rng(0).standard_normal(200_000).astype(np.float32)
    x = to_gpu(a)
    first = gpuarray.sum(x).get()
    assert all(gpuarray.sum(x.copy()).get() == first for _ in range(3))


@pytest.mark.parametrize(
    "dtype", [np.int8, np.int32, np.float32, np.complex64], ids=str
)
def test_arrays_that_no_cache_holds(ctx, dtype):
    """Other instructions read such arrays, in whole vectors and a remainder."""
    cache = drv.Device(0).get_attribute(drv.device_attribute.L2_CACHE_SIZE)
    few = sample(dtype, 5003, 1)
    host = np.resize(few, cache // few.itemsize + 1027)
    x = to_gpu(host)
    for name in ("min", "max", "argmax", "count_nonzero"):
        same(getattr(gpuarray, name)(x), getattr(np, name)(host))
    wide = host.astype(np.complex128 if host.dtype.kind == "c" else np.float64)
    for got, exact in (
        (gpuarray.sum(x, dtype=np.dtype(wide.dtype)), wide.sum()),
        (gpuarray.dot(x.astype(wide.dtype), x.astype(wide.dtype)), wide @ wide),
    ):
        np.testing.assert_allclose(got.get(), exact, rtol=1e-12)


def test_dtype_and_out(ctx):
    a = sample(np.int8, (40, 50))
    x = to_gpu(a)
    same(gpuarray.sum(x), a.sum())
    same(gpuarray.sum(x, np.float32), a.sum(dtype=np.float32))
    same(gpuarray.sum(x, np.int8), a.sum(dtype=np.int8))
    out = GPUArray(50, np.float64)
    assert gpuarray.sum(x, axis=0, out=out) is out
    same(out, a.sum(0).astype(np.float64))
    with pytest.raises(ValueError, match=r"\(50,\).*\(40,\)"):
        gpuarray.sum(x, axis=0, out=GPUArray(40, np.int64))


@pytest.mark.parametrize("name", ["sum", "max", "argmax", "any", "mean", "cumsum"])
def test_an_array_without_axes_takes_axis_0(ctx, name):
    x = to_gpu(np.array(5.0))
    for axis in (0, -1):
        got = getattr(gpuarray, name)(x, axis=axis)
        same(got, getattr(np, name)(np.full(1, 5.0), axis=0).reshape(got.shape))
        assert got.shape == ((1,) if name == "cumsum" else ())
    for axis in (1, -2):
        with pytest.raises(ValueError, match=f"axis {axis}"):
            getattr(gpuarray, name)(x, axis=axis)


def test_variance(ctx):
    for dtype in (np.int32, np.float32, np.float64, np.complex64):
        a = sample(dtype, (40, 50))
        x = to_gpu(a)
        for axis in (None, 0, 1):
            for ddof in (0, 1):
                same(gpuarray.var(x, axis, ddof), a.var(axis, ddof=ddof), exact=False)
                same(gpuarray.std(x, axis, ddof), a.std(axis, ddof=ddof), exact=False)


def test_dot(ctx):
    a, b = sample(np.float64, 3000, 1), sample(np.float64, 3000, 2)
    same(gpuarray.dot(to_gpu(a), to_gpu(b)), a.dot(b))
    same(gpuarray.dot(to_gpu(a)[::-1], to_gpu(b)), a[::-1].dot(b))
    c, d = sample(np.int32, (6, 7), 1), sample(np.float32, (6, 7), 2)
    assert gpuarray.dot(to_gpu(c), to_gpu(d)).get() == (c * d.astype(np.float64)).sum()
    assert gpuarray.dot(to_gpu(c), to_gpu(c), np.float32).dtype == np.float32
    e = sample(np.complex64, 500)
    np.testing.assert_allclose(gpuarray.dot(to_gpu(e), to_gpu(e)).get(), e.dot(e), 1e-5)
    with pytest.raises(ValueError, match=r"\(3000,\).*\(6, 7\)"):
        gpuarray.dot(to_gpu(a), to_gpu(c))


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float64", "complex64"])
def test_running_sums_and_products(ctx, dtype):
    a = sample(dtype, (4, 6))
    x = to_gpu(a)
    for axis in (None, 0, 1, -1):
        same(gpuarray.cumsum(x, axis), a.cumsum(axis), exact=dtype != "float16")
        same(np.cumsum(x.T, axis), a.T.cumsum(axis), exact=dtype != "float16")
    b = (sample(dtype, 10) % 3 if dtype != "complex64" else sample(dtype, 3)).astype(
        dtype
    )
    same(gpuarray.cumprod(to_gpu(b)), b.cumprod(), exact=dtype != "float16")
    if a.dtype.kind != "c":
        same(gpuarray.cumsum(x, dtype=np.float32), a.cumsum(dtype=np.float32))


def test_subsets(ctx):
    a, b = sample(np.float64, 300, 1), sample(np.float64, 300, 2)
    subset = np.array([5, 17, 17, 299, 0], np.int32)
    x, y, s = to_gpu(a), to_gpu(b), to_gpu(subset)
    same(gpuarray.subset_sum(s, x), a[subset].sum())
    same(gpuarray.subset_dot(s, x, y), a[subset].dot(b[subset]))
    same(gpuarray.subset_min(s, x), a[subset].min())
    same(gpuarray.subset_max(s, x), a[subset].max())


def test_methods_and_numpy_functions(ctx):
    a = sample(np.float32, (6, 7))
    x = to_gpu(a)
    assert x.any().dtype == bool and x.any().shape == ()
    same(x.all(), a.all())
    for name in ("sum", "min", "max", "argmin", "any", "all", "prod"):
        got = getattr(np, name)(x, axis=1)
        assert isinstance(got, GPUArray)
        same(got, getattr(np, name)(a, axis=1), exact=False)
    same(np.mean(x, axis=0, keepdims=True), a.mean(0, keepdims=True), exact=False)
    same(np.std(x, ddof=1), a.std(ddof=1), exact=False)
    same(np.where(x > 0, x, 0), np.where(a > 0, a, 0))
    same(np.concatenate([x, x]), np.concatenate([a, a]))
    same(np.ravel(x.T), a.T.ravel())
    same(np.reshape(x.T, (2, 21)), a.T.reshape(2, 21))
    assert np.shape(x) == (6, 7)
    assert np.array_equal(x, x)
    with pytest.raises(TypeError):
        np.roots(x)


def test_host_arrays_are_refused(ctx):
    with pytest.raises(TypeError, match="to_gpu"):
        gpuarray.sum(np.ones(3))
    with pytest.raises(TypeError, match="float3|V12|x"):
        gpuarray.sum(gpuarray.zeros(3, gpuarray.vec.float3))


def test_one_allocation_where_one_block_does(ctx):
    asked = []

    def allocate(size):
        asked.append(size)
        return drv.mem_alloc(size)

    gpuarray.sum(to_gpu(np.ones(2048, np.float32)), allocator=allocate)
    assert len(asked) == 1


def test_on_a_stream(ctx):
    stream = drv.Stream()
    x = to_gpu(np.ones(10_000, np.float32))
    result = gpuarray.sum(x, stream=stream)
    stream.synchronize()
    assert result.get() == 10_000
