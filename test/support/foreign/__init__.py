"""Programs that exchange objects with another library, one for each library.

    python -m support.foreign.cuda_core

runs all checks of a program in one process and prints a line for each.
"""

import traceback

import numpy as np

import pycuda.autoprimaryctx  # noqa: F401
import pycuda.driver as drv
from pycuda.compiler import SourceModule

COUNT = 1024
SHAPE = {"block": (256, 1, 1), "grid": (4, 1)}
SOURCE = (
    'extern "C" __global__ void add(int *a, int n)'
    " { a[blockIdx.x * blockDim.x + threadIdx.x] += n; }"
)

checks = []


def check(function):
    checks.append(function)
    return function


def adder():
    """Return our kernel add(a, n), which adds n to COUNT integers."""
    return SourceModule(SOURCE, no_extern_c=True).get_function("add")


def words(address):
    """Return the integers at a device address."""
    drv.Context.synchronize()
    host = np.zeros(COUNT, np.int32)
    drv.memcpy_dtoh(host, int(address))
    return host


def run():
    failed = 0
    for function in checks:
        try:
            function()
            print(function.__name__, "ok")
        except BaseException:
            failed += 1
            print(function.__name__, "failed")
            traceback.print_exc()
    raise SystemExit(failed)
