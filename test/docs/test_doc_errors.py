"""The programs of doc/when_something_goes_wrong.rst, and what their commands print."""

import pytest

from support.compilers import needs_nvcc
from support.pages import sessions
from support.sessions import assert_same, printed

PAGE = "when_something_goes_wrong"
SESSIONS = [(command, said) for command, said in sessions(PAGE) if said.strip()]


def test_the_page_has_sessions():
    assert len(SESSIONS) >= 7


@needs_nvcc
@pytest.mark.software(why="the reports are those of the software device")
@pytest.mark.parametrize("command, said", SESSIONS, ids=[each[0] for each in SESSIONS])
def test_a_command_prints_what_the_page_says(command, said, tmp_path):
    assert_same(printed(PAGE, command, tmp_path), said)


@needs_nvcc
@pytest.mark.software(why="a GPU does not warn")
@pytest.mark.parametrize("program", ["count.py", "total.py", "mirror.py", "solver.py"])
def test_a_plain_run_warns_of_what_the_first_block_shows(program, tmp_path):
    said = printed(PAGE, f"python {program}", tmp_path)
    warns = "PyCUDAWarning: a kernel has a fault that a GPU may not show" in said
    assert warns == (program != "solver.py")
