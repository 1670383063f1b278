"""Random programs: pycuda.fuse changes no bit of any result."""

import pytest

from pycuda.fuse import _code, _group as group
from support.fuse_programs import compare

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::pycuda.driver.PyCUDAWarning"),
]

PROGRAMS = 240
PART = 60


@pytest.mark.parametrize("first", range(0, PROGRAMS, PART))
def test_random_programs_have_the_same_bits(ctx, first):
    different = [compare(seed) for seed in range(first, first + PART)]
    assert [each for each in different if each is not None] == []


def test_random_programs_with_whole_words(ctx, monkeypatch):
    monkeypatch.setattr(_code, "WORDS_FROM", 1)
    different = [compare(seed) for seed in range(PROGRAMS, PROGRAMS + PART)]
    assert [each for each in different if each is not None] == []


def test_the_comparison_finds_a_wrong_plan(ctx, monkeypatch):
    """Values are computed after their inputs changed: programs must notice."""
    monkeypatch.setattr(group.Plan, "_before_writes", lambda *_: None)
    assert any(compare(seed) is not None for seed in range(PROGRAMS))
