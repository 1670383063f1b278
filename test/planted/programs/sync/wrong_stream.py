"""The program waits for one stream, but the copy was in another."""

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda import gpuarray

upload, download = drv.Stream(), drv.Stream()
x = gpuarray.to_gpu(np.arange(256, dtype=np.int32))
result = drv.pagelocked_zeros(256, np.int32)
drv.memcpy_dtoh_async(result, x.gpudata, download)  # FAULT
upload.synchronize()  # -
# + download.synchronize()
total = int(np.sum(result))  # FAULT
print(total)
download.synchronize()
