"""A sum in a register begins with no value."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void row_sums(float *out, const float *x, int n)
{
    float sum;  // -
    // + float sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[threadIdx.x * n + i];  // FAULT
    out[threadIdx.x] = sum;  // FAULT
}
""")
x = gpuarray.to_gpu(np.random.rand(32, 50).astype(np.float32))
out = gpuarray.empty(32, np.float32)
module.get_function("row_sums")(out, x, np.int32(50), block=(32, 1, 1))  # LAUNCH
print(out.get()[:4])
