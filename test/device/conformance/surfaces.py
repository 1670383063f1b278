"""Formatted stores and reductions of surfaces, and forms of textures that only
handwritten PTX has.

sust.p converts a value to the format of the surface, and its first coordinate counts
elements, not bytes. sured.p reads the type of the numbers from the format.
"""

import numpy as np

from . import textures, values
from .case import Kernel

#: Elements of a row, rows.
WIDTH, HEIGHT = 16, 8

#: (elements of the vector, channels of the surface). Further elements are ignored;
#: channels without an element would be undefined.
VECTORS = ((1, 1), (2, 2), (4, 4), (4, 1), (4, 2), (2, 1))

#: Floats around the edges of the narrow formats, as bits.
EDGES = np.array(
    [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.0, 1 / 255, 0.5 / 255, 1.5 / 255, 126.5,
     127.5, 254.5, 255.0, 256.0, -128.5, 65504.0, 65520.0, 1e-8, 6e-8, np.inf, -np.inf,
     np.nan], np.float32,
).view(np.uint32)  # fmt: skip


def words(name, count):
    """Return random words, small integers of both signs and edges of floats."""
    found = values.random_bits(values.source(name), 32, count)
    small = values.random_bits(values.source(f"{name} small"), 32, count)
    found[1::3] = (small[1::3] % 600).astype(np.uint32) - np.uint32(300)
    found[2::3] = np.resize(EDGES, len(found[2::3]))
    return found


def place(kernel, mode, dimension):
    """Return the operand of the coordinates: each thread has its own element."""
    shape = textures.SHAPES[dimension]
    rows, slices = max(shape[1], 1), max(shape[2], 1)
    number = np.arange(WIDTH * rows * slices)
    x, y, z = number % WIDTH, number // WIDTH % HEIGHT, number // 128
    if mode == "zero":
        x[::9] += 16
        y[::5] -= 9
    x, y, z = (c.astype(np.int32).view(np.uint32) for c in (x, y, z))
    kernel.threads = len(number)
    return textures.coordinate_operand(kernel, dimension, 1, x, y, z)


def store(kind, lanes, channels, mode="trap", dimension="2d"):
    vector = f"v{lanes}." if lanes > 1 else ""
    form = f"sust.p.{dimension}.{vector}b32.{mode}"
    kernel = Kernel(f"{form} to {channels} {kind}")
    where = place(kernel, mode, dimension)
    count = kernel.threads
    given = [
        kernel.load(kernel.input(words(f"{form} {k}", count), f"value {k}"), "u32")
        for k in range(lanes)
    ]
    flags = textures.LAYERED if dimension == "a2d" else 0
    shape = textures.SHAPES[dimension]
    surface = textures.surface(kind, *shape, channels=channels, flags=flags)
    handle = kernel.texture(read_back=True, **surface)
    value = given[0] if lanes == 1 else "{" + ", ".join(given) + "}"
    kernel(f"{form} [{handle}, {where}], {value};")
    return kernel.case("surface", (), block=16, threads=count)


def reduction(op, kind, width, mode="trap"):
    """sured.p on a surface of one channel, or of two for 64-bit numbers."""
    kernel = Kernel(f"sured.p.{op}.2d.b{width}.{mode} on {kind}")
    count = 2 * WIDTH * HEIGHT
    number = np.arange(count) * 7 % (WIDTH * HEIGHT)
    x, y = number % WIDTH, number // WIDTH
    if mode == "zero":
        x[::9] += 16
        y[::5] -= 9
    x, y = (c.astype(np.int32).view(np.uint32) for c in (x, y))
    kernel.threads = count
    where = textures.coordinate_operand(kernel, "2d", 1, x, y, None)
    data = values.random_bits(values.source(f"{op} {kind} {width}"), width, count)
    value = kernel.load(kernel.input(data, "value"), f"u{width}")
    surface = textures.surface(kind, WIDTH, HEIGHT, channels=width // 32)
    handle = kernel.texture(read_back=True, **surface)
    kernel(f"sured.p.{op}.2d.b{width}.{mode} [{handle}, {where}], {value};")
    return kernel.case("surface", (), threads=count)


def types_of_handles():
    """istypep tests bits of a handle. Those of objects are not set."""
    kernel = Kernel("istypep")
    bits = values.random_bits(values.source("istypep"), 64, 64)
    handle = kernel.load(kernel.input(bits, "handle"), "u64")
    for kind in ("texref", "samplerref", "surfref"):
        found = kernel.reg("pred")
        kernel(f"istypep.{kind} {found}, {handle};")
        kernel.keep("pred", found, kind, 64)
    return kernel.case("texture", (), threads=64)


def depth(filter_):
    """The optional last operand of tex is compared with each texel."""
    x, y = textures.reals(-3, 20, "x"), textures.reals(-3, 14, "y")
    limit = textures.texels(textures.THREADS, 32, "depth", small=True)
    kernel = textures.texture_kernel(
        f"tex.2d.v4.f32.f32 with a depth {textures.FILTERS[filter_]}",
        [x, y, limit],
        ["f32"] * 3,
        "tex.2d.v4.f32.f32",
        "{{{0}, {1}}}",
        extra=lambda kernel, loaded: f", {loaded[2]}",
        **textures.array("f32", 17, 9, filter=filter_, small=True),
    )
    return kernel.case("texture", ())


def samples(result, kind, geometry):
    """Fetch by integers from a texture with one sample a texel."""
    x = textures.integers(0, 17, "ms x")
    y = textures.integers(0, 9, "ms y")
    sample = textures.integers(0, 4, "ms sample")
    layer = textures.integers(0, 3, "ms layer")
    layered = geometry == "a2dms"
    order = "{{{3}, {0}, {1}, {1}}}" if layered else "{{{2}, {0}, {1}, {1}}}"
    if layered:
        order = "{{{2}, {3}, {0}, {1}}}"
    flags, deep = (textures.LAYERED, 3) if layered else (0, 0)
    kernel = textures.texture_kernel(
        f"tex.{geometry}.v4.{result}.s32 of {kind}",
        [x, y, sample, layer],
        ["s32"] * 4,
        f"tex.{geometry}.v4.{result}.s32",
        order,
        result,
        **textures.array(
            kind, 17, 9, deep, channels=2, flags=flags, as_integer=result != "f32"
        ),
    )
    return kernel.case("texture", ())


def reserved():
    """The registers about the shared memory that the driver keeps for itself."""
    kernel = Kernel("mov of reserved_smem_offset")
    for name in ("begin", "end", "cap", "0", "1"):
        register = kernel.special(f"%reserved_smem_offset_{name}")
        kernel.keep("u32", register, name, 32)
    return kernel.case("move", (), threads=32, block=32, target=90)


def cases():
    for kind in ("f32", "f16", "s32", "u32", "s16", "u16", "s8", "u8"):
        for lanes, channels in VECTORS:
            yield store(kind, lanes, channels)
    for mode in ("clamp", "zero"):
        yield store("u16", 2, 2, mode)
    for dimension in ("1d", "3d", "a2d"):
        yield store("f16", 4, 4, dimension=dimension)
    for op in ("add", "min", "max"):
        for kind in ("u32", "s32"):
            yield reduction(op, kind, 32)
    for op in ("min", "max"):
        for kind in ("u32", "s32"):
            yield reduction(op, kind, 64)
    for mode in ("clamp", "zero"):
        yield reduction("add", "u32", 32, mode)
    yield types_of_handles()
    for filter_ in (textures.POINT, textures.LINEAR):
        yield depth(filter_)
    for geometry in ("2dms", "a2dms"):
        for result, kind in (("f32", "f32"), ("s32", "s16"), ("u32", "u8")):
            yield samples(result, kind, geometry)
    yield reserved()
