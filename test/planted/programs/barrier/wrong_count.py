"""A barrier for a part of the block waits for more threads than come to it."""

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void hand_over(int *x)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 64) {
        s[t] = x[t];
        asm volatile("bar.sync 1, 128;" ::: "memory");  // - FAULT
        // + asm volatile("bar.sync 1, 64;" ::: "memory");
        x[t] = s[63 - t];
    }
    __syncthreads();  // FAULT
    if (t >= 64) x[t] = x[t - 64];
}
""")
x = np.arange(128, dtype=np.int32)
module.get_function("hand_over")(drv.InOut(x), block=(128, 1, 1))  # LAUNCH
print(x[:4])
