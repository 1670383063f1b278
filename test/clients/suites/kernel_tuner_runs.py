"""Runs of Kernel Tuner with this package as its backend for PyCUDA."""

import os
import tempfile
import unittest

import numpy as np
from kernel_tuner import run_kernel, tune_kernel

from pycuda.driver import CompileError

N = np.int32(4096)
VALUES = np.random.default_rng(1).standard_normal(N).astype(np.float32)

PLAIN = """
__global__ void f(float *out, const float *in, int n)
{
    int i = blockIdx.x * block_size_x + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];
}
"""
CONSTANT = "__constant__ float by[2];\n" + PLAIN.replace("2 *", "by[1] *")
SHARED = PLAIN.replace(
    "if (i", "__shared__ float tile[room];\n    tile[threadIdx.x] = i;\n    if (i"
).replace("2 * in[i]", "2 * in[(int)tile[threadIdx.x]]")


def tune(source, parameters, **options):
    arguments = [np.zeros_like(VALUES), VALUES, N]
    return tune_kernel(
        *("f", source, N, arguments, parameters),
        **{"lang": "CUDA", "quiet": True, "iterations": 2, **options},
        answer=[2 * VALUES, None, None],
    )


class Runs(unittest.TestCase):
    def setUp(self):
        self._folder = os.getcwd()
        place = tempfile.TemporaryDirectory()  # for sources that fail
        self.addCleanup(place.cleanup)
        self.addCleanup(os.chdir, self._folder)
        os.chdir(place.name)

    def test_all_variants(self):
        results, environment = tune(PLAIN, {"block_size_x": [32, 64, 256]})
        self.assertEqual([each["block_size_x"] for each in results], [32, 64, 256])
        self.assertTrue(all(each["time"] > 0 for each in results))
        self.assertIn("device_name", environment)

    def test_a_strategy_and_constant_memory(self):
        by = {"by": np.array([1, 2], np.float32)}
        sizes = {"block_size_x": [32 * n for n in range(1, 17)]}
        results, _ = tune(
            *(CONSTANT, sizes),
            cmem_args=by,
            strategy="random_sample",
            strategy_options={"max_fevals": 4},
        )
        self.assertEqual(len(results), 4)
        by["by"][1] = 3
        with self.assertRaisesRegex(RuntimeError, "verification failed"):
            tune(CONSTANT, {"block_size_x": [32]}, cmem_args=by)

    def test_a_variant_with_too_much_shared_memory_is_left_out(self):
        results, _ = tune(SHARED, {"block_size_x": [64], "room": [64, 4096, 65536]})
        times = {each["room"]: each.get("time") for each in results}
        self.assertIsInstance(times[64], float)
        self.assertIsInstance(times[4096], float)
        self.assertNotIsInstance(times[65536], float)

    def test_an_error_of_the_compiler_shows_the_line(self):
        with self.assertRaises(CompileError) as caught:
            tune(PLAIN.replace("2 *", "two *"), {"block_size_x": [64]})
        self.assertIn("if (i < n) out[i] = two * in[i];\n", str(caught.exception))
        self.assertIn("kernel.cu, line 5:", str(caught.exception))

    def test_one_run(self):
        arguments = [np.zeros_like(VALUES), VALUES, N]
        found, _, _ = run_kernel(
            "f", PLAIN, N, arguments, {"block_size_x": 64}, lang="CUDA", quiet=True
        )
        np.testing.assert_array_equal(found, 2 * VALUES)
