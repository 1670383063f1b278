"""The last block adds the sums of all blocks, but no fence orders their writes."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__device__ unsigned ended = 0;

__global__ void sum(float *out, float *sums, const float *x)
{
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        float own = 0;
        for (int i = 0; i < 64; i++) own += x[blockIdx.x * 64 + i];
        sums[blockIdx.x] = own;  // FAULT
        // + __threadfence();
        is_last = atomicAdd(&ended, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        // + __threadfence();
        float total = 0;
        for (int b = 0; b < gridDim.x; b++) total += sums[b];  // FAULT
        *out = total;
    }
}
""")
x = gpuarray.to_gpu(np.random.rand(512).astype(np.float32))
sums = gpuarray.zeros(8, np.float32)  # MADE
out = gpuarray.zeros(1, np.float32)
module.get_function("sum")(out, sums, x, block=(32, 1, 1), grid=(8, 1))  # LAUNCH
print(out.get())
