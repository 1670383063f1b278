"""The planted programs, and what the checks of the software device find in them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from planted.program import KINDS, programs
from pycuda._compile import nvrtc

PAGE = Path(__file__).parents[2] / "doc" / "when_something_goes_wrong.rst"
RUN = Path(__file__).with_name("run.py")


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_ten_programs(kind):
    of_kind = [program for program in programs() if program.kind == kind]
    assert len(of_kind) == 10
    for program in of_kind:
        compile(program.right, program.name, "exec")
        assert program.right != program.faulty
        assert program.right.count("\n") == program.faulty.count("\n")
        assert program.marked("FAULT", program.name), program.name
        words = re.match(r'"""([^"]+)"""', program.faulty)
        assert words and words[1].endswith("."), program.name


@pytest.fixture
def source():
    return """
    __global__ void f(int *x) { x[threadIdx.x] = 1; }
    """


def test_checked_programs_record_the_lines_of_their_source(monkeypatch, source):
    from pycuda import compiler

    monkeypatch.setenv("PYCUDA_CHECK", "memory")
    options = {"target": "ptx", "arch": "sm_75", "compiler": "nvrtc"}
    assert b".loc" in compiler.compile(source, **options)
    monkeypatch.delenv("PYCUDA_CHECK")
    assert b".loc" not in compiler.compile(source, **options)


@pytest.mark.software(why="a GPU checks nothing")
@pytest.mark.skipif(nvrtc.find() is None, reason="needs NVRTC, which is not installed")
def test_the_checks_find_each_error_and_report_no_other():
    done = subprocess.run(
        [sys.executable, RUN], check=False, capture_output=True, text=True, timeout=300
    )
    assert done.stdout.splitlines()[-2:] == [
        "line of the launch 40 of 40, of the memory 17 of 17",
        "found 60 of 60, right line 60 of 60, false 0 of 60",
    ], done.stdout
    assert done.returncode == 0
    for count in done.stdout.splitlines()[-2:]:
        assert f"    {count}\n" in PAGE.read_text()


@pytest.mark.software(why="a GPU checks nothing")
@pytest.mark.skipif(nvrtc.find() is None, reason="needs NVRTC, which is not installed")
def test_the_count_is_not_always_good():
    """A program without its error is not found; one with another error is false."""
    done = subprocess.run(
        [sys.executable, RUN, "--exchange", "memory/no_guard"],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.endswith("found 0 of 1, right line 0 of 1, false 1 of 1\n")
    assert done.returncode == 1
