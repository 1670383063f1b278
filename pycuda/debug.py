"""Run a script with debugging on: ``python -m pycuda.debug SCRIPT [ARGS]``.

Kernels are then compiled with debug information, and their sources are kept for
cuda-gdb. The exit status is 2 without a script, and 1 if the script does not exist.
"""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from collections.abc import Sequence

from pycuda import _command_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command line."""
    parser.add_argument("script", metavar="SCRIPT")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGUMENT")


def run(given: argparse.Namespace) -> int:
    """Run the script. Return the exit status."""
    script = given.script
    if not os.path.exists(script):
        print(f"pycuda.debug: there is no file '{script}'", file=sys.stderr)
        return 1

    from pycuda.driver import set_debugging

    set_debugging()
    # The script sees the same arguments and path as if it had been started by itself.
    sys.argv = [script, *given.arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    runpy.run_path(script, run_name="__main__")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute the command line. Return the exit status."""
    return _command_line.main("debug", add_arguments, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
