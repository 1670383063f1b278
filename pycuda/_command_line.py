"""The command line of the package: what ``python -m pycuda`` and its commands share.

A command is a module with three functions. ``add_arguments(parser)`` adds its arguments
to a parser, ``run(given)`` executes it and returns the exit status, and
``main(arguments)`` is ``python -m pycuda.NAME``. ``COMMANDS`` lists the commands.

With ``--json``, a command writes one JSON document to stdout and nothing else. What the
program of a command prints goes to stderr then.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import ModuleSpec
from typing import Any

#: The commands, each with the sentence that describes it.
COMMANDS = {
    "doctor": "Check whether this machine can run pycuda, and how to repair it.",
    "cache": "Look at the cache of compiled kernels, or empty it.",
    "emulator": "Run programs on the software device instead of a GPU.",
    "explain": "Run a program again with all checks, and explain its errors.",
    "profile": "Run a Python program and record what it did on the device.",
    "precompile": "Compile the kernels of a program in advance, into one file.",
    "debug": "Run a script with debug information in its kernels, for cuda-gdb.",
    "array_api": "Compare pycuda.array_api with the array API standard.",
}

#: Commands that run a program with the words after -- as its arguments.
_SPLIT = ("precompile",)


def parse(
    name: str, parser: argparse.ArgumentParser, words: Sequence[str]
) -> argparse.Namespace:
    """Return the parsed words of a command line for a command."""
    own, rest = list(words), []
    if name in _SPLIT and "--" in own:
        at = own.index("--")
        own, rest = own[:at], own[at + 1 :]
    given = parser.parse_args(own)
    given.after_dashes = rest
    return given


def add_json(parser: argparse.ArgumentParser, *, nested: bool = False) -> None:
    """Add ``--json``. ``nested``: the parser is below one that has the option too."""
    parser.add_argument(
        "--json",
        action="store_true",
        default=argparse.SUPPRESS if nested else False,
        help="write the result to stdout as JSON",
    )


def as_json(value: Any) -> Any:
    """Return a value with its named tuples as dictionaries, for ``json.dumps``."""
    if hasattr(value, "_asdict"):
        return {name: as_json(part) for name, part in value._asdict().items()}
    if isinstance(value, dict):
        return {name: as_json(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(part) for part in value]
    return value


def print_json(document: dict[str, Any]) -> None:
    """Write a JSON document to stdout."""
    print(json.dumps(as_json(document), indent=2))


@contextlib.contextmanager
def stdout_as_stderr() -> Iterator[None]:
    """Send to stderr what this process and its children write to stdout."""
    sys.stdout.flush()
    saved = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        ctypes.CDLL(None).fflush(None)  # printf of kernels writes to C's buffer
        os.dup2(saved, 1)
        os.close(saved)


def _spec_of(name: str) -> ModuleSpec | None:
    """Return where a module is, without importing the packages that it is in."""
    spec, places = None, None
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        part = ".".join(parts[:count])
        for finder in sys.meta_path:
            spec = finder.find_spec(part, places)
            if spec is not None:
                break
        if spec is None:
            return None
        places = spec.submodule_search_locations
        if places is None and count < len(parts):
            return None  # a module, which has no modules inside
    return spec


def why_not_runnable(program: str, is_module: bool) -> str:
    """Return why ``python PROGRAM``, or ``python -m PROGRAM``, finds nothing, or ""."""
    if not is_module:
        if os.path.isdir(program):
            if os.path.isfile(os.path.join(program, "__main__.py")):
                return ""
            return f"'{program}' is a folder without a file __main__.py"
        return "" if os.path.exists(program) else f"there is no file '{program}'"
    folder = os.getcwd()
    sys.path.insert(0, folder)
    try:
        spec = _spec_of(program)
        if spec is None:
            more = ""
            if os.path.isfile(program):
                more = ". It is a file: leave out -m"
            return f"there is no module '{program}'{more}"
        if spec.submodule_search_locations is None:
            return ""
        if _spec_of(f"{program}.__main__") is None:
            return f"'{program}' is a package without a module __main__"
        return ""
    finally:
        sys.path.remove(folder)


def main(
    name: str,
    add_arguments: Callable[[argparse.ArgumentParser], None],
    run: Callable[[argparse.Namespace], int],
    arguments: Sequence[str] | None,
) -> int:
    """Execute ``python -m pycuda.NAME`` with these arguments. Return the status."""
    parser = argparse.ArgumentParser(
        prog=f"python -m pycuda.{name}", description=COMMANDS[name]
    )
    add_arguments(parser)
    words = sys.argv[1:] if arguments is None else arguments
    given = parse(name, parser, words)
    return until_pipe_closes(lambda: run(given))


def until_pipe_closes(run: Callable[[], int]) -> int:
    """Execute a command. Return 0 if the reader of its output closes the pipe."""
    try:
        status = run()
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # Discard the rest of the buffer, which Python would write at exit.
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        return 0
