"""Managed memory is read by the host while a kernel may still write it."""

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void add_one(int *x) { x[threadIdx.x] += 1; }
""")
x = drv.managed_zeros(128, np.int32, mem_flags=drv.mem_attach_flags.GLOBAL)
module.get_function("add_one")(x, block=(128, 1, 1))  # FAULT
# + drv.Context.synchronize()
print(x[:4])  # FAULT
drv.Context.synchronize()
