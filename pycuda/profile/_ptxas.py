"""What ptxas says about kernels: their registers, and what it keeps in memory."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from typing import NamedTuple

from pycuda._compile import nvcc
from pycuda.driver import CompilerNotFoundError

_MOST_SECONDS = 60
_TARGET = re.compile(r"(?m)^\s*\.target\s+(sm_\w+)")
_FUNCTION = re.compile(r"(?:Compiling entry function|Function properties for) '?(\w+)")
_SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")


class Resources(NamedTuple):
    """What a thread of a kernel needs."""

    registers: int
    spills: int  # bytes that are stored and loaded


def resources(ptx: str) -> dict[str, Resources]:
    """Return what the kernels of a text need, nothing without ptxas."""
    target = _TARGET.search(ptx)
    if target is None:
        return {}
    with tempfile.TemporaryDirectory(prefix="pycuda-") as folder:
        path = os.path.join(folder, "kernel.ptx")
        with open(path, "w", encoding="utf-8") as file:
            file.write(ptx)
        try:
            command = [nvcc.find("ptxas"), "-v", f"-arch={target[1]}"]
            command += [path, "-o", os.path.join(folder, "kernel.cubin")]
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=_MOST_SECONDS,
            )
        except (OSError, CompilerNotFoundError, subprocess.TimeoutExpired):
            return {}
    return _read(done.stdout + done.stderr)


def _read(said: str) -> dict[str, Resources]:
    found: dict[str, Resources] = {}
    name, spills = "", 0
    for row in said.splitlines():
        function, bytes_, used = (
            pattern.search(row) for pattern in (_FUNCTION, _SPILLS, _REGISTERS)
        )
        if function is not None and function[1] != name:
            name, spills = function[1], 0
        if bytes_ is not None:
            spills = int(bytes_[1]) + int(bytes_[2])
        if used is not None and name:
            found[name] = Resources(int(used[1]), spills)
    return found
