"""How setup.py compiles the C files, and the steps of `make hello`."""

import ast
import importlib.util
import os
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest
from setuptools import Distribution
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

from support.cc import ROOT

SOURCE = "src/cpp_free_c"


def load(path, monkeypatch):
    """Return a script of the repository as a module."""
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(str(path.parent))
    spec = importlib.util.spec_from_file_location(f"its_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def build(monkeypatch):
    return load(ROOT / "setup.py", monkeypatch)


@pytest.fixture
def set_up(monkeypatch, tmp_path):
    module = load(ROOT / "tools" / "set_up.py", monkeypatch)
    monkeypatch.setattr(module, "VENV", tmp_path / "venv")
    return module


# -- the C files -----------------------------------------------------------------------


def command(build, extensions, folder, spawn=None, **options):
    """Return the command build_ext with places in a folder.

    ``spawn`` is called with the words for each file and library: no compiler runs.
    """

    class Command(build.BuildExt):
        def build_extensions(self):
            self.compiler._compile = (
                lambda made, source, suffix, before, after, options: spawn(
                    [source, *after, "-o", made]
                )
            )
            self.compiler.link_shared_object = lambda objects, made, *a, **kw: spawn(
                ["-shared", "-o", made]
            )
            super().build_extensions()

    made = Command(Distribution({"ext_modules": extensions}))
    made.build_temp, made.build_lib = str(folder / "temp"), str(folder / "lib")
    for name, value in options.items():
        setattr(made, name, value)
    (folder / "temp").mkdir(exist_ok=True)
    made.ensure_finalized()
    return made


def spawned(build, extensions, folder, **options):
    """Return the commands of the compiler in a build."""
    commands = []
    command(build, extensions, folder, commands.append, **options).run()
    return commands


def sources_of(commands):
    return [word for words in commands for word in words if word.endswith(".c")]


def included(path):
    """Return the files that a file written by setup.py includes."""
    lines = Path(path).read_text().splitlines()
    return [Path(line.removeprefix('#include "').removesuffix('"')) for line in lines]


def test_the_files_of_a_folder_are_compiled_as_one(build, tmp_path):
    commands = spawned(build, build.extensions, tmp_path, parallel=1)
    assert len([words for words in commands if "-shared" in words]) == 3
    made = sources_of(commands)
    assert len(made) == len(set(made)) < 60
    groups = [included(path) for path in made]
    found = sorted(path for group in groups for path in group)
    assert found == sorted(path.absolute() for path in Path(SOURCE).rglob("*.c"))
    assert all(len({path.parent for path in group}) == 1 for group in groups)


def test_the_slowest_files_come_first_and_are_compiled_alone(build, tmp_path):
    made = sources_of(spawned(build, build.extensions, tmp_path, parallel=1))
    slow = ["handler_" in Path(path).name for path in made]
    assert sum(slow) >= 5 and all(slow[: sum(slow)])
    assert all(len(included(path)) == 1 for path in made[: sum(slow)])


def test_separately_each_file_is_compiled_with_every_warning(build, tmp_path):
    commands = spawned(build, build.extensions, tmp_path, separately=True)
    files = sorted(path.as_posix() for path in Path(SOURCE).rglob("*.c"))
    assert sorted(sources_of(commands)) == files
    assert not any("-Wno-shadow" in words for words in commands)


def test_the_progress_is_printed_if_asked_for(build, tmp_path, capsys):
    sources = [tmp_path / "a" / "a.c", tmp_path / "b" / "b.c"]
    for source in sources:
        source.parent.mkdir()
        source.touch()
    extensions = [build.Extension("a", [str(source) for source in sources])]
    spawned(build, extensions, tmp_path, progress=True)
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "compiled 1 of 2",
        "compiled 2 of 2",
    ]
    spawned(build, extensions, tmp_path, force=True)
    assert "compiled" not in capsys.readouterr().out


def test_an_error_ends_the_build(build, tmp_path):
    tried = []

    def spawn(words):
        tried.append(words)
        raise CompileError("no")

    options = {"parallel": 1, "separately": True}
    with pytest.raises(CompileError):
        command(build, build.extensions, tmp_path, spawn, **options).run()
    assert len(tried) < 20


def test_an_extension_that_is_up_to_date_is_not_built(build, monkeypatch, tmp_path):
    source, made = tmp_path / "a.c", tmp_path / "lib" / "a.so"
    source.touch()
    made.parent.mkdir()
    made.touch()
    extensions = [build.Extension("a", [str(source)])]
    monkeypatch.setattr(build.BuildExt, "get_ext_filename", lambda self, name: "a.so")
    assert spawned(build, extensions, tmp_path) == []
    os.utime(made, (0, 0))
    (path,) = sources_of(spawned(build, extensions, tmp_path))
    assert included(path) == [source]


def test_an_editable_installation_reuses_the_library(build, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    source, inplace = tmp_path / "a.c", tmp_path / "a.so"
    source.touch()
    inplace.write_text("library")
    extension = build.Extension("a", [str(source)])
    built = []
    monkeypatch.setattr(build_ext, "build_extension", lambda self, ext: built.append(1))
    made_by = command(build, [extension], tmp_path, editable_mode=True)
    made = tmp_path / "new" / "a.so"
    monkeypatch.setattr(made_by, "get_ext_fullname", lambda name: name)
    monkeypatch.setattr(made_by, "get_ext_filename", lambda name: "a.so")
    monkeypatch.setattr(made_by, "get_ext_fullpath", lambda name: str(made))
    made_by.build_extension(extension)
    assert (built, made.read_text()) == ([], "library")
    made.unlink()
    os.utime(inplace, (0, 0))
    made_by.build_extension(extension)
    assert built == [1]


def imported(path):
    """Return the names of the modules that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module


def test_no_test_imports_pip(tmp_path):
    """Before Python 3.12, its import takes distutils away from setuptools."""
    files = [*(ROOT / "test").rglob("*.py")]
    assert len(files) > 300
    wrong = {path for path in files for name in imported(path) if is_pip(name)}
    assert wrong == set()
    bad = tmp_path / "bad.py"
    bad.write_text("from pip._vendor import tomli\n")
    assert [*map(is_pip, imported(bad))] == [True]


def is_pip(name):
    return name.partition(".")[0] == "pip"


# -- the stub of a wheel ---------------------------------------------------------------


@pytest.fixture
def documented(build, monkeypatch, tmp_path):
    """Write a stub for an extension with a suffix. Return what was written and said.

    The place of the other extension, the one that is built in place, is a folder.
    """

    def write(suffix, place=ROOT):
        made = command(build, [], tmp_path)
        said = []
        monkeypatch.setattr(made, "get_ext_filename", lambda name: f"{name}{suffix}")
        monkeypatch.setattr(made, "warn", said.append)
        monkeypatch.setattr(build.Path, "cwd", lambda: place)
        folder = tmp_path / "lib" / "pycuda"
        folder.mkdir(parents=True, exist_ok=True)
        made.document(folder)
        stub = folder / "_driver.pyi"
        return stub.exists() and "Allocate device memory" in stub.read_text(), said

    return write


def test_another_pythons_stub_has_the_docstrings_of_the_one_in_place(
    documented, tmp_path
):
    other = ".cpython-399-aarch64-linux-gnu.so"
    assert documented(other) == (True, [])
    (tmp_path / "lib/pycuda/_driver.pyi").unlink()
    written, (said,) = documented(other, tmp_path / "nowhere")
    assert not written and "no extension is built in place" in said


def test_an_extension_without_docstrings_fails_the_build(documented):
    with pytest.raises(subprocess.CalledProcessError):
        documented(EXTENSION_SUFFIXES[0])  # there is no such file


# -- the steps of make hello -----------------------------------------------------------


def test_a_step_shows_the_output_of_a_command_only_if_it_fails(set_up, capsys):
    code = "print('much'); raise SystemExit({})"
    with set_up.step("a step that works"):
        set_up.run(sys.executable, "-c", code.format(0))
    shown = capsys.readouterr().out
    assert shown.startswith("a step that works") and shown.endswith(" s\n")
    assert "much" not in shown
    with (
        pytest.raises(set_up.Failed, match="much\n\nended with status 3"),
        set_up.step("a step that fails"),
    ):
        set_up.run(sys.executable, "-c", code.format(3))
    assert capsys.readouterr().out.split() == ["a", "step", "that", "fails", "failed"]


def test_a_machine_without_a_c_compiler(set_up, monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler -pthread")
    with pytest.raises(set_up.Failed, match="no-such-compiler was not found.*gcc"):
        set_up.must_compile()


def test_a_machine_without_the_headers_of_python(set_up, monkeypatch, tmp_path):
    monkeypatch.setenv("CC", sys.executable)
    set_up.must_compile()
    monkeypatch.setattr(
        set_up.sysconfig, "get_paths", lambda: {"include": str(tmp_path)}
    )
    with pytest.raises(set_up.Failed, match="Python.h does not exist.*python3-dev"):
        set_up.must_compile()


def test_an_old_python_is_named(set_up, monkeypatch):
    monkeypatch.setattr(set_up, "OLDEST", (99, 0))
    with pytest.raises(set_up.Failed, match="set PYTHON to"):
        set_up.environment()


def test_nvrtc_is_fetched_only_without_a_compiler_for_kernels(
    set_up, monkeypatch, tmp_path
):
    for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(set_up.ctypes.util, "find_library", lambda name: None)
    if not os.path.exists("/usr/local/cuda/bin/nvcc"):
        assert not set_up.may_have_kernel_compiler()
    nvcc = tmp_path / "cuda" / "bin" / "nvcc"
    nvcc.parent.mkdir(parents=True)
    nvcc.touch()
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "cuda"))
    assert set_up.may_have_kernel_compiler()


def test_make_hello_installs_nothing_for_tests_and_pages():
    """make says what it would do, without doing it."""
    said = subprocess.run(
        ["make", "-n", "-B", "hello"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "set_up.py environment" in said and "set_up.py build --compiler" in said
    assert "requires.py" not in said
    said = subprocess.run(
        ["make", "-n", "-B", "test"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "requires.py test doc" in said and "--compiler" not in said
