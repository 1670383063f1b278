"""The grid is rounded up to whole blocks, and the kernel has no `if (i < n)`."""

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void twice(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // + if (i >= n) return;
    x[i] *= 2;  // FAULT
}
""")
n = 1000
x = gpuarray.to_gpu(np.ones(n, np.float32))  # MADE
twice = module.get_function("twice")
twice(x, np.int32(n), block=(128, 1, 1), grid=((n + 127) // 128, 1))  # LAUNCH
drv.Context.synchronize()
