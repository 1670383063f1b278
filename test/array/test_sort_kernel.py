"""SortKernel: sorts by a key that a program gives in C."""

import numpy as np
import pytest

from pycuda import gpuarray, tools
from pycuda.gpuarray import GPUArray, to_gpu
from pycuda.sort import SortKernel
from support.arrays import same

pytestmark = pytest.mark.gpu

SIZES = (0, 1, 700, 9000)
DTYPES = ["bool", "int8", "uint16", "int32", "int64", "float32", "float64"]


def numbers(dtype, size):
    rng = np.random.default_rng(size)
    return (rng.standard_normal(size) * 50).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers(ctx, dtype):
    kernel = SortKernel(dtype)
    for size in SIZES:
        host = numbers(dtype, size)
        x = to_gpu(host)
        same(kernel.argsort(x), np.argsort(host, kind="stable"))
        out = gpuarray.empty_like(x)
        assert kernel(x, out) is out
        same(out, np.sort(host))
        same(x, host)
        assert kernel(x) is x
        same(x, np.sort(host))


@pytest.mark.parametrize("size", [700, 9000])
def test_a_key_in_c(ctx, size):
    host = numbers(np.float32, size)
    kernel = SortKernel(np.float32, "fabsf(x)")
    order = np.argsort(np.abs(host), kind="stable")
    same(kernel.argsort(to_gpu(host)), order)
    same(kernel(to_gpu(host)), host[order])
    by_digit = SortKernel(np.int32, "digit_sum(x)", np.uint8, preamble=DIGIT_SUM)
    host = np.abs(numbers(np.int32, size)) * 37
    sums = np.array([sum(map(int, str(value))) for value in host.tolist()])
    order = np.argsort(-sums, kind="stable")
    same(by_digit.argsort(to_gpu(host), descending=True), order)
    same(by_digit(to_gpu(host), descending=True), host[order])


DIGIT_SUM = """
__device__ int digit_sum(int x)
{
    int sum = 0;
    for (; x != 0; x /= 10) {
        sum += x % 10;
    }
    return sum;
}
"""


def test_structs(ctx):
    dtype = np.dtype([("place", np.int32), ("weight", np.float32), ("kind", np.int32)])
    declaration = "struct sorted_item { int place; float weight; int kind; };"
    dtype = tools.get_or_register_dtype("sorted_item", dtype)
    for size in (100, 5000):
        host = np.zeros(size, dtype)
        host["place"] = np.arange(size)
        host["weight"] = numbers(np.float32, size)
        host["kind"] = numbers(np.int32, size) % 5
        kernel = SortKernel(dtype, "x.kind", np.int32, preamble=declaration)
        got = kernel(to_gpu(host)).get()
        expected = host[np.argsort(host["kind"], kind="stable")]
        for name in dtype.names:
            np.testing.assert_array_equal(got[name], expected[name])


def test_arrays_with_gaps(ctx):
    host = numbers(np.int32, 12000)
    x = to_gpu(host)
    kernel = SortKernel(np.int32)
    same(kernel.argsort(x[::-2]), np.argsort(host[::-2], kind="stable"))
    part = x[1::2]
    kernel(part)
    host[1::2].sort()
    same(x, host)


def test_an_array_and_its_shifted_view(ctx):
    host = numbers(np.int8, 9000)
    x = to_gpu(host)
    SortKernel(np.int8)(x[1:], x[:-1])
    same(x[:-1], np.sort(host[1:]))


def test_counts_of_64_bits(ctx, monkeypatch):
    monkeypatch.setattr("pycuda._array.kernels.sort_kernel._NARROW", 6000)
    host = numbers(np.int32, 13000)
    kernel = SortKernel(np.int32)
    same(kernel.argsort(to_gpu(host)), np.argsort(host, kind="stable"))
    same(kernel(to_gpu(host)), np.sort(host))


def test_streams(ctx):
    import pycuda.driver as drv

    stream = drv.Stream()
    host = numbers(np.float64, 9000)
    x = to_gpu(host)
    result = SortKernel(np.float64)(x, GPUArray(9000, np.float64), stream=stream)
    stream.synchronize()
    same(result, np.sort(host))


def test_bad_arguments(ctx):
    kernel = SortKernel(np.int32)
    x = gpuarray.zeros(4, np.int32)
    with pytest.raises(ValueError, match="one axis"):
        kernel(x.reshape(2, 2))
    with pytest.raises(ValueError, match=r"\(4,\), output_ary has \(3,\)"):
        kernel(x, x[:3])
    with pytest.raises(ValueError, match="float32"):
        kernel.argsort(x.astype(np.float32))
    with pytest.raises(TypeError, match="keys of dtype complex64"):
        SortKernel(np.complex64)
