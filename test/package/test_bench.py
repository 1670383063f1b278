"""The arithmetic, the protocol and the programs of the benchmarks, not their speed."""

import gc
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
import bench_launch  # noqa: E402
import common  # noqa: E402

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wstrict-prototypes"]
STRICT += ["-Wmissing-prototypes", "-Wvla", "-Werror"]


# -- statistics ------------------------------------------------------------------------


def test_summary_of_known_numbers():
    got = common.summary(list(range(100, 0, -1)))
    assert got == {"min": 1, "median": 50.5, "p95": 95}
    assert common.summary([7]) == {"min": 7, "median": 7, "p95": 7}
    # 20 values: rank 19; 21 values: 19.95 goes up to rank 20.
    assert common.summary(list(range(1, 21)))["p95"] == 19
    assert common.summary(list(range(1, 22)))["p95"] == 20


def test_summary_of_nothing_is_refused():
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


def test_bounds_in_words():
    assert str(common.Bound(plus=350)) == "floor + 350"
    assert str(common.Bound(times=1.1)) == "floor x 1.1"
    assert str(common.Bound(at_most=200_000)) == "200,000"


@pytest.mark.parametrize("parts", [{}, {"plus": 1, "times": 2}])
def test_a_bound_is_one_thing(parts):
    with pytest.raises(ValueError, match="exactly one"):
        common.Bound(**parts)


# -- timing ----------------------------------------------------------------------------


def test_measure_waits_for_the_device_outside_of_the_timed_part(monkeypatch):
    log = []
    now = iter(range(0, 100_000, 1000))

    def clock():
        log.append("clock")
        return next(now)

    monkeypatch.setattr(common.time, "perf_counter_ns", clock)
    ns = common.measure(
        lambda calls: log.append(calls), lambda: log.append("wait"), batches=2, calls=10
    )
    assert ns == [100, 100]
    batch = ["clock", 10, "clock", "wait"]
    assert log == [10, "wait", *batch, *batch]


def test_measure_leaves_the_collector_as_it_was():
    def run(calls):
        seen.append(gc.isenabled())
        if len(seen) == 3:
            raise ZeroDivisionError

    seen = []
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError):
        common.measure(run, lambda: None, batches=5, calls=1)
    assert seen == [True, False, False]
    assert gc.isenabled()


# -- tables and files ------------------------------------------------------------------


def test_table_is_aligned():
    text = common.table(["case", "ns"], [["launch", "1,059"], ["x", "-"]])
    assert text.split("\n") == [
        "case       ns",
        "------  -----",
        "launch  1,059",
        "x           -",
    ]
    with pytest.raises(ValueError, match="different length"):
        common.table(["a", "b"], [["1"]])


def test_numbers_for_people():
    assert common.number(1234567.6) == "1,234,568"
    assert common.number(None) == "-"
    assert common.cuda_version(13000) == "13.0"
    assert common.cuda_version(11040) == "11.4"


def test_json_is_written_whole(tmp_path):
    path = tmp_path / "new" / "result.json"
    common.write_json(path, {"a": 1})
    assert json.loads(path.read_text()) == {"a": 1}
    assert [p.name for p in path.parent.iterdir()] == ["result.json"]
    with pytest.raises(TypeError):
        common.write_json(path, {"a": object()})
    assert json.loads(path.read_text()) == {"a": 1}


# -- subjects --------------------------------------------------------------------------


def subject(code, name="child"):
    prelude = f"import sys; sys.path.insert(0, {str(BENCH)!r}); import common\n"
    return common.Subject(name, [sys.executable, "-c", prelude + code])


SERVING = """
calls = []
def noisy(n):
    print("said by a library")
    calls.append(n)
def broken(n):
    raise KeyError("inside")
cases = {"noisy": noisy, "broken": broken}
common.serve({"cases": sorted(cases), "device": "none"}, cases, lambda: None)
"""


def test_a_subject_answers_and_survives_bad_cases():
    with subject(SERVING) as child:
        assert child.header == {"cases": ["broken", "noisy"], "device": "none"}
        ns = child.ask("noisy", 4, 10)
        assert len(ns) == 4
        assert all(value > 0 for value in ns)
        with pytest.raises(common.SubjectError, match="KeyError: 'inside'"):
            child.ask("broken", 1, 1)
        with pytest.raises(common.SubjectError, match="no such case"):
            child.ask("unknown", 1, 1)
        assert len(child.ask("noisy", 2, 1)) == 2
    assert child.process.returncode == 0


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ('print(\'{"missing": "not installed"}\')', "^not installed$"),
        ("raise SystemExit(3)", "exit status 3"),
        ("print('hello')", "answered 'hello"),
    ],
)
def test_a_subject_that_cannot_start_says_why(code, why):
    with pytest.raises(common.SubjectError, match=why):
        subject(code)


def test_a_subject_that_dies_says_so():
    with (
        subject("print('{}', flush=True); input(); sys.exit(4)") as child,
        pytest.raises(common.SubjectError, match="exit status 4"),
    ):
        child.ask("any", 1, 1)


class Scripted:
    """A subject without a process. It answers from a list and keeps a log."""

    def __init__(self, name, answers, log, cases=("launch",)):
        self.name = name
        self.answers = iter(answers)
        self.log = log
        self.header = {"cases": list(cases)}

    def ask(self, case, batches, calls):
        self.log.append((self.name, case))
        answer = next(self.answers)
        if isinstance(answer, str):
            raise common.SubjectError(answer)
        return [answer] * batches


def launch_case(bound):
    return bench_launch.Case("launch", "a launch", ("params", "extra"), 10, bound)


@pytest.mark.parametrize(("plus", "verdict"), [(50, "pass"), (49, "MISS")])
def test_a_row_is_judged_against_the_cheaper_floor(plus, verdict):
    log = []
    # The order alternates: params, extra; then extra, params.
    floor = Scripted("floor", [100, 110, 200, 210], log)
    ours = Scripted("ours", [150, 250], log)
    peer = Scripted("peer", [300, 400], log)
    absent = Scripted("absent", [], log, cases=())
    peers = {"peer": peer, "absent": absent}
    case = launch_case(common.Bound(plus=plus))
    row, failed = bench_launch.measure_case(case, floor, ours, peers, 2, 3)
    assert failed == {}
    assert row["verdict"] == verdict
    assert row["over"] == 50
    assert row["floor"] == {"min": 100, "median": 150, "p95": 200}
    assert row["ours"]["median"] == 200
    assert row["peers"] == {"peer": {"min": 300, "median": 350, "p95": 400}}
    first = [("floor", "params"), ("floor", "extra"), ("ours", "launch")]
    first.append(("peer", "launch"))
    assert log == first + first[::-1]


def test_a_peer_may_fail_and_the_floor_may_not():
    log = []
    case = launch_case(None)
    floor = Scripted("floor", [100] * 4, log)
    ours = Scripted("ours", [150] * 2, log)
    peers = {"peer": Scripted("peer", ["it broke"], log)}
    row, failed = bench_launch.measure_case(case, floor, ours, peers, 2, 1)
    assert failed == {"peer": "it broke"}
    assert row["peers"] == {}
    assert row["verdict"] is None
    floor = Scripted("floor", ["no device"], log)
    with pytest.raises(common.SubjectError, match="no device"):
        bench_launch.measure_case(case, floor, ours, {}, 1, 1)


def test_the_report_shows_every_row():
    case = launch_case(common.Bound(plus=50))
    log = []
    floor, ours = Scripted("f", [100, 100], log), Scripted("o", [1250], log)
    peers = {"cupy": Scripted("p", [777], log)}
    row, _ = bench_launch.measure_case(case, floor, ours, peers, 1, 1)
    result = {
        "environment": {**common.environment(), "kernel_module": "580.1"},
        "device": "A GPU",
        "driver": "13.0",
        "version": "2026.1",
        "rounds": 1,
        "batches": 1,
        "rows": [row],
        "source_module_less_load": None,
        "peers": {"cupy": "14.2"},
        "missing": {"torch": "not installed"},
    }
    lines = bench_launch.report(result).split("\n")
    assert lines[0] == "A GPU, driver for CUDA 13.0, kernel module 580.1"
    shown = next(line for line in lines if line.startswith("a launch"))
    assert shown.split() == [
        *["a", "launch", "100", "1,250", "1,250", "1,150"],
        *["floor", "+", "50", "MISS", "777"],
    ]
    assert lines[-2:] == ["pycuda 2026.1; peers: cupy 14.2", "torch: not installed"]


# -- the programs ----------------------------------------------------------------------


def run(command, **env):
    return subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **env},
        timeout=300,
    )


@pytest.fixture(scope="module")
def floor_program(tmp_path_factory):
    return common.build_floor(tmp_path_factory.mktemp("floor"))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_floor_compiles_without_a_warning(compiler, tmp_path):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    source, include = str(BENCH / "floor.c"), str(common.C_SOURCE)
    command = [compiler, "-std=c11", "-O2", *STRICT, "-I", include, source]
    done = run([*command, "-o", str(tmp_path / "floor"), "-ldl"])
    assert (done.returncode, done.stderr) == (0, "")


def test_floor_and_bench_agree_on_the_cases(floor_program):
    listed = dict(
        line.split() for line in run([floor_program, "--list"]).stdout.splitlines()
    )
    used = {name: case.calls for case in bench_launch.CASES for name in case.floor}
    of_arrays = {name for case in bench_array.CASES for name in case.floor}
    calls = {name: int(calls) for name, calls in listed.items()}
    assert {name: calls[name] for name in used} == used
    assert set(calls) == set(used) | of_arrays


def test_floor_says_what_is_missing(floor_program, tmp_path):
    nowhere = str(tmp_path / "libcuda.so.1")
    image = str(BENCH / "floor.c")
    for command, words in [
        ([floor_program], "usage"),
        ([floor_program, "--wrong"], "--wrong"),
        ([floor_program, str(tmp_path / "image")], "cannot open the image"),
        ([floor_program, image, "--batches", "0"], "--batches"),
        ([floor_program, image, "--only", "nothing"], "no such case"),
        ([floor_program, image], "no driver library"),
    ]:
        done = run(command, FLOOR_LIBCUDA=nowhere)
        assert done.returncode == 1
        assert done.stdout == ""
        assert words in done.stderr
        assert done.stderr.count("\n") == 1


def test_cases_have_names_of_their_own():
    names = [case.name for case in bench_launch.CASES]
    titles = [case.title for case in bench_launch.CASES]
    assert len(set(names)) == len(names)
    assert len(set(titles)) == len(titles)


def test_help_and_wrong_arguments():
    script = str(BENCH / "bench_launch.py")
    done = run([sys.executable, script, "--help"])
    assert done.returncode == 0
    assert "--quick" in done.stdout
    assert run([sys.executable, script, "--rounds", "0"]).returncode == 2
    assert run([sys.executable, script, "--other", "x"]).returncode == 2


@pytest.mark.gpu
def test_a_quick_run_measures_everything(tmp_path):
    path = tmp_path / "result.json"
    script = str(BENCH / "bench_launch.py")
    done = run([sys.executable, script, "--quick", "--no-peers", "--json", str(path)])
    assert done.returncode == 0, done.stderr
    result = json.loads(path.read_text())
    measured = {row["case"] for row in result["rows"]}
    wanted = {case.name for case in bench_launch.CASES} | {"import"}
    absent = {"launch, GPUArrays"} if "launch_gpuarray" not in measured else set()
    assert measured | {"launch_gpuarray"} == wanted
    assert set(result["missing"]) == absent, result["missing"]
    for row in result["rows"]:
        assert row["ours"]["min"] > 0
        assert row["title"] in done.stdout
