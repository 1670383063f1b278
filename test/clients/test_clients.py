"""Other programs run on the software device, in environments of their own.

A few tests of each run here. `make clients` runs all and compares them with an H200.
"""

import importlib
import subprocess
import sys
import textwrap
import unittest
from pathlib import Path

import pytest

from clients import environments, lists, programs, runs
from support.pages import blocks, captioned, sessions

ROOT = Path(__file__).resolve().parents[2]
DOC = ROOT / "doc"
QUICK = [client for client in programs.CLIENTS.values() if client.quick]


@pytest.fixture(params=QUICK, ids=lambda client: client.name)
def client(request):
    return request.param


def make(client):
    """Return the environment of a client, or skip the test."""
    try:
        return environments.environment(client)
    except environments.Unavailable as error:
        pytest.skip(str(error))


def test_some_tests_of_a_client(client):
    place = make(client)
    run = runs.Run(
        place / "bin" / "python",
        programs.variables(client, place),
        client.folder(place),
    )
    found = run.run(list(client.quick), 1)
    assert {test: result[0] for test, result in found.items()} == dict.fromkeys(
        client.quick, "ok"
    ), found


@pytest.mark.parametrize("name", ["triton", "warp"])
def test_the_program_of_a_recipe(name):
    """The programs in the chapter "Other programs without a GPU" run."""
    client = programs.CLIENTS[name]
    place = make(client)
    done = subprocess.run(
        [place / "bin" / "python", DOC / "recipes" / f"{name}_kernel.py"],
        check=False,
        capture_output=True,
        text=True,
        env=programs.variables(client, place),
        timeout=200,
    )
    assert done.returncode == 0, done.stderr


#: The programs of the page "From Numba", and what they print.
FROM_NUMBA = {
    "sums_numba.py": "[ 32640.  98176. 163712. 204972.]",
    "together_numba.py": "[1. 2. 3. 4.] [0. 2. 4. 6.]",
}


@pytest.mark.parametrize("name", FROM_NUMBA)
def test_the_programs_of_the_page_for_users_of_numba(name):
    client = programs.CLIENTS["numba"]
    place = make(client)
    done = subprocess.run(
        [place / "bin" / "python", "-W", "ignore", "-c", captioned("from_numba")[name]],
        check=False,
        capture_output=True,
        text=True,
        env=programs.variables(client, place),
        timeout=200,
    )
    assert (done.returncode, done.stdout.strip()) == (0, FROM_NUMBA[name]), done.stderr


def test_both_programs_of_the_page_for_users_of_numba_print_the_same():
    ((_, said),) = blocks("from_numba")
    assert said.strip() == FROM_NUMBA["sums_numba.py"]
    assert set(captioned("from_numba")) == set(FROM_NUMBA)


@pytest.mark.parametrize(
    ("change", "is_right"), [(("", ""), True), (("by * in[i]", "in[i]"), False)]
)
def test_the_program_of_the_page_on_autotuning(tmp_path, change, is_right):
    client = programs.CLIENTS["kernel_tuner"]
    place = make(client)
    program = captioned("autotuning")["tune.py"]
    done = subprocess.run(
        [place / "bin" / "python", "-c", program.replace(*change)],
        check=False,
        capture_output=True,
        text=True,
        env=programs.variables(client, place),
        cwd=tmp_path,  # a variant that fails is written there
        timeout=200,
    )
    (said,) = (
        s for command, s in sessions("autotuning") if command.endswith("tune.py")
    )
    assert (said.strip() in done.stdout) == (done.returncode == 0) == is_right, done
    assert ("Kernel result verification failed" in done.stderr) != is_right


def test_each_client_has_a_section_and_a_ci_file():
    page = (DOC / "other_programs.rst").read_text()
    for name in {client.name.removesuffix("_ops") for client in QUICK}:
        assert f"examples/ci/{name}.yml" in page
        text = (ROOT / "examples" / "ci" / f"{name}.yml").read_text()
        version = programs.CLIENTS[name].driver_version
        options = f" --driver-version {version}" if version else ""
        command = f"python -m pycuda.emulator environment{options} >>"
        assert command in text
        assert page.count(f"tools/clients.py {name}``") == 1


def test_requirements_are_pinned():
    for client in programs.CLIENTS.values():
        lines = environments.requirements(client).read_text().splitlines()
        assert lines[0].startswith("#")
        assert all("==" in line for line in lines[1:]), client.name


def test_what_is_recorded_fits_what_runs():
    """The lists name tests of the clients, and a reason for each difference."""
    for client in programs.CLIENTS.values():
        recorded = lists.read(lists.H200 / f"{client.name}.txt")
        assert set(recorded.values()) <= {
            *("ok", "fail", "error", "skip", "import", "crash", "timeout")
        }
        for test, reason in lists.differences(client.name).items():
            assert reason
            assert recorded.get(test, "ok") == "ok", test


# -- how tests run ---------------------------------------------------------------------

SUITE = """
import os, time, unittest

class First(unittest.TestCase):
    def test_good(self):
        self.note = "two parts"
    def test_bad(self):
        self.assertEqual(1, 2)
    def test_error(self):
        raise RuntimeError("two\\nlines")
    def test_exit(self):
        os._exit(3)
    def test_skip(self):
        self.skipTest("not here")
    def test_parts(self):
        with self.subTest(1):
            self.assertTrue(True)
        with self.subTest(2):
            self.assertTrue(False)
    @unittest.expectedFailure
    def test_expected(self):
        self.assertTrue(False)

class Second(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise unittest.SkipTest("none of these")
    def test_one(self):
        pass
    def test_two(self):
        pass

class Third(unittest.TestCase):
    def test_long(self):
        time.sleep(60)
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "test_sample.py").write_text(SUITE)
    (tmp_path / "test_broken.py").write_text("import missing_module\n")
    return runs.Run(sys.executable, None, tmp_path, log=tmp_path / "log")


def test_outcomes(run, monkeypatch):
    monkeypatch.setattr(runs, "LIMIT", 1.0)
    tests = run.list_tests(["test_sample", "test_broken"])
    assert len(tests) == 10
    found = run.run(tests, 2)
    assert {test: result[0] for test, result in found.items()} == {
        "test_broken": "import",
        "test_sample.First.test_bad": "fail",
        "test_sample.First.test_error": "error",
        "test_sample.First.test_exit": "crash",
        "test_sample.First.test_expected": "ok",
        "test_sample.First.test_good": "ok",
        "test_sample.First.test_parts": "fail",
        "test_sample.First.test_skip": "skip",
        "test_sample.Second.test_one": "skip",
        "test_sample.Second.test_two": "skip",
        "test_sample.Third.test_long": "timeout",
    }
    assert found["test_sample.First.test_good"][2] == "two parts"
    assert found["test_sample.First.test_error"][2] == "lines"
    assert found["test_sample.Second.test_one"][2] == "none of these"
    assert "missing_module" in found["test_broken"][2]
    assert len(run.log.read_text().splitlines()) == len(found)


def test_a_test_that_does_not_exist(run):
    test = "test_sample.First.test_absent"
    assert run.run([test], 1)[test][0] in ("error", "crash")


def test_comparison(tmp_path):
    path = tmp_path / "list.txt"
    lists.write(path, "two\nlines", {"a": "ok", "b": "ok", "c": "fail", "d": "ok"})
    assert path.read_text().startswith("# two\n# lines\nok a\n")
    outcomes = {"a": "ok", "b": "fail", "c": "ok", "e": "ok", "d": "error"}
    found = lists.Comparison(lists.read(path), outcomes, {"d": "known"})
    assert (len(found.same), len(found.compared)) == (1, 3)
    assert found.unexpected == ["b"]
    assert textwrap.dedent(found.text("x")) == (
        "x: 5 tests: 1 error, 1 fail, 3 ok\n"
        "x: 1 of the 3 tests that pass on an H200 pass (33.3 %)\n"
        "x: 1 differ for a known reason\n"
        "  fail b"
    )


def test_clients_that_no_gpu_has_run():
    """Without a record, each test that fails differs."""
    outcomes = {"a": "ok", "b": "skip", "c": "error", "d": "crash"}
    assert lists.Comparison({}, outcomes, {}).unexpected == ["c", "d"]
    assert lists.Comparison({"a": "ok"}, outcomes, {}).unexpected == []
    good = {"a": "ok", "b": "skip"}
    assert lists.Comparison({}, good, {}).unexpected == []


LIBRARY = """
import pytest

@pytest.mark.parametrize("x", [1, 2])
def test_one(x):
    assert x == 1, "not - one"

def test_two():
    pass
"""


@pytest.mark.parametrize(
    ("listed", "passed", "said"),
    [
        (["part/test_one.py::test_one[2]"], 2, ""),
        ([], 2, r"fail, but are not listed: \['sample/part/test_one.py::test_one"),
        (
            ["part/test_one.py::test_one[2]", "part/test_one.py::test_two"],
            *(2, r"are listed, but do not fail: \['sample/part/test_one.py::test_two'"),
        ),
        (["part/test_one.py::test_one[2]"], 3, "2 not greater than or equal to 3"),
        (["part/test_one.py::test_one[2]", "other/test.py::test_three"], 2, ""),
    ],
)
def test_tests_of_libraries(monkeypatch, tmp_path, listed, passed, said):
    """A test that fails must be listed, and a test of the list must fail."""
    monkeypatch.syspath_prepend(str(programs.SUITES))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(lists, "DIFFERENCES", tmp_path)
    (tmp_path / "sample" / "part").mkdir(parents=True)
    (tmp_path / "sample" / "__init__.py").touch()
    (tmp_path / "plugin_of_sample.py").touch()
    (tmp_path / "sample" / "part" / "test_one.py").write_text(LIBRARY)
    lines = "".join(f"sample/{test}\n" for test in listed)
    (tmp_path / "client.txt").write_text(f"# a cause\n{lines}")
    check = importlib.import_module("array_libraries").check
    case = unittest.TestCase()
    arguments = (case, "client", passed, "sample", "part", "plugin_of_sample")
    if said:
        with pytest.raises(AssertionError, match=said):
            check(*arguments)
    else:
        check(*arguments)
        assert case.note == "2 pass, 1 fail for a known reason"


def test_packages_of_debian(monkeypatch, tmp_path):
    """Without apt-get, or the package, there is a reason not to run."""
    client = programs.CLIENTS["hashcat"]
    monkeypatch.setattr(environments.shutil, "which", lambda name: None)
    with pytest.raises(environments.Unavailable, match="package of Debian"):
        environments._fetch_debian(client, tmp_path)
    (tmp_path / "debian").rmdir()
    (tmp_path / "apt-get").write_text("#!/bin/sh\necho none >&2\nexit 100\n")
    (tmp_path / "apt-get").chmod(0o755)
    monkeypatch.setattr(environments.shutil, "which", lambda name: name)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(environments.Unavailable, match="does not find hashcat: none"):
        environments._fetch_debian(client, tmp_path)


def test_no_network(monkeypatch, tmp_path):
    """Without a package index there is a reason to skip, and no half environment."""
    monkeypatch.setenv("PYCUDA_CLIENTS_DIR", str(tmp_path))
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    # pip asks the index before it reads which versions of Python a package is for.
    monkeypatch.setattr(environments, "_check_python", lambda client: None)
    with pytest.raises(environments.Unavailable, match="no network"):
        environments.environment(programs.CLIENTS["tinygrad"])
    assert not list(tmp_path.glob("tinygrad-*/complete"))


@pytest.mark.parametrize("minor", [10, 14])
def test_another_python(monkeypatch, tmp_path, minor):
    monkeypatch.setenv("PYCUDA_CLIENTS_DIR", str(tmp_path))
    monkeypatch.setattr(environments.sys, "version_info", (3, minor))
    with pytest.raises(
        environments.Unavailable,
        match=rf"tinygrad are for Python 3\.11 to 3\.13, and this is 3\.{minor}",
    ):
        environments.environment(programs.CLIENTS["tinygrad"])
    assert not list(tmp_path.glob("tinygrad-*/complete"))
