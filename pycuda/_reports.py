"""The reports of the software device's checks, as objects.

The software device appends each report to the file that ``PYCUDA_CHECK_LOG`` names: a
line ``== KIND PID``, the text, an empty line. The text is the one that the exception
has. It names places as ``FILE:LINE``; the words before tell what happened there.
"""

from __future__ import annotations

import re
from typing import NamedTuple

#: The words before a place in a text, and what happened there. The first that fits.
_ROLES = (
    ("launched at", "launch"),
    ("allocated at", "memory"),
    ("made at", "memory"),
)
_PLACE = re.compile(
    r"(?:^|(?<=[ (\"]))(?P<file>[^\s:()\"]+|/[^:()\"\n]+):(?P<line>\d+)\b"
    r"(?: in (?P<function>[\w.<>]+))?"
)
_KERNEL = re.compile(r"\bin kernel (\S+?),")
_THREAD = re.compile(r"block (\([\d, ]+\)), thread (\([\d, ]+\))")


class Place(NamedTuple):
    """A line of the program, and what happened there: access, launch or memory."""

    role: str
    file: str
    line: int
    function: str


class Report(NamedTuple):
    """One report. ``kernel``, ``block`` and ``thread`` are "" if it names none."""

    kind: str
    text: str
    kernel: str = ""
    block: str = ""
    thread: str = ""
    places: tuple[Place, ...] = ()

    def lines(self, role: str) -> list[tuple[str, int]]:
        """Return the places of a role as pairs of file and line."""
        return [(each.file, each.line) for each in self.places if each.role == role]


def _role_of(words: str, kind: str) -> str:
    words = words.rstrip()
    for ending, role in _ROLES:
        if words.endswith(ending):
            return "access" if kind == "leak" else role
    return "access"


def _places(kind: str, text: str) -> tuple[Place, ...]:
    found = []
    for row in text.splitlines():
        end = 0
        for match in _PLACE.finditer(row):
            role = _role_of(row[end : match.start()], kind)
            function = match["function"] or ""
            place = Place(role, match["file"], int(match["line"]), function)
            if place not in found:
                found.append(place)
            end = match.end()
    return tuple(found)


def parse(kind: str, text: str) -> Report:
    """Return the report with this text."""
    kernel, thread = _KERNEL.search(text), _THREAD.search(text)
    return Report(
        kind,
        text,
        kernel[1] if kernel else "",
        thread[1] if thread else "",
        thread[2] if thread else "",
        _places(kind, text),
    )


def read(text: str) -> list[Report]:
    """Return the reports in the text of a file of reports, in their order."""
    found = []
    for block in re.split(r"^(?=== [a-z]+ \d+$)", text, flags=re.MULTILINE):
        head, _, body = block.partition("\n")
        words = head.split()
        if len(words) == 3 and words[0] == "==":
            found.append(parse(words[1], body.strip("\n")))
    return found
