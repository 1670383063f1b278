"""The cost of the checks of the software device. Speeds are not tested."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from support.compilers import needs_nvcc

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import bench_checks  # noqa: E402


def result(monkeypatch, seconds, **more):
    """The result of a run in which the processes measure these seconds, by words."""
    left = {words: iter(times) for words, times in seconds.items()}
    monkeypatch.setattr(
        bench_checks, "measured", lambda args, words: {"sum": next(left[words])}
    )
    words = [words for words in seconds if words]
    args = {"words": words, "rounds": 1, "processes": 2, "threads": 1, **more}
    return bench_checks.run(SimpleNamespace(**args))


def test_the_least_time_of_the_processes_of_each_list_counts(monkeypatch):
    got = result(monkeypatch, {"": [3.0, 2.0], "memory,sync": [2.5, 9.0]})
    (row,) = got["rows"]
    assert (row["s"], row["plain_s"], row["cost"]) == (2.5, 2.0, 1.25)


@pytest.mark.parametrize(
    "words, seconds, holds",
    [
        ("memory,sync", 1.5, True),
        ("memory,sync", 1.51, False),
        ("all", 4.0, True),
        ("all", 4.1, False),
        ("race", 9.0, True),  # has no bound
    ],
)
def test_bounds(monkeypatch, words, seconds, holds):
    got = result(monkeypatch, {"": [1.0, 1.0], words: [seconds, seconds]})
    assert [row["holds"] for row in got["rows"]] == [holds]
    assert ("MISS" in bench_checks.report(got)) is not holds


@needs_nvcc
def test_the_program(tmp_path):
    out = tmp_path / "out.json"
    command = [sys.executable, BENCH / "bench_checks.py", "--quick", "--json", out]
    command += ["--rounds", "2", "--processes", "1", "--words", "sync"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    rows = json.loads(out.read_text())["rows"]
    assert [row["words"] for row in rows] == ["sync"] * 5
    assert all(row["s"] > 0 and row["plain_s"] > 0 for row in rows)
