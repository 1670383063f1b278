"""Kernels that C requests: the only entry of ``pycuda._driver`` into generated kernels.

A context that needs a kernel for the first time calls ``image_of``. It keeps the loaded
function.
"""

from __future__ import annotations

from pycuda._array.compilation import compile_text
from pycuda._array.elementwise_text import elementwise_text
from pycuda._array.reduction_text import reduction_text
from pycuda._array.transpose_text import transpose_text

# The values of pcu_family in kernels.h.
_ELEMENTWISE, _REDUCTION, _TRANSPOSE = range(3)


def image_of(family, op, types, nin, kinds, compute, ndim, wide, vec, spare, raw):
    """Return the image of a kernel for the current context's device.

    ``elementwise_text`` describes the arguments up to ``vec``. ``spare`` has four
    numbers for a reduction: the kept axes, the variant, partial results, streaming
    loads. For a transpose its first number is the side of a tile, and ``raw`` is the
    size of an element in bytes.
    """
    if family == _ELEMENTWISE:
        text = elementwise_text(op, types, nin, kinds, compute, ndim, wide, vec)
    elif family == _TRANSPOSE:
        text = transpose_text(raw, spare[0], vec, ndim)
    else:
        text = reduction_text(op, types, nin, compute, ndim, wide, vec, *spare[:4])
    return compile_text(text)
