"""One warp loads and one computes; they wait for each other at different barriers."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void pipeline(float *out, const float *x, int steps)
{
    __shared__ float s[2][32];
    int lane = threadIdx.x % 32;
    bool loads = threadIdx.x < 32;
    float sum = 0;
    if (loads) s[0][lane] = x[lane];
    if (loads) {  // -
        for (int i = 1; i <= steps; i++) {  // -
            __syncthreads();  // - FAULT
            if (i < steps) s[i & 1][lane] = x[i * 32 + lane];  // -
        }  // -
    } else {  // -
        for (int i = 0; i < steps; i++) {  // -
            __syncthreads();  // - FAULT
            sum += s[i & 1][31 - lane];  // -
        }  // -
    }  // -
    // + for (int i = 0; i < steps; i++) {
    // +     __syncthreads();
    // +     if (loads && i + 1 < steps) s[(i + 1) & 1][lane] = x[i * 32 + 32 + lane];
    // +     if (!loads) sum += s[i & 1][31 - lane];
    // + }
    if (!loads) out[lane] = sum;
}
""")
steps = 4
x = gpuarray.to_gpu(np.random.rand(32 * steps).astype(np.float32))
out = gpuarray.empty(32, np.float32)
module.get_function("pipeline")(out, x, np.int32(steps), block=(64, 1, 1))  # LAUNCH
print(out.get()[:4])
