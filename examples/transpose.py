"""Transpose a matrix, with and without tiles in shared memory.

    python examples/transpose.py --rows 8192 --columns 8192

In the direct kernel, the threads of a warp write to 32 different rows, so each write
moves a whole sector for four bytes. With a tile in shared memory, reads and writes both
run along rows. The tile has one extra column: without it all 32 threads would access
the same bank of the memory.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit  # makes a context
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

parser = argparse.ArgumentParser(description="Transpose a matrix.")
parser.add_argument("--rows", type=int, default=70)
parser.add_argument("--columns", type=int, default=100)
args = parser.parse_args()
print("device:", pycuda.autoinit.device.name())

module = SourceModule(
    """
    #define TILE 32

    __global__ void straight(float *to, const float *from, int rows, int columns)
    {
        int x = blockIdx.x * TILE + threadIdx.x;
        for (int j = threadIdx.y; j < TILE; j += blockDim.y) {
            int y = blockIdx.y * TILE + j;
            if (x < columns && y < rows)
                to[(long long)x * rows + y] = from[(long long)y * columns + x];
        }
    }

    __global__ void tiled(float *to, const float *from, int rows, int columns)
    {
        __shared__ float tile[TILE][TILE + 1];
        int x = blockIdx.x * TILE + threadIdx.x;
        for (int j = threadIdx.y; j < TILE; j += blockDim.y) {
            int y = blockIdx.y * TILE + j;
            if (x < columns && y < rows)
                tile[j][threadIdx.x] = from[(long long)y * columns + x];
        }
        __syncthreads();
        int y = blockIdx.y * TILE + threadIdx.x;
        for (int j = threadIdx.y; j < TILE; j += blockDim.y) {
            x = blockIdx.x * TILE + j;
            if (x < columns && y < rows)
                to[(long long)x * rows + y] = tile[threadIdx.x][j];
        }
    }
    """
)
matrix = np.arange(args.rows * args.columns, dtype=np.float32)
matrix = matrix.reshape(args.rows, args.columns)
source = gpuarray.to_gpu(matrix)
right = True
for name in ("straight", "tiled"):
    result = gpuarray.zeros((args.columns, args.rows), np.float32)
    call = {"block": (32, 8, 1), "grid": (-(-args.columns // 32), -(-args.rows // 32))}
    sides = np.int32(args.rows), np.int32(args.columns)
    function = module.get_function(name)
    function(result, source, *sides, **call)  # the first call loads the kernel
    start, end = drv.Event(), drv.Event()
    start.record()
    function(result, source, *sides, **call)
    end.record()
    end.synchronize()
    milliseconds = start.time_till(end)
    same = np.array_equal(result.get(), matrix.T)
    rate = 2 * matrix.nbytes / milliseconds / 1e6
    print(f"{name}: {milliseconds:.3f} ms, {rate:.1f} GB/s, right: {same}")
    right &= same
if not right:
    sys.exit("a result is wrong")
