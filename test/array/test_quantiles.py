"""Compare medians, quantiles and percentiles with NumPy."""

import numpy as np
import pytest

from pycuda import gpuarray
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
            same(got, np.quantile(host, q, axis=0, method=method), False)
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
    with pytest.raises(ValueError, match="range"):
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
