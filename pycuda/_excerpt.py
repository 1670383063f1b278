"""The user's own lines for what a compiler or the driver says about them.

Compilers name a file and a line; whoever wrote the text as a string in a program has no
file to look into. Called for errors only, by ``pycuda.driver`` and ``pycuda.compiler``.
"""

from __future__ import annotations

import os
import re

from pycuda._nvcc import SOURCE_NAME

_MOST = 4  # messages; the others are in the compiler's own text
_CONTEXT = 2  # lines before the one in question

# "kernel.cu(4): error: text", and as gcc says it "kernel.cu:4:8: fatal error: text".
_MESSAGE = re.compile(
    r"^(?P<file>[^\s(:][^(:\n]*)"
    r"(?:\((?P<line>\d+)\)|:(?P<gcc_line>\d+)(?::(?P<column>\d+))?)\s*: "
    r"(?P<text>(?:\w+ )?error\b.*)$",
    re.MULTILINE,
)
_LINE_MARKER = f'#line 1 "{SOURCE_NAME}"\n'
_PTX_MESSAGE = re.compile(
    r"^.*\bline (?P<line>\d+)\s*[;:] *(?P<text>.*)$", re.MULTILINE
)
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)")
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"')


def of_source(source: str, said: str) -> str:
    """Return the lines that a compiler's errors are about, each with its message."""
    messages = list(_MESSAGE.finditer(said))
    own = source.rpartition(_LINE_MARKER)[2].splitlines()
    parts = []
    for match in messages[:_MOST]:
        lines = own if match["file"] == SOURCE_NAME else _lines_of(match["file"])
        number = int(match["line"] or match["gcc_line"])
        if not 0 < number <= len(lines):
            continue
        column = _column(match, lines[number - 1], said)
        parts.append(_part(match["file"], lines, number, column, match["text"]))
    if parts and len(messages) > _MOST:
        parts.append(f"and {len(messages) - _MOST} more errors")
    return "\n".join(parts)


def _lines_of(path: str) -> list[str]:
    if not os.path.isabs(path):
        return []
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []


def _column(match: re.Match[str], line: str, said: str) -> int | None:
    """Return where in the line the error is, from 0, None if that is unsure.

    nvcc prints the line again, with other blanks and macros replaced, and a caret below
    it; what follows the place is the same in both.
    """
    if match["column"]:
        return int(match["column"]) - 1
    echo, _, below = said[match.end() + 1 :].partition("\n")
    caret = below.partition("\n")[0]
    if caret.strip() != "^":
        return None
    rest = echo[caret.index("^") :].rstrip()
    if rest and line.rstrip().endswith(rest):
        return len(line.rstrip()) - len(rest)
    return None


def _part(
    name: str, lines: list[str], number: int, column: int | None, text: str
) -> str:
    first = max(1, number - _CONTEXT)
    width = len(str(number))
    shown = [f"{name}, line {number}:"]
    for each in range(first, number + 1):
        shown.append(f"  {each:{width}} | {lines[each - 1]}".rstrip())
    gap = " " * width
    if column is not None:
        blanks = re.sub(r"[^\t]", " ", lines[number - 1][:column])
        shown.append(f"  {gap} | {blanks}^")
    shown.append(f"  {gap}   {text}")
    return "\n".join(shown)


def of_ptx(image: bytes, log: str, source: str) -> str:
    """Return the lines of PTX that the driver's log is about, each with its message.

    Where the PTX says which line of the source it comes from, that is shown, too.
    """
    lines = image.rstrip(b"\0").decode("utf-8", "replace").splitlines()
    own = source.rpartition(_LINE_MARKER)[2].splitlines()
    parts = []
    for match in list(_PTX_MESSAGE.finditer(log))[:_MOST]:
        number = int(match["line"])
        if not 0 < number <= len(lines):
            continue
        parts.append(_part("PTX", lines, number, None, match["text"].strip()))
        origin = _origin(lines, number)
        if origin is not None and 0 < origin <= len(own):
            parts.append(f"from {SOURCE_NAME}, line {origin}:\n    {own[origin - 1]}")
    return "\n".join(parts)


def _origin(lines: list[str], number: int) -> int | None:
    """Return the line of the source that a line of PTX comes from, None if unknown."""
    for line in reversed(lines[:number]):
        if line.startswith((".visible", ".entry", ".func", "{")):
            return None  # the beginning of the function
        found = _LOC.match(line)
        if found:
            files = {m[1]: m[2] for m in map(_FILE.match, lines) if m}
            name = os.path.basename(files.get(found[1], ""))
            return int(found[2]) if name == SOURCE_NAME else None
    return None
