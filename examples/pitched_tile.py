"""Change one tile of an image on the GPU and fetch only that tile.

The distance between the rows of the image is a pitch with which the GPU reads them
fast. Memcpy2D copies rectangles between such memory and NumPy arrays, including views.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit  # makes a context
import pycuda.driver as drv
from pycuda.compiler import SourceModule

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--output", default="pitched_tile.png", help="the image file")
args = parser.parse_args()
print("device:", pycuda.autoinit.device.name())

module = SourceModule(
    """
    __global__ void negate(float *image, size_t pitch, int left, int top)
    {
        char *row = (char *)image + (top + threadIdx.y) * pitch;
        float *pixel = (float *)row + left + threadIdx.x;
        *pixel = -*pixel;
    }
    """
)
negate = module.get_function("negate")

image = np.arange(20 * 30, dtype=np.float32).reshape(20, 30)
memory, pitch = drv.mem_alloc_pitch(30 * 4, 20, access_size=4)

upload = drv.Memcpy2D()
upload.set_src_host(image)
upload.src_pitch = image.strides[0]
upload.set_dst_device(memory)
upload.dst_pitch = pitch
upload.width_in_bytes, upload.height = 30 * 4, 20
upload()

left, top, width, height = 10, 5, 8, 4
position = np.int32(left), np.int32(top)
negate(memory, np.uintp(pitch), *position, block=(width, height, 1), grid=(1, 1))

result = image.copy()
tile = result[top : top + height, left : left + width]
fetch = drv.Memcpy2D()
fetch.set_src_device(memory)
fetch.src_pitch, fetch.src_x_in_bytes, fetch.src_y = pitch, left * 4, top
fetch.set_dst_host(tile)
fetch.dst_pitch = result.strides[0]
fetch.width_in_bytes, fetch.height = width * 4, height
fetch()

print("corners of the tile:", tile[0, 0], tile[-1, -1])
print("pixels that changed:", (result != image).sum())
enlarged = np.kron(result, np.ones((16, 16)))
pycuda.show(enlarged, low=-600, high=600, colors="balance", file=args.output)
wanted = image.copy()
wanted[top : top + height, left : left + width] *= -1
if (result != wanted).any():
    sys.exit("the image is wrong")
