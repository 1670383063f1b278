"""The line of the CUDA source that a fault on the software device is about.

Without ``-lineinfo`` the device knows the line of PTX only. The two texts differ in the
directives that name lines, so when a fault has happened, the source is compiled again
with them, and the same line of PTX is looked up there. With it, as while PYCUDA_CHECK
is set, the device names a line of ``kernel.cu`` in the folder of whoever has compiled
it first. Both become the line of the program's own file, with its text. Nothing is done
before a fault.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from pycuda import _counted_source, _excerpt
from pycuda._compile import build, recording
from pycuda._compile.request import CompileRequest
from pycuda._parameter_types import plain_name

_LOC = re.compile(
    r"\s*\.loc\s+(\d+) (\d+) (\d+)(?:,.*inlined_at (\d+) (\d+) (\d+))?\s*$"
)
_FILE = re.compile(r'\s*\.file\s+(\d+) "([^"]*)"')
_LINES = re.compile(r"\s*\.(?:loc|file)\b")
#: Headers of the toolkit, and those of this package.
_OF_TOOLKIT = re.compile(r"/(?:cuda|nvidia/).*/include/|/pycuda/cuda/pycuda-")
_KERNEL = re.compile(r"(?m)^( *)in kernel (\S+?), .*$")
_NAMED = re.compile(
    rf"(?m)^ *(at|other access at) .*\b{re.escape(_excerpt.SOURCE_NAME)}:(\d+)$"
)

_done: dict[str, str] = {}  # the last report, as it was and with its lines
_busy = False


def complete(report: str, number: int, line: int, other: int) -> str:
    """Return a report with the lines of the source, and with their texts.

    ``number`` is the hash of the text of PTX, and ``line`` is a line of it, 0 if the
    report names the line of the source. ``other`` is that of the other access, 0 also
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
        done = _with_lines(report, match, number, line, other)
    except Exception:  # such as a compiler that is gone: the report is complete enough
        done = report
    finally:
        _busy = False
    _done.clear()
    _done[report] = done
    return done


def _with_lines(
    report: str, match: re.Match[str], number: int, line: int, other: int
) -> str:
    indent, kernel, end = match[1], match[2], match.end()
    if not line and not other and not _NAMED.search(report):
        return report
    for request, names, plain in _candidates(kernel, number):
        rows = _Rows(str(request.source), indent)
        report = _NAMED.sub(rows.of_match, report)
        found: list[str] = []
        if line or other:
            lined = request.with_fields(
                source=recording.with_lines(str(request.source)),
                options=(*request.options, "-lineinfo"),
            )
            places = _Places(plain, _ptx(lined, names))
            for words, row in ("at", line), ("other access at", other):
                place = places.of(row) if row else None
                found += rows.of(words, *place) if place else []
        return "".join((report[:end], *(f"\n{row}" for row in found), report[end:]))
    return report


class _Rows:
    """The rows of a report about places in a source."""

    def __init__(self, source: str, indent: str) -> None:
        self._source = recording.source_now(source)
        self._indent = indent
        self._in_files = _counted_source.Sources()

    def of_match(self, named: re.Match[str]) -> str:
        """Return the rows for a row that names the line of the source."""
        return "\n".join(self.of(named[1], _excerpt.SOURCE_NAME, int(named[2])))

    def of(self, words: str, file: str, line: int) -> list[str]:
        """Return the row that names a line, and that with its text."""
        text = ""
        if os.path.basename(file) == _excerpt.SOURCE_NAME:
            file = _excerpt.SOURCE_NAME
            text = (_excerpt.line_of(self._source.text, line) or "").strip()
        found = f"{self._indent}{words} {file}:{line}"
        if not text:
            return [found]
        place = self._in_files.in_files(self._source, line)
        if place:
            found += f" ({place.text})"
        return [found, f"{self._indent}    {text}"]


def _candidates(
    kernel: str, number: int
) -> Iterator[tuple[CompileRequest, tuple[str, ...], str]]:
    """Yield the compilations that have made the text of this hash, with the text."""
    word = re.compile(rf"\b{re.escape(plain_name(kernel))}\b")
    for request, names in list(build.of_software_device)[::-1]:
        if not word.search(str(request.source)):
            continue
        plain = _ptx(request, names)
        if recording.number_of(plain.encode()) == number:
            yield request, names, plain


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
