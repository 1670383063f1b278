"""The bounds on filtered textures in the chapter about textures."""

import itertools
import re
from fractions import Fraction

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda.compiler import SourceModule
from support.compilers import needs_nvcc
from support.pages import DOC

DIMENSIONS = ("one", "two", "three")
STEPS = 256  # of the place between two elements
SOURCE = """
__global__ void one(float *out, cudaTextureObject_t image, const float *at)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex1D<float>(image, at[i]);
}
__global__ void two(float *out, cudaTextureObject_t image, const float *at)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex2D<float>(image, at[2 * i], at[2 * i + 1]);
}
__global__ void three(float *out, cudaTextureObject_t image, const float *at)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex3D<float>(image, at[3 * i], at[3 * i + 1], at[3 * i + 2]);
}
"""


def bounds():
    """Return the bound that the page states for each number of dimensions."""
    text = (DOC / "textures.rst").read_text()
    found = re.findall(r"^- 1/(\d+) in (\w+) dimensions?[,\n]", text, re.MULTILINE)
    assert [word for _, word in found] == [*DIMENSIONS]
    return [Fraction(1, int(number)) for number, _ in found]


def image_of(texels):
    if texels.ndim == 1:
        size = drv.ArrayDescriptor()
        size.width, size.height = texels.size, 0
    else:
        size = drv.ArrayDescriptor3D()
        size.width, size.height = texels.shape[:-3:-1]
        size.depth = texels.shape[0] if texels.ndim == 3 else 0
    size.format, size.num_channels = drv.array_format.FLOAT, 1
    image = drv.Array(size)
    image.set(texels)
    return image


def exact(texels, places):
    """Interpolate between 2, 4 or 8 elements in double precision."""
    values = np.broadcast_to(texels.astype(float), (len(places), *texels.shape))
    for place in places.T[::-1]:  # the first axis of an image is the last coordinate
        part = place.reshape(-1, *[1] * (values.ndim - 2))
        values = (1 - part) * values[:, 0] + part * values[:, 1]
    return values


def places_of(count, dimensions):
    """Return places between two elements: halves of the steps, and around them."""
    rng = np.random.default_rng(dimensions)
    steps = rng.integers(0, 2 * STEPS, (count, dimensions)) / (2 * STEPS)
    return np.clip(steps + rng.choice([-1e-6, 0, 1e-6], steps.shape), 0, 1)


def errors(texels, count=1 << 15):
    """Return the errors of a filter between 2, 4 or 8 elements."""
    at = (places_of(count, texels.ndim) + 0.5).astype(np.float32)
    out = np.empty(count, np.float32)
    texture = drv.TextureObject(image_of(texels), filter_mode=drv.filter_mode.LINEAR)
    filtered = SourceModule(SOURCE).get_function(DIMENSIONS[texels.ndim - 1])
    filtered(
        drv.Out(out), texture, drv.In(at), block=(256, 1, 1), grid=(count // 256, 1)
    )
    return np.abs(out - exact(texels, at.astype(float) - 0.5))


def images(dimensions):
    """Return images of zeros and ones, for which the errors are greatest."""
    if dimensions < 3:
        corners = itertools.product((0, 1), repeat=1 << dimensions)
        return [np.reshape(each, (2,) * dimensions) for each in corners]
    rng = np.random.default_rng(0)
    checks = np.indices((2, 2, 2)).sum(0) % 2
    return [checks, *rng.integers(0, 2, (8, 2, 2, 2))]


@needs_nvcc
@pytest.mark.gpu
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_a_filter_keeps_its_bound(ctx, dimensions):
    """It reaches more than half of it, so a bound of half the size would be wrong."""
    bound = float(bounds()[dimensions - 1])
    most = max(errors(each.astype(np.float32)).max() for each in images(dimensions))
    assert bound / 2 < most <= bound + 1e-7


@needs_nvcc
@pytest.mark.gpu
def test_the_bound_is_a_part_of_the_difference(ctx):
    texels = np.array([[1000, 1300], [1250, 1000]], np.float32)
    assert errors(texels).max() <= 300 * float(bounds()[1]) + 1e-4
    assert errors(texels).max() > 300 * float(bounds()[0])
