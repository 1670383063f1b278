"""The command line of the package: what ``python -m pycuda`` and its commands share.

A command is a module with three functions. ``add_arguments(parser)`` adds its arguments
to a parser, ``run(given)`` executes it and returns the exit status, and
``main(arguments)`` is ``python -m pycuda.NAME``. ``COMMANDS`` lists the commands.

With ``--json``, a command writes one JSON document to stdout and nothing else. What the
program of a command prints goes to stderr then. If the command cannot do what it was
asked for, the document has the member ``error``.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import difflib
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from pycuda import _program

#: The commands, each with the sentence that describes it.
COMMANDS = {
    "doctor": "Check whether this machine can run pycuda, and how to repair it.",
    "cache": "Look at the cache of compiled kernels, or empty it.",
    "emulator": "Run programs on the software device instead of a GPU.",
    "explain": "Run a program again with all checks, and explain its errors.",
    "coverage": "Run a program and show which lines of its kernels ran.",
    "profile": "Run a Python program and record what it did on the device.",
    "precompile": "Compile the kernels of a program in advance, into one file.",
    "debug": "Run a script with debug information in its kernels, for cuda-gdb.",
}

#: The exit status of a wrong command line, and of one that names a missing file.
WRONG = 2
_INTERRUPTED = 128 + 2  # the exit status of programs that Ctrl-C ends, in a shell

#: Commands that run a program with the words after -- as its arguments.
_SPLIT = ("precompile",)


class Parser(argparse.ArgumentParser):
    """A parser whose errors suggest the word that was perhaps meant."""

    def error(self, message: str) -> NoReturn:
        wrong = re.search(r"invalid choice: '(.*)' \(choose from (.*)\)$", message)
        if wrong is not None:
            known = re.findall(r"[\w.-]+", wrong[2])
            similar = difflib.get_close_matches(wrong[1], known, 1)
            if similar:
                message += f". Did you mean '{similar[0]}'?"
        super().error(message)


def add_program(
    parser: argparse.ArgumentParser, name: str, metavar: str = "SCRIPT"
) -> None:
    """Add the name of a program, and ``arguments``, all words after it."""
    parser.add_argument(name, metavar=metavar)
    rest = parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, metavar="ARGUMENT"
    )
    rest.required = False  # there may be none; argparse says otherwise in its errors


def parse(
    name: str, parser: argparse.ArgumentParser, words: Sequence[str]
) -> argparse.Namespace:
    """Return the parsed words of a command line for a command."""
    own, rest = list(words), []
    if name in _SPLIT and "--" in own:
        at = own.index("--")
        own, rest = own[:at], own[at + 1 :]
    given, unknown = parser.parse_known_args(own)
    if unknown:
        given.refuse(f"unrecognized arguments: {' '.join(unknown)}")
    given.after_dashes = rest
    return given


def add_refuse(parser: argparse.ArgumentParser) -> None:
    """Let ``given.refuse(text)`` end the process with the usage of this parser."""
    parser.set_defaults(refuse=parser.error)


def add_json(parser: argparse.ArgumentParser, *, nested: bool = False) -> None:
    """Add ``--json``. ``nested``: the parser is below one that has the option too."""
    parser.add_argument(
        "--json",
        action="store_true",
        default=argparse.SUPPRESS if nested else False,
        help="write the result to stdout as JSON",
    )


def add_devices(parser: argparse.ArgumentParser) -> None:
    """Add the options of the devices of a software device."""
    parser.add_argument(
        "--devices", type=devices, metavar="N", help="the number of GPUs"
    )
    parser.add_argument(
        "--capability",
        type=capability,
        metavar="9.0",
        help="the compute capability of the devices",
    )


def as_json(value: Any) -> Any:
    """Return a value with its named tuples as dictionaries, for ``json.dumps``."""
    if hasattr(value, "_asdict"):
        return {name: as_json(part) for name, part in value._asdict().items()}
    if isinstance(value, dict):
        return {name: as_json(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(part) for part in value]
    if isinstance(value, str):
        return readable(value)
    return value


def readable(text: str) -> str:
    """Return a text with the names of files in it as UTF-8.

    In the locale C, Python reads other characters than ASCII as surrogates.
    """
    if text.isascii():
        return text
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that is not from a name of a file
        return text
    return data.decode("utf-8", "surrogateescape")


def print_json(document: dict[str, Any]) -> None:
    """Write a JSON document to stdout."""
    print(json.dumps(as_json(document), indent=2))


def fail(given: argparse.Namespace, name: str, text: str, status: int = 1) -> int:
    """Say why a command cannot do what it was asked for. Return the exit status."""
    if getattr(given, "json", False):
        print_json({"error": text})
    print(f"pycuda.{name}: {text}", file=sys.stderr)
    return status


def fail_without(given: argparse.Namespace, name: str, text: str) -> int:
    """Say that the command line names a file that is not there. Return the status."""
    return fail(given, name, text, WRONG)


def reason_of(error: Exception) -> str:
    """Return the text of an error. That of an OSError begins with the file's name."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"'{os.fsdecode(error.filename)}': {error.strerror}"
    return str(error)


@contextlib.contextmanager
def stdout_as_stderr() -> Iterator[None]:
    """Send to stderr what this process and its children write to stdout."""
    flush_stdout()
    try:
        saved = os.dup(1)
    except OSError:  # stdout is closed
        yield
        return
    try:
        with contextlib.suppress(OSError):  # stderr is closed
            os.dup2(2, 1)
        yield
    finally:
        with contextlib.suppress(OSError, ValueError):  # the program has closed it
            flush_stdout()
        ctypes.CDLL(None).fflush(None)  # printf of kernels writes to C's buffer
        os.dup2(saved, 1)
        os.close(saved)


def flush_stdout() -> None:
    """Write what is in the buffer of stdout, unless stdout is closed."""
    if not getattr(sys.stdout, "closed", True):
        sys.stdout.flush()


# -- types of arguments ----------------------------------------------------------------

_CHECKS = ("memory", "init", "race", "sync", "barrier", "leak", "all")
_MOST_DEVICES = 64
#: CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR.
_CAPABILITY_ATTRIBUTES = (75, 76)
_CAPABILITIES = (
    *("5.0", "5.2", "5.3", "6.0", "6.1", "6.2", "7.0", "7.2", "7.5"),
    *("8.0", "8.6", "8.7", "8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1"),
)


def checks(text: str) -> str:
    """Return the names of checks of the software device, with commas between."""
    if any(word not in _CHECKS for word in text.split(",")):
        raise argparse.ArgumentTypeError(
            f"'{text}' must be names of checks with commas between: "
            f"{', '.join(_CHECKS[:-1])}, or all"
        )
    return text


def devices(text: str) -> int:
    """Return a number of software devices."""
    if not re.fullmatch("[0-9]{1,9}", text) or int(text) > _MOST_DEVICES:
        raise argparse.ArgumentTypeError(
            f"'{text}' must be a number of devices from 0 to {_MOST_DEVICES}"
        )
    return int(text)


def capability(text: str) -> str:
    """Return a compute capability of software devices."""
    if text not in _CAPABILITIES:
        raise argparse.ArgumentTypeError(
            f"'{text}' must be a compute capability: {', '.join(_CAPABILITIES)}"
        )
    return text


def known_capability(major: int, minor: int) -> str:
    """Return the newest capability of software devices that is not above another."""
    known = [tuple(map(int, each.split("."))) for each in _CAPABILITIES]
    below = [each for each in known if each <= (major, minor)]
    return ".".join(map(str, max(below, default=known[0])))


def capability_of_gpu() -> str:
    """Return the compute capability of the GPU of a plain run, "" if it uses none.

    The software device then has its own, which the environment or the program chooses.
    """
    if os.environ.get("PYCUDA_DRIVER") == "emulator":
        return ""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        parts = [ctypes.c_int(), ctypes.c_int()]
        status = driver.cuInit(0)
        for part, attribute in zip(parts, _CAPABILITY_ATTRIBUTES, strict=True):
            status = status or driver.cuDeviceGetAttribute(
                ctypes.byref(part), attribute, 0
            )
    except (OSError, AttributeError):
        return ""
    return "" if status else known_capability(*[x.value for x in parts])


def version(text: str) -> str:
    """Return a version of CUDA."""
    if not re.fullmatch(r"[1-9][0-9]\.[0-9]", text) or float(text) < 11:
        raise argparse.ArgumentTypeError(
            f"'{text}' must be a version of CUDA such as 13.0, from 11.0 on"
        )
    return text


# -- the process -----------------------------------------------------------------------


def main(
    name: str,
    add_arguments: Callable[[argparse.ArgumentParser], None],
    run: Callable[[argparse.Namespace], int],
    arguments: Sequence[str] | None,
) -> int:
    """Execute ``python -m pycuda.NAME`` with these arguments. Return the status."""
    parser = Parser(prog=f"python -m pycuda.{name}", description=COMMANDS[name])
    add_refuse(parser)
    add_arguments(parser)
    words = sys.argv[1:] if arguments is None else arguments
    given = parse(name, parser, words)
    return finish(f"pycuda.{name}", lambda: run(given))


def finish(name: str, run: Callable[[], int]) -> int:
    """Execute a command. Return its exit status, or 1 if stdout cannot be written.

    The status is 0 if the reader of a pipe has read enough and closes it. Errors of the
    program that the command runs are raised.
    """
    if getattr(sys.stdout, "errors", "") == "strict":
        # Names of files may have bytes that are no characters.
        reconfigure = getattr(sys.stdout, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="surrogateescape")
    try:
        status = run()
        flush_stdout()
        return status
    except KeyboardInterrupt as error:
        if _program.has_raised(error):
            raise
        print(f"{name}: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except OSError as error:
        if error.filename is not None or _program.has_raised(error):
            raise
        # Discard the rest of the buffer, which Python would write at exit.
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 1)
        if isinstance(error, BrokenPipeError):
            return 0
        print(f"{name}: stdout cannot be written: {error.strerror}", file=sys.stderr)
        return 1
