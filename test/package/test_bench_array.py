"""The array benchmark runs, and its tables have all rows. Speeds are not tested."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import bench_array  # noqa: E402

needs_c = pytest.mark.skipif(shutil.which("cc") is None, reason="the floor needs cc")


def test_sizes():
    assert bench_array.sizes_up_to(1000) == [1000]
    assert bench_array.sizes_up_to(20_000) == [1000, 10_000, 20_000]


def test_the_report_has_a_dash_for_what_a_peer_lacks():
    result = {
        "device": "somewhere",
        "versions": {"pycuda": "1", "torch": "2"},
        "missing": {"cupy": "not installed"},
        "small": [
            {
                "title": "x + y",
                "ns": {"floor": 100, "pycuda": 250},
                "over": 150,
                "bound": "floor + 149",
                "verdict": "MISS",
            }
        ],
        "streaming": [{"title": "fill", "size": 1000, "GB/s": {"torch": 3.25}}],
    }
    lines = bench_array.report(result).splitlines()
    assert any(
        " ".join(line.split()) == "x + y 100 250 - 150 floor + 149 MISS"
        for line in lines
    )
    assert any(line.split() == ["fill", "1,000", "-", "3.2"] for line in lines)
    assert lines[-1] == "cupy: not installed"


@needs_c
@pytest.mark.gpu
def test_a_whole_run(tmp_path):
    path = tmp_path / "result.json"
    options = ["--rounds", "1", "--batches", "1", "--most", "2000"]
    done = subprocess.run(
        [sys.executable, str(BENCH / "bench_array.py"), *options, "--json", str(path)],
        capture_output=True,
        text=True,
        timeout=900,
        env={**os.environ, "PYTHONPATH": str(BENCH.parent)},
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(path.read_text())
    assert [row["case"] for row in result["small"]] == [
        c.name for c in bench_array.CASES
    ]
    assert all(row["ns"]["pycuda"] > 0 for row in result["small"])
    assert {row["verdict"] for row in result["small"]} <= {"pass", "MISS"}
    assert len(result["streaming"]) == 2 * len(bench_array.STREAMING)
    assert all(row["GB/s"]["pycuda"] > 0 for row in result["streaming"])
