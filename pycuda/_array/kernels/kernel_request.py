"""Kernels that C requests: the only entry of ``pycuda._driver`` into generated kernels.

A context that needs kernels for the first time calls ``kernel_image`` or
``kernel_images`` with a record for each, a ``pycuda._driver._KernelRequest``. It keeps
the loaded functions. The rows of ``src/cpp_free_c/tables/kernel_request.h`` are the
record's fields and their values.
"""

from __future__ import annotations

from importlib import import_module

from pycuda._array.kernels.compilation import (
    OPTIONS,
    BackgroundCompilation,
    compile_text,
)
from pycuda._driver import _KernelRequest

#: The writer of the source, for each family of kernels: a module of
#: pycuda._array.sources, which is imported when it is needed, and its function.
WRITER_OF_FAMILY = {
    "elementwise": ("elementwise", "elementwise_text"),
    "reduction": ("reduction", "reduction_text"),
    "transpose": ("transpose", "transpose_text"),
    "scan": ("scan", "scan_text"),
    "mask": ("mask", "mask_text"),
    "sort": ("sort", "sort_text"),
    "product": ("product", "product_text"),
    "triangle": ("triangle", "triangle_text"),
    "fourier": ("fourier", "fourier_text"),
    "indexing": ("indexing", "indexing_text"),
    "join": ("joining", "join_text"),
    "remap": ("remapping", "remap_text"),
    "search": ("search", "search_text"),
    "histogram": ("search", "count_text"),
    "cross": ("cross", "cross_text"),
    "elementwise_tiles": ("elementwise_tiles", "elementwise_tiles_text"),
    "solver": ("solver", "solver_text"),
    "quantile": ("quantile", "quantile_text"),
    "selection": ("selection", "few_text"),
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


def kernel_image(request: _KernelRequest) -> bytes:
    """Return the image of a requested kernel for the current context's device."""
    return compile_text(*_arguments(request))


def _arguments(request):
    """Return the arguments of the functions that compile a requested kernel."""
    options = OPTIONS_OF_FAMILY.get(request.family, OPTIONS)
    return text_of(request), options, request.variant in QUICK_VARIANTS


def kernel_images(requests: tuple[_KernelRequest, ...]) -> tuple[bytes, ...]:
    """Return the images of requested kernels, compiled side by side.

    This thread compiles the last one. Other threads begin with the others before it, so
    the first request is that of the largest kernel.
    """
    others: list[BackgroundCompilation] = []
    try:
        for request in requests[:-1]:
            others.append(BackgroundCompilation(*_arguments(request)))
        last = kernel_image(requests[-1])
    finally:
        for other in others:
            other.wait()
    return (*(other.image() for other in others), last)
