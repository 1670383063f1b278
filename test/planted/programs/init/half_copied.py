"""The size of a copy is given in elements, but the unit is bytes."""

import ctypes

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void norms(float *out, const float *x, int n)
{
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += x[i] * x[i];  // FAULT
    out[threadIdx.x] = sqrtf(sum);  // FAULT
}
""")
n = 1024
x = np.random.rand(n).astype(np.float32)
size = n  # -
# + size = 4 * n
x_gpu = drv.mem_alloc(4 * n)  # MADE
drv.memcpy_htod(x_gpu, (ctypes.c_char * size).from_buffer(x))
out = np.empty(32, np.float32)
norms = module.get_function("norms")
norms(drv.Out(out), x_gpu, np.int32(n), block=(32, 1, 1))  # LAUNCH
print(out[:4])
