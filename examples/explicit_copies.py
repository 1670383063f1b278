"""Double an array of 64-bit floats with every allocation and copy written out.

Each of four blocks of 64 threads processes its part. The program frees each allocation
as soon as it is no longer needed, and does not wait for Python to do so.
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
    __global__ void twice(double *result, const double *values)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        result[i] = 2 * values[i];
    }
    """
)
twice = module.get_function("twice")

values = np.linspace(-1, 1, 256)
device_values = drv.mem_alloc(values.nbytes)
device_result = drv.mem_alloc(values.nbytes)
drv.memcpy_htod(device_values, values)
twice(device_result, device_values, block=(64, 1, 1), grid=(4, 1))
device_values.free()

result = np.empty_like(values)
drv.memcpy_dtoh(result, device_result)
device_result.free()

print("first and last:", result[0], result[-1])
print("largest difference:", np.abs(result - 2 * values).max())
if (result != 2 * values).any():
    sys.exit("the result is wrong")
