"""Run a script with debugging on: ``python -m pycuda.debug SCRIPT [ARGS]``.

Kernels are then compiled with debug information, and their sources are kept for
cuda-gdb. The exit status is 2 without a script, or if the script does not exist.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from pycuda import _command_line, _hide_imports, _program

__all__ = ["main"]
_hide_imports(globals())


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command line.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser.
    """
    _command_line.add_program(parser, "script")


def run(given: argparse.Namespace) -> int:
    """Execute a parsed command line.

    Parameters
    ----------
    given : argparse.Namespace
        The arguments.

    Returns
    -------
    int
        The exit status.
    """
    reason = _program.missing(given.script, False)
    if reason:
        return _command_line.fail_without(given, "debug", reason)

    from pycuda.driver import set_debugging

    set_debugging()
    _program.execute(given.script, given.arguments, is_module=False)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        The arguments. The default is that of the process.

    Returns
    -------
    int
        The exit status.
    """
    return _command_line.main("debug", add_arguments, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
