"""The kernel takes `double *` and gets an array of float32."""

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void square(double *x, int n)
{
    int i = threadIdx.x;
    if (i < n) x[i] = x[i] * x[i];  // FAULT
}
""")
n = 64
x = gpuarray.to_gpu(np.random.rand(n).astype(np.float32))  # - MADE
# + x = gpuarray.to_gpu(np.random.rand(n).astype(np.float64))
square = module.get_function("square")
square(x.gpudata, np.int32(n), block=(n, 1, 1))  # LAUNCH
drv.Context.synchronize()
