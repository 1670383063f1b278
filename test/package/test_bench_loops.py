"""The comparison of the software device with plain loops. Speeds are not tested."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.compilers import needs_nvcc

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import bench_loops  # noqa: E402


def row(kernel, threads, ours):
    return {"kernel": kernel, "threads": threads, "ours_s": ours}


def test_scaling_is_against_the_first_number_of_threads():
    rows = [row("a", 1, 4.0), row("b", 1, 1.0), row("a", 2, 2.0), row("b", 2, 0.5)]
    scaled = bench_loops.with_scaling(rows)
    assert [r["scaling"] for r in scaled] == [1, 1, 2, 2]


def test_results_that_differ_end_the_program():
    bench_loops.compare("k", [[1.0, 2.0]], [[1.0, 2.001]])
    with pytest.raises(SystemExit):
        bench_loops.compare("k", [[1.0, 2.0]], [[1.0, 2.1]])


@needs_nvcc
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_the_program(tmp_path):
    out = tmp_path / "out.json"
    command = [sys.executable, BENCH / "bench_loops.py", "--quick", "--json", out]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    rows = json.loads(out.read_text())["rows"]
    assert [r["threads"] for r in rows] == [1] * 5 + [2] * 5
    assert {r["kernel"] for r in rows} == {
        "vector_add",
        "matmul",
        "nbody",
        "reduction",
        "black_scholes",
    }
    assert all(r["ours_s"] > 0 and r["loop_s"] > 0 for r in rows)
