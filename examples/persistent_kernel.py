"""A persistent kernel: all time steps of a simulation in one cooperative launch.

Heat flows along a rod. Each step needs the temperatures of the step before, so all
blocks wait for each other after each step. An ordinary program launches a kernel for
each step. Here the blocks stay on the device and meet at grid.sync(). This needs a
cooperative launch, with at most as many blocks as the device holds at once. Each thread
computes several points, so the rod may have any length.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule

parser = argparse.ArgumentParser(description="Heat on a rod, in one launch.")
parser.add_argument("--points", type=int, default=3000)
parser.add_argument("--steps", type=int, default=40, help="thousands on a GPU")
args = parser.parse_args()
print("device:", pycuda.autoinit.device.name())

source = """
#include <cooperative_groups.h>

__device__ void step(const float *from, float *to, int n, int first, int stride)
{
    for (int i = first; i < n; i += stride) {
        if (i == 0 || i == n - 1)
            to[i] = from[i];
        else
            to[i] = from[i] + 0.25f * (from[i - 1] - 2 * from[i] + from[i + 1]);
    }
}

extern "C" __global__ void one_step(const float *from, float *to, int n)
{
    step(from, to, n, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x);
}

extern "C" __global__ void all_steps(float *a, float *b, int n, int steps)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    for (int i = 0; i < steps; i++) {
        step(a, b, n, grid.thread_rank(), grid.num_threads());
        grid.sync();
        float *old = a;
        a = b;
        b = old;
    }
}
"""
module = SourceModule(source, no_extern_c=True)
one_step = module.get_function("one_step")
all_steps = module.get_function("all_steps")

threads = 128
most = pycuda.autoinit.device.max_cooperative_blocks(all_steps, threads)
blocks = min(most, -(-args.points // threads))
print(f"blocks of {threads} threads that fit on the device: {most}, used: {blocks}")

rod = np.zeros(args.points, np.float32)
rod[args.points // 3 : args.points // 2] = 100
points, steps = np.int32(args.points), np.int32(args.steps)
shape = {"block": (threads, 1, 1), "grid": (blocks, 1)}

a, b = drv.to_device(rod), drv.to_device(rod)
start, end = drv.Event(), drv.Event()
start.record()
for _ in range(args.steps):
    one_step(a, b, points, **shape)
    a, b = b, a
end.record().synchronize()
expected = drv.from_device_like(a, rod)
print(f"{args.steps} launches: {end.time_since(start):.3f} ms")

a, b = drv.to_device(rod), drv.to_device(rod)
start.record()
all_steps(a, b, points, steps, **shape, cooperative=True)
end.record().synchronize()
print(f"one launch: {end.time_since(start):.3f} ms")
result = drv.from_device_like((a, b)[args.steps % 2], rod)

print(f"hottest point: {result.max():.2f}")
if not (result == expected).all():
    sys.exit("the result is wrong")

try:
    all_steps(
        a, b, points, steps, block=(threads, 1, 1), grid=most + 1, cooperative=True
    )
except drv.LogicError as error:
    print(error)
else:
    sys.exit("the limit is wrong")
