"""Compare textures and surfaces in kernels with the model of support/texture_model.py.

The suite is the same for the software device and GPUs. On the software device, all
values must equal the model's. On a GPU, a filtered value may differ by what the
assumptions of the model leave open, and a point sample within 1/128 texel of an edge.
Run with ``-s`` to see the largest deviation of each test, and the assumptions that hold
(test_measure).
"""

import os

import numpy as np
import pytest

import pycuda.driver as drv
from device import texture_golden
from pycuda import _driver, compiler
from support.cc import ROOT
from support.child import run_child
from support.compilers import needs_nvcc
from support.rawtexture import (
    BORDER,
    CLAMP,
    CUBEMAP,
    GATHER,
    LAYERED,
    MIRROR,
    NORMALIZED,
    READ_AS_INTEGER,
    SEAMLESS,
    SURFACE,
    WRAP,
    ViewDescriptor,
    of_array,
    of_linear,
    of_mipmaps,
    of_pitched,
)
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
from support.texture_faults import FAULTS, FAULTY, MALFORMED, PTX, RARE
from support.texture_kernels import SOURCE, TYPES
from support.texture_model import FRACTION, Model, face_of, golden

pytestmark = [pytest.mark.gpu, needs_nvcc]

MODES = {"wrap": WRAP, "clamp": CLAMP, "mirror": MIRROR, "border": BORDER}
FORMATS = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "float16", "float32"]


@pytest.fixture(scope="module")
def image():
    """The PTX of the kernels, compiled once."""
    drv.init()
    context = drv.Device(0).make_context()
    try:
        return compiler.compile(SOURCE, no_extern_c=True, target="ptx")
    finally:
        context.pop()
        context.detach()


@pytest.fixture
def bench(ctx, image):
    bench = Bench(image)
    yield bench
    bench.store.close()


GEOMETRIES = {
    # name: sides, flags of the array, whether there are layers
    "1d": (1, 0, False),
    "2d": (2, 0, False),
    "3d": (3, 0, False),
    "a1d": (1, LAYERED, True),
    "a2d": (2, LAYERED, True),
}


def data_of(rng, geometry, dtype, channels=1):
    sides, _, layered = GEOMETRIES[geometry]
    return texels(
        rng,
        dtype,
        depth=DEPTH if sides == 3 or layered else 1,
        height=HEIGHT if sides > 1 else 1,
        channels=channels,
    )


@pytest.mark.parametrize("unit", [False, True], ids=["texels", "unit"])
@pytest.mark.parametrize("linear", [False, True], ids=["point", "linear"])
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_modes(bench, geometry, linear, unit):
    sides, flags, layered = GEOMETRIES[geometry]
    rng = rng_of(geometry, linear, unit)
    data = data_of(rng, geometry, "float32", 2)
    array = bench.store.array(data, sides, flags)
    border = np.float32([3.5, -20, 1, 2])
    sets = [(mode,) * 3 for mode in MODES.values()]
    sets.append((WRAP, BORDER, MIRROR))
    for modes in sets:
        texture = bench.store.texture(
            of_array(array),
            modes=modes,
            linear=linear,
            flags=NORMALIZED if unit else 0,
            border=border,
        )
        model = Model(data, sides, modes, linear, unit, border=tuple(border))
        at = places(rng, (WIDTH, HEIGHT, DEPTH)[:sides], unit)
        layer = rng.integers(-2, DEPTH + 2, POINTS) if layered else None
        found = bench.fetch(f"fetch_{geometry}_float4", texture, at, layer)
        bench.compare(
            f"{geometry} modes {modes} linear {linear} unit {unit}",
            found[:, :2],
            model.fetch(at, layer),
            range_=28.0 if linear else None,
            sides=sides,
            uncertain=None if linear else model.near_an_edge(at, 1 / 128),
        )


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("geometry", ["1d", "2d", "3d", "a2d"])
def test_formats(bench, geometry, dtype, channels):
    sides, flags, layered = GEOMETRIES[geometry]
    rng = rng_of(geometry, dtype, channels)
    data = data_of(rng, geometry, dtype, channels)
    array = bench.store.array(data, sides, flags)
    at = places(rng, (WIDTH, HEIGHT, DEPTH)[:sides], False)
    layer = rng.integers(0, DEPTH, POINTS) if layered else None
    kind = data.dtype.kind
    for linear in (False, True) if kind != "f" else ():  # as integers
        texture = bench.store.texture(
            of_array(array), flags=READ_AS_INTEGER, linear=linear
        )
        type_ = {"i": "int", "u": "uint"}[kind]
        found = bench.fetch(
            f"fetch_{geometry}_{type_}4", texture, at, layer, f"{type_}32"
        )
        model = Model(data, sides, linear=linear, as_integer=True)
        bench.compare(
            f"{geometry} {dtype} x {channels}, integers, linear {linear}",
            found[:, :channels],
            model.fetch(at, layer),
            uncertain=None if linear else model.near_an_edge(at, 1 / 128),
        )
    if kind == "f" or data.itemsize < 4:  # as floats
        for linear in (False, True):
            texture = bench.store.texture(of_array(array), linear=linear)
            model = Model(data, sides, linear=linear)
            found = bench.fetch(f"fetch_{geometry}_float4", texture, at, layer)
            bench.compare(
                f"{geometry} {dtype} x {channels}, linear {linear}",
                found[:, :channels],
                model.fetch(at, layer),
                range_=np.ptp(model.values()) if linear else None,
                sides=sides,
                uncertain=None if linear else model.near_an_edge(at, 1 / 128),
            )


@pytest.mark.parametrize("name", TYPES)
def test_types(bench, name):
    """Test tex2D for every type of C, which uses parts of the hardware's result."""
    base, channels = name[:-1], int(name[-1])
    dtype = {
        "char": "int8",
        "uchar": "uint8",
        "short": "int16",
        "ushort": "uint16",
    }.get(base, base + "32")
    rng = rng_of(name)
    data = texels(rng, dtype, depth=1, channels=channels)
    texture = bench.store.texture(
        of_array(bench.store.array(data, 2)), flags=READ_AS_INTEGER
    )
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH] + 0.5
    found = bench.fetch(
        f"typed_{name}", texture, (x.ravel(), y.ravel()), dtype=dtype, channels=channels
    )
    bench.compare(name, found, data.reshape(-1, channels))


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("dtype", FORMATS)
def test_linear_memory(bench, dtype, channels):
    rng = rng_of("linear", dtype, channels)
    data = texels(rng, dtype, depth=1, height=1, width=33, channels=channels)
    memory = drv.to_device(data)
    at = np.arange(-5, 40)
    wanted = Model(data, 1, (BORDER,) * 3, as_integer=True).fetch([at.astype(float)])
    type_ = {"i": "int", "u": "uint", "f": "float"}[data.dtype.kind]
    for modes in ((CLAMP,) * 3, (BORDER,) * 3):
        texture = bench.store.texture(
            of_linear(memory, data), modes=modes, flags=READ_AS_INTEGER
        )
        found = bench.fetch(f"fetch_linear_{type_}4", texture, [at], at, f"{type_}32")
        inside = (at >= 0) & (at < 33)
        bench.compare(f"{dtype} x {channels}", found[inside, :channels], wanted[inside])
        bench.compare(
            f"{dtype} x {channels} outside, modes {modes}",
            found[~inside, :channels],
            np.zeros_like(wanted[~inside]),
        )
    if data.dtype.kind != "f" and data.itemsize < 4:
        texture = bench.store.texture(of_linear(memory, data))
        found = bench.fetch("fetch_linear_float4", texture, [at], at)
        wanted = Model(data, 1, (BORDER,) * 3).fetch([at.astype(float)])
        bench.compare(f"{dtype} x {channels}, unit", found[:, :channels], wanted)


@pytest.mark.parametrize("linear", [False, True], ids=["point", "linear"])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "float32"])
def test_pitched_memory(bench, dtype, linear):
    rng, pitch = rng_of("pitch", dtype, linear), 512
    data = texels(rng, dtype, depth=1, channels=4)
    rows = np.full((HEIGHT, pitch), 0xA5, np.uint8)
    rows[:, : WIDTH * 4 * data.itemsize] = data.reshape(HEIGHT, -1).view(np.uint8)
    memory = drv.to_device(rows)
    for unit in (False, True):
        for mode in MODES.values():
            texture = bench.store.texture(
                of_pitched(memory, data, pitch),
                modes=(mode,) * 3,
                linear=linear,
                flags=NORMALIZED if unit else 0,
            )
            model = Model(data, 2, (mode,) * 3, linear, unit)
            at = places(rng, (WIDTH, HEIGHT), unit)
            bench.compare(
                f"{dtype} mode {mode} unit {unit}",
                bench.fetch("fetch_2d_float4", texture, at),
                model.fetch(at),
                range_=np.ptp(model.values()) if linear else None,
                sides=2,
                uncertain=None if linear else model.near_an_edge(at, 1 / 128),
            )


@pytest.mark.parametrize("linear", [False, True], ids=["point", "linear"])
@pytest.mark.parametrize("layers", [1, 3])
def test_cubemap(bench, layers, linear):
    rng = rng_of("cube", layers, linear)
    data = texels(rng, "float32", depth=6 * layers, height=8, width=8, channels=4)
    flags = CUBEMAP | (LAYERED if layers > 1 else 0)
    texture = bench.store.texture(
        of_array(bench.store.array(data, 2, flags)), linear=linear, flags=NORMALIZED
    )
    at = directions(rng)
    layer = rng.integers(0, layers, POINTS)
    face, place = face_of(at)
    model = Model(data, 2, linear=linear, unit=True)
    kernel = "fetch_acube_float4" if layers > 1 else "fetch_cube_float4"
    bench.compare(
        f"cube, {layers} layers, linear {linear}",
        bench.fetch(kernel, texture, at, layer),
        model.fetch(place, 6 * layer + face),
        range_=16.0 if linear else None,
        sides=2,
        uncertain=None if linear else model.near_an_edge(place, 1 / 64),
    )


def test_seamless_cubemap(bench):
    """A filter that crosses the edges of a cube is continuous. The texels of the cube
    are their own positions."""
    n = 8
    data = np.zeros((6, n, n, 4), np.float32)
    middle = (2 * np.arange(n) + 1 - n) / n
    s, t = np.meshgrid(middle, middle)
    one = np.ones_like(s)
    faces = [
        (one, -t, -s),
        (-one, -t, s),
        (s, one, t),
        (s, -one, -t),
        (s, -t, one),
        (-s, -t, -one),
    ]
    for number, parts in enumerate(faces):
        data[number, ..., :3] = np.stack(parts, axis=-1)
    texture = bench.store.texture(
        of_array(bench.store.array(data, 2, CUBEMAP)),
        linear=True,
        flags=NORMALIZED | SEAMLESS,
    )
    t = np.linspace(-0.99, 0.99, 41)
    for first in range(3):
        for second in range(3):
            if first == second:
                continue
            for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
                at = np.zeros((2, 3, len(t)))
                at[:, 3 - first - second] = t
                at[:, first], at[:, second] = signs[0], signs[1]
                at[0, first] *= 1.00001
                at[1, second] *= 1.00001
                a, b = (bench.fetch("fetch_cube_float4", texture, side) for side in at)
                # the edge lies between two rows of texels: their mean
                assert np.abs(a - b).max() < 0.02
                assert np.abs(a[1:-1, first] - signs[0] * (1 - 0.5 / n)).max() < 0.02


def test_levels(bench):
    rng = rng_of("levels")
    levels = [
        texels(rng, "float32", depth=1, height=8 >> k, width=16 >> k, channels=4)
        for k in range(4)
    ]
    mipmaps = bench.store.mipmaps(levels, 2)
    at = places(rng, (1, 1), False)
    for linear in (False, True):
        for blend in (False, True):
            texture = bench.store.texture(
                of_mipmaps(mipmaps),
                linear=linear,
                flags=NORMALIZED,
                mipmap_filter=blend,
                least=0.0,
                most=2.5,
                bias=0.25,
            )
            for level in (-3.0, 0.0, 0.75, 1.125, 2.0, 9.0):
                wanted_level = np.clip(level + 0.25, 0, 2.5)
                low = int(wanted_level)
                both = [
                    Model(data, 2, linear=linear, unit=True).fetch(at).astype(float)
                    for data in levels[low : low + 2]
                ]
                part = wanted_level - low
                if not blend:
                    wanted = both[int(part >= 0.5)]
                else:
                    wanted = both[0] + (both[1] - both[0]) * part
                found = bench.fetch("lod_2d", texture, [*at, np.full(POINTS, level)])
                near = np.zeros(POINTS, bool)
                for data in levels:
                    near |= Model(data, 2, unit=True).near_an_edge(at, 1 / 64)
                keep = slice(None) if linear or bench.emulated else ~near
                error = np.abs(found - wanted)[keep].max()
                print(f"  level {level} linear {linear} blend {blend}: {error:.3g}")
                assert error < (1e-5 if bench.emulated else 16 * 3 / FRACTION)


def test_one_level(bench):
    """Without mipmaps, a level and derivatives have no effect."""
    rng = rng_of("one level")
    data = texels(rng, "float32", depth=1, channels=4)
    texture = bench.store.texture(
        of_array(bench.store.array(data, 2)), linear=True, flags=NORMALIZED
    )
    at = places(rng, (WIDTH, HEIGHT), True)
    plain = bench.fetch("fetch_2d_float4", texture, at)
    for kernel in ("lod_2d", "grad_2d", "resident_2d"):
        for level in (0.0, 0.3, 7.0):
            found = bench.fetch(kernel, texture, [*at, np.full(POINTS, level)])
            assert np.array_equal(found, plain), kernel
    line = texels(rng, "float32", depth=1, height=1, channels=4)
    texture = bench.store.texture(
        of_array(bench.store.array(line, 1)), linear=True, flags=NORMALIZED
    )
    plain = bench.fetch("fetch_1d_float4", texture, at[:1])
    for kernel in ("lod_1d", "grad_1d"):
        more = [at[0], np.full(POINTS, 2.0), np.full(POINTS, 2.0)]
        assert np.array_equal(bench.fetch(kernel, texture, more), plain), kernel


def test_derivatives(bench):
    """Level k holds the value k, so a fetch returns its level."""
    levels = [np.full((1, 16 >> k, 16 >> k, 1), k, np.float32) for k in range(5)]
    texture = bench.store.texture(
        of_mipmaps(bench.store.mipmaps(levels, 2)),
        linear=True,
        flags=NORMALIZED,
        mipmap_filter=True,
        most=9.0,
    )
    steps = 2.0 ** np.linspace(-1, 5, 25)  # texels of level 0
    at = [np.full(25, 0.5), np.full(25, 0.5), steps / 16]
    found = bench.fetch("grad_2d", texture, at)[:, 0]
    wanted = np.clip(np.log2(steps), 0, 4)
    error = np.abs(found - wanted).max()
    print(f"  level chosen by derivatives: largest error {error:.3g}")
    assert error <= (1 / 256 if bench.emulated else 0.1)


def test_views(bench):
    """A view selects layers or levels, and changes the format of the elements."""
    rng = rng_of("views")
    data = texels(rng, "uint8", channels=4)
    array = bench.store.array(data, 2, LAYERED)
    view = ViewDescriptor(13, WIDTH, HEIGHT, DEPTH, firstLayer=1, lastLayer=2)
    texture = bench.store.texture(of_array(array), flags=READ_AS_INTEGER, view=view)
    layer = np.arange(-1, 4)
    at = [np.full(5, 2.5), np.full(5, 1.5)]
    found = bench.fetch("fetch_a2d_uint4", texture, at, layer, np.uint32)[:, 0]
    wanted = data.view(np.uint32)[[2, 1, 2, 2, 2], 1, 2, 0]
    assert np.array_equal(found, wanted)
    levels = [np.full((1, 8 >> k, 8 >> k, 1), k, np.float32) for k in range(4)]
    view = ViewDescriptor(22, 8, 8, 0, firstLevel=1, lastLevel=2)
    texture = bench.store.texture(
        of_mipmaps(bench.store.mipmaps(levels, 2)),
        flags=NORMALIZED,
        most=9.0,
        view=view,
    )
    at = [np.full(5, 0.5), np.full(5, 0.5), np.float32([-1, 0, 0.75, 1, 5])]
    assert bench.fetch("lod_2d", texture, at)[:, 0].tolist() == [1, 1, 2, 2, 2]
    with pytest.raises(RuntimeError):  # elements of another size
        view = ViewDescriptor(1, WIDTH, HEIGHT, DEPTH)
        bench.store.texture(of_array(array), view=view)


def test_gather(bench):
    rng = rng_of("gather")
    data = texels(rng, "float32", depth=1, channels=4)
    array = bench.store.array(data, 2, GATHER)
    for unit in (False, True):
        for mode in MODES.values():
            texture = bench.store.texture(
                of_array(array),
                modes=(mode,) * 3,
                linear=True,
                flags=NORMALIZED if unit else 0,
                border=np.float32([1, 2, 3, 4]),
            )
            model = Model(data, 2, (mode,) * 3, unit=unit, border=(1, 2, 3, 4))
            at = places(rng, (WIDTH, HEIGHT), unit)
            sizes = (WIDTH, HEIGHT)
            middle = [
                (u - np.float32(0.5) / n if unit else u - np.float32(0.5))
                for u, n in zip(at, sizes, strict=True)
            ]
            near = model.near_an_edge(middle, 1 / 128)
            for channel in range(4):
                bench.compare(
                    f"gather mode {mode} unit {unit} channel {channel}",
                    bench.fetch(f"gather_2d_{channel}", texture, at),
                    model.gather(at, channel).astype(np.float32),
                    uncertain=near,
                )
    data = texels(rng, "uint16", depth=1, channels=1)
    texture = bench.store.texture(
        of_array(bench.store.array(data, 2, GATHER)), flags=READ_AS_INTEGER
    )
    at = [np.float32([3.0]), np.float32([2.0])]
    model = Model(data, 2, as_integer=True)
    found = bench.fetch("gather_2d_uint", texture, at, dtype=np.uint32)
    assert np.array_equal(found, model.gather(at, 0))


def test_ptx_alone(bench):
    """Test forms that only PTX has: offsets, integer coordinates, packed halves."""
    rng = rng_of("ptx")
    data = texels(rng, "float32", depth=1, channels=4)
    array = bench.store.array(data, 2)
    texture = bench.store.texture(of_array(array), linear=True)
    at = [np.float32([0.5, 2.25, 3.5, 6.5]), np.float32([0.5, 3.75, 2.5, 1.5])]
    moved = [at[0] + np.float32(2), at[1] - np.float32(1)]
    plain = bench.fetch("fetch_2d_float4", texture, moved)
    assert np.array_equal(bench.fetch("offset_2d", texture, at), plain)
    corner = Model(data, 2).fetch([np.floor(at[0]), np.floor(at[1])])
    assert np.array_equal(bench.fetch("texel_2d", texture, at), corner)
    found = bench.fetch("halves_2d", texture, at, dtype=np.uint32, channels=2)
    plain = bench.fetch("fetch_2d_float4", texture, at)
    wanted = plain.astype(np.float16)
    spacing = np.abs(np.spacing(wanted)).astype(float)
    halves = np.ascontiguousarray(found).view(np.float16)
    if bench.emulated:
        assert np.array_equal(halves, wanted)
    assert (np.abs(halves.astype(float) - wanted.astype(float)) <= spacing).all()


#: Differences from an H200 that the model does not explain: the number of values, and
#: their largest difference in units. The sums are those of eight floats of several
#: magnitudes. In sRGB, the byte 47 is one step of eight significant bits higher where
#: 48 follows it.
OPEN = {"float32_4_3d": (2, 1), "srgb_linear": (15, 1 << 16)}


def test_filters_give_what_was_recorded(bench):
    recorded = golden()
    found = texture_golden.answers(bench)
    assert found.keys() == recorded.keys() - {"integers"}
    for name, values in found.items():
        units = np.abs(values.view(np.int32) - recorded[name].view(np.int32))
        count, most = OPEN.get(name, (0, 0))
        print(f"  {name}: {np.count_nonzero(units)} of {units.size} differ")
        assert np.count_nonzero(units) <= count and units.max() <= most, name


def test_the_record_has_what_filters_are_about():
    """The record has many weights. Zeros or a single weight would prove nothing."""
    recorded = golden()
    assert len(recorded) == len(texture_golden.CASES) + 3
    for values in recorded.values():
        assert len(np.unique(values)) > min(200, values.size // 2)


@pytest.mark.filterwarnings("ignore:a kernel reads another type")
def test_textures_of_integers_give_what_was_recorded(bench):
    """All reads of integers, also as the bits of another type, equal an H200's."""
    recorded = golden()["integers"]
    found = texture_golden.integers(bench)
    assert texture_golden.differing_integers(found, recorded) == []


def test_the_record_of_integers_tells_its_cases_apart():
    """Filters, edges and types have records of their own; one changed word is found."""
    recorded = golden()["integers"]
    rows = dict(zip(texture_golden.INTEGER_CASES, map(bytes, recorded), strict=True))
    for format_, channels in dict.fromkeys(case[:2] for case in rows):
        kept = [rows[case] for case in rows if case[:2] == (format_, channels)]
        # Two filters and two edges as floats, and two edges as integers.
        distinct = 2 if format_ in ("int32", "uint32") else 6
        assert len({row for row in kept if any(row)}) >= distinct
    changed = recorded.copy()
    changed[:, -1] ^= 1  # the digest of the points that are not kept
    differ = texture_golden.differing_integers(changed, recorded)
    assert len(differ) == np.count_nonzero(recorded.any(axis=1)) >= 168
    assert "int8 4 border floats linear float4" in differ


def test_integer_border(bench):
    data = texels(rng_of("border"), "int32", depth=1, height=1, channels=4)
    border = np.int32([7, -8, 1 << 30, -(1 << 31)])
    texture = bench.store.texture(
        of_array(bench.store.array(data, 1)),
        modes=(BORDER,) * 3,
        flags=READ_AS_INTEGER,
        border=border,
    )
    found = bench.fetch(
        "fetch_1d_int4", texture, [np.float32([-2, 99])], dtype=np.int32
    )
    assert np.array_equal(found, [border, border])


def test_strange_coordinates(bench):
    """No coordinate is harmful. The values are the model's if it defines them."""
    rng = rng_of("strange")
    data = texels(rng, "float32", channels=1)
    array = bench.store.array(data, 3)
    strange = np.float32([np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-40, -1e-40, 2**31])
    x, y, z = (part.ravel() for part in np.meshgrid(strange, strange, strange))
    for unit in (False, True):
        for linear in (False, True):
            for mode in MODES.values():
                texture = bench.store.texture(
                    of_array(array),
                    modes=(mode,) * 3,
                    linear=linear,
                    flags=NORMALIZED if unit else 0,
                )
                found = bench.fetch("fetch_3d_float4", texture, (x, y, z))[:, 0]
                texel = (found[:, None] == data.ravel()).any(axis=1)
                known = texel | (found == 0) if mode == BORDER else texel
                print(f"  mode {mode} unit {unit} linear {linear}: {known.mean():.3f}")
                if not linear and bench.emulated:
                    assert known.all()
                finite = np.isfinite(found) & (np.abs(found) <= 8)
                assert finite.all()


def test_queries(bench):
    data = texels(rng_of("queries"), "uint8", channels=2)
    array = bench.store.array(data, 3, SURFACE)
    texture = bench.store.texture(of_array(array), flags=READ_AS_INTEGER)
    surface = bench.store.surface(array)
    for name, handle in (("query", texture), ("surface", surface)):
        for part, wanted in (("width", WIDTH), ("height", HEIGHT), ("depth", DEPTH)):
            out = np.zeros(1, np.uint32)
            bench.launch(f"{name}_{part}", 1, np.uint64(handle.value), drv.Out(out))
            assert out[0] == wanted, (name, part)


# -- surfaces --------------------------------------------------------------------------

SURFACE_TYPES = {
    "uchar1": ("uint8", 1),
    "short1": ("int16", 1),
    "int1": ("int32", 1),
    "longlong1": ("uint32", 2),
    "char4": ("int8", 4),
    "ushort2": ("uint16", 2),
    "float2": ("float32", 2),
    "uint4": ("uint32", 4),
    "longlong2": ("uint32", 4),
}
SURFACE_GEOMETRIES = {
    "1d": (1, SURFACE, (1, 1, WIDTH)),
    "2d": (2, SURFACE, (1, HEIGHT, WIDTH)),
    "3d": (3, SURFACE, (DEPTH, HEIGHT, WIDTH)),
    "a1d": (1, SURFACE | LAYERED, (DEPTH, 1, WIDTH)),
    "a2d": (2, SURFACE | LAYERED, (DEPTH, HEIGHT, WIDTH)),
    "cube": (2, SURFACE | CUBEMAP, (6, 4, 4)),
}


@pytest.mark.parametrize("type_", SURFACE_TYPES)
@pytest.mark.parametrize("geometry", SURFACE_GEOMETRIES)
def test_surfaces(bench, geometry, type_):
    sides, flags, shape = SURFACE_GEOMETRIES[geometry]
    dtype, channels = SURFACE_TYPES[type_]
    rng = rng_of(geometry, type_)
    depth, height, width = shape
    data = texels(rng, dtype, depth, height, width, channels)
    array = bench.store.array(data, sides, flags)
    handle = np.uint64(bench.store.surface(array).value)
    count = depth * height * width
    size = (np.int32(width), np.int32(height), np.int32(count))
    offset = {"1d": (2, 0, 0), "a1d": (2, 0, 1)}.get(geometry, (2, -1, 0))
    if geometry in ("3d", "a2d"):
        offset = (-3, 1, -1)
    z, y, x = (
        part + o for part, o in zip(np.indices(shape), offset[::-1], strict=True)
    )
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height) & (z >= 0) & (z < depth)
    last = np.where(z < 0, depth - 1, z) if geometry == "a2d" else z  # unsigned layers
    near = (
        np.clip(last, 0, depth - 1),
        np.clip(y, 0, height - 1),
        np.clip(x, 0, width - 1),
    )
    wanted = {
        "trap": data,
        "clamp": data[near],
        "zero": np.where(inside[..., None], data[near], np.zeros(1, dtype)),
    }
    for mode, result in wanted.items():
        shift = np.int32((0, 0, 0) if mode == "trap" else offset)
        shift = np.array([tuple(shift)], "i4,i4,i4")[0]
        out = np.empty_like(data)
        name = f"{geometry}_{type_}_{mode}"
        bench.launch(f"load_{name}", count, handle, drv.Out(out), *size, shift)
        assert np.array_equal(out, result), name

        fresh = texels(rng, dtype, depth, height, width, channels)
        bench.store.write(array, data)
        bench.launch(f"store_{name}", count, handle, drv.In(fresh), *size, shift)
        after = bench.store.read(array, data)
        bench.store.write(array, data)
        if mode == "trap":
            assert np.array_equal(after, fresh), name
            continue
        stored = data.copy()
        stored[near[0][inside], near[1][inside], near[2][inside]] = fresh[inside]
        if mode == "clamp":  # several threads may write to a place on the rim
            allowed = {}
            for place, value in zip(
                zip(*(part.ravel() for part in near), strict=True),
                fresh.reshape(-1, channels),
                strict=True,
            ):
                allowed.setdefault(place, set()).add(value.tobytes())
            for place, values in allowed.items():
                assert after[place].tobytes() in values, (name, place)
                stored[place] = after[place]
        assert np.array_equal(after, stored), name


@pytest.mark.parametrize("name", ["add", "min", "max", "or", "and"])
def test_reductions(bench, name):
    dtype = "int32" if name == "min" else "uint32"
    rng = rng_of("reduce", name)
    data = texels(rng, dtype, 1, 2, 4, 1)
    array = bench.store.array(data, 2, SURFACE)
    values = texels(rng, dtype, 1, 1, 1000, 1).ravel()
    handle = np.uint64(bench.store.surface(array).value)
    bench.launch(f"reduce_{name}", 1000, handle, drv.In(values), np.int32(1000))
    operation = {
        "add": np.add,
        "min": np.minimum,
        "max": np.maximum,
        "or": np.bitwise_or,
        "and": np.bitwise_and,
    }[name]
    wanted = data.copy()
    operation.at(wanted.reshape(-1), np.arange(1000) % 8, values)
    assert np.array_equal(bench.store.read(array, data), wanted)


def test_written_then_fetched(bench):
    """A kernel reads through a texture what an earlier one wrote through a surface."""
    data = np.zeros((1, HEIGHT, WIDTH, 2), np.float32)
    array = bench.store.array(data, 2, SURFACE)
    surface, texture = bench.store.surface(array), bench.store.texture(of_array(array))
    fresh = texels(rng_of("both"), "float32", depth=1, channels=2)
    sizes = (np.int32(WIDTH), np.int32(HEIGHT), np.int32(WIDTH * HEIGHT))
    zero = np.zeros(1, "i4,i4,i4")[0]
    bench.launch(
        "store_2d_float2_trap",
        WIDTH * HEIGHT,
        np.uint64(surface.value),
        drv.In(fresh),
        *sizes,
        zero,
    )
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH] + 0.5
    found = bench.fetch("fetch_2d_float4", texture, (x.ravel(), y.ravel()))
    assert np.array_equal(found[:, :2], fresh.reshape(-1, 2))


# -- faults ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name, image):
    """A fault is an error of the driver, not a crash. The manual does not define the
    result of a bad handle on a GPU, so the test prints it."""
    code, status, message = FAULTS[name]
    done = run_child(
        FAULTY.format(path=str(ROOT / "test"), code=code),
        check=False,
        PYTHONPATH=os.environ.get("PYTHONPATH", str(ROOT)),
    )
    print(f"  {name}: {done.stdout.strip()}")
    assert done.returncode == 0, done.stderr
    if _driver._is_emulated():
        assert f"Error {status}\n" in done.stdout
        assert message in done.stdout


@pytest.mark.parametrize("line", MALFORMED)
def test_malformed_ptx(ctx, line):
    with pytest.raises(drv.Error):
        drv.module_from_buffer(PTX.format(line).encode())


@pytest.mark.parametrize("line", RARE)
def test_forms_that_only_handwritten_ptx_has(ctx, line):
    """The conformance cases of surfaces.py compare what they do."""
    drv.module_from_buffer(PTX.format(line).encode())


# -- measurements ----------------------------------------------------------------------


def first_change(x, values):
    """Return the coordinates at which a value differs from the previous one."""
    return x[1:][np.diff(values) != 0]


@pytest.mark.parametrize("unit", [False, True], ids=["texels", "unit"])
def test_measure(bench, unit):
    """Print which assumptions of the model hold, and assert them on the software
    device. The texels are 0, 1, 2, ..., so a filtered value is the coordinate."""
    n = 8
    ramp = np.arange(n, dtype=np.float32).reshape(1, 1, n, 1)
    array = bench.store.array(ramp, 1)
    flags = NORMALIZED if unit else 0
    scale = n if unit else 1
    fine = (np.arange(2 * 4096 + 1) / 4096 + 2).astype(np.float32)  # 2 to 4 texels
    at = (fine / scale).astype(np.float32)

    texture = bench.store.texture(of_array(array), linear=True, flags=flags)
    value = bench.fetch("fetch_1d_float4", texture, [at])[:, 0].astype(float)
    where = first_change(fine.astype(float), value)
    steps = np.diff(value)[np.diff(value) != 0] * FRACTION
    phase = np.unique(np.round((where * FRACTION) % 1, 3))
    print(
        f"  A1 steps of {np.unique(np.round(steps, 4))[:4]}/256, "
        f"{len(where)} in 2 texels"
    )
    print(f"  A1 they come at {phase[:6]} of a step (0.5: to nearest, 0: truncated)")
    print(
        f"  A2 values off the grid of 1/256: {np.count_nonzero(value * FRACTION % 1)}"
    )
    exact = np.float32([2.5 + (k + 0.5) / FRACTION for k in range(8)])
    tie = bench.fetch("fetch_1d_float4", texture, [exact / np.float32(scale)])[:, 0]
    print(f"  A1 halves go to {(tie - 2) * FRACTION} (upwards: 1 2 3 ...)")

    texture = bench.store.texture(of_array(array), flags=flags)
    value = bench.fetch("fetch_1d_float4", texture, [at])
    where = first_change(fine, value[:, 0])
    print(f"  A3 point sampling changes texel at {where} (floor: 3 and 4)")
    print(f"  A5 channels of a float texture with one: {value[0]}")
    row = np.arange(n, dtype=np.uint8).reshape(1, 1, n, 1)
    bytes_ = bench.store.texture(
        of_array(bench.store.array(row, 1)), flags=flags | READ_AS_INTEGER
    )
    lacking = bench.fetch("fetch_1d_int4", bytes_, [at[:1]], dtype=np.int32)
    print(f"  A5 channels of an integer texture with one: {lacking[0]}")
    if bench.emulated:
        assert np.array_equal(np.unique(steps), [1.0])
        assert phase.tolist() == [0.5]
        assert np.array_equal((tie - 2) * FRACTION, np.arange(1, 9))
        assert where.tolist() == [3.0, 4.0]
        assert value[0].tolist() == [2, 0, 0, 0]
        assert lacking[0].tolist() == [2, 0, 0, 0]

    # how precise filtered integers are
    for dtype in ("uint8", "uint16", "int8", "int16"):
        most = np.iinfo(dtype).max
        two = np.array([0, most, 11, 12], dtype).reshape(1, 1, 4, 1)
        texture = bench.store.texture(of_array(bench.store.array(two, 1)), linear=True)
        u = np.float32(0.5 + np.arange(3 * FRACTION) / FRACTION)
        found = bench.fetch("fetch_1d_float4", texture, [u])[:, 0]
        wanted = Model(two, 1, linear=True).fetch([u])[:, 0]
        off = np.abs(found.astype(float) - wanted.astype(float)) * most
        print(f"  A2 {dtype}: largest deviation {off.max():.4g} of an integer step")
        if bench.emulated:
            assert off.max() == 0
        else:
            assert off.max() <= most / FRACTION

    # sums of unequal weights in 2D and 3D
    rng = rng_of("sums")
    for sides in (2, 3):
        data = texels(rng, "float32", depth=4 if sides == 3 else 1, height=4, width=4)
        texture = bench.store.texture(
            of_array(bench.store.array(data, sides)), linear=True, flags=flags
        )
        grid = rng.integers(2 * FRACTION, 3 * FRACTION, (sides, POINTS)) / FRACTION
        at = [(g / (4 if unit else 1)).astype(np.float32) for g in grid]
        found = bench.fetch(f"fetch_{sides}d_float4", texture, at)[:, :1]
        wanted = Model(data, sides, linear=True, unit=unit).fetch(at)
        bench.compare(
            f"A2 {sides}D sums on the grid", found, wanted, range_=16.0, sides=sides
        )
