"""Names in the code of chapters become links, if they mean one documented thing."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx")

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from pages.links import Names, page_of  # noqa: E402  the path is set above

OBJECTS = {
    "pycuda.fft": "module",
    "pycuda.fft.rfft": "function",
    "pycuda.driver.Stream": "class",
    "pycuda.driver.Stream.synchronize": "method",
    "pycuda.driver.Event.synchronize": "method",
    "pycuda.driver.Context.pop": "method",
    "pycuda.driver.MemoryError": "exception",
    "pycuda.driver.mem_alloc": "function",
    "pycuda.driver.DeviceMemoryPool": "class",
    "pycuda.tools.DeviceMemoryPool": "class",
    "pycuda.gpuarray.GPUArray": "class",
    "pycuda.gpuarray.GPUArray.get": "method",
    "pycuda.gpuarray.GPUArray.copy": "method",
    "pycuda.gpuarray.copy": "function",
    "pycuda.gpuarray.sum": "function",
    "pycuda.gpuarray.where": "function",
    "pycuda.array_api.logical_xor": "function",
}


@pytest.fixture
def names():
    return Names(OBJECTS)


@pytest.mark.parametrize(
    ("text", "found"),
    (
        ("pycuda.fft", "pycuda.fft"),
        ("drv.Stream()", "pycuda.driver.Stream"),
        ("Stream", "pycuda.driver.Stream"),
        ("GPUArray.get", "pycuda.gpuarray.GPUArray.get"),
        ("gpuarray.sum(x,\naxis=0)", "pycuda.gpuarray.sum"),
        ("x.get()", "pycuda.gpuarray.GPUArray.get"),
        ("stream.synchronize()", "pycuda.driver.Stream.synchronize"),
        ("pop()", "pycuda.driver.Context.pop"),
        ("mem_alloc", "pycuda.driver.mem_alloc"),
        ("DeviceMemoryPool()", "pycuda.driver.DeviceMemoryPool"),  # two names of one
        ("drv.MemoryError", "pycuda.driver.MemoryError"),
    ),
)
def test_names_of_one_object(names, text, found):
    assert names.find(text, "streams") == found


@pytest.mark.parametrize(
    "text",
    (
        *("synchronize()", "copy()"),  # of several classes, or a method and a function
        *("sum", "pop", "where"),  # words without parentheses
        *("MemoryError", "sum(x)"),  # Python's
        *(
            "logical_xor",
            "pycuda.no_such_module",
            "nothing.get",
            "x + y",
            "x.nothing()",
        ),
    ),
)
def test_other_texts_are_no_links(names, text):
    assert names.find(text, "streams") is None


def test_the_page_decides(names):
    assert names.find("sum", "arrays") == "pycuda.gpuarray.sum"
    assert names.find("where", "arrays") is None  # a parameter, too
    assert names.find("rfft", "fft") == "pycuda.fft.rfft"
    assert names.find("rfft", "arrays") is None
    for text in ("stream.synchronize()", "mem_alloc", "pop()"):  # may be CuPy's
        assert names.find(text, "from_cupy") is None
    assert names.find("GPUArray", "from_cupy") == "pycuda.gpuarray.GPUArray"


def test_paths_of_chapters_and_programs():
    pages = {"arrays", "examples/nbody", "examples/heat_equation"}
    assert page_of("doc/arrays.rst", pages) == "arrays"
    assert page_of("examples/mpi/heat_equation.py", pages) == "examples/heat_equation"
    for path in ("examples/nobody.py", "doc/arrays.txt", "arrays", "nbody.py"):
        assert page_of(path, pages) is None
