"""All threads count in one element of global memory without an atomic operation."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void count(int *positive, const float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] > 0)
        *positive += 1;  // - FAULT
        // + atomicAdd(positive, 1);
}
""")
x = gpuarray.to_gpu(np.random.randn(1024).astype(np.float32))
positive = gpuarray.zeros(1, np.int32)  # MADE
count = module.get_function("count")
count(positive, x, block=(128, 1, 1), grid=(8, 1))  # LAUNCH
print(positive.get())
