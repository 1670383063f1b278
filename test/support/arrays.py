"""What the tests of arrays share: dtypes, layouts, comparison with NumPy."""

import operator

import numpy as np

INTEGERS = [np.dtype(f"{kind}{size}") for size in (1, 2, 4, 8) for kind in "iu"]
FLOATS = [np.dtype(name) for name in ("float16", "float32", "float64")]
COMPLEX = [np.dtype(name) for name in ("complex64", "complex128")]
DTYPES = [np.dtype(bool), *INTEGERS, *FLOATS, *COMPLEX]


def sample(dtype, shape, seed=0):
    """Return an array of small values, the special ones among them."""
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


#: The operators for which a bool array of the device is one of numbers.
COUNTING = [operator.add, operator.sub, operator.truediv, operator.floordiv]
COUNTING += [operator.mod, operator.pow, operator.lshift, operator.rshift, operator.neg]


def numbers(function, *operands):
    """Return operands with which NumPy does what the device does with theirs.

    Where all are bool, arithmetic on the device is that of int64.
    """
    if function in COUNTING and np.result_type(*operands).kind == "b":
        return [np.asarray(operand).astype(np.int64) for operand in operands]
    return list(operands)


def same(device, host, exact=True, ulps=4):
    """Assert that a GPUArray holds what a numpy array does, with dtype and shape."""
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
