"""Coverage of kernels: which lines and branches of CUDA sources a program runs.

    python -m pycuda.coverage [--html FILE] script.py [ARGUMENT ...]
    python -m pycuda.coverage notebook.ipynb
    python -m pycuda.coverage -m pytest [ARGUMENT ...]

The program runs on the software device, which counts. The table has a row for each file
with CUDA code: Python files with sources in strings, ``.cu`` files and headers. Lines
that never ran, and branches that were never taken, are named.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pycuda import (
    _command_line,
    _counts,
    _coverage_reports as reports,
    _covered,
    _hide_imports,
    _notebook_program,
    _program,
)

if TYPE_CHECKING:
    from coverage.plugin_support import Plugins

__all__: list[str] = []
_hide_imports(globals())


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command line.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser.
    """
    _command_line.add_json(parser)
    for kind, name in (("html", "a page"), ("xml", "Cobertura"), ("lcov", "lcov")):
        parser.add_argument(
            f"--{kind}", metavar="FILE", help=f"write a report to a file: {name}"
        )
    parser.add_argument(
        "--source",
        action="append",
        default=[],
        metavar="PATH",
        help="a file or folder whose sources are wanted; default: all of the program",
    )
    parser.add_argument(
        "--generated",
        action="store_true",
        help="show the kernels, too, that the package generates",
    )
    parser.add_argument(
        "--fail-under",
        type=_percent,
        default=0.0,
        metavar="PERCENT",
        help="the exit status is 1 if less is covered",
    )
    parser.add_argument(
        "-m", dest="is_module", action="store_true", help="run a module, not a script"
    )
    _command_line.add_program(parser, "program")


def _percent(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"'{text}' must be a number from 0 to 100")
    return value


def _command(given: argparse.Namespace) -> list[str]:
    runner = ["-m"] if given.is_module else []
    if not given.is_module and _notebook_program.is_notebook(given.program):
        runner = ["-m", _program.__name__]
    return [sys.executable, *runner, given.program, *given.arguments]


def _run_program(given: argparse.Namespace, prefix: str) -> int:
    environment = {
        **os.environ,
        "PYCUDA_DRIVER": "emulator",
        _counts.VARIABLE: "lines",
        _counts.LOG_VARIABLE: prefix,
    }
    return subprocess.run(_command(given), env=environment, check=False).returncode


def _document(files: Sequence[_covered.File], status: int) -> dict[str, Any]:
    """Return what ran, for JSON."""
    found = _covered.totals(files)
    return {
        "status": status,
        "percent": found.percent(),
        "totals": found,
        "files": [
            {
                "name": file.name,
                "lines": {str(line): count for line, count in file.lines.items()},
                "branches": {str(n): ways for n, ways in file.decisions.items()},
            }
            for file in files
        ],
    }


def _verdict(files: Sequence[_covered.File], limit: float) -> str:
    """Return the last line of the output."""
    found = _covered.totals(files)
    if not files:
        return "no kernel of the program was loaded on the software device"
    text = (
        f"{found.lines_run} of {found.lines} lines ran, and {found.outcomes_taken} of "
        f"{found.outcomes} branches were taken"
    )
    if found.percent() < limit:
        text += f"; {found.percent():.1f}% are covered, and {limit:g}% are asked for"
    return text


def run(given: argparse.Namespace) -> int:
    """Execute a parsed command line.

    Parameters
    ----------
    given : argparse.Namespace
        The arguments.

    Returns
    -------
    int
        The exit status: that of the program, or 1 if less is covered than asked for.
    """
    reason = _program.missing(given.program, given.is_module)
    if reason:
        return _command_line.fail_without(given, "coverage", reason)
    with tempfile.TemporaryDirectory(prefix="pycuda-coverage-") as folder:
        prefix = os.path.join(folder, "counts")
        if given.json:
            with _command_line.stdout_as_stderr():
                status = _run_program(given, prefix)
        else:
            status = _run_program(given, prefix)
        files = _covered.measure(prefix, given.source, given.generated)
    written = []
    for kind in reports.KINDS:
        path = getattr(given, kind)
        if path:
            try:
                written.append(reports.write(kind, path, files))
            except OSError as error:
                reason = f"cannot write {_command_line.reason_of(error)}"
                return _command_line.fail(given, "coverage", reason)
    if given.json:
        _command_line.print_json(_document(files, status))
    else:
        sys.stdout.flush()
        if files:
            print(f"\n{reports.table(files)}")
        print(f"pycuda.coverage: {_verdict(files, given.fail_under)}")
        for path in written:
            print(f"pycuda.coverage: {path} is written")
    is_enough = _covered.totals(files).percent() >= given.fail_under
    return status if status or is_enough else 1


def coverage_init(reg: Plugins, options: object) -> None:
    """Make the plugin of coverage.py. It calls this if its settings name this module.

    Parameters
    ----------
    reg : coverage.plugin_support.Plugins
        What takes the plugin.
    options : object
        The plugin has no options.
    """
    from pycuda import _coverage_py

    _coverage_py.register(reg)


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
    return _command_line.main("coverage", add_arguments, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
