"""__syncthreads_count is a barrier too, and only some threads reach it."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void shares(float *out, const float *x)
{
    __shared__ float s[96];
    int t = threadIdx.x, count = 0;
    s[t] = x[t];
    __syncthreads();
    if (t < 64)  // -
        count = __syncthreads_count(x[t] > 0.5f);  // FAULT
    s[t] *= count;
    __syncthreads();  // FAULT
    out[t] = s[95 - t];
}
""")
x = gpuarray.to_gpu(np.random.rand(96).astype(np.float32))
out = gpuarray.empty_like(x)
module.get_function("shares")(out, x, block=(96, 1, 1))  # LAUNCH
print(out.get()[:4])
