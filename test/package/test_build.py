"""How setup.py compiles the C files, and the steps of `make hello`."""

import ast
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from setuptools import Distribution
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

from support.cc import ROOT


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


# -- files that are compiled together --------------------------------------------------


def names_of(layout, source):
    """Return the functions and variables of a file, as the layout check reads them."""
    path = Path(source)
    text = layout.Source(path, source, path.relative_to(layout.SOURCE).as_posix())
    variables = {name for _, name, _ in layout.variables(text)}
    return {*text.functions, *variables} - {"__attribute__", "EMU_OP"}


def clashes(layout, groups):
    """Return the names that two files of a group define."""
    found = set()
    for group in groups:
        seen = set()
        for source in group:
            names = names_of(layout, source)
            found |= names & seen
            seen |= names
    return found


def test_every_file_is_in_one_group_and_no_names_clash(build, monkeypatch):
    layout = load(ROOT / "tools" / "check_layout.py", monkeypatch)
    sources = []
    for extension in build.extensions:
        groups = build.groups(extension.sources)
        sources += [source for group in groups for source in group]
        assert sorted(sum(groups, [])) == sorted(extension.sources)
        assert len(extension.sources) < 10 or len(groups) < len(extension.sources) / 4
        assert clashes(layout, groups) == set()
        # The check sees clashes: there are some between the files of an extension.
        if len(extension.sources) > 10:
            assert clashes(layout, [extension.sources])
    assert len(sources) == len(set(sources)) > 400


FILES = {
    "one.c": "static int count;\nstatic int\nadd(int x)\n{\n    return x + count;\n}\n",
    "two.c": "static int count;\n",
    "three.c": "enum { LEFT, RIGHT = 4 };\n",
    "four.c": "typedef struct {\n    int x;\n} RIGHT;\n",
    "five.c": "#define add 3\n",
    "six.c": "static const char *const texts[2] = {0};\n",
    "seven.c": "#define _GNU_SOURCE\n#include <math.h>\n",
    "eight.c": "#define _GNU_SOURCE\n#include <time.h>\n",
}


def test_files_that_give_the_same_name_are_apart(build, monkeypatch, tmp_path):
    monkeypatch.setattr(build, "SOURCE", str(tmp_path))
    folder = tmp_path / "room"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    groups = build.groups([str(folder / name) for name in FILES])
    found = [{Path(source).name for source in group} for group in groups]
    together = [group for group in found if len(group) > 1]
    for one, other in (("one", "two"), ("three", "four"), ("one", "five")):
        assert not any({f"{one}.c", f"{other}.c"} <= group for group in together)
    assert {"seven.c", "eight.c"} in found  # they ask for the same functions of libc
    assert any("six.c" in group for group in together)


def command(build, **options):
    made = build.BuildExt(Distribution())
    made.initialize_options()
    for name, value in options.items():
        setattr(made, name, value)
    return made


def test_files_that_do_not_compile_together_are_compiled_alone(
    build, monkeypatch, capsys
):
    tried = []

    def run(self):
        tried.append(self.separately)
        if not self.separately:
            raise CompileError("no")

    monkeypatch.setattr(build_ext, "run", run)
    command(build).run()
    assert tried == [False, True]
    assert "compiling each file alone" in capsys.readouterr().out
    monkeypatch.setattr(build_ext, "run", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        command(build).run()


def test_an_error_of_a_lone_file_is_reported(build, monkeypatch):
    def run(self):
        raise CompileError("no")

    monkeypatch.setattr(build_ext, "run", run)
    with pytest.raises(CompileError):
        command(build, separately=True).run()


def test_an_extension_that_is_up_to_date_is_not_built(build, monkeypatch, tmp_path):
    source, made = tmp_path / "a.c", tmp_path / "a.so"
    for path in (source, made):
        path.touch()
    extension = build.Extension("a", [str(source)])
    built = []
    monkeypatch.setattr(build_ext, "build_extension", lambda self, ext: built.append(1))
    made_by = command(build, build_temp=str(tmp_path))
    monkeypatch.setattr(made_by, "get_ext_fullpath", lambda name: str(made))
    monkeypatch.setattr(made_by, "merge", lambda name, sources: sources)
    made_by.build_extension(extension)
    assert built == []
    os.utime(made, (0, 0))
    made_by.build_extension(extension)
    assert built == [1]


def test_an_editable_installation_reuses_the_library(build, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    source, inplace = tmp_path / "a.c", tmp_path / "a.so"
    source.touch()
    inplace.write_text("library")
    extension = build.Extension("a", [str(source)])
    built = []
    monkeypatch.setattr(build_ext, "build_extension", lambda self, ext: built.append(1))
    made_by = command(build, build_temp=str(tmp_path), editable_mode=True)
    made = tmp_path / "new" / "a.so"
    monkeypatch.setattr(made_by, "get_ext_fullname", lambda name: name)
    monkeypatch.setattr(made_by, "get_ext_filename", lambda name: "a.so")
    monkeypatch.setattr(made_by, "get_ext_fullpath", lambda name: str(made))
    monkeypatch.setattr(made_by, "merge", lambda name, sources: sources)
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
