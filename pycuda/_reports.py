"""The reports of the software device's checks, as objects.

The software device appends each report to the file that ``PYCUDA_CHECK_LOG`` names: a
line ``== KIND PID``, the text, an empty line. The text is the one that the exception
has. It names places as ``FILE:LINE``; the words before tell what happened there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import NamedTuple

#: What happened at a place, by the last words before it.
_ROLES = {
    "launched": "launch",
    "the memory was allocated": "memory",
    "the memory was freed": "free",
    "the memory went back to its pool": "free",
    "made": "memory",
}
_PLACE = (
    r"(?P<file>[^\s:()\"]+|/[^:()\"\n]+):(?P<line>\d+)\b(?: in (?P<function>[\w.<>]+))?"
)
_INSIDE = re.compile(rf"(?:^|(?<=[ (\"])){_PLACE}")
#: A row that has nothing but a place: "  launched at /home/me/run.py:12 in main".
_ROW = re.compile(rf"^ *(?:(?P<words>\S.*?) )?at {_PLACE}$")
_KERNEL = re.compile(r"\bin kernel (\S+?),")
_THREAD = re.compile(r"block (\([\d, ]+\)), thread (\([\d, ]+\))")


class Place(NamedTuple):
    """A line of the program.

    ``role`` is access, launch, memory or free; ``words`` are those of the report about
    it.
    """

    role: str
    words: str
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


def is_place(row: str) -> bool:
    """Return whether a row of a report has nothing but a place."""
    return _ROW.match(row) is not None


def _place(match: re.Match[str], words: str, kind: str) -> Place:
    role = "access"
    if kind != "leak":
        role = _ROLES.get(words, role)
    return Place(
        role, words, match["file"], int(match["line"]), match["function"] or ""
    )


def _places(kind: str, text: str) -> tuple[Place, ...]:
    """Return the places in a text. One in a sentence counts if no row repeats it."""
    rows: list[Place] = []
    inside: list[Place] = []
    for row in text.splitlines():
        whole = _ROW.match(row)
        if whole:
            rows.append(_place(whole, whole["words"] or "", kind))
        else:
            inside += [_place(each, "", kind) for each in _INSIDE.finditer(row)]
    known = {(os.path.basename(each.file), each.line) for each in rows}
    named = [each for each in inside if (each.file, each.line) not in known]
    return tuple(dict.fromkeys(rows + named))


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


def with_folders(report: Report, files: Iterable[str]) -> Report:
    """Return a report whose places have the folder that one of the files has."""
    paths = {os.path.basename(each): each for each in files if os.path.dirname(each)}
    places = []
    for place in report.places:
        places.append(place._replace(file=paths.get(place.file, place.file)))
    return report._replace(places=tuple(places))
