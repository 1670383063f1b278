"""Kernels with indices of 64 bits, which ordinary tests are too small to ask for."""

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda._array.kernels.compilation import compile_text, text_of
from pycuda._driver import _KernelRequest
from pycuda.gpuarray import GPUArray, to_gpu
from support.arrays import same

pytestmark = pytest.mark.gpu


def wide_kernel(**fields):
    """Return the function of an elementwise kernel with indices of 64 bits."""
    fields |= {"family": "elementwise", "wide": True}
    names = _KernelRequest.__match_args__
    request = _KernelRequest([fields.get(name) for name in names])
    return drv.module_from_buffer(compile_text(text_of(request))).get_function("kernel")


def divisor(length):
    """Return the length and the two numbers that replace a division by it."""
    shift = max(length - 1, 0).bit_length()
    multiplier = (((1 << shift) - length) << 64) // length + 1
    return np.uint64(length), np.uint64(multiplier), np.uint64(shift)


@pytest.mark.parametrize(
    "lengths", [(3, 5, 7), (1, 8, 4), (4, 1, 9), (2, 97, 11)], ids=str
)
@pytest.mark.parametrize("units", [1, 4])
def test_strided(ctx, lengths, units):
    a = np.arange(4 * np.prod(lengths), dtype=np.float32).reshape(*lengths, 4)
    part = a[::-1, :, ::-1, 1]
    x, out = to_gpu(a), GPUArray(lengths, np.float32)
    kernel = wide_kernel(
        operation="add",
        types=("float32",) * 3,
        inputs=2,
        outputs=1,
        passing=("array", "scalar", "packed"),
        compute="float32",
        ndim=3,
        vector=1,
        tile=units,
    )
    first = x[::-1, :, ::-1, 1]
    kernel(
        np.uintp(first.ptr),
        np.float32(0.5),
        out,
        np.uint64(part.size),
        *divisor(lengths[1]),
        *divisor(lengths[2]),
        *(np.int64(stride) for stride in part.strides),
        block=(256, 1, 1),
        grid=(-(-part.size // (256 * units)), 1),
    )
    same(out, part + np.float32(0.5))


def test_the_numbers_of_a_division():
    rng = np.random.default_rng(1)
    for bits in (32, 64):
        lengths = [1, 2, 3, 7, 10, 641, 2**16 + 1, 2 ** (bits - 1) - 1]
        lengths += [int(n) for n in rng.integers(2, 2 ** (bits - 2), 50)]
        for length in lengths:
            shift = max(length - 1, 0).bit_length()
            multiplier = (((1 << shift) - length) << bits) // length + 1
            assert multiplier < 2**bits
            most = 2 ** (bits - 1) - 1
            near = [k * length + d for k in (1, 5, most // length) for d in (-1, 0, 1)]
            for n in [0, most, *near, *map(int, rng.integers(0, most, 20))]:
                if 0 <= n <= most:
                    high = n * multiplier >> bits
                    assert high + n < 2**bits
                    assert (high + n) >> shift == n // length
