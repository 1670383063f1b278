"""The recipes of doc/contributing.rst work.

The tests take the steps of all recipes in a copy of the tree and build it. The programs
must print the output on the page there, but not in the tree without the steps. The last
two recipes make a mistake and fix it, so the copy is built twice. Copies are compiled
without optimization, which takes a quarter of the time.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

from device.conformance import answers, runner, suite

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "doc" / "contributing.rst"
PLACE = (
    r"In (?P<new>a new file )?``(?P<path>[^`]+)``"
    r"(?:, (?:(?P<where>after|before|instead of) ``(?P<mark>[^\n]+)``|at the end))?"
)
#: A step, a program, and the output of the program after the steps so far.
PART = re.compile(
    rf"^(?:{PLACE}:\n\n|(?P<then>Then:\n\n)|(?P<prints>))"
    r"\.\. code-block:: (?P<language>\w+)\n\n(?P<block>(?:    .*\n|\n)+)",
    re.MULTILINE,
)
TREE = (
    *("src", "pycuda", "tools", "setup.py", "pyproject.toml", "README.rst"),
    *("LICENSE", "NOTICE", "doc/modules"),
)
DEVICE = Path("pycuda", "libpycuda_emulator.so")

#: The error of a program in the tree without the steps.
WITHOUT = {
    "A function of the driver": "no attribute 'linear_texture_width'",
    "A type with a handle": "no attribute 'Counter'",
    "An operation on arrays and its dtype rule": "KeyError",
    "A function of arrays": "no attribute 'square_sum'",
    "An opcode of the software device": "parity",
    "A load of the software device": "ldrev",
}
FIX = "A wrong opcode, without a GPU"

#: The recipes that make a mistake first.
FIXED = ("A load of the software device", FIX)


def indented_away(block):
    return (
        "".join(line[4:] or "\n" for line in block.strip("\n").splitlines(True)) + "\n"
    )


@dataclass
class Recipe:
    """The program of a recipe, and its stages: steps, then the program's output."""

    program: str
    stages: list


def read(text):
    """Return the recipe in a section, or None if it has no program."""
    program, stages, steps = None, [], []
    for part in PART.finditer(text):
        if part["path"]:
            steps.append(part)
        elif part["then"]:
            program = indented_away(part["block"])
        elif part["language"] == "text":
            stages.append((steps, indented_away(part["block"])))
            steps = []
    assert not steps, "these steps have no output"
    return Recipe(program, stages) if program else None


def recipes():
    """Return {title: recipe}."""
    parts = re.split(r"^([^\n]+)\n-+\n", PAGE.read_text(), flags=re.MULTILINE)
    found = zip(parts[1::2], map(read, parts[2::2]), strict=True)
    return {title: recipe for title, recipe in found if recipe}


RECIPES = recipes()


def indentation(text):
    return len(text) - len(text.lstrip(" "))


def take(step, tree):
    """Take one step of a recipe."""
    path = tree / step["path"]
    block = indented_away(step["block"])
    if step["new"]:
        assert not path.exists()
        path.write_text(block)
        return
    text = path.read_text()
    if step["where"] is None:
        path.write_text(f"{text}\n{block}")
        return
    mark = step["mark"].replace("⏎", "\n")
    assert text.count(mark) == 1, (
        f"{step['path']} has this line {text.count(mark)} times: {mark}\n"
        "A recipe of doc/contributing.rst names it. If the line was changed, change it "
        "in the recipe, too"
    )
    place = text.index(mark)
    line, following = text.rfind("\n", 0, place) + 1, text.index("\n", place) + 1
    if step["where"] == "instead of":
        # A row of a table goes on in the lines that are indented further.
        while indentation(text[following:]) > indentation(text[line:]):
            following = text.index("\n", following) + 1
        path.write_text(text[:line] + block + text[following:])
    elif step["where"] == "after":
        path.write_text(text[:following] + block + text[following:])
    else:
        block += "" if block.startswith(" ") else "\n"
        path.write_text(text[:line] + block + text[line:])


def run_program(program, package, folder):
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(package),
            "PYCUDA_DRIVER": "emulator",
            "PYCUDA_CACHE_DIR": str(folder),
        },
    )


def prints(done, said):
    """Whether a program ended well with this output; ``...`` is any number of lines."""
    words = " ".join((done.stderr + done.stdout).split())
    pieces = (re.escape(" ".join(piece.split())) for piece in said.split("\n...\n"))
    return done.returncode == 0 and re.fullmatch(".*".join(pieces), words) is not None


def build(tree):
    """Build what is older than its sources."""
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tree,
        env={
            **os.environ,
            "PYTHONPATH": "",
            "CC": str(tree / "cc"),
            "LDSHARED": f"{tree / 'cc'} -shared",
        },
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A built copy of the sources, with the first steps of all recipes."""
    folder = tmp_path_factory.mktemp("recipes")
    leave = shutil.ignore_patterns("*.so", "__pycache__", "*.o")
    for name in TREE:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=leave)
        else:
            shutil.copy(source, folder / name)
    for recipe in RECIPES.values():
        for step in recipe.stages[0][0]:
            take(step, folder)
    compiler = folder / "cc"
    real = sysconfig.get_config_var("CC").split()[0]
    compiler.write_text(f'#!/bin/sh\nexec {real} "$@" -O0 -g0 -Werror\n')
    compiler.chmod(0o755)
    build(folder)
    return folder


def conformance_problem(tree, name):
    """Compare a case on the device of a copy with the answer of a GPU."""
    case = suite.cases()[name]
    assert f"test_conformance.py -k {case.family}\n" in PAGE.read_text()
    found = runner.run_cases(tree / DEVICE, [name])
    expected = answers.Answers.load(suite.ANSWERS).of(case)
    return answers.difference(case, expected, found.answers[name])


def test_a_step_says_what_to_do_about_a_line_that_was_changed(tmp_path):
    (tmp_path / "file.py").write_text("new = 1\n")
    page = "In ``file.py``, after ``old = 1``:\n\n.. code-block:: python\n\n    b = 2\n"
    with pytest.raises(AssertionError, match=r"0 times: old = 1\n.*change it in the"):
        take(PART.search(page), tmp_path)
    take(PART.search(page.replace("old", "new")), tmp_path)
    assert (tmp_path / "file.py").read_text() == "new = 1\nb = 2\n"


def test_there_are_recipes():
    stages = {
        title: [len(steps) for steps, _ in recipe.stages]
        for title, recipe in RECIPES.items()
    }
    assert stages == {
        "A function of the driver": [5],
        "A type with a handle": [12],
        "An operation on arrays and its dtype rule": [6],
        "A function of arrays": [7],
        "An opcode of the software device": [2],
        "A load of the software device": [4, 1],
        FIX: [1, 1],
    }
    blocks = PAGE.read_text().count(".. code-block::")
    assert blocks == sum(1 + len(s) + sum(s) for s in stages.values())


@pytest.mark.gpu
@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_does_what_the_page_says(tree, title, tmp_path):
    recipe = RECIPES[title]
    done = run_program(recipe.program, tree, tmp_path)
    assert prints(done, recipe.stages[0][1]), done.stderr + done.stdout


@pytest.mark.gpu
@pytest.mark.parametrize("title", WITHOUT)
def test_without_the_steps_the_program_fails(title, tmp_path):
    done = run_program(RECIPES[title].program, ROOT, tmp_path)
    assert done.returncode == 1
    assert WITHOUT[title] in done.stderr
    assert not prints(done, RECIPES[title].stages[0][1])


@pytest.mark.gpu
def test_what_recipes_make_keeps_the_rules_of_layout(tree):
    done = subprocess.run(
        [sys.executable, "tools/check_layout.py", str(tree)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.gpu
def test_what_recipes_make_has_types(tree):
    done = subprocess.run(
        [sys.executable, "tools/make_stub.py"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tree,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    stub = (tree / "pycuda" / "_driver.pyi").read_text()
    for declaration in (
        "    def linear_texture_width(self, channels: SupportsIndex, /) -> int: ...\n",
        "    def __init__(self, value: SupportsIndex = 0) -> None: ...\n"
        "    def add(self, step: SupportsIndex, /) -> int: ...\n"
        "    def free(self) -> None: ...\n",
        "def _square_sum(\n"
        "    a: GPUArray,\n"
        "    *,\n"
        "    axis: _Axis = None,\n"
        "    out: GPUArray | None = None,\n"
        "    stream: _Stream = None,\n"
        ") -> GPUArray: ...\n",
    ):
        assert declaration in stub
    public = (tree / "pycuda" / "gpuarray.pyi").read_text()
    assert "\nsquare_sum = _driver._square_sum\n" in public
    assert (
        "def root_mean_square(\n"
        "    a: GPUArray,\n"
        "    axis: _Axis = -1,\n"
        "    *,\n"
        "    where: GPUArray | bool = True,\n"
        "    out: GPUArray | None = None,\n"
        "    stream: _Stream = None,\n"
        ") -> GPUArray: ...\n"
    ) in public


@pytest.mark.gpu
def test_the_fixes(tree, tmp_path):
    assert "expected" in conformance_problem(tree, "rem.s32")
    steps = [step for title in FIXED for step in RECIPES[title].stages[1][0]]
    for step in steps:
        path = tree / step["path"]
        before = path.stat()
        take(step, tree)
        # Only the device includes the file: build the device alone.
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    for library in list(tree.rglob(DEVICE.name)):
        library.unlink()
    build(tree)
    for title in FIXED:
        (_, mistaken), (_, right) = RECIPES[title].stages
        done = run_program(RECIPES[title].program, tree, tmp_path)
        assert prints(done, right), done.stderr + done.stdout
        assert not prints(done, mistaken)
    assert conformance_problem(tree, "rem.s32") == ""
    own = run_program(RECIPES[FIX].program, ROOT, tmp_path)
    assert prints(own, RECIPES[FIX].stages[1][1])
