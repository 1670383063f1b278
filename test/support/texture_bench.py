"""Launches, comparisons, data and coordinates for test_textures.py."""

import zlib

import numpy as np

import pycuda.driver as drv
from pycuda import _driver
from support.rawtexture import Store
from support.texture_model import FRACTION

WIDTH, HEIGHT, DEPTH = 7, 5, 4
POINTS = 600


def descriptor_of(data, flags=0):
    """Describe an Array of data[y][x][channel]."""
    height, width, channels = data.shape
    descriptor = drv.ArrayDescriptor3D()
    descriptor.width, descriptor.height = width, height
    descriptor.format = drv.dtype_to_array_format(data.dtype)
    descriptor.num_channels, descriptor.flags = channels, flags
    return descriptor


def array_of(data, flags=0):
    array = drv.Array(descriptor_of(data, flags))
    array.set(data)
    return array


class Bench:
    """The kernels, and arrays and textures that live until the end of the test."""

    def __init__(self, image):
        self.store = Store()
        self.emulated = _driver._is_emulated()
        self.module = drv.module_from_buffer(image)

    def launch(self, name, count, *arguments):
        block = 64
        grid = (max(1, -(-count // block)), 1)
        self.module.get_function(name)(*arguments, block=(block, 1, 1), grid=grid)

    def fetch(
        self, name, texture, coordinates, layer=None, dtype=np.float32, channels=4
    ):
        """Return the results of a fetch kernel as [point][channel]."""
        count = len(coordinates[0])
        at = np.zeros((3, count), np.float32)
        at[: len(coordinates)] = coordinates
        layers = np.zeros(count, np.int32)
        if layer is not None:
            layers[:] = layer
        out = np.full((count, channels), 99, dtype)
        self.launch(
            name,
            count,
            np.uint64(texture.value),
            drv.In(at),
            drv.In(layers),
            drv.Out(out),
            np.int32(count),
        )
        return out

    def compare(self, what, found, wanted, *, range_=None, sides=0, uncertain=None):
        """Compare exactly on the software device, within the open steps on a GPU."""
        found, wanted = np.asarray(found), np.asarray(wanted)
        assert found.shape == wanted.shape
        differ = (found != wanted) & ~(np.isnan(found) & np.isnan(wanted))
        largest = np.abs(found.astype(float) - wanted.astype(float))
        step = (range_ or 1.0) / FRACTION
        print(
            f"  {what}: {np.count_nonzero(differ)} of {differ.size} differ, "
            f"largest by {np.nanmax(largest, initial=0):.3g}"
            + (f" = {np.nanmax(largest, initial=0) / step:.3f}/256" if range_ else "")
        )
        if self.emulated:
            at = np.argwhere(differ)[:5]
            assert not len(at), [
                (tuple(i), found[tuple(i)], wanted[tuple(i)]) for i in at
            ]
        elif uncertain is not None:
            assert not differ[~uncertain].any()
        elif range_:
            assert np.nanmax(largest, initial=0) <= step * (sides + 0.01)
        else:
            assert not differ.any()


def texels(rng, dtype, depth=DEPTH, height=HEIGHT, width=WIDTH, channels=1):
    dtype, shape = np.dtype(dtype), (depth, height, width, channels)
    if dtype.kind == "f":
        return rng.uniform(-8, 8, shape).astype(dtype)
    bounds = np.iinfo(dtype)
    data = rng.integers(bounds.min, bounds.max, shape, dtype, endpoint=True)
    data.flat[0], data.flat[-1] = bounds.min, bounds.max
    return data


def rng_of(*key):
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def places(rng, sizes, unit, count=POINTS):
    """Return coordinates in the texture and around it.

    Half of them are multiples of 1/16 texel, which are exact. The others are random.
    """
    coordinates = []
    for n in sizes:
        u = rng.uniform(-1.7 * n, 2.7 * n, count)
        u[::2] = np.round(u[::2] * 16) / 16
        coordinates.append((u / n if unit else u).astype(np.float32))
    return coordinates


def directions(rng, count=POINTS):
    """Return directions whose largest component is well above the others."""
    d = rng.uniform(-1, 1, (3, count))
    largest = np.argmax(np.abs(d), axis=0)
    for k in range(3):
        d[k] *= np.where(largest == k, 1.25, 1)
    return (d * 2.0 ** rng.integers(-3, 4, count)).astype(np.float32)
