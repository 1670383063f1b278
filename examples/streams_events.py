"""Work in two streams concurrently, and measure the time with events.

Copies run concurrently with other work only if the host memory is page-locked. Nothing
blocks until synchronize(), so the arrays must live until then.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit  # makes a context
import pycuda.driver as drv
from pycuda.compiler import SourceModule

argparse.ArgumentParser(description=__doc__).parse_args()
print("device:", pycuda.autoinit.device.name())

COUNT = 1 << 16

module = SourceModule(
    """
    __global__ void raise_by(float *values, float amount)
    {
        values[blockIdx.x * blockDim.x + threadIdx.x] += amount;
    }
    """
)
raise_by = module.get_function("raise_by")


class Job:
    """Copy one array to the device, run the kernel and copy it back, in a stream."""

    def __init__(self, amount):
        self.amount = np.float32(amount)
        self.stream = drv.Stream()
        self.started, self.ended = drv.Event(), drv.Event()
        self.host = drv.pagelocked_empty(COUNT, np.float32)
        self.host[:] = np.arange(COUNT)
        self.device = drv.mem_alloc(self.host.nbytes)

    def start(self):
        self.started.record(self.stream)
        drv.memcpy_htod_async(self.device, self.host, self.stream)
        raise_by(
            self.device,
            self.amount,
            block=(256, 1, 1),
            grid=(COUNT // 256, 1),
            stream=self.stream,
        )
        drv.memcpy_dtoh_async(self.host, self.device, self.stream)
        self.ended.record(self.stream)

    def finish(self):
        """Wait; return the milliseconds on the device and the largest error."""
        self.stream.synchronize()
        error = np.abs(self.host - (np.arange(COUNT) + self.amount)).max()
        return self.started.time_till(self.ended), error


jobs = [Job(1), Job(100)]
for job in jobs:
    job.start()
wrong = False
for job in jobs:
    milliseconds, error = job.finish()
    print(f"raised by {job.amount:g} in {milliseconds:.3f} ms, largest error {error:g}")
    wrong |= error > 0
print("streams done:", all(job.stream.is_done() for job in jobs))
if wrong:
    sys.exit("a result is wrong")
