"""Texture and surface references: sources from before CUDA 12, compared with NumPy.

nvcc and NVRTC compile the kernels of support/old_sources.py. Their reads are compared
with support/texture_model.py, as in test_textures.py for texture objects.
"""

import ctypes
import gc
import re

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver, compiler
from pycuda._compile import tools
from pycuda._compile.source_text import header_for, wrapped
from pycuda.compiler import SourceModule
from support import old_sources
from support.compilers import COMPILERS
from support.emulator import LIBRARY
from support.old_sources import ELEMENTS, READS, SURFACE_KINDS, SURFACE_TYPES
from support.rawtexture import Raw
from support.texture_bench import (
    DEPTH,
    HEIGHT,
    POINTS,
    WIDTH,
    Bench,
    directions,
    places,
    rng_of,
    texels,
)
from support.texture_model import Model, face_of

pytestmark = pytest.mark.gpu

MODES = list(map(int, range(4)))
LINEAR, POINT = drv.filter_mode.LINEAR, drv.filter_mode.POINT
FLAGS = drv.array3d_flags


@pytest.fixture(scope="module", params=COMPILERS)
def images(request):
    """The PTX of the kernels by purpose, compiled once."""
    drv.init()
    context = drv.Device(0).make_context()
    try:
        return {
            name: compiler.compile(source, target="ptx", compiler=request.param)
            for name, source in (
                ("reads", old_sources.SOURCE),
                ("surfaces", old_sources.SURFACES),
            )
        }
    finally:
        context.pop()
        context.detach()


class Programs(Bench):
    """A module of old sources, and the reads of its kernels."""

    def __init__(self, image):
        self.emulated = _driver._is_emulated()
        self.module = drv.module_from_buffer(image)

    def read(self, name, at, layer=None, dtype="float32", channels=1, **how):
        """Return a kernel's reads at some coordinates, as [point][channel]."""
        count = len(at[0])
        three = np.zeros((3, count), np.float32)
        three[: len(at)] = at
        layers = np.zeros(count, np.int32)
        if layer is not None:
            layers[:] = layer
        out = np.full((count, channels), 99, dtype)
        self.module.get_function(f"read_{name}")(
            drv.Out(out),
            drv.In(three),
            drv.In(layers),
            np.int32(count),
            block=(64, 1, 1),
            grid=(-(-count // 64), 1),
            **how,
        )
        return out


@pytest.fixture
def programs(ctx, images):
    return Programs(images["reads"])


def array_of(data, sides, flags=0):
    """Make an Array of data[z][y][x][channel]. The flags may make z the layer."""
    depth, height, width, channels = data.shape
    descriptor = drv.ArrayDescriptor3D()
    descriptor.width = width
    descriptor.height = height if sides > 1 else 0
    stacked = flags & (FLAGS.ARRAY3D_LAYERED | FLAGS.CUBEMAP)
    descriptor.depth = depth if sides > 2 or stacked else 0
    descriptor.format = drv.dtype_to_array_format(data.dtype)
    descriptor.num_channels = channels
    descriptor.flags = flags
    array = drv.Array(descriptor)
    array.set(np.ascontiguousarray(data))
    return array


GEOMETRIES = {
    "t1d": (1, 0),
    "t2d": (2, 0),
    "t3d": (3, 0),
    "a1d": (1, FLAGS.ARRAY3D_LAYERED),
    "a2d": (2, FLAGS.ARRAY3D_LAYERED),
}


def data_of(rng, geometry, dtype, channels):
    sides, flags = GEOMETRIES[geometry]
    return texels(
        rng,
        dtype,
        depth=DEPTH if sides == 3 or flags else 1,
        height=HEIGHT if sides > 1 else 1,
        channels=channels,
    )


def set_up(texref, modes=(1, 1, 1), linear=False, unit=False):
    for dim, mode in enumerate(modes):
        texref.set_address_mode(dim, drv.address_mode(mode))
    texref.set_filter_mode(LINEAR if linear else POINT)
    texref.set_flags(drv.TRSF_NORMALIZED_COORDINATES if unit else 0)


@pytest.mark.parametrize("unit", [False, True], ids=["texels", "unit"])
@pytest.mark.parametrize("linear", [False, True], ids=["point", "linear"])
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_modes(programs, geometry, linear, unit):
    sides, flags = GEOMETRIES[geometry]
    rng = rng_of("references", geometry, linear, unit)
    data = data_of(rng, geometry, "float32", 2)
    name = f"{geometry}_float2"
    texref = programs.module.get_texref(name)
    texref.set_array(array_of(data, sides, flags))
    for modes in [(mode,) * 3 for mode in MODES] + [(0, 3, 2)]:
        set_up(texref, modes, linear, unit)
        model = Model(data, sides, modes, linear, unit)
        at = places(rng, (WIDTH, HEIGHT, DEPTH)[:sides], unit)
        layer = rng.integers(-2, DEPTH + 2, POINTS) if flags else None
        programs.compare(
            f"{name} modes {modes} linear {linear} unit {unit}",
            programs.read(name, at, layer, channels=2, texrefs=[texref]),
            model.fetch(at, layer),
            range_=16.0 if linear else None,
            sides=sides,
            uncertain=None if linear else model.near_an_edge(at, 1 / 128),
        )


@pytest.mark.parametrize(
    "type_, dtype, channels",
    [
        ("float", "float32", 1),
        ("float", "float16", 1),
        ("float4", "float32", 4),
        ("float4", "float16", 4),
        ("int", "int32", 1),
        ("uint2", "uint32", 2),
        ("short4", "int16", 4),
        ("uchar", "uint8", 1),
    ],
)
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_elements(programs, geometry, type_, dtype, channels):
    sides, flags = GEOMETRIES[geometry]
    rng = rng_of("elements", geometry, type_, dtype)
    data = data_of(rng, geometry, dtype, channels)
    name = f"{geometry}_{type_}"
    texref = programs.module.get_texref(name)
    texref.set_array(array_of(data, sides, flags))
    at = places(rng, (WIDTH, HEIGHT, DEPTH)[:sides], False)
    layer = rng.integers(0, DEPTH, POINTS) if flags else None
    model = Model(data, sides, as_integer=True)
    gives = "float32" if dtype == "float16" else dtype
    programs.compare(
        f"{name} of {dtype}",
        programs.read(name, at, layer, gives, channels),
        model.fetch(at, layer),
        uncertain=model.near_an_edge(at, 1 / 128),
    )


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("dtype", ELEMENTS)
def test_read_modes(programs, dtype, channels):
    """The declaration defines how an element is read, not the flags."""
    rng = rng_of("read modes", dtype, channels)
    data = texels(rng, dtype, depth=1, channels=channels)
    array = array_of(data, 2)
    at = places(rng, (WIDTH, HEIGHT), False)
    names = [name for name in READS if name.endswith(f"_{dtype}_{channels}")]
    for name in sorted(set(names) - {f"fetch_{dtype}_{channels}"}):
        unit = name.startswith("unit")
        texref = programs.module.get_texref(name)
        texref.set_array(array)
        model = Model(data, 2, as_integer=not unit)
        gives = "float32" if unit else dtype
        for flags in (0, drv.TRSF_READ_AS_INTEGER):
            texref.set_flags(flags)
            programs.compare(
                f"{name} flags {flags}",
                programs.read(name, at, None, gives, channels),
                model.fetch(at),
                uncertain=model.near_an_edge(at, 1 / 128),
            )
        if unit:
            texref.set_filter_mode(LINEAR)
            model.linear = True
            programs.compare(
                f"{name} linear",
                programs.read(name, at, None, gives, channels),
                model.fetch(at),
                range_=np.ptp(model.values()),
                sides=2,
            )
        elif dtype != "float32":
            texref.set_filter_mode(LINEAR)
            with pytest.raises(drv.LogicError, match=f"'{name}': .*cannot be filtered"):
                programs.read(name, at, None, gives, channels)
            texref.set_filter_mode(POINT)


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("dtype", ELEMENTS)
def test_linear_memory(programs, dtype, channels):
    rng = rng_of("fetch", dtype, channels)
    data = texels(rng, dtype, depth=1, height=1, width=33, channels=channels)
    memory = drv.to_device(data)
    name = f"fetch_{dtype}_{channels}"
    texref = programs.module.get_texref(name)
    # without set_format it is what was declared
    told = texref.get_format()
    assert told == (drv.dtype_to_array_format(dtype), channels)
    assert texref.set_address(memory, data.nbytes) == 0
    assert texref.get_address() == int(memory)
    at = np.arange(-3, 40)
    inside = (at >= 0) & (at < 33)
    found = programs.read(name, [at], None, dtype, channels, texrefs=[texref])
    assert np.array_equal(found[inside], data.reshape(-1, channels))
    assert not found[~inside].any()
    # filters and coordinates of [0, 1) mean nothing here
    set_up(texref, linear=True, unit=True)
    again = programs.read(name, [at], None, dtype, channels, texrefs=[texref])
    assert np.array_equal(again, found)


def test_offset(programs):
    data = np.arange(1024, dtype=np.float32)
    memory = drv.to_device(data)
    texref = programs.module.get_texref("fetch_float32_1")
    texref.set_format(drv.array_format.FLOAT, 1)
    with pytest.raises(drv.LogicError, match="allow_offset"):
        texref.set_address(int(memory) + 16, 64)
    with pytest.raises(drv.LogicError, match="bound to no memory"):
        texref.get_address()
    offset = texref.set_address(int(memory) + 16, 64, allow_offset=True)
    assert offset == 16
    at = np.arange(20) + offset // 4
    found = programs.read("fetch_float32_1", [at], texrefs=[texref])
    assert np.array_equal(found[:16, 0], data[4:20])
    assert not found[16:].any()
    with pytest.raises(drv.LogicError, match="0 bytes"):
        texref.set_address(memory, 0)
    with pytest.raises(drv.LogicError, match="bytes were given"):
        texref.set_address(int(memory) + 16, 2**64 - 8, allow_offset=True)


@pytest.mark.parametrize("linear", [False, True], ids=["point", "linear"])
@pytest.mark.parametrize("type_, dtype", [("float4", "float32"), ("float4", "float16")])
def test_pitched_memory(programs, type_, dtype, linear):
    rng, pitch = rng_of("pitched reference", dtype, linear), 512
    data = texels(rng, dtype, depth=1, channels=4)
    rows = np.full((HEIGHT, pitch), 0xA5, np.uint8)
    rows[:, : WIDTH * 4 * data.itemsize] = data.reshape(HEIGHT, -1).view(np.uint8)
    memory = drv.to_device(rows)
    descriptor = drv.ArrayDescriptor()
    descriptor.width, descriptor.height = WIDTH, HEIGHT
    descriptor.format, descriptor.num_channels = drv.dtype_to_array_format(dtype), 4
    name = f"t2d_{type_}"
    texref = programs.module.get_texref(name)
    texref.set_address_2d(devptr=memory, descr=descriptor, pitch=pitch)
    assert texref.get_format() == (descriptor.format, 4)
    for unit in (False, True):
        for mode in MODES:
            set_up(texref, (mode,) * 3, linear, unit)
            model = Model(data, 2, (mode,) * 3, linear, unit)
            at = places(rng, (WIDTH, HEIGHT), unit)
            programs.compare(
                f"{dtype} mode {mode} unit {unit}",
                programs.read(name, at, channels=4, texrefs=[texref]),
                model.fetch(at),
                range_=16.0 if linear else None,
                sides=2,
                uncertain=None if linear else model.near_an_edge(at, 1 / 128),
            )


@pytest.mark.parametrize("name, layers, channels", [("cube", 1, 4), ("cubes", 3, 1)])
def test_cubemaps(programs, name, layers, channels):
    rng = rng_of("cube references", name)
    data = texels(
        rng, "float32", depth=6 * layers, height=8, width=8, channels=channels
    )
    flags = FLAGS.CUBEMAP | (FLAGS.ARRAY3D_LAYERED if layers > 1 else 0)
    texref = programs.module.get_texref(name)
    texref.set_array(array_of(data, 2, flags))
    set_up(texref, unit=True)
    at = directions(rng)
    layer = rng.integers(0, layers, POINTS)
    face, place = face_of(at)
    model = Model(data, 2, unit=True)
    programs.compare(
        name,
        programs.read(name, at, layer, channels=channels, texrefs=[texref]),
        model.fetch(place, 6 * layer + face),
        uncertain=model.near_an_edge(place, 1 / 64),
    )


@pytest.mark.parametrize("way", ["lod", "grad"])
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_levels_of_one(programs, geometry, way):
    """Without mipmaps, a level and derivatives have no effect."""
    sides, flags = GEOMETRIES[geometry]
    rng = rng_of("levels", geometry, way)
    data = data_of(rng, geometry, "float32", 1)
    name = f"{way}_{geometry.removeprefix('t')}"
    texref = programs.module.get_texref(name)
    texref.set_array(array_of(data, sides, flags))
    set_up(texref, linear=True)
    at = places(rng, (WIDTH, HEIGHT, DEPTH)[:sides], False)
    layer = rng.integers(0, DEPTH, POINTS) if flags else None
    programs.compare(
        name,
        programs.read(name, at, layer, texrefs=[texref]),
        Model(data, sides, linear=True).fetch(at, layer),
        range_=16.0,
        sides=sides,
    )


@pytest.mark.parametrize("channel", range(4))
def test_gather(programs, channel):
    rng = rng_of("gather reference", channel)
    data = texels(rng, "float32", depth=1, channels=4)
    name = f"gather_{channel}"
    texref = programs.module.get_texref(name)
    texref.set_array(array_of(data, 2, FLAGS.TEXTURE_GATHER))
    at = [
        np.round(part * 4) / 4 + 0.125 for part in places(rng, (WIDTH, HEIGHT), False)
    ]
    found = programs.read(name, at, channels=4, texrefs=[texref])
    assert np.array_equal(found, Model(data, 2).gather(at, channel).astype(np.float32))


@pytest.mark.parametrize("dtype", ["complex64", "S3", ">f4"])
def test_a_dtype_that_textures_do_not_have(dtype):
    with pytest.raises(TypeError, match=rf"'.?{dtype}'; convert .*astype.*, float32$"):
        drv.dtype_to_array_format(dtype)


def test_gather_of_integers(programs):
    rng = rng_of("gather of integers")
    data = texels(rng, "uint32", depth=1, channels=2)
    texref = programs.module.get_texref("gather_uint")
    texref.set_array(array_of(data, 2, FLAGS.TEXTURE_GATHER))
    at = [np.round(part) + 0.25 for part in places(rng, (WIDTH, HEIGHT), False)]
    found = programs.read("gather_uint", at, None, "uint32", 4)
    assert np.array_equal(found, Model(data, 2, as_integer=True).gather(at, 1))


@pytest.mark.parametrize("kind", SURFACE_KINDS)
@pytest.mark.parametrize("type_", SURFACE_TYPES)
def test_surfaces(ctx, images, kind, type_):
    dtype, channels = {
        "uchar4": ("uint8", 4),
        "short": ("int16", 1),
        "float": ("float32", 1),
        "int2": ("int32", 2),
        "uint4": ("uint32", 4),
    }[type_]
    rng = rng_of("surface references", kind, type_)
    depth, height, width = {
        "1d": (1, 1, WIDTH),
        "2d": (1, HEIGHT, WIDTH),
        "a1d": (DEPTH, 1, WIDTH),
        "cube": (6, 8, 8),
        "cubes": (12, 8, 8),
    }.get(kind, (DEPTH, HEIGHT, WIDTH))
    data = texels(rng, dtype, depth, height, width, channels)
    flags = FLAGS.SURFACE_LDST
    if kind in ("a1d", "a2d", "cubes"):
        flags |= FLAGS.ARRAY3D_LAYERED
    if kind in ("cube", "cubes"):
        flags |= FLAGS.CUBEMAP
    sides = {"1d": 1, "a1d": 1, "3d": 3}.get(kind, 2)
    array = array_of(data, sides, flags)
    module = drv.module_from_buffer(images["surfaces"])
    surfref = module.get_surfref(f"s{kind}_{type_}")
    surfref.set_array(array)
    assert surfref.get_array() is array
    count = depth * height * width
    numbers = [np.int32(n) for n in (width, height, count)]
    shape = {"block": (64, 1, 1), "grid": (-(-count // 64), 1)}
    for name in ("load", "value"):
        found = np.zeros((count, channels), dtype)
        kernel = module.get_function(f"{name}_{kind}_{type_}")
        kernel(drv.Out(found), *numbers, **shape)
        assert np.array_equal(found, data.reshape(count, channels))
    other = texels(rng, dtype, depth, height, width, channels)
    kernel = module.get_function(f"store_{kind}_{type_}")
    kernel(drv.In(other), *numbers, **shape, texrefs=[surfref])
    assert np.array_equal(array.get().ravel(), other.ravel())


# -- binding and launching -------------------------------------------------------------

TWO = """
texture<float, 2> left;
static texture<float, 2> right; // texture<int> is not one
__global__ void add(float *sum, int w)
{
    int x = threadIdx.x, y = threadIdx.y;
    sum[y * w + x] = tex2D(left, x, y) + 10 * tex2D(right, x, y);
}
__global__ void copy(float *out, int w)
{
    out[threadIdx.y * w + threadIdx.x] = tex2D(left, threadIdx.x, threadIdx.y);
}
__global__ void spin(float *out, int turns)
{
    float x = tex2D(left, 0, 0);
    for (int i = 0; i < turns; i++) x = fmaf(x, 0.5f, tex2D(left, 0, 0) * 0.5f);
    *out = x;
}
surface<void, 2> unused;
"""


@pytest.fixture(params=COMPILERS)
def two(ctx, request):
    return SourceModule(TWO, compiler=request.param)


def matrix(value, shape=(3, 5)):
    return np.full(shape, value, np.float32)


def bound(value):
    return drv.matrix_to_array(matrix(value), "C")


def copied(module, **how):
    out = np.zeros((3, 5), np.float32)
    module.get_function("copy")(drv.Out(out), np.int32(5), block=(5, 3, 1), **how)
    assert (out == out[0, 0]).all()
    return out[0, 0]


def test_two_textures_in_a_module(two):
    left, right = two.get_texref("left"), two.get_texref("right")
    rng = rng_of("two")
    a, b, c = rng.integers(-9, 9, (3, 3, 5)).astype(np.float32)
    add = two.get_function("add")
    out = np.zeros((3, 5), np.float32)

    def run(**how):
        add(drv.Out(out), np.int32(5), block=(5, 3, 1), **how)
        return out

    drv.matrix_to_texref(a, left, "C")
    drv.matrix_to_texref(b, right, "C")
    assert np.array_equal(run(texrefs=[left, right]), a + 10 * b)
    drv.matrix_to_texref(c, left, "C")
    assert np.array_equal(run(texrefs=(left, right)), c + 10 * b)
    drv.matrix_to_texref(a, right, "C")
    # not listed, as many programs do: it is bound all the same
    assert np.array_equal(run(), c + 10 * a)


def test_state_belongs_to_the_variable(two):
    """All objects of one name share the state, even after one of them is released."""
    two.get_texref("left").set_filter_mode(LINEAR)
    two.get_texref("left").set_address_mode(1, drv.address_mode.MIRROR)
    array = bound(4)
    two.get_texref(name="left").set_array(array)
    texref = two.get_texref("left")
    assert texref.get_filter_mode() is LINEAR
    assert texref.get_address_mode(1) is drv.address_mode.MIRROR
    assert texref.get_address_mode(0) is drv.address_mode.CLAMP
    assert texref.get_array() is array
    del texref
    gc.collect()
    assert copied(two) == 4


def test_set_array_keeps_the_array(two):
    left = two.get_texref("left")
    left.set_array(bound(7))
    gc.collect()
    assert _driver._live_counts()["array"] == 1
    assert copied(two, texrefs=[left]) == 7
    left.set_array(bound(8))
    assert copied(two, texrefs=[left]) == 8
    gc.collect()
    memory = drv.to_device(np.zeros(64, np.float32))
    left.set_address(memory, 256)
    with pytest.raises(drv.LogicError, match="bound to no array"):
        left.get_array()
    left.set_array(bound(9))
    with pytest.raises(drv.LogicError, match="bound to no memory"):
        left.get_address()


def test_an_array_brings_its_format(two):
    left = two.get_texref("left")
    left.set_format(drv.array_format.UNSIGNED_INT16, 2)
    assert left.get_format() == (drv.array_format.UNSIGNED_INT16, 2)
    left.set_array(bound(7))
    assert left.get_format() == (drv.array_format.FLOAT, 1)
    assert copied(two, texrefs=[left]) == 7


def test_rebinding_between_launches(two):
    """Each launch uses the binding at the time of its call, in any stream."""
    left, kernel = two.get_texref("left"), two.get_function("copy")
    spin = two.get_function("spin")
    arrays = [bound(value) for value in range(4)]
    streams = [None, drv.Stream(), drv.Stream(drv.stream_flags.NON_BLOCKING)]
    runs = [(i % 4, streams[i * 7 % 3]) for i in range(30)]
    runs += [(1, streams[i % 3]) for i in range(6)]  # bound once, read in all streams
    outs = [drv.mem_alloc(60) for _ in runs]
    scratch = drv.mem_alloc(4)
    last = None
    for out, (value, stream) in zip(outs, runs, strict=True):
        if value != last:
            left.set_array(arrays[value])
            last = value
        spin(scratch, np.int32(5000), block=(1, 1, 1), stream=stream)
        kernel(out, np.int32(5), block=(5, 3, 1), stream=stream, texrefs=[left])
    drv.Context.synchronize()
    for out, (value, _) in zip(outs, runs, strict=True):
        found = drv.from_device(out, (3, 5), np.float32)
        assert (found == value).all()


def test_destroyed_streams(two):
    """Another stream may get the same handle."""
    left, kernel = two.get_texref("left"), two.get_function("copy")
    arrays = [bound(value) for value in range(2)]
    outs = [drv.mem_alloc(60) for _ in range(8)]
    for i, out in enumerate(outs):
        stream = drv.Stream()
        left.set_array(arrays[i % 2])
        kernel(out, np.int32(5), block=(5, 3, 1), stream=stream)
        del stream
    drv.Context.synchronize()
    for i, out in enumerate(outs):
        assert (drv.from_device(out, 15, np.float32) == i % 2).all()


def test_prepared_calls(two):
    left = two.get_texref("left")
    kernel = two.get_function("copy").prepare("Pi", texrefs=[left])
    assert kernel.texrefs == [left]
    out = drv.mem_alloc(60)
    with pytest.raises(drv.LogicError, match="'left', is bound to nothing"):
        kernel.prepared_call((1, 1), (5, 3, 1), out, 5)
    for value, stream in ((1, None), (2, drv.Stream())):
        left.set_array(bound(value))
        kernel.prepared_async_call((1, 1), (5, 3, 1), stream, out, 5)
        drv.Context.synchronize()
        assert (drv.from_device(out, 15, np.float32) == value).all()
    left.set_array(bound(3))
    kernel.prepared_timed_call((1, 1), (5, 3, 1), out, 5)()
    assert (drv.from_device(out, 15, np.float32) == 3).all()
    with pytest.raises(TypeError, match=r"texrefs\[1\]"):
        kernel.prepare("Pi", texrefs=[left, None])
    kernel.prepare("Pi")
    assert kernel.texrefs == []


def test_old_launches(two):
    left, kernel = two.get_texref("left"), two.get_function("copy")
    left.set_array(bound(6))
    kernel.param_set_texref(left)
    with pytest.raises(TypeError, match="TextureReference"):
        kernel.param_set_texref(left.get_array())
    out = drv.mem_alloc(60)
    kernel.set_block_shape(5, 3, 1)
    kernel.param_setv(0, np.uint64(int(out)))
    kernel.param_seti(8, 5)
    kernel.param_set_size(12)
    kernel.launch()
    assert (drv.from_device(out, 15, np.float32) == 6).all()


def test_listed_but_never_bound(two):
    left = two.get_texref("left")
    with pytest.raises(drv.LogicError, match="'left', is bound to nothing"):
        copied(two, texrefs=[left])
    surfref = two.get_surfref("unused")
    left.set_array(bound(1))
    with pytest.raises(drv.LogicError, match=r"texrefs\[1\], the surface reference"):
        copied(two, texrefs=[left, surfref])
    with pytest.raises(TypeError, match=r"must be a TextureReference, not str$"):
        copied(two, texrefs=["left"])
    with pytest.raises(TypeError, match="texrefs"):
        copied(two, texrefs=3)
    assert copied(two, texrefs=[left]) == 1


def test_names(two):
    for call in (two.get_texref, two.get_surfref):
        for name in ("nowhere", "add", ""):
            with pytest.raises(drv.LogicError, match="reference"):
                call(name)
        with pytest.raises(TypeError):
            call(3)
        with pytest.raises(ValueError, match="null"):
            call("left\0")
    with pytest.raises(drv.LogicError, match="no surface reference 'left'"):
        two.get_surfref("left")
    with pytest.raises(drv.LogicError, match="no texture reference 'unused'"):
        two.get_texref("unused")
    assert "left" in repr(two.get_texref("left"))
    assert "unused" in repr(two.get_surfref("unused"))


def test_bad_settings(two):
    left = two.get_texref("left")
    with pytest.raises(drv.LogicError, match="dim is 3"):
        left.set_address_mode(3, drv.address_mode.WRAP)
    with pytest.raises(drv.LogicError, match="dim is -1"):
        left.get_address_mode(-1)
    with pytest.raises(TypeError, match="am"):
        left.set_address_mode(0, drv.filter_mode.LINEAR)
    with pytest.raises(TypeError, match="fm"):
        left.set_filter_mode("LINEAR")
    with pytest.raises(drv.LogicError, match="components"):
        left.set_format(drv.array_format.FLOAT, 3)
    with pytest.raises(drv.LogicError, match="format"):
        left.set_format(77, 1)
    with pytest.raises(OverflowError, match="flags"):
        left.set_flags(-1)
    with pytest.raises(TypeError, match="array"):
        left.set_array(None)
    freed = bound(1)
    freed.free()
    with pytest.raises(drv.LogicError, match="released"):
        left.set_array(freed)
    with pytest.raises(drv.LogicError, match="SURFACE_LDST"):
        two.get_surfref("unused").set_array(bound(1))
    left.set_flags(flags := drv.TRSF_NORMALIZED_COORDINATES)
    left.set_format(format=drv.array_format.HALF, num_components=2)
    assert left.get_flags() == flags
    assert left.get_format() == (drv.array_format.HALF, 2)


def test_a_freed_array_is_an_error_at_the_launch(two):
    left, array = two.get_texref("left"), bound(1)
    left.set_array(array)
    array.free()
    with pytest.raises(drv.LogicError, match="released"):
        copied(two, texrefs=[left])
    left.set_array(bound(2))
    assert copied(two, texrefs=[left]) == 2


def test_reference_of_no_module(ctx):
    texref = drv.TextureReference()
    assert texref.get_format() == (drv.array_format.FLOAT, 1)
    array = bound(1)
    texref.set_array(array)
    texref.set_filter_mode(LINEAR)
    assert texref.get_array() is array
    assert texref.get_filter_mode() is LINEAR
    with pytest.raises(TypeError):
        drv.TextureReference(1)
    with pytest.raises(TypeError):
        drv.SurfaceReference()
    texref.note = texref
    del array, texref
    gc.collect()
    assert _driver._live_counts()["array"] == 0


def test_reference_keeps_its_module(ctx):
    gc.collect()
    others = _driver._live_counts()["module"]
    left = SourceModule(TWO).get_texref("left")
    gc.collect()
    assert _driver._live_counts()["module"] == others + 1
    left.set_array(bound(1))
    left.get_array().note = left  # a cycle through module, reference and array
    del left
    gc.collect()
    counts = _driver._live_counts()
    assert (counts["module"], counts["array"]) == (others, 0)


def test_a_second_module_has_its_own(ctx):
    one, other = SourceModule(TWO), SourceModule(TWO)
    one.get_texref("left").set_array(bound(1))
    other.get_texref("left").set_array(bound(2))
    assert [copied(one), copied(other)] == [1, 2]


def test_an_array_of_another_context_is_refused(ctx):
    module = SourceModule(TWO)
    left = module.get_texref("left")
    theirs = drv.Device(0).make_context()
    array = bound(1)
    theirs.pop()
    with pytest.raises(drv.LogicError, match="another context .* reference 'left'"):
        left.set_array(array)
    array.free()
    theirs.detach()
    left.set_array(bound(2))
    assert copied(module) == 2


def test_modes_that_do_not_exist_are_refused_at_once(ctx):
    left = SourceModule(TWO).get_texref("left")
    with pytest.raises(drv.LogicError, match="am is 77; it must be an address_mode"):
        left.set_address_mode(0, 77)
    with pytest.raises(drv.LogicError, match="fm is 2; it must be a filter_mode"):
        left.set_filter_mode(2)
    left.set_address_mode(0, drv.address_mode.BORDER)
    left.set_filter_mode(drv.filter_mode.LINEAR)


def test_after_the_context(images):
    context = drv.Device(0).make_context()
    module = SourceModule(TWO)
    left = module.get_texref("left")
    left.set_array(bound(1))
    assert copied(module) == 1
    context.pop()
    context.detach()
    for call in (left.get_filter_mode, left.get_flags, left.get_format):
        with pytest.raises(drv.LogicError, match="detached"):
            call()
    with pytest.raises(drv.LogicError, match="detached"):
        module.get_texref("left")


def test_calls_of_a_launch(ctx):
    """An unchanged reference costs no driver call, and a changed one a few."""
    if not _driver._is_emulated():
        pytest.skip("counts calls, which the software device does")
    device = ctypes.CDLL(LIBRARY)
    device.emu_call_count.restype = ctypes.c_ulonglong
    module = SourceModule(TWO)
    left, kernel = module.get_texref("left"), module.get_function("copy")
    out = drv.mem_alloc(60)

    def launch(stream=None):
        kernel(out, np.int32(5), block=(5, 3, 1), texrefs=[left], stream=stream)

    def counts():
        names = ["cuTexObjectCreate", "cuMemcpyHtoDAsync", "cuCtxSynchronize"]
        every = device.emu_call_count(None)
        return every, [device.emu_call_count(name.encode()) for name in names]

    left.set_array(bound(1))
    launch()
    launch()
    before = counts()
    launch()
    after = counts()
    assert after[0] - before[0] == 1  # the launch itself
    left.set_filter_mode(POINT)
    launch()
    changed = [b - a for a, b in zip(after[1], counts()[1], strict=True)]
    assert changed == [1, 1, 0]
    before = counts()
    launch(drv.Stream())  # another stream looks once whether the store has passed
    launch(drv.Stream())
    left.set_filter_mode(LINEAR)
    launch()  # what runs in other streams may still read the old one
    changed = [b - a for a, b in zip(before[1], counts()[1], strict=True)]
    assert changed == [1, 1, 1]


def test_replaced_objects_go(two):
    left = two.get_texref("left")
    for value in range(5):
        left.set_array(bound(value))
        assert copied(two, texrefs=[left]) == value
        assert copied(two, texrefs=[left]) == value
        assert _driver._live_counts()["texture_object"] == 1
        assert _driver._live_counts()["array"] == 1


def test_captured_launch(two):
    """A store into a graph has not run yet, so the next launch stores again."""
    raw = Raw()
    stream, left = drv.Stream(), two.get_texref("left")
    kernel = two.get_function("copy")
    out = drv.mem_alloc(60)
    left.set_array(one := bound(1))
    handle = ctypes.c_void_p(stream.handle)
    raw.ok("StreamBeginCapture", handle, 0)
    try:
        kernel(out, np.int32(5), block=(5, 3, 1), stream=stream)
        kernel(out, np.int32(5), block=(5, 3, 1), stream=stream)
    finally:
        graph = ctypes.c_void_p()
        raw.ok("StreamEndCapture", handle, ctypes.byref(graph))
    executable = ctypes.c_void_p(
        raw.out(ctypes.c_void_p, "GraphInstantiateWithFlags", graph, ctypes.c_uint64(0))
    )
    assert copied(two) == 1
    drv.memset_d32(out, 0, 15)
    raw.ok("GraphLaunch", executable, handle)
    stream.synchronize()
    assert (drv.from_device(out, 15, np.float32) == 1).all()
    left.set_array(bound(2))
    assert copied(two) == 2
    raw.ok("GraphExecDestroy", executable)
    raw.ok("GraphDestroy", graph)
    assert one.handle


# -- the source ------------------------------------------------------------------------


PARAMETERS = """
extern texture<float, 2> image;
template <class T> __device__ T third(const T &t) { return t; }
__device__ float by_value(PYCUDA_TEXTURE_REFERENCE<float, 2> t, int x)
{
    return tex2D(t, x, 0);
}
__device__ float by_reference(const PYCUDA_TEXTURE_REFERENCE<float, 2> &t, int x)
{
    return tex2D(t, x, 0);
}
texture<float, 2> image;
extern "C" __global__ void f(float *out)
{
    int x = threadIdx.x;
    out[x] = by_value(image, x) + 10 * by_reference(image, x);
    out[x] += 100 * tex2D(third(image), x, 0);
}
"""


@pytest.mark.parametrize("way", COMPILERS)
def test_references_as_parameters(ctx, way):
    module = SourceModule(PARAMETERS, compiler=way, no_extern_c=True)
    image = module.get_texref("image")
    drv.matrix_to_texref(np.arange(4, dtype=np.float32)[None], image, "C")
    out = np.zeros(4, np.float32)
    module.get_function("f")(drv.Out(out), block=(4, 1, 1))
    assert np.array_equal(out, 111 * np.arange(4))


@pytest.mark.parametrize("way", COMPILERS)
def test_messages_keep_their_lines(way):
    source = "texture<float> t;\n\n__global__ void f(int *a) { *a = nowhere; }\n"
    for no_extern_c in (False, True):
        with pytest.raises(drv.CompileError) as caught:
            compiler.compile(
                source,
                compiler=way,
                target="ptx",
                arch="compute_75",
                no_extern_c=no_extern_c,
            )
        assert re.search(r"kernel\.cu\(3\)", caught.value.stderr)


@pytest.mark.parametrize("way", COMPILERS)
@pytest.mark.parametrize("no_extern_c", [False, True])
def test_words_stay_free(ctx, way, no_extern_c):
    """The words of references are free for other uses."""
    source = """
    // surface<void, 2> is not declared here
    texture<int> numbers;
    extern "C" __global__ void f(int *surface)
    {
        surface[threadIdx.x] = tex1Dfetch(numbers, threadIdx.x);
    }
    """
    module = SourceModule(source, compiler=way, no_extern_c=no_extern_c)
    data = np.arange(5, dtype=np.int32)
    memory, out = drv.to_device(data), np.zeros_like(data)
    module.get_texref("numbers").set_address(memory, data.nbytes)
    module.get_function("f")(drv.Out(out), block=(5, 1, 1))
    assert np.array_equal(out, data)


HEADERS = {
    "texture": (
        "texture<float, 1, cudaReadModeElementType> numbers;\n",
        "tex1Dfetch(numbers, threadIdx.x)",
    ),
    "two textures and a surface": (
        "static texture<float> numbers;\ntexture<int4, 2> other;\n"
        "surface<void, 2> third;\n",
        "tex1Dfetch(numbers, threadIdx.x)",
    ),
    "behind a macro": (
        "#define DECLARE(kind) kind<float> numbers\nDECLARE(texture);\n",
        "tex1Dfetch(numbers, threadIdx.x)",
    ),
    "in a second header": (
        '#include "inner.cuh"\n',
        "tex1Dfetch(numbers, threadIdx.x)",
    ),
}


@pytest.mark.parametrize("way", COMPILERS)
@pytest.mark.parametrize("case", HEADERS)
def test_references_in_a_users_header(ctx, way, case, tmp_path, monkeypatch):
    """The source itself has no declaration. The words are free for other uses."""
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path / "cache"))
    header, read = HEADERS[case]
    (tmp_path / "mine.cuh").write_text(header)
    (tmp_path / "inner.cuh").write_text("#pragma once\ntexture<float> numbers;\n")
    name = "other" if "surface" in header else "surface"
    source = f"""
    #include "mine.cuh"
    __global__ void f(float *{name}) {{ {name}[threadIdx.x] = {read}; }}
    """
    data = np.arange(5, dtype=np.float32)
    memory = drv.to_device(data)
    for _ in range(2):  # the second time from the cache
        module = SourceModule(source, compiler=way, include_dirs=[str(tmp_path)])
        module.get_texref("numbers").set_address(memory, data.nbytes)
        out = np.zeros_like(data)
        module.get_function("f")(drv.Out(out), block=(5, 1, 1))
        assert np.array_equal(out, data)
        monkeypatch.setattr(type(tools.choose("nvcc", way)), "run", None)
    monkeypatch.undo()
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "mine.cuh").write_text(header + "@")  # a changed header is seen
    with pytest.raises(drv.CompileError, match="@") as caught:
        SourceModule(source, compiler=way, include_dirs=[str(tmp_path)])
    assert "is not a template" not in str(caught.value)


@pytest.mark.parametrize("way", COMPILERS)
def test_a_surface_in_a_header_beside_a_texture_in_the_source(way, tmp_path):
    (tmp_path / "mine.cuh").write_text("surface<void, 2> picture;\n")
    source = '#include "mine.cuh"\ntexture<float> numbers;\n'
    how = {"compiler": way, "target": "ptx", "arch": "compute_75"}
    image = compiler.compile(source, include_dirs=[str(tmp_path)], **how)
    assert b"picture" in image and b"numbers" in image


@pytest.mark.parametrize("way", COMPILERS)
def test_a_header_of_ours_that_does_not_help_is_not_mentioned(way):
    """The first error counts, because the word is a variable here."""
    how = {"compiler": way, "target": "ptx", "arch": "compute_75"}
    source = "__device__ int n;\n__global__ void f() { n = texture + 1; }\n"
    with pytest.raises(drv.CompileError) as caught:
        compiler.compile(source, **how)
    assert 'identifier "texture" is undefined' in caught.value.stderr
    assert "pycuda-textures.hpp" not in str(caught.value)


OTHER_USES = {
    "variable": "__global__ void f(int *a) { int W = 4; if (W < 5) *a = W; }",
    "parameter": "__device__ int f(int W, int n) { return W<n && n > W; }",
    "loop": "__global__ void f(int *a) { for (int W = 0; W < 3; W++) a[W] = W; }",
    "compared with a sum": "__device__ int f(int W, int n) { return W < (n+1) > 0; }",
    "template": "template <class T> struct W { T x; };\n__device__ W<float> w;",
    "specialization": "template <class T> struct W; template <> struct W<int> {};",
    "in a space": "namespace my { template <class T> struct W { T x; }; }\n"
    "__global__ void f(my::W<float> w, my :: W<int> v) {}",
    "member": "struct A { int W; }; __device__ int f(A a, A *b)"
    "{ return a.W < 3 || b->W < a.W || b -> W < 1; }",
    "macro": "#define W int\n__device__ int f(W a) { return a; }",
    "text": '__device__ int W; __device__ const char *s() { return "W<float> x"; }',
    "comment": "__device__ int f(int W) { return W; } // don't: W<float> x",
}


@pytest.mark.parametrize("way", COMPILERS)
@pytest.mark.parametrize("word", ["texture", "surface"])
@pytest.mark.parametrize("use", OTHER_USES)
def test_words_of_the_sources_own(way, word, use):
    """Sources that CUDA 13 compiles work, with any names of variables."""
    source = re.sub(r"\bW\b", word, OTHER_USES[use])
    compiler.compile(
        source, compiler=way, target="ptx", arch="compute_75", no_extern_c=True
    )
    assert header_for(source) == ""


@pytest.mark.parametrize(
    "source",
    [
        "texture<float, 2> t;",
        "static texture<float,2,cudaReadModeElementType>t;",
        "extern texture < TYPE(float), (2) >\n t;",
        "texture<typename A<B<int> >::type, 1> t;",
        "texture<int> t; // a texture",
        '#include "texture.h"\n#ifndef texture\n#endif\ntexture<int> t;',
        "#define TEX(name) texture<float, 2> name\nTEX(a);",
        "#define TEX texture<float, 2>\nTEX a;",
        "float f(texture<float, 2> &t, int x) { return x; }",
        "template <int d> struct A<texture<float, d> > {};",
        "DECLARE(texture<float, 2>, t)",
        "__device__ int surface; texture<int> t;",
        "if (a.surface < 3) {} texture<int> t;",
    ],
)
def test_references_are_known(source):
    lines = ["#define PYCUDA_TEXTURES_NO_SURFACE", "#include <pycuda-textures.hpp>"]
    assert header_for(source).splitlines() == lines
    other = source.replace("surface", "W").replace("texture", "surface")
    assert "NO_TEXTURE" in header_for(other)


@pytest.mark.parametrize("way", COMPILERS)
def test_plain_sources_are_left_alone(way):
    source = "__global__ void texture(int *surface) { *surface = 1; }"
    assert wrapped(source, True).count("\n") == 2
    image = compiler.compile(source, compiler=way, target="ptx", arch="compute_75")
    assert b"texture" in image
