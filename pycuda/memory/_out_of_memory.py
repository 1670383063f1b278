"""What the extension adds to the text of a MemoryError."""

from __future__ import annotations

from pycuda.memory import _report, _snapshot


def explain(asked: int, host: bool) -> str:
    """Return the lines that hold the most, pools and other processes as text.

    ``asked``: the bytes of the request. ``host``: for page-locked memory. The result is
    empty or begins with a line end.
    """
    return _report.out_of_memory(_snapshot.take(), asked, host)
