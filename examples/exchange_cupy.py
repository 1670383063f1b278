"""Work on one array with CuPy and with your own kernel, without a copy.

Both must use the primary context of the device, so the import makes that context
current. Needs CuPy and a GPU.
"""

import argparse
import sys

import numpy as np

try:
    import cupy
except ImportError as error:
    sys.exit(f"This example needs CuPy (the package cupy-cuda13x): {error}")

import pycuda.autoprimaryctx  # makes the primary context current
from pycuda import gpuarray
from pycuda.elementwise import ElementwiseKernel
from pycuda.interop import from_gpuarray, to_gpuarray

argparse.ArgumentParser(description=__doc__).parse_args()
print("device:", pycuda.autoprimaryctx.device.name())

halve = ElementwiseKernel("float *x", "x[i] = x[i] / 2", "halve")

theirs = cupy.arange(10, dtype=cupy.float32)
ours = to_gpuarray(theirs)  # a GPUArray over CuPy's memory
halve(ours)
print("CuPy sees what the kernel wrote:", float(theirs[9]))

mine = gpuarray.to_gpu(np.arange(6, dtype=np.float32).reshape(2, 3))
view = from_gpuarray(mine, "cupy")  # a cupy.ndarray over the GPUArray's memory
view += 1
cupy.cuda.get_current_stream().synchronize()
print("the GPUArray has what CuPy wrote:", mine.get().tolist())
print("sum of both:", float(view.sum()), gpuarray.sum(mine).get())

right = np.array_equal(cupy.asnumpy(theirs), np.arange(10) / 2)
right &= np.array_equal(mine.get(), np.arange(6).reshape(2, 3) + 1)
if not right:
    sys.exit("the memory is not shared")
