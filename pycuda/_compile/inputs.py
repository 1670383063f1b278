"""The files, folders and programs that nvcc's options and variables name.

Each compilation needs ``for_key``; only one that is not cached needs the rest.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Sequence

from pycuda._compile import toolkit

# Variables that change what nvcc, or its preprocessor, makes of the same command.
# nvcc.profile adds to some of them instead of setting them.
ENVIRONMENT = (
    "NVCC_PREPEND_FLAGS",
    "NVCC_APPEND_FLAGS",
    "NVCC_CCBIN",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
    "INCLUDES",
    "SYSTEM_INCLUDES",
    "LIBRARIES",
    "PTXAS_FLAGS",
    "CUDAFE_FLAGS",
)
_FLAGS = ("INCLUDES", "SYSTEM_INCLUDES", "LIBRARIES", "PTXAS_FLAGS", "CUDAFE_FLAGS")
_PATHS = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH")

_FILE_OPTIONS = frozenset(
    ("-include", "--pre-include", "--include-path", "-isystem", "--system-include")
    + ("-ccbin", "--compiler-bindir")
)
_OPTIONS_FILE = ("-optf", "--options-file")
_HOST_COMPILER = ("-ccbin", "--compiler-bindir")
_TO_HOST_COMPILER = ("-Xcompiler", "--compiler-options")

_ENCODED = tuple((name, os.fsencode(name)) for name in ENVIRONMENT)

_words: dict[str, list[str]] = {}
_relative: dict[tuple[str, ...], bool] = {}  # whether variables name relative paths
_programs: dict[tuple[str, str | None], str | None] = {}


def for_key(options: Sequence[str]) -> list[str]:
    """Return what belongs into a key for nvcc beside options, text and version."""
    environ = os.environ
    # Most of these are not set. Looking for an absent name in os.environ is slow.
    known: Container[object] | None = getattr(environ, "_data", None)
    if known is None:
        known = environ
    values = [
        environ.get(name, "") if name in known or encoded in known else ""
        for name, encoded in _ENCODED
    ]
    words = options
    relative = False
    if any(values):
        place = tuple(values)
        if place not in _relative:
            _relative[place] = _variables_depend_on_cwd()
        relative = _relative[place]
        words = [*_split(values[0]), *options, *_split(values[1])]
    relative = relative or depends_on_cwd(words)
    return [os.getcwd() if relative else "", _host_compiler(words, values[2]), *values]


def _variables_depend_on_cwd() -> bool:
    environ = os.environ
    flags = [word for name in _FLAGS for word in _split(environ.get(name, ""))]
    paths = [part for name in _PATHS for part in _path(name)]
    return depends_on_cwd(flags) or not all(map(os.path.isabs, paths))


def depends_on_cwd(options: Iterable[str]) -> bool:
    """Return whether an option may name a file relative to the current directory.

    If it wrongly returns True, a program in another directory compiles again. If it
    wrongly returned False, that program would get this directory's result. Files of
    options always count as relative.
    """
    for option in options:
        name, _, value = option.partition("=")
        if name in _OPTIONS_FILE:
            return True
        if option.startswith(("-I", "-L")):
            value = option[2:]
        elif not option.startswith("-"):
            value = option
        elif name not in _FILE_OPTIONS and "/" not in value and "-I" not in value:
            continue
        if value and not all(map(os.path.isabs, filter(None, value.split(",")))):
            return True
    return False


def _host_compiler(options: Sequence[str], ccbin: str) -> str:
    """Return path, size and time of nvcc's host compiler.

    ``ccbin`` is the value of NVCC_CCBIN.
    """
    path = _host_compiler_path(options, ccbin)
    if path is None:
        return ""
    try:
        stat = os.stat(path)
    except OSError:
        _programs.clear()
        return ""
    return f"{path} {stat.st_size} {stat.st_mtime_ns}"


def host_compiler(options: Sequence[str]) -> str | None:
    """Return the path of nvcc's host compiler, None if there is none."""
    prepended, appended, ccbin = map(os.environ.get, ENVIRONMENT[:3])
    words = [*_split(prepended or ""), *options, *_split(appended or "")]
    return _host_compiler_path(words, ccbin or "")


def _host_compiler_path(options: Sequence[str], ccbin: str) -> str | None:
    wanted = ccbin or "gcc"
    for number, option in enumerate(options):
        if option.startswith(_HOST_COMPILER):
            _, equals, value = option.partition("=")
            wanted = value if equals else "".join(options[number + 1 : number + 2])
    place = (wanted, os.environ.get("PATH"))
    if place not in _programs:
        path: str | None = os.path.join(wanted, "gcc")
        if not os.path.isdir(wanted):
            path = wanted
            if not os.path.dirname(wanted):
                path = toolkit.on_path([wanted])
        _programs[place] = path
    return _programs[place]


def _split(text: str) -> list[str]:
    """Return the words of a variable or of a file of options."""
    if not text:
        return []
    words = _words.get(text)
    if words is None:
        import shlex

        try:
            words = shlex.split(text)
        except ValueError:  # an opening quote without a closing one
            words = text.split()
        _words[text] = words
    return words


def _path(name: str) -> list[str]:
    """Return the parts of a variable that lists folders.

    An empty part is the current directory.
    """
    value = os.environ.get(name)
    return value.split(os.pathsep) if value else []


class Given:
    """All options of nvcc: from the command, from variables, from files of options."""

    __slots__ = ("_words", "files")

    def __init__(self, options: Iterable[str]) -> None:
        environ = os.environ
        self.files: list[str] = []
        prepended = _split(environ.get("NVCC_PREPEND_FLAGS", ""))
        appended = _split(environ.get("NVCC_APPEND_FLAGS", ""))
        own = [word for name in _FLAGS for word in _split(environ.get(name, ""))]
        self._words = self._expanded([*prepended, *options, *appended, *own])

    def _expanded(self, words: Iterable[str]) -> list[str]:
        """Replace files of options by the options in them."""
        expanded: list[str] = []
        rest = iter(words)
        for word in rest:
            name, equals, value = word.partition("=")
            if name not in _OPTIONS_FILE + _TO_HOST_COMPILER:
                expanded.append(word)
                continue
            for part in (value if equals else next(rest, "")).split(","):
                if name in _TO_HOST_COMPILER:
                    expanded.append(part)
                elif os.path.isfile(part) and os.path.abspath(part) not in self.files:
                    self.files.append(os.path.abspath(part))
                    with open(part, encoding="utf-8", errors="replace") as file:
                        expanded += self._expanded(_split(file.read()))
        return expanded

    def search_dirs(self) -> list[str]:
        """Return the folders where headers are looked for, in order."""
        cpath = _path("CPATH")
        system = self._values(("-isystem", "--system-include"))
        system += _path("C_INCLUDE_PATH") + _path("CPLUS_INCLUDE_PATH")
        system = list(map(os.path.abspath, system))
        quoted = [*self._values(("-I", "--include-path")), *cpath]
        first = list(map(os.path.abspath, quoted))
        # The compiler skips a folder here if it is also one of the system's folders.
        return [folder for folder in first if folder not in system] + system

    def libraries(self) -> list[str]:
        """Return the files that are named for the linker."""
        words = self._words
        if not any(word.startswith("-l") or word[:1] != "-" for word in words):
            return []
        return libraries(words)

    def as_source(self) -> str:
        """Return the options as lines of a source: includes and macros."""
        lines = []
        for name in self._values(("-include", "--pre-include")):
            lines += [f'#include "{os.path.abspath(name)}"', f'#include "{name}"']
        for macro in self._values(("-D", "--define-macro")):
            lines.append("#define " + macro.replace("=", " ", 1))
        return "".join(line + "\n" for line in lines)

    def _values(self, names: tuple[str, str]) -> list[str]:
        """Return the values of an option in all the ways to write it."""
        words = self._words
        short, found = names[0], []
        for number, word in enumerate(words):
            name, equals, value = word.partition("=")
            if word in names:
                value = "".join(words[number + 1 : number + 2])
            elif name in names and equals:
                pass
            elif len(short) == 2 and word.startswith(short):
                value = word[2:].removeprefix("=")
            else:
                continue
            found += [part for part in value.split(",") if part]
        return found


def libraries(options: Sequence[str]) -> list[str]:
    """Return the files that options name for the linker, as far as they exist.

    Libraries of the toolkit are not among them. They come with the compiler.
    """
    folders = _linker_values(options, "-L", "--library-path")
    beside = os.environ.get("LIBRARY_PATH")
    folders += beside.split(os.pathsep) if beside else []
    names = _linker_values(options, "-l", "--library")
    found = []
    for name in names:
        paths = (os.path.join(folder, f"lib{name}.a") for folder in folders)
        found += [path for path in paths if os.path.isfile(path)][:1]
    found += [
        option
        for option in options
        if not option.startswith("-") and os.path.isfile(option)
    ]
    return [os.path.abspath(path) for path in found]


def _linker_values(options: Sequence[str], short: str, long: str) -> list[str]:
    values = []
    for number, option in enumerate(options):
        if option in (short, long):
            value = "".join(options[number + 1 : number + 2])
        elif option.startswith(long + "="):
            value = option.partition("=")[2]
        elif option.startswith(short) and not option.startswith("-lineinfo"):
            value = option[len(short) :].removeprefix("=")
        else:
            continue
        values += [part for part in value.split(",") if part]
    return values
