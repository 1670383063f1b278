"""FusedFunction.to_svg: a picture of what became which kernel."""

import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from pycuda import fuse
from pycuda.fuse import _picture
from pycuda.gpuarray import to_gpu

pytestmark = pytest.mark.gpu


def texts(svg):
    """Return how often each text is in a picture."""
    found = ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return Counter(each.text for each in found)


def ones(*shape):
    return to_gpu(np.ones(shape, np.float32))


@fuse.fuse
def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def test_a_picture_has_arrays_kernels_and_operations(ctx):
    x = ones(64, 256)
    found = texts(softmax.to_svg(x))
    (kernel,) = softmax.kernels(x)
    assert found["x"] == found["result"] == 1
    assert found["65,536 bytes"] == 2
    assert found["kernel 0"] == 1
    assert found[f"64 x 256 elements, {kernel.bytes:,} bytes"] == 1
    assert found["max"] == found["subtract"] == found["exp"] == found["divide"] == 1
    assert found["load x"] == found["store result"] == 1
    assert "kernel 1" not in found


def test_calls_temporaries_and_changed_arrays(ctx):
    @fuse.fuse
    def function(x, pair):
        y = x * 0.5
        y.sort(axis=0)
        pair[1][...] = y + pair[0]
        return y, pair[1] * 2

    found = texts(function.to_svg(ones(30), (ones(30), ones(30))))
    assert found["sort"] == 1
    assert found["multiply 0.5"] == found["multiply 2.0"] == 1
    assert found["pair 0"] == 1
    assert found["pair 1"] >= 1
    assert found["result 1"] == 1
    assert found["kernel 0"] == found["kernel 1"] == 1


def test_loops_have_a_frame(ctx):
    @fuse.fuse
    def function(x):
        return fuse.loop(7, lambda x: np.sin(x) + 1, x)

    found = texts(function.to_svg(ones(30)))
    assert found["7 turns"] == found["sin"] == found["add 1.0"] == 1


def test_the_operations_of_large_kernels_are_counted(ctx):
    @fuse.fuse
    def function(x, n):
        for _ in range(n):
            x = np.sin(x)
        return x

    most = _picture.MOST_DRAWN
    assert texts(function.to_svg(ones(30), most))["sin"] == most
    found = texts(function.to_svg(ones(30), most + 1))
    assert "sin" not in found
    assert found[f"{most + 1} operations"] == 1


def test_a_function_without_kernels(ctx):
    assert texts(fuse.fuse(lambda x: 3).to_svg(ones(3))) == {"empty graph": 1}


def test_the_picture_of_the_page(ctx):
    page = Path(__file__).parents[2] / "doc" / "fuse.svg"
    assert page.read_text().strip() == softmax.to_svg(ones(64, 256))
