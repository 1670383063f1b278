"""A function with a __syncthreads inside is called by a part of the threads."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__device__ __noinline__ float block_sum(float *s, float own)
{
    s[threadIdx.x] = own;
    __syncthreads();  // FAULT
    float sum = 0;
    for (int i = 0; i < 64; i++) sum += s[i];
    __syncthreads();  // FAULT
    return sum;
}
__global__ void balance(float *x)
{
    __shared__ float s[64];
    float own = x[threadIdx.x];
    s[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x < 32)  // -
        own -= block_sum(s, own) / 64;
    __syncthreads();  // FAULT
    s[threadIdx.x] = own;
    __syncthreads();  // FAULT
    x[threadIdx.x] = s[threadIdx.x ^ 63];
}
""")
x = gpuarray.to_gpu(np.random.rand(64).astype(np.float32))
module.get_function("balance")(x, block=(64, 1, 1))  # LAUNCH
print(x.get()[:4])
