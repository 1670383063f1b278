"""Compilation of kernels: of generated sources, and of sources with a program's code.

No other file of ``pycuda._array`` imports the compiler. ``pycuda._random`` and
``pycuda.sparse`` compile their kernels by ``load`` too.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

from pycuda import compiler
from pycuda._compile import nvrtc  # noqa: F401  loaded before the first kernel
from pycuda._compile.build import build, prepare
from pycuda._compile.request import CompileRequest
from pycuda._compile.warning import pass_on
from pycuda.compiler import SourceModule as SourceModule
from pycuda.driver import CompileError as CompileError, CompilerNotFoundError

# Without -fmad=false, results would depend on whether the compiler contracts a product
# and a sum. -w: a program cannot change the templates that the compiler warns about.
OPTIONS = ("-fmad=false", "-w")


def _prepared(text, options, quick):
    """Return the Compilation of a source; see ``compile_text``."""
    return prepare(
        CompileRequest(
            text, options=options, no_extern_c=True, quick=quick, compiler="nvrtc"
        )
    )


def compile_text(text, options=OPTIONS, quick=False):
    """Return the image of a generated source for the current context's device.

    With ``quick`` the compiler leaves out slow optimizations, if it can.
    """
    image, _, messages = build(_prepared(text, options, quick))
    pass_on(messages)
    return image


class BackgroundCompilation:
    """A generated source that another thread compiles for the current context's device.

    ``image()`` waits for the thread, and returns the image or raises its exception.
    """

    def __init__(self, text, options=OPTIONS, quick=False):
        self._compilation = _prepared(text, options, quick)
        self._built = self._error = None
        self._thread = threading.Thread(target=self._run, name="pycuda compilation")
        self._thread.start()

    def _run(self):
        try:
            self._built = build(self._compilation)
        except Exception as error:
            self._error = error

    def wait(self):
        """Wait for the thread."""
        self._thread.join()

    def image(self):
        """Return the image."""
        self.wait()
        if self._error is not None:
            raise self._error
        image, _, messages = self._built
        pass_on(messages)
        return image


def load(
    text: str, options: Iterable[str] | None = None, keep: bool = False
) -> compiler.SourceModule:
    """Return the SourceModule of a source that contains a program's code.

    NVRTC compiles it ten times faster than nvcc. If NVRTC fails, because the source
    needs a header or an option that only nvcc has, nvcc compiles it. The error is then
    that of nvcc.
    """
    try:
        return compiler.SourceModule(
            text, options=options, keep=keep, no_extern_c=True, compiler="nvrtc"
        )
    except CompileError as error:
        try:
            return compiler.SourceModule(
                text, options=options, keep=keep, no_extern_c=True, compiler="nvcc"
            )
        except CompilerNotFoundError:
            raise error from None
