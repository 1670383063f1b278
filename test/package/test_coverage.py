"""tools/coverage.py: it lists the lines that did not run, and checks the bounds."""

import importlib.util
import os
import shutil
import subprocess
import sys
import time

import pytest

from support import cc

SCRIPT = cc.ROOT / "tools" / "coverage.py"

pytestmark = pytest.mark.skipif(
    not (shutil.which("gcc") and shutil.which("gcov")),
    reason="lines are counted with gcc and gcov",
)


def load_script():
    spec = importlib.util.spec_from_file_location("pycuda_coverage", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.path.append(str(SCRIPT.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(SCRIPT.parent))
    return module


coverage = load_script()

# One function per line: compilers differ in whether they count a brace.
CALLED = '#include "driver/twice.h"\nint {name}(int n) {{ return twice(n); }}\n'
NOT_CALLED = "int silent(int n) { return n + 1; }\n"
TWICE = "static inline int twice(int n) { return 2 * n; }\n"
MAIN = (
    "int a(int), b(int), c(int);\nint main(void) { return a(0) + b(0) + c(0) < 0; }\n"
)


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A source tree with a file in each room, and where the build of it goes."""
    source, folder = tmp_path / "source", tmp_path / "build"
    for name, place in (("a", "driver"), ("b", "python"), ("c", "device")):
        (source / place).mkdir(parents=True)
        (source / place / f"{name}.c").write_text(CALLED.format(name=name))
    (source / "driver" / "twice.h").write_text(TWICE)
    (tmp_path / "main.c").write_text(MAIN)
    folder.mkdir()
    monkeypatch.setattr(coverage, "SOURCE", source)
    monkeypatch.setattr(coverage, "FOLDER", folder)
    return tmp_path


def build(tree, *more):
    """Build the program of all files; return it. Another build has other numbers."""
    sources = [*sorted(tree.glob("source/*/*.c")), tree / "main.c"]
    program = tree / "build" / "program"
    flags = [*coverage.FLAGS, "-O0", "-I", tree / "source", *more]
    cc.must(cc.compile_c("gcc", sources, program, flags))
    return program


def report(capsys, *arguments):
    """Return the status, the table by folder, the other lines, and the errors."""
    status = coverage.main(["--report", *arguments])
    said = capsys.readouterr()
    lines = said.out.splitlines()[1:]
    rows = [line.split() for line in lines[: len(coverage.BOUNDS)]]
    return status, {row[0]: row[1:] for row in rows}, lines[len(rows) :], said.err


def test_all_lines_ran(tree, capsys):
    cc.must(cc.run([build(tree)]))
    status, rows, files, failure = report(capsys)
    assert (status, files, failure) == (0, [], "")
    assert rows["driver"] == ["2", "2", "100.0", "100"]  # its header with it
    assert rows["python"] == ["1", "1", "100.0", "90"] == rows["device"]


def test_a_line_that_did_not_run(tree, capsys):
    with (tree / "source" / "driver" / "a.c").open("a") as file:
        file.write(NOT_CALLED)
    cc.must(cc.run([build(tree)]))
    status, rows, files, failure = report(capsys)
    assert status == 1 and failure == "below the bound: driver\n"
    assert rows["driver"] == ["3", "2", "66.6", "100"]
    assert files == ["driver/a.c 50.0: missed 3"]


@pytest.mark.parametrize("room, enough", [("driver", False), ("python", True)])
def test_bounds(room, enough, tree, capsys):
    """One line of many is missed: too much in driver/, not in python/."""
    path = next((tree / "source" / room).glob("*.c"))
    more = "n += 1;\n" * 10 + "if (n == 0)\nn = 5;\n"
    path.write_text(path.read_text().replace("{", "{" + more))
    cc.must(cc.run([build(tree)]))
    status, rows, files, _ = report(capsys)
    assert int(rows[room][0]) == int(rows[room][1]) + 1
    assert (status, files == []) == ((0, True) if enough else (1, False))


def test_the_lines_of_a_file(tree, capsys):
    with (tree / "source" / "python" / "b.c").open("a") as file:
        file.write(NOT_CALLED)
    cc.must(cc.run([build(tree)]))
    _, _, files, failure = report(capsys, "--lines", "python/b.c")
    assert files == [
        "python/b.c 50.0: missed 3",
        f"python/b.c:3: {NOT_CALLED.rstrip()}",
    ]
    assert failure == "below the bound: python\n"
    status, _, _, failure = report(capsys, "--lines", "nothing.c")
    assert (status, failure) == (1, "no such file was built: nothing.c\n")


def test_ranges_of_lines():
    assert coverage.ranges([]) == ""
    assert coverage.ranges([3, 7, 8, 9, 11, 12]) == "3, 7-9, 11-12"


def test_one_run_of_several_is_enough(tree, capsys):
    """The lines of a header are in three objects, two of which never ran."""
    (tree / "main.c").write_text("int a(int);\nint main(void) { return a(0); }\n")
    cc.must(cc.run([build(tree)]))
    merged = coverage.collect(coverage.FOLDER, coverage.SOURCE)
    assert all(merged["driver/twice.h"].values())
    assert not any(merged["python/b.c"].values())
    with pytest.raises(coverage.Failed, match="nothing of python ran"):
        coverage.print_table(merged)
    capsys.readouterr()


def test_nothing_ran(tree, capsys):
    build(tree)
    assert coverage.main(["--report"]) == 1
    assert "nothing ran" in capsys.readouterr().err


def test_numbers_of_another_build(tree, capsys):
    cc.must(cc.run([build(tree)]))
    kept = {path: path.read_bytes() for path in (tree / "build").glob("*.gcda")}
    with (tree / "source" / "python" / "b.c").open("a") as file:
        file.write(NOT_CALLED)
    build(tree)
    for path, numbers in kept.items():
        path.write_bytes(numbers)
    assert coverage.main(["--report"]) == 1
    assert "another build left these numbers" in capsys.readouterr().err


def test_sources_that_changed(tree, capsys):
    cc.must(cc.run([build(tree)]))
    later = time.time() + 10
    os.utime(tree / "source" / "device" / "c.c", (later, later))
    assert coverage.main(["--report"]) == 1
    assert capsys.readouterr().err == "changed since the build: device/c.c\n"


def test_an_object_may_be_older_than_the_sources_of_others(tree, capsys):
    """Only changed sources are rebuilt."""
    cc.must(cc.run([build(tree)]))
    old = next((tree / "build").glob("*-c.gcno"))
    for path in (old, tree / "source" / "driver" / "twice.h"):
        os.utime(path, (1000, 1000))
    assert report(capsys)[0] == 1  # its own source is newer
    os.utime(tree / "source" / "device" / "c.c", (900, 900))
    assert report(capsys)[0] == 0


def test_a_source_that_is_no_more(tree, capsys):
    cc.must(cc.run([build(tree)]))
    kept = (tree / "source" / "driver" / "a.c").rename(tree / "kept.c")
    merged = coverage.collect(coverage.FOLDER, coverage.SOURCE)
    assert "driver/a.c" not in merged and "python/b.c" in merged
    kept.rename(tree / "source" / "driver" / "a.c")
    assert report(capsys)[0] == 0


@pytest.mark.parametrize("elsewhere", [False, True])
def test_another_build_is_not_tested(elsewhere, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name / "pycuda").mkdir(parents=True)
        (tmp_path / name / "pycuda" / "__init__.py").touch()
        (tmp_path / name / "pycuda" / "_driver.py").touch()
    found = tmp_path / ("two" if elsewhere else "one")
    run = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": str(found)}}
    if elsewhere:
        with pytest.raises(coverage.Failed, match="another build would be tested"):
            coverage.must_be_tested(sys.executable, tmp_path / "one", **run)
    else:
        coverage.must_be_tested(sys.executable, tmp_path / "one", **run)


def test_a_run(tree, monkeypatch, capsys):
    """A run removes earlier numbers, reports failed tests and prints the table."""
    program = build(tree)
    cc.must(cc.run([program]))
    before = sorted((tree / "build").glob("*.gcda"))
    assert before

    def run_tests(library, arguments):
        assert not any(path.exists() for path in before)
        assert arguments == ["-k", "word"]
        cc.must(cc.run([program]))
        return coverage.Failed("a test failed")

    monkeypatch.setattr(coverage, "build", lambda *arguments: tree)
    monkeypatch.setattr(coverage, "run_units", lambda folder: None)
    monkeypatch.setattr(coverage, "run_tests", run_tests)
    assert coverage.main(["-k", "word"]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("room ") and said.err == "a test failed\n"


def test_the_units_of_core(tmp_path):
    """The unit tests leave their numbers in the folder."""
    coverage.run_units(tmp_path)
    merged = coverage.collect(tmp_path, coverage.SOURCE)
    assert {"driver/argument_buffer.c", "driver/bins.c", "driver/shape.c"} <= set(
        merged
    )
    assert not any(coverage.missed(ran) for ran in merged.values())


def test_script_explains_itself():
    done = subprocess.run(
        [sys.executable, SCRIPT, "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "--report" in done.stdout
