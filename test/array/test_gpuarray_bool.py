"""Bool arrays in arithmetic: the values that PyCUDA gives for comparison results."""

import copy
import operator
import pickle

import numpy as np
import pytest

from pycuda import cumath, gpuarray
from pycuda.gpuarray import GPUArray, to_gpu

pytestmark = [pytest.mark.gpu, pytest.mark.module_context]

NUMBERS = ["int8", "uint8", "int32", "int64", "float32", "float64"]


def pair(dtype):
    """Return two host arrays of the dtype, from which comparisons are made."""
    x = np.array([0, 1, 2, 0, 5, 9, 0, 1], dtype)
    y = np.array([1, 0, 3, 0, 7, 0, 1, 1], dtype)
    return x, y


def holds(array, expected, dtype):
    assert isinstance(array, GPUArray)
    assert array.dtype == dtype
    np.testing.assert_array_equal(array.get(), expected)


#: Expressions, and the dtype of the result. None is the dtype that was compared.
SUMS = {
    "p - q": None,
    "p + q": None,
    "-p": None,
    "p + 1": None,
    "1 - p": None,
    "p * 3": None,
    "p * x": None,
    "x - p": None,
    "p ** 2": None,
    "p // 1": None,
    "np.add(p, q)": None,
    "np.negative(p)": None,
    "p[1:] + q[:-1]": None,
    "p.reshape(2, 4).T + 1": None,
    "p.copy() + p": None,
    "(p * q) + p": None,
    "(p & q) + p": None,
    "~p + p": None,
    "gpuarray.where(p, p, q) + p": None,
    "gpuarray.maximum(p, q) - p": None,
    "(p == q) + p": None,
    "gpuarray.concatenate([p, q]) + 1": None,
    "gpuarray.stack([p, q]) + 1": None,
    "gpuarray.take(p, to_gpu(np.array([1, 0, 7]))) + 1": None,
    "p[to_gpu(np.array([1, 0, 7]))] + 1": None,
    "copy.copy(p) + p": None,
}
NAMES = {"np": np, "copy": copy, "gpuarray": gpuarray, "to_gpu": to_gpu}


class OnHost:
    """The functions of pycuda.gpuarray for NumPy arrays."""

    where, maximum, take = np.where, np.maximum, np.take
    concatenate, stack = np.concatenate, np.stack


@pytest.mark.parametrize("expression", SUMS)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_a_comparison_counts_with_the_dtype_compared(dtype, expression):
    x, y = pair(dtype)
    a, b = to_gpu(x), to_gpu(y)
    ours = {**NAMES, "x": a, "p": a > 0, "q": b > 0}
    p, q = (x > 0).astype(dtype), (y > 0).astype(dtype)
    theirs = {**NAMES, "x": x, "p": p, "q": q, "gpuarray": OnHost}
    theirs["to_gpu"] = lambda array: array
    if expression.startswith(("(p & q)", "~p")):
        expected = eval(
            expression.replace("(p & q)", "(p * q)").replace("~p", "(1-p)"), theirs
        )
    elif expression.startswith("(p == q)"):
        expected = (p == q).astype(dtype) + p
    else:
        expected = eval(expression, theirs)
    holds(eval(expression, ours), expected, dtype)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_the_sign(dtype):
    x = np.array([3, 0, 1, 0], dtype)
    if x.dtype.kind != "u":
        x[1] = -2
    holds((to_gpu(x) > 0) - 1 * (to_gpu(x) < 0), np.sign(x), dtype)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_floats_of_a_comparison(dtype):
    x, _ = pair(dtype)
    p = to_gpu(x) > 0
    wide = np.dtype(dtype) if np.dtype(dtype).kind == "f" else np.dtype(np.float64)
    truth = (x > 0).astype(wide)
    holds(p * 2.5, truth * wide.type(2.5), wide)
    holds(p * 0.1, truth * wide.type(0.1), wide)
    holds(p / 2, truth / 2, wide)
    holds(0.5 - p, wide.type(0.5) - truth, wide)
    # NumPy scalars count like arrays
    holds(p * np.float64(0.1), truth.astype("f8") * 0.1, np.float64)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_cumath_gives_a_dtype_that_kernels_can_name(dtype):
    x, _ = pair(dtype)
    for p in (to_gpu(x) > 0, to_gpu(x > 0), gpuarray.logical_not(to_gpu(x))):
        for function in (cumath.sqrt, cumath.exp, cumath.sin, np.tanh):
            assert function(p).dtype in (np.float32, np.float64)
        fractions, exponents = cumath.frexp(p)
        assert fractions.dtype == exponents.dtype != np.float16
        for part in cumath.modf(p):
            assert part.dtype in (np.float32, np.float64)
    np.testing.assert_allclose(cumath.exp(to_gpu(x) > 0).get(), np.exp(x > 0.0), 1e-3)
    if np.dtype(dtype).kind == "f":
        out = GPUArray(x.shape, dtype)
        assert cumath.sqrt(to_gpu(x) > 0, out=out) is out
        holds(out, x > 0, dtype)
        assert cumath.sqrt(to_gpu(x) > 0).dtype == dtype
        with pytest.raises(AssertionError):
            cumath.sqrt(to_gpu(x) > 0, out=GPUArray(3, dtype))
        with pytest.raises(AssertionError):
            cumath.sqrt(to_gpu(x) > 0, out=GPUArray(x.shape, np.complex64))


def test_the_dtype_compared_of_two_arrays():
    x, y = to_gpu(np.arange(4, dtype="i4")), to_gpu(np.ones(4, "f4"))
    assert ((x > y) + (x < y)).dtype == np.float64  # int32 + float32
    assert ((x > 2.5) + 0).dtype == np.int32  # a Python number does not count
    assert ((x > np.float64(2.5)) + 0).dtype == np.int32
    assert ((x > 0) + (y > 0)).dtype == np.float64
    assert ((y > 0) * to_gpu(np.ones(4, "f8"))).dtype == np.float64
    # 200 + 200 does not fit bytes, but fits the float32 that was compared
    picture = to_gpu(np.full(4, 200, np.uint8))
    holds(picture * (y > 0) * 2, [400] * 4, np.float32)


def test_counts():
    for dtype in NUMBERS:
        x = to_gpu(np.ones(1000, dtype))
        count = gpuarray.dot(x > 0, x < 2)
        assert count.get() == 1000
        kind = np.dtype(dtype)
        assert count.dtype == (kind if kind.kind == "f" else np.int64)
        assert gpuarray.sum(x > 0).get() == 1000
        assert gpuarray.sum(x > 0).dtype == np.int64
    mask = to_gpu(np.ones(1000, bool))
    assert gpuarray.dot(mask, mask).get() == 1000
    assert gpuarray.dot(mask, to_gpu(np.ones(1000, "f4"))).dtype == np.float32
    indices = gpuarray.arange(500, dtype=np.int32)
    x = to_gpu(np.ones(1000, np.float32))
    assert gpuarray.subset_dot(indices, x > 0, x > 0).get() == 500
    assert gpuarray.subset_dot(indices, x > 0, x > 0).dtype == np.float32
    holds(gpuarray.cumsum(mask), np.arange(1, 1001), np.int64)


def test_any_bool_array_counts():
    p, q = to_gpu(np.array([True, True, False])), to_gpu(np.array([True, False, False]))
    holds(p + q, [2, 1, 0], np.int64)
    holds(p - q, [0, 1, 0], np.int64)
    holds(-p, [-1, -1, 0], np.int64)
    holds(p * 2.5, [2.5, 2.5, 0], np.float64)
    holds(p / 2, [0.5, 0.5, 0], np.float64)
    holds(p * to_gpu(np.ones(3, "f4")), [1, 1, 0], np.float32)
    holds(p + to_gpu(np.ones(3, "i2")), [2, 2, 1], np.int16)
    both = gpuarray.logical_and(p, q)
    holds(both + both, [2, 0, 0], np.int64)


def test_bool_stays_where_results_are_0_and_1():
    x, y = map(to_gpu, pair("float32"))
    p, q = x > 0, y > 0
    for result in (p, p & q, p | q, p ^ q, ~p, p * q, abs(p), p == q, p > q):
        assert result.dtype == bool
    assert gpuarray.maximum(p, q).dtype == gpuarray.minimum(p, q).dtype == bool
    assert gpuarray.logical_or(p, q).dtype == cumath.floor(p).dtype == bool
    np.testing.assert_array_equal(x[p * q].get(), x.get()[(p * q).get()])
    x[p] = -1
    assert not (x > 0).get().any()


def test_in_place():
    x, _ = pair("float32")
    p = to_gpu(x) > 0
    counts = gpuarray.zeros(len(x), np.int32)
    for _ in range(3):
        counts += p  # float32 was compared, and int32 is kept
    holds(counts, 3 * (x > 0), np.int32)
    counts -= p
    holds(counts, 2 * (x > 0), np.int32)
    total = gpuarray.zeros(len(x), np.float32)
    total += p
    holds(total, x > 0, np.float32)
    holds(np.multiply(p, 2.5, out=total), 2.5 * (x > 0), np.float32)
    for function in (operator.iadd, operator.isub, operator.itruediv, operator.ipow):
        kept = to_gpu(x) > 0
        with pytest.raises(TypeError, match=r"bool.*astype"):
            function(kept, p)
        np.testing.assert_array_equal(kept.get(), x > 0)
    kept *= p
    kept &= p
    holds(kept, x > 0, bool)


def test_arithmetic_in_bool_is_refused():
    p = to_gpu(np.ones(3, np.float32)) > 0
    for function in (np.add, np.subtract, np.sqrt, np.power):
        with pytest.raises(TypeError, match="bool"):
            function(*(p,) * function.nin, dtype=bool)
    assert np.multiply(p, p, dtype=bool).dtype == bool
    holds(np.add(p, p, dtype=np.int16), [2, 2, 2], np.int16)


def test_copies_and_extremes_remember():
    p = to_gpu(np.ones(3, np.float32)) > 0
    for made in (
        to_gpu(p),
        gpuarray.to_gpu_async(p),
        gpuarray.empty_like(p),
        gpuarray.zeros_like(p),
        gpuarray.from_dlpack(p),
        gpuarray.from_dlpack(p, copy=True),
        pickle.loads(pickle.dumps(p)),
        copy.deepcopy(p),
        gpuarray.max(p),
        gpuarray.min(p),
    ):
        assert (made * 2.5).dtype == np.float32
    assert gpuarray.zeros_like(p, dtype=np.int8)._counts_as is None


def test_what_is_not_remembered():
    x = to_gpu(np.ones(3, np.float32))
    p = x > 0
    assert p._counts_as == np.float32
    assert x._counts_as is None
    assert p.astype(np.int8)._counts_as is None
    assert p.view(np.uint8)._counts_as is None
    assert to_gpu(p.get())._counts_as is None
    assert gpuarray.logical_not(x)._counts_as is None
    assert np.isnan(x)._counts_as is None
