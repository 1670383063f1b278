"""Kernels that C asks for: the entry of ``pycuda._driver`` into this package.

``pycuda._driver`` calls ``image_of`` when a context meets a kernel for the first time,
and keeps the loaded function.
"""

from __future__ import annotations

from pycuda._array.compilation import compile_text
from pycuda._array.kernel_text import (
    elementwise_text,
    reduction_text,
    transpose_text,
)

# As pcu_family of py/kernels.h numbers them.
_ELEMENTWISE, _REDUCTION, _TRANSPOSE = range(3)


def image_of(family, op, types, nin, kinds, compute, ndim, wide, vec, spare, raw):
    """Return the image of a kernel for the current context's device.

    ``types`` are the names of the dtypes of inputs and outputs, ``kinds`` says how each
    is passed. ``ndim`` of 0 is a flat kernel, which handles ``vec`` elements a thread.
    ``spare`` are the numbers of a reduction: axes that stay, kernel, partial results,
    loads past the caches; or the side of a transpose's tile, of elements of ``raw``
    bytes.
    """
    if family == _ELEMENTWISE:
        text = elementwise_text(op, types, nin, kinds, compute, ndim, wide, vec)
    elif family == _TRANSPOSE:
        text = transpose_text(raw, spare[0], vec, ndim)
    else:
        text = reduction_text(op, types, nin, compute, ndim, wide, vec, *spare[:4])
    return compile_text(text)
