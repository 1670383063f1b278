"""A counter in memory of mem_alloc is used before it is set to zero."""

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void compact(float *out, unsigned *count, const float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] > 0) {
        unsigned place = atomicAdd(count, 1u);  // FAULT
        out[place] = x[i];  // FAULT
    }
}
""")
x = gpuarray.to_gpu(np.random.randn(512).astype(np.float32))
out = gpuarray.empty_like(x)
count = drv.mem_alloc(4)  # MADE
# + drv.memset_d32(count, 0, 1)
compact = module.get_function("compact")
compact(out, count, x, block=(128, 1, 1), grid=(4, 1))  # LAUNCH
drv.Context.synchronize()
