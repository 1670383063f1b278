"""Vectors of four floats are read from an address that is no multiple of 16."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void sum4(float *out, const float *x)
{
    float4 v = reinterpret_cast<const float4 *>(x)[threadIdx.x];  // FAULT
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}
""")
x = gpuarray.to_gpu(np.arange(132, dtype=np.float32))  # MADE
out = gpuarray.zeros(32, np.float32)
part = x[1:129]  # -
# + part = x[4:132]
module.get_function("sum4")(out, part, block=(32, 1, 1))  # LAUNCH
print(out.get()[:4])
