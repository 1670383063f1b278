"""NVRTC's options for nvcc's."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Sequence

from pycuda.driver import CompileError

# Options of nvcc, with one dash or two, that a compiler of device code alone ignores:
# they concern the host's compiler, the linker, or the work of nvcc itself.
_HOST_FLAGS = frozenset(
    (
        *("g", "debug", "m64", "O0", "O1", "O2", "O3", "pg", "profile"),
        *("extended-lambda", "expt-extended-lambda", "noeh", "no-exceptions"),
        *("keep", "save-temps", "v", "verbose", "res-usage", "resource-usage"),
        *("Wno-deprecated-gpu-targets", "Wreorder", "allow-unsupported-compiler"),
        *("forward-unknown-to-host-compiler", "forward-unknown-opts"),
    )
)
_HOST_OPTIONS = frozenset(  # with a value, behind "=" or in the next word
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

# Functions and variables without a mark are the device's, not the host's.
AS_DEVICE = "--device-as-default-execution-space"

# What nvcc accepts without an option: functions and variables of the host, which NVRTC
# compiles for the device, and wide integers.
REMEDIES = (
    ("host functions are not allowed", AS_DEVICE),
    ("host variables are not allowed", AS_DEVICE),
    ("--device-int128", "--device-int128"),
)

# Options with a value that have a translation, or that NVRTC ignores.
_WITH_VALUE = frozenset(
    (
        *_STRICT,
        *("-std", "--std", "-arch", "--gpu-architecture", "-code", "--gpu-code"),
        *("-gencode", "--generate-code", "-Xptxas", "--ptxas-options"),
        *("-isystem", "--system-include"),
    )
)
_LIBRARIES = r"-[lL]|--library(-path)?(=|$)"


class _Translation:
    """The options of one compilation, taken one after the other."""

    def __init__(self, options: Sequence[str]) -> None:
        self.options = options
        self.given: list[str] = []
        self.system: list[str] = []
        self.arch: str | None = None
        self.code: str | None = None

    def take(self, option: str, rest: Iterator[str]) -> None:
        """Translate an option. Its value may be the next one of ``rest``."""
        name, equals, value = option.partition("=")
        bare = ""
        if name.startswith("-"):
            bare = name[1:].removeprefix("-")
        if bare in _HOST_OPTIONS or name in _WITH_VALUE:
            if not equals:
                value = next(rest, "")
            self._take_value(name, value)
        elif bare in _HOST_FLAGS or _is_for_linking(option):
            return
        elif option in _RELAXED:
            # All code is the device's here, so that unmarked functions can be called.
            self.given.append(AS_DEVICE)
        else:
            self.given.append(option.replace('\\"', '"'))  # as nvcc's shell reads it

    def _take_value(self, name: str, value: str) -> None:
        """Translate an option with a value. Ignore it if it has no translation."""
        if name in ("-std", "--std"):
            self.given.append(f"-std={value}")
        elif name in ("-arch", "--gpu-architecture"):
            self.arch = value
        elif name in ("-code", "--gpu-code"):
            self.code = value
        elif name in ("-gencode", "--generate-code"):
            pairs = dict(part.partition("=")[::2] for part in value.split(","))
            if self.arch is not None:
                raise _one_arch_only(self.options)
            self.arch, self.code = pairs.get("arch"), pairs.get("code")
        elif name in ("-Xptxas", "--ptxas-options"):
            self.given += [f"--ptxas-options={part}" for part in value.split(",")]
        elif name in ("-isystem", "--system-include"):
            self.system.append(f"-I{value}")


def translate(options: Sequence[str], target: str, archs: Sequence[int]) -> list[str]:
    """Return NVRTC's options for nvcc's.

    Options for the host compiler are left out. Unknown options stay, and NVRTC refuses
    them by name. System folders come last, because nvcc searches them last.
    """
    translation = _Translation(options)
    rest = iter(options)
    for option in rest:
        translation.take(option, rest)
    arch = _target_arch(translation.arch, translation.code, target, archs)
    return [f"-arch={arch}", *translation.given, *translation.system]


def in_one_piece(options: Sequence[str]) -> Sequence[str]:
    """Return options without linking, which one source without libraries needs not."""
    if "-dlink" not in options:
        return options
    if any(_is_for_linking(option) for option in options):
        raise CompileError(
            "NVRTC links no libraries: use nvcc, or DynamicSourceModule, where the "
            "driver links",
            ["nvrtc", *options],
        )
    return [option for option in options if option not in _PIECES]


def _is_for_linking(option: str) -> bool:
    return bool(re.match(_LIBRARIES, option)) and not option.startswith("-lineinfo")


def _one_arch_only(options: Sequence[str]) -> CompileError:
    return CompileError(
        "NVRTC makes code for one architecture at a time: give one -gencode, or use "
        "nvcc",
        ["nvrtc", *options],
    )


def _target_arch(
    arch: str | None, code: str | None, target: str, archs: Sequence[int]
) -> str:
    """Return sm_XY for a cubin and compute_XY for PTX, from nvcc's options."""
    if arch is None:
        arch = f"sm_{archs[0]}"
    if target == "cubin":
        if not code or not code.startswith("sm_"):
            code = arch
        return "sm_" + code.partition("_")[2]
    return "compute_" + arch.partition("_")[2]


def split_folders(options: Sequence[str]) -> tuple[list[str], list[str]]:
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


def is_strict(options: Sequence[str]) -> bool:
    """Return whether warnings are errors."""
    for option, following in itertools.pairwise((*options, "")):
        value = option
        if option in _STRICT:
            value = following
        if option.startswith(_STRICT) and "all-warnings" in value:
            return True
    return False
