"""__syncthreads waits for one block, but the kernel reads results of another block."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void normalize(float *x, float *sums)
{
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = x[i];
    __syncthreads();
    for (int n = 32; n > 0; n /= 2) {
        if (t < n) s[t] += s[t + n];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = s[0];  // FAULT
    __syncthreads();
    float total = 0;
    int blocks = gridDim.x;  // -
    // + int blocks = 0; total = sums[blockIdx.x];
    for (int b = 0; b < blocks; b++) total += sums[b];  // FAULT
    x[i] /= total;
}
""")
x = gpuarray.to_gpu(np.random.rand(256).astype(np.float32))
sums = gpuarray.zeros(4, np.float32)  # MADE
normalize = module.get_function("normalize")
normalize(x, sums, block=(64, 1, 1), grid=(4, 1))  # LAUNCH
print(x.get().sum())
