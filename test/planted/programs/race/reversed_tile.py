"""Threads read what others wrote to shared memory, without __syncthreads before."""

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void reverse(int *x)
{
    __shared__ int tile[128];
    int t = threadIdx.x;
    tile[t] = 0;
    __syncthreads();
    tile[t] = x[t];  // FAULT
    // + __syncthreads();
    x[t] = tile[127 - t];  // FAULT
}
""")
x = np.arange(128, dtype=np.int32)
reverse = module.get_function("reverse")
reverse(drv.InOut(x), block=(128, 1, 1))  # LAUNCH
print(x[:4])
