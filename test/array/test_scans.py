"""Compare cumulative operations along an axis with NumPy."""

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.gpuarray import GPUArray, to_gpu
from pycuda.scan import InclusiveScanKernel
from pycuda.tools import DeviceMemoryPool
from support.arrays import COMPLEX, DTYPES, same, sample

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

#: (shape, axis): short, long and single lines, lines side by side, both in blocks of
#: their own and with look-back, which begins at a few thousand elements.
SHAPES = [
    ((1,), 0),
    ((33,), 0),
    ((8192,), 0),
    ((100_001,), 0),
    ((500, 16), 1),
    ((500, 17), -1),
    ((70, 129), 1),
    ((9, 4099), 1),
    ((3, 40_000), 1),
    ((500, 16), 0),
    ((20_000, 3), 0),
    ((5, 300), 0),
    ((300, 300), 0),
    ((2, 5000, 4), 1),
    ((4, 3, 100), 1),
    ((2, 1, 3), 1),
    ((3, 5, 7), 0),
]

EMPTY = [((0,), 0), ((0, 4), 0), ((0, 4), 1), ((4, 0), 0), ((4, 0), 1)]


def small(dtype, shape):
    """Return small integers of a dtype, whose sums are exact."""
    values = np.random.default_rng(1).integers(0, 3, shape) - 1
    if np.dtype(dtype).kind in "ub":
        values = abs(values)
    return values.astype(dtype)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "float32", "complex128"])
@pytest.mark.parametrize(("shape", "axis"), SHAPES + EMPTY)
def test_sums_along_lines(ctx, dtype, shape, axis):
    a = small(dtype, shape)
    same(gpuarray.cumsum(to_gpu(a), axis), a.cumsum(axis))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(ctx, dtype):
    for shape, axis in [((40, 16), 1), ((40, 16), 0), ((500,), 0), ((1200, 3), 0)]:
        a = small(dtype, shape)
        if a.dtype == np.float16 and shape[axis] > 500:
            continue  # NumPy rounds each sum
        x = to_gpu(a)
        same(gpuarray.cumsum(x, axis), a.cumsum(axis))
        same(gpuarray.cumprod(x, axis), a.cumprod(axis))
        same(gpuarray.cummax(x, axis), np.maximum.accumulate(a, axis))
        same(gpuarray.cummin(x, axis), np.minimum.accumulate(a, axis))


VIEWS = {
    "steps": lambda a: a[::2, ::3],
    "backwards": lambda a: a[::-1, ::-1],
    "transposed": lambda a: a.T,
    "inner": lambda a: a[3:-2, 5:-1],
    "repeated": lambda a: a[:, None, :1] + 0 if a.ndim == 1 else a[:, :1],
    "three axes": lambda a: a.reshape(12, 10, 50).transpose(1, 0, 2)[::3],
}


@pytest.mark.parametrize("view", VIEWS)
def test_views(ctx, view):
    a = small("int32", (120, 50))
    v, x = VIEWS[view](a), VIEWS[view](to_gpu(a))
    for axis in (None, *range(-1, v.ndim)):
        same(gpuarray.cumsum(x, axis), v.cumsum(axis))
        same(gpuarray.cummax(x, axis), np.maximum.accumulate(v.ravel(), 0)
             if axis is None else np.maximum.accumulate(v, axis))  # fmt: skip


def test_broadcast_input(ctx):
    x, a = to_gpu(np.arange(5)), np.arange(5)
    same(np.cumsum(np.broadcast_to(x, (4, 5)), 0), np.broadcast_to(a, (4, 5)).cumsum(0))
    same(np.cumsum(np.broadcast_to(x, (4, 5)), 1), np.broadcast_to(a, (4, 5)).cumsum(1))


@pytest.mark.parametrize("shape", [2_200_000, (1_100_000, 2)])
def test_lines_of_many_windows(ctx, shape):
    a = small("complex128", shape)
    same(gpuarray.cumsum(to_gpu(a), 0), a.cumsum(0))


def test_kernels_of_programs_over_many_windows(ctx):
    a = small("complex128", 2_200_000)
    kernel = InclusiveScanKernel(np.complex128, "a + b")
    for _ in range(2):  # the second call runs no Python
        same(kernel(to_gpu(a)), a.cumsum())


def test_special_values(ctx):
    a = np.array([1, np.inf, 2, -np.inf, 3, np.nan, 4], np.float32)
    for b in (a, a[:5], a[::-1].copy(), np.stack([a, a[::-1]]), np.stack([a, a]).T):
        x = to_gpu(b)
        for axis in range(b.ndim):
            same(gpuarray.cumsum(x, axis), b.cumsum(axis))
            same(gpuarray.cumprod(x, axis), b.cumprod(axis))
            same(gpuarray.cummax(x, axis), np.maximum.accumulate(b, axis))
            same(gpuarray.cummin(x, axis), np.minimum.accumulate(b, axis))
            same(np.fmax.accumulate(x, axis), np.fmax.accumulate(b, axis))


@pytest.mark.parametrize("shape", [(70_001,), (30, 1000), (4000, 7)])
def test_results_are_the_same_each_time(ctx, shape):
    a = np.random.default_rng(2).standard_normal(shape).astype(np.float32)
    x = to_gpu(a)
    for axis in range(a.ndim):
        first = gpuarray.cumsum(x, axis).get()
        np.testing.assert_allclose(first, a.cumsum(axis, float), rtol=1e-3, atol=1e-3)
        for _ in range(3):
            assert np.array_equal(gpuarray.cumsum(x, axis).get(), first)


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex128", "int32"])
def test_not_a_number_is_left_out(ctx, dtype):
    a = small(dtype, (30, 9))
    if a.dtype.kind != "i":
        a[::3, ::2] = np.nan
    x = to_gpu(a)
    for axis in (None, 0, 1):
        for name in ("nancumsum", "nancumprod"):
            want = getattr(np, name)(a, axis)
            same(getattr(gpuarray, name)(x, axis), want)
            same(getattr(np, name)(x, axis), want)


def test_half_precision_is_rounded_once(ctx):
    a = np.full(3000, 0.1, np.float16)
    want = a.astype(np.float64).cumsum()
    got = gpuarray.cumsum(to_gpu(a)).get()
    assert got.dtype == np.float16
    np.testing.assert_allclose(got, want, rtol=1e-3)


UFUNCS = [np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin]
UFUNCS += [np.logical_and, np.logical_or, np.logical_xor]
BITS = [np.bitwise_and, np.bitwise_or, np.bitwise_xor]


def ask(x, ufunc, **kwargs):
    """Call __array_ufunc__ as NumPy does. NumPy keeps what a failed call was given."""
    return x.__array_ufunc__(ufunc, "accumulate", x, **kwargs)


@pytest.mark.parametrize("ufunc", UFUNCS + BITS, ids=lambda u: u.__name__)
def test_accumulate(ctx, ufunc):
    for dtype in ("bool", "uint8", "int32", "float32"):
        a = small(dtype, (6, 9))
        if ufunc in BITS and a.dtype.kind == "f":
            with pytest.raises(TypeError, match="float32"):
                ask(to_gpu(a), ufunc)
            continue
        for axis in (0, 1, -1):
            same(ufunc.accumulate(to_gpu(a), axis), ufunc.accumulate(a, axis))


def test_dtype(ctx):
    a = np.array([[1.5, 2.5, -3.5], [100, 200, 300]])
    x = to_gpu(a)
    for dtype in ("float32", "int32", "int8", "complex64", "float16"):
        same(gpuarray.cumsum(x, 1, dtype), a.cumsum(1, np.dtype(dtype)))
    b = np.array([0, 3, 0, 5])
    same(gpuarray.cumsum(to_gpu(b), dtype=bool), b.cumsum(dtype=bool))


def test_out(ctx):
    a = small("int32", (40, 30))
    x = to_gpu(a)
    out = GPUArray((40, 30), np.int64)
    assert gpuarray.cumsum(x, 1, out=out) is out
    same(out, a.cumsum(1))
    wide = gpuarray.zeros((80, 60), np.int64)
    gapped = wide[::2, ::-2]
    assert np.cumsum(x, 0, out=gapped) is gapped
    same(gapped, a.cumsum(0))
    assert wide.get()[1::2].any() == 0
    # without a dtype the sums have that of out, as in NumPy
    f = np.full(1000, 0.1, np.float32)
    out = GPUArray(1000, np.float64)
    gpuarray.cumsum(to_gpu(f), out=out)
    np.testing.assert_allclose(out.get(), f.cumsum(dtype=float), rtol=1e-12)


@pytest.mark.parametrize("shape", [(300,), (20_000,), (60, 16), (300, 4), (3, 9000)])
def test_out_that_shares_memory(ctx, shape):
    a = small("int64", shape)
    for axis in range(a.ndim):
        x = to_gpu(a)
        gpuarray.cumsum(x, axis, out=x)
        same(x, a.cumsum(axis))
        both = np.concatenate([a, a])
        y = to_gpu(both)
        shift = len(a) // 3
        gpuarray.cumsum(y[: len(a)], axis, out=y[shift : shift + len(a)])
        both[shift : shift + len(a)] = a.cumsum(axis)
        same(y, both)
        z = to_gpu(a)
        gpuarray.cumsum(z[::-1], axis, out=z)
        same(z, a[::-1].cumsum(axis))


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
@pytest.mark.skipif(not hasattr(np, "cumulative_sum"), reason="NumPy before 2.1")
def test_functions_of_the_standard(ctx, name):
    ours, theirs = getattr(gpuarray, name), getattr(np, name)
    for shape in [(5,), (40, 16), (16, 40), (3000, 2), (0,), (2, 0, 3), ()]:
        a = small("int16", shape)
        x = to_gpu(a)
        for axis in [None, *range(-a.ndim, a.ndim)]:
            if axis is None and a.ndim > 1:
                for function, array in ((ours, x), (theirs, a)):
                    with pytest.raises(ValueError, match="axis"):
                        function(array)
                continue
            for initial in (False, True):
                want = theirs(a, axis=axis, include_initial=initial)
                same(ours(x, axis=axis, include_initial=initial), want)
                out = GPUArray(want.shape, want.dtype)
                got = theirs(x, axis=axis, include_initial=initial, out=out)
                assert got is out
                same(out, want)


def test_what_is_wrong_is_named(ctx):
    x = to_gpu(np.ones((3, 4), np.float32))
    for call, error, text in [
        (lambda: gpuarray.cumsum(x, 2), ValueError, "axis 2 .* 2 axes"),
        (lambda: gpuarray.cumsum(x, -3), ValueError, "axis -3"),
        (lambda: gpuarray.cumsum(x, 0.5), TypeError, "axis"),
        (lambda: gpuarray.cumsum(np.ones(3)), TypeError, "cumsum .* to_gpu"),
        (lambda: gpuarray.cumsum([1]), TypeError, "cumsum .* list"),
        (lambda: gpuarray.cumsum(x, out=np.ones(12)), TypeError, "out .*ndarray"),
        (
            lambda: gpuarray.cumsum(x, 0, out=GPUArray((4, 3), np.float32)),
            ValueError,
            r"\(3, 4\).*\(4, 3\)",
        ),
        (
            lambda: gpuarray.cumulative_sum(x, 0, None, x, True),
            ValueError,
            r"\(4, 4\).*\(3, 4\)",
        ),
        (
            lambda: gpuarray.cumsum(GPUArray(3, [("a", "i4")])),
            TypeError,
            "cumsum .* dtype",
        ),
        (lambda: ask(x, np.add, axis=None), ValueError, "one axis"),
        (lambda: ask(x[0, 0], np.add), TypeError, "axes"),
    ]:
        with pytest.raises(error, match=text):
            call()


def test_results_keep_allocator_and_stream(ctx):
    pool = DeviceMemoryPool()
    x = to_gpu(np.arange(9000), pool.allocate)
    stream = drv.Stream()
    got = gpuarray.cumsum(x, stream=stream)
    stream.synchronize()
    assert got.allocator == pool.allocate
    same(got, np.arange(9000).cumsum())
    del got, x
    pool.stop_holding()


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_complex_extremes_are_ordered_by_real_part(ctx, dtype):
    a = sample(dtype, (50, 6))
    for axis in (0, 1):
        same(gpuarray.cummax(to_gpu(a), axis), np.maximum.accumulate(a, axis))
