"""Compilation of the texts of kernels: generated ones, and those of programs."""

from __future__ import annotations

from collections.abc import Iterable

from pycuda import _nvrtc, compiler  # noqa: F401  NVRTC: loaded before the first kernel
from pycuda.compiler import SourceModule as SourceModule
from pycuda.driver import CompileError as CompileError, CompilerNotFoundError

# Results must not depend on whether a compiler contracts a product and a sum; and what
# it warns of in templates is nothing that a program could change.
_OPTIONS = ("-fmad=false", "-w")


def compile_text(text, options=_OPTIONS):
    """Return the image of a source for the current context's device."""
    return compiler._compile(
        text, ("nvcc", "nvrtc"), options, False, True, (None, None, None), None, None
    )


def load(
    text: str, options: Iterable[str] | None = None, keep: bool = False
) -> compiler.SourceModule:
    """Return the SourceModule of a text that holds a program's own code.

    NVRTC compiles it in a tenth of the time; where it cannot, because the text wants a
    header or an option that only nvcc has, nvcc does, and its words count.
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
