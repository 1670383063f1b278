"""Compare medians, quantiles and percentiles with NumPy."""

import numpy as np
import pytest

from pycuda import driver as drv, gpuarray
from pycuda.gpuarray import GPUArray, to_gpu
from support.arrays import same

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

METHODS = [
    *("linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf"),
    *("averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf"),
    *("hazen", "weibull", "median_unbiased", "normal_unbiased"),
]


def numbers(dtype, shape, nans=0.0, seed=0):
    rng = np.random.default_rng(seed)
    host = rng.integers(0, 50, shape).astype(dtype)
    if host.dtype.kind in "fc":
        host[rng.random(shape) < nans] = np.nan
    return host


@pytest.mark.parametrize("dtype", ["int8", "uint32", "float32", "float64"])
@pytest.mark.parametrize("method", METHODS)
def test_methods(ctx, dtype, method):
    for shape, nans in (((9, 4), 0.1), ((8, 2), 0), ((1, 3), 0)):
        host = numbers(dtype, shape, nans)
        x = to_gpu(host)
        for q in (0.3, 1, [0, 0.25, 0.5, 1.0], np.array([[0.1], [0.9]])):
            got = np.quantile(x, q, axis=0, method=method)
            assert isinstance(got, GPUArray)
            # Older versions of NumPy take elements as they are if q is an integer.
            number = float(q) if isinstance(q, int) and method != "linear" else q
            same(got, np.quantile(host, number, axis=0, method=method), False)
        if host.dtype.kind == "f":
            got = np.nanquantile(x, [0.2, 0.5], axis=0, method=method)
            same(got, np.nanquantile(host, [0.2, 0.5], 0, method=method), False)


@pytest.mark.parametrize("name", ["median", "nanmedian"])
@pytest.mark.parametrize("dtype", ["bool", "int16", "float16", "float32", "complex64"])
def test_medians(ctx, name, dtype):
    function = getattr(np, name)
    for shape, nans in (((5, 6, 3), 0.0), ((5, 6, 4), 0.1), ((4, 1), 1.0)):
        host = numbers(dtype, shape, nans)
        x = to_gpu(host)
        for axis in (None, 0, -1, (0, 1)):
            for keepdims in (False, True):
                got = function(x, axis=axis, keepdims=keepdims)
                same(got, function(host, axis=axis, keepdims=keepdims))


def test_percentiles(ctx):
    host = numbers(np.float32, (6, 5, 4), 0.05)
    x = to_gpu(host)
    for q in (30, 12.5, [10, 50, 99]):
        for axis in (None, 1, (0, 2)):
            for keepdims in (False, True):
                keywords = {"axis": axis, "keepdims": keepdims}
                for name in ("percentile", "nanpercentile"):
                    function = getattr(np, name)
                    same(
                        function(x, q, **keywords), function(host, q, **keywords), False
                    )


def test_lists_of_axes(ctx):
    host = numbers(np.float32, (6, 5, 4))
    x = to_gpu(host)
    weights = to_gpu(np.ones((6, 5, 4)))
    for axis in ([1], [0, -1], []):
        same(np.median(x, axis=axis), np.median(host, axis=axis))
        for name in ("quantile", "nanpercentile"):
            function = getattr(np, name)
            same(function(x, [0.3, 1], axis), function(host, [0.3, 1], axis), False)
        keywords = {"axis": axis, "method": "inverted_cdf"}
        got = np.quantile(x, 0.3, weights=weights, **keywords)
        same(got, np.quantile(host, 0.3, **keywords))
    with pytest.raises(ValueError, match="twice"):
        np.median(x, axis=[0, 0])
    with pytest.raises(TypeError, match="integer, not list"):
        np.sum(x, axis=[0, 1])  # NumPy's reductions take no list


def test_results_in_out(ctx):
    host = numbers(np.float64, (4, 9))
    out = gpuarray.empty(4, np.float64)
    assert np.median(to_gpu(host), axis=1, out=out) is out
    same(out, np.median(host, axis=1))
    assert np.quantile(to_gpu(host), 0.3, axis=1, out=out) is out
    same(out, np.quantile(host, 0.3, axis=1))


def test_lines_without_elements(ctx):
    empty = gpuarray.empty((3, 0), np.float32)
    same(np.median(empty, axis=1), np.full(3, np.nan, np.float32))
    same(gpuarray.nanmedian(empty, axis=1), np.full(3, np.nan, np.float32))
    same(gpuarray.nanquantile(empty, 0.5, axis=1), np.full(3, np.nan, np.float32))
    with pytest.raises(ValueError, match=r"\(3, 0\) have no elements"):
        gpuarray.quantile(empty, 0.5, axis=1)


def test_bad_arguments(ctx):
    x = gpuarray.zeros((3, 4), np.float32)
    with pytest.raises(ValueError, match=r"range \[0, .*, but one is \S+$"):
        gpuarray.quantile(x, 1.5)
    with pytest.raises(ValueError, match="method is one of"):
        gpuarray.quantile(x, 0.5, method="best")
    with pytest.raises(ValueError, match="weights"):
        gpuarray.percentile(x, 50, weights=[1, 2])
    with pytest.raises(ValueError, match="weights"):
        gpuarray.nanpercentile(x, 50, weights=[1, 2])
    with pytest.raises(TypeError, match="real numbers, not complex64"):
        gpuarray.quantile(x.astype(np.complex64), 0.5)
    with pytest.raises(TypeError, match="q must be real"):
        gpuarray.quantile(x, 1j)
    with pytest.raises(ValueError, match="twice"):
        gpuarray.median(x, axis=(0, 0))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float64"])
@pytest.mark.parametrize("length", [1, 2, 5, 16, 33, 255, 257, 700])
def test_lengths(ctx, dtype, length):
    """Each length has its kernel: some lanes, or a sort and a second kernel."""
    host = numbers(dtype, (3, length), 0.01)
    host[0] = 1
    x = to_gpu(host)
    for name in ("median", "nanmedian"):
        function = getattr(np, name)
        same(function(x, axis=1), function(host, axis=1))
    for method in ("lower", "nearest", "inverted_cdf"):
        q = [0.0, 0.31, 0.77, 1.0]
        got = np.quantile(x, q, axis=1, method=method)
        same(got, np.quantile(host, q, axis=1, method=method))


def test_a_block_of_lines(ctx):
    host = numbers(np.float32, (200, 16), 0.02)
    x = to_gpu(host)
    same(np.median(x, axis=1), np.median(host, axis=1))
    same(np.nanmedian(x, axis=1), np.nanmedian(host, axis=1))
    same(np.quantile(x, 0.3, axis=1), np.quantile(host, 0.3, axis=1), False)


@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_many_quantiles(ctx, name):
    function = getattr(np, name)
    for shape in ((2, 7), (2, 300)):
        host = numbers(np.float64, shape)
        q = np.linspace(0, 1, 71).reshape(1, 71)
        same(function(to_gpu(host), q, axis=1), function(host, q, axis=1), False)


def test_layouts(ctx):
    host = numbers(np.float32, (6, 7, 8))
    x = to_gpu(host)
    views = [
        (x[::2, ::-1], host[::2, ::-1]),
        (x.transpose((2, 0, 1)), host.transpose((2, 0, 1))),
        (to_gpu(np.asfortranarray(host)), host),
        (x[1:, 2], host[1:, 2]),
        (gpuarray.broadcast_to(x[0], (3, 7, 8)), np.broadcast_to(host[0], (3, 7, 8))),
    ]
    for a, b in views:
        for axis in (None, 0, 1, (0, 1), (-1, 0)):
            same(np.median(a, axis=axis), np.median(b, axis=axis))
            got = np.quantile(a, [0.1, 0.9], axis=axis, keepdims=True)
            same(got, np.quantile(b, [0.1, 0.9], axis=axis, keepdims=True), False)


def test_dtypes_of_q(ctx):
    for dtype in (np.int32, np.float32, np.float64):
        host = numbers(dtype, 11)
        x = to_gpu(host)
        for q in (
            *(0, 1, 0.5, np.float32(0.3), np.float64(0.3), np.int64(1)),
            *(np.array([0.1, 0.2], np.float32), [0, 1]),
        ):
            # A float64 widens; older versions of NumPy take it as a Python float.
            wide = host.astype(np.float64) if type(q) is np.float64 else host
            same(np.quantile(x, q), np.quantile(wide, q), False)
        got = gpuarray.quantile(x, to_gpu(np.array([0.25, 0.5])))
        same(got, np.quantile(host, [0.25, 0.5]), False)
        q = np.array([12.5, 50], np.float32)
        same(np.percentile(x, q), np.percentile(host, q), False)


def test_half_precision(ctx):
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    host = numbers(np.float32, (4, 9))
    host[1, 3] = np.nan
    x = to_gpu(host.astype(bfloat16))
    got = gpuarray.median(x, axis=1).get()
    assert got.dtype == bfloat16
    np.testing.assert_array_equal(got.astype(np.float32), np.median(host, axis=1))
    got = gpuarray.quantile(x, 0.25, axis=1).get().astype(np.float32)
    np.testing.assert_allclose(got, np.quantile(host, 0.25, axis=1), rtol=0.01)


def test_infinities(ctx):
    host = np.array([[-np.inf, 1, 2, np.inf], [np.inf, np.inf, 3, 4]], np.float32)
    x = to_gpu(host)
    same(np.median(x, axis=1), np.median(host, axis=1))
    same(
        np.quantile(x, [0, 1], axis=1, method="lower"),
        np.quantile(host, [0, 1], 1, method="lower"),
    )


def test_streams(ctx):
    stream = drv.Stream()
    host = numbers(np.float32, (5, 20))
    x = gpuarray.to_gpu_async(host, stream=stream)
    got = gpuarray.median(x, 1, stream=stream)
    assert (got.get_async(stream) is not None) and stream.synchronize() is None
    same(got, np.median(host, axis=1))


def test_an_axis_that_is_not_there(ctx):
    x = gpuarray.zeros((3, 4), np.float32)
    for function in (gpuarray.median, lambda x, axis: gpuarray.quantile(x, 0.5, axis)):
        for axis in (2, -3, (0, 5)):
            with pytest.raises(
                np.exceptions.AxisError, match="is not one of the 2 axes"
            ):
                function(x, axis=axis)
    with pytest.raises(TypeError, match="takes a GPUArray, not numpy.ndarray; copy"):
        gpuarray.median(np.zeros(3))
    with pytest.raises(ValueError, match="the result has shape"):
        gpuarray.median(x, 0, out=gpuarray.empty(3, np.float32))


# -- weights ---------------------------------------------------------------------------


def one_axis(a, axes):
    """Return the array with its axes joined to one, the last."""
    axes = range(a.ndim) if axes is None else np.atleast_1d(axes)
    a = np.moveaxis(a, axes, range(-len(axes), 0))
    return a.reshape(*a.shape[: a.ndim - len(axes)], -1)


@pytest.mark.parametrize("dtype", ["int16", "float32", "float64"])
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_weights(ctx, dtype, name):
    function = getattr(np, name)
    for shape, axis, nans in (
        ((7,), None, 0),
        ((5, 6), 1, 0),
        ((4, 3, 5), (0, 2), 0.1),
    ):
        host = numbers(dtype, shape, nans)
        x = to_gpu(host)
        weights = np.random.default_rng(1).integers(0, 5, shape)
        weights[host == host.max()] = 3
        for q in (0, 0.3, [0.0, 0.5, 1.0], np.array([[0.25], [0.75]])):
            got = function(x, q, axis, weights=to_gpu(weights), method="inverted_cdf")
            assert isinstance(got, GPUArray)
            # Older versions of NumPy mistake the weights of several axes.
            line, line_weights = one_axis(host, axis), one_axis(weights, axis)
            want = function(line, q, -1, weights=line_weights, method="inverted_cdf")
            same(got, want)


def test_weights_along_one_axis(ctx):
    host = numbers(np.float32, (6, 4))
    x = to_gpu(host)
    weights = np.array([1, 0, 2, 5, 0, 1])
    for keepdims in (False, True):
        keywords = {
            "axis": 0,
            "weights": weights,
            "method": "inverted_cdf",
            "keepdims": keepdims,
        }
        want = np.percentile(host, [10, 60], **keywords)
        same(np.percentile(x, [10, 60], **keywords), want)
        same(np.nanpercentile(x, [10, 60], **keywords), want)


def test_bad_weights(ctx):
    x = gpuarray.zeros((3, 4), np.float32)
    with pytest.raises(ValueError, match="need the method 'inverted_cdf'"):
        gpuarray.quantile(x, 0.5, weights=x)
    for bad in (-1, np.nan, 0, np.inf):
        weights = np.full((3, 4), bad, np.float32)
        with pytest.raises(ValueError, match="finite and not negative"):
            gpuarray.quantile(x, 0.5, 1, weights=weights, method="inverted_cdf")
    with pytest.raises(ValueError, match=r"weights have shape \(3,\)"):
        gpuarray.quantile(x, 0.5, 1, weights=[1, 2, 3], method="inverted_cdf")
    with pytest.raises(TypeError, match="need the argument axis"):
        gpuarray.quantile(x, 0.5, weights=[1, 2, 3], method="inverted_cdf")
