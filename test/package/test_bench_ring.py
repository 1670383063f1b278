"""The benchmark of the ring of launches runs. Speeds are not tested."""

import json
import sys
from pathlib import Path

import pytest

from support import cc

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import bench_ring  # noqa: E402

pytestmark = pytest.mark.skipif(not cc.compilers(), reason="needs a C compiler")


def test_it_measures_each_case(tmp_path, capsys):
    bench_ring.main(["--quick", "--json", str(tmp_path / "ring.json")])
    text = capsys.readouterr().out
    result = json.loads((tmp_path / "ring.json").read_text())
    assert [row["title"] for row in result["rows"]] == list(bench_ring.CASES)
    for row in result["rows"]:
        assert row["title"] in text
        assert 0 < row["ours"]["min"] <= row["ours"]["median"]
