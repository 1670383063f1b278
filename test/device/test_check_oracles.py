"""The checks of races and of uninitialised memory against models in Python.

Random accesses run on the software device, and a model says what it must report: see
race_oracle.py and init_oracle.py.
"""

from pathlib import Path

import pytest

from device.race_oracle import BARRIER, GLOBAL, SHARED, Access, Case, races
from support.child import run_child
from support.compilers import needs_nvcc

pytestmark = needs_nvcc

HERE = Path(__file__).resolve().parent


def result(name, words, seed, cases, threads=1):
    """Run a model's cases with these words of PYCUDA_CHECK; return the last line."""
    done = run_child(
        f"import sys\nsys.path.insert(0, {str(HERE)!r})\n"
        f"import {name}\n{name}.main({seed}, {cases})",
        PYCUDA_DRIVER="emulator",
        PYCUDA_CHECK=words,
        PYCUDA_EMULATOR_THREADS=str(threads),
    )
    lines = done.stdout.strip().splitlines()
    return lines[-1], "\n".join(lines[:3])


@pytest.mark.parametrize(
    "name, words", [("race_oracle", "race"), ("init_oracle", "init")]
)
@pytest.mark.parametrize("seed, threads", [(11, 1), (12, 2)])
def test_reports_are_those_of_the_model(name, words, seed, threads):
    last, first = result(name, words, seed, 250, threads)
    assert last.startswith("250 cases") and last.endswith("wrong: 0"), first


@pytest.mark.parametrize(
    "name, words", [("race_oracle", "init"), ("init_oracle", "race")]
)
def test_without_the_check_the_model_disagrees(name, words):
    last, _ = result(name, words, 11, 40)
    assert not last.endswith("wrong: 0")


def test_the_model_of_races():
    store = Access(SHARED, writes=True, warp_step=32)
    load = Access(SHARED, base=1, warp_step=32)
    assert races(Case(1, 2, (store, load))) == (True, True)
    assert races(Case(1, 2, (store, Access(BARRIER), load))) == (False, False)
    assert races(Case(1, 1, (store, load))) == (False, False)
    wide = Access(GLOBAL, writes=True, lane_step=1, block_step=32)
    assert races(Case(2, 1, (wide,))) == (False, False)
    assert races(Case(2, 1, (wide, Access(GLOBAL)))) == (True, True)
    assert races(Case(1, 1, (Access(SHARED, writes=True, lane_step=0),))) == (
        True,
        True,
    )
