"""One context for each thread, made and released by hand.

A context is current in the thread that made or pushed it. Each thread here makes its
own context on the first device, works in it, and pops it before it ends. The work is in
a separate function, so all objects of the context have been released by then.
"""

import argparse
import sys
import threading

import numpy as np

import pycuda.driver as drv
from pycuda.compiler import SourceModule

argparse.ArgumentParser(description=__doc__).parse_args()

SOURCE = """
__global__ void square(float *values)
{
    values[threadIdx.x] *= values[threadIdx.x];
}
"""
drv.init()
device = drv.Device(0)
print("device:", device.name())
compiling = threading.Lock()  # one thread compiles, the others use the cache


def work(values):
    with compiling:
        module = SourceModule(SOURCE)
    square = module.get_function("square")
    square(drv.InOut(values), block=(values.size, 1, 1))


def run(values):
    context = device.make_context()
    try:
        work(values)
    finally:
        context.pop()


arrays = [np.arange(8, dtype=np.float32) + 10 * k for k in range(4)]
expected = [a**2 for a in arrays]
threads = [threading.Thread(target=run, args=(a,)) for a in arrays]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for k, (got, want) in enumerate(zip(arrays, expected, strict=True)):
    print(
        f"thread {k}: last {got[-1]:g}, {'right' if (got == want).all() else 'WRONG'}"
    )
if any((got != want).any() for got, want in zip(arrays, expected, strict=True)):
    sys.exit("a result is wrong")
