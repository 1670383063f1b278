"""Pass an array of C structs with pointers to a kernel.

Structs without pointers need none of this: gpuarray.to_gpu(records) copies an array of
records to the device, and a dtype made with align=True has the layout of C.

This program writes the structs byte by byte into one allocation. int(allocation) is the
address of its first byte, address plus offset is a field, and a pointer is written as
an np.uintp. The kernel then doubles two arrays of different length in one launch.
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
    struct vector {
        int n;
        int padding;  // the pointer begins at a multiple of 8
        float *values;
    };

    __global__ void twice(vector *vectors)
    {
        vector v = vectors[blockIdx.x];
        for (int i = threadIdx.x; i < v.n; i += blockDim.x)
            v.values[i] *= 2;
    }
    """
)
twice = module.get_function("twice")

STRUCT_SIZE = 4 + 4 + np.dtype(np.uintp).itemsize
VALUES_OFFSET = 8


class Vector:
    """An array on the device and the struct that describes it."""

    def __init__(self, struct, values):
        self.values = drv.to_device(values)
        self.shape, self.dtype = values.shape, values.dtype
        drv.memcpy_htod(struct, np.int32(values.size).tobytes())
        pointer = np.uintp(int(self.values))
        drv.memcpy_htod(struct + VALUES_OFFSET, pointer.tobytes())

    def get(self):
        return drv.from_device(self.values, self.shape, self.dtype)


structs = drv.mem_alloc(2 * STRUCT_SIZE)
second_struct = int(structs) + STRUCT_SIZE
first = Vector(int(structs), np.array([1, 2, 3], dtype=np.float32))
second = Vector(second_struct, np.array([0.5, -4], dtype=np.float32))
print("before:", first.get(), second.get())

twice(structs, block=(32, 1, 1), grid=(2, 1))
print("both doubled:", first.get(), second.get())

# An address inside an allocation is a number; pass it to a kernel as an np.uintp.
twice(np.uintp(second_struct), block=(32, 1, 1), grid=(1, 1))
print("second doubled again:", first.get(), second.get())
if first.get().tolist() != [2, 4, 6] or second.get().tolist() != [2, -16]:
    sys.exit("the result is wrong")
