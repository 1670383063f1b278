"""The examples of doc/software_device.rst run, and print what the page says."""

import re
import textwrap
from pathlib import Path

import pytest

from support.child import run_child
from support.compilers import needs_nvcc

PAGE = Path(__file__).resolve().parents[1] / "doc" / "software_device.rst"
BLOCK = re.compile(r"^\.\. code-block:: (\w+)\n\n((?:    .*\n|\n)+)", re.MULTILINE)


def blocks():
    """Pairs of program and the text that follows it."""
    found = [
        (kind, textwrap.dedent(text)) for kind, text in BLOCK.findall(PAGE.read_text())
    ]
    assert [kind for kind, _ in found] == ["python", "text"] * (len(found) // 2)
    texts = [text for _, text in found]
    return list(zip(texts[::2], texts[1::2], strict=True))


def plain(text):
    """Without what differs between runs: addresses, folders, blanks at line ends."""
    text = re.sub(r"0x[0-9a-f]+", "0xADDRESS", text)
    text = re.sub(r"(at |^|\s)/\S*/(kernel\.cu)", r"\1\2", text)
    lines = (line.rstrip() for line in text.splitlines())
    return [line for line in lines if line]


def test_the_page_has_examples():
    assert len(blocks()) >= 4


@needs_nvcc
@pytest.mark.parametrize("number", range(len(blocks())))
def test_an_example_prints_what_the_page_says(number):
    program, said = blocks()[number]
    printed = run_child(program).stdout
    assert plain(printed) == plain(said)
