"""The threads load their own elements into shared memory, but not the halo."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void blur(float *out, const float *x)
{
    __shared__ float tile[64 + 2];
    int t = threadIdx.x, i = blockIdx.x * 64 + t + 1;
    tile[t + 1] = x[i];
    // + if (t == 0) tile[0] = x[i - 1];
    // + if (t == 63) tile[65] = x[i + 1];
    __syncthreads();
    out[i] = (tile[t] + tile[t + 1] + tile[t + 2]) / 3;  // FAULT
}
""")
x = gpuarray.to_gpu(np.random.rand(258).astype(np.float32))
out = gpuarray.zeros_like(x)
module.get_function("blur")(out, x, block=(64, 1, 1), grid=(4, 1))  # LAUNCH
print(out.get()[:4])
