"""A thread that has found its value leaves the loop, and its __syncthreads."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void search(int *where, const int *x, int n)
{
    __shared__ int part[64], all[64];
    int t = threadIdx.x, found = -1;
    for (int begin = 0; begin < n; begin += 64) {
        part[t] = x[begin + t];
        __syncthreads();  // FAULT
        for (int i = 0; i < 64; i++)
            if (part[i] == t) found = begin + i;
        if (found >= 0) break;  // -
        __syncthreads();  // FAULT
    }
    all[t] = found;
    __syncthreads();  // FAULT
    where[t] = all[63 - t];
}
""")
n = 256
x = gpuarray.to_gpu(np.arange(n, dtype=np.int32) // 4)
where = gpuarray.zeros(64, np.int32)
module.get_function("search")(where, x, np.int32(n), block=(64, 1, 1))  # LAUNCH
print(where.get()[:4])
