"""Excerpts: the lines of a source that an error is about, each with its message.

Compilers name a file and a line. A program that has its source in a string has no such
file. Only errors need this.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

# The name of a source in the messages of compilers, and the names of our own lines
# before and after it.
SOURCE_NAME = "kernel.cu"
BEFORE_SOURCE = f"before {SOURCE_NAME}"
AFTER_SOURCE = f"after {SOURCE_NAME}"

_MOST = 4  # messages; the others are in the compiler's own text
_CONTEXT = 2  # lines before the one in question

# "kernel.cu(4): error: text", and as gcc says it "kernel.cu:4:8: fatal error: text".
_MESSAGE = (
    r"(?m)^(?:(?P<end>At end of source)|(?P<file>\S.*?)"
    r"(?:\((?P<line>\d+)\)|:(?P<gcc_line>\d+)(?::(?P<column>\d+))?))\s*: "
    r"(?P<text>(?:\w+ )?error\b.*)$"
)
_LINE_MARKER = f'#line 1 "{SOURCE_NAME}"\n'
_RENUMBERED = (
    r'[ \t]*#[ \t]*(?=line\b|\d+[ \t]*")(?:line[ \t]+)?(\d+)(?:[ \t]*"([^"]*)")?'
)
_PTX_MESSAGE = r"(?m)^.*\bline (?P<line>\d+)\s*[;:] *(?P<text>.*)$"
_LOC = r"^\s*\.loc\s+(\d+)\s+(\d+)"
_FILE = r'^\s*\.file\s+(\d+)\s+"([^"]*)"'


class _Text:
    """The lines of one file, with the file and number that compilers give them."""

    def __init__(self, name: str, text: str, lone_returns: bool = False) -> None:
        self.name = name
        ends = r"\r?\n|\r" if lone_returns else r"\r?\n"
        self.lines = re.split(ends, text)
        if not self.lines[-1]:
            del self.lines[-1]
        self.marks: list[tuple[str, int]] = []  # (file, number) of each line
        file, number = name, 1
        for line in self.lines:
            self.marks.append((file, number))
            match = re.match(_RENUMBERED, line)
            if match is None:
                number += 1
            else:
                number = int(match[1])
                file = match[2] or file

    def place_of(self, number: int) -> int | None:
        """Return the index of a line; None if there is none, or more than one.

        Directives before a ``#line 1``, such as macros that a program has added, do not
        count beside a line of code.
        """
        places = [n for n, mark in enumerate(self.marks) if mark == (self.name, number)]
        if len(places) > 1:
            rows = [(n, self.lines[n].lstrip()) for n in places]
            places = [n for n, row in rows if row and not row.startswith("#")]
        return places[0] if len(places) == 1 else None

    def last(self) -> int | None:
        """Return the index of the last line of this name that is not blank."""
        places = range(len(self.lines) - 1, -1, -1)
        own = (n for n in places if self.marks[n][0] == self.name)
        return next((n for n in own if self.lines[n].strip()), None)

    def shown(self, place: int, column: int | None, text: str) -> str:
        """Return a line, the lines before it, and a message."""
        name, number = self.marks[place]
        first = place
        while first > max(0, place - _CONTEXT) and self.marks[first - 1] == (
            name,
            self.marks[first][1] - 1,
        ):
            first -= 1
        width = len(str(number))
        shown = [f"{name}, line {number}:"]
        for each in range(first, place + 1):
            line = f"  {self.marks[each][1]:{width}} | {self.lines[each]}"
            shown.append(line.rstrip())
        gap = " " * width
        if column is not None:
            blanks = re.sub(r"[^\t]", " ", self.lines[place][:column])
            shown.append(f"  {gap} | {blanks}^")
        shown.append(f"  {gap}   {text}")
        return "\n".join(shown)


def own_text(source: str, lone_returns: bool = False) -> _Text:
    """Return the user's part of a source, with the names that compilers give lines."""
    after_marker = source.partition(_LINE_MARKER)[2] or source
    own, _, _ = after_marker.partition(f'\n#line 1 "{AFTER_SOURCE}"\n')
    return _Text(SOURCE_NAME, own, lone_returns)


def of_source(source: str, said: str, nvrtc: bool = False) -> str:
    """Return the lines that a compiler's errors are about, each with its message.

    ``said`` is the compiler's output. ``nvrtc`` is true if it is NVRTC's: only for nvcc
    a carriage return without a newline ends a line, and NVRTC counts bytes where nvcc
    counts characters.
    """
    messages = list(re.finditer(_MESSAGE, said))
    own = own_text(source, not nvrtc)
    parts = []
    for match in messages[:_MOST]:
        column = None
        if match["end"] or match["file"] in (BEFORE_SOURCE, AFTER_SOURCE):
            text, place = own, own.last()
        else:
            text = own
            if match["file"] != SOURCE_NAME:
                text = _header(match["file"], not nvrtc)
            place = text.place_of(int(match["line"] or match["gcc_line"]))
            if place is not None:
                column = _column(match, text.lines[place], said, nvrtc)
        if place is not None:
            parts.append(text.shown(place, column, match["text"]))
    if parts and len(messages) > _MOST:
        parts.append(f"and {len(messages) - _MOST} more errors")
    return "\n".join(parts)


def _header(path: str, lone_returns: bool) -> _Text:
    text = ""
    if os.path.isabs(path):
        try:
            with open(path, encoding="utf-8", errors="replace", newline="") as file:
                text = file.read()
        except OSError:
            pass
    return _Text(path, text, lone_returns)


def _column(match: re.Match[str], line: str, said: str, nvrtc: bool) -> int | None:
    """Return the column of an error, from 0, or None if that is unsure.

    nvcc prints the line again, with other blanks and with macros replaced, and a caret
    below it. The text behind the column is the same in both lines.
    """
    if match["column"]:
        return int(match["column"]) - 1
    echo, _, below = said[match.end() + 1 :].partition("\n")
    caret = below.partition("\n")[0]
    if caret.strip() != "^":
        return None
    before = caret.index("^")
    if nvrtc:
        rest = echo.encode()[before:].decode("utf-8", "replace").rstrip()
    else:
        rest = echo[before:].rstrip()
    if rest and line.rstrip().endswith(rest):
        return len(line.rstrip()) - len(rest)
    return None


def of_ptx(image: bytes, log: str, source: str) -> str:
    """Return the lines of PTX that the driver's log is about, each with its message.

    If the PTX names the line of the source that it comes from, show that line too.
    """
    ptx = _Text("PTX", image.rstrip(b"\0").decode("utf-8", "replace"))
    own = own_text(source)
    parts = []
    for match in list(re.finditer(_PTX_MESSAGE, log))[:_MOST]:
        place = ptx.place_of(int(match["line"]))
        if place is None:
            continue
        parts.append(ptx.shown(place, None, match["text"].strip()))
        number = _origin(ptx.lines, place)
        if number is None:
            continue
        origin = own.place_of(number)
        if origin is not None:
            parts.append(f"from {SOURCE_NAME}, line {number}:\n    {own.lines[origin]}")
    return "\n".join(parts)


def _origin(lines: Sequence[str], place: int) -> int | None:
    """Return the line of the source that a line of PTX comes from, None if unknown."""
    for line in reversed(lines[: place + 1]):
        if line.startswith((".visible", ".entry", ".func", "{")):
            return None  # the beginning of the function
        found = re.match(_LOC, line)
        if found:
            named = [re.match(_FILE, each) for each in lines]
            files = {match[1]: match[2] for match in named if match}
            if os.path.basename(files.get(found[1], "")) == SOURCE_NAME:
                return int(found[2])
            return None
    return None


def line_of(source: str, number: int) -> str | None:
    """Return a line of a source by its number in messages, None if it has none."""
    own = own_text(source)
    place = own.place_of(number)
    return None if place is None else own.lines[place]


def short_path(path: str) -> str:
    """Return a path relative to the current folder, if that is shorter."""
    relative = os.path.relpath(path)
    return relative if len(relative) < len(path) else path
