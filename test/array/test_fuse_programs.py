"""Random programs: pycuda.fuse changes no bit of any result."""

import pytest

from pycuda.fuse import _code, _group as group, _launch
from support import fuse_programs
from support.fuse_programs import compare, compare_all, program, reduced

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


def test_random_programs_with_whole_words(ctx, monkeypatch):
    monkeypatch.setattr(_code, "WORDS_FROM", 1)
    different = [compare(seed) for seed in range(PROGRAMS, PROGRAMS + PART)]
    assert [each for each in different if each is not None] == []


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
    one = _launch._function
    monkeypatch.setattr(
        _launch,
        "_function",
        lambda text, *rest: alone.append(text) or one(text, *rest),
    )
    assert compare_all(range(20)) == []
    assert 1 <= len(compiled) <= 4
    assert sum(text.count("__global__") for text in compiled) > 10
    assert alone == []
