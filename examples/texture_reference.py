"""Read an image between its pixels, with a texture declared as before CUDA 12.

CUDA 12 removed texture<> variables from the language; this package compiles them with
any toolkit. The texture unit interpolates and handles coordinates outside the image.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit  # makes a context
import pycuda.driver as drv
from pycuda.compiler import SourceModule

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--output", default="texture_reference.png", help="the image file")
args = parser.parse_args()
print("device:", pycuda.autoinit.device.name())

module = SourceModule(
    """
    texture<float, 2> image;

    __global__ void enlarge(float *large, int width, int height, float step)
    {
        int x = threadIdx.x, y = threadIdx.y;
        // element (x, y) has its centre at (x + 0.5, y + 0.5)
        large[y * width + x] = tex2D(image, x * step + 0.5f, y * step + 0.5f);
    }
    """
)
enlarge = module.get_function("enlarge")
image = module.get_texref("image")

# Quarters: every value is exact in the 8 bits of the filter's weights.
wrong, pictures = False, []
for small in (np.array([[0, 4], [8, 12]]), np.array([[1, 0], [0, 1]])):
    small = small.astype(np.float32)
    drv.bind_array_to_texref(drv.matrix_to_array(small, "C"), image)
    image.set_filter_mode(drv.filter_mode.LINEAR)
    large = np.empty((5, 5), np.float32)
    enlarge(
        drv.Out(large),
        np.int32(5),
        np.int32(5),
        np.float32(0.25),
        block=(5, 5, 1),
        texrefs=[image],
    )
    print("middle row:", *large[2])
    print("corners:", *large[::4, ::4].ravel())
    # Weights of rows and columns, from the first to the last: the image is bilinear.
    weights = np.array([1 - np.arange(5) / 4, np.arange(5) / 4])
    wrong |= (large != weights.T @ small @ weights).any()
    pictures.append(np.kron(large / large.max(), np.ones((48, 48))))
pycuda.show(*pictures, low=0, high=1, colors="ice", file=args.output)
if wrong:
    sys.exit("a picture is wrong")
