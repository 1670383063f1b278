"""Dtypes, samples and comparisons with NumPy for the tests of arrays."""

import operator

import numpy as np

INTEGERS = [np.dtype(f"{kind}{size}") for size in (1, 2, 4, 8) for kind in "iu"]
FLOATS = [np.dtype(name) for name in ("float16", "float32", "float64")]
COMPLEX = [np.dtype(name) for name in ("complex64", "complex128")]
DTYPES = [np.dtype(bool), *INTEGERS, *FLOATS, *COMPLEX]


def sample(dtype, shape, seed=0):
    """Return an array of small values, including the special values of the dtype."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "u":
        return rng.integers(0, 12, shape).astype(dtype)
    if dtype.kind == "i":
        return rng.integers(-12, 12, shape).astype(dtype)
    values = rng.integers(-40, 40, shape) / 8
    if dtype.kind == "c":
        values = values + 1j * (rng.integers(-40, 40, shape) / 8)
    return values.astype(dtype)


def whole_numbers(dtype, shape, seed=0):
    """Return small whole numbers, whose products every dtype sums exactly."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind in "bu":
        return rng.integers(0, 3, shape).astype(dtype)
    host = rng.integers(-3, 4, shape)
    if dtype.kind == "c":
        host = host + 1j * rng.integers(-3, 4, shape)
    return host.astype(dtype)


#: The operators that treat a bool array of the device as an array of numbers.
COUNTING = [operator.add, operator.sub, operator.truediv, operator.floordiv]
COUNTING += [operator.mod, operator.pow, operator.lshift, operator.rshift, operator.neg]


def numbers(function, *operands):
    """Return operands for which NumPy's result equals the device's.

    If all operands are bool, the device computes with int64.
    """
    if function in COUNTING and np.result_type(*operands).kind == "b":
        return [np.asarray(operand).astype(np.int64) for operand in operands]
    return list(operands)


def same(device, host, exact=True, ulps=4):
    """Assert that a GPUArray equals a NumPy array in values, dtype and shape."""
    got = device.get()
    host = np.asarray(host)
    assert got.dtype == host.dtype
    assert got.shape == host.shape
    if exact or host.dtype.kind in "biu":
        np.testing.assert_array_equal(got, host)
    else:
        tiny = np.finfo(host.dtype)
        np.testing.assert_allclose(
            got, host, rtol=ulps * tiny.eps, atol=ulps * tiny.smallest_normal
        )
