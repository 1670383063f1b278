"""Lines, parts, bits, diagonals, histograms of points and queries against NumPy."""

import numpy as np
import pytest

from pycuda.gpuarray import to_gpu
from support.same_as_numpy import agree, agree_in_place

pytestmark = pytest.mark.gpu

RNG = np.random.default_rng(4)
CUBE = RNG.normal(size=(3, 4, 5))
WHOLE = RNG.integers(0, 3, (3, 11))


@pytest.mark.parametrize("order", ["big", "little"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1, 2])
def test_bits(ctx, axis, order):
    agree(np.packbits, WHOLE, axis, order)
    agree(np.packbits, WHOLE[::-1, ::3] > 1, axis, order)
    data = WHOLE.astype(np.uint8) * np.uint8(77)
    agree(np.unpackbits, data, axis, None, order)
    for count in (5, 30, 0, -3, -999, 300):
        agree(np.unpackbits, data, axis, count, order)


def test_wrong_bits(ctx):
    agree(np.packbits, WHOLE * 1.0)
    agree(np.packbits, WHOLE, 0, "middle")
    agree(np.unpackbits, WHOLE)
    agree(np.packbits, WHOLE[:, :0], 1)
    agree(np.packbits, WHOLE[:0], 0)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "uint64", "int64"])
def test_bitwise_count(ctx, dtype):
    if not hasattr(np, "bitwise_count"):
        pytest.skip("bitwise_count is in NumPy 2.0 and later")
    values = np.array([0, 1, 5, 100, 127]).astype(dtype)
    if dtype != "bool":
        info = np.iinfo(dtype)
        values = np.append(values, np.array([info.min, info.max], dtype))
        values = np.append(values, ~values)
    agree(np.bitwise_count, values)
    agree(np.bitwise_count, values + 0.5)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex64"])
def test_float_power(ctx, dtype):
    x = np.array([0, 1, 2, 3, 2]).astype(dtype)
    with np.errstate(all="ignore"):
        for exponent in (2, 0.5, -1, 1.7, 2j, x, np.float32(3)):
            agree(np.float_power, x, exponent)


@pytest.mark.parametrize("axis", [0, 1, -1, 5])
def test_functions_of_lines(ctx, axis):
    agree(np.apply_along_axis, lambda line: line.sum(), axis, CUBE)
    agree(np.apply_along_axis, lambda line: line[:2] * 2, axis, CUBE)
    agree(np.apply_along_axis, np.multiply.outer, axis, CUBE, np.arange(2.0))
    agree(np.apply_over_axes, np.sum, CUBE, axis)


def test_functions_of_axes_and_parts(ctx):
    agree(np.apply_along_axis, lambda line: line.sum(), 0, CUBE[:, :0])
    agree(np.apply_over_axes, np.sum, CUBE, (0, -1))
    x = np.linspace(-2, 2, 9)
    for conditions, functions in (
        ([x < 0, x >= 0], [lambda t: -t, lambda t: t * t]),
        ([x < 0, x > 1], [-1, lambda t: t * t, 7]),
        (x < 0, [1, 2]),
        ([x > 5], [lambda t: t[:0]]),
        ([x < 0], [1, 2, 3]),
    ):
        agree(np.piecewise, x, conditions, functions)
    agree(np.piecewise, x.astype(int), [x < 0], [1.7, 2])


@pytest.mark.parametrize("trim", ["fb", "f", "b", "FB", "x"])
def test_trim_zeros(ctx, trim):
    agree(np.trim_zeros, np.array([0, 0, 1, 0, 2, 0]), trim)
    agree(np.trim_zeros, np.zeros(4), trim)


def test_queries(ctx):
    agree(np.array_equiv, CUBE, CUBE)
    agree(np.array_equiv, CUBE, CUBE[0])
    agree(np.array_equiv, np.ones((3, 4)), np.ones(4))
    agree(np.array_equiv, CUBE, np.ones(7))
    for small in (1e-15, 1.0):
        agree(np.real_if_close, CUBE + small * 1j, 1000)
    agree(np.real_if_close, CUBE)
    for dtype in ("float32", "complex128", "int32"):
        agree(np.common_type, CUBE.astype(np.float32), CUBE.astype(dtype))
        agree(np.can_cast, np.dtype(np.int32), dtype)
    for axis, start in ((2, 0), (0, 2), (1, -1), (-1, 0), (0, 3), (5, 0), (0, 9)):
        agree(np.rollaxis, CUBE, axis, start)


def test_shared_memory(ctx):
    x = to_gpu(CUBE)
    assert np.may_share_memory(x[:, ::2], x[:, 1::2])
    assert not np.shares_memory(x[:, ::2], x[:, 1::2])
    assert np.shares_memory(x, x[1, 2])
    assert not np.shares_memory(x, to_gpu(CUBE))
    assert not np.shares_memory(x, CUBE)


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize(
    "shape",
    [(4, 4), (6, 3), (9, 3), (3, 6), (4, 3), (3, 3, 3), (2, 3, 3), (4,), (0, 0)],
)
def test_fill_diagonal(ctx, shape, wrap):
    for value in (5, 1.5, np.arange(2.0), np.arange(7.0)):
        agree_in_place(np.fill_diagonal, np.zeros(shape), value, wrap)
        agree_in_place(
            np.fill_diagonal, np.zeros(shape, np.int32, order="F"), value, wrap
        )


def test_indices_of_diagonals_and_grids(ctx):
    for shape in ((3, 3), (3, 3, 3), (3, 2), (3,)):
        agree(np.diag_indices_from, np.zeros(shape))
    agree(np.ix_, np.arange(3), np.array([1, 0]))
    agree(np.ix_, np.array([True, False, True]), np.array([1, 0]))
    agree(np.ix_, WHOLE)
    agree(np.ix_, np.zeros(0, int), np.arange(2))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"bins": (2, 3, 4)},
        {"bins": 3, "range": [(-1, 1)] * 3},
        {"bins": 3, "range": [None, (-1, 1), None]},
        {"bins": [np.array([-1.0, 0, 2]), 3, [-2, 0.5, 2]]},
        {"bins": 3, "density": True},
        {"bins": 3, "weights": np.arange(50.0)},
        {"bins": (2, 3)},
        {"bins": [np.array([1.0, 0]), 3, 3]},
    ],
)
def test_histogramdd(ctx, options):
    points = np.random.default_rng(5).normal(size=(50, 3))
    agree(np.histogramdd, points, **options)
    if not isinstance(options.get("bins"), (tuple, list)) and "range" not in options:
        agree(np.histogram2d, points[:, 0], points[:, 1], **options)


def test_histogram2d(ctx):
    x, y = RNG.normal(size=(2, 40))
    edges = np.linspace(-1, 1, 5)
    for bins in (edges, (3, edges), [3, 4]):
        agree(np.histogram2d, x, y, bins)
    agree(np.histogram2d, np.array([0.0, 1, 2, 2]), np.array([0.0, 1, 2, 1]), 2)


@pytest.mark.parametrize("function", [np.arctan2, np.hypot, np.copysign])
@pytest.mark.parametrize("small", ["int8", "uint8", "int16", "uint16", "int32"])
@pytest.mark.parametrize("other", ["int8", "uint8", "int16", "uint16", "uint32"])
def test_floats_of_two_integer_dtypes(ctx, function, small, other):
    x, y = np.array([1, 2, 3]).astype(small), np.array([3, 1, 0]).astype(other)
    agree(function, x, y, tolerance=1e-2)


def test_clip_beyond_the_range_of_a_dtype(ctx):
    for dtype, low, high in (
        ("uint64", -1, 3),
        ("int8", 0, 300),
        ("int8", -300, None),
        ("uint8", -1, None),
        ("uint8", -1, 300),
        ("uint8", None, -1),
        ("uint8", 300, None),
    ):
        agree(np.clip, np.array([1, 5], dtype), low, high)
