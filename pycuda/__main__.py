"""The commands of the package: ``python -m pycuda``, or ``pycuda``.

Without arguments it lists the commands. ``python -m pycuda NAME`` is the same as
``python -m pycuda.NAME``.
"""
# PYTHON_ARGCOMPLETE_OK

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from pycuda import __version__, _command_line
from pycuda._command_line import COMMANDS

_COMPLETION = "completion"
_COMPLETION_TEXT = "Print the code that completes these commands in a shell."
_SHELLS = ("bash", "zsh", "fish")
_NO_ARGCOMPLETE = (
    "completion needs the package argcomplete. Install it: pip install argcomplete"
)


def _module(name: str) -> ModuleType:
    """Return the module of a command."""
    if name == "profile":  # a package
        name += ".__main__"
    try:
        return importlib.import_module(f"pycuda.{name}")
    except ImportError as error:
        sys.exit(
            f"pycuda {name.partition('.')[0]}: {error}.\n"
            "'python -m pycuda.doctor' names the step that repairs it."
        )


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser for a command line with these words.

    Only the modules of commands that are among the words are imported.
    """
    is_script = os.path.basename(sys.argv[0]) == "pycuda"
    parser = _command_line.Parser(
        prog="pycuda" if is_script else "python -m pycuda",
        description=f"Tools of pycuda {__version__}.",
        epilog="COMMAND --help lists the arguments of a command.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    _command_line.add_json(parser)
    _command_line.add_refuse(parser)
    commands = parser.add_subparsers(dest="_command", metavar="COMMAND")
    for name, summary in COMMANDS.items():
        added = commands.add_parser(name, help=summary, description=summary)
        _command_line.add_refuse(added)
        if name in words:
            _module(name).add_arguments(added)
    completing = commands.add_parser(
        _COMPLETION,
        help=_COMPLETION_TEXT,
        description=_COMPLETION_TEXT,
    )
    completing.add_argument("shell", choices=_SHELLS)
    _command_line.add_json(completing, nested=True)
    _command_line.add_refuse(completing)
    return parser


def _list(parser: argparse.ArgumentParser, as_json: bool) -> int:
    if as_json:
        listed = [{"name": name, "summary": text} for name, text in COMMANDS.items()]
        _command_line.print_json({"version": __version__, "commands": listed})
        return 0
    width = max(map(len, (*COMMANDS, _COMPLETION)))
    print(f"{parser.prog} COMMAND: tools of pycuda {__version__}\n")
    for name, text in {**COMMANDS, _COMPLETION: _COMPLETION_TEXT}.items():
        print(f"  {name:{width}}  {text}")
    print("\nCOMMAND --help lists its arguments. --json writes its result as JSON.")
    return 0


def _print_completion(given: argparse.Namespace) -> int:
    try:
        from argcomplete.shell_integration import shellcode
    except ImportError:
        return _command_line.fail(given, _COMPLETION, _NO_ARGCOMPLETE)
    code = shellcode(["pycuda"], shell=given.shell)
    if given.json:
        _command_line.print_json({"shell": given.shell, "code": code})
    else:
        print(code)
    return 0


def _complete() -> None:
    """Answer a shell that asks for completions, and end this process."""
    try:
        import argcomplete
    except ImportError:
        sys.exit(f"pycuda: {_NO_ARGCOMPLETE}")
    argcomplete.autocomplete(_parser(os.environ.get("COMP_LINE", "").split()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute a command line. Return the exit status."""
    if "_ARGCOMPLETE" in os.environ:
        _complete()
    words = sys.argv[1:] if arguments is None else arguments
    parser = _parser(words)
    name = next((word for word in words if word in COMMANDS), "")
    given = _command_line.parse(name, parser, words)
    return _command_line.finish("pycuda", lambda: _run(parser, given))


def _run(parser: argparse.ArgumentParser, given: argparse.Namespace) -> int:
    if given._command is None:
        return _list(parser, given.json)
    if given._command == _COMPLETION:
        return _print_completion(given)
    return int(_module(given._command).run(given))


if __name__ == "__main__":
    sys.exit(main())
