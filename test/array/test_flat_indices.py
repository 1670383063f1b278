"""choose, ravel_multi_index and unravel_index against NumPy."""

import numpy as np
import pytest

from pycuda import gpuarray
from pycuda.gpuarray import to_gpu
from support.same_as_numpy import agree

pytestmark = pytest.mark.gpu

RNG = np.random.default_rng(1)
SHAPES = [(5,), (3, 4), (2, 1, 3), (1, 1), (7, 2, 3, 4)]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_indices_there_and_back(ctx, order, dtype):
    for shape in SHAPES:
        flat = RNG.integers(0, min(np.prod(shape), 120), (3, 5)).astype(dtype)
        agree(np.unravel_index, flat, shape, order)
        agree(np.unravel_index, flat[::-1, ::2], shape, order)
        parts = gpuarray.unravel_index(to_gpu(flat), shape, order)
        back = gpuarray.ravel_multi_index(parts, shape, order=order)
        np.testing.assert_array_equal(back.get(), flat)


@pytest.mark.parametrize("mode", ["wrap", "clip", ("wrap", "clip")])
def test_modes(ctx, mode):
    rows, columns = RNG.integers(-20, 20, (4, 5)), RNG.integers(-20, 20, 5)
    agree(np.ravel_multi_index, (rows, columns), (3, 4), mode)
    agree(np.ravel_multi_index, (rows, 2), (3, 4), mode)
    agree(np.ravel_multi_index, (rows.T[::-1], 2), (3, 4), mode, order="F")


def test_wrong_arguments(ctx):
    one = np.array([1])
    agree(np.ravel_multi_index, (one,), (3, 4))
    agree(np.ravel_multi_index, (one, one + 0.0), (3, 4))
    agree(np.ravel_multi_index, (one, one), (3, 2**62))
    agree(np.ravel_multi_index, (one, one), (0, 4))
    agree(np.ravel_multi_index, (np.arange(2), np.arange(3)), (3, 4))
    agree(np.ravel_multi_index, np.array([[1, 2], [0, 1]]), (3, 4))
    agree(np.unravel_index, one + 0.0, (3,))
    agree(np.unravel_index, one, (-3,))
    agree(np.unravel_index, one, (0,))
    agree(np.unravel_index, one, (3,), "Z")
    agree(np.unravel_index, one[:0], (0,))


def test_indices_beyond_are_reported(ctx):
    given = to_gpu(np.array([3, 12]))
    result = gpuarray.unravel_index(given, (3, 4))
    with pytest.raises(IndexError, match=r"12 .* length 12 .*test_flat_indices.py"):
        result[0].get()
    result = gpuarray.ravel_multi_index((given, 0), (13, 4))
    np.testing.assert_array_equal(result.get(), [12, 48])
    result = np.ravel_multi_index((0, -given), (3, 40))
    with pytest.raises(IndexError, match="-3 is out of bounds for axis 1 of length 40"):
        result.get()


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "float16", "float32", "int64", "complex64", "complex128"]
)
def test_choose(ctx, dtype):
    number = RNG.integers(0, 3, (4, 5))
    choices = [(RNG.normal(size=s) * 5).astype(dtype) for s in ((4, 5), (5,), (4, 1))]
    agree(np.choose, number, choices)
    agree(np.choose, number[::-1, ::2], [c[..., :1] for c in choices])
    agree(np.choose, number.astype(np.uint8) - np.uint8(5), choices, mode="clip")
    agree(np.choose, number - 7, choices, mode="wrap")
    stacked = RNG.normal(size=(3, 4, 5)).astype(dtype)
    agree(np.choose, number, stacked)


def test_choose_of_numbers_and_errors(ctx):
    number = np.array([0, 1, 2])
    agree(np.choose, number, [1, np.arange(3.0), 2j])
    agree(np.choose, number, [[1, 2, 3]] * 3)
    agree(np.choose, number[:0], [1, 2])
    agree(np.choose, number + 0.5, [1, 2])
    agree(np.choose, number, [])
    agree(np.choose, number, [np.ones(2), np.ones(4)])
    agree(np.choose, number, [1, 2], mode="sometimes")
    with pytest.raises(ValueError, match="33 choices"):
        gpuarray.choose(to_gpu(number), [1] * 33)
    with pytest.raises(IndexError, match="2 is out of bounds for axis 0 of length 2"):
        gpuarray.choose(to_gpu(number), [1, 2]).get()


def test_choose_into_an_array(ctx):
    number, values = to_gpu(np.array([2, 0, 1])), to_gpu(np.arange(3.0))
    out = gpuarray.zeros(3, np.float64)
    assert gpuarray.choose(number, [values, 7, -1], out) is out
    np.testing.assert_array_equal(out.get(), [-1, 1, 7])
    gpuarray.choose(number, [values, values[::-1], 5], values)  # shares memory
    np.testing.assert_array_equal(values.get(), [5, 1, 0])
    single = gpuarray.zeros(3, np.float32)
    gpuarray.choose(number, [0.5, 1.5, 2.5], single)
    np.testing.assert_array_equal(single.get(), [2.5, 0.5, 1.5])
    with pytest.raises(ValueError, match=r"\(3,\), out has \(2,\)"):
        gpuarray.choose(number, [1, 2, 3], gpuarray.zeros(2, np.int64))
