#!/usr/bin/env python3
"""Record the results of a GPU's texture filters.

    python3 test/device/texture_golden.py --record FILE   on the GPU to be recorded
    python3 test/device/texture_golden.py                 compares this device with it

The inputs are random texels and coordinates for every format that can be filtered, with
1, 2 and 4 channels in 2 and 3 dimensions, and the 256 values of sRGB with coordinates
between them. Textures of integers are also read as integers, as the bits of floats, and
with both kinds of samples and of edges; of these, a few points and a digest are kept.
test_textures.py compares the software device with the record.
"""

import argparse
import hashlib
import itertools
import sys
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from support.rawtexture import (  # noqa: E402
    BORDER,
    CLAMP,
    READ_AS_INTEGER,
    SRGB,
    of_array,
)
from support.texture_bench import Bench, rng_of  # noqa: E402
from support.texture_kernels import SOURCE  # noqa: E402
from support.texture_model import GOLDEN  # noqa: E402

SIDE = 10
POINTS = 500
FILTERED = ("uint8", "int8", "uint16", "int16", "float16", "float32")
CASES = [
    (format_, channels, sides)
    for format_ in FILTERED
    for channels in (1, 2, 4)
    for sides in (2, 3)
]
#: Of textures of integers: the format, the channels, the addresses beyond the edges,
#: what a fetch gives, the filter, and the type that the kernel reads.
INTEGER_CASES = [
    case
    for case in itertools.product(
        ("uint8", "int8", "uint16", "int16", "uint32", "int32"),
        (1, 2, 4),
        ("clamp", "border"),
        ("integers", "floats"),
        ("linear", "point"),
        ("uint4", "int4", "float4"),
    )
    if case[3] == "integers" or case[5] == "float4"
]
INTEGER_SIDE = 8
INTEGER_POINTS = 512
REFUSED = np.uint32(0xFFFFFFFF)


def name_of(case):
    return "{}_{}_{}d".format(*case)


def texels_of(case):
    """Return [z][y][x][channel], with floats of several magnitudes."""
    format_, channels, sides = case
    rng, dtype = rng_of("golden", *case), np.dtype(format_)
    shape = (SIDE if sides == 3 else 1, SIDE, SIDE, channels)
    if dtype.kind == "f":
        magnitude = np.exp2(rng.integers(-3, 4, shape))
        return (rng.standard_normal(shape) * magnitude).astype(dtype)
    bounds = np.iinfo(dtype)
    return rng.integers(bounds.min, bounds.max, shape, dtype, endpoint=True)


def places_of(case):
    rng = rng_of("golden places", *case)
    steps = rng.integers(-256, 256 * (SIDE + 1), (case[2], POINTS))
    return (steps / 256).astype(np.float32)


def answer(bench, case):
    _, channels, sides = case
    data = texels_of(case)
    array = bench.store.array(data, sides)
    texture = bench.store.texture(of_array(array), modes=(CLAMP,) * 3, linear=True)
    found = bench.fetch(f"fetch_{sides}d_float4", texture, list(places_of(case)))
    return found[:, :channels]


def srgb(bench, linear):
    """Fetch the bytes 0 to 255 in four equal channels, or 16 values between them."""
    data = np.arange(256, dtype=np.uint8).repeat(4).reshape(1, 1, 256, 4)
    array = bench.store.array(data, 1)
    texture = bench.store.texture(of_array(array), flags=SRGB, linear=linear)
    at = np.arange(0, 255.001, 1 / 16 if linear else 1, np.float32) + np.float32(0.5)
    return bench.fetch("fetch_1d_float4", texture, [at])[:, [0, 3]]


def integer_inputs():
    """Return the coordinates, and the texels of each format and number of channels."""
    rng, side = np.random.default_rng(5), INTEGER_SIDE
    at = [(rng.random(INTEGER_POINTS) * 12 - 2).astype(np.float32) for _ in "xy"]
    at[0][:64], at[1][:64] = np.arange(64) / 8, 3.5  # a row, in steps of 1/8
    texels = {}
    for format_, channels in dict.fromkeys(case[:2] for case in INTEGER_CASES):
        bounds, shape = np.iinfo(format_), (1, side, side, channels)
        texels[format_, channels] = rng.integers(
            bounds.min, bounds.max, shape, format_, endpoint=True
        )
    return at, texels


def summary(words):
    """Return eight points of an answer, and a digest of all of it, as 36 words."""
    digest = hashlib.sha256(np.ascontiguousarray(words)).digest()[:16]
    return np.append(words[:: len(words) // 8], np.frombuffer(digest, np.uint32))


def integers(bench):
    """Return a summary of the answer to each of INTEGER_CASES."""
    at, texels = integer_inputs()
    arrays = {key: bench.store.array(data, 2) for key, data in texels.items()}
    found = []
    for format_, channels, edges, gives, samples, kernel in INTEGER_CASES:
        try:
            texture = bench.store.texture(
                of_array(arrays[format_, channels]),
                modes=(BORDER if edges == "border" else CLAMP,) * 3,
                linear=samples == "linear",
                flags=READ_AS_INTEGER if gives == "integers" else 0,
            )
        except RuntimeError:  # the driver refuses such a texture
            found.append(summary(np.full((INTEGER_POINTS, 4), REFUSED)))
            continue
        found.append(
            summary(bench.fetch(f"fetch_2d_{kernel}", texture, at, dtype="u4"))
        )
    return np.array(found)


def differing_integers(found, recorded):
    """Return the cases whose summaries differ. Those without a record do not."""
    differ = (found != recorded).any(axis=1) & recorded.any(axis=1)
    return [" ".join(map(str, INTEGER_CASES[i])) for i in np.flatnonzero(differ)]


def answers(bench):
    found = {name_of(case): answer(bench, case) for case in CASES}
    found["srgb"] = srgb(bench, False)[:, 0]
    found["srgb_linear"] = srgb(bench, True)
    return found


def main(argv=None):
    import pycuda.driver as drv
    from pycuda import compiler

    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--record", metavar="FILE", help="write what this device answers")
    args = p.parse_args(argv)
    drv.init()
    context = drv.Device(0).make_context()
    try:
        image = compiler.compile(SOURCE, no_extern_c=True, target="ptx")
        bench = Bench(image)
        found = answers(bench)
        found["integers"] = integers(bench)
        bench.store.close()
        del bench
    finally:
        context.pop()
        context.detach()
    if args.record:
        np.savez_compressed(args.record, **found)
        return 0
    recorded = dict(np.load(GOLDEN))
    cases = differing_integers(found.pop("integers"), recorded.pop("integers"))
    print(*cases, f"{len(cases)} of {len(INTEGER_CASES)} differ", sep="\n")
    differ = {n: int((found[n] != recorded[n]).sum()) for n in recorded}
    for name, count in differ.items():
        print(f"{name:16} {count} of {recorded[name].size} differ")
    return int(any(differ.values()) or bool(cases))


if __name__ == "__main__":
    sys.exit(main())
