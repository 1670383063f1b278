"""Blur an image with a separable filter: first along the rows, then down the columns.

A filter of (2 r + 1) by (2 r + 1) weights that is the product of a column and a row
needs 2 (2 r + 1) multiplications per pixel instead of (2 r + 1) squared. The weights
are in constant memory. A block keeps its part of a row, or its strip of columns, in
shared memory together with the neighbouring pixels. Pixels outside the image count as
0.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit  # makes a context
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

parser = argparse.ArgumentParser(description="Blur an image.")
parser.add_argument("--height", type=int, default=240)
parser.add_argument("--width", type=int, default=180)
parser.add_argument("--output", default="convolution.png", help="the image file")
args = parser.parse_args()
print("device:", pycuda.autoinit.device.name())

RADIUS = 4
STRETCH = 64  # pixels of a row per block
STRIP, TALL = 16, 16  # columns per block, and pixels of each
SOURCE = """
__constant__ float weights[2 * RADIUS + 1];

__global__ void along_rows(float *to, const float *from, int height, int width)
{
    __shared__ float row[STRETCH + 2 * RADIUS];
    int start = blockIdx.x * STRETCH - RADIUS, y = blockIdx.y;

    for (int i = threadIdx.x; i < STRETCH + 2 * RADIUS; i += STRETCH) {
        int x = start + i;
        row[i] = x >= 0 && x < width ? from[y * width + x] : 0;
    }
    __syncthreads();
    int x = start + RADIUS + threadIdx.x;
    if (x >= width)
        return;
    float sum = 0;
    for (int k = 0; k <= 2 * RADIUS; k++)
        sum += weights[k] * row[threadIdx.x + k];
    to[y * width + x] = sum;
}

__global__ void down_columns(float *to, const float *from, int height, int width)
{
    __shared__ float part[TALL + 2 * RADIUS][STRIP];
    int x = blockIdx.x * STRIP + threadIdx.x, start = blockIdx.y * TALL - RADIUS;

    for (int i = threadIdx.y; i < TALL + 2 * RADIUS; i += TALL) {
        int y = start + i;
        part[i][threadIdx.x] =
            x < width && y >= 0 && y < height ? from[y * width + x] : 0;
    }
    __syncthreads();
    int y = start + RADIUS + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (int k = 0; k <= 2 * RADIUS; k++)
        sum += weights[k] * part[threadIdx.y + k][threadIdx.x];
    to[y * width + x] = sum;
}
"""
sizes = {"RADIUS": RADIUS, "STRETCH": STRETCH, "STRIP": STRIP, "TALL": TALL}
module = SourceModule(SOURCE, options=[f"-D{k}={v}" for k, v in sizes.items()])
weights = np.exp(-0.5 * (np.arange(-RADIUS, RADIUS + 1) / 2) ** 2).astype(np.float32)
weights /= weights.sum()
drv.memcpy_htod(module.get_global("weights")[0], weights)

height, width = args.height, args.width
# Tiles of random grey, and noise.
random = np.random.default_rng(4)
tiles = random.random((-(-height // 30), -(-width // 30)), dtype=np.float32)
image = np.kron(tiles, np.ones((30, 30), np.float32))[:height, :width]
image = (image + random.random((height, width), dtype=np.float32)) / 2
sides = np.int32(height), np.int32(width)
source = gpuarray.to_gpu(image)
between, blurred = gpuarray.empty_like(source), gpuarray.empty_like(source)
module.get_function("along_rows")(
    between,
    source,
    *sides,
    block=(STRETCH, 1, 1),
    grid=(-(-width // STRETCH), height),
)
module.get_function("down_columns")(
    blurred,
    between,
    *sides,
    block=(STRIP, TALL, 1),
    grid=(-(-width // STRIP), -(-height // TALL)),
)

padded = np.pad(image.astype(np.float64), RADIUS)
rows = sum(w * padded[:, k : k + width] for k, w in enumerate(weights))
both = sum(w * rows[k : k + height] for k, w in enumerate(weights))
difference = np.abs(blurred.get() - both).max()
print(f"{height} x {width} pixels, {weights.size} weights each way")
print(f"largest difference: {difference:.0e}")
pycuda.show(source, blurred, low=0, high=1, file=args.output)
if not difference < 1e-5:
    sys.exit("the result is wrong")
