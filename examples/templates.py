"""Write kernels with a template: a stencil whose weights are in the source.

Jinja2 unrolls the sum over the neighbours, omits those with weight 0, and inserts the
type, so the compiler sees only constants. Each stencil is its own program, which is
compiled at first use and comes from the compile cache afterwards.
"""

import argparse
import sys

import numpy as np
from jinja2 import Template

import pycuda.autoinit  # makes a context
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.tools import dtype_to_ctype

argparse.ArgumentParser(description=__doc__).parse_args()
print("device:", pycuda.autoinit.device.name())

TEMPLATE = Template(
    """
    #define WIDTH {{ width }}

    __global__ void stencil({{ type }} *to, const {{ type }} *from)
    {
        int x = blockIdx.x * blockDim.x + threadIdx.x + {{ reach }};
        int y = blockIdx.y + {{ reach }};
        if (x >= WIDTH - {{ reach }})
            return;
        const {{ type }} *here = from + y * WIDTH + x;
        {{ type }} sum = 0;
        {% for (dy, dx), weight in weights.items() if weight %}
        sum += ({{ type }}){{ weight }} * here[{{ dy }} * WIDTH + {{ dx }}];
        {% endfor %}
        to[y * WIDTH + x] = sum;
    }
    """
)


def make_stencil(weights, dtype, width):
    """Compile the stencil of a square of weights; return its function and source."""
    reach = len(weights) // 2
    around = range(-reach, reach + 1)
    source = TEMPLATE.render(
        type=dtype_to_ctype(dtype),
        width=width,
        reach=reach,
        weights={(y, x): weights[y + reach][x + reach] for y in around for x in around},
    )
    return SourceModule(source).get_function("stencil"), source


def on_host(weights, image):
    reach = len(weights) // 2
    result = np.zeros_like(image)
    height, width = (n - 2 * reach for n in image.shape)
    inner = result[reach : reach + height, reach : reach + width]
    for y, row in enumerate(weights):
        for x, weight in enumerate(row):
            inner += image.dtype.type(weight) * image[y : y + height, x : x + width]
    return result


STENCILS = {
    "laplace": [[0, 1, 0], [1, -4, 1], [0, 1, 0]],
    "mean": [[1 / 9] * 3] * 3,
    "wide cross": [
        [0, 0, 0.5, 0, 0],
        [0, 0, 1, 0, 0],
        [0.5, 1, -6, 1, 0.5],
        [0, 0, 1, 0, 0],
        [0, 0, 0.5, 0, 0],
    ],
}

TYPES = [np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.float32)]
right = True
for (name, weights), dtype in zip(STENCILS.items(), TYPES, strict=True):
    image = np.random.default_rng(3).random((20, 70)).astype(dtype)
    stencil, source = make_stencil(weights, dtype, image.shape[1])
    result = gpuarray.zeros(image.shape, dtype)
    height = image.shape[0] - 2 * (len(weights) // 2)
    stencil(result, gpuarray.to_gpu(image), block=(32, 1, 1), grid=(3, height))
    difference = np.abs(result.get() - on_host(weights, image)).max()
    terms = source.count("sum +=")
    print(f"{name}, {dtype}: {terms} terms, largest difference {difference:.0e}")
    right &= difference <= 20 * np.finfo(dtype).eps
if not right:
    sys.exit("the results are wrong")
