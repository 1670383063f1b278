"""Pass options to the compiler, and show its messages.

--ptxas-options=-v makes the compiler print the registers and memory that each kernel
uses. If a compiler succeeds, its messages appear as a warning. Nothing is cached
here, so they appear at each run.
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
    __global__ void multiply(float *product, float *left, float *right)
    {
        int i = threadIdx.x;
        product[i] = left[i] * right[i];
    }
    """,
    options=["--ptxas-options=-v"],
    cache_dir=False,
)
multiply = module.get_function("multiply")

left = np.random.randn(400).astype(np.float32)
right = np.random.randn(400).astype(np.float32)
product = np.zeros_like(left)
multiply(drv.Out(product), drv.In(left), drv.In(right), block=(400, 1, 1))

print("registers:", multiply.num_regs)
print("largest difference:", np.abs(product - left * right).max())
if (product != left * right).any():
    sys.exit("the product is wrong")
