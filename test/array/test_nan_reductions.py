"""Reductions of the elements that are not NaN, ptp and average, against NumPy."""

import numpy as np
import pytest

from pycuda import gpuarray
from pycuda.gpuarray import to_gpu

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

NAMES = ["nansum", "nanprod", "nanmin", "nanmax", "nanmean", "nanvar", "nanstd"]
SHAPES = [(4097,), (300, 16), (40, 300), (7, 5, 6)]


def numbers(shape, dtype, holes=True):
    rng = np.random.default_rng(5)
    values = rng.standard_normal(shape) + 1.5
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    if np.dtype(dtype).kind in "iu":
        values *= 3
    values = values.astype(dtype)
    if values.dtype.kind in "fc" and holes:
        values[rng.random(shape) < 0.2] = np.nan
    return values


def close(ours, theirs, rtol):
    theirs = np.asarray(theirs)
    np.testing.assert_allclose(ours.get(), theirs, rtol=rtol, atol=rtol)
    assert ours.dtype == theirs.dtype


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "i4"])
def test_without_nan(ctx, name, dtype):
    rtol = {"f2": 4e-3, "f4": 2e-6, "c8": 2e-6}.get(dtype, 1e-12)
    for shape in SHAPES:
        a = numbers(shape, dtype)
        if name == "nanprod" and a.dtype.kind in "fc":
            a = (a / abs(a)).astype(dtype)
        x = to_gpu(a)
        for axis in (None, *range(a.ndim)):
            wide = a.astype("c16" if dtype == "c8" else "f8" if dtype != "i4" else "i4")
            expected = np.asarray(getattr(np, name)(wide, axis))
            result = getattr(gpuarray, name)(x, axis)
            assert result.dtype == np.asarray(getattr(np, name)(a[:1])).dtype
            if dtype == "f2" and name == "nansum":
                expected = expected.astype("f2")
            np.testing.assert_allclose(result.get(), expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("name", [*NAMES, "nanargmin", "nanargmax"])
def test_numpys_arguments(ctx, name):
    a = numbers((20, 30), "f8")
    a[0, 0] = 1
    x = to_gpu(a)
    function = getattr(np, name)
    for _ in range(2):
        close(function(x, axis=1), function(a, axis=1), 1e-12)
        close(function(x, 0, keepdims=True), function(a, 0, keepdims=True), 1e-12)
    out = gpuarray.empty(30, function(a, 0).dtype)
    assert getattr(gpuarray, name)(x, 0, out=out) is out
    close(out, function(a, 0), 1e-12)


def test_where_initial_dtype_and_ddof(ctx):
    a = numbers((20, 30), "f4")
    mask = np.random.default_rng(1).random((20, 30)) < 0.7
    x, m = to_gpu(a), to_gpu(mask)
    for name in ("nansum", "nanprod", "nanmean", "nanvar", "nanstd"):
        function = getattr(np, name)
        close(function(x, 1, where=m), function(a, 1, where=mask), 1e-5)
    for name in ("nanmin", "nanmax"):
        function = getattr(np, name)
        close(
            function(x, 1, where=m, initial=2), function(a, 1, where=mask, initial=2), 0
        )
    close(np.nansum(x, dtype="f8"), np.nansum(a, dtype="f8"), 1e-12)
    close(np.nanmean(x, 0, "f8"), np.nanmean(a, 0, "f8"), 1e-12)
    wide = a.astype("f8")
    close(np.nanvar(x, 0, "f8", ddof=2), np.nanvar(wide, 0, ddof=2), 1e-12)
    close(
        gpuarray.nanstd(x, ddof=1), np.nanstd(a.astype("f8"), ddof=1).astype("f4"), 1e-5
    )


def test_nothing_but_nan(ctx):
    a = numbers((6, 40), "f4")
    a[2] = np.nan
    a[4, 1:] = np.nan
    a[4, 0] = 3
    x = to_gpu(a)
    for name in NAMES:
        close(getattr(gpuarray, name)(x, 1), getattr(np, name)(a, 1), 2e-6)
    close(gpuarray.nanvar(x, 1, ddof=1), np.nanvar(a, 1, ddof=1), 2e-6)
    for name in ("nanargmin", "nanargmax"):
        places = getattr(gpuarray, name)(x, 1).get()
        assert places[2] == -1
        assert places[4] == 0
    with pytest.raises(ValueError, match="nanmin"):
        gpuarray.nanmin(x[:0])


def test_variance_far_from_0_without_nan(ctx):
    a = numbers((3000, 16), "f8") + 1e9
    x = to_gpu(a)
    for axis in (None, 0, 1):
        true = np.nanvar(a.astype(np.longdouble), axis)
        allowed = 1e-14 + 4 * abs(np.nanvar(a, axis) - true)
        assert (abs(gpuarray.nanvar(x, axis).get() - true) <= allowed).all()


@pytest.mark.parametrize("dtype", ["i1", "u4", "i8", "f2", "f4", "f8"])
def test_ptp(ctx, dtype):
    for shape in SHAPES:
        a = numbers(shape, dtype, holes=False)
        x = to_gpu(a)
        for axis in (None, *range(a.ndim)):
            close(gpuarray.ptp(x, axis), np.ptp(a, axis), 0)
        close(x.ptp(0, keepdims=True), np.ptp(a, 0, keepdims=True), 0)
    a = numbers((30, 16), "f4")
    close(np.ptp(to_gpu(a), 0), np.ptp(a, 0), 0)
    assert gpuarray.ptp(to_gpu(np.array([True, False]))).get() == 1


@pytest.mark.parametrize("dtype", ["i4", "f4", "f8", "c8"])
def test_average(ctx, dtype):
    a = numbers((6, 8, 10), dtype, holes=False)
    rng = np.random.default_rng(2)
    full, line = rng.random((6, 8, 10)), rng.random(8).astype("f4")
    plane = rng.random((10, 6))
    x = to_gpu(a)
    rtol = 2e-6 if dtype in ("f4", "c8") else 1e-12
    close(gpuarray.average(x), np.average(a), rtol)
    close(np.average(x, 1), np.average(a, 1), rtol)
    for axis, weights in ((None, full), (2, full), (1, line), ((0, 2), full)):
        for ours, theirs in zip(
            np.average(x, axis, to_gpu(weights), returned=True),
            np.average(a, axis, weights, returned=True),
            strict=True,
        ):
            close(ours, theirs, rtol)
    ours = gpuarray.average(x, (2, 0), to_gpu(plane), keepdims=True)
    expected = (a * plane.T[:, None]).sum((0, 2), keepdims=True) / plane.sum()
    np.testing.assert_allclose(ours.get(), expected, rtol=rtol)
    _, count = gpuarray.average(x, 0, returned=True)
    np.testing.assert_array_equal(count.get(), np.full((8, 10), 6))


def test_weights_that_do_not_fit(ctx):
    x = to_gpu(numbers((6, 8), "f4"))
    with pytest.raises(TypeError, match=r"\(6, 8\).*\(8,\)"):
        gpuarray.average(x, weights=x[0])
    with pytest.raises(ValueError, match=r"\(8,\).*\(6, 8\)"):
        gpuarray.average(x, 0, x[0])
    for pair in ((x, x.get()), (x.get(), x)):
        with pytest.raises(TypeError, match="^average takes GPUArrays, not ndarray"):
            np.average(pair[0], weights=pair[1])
