"""The line of the CUDA source that a fault on the software device is about.

Without ``-lineinfo`` the device knows the line of PTX only. The two texts differ in the
directives that name lines, so when a fault has happened, the source is compiled again
with them, and the same line of PTX is looked up there. Nothing is done before a fault.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from pycuda import _excerpt
from pycuda._compile import build, recording
from pycuda._compile.request import CompileRequest
from pycuda._parameter_types import plain_name

_LOC = re.compile(
    r"\s*\.loc\s+(\d+) (\d+) (\d+)(?:,.*inlined_at (\d+) (\d+) (\d+))?\s*$"
)
_FILE = re.compile(r'\s*\.file\s+(\d+) "([^"]*)"')
_LINES = re.compile(r"\s*\.(?:loc|file)\b")
_OF_TOOLKIT = re.compile(r"/(?:cuda|nvidia/).*/include/")
_KERNEL = re.compile(r"(?m)^( *)in kernel (\S+?), .*$")

_done: dict[str, str] = {}  # the last report, as it was and with its lines
_busy = False


def complete(report: str, number: int, line: int, other: int) -> str:
    """Return a report with the lines of the source for its lines of PTX.

    ``number`` is the hash of the text. ``other`` is the line of the other access, 0
    if the report has none. The report is unchanged if the source is not known.
    """
    global _busy
    if report in _done:
        return _done[report]
    match = _KERNEL.search(report)
    if _busy or match is None:
        return report
    _busy = True
    try:
        rows = _rows(match[2], number, line, other, match[1])
    except Exception:  # such as a compiler that is gone: the report is complete enough
        rows = []
    finally:
        _busy = False
    end = match.end()
    _done.clear()
    _done[report] = "".join((report[:end], *(f"\n{row}" for row in rows), report[end:]))
    return _done[report]


def _rows(kernel: str, number: int, line: int, other: int, indent: str) -> list[str]:
    """Return the rows that name the places, with the texts of their lines."""
    for request, places in _candidates(kernel, number):
        found = []
        for words, row in ("at", line), ("other access at", other):
            place = places.of(row) if row else None
            if place is None:
                continue
            file, text, source = place[0], "", str(request.source)
            if os.path.basename(file) == _excerpt.SOURCE_NAME:
                file = _excerpt.SOURCE_NAME
                text = _excerpt.line_of(source, place[1]) or ""
            found.append(f"{indent}{words} {file}:{place[1]}")
            if text.strip():
                inside = _in_program(source, place[1])
                found[-1] += f" ({inside})" if inside else ""
                found.append(f"{indent}    {text.strip()}")
        if found:
            return found
    return []


def _in_program(source: str, number: int) -> str:
    """Return "file:line" of a line of CUDA in the program's own files, or ""."""
    from pycuda import _counted_source

    place = _counted_source.in_files(source, number, recording.own_files())
    if place is None:
        return ""
    relative = os.path.relpath(place.file)
    file = relative if len(relative) < len(place.file) else place.file
    return f"{file}:{place.line}"


def _candidates(kernel: str, number: int) -> Iterator[tuple[CompileRequest, _Places]]:
    """Yield the compilations that have made the text of this hash."""
    word = re.compile(rf"\b{re.escape(plain_name(kernel))}\b")
    for request, names in list(build.of_software_device)[::-1]:
        if not word.search(str(request.source)):
            continue
        plain = _ptx(request, names)
        if recording.number_of(plain.encode()) == number:
            lined = request.with_fields(options=(*request.options, "-lineinfo"))
            yield request, _Places(plain, _ptx(lined, names))


def _ptx(request: CompileRequest, names: tuple[str, ...]) -> str:
    image, _, _ = build.build(build.prepare(request), names)
    return image.rstrip(b"\0").decode("utf-8", "replace")


class _Places:
    """The places of the lines of a PTX text, from that text with line directives."""

    def __init__(self, plain: str, lined: str) -> None:
        self._plain = plain.split("\n")
        self._files = {
            match[1]: match[2] for match in re.finditer(_FILE, plain + lined)
        }
        self._rows: list[str] = []
        self._locs: list[tuple[str, str] | None] = []
        reported: dict[tuple[str, ...], tuple[str, str]] = {}
        loc: tuple[str, str] | None = None
        for row in lined.split("\n"):
            match = _LOC.match(row)
            if match:
                loc = match[1], match[2]
                if match[4] and _OF_TOOLKIT.search(self._files.get(match[1], "")):
                    # as the software device does: the line of the call is reported
                    call = match.group(4, 5, 6)
                    loc = reported.get(call, (match[4], match[5]))
                reported[match.group(1, 2, 3)] = loc
            elif not _LINES.match(row):
                if row.startswith((".visible", ".entry", ".func", ".weak")):
                    loc = None
                self._rows.append(row)
                self._locs.append(loc)

    def of(self, number: int) -> tuple[str, int] | None:
        """Return file and line of a line of the plain text, None if it is unknown."""
        if self._plain[:number] != self._rows[:number]:
            return None
        loc = self._locs[number - 1]
        if loc is None or loc[0] not in self._files:
            return None
        return self._files[loc[0]], int(loc[1])
