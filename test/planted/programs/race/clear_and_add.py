"""The first thread sets the result to zero, while other blocks already add to it."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void sum(float *out, const float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) *out = 0;  // - FAULT
    atomicAdd(out, x[i]);  // FAULT
}
""")
x = gpuarray.to_gpu(np.random.rand(512).astype(np.float32))
out = gpuarray.zeros(1, np.float32)  # MADE
module.get_function("sum")(out, x, block=(64, 1, 1), grid=(8, 1))  # LAUNCH
print(out.get())
