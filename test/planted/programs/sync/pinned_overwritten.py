"""The next part is written to a page-locked array whose copy has not ended."""

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv

stream = drv.Stream()
parts = np.random.rand(2, 1024).astype(np.float32)
buffer = drv.pagelocked_empty(1024, np.float32)
on_gpu = drv.mem_alloc(parts.nbytes)
for i in range(2):
    # + stream.synchronize()
    buffer[:] = parts[i]  # FAULT
    drv.memcpy_htod_async(int(on_gpu) + i * buffer.nbytes, buffer, stream)  # FAULT
stream.synchronize()
result = np.empty_like(parts)
drv.memcpy_dtoh(result, on_gpu)
print(np.array_equal(result, parts))
