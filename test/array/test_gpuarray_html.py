"""How notebooks show an array: GPUArray._repr_html_."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.tools import DeviceMemoryPool

pytestmark = pytest.mark.gpu


class Tables(HTMLParser):
    """The texts of the cells, by table and row."""

    def __init__(self, text):
        super().__init__()
        self.found, self.open = [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        if tag == "table":
            self.found.append([])
        elif tag == "tr":
            self.found[-1].append([])
        elif tag in ("td", "th"):
            self.found[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if self.open[-1] in ("td", "th"):
            self.found[-1][-1][-1] += text


def facts(a):
    return dict(Tables(a._repr_html_()).found[0])


def elements(a):
    return Tables(a._repr_html_()).found[1]


def test_the_facts(ctx):
    a = gpuarray.zeros((3, 400), np.float32)
    assert facts(a) == {
        "shape": "(3, 400)",
        "dtype": "float32",
        "device": drv.Device(0).name(),
        "memory": "4.7 KiB of device memory",
    }
    assert facts(a.T)["memory"] == "4.7 KiB of device memory, strides (4, 1600)"


def test_the_memory_of_a_pool(ctx):
    pool = DeviceMemoryPool()
    a = gpuarray.zeros(4, np.int16, allocator=pool.allocate)
    assert facts(a)["memory"] == "8 B of a memory pool"
    del a
    pool.stop_holding()


def test_the_text_forms_do_not_change(ctx):
    host = np.arange(3)
    a = gpuarray.to_gpu(host)
    assert (repr(a), str(a)) == (repr(host), str(host))


def test_small_arrays_are_shown_whole(ctx):
    assert elements(gpuarray.to_gpu(np.array([1.5, -2, np.nan]))) == [
        ["0", "1", "2"],
        ["1.5", "-2", "nan"],
    ]
    assert elements(gpuarray.to_gpu(np.array(7))) == [["7"]]
    assert elements(gpuarray.to_gpu(np.array([[1, 2], [3, 4]]))) == [
        ["", "0", "1"],
        ["0", "1", "2"],
        ["1", "3", "4"],
    ]
    assert elements(gpuarray.to_gpu(np.array([1 + 2j, 3]))[:1])[1] == ["1+2j"]


@pytest.mark.parametrize("length", [11, 1_000_000])
def test_long_arrays_have_a_gap(ctx, length):
    heads, row = elements(gpuarray.to_gpu(np.arange(length)))
    indices = [0, 1, 2, 3, "\u2026", *range(length - 4, length)]
    assert heads == row == list(map(str, indices))


@pytest.mark.parametrize("shape", [(11, 11), (3, 100_000), (100_000, 3)])
def test_large_matrices_have_gaps(ctx, shape):
    host = np.arange(shape[0] * shape[1]).reshape(shape)
    heads, *rows = elements(gpuarray.to_gpu(host))
    columns = [None if each == "\u2026" else int(each) for each in heads[1:]]
    for index, *values in rows:
        for column, value in zip(columns, values, strict=True):
            gap = index == "\u2026" or column is None
            assert value == ("\u2026" if gap else str(host[int(index), column]))
    assert (None in columns) == (shape[1] > 10)
    assert (["\u2026"] in [row[:1] for row in rows]) == (shape[0] > 10)


def test_of_more_axes_the_first_elements_are_shown(ctx):
    a = gpuarray.to_gpu(np.arange(24).reshape(2, 3, 4))
    assert "[0, :, :]" in a._repr_html_()
    assert elements(a)[1] == ["0", "0", "1", "2", "3"]


def test_no_elements(ctx):
    a = gpuarray.zeros((0, 3), np.float32)
    assert len(Tables(a._repr_html_()).found) == 1
    assert facts(a)["memory"] == "0 B"


def test_texts_are_escaped(ctx):
    a = gpuarray.zeros(1, np.dtype([("<b>", np.int32)]))
    assert "<b>" not in a._repr_html_()


def test_elements_that_cannot_be_read(ctx):
    """A notebook shows what is known, and the reason."""
    memory = drv.mem_alloc(400)
    a = gpuarray.GPUArray(100, np.float32, gpudata=memory)
    memory.free()
    try:
        text = a._repr_html_()
    except drv.Error:
        pytest.fail("an exception instead of the reason")
    assert re.search(r"The elements cannot be read: .*(invalid|freed)", text), text
