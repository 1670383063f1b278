"""The magic ``%%cuda``: its line, and what it does."""

from __future__ import annotations

import argparse
import contextlib
import keyword
import shlex
import sys
import warnings
from typing import Any, NoReturn

import pycuda.notebook._errors as _errors
import pycuda.notebook._lines as _lines
from pycuda.notebook._cell import Cell
from pycuda.notebook._session import Session

_NAME = "cuda"
_NO_KERNEL = (
    "This cell has no kernel (a __global__ function), so it defines nothing. Other "
    "cells do not see its functions."
)
_SHAPE = ("block", "grid", "threads", "shared")


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are those of a magic."""

    def error(self, message: str) -> NoReturn:
        raise _errors.brief(ValueError(f"{message}. %cuda lists the options"))


def _parser() -> _Parser:
    parser = _Parser(
        prog="%%cuda",
        description="Compile the cell as CUDA C. Its kernels become functions of the "
        "notebook.",
        epilog="Other options are passed to the compiler.",
        add_help=False,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        "--run",
        nargs="?",
        const="",
        metavar="KERNEL",
        help="run a kernel of the cell; its arguments are the variables of the "
        "notebook that have the names of its parameters",
    )
    add(
        "--block",
        metavar="SHAPE",
        help="the block, an expression of Python, in quotes if it has spaces: "
        '"(16, 16)"',
    )
    add("--grid", metavar="SHAPE", help="the grid, such an expression, too")
    add(
        "--threads",
        metavar="SHAPE",
        help="the number of threads, instead of the grid; by default that of the "
        "elements of the largest array",
    )
    add("--shared", metavar="BYTES", help="the bytes of dynamic shared memory")
    add("--time", action="store_true", help="print how long the kernel took")
    add(
        "--lines",
        action="store_true",
        help="run the kernel on the software device, and show what each line costs",
    )
    add(
        "-D",
        dest="macros",
        action="append",
        default=[],
        metavar="NAME[=VALUE]",
        help="define a macro; {name} is the value of a variable",
    )
    add(
        "-I",
        dest="folders",
        action="append",
        default=[],
        metavar="FOLDER",
        help="a folder of headers",
    )
    add("--compiler", choices=("nvcc", "nvrtc"), help="the compiler")
    add("--arch", metavar="SM", help="the architecture, such as sm_80")
    add(
        "--module",
        metavar="NAME",
        help="assign the SourceModule of the cell to a name",
    )
    return parser


class CudaMagic:
    """The magic of one shell."""

    def __init__(self, shell: Any) -> None:
        self._session = Session(shell)
        self._shell = shell
        self._parser = _parser()

    def load(self) -> None:
        """Connect to the shell, and make the magic known to it."""
        self._session.load()

        def cuda(line: str, cell: str | None = None) -> None:
            if cell is None:  # %cuda
                print(self._parser.format_help())
            else:
                self.run(line, cell)

        cuda.__doc__ = self._parser.format_help()
        self._shell.register_magic_function(cuda, "line_cell", _NAME)

    def unload(self) -> None:
        """Remove the magic, and disconnect from the shell."""
        for known in self._shell.magics_manager.magics.values():
            known.pop(_NAME, None)
        self._session.unload()

    def run(self, line: str, cell: str) -> None:
        """Compile a cell, and run a kernel if the line says so."""
        try:
            words = shlex.split(line)
        except ValueError as error:
            text = f"the line %%cuda {line} cannot be read: {error}"
            raise _errors.brief(ValueError(text)) from None
        given, options = self._parser.parse_known_args(words)
        _refuse_words(options)
        if given.module and not _is_name(given.module):
            text = f"--module {given.module} is not a name that Python can assign"
            raise _errors.brief(ValueError(text))
        if given.lines:
            _lines.refuse_gpu()
            given.run = given.run or ""
        if given.run is None:
            self._refuse_shape(given)
        options += [f"-D{each}" for each in given.macros]

        def compiled() -> Cell:
            made = self._session.compile(
                cell,
                options,
                include_dirs=given.folders or None,
                compiler=given.compiler,
                arch=given.arch,
            )
            if given.module:
                self._shell.push({given.module: made.module})
            elif not made.kernels and given.run is None:
                print(_NO_KERNEL, file=sys.stderr)
            return made

        counting = _lines.counting() if given.lines else contextlib.nullcontext()
        with counting as counts:
            made = compiled()
            if given.run is not None:
                shape = {
                    name: self._value(getattr(given, name), name)
                    for name in _SHAPE
                    if getattr(given, name) is not None
                }
                self._session.run(made, given.run, shape, given.time)
            if counts is not None:
                counts.show(made)
        if counts is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the compiler has said it before
                compiled()  # other cells run kernels that do not count

    def _refuse_shape(self, given: argparse.Namespace) -> None:
        for name in (*_SHAPE, "time"):
            if getattr(given, name):
                text = f"--{name} is for --run. Add --run, or pass it to the function"
                raise _errors.brief(ValueError(text))

    def _value(self, text: str, name: str) -> Any:
        """Return the value of an expression of the magic's line."""
        try:
            return self._shell.ev(text)
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            raise _errors.brief(
                ValueError(f"--{name} {text} is not an expression of Python: {said}")
            ) from None


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _refuse_words(options: list[str]) -> None:
    """Raise ValueError for a word that is no option and no value of one."""
    before = ""
    for word in options:
        if not word.startswith("-") and not before.startswith("-"):
            text = f"the word {word!r} is no option. %cuda lists the options"
            if word.endswith((")", "]")):
                text = f"the word {word!r} is no option. Put an expression with spaces "
                text += 'in quotes, such as --block "(16, 16)"'
            raise _errors.brief(ValueError(text))
        before = word
