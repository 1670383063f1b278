"""PyTorch and CuPy in one process with pycuda.autoinit, in every order and thread, and
the programs of the page about other libraries.
"""

import importlib.util
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from support.child import run_child
from support.compilers import needs_nvcc
from support.pages import blocks, captioned, plain

PROGRAM = Path(__file__).parents[1] / "support" / "two_libraries.py"

#: The library that ends first: all three cases for each library and thread.
ENDINGS = ["nothing", "ours", "theirs", "nothing"]
CASES = [
    (library, order, place, ENDINGS[i % 4])
    for library in ("torch", "cupy")
    for i, (order, place) in enumerate(product(("before", "after"), ("main", "worker")))
]


@pytest.mark.gpu
@pytest.mark.hardware(why="PyTorch and CuPy work on NVIDIA's driver only")
@pytest.mark.parametrize(("library", "order", "place", "ending"), CASES)
def test_in_one_process(library, order, place, ending):
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    done = subprocess.run(
        [sys.executable, str(PROGRAM), library, order, place, ending],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "done"), done.stderr
    assert done.stderr == ""


# -- the page

PAGE = "other_libraries"
BLOCKS = blocks(PAGE)
THEIRS = ("torch", "cupy", "tensorrt")


def library_of(program):
    """Return the other library that a program needs, or None."""
    return next((name for name in THEIRS if f"import {name}" in program), None)


def check_example(number):
    program, said = BLOCKS[number]
    assert plain(run_child(program).stdout) == plain(said)


def numbers(needs_library):
    return [
        number
        for number, (program, _) in enumerate(BLOCKS)
        if (library_of(program) is not None) == needs_library
    ]


def test_the_page_has_a_program_for_each_library():
    assert [library_of(program) for program, _ in BLOCKS] == [
        "torch", "cupy", None, "torch", None, "tensorrt",
    ]  # fmt: skip


@needs_nvcc
@pytest.mark.gpu
@pytest.mark.parametrize("number", numbers(False))
def test_an_example_without_another_library(number):
    check_example(number)


@needs_nvcc
@pytest.mark.gpu
@pytest.mark.hardware(why="PyTorch, CuPy and TensorRT work on NVIDIA's driver only")
@pytest.mark.parametrize("number", numbers(True))
def test_an_example_with_another_library(number):
    name = library_of(BLOCKS[number][0])
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    check_example(number)


# -- the page for users of CuPy

#: Its programs with CuPy, and what they print.
FROM_CUPY = {
    "axpy_cupy.py": "[1. 3. 5. 7.] [ 1. 10. 29. 58.] True",
    "together_cupy.py": "[1. 1. 1. 1.] [ 0. 10. 20. 30.]",
}


def test_both_programs_of_the_page_for_users_of_cupy_print_the_same():
    ((_, said),) = blocks("from_cupy")
    assert said.strip() == FROM_CUPY["axpy_cupy.py"]
    assert set(captioned("from_cupy")) == set(FROM_CUPY)


@needs_nvcc
@pytest.mark.gpu
@pytest.mark.hardware(why="CuPy works on NVIDIA's driver only")
@pytest.mark.parametrize("name", FROM_CUPY)
def test_a_program_of_the_page_for_users_of_cupy(name):
    if importlib.util.find_spec("cupy") is None:
        pytest.skip("cupy is not installed")
    program = captioned("from_cupy")[name]
    assert run_child(program).stdout.strip() == FROM_CUPY[name]
