"""Where the lines of counted programs are for a reader, and their texts."""

from __future__ import annotations

import linecache
import os

from pycuda import _counted_source, _counts, _excerpt


class Places:
    """The lines of programs, and their texts.

    ``cell`` is the text of a notebook's cell with this title, if its lines are wanted.
    """

    def __init__(self, title: str = "", cell: str = "") -> None:
        self._title, self._cell = title, cell
        self._sources = _counted_source.Sources()

    def has(self, program: _counts.Program) -> bool:
        """Return whether a program is wanted."""
        return not self._cell or self._is_cell(program)

    def _is_cell(self, program: _counts.Program) -> bool:
        return bool(self._cell and program.source and self._cell in program.source.text)

    def of(self, program: _counts.Program, file: str, line: int) -> tuple[str, int]:
        """Return the file and the line of a line of a program."""
        is_text = os.path.basename(file) == _excerpt.SOURCE_NAME
        if is_text and self._is_cell(program):
            return self._title, line
        # None: a header of the toolkit or of this package, which costs something, too.
        return self._sources.place(program, file, line) or (file, line)

    def text(self, file: str, line: int) -> str:
        """Return the text of any line of a file."""
        if file == self._title:
            rows = self._cell.split("\n")
        else:
            rows = self._sources.lines(file)
        if rows:
            return rows[line - 1].rstrip() if line <= len(rows) else ""
        return linecache.getline(file, line).rstrip()
