"""Both branches have a __syncthreads, but they are two different barriers."""

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void pass_on(int *x)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    if (t < 32) {
        s[t] += 1;
        __syncthreads();  // - FAULT
    } else {
        s[t] -= 1;
        __syncthreads();  // - FAULT
    }
    // + __syncthreads();
    x[t] = s[63 - t];
}
""")
x = np.arange(64, dtype=np.int32)
module.get_function("pass_on")(drv.InOut(x), block=(64, 1, 1))  # LAUNCH
print(x[:4])
