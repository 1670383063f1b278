"""The examples of doc/compiling.rst run and print the output on the page."""

import re
import textwrap
from pathlib import Path

import pytest

from support.child import run_child
from support.compilers import needs_nvcc

PAGE = Path(__file__).resolve().parents[2] / "doc" / "compiling.rst"
BLOCK = re.compile(r"^\.\. code-block:: (\w+)\n\n((?:    .*\n|\n)+)", re.MULTILINE)


def blocks():
    """Return the pairs of a program and the output that follows it."""
    found = [
        (kind, textwrap.dedent(text)) for kind, text in BLOCK.findall(PAGE.read_text())
    ]
    assert [kind for kind, _ in found] == ["python", "text"] * (len(found) // 2)
    texts = [text for _, text in found]
    return list(zip(texts[::2], texts[1::2], strict=True))


def test_the_page_has_examples():
    assert len(blocks()) >= 5


@needs_nvcc
@pytest.mark.gpu
@pytest.mark.parametrize("number", range(len(blocks())))
def test_an_example_prints_what_the_page_says(number, tmp_path):
    program, said = blocks()[number]
    done = run_child(program, timeout=300, PYCUDA_CACHE_DIR=str(tmp_path / "cache"))
    assert done.stdout.split("\n\n")[0].strip() == said.strip()
