"""The extension in one shell of IPython: its cells, its output, its errors."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

from pycuda import _parameter_types, driver as drv
from pycuda._page import time_text
from pycuda.notebook import _errors, _kernel
from pycuda.notebook._cell import Cell
from pycuda.notebook._kernel import Kernel
from pycuda.notebook._magic import CudaMagic
from pycuda.notebook._output import Output

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType

_SHOWN_BY = "_render_traceback_"


class Session:
    """The extension in one shell."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.cells: list[Cell] = []
        self._magic = CudaMagic(self)
        self._output = Output() if hasattr(shell, "kernel") else None
        self._lines_before = 0  # the magic, in the cell that runs
        self._last_launch = 0

    # -- the shell ---------------------------------------------------------------------

    def load(self) -> None:
        """Connect to the shell, and make a context."""
        # Without a device, the first cell that needs one tells the reason.
        with contextlib.suppress(drv.Error, RuntimeError):
            make_context()
        self._last_launch = _newest_launch()
        self._magic.register()
        self.shell.events.register("pre_run_cell", self.begin_cell)
        self.shell.events.register("post_run_cell", self.end_cell)
        session = self

        def render(error: drv.Error) -> list[str]:
            return _errors.render(session, error)

        setattr(drv.Error, _SHOWN_BY, render)
        if self._output is not None:
            self._output.begin()

    def unload(self) -> None:
        """Disconnect from the shell."""
        self._magic.remove()
        self.shell.events.unregister("pre_run_cell", self.begin_cell)
        self.shell.events.unregister("post_run_cell", self.end_cell)
        delattr(drv.Error, _SHOWN_BY)
        if self._output is not None:
            self._output.close()

    def begin_cell(self, info: Any) -> None:
        """Prepare for a cell."""
        text = getattr(info, "raw_cell", None) or ""
        self._lines_before = text[: len(text) - len(text.lstrip())].count("\n")
        self._last_launch = _newest_launch()
        if self._output is not None:
            self._output.begin()

    def end_cell(self, result: Any) -> None:
        """Wait for what the cell has launched, and show its errors.

        After an interrupt nothing is waited for.
        """
        failure = getattr(result, "error_in_exec", None)
        try:
            if isinstance(failure, KeyboardInterrupt):
                pass
            elif _newest_launch() != self._last_launch:
                _kernel.wait()
        except (drv.Error, KeyboardInterrupt) as error:
            if result is not None and result.success:
                # The cell has launched the work that failed, so the cell fails.
                result.error_in_exec = error
                self.shell.showtraceback((type(error), error, error.__traceback__))
        finally:
            if self._output is not None:
                self._output.end()

    def finish(self) -> None:
        """Wait for the device, and show what it has printed."""
        try:
            _kernel.wait()
        finally:
            if self._output is not None:
                self._output.pass_on()

    @contextlib.contextmanager
    def short_errors(self) -> Iterator[None]:
        """Leave the frames of this package out of the tracebacks of wrong arguments."""
        try:
            yield
        except (TypeError, ValueError, OverflowError) as error:
            _errors.shorten(self, error)
            raise

    def number_of(self, path: str) -> int | None:
        """Return the number of the cell whose code has this file name, or None."""
        known = getattr(self.shell.compile, "_filename_map", {})
        number = known.get(path)
        return number if isinstance(number, int) else None

    def _number_of_caller(self) -> int | None:
        """Return the number of the cell that runs, None if it has none."""
        frame: FrameType | None = sys._getframe()
        while frame is not None:
            number = self.number_of(frame.f_code.co_filename)
            if number is not None:
                return number
            frame = frame.f_back
        return None

    # -- cells of CUDA C ---------------------------------------------------------------

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
            for kernel in cell.all_kernels():
                if kernel.function.name == symbol:
                    return kernel.__name__
        return symbol

    def compile(self, body: str, options: Iterable[str], **arguments: Any) -> Cell:
        """Compile a cell of CUDA C, and give its kernels to the notebook."""
        make_context()
        text = "\n" * (self._lines_before + 1) + body
        cell = Cell(self, self._number_of_caller(), text)
        cell.compile(options, **arguments)
        self.cells.append(cell)
        self.shell.push(cell.kernels)
        return cell

    def run(self, cell: Cell, name: str, shape: dict[str, Any], timed: bool) -> None:
        """Run a kernel of a cell with variables of the notebook as arguments."""
        kernel = _chosen(cell, name)
        named = {}
        for parameter in kernel.parameters:
            if parameter.name not in self.shell.user_ns:
                wanted = f"{parameter.text} {parameter.name}".replace("* ", "*")
                raise _errors.brief(
                    NameError(
                        f"the kernel {kernel.__name__} has the parameter '{wanted}', "
                        "and the notebook has no variable of this name. Assign one, or "
                        f"call {kernel.__name__}(...) in another cell"
                    )
                )
            named[parameter.name] = self.shell.user_ns[parameter.name]
        if timed:
            seconds = kernel.timed(*named.values(), **shape)
            print(f"{kernel.__name__}: {time_text(seconds * 1e9)}")
        else:
            kernel(*named.values(), **shape)


def _chosen(cell: Cell, name: str) -> Kernel:
    """Return the kernel that --run names, or the only one of the cell."""
    known = ", ".join(cell.kernels) or "none"
    if name:
        found = cell.kernels.get(name)
    elif len(cell.kernels) == 1:
        (found,) = cell.kernels.values()
    else:
        raise _errors.brief(
            ValueError(
                f"--run needs the name of a kernel if the cell has not exactly one. "
                f"The kernels of this cell: {known}"
            )
        )
    if found is None:
        text = f"the cell has no kernel {name!r}. Its kernels: {known}"
        raise _errors.brief(ValueError(text))
    if not isinstance(found, Kernel):
        text = f"{found.__name__} is a template, which --run cannot run. Call "
        text += f"{found.__name__}['float'](...) in another cell"
        raise _errors.brief(ValueError(text))
    return found


def _newest_launch() -> int:
    """Return the number of the newest launch in the current context, 0 without one."""
    return max((each.number for each in drv.recent_launches()), default=0)


def make_context() -> None:
    """Make the context of ``pycuda.autoinit`` current if no other one is."""
    drv.init()
    if drv.Context.get_current() is None:
        import pycuda.autoinit

        if drv.Context.get_current() is None:  # made before, and popped since then
            pycuda.autoinit.context.push()
