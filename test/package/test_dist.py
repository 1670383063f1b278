"""The source archive is complete and builds. The wheel built from it runs in an empty
environment, without a compiler on the PATH and without a toolkit.

The tests compile the wheel without optimization, which takes a quarter of the time.
"""

import ast
import importlib.metadata
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from pycuda import _driver

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("src", "pycuda", "test", "tools", "examples", "bench", "doc", ".ci", ".github")
FILES = (
    *("Makefile", "README.rst", "LICENSE", "NOTICE", "pyproject.toml", "setup.py"),
    *("CITATION.cff", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md"),
)
MADE = re.compile(
    r"\.(pyc|so|o)$|/(__pycache__|_build|results)/|doc/generated/|bench/floor$"
)

#: The comment by which a type checker accepts a line.
IGNORED = "# type: ignore"

#: The names of the C library in every distribution with glibc.
OF_LIBC = re.compile(r"(libc|libm|libdl|libpthread|librt|ld-linux-[\w-]+)\.so\.\d+")


def has_pip():
    """Say whether pip is installed. After find_spec("pip"), setuptools is of no use."""
    try:
        return bool(importlib.metadata.version("pip"))
    except importlib.metadata.PackageNotFoundError:
        return False


needs_pip = pytest.mark.skipif(not has_pip(), reason="pip is not installed")
needs_index = pytest.mark.skipif(
    bool(os.environ.get("PIP_NO_INDEX")), reason="PIP_NO_INDEX: no packages to install"
)

#: Run hello, then print the libraries that the process has loaded.
HELLO = """
import json, runpy, shutil, sys
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
lines = open("/proc/self/maps").read().splitlines()
files = {line.split(None, 5)[5] for line in lines if line.count("/")}
print(json.dumps({
    "compilers": [shutil.which(name) for name in ("cc", "gcc", "clang", "nvcc")],
    "libraries": sorted(file for file in files if ".so" in file),
    "package": sys.modules["pycuda"].__file__,
}))
"""


def run(*command, **options):
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("dist")


@pytest.fixture(scope="module")
def archive(folder):
    """The source archive that `make dist` makes."""
    code = "from setuptools import build_meta; print(build_meta.build_sdist({!r}))"
    said = run(sys.executable, "-c", code.format(str(folder)), cwd=ROOT)
    return folder / said.splitlines()[-1]


@pytest.fixture(scope="module")
def wheel(folder, archive):
    """The wheel built from the unpacked archive."""
    # Python 3.10 and 3.11 have filters since a correction only.
    options = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(archive) as file:
        file.extractall(folder / "unpacked", **options)
    (source,) = (folder / "unpacked").iterdir()
    compiler = folder / "cc"
    linked = sysconfig.get_config_var("CC").split()[0]
    compiler.write_text(f'#!/bin/sh\nexec {linked} "$@" -O0 -g0\n')
    compiler.chmod(0o755)
    options = ["--no-build-isolation", "--no-deps", "--no-index", "-v", "-w", folder]
    run(
        *(sys.executable, "-m", "pip", "wheel", *options, source),
        env={**os.environ, "CC": str(compiler), "LDSHARED": f"{compiler} -shared"},
    )
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def environment(folder, wheel):
    """An environment with the wheel and its requirements, including NVRTC."""
    home = folder / "environment"
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    plain = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    run(*pip, "--python", python, "install", "-q", f"{wheel}[nvrtc]", env=plain)
    return home


def expected_files():
    """Return the files of the tree that are not generated."""
    paths = [path for room in ROOMS for path in (ROOT / room).rglob("*")]
    names = {str(path.relative_to(ROOT)) for path in paths if path.is_file()}
    return {*(name for name in names if not MADE.search(name)), *FILES}


def needed(library):
    """Return the libraries that an ELF file needs."""
    said = run("readelf", "-d", library)
    return re.findall(r"\(NEEDED\).*\[(.+)\]", said)


def strangers(libraries):
    return [name for name in libraries if not OF_LIBC.fullmatch(name)]


def outside(libraries, home):
    """Return the libraries of CUDA outside an environment."""
    cuda = [path for path in libraries if re.search(r"cuda|nvrtc|nvidia", path)]
    return [path for path in cuda if not path.startswith(f"{home}/")]


# -- the archive -----------------------------------------------------------------------


def test_the_source_archive_is_whole(archive):
    with tarfile.open(archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    wanted = expected_files()
    assert len(wanted) > 500
    assert wanted - names == set()
    assert not {name for name in names if MADE.search(name)}


# -- the wheel -------------------------------------------------------------------------


@needs_pip
def test_the_wheel_has_what_it_must(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "pycuda"
    kinds = ("*.py", "*.pyi", "*.hpp", "*.js", "py.typed")
    wanted = {
        str(path.relative_to(ROOT)) for kind in kinds for path in source.rglob(kind)
    }
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    wanted |= {f"pycuda/{name}{suffix}" for name in ("_driver", "_pvt_struct")}
    wanted |= {"pycuda/libpycuda_emulator.so"}
    assert {name for name in names if "dist-info" not in name} == wanted


def functions_of(stub):
    """Return {(class or "", name): docstring or None} of a stub."""
    tree = ast.parse(stub)
    owners = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
    return {
        (getattr(owner, "name", ""), node.name): ast.get_docstring(node)
        for owner in owners
        for node in owner.body
        if isinstance(node, ast.FunctionDef)
    }


def without_texts(stub):
    """Return the declarations of a stub without docstrings and empty bodies."""
    tree = ast.parse(stub)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            node.body = [part for part in node.body if not isinstance(part, ast.Expr)]
    return ast.dump(tree)


@needs_pip
def test_the_stub_of_the_wheel_has_the_docstrings(wheel):
    """The stub of the repository has none, and both declare the same."""
    plain = (ROOT / "pycuda" / "_driver.pyi").read_text(encoding="utf-8")
    told = zipfile.ZipFile(wheel).read("pycuda/_driver.pyi").decode()
    assert without_texts(told) == without_texts(plain)
    assert told.count(IGNORED) == plain.count(IGNORED) > 0
    key = ("Function", "prepared_call")
    assert functions_of(plain)[key] is None
    assert functions_of(told)[key] == inspect.getdoc(_driver.Function.prepared_call)
    missing = {
        key
        for key, doc in functions_of(told).items()
        if doc is None and not key[1].startswith("_") and not key[0].startswith("_Has")
    }
    assert len(functions_of(told)) > 700
    assert missing == set()


@needs_pip
def test_the_wheel_needs_libc_alone(wheel, folder):
    with zipfile.ZipFile(wheel) as file:
        libraries = [name for name in file.namelist() if name.endswith(".so")]
        assert len(libraries) == 3
        for name in libraries:
            path = file.extract(name, folder / "elf")
            assert "libc.so.6" in needed(path)
            assert strangers(needed(path)) == []


def test_another_library_is_seen(tmp_path):
    """The C++ library is an example of a library that a machine may lack."""
    source = tmp_path / "x.c"
    source.write_text("int x(void) { return 1; }\n")
    made = tmp_path / "x.so"
    flags = ["-shared", "-fPIC", "-Wl,--no-as-needed"]
    run("gcc", *flags, source, "-l:libgcc_s.so.1", "-o", made)
    assert strangers(needed(made)) == ["libgcc_s.so.1"]


# -- an empty environment --------------------------------------------------------------


@needs_pip
@needs_index
def test_hello_in_an_empty_environment(environment, tmp_path):
    shutil.copy(ROOT / "examples" / "hello_gpu.py", tmp_path)
    said = run(
        *(environment / "bin" / "python", "-I", "-c", HELLO, tmp_path / "hello_gpu.py"),
        cwd=tmp_path,
        env={
            "PATH": str(tmp_path / "nothing"),
            "HOME": str(tmp_path),
            "PYCUDA_DRIVER": "emulator",
            "PYCUDA_COMPILER": "nvrtc",
            # The folders of NVIDIA's wheels precede the usual folder of a toolkit.
            "CUDA_HOME": str(*environment.glob("lib/python*/site-packages/nvidia/cu*")),
        },
    )
    *printed, facts = said.splitlines()
    assert sum(line.endswith("*") for line in printed) == 20
    facts = json.loads(facts)
    assert facts["compilers"] == [None] * 4
    assert facts["package"].startswith(f"{environment}/")
    loaded = [Path(path).name for path in facts["libraries"]]
    assert any(name.startswith("libnvrtc.so") for name in loaded)
    assert "libpycuda_emulator.so" in loaded
    assert outside(facts["libraries"], environment) == []


@needs_pip
@needs_index
def test_an_extra_by_name_keeps_the_package(environment):
    """The index has another package of this name."""
    pip = [sys.executable, "-m", "pip", "--python", environment / "bin" / "python"]
    said = run(*pip, "install", "--dry-run", "pycuda[mpi]")
    installed = re.search(r"Would install (.*)", said)[1].split()
    assert any(name.startswith("mpi4py-") for name in installed)
    assert not any(name.startswith("pycuda-") for name in installed)


def test_a_toolkit_would_be_seen():
    home = "/tmp/environment"
    libraries = [
        "/usr/lib/libc.so.6",
        f"{home}/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
        "/usr/local/cuda/lib64/libnvrtc.so.13",
    ]
    assert outside(libraries, home) == ["/usr/local/cuda/lib64/libnvrtc.so.13"]
