"""NVRTC, the compiler that is a library: found at run time, called in process.

It needs neither nvcc nor a host compiler. It brings no standard headers and does not
tell what it read; ``_nvrtc_headers`` has the former, and the latter is worked out by
following the ``#include`` lines. Only ``pycuda.compiler`` calls this.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import time
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from pycuda import _cache, _toolkit
from pycuda._nvcc import SOURCE_NAME
from pycuda._nvrtc_headers import (
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

# What decides about headers without a plain name cannot be followed.
_OPAQUE = re.compile(
    r'^[ \t]*#[ \t]*include(?:_next)?\b(?![ \t]*[<"])|\b__has_include', re.MULTILINE
)

_found: dict[tuple[str | None, ...], str] = {}
_libraries: dict[str, _Library] = {}


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
    folders = _toolkit.library_folders(_WHEEL_FOLDERS)
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
        names = [name for name in names if name.startswith("libnvrtc.so.")]
        if names:
            return os.path.abspath(os.path.join(folder, max(names, key=_version_in)))
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
    library = _libraries.get(path)
    if library is None:
        try:
            library = _libraries[path] = _Library(path)
        except OSError as error:
            from pycuda.driver import CompileError

            raise CompileError(
                f"'{path}' cannot be loaded: {error}", ["nvrtc"]
            ) from error
    return library


class Tool:
    """One NVRTC library; the counterpart of the nvcc binary."""

    __slots__ = ("_seen", "path")

    def __init__(self) -> None:
        self._seen: _toolkit.Facts | None = None
        path = find()
        if path is None:
            from pycuda.driver import CompilerNotFoundError

            raise CompilerNotFoundError(
                f"NVRTC (libnvrtc.so) was not found: not under "
                f"{_toolkit.described_homes()}, not in /usr/local/cuda, not in "
                f"NVIDIA's wheels ({' or '.join(_WHEEL_FOLDERS)} in site-packages), "
                "not in LD_LIBRARY_PATH. Install the CUDA toolkit, or "
                "'pip install pycuda[nvrtc]'.",
                ["nvrtc"],
                "libnvrtc.so",
            )
        self.path: str = path

    def facts(self, folder: str | None) -> _toolkit.Facts:
        facts = _toolkit.facts_of(
            "NVRTC", self.path, folder, lambda: _library(self.path).introduce()
        )
        # The headers are ours and change with this package, not with the library.
        facts.version = facts.version.partition("\n")[0] + "\n" + _HEADERS_KEY
        self._seen = facts
        return facts

    def run(
        self,
        source: str,
        options: Sequence[str],
        target: str,
        keep: bool,
        names: Sequence[str] = (),
    ) -> _toolkit.Result:
        """Compile ``source``; return a Result."""
        from pycuda.driver import CompileError

        facts = self._seen or self.facts(None)
        if target == "fatbin":
            raise CompileError(
                "NVRTC makes no fatbin: ask for target 'cubin' or 'ptx', or use nvcc",
                ["nvrtc", *options],
            )
        given = translate(_in_one_piece(options), target, facts.archs)
        own, given_folders = _split_folders(given)
        facts.toolkit_dirs = _own_folders(self.path)
        folders = given_folders + facts.toolkit_dirs
        arguments = [*own, *(f"-I{folder}" for folder in folders)]
        text = f'{_opening(source, options)}#line 1 "{SOURCE_NAME}"\n{source}'

        started_ns = time.time_ns()
        status, image, log, lowered = _compile(
            _library(self.path), text, arguments, target, names
        )
        for complaint, remedy in _REMEDIES:
            if status != 0 and complaint in log and remedy not in arguments:
                again = _compile(
                    _library(self.path), text, [*arguments, remedy], target, names
                )
                if again[0] == 0 or complaint not in again[2]:
                    arguments.append(remedy)
                    status, image, log, lowered = again
        if status != 0 and _is_about(log, facts.toolkit_dirs):
            again = _compile(
                _library(self.path), text, arguments, target, names, without=OF_CXX
            )
            if again[0] == 0:
                status, image, log, lowered = again
        if keep:
            _keep(text, image, target)
        if status == 0:
            log = _without_nvccs_silence(log, facts.toolkit_dirs)
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
            read = follow(source, given_folders, facts.toolkit_dirs)
        return _toolkit.Result(image, read, started_ns, log, lowered)


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
    headers = {**HEADERS, **_missing_headers(arguments)}
    offered = {k: v for k, v in headers.items() if k not in without}
    names = [name.encode() for name in offered]
    texts = [header.encode() for header in offered.values()]
    library.call(
        "nvrtcCreateProgram",
        ctypes.byref(program),
        text.encode("utf-8", "surrogateescape"),
        SOURCE_NAME.encode(),
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


def _is_about(log: str, folders: Iterable[str]) -> bool:
    """Say whether an error is in one of the toolkit's headers."""
    own = tuple(os.path.join(folder, "") for folder in folders)
    return any(
        line.startswith(own) and "error" in line.partition(": ")[2]
        for line in log.splitlines()
    )


def _is_strict(options: Sequence[str]) -> bool:
    """Say whether warnings are errors."""
    pairs = zip(options, (*options[1:], ""), strict=True)
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
    with _cache.work_folder(True) as folder:
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
    root = os.path.dirname(os.path.dirname(path))
    folders = [os.path.join(root, "include"), *_toolkit.in_wheels(_WHEEL_HEADERS)]
    folders += [os.path.join(home, "include") for home in _toolkit.homes()]
    folders = [folder for folder in folders if os.path.isdir(folder)]
    with_library = [os.path.join(folder, "cccl") for folder in folders]
    folders += [folder for folder in with_library if os.path.isdir(folder)]
    return list(dict.fromkeys(folders))


def follow(
    source: str, folders: list[str], toolkit_dirs: Iterable[str]
) -> list[str] | None:
    """Return the files that the include lines of a source lead to, None if that is
    unsure.

    All lines count, also those that a condition would skip: watching a file too many
    costs a look at it, one too few a wrong result.
    """
    toolkit = tuple(os.path.join(folder, "") for folder in toolkit_dirs)
    found: list[str] = []
    texts: list[tuple[str | None, str]] = [(None, source)]
    while texts:
        folder, text = texts.pop()
        if _OPAQUE.search(text):
            return None
        for name in _cache.included_in(text):
            if name in HEADERS:
                continue
            places = ([folder] if folder else []) + folders
            candidates = (os.path.join(place, name) for place in places)
            path = next(filter(os.path.isfile, candidates), None)
            if path is None or path in found:
                continue
            found.append(path)
            if not os.path.normpath(path).startswith(toolkit):
                with open(path, encoding="utf-8", errors="replace") as file:
                    texts.append((os.path.dirname(path), file.read()))
    return found


_HEADERS_KEY = _cache.key_of(*HEADERS, *HEADERS.values())
