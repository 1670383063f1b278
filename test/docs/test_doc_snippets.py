"""The examples of the chapters in doc/ run and print the output on the page."""

import subprocess
import sys

import pytest

from support.child import run_child
from support.compilers import needs_nvcc
from support.pages import DOC, blocks, literal_block, plain

#: Each page, and the least number of its examples.
PAGES = {
    "array_api": 1,
    "arrays": 2,
    "autotuning": 1,
    "coming_from_pycuda": 1,
    "driver/contexts": 1,
    "driver/devices": 1,
    "driver/enums": 1,
    "driver/errors": 1,
    "driver/launches": 1,
    "driver/modules": 1,
    "fft": 1,
    "from_cupy": 1,
    "from_numba": 1,
    "fuse": 4,
    "graphs": 4,
    "index": 1,
    "interop": 5,
    "linking": 3,
    "memory": 4,
    "memory_pools": 1,
    "metaprogramming": 2,
    "mpi": 1,
    "other_programs": 1,
    "profiling": 2,
    "random": 3,
    "software_device": 4,
    "sparse": 4,
    "stream_memory": 5,
    "streams": 1,
    "textures": 3,
    "testing": 1,
    "threads": 3,
    "tutorial/arrays": 3,
    "tutorial/first_kernel": 3,
    "tutorial/grid": 2,
    "tutorial/memory": 4,
    "tutorial/shared_memory": 3,
    "tutorial/streams": 3,
    "utilities": 3,
}
#: Pages that other tests run, or whose code is not a program.
ELSEWHERE = {
    "compiling": "test_doc_compiling.py",
    "contributing": "test_recipes.py",
    "coverage": "test_doc_sessions.py",
    "internals": "the way of one call, in pieces",
    "kernel_costs": "test_doc_kernel_costs.py",
    "other_libraries": "test_other_libraries.py",
    "pytest": "test_doc_notebooks.py",
    "tutorial/program": "test_doc_sessions.py",
    "precompiling": "test_doc_precompiling.py",
    "when_something_goes_wrong": "test_doc_errors.py",
}
EXAMPLES = [(page, number) for page in PAGES for number in range(len(blocks(page)))]


@pytest.mark.parametrize("page", PAGES)
def test_the_page_has_examples(page):
    assert len(blocks(page)) >= PAGES[page]


def test_no_page_with_a_program_is_left_out():
    pages = {
        str(path.relative_to(DOC).with_suffix(""))
        for path in DOC.rglob("*.rst")
        if ".. code-block:: python" in path.read_text()
    }
    assert pages == {*PAGES, *ELSEWHERE}


@needs_nvcc
@pytest.mark.gpu
@pytest.mark.parametrize(("page", "number"), EXAMPLES)
def test_an_example_prints_what_the_page_says(page, number):
    program, said = blocks(page)[number]
    printed = run_child(program).stdout
    assert plain(printed) == plain(said)


IN_THE_CONTEXT = """
def test_it():
    assert pycuda.driver.Context.get_current() is not None
"""


@pytest.mark.gpu
@pytest.mark.parametrize("with_fixture", [True, False])
def test_the_fixture_for_pytest(tmp_path, with_fixture):
    fixture = literal_block("utilities", "As a fixture of pytest")
    program = tmp_path / "test_program.py"
    imports = "import pytest, pycuda.driver, pycuda.tools\n"
    program.write_text(imports + fixture * with_fixture + IN_THE_CONTEXT)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, program], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert ("1 passed" if with_fixture else "1 failed") in done.stdout, done.stdout
