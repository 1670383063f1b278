"""Print from inside a kernel.

The device buffers the text. It is printed when the context is synchronized.
"""

import argparse

import numpy as np

import pycuda.autoinit
from pycuda.compiler import SourceModule

argparse.ArgumentParser(description=__doc__).parse_args()
print("device:", pycuda.autoinit.device.name())

module = SourceModule(
    """
    #include <stdio.h>

    __global__ void greet(int number)
    {
        printf("thread %d of block %d says %d\\n", threadIdx.x, blockIdx.x, number);
    }
    """
)
greet = module.get_function("greet")

print("six threads:", flush=True)
greet(np.int32(42), block=(3, 1, 1), grid=(2, 1))
pycuda.autoinit.context.synchronize()
