"""What each line of a cell costs: ``%%cuda --lines``."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator

import pycuda.notebook._errors as _errors
from pycuda import _counts, _driver
from pycuda.notebook._cell import Cell
from pycuda.notebook._session import make_context


def refuse_gpu() -> None:
    """Raise RuntimeError if the kernels of this process run on a GPU."""
    make_context()
    if not _driver._is_emulated():
        raise _errors.brief(
            RuntimeError(
                "--lines counts on the software device, and this notebook uses a GPU. "
                "Put %env PYCUDA_DRIVER=emulator before the cell that loads the "
                "extension, and restart the kernel of the notebook"
            )
        )


class Counts:
    """The counts of what runs in a cell."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def show(self, cell: Cell) -> None:
        """Show the cost of the kernels of a cell in its output."""
        from IPython.display import display  # only where IPython runs

        from pycuda.profile import _lines

        _counts.write(self._prefix)
        costs = _lines.read(self._prefix, cell.title, cell.text)
        display(costs)  # type: ignore[no-untyped-call]


@contextlib.contextmanager
def counting() -> Iterator[Counts]:
    """Count in the programs that are loaded inside."""
    names = _counts.VARIABLE, _counts.LOG_VARIABLE
    saved = {name: os.environ.get(name) for name in names}
    with tempfile.TemporaryDirectory(prefix="pycuda-lines-") as folder:
        prefix = saved[_counts.LOG_VARIABLE]
        if not prefix:  # else the whole program is counted, to these files
            prefix = os.path.join(folder, "counts")
            _driver._clear_counts()
        try:
            os.environ[_counts.VARIABLE] = "accesses"
            os.environ[_counts.LOG_VARIABLE] = prefix
            yield Counts(prefix)
        finally:
            for name, value in saved.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
