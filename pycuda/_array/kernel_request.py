"""Kernels that C requests: the only entry of ``pycuda._driver`` into generated kernels.

A context that needs a kernel for the first time calls ``kernel_image`` with a record, a
``pycuda._driver._KernelRequest``. It keeps the loaded function. The rows of
``src/cpp_free_c/tables/kernel_request.h`` are the record's fields and their values.
"""

from __future__ import annotations

from pycuda._array.compilation import compile_text
from pycuda._array.sources.elementwise import elementwise_text
from pycuda._array.sources.fourier import fourier_text
from pycuda._array.sources.indexing import indexing_text
from pycuda._array.sources.joining import join_text
from pycuda._array.sources.mask import mask_text
from pycuda._array.sources.product import product_text
from pycuda._array.sources.reduction import reduction_text
from pycuda._array.sources.remapping import remap_text
from pycuda._array.sources.scan import scan_text
from pycuda._array.sources.search import count_text, search_text
from pycuda._array.sources.solver import solver_text
from pycuda._array.sources.sort import sort_text
from pycuda._array.sources.transpose import transpose_text
from pycuda._array.sources.triangle import triangle_text
from pycuda._driver import _KernelRequest

#: The function that writes the source, for each family of kernels.
TEXT_OF_FAMILY = {
    "elementwise": elementwise_text,
    "reduction": reduction_text,
    "transpose": transpose_text,
    "scan": scan_text,
    "mask": mask_text,
    "sort": sort_text,
    "product": product_text,
    "triangle": triangle_text,
    "fourier": fourier_text,
    "indexing": indexing_text,
    "join": join_text,
    "remap": remap_text,
    "search": search_text,
    "histogram": count_text,
    "solver": solver_text,
}

#: The compiler's options, for families that do not take those of compile_text. Fourier
#: transforms and solvers need no rounding of each product, and are more accurate
#: without.
OPTIONS_OF_FAMILY = {"fourier": ("-w",), "solver": ("-w",)}


def text_of(request: _KernelRequest) -> str:
    """Return the source of a requested kernel."""
    return TEXT_OF_FAMILY[request.family](request)


def kernel_image(request: _KernelRequest) -> bytes:
    """Return the image of a requested kernel for the current context's device."""
    options = OPTIONS_OF_FAMILY.get(request.family)
    if options is None:
        return compile_text(text_of(request))
    return compile_text(text_of(request), options)
