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
