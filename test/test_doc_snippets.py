"""The examples of the chapters in doc/ run, and print what the page says."""

import re
import textwrap
from pathlib import Path

import pytest

from support.child import run_child
from support.compilers import needs_nvcc

DOC = Path(__file__).resolve().parents[1] / "doc"
#: Each page, and how many examples it has at least.
PAGES = {
    "interop": 3,
    "linking": 3,
    "memory": 4,
    "mpi": 1,
    "software_device": 4,
    "sparse": 3,
    "textures": 3,
    "utilities": 3,
}
BLOCK = re.compile(r"^\.\. code-block:: (\w+)\n\n((?:    .*\n|\n)+)", re.MULTILINE)


def blocks(page):
    """Pairs of program and the text that follows it."""
    text = (DOC / f"{page}.rst").read_text()
    found = [(kind, textwrap.dedent(block)) for kind, block in BLOCK.findall(text)]
    assert [kind for kind, _ in found] == ["python", "text"] * (len(found) // 2)
    texts = [block for _, block in found]
    return list(zip(texts[::2], texts[1::2], strict=True))


def plain(text):
    """Without what differs between runs: addresses, folders, blanks at line ends."""
    text = re.sub(r"0x[0-9a-f]+", "0xADDRESS", text)
    text = re.sub(r"(at |^|\s)/\S*/(kernel\.cu)", r"\1\2", text)
    lines = (line.rstrip() for line in text.splitlines())
    return [line for line in lines if line]


EXAMPLES = [(page, number) for page in PAGES for number in range(len(blocks(page)))]


@pytest.mark.parametrize("page", PAGES)
def test_the_page_has_examples(page):
    assert len(blocks(page)) >= PAGES[page]


@needs_nvcc
@pytest.mark.gpu
@pytest.mark.parametrize(("page", "number"), EXAMPLES)
def test_an_example_prints_what_the_page_says(page, number):
    program, said = blocks(page)[number]
    printed = run_child(program).stdout
    assert plain(printed) == plain(said)
