"""Link two sources into one module: a kernel, and a function that it calls.

Each source is compiled separately, so a change of one does not affect the cached result
of the other. ``-rdc=true`` generates code that can be linked with other files.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit  # makes a context
import pycuda.driver as drv
from pycuda.compiler import DynamicModule

argparse.ArgumentParser(description=__doc__).parse_args()
print("device:", pycuda.autoinit.device.name())

FUNCTION = """
__device__ float next_guess(float x, float guess)
{
    return 0.5f * (guess + x / guess);
}
"""
KERNEL = """
__device__ float next_guess(float x, float guess);

__global__ void root(float *values)
{
    float x = values[threadIdx.x], guess = x;
    for (int i = 0; i < 20; i++)
        guess = next_guess(x, guess);
    values[threadIdx.x] = guess;
}
"""

module = DynamicModule()
for source in (FUNCTION, KERNEL):
    module.add_source(source, nvcc_options=["-rdc=true"])
root = module.link().get_function("root")

numbers = np.array([1, 2, 3, 4, 9, 100], dtype=np.float32)
roots = numbers.copy()
root(drv.InOut(roots), block=(roots.size, 1, 1))

print("roots:", roots)
print("right:", np.allclose(roots, np.sqrt(numbers), rtol=1e-6))
if not np.allclose(roots, np.sqrt(numbers), rtol=1e-6):
    sys.exit("the result is wrong")
