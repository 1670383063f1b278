"""Run a program and record its timeline: python -m pycuda.profile script.py ..."""

from __future__ import annotations

import argparse
import contextlib
import os
import runpy
import sys
from collections.abc import Sequence

from pycuda import _command_line
from pycuda.profile import Timeline, timeline

_DEFAULT_FILE = "pycuda_profile.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command line."""
    parser.epilog = "The table of the heaviest lines is written to stderr at the end."
    _command_line.add_json(parser)
    parser.add_argument(
        "-o",
        "--output",
        action="append",
        metavar="FILE",
        help="a file to write: .html, .json (a trace for Perfetto) or .txt; may be "
        f"repeated; by default {_DEFAULT_FILE}",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print no table")
    parser.add_argument("-m", dest="module", action="store_true", help="run a module")
    parser.add_argument("script", help="the program, or the module with -m")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)


def _execute(given: argparse.Namespace) -> None:
    """Run the program as Python would, in this process."""
    sys.argv = [given.script, *given.arguments]
    if given.module:
        # The command `pycuda` has its own folder in this place.
        sys.path[0] = os.getcwd()
        runpy.run_module(given.script, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = given.script.rpartition("/")[0]
        runpy.run_path(given.script, run_name="__main__")


def _check_folder(path: str) -> None:
    """Raise OSError if a file cannot be written, before the program runs."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise OSError(f"'{path}' cannot be written: there is no folder '{folder}'")


def _report(given: argparse.Namespace, recording: Timeline, paths: list[str]) -> None:
    if not given.quiet and not given.json:
        print(recording.text(), file=sys.stderr)
        for path in paths:
            print(f"wrote {path}", file=sys.stderr)
    if given.json:
        document = {
            "files": paths,
            "duration": recording.duration,
            "busy": recording.busy(),
            "dropped": recording.dropped,
            "lines": recording.lines(),
            "kernels": recording.kernels(),
            "copies": recording.copies(),
        }
        _command_line.print_json(document)


def run(given: argparse.Namespace) -> int:
    """Run the program, write the files, and print the table.

    The exit status and the exceptions are those of the program. The status is 2 if
    there is no such program.
    """
    wrong = _command_line.why_not_runnable(given.script, given.module)
    if wrong:
        print(f"pycuda.profile: {wrong}", file=sys.stderr)
        return 2
    paths = given.output or [_DEFAULT_FILE]
    try:
        recording = timeline(*paths)
        for path in paths:
            _check_folder(path)
    except (ValueError, OSError) as error:
        print(f"pycuda.profile: {error}", file=sys.stderr)
        return 2
    stdout = _command_line.stdout_as_stderr if given.json else contextlib.nullcontext
    recording.start()
    try:
        with stdout():
            _execute(given)
    finally:
        recording.stop()
        _report(given, recording, paths)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute the command line. Return the exit status."""
    return _command_line.main("profile", add_arguments, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
