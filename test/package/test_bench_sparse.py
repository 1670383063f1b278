"""The sparse benchmark runs, its matrices match their names, and its table is complete.
Speeds are not tested."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import bench_sparse  # noqa: E402


def dense(matrix):
    indptr, indices, data, shape = matrix
    result = np.zeros(shape)
    np.add.at(result, (np.repeat(np.arange(shape[0]), np.diff(indptr)), indices), data)
    return result


def test_poisson():
    line = 2 * np.eye(5) - np.eye(5, k=1) - np.eye(5, k=-1)
    one = np.eye(5)
    plane = np.kron(line, one) + np.kron(one, line)
    found = bench_sparse.poisson2d(25, "float64")
    np.testing.assert_array_equal(dense(found), plane)
    space = np.kron(plane, one) + np.kron(np.eye(25), line)
    found = bench_sparse.poisson3d(125, "float64")
    np.testing.assert_array_equal(dense(found), space)


@pytest.mark.parametrize("name", bench_sparse.MATRICES)
def test_matrices(name):
    indptr, indices, data, shape = bench_sparse.MATRICES[name][1](900, "float32")
    assert len(indptr) == shape[0] + 1 and indptr[0] == 0
    assert len(indices) == len(data) == indptr[-1]
    assert (np.diff(indptr) > 0).all()
    assert indices.min() >= 0 and indices.max() < shape[1]
    assert data.dtype == np.float32


def test_the_power_law_has_a_long_row_and_common_columns():
    indptr, indices, _, shape = bench_sparse.power_law(20_000, "float32")
    lengths = np.diff(indptr)
    assert lengths.max() == 1000 > 50 * np.median(lengths)
    assert np.mean(indices < shape[1] // 100) > 0.5


def test_bytes():
    assert bench_sparse.bytes_of(5, (2, 3), "float32") == 5 * 8 + 3 * 4 + 5 * 4
    assert bench_sparse.bytes_of(5, (2, 3), "float64") == 5 * 12 + 3 * 4 + 5 * 8


def test_a_wrong_product_is_found():
    _, _, y, _ = bench_sparse.generated("random", 100, "float64")
    bench_sparse.check(y, "random", 100, "float64")
    with pytest.raises(RuntimeError, match="wrong"):
        bench_sparse.check(y * (1 + 1e-6), "random", 100, "float64")


def test_the_report_has_a_dash_for_what_is_missing():
    row = {"matrix": "banded", "dtype": "float32", "shape": [100, 100], "nnz": 3000}
    row |= {"copy GB/s": 200.0, "GB/s": {"csr": 150.0}, "percent": {"csr": 75.0}}
    other = {**row, "matrix": "random", "GB/s": {"csr": 50.0, "torch": 25.0}}
    other["percent"] = {"csr": 25.0, "torch": 12.5}
    result = {"device": "somewhere", "missing": {"cupy": "not installed"}}
    result |= {"failed": ["torch, x: no"], "products": [row, other]}
    lines = bench_sparse.report(result).splitlines()
    words = ["banded,", "float32", "100", "3,000", "200.0", "150.0", "(75%)", "-"]
    assert any(line.split() == words for line in lines)
    assert lines[-2:] == ["cupy: not installed", "failed: torch, x: no"]


@pytest.mark.gpu
def test_a_whole_run(tmp_path):
    path = tmp_path / "result.json"
    options = ["--rounds", "1", "--batches", "1", "--rows", "200", "--json", str(path)]
    done = subprocess.run(
        [sys.executable, str(BENCH / "bench_sparse.py"), *options],
        capture_output=True,
        text=True,
        timeout=900,
        env={**os.environ, "PYTHONPATH": str(BENCH.parent)},
    )
    assert done.returncode == 0, done.stderr + done.stdout
    result = json.loads(path.read_text())
    assert len(result["products"]) == 2 * len(bench_sparse.MATRICES)
    for row in result["products"]:
        wanted = {"gathers", "csr", "coordinate"}
        if row["matrix"] in bench_sparse.SYMMETRIC:
            wanted.add("packeted")
        assert wanted <= set(row["GB/s"])
        assert all(speed > 0 for speed in row["GB/s"].values())
