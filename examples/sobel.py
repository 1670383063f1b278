"""Find the edges of an image with Sobel's filter, read through a texture.

    python examples/sobel.py --input photo.png

A texture repeats the pixels at the border automatically, so the kernel has no special
cases. Without --input the image is a disc in front of a gradient. --input needs Pillow.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit  # makes a context
import pycuda.driver as drv
from pycuda.compiler import SourceModule

parser = argparse.ArgumentParser(description="Find the edges of an image.")
parser.add_argument("--input", help="an image file to read, with Pillow")
parser.add_argument("--height", type=int, default=240, help="pixels, without --input")
parser.add_argument("--output", default="sobel.png", help="the image file")
args = parser.parse_args()
print("device:", pycuda.autoinit.device.name())

module = SourceModule(
    """
    texture<unsigned char, 2> image;

    __global__ void edges(unsigned char *to, int height, int width)
    {
        int x = blockIdx.x * blockDim.x + threadIdx.x;
        int y = blockIdx.y * blockDim.y + threadIdx.y;
        if (x >= width || y >= height)
            return;
        int pixel[3][3];
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++)
                pixel[j][i] = tex2D(image, x + i - 1, y + j - 1);
        int across = pixel[0][2] + 2 * pixel[1][2] + pixel[2][2]
                     - pixel[0][0] - 2 * pixel[1][0] - pixel[2][0];
        int down = pixel[2][0] + 2 * pixel[2][1] + pixel[2][2]
                   - pixel[0][0] - 2 * pixel[0][1] - pixel[0][2];
        to[y * width + x] = min(255, abs(across) + abs(down));
    }
    """
)
if args.input:
    from PIL import Image

    image = np.asarray(Image.open(args.input).convert("L"))
else:
    # In units of a fortieth of the height.
    y, x = np.mgrid[: args.height, : 3 * args.height // 2] * 40 / args.height
    image = np.where((x - 30) ** 2 + (y - 20) ** 2 < 150, 200, 2 * x).astype(np.uint8)
height, width = image.shape

texture = module.get_texref("image")
drv.matrix_to_texref(image, texture, order="C")
texture.set_flags(drv.TRSF_READ_AS_INTEGER)
for axis in (0, 1):
    texture.set_address_mode(axis, drv.address_mode.CLAMP)
edges = np.empty_like(image)
module.get_function("edges")(
    drv.Out(edges),
    np.int32(height),
    np.int32(width),
    block=(16, 8, 1),
    grid=(-(-width // 16), -(-height // 8)),
    texrefs=[texture],
)

p = np.pad(image.astype(np.int32), 1, mode="edge")
across = (p[:, 2:] - p[:, :-2])[:-2] + 2 * (p[:, 2:] - p[:, :-2])[1:-1]
across += (p[:, 2:] - p[:, :-2])[2:]
down = (
    (p[2:] - p[:-2])[:, :-2] + 2 * (p[2:] - p[:-2])[:, 1:-1] + (p[2:] - p[:-2])[:, 2:]
)
wanted = np.minimum(255, np.abs(across) + np.abs(down))

print(f"{height} x {width} pixels, {(edges > 128).sum()} on an edge")
print("pixels that differ from NumPy's:", (edges != wanted).sum())
pycuda.show(edges, file=args.output)
if not np.array_equal(edges, wanted):
    sys.exit("the result is wrong")
