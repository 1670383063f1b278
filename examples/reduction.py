"""Reduce arrays to one number with your own operation: ReductionKernel.

map_expr computes a value for each element, reduce_expr combines two values, and
neutral is the neutral element. There can be several arrays, of different types.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit  # makes a context
from pycuda import gpuarray
from pycuda.reduction import ReductionKernel

parser = argparse.ArgumentParser(description="Reduce arrays on the device.")
parser.add_argument("--size", type=int, default=5000, help="elements of each array")
size = parser.parse_args().size
print("device:", pycuda.autoinit.device.name())

distance = ReductionKernel(
    np.float64,
    neutral="0",
    reduce_expr="a + b",
    map_expr="fabs((double)x[i] - y[i])",
    arguments="const float *x, const float *y",
    name="distance",
)
largest = ReductionKernel(
    np.float32,
    neutral="-INFINITY",
    reduce_expr="fmaxf(a, b)",
    map_expr="x[i]",
    arguments="const float *x",
    name="largest",
)
#: The number of set bits in all numbers together.
bits = ReductionKernel(
    np.uint64,
    neutral="0",
    reduce_expr="a + b",
    map_expr="__popc(words[i])",
    arguments="const unsigned int *words",
    name="bits",
)

random = np.random.default_rng(1)
x, y = random.standard_normal((2, size), dtype=np.float32)
words = random.integers(0, 2**32, size, dtype=np.uint32)
x_gpu, y_gpu, words_gpu = map(gpuarray.to_gpu, (x, y, words))

results = {
    "distance": (distance(x_gpu, y_gpu), np.abs(x.astype(np.float64) - y).sum()),
    "largest": (largest(x_gpu), x.max()),
    "bits": (bits(words_gpu), sum(int(word).bit_count() for word in words)),
}
right = True
for what, (on_device, on_host) in results.items():
    value = on_device.get()
    print(f"{what}: {value}")
    right &= bool(np.isclose(value, on_host, rtol=1e-12))
if not right:
    sys.exit("the results are wrong")
