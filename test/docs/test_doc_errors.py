"""The programs of doc/when_something_goes_wrong.rst, and what their commands print."""

import os
import re
import subprocess
import sys

import pytest

from support.compilers import needs_nvcc
from support.pages import captioned, plain, sessions

PAGE = "when_something_goes_wrong"
#: A page's name for the folder of the programs.
HOME = "/home/me"
SESSIONS = [(command, said) for command, said in sessions(PAGE) if said.strip()]


def printed(command, folder):
    """Run a command of the page among its programs. Return what it prints."""
    for name, program in captioned(PAGE).items():
        (folder / name).write_text(program)
    environment = {
        **os.environ,
        "PYCUDA_EMULATOR_THREADS": "1",
        "PYTHONUNBUFFERED": "1",
        "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["sh", "-c", command],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env=environment,
        timeout=120,
    )
    return done.stdout.replace(os.path.realpath(folder), HOME)


def compared(text):
    """Return the lines without what differs between runs and versions of Python."""
    return [line for line in plain(text) if line.strip(" ^~")]


def pattern(line):
    """Return a pattern for a line of the page, in which "..." stands for any text."""
    return ".*".join(map(re.escape, line.split("...")))


def test_the_page_has_sessions():
    assert len(SESSIONS) >= 7


@needs_nvcc
@pytest.mark.software(why="the reports are those of the software device")
@pytest.mark.parametrize("command, said", SESSIONS, ids=[each[0] for each in SESSIONS])
def test_a_command_prints_what_the_page_says(command, said, tmp_path):
    lines, wanted = compared(printed(command, tmp_path)), compared(said)
    same = [
        line if re.fullmatch(pattern(want), line) else want
        for line, want in zip(lines, wanted, strict=False)
    ]
    assert lines == same + wanted[len(same) :]
