"""pad with every mode of NumPy."""

import numpy as np
import pytest

from pycuda import gpuarray
from pycuda.gpuarray import to_gpu
from support.same_as_numpy import agree

pytestmark = pytest.mark.gpu

RNG = np.random.default_rng(2)
WIDTHS = [2, (1, 3), 7, ((0, 2),)]
DTYPES = ["float64", "float32", "int32", "uint8", "complex128"]


def values(shape, dtype):
    if dtype == "uint8":
        return RNG.integers(0, 99, shape).astype(dtype)
    return (RNG.normal(size=shape) * 20).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["mean", "median", "maximum", "minimum"])
def test_statistics(ctx, mode, dtype):
    if dtype == "complex128" and mode != "mean":
        pytest.skip("NumPy has the mean of complex numbers only")
    for shape in ((5,), (1, 3), (2, 3, 2)):
        array = values(shape, dtype)
        for width in WIDTHS:
            agree(np.pad, array, width, mode)
        for length in (1, (1, 3), ((2, 1),)):
            agree(np.pad, array, 2, mode, stat_length=length)


@pytest.mark.parametrize("dtype", DTYPES)
def test_ramps(ctx, dtype):
    for shape in ((5,), (1, 3), (2, 3, 2)):
        array = values(shape, dtype)
        for width in WIDTHS:
            agree(np.pad, array, width, "linear_ramp", tolerance=1e-5)
            for ends in (5, (1, -3), ((2, 7),)):
                agree(
                    np.pad,
                    array,
                    width,
                    "linear_ramp",
                    end_values=ends,
                    tolerance=1e-5,
                )


@pytest.mark.parametrize("dtype", [*DTYPES, "bool"])
@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
def test_odd_reflections(ctx, mode, dtype):
    for shape in ((5,), (1,), (1, 3), (2, 3, 2)):
        array = values(shape, "int8") > 0 if dtype == "bool" else values(shape, dtype)
        for width in (1, (0, 1)) if dtype == "bool" else WIDTHS:
            agree(np.pad, array, width, mode, reflect_type="odd", tolerance=1e-2)
            agree(np.pad, array, width, mode, reflect_type="even")


def test_views_and_dicts_of_widths(ctx):
    array = values((4, 6), "float64")
    for mode in ("mean", "linear_ramp"):
        agree(np.pad, array.T[::-1, ::2], 2, mode)
        agree(np.pad, array, 0, mode)
        agree(np.pad, array, [(1, 2), (0, 3)], mode)


def test_function(ctx):
    def fill(line, widths, axis, kwargs):
        line[: widths[0]] = kwargs.get("value", 1) + axis
        if widths[1]:
            line[-widths[1] :] = -1

    array = values((2, 3), "float64")
    agree(np.pad, array, ((1, 2), (3, 0)), fill)
    agree(np.pad, array, 1, fill, value=7)


def test_wrong_arguments(ctx):
    array, empty = np.arange(4.0), np.zeros((0, 3))
    agree(np.pad, array, 1, "mean", constant_values=3)
    agree(np.pad, array, 1, "middle")
    agree(np.pad, array, 1, "mean", stat_length=-1)
    agree(np.pad, array, -1, "mean")
    agree(np.pad, empty, 1, "mean")
    agree(np.pad, empty, ((0, 0), (1, 1)), "mean")
    with pytest.raises(ValueError, match="'even' or 'odd', not 'round'"):
        gpuarray.pad(to_gpu(array), 1, "reflect", reflect_type="round")
    with pytest.raises(ValueError, match="'edge' has no argument end_values"):
        gpuarray.pad(to_gpu(array), 1, "edge", end_values=3)
