"""The sources that a program compiled, for a reader of its reports.

A report names a line of ``kernel.cu``, and every source in a string has that name. So
while ``PYCUDA_CHECK_LOG`` names a file of reports, each source is appended to a second
file beside it, a JSON text in a line.
"""

from __future__ import annotations

import json
import os

_ENDING = ".sources"
_kept: set[tuple[str, int]] = set()  # (path, hash) of what this process has written


def keep(text: str) -> None:
    """Append a source, if reports are kept and if this process has not yet."""
    log = os.environ.get("PYCUDA_CHECK_LOG")
    if not log or (log, hash(text)) in _kept:
        return
    _kept.add((log, hash(text)))
    line = json.dumps(text).encode() + b"\n"
    try:
        file = os.open(log + _ENDING, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    except OSError:
        return  # the report is then shown without the text of its line
    try:
        os.write(file, line)
    finally:
        os.close(file)


def read(log: str) -> list[str]:
    """Return the sources beside a file of reports, in their order."""
    try:
        with open(log + _ENDING, encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.endswith("\n")]
    except OSError:
        return []
