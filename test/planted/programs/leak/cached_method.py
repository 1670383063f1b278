"""functools.lru_cache on a bound method makes the object hold itself."""

import functools

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray


class Tables:
    def __init__(self):
        self.make = functools.lru_cache(self.plain_make)

    def plain_make(self, n):
        return gpuarray.to_gpu(np.arange(n, dtype=np.float64))  # FAULT


tables = Tables()
for n in (10, 20, 10):
    tables.make(n)
# + tables.make.cache_clear()
del tables
