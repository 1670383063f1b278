"""Running results with scans: a high-water mark, and selecting elements in order.

Each result of an inclusive scan combines all elements up to its place; each result of
an exclusive scan combines the elements before it. Sums of flags are the new places of
the selected elements.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit  # makes a context
from pycuda import gpuarray
from pycuda.elementwise import ElementwiseKernel
from pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel

parser = argparse.ArgumentParser(description="Scan an array on the device.")
parser.add_argument("--size", type=int, default=3000, help="elements of the array")
parser.add_argument("--output", default="scan.png", help="the image file")
args = parser.parse_args()
size = args.size
print("device:", pycuda.autoinit.device.name())

levels = np.random.default_rng(2).integers(-1000, 1000, size, dtype=np.int32).cumsum()
levels = levels.astype(np.int32)

# The highest level so far.
mark = InclusiveScanKernel(np.int32, "max(a, b)")(gpuarray.to_gpu(levels))
right = np.array_equal(mark.get(), np.maximum.accumulate(levels))
print("high-water mark at the end:", mark[-1].get())

# The days on which the level reached a new maximum, in order.
risen = levels == np.maximum.accumulate(levels)
flags = gpuarray.to_gpu(risen.astype(np.int32))
places = flags.copy()
ExclusiveScanKernel(np.int32, "a + b", 0)(places)
count = int(places[-1].get()) + int(flags[-1].get())
days = gpuarray.empty(count, np.int32)
pick = ElementwiseKernel(
    "int *days, const int *places, const int *flags",
    "if (flags[i]) days[places[i]] = i",
    "pick",
)
pick(days, places, flags, range=slice(0, size, 1))
right &= np.array_equal(days.get(), np.flatnonzero(risen))
print("days with a new mark:", count)
print("the last of them:", days[-1].get())

# The levels as columns, and the mark above them.
steps = np.linspace(0, size - 1, min(size, 600)).astype(int)
height = np.linspace(mark[-1].get(), levels.min(), 300)[:, None]
picture = np.where(
    levels[steps] >= height, 2, np.where(mark.get()[steps] >= height, 1, 0)
)
pycuda.show(picture, colors="ice", file=args.output)
if not right:
    sys.exit("the results are wrong")
