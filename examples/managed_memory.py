"""Count the letters of a text in memory that host and GPU share, without any copy.

A managed array is an ordinary NumPy array for the host and a kernel argument for the
GPU. The host reads it after the kernel is done.
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
    __global__ void count(int *counts, const unsigned char *text, int n)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n && text[i] >= 'a' && text[i] <= 'z')
            atomicAdd(&counts[text[i] - 'a'], 1);
    }
    """
)
count = module.get_function("count")

words = b"the quick brown fox jumps over the lazy dog"
text = drv.managed_empty(len(words), np.uint8)
text[:] = np.frombuffer(words, np.uint8)
counts = drv.managed_zeros(26, np.int32)

count(counts, text, np.int32(text.size), block=(64, 1, 1), grid=(1, 1))
drv.Context.synchronize()

print("letters:", counts.sum())
print("letters that are missing:", (counts == 0).sum())
print("the letter o:", counts[ord("o") - ord("a")])
if counts.tolist() != [words.count(letter) for letter in range(97, 123)]:
    sys.exit("the count is wrong")
