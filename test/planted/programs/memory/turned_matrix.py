"""A matrix that is not square, indexed with its height where the width belongs."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void add_rows(float *m, const float *row, int height, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        m[x * width + y] += row[x];  // - FAULT
        // + m[y * width + x] += row[x];
}
""")
height, width = 32, 64
m = gpuarray.zeros((height, width), np.float32)  # MADE
row = gpuarray.to_gpu(np.arange(width, dtype=np.float32))
add_rows = module.get_function("add_rows")
sizes = np.int32(height), np.int32(width)
add_rows(m, row, *sizes, block=(16, 16, 1), grid=(4, 2))  # LAUNCH
print(m.get().sum())
