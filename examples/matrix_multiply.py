"""Multiply matrices two ways: directly, and with tiles in shared memory.

    python examples/matrix_multiply.py --rows 1024 --inner 1024 --columns 1024

The simple kernel reads a row and a column from global memory for each element. In the
tiled kernel a block loads a tile of each matrix and all its threads use it, so global
memory is read 16 times less. The sides need not be multiples of the tile's side.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit  # makes a context
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

parser = argparse.ArgumentParser(description="Multiply matrices.")
parser.add_argument("--rows", type=int, default=40)
parser.add_argument("--inner", type=int, default=50)
parser.add_argument("--columns", type=int, default=35)
args = parser.parse_args()
print("device:", pycuda.autoinit.device.name())

TILE = 16
module = SourceModule(
    """
    __global__ void simple(float *c, const float *a, const float *b, int rows,
                           int inner, int columns)
    {
        int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
        if (x >= columns || y >= rows)
            return;
        float sum = 0;
        for (int k = 0; k < inner; k++)
            sum += a[y * inner + k] * b[k * columns + x];
        c[y * columns + x] = sum;
    }

    __global__ void tiled(float *c, const float *a, const float *b, int rows,
                          int inner, int columns)
    {
        __shared__ float of_a[TILE][TILE], of_b[TILE][TILE];
        int i = threadIdx.x, j = threadIdx.y;
        int x = blockIdx.x * TILE + i, y = blockIdx.y * TILE + j;
        float sum = 0;
        for (int start = 0; start < inner; start += TILE) {
            of_a[j][i] = y < rows && start + i < inner ? a[y * inner + start + i] : 0;
            of_b[j][i] =
                x < columns && start + j < inner ? b[(start + j) * columns + x] : 0;
            __syncthreads();
            for (int k = 0; k < TILE; k++)
                sum += of_a[j][k] * of_b[k][i];
            __syncthreads();
        }
        if (x < columns && y < rows)
            c[y * columns + x] = sum;
    }
    """,
    options=[f"-DTILE={TILE}"],
)

random = np.random.default_rng(5)
a = random.random((args.rows, args.inner), dtype=np.float32)
b = random.random((args.inner, args.columns), dtype=np.float32)
wanted = a.astype(np.float64) @ b
a_gpu, b_gpu = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
right = True
for name in ("simple", "tiled"):
    product = gpuarray.zeros(wanted.shape, np.float32)
    call = {
        "block": (TILE, TILE, 1),
        "grid": (-(-args.columns // TILE), -(-args.rows // TILE)),
    }
    sides = [np.int32(n) for n in (args.rows, args.inner, args.columns)]
    function = module.get_function(name)
    function(product, a_gpu, b_gpu, *sides, **call)  # the first call loads the kernel
    start, end = drv.Event(), drv.Event()
    start.record()
    function(product, a_gpu, b_gpu, *sides, **call)
    end.record()
    end.synchronize()
    milliseconds = start.time_till(end)
    rate = 2 * args.rows * args.inner * args.columns / milliseconds / 1e6
    error = (np.abs(product.get() - wanted) / wanted).max()
    print(
        f"{name}: {milliseconds:.3f} ms, {rate:.1f} GFLOP/s, relative error {error:.0e}"
    )
    right &= bool(error < 1e-6 * args.inner)
if not right:
    sys.exit("a product is wrong")
