"""Pass images to a kernel as arguments: texture objects to read, a surface to write.

The source declares only the parameters, so one kernel can read any image.
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
    __global__ void blend(cudaTextureObject_t a, cudaTextureObject_t b,
                          cudaSurfaceObject_t out, float share)
    {
        int x = threadIdx.x, y = threadIdx.y;
        float4 p = tex2D<float4>(a, x + 0.5f, y + 0.5f);
        float4 q = tex2D<float4>(b, x + 0.5f, y + 0.5f);
        float first = (p.x + p.y + p.z) / 3, second = (q.x + q.y + q.z) / 3;
        float grey = first * (1 - share) + second * share;
        surf2Dwrite((unsigned char)rintf(grey * 255), out, x, y);
    }
    """
)
blend = module.get_function("blend")


def texture_of(colour):
    """Return a texture of 8 x 4 pixels of one colour, read as [0, 1]."""
    pixels = np.empty((4, 8, 4), np.uint8)
    pixels[:] = colour
    array = drv.make_multichannel_2d_array(pixels, "C")
    return drv.TextureObject(array, read_as_float=True)


descriptor = drv.ArrayDescriptor3D()
descriptor.width, descriptor.height = 8, 4
descriptor.format, descriptor.num_channels = drv.array_format.UNSIGNED_INT8, 1
descriptor.flags = drv.array3d_flags.SURFACE_LDST
picture = drv.Array(descriptor)
surface = drv.SurfaceObject(picture)

white, black = texture_of((255, 255, 255, 255)), texture_of((0, 0, 0, 255))
wrong = False
for share in (0, 0.2, 1):
    blend(white, black, surface, np.float32(share), block=(8, 4, 1))
    grey = picture.get()
    print(f"{share} of black: {grey.shape[0]} x {grey.shape[1]} pixels of {grey[0, 0]}")
    wrong |= (grey != grey[0, 0]).any() or grey[0, 0] != round(255 * (1 - share))
if wrong:
    sys.exit("a picture is wrong")
