"""Declare the types of a kernel's arguments once, for faster calls.

The format has one letter for each argument as in the struct module, P for a pointer. A
prepared call accepts plain Python numbers, because the format gives their types.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit  # makes a context
import pycuda.driver as drv
from pycuda.compiler import SourceModule

argparse.ArgumentParser(description=__doc__).parse_args()
print("device:", pycuda.autoinit.device.name())

module = SourceModule(
    """
    __global__ void add_scaled(float *y, float a, const float *x, int n)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n)
            y[i] += a * x[i];
    }
    """
)
add_scaled = module.get_function("add_scaled").prepare("PfPi")

n = 1000
grid, block = (8, 1), (128, 1, 1)
x = drv.to_device(np.arange(n, dtype=np.float32))
y = drv.to_device(np.zeros(n, dtype=np.float32))

add_scaled.prepared_call(grid, block, y, 2, x, n)
stream = drv.Stream()
add_scaled.prepared_async_call(grid, block, stream, y, 3.0, x, n)
stream.synchronize()
seconds = add_scaled.prepared_timed_call(grid, block, y, -1, x, n)()

result = drv.from_device(y, n, np.float32)
print("last:", result[-1])
print("largest difference from 4 x:", np.abs(result - 4 * np.arange(n)).max())
print("timed:", seconds > 0)
if (result != 4 * np.arange(n)).any():
    sys.exit("the result is wrong")
