"""The recipes of doc/contributing.rst work.

The tests take the steps of all recipes in a copy of the tree and build it. The programs
must print the output on the page there, but not in the tree without the steps. The copy
is compiled without optimization, which takes a quarter of the time.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "doc" / "contributing.rst"
STEP = re.compile(
    r"^In ``(?P<path>[^`]+)``, (?:(?P<where>after|before) ``(?P<mark>[^\n]+)``|at the "
    r"end):\n\n\.\. code-block:: \w+\n\n(?P<block>(?:    .*\n|\n)+)",
    re.MULTILINE,
)
PROGRAM = re.compile(
    r"^Then:\n\n\.\. code-block:: python\n\n(?P<program>(?:    .*\n|\n)+)"
    r"\.\. code-block:: text\n\n(?P<said>(?:    .*\n|\n)+)",
    re.MULTILINE,
)
TREE = ("src", "pycuda", "tools", "setup.py", "pyproject.toml", "README.rst", "LICENSE")


def indented_away(block):
    return (
        "".join(line[4:] or "\n" for line in block.strip("\n").splitlines(True)) + "\n"
    )


def recipes():
    """Return {title: (steps, program, its output)}."""
    parts = re.split(r"^([^\n]+)\n-+\n", PAGE.read_text(), flags=re.MULTILINE)
    found = {}
    for title, text in zip(parts[1::2], parts[2::2], strict=True):
        program = PROGRAM.search(text)
        if program:
            steps = list(STEP.finditer(text))
            found[title] = steps, program["program"], program["said"]
    return found


RECIPES = recipes()


def take(step, tree):
    """Take one step of a recipe."""
    path = tree / step["path"]
    text = path.read_text()
    block = indented_away(step["block"])
    if step["where"] is None:
        path.write_text(f"{text}\n{block}")
        return
    mark = step["mark"].replace("⏎", "\n")
    assert text.count(mark) == 1, f"{text.count(mark)} times in {path}: {mark}"
    place = text.index(mark)
    if step["where"] == "after":
        place = text.index("\n", place) + 1
    else:
        place = text.rfind("\n", 0, place) + 1
        block += "" if block.startswith(" ") else "\n"
    path.write_text(text[:place] + block + text[place:])


def run_program(program, package, folder):
    return subprocess.run(
        [sys.executable, "-c", indented_away(program)],
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


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A built copy of the sources, with the steps of all recipes."""
    folder = tmp_path_factory.mktemp("recipes")
    leave = shutil.ignore_patterns("*.so", "__pycache__", "*.o")
    for name in TREE:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=leave)
        else:
            shutil.copy(source, folder / name)
    for steps, _, _ in RECIPES.values():
        for step in steps:
            take(step, folder)
    compiler = folder / "cc"
    real = sysconfig.get_config_var("CC").split()[0]
    compiler.write_text(f'#!/bin/sh\nexec {real} "$@" -O0 -g0 -Werror\n')
    compiler.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": "",
            "CC": str(compiler),
            "LDSHARED": f"{compiler} -shared",
        },
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_there_are_recipes():
    assert {title: len(steps) for title, (steps, _, _) in RECIPES.items()} == {
        "A function of the driver": 5,
        "An operation on arrays": 2,
        "An opcode of the software device": 3,
    }
    blocks = PAGE.read_text().count(".. code-block::")
    assert blocks == sum(len(steps) + 2 for steps, _, _ in RECIPES.values())


@pytest.mark.gpu
@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_does_what_the_page_says(tree, title, tmp_path):
    _, program, said = RECIPES[title]
    done = run_program(program, tree, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == said.split()


@pytest.mark.gpu
@pytest.mark.parametrize("title", RECIPES)
def test_without_the_steps_the_program_fails(title, tmp_path):
    _, program, _ = RECIPES[title]
    done = run_program(program, ROOT, tmp_path)
    assert done.returncode == 1
    words = {
        "A function of the driver": "no attribute 'linear_texture_width'",
        "An operation on arrays": "TypeError",
        "An opcode of the software device": "parity",
    }
    assert words[title] in done.stderr


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
