"""The extension in one shell of IPython: its cells, its output, its errors."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import warnings
from typing import TYPE_CHECKING, Any

import pycuda.notebook._errors as _errors
from pycuda import _driver, _parameter_types, driver as drv
from pycuda._page import time_text
from pycuda.notebook._cell import Cell, Notebook, wait
from pycuda.notebook._kernel import Kernel, KernelTemplate, parameters_of
from pycuda.notebook._output import Output

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType

    from pycuda.compiler import SourceModule

#: What a source has that cannot be inside of extern "C".
_CXX = re.compile(
    r'\btemplate\b|\bnamespace\b|\bextern\s*"C"|^\s*#\s*include|\boperator\b',
    re.MULTILINE,
)
#: Headers with functions of the host, which NVRTC refuses after seconds.
_OF_HOST = re.compile(r"^\s*#\s*include\s*<(?:thrust|cub/device)/", re.MULTILINE)
_LINE_OPTIONS = ("-lineinfo", "--generate-line-info", "-G", "--device-debug")
_SHOWN_BY = "_render_traceback_"


class Session(Notebook):
    """The extension in one shell."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell, Output() if hasattr(shell, "kernel") else None)
        self._lines_before = 0  # the magic, in the cell that runs
        self._last_launch = 0
        self._format_warning = warnings.formatwarning

    # -- the shell ---------------------------------------------------------------------

    def load(self) -> None:
        """Connect to the shell, and make a context."""
        # Without a device, the first cell that needs one tells the reason.
        with contextlib.suppress(drv.Error, RuntimeError):
            make_context()
        self._last_launch = _newest_launch()
        self.shell.events.register("pre_run_cell", self.begin_cell)
        self.shell.events.register("post_run_cell", self.end_cell)
        session = self

        def render(error: drv.Error) -> list[str]:
            return _errors.render(session, error)

        setattr(drv.Error, _SHOWN_BY, render)
        self._format_warning = warnings.formatwarning
        warnings.formatwarning = self.warning_text
        if self.output is not None:
            self.output.begin()

    def unload(self) -> None:
        """Disconnect from the shell."""
        self.shell.events.unregister("pre_run_cell", self.begin_cell)
        self.shell.events.unregister("post_run_cell", self.end_cell)
        delattr(drv.Error, _SHOWN_BY)
        if warnings.formatwarning == self.warning_text:
            warnings.formatwarning = self._format_warning
        if self.output is not None:
            self.output.close()

    def warning_text(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        line: str | None = None,
    ) -> str:
        """Return a warning as ``warnings`` shows it, those of this package by cells."""
        text = self._format_warning(message, category, filename, lineno, line)
        if issubclass(category, (drv.PyCUDAWarning, drv.ArgumentTypeWarning)):
            text = _errors.in_cells(self, text)
        return text

    def begin_cell(self, info: Any) -> None:
        """Prepare for a cell."""
        text = getattr(info, "raw_cell", None) or ""
        self._lines_before = text[: len(text) - len(text.lstrip())].count("\n")
        self._last_launch = _newest_launch()
        if self.output is not None:
            self.output.begin()

    def end_cell(self, result: Any) -> None:
        """Wait for what the cell has launched, and show its errors.

        After an interrupt nothing is waited for.
        """
        failure = getattr(result, "error_in_exec", None)
        try:
            if isinstance(failure, KeyboardInterrupt):
                pass
            elif _newest_launch() != self._last_launch:
                wait()
        except (drv.Error, IndexError, KeyboardInterrupt) as error:
            if result is not None and result.success:
                # The cell has launched the work that failed, so the cell fails.
                if not isinstance(error, drv.Error):
                    _errors.shorten(self, error)
                result.error_in_exec = error
                self.shell.showtraceback((type(error), error, error.__traceback__))
        finally:
            if self.output is not None:
                self.output.end()

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

    def compile(self, body: str, options: Iterable[str], **arguments: Any) -> Cell:
        """Compile a cell of CUDA C, and give its kernels to the notebook."""
        make_context()
        text = "\n" * (self._lines_before + 1) + body
        cell = Cell(self, self._number_of_caller(), text)
        compile_cell(cell, options, **arguments)
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


# -- compiling -------------------------------------------------------------------------


def compile_cell(
    cell: Cell, options: Iterable[str], compiler: str | None = None, **arguments: Any
) -> None:
    """Compile a cell, and find its kernels.

    ``arguments`` are those of SourceModule. Without a choice of the compiler, NVRTC
    compiles if there is one, because it is fast. nvcc compiles what NVRTC refuses.
    """
    from pycuda.compiler import DEFAULT_NVCC_FLAGS

    chosen = [*DEFAULT_NVCC_FLAGS, *options]
    if not any(each in chosen for each in _LINE_OPTIONS):
        chosen.append("-lineinfo")  # errors of kernels then name the line
    found = _parameter_types.kernels(cell.text)
    is_cxx = _CXX.search(_parameter_types.COMMENTS.sub(" ", cell.text)) is not None
    arguments |= {"options": chosen, "no_extern_c": is_cxx}
    if is_cxx:
        arguments["name_expressions"] = [
            each.qualified for each in found if not each.is_template
        ]
    with _errors.messages(cell):
        cell.module = _compiled(cell.text, compiler, arguments)
    for each in found:
        kernel = _kernel_of(cell, each, is_cxx)
        if kernel is not None:
            cell.kernels[each.name] = kernel


def _compiled(
    text: str, compiler: str | None, arguments: dict[str, Any]
) -> SourceModule:
    from pycuda._compile import nvcc, nvrtc
    from pycuda.compiler import SourceModule

    if not compiler and os.environ.get("PYCUDA_COMPILER"):
        compiler = _driver._setting("PYCUDA_COMPILER")
    if compiler or nvrtc.find() is None:
        return SourceModule(text, compiler=compiler, **arguments)
    try:
        nvcc.find("nvcc")
        has_nvcc = True
    except drv.CompileError:
        has_nvcc = False
    if has_nvcc and _OF_HOST.search(text):
        return SourceModule(text, compiler="nvcc", **arguments)
    try:
        return SourceModule(text, compiler="nvrtc", **arguments)
    except drv.CompileError:
        if not has_nvcc:
            raise
    return SourceModule(text, compiler="nvcc", **arguments)


def _kernel_of(
    cell: Cell, found: _parameter_types.Kernel, is_cxx: bool
) -> Kernel | KernelTemplate | None:
    """Return a kernel, None if the preprocessor has removed it."""
    assert cell.module is not None
    if found.is_template:
        return KernelTemplate(found, cell)
    try:
        name = found.qualified if is_cxx else found.name
        function = cell.module.get_function(name)
    except drv.LogicError:
        return None
    parameters = parameters_of(cell, function, found.name)
    return Kernel(found.name, function, parameters, cell)
