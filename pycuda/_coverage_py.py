"""A plugin of coverage.py: its reports show the lines of kernels too.

The program's configuration names ``pycuda.coverage`` among the plugins. The plugin
claims Python files that may have CUDA sources in strings, so that their data belong to
it in every run. At the end of a run of pytest, ``add`` adds the lines that ran in
kernels to the data, and writes which lines and branches there are to a file beside
them. The reporters of the plugin read that file.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

import coverage
from coverage.plugin_support import Plugins
from coverage.python import PythonFileReporter

from pycuda._counted_source import text_of
from pycuda._covered import File

_NAME = "pycuda.coverage.Plugin"
_MAY_HAVE_CUDA = re.compile(
    r"__(?:global|device)__|\b(?:SourceModule|\w+Kernel)\b|get_or_create_cuda"
)

_SOON = 5  # seconds in which both files are written

#: The lines of a file, and the branches: from a line to a line.
_Known = tuple[set[int], set[tuple[int, int]]]


def _arcs(file: File) -> dict[tuple[int, int], int]:
    """Return the outcomes of a file that are lines, with how often they were taken."""
    found: dict[tuple[int, int], int] = {}
    for line, decisions in file.decisions.items():
        for outcomes in decisions:
            to = {x.line: x.threads for x in outcomes if x.line not in (0, line)}
            if len(to) > 1:
                for end, threads in to.items():
                    found[line, end] = found.get((line, end), 0) + threads
    return found


def _beside(data_file: object) -> str:
    """Return the name of the file with the lines of kernels."""
    folder, name = os.path.split(os.path.abspath(str(data_file)))
    # Files whose names begin with that of the data are data for coverage.py.
    return os.path.join(folder, f".kernels-of-{name.lstrip('.')}.json")


def add(cov: coverage.Coverage, files: Sequence[File]) -> str:
    """Add what ran in kernels to the data of coverage.py.

    Parameters
    ----------
    cov : coverage.Coverage
        What has measured.
    files : sequence of File
        What ran in kernels.

    Returns
    -------
    str
        Why it was not added, or "".
    """
    plugins = cov.get_option("run:plugins")
    if not isinstance(plugins, list) or "pycuda.coverage" not in plugins:
        return (
            "coverage.py's reports show the lines of kernels if its settings have "
            'plugins = ["pycuda.coverage"] under [tool.coverage.run]'
        )
    data = cov.get_data()
    known: dict[str, Any] = {}
    for file in files:
        tracer = data.file_tracer(file.name)
        if not os.path.isabs(file.name) or (
            tracer != _NAME and (tracer is not None or file.name.endswith(".py"))
        ):
            continue
        if tracer is None:
            data.touch_file(file.name, _NAME)
        arcs = _arcs(file)
        known[file.name] = [list(file.lines), list(arcs)]
        lines = [line for line, count in file.lines.items() if count]
        if data.has_arcs():
            taken = {arc for arc, threads in arcs.items() if threads}
            data.add_arcs({file.name: {*taken, *((n, n) for n in lines)}})
        else:
            data.add_lines({file.name: lines})
    with open(_beside(data.data_filename()), "w", encoding="utf-8") as written:
        json.dump(known, written)
    return ""


def _read_settings() -> coverage.Coverage:
    return coverage.Coverage()


_settings = functools.cache(_read_settings)


def _known(name: str) -> _Known:
    """Return what is known of a file's kernels."""
    data = str(_settings().get_option("run:data_file"))
    path = _beside(data)
    try:
        if os.path.getmtime(data) > os.path.getmtime(path) + _SOON:
            return set(), set()  # the data are of a later run, which measured no kernel
        with open(path, encoding="utf-8") as file:
            lines, arcs = json.load(file)[name]
    except (OSError, ValueError, KeyError):
        return set(), set()
    return set(lines), {(begin, end) for begin, end in arcs}


def _exits(arcs: Iterable[tuple[int, int]]) -> dict[int, int]:
    found: dict[int, int] = {}
    for begin, _ in arcs:
        found[begin] = found.get(begin, 0) + 1
    return found


class _CudaReporter(coverage.FileReporter):
    """Reports of a file of CUDA."""

    def __init__(self, filename: str) -> None:
        super().__init__(filename)
        self._lines, self._arcs = _known(filename)

    def lines(self) -> set[int]:
        return self._lines

    def arcs(self) -> set[tuple[int, int]]:
        return self._arcs

    def exit_counts(self) -> dict[int, int]:
        return _exits(self._arcs)

    def source(self) -> str:
        return text_of(self.filename)


class _PythonReporter(PythonFileReporter):
    """Reports of a file of Python with kernels in its strings."""

    def __init__(self, filename: str) -> None:
        super().__init__(filename, _settings())
        lines, arcs = _known(filename)
        self._lines = lines - super().lines()
        self._arcs = {arc for arc in arcs if arc[0] in self._lines}

    def lines(self) -> set[int]:
        return super().lines() | self._lines

    def translate_lines(self, lines: Iterable[int]) -> set[int]:
        found = set(lines)
        return super().translate_lines(found - self._lines) | (found & self._lines)

    def arcs(self) -> set[tuple[int, int]]:
        return super().arcs() | self._arcs

    def translate_arcs(self, arcs: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
        found = set(arcs)
        own = {arc for arc in found if arc[0] in self._lines}
        return super().translate_arcs(found - own) | own

    def exit_counts(self) -> dict[int, int]:
        return {**super().exit_counts(), **_exits(self._arcs)}

    def missing_arc_description(
        self,
        start: int,
        end: int,
        executed_arcs: Iterable[tuple[int, int]] | None = None,
    ) -> str:
        if start in self._lines:
            return f"no thread went from line {start} to line {end}"
        return super().missing_arc_description(start, end, executed_arcs)

    def arc_description(self, start: int, end: int) -> str:
        if start in self._lines:
            return f"go to line {end}"
        return super().arc_description(start, end)


class _Tracer(coverage.FileTracer):
    """Measures a file of Python as coverage.py does."""

    def __init__(self, filename: str) -> None:
        self._filename = filename

    def source_filename(self) -> str:
        return self._filename


class Plugin(coverage.CoveragePlugin):
    """Adds the lines of kernels to reports."""

    def file_tracer(self, filename: str) -> coverage.FileTracer | None:
        """Claim files that may have CUDA sources in strings."""
        if filename.endswith(".py") and _MAY_HAVE_CUDA.search(text_of(filename)):
            return _Tracer(filename)
        return None

    def file_reporter(self, filename: str) -> coverage.FileReporter | str:
        """Return what reports a file."""
        if filename.endswith(".py"):
            return _PythonReporter(filename)
        return _CudaReporter(filename)


def register(reg: Plugins) -> None:
    """Add the plugin."""
    reg.add_file_tracer(Plugin())
