"""The sources that programs compile, written down for other programs of the package.

While PYCUDA_RECORD names a folder, each process appends what it compiles to a file of
its own there, for ``pycuda.precompile``: a JSON text in a line, with the arguments of
the compilation. Hits of the cache and of bundles count too. A source that fails is not
written down.

A report of a check names a line of ``kernel.cu``, and every source in a string has that
name. So while PYCUDA_CHECK_LOG names a file of reports, each source is appended to a
second file beside it, for ``pycuda.explain``.

While PYCUDA_EMULATOR_COUNT_LOG begins the names of files of counts, each source is
written beside them with the number of its PTX text, for ``pycuda._counts``.
"""

from __future__ import annotations

import contextlib
import functools
import glob
import json
import os
import re
import struct
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pycuda._compile import store
from pycuda._compile.request import CompileRequest
from pycuda._warning import PACKAGE, cells, warn

if TYPE_CHECKING:
    from types import FrameType

    from pycuda._compile.architecture import TargetDevice

VARIABLE = "PYCUDA_RECORD"
_ENDING = ".jsonl"
_TEXTS_ENDING = ".sources"

# (folder or file, line) of what this process has written
_kept: set[tuple[str, str]] = set()
_complained = False


class Device(NamedTuple):
    """The device for which a program compiled: its capability, and which kind it is."""

    capability: tuple[int, int]
    software: bool


class Recorded(NamedTuple):
    """One source that a program compiled."""

    request: CompileRequest
    names: tuple[str, ...]  # expressions for kernels
    device: Device | None  # None if there was no context
    line: str  # the line of the program, "file:number"


def keep(
    request: CompileRequest, names: Sequence[str], device: TargetDevice | None
) -> None:
    """Append a source to the record of this process, once."""
    global _complained
    folder = os.environ.get(VARIABLE)
    if not folder:
        return
    row: dict[str, Any] = {
        "source": request.source,
        "options": list(request.options),
        "include_dirs": list(request.include_dirs or ()),
        "no_extern_c": request.no_extern_c,
        "arch": request.arch,
        "code": request.code,
        "target": request.target,
        "linked": request.linked,
        "quick": request.quick,
        "nvcc": os.fspath(request.nvcc),
        "compiler": request.compiler,
        "names": list(names),
        "device": None,
        "line": _line_of_program(),
    }
    if device is not None:
        row["device"] = [*device.capability, device.software]
    text = json.dumps(row)
    if (folder, text) in _kept:
        return
    _kept.add((folder, text))
    try:
        _append_record(folder, text)
    except OSError as error:
        if not _complained:
            _complained = True
            warn(
                f"sources cannot be recorded in '{folder}' ({error.strerror or error}),"
                f" which {VARIABLE} names; the program continues without"
            )


def _append_record(folder: str, text: str) -> None:
    os.makedirs(folder, exist_ok=True)
    _append(os.path.join(folder, store.process_name() + _ENDING), text)


def _append(path: str, line: str) -> None:
    """Append a line to a file in one step."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        os.write(file, line.encode() + b"\n")
    finally:
        os.close(file)


def _line_of_program() -> str:
    """Return the line outside of the package that asked for the compilation."""
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def read(folder: str) -> list[Recorded]:
    """Return all sources in a folder, each once. Raise OSError or ValueError."""
    found: dict[str, Recorded] = {}
    for name in sorted(os.listdir(folder)):
        if not name.endswith(_ENDING):
            continue
        path = os.path.join(folder, name)
        for line, row in _rows(path):
            found.setdefault(line, row)
    return list(found.values())


def _rows(path: str) -> Iterator[tuple[str, Recorded]]:
    """Yield (what identifies it, source) for each line of a file."""
    with open(path, encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            try:
                row = json.loads(text)
                line = row.pop("line")
                identity = json.dumps(row, sort_keys=True)
                names, device = tuple(row.pop("names")), row.pop("device")
                if device is not None:
                    device = Device((device[0], device[1]), device[2])
                request = CompileRequest(**row)
            except (ValueError, TypeError, KeyError, IndexError):
                raise ValueError(
                    f"line {number} of '{path}' is not the record of a source. Remove "
                    f"the file, or record the program again with {VARIABLE}"
                ) from None
            yield identity, Recorded(request, names, device, line)


# -- lines of generated sources --------------------------------------------------------

#: So many sources keep the lines of the program that they were generated for.
_MOST_GENERATED = 2000
_generated: dict[str, str] = {}
#: What is between a line of such a source and "file:number", a line of the program.
LINE = "\x01"


def note_lines(text: str, marked: str) -> None:
    """Note a generated source, in which lines of the program are marked."""
    _generated.pop(text, None)
    _generated[text] = marked
    while len(_generated) > _MOST_GENERATED:
        with contextlib.suppress(KeyError, StopIteration):  # of another thread
            del _generated[next(iter(_generated))]


def with_lines(text: str) -> str:
    """Return a source with directives that name the lines of the program, if noted."""
    marked = _generated.get(text)
    if marked is None:
        return text
    made, was_named = [], False
    for number, whole in enumerate(marked.split("\n"), 1):
        row, _, line = whole.partition(LINE)
        file, _, at = line.rpartition(":")
        is_named = os.path.isabs(file) and '"' not in file
        if is_named:
            name = file.replace("\\", "\\\\")
            made.append(f'#line {at} "{name}"')
        elif was_named:
            made.append(f'#line {number} "kernel.cu"')
        made.append(row)
        was_named = is_named
    return "\n".join(made)


# -- for reports of checks -------------------------------------------------------------

LOG_VARIABLE = "PYCUDA_CHECK_LOG"


class Source(NamedTuple):
    """A source that a program has compiled, and where its lines may be."""

    text: str
    line: str = ""  # the line of the program that compiled it, "file:number"
    files: tuple[str, ...] = ()  # of the program, in which its lines may be
    frames: int = 0  # the first of these: of the calls that compiled it
    ptx: str = ""


def source_now(text: str) -> Source:
    """Return a source with the files that this process has now."""
    frames = len(_files_of_frames())
    return Source(text, _line_of_program(), tuple(own_files()), frames)


def keep_text(text: str) -> None:
    """Append a source, if reports are kept and if this process has not yet."""
    log = os.environ.get(LOG_VARIABLE)
    if not log or (log, text) in _kept:
        return
    _kept.add((log, text))
    # Without the file, reports are shown without the texts of their lines.
    with contextlib.suppress(OSError):
        _append(log + _TEXTS_ENDING, json.dumps(source_now(text)))


def read_texts(log: str) -> list[Source]:
    """Return the sources beside a file of reports, in their order."""
    try:
        with open(log + _TEXTS_ENDING, encoding="utf-8") as file:
            return [Source(*json.loads(row)) for row in file if row.endswith("\n")]
    except OSError:
        return []


# -- for counts ------------------------------------------------------------------------

COUNT_LOG_VARIABLE = "PYCUDA_EMULATOR_COUNT_LOG"
SOURCES_ENDING = ".sources"


def number_of(image: bytes) -> int:
    """Return the number that the software device has for a text of PTX."""
    text = image.rstrip(b"\0")
    value = len(text)
    padded = text.ljust(-(-len(text) // 8) * 8, b"\0")
    for (word,) in struct.iter_unpack("<Q", padded):
        value = (value ^ word) * 0x9E3779B97F4A7C15 % 2**64
        value ^= value >> 32
    return value


def keep_source(text: str, image: bytes) -> None:
    """Append a source and the number of its PTX, if counts are kept."""
    prefix = os.environ.get(COUNT_LOG_VARIABLE)
    if not prefix:
        return
    row = source_now(text)._asdict()
    row["number"] = number_of(image)
    row["ptx"] = image.rstrip(b"\0").decode("utf-8", "replace")
    line = json.dumps(row)
    if (prefix, line) in _kept:
        return
    _kept.add((prefix, line))
    # Without the file, reports name the lines of kernel.cu.
    with contextlib.suppress(OSError):
        _append(f"{prefix}.{os.getpid()}{SOURCES_ENDING}", line)


def read_sources(prefix: str) -> dict[int, Source]:
    """Return the sources of all processes, by the number of their PTX."""
    found = {}
    for path in sorted(glob.glob(f"{glob.escape(prefix)}.*{SOURCES_ENDING}")):
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.endswith("\n"):
                    row = json.loads(line)
                    number, row["files"] = row.pop("number"), tuple(row["files"])
                    found[number] = Source(**row)
    return found


def _is_own(file: str) -> bool:
    """Return whether a file belongs to the program, and not to what is installed."""
    folder = os.path.join(file, "")
    return (
        os.path.isabs(file)
        and _INSTALLED.search(folder) is None
        and not folder.startswith(_installed_folders())
    )


def _find_installed() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    names = "stdlib", "platstdlib", "purelib", "platlib", "include", "platinclude"
    found = {os.path.join(paths[name], "") for name in names if name in paths}
    return (*found, PACKAGE, "/usr/include/", "/usr/lib/")


_installed_folders = functools.cache(_find_installed)
#: Whether a file belongs to the program, and not to what is installed.
is_own = functools.cache(_is_own)


#: Installed packages, headers of the toolkit, and headers of this package: a kernel of
#: the compile cache may name those of another installation.
_INSTALLED = re.compile(
    r"/(?:site|dist)-packages/|/(?:cuda|nvidia)[^/]*/.*include/"
    r"|/pycuda/cuda/pycuda-[\w-]+\.hpp/$"
)


def own_files() -> list[str]:
    """Return the program's files: of the calls that are active, and of modules.

    In a notebook, the other cells that have run count too, the newest first.
    """
    others = reversed(cells())
    return list(dict.fromkeys((*_files_of_frames(), *others, *_files_of_modules())))


def _files_of_frames() -> list[str]:
    """Return the program's files that ask for the compilation, the innermost first."""
    frame: FrameType | None = sys._getframe()
    found: dict[str, None] = {}
    while frame is not None:
        found[frame.f_code.co_filename] = None
        frame = frame.f_back
    return [file for file in found if is_own(file)]


def _files_of_modules() -> list[str]:
    """Return the files of the program's modules that are loaded."""
    files = [getattr(module, "__file__", None) for module in [*sys.modules.values()]]
    return [
        file
        for file in files
        if isinstance(file, str) and file.endswith(".py") and is_own(file)
    ]


def _after_fork() -> None:
    """Let a child write a record of its own."""
    _kept.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
