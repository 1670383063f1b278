"""Compilation of kernels: those that C requests, and those with a program's code.

No other file of ``pycuda._array`` imports the compiler. ``pycuda._random`` and
``pycuda.sparse`` compile their kernels by ``load`` too.

``kernel_images`` is the only entry of ``pycuda._driver`` into generated kernels. A
context that needs kernels for the first time calls it with a record for each, a
``pycuda._driver._KernelRequest``, and keeps the loaded functions. The rows of
``src/cpp_free_c/tables/kernel_request.h`` are the record's fields and their values.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING

from pycuda._compile import bundle
from pycuda._compile.build import build, is_kept, prepare
from pycuda._compile.request import CompileRequest
from pycuda._driver import _KernelRequest
from pycuda._warning import pass_on
from pycuda.driver import CompileError as CompileError, CompilerNotFoundError

if TYPE_CHECKING:
    from pycuda.compiler import SourceModule as SourceModule

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
    return compile_texts([(text, options, quick)])[0]


def compile_texts(
    sources: Iterable[tuple[str, tuple[str, ...], bool]],
) -> list[bytes]:
    """Return the images of generated sources for the current context's device.

    ``sources`` are arguments of ``compile_text``. As many are compiled side by side as
    this process has processors; the largest should be the first.
    """
    compilations = [_prepared(*each) for each in sources]
    if len(compilations) < 2 or all(map(is_kept, compilations)):
        results = [*map(build, compilations)]
    else:
        from concurrent.futures import ThreadPoolExecutor

        count = min(len(compilations), len(os.sched_getaffinity(0)))
        with ThreadPoolExecutor(count, "pycuda compilation") as pool:
            results = [*pool.map(build, compilations)]
    for _, _, messages in results:
        pass_on(messages)
    return [image for image, _, _ in results]


def load(
    text: str, options: Iterable[str] | None = None, keep: bool = False
) -> SourceModule:
    """Return the SourceModule of a source that contains a program's code.

    NVRTC compiles it ten times faster than nvcc. If NVRTC fails, because the source
    needs a header or an option that only nvcc has, nvcc compiles it. The error is then
    that of nvcc.
    """
    from pycuda import compiler

    try:
        return compiler.SourceModule(
            text, options=options, keep=keep, no_extern_c=True, compiler="nvrtc"
        )
    except CompileError as error:
        refusal = error
    try:
        return compiler.SourceModule(
            text, options=options, keep=keep, no_extern_c=True, compiler="nvcc"
        )
    except CompilerNotFoundError:
        raise refusal from None


# -- kernels that C requests -----------------------------------------------------------


#: The writer of the source, for each family of kernels: a module of
#: pycuda._array.sources, which is imported when it is needed, and its function.
WRITER_OF_FAMILY = {
    "elementwise": ("elementwise", "elementwise_text"),
    "reduction": ("reduction", "reduction_text"),
    "transpose": ("moving", "transpose_text"),
    "scan": ("scan", "scan_text"),
    "mask": ("mask", "mask_text"),
    "sort": ("ordering", "sort_text"),
    "product": ("matrices", "product_text"),
    "triangle": ("moving", "triangle_text"),
    "fourier": ("fourier", "fourier_text"),
    "indexing": ("indexing", "indexing_text"),
    "join": ("moving", "join_text"),
    "remap": ("moving", "remap_text"),
    "search": ("ordering", "search_text"),
    "histogram": ("ordering", "count_text"),
    "cross": ("matrices", "cross_text"),
    "elementwise_tiles": ("elementwise_tiles", "elementwise_tiles_text"),
    "elementwise_rows": ("elementwise_rows", "elementwise_rows_text"),
    "solver": ("matrices", "solver_text"),
    "quantile": ("ordering", "quantile_text"),
    "selection": ("ordering", "few_text"),
}

#: The compiler's options, for families that do not take those of compile_text. Fourier
#: transforms and solvers need no rounding of each product, and are more accurate
#: without.
OPTIONS_OF_FAMILY = {"fourier": ("-w",), "solver": ("-w",)}

#: The kernels that the compiler optimizes less. They are compiled in half the time, and
#: were 1 to 2 % slower on an H200.
QUICK_VARIANTS = {"sort_pass", "sort_count", "sort_block"}


def text_of(request: _KernelRequest) -> str:
    """Return the source of a requested kernel."""
    module, function = WRITER_OF_FAMILY[request.family]
    write = getattr(import_module(f"pycuda._array.sources.{module}"), function)
    return write(request)


def may_differ() -> bool:
    """Return whether the software device may have kernels that a GPU does not have.

    It may not while a bundle has the kernels, or is being made, and while the software
    device counts what a kernel would cost on a GPU.
    """
    variables = ("PYCUDA_RECORD", "PYCUDA_EMULATOR_COUNT")
    return not (any(map(os.environ.get, variables)) or bundle.in_use())


def _compilation_arguments(request):
    """Return the arguments of the functions that compile a requested kernel."""
    options = OPTIONS_OF_FAMILY.get(request.family, OPTIONS)
    return text_of(request), options, request.variant in QUICK_VARIANTS


def kernel_images(requests: tuple[_KernelRequest, ...]) -> tuple[bytes, ...]:
    """Return the images of requested kernels, compiled side by side."""
    return tuple(compile_texts(map(_compilation_arguments, requests)))
