"""Kernels of Warp on arrays of this package.

Warp's own arrays need the runtime library of CUDA, which is linked statically into Warp
and needs what only NVIDIA's driver has. Its kernels run: cuda_output="ptx" makes Warp
compile to PTX, and a launch takes any object with __cuda_array_interface__.
"""

import unittest

import numpy as np
import warp as wp

import pycuda.autoprimaryctx
from pycuda import gpuarray

wp.config.cuda_output = "ptx"
wp.config.enable_mempools_at_init = False
wp.config.quiet = True
wp.init()

RANDOM = np.random.default_rng(1)


@wp.kernel
def wave(x: wp.array(dtype=float), to: wp.array(dtype=float)):
    i = wp.tid()
    to[i] = wp.sin(x[i]) * 2.0 + wp.sqrt(wp.abs(x[i]))


@wp.kernel
def product(
    a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), to: wp.array2d(dtype=float)
):
    i, j = wp.tid()
    total = float(0.0)  # noqa: UP018 (a variable of a kernel)
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    to[i, j] = total


@wp.func
def bounce(position: wp.vec3, speed: wp.vec3):
    if position[1] < 0.0:
        return wp.vec3(speed[0], -speed[1], speed[2])
    return speed


@wp.kernel
def particles(
    position: wp.array(dtype=wp.vec3),
    speed: wp.array(dtype=wp.vec3),
    step: float,
    count: int,
):
    i = wp.tid()
    p, v = 1.0 * position[i], 1.0 * speed[i]
    for _ in range(count):
        v = v + wp.vec3(0.0, -9.8, 0.0) * step
        p = p + v * step
        v = bounce(p, v)
    position[i] = p
    speed[i] = v


@wp.kernel
def histogram(x: wp.array(dtype=int), to: wp.array(dtype=int)):
    i = wp.tid()
    wp.atomic_add(to, x[i], 1)


@wp.kernel
def noise(seed: int, to: wp.array(dtype=float)):
    i = wp.tid()
    to[i] = wp.randf(wp.rand_init(seed, i))


@wp.kernel
def rotations(
    axis: wp.array(dtype=wp.vec3), angle: wp.array(dtype=float),
    to: wp.array(dtype=wp.vec3),
):  # fmt: skip
    i = wp.tid()
    to[i] = wp.quat_rotate(
        wp.quat_from_axis_angle(wp.normalize(axis[i]), angle[i]), wp.vec3(1.0, 2.0, 3.0)
    )


@wp.struct
class Body:
    mass: float
    speed: wp.vec3


@wp.kernel
def energy(body: Body, factor: wp.array(dtype=float), to: wp.array(dtype=wp.float64)):
    i = wp.tid()
    value = 0.5 * body.mass * wp.dot(body.speed, body.speed) * factor[i]
    to[i] = wp.float64(value)


TILE = wp.constant(32)


@wp.kernel
def tile_sums(x: wp.array2d(dtype=float), to: wp.array(dtype=float)):
    i = wp.tid()
    wp.tile_store(to, wp.tile_sum(wp.tile_load(x[i], shape=TILE)), offset=i)


def launch(kernel, size, *arguments, **options):
    wp.launch(kernel, dim=size, inputs=list(arguments), device="cuda:0", **options)
    pycuda.autoprimaryctx.context.synchronize()


def uniform(*shape):
    return (RANDOM.random(shape) * 4 - 2).astype(np.float32)


class Kernels(unittest.TestCase):
    def test_functions(self):
        x = uniform(1000)
        to = gpuarray.zeros(1000, np.float32)
        launch(wave, 1000, gpuarray.to_gpu(x), to)
        expected = 2 * np.sin(x) + np.sqrt(np.abs(x))
        np.testing.assert_allclose(to.get(), expected, rtol=2e-6, atol=1e-6)

    def test_product(self):
        a, b = uniform(20, 30), uniform(30, 10)
        to = gpuarray.zeros((20, 10), np.float32)
        launch(product, (20, 10), gpuarray.to_gpu(a), gpuarray.to_gpu(b), to)
        np.testing.assert_allclose(to.get(), a @ b, rtol=1e-5, atol=1e-5)

    def test_vectors(self):
        start, speed = np.abs(uniform(100, 3)), uniform(100, 3)
        position, velocity = gpuarray.to_gpu(start), gpuarray.to_gpu(speed)
        launch(particles, 100, position, velocity, 0.01, 50)
        p, v = start.copy(), speed.copy()
        for _ in range(50):
            v[:, 1] -= np.float32(9.8) * np.float32(0.01)
            p += v * np.float32(0.01)
            v[:, 1] = np.where(p[:, 1] < 0, -v[:, 1], v[:, 1])
        np.testing.assert_allclose(position.get(), p, rtol=1e-3, atol=1e-3)

    def test_atomics(self):
        x = RANDOM.integers(0, 10, 5000).astype(np.int32)
        to = gpuarray.zeros(10, np.int32)
        launch(histogram, 5000, gpuarray.to_gpu(x), to)
        np.testing.assert_array_equal(to.get(), np.bincount(x, minlength=10))

    def test_random_numbers(self):
        to = gpuarray.zeros(4000, np.float32)
        launch(noise, 4000, 42, to)
        found = to.get()
        self.assertGreaterEqual(found.min(), 0)
        self.assertLess(found.max(), 1)
        self.assertAlmostEqual(float(found.mean()), 0.5, delta=0.03)

    def test_quaternions(self):
        axis, angle = uniform(50, 3), uniform(50)
        to = gpuarray.zeros((50, 3), np.float32)
        launch(rotations, 50, gpuarray.to_gpu(axis), gpuarray.to_gpu(angle), to)
        unit = axis / np.linalg.norm(axis, axis=1, keepdims=True)
        point = np.array([1, 2, 3], np.float32)
        cosine, sine = np.cos(angle)[:, None], np.sin(angle)[:, None]
        expected = (
            point * cosine
            + np.cross(unit, point) * sine
            + unit * (unit @ point)[:, None] * (1 - cosine)
        )
        np.testing.assert_allclose(to.get(), expected, rtol=1e-4, atol=1e-4)

    def test_structs(self):
        body = Body()
        body.mass, body.speed = 2.0, wp.vec3(1.0, 2.0, 3.0)
        factor = uniform(10)
        to = gpuarray.zeros(10, np.float64)
        launch(energy, 10, body, gpuarray.to_gpu(factor), to)
        np.testing.assert_allclose(to.get(), 14.0 * factor, rtol=1e-6)

    def test_tiles(self):
        x = uniform(8, 32)
        to = gpuarray.zeros(8, np.float32)
        wp.launch_tiled(
            tile_sums, dim=[8], inputs=[gpuarray.to_gpu(x), to], block_dim=32,
            device="cuda:0",
        )  # fmt: skip
        pycuda.autoprimaryctx.context.synchronize()
        np.testing.assert_allclose(to.get(), x.sum(1), rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
