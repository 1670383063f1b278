"""A vote names all lanes, inside a condition that only some of them meet."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
__global__ void ranks(int *out, const int *keys)
{
    int t = threadIdx.x, key = keys[t], rank = -1;
    if (key >= 0) {  // -
    // + {
        unsigned same = __match_any_sync(0xffffffff, key);  // FAULT
        rank = __popc(same & ((1u << t) - 1));
    }
    __syncwarp();  // FAULT
    out[t] = rank;
}
""")
keys = gpuarray.to_gpu(np.random.RandomState(1).randint(-1, 4, 32).astype(np.int32))
out = gpuarray.empty_like(keys)
module.get_function("ranks")(out, keys, block=(32, 1, 1))  # LAUNCH
print(out.get()[:4])
