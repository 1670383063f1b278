"""The command that an error of a kernel advises: it runs the same program again."""

import os
import re
import shlex
import subprocess
import sys

import pytest

COMMAND = r"Run 'python -m pycuda\.explain (.*)' to find the line"
TEST_FILE = """
import numpy as np
import pytest
import pycuda.autoinit
import pycuda.driver as drv

# An error in PTX does not name a line of CUDA's source.
fill = drv.module_from_buffer(b'''
.version 7.0
.target sm_52
.address_size 64
.visible .entry fill(.param .u64 x)
{
    .reg .pred %p;
    .reg .b32 %r<3>;
    .reg .b64 %d<2>;
    ld.param.u64 %d0, [x];
    mov.u32 %r0, %tid.x;
    setp.lt.u32 %p, %r0, 4;
    selp.u32 %r1, %r0, 268435456, %p;
    mul.wide.u32 %d1, %r1, 4;
    add.s64 %d1, %d0, %d1;
    mov.u32 %r2, 7;
    st.global.u32 [%d1], %r2;
    ret;
}
''').get_function("fill")

@pytest.mark.parametrize("word", ["a", "b c", "$x"])
def test_fill(word):
    x = drv.mem_alloc(16)
    fill(x, block=(4 if word == "a" else 64, 1, 1))
    drv.Context.synchronize()
"""


def advised(tmp_path, *command, cwd=None, **variables):
    """Run a command that fails. Return the arguments of the command that it advises."""
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **variables}
    environment.pop("PYCUDA_CHECK", None)
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd or tmp_path,
        env=environment,
        timeout=120,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return re.findall(COMMAND, done.stdout + done.stderr)


@pytest.mark.software(why="a GPU may not report the access")
@pytest.mark.parametrize("folder", [".", "tests", "tests/driver"])
def test_the_advice_in_a_run_of_pytest_is_a_command_that_works(tmp_path, folder):
    """The names of tests begin at the root, and the command is for this folder."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "tests" / "driver").mkdir(parents=True)
    (tmp_path / "tests" / "driver" / "test_fill.py").write_text(TEST_FILE)
    pytest_run = ("-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider")
    first, *_ = advised(tmp_path, *pytest_run, "-k", "b", cwd=tmp_path / folder)
    words = shlex.split(first)
    path = os.path.relpath(tmp_path / "tests/driver/test_fill.py", tmp_path / folder)
    assert words == ["-m", "pytest", f"{path}::test_fill[b c]"]
    done = subprocess.run(
        f"{sys.executable} -m pycuda.explain {first}",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path / folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        timeout=120,
    )
    assert "1 failed" in done.stdout and "found 1 error\n" in done.stdout


@pytest.mark.software(why="a GPU may not report the access")
def test_the_advice_quotes_for_a_shell(tmp_path):
    (tmp_path / "test_it.py").write_text(TEST_FILE)
    pytest_run = ("-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider")
    found = advised(tmp_path, *pytest_run, "test_it.py::test_fill[$x]")
    assert {*found} == {'-m pytest "test_it.py::test_fill[\\$x]"'}


@pytest.mark.software(why="a GPU may not report the access")
def test_the_advice_in_another_folder(tmp_path):
    """The test has left the folder from which pytest finds its file."""
    text = TEST_FILE.replace("    x = drv", "    import os; os.chdir('/')\n    x = drv")
    (tmp_path / "test_it.py").write_text(text)
    pytest_run = ("-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider")
    assert advised(tmp_path, *pytest_run, "-k", "b")[0] == "-m pytest"


@pytest.mark.software(why="a GPU may not report the access")
@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["tools/fill.py"], "tools/fill.py"),
        (["tools/fill.py", "-n", "1 0", "$x"], 'tools/fill.py -n "1 0" "\\$x"'),
        (["-m", "tools.fill", "--fast"], "-m tools.fill --fast"),
        (["-m", "tools"], "-m tools"),
        (["-c", "import tools.fill"], "script.py"),
    ],
)
def test_the_advice_names_the_program(tmp_path, command, words):
    """Also if a test of pytest has started it."""
    (tmp_path / "tools").mkdir()
    program = TEST_FILE.replace("import pytest\n", "").replace("@pytest", "#")
    (tmp_path / "tools" / "fill.py").write_text(f"{program}\ntest_fill('b')\n")
    (tmp_path / "tools" / "__main__.py").write_text("import tools.fill")
    given = {"PYTEST_CURRENT_TEST": "test_it.py::test_fill (call)"}
    python = {"PYTHONPATH": f"{os.environ.get('PYTHONPATH', '')}:{tmp_path}"}
    assert advised(tmp_path, *command, **given, **python) == [words]
