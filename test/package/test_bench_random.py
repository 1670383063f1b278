"""The benchmark of random numbers runs, and its tables have all rows."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.curand import needs_curand

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import bench_random  # noqa: E402


def test_the_report_has_a_dash_for_what_a_peer_lacks():
    result = {
        "device": "somewhere",
        "versions": {"pycuda": "1", "torch": "2"},
        "missing": {"cupy": "not installed"},
        "streaming": [
            {"title": "uniform", "size": 1000, "GB/s": {"torch": 3.25}},
            {"title": "normal", "size": 2000, "GB/s": {"torch": 3, "pycuda": 4}},
        ],
        "states": [{"title": "making", "ns": 2_500_000}],
    }
    lines = bench_random.report(result).splitlines()
    assert any(line.split() == ["uniform", "1,000", "-", "3.2"] for line in lines)
    assert any(line.split() == ["normal", "2,000", "4.0", "3.0"] for line in lines)
    assert any(line.split() == ["making", "2.50"] for line in lines)
    assert lines[-1] == "cupy: not installed"


def test_a_size_must_be_positive(capsys):
    with pytest.raises(SystemExit):
        bench_random.main(["--most", "0"])
    assert "--most must be above 0" in capsys.readouterr().err


@needs_curand
@pytest.mark.gpu
def test_a_whole_run(tmp_path):
    path = tmp_path / "result.json"
    options = ["--quick", "--most", "2000", "--json", str(path)]
    done = subprocess.run(
        [sys.executable, str(BENCH / "bench_random.py"), *options],
        capture_output=True,
        text=True,
        timeout=900,
        env={**os.environ, "PYTHONPATH": str(BENCH.parent)},
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(path.read_text())
    measured = {row["case"] for row in result["streaming"] if "pycuda" in row["GB/s"]}
    assert measured == set(bench_random.CASES) - {"normal-default"}
    assert {row["size"] for row in result["streaming"]} == {2000}
    assert all(
        row["GB/s"]["pycuda"] > 0
        for row in result["streaming"]
        if "pycuda" in row["GB/s"]
    )
    assert [row["case"] for row in result["states"]] == list(bench_random.STATES)
    assert all(row["ns"] > 0 for row in result["states"])
