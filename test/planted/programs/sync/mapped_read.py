"""A kernel writes to mapped host memory, and the host does not wait for it."""

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void flags(int *out) { out[threadIdx.x] = threadIdx.x % 2; }
""")
stream = drv.Stream()
out = drv.pagelocked_zeros(64, np.int32, mem_flags=drv.host_alloc_flags.DEVICEMAP)
address = np.intp(out.base.get_device_pointer())
module.get_function("flags")(address, block=(64, 1, 1), stream=stream)  # FAULT
# + stream.synchronize()
while not out[1]:  # FAULT
    break
stream.synchronize()
