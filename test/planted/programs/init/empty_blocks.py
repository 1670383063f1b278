"""Blocks without elements end early and leave no partial sum."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void partial_sums(float *sums, const float *x, int n)
{
    int begin = blockIdx.x * 32, end = min(begin + 32, n);
    if (begin >= n) return;  // -
    float sum = 0;
    for (int i = begin; i < end; i++) sum += x[i];
    sums[blockIdx.x] = sum;
}
__global__ void final_sum(float *out, const float *sums, int blocks)
{
    __shared__ float s[16];
    s[threadIdx.x] = sums[threadIdx.x];  // FAULT
    __syncthreads();
    for (int n = blocks / 2; n > 0; n /= 2) {
        if (threadIdx.x < n) s[threadIdx.x] += s[threadIdx.x + n];  // FAULT
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = s[0];  // FAULT
}
""")
n, blocks = 400, 16
x = gpuarray.to_gpu(np.ones(n, np.float32))
sums = gpuarray.empty(blocks, np.float32)
out = gpuarray.empty(1, np.float32)
first, second = map(module.get_function, ("partial_sums", "final_sum"))
first(sums, x, np.int32(n), block=(1, 1, 1), grid=(blocks, 1))
second(out, sums, np.int32(blocks), block=(blocks, 1, 1))  # LAUNCH
print(out.get())
