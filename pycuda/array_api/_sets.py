"""Set functions of the standard."""

from __future__ import annotations

from typing import Any

import numpy as np

import pycuda.gpuarray as _ga
from pycuda.gpuarray import GPUArray


def isin(
    x1: GPUArray | complex, x2: GPUArray | complex, /, *, invert: bool = False
) -> GPUArray:
    """Return for each element of ``x1`` whether it is in ``x2``.

    With ``invert`` return whether it is not. One of the two may be a number. NaN is in
    no array.
    """
    dtype = np.result_type(
        *(x.dtype if isinstance(x, GPUArray) else x for x in (x1, x2))
    )
    return _ga.isin(_ga.asarray(x1, dtype), _ga.asarray(x2, dtype), invert=invert)


def unique_all(x: GPUArray, /) -> Any:
    """Return (values, indices, inverse_indices, counts) of the distinct elements.

    ``values`` is sorted. ``indices`` are those of the first occurrences in the flat
    array, ``inverse_indices`` has the shape of ``x`` and gives it back from ``values``,
    ``counts`` are the numbers of occurrences. Each NaN is distinct.
    """
    return _ga.unique_all(x)


def unique_counts(x: GPUArray, /) -> Any:
    """Return (values, counts) of the distinct elements: see ``unique_all``."""
    return _ga.unique_counts(x)


def unique_inverse(x: GPUArray, /) -> Any:
    """Return (values, inverse_indices) of the distinct elements: see ``unique_all``."""
    return _ga.unique_inverse(x)


def unique_values(x: GPUArray, /) -> GPUArray:
    """Return the distinct elements, sorted. Each NaN is distinct."""
    return _ga.unique_values(x)
