"""Draw the Mandelbrot set: one thread for each pixel.

    python examples/mandelbrot.py --width 1800 --limit 500

Each thread counts the steps until its point has left a circle of radius 2. Threads that
finish early wait only for their warp, so the work need not be balanced by hand. The
counts must equal NumPy's.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit  # makes a context
from pycuda import gpuarray
from pycuda.compiler import SourceModule

parser = argparse.ArgumentParser(description="Draw the Mandelbrot set.")
parser.add_argument("--width", type=int, default=600, help="pixels; the height is 2/3")
parser.add_argument("--limit", type=int, default=60, help="the largest number of steps")
parser.add_argument("--output", default="mandelbrot.png", help="the image file")
args = parser.parse_args()
print("device:", pycuda.autoinit.device.name())
width, height = args.width, max(1, 2 * args.width // 3)

# Without fused operations, each step rounds as NumPy does.
module = SourceModule(
    """
    __global__ void escape(int *steps, const double *re, const double *im, int width,
                           int limit)
    {
        int x = blockIdx.x * blockDim.x + threadIdx.x;
        int y = blockIdx.y;
        if (x >= width)
            return;
        double a = 0, b = 0;
        int n = 0;
        while (n < limit && a * a + b * b <= 4) {
            double next = a * a - b * b + re[x];
            b = 2 * a * b + im[y];
            a = next;
            n++;
        }
        steps[y * width + x] = n;
    }
    """,
    options=["-fmad=false"],
)
re = np.linspace(-2.1, 0.9, width)
im = np.linspace(-1, 1, height)
steps = gpuarray.empty((height, width), np.int32)
module.get_function("escape")(
    steps,
    gpuarray.to_gpu(re),
    gpuarray.to_gpu(im),
    np.int32(width),
    np.int32(args.limit),
    block=(64, 1, 1),
    grid=((width + 63) // 64, height),
)
steps = steps.get()

a, b = np.zeros((2, height, width))
on_host = np.zeros_like(steps)
for _ in range(args.limit):
    inside = a * a + b * b <= 4
    on_host += inside
    following = a * a - b * b + re
    b = np.where(inside, 2 * a * b + im[:, None], b)
    a = np.where(inside, following, a)

print(f"{width} x {height} pixels, {(steps == args.limit).sum()} of them in the set")
print("pixels that differ from NumPy's:", (steps != on_host).sum())
# Points of the set are dark; the others are brighter if they leave the circle later.
shades = np.where(steps == args.limit, 0, (steps / args.limit) ** 0.7)
pycuda.show(shades, low=0, high=0.8, colors="fire", file=args.output)
if not np.array_equal(steps, on_host):
    sys.exit("the result is wrong")
