"""Convolutions, covariances, sampled curves and polynomials against NumPy."""

import numpy as np
import pytest

from pycuda import gpuarray
from pycuda.gpuarray import to_gpu
from support.same_as_numpy import agree

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

RNG = np.random.default_rng(3)
MODES = ["full", "same", "valid"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "dtype",
    ["bool", "int32", "uint8", "float16", "float32", "float64", "complex64"],
)
def test_convolve_and_correlate(ctx, dtype, mode):
    tolerance = 3e-2 if dtype == "float16" else 1e-5
    for n, m in ((7, 3), (3, 7), (5, 5), (4, 1), (6, 4), (4, 6)):
        a, v = ((RNG.normal(size=k) * 4).astype(dtype) for k in (n, m))
        if dtype == "complex64":
            v = v + np.complex64(2j)
        agree(np.convolve, a, v, mode, tolerance=tolerance)
        agree(np.correlate, a, v, mode, tolerance=tolerance)
        agree(np.convolve, a[::-1], v[::-1], mode, tolerance=tolerance)


@pytest.mark.parametrize("mode", MODES)
def test_long_sequences_take_transforms(ctx, mode):
    a, v = RNG.normal(size=1500), RNG.normal(size=600)
    agree(np.convolve, a, v, mode)
    agree(np.convolve, v, a.astype(np.float32), mode, tolerance=1e-4)
    agree(np.correlate, a, v + 1j * v, mode)
    agree(np.correlate, v, a, mode)


def test_wrong_sequences(ctx):
    a = np.arange(4.0)
    agree(np.convolve, a, 3.0, "same")
    agree(np.convolve, a[:0], a)
    agree(np.convolve, a, a, "most")
    with pytest.raises(ValueError, match=r"one axis, not \(2, 2\)"):
        gpuarray.convolve(to_gpu(a.reshape(2, 2)), to_gpu(a))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"rowvar": False},
        {"bias": True},
        {"ddof": 3},
        {"fweights": np.arange(8)},
        {"aweights": np.arange(8.0)},
        {"fweights": np.arange(8), "aweights": np.arange(8.0) + 1},
        {"dtype": np.float32},
        {"fweights": np.arange(8.0) + 0.5},
        {"fweights": np.arange(8) - 3},
        {"aweights": np.arange(3.0)},
        {"ddof": 0.5},
    ],
)
def test_cov(ctx, options):
    m = RNG.normal(size=(3, 8))
    for x in (m, m + 1j * m[::-1], m.astype(np.float32), (m * 5).astype(np.int32)):
        if "dtype" not in options or x.dtype.kind != "c":
            agree(np.cov, x, tolerance=1e-5, **options)
    if options.get("rowvar", True):
        agree(np.cov, m[0], tolerance=1e-5, **options)
        agree(np.cov, m, m[:2], tolerance=1e-5, **options)


def test_corrcoef(ctx):
    m = RNG.normal(size=(3, 8))
    for x in (m, m + 1j * m[::-1], m[0], m.astype(np.float32)):
        agree(np.corrcoef, x, tolerance=1e-5)
    agree(np.corrcoef, m, rowvar=False)
    agree(np.corrcoef, m, m)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"left": -9.0},
        {"left": 1.0, "right": 2.0},
        {"period": 1.5},
        {"period": -2.0},
        {"period": 0.0},
    ],
)
def test_interp(ctx, options):
    xp, fp = np.sort(RNG.normal(size=9)), RNG.normal(size=9)
    x = np.concatenate([RNG.normal(size=20) * 2, xp, [np.nan, np.inf, -np.inf]])
    agree(np.interp, x, xp, fp, **options)
    agree(np.interp, x.reshape(4, -1), xp, fp + 2j * fp[::-1], **options)
    infinite = fp.copy()
    infinite[3:5] = np.inf
    agree(np.interp, x, xp, infinite, **options)


def test_interp_of_other_samples(ctx):
    x = np.array([-1.0, 0.5, 1, 2, np.nan])
    agree(np.interp, x, np.array([1.0]), np.array([5.0]))
    agree(np.interp, x, np.array([0.0, 1, 1, 2]), np.array([1.0, 2, 3, 4]))
    agree(np.interp, np.arange(3), np.arange(3), np.arange(3))
    places = np.array([0.5, 1, 1.5, np.inf, -np.inf, np.nan], "f4")
    for xp in ([0, 1, np.inf], [-np.inf, 1, np.inf], [0, 1, 1], [1, 1, 1]):
        agree(np.interp, places, np.array(xp, "f4"), np.array([0, 1, 2], "f4"))
    agree(np.interp, x, np.arange(3.0), np.arange(2.0))
    agree(np.interp, x + 1j, np.arange(3.0), np.arange(3.0))
    agree(np.interp, x[::-2], np.arange(6.0)[::2], np.arange(6.0)[::-2])


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_trapezoid_and_unwrap(ctx, axis):
    if not hasattr(np, "trapezoid"):
        pytest.skip("trapezoid is in NumPy 2.0 and later")
    y = RNG.normal(size=(3, 4, 5))
    places = np.sort(RNG.normal(size=y.shape[axis]))
    agree(np.trapezoid, y, axis=axis)
    agree(np.trapezoid, y.astype(np.float32), dx=0.5, axis=axis, tolerance=1e-5)
    agree(np.trapezoid, y, x=places, axis=axis)
    agree(np.trapezoid, y, x=y * 2, axis=axis)
    phase = (RNG.normal(size=(3, 4, 9)).cumsum(axis) * 3).round(3)
    agree(np.unwrap, phase % (2 * np.pi), axis=axis)
    agree(np.unwrap, phase % 3, period=3, axis=axis)
    agree(np.unwrap, phase, discont=5.0, axis=axis)
    for period in (6, 7):
        agree(np.unwrap, phase.astype(np.int32) % period, period=period, axis=axis)


def test_polynomials(ctx):
    p, q = RNG.normal(size=4), RNG.normal(size=6)
    for function in (np.polyadd, np.polysub, np.polymul):
        agree(function, p, q)
        agree(function, np.arange(3), q)
        agree(function, np.zeros(2), q)
    for m in (0, 1, 2, 5, -1):
        agree(np.polyder, q, m)
        agree(np.polyint, q, m)
    agree(np.polyint, q, 2, np.array([1.0, 2.0]))
    agree(np.polyint, q, 2, 3.0)
    agree(np.polyint, q, 3, np.array([1.0, 2.0]))


@pytest.mark.parametrize("dtype", ["bool", "int32", "float16", "float32", "complex64"])
def test_polyval(ctx, dtype):
    p = (RNG.normal(size=4) * 3).astype(dtype)
    x = (RNG.normal(size=(3, 4)) * 2).astype(dtype)
    tolerance = 1e-1 if dtype == "float16" else 1e-5
    agree(np.polyval, p, x, tolerance=tolerance)
    agree(np.polyval, p, x[::-1, ::2], tolerance=tolerance)
    agree(np.polyval, p[:0].astype(np.float64), x)
    agree(np.polyval, p[::-1], np.array(2.0), tolerance=tolerance)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, a: np.interp(x, a, x),
        lambda x, a: np.convolve(x, a),
        lambda x, a: np.cov(x, a),
        lambda x, a: np.polyval(a, x),
        lambda x, a: np.choose(x.astype(int), [a, x]),
        lambda x, a: np.histogram2d(x, a),
        lambda x, a: np.trapezoid(x, a),
    ],
)
def test_arrays_of_the_host_are_refused(ctx, call):
    host = np.arange(3.0)
    with pytest.raises(TypeError, match=r"not ndarray; copy it with to_gpu\(\)"):
        call(to_gpu(host), host)
