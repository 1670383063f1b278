"""Compare elementwise operations with NumPy: dtypes, layouts, scalars."""

import operator
import sys

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver, cumath, gpuarray
from pycuda.gpuarray import GPUArray, to_gpu
from support.arrays import COMPLEX, DTYPES, FLOATS, INTEGERS, numbers, same, sample
from support.faults import fail_calls  # noqa: F401

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv]
WHOLE = [operator.floordiv, operator.mod]
BITWISE = [operator.and_, operator.or_, operator.xor]
SHIFTS = [operator.lshift, operator.rshift]
COMPARISONS = [
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
]
BINARY = ARITHMETIC + WHOLE + BITWISE + SHIFTS + COMPARISONS


def agree(ours, theirs, *, ulps=None):
    """Compare two calls. Both must return the same, or raise TypeError."""
    try:
        expected = theirs()
    except TypeError:
        with pytest.raises(TypeError):
            ours()
        return
    same(ours(), expected, exact=ulps is None, ulps=ulps)


def is_rounded(function, dtype):
    """Whether rounding depends on how the operation is implemented."""
    return np.dtype(dtype).kind == "c" and function in (operator.truediv, operator.mul)


@pytest.mark.parametrize("function", BINARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_binary_operators(ctx, function, dtype):
    a, b = sample(dtype, 67, 1), sample(dtype, 67, 2)
    x, y = to_gpu(a), to_gpu(b)
    ulps = 4 if is_rounded(function, dtype) else None
    a, b = numbers(function, a, b)
    agree(lambda: function(x, y), lambda: function(a, b), ulps=ulps)


PAIRS = [
    ("int8", "uint8"),
    ("int32", "float32"),
    ("int64", "uint64"),
    ("uint32", "int32"),
    ("float32", "complex128"),
    ("float32", "float64"),
    ("float16", "int8"),
    ("float16", "float32"),
    ("bool", "int16"),
    ("bool", "float32"),
    ("int64", "float32"),
    ("complex64", "float64"),
]


@pytest.mark.parametrize(
    "function",
    [*ARITHMETIC, operator.floordiv, operator.lt, operator.eq],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("first, second", PAIRS)
def test_mixed_dtypes(ctx, function, first, second):
    a, b = sample(first, 33, 1), sample(second, 33, 2)
    x, y = to_gpu(a), to_gpu(b)
    ulps = 4 if "complex" in first + second else None
    agree(lambda: function(x, y), lambda: function(a, b), ulps=ulps)
    agree(lambda: function(y, x), lambda: function(b, a), ulps=ulps)


SCALARS = [
    3,
    -2,
    True,
    2.5,
    1 + 2j,
    np.int8(3),
    np.uint64(7),
    np.float16(0.5),
    np.float32(1.5),
    np.float64(0.1),
    np.complex64(2j),
    np.bool_(True),
    np.array(4, np.int16),
]


@pytest.mark.parametrize("scalar", SCALARS, ids=repr)
@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", "complex64"]
)
def test_scalars(ctx, dtype, scalar):
    a = sample(dtype, 19, 3)
    x = to_gpu(a)
    for function in (operator.add, operator.mul, operator.sub):
        for swapped in (False, True):

            def run(array, function=function, swapped=swapped):
                return function(scalar, array) if swapped else function(array, scalar)

            try:
                expected = run(numbers(function, a, scalar)[0])
            except (OverflowError, TypeError) as error:
                with pytest.raises(type(error).__mro__[-3]):
                    run(x)
                continue
            same(run(x), expected, exact=expected.dtype.kind != "c")


def test_python_numbers_are_weak(ctx):
    for dtype in (np.float16, np.float32):
        x = to_gpu(np.ones(3, dtype))
        assert (x + 1.5).dtype == dtype
        assert (x * 2).dtype == dtype
        assert (np.float64(1) * x).dtype == np.float64
        assert (x + 1j).dtype == np.complex64
    assert (to_gpu(np.ones(3, np.int8)) + 1).dtype == np.int8
    assert (to_gpu(np.ones(3, np.int8)) + 1.5).dtype == np.float64


def test_integers_out_of_range(ctx):
    x = to_gpu(np.arange(5, dtype=np.int8))
    with pytest.raises(OverflowError, match="300.*int8"):
        x + 300
    assert (x < 300).get().all()
    assert not (x < -300).get().any()
    assert not (x == 1 << 70).get().any()
    assert (x != 1 << 70).get().all()
    for number in (300, -300, 1 << 70, 10**400, 0, 3):
        for name in ("logical_and", "logical_or", "logical_xor"):
            function = getattr(np, name)
            same(function(x, number), function(x.get(), bool(number)))
            same(function(number, x), function(bool(number), x.get()))
    y = to_gpu(np.array([2**63 - 1, -(2**63)]))
    assert (y < 2**63).get().all()
    assert (y > np.uint64(2**63 - 1)).get().tolist() == [False, False]
    assert (y >= np.uint64(2**63 - 1)).get().tolist() == [True, False]


# -- layouts ---------------------------------------------------------------------------

LAYOUTS = {
    "C": lambda a: a,
    "F": lambda a: a.T,
    "reversed": lambda a: a[::-1, ::-1],
    "steps": lambda a: a[::2, ::3],
    "columns": lambda a: a[:, 1:-1],
    "swapped": lambda a: a.T[::-1],
}


@pytest.mark.parametrize("first", LAYOUTS)
@pytest.mark.parametrize("second", LAYOUTS)
def test_layouts(ctx, first, second):
    def pair(make):
        whole = make(np.arange(24.0 * 24, dtype=np.float32).reshape(24, 24))
        a, b = LAYOUTS[first](whole), LAYOUTS[second](whole)
        rows, columns = min(a.shape[0], b.shape[0]), min(a.shape[1], b.shape[1])
        return a[:rows, :columns], b[:rows, :columns]

    (a, b), (x, y) = pair(lambda h: h), pair(to_gpu)
    same(x + y, a + b)
    same(x < y, a < b)
    copy, host = x.copy(), a.copy()
    copy -= y
    host -= b
    same(copy, host)


SHAPES = [
    ((3, 4), (4,)),
    ((3, 1), (1, 4)),
    ((3, 4), ()),
    ((), (3, 4)),
    ((2, 1, 4), (3, 1)),
    ((1,), (5, 3)),
    ((0, 3), (3,)),
    ((2, 3, 4, 5), (3, 1, 5)),
    ((1, 1), (1,)),
]


@pytest.mark.parametrize("first, second", SHAPES)
@pytest.mark.parametrize("dtypes", [("f4", "f4"), ("i4", "f8")])
def test_broadcasting(ctx, first, second, dtypes):
    a, b = sample(dtypes[0], first, 1), sample(dtypes[1], second, 2)
    same(to_gpu(a) * to_gpu(b), a * b)
    same(to_gpu(b) - to_gpu(a), b - a)


def test_shapes_that_do_not_go_together(ctx):
    with pytest.raises(ValueError, match=r"\(3, 4\) and \(3,\)"):
        to_gpu(np.ones((3, 4))) + to_gpu(np.ones(3))
    x = to_gpu(np.ones(4))
    with pytest.raises(ValueError, match=r"\(3, 4\).*\(4,\)"):
        x += to_gpu(np.ones((3, 4)))


def test_the_message_names_the_shapes_of_the_operands(ctx):
    """Also if the last axes broadcast and an axis before them does not."""
    with pytest.raises(ValueError, match=r"\(2, 3, 1\) and \(4, 5\)"):
        to_gpu(np.ones((2, 3, 1))) + to_gpu(np.ones((4, 5)))


def test_many_axes(ctx):
    a = np.arange(2.0**12).reshape((2,) * 12)
    order = (11, 3, 5, 1, 7, 9, 0, 2, 4, 6, 8, 10)
    same(to_gpu(a) + to_gpu(a).transpose(order), a + a.transpose(order))


def test_the_result_keeps_the_order_of_axes(ctx):
    x = to_gpu(np.ones((3, 4), order="F"))
    assert (x + x).flags.f_contiguous
    assert (x + 1).strides == x.strides
    assert x.astype(np.int8).flags.f_contiguous
    assert (x < 1).flags.f_contiguous
    assert (x + to_gpu(np.ones((3, 4)))).flags.c_contiguous


# -- in place --------------------------------------------------------------------------

INPLACE = [
    operator.iadd,
    operator.isub,
    operator.imul,
    operator.itruediv,
    operator.ifloordiv,
    operator.imod,
    operator.ipow,
]


@pytest.mark.parametrize("function", INPLACE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_in_place(ctx, function, dtype):
    a, b = np.abs(sample(dtype, (5, 6))) + 1, np.abs(sample(dtype, (5, 6), 7)) % 3 + 1
    a, b = a.astype(dtype), b.astype(dtype)
    x, y = to_gpu(a), to_gpu(b)
    try:
        expected = function(a.copy(), b)
    except TypeError:
        with pytest.raises(TypeError, match="float64.*int32"):
            function(x, y)
        return
    before = x.ptr
    result = function(x, y)
    assert result is x and x.ptr == before
    same(x, expected, exact=function is not operator.ipow)


@pytest.mark.parametrize(
    "function",
    [operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift],
    ids=lambda f: f.__name__,
)
def test_bits_in_place(ctx, function):
    a, b = np.arange(20, dtype=np.uint8), np.arange(20, dtype=np.uint8) % 5
    x = to_gpu(a)
    same(function(x, to_gpu(b)), function(a.copy(), b))


def test_in_place_refuses_a_wider_kind(ctx):
    x = to_gpu(np.ones(3, np.int32))
    with pytest.raises(TypeError, match="float64.*int32"):
        x += 1.5
    y = to_gpu(np.ones(3, np.float32))
    with pytest.raises(TypeError, match="complex64.*float32"):
        y *= 1j
    y += np.float64(0.5)
    assert y.dtype == np.float32


def test_division_by_one_in_place_is_the_array(ctx):
    x = to_gpu(np.ones(3, np.float32))
    before = x
    x /= 1
    assert x is before


# -- one operand -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [operator.neg, operator.abs, operator.invert, operator.pos],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_unary_operators(ctx, function, dtype):
    a = sample(dtype, 41)
    x = to_gpu(a)
    if function is operator.pos:
        assert +x is x
        return
    agree(
        lambda: function(x),
        lambda: function(*numbers(function, a)),
        ulps=4 if a.dtype.kind == "c" else None,
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
def test_parts_of_complex_numbers(ctx, dtype, order):
    a = np.array(sample(dtype, (4, 5)), order=order)
    x = to_gpu(a)
    same(x.imag, a.imag)
    assert x.imag.strides == np.array(a.imag, order=order).strides
    if a.dtype.kind == "c":
        same(x.real, a.real)
        same(x.conj(), a.conj())
        same(x.conjugate(), a.conj())
        out = GPUArray((4, 5), np.complex128, order=order)
        assert x.conj(out=out) is out
        same(out, a.conj().astype(np.complex128))
    else:
        assert x.real is x and x.conj() is x


@pytest.mark.parametrize("old", DTYPES, ids=str)
def test_astype(ctx, old):
    a = np.abs(sample(old, 37)) if np.dtype(old).kind != "b" else sample(old, 37)
    x = to_gpu(a)
    for new in DTYPES:
        if np.dtype(old).kind == "c" and new.kind not in "bc":
            same(x.astype(new), a.real.astype(new))
        else:
            same(x.astype(new), a.astype(new))
    assert x.astype(old).ptr != x.ptr


def test_conversion_of_negative_floats_wraps(ctx):
    a = np.array([-1.5, -200.0, 3.9, 0.0])
    for new in (np.int8, np.int16, np.int32, np.int64):
        same(to_gpu(a).astype(new), np.trunc(a).astype(np.int64).astype(new))
    for new in (np.uint8, np.uint16, np.uint32, np.uint64):
        same(to_gpu(a).astype(new), np.trunc(a).astype(np.int64).astype(new))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_conversion_of_large_floats_to_integers(ctx, dtype):
    """Values from 2**63 on only fit uint64."""
    a = np.array([2.0**63, 2.0**63 + 2.0**40, 1.5 * 2.0**63, 2.0**64 - 2.0**40], dtype)
    same(to_gpu(a).astype(np.uint64), np.array([int(x) for x in a], np.uint64))
    a = np.array([2.0**31, 2.0**32 - 2.0**8, 2.0**62, -(2.0**63)], dtype)
    same(to_gpu(a).astype(np.int64), np.array([int(x) for x in a], np.int64))
    same(to_gpu(a[:2]).astype(np.uint32), np.array([int(x) for x in a[:2]], np.uint32))


def test_doubles_become_halves_in_one_rounding(ctx):
    """The values are so near to a tie of halves that float32 would round to it."""
    for half in (np.float16(1), np.nextafter(np.float16(1), np.float16(2))):
        middle = float(half) + 2.0**-11
        a = np.array([middle - 2.0**-40, middle, middle + 2.0**-40])
        same(to_gpu(a).astype(np.float16), a.astype(np.float16))


def test_special_floats(ctx):
    values = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, np.inf, -np.inf, np.nan]
    for dtype in FLOATS:
        a, b = (m.ravel().astype(dtype) for m in np.meshgrid(values, values))
        x, y = to_gpu(a), to_gpu(b)
        for function in ARITHMETIC + WHOLE + COMPARISONS:
            same(function(x, y), function(a, b))
        for name in ("maximum", "minimum", "fmax", "fmin"):
            same(getattr(np, name)(x, y), getattr(np, name)(a, b))
        for name in ("isnan", "isinf", "isfinite", "signbit", "floor", "trunc", "rint"):
            same(getattr(np, name)(x), getattr(np, name)(a))
        for name in ("sign", "absolute", "ceil"):
            same(getattr(np, name)(x), getattr(np, name)(a))


def test_divmod(ctx):
    for dtype in (np.int16, np.uint8, np.float32, np.float64):
        a, b = sample(dtype, 50, 4), sample(dtype, 50, 5)
        for got, expected in zip(
            divmod(to_gpu(a), to_gpu(b)), divmod(a, b), strict=True
        ):
            same(got, expected)
    for got, expected in zip(divmod(7, to_gpu(b)), divmod(7, b), strict=True):
        same(got, expected)


# -- powers ----------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, *COMPLEX], ids=str)
def test_powers(ctx, dtype, exponent):
    a = sample(dtype, 30) % 5 if np.dtype(dtype).kind != "c" else sample(dtype, 30)
    a = a.astype(dtype)
    exact = (
        np.dtype(dtype).kind in "iu" or exponent in (0, 1, 2) and a.dtype.kind == "f"
    )
    same(to_gpu(a) ** exponent, a**exponent, exact=exact, ulps=16)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_powers_of_0(ctx, dtype):
    """The power is 0 if the exponent's real part is positive, otherwise NaN."""
    exponents = np.array([4 - 6j, 1 + 1j, 2, 0.5 - 1j], dtype)
    same(0 ** to_gpu(exponents), np.zeros(4, dtype))
    same(gpuarray.zeros(4, dtype) ** to_gpu(exponents), np.zeros(4, dtype))
    got = (0 ** to_gpu(np.array([2j, -1 + 1j, -2, 0], dtype))).get()
    assert np.isnan(got[:3].real).all() and np.isnan(got[:3].imag).all()
    assert got[3] == 1


def test_exponents_beyond_32_bits(ctx):
    x = to_gpu(np.ones(6))
    exponents = np.array([-(2**63), -(2**31) - 1, -3, 5, 2**31, 2**32])
    expected = np.array([0, 0, 0.125, 32, np.inf, np.inf])
    same(np.ldexp(x, to_gpu(exponents)), expected)
    same(np.ldexp(x[3:], to_gpu(exponents[3:].astype(np.uint64))), expected[3:])
    same(np.ldexp(x[:1], to_gpu(np.array([2**32 - 1], np.uint32))), expected[-1:])
    same(np.ldexp(x[:2], to_gpu(np.array([-3, 5], np.int8))), expected[2:4])


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", "i8", "u8"])
def test_reciprocals_of_integers(ctx, dtype):
    """1 / x without its fraction."""
    host = np.array([1, 2, 127, -1, -2, -128]).astype(dtype)
    expected = np.array([int(1 / int(x)) for x in host], dtype)
    same(np.reciprocal(to_gpu(host)), expected)


def test_powers_of_arrays(ctx):
    a = np.array([0.5, 1, 2, 3, 10], np.float32)
    b = np.array([2, -1, 0.5, 0, 1.5], np.float32)
    x, y = to_gpu(a), to_gpu(b)
    same(x**y, a**b, exact=False)
    same(2**y, 2**b, exact=False)
    same(pow(x, y), a**b, exact=False)
    same(to_gpu(np.array([2, 3])) ** to_gpu(np.array([10, 5])), np.array([1024, 243]))
    with pytest.raises(TypeError):
        pow(x, y, 3)


# -- functions -------------------------------------------------------------------------


INTEGERS = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]


def integer_power(values, exponent):
    """Compute 1 / value ** -exponent as C does with integers; a power of 0 is 0."""
    ones = np.where(values == 1, 1, 0)
    minus = np.where(values == -1, -1 if exponent % 2 else 1, 0)
    return ones + minus


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("exponent", [-1, -2, -3])
def test_negative_powers_of_integers(ctx, name, exponent):
    dtype = np.dtype(name)
    limits = [0, 1] if name == "bool" else np.iinfo(dtype)
    ends = limits if name == "bool" else [limits.min, limits.max]
    values = np.array([0, 1, 2, 3, *ends]).astype(dtype)
    if dtype.kind == "i":
        values = np.append(values, dtype.type(-1))
    wanted = integer_power(values, exponent)
    x = to_gpu(values)
    result = x**exponent
    assert result.get().tolist() == wanted.tolist()
    if dtype.kind != "b":
        assert result.dtype == dtype
    for scalar in (np.int8(exponent), np.int64(exponent)):
        if np.result_type(dtype, scalar).kind in "biu":
            assert (x**scalar).get().tolist() == wanted.tolist()
    if dtype.kind == "i":
        x **= exponent
        assert x.dtype == dtype and x.get().tolist() == wanted.tolist()


def test_other_powers_of_integers(ctx):
    """Test exponents other than negative integers: 0 and 1, floats, arrays."""
    x = to_gpu(np.array([0, 1, 2, 3], np.uint8))
    assert (x**0).get().tolist() == [1, 1, 1, 1]
    assert (x**1).get().tolist() == [0, 1, 2, 3]
    assert (x**5).get().tolist() == [0, 1, 32, 243]
    assert (x[1:] ** -1.0).get().tolist() == [1, 0.5, np.float16(1 / 3)]
    exponents = to_gpu(np.array([-1, -1, 2, -1], np.int32))
    assert (x**exponents).get().tolist() == [0, 1, 4, 0]


def test_where_and_if_positive(ctx):
    a = sample(np.float32, (5, 6))
    x = to_gpu(a)
    same(gpuarray.where(x > 0, x, -x), np.where(a > 0, a, -a))
    same(
        gpuarray.if_positive(x, x, to_gpu(np.zeros((5, 6), np.float32))),
        np.maximum(a, 0),
    )
    same(gpuarray.where(x, 1.5, x), np.where(a, np.float32(1.5), a))
    same(
        gpuarray.where(x > 0, x, x.astype(np.float64)),
        np.where(a > 0, a, a.astype("f8")),
    )
    out = GPUArray((5, 6), np.float32)
    assert gpuarray.if_positive(x, x, 0, out=out) is out
    same(out, np.maximum(a, 0))


def test_maximum_and_minimum(ctx):
    a, b = sample(np.float32, 50, 1), sample(np.float32, 50, 2)
    x, y = to_gpu(a), to_gpu(b)
    same(gpuarray.maximum(x, y), np.maximum(a, b))
    same(gpuarray.minimum(x, 1), np.minimum(a, 1))
    same(gpuarray.maximum(1, x), np.maximum(1, a))
    out = gpuarray.empty_like(x)
    assert gpuarray.minimum(x, y, out=out) is out
    same(out, np.minimum(a, b))


def test_logical(ctx):
    a, b = sample(np.int8, 50, 1) % 2, sample(np.float32, 50, 2) * (sample(bool, 50))
    x, y = to_gpu(a), to_gpu(b)
    same(gpuarray.logical_and(x, y), np.logical_and(a, b))
    same(gpuarray.logical_or(x, y), np.logical_or(a, b))
    same(gpuarray.logical_not(x), np.logical_not(a))
    same(gpuarray.logical_and(x, 0), np.logical_and(a, 0))
    assert gpuarray.logical_or(0, 2).get() == True  # noqa: E712
    out = GPUArray(50, bool)
    assert gpuarray.logical_not(x, out=out) is out
    same(out, np.logical_not(a))


def test_mul_add(ctx):
    a, b = sample(np.float32, 40, 1), sample(np.float32, 40, 2)
    x, y = to_gpu(a), to_gpu(b)
    same(x.mul_add(2, y, 3), 2 * a + 3 * b)
    out = gpuarray.empty_like(x)
    assert x.mul_add(2, y, 3, out=out) is out
    assert x._axpbyz(1, y, -1, out) is out
    same(out, a - b)
    x._axpbz(2, 5, out)
    same(out, 2 * a + 5)
    x._elwise_multiply(y, out)
    same(out, a * b)
    x._rdiv_scalar(3, out)
    same(out, 3 / a)
    x._div(y, out)
    same(out, a / b)
    same(x._pow(2, new=True), a**2)
    same(x.reverse(), a[::-1])


def test_old_names_of_division(ctx):
    x = to_gpu(np.array([2.0, 4.0]))
    assert x.__div__(2).get().tolist() == [1, 2]
    assert x.__rdiv__(8).get().tolist() == [4, 2]
    assert x.__idiv__(2) is x


def test_operands_of_other_kinds(ctx):
    x = to_gpu(np.ones(3))
    for other in (np.ones(3), [1, 2, 3], "text", None, object()):
        with pytest.raises(TypeError):
            x + other
        with pytest.raises(TypeError):
            other + x
    assert (x == None) is False  # noqa: E711
    assert (x != "text") is True
    with pytest.raises(TypeError, match=r"get\(\)"):
        np.asarray(x)
    with pytest.raises(TypeError, match="to_gpu"):
        np.ones(3) * x


def test_operands_that_are_refused(ctx):
    array, records = to_gpu(np.arange(3.0)), to_gpu(np.zeros(3, "i4,i4"))
    for function, text in (
        (lambda: cumath.sin("x"), "sin takes GPUArrays and numbers, not str$"),
        (lambda: gpuarray.maximum(array, "x"), "maximum takes .* not str$"),
        (lambda: cumath.sin(np.zeros(3)), "numpy.ndarray; copy it with to_gpu"),
        (lambda: records + 1, "add does not take arrays of dtype"),
        (lambda: gpuarray.maximum(records, 1), "maximum does not take arrays of"),
        (lambda: array.__array_ufunc__(np.add), "takes a ufunc, a method and inputs"),
    ):
        with pytest.raises(TypeError, match=text):
            function()
    three = (array, array, array)
    with pytest.raises(ValueError, match="out has 3 arrays"):
        array.__array_ufunc__(np.add, "__call__", array, array, out=three)


def test_a_kernel_that_cannot_be_made(ctx, fail_calls):  # noqa: F811
    """Its module is unloaded, and the next attempt succeeds."""
    array = to_gpu(np.arange(3.0))
    before = _driver._live_counts()
    for call in ("cuModuleLoadData", "cuModuleGetFunction"):
        fail_calls(call, 1)
        with pytest.raises(drv.LogicError, match=f"{call} failed"):
            array * 2
        assert _driver._live_counts() == before
    same(array * 2, np.arange(3.0) * 2)


def test_kernels_that_cannot_be_unloaded(fail_calls):  # noqa: F811
    context = drv.Device(0).make_context()
    same(to_gpu(np.arange(3.0)) * 2, np.arange(3.0) * 2)
    fail_calls("cuModuleUnload", 1)
    context.pop()
    with pytest.warns(UserWarning, match="cuModuleUnload"):
        context.detach()


def test_truth_and_numbers(ctx):
    x = to_gpu(np.array([2.5]))
    assert bool(x) and float(x) == 2.5 and int(x) == 2 and complex(x) == 2.5
    assert operator.index(to_gpu(np.array(7))) == 7
    assert [10, 20, 30][to_gpu(np.array(1))] == 20
    with pytest.raises(ValueError, match=r"\(2,\)"):
        bool(to_gpu(np.ones(2)))
    with pytest.raises(ValueError):
        bool(to_gpu(np.ones(0)))
    with pytest.raises(TypeError):
        float(to_gpu(np.ones(2)))
    with pytest.raises(TypeError):
        operator.index(x)


def test_more_elements_than_a_launch_row(ctx):
    n = (1 << 20) + 7
    x = gpuarray.arange(n, dtype=np.int32)
    same(x + x, 2 * np.arange(n, dtype=np.int32))
    same((x[::-1] - x)[:5], np.arange(n - 1, n - 11, -2, dtype=np.int32))


# -- NumPy's functions -----------------------------------------------------------------


def test_ufuncs_stay_on_the_device(ctx):
    a = np.abs(sample(np.float32, (4, 5))) + 0.5
    x = to_gpu(a)
    result = np.sqrt(x)
    assert isinstance(result, GPUArray)
    same(result, np.sqrt(a))
    out = gpuarray.empty_like(x)
    assert np.add(x, x, out=out) is out
    same(out, a + a)
    same(np.float32(5) * x, np.float32(5) * a)
    same(np.add(x, 1, dtype=np.float64), np.add(a, 1, dtype=np.float64))
    same(np.hypot(x, 2), np.hypot(a, np.float32(2)), exact=False)
    with pytest.raises(TypeError):
        np.add(x, np.ones((4, 5), np.float32))
    with pytest.raises(TypeError):
        np.isnat(x)
    with pytest.raises(TypeError):
        np.add(x, x, where=np.ones((4, 5), bool))


UNARY = [
    "sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan arctan sinh cosh tanh",
    "arcsinh fabs floor ceil trunc rint square reciprocal sign deg2rad rad2deg",
]


@pytest.mark.parametrize("name", " ".join(UNARY).split())
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int16", "int64"])
def test_unary_functions(ctx, name, dtype):
    a = np.array([1, 2, 3, 4, 7] * 8).astype(dtype)
    if np.dtype(dtype).kind == "f":
        a = (a / 4).astype(dtype)
    function = getattr(np, name)
    if name in ("floor", "ceil", "trunc") and a.dtype.kind == "i":
        same(function(to_gpu(a)), a)  # as NumPy since 2.1
        return
    same(function(to_gpu(a)), function(a), exact=False)


@pytest.mark.parametrize(
    "name",
    [
        "sqrt",
        "exp",
        "log",
        "log2",
        "log10",
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "tanh",
        "square",
        "reciprocal",
    ],
)
@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_complex_functions(ctx, name, dtype):
    a = sample(dtype, 60) + dtype.type(0.0625 + 0.03125j)
    expected = getattr(np, name)(a)
    got = getattr(np, name)(to_gpu(a)).get()
    assert got.dtype == expected.dtype
    error = np.abs(got - expected) / np.abs(expected)
    assert error.max() < 16 * np.finfo(dtype).eps


def test_frexp_ldexp_modf(ctx):
    a = np.array([0.1, 3.5, -8.25, 0.0, 1e-3], np.float32)
    for name in ("frexp", "modf"):
        got, expected = getattr(np, name)(to_gpu(a)), getattr(np, name)(a)
        for one, other in zip(got, expected, strict=True):
            same(one, other)
    same(np.ldexp(to_gpu(a), to_gpu(np.arange(5))), np.ldexp(a, np.arange(5)))


# -- streams and faults ----------------------------------------------------------------


def test_operations_run_on_the_current_stream(ctx):
    stream = drv.Stream()
    a = np.arange(1000, dtype=np.float32)
    with stream:
        x = to_gpu(a)
        y = x + 1
        host = y.get()
    assert (host == a + 1).all()
    x.fill(3, stream)
    result = x.get_async(stream)
    stream.synchronize()
    assert (result == 3).all()
    x.set_async(a, stream)
    stream.synchronize()
    same(x, a)


def test_host_arrays_of_any_layout(ctx):
    base = np.arange(120, dtype=np.float32).reshape(4, 5, 6)
    for host in (base, base.T, base[:, ::2], base[::-1], base.transpose(1, 0, 2)):
        same(to_gpu(host), host)
        x = to_gpu(np.zeros_like(host))
        x.set(host)
        same(x, host)
        target = np.empty(host.shape, np.float32)
        assert x.get(target) is target
        assert (target == host).all()
        wide = np.zeros((*host.shape[:-1], 2 * host.shape[-1]), np.float32)
        x.get(wide[..., ::2])
        assert (wide[..., ::2] == host).all() and not wide[..., 1::2].any()
        gapped = gpuarray.zeros(wide.shape, np.float32)[..., ::2]
        gapped.set(host)
        same(gapped, host)
        same(gapped.copy(), host)


def test_set_and_get_check_what_they_are_given(ctx):
    x = to_gpu(np.ones((2, 3), np.float32))
    with pytest.raises(ValueError, match="5 elements.*6"):
        x.set(np.ones(5, np.float32))
    with pytest.raises(ValueError, match="float64.*float32"):
        x.set(np.ones((2, 3)))
    with pytest.raises(TypeError, match="float64.*float32"):
        x.get(np.ones((2, 3)))
    with pytest.raises(ValueError):
        x.get(np.ones(5, np.float32))
    with pytest.warns(UserWarning, match="shape"):
        x.set(np.arange(6, dtype=np.float32))
    with pytest.warns(DeprecationWarning, match="shape"):
        assert x.get(np.zeros(6, np.float32)).tolist() == list(range(6))
    with pytest.raises(TypeError):
        x.set(np.ones((2, 3), np.float32), **{"async": True})
    frozen = np.ones((2, 3), np.float32)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        x.get(frozen)
    with pytest.raises(TypeError):
        to_gpu([1, 2, 3])
    assert x.get(pagelocked=True).shape == (2, 3)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8"])
@pytest.mark.parametrize("number", [2**63, 2**64, 10**20, -(2**63) - 1, -(10**30)])
def test_integers_beyond_64_bits(ctx, dtype, number):
    """Float arrays accept them. They are too large for integer arrays."""
    host = np.array([0, 1, -1], dtype)
    x = to_gpu(host)
    with np.errstate(all="ignore"):
        same(x + number, host + number)
        same(number * x, number * host)
        same(x == number, host == number)
        expected = np.full(3, number, dtype)
    if dtype != "c8":
        same(x < number, host < number)
    x[1:] = number
    same(x[1:], expected[1:])
    same(x.fill(number), expected)
    whole = gpuarray.zeros(3, np.int64)
    with pytest.raises(OverflowError, match="int64"):
        whole + number
    with pytest.raises(OverflowError, match="int64"):
        whole[0] = number


def test_integers_that_no_float_reaches(ctx):
    x = gpuarray.zeros(3, np.float32)
    with pytest.raises(OverflowError):
        x + 10**400
    with pytest.raises(OverflowError):
        x.fill(-(10**400))
    assert (x < 10**400).get().all()


def test_fill_checks_its_value(ctx):
    x = gpuarray.zeros(3, np.uint8)
    with pytest.raises(OverflowError):
        x.fill(-1)
    with pytest.raises(TypeError):
        x.fill("x")
    with pytest.raises(TypeError):
        x.fill(1j)
    assert x.fill(np.float32(7)).get().tolist() == [7, 7, 7]


def test_no_python_runs_after_the_first_time(ctx):
    pool = drv.DeviceMemoryPool()
    x = to_gpu(np.ones(64, np.float32), pool.allocate)
    actions = [
        lambda: x + x,
        lambda: 2 * x - x[::-1],
        lambda: x.__iadd__(x),
        lambda: x[1:5].reshape(2, 2).T,
        lambda: x < 3,
    ]
    seen = []

    def trace(frame, event, arg):
        if event == "call" and frame.f_code.co_filename != __file__:
            seen.append(frame.f_code)

    for action in actions:
        action()
        sys.setprofile(trace)
        try:
            action()
        finally:
            sys.setprofile(None)
    assert seen == []
    pool.stop_holding()


def test_elements_further_apart_than_32_bits_reach(ctx):
    free, _ = drv.mem_get_info()
    size = (1 << 31) + 64
    if free < size + (1 << 20):
        pytest.skip(f"needs {size} bytes of device memory and some, {free} are free")
    far = GPUArray(size, np.int8)[:: 1 << 31]
    far[...] = to_gpu(np.array([5, 7], np.int8))
    same(far + 1, np.array([6, 8], np.int8))
    far *= far[::-1]
    same(far, np.array([35, 35], np.int8))
    same(gpuarray.sum(far), np.int64(70))
    same(gpuarray.argmax(far), np.int64(0))
    same(far[[1, 0]], np.array([35, 35], np.int8))
