"""The first program: multiply two arrays on the GPU, a wave and its decay.

Draws the product, a swing that fades, and says whether it is NumPy's product. In copies
an array to the device before the call, and Out copies an array back after it.
"""

import argparse
import sys

import numpy as np

import pycuda.driver as drv
from pycuda.compiler import SourceModule

try:
    import pycuda.autoinit  # makes a context on the first usable device
except (drv.Error, RuntimeError) as e:
    sys.exit(f"There is no GPU that this program could use: {e}")

argparse.ArgumentParser(description=__doc__).parse_args()
print("device:", pycuda.autoinit.device.name())

module = SourceModule(
    """
    __global__ void multiply(float *product, float *left, float *right)
    {
        int i = threadIdx.x;
        product[i] = left[i] * right[i];
    }
    """
)
multiply = module.get_function("multiply")

x = np.linspace(0, 4 * np.pi, 400, dtype=np.float32)
left = np.cos(x)
right = np.exp(-x / 6)
product = np.full_like(left, np.nan)
multiply(drv.Out(product), drv.In(left), drv.In(right), block=(400, 1, 1), grid=(1, 1))

for value in product[::20]:
    print(f"{value:5.2f}", " " * round(15 + 15 * value) + "*")
if (product != left * right).any():
    sys.exit("the product is wrong")
print("the product is correct")
