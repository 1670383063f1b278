"""Only the address of an array is kept, so the array is freed before the kernel."""

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void scale(float *x, const float *factors)
{
    x[threadIdx.x] *= factors[0];  // FAULT
}
""")


def address_of(values):
    array = gpuarray.to_gpu(np.asarray(values, np.float32))  # MADE
    # + kept.append(array)
    return np.intp(array.ptr)


kept = []
factors = address_of([2, 3])
x = gpuarray.to_gpu(np.ones(32, np.float32))
module.get_function("scale")(x, factors, block=(32, 1, 1))  # LAUNCH
drv.Context.synchronize()
