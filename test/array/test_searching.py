"""searchsorted, digitize, bincount and the histograms against NumPy."""

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.gpuarray import GPUArray, to_gpu

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

REAL = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]


def numbers(shape, dtype, seed=0, scale=40):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape) * scale
    dtype = np.dtype(dtype)
    if dtype.kind == "u":
        values = abs(values)
    if dtype.kind == "c":
        values = values + 1j * rng.integers(-2, 3, shape)
    return values.astype(dtype)


def equal(ours, theirs):
    assert isinstance(ours, GPUArray)
    np.testing.assert_array_equal(ours.get(), theirs)
    assert ours.dtype == theirs.dtype


# -- searchsorted ----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*REAL, "c8", "c16"])
def test_searchsorted(ctx, dtype):
    values = numbers((7, 40), dtype, 1)
    v = to_gpu(values)
    for length in (0, 1, 2, 5, 64, 1001):
        a = np.sort(np.round(numbers(length, dtype)))
        x = to_gpu(a)
        for side in ("left", "right"):
            equal(gpuarray.searchsorted(x, v, side), np.searchsorted(a, values, side))
        equal(x.searchsorted(v), a.searchsorted(values))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("i4", "f4"),
        ("f8", "i2"),
        ("i8", "u8"),
        ("u1", "i1"),
        ("f2", "i4"),
        ("f4", "c8"),
    ],
)
def test_searchsorted_in_the_common_dtype(ctx, first, second):
    a, values = np.sort(numbers(300, first)), numbers(200, second, 1)
    equal(
        np.searchsorted(to_gpu(a), to_gpu(values), "right"),
        np.searchsorted(a, values, "right"),
    )


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
def test_searchsorted_with_nan_and_infinity(ctx, dtype):
    a = numbers(60, dtype)
    a[::7], a[1::9], a[2::11] = np.nan, np.inf, -np.inf
    if a.dtype.kind == "c":
        a[3::8] = complex(2, np.nan)
        a[4::8] = complex(np.nan, 3)
    values = np.concatenate([a, numbers(30, dtype, 1)])
    a = np.sort(a)
    for side in ("left", "right"):
        equal(
            gpuarray.searchsorted(to_gpu(a), to_gpu(values), side),
            np.searchsorted(a, values, side),
        )


def test_searchsorted_with_a_sorter_and_views(ctx):
    a, values = numbers(500, "f4"), numbers((30, 20), "f4", 1)
    order = np.argsort(a)
    x, v = to_gpu(a), to_gpu(values)
    for kind in ("i8", "i4", "u2"):
        for side in ("left", "right"):
            equal(
                gpuarray.searchsorted(x, v, side, to_gpu(order.astype(kind))),
                np.searchsorted(a, values, side, order),
            )
    up = np.sort(a)
    x = to_gpu(up)
    equal(
        gpuarray.searchsorted(x[::3], v[::2, ::-1]),
        np.searchsorted(up[::3], values[::2, ::-1]),
    )
    equal(gpuarray.searchsorted(x, v.T), np.searchsorted(up, values.T))
    equal(
        gpuarray.searchsorted(to_gpu(up[::-1].copy())[::-1], v),
        np.searchsorted(up, values),
    )
    equal(gpuarray.searchsorted(x, v[:0]), np.searchsorted(up, values[:0]))


def test_searchsorted_of_numbers(ctx):
    a = np.sort(numbers(50, "f4"))
    x = to_gpu(a)
    for value in (3, -1.5, True, np.float64(2), np.nan):
        result = gpuarray.searchsorted(x, value, side="right")
        assert result.shape == ()
        assert result.get() == np.searchsorted(a, value, "right")
        assert x.searchsorted(value).get() == a.searchsorted(value)


def test_many_values(ctx):
    a, values = np.sort(numbers(3000, "i4")), numbers(150_000, "i4", 1)
    equal(gpuarray.searchsorted(to_gpu(a), to_gpu(values)), np.searchsorted(a, values))


@pytest.mark.parametrize("dtype", ["i1", "f4", "f8", "c16"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_many_values_in_many_elements(ctx, dtype, side):
    """Large blocks keep every n-th element; the last run of elements is shorter."""
    values = numbers(70_001, dtype, scale=1e4 if dtype != "i1" else 40)
    for length in (1025, 9000):
        ordered = numbers(length, dtype, 1, 1e4 if dtype != "i1" else 40)
        if ordered.dtype.kind != "i":
            ordered[:9] = np.nan
            values[::100] = np.nan
        ordered.sort()
        got = gpuarray.searchsorted(to_gpu(ordered), to_gpu(values), side)
        equal(got, np.searchsorted(ordered, values, side))


def test_bad_searches(ctx):
    x = to_gpu(np.arange(6.0))
    with pytest.raises(ValueError, match="'left' or 'right', not 'middle'"):
        gpuarray.searchsorted(x, x, "middle")
    with pytest.raises(ValueError, match="one axis, not 2"):
        gpuarray.searchsorted(x.reshape(2, 3), x)
    with pytest.raises(ValueError, match="sorter has 2 elements.*6"):
        gpuarray.searchsorted(x, x, sorter=to_gpu(np.arange(2)))
    with pytest.raises(TypeError, match="sorter must hold integers, not float64"):
        gpuarray.searchsorted(x, x, sorter=x)
    with pytest.raises(TypeError, match="to_gpu"):
        gpuarray.searchsorted(x, np.arange(3))
    with pytest.raises(TypeError, match="GPUArray"):
        gpuarray.searchsorted([1, 2], x)


# -- digitize --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", REAL)
def test_digitize(ctx, dtype):
    a = numbers((9, 30), dtype)
    x = to_gpu(a)
    rising = np.array([-50.5, -10, 0, 0, 3, 20, 20.25])
    for bins in (rising, rising[::-1].copy(), rising[:1], rising.astype("i4")):
        for right in (False, True):
            expected = np.digitize(a, bins, right)
            equal(gpuarray.digitize(x, to_gpu(bins), right), expected)
            equal(gpuarray.digitize(x, bins.tolist(), right), expected)
            equal(np.digitize(x, to_gpu(bins), right=right), expected)


def test_bad_bins_of_digitize(ctx):
    x = to_gpu(numbers(6, "f4"))
    with pytest.raises(ValueError, match="monotonically"):
        gpuarray.digitize(x, [0, 2, 1])
    with pytest.raises(ValueError, match="one axis"):
        gpuarray.digitize(x, [[0, 2]])
    with pytest.raises(TypeError, match="complex"):
        gpuarray.digitize(x.astype(np.complex64), to_gpu(np.arange(3.0)))
    assert gpuarray.digitize(1.5, [0, 1, 2]).get() == 2


# -- bincount --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8"])
def test_bincount(ctx, dtype):
    a = abs(numbers(3001, dtype))
    weights = numbers(3001, "f8", 1)
    x = to_gpu(a)
    equal(gpuarray.bincount(x), np.bincount(a))
    equal(gpuarray.bincount(x[1::2], minlength=300), np.bincount(a[1::2], None, 300))
    for kind in ("f8", "f4", "i4", "?"):
        w = weights.astype(kind)
        result = gpuarray.bincount(x, to_gpu(w), 7)
        np.testing.assert_allclose(result.get(), np.bincount(a, w, 7), 1e-12, 1e-10)
        assert result.dtype == np.float64


@pytest.mark.parametrize("bins", [1, 40, 5000, 13_000, 60_000])
def test_any_number_of_bins(ctx, bins):
    a = np.random.default_rng(3).integers(0, bins, 70_000)
    weights = np.random.default_rng(4).integers(-9, 9, 70_000)
    x = to_gpu(a)
    equal(gpuarray.bincount(x), np.bincount(a))
    equal(np.bincount(x, weights=to_gpu(weights)), np.bincount(a, weights))


@pytest.mark.parametrize(
    ("dtype", "length"), [("u1", 256), ("?", 2), ("u2", 1 << 16), ("u1", 300)]
)
def test_bincount_of_few_numbers_does_not_wait(ctx, dtype, length):
    values = np.arange(200).astype(dtype)
    x = to_gpu(values)
    gpuarray.bincount(x, minlength=length)
    with drv.Stream().capture() as graph:
        counts = gpuarray.bincount(x, minlength=length)
    graph.instantiate().launch()
    assert np.array_equal(counts.get(), np.bincount(values, minlength=length))


@pytest.mark.parametrize(("dtype", "length"), [("u1", 255), ("i1", 256)])
def test_bincount_waits_for_other_numbers(ctx, dtype, length):
    x = to_gpu(np.arange(100).astype(dtype))
    with pytest.raises(drv.LogicError), drv.Stream().capture():
        gpuarray.bincount(x, minlength=length)


def test_bincount_of_nothing_and_bad_arguments(ctx):
    equal(gpuarray.bincount(to_gpu(np.zeros(0, "i4")), minlength=4), np.zeros(4, "i8"))
    equal(gpuarray.bincount(to_gpu(np.zeros(0, "i4"))), np.zeros(0, "i8"))
    x = to_gpu(np.arange(6))
    with pytest.raises(ValueError, match="negative elements, as -3"):
        gpuarray.bincount(to_gpu(np.array([1, -3, 2], "i2")))
    with pytest.raises(ValueError, match="one axis"):
        gpuarray.bincount(x.reshape(2, 3))
    with pytest.raises(ValueError, match=r"\(6,\).*\(5,\)"):
        gpuarray.bincount(x, x[:5])
    with pytest.raises(ValueError, match="minlength"):
        gpuarray.bincount(x, minlength=-1)
    for dtype in (np.float32, np.uint64):
        with pytest.raises(TypeError, match=np.dtype(dtype).name):
            gpuarray.bincount(x.astype(dtype))
    with pytest.raises(TypeError, match="complex64"):
        gpuarray.bincount(x, x.astype(np.complex64))
    with pytest.raises(TypeError, match="to_gpu"):
        gpuarray.bincount(np.arange(3))


# -- histograms ------------------------------------------------------------------------


def same_histogram(x, a, *args, **kwargs):
    """Compare with NumPy; arrays among the arguments are copied to the device."""
    ours = {k: to_gpu(v) if k == "weights" else v for k, v in kwargs.items()}
    counts, edges = np.histogram(x, *args, **ours)
    expected, expected_edges = np.histogram(a, *args, **kwargs)
    equal(edges, expected_edges)
    assert counts.dtype == expected.dtype
    np.testing.assert_allclose(counts.get(), expected, rtol=1e-6, atol=1e-9)
    if expected.dtype.kind in "iu":
        np.testing.assert_array_equal(counts.get(), expected)
    equal(
        np.histogram_bin_edges(
            x, *args, **({k: v for k, v in ours.items() if k != "density"})
        ),
        expected_edges,
    )


@pytest.mark.parametrize("dtype", REAL)
def test_histogram(ctx, dtype):
    a = numbers((50, 41), dtype)
    x = to_gpu(a)
    same_histogram(x, a)
    same_histogram(x, a, 37)
    same_histogram(x, a, 7, (-3.7, 22.2))
    same_histogram(x, a, [-20, -3.5, 0, 0, 1, 40])
    same_histogram(x, a, np.array([1, 2, 5]))
    same_histogram(x, a, 5, density=True)
    same_histogram(x, a, [0, 1, 10], density=True)
    same_histogram(x[::2, ::-1], a[::2, ::-1], 11)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "c8"])
def test_weighted_histograms(ctx, dtype):
    a, weights = numbers(2000, "f4"), numbers(2000, dtype, 1)
    x = to_gpu(a)
    for bins in (10, [-30.0, 0.0, 4.0, 90.0], 9000):
        ours, _ = gpuarray.histogram(x, bins, weights=to_gpu(weights))
        theirs, _ = np.histogram(a, bins, weights=weights)
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours.get(), theirs, rtol=1e-4, atol=1e-3)


def test_values_on_the_edges(ctx):
    for dtype in (np.float32, np.float64):
        edges = np.linspace(-1, 1, 101).astype(dtype)
        a = np.concatenate(
            [edges, np.nextafter(edges, dtype(2)), np.nextafter(edges, dtype(-2))]
        )
        x = to_gpu(a)
        for range in ((-1, 1), (-0.1, 0.7), None):
            for bins in (3, 10, 100, 1000):
                same_histogram(x, a, bins, range)
        same_histogram(x, a, edges)


def test_values_that_are_not_finite(ctx):
    a = numbers(500, "f4")
    a[::9], a[1::9], a[2::9] = np.nan, np.inf, -np.inf
    x = to_gpu(a)
    same_histogram(x, a, 8, (-5, 5))
    same_histogram(x, a, [-5, 0, 5])
    with pytest.raises(ValueError, match="not finite"):
        gpuarray.histogram(x)


def test_other_arguments_of_histogram(ctx):
    a = numbers(300, "f4")
    x = to_gpu(a)
    edges = np.array([-30, -1, 0, 50], "f4")
    counts, result = gpuarray.histogram(x, to_gpu(edges))
    equal(counts, np.histogram(a, edges)[0])
    equal(result, edges)
    same_histogram(x[:0], a[:0])
    same_histogram(x[:1], a[:1])
    for rule in ("sqrt", "sturges", "rice", "scott", "doane", "fd", "auto"):
        same_histogram(x, a, rule)
        same_histogram(x, a, rule, (-20, 70))
        equal(
            gpuarray.histogram_bin_edges(to_gpu(np.arange(90)), rule),
            np.histogram_bin_edges(np.arange(90), rule),
        )
    for bad, message in (
        ({"bins": [0, 2, 1]}, "monotonically"),
        ({"bins": to_gpu(np.array([0.0, 2, 1]))}, "monotonically"),
        ({"bins": 0}, "positive"),
        ({"range": (2, 1)}, "larger"),
        ({"range": (0, np.inf)}, "finite"),
        ({"bins": [[0, 1]]}, "one axis"),
        ({"weights": x[:4]}, r"\(300,\).*\(4,\)"),
        ({"bins": "best"}, "best"),
    ):
        with pytest.raises(ValueError, match=message):
            gpuarray.histogram(x, **bad)
    with pytest.raises(TypeError, match="complex64"):
        gpuarray.histogram(x.astype(np.complex64))
    with pytest.raises(TypeError, match="to_gpu"):
        gpuarray.histogram(a)
