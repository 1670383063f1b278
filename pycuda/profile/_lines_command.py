"""Run a program on the software device, and show what its kernels cost by line."""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile

from pycuda import _command_line, _counts, _program
from pycuda.profile import _lines

_NO_KERNEL = (
    "no kernel ran on the software device, or none whose lines are known. A program "
    "that chooses its driver itself must choose the software device"
)

_FAILED = "the program failed before a kernel ran"


def _environment(prefix: str) -> dict[str, str]:
    """Return the variables for the run. The report uses the same device."""
    found = {"PYCUDA_DRIVER": "emulator"}
    capability = _command_line.capability_of_gpu()
    if capability and not os.environ.get("PYCUDA_EMULATOR_CAPABILITY"):
        found["PYCUDA_EMULATOR_CAPABILITY"] = capability
    os.environ.update(found)
    counting = {_counts.VARIABLE: "accesses", _counts.LOG_VARIABLE: prefix}
    return {**os.environ, **counting}


def _write(costs: _lines.LineCosts, paths: list[str]) -> tuple[list[str], int]:
    """Write files. Return those that are written, and the status."""
    written, status = [], 0
    for path in paths:
        try:
            costs.save(path)
            written.append(path)
        except OSError as error:
            reason = _command_line.reason_of(error)
            print(f"pycuda.profile: cannot write {reason}", file=sys.stderr)
            status = 1
    return written, status


def run(given: argparse.Namespace, paths: list[str]) -> int:
    """Run the program, write the files, and print the table.

    The exit status is that of the program, or 1 if a file cannot be written.
    """
    absolute = [os.path.abspath(path) for path in paths]
    command = _program.command(given.script, given.arguments, given.module)
    with tempfile.TemporaryDirectory(prefix="pycuda-lines-") as folder:
        prefix = os.path.join(folder, "counts")
        environment = _environment(prefix)
        with contextlib.ExitStack() as stack:
            if given.json:
                stack.enter_context(_command_line.stdout_as_stderr())
            status = subprocess.run(command, env=environment, check=False).returncode
        costs = _lines.read(prefix)
    if status < 0:  # a signal, as a shell says it
        status = 128 - status
    if not costs.kernels:
        if given.json:
            _command_line.print_json({"files": [], **costs.document()})
        reason = _FAILED if status else _NO_KERNEL
        print(f"pycuda.profile: {reason}", file=sys.stderr)
        return status
    written, failed = _write(costs, absolute)
    names = [path for path, at in zip(paths, absolute, strict=True) if at in written]
    if given.json:
        _command_line.print_json({"files": names, **costs.document()})
    elif not given.quiet:
        print(costs.text(), file=sys.stderr)
        for name in names:
            print(f"wrote {name}", file=sys.stderr)
    return status or failed
