"""A reduction as a tree has no __syncthreads in its loop."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void sum(float *out, const float *x)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 256 + t];
    __syncthreads();
    for (int n = 128; n > 0; n /= 2) {
        if (t < n) s[t] += s[t + n];  // FAULT
        // + __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
""")
x = gpuarray.to_gpu(np.random.rand(1024).astype(np.float32))
out = gpuarray.empty(4, np.float32)
module.get_function("sum")(out, x, block=(256, 1, 1), grid=(4, 1))  # LAUNCH
print(out.get())
