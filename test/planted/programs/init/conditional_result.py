"""A kernel writes only some elements; the next kernel reads all of them."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void roots(float *out, const float *x)
{
    int i = threadIdx.x;
    if (x[i] >= 0) out[i] = sqrtf(x[i]);
    // + else out[i] = 0;
}
__global__ void total(float *sum, const float *x, int n)
{
    float own = 0;
    for (int i = 0; i < n; i++) own += x[i];  // FAULT
    *sum = own;  // FAULT
}
""")
x = gpuarray.to_gpu(np.linspace(-1, 1, 64).astype(np.float32))
out = gpuarray.empty_like(x)  # MADE
result = gpuarray.empty(1, np.float32)
module.get_function("roots")(out, x, block=(64, 1, 1))
module.get_function("total")(result, out, np.int32(64), block=(1, 1, 1))  # LAUNCH
print(result.get())
