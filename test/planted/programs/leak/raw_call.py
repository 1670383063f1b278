"""Memory of a raw call of the driver has no object that frees it."""

import ctypes

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda import emulator

address = ctypes.c_uint64()
is_software = "software" in drv.Device(0).name()
cuda = ctypes.CDLL(emulator.library() if is_software else "libcuda.so.1")
cuda.cuMemAlloc_v2.argtypes = [ctypes.POINTER(ctypes.c_uint64), ctypes.c_size_t]
cuda.cuMemFree_v2.argtypes = [ctypes.c_uint64]
assert cuda.cuMemAlloc_v2(ctypes.byref(address), 4096) == 0  # FAULT
drv.memset_d8(address.value, 0, 4096)
# + assert cuda.cuMemFree_v2(address) == 0
