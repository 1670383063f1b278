"""A histogram in shared memory is not set to zero."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void histogram(int *out, const unsigned char *x, int n)
{
    __shared__ int bins[256];
    // + bins[threadIdx.x] = 0;
    // + __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(&bins[x[i]], 1);  // FAULT
    __syncthreads();
    out[threadIdx.x] = bins[threadIdx.x];
}
""")
n = 5000
x = gpuarray.to_gpu(np.random.randint(0, 256, n).astype(np.uint8))
out = gpuarray.empty(256, np.int32)
module.get_function("histogram")(out, x, np.int32(n), block=(256, 1, 1))  # LAUNCH
print(out.get().sum())
