"""Shared memory whose size is set at the launch: sum the rows of a matrix.

One block adds up one row, in a tree, in an extern __shared__ array. The same
kernel works for blocks of any power of two.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit  # makes a context
import pycuda.driver as drv
from pycuda.compiler import SourceModule

argparse.ArgumentParser(description=__doc__).parse_args()
print("device:", pycuda.autoinit.device.name())

module = SourceModule(
    """
    __global__ void row_sums(int *sums, const int *matrix, int columns)
    {
        extern __shared__ int partial[];
        const int *row = matrix + blockIdx.x * columns;
        int sum = 0;

        for (int i = threadIdx.x; i < columns; i += blockDim.x)
            sum += row[i];
        partial[threadIdx.x] = sum;
        __syncthreads();
        for (int half = blockDim.x / 2; half > 0; half /= 2) {
            if (threadIdx.x < half)
                partial[threadIdx.x] += partial[threadIdx.x + half];
            __syncthreads();
        }
        if (threadIdx.x == 0)
            sums[blockIdx.x] = partial[0];
    }
    """
)
row_sums = module.get_function("row_sums")

rows, columns = 5, 1000
matrix = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
wrong = False
for threads in (32, 128, 256):
    sums = np.zeros(rows, dtype=np.int32)
    row_sums(
        drv.Out(sums),
        drv.In(matrix),
        np.int32(columns),
        block=(threads, 1, 1),
        grid=(rows, 1),
        shared=threads * matrix.itemsize,
    )
    right = np.array_equal(sums, matrix.sum(axis=1))
    print(f"{threads} threads: {sums.tolist()}, {'right' if right else 'WRONG'}")
    wrong |= not right
if wrong:
    sys.exit("a sum is wrong")
