"""Read the chapters in doc/."""

import re
import textwrap
from pathlib import Path

DOC = Path(__file__).resolve().parents[2] / "doc"
#: Languages of blocks; the tests ignore all others.
READ = {"python", "text"}
BLOCK = re.compile(r"^\.\. code-block:: (\w+)\n\n((?:    .*\n|\n)+)", re.MULTILINE)


def blocks(page):
    """Return the pairs of a program and the output that follows it."""
    text = (DOC / f"{page}.rst").read_text()
    found = [(kind, textwrap.dedent(block)) for kind, block in BLOCK.findall(text)]
    found = [(kind, block) for kind, block in found if kind in READ]
    assert [kind for kind, _ in found] == ["python", "text"] * (len(found) // 2)
    texts = [block for _, block in found]
    return list(zip(texts[::2], texts[1::2], strict=True))


def plain(text):
    """Remove what differs between runs: addresses, folders, blanks at line ends.

    A page names its program by a file of /home/me; the tests run it as a string.
    """
    text = re.sub(r"0x[0-9a-f]+", "0xADDRESS", text)
    text = re.sub(r"(at |^|\s)/\S*/(kernel\.cu)", r"\1\2", text)
    text = re.sub(r"(/home/me/\w+\.py|<string>):(\d+)", r"PROGRAM:\2", text)
    lines = (line.rstrip() for line in text.splitlines())
    return [line for line in lines if line]


def literal_block(page, before):
    """Return the indented block after a line that ends with these words and ``::``."""
    text = (DOC / f"{page}.rst").read_text()
    pattern = re.escape(before) + r"::\n\n((?:    .*\n|\n)+)"
    (block,) = re.findall(pattern, text)
    return textwrap.dedent(block)


DIRECTIVE = re.compile(
    r"^\.\. code-block:: (\w+)\n((?: +:\w+:.*\n)*)\n"
    r"((?:    .*\n|\n)+)",
    re.MULTILINE,
)


def captioned(page):
    """Return the programs of a page by the file name in their caption."""
    text = (DOC / f"{page}.rst").read_text()
    found = {}
    for kind, options, block in DIRECTIVE.findall(text):
        caption = re.search(r":caption: (\S+)", options)
        if kind == "python" and caption:
            found[caption[1]] = textwrap.dedent(block).rstrip() + "\n"
    return found


def sessions(page):
    """Return the pairs of a command and its output, of the blocks for a console."""
    text = (DOC / f"{page}.rst").read_text()
    found = []
    for kind, _, block in DIRECTIVE.findall(text):
        if kind == "console":
            parts = re.split(r"^\$ (.*)\n", textwrap.dedent(block), flags=re.MULTILINE)
            found += zip(parts[1::2], parts[2::2], strict=True)
    return found
