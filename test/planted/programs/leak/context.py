"""A context is made and never popped."""

import numpy as np

import pycuda.driver as drv
from pycuda import gpuarray

drv.init()
context = drv.Device(0).make_context()  # FAULT
x = gpuarray.to_gpu(np.arange(100.0))
print((x + x).get().sum())
del x
# + context.pop()
