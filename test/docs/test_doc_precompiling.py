"""The program of doc/precompiling.rst, its bundle, and the commands on the page."""

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from pycuda import precompile
from support.child import run_child
from support.compilers import needs_nvcc
from support.pages import DOC, captioned

PAGE = (DOC / "precompiling.rst").read_text()
CONSOLE = re.compile(r"^\.\. code-block:: console\n\n((?:    .*\n|\n)+)", re.MULTILINE)


def commands():
    """Return (command, output) of each block."""
    found = []
    for block in CONSOLE.findall(PAGE):
        command, _, said = block.strip().partition("\n")
        lines = [line.strip() for line in said.splitlines()]
        found.append((command.removeprefix("$ "), lines))
    return found


@needs_nvcc
@pytest.mark.gpu
def test_the_page_from_top_to_bottom(tmp_path):
    for name, text in captioned("precompiling").items():
        (tmp_path / name).write_text(text)
    (make, said), (use, result) = commands()
    done = run_command(make, tmp_path)
    printed = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert [plain(line) for line in printed] == [plain(line) for line in said]
    variable, _, rest = use.partition(" ")
    done = run_command(rest, tmp_path, **dict([variable.split("=")]))
    assert done.stdout.splitlines() == result
    path = str(tmp_path / "package.py")
    run_child(Path(path).read_text().replace("__file__", repr(path)))


def run_command(command, folder, **environ):
    program, *words = shlex.split(command)
    assert program == "python"
    capability = os.environ.get("PYCUDA_EMULATOR_CAPABILITY", "9.0")
    environ["PYCUDA_EMULATOR_CAPABILITY"] = capability
    environ["PYCUDA_CACHE_DIR"] = str(folder / "cache")
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def plain(line):
    return re.sub(r"\d+ bytes", "N bytes", line)


def test_all_forms_of_the_command_are_accepted():
    """The page names no option that the command does not have."""
    parser = argparse.ArgumentParser()
    precompile.add_arguments(parser)
    known = parser.format_help()
    named = set(re.findall(r"(?<![\w-])--?[a-z]+", PAGE))
    assert {"--arch", "-o", "-j"} <= named
    assert [option for option in named if option not in known] == []
