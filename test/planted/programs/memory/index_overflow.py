"""An index is computed in 32 bits, overflows and becomes negative."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void histogram(int *counts, const int *values, int bins, int range)
{
    int bin = values[threadIdx.x] * bins / range;  // -
    // + int bin = (long long)values[threadIdx.x] * bins / range;
    atomicAdd(&counts[bin], 1);  // FAULT
}
""")
bins, limit = 1024, 3_000_000
counts = gpuarray.zeros(bins, np.int32)
values = gpuarray.to_gpu(np.linspace(0, limit - 1, 64).astype(np.int32))
sizes = np.int32(bins), np.int32(limit)
module.get_function("histogram")(counts, values, *sizes, block=(64, 1, 1))  # LAUNCH
print(counts.get().sum())
