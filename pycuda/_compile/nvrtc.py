"""NVRTC, the compiler that is a library: found at run time, called in process.

It needs neither nvcc nor a host compiler. It brings no standard headers and does not
tell what it read; ``nvrtc_headers.py`` has the former, and the latter is worked out by
following the ``#include`` lines. Only ``pycuda.compiler`` calls this.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import re
import sys
import time
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from pycuda._compile import store, toolkit
from pycuda._compile.nvcc import SOURCE_NAME
from pycuda._compile.nvrtc_headers import (
    BUILT_IN,
    BUILT_IN_TEXT,
    HEADERS,
    OF_CXX,
    PRELUDE_NAME,
    PRELUDE_NAMES,
)

if TYPE_CHECKING:
    from pycuda.driver import CompileError

_WHEEL_FOLDERS = ("nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib")
_WHEEL_HEADERS = (
    "nvidia/cu13/include",
    "nvidia/cuda_runtime/include",
    "nvidia/cuda_cccl/include",
    "nvidia/curand/include",
)
# Options of nvcc, with one dash or two, that say nothing to a compiler of device code
# alone: they are about the host's compiler, the linker, or how nvcc does its work.
_HOST_FLAGS = frozenset(
    (
        *("g", "debug", "m64", "O0", "O1", "O2", "O3", "pg", "profile"),
        *("extended-lambda", "expt-extended-lambda", "noeh", "no-exceptions"),
        *("keep", "save-temps", "v", "verbose", "res-usage", "resource-usage"),
        *("Wno-deprecated-gpu-targets", "Wreorder", "allow-unsupported-compiler"),
        *("forward-unknown-to-host-compiler", "forward-unknown-opts"),
    )
)
_HOST_OPTIONS = frozenset(  # and these have a value, behind "=" or in the next word
    (
        *("Xcompiler", "compiler-options", "ccbin", "compiler-bindir"),
        *("O", "optimize", "m", "machine", "t", "threads", "keep-dir"),
        *("l", "library", "L", "library-path", "cudart", "cudadevrt"),
        *("Xlinker", "linker-options", "Xnvlink", "nvlink-options"),
        *("Xfatbin", "fatbin-options", "Xarchive", "archive-options"),
        *("default-stream",),
    )
)
_STRICT = ("-Werror", "--Werror")
_RELAXED = ("--expt-relaxed-constexpr", "-expt-relaxed-constexpr")
_PIECES = ("-dlink", "-rdc=true", "--relocatable-device-code=true")
_AS_DEVICE = "--device-as-default-execution-space"

# What nvcc accepts without an option: functions and variables of the host, which are
# left to it there and may be the device's here, and wide integers.
_REMEDIES = (
    ("host functions are not allowed", _AS_DEVICE),
    ("host variables are not allowed", _AS_DEVICE),
    ("--device-int128", "--device-int128"),
)
_LIBRARIES = re.compile(r"-[lL]|--library(-path)?(=|$)")
_PRE = re.compile(r"-include|--pre-include|-optf|--options-file")
_DIGITS = re.compile(r"\d+")
_WARNING = ": warning #"
_UNUSED = re.compile(r"\s*.*: warning #177-D: function .* never referenced")
_INVALID_OPTION = 5

# NVRTC looks for a header first in the folder of the program's name, for a bare name in
# the current one, where nvcc does not. Below a file there is nothing.
_PROGRAM = f"/dev/null/{SOURCE_NAME}"

# Under this name a standard header is offered to the other ones if a header of the user
# has its own name.
_ASIDE = "pycuda-own/"

_found: dict[tuple[str | None, ...], str] = {}
_libraries: dict[str, _Library] = {}
_own: dict[tuple[str | None, ...], list[str]] = {}
_broken: dict[str, str] = {}  # libraries that cannot be loaded, with the reason


def find() -> str | None:
    """Return the path of the newest NVRTC in the first place that has one, or None."""
    environ = os.environ
    key = tuple(map(environ.get, ("CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH")))
    path = _found.get(key)
    if path is None:
        path = _search()
        if path is not None:
            _found[key] = path
    return path


def _search() -> str | None:
    folders = toolkit.library_folders(_WHEEL_FOLDERS)
    folders += filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep))
    folders += [
        os.path.join(sys.prefix, "lib"),
        f"/usr/lib/{os.uname().machine}-linux-gnu",
        "/usr/lib64",
    ]
    for folder in folders:
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        paths = [
            os.path.abspath(os.path.join(folder, name))
            for name in names
            if name.startswith("libnvrtc.so.")
        ]
        paths = [path for path in paths if path not in _broken]
        if paths:
            return max(paths, key=_version_in)
    return None


def _version_in(path: str) -> list[int]:
    return [int(part) for part in _DIGITS.findall(os.path.basename(path))]


class _Library:
    """The functions of one libnvrtc."""

    def __init__(self, path: str) -> None:
        self._dll = ctypes.CDLL(path)
        self._dll.nvrtcGetErrorString.restype = ctypes.c_char_p

    def call(self, name: str, *arguments: object) -> None:
        """Call a function that must succeed."""
        status = self.try_call(name, *arguments)
        if status != 0:
            from pycuda.driver import CompileError

            text = self._dll.nvrtcGetErrorString(status).decode()
            raise CompileError(f"{name} failed: {text}", ["nvrtc"])

    def try_call(self, name: str, *arguments: object) -> int:
        return int(getattr(self._dll, name)(*arguments))

    def bytes_of(self, what: str, program: ctypes.c_void_p) -> bytes:
        """Return a result of a program by the pair of functions that give it."""
        size = ctypes.c_size_t()
        self.call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        if size.value == 0:
            return b""
        buffer = ctypes.create_string_buffer(size.value)
        self.call(f"nvrtcGet{what}", program, buffer)
        return buffer.raw

    def lowered(self, program: ctypes.c_void_p, expression: str) -> str:
        """Return what the image calls the kernel of a name expression."""
        name = ctypes.c_char_p()
        self.call(
            "nvrtcGetLoweredName", program, expression.encode(), ctypes.byref(name)
        )
        return (name.value or b"").decode()

    def introduce(self) -> tuple[str, str]:
        """Return (version text, list of architectures) as nvcc would print them."""
        major, minor, count = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        self.call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        self.call("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        archs = (ctypes.c_int * count.value)()
        self.call("nvrtcGetSupportedArchs", archs)
        version = f"NVRTC, release {major.value}.{minor.value},"
        return version, " ".join(f"compute_{arch}" for arch in archs)


def _library(path: str) -> _Library:
    """Return the library at a path; OSError if it cannot be loaded."""
    library = _libraries.get(path)
    if library is None:
        library = _libraries[path] = _Library(path)
    return library


def complaint() -> str:
    """Say which libraries were found but cannot be loaded; empty if there are none."""
    return "; ".join(
        f"'{path}' cannot be loaded: {reason}" for path, reason in _broken.items()
    )


class Tool:
    """One NVRTC library; the counterpart of the nvcc binary."""

    __slots__ = ("_seen", "path")

    def __init__(self) -> None:
        self._seen: toolkit.Facts | None = None
        self.path: str = _found_path()

    def facts(self, folder: str | None) -> toolkit.Facts:
        """Return what the library is; one that cannot be loaded counts as not found."""
        while self._seen is None:
            try:
                facts = toolkit.facts_of(
                    "NVRTC", self.path, folder, lambda: _library(self.path).introduce()
                )
            except OSError as error:
                _broken[self.path] = str(error)
                _found.clear()
                self.path = _found_path()
                continue
            # The standard headers are ours and change with this package. The others are
            # not watched, so that they count by where they are.
            parts = (facts.version.partition("\n")[0], _HEADERS_KEY, facts.file)
            facts.version = "\n".join((*parts, *_own_folders(self.path)))
            self._seen = facts
        return self._seen

    def run(
        self,
        source: str,
        options: Sequence[str],
        target: str,
        keep: bool,
        names: Sequence[str] = (),
    ) -> toolkit.Result:
        """Compile ``source``; return a Result."""
        from pycuda.driver import CompileError

        facts = self._seen or self.facts(None)
        if target == "fatbin":
            raise CompileError(
                "NVRTC makes no fatbin: ask for target 'cubin' or 'ptx', or use nvcc",
                ["nvrtc", *options],
            )
        if "\0" in source:
            # Count from the user's first line, behind our own.
            before = source.partition("\0")[0]
            line = before.rpartition(f'#line 1 "{SOURCE_NAME}"\n')[2].count("\n") + 1
            raise CompileError(
                f"the source has a null character in line {line}, where NVRTC's text "
                "would end: remove it, or use nvcc",
                ["nvrtc", *options],
            )
        given = translate(_in_one_piece(options), target, facts.archs)
        own, given_folders = _split_folders(given)
        own_folders = _own_folders(self.path)
        facts.toolkit_dirs = _toolkits_among(own_folders)
        folders = given_folders + own_folders
        arguments = [*own, *(f"-I{folder}" for folder in folders)]
        users_own = _users_own(given_folders, own_folders)
        text = f'{_opening(source, options)}#line 1 "{SOURCE_NAME}"\n{source}'

        started_ns = time.time_ns()
        status, image, log, lowered = _compile(
            _library(self.path), text, arguments, target, names, users_own
        )
        for complaint, remedy in _REMEDIES:
            if status != 0 and complaint in log and remedy not in arguments:
                again = _compile(
                    _library(self.path),
                    text,
                    [*arguments, remedy],
                    target,
                    names,
                    users_own,
                )
                if again[0] == 0 or complaint not in again[2]:
                    arguments.append(remedy)
                    status, image, log, lowered = again
        if status != 0 and _is_about(log, own_folders):
            without = users_own | OF_CXX
            again = _compile(
                _library(self.path), text, arguments, target, names, without
            )
            if again[0] == 0:
                status, image, log, lowered = again
        if keep:
            _keep(text, image, target)
        if status == 0:
            log = _without_nvccs_silence(log, own_folders)
            if _is_strict(options) and _WARNING in log:
                status, log = -1, log.replace(_WARNING, ": error #")
        if status == _INVALID_OPTION:
            # Its own words name the option.
            msg = f"NVRTC does not know an option: {log.strip()}"
        else:
            msg = f"NVRTC compilation of {SOURCE_NAME} failed"
        if status != 0:
            raise CompileError(msg, ["nvrtc", *arguments], "", log, source)
        if not image:
            msg = f"NVRTC compilation of {SOURCE_NAME} made no {target} (as with -dlto)"
            raise CompileError(msg, ["nvrtc", *arguments], "", log, source)
        read = None
        if not any(_PRE.match(option) for option in own):
            shared = [each for each in own_folders if each not in facts.toolkit_dirs]
            offered = HEADERS.keys() - users_own
            read = follow(source, given_folders, facts.toolkit_dirs, shared, offered)
        result = toolkit.Result(image, read, started_ns, log, lowered)
        result.search_dirs = given_folders
        return result


def _compile(
    library: _Library,
    text: str,
    arguments: Sequence[str],
    target: str,
    expressions: Sequence[str] = (),
    without: Collection[str] = (),
) -> tuple[int, bytes, str, list[str]]:
    """Return (status, image, log, lowered names) of one program.

    ``without`` are standard headers not to offer.
    """
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
    """Return the standard headers to offer; they include each other all the same."""
    offered = {name: text for name, text in HEADERS.items() if name not in without}
    for name in without:
        aside = f"#include <{_ASIDE}{name}>"
        offered[_ASIDE + name] = HEADERS[name]
        for each, text in offered.items():
            offered[each] = text.replace(f"#include <{name}>", aside)
    return offered


def _users_own(given: Iterable[str], own_folders: Collection[str]) -> frozenset[str]:
    """Return the names of standard headers that folders of the user have, too."""
    folders = [folder for folder in given if folder not in own_folders]
    return frozenset(
        name
        for name in HEADERS
        for path in (os.path.join(folder, name) for folder in folders)
        if os.path.isfile(path) and not store.is_systems(path)
    )


def _is_about(log: str, folders: Iterable[str]) -> bool:
    """Say whether an error is in one of the toolkit's headers."""
    own = tuple(os.path.join(folder, "") for folder in folders)
    return any(
        line.startswith(own) and "error" in line.partition(": ")[2]
        for line in log.splitlines()
    )


def _is_strict(options: Sequence[str]) -> bool:
    """Say whether warnings are errors."""
    pairs = itertools.pairwise((*options, ""))
    words = [f"{name}={value}" if name in _STRICT else name for name, value in pairs]
    return any(w.startswith(_STRICT) and "all-warnings" in w for w in words)


def _without_nvccs_silence(log: str, folders: Iterable[str]) -> str:
    """Leave out warnings that nvcc does not give.

    They are about the toolkit's headers, or about functions that nobody calls.
    """
    own = tuple(os.path.join(folder, "") for folder in folders)
    blocks = re.split(r"\n\n+", log)
    kept = [
        block
        for block in blocks
        if not block.lstrip().startswith(own) and not _UNUSED.match(block)
    ]
    if all(block.startswith("Remark:") or not block.strip() for block in kept):
        return ""
    return "\n\n".join(kept)


def _opening(source: str, options: Sequence[str]) -> str:
    """Return what comes before a source: nothing if it needs nothing, to save time."""
    text = "\n".join((source, *options))
    plain = not re.search(r"##|#\s*include", text)  # no hidden words
    if plain and not any(map(_PRE.match, options)):
        words = set(re.findall(r"\w+", text))
        if words.isdisjoint(PRELUDE_NAMES):
            return ""
    return f"#include <{PRELUDE_NAME}>\n"


def _missing_headers(arguments: Iterable[str]) -> dict[str, str]:
    """Return stand-ins for headers of the toolkit that are not installed."""
    folders = [option[2:] for option in arguments if option.startswith("-I")]
    return {
        name: BUILT_IN_TEXT
        for name in BUILT_IN
        if not any(os.path.exists(os.path.join(folder, name)) for folder in folders)
    }


def _strings(items: Sequence[bytes]) -> ctypes.Array[ctypes.c_char_p]:
    return (ctypes.c_char_p * len(items))(*items)


def _keep(text: str, image: bytes, target: str) -> None:
    with store.work_folder(True) as folder:
        given = text.encode("utf-8", "surrogateescape")
        for name, data in ((SOURCE_NAME, given), (f"kernel.{target}", image)):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)


def translate(options: Sequence[str], target: str, archs: Sequence[int]) -> list[str]:
    """Return NVRTC's options for nvcc's.

    What concerns the host compiler is left out; what NVRTC does not know is left in,
    for it to refuse by name. System folders come last, as nvcc searches them.
    """
    given: list[str] = []
    system: list[str] = []
    arch: str | None = None
    code: str | None = None
    rest = iter(options)
    for option in rest:
        name, equals, value = option.partition("=")

        def valued(value: str = value, equals: str = equals) -> str:
            return value if equals else next(rest, "")

        bare = name[1:].removeprefix("-") if name.startswith("-") else ""
        if bare in _HOST_OPTIONS or name in _STRICT:
            valued()
        elif bare in _HOST_FLAGS or _is_for_linking(option):
            continue
        elif name in ("-std", "--std"):
            given.append(f"-std={valued()}")
        elif name in ("-arch", "--gpu-architecture"):
            arch = valued()
        elif name in ("-code", "--gpu-code"):
            code = valued()
        elif name in ("-gencode", "--generate-code"):
            pairs = dict(part.partition("=")[::2] for part in valued().split(","))
            if arch is not None:
                raise _one_arch_only(options)
            arch, code = pairs.get("arch"), pairs.get("code")
        elif name in ("-Xptxas", "--ptxas-options"):
            given += [f"--ptxas-options={part}" for part in valued().split(",")]
        elif option in _RELAXED:
            # All code is the device's here: unmarked functions may just be called.
            given.append(_AS_DEVICE)
        elif name in ("-isystem", "--system-include"):
            system.append(f"-I{valued()}")
        else:
            given.append(option.replace('\\"', '"'))  # as nvcc's shell reads it
    return [f"-arch={_target_arch(arch, code, target, archs)}", *given, *system]


def _in_one_piece(options: Sequence[str]) -> Sequence[str]:
    """Return options without linking, which one source of its own does not need."""
    if "-dlink" not in options:
        return options
    if any(_is_for_linking(option) for option in options):
        from pycuda.driver import CompileError

        raise CompileError(
            "NVRTC links no libraries: use nvcc, or DynamicSourceModule, where the "
            "driver links",
            ["nvrtc", *options],
        )
    return [option for option in options if option not in _PIECES]


def _is_for_linking(option: str) -> bool:
    return bool(_LIBRARIES.match(option)) and not option.startswith("-lineinfo")


def _one_arch_only(options: Sequence[str]) -> CompileError:
    from pycuda.driver import CompileError

    return CompileError(
        "NVRTC makes code for one architecture at a time: give one -gencode, or use "
        "nvcc",
        ["nvrtc", *options],
    )


def _target_arch(
    arch: str | None, code: str | None, target: str, archs: Sequence[int]
) -> str:
    """Return sm_XY for a cubin and compute_XY for PTX, from what nvcc would be told."""
    if arch is None:
        arch = f"sm_{archs[0]}"
    if target == "cubin":
        code = code if code and code.startswith("sm_") else arch
        return "sm_" + code.partition("_")[2]
    return "compute_" + arch.partition("_")[2]


def _split_folders(options: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return (other options, absolute folders of -I options)."""
    others: list[str] = []
    folders: list[str] = []
    rest = iter(options)
    for option in rest:
        if option in ("-I", "--include-path"):
            folder = next(rest, "")
        elif option.startswith("-I"):
            folder = option[2:]
        elif option.startswith("--include-path="):
            folder = option.partition("=")[2]
        else:
            others.append(option)
            continue
        folders.append(os.path.abspath(folder))
    return others, folders


def _own_folders(path: str) -> list[str]:
    """Return the toolkit's header folders that go with a library."""
    environ = os.environ
    key = (path, environ.get("CUDA_HOME"), environ.get("CUDA_PATH"), *sys.path)
    folders = _own.get(key)
    if folders is None:
        folders = _own[key] = _search_own(path)
    return folders


def _search_own(path: str) -> list[str]:
    root = os.path.dirname(os.path.dirname(path))
    folders = [os.path.join(root, "include"), *toolkit.in_wheels(_WHEEL_HEADERS)]
    folders += [os.path.join(home, "include") for home in toolkit.homes()]
    folders = [folder for folder in folders if os.path.isdir(folder)]
    with_library = [os.path.join(folder, "cccl") for folder in folders]
    folders += [folder for folder in with_library if os.path.isdir(folder)]
    return list(dict.fromkeys(folders))


def _toolkits_among(folders: Iterable[str]) -> list[str]:
    """Return those of the folders that have nothing but a toolkit's headers."""
    found = []
    for folder in folders:
        root = folder.removesuffix("/cccl").removesuffix("/include")
        if folder in toolkit.folders_of_toolkit(root):
            found.append(folder)
    return found


def _found_path() -> str:
    """Return what ``find`` returns; CompilerNotFoundError if there is nothing."""
    path = find()
    if path is not None and path not in _broken:
        return path
    from pycuda.driver import CompilerNotFoundError

    msg = (
        f"NVRTC (libnvrtc.so) was not found: not under {toolkit.described_homes()}, "
        "not in /usr/local/cuda, not in NVIDIA's wheels "
        f"({' or '.join(_WHEEL_FOLDERS)} in site-packages), not in LD_LIBRARY_PATH. "
        "Install the CUDA toolkit, or 'pip install pycuda[nvrtc]'."
    )
    if _broken:
        msg += f" And {complaint()}."
    raise CompilerNotFoundError(msg, ["nvrtc"], "libnvrtc.so")


def follow(
    source: str,
    folders: list[str],
    toolkit_dirs: Iterable[str],
    shared: Sequence[str] = (),
    offered: Collection[str] = HEADERS,
) -> list[str] | None:
    """Return the files that the include lines of a source lead to, None if that is
    unsure: a macro may name one, or a condition ask for one.

    ``shared`` are folders with headers of the toolkit and others, where nobody but the
    toolkit is that tricky; ``offered`` the headers that are in no folder.

    All lines count, also those that a condition would skip: watching a file too many
    costs a look at it, one too few a wrong result.
    """
    is_toolkits = store.toolkit_test(toolkit_dirs, folders)
    tricky = tuple(os.path.join(folder, "") for folder in shared)
    found: list[str] = []
    texts: list[tuple[str, str]] = [("", source)]
    while texts:
        path, text = texts.pop()
        unsure = store.is_computed(text) or store.asks_for_headers(text)
        if unsure and not path.startswith(tricky):
            return None
        around = [os.path.dirname(path)] if path else []
        for quote, name, is_next in store.included_in(text):
            if name in offered:
                continue
            places = [*(around if quote == '"' else []), *folders, *shared]
            candidates = [os.path.join(place, name) for place in places]
            paths = list(filter(os.path.isfile, candidates))
            for each in paths if is_next else paths[:1]:
                if each in found:
                    continue
                found.append(each)
                if not is_toolkits(each):
                    with open(each, encoding="utf-8", errors="replace") as file:
                        texts.append((each, file.read()))
    return found


_HEADERS_KEY = store.key_of(*HEADERS, *HEADERS.values())
