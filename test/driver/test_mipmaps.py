"""MipmappedArray: its levels, and textures of it."""

import gc

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.gpu

SOURCE = """
__global__ void read(cudaTextureObject_t t, float *out, const float *level)
{
    int i = threadIdx.x;
    out[i] = tex2DLod<float>(t, 0.5f, 0.5f, level[i]);
}
__global__ void write(cudaSurfaceObject_t s, float value)
{
    surf2Dwrite(value, s, threadIdx.x * 4, threadIdx.y);
}
"""


@pytest.fixture(scope="module")
def module_source():
    return SOURCE


@pytest.fixture
def mod(ctx):
    return SourceModule(SOURCE)


def descriptor(width=16, height=8, flags=0, depth=0):
    d = drv.ArrayDescriptor3D()
    d.width, d.height, d.depth = width, height, depth
    d.format, d.num_channels, d.flags = drv.array_format.FLOAT, 1, flags
    return d


def filled(flags=0):
    """An array whose level k has the value 10 k everywhere."""
    mipmap = drv.MipmappedArray(descriptor(flags=flags))
    for k in range(mipmap.levels):
        level = mipmap.get_level(k)
        d = level.get_descriptor_3d()
        level.set(np.full((max(d.height, 1), d.width), 10 * k, np.float32))
    return mipmap


def read(mod, texture, levels):
    levels = np.array(levels, np.float32)
    out = np.empty_like(levels)
    mod.get_function("read")(
        texture, drv.Out(out), drv.In(levels), block=(levels.size, 1, 1)
    )
    return out


def test_levels(ctx):
    mipmap = drv.MipmappedArray(descriptor())
    assert mipmap.levels == 5 and mipmap.handle
    sizes = []
    for k in range(mipmap.levels):
        d = mipmap.get_level(k).get_descriptor_3d()
        sizes.append((d.width, d.height))
    assert sizes == [(16, 8), (8, 4), (4, 2), (2, 1), (1, 1)]
    assert mipmap.get_descriptor_3d().width == 16
    assert drv.MipmappedArray(descriptor(), 2).levels == 2
    assert drv.MipmappedArray(descriptor(4, 4, depth=16)).levels == 5
    layered = descriptor(4, 4, drv.array3d_flags.ARRAY3D_LAYERED, 16)
    assert drv.MipmappedArray(layered).levels == 3
    flat = drv.ArrayDescriptor()
    flat.width, flat.height = 8, 8
    flat.format, flat.num_channels = drv.array_format.UNSIGNED_INT8, 4
    assert drv.MipmappedArray(flat).levels == 4
    for wrong in (5, 100):
        with pytest.raises(IndexError, match=f"level {wrong}"):
            mipmap.get_level(wrong)
    with pytest.raises(OverflowError):
        mipmap.get_level(-1)


def test_texture_between_the_levels(mod):
    mipmap = filled()
    texture = drv.TextureObject(mipmap, normalized_coords=True)
    assert texture.source is mipmap
    assert (read(mod, texture, [0, 1, 2, 3, 4, 9]) == [0, 10, 20, 30, 40, 40]).all()
    linear = drv.TextureObject(
        mipmap,
        normalized_coords=True,
        mipmap_filter_mode=drv.filter_mode.LINEAR,
    )
    assert np.allclose(read(mod, linear, [0, 0.5, 1.25, 3.75]), [0, 5, 12.5, 37.5])


def test_bias_and_limits_of_the_level(mod):
    mipmap = filled()
    biased = drv.TextureObject(mipmap, normalized_coords=True, mipmap_level_bias=1)
    limited = drv.TextureObject(
        mipmap,
        normalized_coords=True,
        min_mipmap_level=1,
        max_mipmap_level=np.float32(3),
    )
    assert (read(mod, limited, [0, 1, 2, 3, 4]) == [10, 10, 20, 30, 30]).all()
    assert (read(mod, biased, [0, 1, 2]) == [10, 20, 30]).all()


def test_surfaces_of_levels(mod):
    mipmap = filled(drv.array3d_flags.SURFACE_LDST)
    level = mipmap.get_level(1)
    surface = drv.SurfaceObject(level)
    mod.get_function("write")(surface, np.float32(-3), block=(8, 4, 1))
    assert (level.get() == -3).all()
    texture = drv.TextureObject(mipmap, normalized_coords=True)
    assert (read(mod, texture, [0, 1, 2]) == [0, -3, 20]).all()


def test_a_level_keeps_the_array(ctx):
    level = drv.MipmappedArray(descriptor()).get_level(1)
    gc.collect()
    level.set(np.ones((4, 8), np.float32))
    assert (level.get() == 1).all()


def test_levels_of_a_released_array(ctx):
    mipmap = drv.MipmappedArray(descriptor())
    level = mipmap.get_level(0)
    mipmap.free()
    for call in (
        level.get_descriptor_3d,
        level.get,
        lambda: mipmap.get_level(0),
        mipmap.free,
        lambda: drv.TextureObject(mipmap, normalized_coords=True),
        lambda: drv.TextureObject(level),
    ):
        with pytest.raises(drv.LogicError):
            call()


def test_an_array_of_a_context_that_ended():
    context = drv.Device(0).make_context()
    mipmap = drv.MipmappedArray(descriptor())
    level = mipmap.get_level(0)
    context.pop()
    context.detach()
    with pytest.raises(drv.LogicError):
        mipmap.get_level(0)
    with pytest.raises(drv.LogicError):
        level.get_descriptor_3d()


def test_wrong_arguments(ctx):
    mipmap = drv.MipmappedArray(descriptor())
    with pytest.raises(ValueError, match="normalized_coords=True"):
        drv.TextureObject(mipmap)
    with pytest.raises(TypeError, match="pitch"):
        drv.TextureObject(mipmap, pitch=64, normalized_coords=True)
    with pytest.raises(TypeError, match="descriptor"):
        drv.TextureObject(mipmap, descriptor(), normalized_coords=True)
    with pytest.raises(TypeError):
        drv.TextureObject(mipmap, normalized_coords=True, min_mipmap_level="x")
    with pytest.raises(TypeError):
        drv.TextureObject(mipmap, normalized_coords=True, mipmap_filter_mode="LINEAR")
    with pytest.raises(TypeError, match="descriptor"):
        drv.MipmappedArray(3)
    with pytest.raises(drv.LogicError, match="cuMipmappedArrayCreate"):
        drv.MipmappedArray(descriptor(0, 0))
    with pytest.raises(TypeError, match="called before"):
        mipmap.__init__(descriptor())
