"""A page-locked array is read before the copy into it has ended."""

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda import gpuarray

stream = drv.Stream()
x = gpuarray.to_gpu(np.ones(1024, np.float32))
result = drv.pagelocked_zeros(1024, np.float32)
drv.memcpy_dtoh_async(result, x.gpudata, stream)  # FAULT
# + stream.synchronize()
print(result.sum())  # FAULT
stream.synchronize()
