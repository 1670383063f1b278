"""A consumer of DLPack takes the array and does not call the deleter."""

import ctypes

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray

api = ctypes.pythonapi
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
x = gpuarray.to_gpu(np.arange(300, dtype=np.float32))  # FAULT
capsule = x.__dlpack__()
tensor = api.PyCapsule_GetPointer(capsule, b"dltensor")
used = ctypes.create_string_buffer(b"used_dltensor")
api.PyCapsule_SetName(capsule, used)
deleter = ctypes.c_void_p.from_address(tensor + 56).value
# + ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)(tensor)
del capsule, x
