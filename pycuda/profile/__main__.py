"""Run a program and record its timeline: python -m pycuda.profile script.py ..."""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Sequence

from pycuda.profile import timeline


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m pycuda.profile",
        description="Run a Python program and record what it did on the device.",
        epilog="The table of the heaviest lines is written to stderr at the end.",
    )
    parser.add_argument(
        "-o",
        "--output",
        action="append",
        metavar="FILE",
        help="a file to write: .html, .json (a trace for Perfetto) or .txt; may be "
        "repeated; by default pycuda_profile.html",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print no table")
    parser.add_argument("-m", dest="module", action="store_true", help="run a module")
    parser.add_argument("script", help="the program, or the module with -m")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program, write the files, and print the table.

    The exit status and the exceptions are those of the program.
    """
    given = _parser().parse_args(arguments)
    recording = timeline(*(given.output or ["pycuda_profile.html"]))
    sys.argv = [given.script, *given.arguments]
    recording.start()
    try:
        if given.module:
            runpy.run_module(given.script, run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = given.script.rpartition("/")[0]
            runpy.run_path(given.script, run_name="__main__")
    finally:
        recording.stop()
        if not given.quiet:
            print(recording.text(), file=sys.stderr)
            for path in given.output or ["pycuda_profile.html"]:
                print(f"wrote {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
