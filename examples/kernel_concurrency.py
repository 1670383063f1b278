"""Run kernels concurrently: small kernels in several streams share the device.

A kernel of one block uses one multiprocessor, however many there are. In one stream the
kernels wait for each other; in separate streams they run concurrently. Here each kernel
iterates over a cycle of numbers, which takes the same time wherever it runs.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit  # makes a context
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

parser = argparse.ArgumentParser(description="Run kernels in one and several streams.")
parser.add_argument("--kernels", type=int, default=8)
parser.add_argument("--rounds", type=int, default=2000, help="a million on a GPU")
args = parser.parse_args()
print("device:", pycuda.autoinit.device.name())
kernels, rounds = args.kernels, args.rounds

go_round = SourceModule(
    """
    __global__ void go_round(unsigned int *numbers, int rounds)
    {
        unsigned int x = numbers[threadIdx.x];
        for (int i = 0; i < rounds; i++)
            x = 1664525u * x + 1013904223u;
        numbers[threadIdx.x] = x;
    }
    """
).get_function("go_round")

start_numbers = np.arange(32, dtype=np.uint32)
# Many steps at once: compose x -> a x + c with itself by repeated squaring.
a, c = 1, 0
factor, term = 1664525, 1013904223
left = rounds
while left:
    if left % 2:
        a, c = a * factor % 2**32, (c * factor + term) % 2**32
    factor, term = factor * factor % 2**32, (term * factor + term) % 2**32
    left //= 2
wanted = (start_numbers.astype(np.uint64) * a + c).astype(np.uint32)


def milliseconds(streams):
    """Return the time of all kernels in the streams, and whether all are right."""
    arrays = [gpuarray.to_gpu(start_numbers) for _ in range(kernels)]
    drv.Context.synchronize()
    start, end = drv.Event(), drv.Event()
    start.record(streams[0])
    for stream in streams[1:]:
        stream.wait_for_event(start)
    for number, array in enumerate(arrays):
        stream = streams[number % len(streams)]
        go_round(array, np.int32(rounds), block=(32, 1, 1), stream=stream)
    for stream in streams[1:]:
        done = drv.Event()
        done.record(stream)
        streams[0].wait_for_event(done)
    end.record(streams[0])
    end.synchronize()
    right = all(np.array_equal(array.get(), wanted) for array in arrays)
    return start.time_till(end), right


streams = [drv.Stream() for _ in range(kernels)]
milliseconds(streams)  # the first call loads the kernel
in_one, right_in_one = milliseconds(streams[:1])
in_several, right_in_several = milliseconds(streams)
print(f"{kernels} kernels in one stream: {in_one:.3f} ms, right: {right_in_one}")
print(f"in {kernels} streams: {in_several:.3f} ms, right: {right_in_several}")
print(f"times faster: {in_one / in_several:.1f}")
if not (right_in_one and right_in_several):
    sys.exit("a result is wrong")
