"""The kernel gets the address of a NumPy array, which is memory of the host."""

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void add(float *x, const float *y)
{
    x[threadIdx.x] += y[threadIdx.x];  // FAULT
}
""")
x = gpuarray.zeros(32, np.float32)
y = np.ones(32, np.float32)
address = y.ctypes.data  # -
# + y = gpuarray.to_gpu(y)
# + address = y.ptr
module.get_function("add")(x, np.intp(address), block=(32, 1, 1))  # LAUNCH
drv.Context.synchronize()
