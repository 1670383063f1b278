"""Kernels of Taichi on CUDA, compared with its backend for the CPU."""

import unittest

import numpy as np
import taichi as ti

SCANNED = np.arange(5000, dtype=np.int32) % 7


@ti.kernel
def fill(x: ti.types.ndarray(), y: ti.types.ndarray()):
    for i in range(x.shape[0]):
        y[i] = ti.sin(x[i]) * 2.0 + ti.sqrt(ti.abs(x[i]))


@ti.kernel
def product(a: ti.types.ndarray(), b: ti.types.ndarray(), c: ti.types.ndarray()):
    for i, j in ti.ndrange(a.shape[0], b.shape[1]):
        total = ti.cast(0, ti.f32)
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        c[i, j] = total


@ti.kernel
def histogram(x: ti.types.ndarray(), counts: ti.types.ndarray()):
    for i in range(x.shape[0]):
        ti.atomic_add(counts[x[i]], 1)


@ti.kernel
def total(x: ti.types.ndarray()) -> ti.i32:
    found = 0
    for i in range(x.shape[0]):
        found += x[i]
    return found


def inputs():
    rng = np.random.default_rng(1)
    x = rng.normal(size=1000).astype(np.float32)
    a, b = rng.integers(-4, 5, (2, 24, 24)).astype(np.float32)
    return x, a, b, rng.integers(0, 16, 3000).astype(np.int32)


def results(arch):
    """Return what the kernels compute on a backend."""
    ti.init(arch=arch, offline_cache=False, log_level=ti.ERROR)
    if ti.lang.impl.current_cfg().arch != arch:
        raise RuntimeError(f"Taichi does not use {arch}")
    x, a, b, numbers = inputs()
    y, c = np.zeros_like(x), np.zeros_like(a)
    counts = np.zeros(16, np.int32)
    fill(x, y)
    product(a, b, c)
    histogram(numbers, counts)
    found = {"fill": y, "product": c, "histogram": counts, "total": total(numbers)}
    if arch == ti.cuda:  # the only backend that has it
        field = ti.field(ti.i32, 5000)
        field.from_numpy(SCANNED)
        ti.algorithms.PrefixSumExecutor(5000).run(field)
        found["scan"] = field.to_numpy()
    ti.reset()
    return found


class Kernels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.host, cls.device = results(ti.cpu), results(ti.cuda)

    def test_integers(self):
        numbers = inputs()[3]
        for found in (self.host, self.device):
            self.assertEqual(found["total"], numbers.sum())
            np.testing.assert_array_equal(found["histogram"], np.bincount(numbers))

    def test_functions(self):
        x = inputs()[0]
        expected = np.sin(x) * 2 + np.sqrt(np.abs(x))
        for other in (self.host["fill"], expected):
            np.testing.assert_allclose(self.device["fill"], other, 1e-5, 1e-6)

    def test_product(self):
        _, a, b, _ = inputs()
        np.testing.assert_array_equal(self.device["product"], a @ b)
        np.testing.assert_array_equal(self.host["product"], a @ b)

    def test_scan(self):
        """The sums use shared memory of a size that the kernel declares."""
        np.testing.assert_array_equal(self.device["scan"], np.cumsum(SCANNED))
