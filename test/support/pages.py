"""Reads the chapters in doc/."""

import re
import textwrap
from pathlib import Path

DOC = Path(__file__).resolve().parents[2] / "doc"


def literal_block(page, before):
    """The indented block that follows a line which ends with these words and ``::``."""
    text = (DOC / f"{page}.rst").read_text()
    pattern = re.escape(before) + r"::\n\n((?:    .*\n|\n)+)"
    (block,) = re.findall(pattern, text)
    return textwrap.dedent(block)
