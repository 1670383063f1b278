"""tools/coverage.py: it refuses a build with too many lines that did not run."""

import importlib.util
import os
import shutil
import sys

import pytest

from support import cc

SCRIPT = cc.ROOT / "tools" / "coverage.py"

pytestmark = pytest.mark.skipif(
    not (shutil.which("gcov") and importlib.util.find_spec("gcovr")),
    reason="lines are counted with gcov and gcovr",
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


def build(tree):
    """Build the program of all files; return it."""
    sources = [*sorted(tree.glob("source/*/*.c")), tree / "main.c"]
    program = tree / "build" / "program"
    flags = [*coverage.FLAGS, "-O0", "-I", tree / "source"]
    cc.must(cc.compile_c("gcc", sources, program, flags))
    return program


def report(capfd):
    """Return the status, the table, and the errors."""
    status = coverage.main(["--report"])
    said = capfd.readouterr()
    return status, said.out, said.err


def test_all_lines_ran(tree, capfd):
    """The lines of the header are in three objects."""
    cc.must(cc.run([build(tree)]))
    status, table, _ = report(capfd)
    assert status == 0
    assert table.count("100%") == 7  # four files, and the sum of each room


@pytest.mark.parametrize("room, enough", [("driver", False), ("python", True)])
def test_bounds(room, enough, tree, capfd):
    """One line of many is missed: too much in driver/, not in python/."""
    path = next((tree / "source" / room).glob("*.c"))
    more = "n += 1;\n" * 10 + "if (n == 0)\nn = 5;\n"
    path.write_text(path.read_text().replace("{", "{" + more))
    cc.must(cc.run([build(tree)]))
    status, table, failure = report(capfd)
    (row,) = (line.split() for line in table.splitlines() if path.name in line)
    assert row[-1] == "13"  # the line that did not run
    assert status == (0 if enough else 1)
    assert ("below the bound: driver" in failure) == (not enough)


def test_nothing_ran(tree, capfd):
    build(tree)
    status, _, failure = report(capfd)
    assert status == 1 and "below the bound: driver python device" in failure


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


def test_a_run(tree, monkeypatch, capfd):
    """A run removes earlier counts, reports failed tests and prints the tables."""
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
    said = capfd.readouterr()
    assert "twice.h" in said.out and said.err.endswith("a test failed\n")
