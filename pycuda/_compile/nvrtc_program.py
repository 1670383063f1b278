"""One compilation by NVRTC, in this process: the text, the options, the messages.

NVRTC has no standard headers, which ``nvrtc_headers.py`` provides, and does not list
the files that it read, which ``manifest.py`` finds. It compiles what nvcc compiles: if
it fails, it tries again with what nvcc does by itself. ``nvrtc.py`` finds the library
and calls this file.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import signal
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Sequence

from pycuda._compile import manifest, nvrtc_options
from pycuda._compile.nvrtc_headers import (
    BUILT_IN,
    BUILT_IN_TEXT,
    HEADERS,
    OF_CXX,
    PRELUDE_NAME,
)
from pycuda._compile.toolkit import Facts, Result, work_folder
from pycuda._excerpt import SOURCE_NAME
from pycuda.driver import CompileError

_PRE = ("-include", "--pre-include", "-optf", "--options-file")
_WARNING = ": warning #"
_OF_HOST = "__host__ function is not allowed in JIT mode"
_UNUSED = r"\s*.*: warning #177-D: function .* never referenced"
_INVALID_OPTION = 5
_CAUGHT = (signal.SIGINT, signal.SIGTERM)  # by NVRTC, in its first compilation
_SIGNAL_IGNORED = 1

# NVRTC looks for a header first in the folder of the program's name. For a bare name
# that is the current folder, where nvcc does not look. Below a file there are no
# headers.
_PROGRAM = f"/dev/null/{SOURCE_NAME}"

# The prefix under which the standard headers include one another if the user has a
# header of the same name.
_ASIDE = "pycuda-own/"

# The names that the prelude defines, with the headers that it includes. A source with
# none of these words, and without headers, is compiled without it.
_PRELUDE_NAMES = frozenset(
    name
    for header in (PRELUDE_NAME, "limits.h", "math.h", "stdlib.h")
    for names in re.findall(
        r"^typedef .*?(\w+);|^#define (\w+)|__PYCUDA_(?:ONE|TWO)\((\w+)\)",
        HEADERS[header],
        re.MULTILINE,
    )
    for name in names
    if name
)

_libraries: dict[str, _Library] = {}
_starting = threading.Lock()


class _Library:
    """The functions of one libnvrtc."""

    def __init__(self, path: str) -> None:
        self._dll = ctypes.CDLL(path)
        self._dll.nvrtcGetErrorString.restype = ctypes.c_char_p
        self._is_started = False

    def start(self) -> None:
        """Compile a wrong program first, with Ctrl-C ignored.

        In its first compilation, NVRTC would end the process at Ctrl-C with status 4.
        After it, Python's handler would have the flag SA_RESTART, so that Ctrl-C no
        longer interrupts reads and locks. NVRTC does not catch an ignored SIGINT.
        """
        with _starting:
            if self._is_started:
                return
            # A signal that comes now waits, or is lost if another thread takes it.
            mask = signal.pthread_sigmask(signal.SIG_BLOCK, _CAUGHT)
            try:
                with _ignored(_CAUGHT):
                    if self._fail(b"--minimal") == _INVALID_OPTION:  # before 12.0
                        self._fail()
                self._is_started = True
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def _fail(self, *options: bytes) -> int:
        """Compile an error, which takes 6 ms with --minimal. Return the status."""
        program = ctypes.c_void_p()
        create = ctypes.byref(program), b"#error", None, 0, None, None
        self.call("nvrtcCreateProgram", *create)
        given = _strings(options)
        status = self.try_call("nvrtcCompileProgram", program, len(options), given)
        self.call("nvrtcDestroyProgram", ctypes.byref(program))
        return status

    def call(self, name: str, *arguments: object) -> None:
        """Call a function. Raise CompileError if it fails."""
        status = self.try_call(name, *arguments)
        if status != 0:
            text = self._dll.nvrtcGetErrorString(status).decode()
            raise CompileError(f"{name} failed: {text}", ["nvrtc"])

    def try_call(self, name: str, *arguments: object) -> int:
        return int(getattr(self._dll, name)(*arguments))

    def bytes_of(self, what: str, program: ctypes.c_void_p) -> bytes:
        """Return a result of a program, with the functions for its size and content."""
        size = ctypes.c_size_t()
        self.call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        if size.value == 0:
            return b""
        buffer = ctypes.create_string_buffer(size.value)
        self.call(f"nvrtcGet{what}", program, buffer)
        return buffer.raw

    def lowered(self, program: ctypes.c_void_p, expression: str) -> str:
        """Return the name in the image of the kernel of a name expression."""
        name = ctypes.c_char_p()
        self.call(
            "nvrtcGetLoweredName", program, expression.encode(), ctypes.byref(name)
        )
        return (name.value or b"").decode()

    def introduce(self) -> tuple[str, str]:
        """Return (version text, list of architectures) in the form that nvcc prints."""
        major, minor, count = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        self.call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        self.call("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        archs = (ctypes.c_int * count.value)()
        self.call("nvrtcGetSupportedArchs", archs)
        version = f"NVRTC, release {major.value}.{minor.value},"
        return version, " ".join(f"compute_{arch}" for arch in archs)


@contextlib.contextmanager
def _ignored(numbers: Iterable[int]) -> Iterator[None]:
    """Ignore signals, in all threads. Restore the actions of the process afterwards."""
    libc = ctypes.CDLL(None)
    libc.signal.argtypes = ctypes.c_int, ctypes.c_void_p
    libc.signal.restype = ctypes.c_void_p
    saved = {}
    for number in numbers:
        saved[number] = ctypes.create_string_buffer(256)  # struct sigaction is smaller
        libc.sigaction(number, None, saved[number])
        libc.signal(number, _SIGNAL_IGNORED)
    try:
        yield
    finally:
        for number, action in saved.items():
            libc.sigaction(number, action, None)


def library(path: str) -> _Library:
    """Return the library at a path; OSError if it cannot be loaded."""
    library = _libraries.get(path)
    if library is None:
        library = _libraries[path] = _Library(path)
    return library


def run(
    path: str,
    facts: Facts,
    own_folders: list[str],
    cache: str | None,
    source: str,
    options: Sequence[str],
    target: str,
    keep: bool,
    names: Sequence[str],
) -> Result:
    """Compile ``source`` with the library at ``path``; see ``toolkit.Tool.run``.

    ``own_folders`` are the header folders of the library's toolkit. ``cache`` is the
    folder for precompiled headers, None to do without them.
    """
    _refuse_impossible(source, options, target)
    pieces = nvrtc_options.in_one_piece(options)
    given = nvrtc_options.translate(pieces, target, facts.archs)
    own, given_folders = nvrtc_options.split_folders(given)
    program = _Program(
        library(path),
        f'{_opening(source, options)}#line 1 "{SOURCE_NAME}"\n{source}',
        [*own, *(f"-I{folder}" for folder in given_folders + own_folders)],
        target,
        names,
        manifest.users_own_headers(HEADERS, given_folders, own_folders),
    )
    if cache is not None:
        program.prepare_headers(path, facts, own_folders, cache)
    started_ns = time.time_ns()
    outcome = _compile_like_nvcc(program, own_folders)
    if keep:
        _keep(program.text, outcome.image, target)
    log = _checked_log(outcome, program, source, options, own_folders)
    read = None
    if not any(option.startswith(_PRE) for option in own):
        shared = [each for each in own_folders if each not in facts.toolkit_dirs]
        offered = HEADERS.keys() - program.without
        read = manifest.follow_includes(
            source, given_folders, facts.toolkit_dirs, shared, offered
        )
    result = Result(outcome.image, read, started_ns, log, outcome.lowered)
    result.search_dirs = given_folders
    return result


def _refuse_impossible(source: str, options: Sequence[str], target: str) -> None:
    """Raise CompileError for a target or a source that NVRTC cannot compile."""
    if target == "fatbin":
        raise CompileError(
            "NVRTC makes no fatbin: ask for target 'cubin' or 'ptx', or use nvcc",
            ["nvrtc", *options],
        )
    before, null, _ = source.partition("\0")
    if null:
        # Count from the user's first line, behind our own.
        line = before.rpartition(f'#line 1 "{SOURCE_NAME}"\n')[2].count("\n") + 1
        raise CompileError(
            f"the source has a null character in line {line}, where NVRTC's text "
            "would end: remove it, or use nvcc",
            ["nvrtc", *options],
        )


class _Program:
    """The text and the options for one NVRTC program.

    ``names`` are expressions for kernels. ``without`` are the standard headers that the
    user has; they are not offered.
    """

    __slots__ = (
        "_headers",
        "arguments",
        "library",
        "names",
        "target",
        "text",
        "without",
    )

    def __init__(
        self,
        library: _Library,
        text: str,
        arguments: list[str],
        target: str,
        names: Sequence[str],
        without: Collection[str],
    ) -> None:
        self.library = library
        self.text = text
        self.arguments = arguments
        self.target = target
        self.names = names
        self.without = without
        self._headers: tuple[str, str, list[str], str] | None = None

    def prepare_headers(
        self, path: str, facts: Facts, own_folders: list[str], cache: str
    ) -> None:
        """Let compilations use precompiled headers in the cache's folder."""
        self._headers = path, facts.version, own_folders, cache

    def compile(
        self, remedy: Sequence[str] = (), without: Collection[str] = ()
    ) -> _Outcome:
        """Compile the text, with more options and with fewer standard headers."""
        arguments = [*self.arguments, *remedy]
        absent = frozenset(self.without) | frozenset(without)
        if self._headers is not None:
            found = self._compile_with_headers(arguments, absent, *self._headers)
            if found is not None:
                return _Outcome(*found)
        return _Outcome(
            *_compile(
                self.library, self.text, arguments, self.target, self.names, absent
            )
        )

    def _compile_with_headers(
        self,
        arguments: list[str],
        absent: Collection[str],
        path: str,
        version: str,
        own_folders: list[str],
        cache: str,
    ) -> tuple[int, bytes, str, list[str]] | None:
        """Compile with precompiled headers; None if that cannot be done."""
        from pycuda._compile import precompiled

        if precompiled.split(self.text) is None:
            return None
        offered = _offered(absent)
        offered.update(_missing_headers(arguments))
        request = precompiled.Request(
            path,
            version,
            _PROGRAM,
            self.text,
            arguments,
            self.target,
            self.names,
            offered,
        )
        found = precompiled.compile(request, own_folders, cache)
        if found is None:
            return None
        status, image, log, lowered = found
        return status, image, log.replace(_PROGRAM, SOURCE_NAME), lowered


class _Outcome:
    """The result of one compilation. A ``status`` other than 0 is an error."""

    __slots__ = ("image", "log", "lowered", "status")

    def __init__(self, status: int, image: bytes, log: str, lowered: list[str]) -> None:
        self.status = status
        self.image = image
        self.log = log
        self.lowered = lowered


def _compile_like_nvcc(program: _Program, own_folders: Iterable[str]) -> _Outcome:
    """Compile a program. If that fails, try again with what nvcc does by itself."""
    outcome = program.compile()
    for complaint, remedy in nvrtc_options.REMEDIES:
        if outcome.status == 0 or complaint not in outcome.log:
            continue
        if remedy in program.arguments:
            continue
        again = program.compile([remedy])
        if again.status == 0 or complaint not in again.log:
            program.arguments.append(remedy)
            outcome = again
    if outcome.status != 0 and _is_about(outcome.log, own_folders):
        again = program.compile(without=OF_CXX)
        if again.status == 0:
            outcome = again
    return outcome


def _checked_log(
    outcome: _Outcome,
    program: _Program,
    source: str,
    options: Sequence[str],
    own_folders: Iterable[str],
) -> str:
    """Return the messages of a compilation. Raise CompileError if it failed."""
    status, log = outcome.status, outcome.log
    if status == 0:
        log = _without_nvccs_silence(log, own_folders)
        if nvrtc_options.is_strict(options) and _WARNING in log:
            status, log = -1, log.replace(_WARNING, ": error #")
    msg = ""
    if status == _INVALID_OPTION:
        # The log names the option.
        msg = f"NVRTC does not know an option: {log.strip()}"
    elif status != 0:
        msg = f"NVRTC compilation of {SOURCE_NAME} failed"
        if _needs_the_host(log, own_folders):
            msg += (
                ". A header of the toolkit includes the host's library or has "
                "functions of the host, which only nvcc compiles; the headers in "
                "<cuda/std/> and CUB's of blocks and warps do not"
            )
    elif not outcome.image:
        target = program.target
        msg = f"NVRTC compilation of {SOURCE_NAME} made no {target} (as with -dlto)"
    if msg:
        raise CompileError(msg, ["nvrtc", *program.arguments], "", log, source)
    return log


def _compile(
    library: _Library,
    text: str,
    arguments: Sequence[str],
    target: str,
    expressions: Sequence[str] = (),
    without: Collection[str] = (),
) -> tuple[int, bytes, str, list[str]]:
    """Return (status, image, log, lowered names) of one program.

    ``without`` are the standard headers that are not offered to it.
    """
    library.start()
    program = ctypes.c_void_p()
    offered = _offered(without)
    offered.update(_missing_headers(arguments))
    names = [name.encode() for name in offered]
    texts = [header.encode() for header in offered.values()]
    library.call(
        "nvrtcCreateProgram",
        ctypes.byref(program),
        text.encode("utf-8", "surrogateescape"),
        _PROGRAM.encode(),
        len(names),
        _strings(texts),
        _strings(names),
    )
    try:
        for expression in expressions:
            library.call("nvrtcAddNameExpression", program, expression.encode())
        encoded = _strings([os.fsencode(argument) for argument in arguments])
        status = library.try_call(
            "nvrtcCompileProgram", program, len(arguments), encoded
        )
        log = library.bytes_of("ProgramLog", program).rstrip(b"\0")
        log = log.replace(_PROGRAM.encode(), SOURCE_NAME.encode())
        image = b""
        lowered: list[str] = []
        if status == 0:
            lowered = [library.lowered(program, each) for each in expressions]
            image = library.bytes_of(target.upper(), program)
            if target == "ptx":
                image = image.rstrip(b"\0")
        return status, image, log.decode("utf-8", "replace"), lowered
    finally:
        library.call("nvrtcDestroyProgram", ctypes.byref(program))


def _offered(without: Collection[str]) -> dict[str, str]:
    """Return the standard headers to offer. They still include one another."""
    offered = {name: text for name, text in HEADERS.items() if name not in without}
    for name in without:
        aside = f"#include <{_ASIDE}{name}>"
        offered[_ASIDE + name] = HEADERS[name]
        for each, text in offered.items():
            offered[each] = text.replace(f"#include <{name}>", aside)
    return offered


def _is_about(log: str, folders: Iterable[str]) -> bool:
    """Return whether an error is in one of the toolkit's headers."""
    own = tuple(os.path.join(folder, "") for folder in folders)
    return any(
        line.startswith(own) and "error" in line.partition(": ")[2]
        for line in log.splitlines()
    )


def _needs_the_host(log: str, folders: Iterable[str]) -> bool:
    """Return whether an error is in a toolkit's header, and none of the source's."""
    own = tuple(os.path.join(folder, "") for folder in folders)
    return _OF_HOST in log or any(
        block.lstrip().startswith(own)
        and "error" in block.partition(": ")[2]
        and f" of {SOURCE_NAME}" not in block  # where the source instantiates it
        for block in re.split(r"\n\n+", log)
    )


def _without_nvccs_silence(log: str, folders: Iterable[str]) -> str:
    """Leave out the warnings that nvcc does not print.

    They are about the toolkit's headers, or about functions that are never called.
    """
    own = tuple(os.path.join(folder, "") for folder in folders)
    blocks = re.split(r"\n\n+", log)
    kept = [
        block
        for block in blocks
        if not block.lstrip().startswith(own) and not re.match(_UNUSED, block)
    ]
    if all(block.startswith("Remark:") or not block.strip() for block in kept):
        return ""
    return "\n\n".join(kept)


def _opening(source: str, options: Sequence[str]) -> str:
    """Return the line before a source: "" if it uses nothing of the prelude."""
    text = "\n".join((source, *options))
    # A macro can form a word, and a header can have one.
    plain = not re.search(r"##|#\s*include", text)
    if plain and not any(option.startswith(_PRE) for option in options):
        words = set(re.findall(r"\w+", text))
        if words.isdisjoint(_PRELUDE_NAMES):
            return ""
    return f"#include <{PRELUDE_NAME}>\n"


def _missing_headers(arguments: Iterable[str]) -> dict[str, str]:
    """Return substitutes for headers of the toolkit that are not installed."""
    folders = [option[2:] for option in arguments if option.startswith("-I")]
    return {
        name: BUILT_IN_TEXT
        for name in BUILT_IN
        if not any(os.path.exists(os.path.join(folder, name)) for folder in folders)
    }


def _strings(items: Sequence[bytes]) -> ctypes.Array[ctypes.c_char_p]:
    return (ctypes.c_char_p * len(items))(*items)


def _keep(text: str, image: bytes, target: str) -> None:
    with work_folder(keep=True) as folder:
        given = text.encode("utf-8", "surrogateescape")
        for name, data in ((SOURCE_NAME, given), (f"kernel.{target}", image)):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
