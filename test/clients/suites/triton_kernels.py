"""Kernels in Triton 3.9, compared with NumPy. They need no PyTorch."""

import unittest

import numpy as np
import triton
import triton.language as tl
from device_arrays import DeviceArray
from triton.language.extra import libdevice

RANDOM = np.random.default_rng(1)


def uniform(*shape, dtype=np.float32):
    return (RANDOM.random(shape) * 2 - 1).astype(dtype)


def zeros(*shape, dtype=np.float32):
    return DeviceArray(np.zeros(shape, dtype))


@triton.jit
def add_kernel(x, y, to, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    total = tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside)
    tl.store(to + i, total, mask=inside)


@triton.jit
def functions_kernel(x, to, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    inside = i < n
    value = tl.load(x + i, mask=inside, other=0.0)
    tl.store(to + i, tl.exp(value), mask=inside)
    tl.store(to + n + i, tl.sin(value), mask=inside)
    tl.store(to + 2 * n + i, tl.sqrt(tl.abs(value)), mask=inside)
    tl.store(to + 3 * n + i, tl.sigmoid(value), mask=inside)
    tl.store(to + 4 * n + i, libdevice.asin(value), mask=inside)
    tl.store(to + 5 * n + i, tl.where(value > 0, value, 0.01 * value), mask=inside)


@triton.jit
def softmax_kernel(x, to, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    inside = i < columns
    value = tl.load(x + row * columns + i, mask=inside, other=-float("inf"))
    power = tl.exp(value - tl.max(value, axis=0))
    tl.store(to + row * columns + i, power / tl.sum(power, axis=0), mask=inside)


@triton.jit
def norm_kernel(x, weight, bias, to, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        value = tl.load(x + row * columns + i, mask=i < columns, other=0.0)
        total += value
        squares += value * value
    mean = tl.sum(total, axis=0) / columns
    scale = tl.rsqrt(tl.sum(squares, axis=0) / columns - mean * mean + 1e-5)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        value = tl.load(x + row * columns + i, mask=i < columns, other=0.0)
        w = tl.load(weight + i, mask=i < columns)
        b = tl.load(bias + i, mask=i < columns)
        result = (value - mean) * scale * w + b
        tl.store(to + row * columns + i, result, mask=i < columns)


@triton.jit
def product_kernel(
    a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    kind: tl.constexpr = c.dtype.element_ty
    total = tl.zeros((M, N), dtype=kind)
    for start in range(0, k, K):
        left = tl.load(
            a + rows[:, None] * k + (start + inner)[None, :],
            mask=(rows[:, None] < m) & ((start + inner)[None, :] < k),
            other=0.0,
        )
        right = tl.load(
            b + (start + inner)[:, None] * n + columns[None, :],
            mask=((start + inner)[:, None] < k) & (columns[None, :] < n),
            other=0.0,
        )
        total = tl.dot(left, right, total, input_precision=PRECISION, out_dtype=kind)
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * n + columns[None, :], total, mask=inside)


@triton.jit
def descriptor_kernel(x, to, m, n, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [m, n], [n, 1], [M, N])
    target = tl.make_tensor_descriptor(to, [n, m], [m, 1], [N, M])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    target.store([column, row], tl.trans(source.load([row, column])))


@triton.jit
def reductions_kernel(x, to, BLOCK: tl.constexpr):
    value = tl.load(x + tl.arange(0, BLOCK))
    tl.store(to + 0, tl.sum(value))
    tl.store(to + 1, tl.max(value))
    tl.store(to + 2, tl.min(value))
    tl.store(to + 3, tl.argmax(value, axis=0))
    tl.store(to + 4, tl.xor_sum(value))


@triton.jit
def combine(a, b):
    return a * b % 251


@triton.jit
def scans_kernel(x, to, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i)
    tl.store(to + i, tl.cumsum(value, axis=0))
    tl.store(to + BLOCK + i, tl.associative_scan(value, 0, combine))
    tl.store(to + 2 * BLOCK + i, tl.sort(value))
    tl.store(to + 3 * BLOCK + i, tl.flip(value, 0))


@triton.jit
def histogram_kernel(x, to, BLOCK: tl.constexpr, BINS: tl.constexpr):
    value = tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.atomic_add(to + tl.arange(0, BINS), tl.histogram(value, BINS))


@triton.jit
def atomics_kernel(to, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(to, tl.sum(i))
    tl.atomic_max(to + 1, tl.max(i))
    tl.atomic_min(to + 2, tl.min(i) - 5)
    tl.atomic_or(to + 3, 1 << tl.program_id(0))
    while tl.atomic_cas(to + 4, 0, 1) == 1:
        pass
    tl.store(to + 5, tl.load(to + 5, volatile=True) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(to + 4, 0)


@triton.jit
def random_kernel(seed, to, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(to + i, tl.rand(seed, i))


@triton.jit
def transpose_kernel(x, to, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    value = tl.load(x + i[:, None] * N + j[None, :])
    tl.store(to + j[:, None] * M + i[None, :], tl.trans(value))


@triton.jit
def convert_kernel(x, to, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i)
    tl.store(to + i, value.to(KIND).to(tl.float32))


@triton.jit
def gather_kernel(x, index, to, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(to + i, tl.gather(tl.load(x + i), tl.load(index + i), 0))


@triton.jit
def attention_kernel(q, k, v, to, n, scale, M: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    d = tl.arange(0, D)
    query = tl.load(q + rows[:, None] * D + d[None, :])
    largest = tl.full([M], -float("inf"), tl.float32)
    total = tl.zeros([M], tl.float32)
    result = tl.zeros([M, D], tl.float32)
    for start in range(0, n, M):
        columns = start + tl.arange(0, M)
        key = tl.load(k + columns[None, :] * D + d[:, None])
        value = tl.load(v + columns[:, None] * D + d[None, :])
        score = tl.dot(query, key) * scale
        new = tl.maximum(largest, tl.max(score, 1))
        power = tl.exp(score - new[:, None])
        old = tl.exp(largest - new)
        total = total * old + tl.sum(power, 1)
        result = result * old[:, None] + tl.dot(power.to(value.dtype), value)
        largest = new
    tl.store(to + rows[:, None] * D + d[None, :], result / total[:, None])


class Kernels(unittest.TestCase):
    def test_add(self):
        for dtype in ("f4", "f8", "f2", "i4", "i8", "u1"):
            x = (RANDOM.random(1000) * 100).astype(dtype)
            y = (RANDOM.random(1000) * 100).astype(dtype)
            to = zeros(1000, dtype=dtype)
            add_kernel[(8,)](DeviceArray(x), DeviceArray(y), to, 1000, BLOCK=128)
            np.testing.assert_array_equal(to.get(), x + y)

    def test_functions(self):
        x = uniform(1000)
        to = zeros(6, 1000)
        functions_kernel[(1,)](DeviceArray(x), to, 1000, BLOCK=1024)
        expected = [
            np.exp(x),
            np.sin(x),
            np.sqrt(np.abs(x)),
            1 / (1 + np.exp(-x)),
            np.arcsin(x),
            np.where(x > 0, x, np.float32(0.01) * x),
        ]
        np.testing.assert_allclose(to.get(), expected, rtol=2e-6, atol=1e-6)

    def test_softmax(self):
        x = uniform(37, 781)
        to = zeros(37, 781)
        softmax_kernel[(37,)](DeviceArray(x), to, 781, BLOCK=1024, num_warps=8)
        power = np.exp(x - x.max(1, keepdims=True))
        np.testing.assert_allclose(
            to.get(), power / power.sum(1, keepdims=True), rtol=1e-5
        )

    def test_layer_norm(self):
        x, weight, bias = uniform(5, 300), uniform(300), uniform(300)
        to = zeros(5, 300)
        norm_kernel[(5,)](
            *map(DeviceArray, (x, weight, bias)), to, 300, BLOCK=128
        )  # fmt: skip
        expected = (x - x.mean(1, keepdims=True)) / np.sqrt(
            x.var(1, keepdims=True) + 1e-5
        ) * weight + bias
        np.testing.assert_allclose(to.get(), expected, rtol=1e-4, atol=1e-5)

    def test_reductions(self):
        x = RANDOM.integers(-1000, 1000, 512).astype(np.int32)
        to = zeros(5, dtype=np.int32)
        reductions_kernel[(1,)](DeviceArray(x), to, BLOCK=512)
        expected = [x.sum(), x.max(), x.min(), x.argmax(), np.bitwise_xor.reduce(x)]
        self.assertEqual(to.get().tolist(), [int(value) for value in expected])

    def test_scans_and_sort(self):
        x = RANDOM.integers(1, 1000, 256).astype(np.int32)
        to = zeros(4, 256, dtype=np.int32)
        scans_kernel[(1,)](DeviceArray(x), to, BLOCK=256)
        products, last = [], 1
        for value in x.tolist():
            last = value if not products else last * value % 251
            products.append(last)
        found = to.get()
        np.testing.assert_array_equal(found[0], np.cumsum(x))
        np.testing.assert_array_equal(found[1], products)
        np.testing.assert_array_equal(found[2], np.sort(x))
        np.testing.assert_array_equal(found[3], x[::-1])

    def test_histogram(self):
        x = RANDOM.integers(0, 32, 1024).astype(np.int32)
        to = zeros(32, dtype=np.int32)
        histogram_kernel[(4,)](DeviceArray(x), to, BLOCK=256, BINS=32)
        np.testing.assert_array_equal(to.get(), np.bincount(x, minlength=32))

    def test_atomics(self):
        to = zeros(6, dtype=np.int32)
        atomics_kernel[(8,)](to, BLOCK=64)
        total = sum(range(512))
        self.assertEqual(to.get().tolist(), [total, 511, -5, 255, 0, 8])

    def test_random(self):
        to = zeros(4096)
        random_kernel[(4,)](1234, to, BLOCK=1024)
        found = to.get()
        self.assertGreaterEqual(found.min(), 0)
        self.assertLess(found.max(), 1)
        self.assertAlmostEqual(float(found.mean()), 0.5, delta=0.02)
        self.assertGreater(len(set(found.tolist())), 4090)

    def test_transpose(self):
        for dtype in (np.float16, np.float32, np.int8):
            x = (uniform(64, 32) * 100).astype(dtype)
            to = zeros(32, 64, dtype=dtype)
            transpose_kernel[(1,)](DeviceArray(x), to, M=64, N=32)
            np.testing.assert_array_equal(to.get(), x.T)

    def test_gather(self):
        x, index = uniform(128), RANDOM.integers(0, 128, 128).astype(np.int32)
        to = zeros(128)
        gather_kernel[(1,)](DeviceArray(x), DeviceArray(index), to, BLOCK=128)
        np.testing.assert_array_equal(to.get(), x[index])

    def test_conversions(self):
        x = (uniform(256) * 30).astype(np.float32)
        for kind, bits, error in (
            (tl.float16, 10, 0),
            (tl.bfloat16, 7, 0),
            (tl.float8e4nv, 3, 2**-9),
            (tl.float8e5, 2, 2**-16),
        ):
            to = zeros(256)
            convert_kernel[(1,)](DeviceArray(x), to, KIND=kind, BLOCK=256)
            bound = np.abs(x) * 2.0 ** -(bits + 1) + error
            self.assertTrue((np.abs(to.get() - x) <= bound).all(), kind)


class Products(unittest.TestCase):
    def check(self, a, b, out, tolerance, precision="ieee", tile=(32, 32, 32), **more):
        m, k = a.shape
        n = b.shape[1]
        c = zeros(m, n, dtype=out)
        grid = (triton.cdiv(m, tile[0]), triton.cdiv(n, tile[1]))
        product_kernel[grid](
            DeviceArray(a), DeviceArray(b), c, m, n, k, *tile, precision, **more
        )
        expected = a.astype(np.float64) @ b.astype(np.float64)
        np.testing.assert_allclose(c.get(), expected, rtol=tolerance, atol=tolerance)

    def test_half(self):
        a, b = uniform(100, 70, dtype="f2"), uniform(70, 50, dtype="f2")
        self.check(a, b, np.float32, 1e-3)

    def test_half_with_a_warp_group(self):
        a, b = uniform(128, 128, dtype="f2"), uniform(128, 128, dtype="f2")
        self.check(a, b, np.float32, 1e-3, tile=(64, 64, 64), num_stages=3)

    def test_tf32(self):
        self.check(uniform(64, 64), uniform(64, 64), np.float32, 2e-2, "tf32")

    def test_single(self):
        self.check(uniform(64, 48), uniform(48, 33), np.float32, 1e-5)

    def test_three_tf32(self):
        self.check(uniform(64, 64), uniform(64, 64), np.float32, 1e-4, "tf32x3")

    def test_double(self):
        a, b = uniform(33, 40, dtype="f8"), uniform(40, 35, dtype="f8")
        self.check(a, b, np.float64, 1e-12)

    def test_int8(self):
        a = RANDOM.integers(-100, 100, (64, 64)).astype(np.int8)
        b = RANDOM.integers(-100, 100, (64, 64)).astype(np.int8)
        self.check(a, b, np.int32, 0)

    def test_attention(self):
        q, k, v = (uniform(128, 64, dtype="f2") for _ in range(3))
        to = zeros(128, 64)
        attention_kernel[(2,)](
            *map(DeviceArray, (q, k, v)), to, 128, 0.125, M=64, D=64
        )  # fmt: skip
        score = 0.125 * q.astype("f4") @ k.T.astype("f4")
        power = np.exp(score - score.max(1, keepdims=True))
        expected = power / power.sum(1, keepdims=True) @ v.astype("f4")
        np.testing.assert_allclose(to.get(), expected, rtol=1e-2, atol=1e-2)


class Descriptors(unittest.TestCase):
    def test_tensor_descriptors(self):
        kept = []

        def allocate(size, alignment, stream):
            kept.append(DeviceArray(np.zeros(size, np.int8)))
            return kept[-1]

        triton.set_allocator(allocate)
        x = uniform(64, 96, dtype="f4")
        to = zeros(96, 64)
        descriptor_kernel[(2, 3)](DeviceArray(x), to, 64, 96, M=32, N=32)
        np.testing.assert_array_equal(to.get(), x.T)


if __name__ == "__main__":
    unittest.main()
