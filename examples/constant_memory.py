"""Keep data that all threads read in constant memory: coefficients of a polynomial.

get_global returns the address and the size of a variable of the module. A copy to
that address sets the variable.
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
    __constant__ float coefficients[3];

    __global__ void polynomial(float *y, const float *x)
    {
        int i = threadIdx.x;
        y[i] = (coefficients[2] * x[i] + coefficients[1]) * x[i] + coefficients[0];
    }
    """
)
polynomial = module.get_function("polynomial")
address, size = module.get_global("coefficients")
print("bytes of constant memory:", size)

# Quarters: all intermediate values are exact in 32 bits, so the results are equal.
x = np.arange(-16, 16, dtype=np.float32) / 4
y = np.empty_like(x)
worst = 0.0
for c in ([1, 2, 3], [0, -1, 0.5]):
    drv.memcpy_htod(address, np.array(c, dtype=np.float32))
    polynomial(drv.Out(y), drv.In(x), block=(x.size, 1, 1))
    error = np.abs(y - (c[0] + c[1] * x + c[2] * x**2)).max()
    print(f"{c[0]} + {c[1]} x + {c[2]} x^2: largest difference {error:g}")
    worst = max(worst, error)
if worst > 0:
    sys.exit("a result is wrong")
