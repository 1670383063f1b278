"""Functions of complex numbers against NumPy: ordinary and special values."""

import numpy as np
import pytest

from pycuda import cumath
from pycuda.gpuarray import to_gpu
from support.arrays import same

pytestmark = pytest.mark.gpu

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 1e-40, 1e30, np.inf, -np.inf, np.nan]
EXPONENTIALS = "exp exp2 expm1 log log2 log10 log1p sqrt"
CIRCULAR = "sin cos tan sinh cosh tanh"
INVERSE = "arcsin arccos arctan arcsinh arccosh arctanh"
OTHERS = "square reciprocal sign rint negative conjugate absolute"
NAMES = " ".join([EXPONENTIALS, CIRCULAR, INVERSE, OTHERS]).split()

#: Where NumPy's value is less exact, or not that of the array API standard.
NUMPY_DIFFERS = {
    "expm1": lambda z: (np.abs(z.real) > 1e29) | (np.isnan(z.real) & (z.imag == 0)),
    "log1p": lambda z: np.isfinite(z) & (np.abs(z.imag) < 1e-30),
    "sign": lambda z: np.isnan(z.real) | np.isnan(z.imag),
    "square": lambda z: np.isfinite(z.real) & (np.abs(z.real) >= 1e-40),
}


def grid(dtype):
    return np.array([complex(a, b) for a in SPECIAL for b in SPECIAL], dtype)


def ordinary(dtype):
    """Return numbers of all sizes, near the unit circle, and on the axes."""
    rng = np.random.default_rng(5)
    sizes = np.exp(rng.uniform(-8, 4, 900))
    near = 1 + rng.normal(0, 1e-4, 900)
    turned = np.exp(1j * rng.uniform(0, 2 * np.pi, 900))
    line = rng.normal(0, 3, 300)
    return np.concatenate(
        [sizes * turned, near * turned, line + 0j, (line + 0j).conj(), 1j * line]
    ).astype(dtype)


def close(got, expected, epsilon):
    """Return where parts are equal or close, with the same sign of zeros."""
    with np.errstate(invalid="ignore"):
        return _close(got, expected, epsilon)


def _close(got, expected, epsilon):
    equal = (got == expected) & (np.signbit(got) == np.signbit(expected))
    least = 2 * np.finfo(got.dtype).smallest_subnormal * (expected != 0)
    near = np.abs(got - expected) <= 8 * epsilon * np.abs(expected) + least
    near &= np.isfinite(got)
    return equal | near | (np.isnan(got) & np.isnan(expected))


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("name", NAMES)
def test_special_values(ctx, name, dtype):
    z, function = grid(dtype), getattr(np, name)
    with np.errstate(all="ignore"):
        expected = function(z)
    if name == "arccosh":  # older versions of NumPy do not have the angle here
        expected[(z.real == 0) & np.isnan(z.imag)] = complex(np.nan, np.pi / 2)
    got = function(to_gpu(z)).get()
    assert got.dtype == expected.dtype
    epsilon = np.finfo(dtype).eps
    good = close(got.real, expected.real, epsilon)
    good &= close(got.imag, expected.imag, epsilon)
    # The standards leave signs open: those of an infinity beside a NaN, and of a zero.
    open_sign = np.isnan(got.real) | np.isnan(got.imag)
    good |= (
        open_sign
        & close(abs(got.real), abs(expected.real), epsilon)
        & close(abs(got.imag), abs(expected.imag), epsilon)
    )
    if name in NUMPY_DIFFERS:
        good |= NUMPY_DIFFERS[name](z.astype(np.complex128))
    assert good.all(), list(zip(z[~good], got[~good], expected[~good], strict=True))


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("name", NAMES)
def test_ordinary_values(ctx, name, dtype):
    z, function = ordinary(dtype), getattr(np, name)
    exact = z.astype(np.clongdouble)
    with np.errstate(all="ignore"):
        expected = function(exact)
    got = function(to_gpu(z)).get()
    largest = np.finfo(dtype).max
    inside = (np.abs(expected) < largest) & (np.abs(expected) > 1e-35)
    error = np.abs(got - expected)[inside] / np.abs(expected)[inside]
    # exp2 and the logarithms of 10 and 2 multiply by a rounded constant.
    most = 80 if name == "exp2" else 4
    if name == "log1p":
        most = 4000  # near |1 + z| = 1, as with a sum that was rounded
    assert error.max() < most * np.finfo(dtype).eps


def test_expm1_by_the_standard(ctx):
    inf, nan = np.inf, np.nan
    cases = {
        (-0.0, 0.0): (-0.0, 0.0),
        (1.0, inf): (nan, nan),
        (1.0, nan): (nan, nan),
        (inf, 0.0): (inf, 0.0),
        (-inf, 2.0): (-1.0, 0.0),
        (inf, 2.0): (-inf, inf),
        (-inf, inf): (-1.0, 0.0),
        (inf, inf): (inf, nan),
        (-inf, nan): (-1.0, 0.0),
        (inf, nan): (inf, nan),
        (nan, 0.0): (nan, 0.0),
        (nan, 1.0): (nan, nan),
        (nan, nan): (nan, nan),
    }
    z = np.array([complex(*case) for case in cases])
    got = np.expm1(to_gpu(z)).get()
    expected = np.array(list(cases.values()))
    np.testing.assert_array_equal(got.real, expected[:, 0])
    np.testing.assert_array_equal(got.imag, expected[:, 1])


@pytest.mark.parametrize("name", INVERSE.split())
def test_symmetries(ctx, name):
    """Both sides of a branch cut, and conjugates."""
    line = np.array([-3.0, -1.0, -0.25, 0.0, 0.5, 1.0, 2.0])
    above, below = line + 0j, (line + 0j).conj()
    turned, other = 1j * line, -(1j * line).conj()
    other.real = -0.0
    function = getattr(np, name)
    with np.errstate(all="ignore"):
        for z in (above, below, turned, other):
            got, expected = function(to_gpu(z)).get(), function(z)
            np.testing.assert_allclose(got, expected, rtol=1e-14, atol=1e-300)
            finite = np.isfinite(expected)
            same_sign = np.signbit(got.real) == np.signbit(expected.real)
            assert (same_sign | (expected.real != 0))[finite].all()


def test_tiny_and_huge_numbers(ctx):
    """No square overflows or vanishes on the way."""
    sizes = [1e-300, 1e-160, 1e-20, 1e-9, 1 - 2e-16, 1, 1 + 3e-16, 1e9, 1e160, 1e300]
    z = np.array([complex(a, b) for a in [0, *sizes] for b in [0, *sizes]])
    for name in INVERSE.split():
        function = getattr(np, name)
        with np.errstate(all="ignore"):
            expected = function(z)
        got = function(to_gpu(z)).get()
        for part in ("real", "imag"):
            np.testing.assert_allclose(
                getattr(got, part),
                getattr(expected, part),
                rtol=1e-13,
                atol=1e-305,
                err_msg=f"{name} {part}",
            )


def test_names_of_cumath(ctx):
    z = ordinary(np.complex64)[:200]
    for name, numpys in {
        "asin": "arcsin",
        "acos": "arccos",
        "atan": "arctan",
        "asinh": "arcsinh",
        "acosh": "arccosh",
        "atanh": "arctanh",
        "expm1": "expm1",
        "log1p": "log1p",
        "log2": "log2",
        "exp2": "exp2",
    }.items():
        same(getattr(cumath, name)(to_gpu(z)), getattr(np, numpys)(to_gpu(z)).get())


# -- functions of real numbers ---------------------------------------------------------


@pytest.fixture(scope="module")
def halves():
    return np.arange(65536, dtype=np.uint16).view(np.float16)


def test_neighbours_of_half_floats(ctx, halves):
    rng = np.random.default_rng(3)
    x = to_gpu(halves)
    others = [np.roll(halves, 1), rng.permutation(halves), np.zeros_like(halves)]
    for other in [*others, np.full_like(halves, np.inf)]:
        with np.errstate(all="ignore"):
            same(np.nextafter(x, to_gpu(other)), np.nextafter(halves, other))
    with np.errstate(all="ignore"):
        same(np.spacing(x), np.spacing(halves))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_spacing_and_heaviside(ctx, dtype, halves):
    a = halves[::7].astype(dtype)
    b = np.random.default_rng(4).permutation(a)
    x, y = to_gpu(a), to_gpu(b)
    with np.errstate(all="ignore"):
        same(np.spacing(x[a != 0]), np.spacing(a[a != 0]))
        same(np.heaviside(x, y), np.heaviside(a, b))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_logaddexp2(ctx, dtype, halves):
    """The result is the larger operand plus a term, which may cancel.

    So errors are relative to the largest of the three. NumPy's result of the same dtype
    has such errors too, its result of a wider dtype has not.
    """
    a = halves[::7].astype(dtype)
    b = np.random.default_rng(4).permutation(a)
    got = np.logaddexp2(to_gpu(a), to_gpu(b)).get()
    with np.errstate(all="ignore"):
        narrow = np.logaddexp2(a, b)
        expected = np.logaddexp2(a.astype(np.longdouble), b.astype(np.longdouble))
    finite = np.isfinite(narrow)
    assert got.dtype == narrow.dtype
    np.testing.assert_array_equal(got[~finite], narrow[~finite])
    got, expected, larger = got[finite], expected[finite], np.maximum(a, b)[finite]
    parts = [expected, larger.astype(np.longdouble), expected - larger]
    limits = np.finfo(dtype)
    error = np.abs(got - expected)
    most = 8 * limits.eps * np.abs(parts).max(0) + limits.smallest_subnormal
    assert (error <= most).all()


@pytest.mark.parametrize("dtype", list("bBhHiIqQ"))
def test_common_divisors_and_multiples(ctx, dtype):
    info, rng = np.iinfo(dtype), np.random.default_rng(6)
    a, b = (
        rng.integers(info.min, info.max, 900, dtype=dtype, endpoint=True)
        for _ in range(2)
    )
    a[:60], b[30:90] = 0, 0
    a[90:120], b[100:130] = info.min, info.min
    a[200:600], b[200:600] = rng.integers(0, 100, (2, 400))
    a[600:], b[600:] = np.maximum(a[600:], 1), np.maximum(a[600:], 1) // 2 + 1
    edges = [info.max, info.max - 1, info.max // 2, info.max // 2 + 1, info.min, 1]
    edges = np.array(edges, dtype)
    a[-36:], b[-36:] = np.repeat(edges, 6), np.tile(edges, 6)
    for function in (np.gcd, np.lcm):
        same(function(to_gpu(a), to_gpu(b)), function(a, b))
        same(function(to_gpu(a), 12), function(a, np.array(12, dtype)))
    with pytest.raises(TypeError, match="float"):
        np.gcd(to_gpu(a), to_gpu(a.astype(np.float32)))
