"""bench_wide.py: its rows run, and its verdicts can be bad ones."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import bench_wide  # noqa: E402
import wide  # noqa: E402


def record(ours, cupy=None, torch=None, size=2**22, **more):
    seconds = {"ours": ours, "cupy": cupy, "torch": torch}
    seconds = {name: value for name, value in seconds.items() if value is not None}
    return {"name": "row", "size": size, "seconds": seconds, "errors": {}, **more}


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        (record(1.0, 2.0, 0.98), ""),
        (record(1.0, 2.0, 0.96), "behind"),
        (record(1.0, 0.99, size=2**14), "behind"),
        (record(1.0, 1.01, size=2**14), ""),
        (record(1.0), ""),
        (record(1.0, 2.0, equal=False), "differs"),
        (record(1.0, 2.0, equal=True), ""),
        (record(None, 2.0), "fails"),
    ],
)
def test_verdict(given, verdict):
    bench_wide.judge(given, 2**14, {})
    assert given["verdict"] == verdict


def test_share_of_a_copy():
    given = record(1.0, moved=3.0)
    bench_wide.judge(given, 2**14, {2**22: 4.0})
    assert given["copy"] == 0.75


def test_tables_mark_a_row_that_is_behind():
    rows = [
        record(2e-5, 1e-5, size=1024, topic="sorting", verdict="behind"),
        record(2e-3, 3e-3, 4e-3, size=4096, topic="sorting", verdict=""),
    ]
    lines = bench_wide.rst({"rows": rows}).splitlines()
    assert lines[0] == "Sorting:"
    assert lines[5].split() == [
        "``row``",
        "**20.0**",
        "10.0",
        "2,000",
        "3,000",
        "4,000",
    ]
    assert len(set(map(len, (lines[2], lines[4], lines[6])))) == 1


def test_results_are_compared():
    np = pytest.importorskip("numpy")

    class Package:
        def host(self, array):
            return array

    packages = {"ours": Package(), "cupy": Package(), "torch": Package()}

    def compare(ours, theirs):
        return bench_wide.compare({"ours": ours, "cupy": theirs}, packages)

    ones = np.ones(4)
    assert compare(ones, ones) is True
    assert compare(ones, ones * 1.1) is False
    assert compare(ones, np.ones(5)) is False
    assert compare((ones, ones), (ones, ones * 2)) is False
    assert bench_wide.compare({"ours": ones}, packages) is None
    results = {"ours": ones, "cupy": ones * 2, "torch": ones}
    assert bench_wide.compare(results, packages) is True


def test_large_results_are_not_compared(monkeypatch):
    """A run of large sizes only would copy gigabytes to the host for each row."""
    assert bench_wide.compared_size([2**28, 2**14]) == 2**14
    assert bench_wide.compared_size([2**22]) == 2**22
    assert bench_wide.compared_size([2**28, 2**23]) is None
    checked = []

    class Package:
        version, device = "1", "a device"

        def forget(self):
            pass

    def measure(row, packages, data, size, args, check):
        if row.name != "copy":
            checked.append((size, check))
        return {"name": row.name, "size": size, "seconds": {"ours": 1.0}, "moved": 1.0}

    monkeypatch.setattr(bench_wide, "start", lambda args: ({"ours": Package()}, {}))
    monkeypatch.setattr(bench_wide, "measure", measure)
    rows = [("shapes", wide.Row("roll", "roll(x)"))]
    monkeypatch.setattr(bench_wide, "selected", lambda args: (rows, {"shapes": {}}))
    for sizes in ([2**28], [2**14, 2**28]):
        bench_wide.run(SimpleNamespace(sizes=sizes))
    assert checked == [(2**28, False), (2**14, True), (2**28, False)]


def test_a_row_whose_result_differs_or_fails():
    np = pytest.importorskip("numpy")

    class Package:
        def host(self, array):
            return array

    def check(ours, theirs):
        texts = wide.Row("row", ours="f(x)", cupy="g(x)")
        calls = {"ours": (ours, 1), "cupy": (theirs, 1)}
        given = record(1.0, 2.0)
        packages = {"ours": Package(), "cupy": Package()}
        bench_wide.check_results(texts, calls, packages, given)
        return given

    assert check(lambda: np.ones(3), lambda: np.ones(3))["equal"] is True
    assert check(lambda: np.ones(3), lambda: np.zeros(3))["equal"] is False
    assert "ZeroDivision" in check(lambda: 1 / 0, lambda: 0)["errors"]["comparison"]
    assert bench_wide.has_result("x == y")
    assert not bench_wide.has_result("x += y")
    assert not bench_wide.has_result("v[i] = y")


def test_texts_of_every_row():
    topics, data = wide.load(wide.topics())
    names = set()
    for topic, rows in topics.items():
        for row in rows:
            assert "ours" in row.texts(), (topic, row.name)
            for text in row.texts().values():
                compile(text, text, "exec")
            assert row.name not in names, f"two rows are named {row.name!r}"
            names.add(row.name)
    assert len(names) >= 70
    assert set(data) == set(topics)
    assert {"x", "y", "m", "i", "X"} <= set(wide.COMMON)


def test_data_of_a_topic_hide_common_data():
    class Package:
        def make(self, expression, size, known):
            return (expression, size)

    data = bench_wide.Data(Package(), {"sorting": {"x": "ga.arange(n)"}}, 64)
    assert data.get("x") == (wide.COMMON["x"], 64)
    data.topic = "sorting"
    assert data.get("x") == ("ga.arange(n)", 64)
    assert data.get("no such name") is None
    data.drop("sorting")
    assert len(data.arrays) == 1


@pytest.mark.gpu
def test_a_run(tmp_path):
    path = tmp_path / "result.json"
    options = "--sizes 256 --rounds 1 --ms 0.1 --peers --topics elementwise shapes"
    done = subprocess.run(
        [sys.executable, BENCH / "bench_wide.py", *options.split(), "--json", path],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": str(BENCH.parent)},
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(path.read_text())
    assert [r["name"] for r in result["rows"] if r["verdict"] == "fails"] == []
    assert "roll" in done.stdout
