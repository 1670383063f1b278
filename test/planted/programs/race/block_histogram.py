"""Each block adds its own histogram to the result of all blocks, not atomically."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void histogram(int *out, const unsigned char *x, int n)
{
    __shared__ int bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    int own = blockIdx.x * 256 + threadIdx.x;
    for (int i = own; i < n; i += gridDim.x * 256)
        atomicAdd(&bins[x[i]], 1);
    __syncthreads();
    out[threadIdx.x] += bins[threadIdx.x];  // - FAULT
    // + atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
""")
n = 8192
x = gpuarray.to_gpu(np.random.randint(0, 256, n).astype(np.uint8))
out = gpuarray.zeros(256, np.int32)  # MADE
histogram = module.get_function("histogram")
histogram(out, x, np.int32(n), block=(256, 1, 1), grid=(4, 1))  # LAUNCH
print(out.get().sum())
