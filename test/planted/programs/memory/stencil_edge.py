"""A stencil reads the neighbours of the first and of the last element."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void smooth(float *out, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    // + if (i == 0 || i == n - 1) { out[i] = x[i]; return; }
    out[i] = (x[i - 1] + x[i] + x[i + 1]) / 3;  // FAULT
}
""")
n = 256
x = gpuarray.to_gpu(np.random.rand(n).astype(np.float32))  # MADE
out = gpuarray.empty_like(x)
smooth = module.get_function("smooth")
smooth(out, x, np.int32(n), block=(64, 1, 1), grid=(4, 1))  # LAUNCH
print(out.get()[:4])
