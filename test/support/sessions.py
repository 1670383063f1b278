"""Run the programs and commands of a page, and compare what they print."""

import os
import re
import subprocess
import sys

from support.pages import captioned, plain

#: A page's name for the folder of the programs.
HOME = "/home/me"


def write_programs(page, folder):
    """Write the programs of a page that have a file name."""
    for name, program in captioned(page).items():
        (folder / name).write_text(program)


def environment():
    """Return the variables for a command: one thread, so that reports are the same."""
    return {
        **os.environ,
        "PYCUDA_EMULATOR_THREADS": "1",
        "PYTHONUNBUFFERED": "1",
        "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}",
    }


def printed(page, command, folder):
    """Run a command of a page among its programs. Return what it prints."""
    write_programs(page, folder)
    done = subprocess.run(
        ["sh", "-c", command],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env=environment(),
        timeout=120,
    )
    return done.stdout.replace(os.path.realpath(folder), HOME)


def compared(text):
    """Return the lines without what differs between runs and versions of Python."""
    if sys.version_info < (3, 11):  # code knows its name, but not its class
        text = re.sub(r"(:\d+, in )(?:[\w<>]+\.)+(?=\w+$)", r"\1", text, flags=re.M)
    return [line for line in plain(text) if line.strip(" ^~")]


def pattern(line):
    """Return a pattern for a line of the page, in which "..." stands for any text."""
    return ".*".join(map(re.escape, line.split("...")))


def assert_same(text, said):
    """Assert that a command printed what its page says."""
    lines, wanted = compared(text), compared(said)
    same = [
        line if re.fullmatch(pattern(want), line) else want
        for line, want in zip(lines, wanted, strict=False)
    ]
    assert lines == same + wanted[len(same) :]
