"""Cells of CUDA C: their text, their kernels, their module."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pycuda import _excerpt, _parameter_types, driver as drv
from pycuda.notebook import _errors
from pycuda.notebook._kernel import (
    Kernel,
    KernelTemplate,
    parameters_of,
)

if TYPE_CHECKING:
    from pycuda.compiler import SourceModule
    from pycuda.notebook._session import Session

#: What a source has that cannot be inside of extern "C".
_CXX = re.compile(
    r'\btemplate\b|\bnamespace\b|\bextern\s*"C"|^\s*#\s*include|\boperator\b',
    re.MULTILINE,
)
_LINE_OPTIONS = ("-lineinfo", "--generate-line-info", "-G", "--device-debug")


class Cell:
    """A cell of CUDA C.

    ``text`` has an empty line for each line of the cell before the CUDA C, so that the
    numbers of lines are those of the cell.
    """

    def __init__(self, notebook: Session, number: int | None, text: str) -> None:
        self.notebook = notebook
        self.number = number
        self.text = text
        self.module: SourceModule | None = None
        self.kernels: dict[str, Kernel | KernelTemplate] = {}

    @property
    def title(self) -> str:
        """How messages name the cell."""
        return "Cell" if self.number is None else f"Cell In[{self.number}]"

    def compile(
        self, options: Iterable[str], compiler: str | None = None, **arguments: Any
    ) -> None:
        """Compile the cell, and find its kernels.

        ``arguments`` are those of SourceModule. Without a choice of the compiler, NVRTC
        compiles if there is one, because it is fast. nvcc compiles what NVRTC refuses.
        """
        from pycuda.compiler import DEFAULT_NVCC_FLAGS

        chosen = [*DEFAULT_NVCC_FLAGS, *options]
        if not any(each in chosen for each in _LINE_OPTIONS):
            chosen.append("-lineinfo")  # errors of kernels then name the line
        found = _parameter_types.kernels(self.text)
        is_cxx = _CXX.search(_parameter_types.COMMENTS.sub(" ", self.text)) is not None
        arguments |= {"options": chosen, "no_extern_c": is_cxx}
        if is_cxx:
            arguments["name_expressions"] = [
                each.qualified for each in found if not each.is_template
            ]
        with self.messages():
            self.module = self._compiled(compiler, arguments)
        for each in found:
            kernel = self._kernel(each, is_cxx)
            if kernel is not None:
                self.kernels[each.name] = kernel

    def _compiled(
        self, compiler: str | None, arguments: dict[str, Any]
    ) -> SourceModule:
        from pycuda._compile import nvcc, nvrtc
        from pycuda.compiler import SourceModule

        compiler = compiler or os.environ.get("PYCUDA_COMPILER")
        if compiler or nvrtc.find() is None:
            return SourceModule(self.text, compiler=compiler, **arguments)
        try:
            return SourceModule(self.text, compiler="nvrtc", **arguments)
        except drv.CompileError as error:
            try:
                nvcc.find("nvcc")
            except drv.CompileError:
                raise error from None
        return SourceModule(self.text, compiler="nvcc", **arguments)

    @contextlib.contextmanager
    def messages(self) -> Iterator[None]:
        """Show the messages of a compiler with the name of the cell."""
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                yield
            except drv.CompileError as error:
                raise _errors.of_compiler(error, self) from None
        for each in said:
            print(self.named(str(each.message)), file=sys.stderr)

    def _kernel(
        self, found: _parameter_types.Kernel, is_cxx: bool
    ) -> Kernel | KernelTemplate | None:
        """Return a kernel, None if the preprocessor has removed it."""
        assert self.module is not None
        if found.is_template:
            return KernelTemplate(found, self)
        try:
            name = found.qualified if is_cxx else found.name
            function = self.module.get_function(name)
        except drv.LogicError:
            return None
        parameters = parameters_of(self, function, found.name)
        return Kernel(found.name, function, parameters, self)

    def all_kernels(self) -> Iterator[Kernel]:
        """Yield the kernels, and those that were made of templates."""
        for each in self.kernels.values():
            if isinstance(each, Kernel):
                yield each
            else:
                yield from each.kernels.values()

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
