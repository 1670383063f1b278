"""Memory is freed in one stream while a kernel in another stream uses it."""

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void fill(float *x) { x[threadIdx.x] = 1; }
__global__ void add(float *y, const float *x) { y[threadIdx.x] += x[threadIdx.x]; }
""")
fill, add = map(module.get_function, ("fill", "add"))
first, second = drv.Stream(), drv.Stream()
y = gpuarray.zeros(64, np.float32)
drv.Context.synchronize()
x = drv.mem_alloc_async(256, first)
fill(x, block=(64, 1, 1), stream=first)
filled, added = drv.Event(), drv.Event()
filled.record(first)
second.wait_for_event(filled)
address = np.intp(int(x))  # so the package does not see which memory add uses
add(y, address, block=(64, 1, 1), stream=second)  # FAULT
# + added.record(second)
# + first.wait_for_event(added)
x.free(first)  # FAULT
drv.Context.synchronize()
print(y.get().sum())
