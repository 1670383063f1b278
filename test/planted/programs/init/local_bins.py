"""Each thread counts in an array of its own, which begins with no values."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void count(int *out, const int *x, int n)
{
    int bins[8];  // -
    // + int bins[8] = {};
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        bins[x[i] & 7]++;  // FAULT
    for (int k = 0; k < 8; k++)
        atomicAdd(&out[k], bins[k]);  // FAULT
}
""")
n = 4096
x = gpuarray.to_gpu(np.random.randint(0, 8, n).astype(np.int32))
out = gpuarray.zeros(8, np.int32)
module.get_function("count")(out, x, np.int32(n), block=(64, 1, 1))  # LAUNCH
print(out.get())
