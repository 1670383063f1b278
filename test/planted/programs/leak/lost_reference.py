"""An extension module takes a reference to an array and never gives it back."""

import ctypes

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray

take, give_back = ctypes.pythonapi.Py_IncRef, ctypes.pythonapi.Py_DecRef
for function in (take, give_back):
    function.argtypes = [ctypes.py_object]
    function.restype = None
x = gpuarray.to_gpu(np.ones(2000, np.float32))  # FAULT
take(x)
print(float(gpuarray.sum(x).get()))
# + give_back(x)
