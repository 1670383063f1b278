"""Errors in terms of cells: the lines of CUDA C and of Python that they are about."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import types
import warnings
from collections.abc import Iterator
from typing import TypeVar

import IPython

from pycuda import _counted_source, _driver, _excerpt, _reports, driver as drv
from pycuda._compile import recording
from pycuda.notebook._cell import Cell, Notebook

_Error = TypeVar("_Error", bound=BaseException)

_PYTHON = re.compile(
    r"(?P<file>/[^\s:]+\.py|<ipython-input-[\w-]+>):(?P<line>\d+)"
    r"(?: in <(?:cell line|module).*?>)?"
)
#: A line of a source, the cell that has it in a string, and the text of the line.
_CUDA = re.compile(
    rf"[^\s(]*\b{re.escape(_excerpt.SOURCE_NAME)}:(?P<line>\d+)"
    r"(?: \((?P<string>Cell In\[\d+\], line \d+)\)(?=\n +(?P<text>.*)))?"
)
#: The first line of an excerpt, and the number before a line of the source.
_HEAD = re.compile(rf"{re.escape(_excerpt.SOURCE_NAME)}, line (\d+):")
_NUMBERED = re.compile(r" +(\d+) \| ?")
_SYMBOL = re.compile(r"\b_Z\w+")
#: Advice for scripts, the last lines of an error's text.
_FOR_SCRIPTS = (
    "Set PYCUDA_LAUNCH_BLOCKING",
    "Run 'python -m pycuda.explain",
    "pycuda.tools.recover_context()",
    "Restart the process, unless",
)

_GO_ON = (
    "To go on, call pycuda.tools.recover_context(), which makes a new one on the "
    "software device; on a GPU, restart the kernel of the notebook."
)
_LOST = f"The context cannot be used any more. {_GO_ON}"
_FIND_THE_LINE = (
    " To see the line of the CUDA C, restart it with the environment variable "
    "PYCUDA_DRIVER=emulator: the software device names line and thread."
)

#: The folders of this package and of IPython.
_NOT_THE_PROGRAM = tuple(
    os.path.join(os.path.dirname(os.path.abspath(path)), "")
    for path in (_excerpt.__file__, IPython.__file__)
)

_BOLD, _RED, _RESET = "\x1b[1m", "\x1b[31m", "\x1b[0m"


def _colored(text: str, color: str) -> str:
    """Return a text in a color, as it is if IPython shows none."""
    shell = IPython.get_ipython()
    if str(getattr(shell, "colors", "")).lower() == "nocolor":
        return text
    return f"{color}{text}{_RESET}"


def brief(error: _Error, text: str | None = None) -> _Error:
    """Let notebooks show an error without a traceback, and return it."""
    shown = str(error) if text is None else text
    name = type(error).__name__

    def rows() -> list[str]:
        return [f"{_colored(name, _RED)}: {shown}"]

    error._render_traceback_ = rows  # type: ignore[attr-defined]
    return error


def shorten(notebook: Notebook, error: BaseException) -> None:
    """Let notebooks show an error without the frames of this package."""

    def rows() -> list[str]:
        said = str(error)
        cell = _cell_of(notebook, said, _reports.parse("", said).kernel)
        words = _in_cells(notebook, said, cell)
        return [row.replace(said, words) for row in _rows(notebook, error)]

    error._render_traceback_ = rows  # type: ignore[attr-defined]


@contextlib.contextmanager
def short(notebook: Notebook) -> Iterator[None]:
    """Leave the frames of this package out of the tracebacks of a kernel's call.

    Errors of wrong arguments come from the call, an index that is out of bounds from
    work before it, and an interrupt from its wait.
    """
    try:
        yield
    except (
        TypeError, ValueError, OverflowError, IndexError, KeyboardInterrupt
    ) as error:  # fmt: skip
        shorten(notebook, error)
        raise


@contextlib.contextmanager
def messages(cell: Cell) -> Iterator[None]:
    """Show the messages of a compiler with the name of the cell."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            yield
        except drv.CompileError as error:
            raise _of_compiler(error, cell) from None
    for each in said:
        print(cell.named(str(each.message)), file=sys.stderr)


def _rows(notebook: Notebook, error: BaseException) -> list[str]:
    """Return IPython's traceback of an error, without the frames of this package."""
    found = notebook.shell.InteractiveTB.structured_traceback(
        type(error), error, _of_program(error.__traceback__)
    )
    return [str(row) for row in found]


def _of_compiler(error: drv.CompileError, cell: Cell) -> drv.CompileError:
    """Let notebooks show a compiler's error at the lines of the cell."""
    said = str(error.stderr or "")
    nvrtc = list(error.command_line or ())[:1] == ["nvrtc"]
    excerpt = _excerpt.of_source(str(error.source), said, nvrtc)
    text = error.msg
    if excerpt:
        text = cell.named(f"{error.msg}\n{excerpt}")
    elif said:
        text = cell.named(f"{error.msg}\n{said.rstrip()}")
    return brief(error, text)


def render(notebook: Notebook, error: drv.Error) -> list[str]:
    """Return the traceback of an error, in the words of the notebook."""
    rows = _rows(notebook, error)
    said = str(error)
    if isinstance(error, drv.CompileError):
        words = _of_string(error)
        return [row.replace(said, words) for row in rows] if words else rows
    report = _reports.parse("", said)
    kernel = report.kernel
    if notebook.cell_of(kernel) is None and error.launches:
        kernel = error.launches[0].name
    cell = _cell_of(notebook, said, kernel)
    if notebook.has_shown(error):
        words = _again(notebook, error, report, cell)
        return [row.replace(said, words) for row in rows]
    words = _in_cells(notebook, said, cell)
    rows = [row.replace(said, words) for row in rows]
    more = _lines(report, cell)
    if error.launches:
        advice = _LOST
        if not _driver._is_emulated():
            advice += _FIND_THE_LINE
        more.append(advice)
    return rows + more


def _cell_of(notebook: Notebook, text: str, kernel: str) -> Cell | None:
    """Return the cell of CUDA C that a report is about, or None.

    A source in a string may have a kernel of the same name.
    """
    cell = notebook.cell_of(kernel)
    match = _CUDA.search(text)
    if cell is not None and match is not None and match["string"]:
        line = cell.text.split("\n")[int(match["line"]) - 1 :][:1]
        if not line or line[0].strip() != match["text"]:
            return None
    return cell


def _again(
    notebook: Notebook, error: drv.Error, report: _reports.Report, cell: Cell | None
) -> str:
    """Return the text of a fault whose report an earlier cell has shown."""
    fault = str(error).partition("\n")[0].partition(": ")[2].partition(" - ")[0]
    launch = error.launches[0]
    kernel = notebook.name_of(report.kernel or launch.name)
    found = re.search(r"(?m)^  at (.+)$", _in_cells(notebook, str(error), cell))
    where = f"launched at {launch.file}:{launch.line}"
    where = f"at {found[1]}" if found else _in_cells(notebook, where, cell)
    return (
        f"{error.routine} failed, because the context is lost since an earlier fault: "
        f"{fault}, in {launch.kind} {kernel}, {where}. {_GO_ON}"
    )


def _of_string(error: drv.CompileError) -> str:
    """Return the text of an error with the lines of the cell that has the source.

    Return "" if no cell has the lines that the compiler names.
    """
    nvrtc = list(error.command_line or ())[:1] == ["nvrtc"]
    excerpt = _excerpt.of_source(str(error.source), str(error.stderr or ""), nvrtc)
    source = recording.source_now(str(error.source))
    files = _counted_source.Sources()
    blocks = []
    for block in filter(None, re.split(r"(?m)^(?=\S)", excerpt)):
        match = _HEAD.match(block)
        if match is None:
            blocks.append(block.rstrip())
            continue
        place = files.in_files(source, int(match[1]))
        if place is None:
            return ""
        moved = place.line - int(match[1])
        more = max(0, len(str(place.line)) - len(match[1]))
        rows = [f"{place.text}:"]
        for row in block.splitlines()[1:]:
            numbered = _NUMBERED.match(row)
            if numbered is None:
                rows.append(" " * more + row)
                continue
            other = files.in_files(source, int(numbered[1]))
            if other == place._replace(line=int(numbered[1]) + moved):
                width = len(match[1]) + more
                rows.append(
                    f"  {other.line:{width}} | {row[numbered.end() :]}".rstrip()
                )
        blocks.append("\n".join(rows))
    return "\n".join([error.msg, *blocks]) if excerpt else ""


def in_cells(notebook: Notebook, warning: str) -> str:
    """Return the text of a warning of this package, in the words of the notebook."""
    report = _reports.parse("", warning)
    cell = _cell_of(notebook, warning, report.kernel)
    rows = [_in_cells(notebook, warning.rstrip("\n"), cell), *_lines(report, cell)]
    return "\n".join(rows) + "\n"


def _of_program(trace: types.TracebackType | None) -> types.TracebackType | None:
    """Return a traceback without its last frames if they are not of the program."""
    frames = []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    kept = [*frames]
    while kept and kept[-1].tb_frame.f_code.co_filename.startswith(_NOT_THE_PROGRAM):
        kept.pop()
    shown: types.TracebackType | None = None
    for each in reversed(kept):
        shown = types.TracebackType(shown, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return shown


def _in_cells(notebook: Notebook, text: str, cell: Cell | None) -> str:
    """Return a text with the names of cells in place of those of files."""

    def python(match: re.Match[str]) -> str:
        number = notebook.number_of(match["file"])
        if number is None:
            return match[0]
        return f"Cell In[{number}], line {match['line']}"

    rows = [
        row for row in text.split("\n") if not row.lstrip().startswith(_FOR_SCRIPTS)
    ]
    text = _PYTHON.sub(python, "\n".join(rows))
    text = _SYMBOL.sub(lambda match: notebook.name_of(match[0]), text)

    def cuda(match: re.Match[str]) -> str:
        if cell is not None:
            return f"{cell.title}, line {match['line']}"
        return match["string"] or match[0]

    return _CUDA.sub(cuda, text)


def _lines(report: _reports.Report, cell: Cell | None) -> list[str]:
    """Return the lines of CUDA C that a report names."""
    shown: dict[int, str] = {}
    for place in report.places:
        is_cuda = os.path.basename(place.file) == _excerpt.SOURCE_NAME
        if cell is not None and is_cuda and place.line not in shown:
            shown[place.line] = cell.excerpt(place.line)
    if cell is None:
        return []
    return [
        f"{_colored(f'{cell.title}, line {line}', _BOLD)}\n{text}"
        for line, text in shown.items()
        if text
    ]
