"""A shuffle names all lanes in its mask, but half of them are in another branch."""

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void sum(int *x)
{
    int t = threadIdx.x, own = x[t];
    if (t % 2 == 0)  // -
        own += __shfl_down_sync(0xffffffff, own, 1);  // FAULT
    __syncthreads();  // FAULT
    x[t] = own;
}
""")
x = np.arange(32, dtype=np.int32)
module.get_function("sum")(drv.InOut(x), block=(32, 1, 1))  # LAUNCH
print(x[:4])
