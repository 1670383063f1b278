"""The cells of doc/notebooks.rst show what the page says; the tests of doc/pytest.rst
have the outcomes that it says."""

import os
import re
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("jupyter_client", reason="it is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")

from support.compilers import needs_nvcc  # noqa: E402
from support.jupyter import Notebook  # noqa: E402
from support.pages import DIRECTIVE, DOC, captioned, sessions  # noqa: E402


def cells():
    """Return the cells of the page, each with the output that follows it."""
    found = []
    for kind, _, text in DIRECTIVE.findall((DOC / "notebooks.rst").read_text()):
        if kind == "notebook_cell":
            found.append([textwrap.dedent(text).strip(), ""])
        elif kind == "text":
            found[-1][1] = textwrap.dedent(text).strip()
    return found


def pattern(text):
    """Return a pattern for a text of a page, in which "..." stands for any text."""
    lines = (line.rstrip() for line in text.strip().splitlines())
    return re.escape("\n".join(lines)).replace(re.escape("..."), ".*")


def plain(text):
    """Return a text without rules, blank lines and blanks at line ends."""
    lines = (line.rstrip() for line in text.splitlines())
    return "\n".join(line for line in lines if line.strip("- "))


def test_the_page_has_cells():
    assert len(cells()) >= 10
    assert sum(bool(said) for _, said in cells()) >= 5


@needs_nvcc
@pytest.mark.software(why="the report is one of the software device")
def test_the_cells_show_what_the_page_says(tmp_path):
    notebook = Notebook(env={**os.environ, "PYCUDA_CACHE_DIR": str(tmp_path)})
    try:
        for code, said in cells():
            reply = notebook(code, fails="Error" in said)
            shown = reply.error or reply.stdout + "".join(
                each["text/plain"] for each in reply.data
            )
            if "Warning: " in said:
                shown += reply.stderr
            assert re.fullmatch(pattern(plain(said)), plain(shown)), shown
    finally:
        notebook.end()


@needs_nvcc
@pytest.mark.software(why="the page uses the software device")
@pytest.mark.parametrize("number", [0, 1])
def test_the_tests_have_the_outcomes_that_the_page_says(tmp_path, number):
    for name, program in captioned("pytest").items():
        (tmp_path / name).write_text(program)
    shown = sessions("pytest")
    assert len(shown) == 2
    command, said = shown[number]
    done = subprocess.run(
        ["sh", "-c", command.replace("pytest", "$PYTEST", 1)],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTEST": f"{sys.executable} -m pytest -p no:cacheprovider",
            "PYTEST_ADDOPTS": "-p no:pycuda -p pycuda.pytest_plugin",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        timeout=120,
    )
    words = pattern(said).replace(".*", "(?s:.*)")
    assert re.fullmatch(words, done.stdout.strip()), done.stdout
