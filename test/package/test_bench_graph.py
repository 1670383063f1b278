"""The benchmark of graphs runs, and its table has all rows."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support import cc
from support.compilers import needs_nvcc

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import bench_graph  # noqa: E402
import common  # noqa: E402


@pytest.mark.parametrize("compiler", cc.compilers())
def test_floor_compiles_without_a_warning(compiler, tmp_path):
    source, include = str(BENCH / "floor_graph.c"), str(common.C_SOURCE)
    flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-Wpedantic"]
    output = str(tmp_path / "floor_graph")
    cc.must(cc.run([compiler, *flags, "-I", include, source, "-o", output, "-ldl"]))


def test_the_verdict():
    rows = [
        {"case": "operations", "ours": {"median": 2_000_000}, "verdict": None},
        {"case": "replay_1", "ours": {"median": 2}, "verdict": "pass"},
    ]
    line, good = bench_graph.verdict({"faster": 5.5, "rows": rows})
    assert good
    assert "5.5 times" in line
    assert "2,000 ns" in line
    line, good = bench_graph.verdict({"faster": 4.9, "rows": rows})
    assert not good
    assert "MISS" in line
    rows[1]["verdict"] = "MISS"
    assert not bench_graph.verdict({"faster": 9, "rows": rows})[1]


def test_the_matrix_is_the_one_of_the_floor(monkeypatch):
    monkeypatch.setattr(bench_graph, "SIDE", 3)
    indptr, indices, data, shape = bench_graph.poisson()
    assert shape == (9, 9)
    assert indices[indptr[4] : indptr[5]].tolist() == [1, 3, 4, 5, 7]
    assert indices[indptr[3] : indptr[4]].tolist() == [0, 3, 4, 6]
    assert data[: indptr[1]].tolist() == [4, -1, -1]


@needs_nvcc
@pytest.mark.gpu
def test_a_whole_run(tmp_path):
    path = tmp_path / "result.json"
    done = subprocess.run(
        [
            sys.executable,
            str(BENCH / "bench_graph.py"),
            *("--quick", "--no-peers", "--json", str(path)),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(BENCH.parent)},
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(path.read_text())
    measured = {row["case"] for row in result["rows"]}
    assert measured >= {case.name for case in bench_graph.CASES} - {"cg"}
    assert all(row["ours"]["median"] > 0 for row in result["rows"])
