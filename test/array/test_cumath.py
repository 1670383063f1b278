"""Compare pycuda.cumath with NumPy."""

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import cumath, gpuarray
from pycuda.gpuarray import GPUArray, to_gpu
from support.arrays import same

pytestmark = pytest.mark.gpu

NAMES = {"acos": "arccos", "asin": "arcsin", "atan": "arctan"}
FUNCTIONS = (
    "acos asin atan ceil cos cosh exp fabs floor log log10 sin sinh sqrt tan tanh"
)
COMPLEX = "cos cosh exp log log10 sin sinh sqrt tan tanh"


@pytest.mark.parametrize("name", FUNCTIONS.split())
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_functions(ctx, name, dtype):
    a = np.linspace(0.02, 0.97, 400).astype(dtype)
    x = to_gpu(a)
    expected = getattr(np, NAMES.get(name, name))(a)
    function = getattr(cumath, name)
    same(function(x), expected, exact=False)
    same(
        function(x.reshape(20, 20)[::2].T), expected.reshape(20, 20)[::2].T, exact=False
    )


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("kind", ["int", "uint"])
def test_functions_of_integers_give_numpys_float(ctx, kind, bits):
    a = np.arange(1, 9).astype(f"{kind}{bits}")
    assert np.sqrt(a).dtype == {8: "float16", 16: "float32"}.get(bits, "float64")
    for name in ("sqrt", "tanh", "atan"):
        expected = getattr(np, NAMES.get(name, name))(a)
        same(getattr(cumath, name)(to_gpu(a)), expected, exact=False)


@pytest.mark.parametrize("name", COMPLEX.split())
def test_functions_of_complex_numbers(ctx, name):
    a = (np.linspace(-2, 2, 50) + 1j * np.linspace(3, -1, 50)).astype(np.complex128)
    got = getattr(cumath, name)(to_gpu(a)).get()
    np.testing.assert_allclose(got, getattr(np, name)(a), rtol=1e-13)


def test_out_and_stream(ctx):
    a = np.linspace(0, 1, 50, dtype=np.float32)
    x = to_gpu(a)
    out = gpuarray.empty_like(x)
    stream = drv.Stream()
    assert cumath.sin(x, out=out, stream=stream) is out
    stream.synchronize()
    same(out, np.sin(a), exact=False)
    assert cumath.exp(x, out=x) is x
    same(x, np.exp(a), exact=False)


def test_out_must_match(ctx):
    x = gpuarray.zeros((4, 5), np.float32)
    for out in (
        GPUArray((4, 5), np.float64),
        GPUArray((5, 4), np.float32),
        GPUArray((4, 5), np.float32, order="F"),
    ):
        with pytest.raises(AssertionError):
            cumath.sin(x, out=out)


def test_a_second_positional_argument_is_ignored(ctx):
    x = gpuarray.zeros(5, np.float32)
    out = gpuarray.ones(5, np.float32)
    with pytest.warns(DeprecationWarning, match="ignored"):
        result = cumath.cos(x, out)
    assert result is not out
    assert out.get().tolist() == [1] * 5


def test_complex_is_refused_where_it_has_no_meaning(ctx):
    x = gpuarray.zeros(5, np.complex64)
    for name in ("ceil", "floor", "fabs"):
        with pytest.raises(TypeError, match="complex64"):
            getattr(cumath, name)(x)


def test_parts_and_exponents(ctx):
    a = np.array([0.1, 3.5, -8.25, 0.0, 1e-3], np.float32)
    x = to_gpu(a)
    significand, exponent = cumath.frexp(x)
    same(significand, np.frexp(a)[0])
    same(exponent, np.frexp(a)[1].astype(np.float32))
    same(cumath.ldexp(significand, exponent), a)
    fraction, whole = cumath.modf(x)
    same(fraction, np.modf(a)[0])
    same(whole, np.modf(a)[1])
    same(
        cumath.fmod(x, to_gpu(np.full(5, 0.75, np.float32))),
        np.fmod(a, np.float32(0.75)),
    )


def test_integers_become_floats(ctx):
    a = np.arange(1, 9)
    same(cumath.sqrt(to_gpu(a)), np.sqrt(a), exact=False)
