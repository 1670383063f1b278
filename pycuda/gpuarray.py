"""Arrays in device memory that compute like NumPy's: ``GPUArray`` and its functions.

The type, its operators and views are C (``pycuda._driver``); here are the functions
around it, under the names that programs know.
"""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayFlags, GPUArray, to_gpu, to_gpu_async

_ArrayFlags = ArrayFlags
empty = GPUArray


def _unpickle(cls, host, state=None):
    array = to_gpu(host)
    if cls is not GPUArray:
        plain = array
        array = cls(plain.shape, plain.dtype, strides=plain.strides)
        array.set(plain)
    return array
