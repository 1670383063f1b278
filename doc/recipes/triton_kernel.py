import numpy as np
import triton
import triton.language as tl

import pycuda.autoprimaryctx  # noqa: F401
from pycuda import gpuarray


class Argument:
    def __init__(self, array):
        self.array, self.dtype = array, array.dtype

    def data_ptr(self):
        return int(self.array.gpudata)


@triton.jit
def double(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


x = gpuarray.to_gpu(np.arange(1000, dtype=np.float32))
double[(8,)](Argument(x), 1000, BLOCK=128)
assert (x.get() == 2 * np.arange(1000)).all()
