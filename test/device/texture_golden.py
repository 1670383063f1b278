#!/usr/bin/env python3
"""Record the results of a GPU's linear texture filter.

    python3 test/device/texture_golden.py --record FILE   on the GPU to be recorded
    python3 test/device/texture_golden.py                 compares this device with it

The inputs are random texels and coordinates for every format that can be filtered, with
1, 2 and 4 channels in 2 and 3 dimensions, and the 256 values of sRGB with coordinates
between them. test_textures.py compares the software device with the record.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from support.rawtexture import CLAMP, SRGB, of_array  # noqa: E402
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
        bench.store.close()
        del bench
    finally:
        context.pop()
        context.detach()
    if args.record:
        np.savez_compressed(args.record, **found)
        return 0
    recorded = np.load(GOLDEN)
    differ = {n: int((found[n] != recorded[n]).sum()) for n in recorded}
    for name, count in differ.items():
        print(f"{name:16} {count} of {recorded[name].size} differ")
    return int(any(differ.values()))


if __name__ == "__main__":
    sys.exit(main())
