"""A maximum is compared and then written: another thread can write in between."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void maximum(int *top, const int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] > *top)  // - FAULT
        *top = x[i];  // - FAULT
    // + atomicMax(top, x[i]);
}
""")
x = gpuarray.to_gpu(np.random.permutation(1024).astype(np.int32))
top = gpuarray.zeros(1, np.int32)  # MADE
module.get_function("maximum")(top, x, block=(256, 1, 1), grid=(4, 1))  # LAUNCH
print(top.get())
