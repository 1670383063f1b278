"""A stencil writes its result over its input, which other blocks still read."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void diffuse(float *out, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) {
        float around = x[i - 1] + x[i + 1];  // FAULT
        out[i] = 0.5f * x[i] + 0.25f * around;  // FAULT
    }
}
""")
n = 1024
x = gpuarray.to_gpu(np.random.rand(n).astype(np.float32))  # MADE
out = x  # -
# + out = x.copy()
diffuse = module.get_function("diffuse")
diffuse(out, x, np.int32(n), block=(64, 1, 1), grid=(n // 64, 1))  # LAUNCH
print(out.get()[:4])
