"""A notebook and its cells of CUDA C: what kernels and errors need to know of them."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

from pycuda import _driver, _excerpt, _parameter_types, driver as drv

if TYPE_CHECKING:
    from pycuda.compiler import SourceModule
    from pycuda.notebook._output import Output

#: Seconds between two looks at a kernel that runs on a GPU.
_SHORTEST, _LONGEST = 2e-5, 2e-3


class CellKernel(Protocol):
    """A kernel of a cell, or a template of kernels."""

    __name__: str

    def symbols(self) -> Iterator[tuple[str, str]]:
        """Yield (symbol, name) of the kernel, or of those made of the template."""


class Cell:
    """A cell of CUDA C.

    ``text`` has an empty line for each line of the cell before the CUDA C, so that the
    numbers of lines are those of the cell.
    """

    def __init__(self, notebook: Notebook, number: int | None, text: str) -> None:
        self.notebook = notebook
        self.number = number
        self.text = text
        self.module: SourceModule | None = None
        self.kernels: dict[str, CellKernel] = {}

    @property
    def title(self) -> str:
        """How messages name the cell."""
        return "Cell" if self.number is None else f"Cell In[{self.number}]"

    def named(self, said: str) -> str:
        """Return a compiler's text with the name of the cell in place of the file's."""
        name = re.escape(_excerpt.SOURCE_NAME)
        said = re.sub(rf"\S*\b{name}\((\d+)\)", rf"{self.title}, line \1", said)
        return re.sub(rf"\S*\b{name}([,:]|(?=\s))", rf"{self.title}\1", said)

    def excerpt(self, number: int, context: int = 2) -> str:
        """Return a line with the lines before it, "" if the cell has no such line."""
        lines = self.text.split("\n")
        if not 1 <= number <= len(lines):
            return ""
        first = max(1, number - context)
        while first < number and not lines[first - 1].strip():
            first += 1
        width = len(str(number))
        rows = []
        for each in range(first, number + 1):
            arrow = "---->" if each == number else "     "
            rows.append(f"{arrow} {each:{width}} {lines[each - 1]}".rstrip())
        return "\n".join(rows)


class Notebook:
    """A shell of IPython and its cells of CUDA C.

    ``output`` takes what kernels print, if the shell is a kernel of Jupyter.
    """

    def __init__(self, shell: Any, output: Output | None) -> None:
        self.shell = shell
        self.output = output
        self.cells: list[Cell] = []
        self._shown: tuple[int, ...] = ()  # the launches of the fault shown last

    def has_shown(self, error: drv.Error) -> bool:
        """Return whether an earlier error has shown the same fault, and note it."""
        launches = tuple(each.number for each in error.launches)
        is_known = bool(launches) and launches == self._shown
        self._shown = launches or self._shown
        return is_known

    def finish(self) -> None:
        """Wait for the device, and show what it has printed."""
        try:
            wait()
        finally:
            if self.output is not None:
                self.output.pass_on()

    def number_of(self, path: str) -> int | None:
        """Return the number of the cell whose code has this file name, or None."""
        known = getattr(self.shell.compile, "_filename_map", {})
        number = known.get(path)
        return number if isinstance(number, int) else None

    def cell_of(self, kernel: str) -> Cell | None:
        """Return the newest cell that has a kernel of this name, or None."""
        name = _parameter_types.plain_name(kernel)
        for cell in reversed(self.cells):
            if name and name in cell.kernels:
                return cell
        return None

    def name_of(self, symbol: str) -> str:
        """Return the name of a kernel of a cell for its symbol, else the symbol."""
        for cell in reversed(self.cells):
            for kernel in cell.kernels.values():
                for each, name in kernel.symbols():
                    if each == symbol:
                        return name
        return symbol


def wait() -> None:
    """Wait until the device has done all work. Ctrl-C ends the wait."""
    if not _driver._is_emulated():
        event = drv.Event(drv.event_flags.DISABLE_TIMING)
        event.record()
        pause = _SHORTEST
        while not event.query():
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST)
    drv.Context.synchronize()  # the driver writes what kernels have printed
