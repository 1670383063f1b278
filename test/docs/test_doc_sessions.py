"""The commands of the chapters on tests, processes and servers, and of the tutorial."""

import json
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from support.compilers import needs_nvcc
from support.pages import DOC, sessions
from support.sessions import assert_same, environment, printed, write_programs

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "photo_filter.py"

#: Each page, and the commands of it that print something.
PAGES = {
    "coverage": 3,
    "testing": 2,
    "threads": 2,
    "tutorial/grid": 2,
    "tutorial/program": 3,
}
PYTEST = "python -m pytest -p no:pycuda -p pycuda.pytest_plugin"
#: The command of a server, which has a test of its own.
SERVER = "curl"
SESSIONS = [
    (page, command, said)
    for page in PAGES
    for command, said in sessions(page)
    if said.strip() and not command.startswith(SERVER)
]


def test_the_pages_have_sessions():
    for page, count in PAGES.items():
        found = [said for _, said in sessions(page) if said.strip()]
        assert len(found) >= count, page


@needs_nvcc
@pytest.mark.software(why="the pages show the software device")
@pytest.mark.parametrize("page, command, said", SESSIONS, ids=[s[1] for s in SESSIONS])
def test_a_command_prints_what_the_page_says(page, command, said, tmp_path):
    shutil.copy(EXAMPLE, tmp_path)
    if command.startswith("pytest "):  # the plugin is perhaps not installed
        command = command.replace("pytest", PYTEST, 1)
    assert_same(printed(page, command, tmp_path), said)


def test_another_output_is_noticed():
    assert_same("a\n2 passed in 1.2s\n", "a\n2 passed in ...\n")
    for text in ("b\n2 passed in 1.2s\n", "a\n", "a\n2 passed in 1.2s\nmore\n"):
        with pytest.raises(AssertionError):
            assert_same(text, "a\n2 passed in ...\n")


#: Lines that the last step of the tutorial tells to remove, and what is reported.
REMOVED = {
    "    __syncthreads();\n": ("1. race", "tile[y][x] = from[row * width + column];"),
    "def finish(slot):\n    slot.stream.synchronize()\n": ("1. sync", "np.abs(result["),
}


@needs_nvcc
@pytest.mark.software(why="explain uses the software device")
@pytest.mark.parametrize("line", REMOVED, ids=["barrier", "wait"])
def test_the_program_without_a_line_has_a_report(line, tmp_path):
    text = EXAMPLE.read_text()
    assert text.count(line) == 1
    kept = line.split("\n")[0] + "\n" if line.startswith("def") else ""
    (tmp_path / "photo_filter.py").write_text(text.replace(line, kept))
    report = printed(
        "tutorial/program", "python -m pycuda.explain photo_filter.py", tmp_path
    )
    for part in (*REMOVED[line], "the software device found 1 error"):
        assert part in report


# -- the server of the page about threads


@pytest.fixture
def server(tmp_path):
    """The address of the running server of the page."""
    write_programs("threads", tmp_path)
    process = subprocess.Popen(
        [sys.executable, "server.py", "0"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment(),
    )
    try:
        port = int(process.stdout.readline().split()[1])
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def post(address, text):
    """Return the status and the content of the answer."""
    try:
        with urllib.request.urlopen(address, text.encode(), timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


@needs_nvcc
@pytest.mark.gpu
def test_the_server_answers(server):
    ((command, said),) = [s for s in sessions("threads") if s[0].startswith(SERVER)]
    sent = command.split('"')[1]
    assert post(server, sent) == (200, json.loads(said))
    assert post(server, "[]") == (400, "send a list of 1 to 65536 numbers")
    assert post(server, '"text"') == (400, "send a list of numbers")
    assert post(server, "[[1, 2], [3, 4]]")[0] == 400
    assert post(server, sent) == (200, json.loads(said))


# -- the CI file


def test_the_page_about_tests_shows_the_ci_file():
    page = (DOC / "testing.rst").read_text()
    text = (DOC.parent / "examples" / "ci" / "pycuda.yml").read_text()
    assert "examples/ci/pycuda.yml" in page
    assert "pip install" in text and "pytest" in text and "PYCUDA_DRIVER" in text
