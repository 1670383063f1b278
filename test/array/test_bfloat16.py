"""Arrays of bfloat16, the dtype of the package ml_dtypes."""

import operator

import numpy as np
import pytest

from pycuda import gpuarray
from pycuda.gpuarray import GPUArray, from_dlpack, to_gpu
from support.child import run_child
from support.dlpack import look

ml_dtypes = pytest.importorskip("ml_dtypes")

pytestmark = pytest.mark.gpu

BFLOAT = np.dtype(ml_dtypes.bfloat16)
rng = np.random.default_rng(16)


def every_value():
    return np.arange(65536, dtype=np.uint16).view(BFLOAT)


def equal(device, host):
    """Assert equal dtype, shape and values; NaN equals NaN."""
    got, host = device.get(), np.asarray(host)
    assert got.dtype == host.dtype
    assert got.shape == host.shape
    if host.dtype == BFLOAT:
        got, host = got.astype(np.float32), host.astype(np.float32)
    np.testing.assert_array_equal(got, host)
    if host.dtype.kind == "f":
        numbers = ~np.isnan(host)
        np.testing.assert_array_equal(
            np.signbit(got)[numbers], np.signbit(host)[numbers]
        )


@pytest.fixture
def pair(ctx):
    a, b = ((rng.normal(size=500) * 10).astype(BFLOAT) for _ in range(2))
    a[:4] = 0, -0.0, np.inf, np.nan
    b[2:6] = np.inf, 1, -np.inf, np.nan
    return a, b, to_gpu(a), to_gpu(b)


def test_creation_and_copies(ctx):
    a = np.arange(60).astype(BFLOAT).reshape(5, 12)
    x = to_gpu(a)
    assert x.dtype == BFLOAT
    assert x.itemsize == 2
    assert repr(x[0, :3]) == repr(a[0, :3])
    for made, expected in [
        (x.copy(), a),
        (x[::-1, 1:-1].copy(), a[::-1, 1:-1]),
        (x.T.copy(), a.T),
        (gpuarray.zeros(4, BFLOAT), np.zeros(4, BFLOAT)),
        (gpuarray.full((2, 3), 2.7, BFLOAT), np.full((2, 3), 2.7, BFLOAT)),
        (gpuarray.arange(0, 5, 1, dtype=BFLOAT), np.arange(5).astype(BFLOAT)),
        (gpuarray.empty_like(x).fill(3.14159), np.full((5, 12), 3.14159, BFLOAT)),
        (gpuarray.concatenate([x, x]), np.concatenate([a, a])),
        (x[x > 30], a[a > 30]),
        (x[to_gpu(np.array([3, 1]))], a[[3, 1]]),
    ]:
        equal(made, expected)
    x[1] = 2
    a[1] = 2
    x[:, 2] = to_gpu(np.arange(5, dtype=np.int32))
    a[:, 2] = np.arange(5)
    equal(x, a)
    assert x[3, 3].get() == a[3, 3]
    assert x[3, 4].item() == a[3, 4].item()


@pytest.mark.parametrize(
    "dtype", ["?", "i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8", "c8"]
)
def test_conversion(ctx, dtype):
    a = every_value()
    with np.errstate(all="ignore"):
        wide = a.astype(np.float32)
        inside = a
        if np.dtype(dtype).kind in "iu":
            inside = a[(wide > -100 * (np.dtype(dtype).kind == "i")) & (wide < 100)]
        equal(to_gpu(inside).astype(dtype), inside.astype(dtype))
    host = rng.integers(0, 2**16, 4000, np.uint64) << np.uint64(40)
    host |= rng.integers(0, 2, 4000, np.uint64)
    if np.dtype(dtype).kind == "f":
        with np.errstate(all="ignore"):
            steps = [wide, np.nextafter(wide, 9), wide * np.float32(1.00390625)]
            host = np.concatenate(steps).astype(dtype)
    with np.errstate(all="ignore"):
        host = host.astype(dtype)
    equal(to_gpu(host).astype(BFLOAT), nearest(host))


def nearest(host):
    """Return the values rounded once to bfloat16, to nearest even."""
    if host.dtype.kind == "c":
        host = host.real
    with np.errstate(all="ignore"):
        exact = host.astype(np.longdouble)
        single = exact.astype(np.float32)
        # to odd, where the first rounding was not exact
        bits = single.view(np.uint32)
        back = single.astype(np.longdouble)
        wrong = (back != exact) & np.isfinite(single)
        bits = bits - (wrong & (np.abs(back) > np.abs(exact))).astype(np.uint32)
        bits = bits | wrong.astype(np.uint32)
        return bits.view(np.float32).astype(BFLOAT)


def test_numbers_are_rounded_once(ctx):
    values = [
        1 + 2**-8,
        1 + 2**-8 + 2**-40,
        1 + 3 * 2**-8 - 2**-40,
        3.4e38,
        1e-41,
        2**-133,
    ]
    values += [-v for v in values] + [float("inf"), float("nan"), 0.1, 1e300]
    x = gpuarray.zeros(len(values), BFLOAT)
    for k, value in enumerate(values):
        x[k] = value
    equal(x, nearest(np.array(values)))


BINARY = (
    "add subtract multiply divide power floor_divide remainder fmod maximum minimum "
    "fmax fmin arctan2 hypot copysign nextafter equal less greater_equal logical_and"
)
UNARY = (
    "negative positive absolute sqrt cbrt exp expm1 log log2 log1p sin cos tan tanh "
    "arcsinh floor ceil trunc rint square reciprocal sign isnan isfinite signbit "
    "spacing"
)


@pytest.mark.parametrize("name", BINARY.split())
def test_operations(pair, name):
    """Computed in float32 and rounded once, as ml_dtypes does."""
    a, b, x, y = pair
    function = getattr(np, name)
    with np.errstate(all="ignore"):
        equal(function(x, y), function(a, b))


@pytest.mark.parametrize("name", UNARY.split())
def test_functions(pair, name):
    a, _, x, _ = pair
    function = getattr(np, name)
    with np.errstate(all="ignore"):
        got, expected = function(x), function(a)
    if expected.dtype != BFLOAT:
        equal(got, expected)
        return
    assert got.dtype == BFLOAT
    # The functions of float32 differ in their last digits, which may turn a rounding.
    steps = got.get().view(np.int16).astype(int) - expected.view(np.int16)
    nan = np.isnan(expected.astype(np.float32))
    zero = (expected == 0) & (got.get() == 0)
    assert np.abs(steps[~nan & ~zero]).max(initial=0) <= 1
    assert (np.isnan(got.get().astype(np.float32)) == nan).all()


def test_neighbours_of_every_value(ctx):
    a = every_value()
    with np.errstate(all="ignore"):
        for other in (np.roll(a, 1), np.zeros_like(a)):
            equal(np.nextafter(to_gpu(a), to_gpu(other)), np.nextafter(a, other))


def test_dtypes_of_results(pair):
    a, b, x, y = pair
    for function in (operator.add, operator.mul, operator.truediv):
        for number in (2, 2.5, True):
            assert function(x, number).dtype == BFLOAT
        assert function(x, 1j).dtype == np.complex64
        for dtype in ("f4", "f8", "c8"):
            other = np.ones(500, dtype)
            with np.errstate(all="ignore"):
                assert function(x, to_gpu(other)).dtype == function(a, other).dtype
        with pytest.raises(TypeError):
            function(x, to_gpu(np.ones(500, np.float16)))
    with np.errstate(all="ignore"):
        equal(x + to_gpu(np.ones(500, np.float32)), a + np.ones(500, np.float32))
    x += 1
    assert x.dtype == BFLOAT
    assert divmod(x, y)[1].dtype == BFLOAT
    assert np.where(x > 0, x, y).dtype == BFLOAT
    equal(x**2, np.square(x.get()))


def test_clip_and_powers(pair):
    a, _, x, _ = pair
    equal(np.clip(x, -1, 2), np.clip(a.astype(np.float32), -1, 2).astype(BFLOAT))
    positive = np.abs(a.astype(np.float32))
    for exponent in (-1, 0.5, 1, 2, 3.25):
        with np.errstate(all="ignore"):
            expected = (positive ** np.float32(exponent)).astype(BFLOAT)
        got = (to_gpu(positive.astype(BFLOAT)) ** exponent).get()
        np.testing.assert_allclose(
            got.astype(np.float32), expected.astype(np.float32), rtol=2**-8
        )


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_reductions(ctx, axis):
    a = rng.integers(-8, 9, (30, 40)).astype(BFLOAT)
    x, wide = to_gpu(a), a.astype(np.float64)
    for name in ("sum", "min", "max", "mean"):
        expected = getattr(np, name)(wide, axis=axis)
        equal(getattr(x, name)(axis=axis), np.asarray(expected).astype(BFLOAT))
    equal(x.argmax(axis=axis), wide.argmax(axis=axis))
    equal((x > 7).sum(axis=axis), (wide > 7).sum(axis=axis))
    equal(gpuarray.any(x, axis=axis), wide.any(axis=axis))
    variance = np.asarray(wide.var(axis=axis))
    np.testing.assert_allclose(
        x.var(axis=axis).get().astype(np.float64), variance, rtol=2**-8
    )
    assert gpuarray.dot(x[0], x[1]).get() == BFLOAT.type(wide[0] @ wide[1])
    assert x.sum(dtype=np.float32).dtype == np.float32


def test_scans_and_sorts(ctx):
    a = rng.integers(-8, 9, 700).astype(BFLOAT)
    x = to_gpu(a)
    sums = np.cumsum(a.astype(np.float32))
    np.testing.assert_allclose(np.cumsum(x).get().astype(np.float32), sums, rtol=2**-8)
    equal(np.sort(x), np.sort(a.astype(np.float32)).astype(BFLOAT))


def test_dlpack(ctx):
    a = np.arange(6).astype(BFLOAT)
    x = to_gpu(a)
    managed = look(x.__dlpack__())
    tensor = managed.tensor
    assert (tensor.code, tensor.bits, tensor.lanes) == (4, 16, 1)
    equal(from_dlpack(x), a)


def test_the_dtype_can_come_late(ctx):
    done = run_child(
        """
        import numpy as np
        import pycuda.autoinit
        from pycuda import gpuarray
        x = gpuarray.to_gpu(np.ones(3, np.float32))
        import ml_dtypes
        y = x.astype(ml_dtypes.bfloat16) * 2
        print(y.dtype, y.get().tolist())
        """
    )
    assert done.stdout == "bfloat16 [2.0, 2.0, 2.0]\n"


def test_kernels_of_programs_refuse_it(ctx):
    """C has no name for the type without a header: pass the bits."""
    x = GPUArray(3, BFLOAT)
    x.fill(1)
    assert x.view(np.uint16).get().tolist() == [0x3F80] * 3
