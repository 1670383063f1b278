"""A loop with __syncthreads inside has fewer turns for some threads."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void sums(float *out, const float *x, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    float total = 0;
    for (int i = t; i < n; i += 64) {  // -
    // + for (int i = t; i - t < n; i += 64) {
        s[t] = i < n ? x[i] : 0;
        __syncthreads();  // FAULT
        total += s[t ^ 1];
        __syncthreads();  // FAULT
    }
    s[t] = total;
    __syncthreads();  // FAULT
    out[t] = s[63 - t];
}
""")
n = 64 * 3 + 32
x = gpuarray.to_gpu(np.random.rand(n).astype(np.float32))
out = gpuarray.zeros(64, np.float32)
module.get_function("sums")(out, x, np.int32(n), block=(64, 1, 1))  # LAUNCH
print(out.get()[:4])
