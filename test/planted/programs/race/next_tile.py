"""A tiled product writes the next tile while other threads read the current one."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void multiply(float *c, const float *a, const float *b, int n)
{
    __shared__ float A[16][16], B[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        A[y][x] = a[row * n + k + x];  // FAULT
        B[y][x] = b[(k + y) * n + column];  // FAULT
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += A[y][i] * B[i][x];  // FAULT
        // + __syncthreads();
    }
    c[row * n + column] = sum;
}
""")
n = 64
a = gpuarray.to_gpu(np.random.rand(n, n).astype(np.float32))
b = gpuarray.to_gpu(np.random.rand(n, n).astype(np.float32))
c = gpuarray.empty((n, n), np.float32)
multiply = module.get_function("multiply")
multiply(c, a, b, np.int32(n), block=(16, 16, 1), grid=(4, 4))  # LAUNCH
print(c.get()[0, :4])
