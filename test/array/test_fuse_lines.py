"""Lines of Python in reports about fused kernels: coverage, counts and faults."""

import json
import subprocess
import sys

import numpy as np
import pytest

from pycuda import fuse, gpuarray
from pycuda._compile import recording
from support.child import run_child

pytestmark = pytest.mark.software(why="a GPU does not name a line")

PROGRAM = """
import numpy as np
import pycuda.autoinit
import pycuda.fuse
from pycuda.gpuarray import to_gpu

@pycuda.fuse
def step(x):
    y = np.where(x > 2, x * 2, x + 1)  # where
    y = np.roll(y, 1)  # roll

    def body(u):
        v = u * 0.5  # body
        return v + 1  # end of body

    y = pycuda.fuse.loop(3, body, y)
    return y / y.sum()  # sum

@pycuda.fuse
def one(x):
    return x * 3 + 1  # one

@pycuda.fuse
def other(x):
    return x * 3 + 1  # other

@pycuda.fuse
def rows(x):
    return x[1:, 1:] * x[:-1, 1:]  # rows

x = to_gpu(np.arange(10, dtype=np.float32))
step(x)
one(x)
rows(to_gpu(np.ones((70, 200), np.float32)))
"""


def _line(mark):
    rows = PROGRAM.split("\n")
    return 1 + next(n for n, row in enumerate(rows) if row.endswith(f"# {mark}"))


def _covered(text, tmp_path):
    (tmp_path / "script.py").write_text(text)
    command = [sys.executable, "-m", "pycuda", "coverage", "--json", "script.py"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (file,) = json.loads(done.stdout)["files"]
    return file


def test_coverage_shows_the_lines_of_operations(tmp_path):
    file = _covered(PROGRAM, tmp_path)
    assert file["name"].endswith("script.py")
    marks = ["where", "roll", "body", "end of body", "sum", "one", "rows"]
    assert sorted(file["lines"]) == sorted(str(_line(mark)) for mark in marks)
    assert all(count > 0 for count in file["lines"].values())
    assert file["lines"][str(_line("one"))] == 10


def test_functions_with_the_same_kernel_have_their_own_lines(tmp_path):
    file = _covered(PROGRAM + "other(x)\n", tmp_path)
    assert str(_line("one")) in file["lines"]
    assert str(_line("other")) in file["lines"]


def test_a_branch_of_where_is_one_of_its_line(tmp_path):
    text = """
import numpy as np
import pycuda.autoinit
import pycuda.fuse
from pycuda.gpuarray import to_gpu

@pycuda.fuse
def step(x):
    return np.where(x > 2, x * 2, x + 1)

step(to_gpu(np.arange(10, dtype=np.float32)))
"""
    (ways,) = _covered(text, tmp_path)["branches"]["9"]
    assert sorted(way["threads"] for way in ways) == [3, 7]


FAULT = """
import numpy as np
import pycuda.autoinit
import pycuda.fuse
from pycuda import gpuarray

@pycuda.fuse
def step(x, y):
    z = x * 2
    w = y + 1  # reads nothing
    return z * w

x = gpuarray.zeros(10, np.float32)
step(x, gpuarray.GPUArray((10,), np.float32, gpudata=4096)).get()
"""


@pytest.mark.parametrize("check", [None, "memory"])
def test_a_fault_names_the_line_of_the_operation(tmp_path, check):
    path = tmp_path / "faulty.py"
    path.write_text(FAULT)
    code = f"import runpy; runpy.run_path({str(path)!r})"
    done = run_child(code, check=False, PYCUDA_CHECK=check)
    assert f"faulty.py:{FAULT.split('# reads')[0].count(chr(10)) + 1}\n" in done.stderr


def test_sources_have_no_lines_unless_they_are_asked_for(ctx):
    x = gpuarray.zeros(10, np.float32)
    made = fuse.fuse(lambda x: x * 2 + 1)
    first = made.source(x)
    assert "#line" not in first
    assert first == fuse.fuse(lambda x: x * 2 + 1).source(x)
    (source,) = made._record((x,), {}).sources
    assert source.to_compile() == first
    with_lines = recording.with_lines(first)
    assert (
        f'#line {made.__wrapped__.__code__.co_firstlineno} "{__file__}"' in with_lines
    )
    assert '"kernel.cu"' in with_lines
    assert recording.with_lines("unknown") == "unknown"
