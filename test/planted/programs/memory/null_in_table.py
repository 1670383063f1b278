"""A table of pointers has more rows than the program has filled."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""
struct list { const int *items; int length; };

__global__ void sum(int *out, const list *lists)
{
    const list &own = lists[threadIdx.x];
    int total = 0;
    for (int i = 0; i < own.length; i++)
        total += own.items[i];  // FAULT
    out[threadIdx.x] = total;
}
""")
parts = [gpuarray.to_gpu(np.arange(n, dtype=np.int32)) for n in range(1, 9)]
table = np.zeros(8, [("items", np.uint64), ("length", np.int64)])
filled = 7  # -
# + filled = 8
for i in range(filled):
    table[i]["items"] = parts[i].ptr
table["length"] = [part.size for part in parts]
lists = gpuarray.to_gpu(table.view(np.uint64))
out = gpuarray.zeros(8, np.int32)
module.get_function("sum")(out, lists, block=(8, 1, 1))  # LAUNCH
print(out.get())
