"""A result is copied in a stream of its own, which does not wait for the kernel."""

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void square(float *x) { x[threadIdx.x] *= x[threadIdx.x]; }
""")
square = module.get_function("square")
compute, copy = drv.Stream(), drv.Stream()
parts = [gpuarray.to_gpu(np.full(64, i, np.float32)) for i in range(4)]
results = drv.pagelocked_empty((4, 64), np.float32)
for part, result in zip(parts, results, strict=True):
    square(part, block=(64, 1, 1), stream=compute)  # FAULT
    # + done = drv.Event()
    # + done.record(compute)
    # + copy.wait_for_event(done)
    drv.memcpy_dtoh_async(result, part.gpudata, copy)  # FAULT
drv.Context.synchronize()
print(results.sum())
