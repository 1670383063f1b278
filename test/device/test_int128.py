"""Compare products, quotients and remainders of 128-bit integers with Python's.

Their code consists of chains of carries that mix sums and differences.
"""

import random

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda.compiler import SourceModule
from support.compilers import needs_nvcc

pytestmark = [pytest.mark.gpu, needs_nvcc]

SOURCE = """
struct pair { unsigned long long low, high; };

__device__ unsigned __int128 load(const pair &p)
{
    return (unsigned __int128)p.high << 64 | p.low;
}

__device__ void store(pair &p, unsigned __int128 v)
{
    p.low = (unsigned long long)v;
    p.high = (unsigned long long)(v >> 64);
}

#define OPERATION(name, type, expression)                                         \\
    extern "C" __global__ void name(int n, const pair *x, const pair *y, pair *z) \\
    {                                                                             \\
        int i = blockIdx.x * blockDim.x + threadIdx.x;                            \\
        if (i < n) {                                                              \\
            type a = (type)load(x[i]), b = (type)load(y[i]);                      \\
            store(z[i], (unsigned __int128)(expression));                         \\
        }                                                                         \\
    }

OPERATION(u_product, unsigned __int128, a * b)
OPERATION(u_quotient, unsigned __int128, a / b)
OPERATION(u_remainder, unsigned __int128, a % b)
OPERATION(s_product, __int128, a * b)
OPERATION(s_quotient, __int128, a / b)
OPERATION(s_remainder, __int128, a % b)
OPERATION(s_mixture, __int128, (a + b) * 3 - (a - b) / 7)
"""

BITS, N = 128, 2000
MASK = (1 << BITS) - 1


def signed(value):
    return value - (1 << BITS) if value >> (BITS - 1) else value


def toward_zero(a, b):
    quotient = abs(a) // abs(b)
    return -quotient if (a < 0) != (b < 0) else quotient


def wrapped(value):
    """Wrap a value to a signed 128-bit integer."""
    return signed(value & MASK)


EXPECTED = {
    "u_product": lambda a, b: a * b,
    "u_quotient": lambda a, b: a // b,
    "u_remainder": lambda a, b: a % b,
    "s_product": lambda a, b: a * b,
    "s_quotient": toward_zero,
    "s_remainder": lambda a, b: a - toward_zero(a, b) * b,
    "s_mixture": lambda a, b: wrapped(a + b) * 3 - toward_zero(wrapped(a - b), 7),
}


def numbers():
    """Return values of all lengths and signs, and values with long carries."""
    rng = random.Random(20)
    special = [1, 2, 3, 10, MASK, MASK - 1, 1 << 63, 1 << 64, (1 << 64) - 1, 1 << 127]
    special += [(1 << 127) - 1, (1 << 64) + 1, MASK ^ ((1 << 64) - 1), MASK // 3]
    found = [rng.choice(special) for _ in range(N // 4)]
    while len(found) < N:
        value = rng.getrandbits(rng.randint(1, BITS)) or 1
        found.append(value if rng.random() < 0.7 else (-value) & MASK)
    rng.shuffle(found)
    return found


def words(values):
    return np.array([(v & (2**64 - 1), v >> 64) for v in values], np.uint64)


@pytest.fixture(scope="module")
def operands():
    x, y = numbers(), numbers()[::-1]
    overflow = {(1 << 127, MASK)}  # the one quotient that is undefined
    return x, [1 if pair in overflow else pair[1] for pair in zip(x, y, strict=True)]


@pytest.fixture(scope="module")
def compiled():
    context = drv.Device(0).make_context()
    try:
        yield SourceModule(SOURCE)
    finally:
        context.pop()
        context.detach()


def answers(compiled, name, x, y):
    out = np.zeros((N, 2), np.uint64)
    compiled.get_function(name)(
        np.int32(N), drv.In(words(x)), drv.In(words(y)), drv.Out(out),
        block=(128, 1, 1), grid=(-(-N // 128), 1),
    )  # fmt: skip
    return [int(low) | int(high) << 64 for low, high in out.tolist()]


def expected(name, x, y):
    read = signed if name.startswith("s_") else int
    operation = EXPECTED[name]
    pairs = zip(x, y, strict=True)
    return [operation(read(a), read(b)) & MASK for a, b in pairs]


@pytest.mark.parametrize("name", EXPECTED)
def test_128_bits(compiled, operands, name):
    got, wanted = answers(compiled, name, *operands), expected(name, *operands)
    wrong = [i for i in range(N) if got[i] != wanted[i]]
    assert not wrong, (len(wrong), [hex(v[wrong[0]]) for v in (*operands, got, wanted)])


def test_the_comparison_sees_one_bit(compiled, operands):
    x, y = operands
    got = answers(compiled, "u_quotient", [x[0] ^ 1, *x[1:]], [1, *y[1:]])
    assert got != expected("u_quotient", x, [1, *y[1:]])
    assert got[1:] == expected("u_quotient", x, y)[1:]
