"""The CUDA driver interface: the public names of ``pycuda._driver``.

This file adds the error of a failed compilation, and the switch to debugging for all
later compilations.
"""

# ruff: noqa: F403, F405  the whole interface, under this name

import errno as _errno
import os as _os
import typing as _typing
from collections.abc import Sequence as _Sequence

try:
    from pycuda._driver import *
except ModuleNotFoundError as _error:
    if _error.name != "pycuda._driver":
        raise
    raise ModuleNotFoundError(
        "pycuda is not built for this Python: there is no module pycuda._driver. "
        "'python -m pycuda.doctor' names the step that repairs it",
        name=_error.name,
    ) from None
from pycuda._driver import (  # also what the stub leaves out of a star import
    Error as Error,
    GPUArray as GPUArray,
    MemoryError as MemoryError,
    RuntimeError as RuntimeError,
)
from pycuda._public import names_at_first_use as _names_at_first_use

if _typing.TYPE_CHECKING:
    from pycuda._texture_arrays import *
else:
    __getattr__ = _names_at_first_use(
        globals(),
        {
            "pycuda._texture_arrays": (
                "bind_array_to_texref dtype_to_array_format gpuarray_to_array "
                "gpuarray_to_texref make_multichannel_2d_array matrix_to_array "
                "matrix_to_texref np_to_array"
            ),
        },
        unlisted="ArrayFlags GPUArray matmul to_gpu to_gpu_async",  # of gpuarray
    )

CUDA_DEBUGGING = False


def set_debugging(flag: bool = True) -> None:
    """Make compilations carry debug information, keep files and skip the cache.

    Parameters
    ----------
    flag : bool, optional
        False ends it. The default is True.

    See Also
    --------
    pycuda.debug : Run a program so from the command line.

    Notes
    -----
    It holds for all compilations of the process that follow.
    """
    global CUDA_DEBUGGING
    CUDA_DEBUGGING = flag


class ArgumentTypeWarning(UserWarning):
    """An argument of a kernel is of another type than its parameter."""


if "PYCUDA_CHECK_LOG" in _os.environ:
    from pycuda._warning import keep_in_log as _keep_in_log

    _keep_in_log(ArgumentTypeWarning)

_MOST_LINES = 8  # of a compiler's text below an excerpt, which has the first errors


def _first_lines(text: str, attribute: str) -> str:
    """Return the first lines of a compiler's text, and where the others are."""
    lines = text.split("\n")
    if len(lines) <= _MOST_LINES + 1:
        return text
    more = len(lines) - _MOST_LINES
    note = f"... {more} more lines, in the attribute {attribute} of this error"
    return "\n".join([*lines[:_MOST_LINES], note])


class CompileError(Error):
    """A compiler refused a source.

    The text of the error shows the lines in question with the compiler's messages, and
    the beginning of the compiler's own text.

    Parameters
    ----------
    msg, command_line, stdout, stderr, source : optional
        Values of the attributes.

    Attributes
    ----------
    msg : str
        What happened.
    command_line : list of str
        The compiler's arguments.
    stdout : str, bytes or None
        What the compiler printed.
    stderr : str, bytes or None
        What the compiler reported.
    source : str, bytes or None
        The text that was compiled.

    See Also
    --------
    pycuda.compiler.compile : Raises it.

    Examples
    --------
    >>> from pycuda.compiler import SourceModule
    >>> try:
    ...     SourceModule("__global__ void f() { x = 1; }")
    ... except drv.CompileError as error:
    ...     print("undefined" in error.stderr)
    True
    """

    def __init__(
        self,
        msg: str,
        command_line: _Sequence[str],
        stdout: str | bytes | None = None,
        stderr: str | bytes | None = None,
        source: str | bytes | None = None,
    ) -> None:
        super().__init__(msg, command_line, stdout, stderr)
        self.msg = msg
        self.command_line = command_line
        self.stdout = stdout
        self.stderr = stderr
        self.source = source

    def __str__(self) -> str:
        sections = [self.msg]
        excerpt = self._excerpt()
        if excerpt:
            sections.append(excerpt)
        if self.command_line:
            command = " ".join(map(str, self.command_line))
            folder = _os.path.dirname(str(self.command_line[-1]))
            if folder and not _os.path.exists(folder):  # the source was in a string
                command = command.replace(folder + _os.sep, "")
            sections.append(f"[command: {command}]")
        for name in ("stdout", "stderr"):
            text = getattr(self, name)
            if text:
                shown = _as_text(text).rstrip()
                if excerpt:
                    shown = _first_lines(shown, name)
                sections.append(f"[{name}:\n{shown}]")
        return "\n".join(sections)

    def _excerpt(self) -> str:
        """Return the lines of the source that the compiler's errors are about."""
        if not self.source or not self.stderr:
            return ""
        from pycuda import _excerpt

        nvrtc = list(self.command_line or ())[:1] == ["nvrtc"]
        source, said = _as_text(self.source), _as_text(self.stderr)
        return _excerpt.of_source(source, said, nvrtc)


class CompilerNotFoundError(CompileError, FileNotFoundError):
    """No compiler was found.

    Also a FileNotFoundError: that is what starting a missing program raises, so
    programs that probe for nvcc may catch either.

    Parameters
    ----------
    msg : str
        What happened.
    command_line : list of str
        The arguments of the compiler that was to be started.
    filename : str, optional
        Name of its program. The default is "nvcc".

    See Also
    --------
    CompileError : A compiler refused a source.
    """

    errno: int | None

    def __init__(
        self, msg: str, command_line: _Sequence[str], filename: str = "nvcc"
    ) -> None:
        super().__init__(msg, command_line)
        self.errno = _errno.ENOENT
        self.filename = filename

    def __str__(self) -> str:
        return self.msg  # no command was run


def _as_text(text: str | bytes) -> str:
    return text.decode(errors="replace") if isinstance(text, bytes) else text
