"""Textures and surfaces, through objects that the driver makes.

Filters interpolate between small integers. The weights have eight fraction bits, so
every sum is exact in any order.
"""

import numpy as np

from . import values
from .case import Kernel

WRAP, CLAMP, MIRROR, BORDER = range(4)
POINT, LINEAR = 0, 1
MODES = ("wrap", "clamp", "mirror", "border")
FILTERS = ("point", "linear")
LAYERED, SURFACE, CUBE, GATHER = 1, 2, 4, 8

THREADS = 256


def texels(count, bits, name, small=False):
    """Return integers, or the bits of float32 numbers from -8 to 7."""
    raw = values.random_bits(values.source(name), bits, count)
    if small:
        numbers = (raw % np.asarray(16, raw.dtype)).astype(np.float32) - 8
        return numbers.view(np.uint32)
    return raw


def reals(low, high, name, count=THREADS):
    """Return random coordinates, multiples of 1/8, and coordinates far outside."""
    unit = values.random_bits(values.source(name), 32, count) / 2.0**32
    numbers = low + (high - low) * unit
    numbers[1::4] = np.round(numbers[1::4] * 8) / 8
    numbers[3::16] *= 16
    return numbers.astype(np.float32).view(np.uint32)


def integers(low, high, name, count=THREADS):
    raw = values.random_bits(values.source(name), 32, count) % (high - low)
    return (raw.astype(np.int64) + low).astype(np.int32).view(np.uint32)


def texture_kernel(
    name, coordinates, types, form, order, result="f32", extra=None, **settings
):
    """Fetch four components at the coordinates of each thread.

    order: the coordinate operand, with {0}, {1}, ... for the loaded coordinates.
    """
    kernel = Kernel(name)
    loaded = [
        kernel.load(kernel.input(c, f"coordinate {i}"), t)
        for i, (c, t) in enumerate(zip(coordinates, types, strict=True))
    ]
    handle = kernel.texture(**settings)
    cls = "f32" if result == "f32" else "b32"
    d = kernel.regs(cls, 4)
    where = order.format(*loaded)
    tail = extra(kernel, loaded) if extra else ""
    kernel(f"{form} {{{', '.join(d)}}}, [{handle}, {where}]{tail};")
    for i, register in enumerate(d):
        kernel.keep(result, register, "rgba"[i])
    return kernel


def array(kind, width, height=0, depth=0, channels=1, flags=0, small=False, **more):
    """Return the settings of a texture on a texture array."""
    bits = values.width(kind)
    count = width * max(height, 1) * max(depth, 1) * channels
    return {
        "resource": "array",
        "format": kind,
        "channels": channels,
        "flags": flags,
        "shape": (width, height, depth),
        "address": (CLAMP,) * 3,
        "filter": POINT,
        "data": texels(count, bits, f"texels {kind} {count}", small),
        **more,
    }


def variants_2d():
    """Yield each addressing mode with both filters."""
    for filter_ in (POINT, LINEAR):
        for mode in (WRAP, CLAMP, MIRROR, BORDER):
            normalised = mode in (WRAP, MIRROR) or filter_ == POINT
            label = f"{FILTERS[filter_]} {MODES[mode]}"
            yield (
                label,
                {
                    "filter": filter_,
                    "address": (mode,) * 3,
                    "normalised": normalised,
                },
            )


def fetches():
    x1 = reals(-3, 20, "x1")
    for label, more in (
        ("point clamp", {}),
        ("point border", {"address": (BORDER,) * 3}),
        ("linear clamp", {"filter": LINEAR, "small": True}),
    ):
        kernel = texture_kernel(
            f"tex.1d.v4.f32.f32 {label}",
            [x1],
            ["f32"],
            "tex.1d.v4.f32.f32",
            "{{{0}}}",
            **array("f32", 17, **more),
        )
        yield kernel.case("texture", "tex 1d.v4.f32.f32")

    position = integers(0, 64, "linear x")
    for result, kind in (("f32", "f32"), ("s32", "s32"), ("u32", "u32")):
        for channels in (1, 4):
            form = f"tex.1d.v4.{result}.s32"
            settings = {
                "resource": "linear",
                "format": kind,
                "channels": channels,
                "flags": 0,
                "shape": (64, 0, 0),
                "address": (CLAMP,) * 3,
                "filter": POINT,
                "data": texels(64 * channels, 32, f"linear {kind}"),
                "as_integer": result != "f32",
            }
            kernel = texture_kernel(
                f"{form} {channels}",
                [position],
                ["s32"],
                form,
                "{{{0}}}",
                result,
                **settings,
            )
            yield kernel.case("texture", f"tex 1d.v4.{result}.s32")

    x, y = reals(-3, 20, "x"), reals(-3, 14, "y")
    u, v = reals(-1.5, 2.5, "u"), reals(-1.5, 2.5, "v")
    for label, more in variants_2d():
        at = [u, v] if more["normalised"] else [x, y]
        for channels in (1, 4) if "clamp" in label else (1,):
            kernel = texture_kernel(
                f"tex.2d.v4.f32.f32 {label} {channels}",
                at,
                ["f32"] * 2,
                "tex.2d.v4.f32.f32",
                "{{{0}, {1}}}",
                **array(
                    "f32",
                    17,
                    9,
                    channels=channels,
                    small=more["filter"] == LINEAR,
                    **more,
                ),
            )
            yield kernel.case("texture", "tex 2d.v4.f32.f32")
    for result, kind in (("s32", "s32"), ("u32", "u32"), ("s32", "s8"), ("u32", "u16")):
        kernel = texture_kernel(
            f"tex.2d.v4.{result}.f32 {kind}",
            [x, y],
            ["f32"] * 2,
            f"tex.2d.v4.{result}.f32",
            "{{{0}, {1}}}",
            result,
            **array(kind, 17, 9, channels=2, as_integer=True),
        )
        yield kernel.case("texture", f"tex 2d.v4.{result}.f32")
    for kind in ("u8", "s8", "u16", "s16", "f16"):  # reads integers as fractions
        kernel = texture_kernel(
            f"tex.2d.v4.f32.f32 of {kind}",
            [x, y],
            ["f32"] * 2,
            "tex.2d.v4.f32.f32",
            "{{{0}, {1}}}",
            **array(kind, 17, 9, channels=4),
        )
        yield kernel.case("texture", ())
    pitched = {
        "resource": "pitch2d",
        "format": "f32",
        "channels": 1,
        "flags": 0,
        "shape": (17, 9, 0),
        "address": (CLAMP,) * 3,
        "data": texels(17 * 9, 32, "pitch", True),
    }
    for filter_ in (POINT, LINEAR):
        kernel = texture_kernel(
            f"tex.2d.v4.f32.f32 pitched {filter_}",
            [x, y],
            ["f32"] * 2,
            "tex.2d.v4.f32.f32",
            "{{{0}, {1}}}",
            filter=filter_,
            **pitched,
        )
        yield kernel.case("texture", ())


def deeper():
    x, y, z = reals(-1, 9, "x3"), reals(-1, 6, "y3"), reals(-1, 5, "z3")
    for filter_ in (POINT, LINEAR):
        kernel = texture_kernel(
            f"tex.3d.v4.f32.f32 {filter_}",
            [x, y, z],
            ["f32"] * 3,
            "tex.3d.v4.f32.f32",
            "{{{0}, {1}, {2}, {2}}}",
            **array("f32", 8, 5, 4, filter=filter_, small=filter_ == LINEAR),
        )
        yield kernel.case("texture", "tex 3d.v4.f32.f32")
    layer = integers(0, 3, "layer")
    kernel = texture_kernel(
        "tex.a1d.v4.f32.f32",
        [layer, x],
        ["u32", "f32"],
        "tex.a1d.v4.f32.f32",
        "{{{0}, {1}}}",
        **array("f32", 8, 0, 3, flags=LAYERED),
    )
    yield kernel.case("texture", "tex a1d.v4.f32.f32")
    kernel = texture_kernel(
        "tex.a2d.v4.f32.f32",
        [layer, x, y],
        ["u32", "f32", "f32"],
        "tex.a2d.v4.f32.f32",
        "{{{0}, {1}, {2}, {2}}}",
        **array("f32", 8, 5, 3, flags=LAYERED),
    )
    yield kernel.case("texture", "tex a2d.v4.f32.f32")

    unit = [
        values.random_bits(values.source(f"cube {i}"), 32, THREADS) for i in range(3)
    ]
    direction = [((w / 2.0**31) - 1).astype(np.float32).view(np.uint32) for w in unit]
    kernel = texture_kernel(
        "tex.cube.v4.f32.f32",
        direction,
        ["f32"] * 3,
        "tex.cube.v4.f32.f32",
        "{{{0}, {1}, {2}, {2}}}",
        **array("f32", 8, 8, 6, flags=CUBE, normalised=True),
    )
    yield kernel.case("texture", "tex cube.v4.f32.f32")

    x, y = reals(-3, 20, "x"), reals(-3, 14, "y")
    kernel = texture_kernel(
        "tex.level.2d.v4.f32.f32",
        [x, y],
        ["f32"] * 2,
        "tex.level.2d.v4.f32.f32",
        "{{{0}, {1}}}",
        extra=lambda k, c: ", 0f00000000",
        **array("f32", 17, 9),
    )
    yield kernel.case("texture", "tex level.2d.v4.f32.f32")

    def gradients(kernel, loaded):
        small = kernel.regs("f32", 2)
        kernel(f"mov.f32 {small[0]}, 0f3C23D70A;\nmov.f32 {small[1]}, 0f00000000;")
        pair = f"{{{small[0]}, {small[1]}}}"
        return f", {pair}, {pair}"

    kernel = texture_kernel(
        "tex.grad.2d.v4.f32.f32",
        [x, y],
        ["f32"] * 2,
        "tex.grad.2d.v4.f32.f32",
        "{{{0}, {1}}}",
        extra=gradients,
        **array("f32", 17, 9),
    )
    yield kernel.case("texture", "tex grad.2d.v4.f32.f32")
    for component in "rg":
        kernel = texture_kernel(
            f"tld4.{component}.2d.v4.f32.f32",
            [x, y],
            ["f32"] * 2,
            f"tld4.{component}.2d.v4.f32.f32",
            "{{{0}, {1}}}",
            **array("f32", 17, 9, channels=2, flags=GATHER),
        )
        yield kernel.case("texture", "tld4 g.2d.v4.f32.f32" if component == "g" else ())


# -- surfaces -------------------------------------------------------------------------


def surface(kind, width, height=0, depth=0, channels=1, flags=0, **more):
    return array(
        kind, width, height, depth, channels, flags | SURFACE, surface=True, **more
    )


def surface_coordinates(kernel, dimension, size, inside):
    """Return the operand of coordinates inside or around the surface. x is in bytes."""
    low, slack = (0, 0) if inside else (-3, 3)
    x = integers(low, 16 + slack, f"surface x {inside}")
    y = integers(low, 8 + slack, f"surface y {inside}")
    z = integers(0, 4, "surface z")
    return coordinate_operand(kernel, dimension, size, x, y, z)


def coordinate_operand(kernel, dimension, size, x, y, z):
    by = kernel.load(kernel.input(x, "x"), "s32")
    kernel(f"mul.lo.s32 {by}, {by}, {size};")
    if dimension == "1d":
        return f"{{{by}}}"
    down = kernel.load(kernel.input(y, "y"), "s32")
    if dimension == "2d":
        return f"{{{by}, {down}}}"
    deep = kernel.load(kernel.input(z, "z"), "s32")
    if dimension == "3d":
        return f"{{{by}, {down}, {deep}, {deep}}}"
    return f"{{{deep}, {by}, {down}, {down}}}"


SHAPES = {"1d": (16, 0, 0), "2d": (16, 8, 0), "3d": (16, 8, 4), "a2d": (16, 8, 4)}


def read_case(form, in_list=True):
    _, dimension, *vector, kind, mode = form.split(".")
    lanes = int(vector[0][1:]) if vector else 1
    kernel = Kernel(f"suld.{form}")
    size = lanes * values.width(kind) // 8
    where = surface_coordinates(kernel, dimension, size, mode == "trap")
    flags = LAYERED if dimension == "a2d" else 0
    handle = kernel.texture(
        **surface(f"u{kind[1:]}", *SHAPES[dimension], channels=lanes, flags=flags)
    )
    cls = "b32" if kind == "b32" else "b16"
    d = kernel.regs(cls, lanes)
    result = d[0] if lanes == 1 else "{" + ", ".join(d) + "}"
    kernel(f"suld.{form} {result}, [{handle}, {where}];")
    for i, register in enumerate(d):
        kernel.keep("u32" if cls == "b32" else "u16", register, f"lane {i}")
    return kernel.case("surface", f"suld {form}" if in_list else ())


def write_case(form, in_list=True):
    """Let each thread write its own element. Some are outside the surface."""
    _, dimension, *vector, kind, mode = form.split(".")
    lanes = int(vector[0][1:]) if vector else 1
    kernel = Kernel(f"sust.{form}")
    size = lanes * values.width(kind) // 8
    width, height, depth = SHAPES[dimension]
    number = np.arange(16 * max(height, 1) * max(depth, 1))
    number = number[values.source("order").permutation(len(number))]
    x, y, z = number % 16, number // 16 % 8, number // 128
    if mode == "zero":
        x[::9] += 16
        y[::5] -= 9
    x, y, z = (c.astype(np.int32).view(np.uint32) for c in (x, y, z))
    block = 16 if dimension == "1d" else values.BLOCK
    where = coordinate_operand(kernel, dimension, size, x, y, z)
    words = values.random_bits(values.source(form), 32, len(number) * lanes)
    base = kernel.input(words, "value")
    kernel.threads = len(number)
    cls = "b32" if kind == "b32" else "b16"
    given = []
    for lane in range(lanes):
        index, register = kernel.reg("b32"), kernel.reg(cls)
        kernel(f"mad.lo.s32 {index}, {kernel.index}, {lanes}, {lane};")
        word = kernel.load(base, "u32", index)
        kernel(f"{'mov.u32' if cls == 'b32' else 'cvt.u16.u32'} {register}, {word};")
        given.append(register)
    flags = LAYERED if dimension == "a2d" else 0
    handle = kernel.texture(
        read_back=True,
        **surface(f"u{kind[1:]}", width, height, depth, channels=lanes, flags=flags),
    )
    value = given[0] if lanes == 1 else "{" + ", ".join(given) + "}"
    kernel(f"sust.{form} [{handle}, {where}], {value};")
    return kernel.case("surface", f"sust {form}" if in_list else (), block=block)


def cases():
    yield from fetches()
    yield from deeper()
    for form in (
        "b.1d.v4.b32.trap",
        "b.2d.b32.trap",
        "b.2d.v4.b8.clamp",
        "b.3d.v2.b32.trap",
        "b.a2d.b16.trap",
    ):
        yield read_case(form)
    for form in ("b.2d.b32.clamp", "b.2d.b32.zero", "b.2d.v4.b8.zero"):
        yield read_case(form, False)
    for form in (
        "b.1d.b32.trap",
        "b.2d.b16.trap",
        "b.2d.b32.trap",
        "b.2d.v4.b8.zero",
        "b.3d.v4.b32.trap",
        "b.a2d.v2.b32.trap",
    ):
        yield write_case(form)
