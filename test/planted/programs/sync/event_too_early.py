"""An event is recorded before the kernel for which the other stream should wait."""

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void square(float *x) { x[threadIdx.x] *= x[threadIdx.x]; }
__global__ void add(float *y, const float *x) { y[threadIdx.x] += x[threadIdx.x]; }
""")
square, add = map(module.get_function, ("square", "add"))
first, second = drv.Stream(), drv.Stream()
x = gpuarray.to_gpu(np.arange(64, dtype=np.float32))
y = gpuarray.zeros(64, np.float32)
done = drv.Event()
done.record(first)  # -
square(x, block=(64, 1, 1), stream=first)  # FAULT
# + done.record(first)
second.wait_for_event(done)
add(y, x, block=(64, 1, 1), stream=second)  # FAULT
drv.Context.synchronize()
print(y.get().sum())
