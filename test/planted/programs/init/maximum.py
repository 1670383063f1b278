"""A maximum is compared with a register that has no value yet."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void best(int *where, const float *x, int n)
{
    float top;  // -
    // + float top = x[0];
    int index = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (x[i] > top) {  // FAULT
            top = x[i];
            index = i;
        }
    where[threadIdx.x] = index;  // FAULT
}
""")
x = gpuarray.to_gpu(np.random.rand(1000).astype(np.float32))
where = gpuarray.empty(32, np.int32)
module.get_function("best")(where, x, np.int32(1000), block=(32, 1, 1))  # LAUNCH
print(where.get()[:4])
