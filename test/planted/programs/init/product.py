"""A product of matrices adds to a result that was made with gpuarray.empty."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void multiply(float *c, const float *a, const float *b, int n)
{
    int row = threadIdx.y, column = threadIdx.x;
    for (int k = 0; k < n; k++)
        c[row * n + column] += a[row * n + k] * b[k * n + column];  // FAULT
}
""")
n = 16
a = gpuarray.to_gpu(np.random.rand(n, n).astype(np.float32))
b = gpuarray.to_gpu(np.random.rand(n, n).astype(np.float32))
c = gpuarray.empty((n, n), np.float32)  # - MADE
# + c = gpuarray.zeros((n, n), np.float32)
module.get_function("multiply")(c, a, b, np.int32(n), block=(n, n, 1))  # LAUNCH
print(c.get()[0, :4])
