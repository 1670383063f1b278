"""Only the threads that have work reach the first __syncthreads."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void add_neighbours(float *x, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = 0;
    if (t < n) {
        s[t] = x[t];
        __syncthreads();  // - FAULT
    }
    // + __syncthreads();
    float sum = s[t] + s[t ^ 1];
    __syncthreads();  // FAULT
    s[t] = sum;
    __syncthreads();  // FAULT
    if (t < n) x[t] = s[t] + s[(t + 2) & 127];
}
""")
n = 96
x = gpuarray.to_gpu(np.random.rand(n).astype(np.float32))
add_neighbours = module.get_function("add_neighbours")
add_neighbours(x, np.int32(n), block=(128, 1, 1))  # LAUNCH
print(x.get()[:4])
