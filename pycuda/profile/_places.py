"""Where the lines of counted programs are: in Python files, in files of CUDA."""

from __future__ import annotations

import linecache
import os

from pycuda import _counts, _excerpt
from pycuda.explain import in_python


class Places:
    """The lines of programs, and their texts.

    ``cell`` is the text of a notebook's cell with this title, if its lines are wanted.
    """

    def __init__(self, title: str = "", cell: str = "") -> None:
        self._title, self._cell = title, cell
        self._known: dict[tuple[int, str, int], tuple[str, int, str]] = {}
        self._texts: dict[str, str] = {}  # of sources that are in no file

    def has(self, program: _counts.Program) -> bool:
        """Return whether a program is wanted."""
        return not self._cell or self._is_cell(program)

    def _is_cell(self, program: _counts.Program) -> bool:
        return bool(self._cell and program.source and self._cell in program.source.text)

    def of(
        self, program: _counts.Program, file: str, line: int
    ) -> tuple[str, int, str]:
        """Return the file, the line and the text of a line."""
        key = program.number, file, line
        if key not in self._known:
            self._known[key] = self._find(program, file, line)
        return self._known[key]

    def _find(
        self, program: _counts.Program, file: str, line: int
    ) -> tuple[str, int, str]:
        source = program.source
        if source is None or os.path.basename(file) != _excerpt.SOURCE_NAME:
            return file, line, linecache.getline(file, line).rstrip()
        text = _excerpt.line_of(source.text, line) or ""
        if self._is_cell(program):
            self._texts[self._title] = source.text
            return self._title, line, text
        python = source.line.rpartition(":")[0]
        inside = in_python(source.text, text, line, [python])
        if inside:
            _, _, number = inside.rpartition(":")
            return python, int(number), text
        name = f"{_excerpt.SOURCE_NAME} of {source.line}"
        self._texts[name] = source.text
        return name, line, text

    def text(self, file: str, line: int) -> str:
        """Return the text of any line of a file."""
        if file in self._texts:
            return _excerpt.line_of(self._texts[file], line) or ""
        return linecache.getline(file, line).rstrip("\n")
