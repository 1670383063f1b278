"""Launch a kernel that Numba compiled from Python on a GPUArray, without a copy.

Both must use the primary context of the device, so the import makes that context
current. Needs Numba with CUDA, and a GPU.
"""

import argparse
import sys

import numpy as np

try:
    from numba import cuda
except ImportError as error:
    sys.exit(f"This example needs Numba (the package numba-cuda): {error}")

import pycuda.autoprimaryctx
from pycuda import gpuarray
from pycuda.elementwise import ElementwiseKernel
from pycuda.interop import from_gpuarray, to_gpuarray

argparse.ArgumentParser(description=__doc__).parse_args()
print("device:", pycuda.autoprimaryctx.device.name())


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


halve = ElementwiseKernel("float *x", "x[i] = x[i] / 2", "halve")

mine = gpuarray.to_gpu(np.arange(100, dtype=np.float32))
add_one[4, 32](from_gpuarray(mine, "numba"))  # Numba's kernel, a GPUArray's memory
cuda.synchronize()
print("the GPUArray has what Numba wrote:", mine[:3].get().tolist())

theirs = cuda.to_device(np.arange(10, dtype=np.float32))
halve(to_gpuarray(theirs))  # our kernel, Numba's memory
pycuda.autoprimaryctx.context.synchronize()
print("Numba sees what the kernel wrote:", float(theirs.copy_to_host()[9]))

right = np.array_equal(mine.get(), np.arange(100) + 1)
right &= np.array_equal(theirs.copy_to_host(), np.arange(10) / 2)
if not right:
    sys.exit("the memory is not shared")
