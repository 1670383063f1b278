"""The launch gives the shared memory in elements, but the unit is bytes."""

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void reverse(float *x)
{
    extern __shared__ float tile[];
    tile[threadIdx.x] = x[threadIdx.x];  // FAULT
    __syncthreads();
    x[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
""")
n = 128
x = np.arange(n, dtype=np.float32)
reverse = module.get_function("reverse")
reverse(drv.InOut(x), block=(n, 1, 1), shared=n)  # - LAUNCH
# + reverse(drv.InOut(x), block=(n, 1, 1), shared=4 * n)
print(x[:4])
