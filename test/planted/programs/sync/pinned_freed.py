"""Page-locked memory is freed while a copy from it is under way."""

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv

stream = drv.Stream()
on_gpu = drv.mem_alloc(4096)
buffer = drv.pagelocked_zeros(1024, np.float32)
drv.memcpy_htod_async(on_gpu, buffer, stream)  # FAULT
# + stream.synchronize()
buffer.base.free()  # FAULT
stream.synchronize()
