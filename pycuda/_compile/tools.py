"""The choice between nvcc and NVRTC.

The first choice is nvcc, unless the caller or PYCUDA_COMPILER names NVRTC. If that tool
is missing or cannot compile an empty program, the other one replaces it, with a
warning.
"""

from __future__ import annotations

import contextlib
import os
import threading

from pycuda import _extras
from pycuda._compile import store
from pycuda._compile.toolkit import Facts, Tool
from pycuda._driver import _setting
from pycuda._excerpt import SOURCE_NAME
from pycuda._warning import warn
from pycuda.driver import CompileError, CompilerNotFoundError

COMPILERS = ("nvcc", "nvrtc")

# Which tool replaces one that was not found or does not work, by _place_of().
_replaced: dict[tuple[str | None, ...], str] = {}
_working: set[tuple[str | None, ...]] = set()  # compiled an empty program
_started: set[str] = set()  # paths of nvcc that can be run
_replacing = threading.Lock()


def choose(nvcc: str, compiler: str | None, folder: str | None = None) -> Tool:
    """Return the tool to compile with. Raise CompileError if there is none.

    ``compiler`` is "nvcc", "nvrtc" or None. ``nvcc`` is nvcc's program; no other tool
    replaces a program that is not just called "nvcc". ``folder`` is the cache's.
    """
    asked = _first_choice(compiler)
    if asked == "nvcc" and nvcc != "nvcc":
        from pycuda._compile import nvcc as nvcc_program

        return nvcc_program.Tool(nvcc)
    if _replaced:
        other = _replaced.get(_place_of(asked))
        if other is not None:
            return _make(other, nvcc, folder)
    try:
        return _make(asked, nvcc, folder)
    except CompileError as error:
        failure = error
    return _replace_missing(asked, nvcc, folder, failure)


def _replace_missing(
    name: str, nvcc: str, folder: str | None, failure: CompileError
) -> Tool:
    """Return the tool that replaces one that cannot be started, and warn of it."""
    other = _other(name)
    try:
        tool = _make(other, nvcc, folder)
    except CompileError as second:
        failure.msg = _both(failure, second)
        raise failure from None
    what = failure.msg
    if isinstance(failure, CompilerNotFoundError):
        what = f"{name} is not installed"
    _replaced[_place_of(name)] = other
    if name == "nvrtc":
        from pycuda._compile import nvrtc

        why = nvrtc.complaint()
        if why:
            what += f" ({why})"
    warn(
        f"{what}, so {other} ({tool.path}) compiles instead. PYCUDA_COMPILER={other} "
        "chooses it silently"
    )
    return tool


def _both(failure: CompileError, second: CompileError) -> str:
    """Return the message for two compilers that do not work."""
    if not (
        isinstance(failure, CompilerNotFoundError)
        and isinstance(second, CompilerNotFoundError)
    ):
        return f"{failure.msg}\nNo other compiler replaces it: {second.msg}"
    places = (error.msg.partition("\n")[2] for error in (failure, second))
    return "\n".join(
        (
            "no CUDA compiler was found. Install one: " + _extras.command("nvrtc"),
            *places,
        )
    )


def installed() -> list[Facts]:
    """Return the facts about the compilers that this machine has."""
    folder = store.resolve_dir(None)
    found = []
    for name in COMPILERS:
        with contextlib.suppress(CompileError):
            found.append(_make(name, "nvcc", folder).facts(folder))
    return found


def _first_choice(compiler: str | None) -> str:
    asked: str = compiler or _setting("PYCUDA_COMPILER")
    if asked not in COMPILERS:
        raise ValueError(
            f"the compiler is one of {', '.join(COMPILERS)}, not {asked!r}"
        )
    return asked


def _other(name: str) -> str:
    return "nvrtc" if name == "nvcc" else "nvcc"


def _place_of(name: str) -> tuple[str | None, ...]:
    """Return the values that decide whether a tool is found and works."""
    return (name, *map(os.environ.get, ("PATH", "CUDA_HOME", "NVCC_CCBIN")))


def _make(name: str, nvcc: str, folder: str | None) -> Tool:
    """Return a tool that can be started. Raise CompileError if there is none."""
    if name == "nvcc":
        from pycuda._compile import nvcc as nvcc_program

        program = nvcc_program.Tool(nvcc)
        if program.path not in _started:
            program.facts(folder)  # starts it, unless the cache has the facts
            _started.add(program.path)
        return program
    from pycuda._compile import nvrtc

    tool = nvrtc.Tool()
    tool.facts(folder)  # loads the library, unless the cache has the facts
    return tool


def replace_broken(
    nvcc: str, compiler: str | None, error: CompileError, folder: str | None
) -> bool:
    """After a failure, return whether another tool has replaced a broken one.

    A tool is broken if it cannot compile an empty program: nvcc without a host
    compiler, or an installation with a missing part. The first replacement is a
    warning. If no other tool works, the error says so.
    """
    asked = _first_choice(compiler)
    if asked == "nvcc" and nvcc != "nvcc":
        return False
    output = output_of(error)
    if f"{SOURCE_NAME}(" in output or f"{SOURCE_NAME}:" in output:
        return False  # the tool works: it read the user's own lines
    place = _place_of(asked)
    if place in _working or (asked == "nvrtc" and not output.strip()):
        return False
    with _replacing:
        if place in _replaced:  # another thread was faster
            return True
        complaint = _complaint_about_nothing(asked, nvcc, folder)
        if complaint is None:
            _working.add(place)
            return False
        other = _other(asked)
        if _complaint_about_nothing(other, nvcc, folder) is not None:
            error.msg += (
                f" ({asked} cannot compile an empty program either, and {other} cannot "
                "replace it; python -m pycuda.doctor says more)"
            )
            return False
        _replaced[place] = other
    warn(
        f"{asked} cannot compile even an empty program, so {other} compiles instead. "
        f"{asked} says: {complaint}"
    )
    return True


def _complaint_about_nothing(name: str, nvcc: str, folder: str | None) -> str | None:
    """Compile an empty program. Return the messages if that fails, else None."""
    try:
        _make(name, nvcc, folder).run("\n", [], "ptx", False)
    except CompileError as error:
        return " ".join((output_of(error).strip() or error.msg).split())
    return None


def output_of(error: CompileError) -> str:
    """Return everything that a compiler printed."""
    parts = []
    for part in (error.stdout or "", error.stderr or ""):
        if isinstance(part, bytes):
            part = part.decode(errors="replace")
        parts.append(part)
    return "\n".join(parts)
