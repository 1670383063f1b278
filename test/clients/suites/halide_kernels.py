"""Pipelines of Halide on CUDA, compared with its target for the CPU."""

import unittest

import halide as hl
import numpy as np

HOST = hl.get_host_target()
DEVICE = hl.get_host_target().with_feature(hl.TargetFeature.CUDA)


def taken(found, target):
    """Return a result, which a GPU's target must have left in the device's memory."""
    if found.has_device_allocation() != target.has_gpu_feature():
        raise RuntimeError(f"the result of {target} is in the wrong memory")
    found.copy_to_host()
    return np.asarray(found)


def blur(target):
    """Return the mean of nine pixels; blocks of threads on a GPU."""
    pixels = np.random.default_rng(1).integers(0, 4096, (64, 96)).astype(np.uint16)
    source = hl.Buffer(pixels)
    x, y, xi, yi = hl.Var("x"), hl.Var("y"), hl.Var("xi"), hl.Var("yi")
    clamped = hl.BoundaryConditions.repeat_edge(source)
    rows, out = hl.Func("rows"), hl.Func("out")
    rows[x, y] = (clamped[x - 1, y] + clamped[x, y] + clamped[x + 1, y]) // 3
    out[x, y] = (rows[x, y - 1] + rows[x, y] + rows[x, y + 1]) // 3
    if target.has_gpu_feature():
        out.gpu_tile(x, y, xi, yi, 16, 8)
        rows.compute_at(out, x).gpu_threads(x, y)
    found = out.realize([96, 64], target)
    return taken(found, target), pixels


def product(target):
    a, b = np.random.default_rng(2).integers(-4, 5, (2, 40, 40)).astype(np.float32)
    left, right = hl.Buffer(a), hl.Buffer(b)
    x, y, xi, yi = hl.Var("x"), hl.Var("y"), hl.Var("xi"), hl.Var("yi")
    k = hl.RDom([(0, 40)])
    out, total = hl.Func("out"), hl.Func("total")
    total[x, y] = 0.0
    total[x, y] += left[k, y] * right[x, k]
    out[x, y] = total[x, y]
    if target.has_gpu_feature():
        out.gpu_tile(x, y, xi, yi, 8, 8)
        total.compute_at(out, xi)
    found = out.realize([40, 40], target)
    return taken(found, target), a @ b


def histogram(target):
    values = np.random.default_rng(3).integers(0, 32, 2000).astype(np.uint8)
    source = hl.Buffer(values)
    x, xo, xi = hl.Var("x"), hl.Var("xo"), hl.Var("xi")
    k = hl.RDom([(0, 2000)])
    out = hl.Func("out")
    out[x] = hl.i32(0)
    out[hl.clamp(hl.i32(source[k]), 0, 31)] += 1
    if target.has_gpu_feature():
        out.gpu_tile(x, xo, xi, 32)
        out.update().gpu_single_thread()
    found = out.realize([32], target)
    return taken(found, target), np.bincount(values, minlength=32)


class Pipelines(unittest.TestCase):
    def check(self, pipeline):
        device, expected = pipeline(DEVICE)
        np.testing.assert_array_equal(device, pipeline(HOST)[0])
        return device, expected

    def test_blur(self):
        device, pixels = self.check(blur)
        self.assertEqual(device.shape, pixels.shape)
        self.assertGreater(len(np.unique(device)), 1000)

    def test_product(self):
        np.testing.assert_array_equal(*self.check(product))

    def test_histogram(self):
        np.testing.assert_array_equal(*self.check(histogram))
