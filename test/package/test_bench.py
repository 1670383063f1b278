"""The benchmarks run and judge rightly. Their speeds are not tested.

Each program runs once, as small as possible. Its result must have all rows. The numbers
of doc/performance.rst are computed and judged by the functions that other tests call.
"""

import gc
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from support import cc
from support.compilers import needs_nvcc
from support.curand import needs_curand

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import bench_array  # noqa: E402
import bench_checks  # noqa: E402
import bench_compile  # noqa: E402
import bench_emulator  # noqa: E402
import bench_files  # noqa: E402
import bench_fuse  # noqa: E402
import bench_graph  # noqa: E402
import bench_launch  # noqa: E402
import bench_loops  # noqa: E402
import bench_programs  # noqa: E402
import bench_random  # noqa: E402
import bench_ring  # noqa: E402
import bench_sparse  # noqa: E402
import bench_wide  # noqa: E402
import common  # noqa: E402
import wide  # noqa: E402

# -- the programs ----------------------------------------------------------------------


def run(name, tmp_path, *options, load=json.loads):
    """Run a benchmark. Return its result and its output."""
    path = tmp_path / "result.json"
    done = subprocess.run(
        [sys.executable, BENCH / f"{name}.py", *options, "--json", path],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(BENCH.parent)},
        timeout=900,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return load(path.read_text()), done.stdout


needs_c = pytest.mark.skipif(not cc.compilers(), reason="needs a C compiler")


@needs_c
@pytest.mark.gpu
def test_launch(tmp_path):
    result, said = run("bench_launch", tmp_path, "--quick", "--no-peers")
    measured = {row["case"] for row in result["rows"]}
    assert measured == {case.name for case in bench_launch.CASES} | {"import"}
    assert not result["missing"]
    for row in result["rows"]:
        assert row["ours"]["min"] > 0
        assert row["title"] in said


@needs_c
@pytest.mark.gpu
def test_array(tmp_path):
    options = ("--rounds", "1", "--batches", "1", "--most", "2000")
    result, _ = run("bench_array", tmp_path, *options)
    names = [case.name for case in bench_array.CASES]
    assert [row["case"] for row in result["small"]] == names
    assert all(row["ns"]["pycuda"] > 0 for row in result["small"])
    assert {row["verdict"] for row in result["small"]} <= {"pass", "MISS"}
    assert len(result["streaming"]) == 2 * len(bench_array.STREAMING)
    assert all(row["GB/s"]["pycuda"] > 0 for row in result["streaming"])


@needs_nvcc
@pytest.mark.gpu
def test_checks(tmp_path):
    options = ("--quick", "--rounds", "2", "--processes", "1", "--words", "sync")
    result, _ = run("bench_checks", tmp_path, *options)
    assert [row["words"] for row in result["rows"]] == ["sync"] * 5
    assert all(row["s"] > 0 and row["plain_s"] > 0 for row in result["rows"])


@needs_nvcc
@pytest.mark.gpu
def test_compile(tmp_path):
    result, said = run("bench_compile", tmp_path, "--quick")
    measured = {row["case"] for row in result["rows"]}
    assert {case.name for case in bench_compile.CASES} <= measured
    assert bench_compile.FIRST_MODULE.name in measured
    assert set(result["missing"]) <= {bench_compile.FIRST.title}
    for row in result["rows"]:
        assert row["ours"]["min"] > 0
        assert row["title"] in said


@needs_nvcc
@pytest.mark.gpu
@pytest.mark.software(why="a benchmark of it")
def test_emulator(tmp_path):
    result, _ = run("bench_emulator", tmp_path, "--quick")
    rows = {row["kernel"]: row for row in result["rows"]}
    assert set(rows) == {"saxpy", "reduction", "matmul", "mandelbrot", "exponentials"}
    for row in rows.values():
        assert row["best"] == pytest.approx(
            row["lane_instructions"] / row["best_s"] / 1e9
        )
    calls = {row["call"]: row["best_s"] for row in result["calls"]}
    assert {"launch", "copy to the device", "copy to the host", "event"} <= set(calls)
    assert min(calls.values()) > 0
    # No lane exits early: all lanes run the whole kernel.
    assert rows["saxpy"]["lane_instructions"] % (1 << 16) == 0
    assert 10 <= rows["saxpy"]["lane_instructions"] >> 16 <= 40


@needs_nvcc
@pytest.mark.gpu
def test_graph(tmp_path):
    result, _ = run("bench_graph", tmp_path, "--quick", "--no-peers")
    measured = {row["case"] for row in result["rows"]}
    assert measured >= {case.name for case in bench_graph.CASES} - {"cg"}
    assert all(row["ours"]["median"] > 0 for row in result["rows"])


@needs_nvcc
@needs_c
def test_programs(tmp_path):
    result, _ = run("bench_programs", tmp_path, "--quick")
    rows = result["rows"]
    kernels, arrays = 12, len(bench_programs.ARRAYS)
    assert [row["threads"] for row in rows] == [1] * (kernels + arrays) + [2] * kernels
    for row in rows:
        assert len(row["seconds"]) >= 2
        assert all(times["wall"] > 0 for times in row["seconds"].values())


def test_programs_notice_a_wrong_result():
    bench_programs.compare("p", [1.0, 2.0], [1.0, 2.001])
    with pytest.raises(SystemExit, match="p: the result differs"):
        bench_programs.compare("p", [1.0, 2.0], [1.0, 2.1])


@needs_nvcc
@needs_c
def test_loops(tmp_path):
    result, _ = run("bench_loops", tmp_path, "--quick")
    rows = result["rows"]
    assert [row["threads"] for row in rows] == [1] * 5 + [2] * 5
    kernels = {"vector_add", "matmul", "nbody", "reduction", "black_scholes"}
    assert {row["kernel"] for row in rows} == kernels
    assert all(row["ours_s"] > 0 and row["loop_s"] > 0 for row in rows)


@needs_curand
@pytest.mark.gpu
def test_random(tmp_path):
    result, _ = run("bench_random", tmp_path, "--quick", "--most", "2000")
    speeds = {row["case"]: row["GB/s"].get("pycuda") for row in result["streaming"]}
    speeds = {case: speed for case, speed in speeds.items() if speed is not None}
    assert set(speeds) == set(bench_random.CASES) - {"normal-default"}
    assert all(speed > 0 for speed in speeds.values())
    assert [row["case"] for row in result["states"]] == list(bench_random.STATES)
    assert all(row["ns"] > 0 for row in result["states"])


@needs_c
@pytest.mark.gpu
def test_ring(tmp_path):
    result, said = run("bench_ring", tmp_path, "--quick")
    assert [row["title"] for row in result["rows"]] == list(bench_ring.CASES)
    for row in result["rows"]:
        assert row["title"] in said
        assert 0 < row["ours"]["min"] <= row["ours"]["median"]


@pytest.mark.gpu
def test_files(tmp_path):
    result, said = run("bench_files", tmp_path, "--quick", "--folder", str(tmp_path))
    assert [row["row"] for row in result["rows"]] == list(bench_files.ROWS)
    for row in result["rows"]:
        assert row["row"] in said
        assert row["ours"] > 0 and row["numpy"] > 0
        if row["row"] != "1 kB":
            slower = min(row["disk"], row["bus"])
            assert row["bound"] == pytest.approx(row["ours"] / slower)
    assert list(tmp_path.iterdir()) == [tmp_path / "result.json"]


@pytest.mark.gpu
def test_sparse(tmp_path):
    options = ("--rounds", "1", "--batches", "1", "--rows", "200")
    result, _ = run("bench_sparse", tmp_path, *options)
    assert len(result["products"]) == 2 * len(bench_sparse.MATRICES)
    for row in result["products"]:
        wanted = {"gathers", "csr", "coordinate"}
        if row["matrix"] in bench_sparse.SYMMETRIC:
            wanted.add("packeted")
        assert wanted <= set(row["GB/s"])
        assert all(speed > 0 for speed in row["GB/s"].values())


@pytest.mark.gpu
def test_wide(tmp_path):
    options = "--sizes 256 --rounds 1 --ms 0.1 --peers --topics elementwise shapes"
    result, said = run("bench_wide", tmp_path, *options.split())
    assert [r["name"] for r in result["rows"] if r["verdict"] == "fails"] == []
    assert "roll" in said


def rows_of(text):
    """Return the rows of a result of bench_fuse."""
    return [json.loads(line) for line in text.splitlines()]


def fuse(tmp_path, *options):
    """Run bench_fuse with the packages that are always there."""
    small = ("--quick", "--packages", "plain,fused")
    return run("bench_fuse", tmp_path, *small, *options, load=rows_of)


@pytest.mark.gpu
def test_fuse(tmp_path):
    rows, said = fuse(tmp_path)
    assert [row["program"] for row in rows] == list(bench_fuse.PROGRAMS)
    assert len(rows) > 20
    for row in rows:
        assert set(row["ms"]) == set(row["first_s"]) == {"plain", "fused"}
        assert row["ms"]["fused"] > 0
        assert not row["fault"]
    assert "softmax" in said


@pytest.mark.gpu
def test_fuse_goes_on_where_a_run_ended(tmp_path):
    fuse(tmp_path, "--programs", "copy")
    rows, said = fuse(tmp_path, "--budget", "0")
    assert [row["program"] for row in rows] == ["copy"]
    assert "the budget is spent" in said
    rows, said = fuse(tmp_path, "--programs", "copy,softmax")
    assert [row["program"] for row in rows] == ["copy", "softmax"]
    assert "the budget is spent" not in said


def test_fuse_knows_its_programs():
    with pytest.raises(SystemExit, match="no such program: cpoy"):
        bench_fuse.chosen(bench_fuse.parsed(["--programs", "copy,cpoy"]))


def fuse_row(**changes):
    """Return a row of bench_fuse: a program of one pass that moves 3000 bytes."""
    ms = {"plain": 3.0, "fused": 1.0, "torch.compile": 2.0}
    row = {"program": "softmax", "size": 256, "bytes": 3000, "ms": ms, "fault": {}}
    return {**row, "first_s": {"fused": 0.5, "torch.compile": 9.0}, **changes}


def test_fuse_compares_with_the_best_and_with_a_copy():
    row = fuse_row()
    assert bench_fuse.ratio(row) == 0.5
    assert bench_fuse.bandwidth(row, {256: 4000}) == 0.75
    assert bench_fuse.bandwidth(row, {}) is None
    assert bench_fuse.bandwidth(fuse_row(program="wave"), {256: 4000}) is None
    assert bench_fuse.ratio(fuse_row(ms={"plain": 3.0})) is None
    text = bench_fuse.table(row, ["plain", "fused", "cupy"], {256: 4000}, {})
    assert text.split()[2:7] == ["3.0000", "1.0000", "-", "0.50", "0.75"]
    assert "9.00 s" in text
    prepared = {("softmax", 256, "torch.compile"): 4.0}
    assert "4.00 s" in bench_fuse.table(row, ["plain"], {}, prepared)


class Peer:
    """A package whose programs take some seconds, or give other results."""

    name = "cupy"

    def __init__(self, seconds=0.0, plus=0.0):
        self.seconds, self.plus = seconds, plus

    def array(self, values):
        return values

    def host(self, array):
        return array

    def synchronize(self):
        pass

    def function(self, program):
        def function(*arrays):
            time.sleep(self.seconds)
            return program.source(np, *arrays) + np.float32(self.plus)

        return function


def measured(package, *options):
    """Return the row of a copy by one package."""
    options = bench_fuse.parsed(["--quick", *options])
    row = bench_fuse.Row(bench_fuse.PROGRAMS["copy"], 256, options)
    return row.measure([package])


def test_fuse_skips_a_peer_that_takes_too_long():
    row = measured(Peer(0.05), "--most", "0.01")
    assert "a call takes" in row["fault"]["cupy"]
    assert "cupy" not in row["ms"]
    row = measured(Peer(30), "--first", "0.05")
    assert "the first call takes more than 0.05 s" in row["fault"]["cupy"]
    assert measured(Peer())["fault"] == {}


def test_fuse_notes_a_result_that_differs():
    assert measured(Peer(plus=0.1))["fault"] == {"cupy": "differs"}
    assert measured(Peer(plus=1e-6))["fault"] == {}


def test_bench_fuse_notices_a_wrong_result():
    right = np.array([1.0, np.nan, 1e-3])
    assert not bench_fuse.differs(right, right + 1e-6, 1e-4)
    assert bench_fuse.differs(right, right + 1e-2, 1e-4)
    assert bench_fuse.differs(right[:2], right, 1e-4)
    assert bench_fuse.differs(np.zeros(3), right, 1e-4)
    assert bench_fuse.differs(right * 1.1e-5, right * 1e-5, 1e-4)
    assert not bench_fuse.differs(np.zeros(3), right, 1e-2, chaotic=0.7)
    assert bench_fuse.differs(np.zeros(3), right, 1e-2, chaotic=0.6)
    assert bench_fuse.bits(right) != bench_fuse.bits(np.nextafter(right, 2))
    assert bench_fuse.bits(np.zeros(1)) != bench_fuse.bits(-np.zeros(1))


def test_each_row_of_bench_wide_is_python_with_a_name_of_its_own():
    topics, data = wide.load(wide.topics())
    rows = [row for rows in topics.values() for row in rows]
    assert len({row.name for row in rows}) == len(rows) >= 70
    assert set(data) == set(topics)
    for row in rows:
        assert "ours" in row.texts(), row.name
        for text in row.texts().values():
            compile(text, text, "exec")


@pytest.mark.parametrize("compiler", cc.compilers())
@pytest.mark.parametrize("floor", ["floor", "floor_compile", "floor_graph"])
def test_floors_compile_without_a_warning(floor, compiler, tmp_path):
    flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
    flags += ["-Wstrict-prototypes", "-Wmissing-prototypes", "-Wvla"]
    source, out = BENCH / f"{floor}.c", tmp_path / floor
    include = ["-I", common.C_SOURCE]
    cc.must(cc.run([compiler, *flags, *include, source, "-o", out, "-ldl"]))


# -- statistics and verdicts -----------------------------------------------------------


def test_summary_of_known_numbers():
    got = common.summary(list(range(100, 0, -1)))
    assert got == {"min": 1, "median": 50.5, "p95": 95}
    assert common.summary([7]) == {"min": 7, "median": 7, "p95": 7}
    # 20 values: rank 19; 21 values: 19.95 goes up to rank 20.
    assert common.summary(list(range(1, 21)))["p95"] == 19
    assert common.summary(list(range(1, 22)))["p95"] == 20
    with pytest.raises(ValueError, match="nothing"):
        common.summary([])


def test_drift_between_rounds_cancels():
    floor = [[1000, 1010, 990], [3000, 3010, 2990], [9000, 9010, 8990]]
    ours = [[ns + 100 for ns in batches] for batches in floor]
    assert common.over_floor(ours, floor) == 100
    # One bad round does not count, although it moves the medians 5000 apart.
    ours[0] = [8000, 8000, 8000]
    assert common.over_floor(ours, floor) == 100


def test_the_lowest_floor_is_chosen_round_by_round():
    a = [[10, 10], [30, 30]]
    b = [[20, 20], [5, 5]]
    assert common.lowest_rounds(a, b) == [[10, 10], [5, 5]]


@pytest.mark.parametrize(
    ("bound", "ours", "holds"),
    [
        (common.Bound(plus=350), 1350, True),
        (common.Bound(plus=350), 1351, False),
        (common.Bound(times=1.5), 1500, True),
        (common.Bound(times=1.5), 1501, False),
        (common.Bound(at_most=200), 200, True),
        (common.Bound(at_most=200), 201, False),
    ],
)
def test_bounds_hold_up_to_their_limit(bound, ours, holds):
    assert bound.holds([[ours]], [[1000]]) is holds


def test_measure_waits_for_the_device_outside_of_the_timed_part(monkeypatch):
    log = []
    now = iter(range(0, 100_000, 1000))

    def clock():
        log.append("clock")
        return next(now)

    monkeypatch.setattr(common.time, "perf_counter_ns", clock)
    ns = common.measure(
        lambda calls: log.append((calls, gc.isenabled())),
        lambda: log.append("wait"),
        batches=2,
        calls=10,
    )
    assert ns == [100, 100]
    batch = ["clock", (10, False), "clock", "wait"]
    assert log == [(10, True), "wait", *batch, *batch]
    assert gc.isenabled()


class Scripted:
    """A subject without a process. It answers from a list and keeps a log."""

    def __init__(self, name, answers, log):
        self.name, self.answers, self.log = name, iter(answers), log
        self.header = {"cases": ["launch"]}

    def ask(self, case, batches, calls):
        self.log.append((self.name, case))
        answer = next(self.answers)
        if isinstance(answer, str):
            raise common.SubjectError(answer)
        return [answer] * batches


@pytest.mark.parametrize(("plus", "verdict"), [(50, "pass"), (49, "MISS")])
def test_a_row_is_judged_against_the_cheaper_floor(plus, verdict):
    """A peer may fail. The order of the subjects alternates."""
    log = []
    floor = Scripted("floor", [100, 110, 200, 210], log)
    ours = Scripted("ours", [150, 250], log)
    peers = {"peer": Scripted("peer", [300, 400], log)}
    peers["broken"] = Scripted("broken", ["it broke"] * 2, [])
    bound = common.Bound(plus=plus)
    case = bench_launch.Case("launch", "a launch", ("params", "extra"), 10, bound)
    row, failed = bench_launch.measure_case(case, floor, ours, peers, 2, 3)
    assert failed == {"broken": "it broke"}
    assert (row["verdict"], row["over"]) == (verdict, 50)
    assert row["floor"] == {"min": 100, "median": 150, "p95": 200}
    assert row["peers"] == {"peer": {"min": 300, "median": 350, "p95": 400}}
    first = [("floor", "params"), ("floor", "extra"), ("ours", "launch")]
    first.append(("peer", "launch"))
    assert log == first + first[::-1]


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
def test_checks_are_judged_by_the_least_time(monkeypatch, words, seconds, holds):
    left = {"": iter([2.0, 1.0]), words: iter([seconds, seconds + 9])}
    monkeypatch.setattr(
        bench_checks, "measured", lambda args, words: {"sum": next(left[words])}
    )
    args = {"words": [words], "rounds": 1, "processes": 2, "threads": 1}
    (row,) = bench_checks.run(SimpleNamespace(**args))["rows"]
    assert (row["s"], row["plain_s"], row["holds"]) == (seconds, 1.0, holds)


def test_the_verdict_about_graphs():
    rows = [
        {"case": "operations", "ours": {"median": 2_000_000}, "verdict": None},
        {"case": "replay_1", "ours": {"median": 2}, "verdict": "pass"},
    ]
    assert bench_graph.verdict({"faster": 5.5, "rows": rows})[1]
    assert not bench_graph.verdict({"faster": 4.9, "rows": rows})[1]
    rows[1]["verdict"] = "MISS"
    assert not bench_graph.verdict({"faster": 9, "rows": rows})[1]


def test_loops_with_other_results_end_the_program():
    bench_loops.compare("k", [[1.0, 2.0]], [[1.0, 2.001]])
    with pytest.raises(SystemExit):
        bench_loops.compare("k", [[1.0, 2.0]], [[1.0, 2.1]])


# -- bench_wide ------------------------------------------------------------------------


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
def test_verdict_of_a_wide_row(given, verdict):
    bench_wide.judge(given, 2**14, {})
    assert given["verdict"] == verdict


class Package:
    """A package whose arrays are those of NumPy."""

    version, device = "1", "a device"

    def host(self, array):
        return array

    def forget(self):
        pass


def test_results_are_compared():
    packages = dict.fromkeys(("ours", "cupy", "torch"), Package())

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


def test_a_comparison_that_fails_is_an_error_of_the_row():
    def check(ours, theirs):
        texts = wide.Row("row", ours="f(x)", cupy="g(x)")
        calls = {"ours": (ours, 1), "cupy": (theirs, 1)}
        given = record(1.0, 2.0)
        packages = dict.fromkeys(calls, Package())
        bench_wide.check_results(texts, calls, packages, given)
        return given

    assert check(lambda: np.ones(3), lambda: np.ones(3))["equal"] is True
    assert check(lambda: np.ones(3), lambda: np.zeros(3))["equal"] is False
    assert "ZeroDivision" in check(lambda: 1 / 0, lambda: 0)["errors"]["comparison"]


def test_large_results_are_not_compared(monkeypatch):
    """A run of large sizes only would copy gigabytes to the host for each row."""
    checked = []

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


# -- what is measured ------------------------------------------------------------------


def dense(matrix):
    indptr, indices, data, shape = matrix
    result = np.zeros(shape)
    np.add.at(result, (np.repeat(np.arange(shape[0]), np.diff(indptr)), indices), data)
    return result


def test_poisson():
    line = 2 * np.eye(5) - np.eye(5, k=1) - np.eye(5, k=-1)
    one = np.eye(5)
    plane = np.kron(line, one) + np.kron(one, line)
    np.testing.assert_array_equal(dense(bench_sparse.poisson2d(25, "float64")), plane)
    space = np.kron(plane, one) + np.kron(np.eye(25), line)
    np.testing.assert_array_equal(dense(bench_sparse.poisson3d(125, "float64")), space)


def test_the_matrix_of_the_graph_is_the_one_of_its_floor(monkeypatch):
    monkeypatch.setattr(bench_graph, "SIDE", 3)
    indptr, indices, data, shape = bench_graph.poisson()
    assert shape == (9, 9)
    assert indices[indptr[4] : indptr[5]].tolist() == [1, 3, 4, 5, 7]
    assert indices[indptr[3] : indptr[4]].tolist() == [0, 3, 4, 6]
    assert data[: indptr[1]].tolist() == [4, -1, -1]


@pytest.mark.parametrize("name", bench_sparse.MATRICES)
def test_sparse_matrices_are_valid(name):
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


def test_bytes_of_a_sparse_product():
    assert bench_sparse.bytes_of(5, (2, 3), "float32") == 5 * 8 + 3 * 4 + 5 * 4
    assert bench_sparse.bytes_of(5, (2, 3), "float64") == 5 * 12 + 3 * 4 + 5 * 8


def test_a_wrong_sparse_product_is_found():
    _, _, y, _ = bench_sparse.generated("random", 100, "float64")
    bench_sparse.check(y, "random", 100, "float64")
    with pytest.raises(RuntimeError, match="wrong"):
        bench_sparse.check(y * (1 + 1e-6), "random", 100, "float64")


PROGRAM = """.version 9.0
.target sm_75
.address_size 64
.visible .entry other()
{
	ret;
}
.visible .entry loop(
	.param .u32 loop_param_0
)
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<4>;
	// a comment;
	ld.param.u32 	%r1, [loop_param_0];
	setp.eq.s32 	%p1, %r1, 0;
	@%p1 bra 	$L__BB1_2;

$L__BB1_1:
	.pragma "nounroll";
	add.s32 	%r1, %r1, -1; // another
	setp.ne.s32 	%p1, %r1, 0;
	@%p1 bra 	$L__BB1_1;
	@%p1 mov.u32 	%r2, 0;

$L__BB1_2:
	ret;
}
"""


def test_blocks_of_a_kernel_and_their_sizes():
    program, sizes = bench_emulator.with_counters(PROGRAM, "loop")
    assert sizes == [3, 3, 1, 1]
    lines = [line.strip() for line in program.splitlines()]
    assert ".visible .global .align 8 .b64 counters[4];" in lines
    places = [i for i, line in enumerate(lines) if line.startswith("red.global")]
    assert [lines[i + 1].split()[0] for i in places] == [
        "ld.param.u32",
        "add.s32",
        "@%p1",
        "ret;",
    ]
    left = [line for line in lines if "counters" not in line]
    assert left == [line.strip() for line in PROGRAM.splitlines()]
