"""Double the numbers of a 4x4 matrix four ways, from the most explicit to the shortest.

Memory and copies by hand; InOut, which does the same around one call; a prepared call,
for which the program declares the argument types once; and a GPUArray, which is
multiplied like a NumPy array.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit  # makes a context
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

argparse.ArgumentParser(description=__doc__).parse_args()
print("device:", pycuda.autoinit.device.name())

module = SourceModule(
    """
    __global__ void twice(float *matrix)
    {
        matrix[threadIdx.x + 4 * threadIdx.y] *= 2;
    }
    """
)
twice = module.get_function("twice")
matrix = np.random.randn(4, 4).astype(np.float32)
print("matrix:")
print(matrix)

# 1. By hand.
device_matrix = drv.mem_alloc(matrix.nbytes)
drv.memcpy_htod(device_matrix, matrix)
twice(device_matrix, block=(4, 4, 1))
by_hand = np.empty_like(matrix)
drv.memcpy_dtoh(by_hand, device_matrix)
print("doubled:")
print(by_hand)

# 2. In place in one call.
in_place = matrix.copy()
twice(drv.InOut(in_place), block=(4, 4, 1))

# 3. Prepared: P is a pointer. The matrix on the device was doubled once already.
twice.prepare("P")
twice.prepared_call((1, 1), (4, 4, 1), device_matrix)
prepared = np.empty_like(matrix)
drv.memcpy_dtoh(prepared, device_matrix)

# 4. Without writing a kernel.
array = (2 * gpuarray.to_gpu(matrix)).get()

right = True
for way, result, factor in [
    ("by hand", by_hand, 2),
    ("InOut", in_place, 2),
    ("prepared, doubled again", prepared, 4),
    ("GPUArray", array, 2),
]:
    difference = np.abs(result - factor * matrix).max()
    print(f"{way}: largest difference {difference}")
    right &= difference == 0
if not right:
    sys.exit("a result is wrong")
