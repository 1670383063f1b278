"""Write a formula once and apply it to arrays of any shape: ElementwiseKernel.

The kernel is generated from the formula, in which i is the number of the element. It
also accepts numbers and your own functions in the preamble, and can work on a part of
the elements.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit  # makes a context
from pycuda import gpuarray
from pycuda.elementwise import ElementwiseKernel

argparse.ArgumentParser(description=__doc__).parse_args()
print("device:", pycuda.autoinit.device.name())

mix = ElementwiseKernel(
    "float *mixed, const float *a, const float *b, float share",
    "mixed[i] = (1 - share) * a[i] + share * b[i]",
    "mix",
)
smooth_step = ElementwiseKernel(
    "float *y, const float *x, float low, float high",
    "y[i] = smooth((x[i] - low) / (high - low))",
    "smooth_step",
    preamble="""
    __device__ float smooth(float t)
    {
        t = fminf(fmaxf(t, 0), 1);
        return t * t * (3 - 2 * t);
    }
    """,
)

a = np.linspace(0, 1, 60, dtype=np.float32).reshape(12, 5)
b = a[::-1].copy()
a_gpu, b_gpu = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
mixed = gpuarray.empty_like(a_gpu)

mix(mixed, a_gpu, b_gpu, 0.25)
differences = {"mixed": np.abs(mixed.get() - (0.75 * a + 0.25 * b)).max()}

# Views with gaps work like other arrays.
mix(mixed[::2, 1:4], a_gpu[::2, 1:4], b_gpu[::2, 1:4], 1)
wanted = 0.75 * a + 0.25 * b
wanted[::2, 1:4] = b[::2, 1:4]
differences["views"] = np.abs(mixed.get() - wanted).max()

# Only every third element, in memory order.
y = gpuarray.zeros_like(a_gpu)
smooth_step(y, a_gpu, 0.2, 0.8, slice=slice(0, None, 3))
t = np.clip((a - np.float32(0.2)) / np.float32(0.6), 0, 1)
wanted = np.where(np.arange(a.size).reshape(a.shape) % 3 == 0, t * t * (3 - 2 * t), 0)
differences["every third"] = np.abs(y.get() - wanted).max()

for what, difference in differences.items():
    print(f"{what}: largest difference {difference:.1e}")
if max(differences.values()) > 1e-6:
    sys.exit("the results are wrong")
