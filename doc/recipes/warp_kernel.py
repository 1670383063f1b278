import numpy as np
import warp as wp

import pycuda.autoprimaryctx  # noqa: F401
from pycuda import gpuarray

wp.config.cuda_output = "ptx"
wp.config.enable_mempools_at_init = False


@wp.kernel
def double(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = 2.0 * x[i]


x = gpuarray.to_gpu(np.arange(1000, dtype=np.float32))
wp.launch(double, dim=1000, inputs=[x], device="cuda:0")
assert (x.get() == 2 * np.arange(1000)).all()
