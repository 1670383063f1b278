"""Coverage of kernels: which lines and branches ran, and the reports of that."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from pycuda import _coverage_reports
from pycuda._covered import File, Outcome, totals
from support.compilers import needs_nvcc

START = '''
import sys
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule

SOURCE = """
__device__ int limited(int a)
{
    if (a > 90) /*limit*/
        a = a * a - 7 * a; /*above*/
    return a;
}
__global__ void k(int *x, int n, int mode)
{
    int i = threadIdx.x;
    if (i >= n) /*guard*/
        return;
    int s = 0;
    for (int j = 0; j < n; j++) /*loop*/
        s += x[j]; /*body*/
    if (mode == 3 && s > 10) /*and*/
        x[0] = 5; /*then*/
    else if (mode == 4) /*elseif*/
        x[1] = 6;
    else
        x[2] = limited(s); /*else*/
    switch (mode) { /*switch*/
    case 1: x[3] = 4; break; /*one*/
    case 2: atomicAdd(x, 3); break; /*two*/
    case 7: x[4] = s; break;
    }
    x[5] = x[6] > 3 ? x[7] : s; /*choose*/
    while (s > 500) /*while*/
        s = s / 2 + x[8];
    x[9] = s; /*end*/
}
"""

def launch(n, mode, first=0):
    x = np.arange(first, first + 32, dtype=np.int32)
    SourceModule(SOURCE).get_function("k")(
        drv.InOut(x), np.int32(n), np.int32(mode), block=(32, 1, 1)
    )
'''


@pytest.fixture
def coverage(tmp_path):
    """Write a script, and run the command over it in its folder."""

    def coverage(text, *options, check=True, name="script.py"):
        (tmp_path / name).write_text(text)
        command = [sys.executable, "-m", "pycuda", "coverage", *options, name]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert not check or done.returncode == 0, done.stderr
        return done

    return coverage


@pytest.fixture
def measured(coverage):
    """Return what ran, by the tags of the lines."""

    def measured(launches):
        text = START + launches
        found = json.loads(coverage(text, "--json").stdout)
        (file,) = found["files"]
        assert file["name"].endswith("script.py")
        tags = {
            str(number): match[1]
            for number, row in enumerate(text.split("\n"), 1)
            if (match := re.search(r"/\*(\w+)\*/", row))
        }
        lines = {tags[n]: count for n, count in file["lines"].items() if n in tags}
        ways = {}
        for number, decisions in file["branches"].items():
            for way in (each for decision in decisions for each in decision):
                to = tags.get(str(way["line"]), way["to"].partition(" ")[0])
                ways.setdefault(tags.get(number, number), {})[to] = way["threads"]
        return lines, ways

    return measured


def not_taken(ways):
    return {(at, to) for at, tos in ways.items() for to, n in tos.items() if not n}


@needs_nvcc
def test_lines_that_ran_are_counted(measured):
    lines, _ = measured("launch(20, 1)\nlaunch(8, 3)")
    assert lines["guard"] == 64
    assert lines["loop"] > 0 and lines["body"] > 0
    assert (lines["then"], lines["else"], lines["end"]) == (8, 20, 28)
    assert (lines["one"], lines["two"]) == (20, 0)


@needs_nvcc
def test_branches_that_were_not_taken_are_named(measured):
    _, ways = measured("launch(32, 3)")
    found = not_taken(ways)
    assert ("and", "elseif") in found
    assert {("switch", "one"), ("switch", "two")} <= found
    assert ways["and"]["then"] == 32
    assert [to for at, to in found if at == "guard"] == ["line"]  # to the end
    assert not [each for each in found if each[0] in ("loop", "choose")]


@needs_nvcc
def test_branches_that_were_taken_are_not_named(measured):
    _, ways = measured(
        "for mode in (1, 2, 3, 4, 7, 9):\n"
        "    for n, first in ((20, 0), (7, 100), (4, -50), (1, 0)):\n"
        "        launch(n, mode, first)\n"
    )
    assert not_taken(ways) == set()
    assert {"guard", "loop", "and", "elseif", "switch", "while"} <= set(ways)


@needs_nvcc
@pytest.mark.parametrize("n", [4, 8, 20, 3, 5])
def test_the_last_turns_of_an_unrolled_loop_are_no_branch(measured, n):
    _, ways = measured(f"launch({n}, 1)")
    assert ways["loop"].keys() == {"body", "and"}
    assert all(ways["loop"].values())


@needs_nvcc
def test_a_loop_that_is_never_entered_is_named(measured):
    changed = "SOURCE = SOURCE.replace('j < n', 'j < n - 32')\n"
    lines, _ = measured(f"launch(32, 1)\n{changed}")
    assert lines["body"] > 0
    lines, ways = measured(f"{changed}launch(32, 1)")
    assert lines["body"] == 0
    assert ("loop", "body") in not_taken(ways)


LOADS = """
SOURCE = '''
__global__ void k(int *to, const int *from, int height, int width)
{
    __shared__ int tile[22][22];
    int left = blockIdx.x * 16 - 3;
    int top = blockIdx.y * 16 - 3;
    for (int y = threadIdx.y; y < SIDE; y += 16)
        for (int x = threadIdx.x; x < SIDE; x += 16) {
            int column = min(max(left + x, 0), width - 1); /*column*/
            int row = min(max(top + y, 0), height - 1);
            tile[y][x] = from[row * width + column]; /*load*/
        }
    __syncthreads();
    to[threadIdx.x] = tile[threadIdx.y][threadIdx.x]; /*end*/
}
'''.replace("SIDE", sys.argv[1] if len(sys.argv) > 1 else "22")
x = np.zeros(100, np.int32)
SourceModule(SOURCE).get_function("k")(
    drv.InOut(x), drv.In(x), np.int32(10), np.int32(10), block=(16, 16, 1)
)
"""


@needs_nvcc
def test_a_line_whose_instructions_are_moved_out_of_a_loop(measured):
    lines, _ = measured(LOADS)
    assert all(lines[tag] for tag in ("load", "end")) and lines.get("column", 1)
    lines, ways = measured(LOADS.replace('"22"', '"height - 10"'))
    assert lines["load"] == 0 and not lines.get("column", 0) and lines["end"]


@needs_nvcc
def test_instances_and_files_are_merged(coverage, tmp_path):
    (tmp_path / "own.h").write_text(
        "template <typename T> __device__ T twice(T a)\n{\n"
        "    if (a > 3)\n        return a * a * a;\n    return a + 1;\n}\n"
    )
    (tmp_path / "kernels.cu").write_text(
        '#include "own.h"\nextern "C" __global__ void f(float *x, int *y)\n{\n'
        "    x[0] = twice(x[threadIdx.x]);\n    y[0] = twice(y[threadIdx.x]);\n}\n"
    )
    text = (
        START.partition("SOURCE")[0]
        + """
m = SourceModule(open("kernels.cu").read(), include_dirs=["."], no_extern_c=True)
x = np.full(32, float(sys.argv[1]), np.float32)
y = np.full(32, 9, np.int32)
m.get_function("f")(drv.InOut(x), drv.InOut(y), block=(32, 1, 1))
"""
    )
    (tmp_path / "script.py").write_text(text)
    for value, branches in ("0", (2, 0)), ("8", (2, 1)):
        command = [sys.executable, "-m", "pycuda.coverage", "--json"]
        done = subprocess.run(
            [*command, "script.py", value],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        files = json.loads(done.stdout)["files"]
        assert [os.path.basename(file["name"]) for file in files] == [
            "kernels.cu",
            "own.h",
        ]
        (way,) = files[1]["branches"]["3"]
        taken = [each["threads"] for each in way]
        assert (len(taken), taken.count(0)) == branches


@needs_nvcc
def test_linked_sources(coverage):
    text = (
        START.partition("SOURCE")[0]
        + """
from pycuda.compiler import DynamicModule
ONE = '''
__device__ int twice(int a)
{
    return a * 2;
}
'''
OTHER = '''
__device__ int twice(int a);
__global__ void f(int *x)
{
    x[threadIdx.x] = twice(x[threadIdx.x]);
}
'''
module = DynamicModule()
for source in ONE, OTHER:
    module.add_source(source, nvcc_options=["-rdc=true"])
f = module.link().get_function("f")
f(drv.InOut(np.ones(32, np.int32)), block=(32, 1, 1))
"""
    )
    (file,) = json.loads(coverage(text, "--json").stdout)["files"]
    rows = [text.split("\n")[int(n) - 1].strip() for n in file["lines"]]
    assert rows == ["return a * 2;", "x[threadIdx.x] = twice(x[threadIdx.x]);"]
    assert list(file["lines"].values()) == [32, 32]


# -- the command -----------------------------------------------------------------------


@needs_nvcc
def test_the_table_and_the_files(coverage, tmp_path):
    options = ("--html", "o/page.html", "--xml", "c.xml", "--lcov", "c.lcov")
    done = coverage(START + "launch(32, 4)\nprint('own output')", *options)
    assert done.stdout.startswith("own output\n")
    row = next(x for x in done.stdout.splitlines() if x.startswith("script.py"))
    then = 1 + (START.split("/*then*/")[0].count("\n"))
    assert f"{then - 1}->{then}" in done.stdout and str(then) in row
    page = (tmp_path / "o" / "page.html").read_text()
    assert f"never to line {then}" in page and "x[0] = 5;" in page
    tree = ET.parse(tmp_path / "c.xml")
    hits = {x.get("number"): x.get("hits") for x in tree.iter("line")}
    assert hits[str(then)] == "0" and hits[str(then + 2)] == "32"
    assert [x.get("filename") for x in tree.iter("class")] == ["script.py"]
    lcov = (tmp_path / "c.lcov").read_text().splitlines()
    assert f"DA:{then},0" in lcov and "SF:script.py" in lcov
    assert any(x.startswith(f"BRDA:{then - 1},0,") and x.endswith(",0") for x in lcov)


@needs_nvcc
def test_the_status(coverage):
    program = START + "launch(32, 4)\n"
    assert coverage(program, "--fail-under", "5").returncode == 0
    failed = coverage(program, "--fail-under", "99.5", check=False)
    assert failed.returncode == 1 and "99.5% are asked for" in failed.stdout
    assert coverage(program + "sys.exit(7)", check=False).returncode == 7
    assert coverage("", "--fail-under", "101", check=False).returncode == 2
    nothing = coverage("print(1)")
    assert "no kernel of the program was loaded" in nothing.stdout


def test_a_missing_program(coverage):
    done = coverage("", "-m", check=False)
    assert done.returncode == 2 and "there is no module 'script.py'" in done.stderr


@needs_nvcc
def test_sources_can_be_chosen(coverage, tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "other.py").write_text('''K = """
__global__ void other(int *x)
{
    x[threadIdx.x] = 17;
}
"""
''')
    text = START + (
        "sys.path.append('lib')\nfrom other import K\nlaunch(32, 4)\n"
        "SourceModule(K).get_function('other')(drv.InOut(np.zeros(32, np.int32)), "
        "block=(32, 1, 1))\n"
        "from pycuda import gpuarray\n(gpuarray.zeros(3, np.int32) + 1)\n"
    )

    def names(*options):
        files = json.loads(coverage(text, "--json", *options).stdout)["files"]
        return [os.path.basename(file["name"]).partition(" ")[0] for file in files]

    assert names() == ["other.py", "script.py"]
    assert names("--source", "lib") == ["other.py"]
    assert "kernel" in names("--generated")


@needs_nvcc
def test_a_cell_of_a_notebook(coverage):
    cells = [START, "launch(32, 4)"]
    book = {"cells": [{"cell_type": "code", "source": text} for text in cells]}
    done = coverage(json.dumps(book), name="book.ipynb")
    assert re.search(r"book\.ipynb\[1\] +\d+ +[1-9]", done.stdout)


# -- reports ---------------------------------------------------------------------------


def test_totals_and_ranges():
    ways = [[Outcome("line 3", 3, 4), Outcome("line 5", 5, 0)]]
    file = File("/a/b.py", [""] * 9, {2: 4, 3: 0, 4: 0, 7: 0, 9: 1}, {2: ways[0:1]})
    assert totals([file]) == (5, 2, 2, 1)
    assert round(totals([file]).percent(), 1) == 42.9
    assert _coverage_reports.ranges(file.missing(), file.lines) == "3-7"
    assert _coverage_reports.ranges([2, 4], file.lines) == "2, 4"
    assert totals([]).percent() == 100
    nearly = File("/a", [], {n: int(n != 3) for n in range(1, 1000)}, {})
    assert _coverage_reports.percent_text(totals([nearly])) == "99%"


def test_outcomes_of_a_line_that_never_ran_are_not_named():
    ways = [[Outcome("line 3", 3, 0), Outcome("line 5", 5, 0)]]
    assert File("/a", [], {2: 0}, {2: ways[0:1]}).missing_outcomes() == []
    assert len(File("/a", [], {2: 1}, {2: ways[0:1]}).missing_outcomes()) == 2
