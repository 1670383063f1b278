"""Run a program and record its timeline: python -m pycuda.profile script.py ...

With --lines, the program runs on the software device, and the report is what each line
of its kernels costs.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from pycuda import _command_line, _program
from pycuda.profile import Timeline, timeline

_DEFAULT_FILE = "pycuda_profile.html"
_LINES_FILE = "pycuda_lines.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command line."""
    parser.epilog = "The table of the heaviest lines is written to stderr at the end."
    _command_line.add_json(parser)
    parser.add_argument(
        "--lines",
        action="store_true",
        help="run on the software device, and show what each line of the kernels costs",
    )
    parser.add_argument(
        "-o",
        "--output",
        action="append",
        metavar="FILE",
        help="a file to write: .html, .json (a trace for Perfetto) or .txt; may be "
        f"repeated; by default {_DEFAULT_FILE}, with --lines {_LINES_FILE}",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print no table")
    parser.add_argument("-m", dest="module", action="store_true", help="run a module")
    _command_line.add_program(parser, "script")


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


class _Recording:
    """The timeline of a program, its files, and where its output goes."""

    def __init__(self, given: argparse.Namespace, paths: list[str]) -> None:
        self._given = given
        self._names = paths
        self._paths = [os.path.abspath(path) for path in paths]
        self._process = os.getpid()
        self._stdout = contextlib.ExitStack()
        self._exit = os._exit
        self._timeline = timeline()
        self.status = 0

    def begin(self) -> None:
        """Begin to record. A program that calls ``os._exit`` ends the recording too."""
        os._exit = self._end_and_exit
        if self._given.json:
            self._stdout.enter_context(_command_line.stdout_as_stderr())
        self._timeline.start()

    def end(self) -> None:
        """End the recording, write the files, and print the report."""
        os._exit = self._exit
        self._stdout.close()
        if os.getpid() != self._process:
            return  # a child that has left the program by an error
        self._timeline.stop()
        written = []
        for name, path in zip(self._names, self._paths, strict=True):
            try:
                self._timeline.save(path)
                written.append(name)
            except OSError as error:
                self.status = 1
                reason = (
                    f"pycuda.profile: cannot write {_command_line.reason_of(error)}"
                )
                print(reason, file=sys.stderr)
        _report(self._given, self._timeline, written)

    def _end_and_exit(self, status: int) -> NoReturn:
        if os.getpid() == self._process:
            try:
                self.end()
                _command_line.flush_stdout()
            except Exception as error:
                print(f"pycuda.profile: {error}", file=sys.stderr)
        self._exit(status)


def _check(given: argparse.Namespace, paths: list[str]) -> None:
    """End with a message about files that cannot be written."""
    try:
        timeline(*paths)
    except ValueError as error:
        given.refuse(str(error))
    for path in paths:
        folder = os.path.dirname(os.path.abspath(path))
        if os.path.isdir(path):
            given.refuse(f"'{path}' is a folder, and the name of a file is needed")
        if not os.path.isdir(folder):
            given.refuse(f"there is no folder '{folder}' for the file '{path}'")
        if not os.access(path if os.path.exists(path) else folder, os.W_OK):
            given.refuse(f"the file '{path}' cannot be written")


def run(given: argparse.Namespace) -> int:
    """Run the program, write the files, and print the table.

    The exit status and the exceptions are those of the program.
    """
    paths = given.output or [_LINES_FILE if given.lines else _DEFAULT_FILE]
    reason = _program.missing(given.script, given.module)
    if reason:
        return _command_line.fail_without(given, "profile", reason)
    _check(given, paths)
    if given.lines:
        from pycuda.profile import _lines_command

        return _lines_command.run(given, paths)
    recording = _Recording(given, paths)
    recording.begin()
    try:
        _program.execute(given.script, given.arguments, given.module)
        _program.wait_for_threads()
    finally:
        recording.end()
    return recording.status


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute the command line. Return the exit status."""
    return _command_line.main("profile", add_arguments, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
