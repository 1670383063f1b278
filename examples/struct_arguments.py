"""Pass structs by value: CUDA's int4 and float4, and your own struct.

The kernel gets the bytes of an element of a structured NumPy array. align=True adds the
same padding as C.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit  # makes a context
import pycuda.driver as drv
from pycuda.compiler import SourceModule

argparse.ArgumentParser(description=__doc__).parse_args()
print("device:", pycuda.autoinit.device.name())

module = SourceModule(
    """
    struct sample {
        char tag;
        short count;
        double weight;
    };

    __global__ void vectors(int *ints, float *floats, int4 i, float4 f)
    {
        ints[0] = i.x; ints[1] = i.y; ints[2] = i.z; ints[3] = i.w;
        floats[0] = f.x; floats[1] = f.y; floats[2] = f.z; floats[3] = f.w;
    }

    __global__ void weigh(double *result, sample s)
    {
        result[0] = s.tag;
        result[1] = s.count;
        result[2] = s.count * s.weight;
    }
    """
)
vectors = module.get_function("vectors")
weigh = module.get_function("weigh")

int4 = np.dtype([(name, np.int32) for name in "xyzw"])
float4 = np.dtype([(name, np.float32) for name in "xyzw"])
sample = np.dtype(
    [("tag", np.int8), ("count", np.int16), ("weight", np.float64)], align=True
)

ints = np.zeros(4, dtype=np.int32)
floats = np.zeros(4, dtype=np.float32)
i = np.array((1, -2, 3, -4), dtype=int4)[()]
f = np.array((0.5, 1.5, -2.5, 3.5), dtype=float4)[()]
vectors(drv.Out(ints), drv.Out(floats), i, f, block=(1, 1, 1))
print("int4:", ints.tolist())
print("float4:", floats.tolist())

result = np.zeros(3)
s = np.array((65, 300, 0.25), dtype=sample)[()]
weigh(drv.Out(result), s, block=(1, 1, 1))
print("bytes of the struct:", sample.itemsize)
print("tag, count, count * weight:", result.tolist())
right = ints.tolist() == list(i.item()) and floats.tolist() == list(f.item())
if not right or result.tolist() != [65, 300, 75]:
    sys.exit("a struct is wrong")
