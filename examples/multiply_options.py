"""Give options to the compiler, and see what it has to say.

--ptxas-options=-v asks for the registers and memory that each kernel takes. A compiler
that succeeds and still has something to say is shown as a warning. Nothing is cached
here, so it is said at each run.
"""

import sys

import numpy as np

import pycuda.autoinit  # noqa: F401 - makes a context
import pycuda.driver as drv
from pycuda.compiler import SourceModule

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
