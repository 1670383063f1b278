"""A kernel in one stream uses the result of another stream without a wait."""

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void fill(float *x) { x[threadIdx.x] = threadIdx.x; }
__global__ void add(float *y, const float *x) { y[threadIdx.x] += x[threadIdx.x]; }
""")
fill, add = map(module.get_function, ("fill", "add"))
first, second = drv.Stream(), drv.Stream()
x, y = gpuarray.zeros(64, np.float32), gpuarray.zeros(64, np.float32)
done = drv.Event()
fill(x, block=(64, 1, 1), stream=first)  # FAULT
# + done.record(first)
# + second.wait_for_event(done)
add(y, x, block=(64, 1, 1), stream=second)  # FAULT
first.synchronize()
second.synchronize()
print(y.get().sum())
