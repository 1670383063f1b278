"""Random programs: pycuda.fuse changes no bit of any result."""

import pytest

from pycuda.fuse import _group as group, _steps
from support import fuse_programs
from support.fuse_programs import (
    compare,
    compare_all,
    program,
    reduced,
    small_arrays_as_large_ones,
)

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::pycuda.driver.PyCUDAWarning"),
]

PROGRAMS = 240
PART = 60


@pytest.mark.parametrize("first", range(0, PROGRAMS, PART))
def test_random_programs_have_the_same_bits(ctx, first):
    assert compare_all(range(first, first + PART)) == []


def test_random_programs_with_the_kernels_of_large_arrays(ctx):
    with small_arrays_as_large_ones():
        assert compare_all(range(PROGRAMS, PROGRAMS + PART)) == []


def wrong_plans(monkeypatch):
    """Let plans compute values after their inputs changed."""
    monkeypatch.setattr(group.Plan, "_before_writes", lambda *_: None)


def test_the_comparison_finds_a_wrong_plan(ctx, monkeypatch):
    wrong_plans(monkeypatch)
    found = compare_all(range(PROGRAMS + PART))
    assert found
    text = compare(found[0])
    assert program(found[0])[0] in text
    few = reduced(found[0])
    assert len(few.splitlines()) < len(text.splitlines())
    assert few.splitlines()[0] == text.splitlines()[0]


def test_many_programs_are_compiled_in_few_modules(ctx, monkeypatch):
    """The kernels of compare_all are those that fuse itself would compile."""
    compiled = []
    real = fuse_programs.compile_text
    monkeypatch.setattr(
        fuse_programs, "compile_text", lambda text: compiled.append(text) or real(text)
    )
    alone = []
    plain = _steps._functions
    monkeypatch.setattr(
        _steps, "_functions", lambda sources: alone.append(sources) or plain(sources)
    )
    assert compare_all(range(20)) == []
    assert 1 <= len(compiled) <= 4
    assert sum(text.count("__global__") for text in compiled) > 10
    assert alone == []
