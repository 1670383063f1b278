"""A stream with NON_BLOCKING does not wait for the default stream."""

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void fill(int *x) { x[threadIdx.x] = threadIdx.x; }
__global__ void twice(int *x) { x[threadIdx.x] *= 2; }
""")
fill, twice = map(module.get_function, ("fill", "twice"))
stream = drv.Stream(drv.stream_flags.NON_BLOCKING)  # -
# + stream = drv.Stream()
x = gpuarray.zeros(64, np.int32)
drv.Context.synchronize()
fill(x, block=(64, 1, 1))  # FAULT
twice(x, block=(64, 1, 1), stream=stream)  # FAULT
drv.Context.synchronize()
print(x.get()[:4])
