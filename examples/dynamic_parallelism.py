"""A kernel that launches kernels: sums of growing triangles of numbers.

Each thread of ``parent`` learns the amount of work only when it runs, and launches a
grid of that size. DynamicSourceModule compiles such kernels and links the library that
they need, cudadevrt.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit  # makes a context
import pycuda.driver as drv
from pycuda.compiler import DynamicSourceModule

argparse.ArgumentParser(description=__doc__).parse_args()
print("device:", pycuda.autoinit.device.name())

module = DynamicSourceModule(
    """
    __global__ void add_up(int *total, int count)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < count) atomicAdd(total, i + 1);
    }

    __global__ void parent(int *totals, const int *counts)
    {
        int i = threadIdx.x;
        add_up<<<(counts[i] + 63) / 64, 64>>>(&totals[i], counts[i]);
    }
    """
)
parent = module.get_function("parent")

counts = np.array([1, 10, 100, 1000], dtype=np.int32)
totals = np.zeros_like(counts)
parent(drv.InOut(totals), drv.In(counts), block=(counts.size, 1, 1))

for count, total in zip(counts, totals, strict=True):
    print(f"1 + ... + {count} = {total}")
if (totals != counts * (counts + 1) // 2).any():
    sys.exit("a total is wrong")
