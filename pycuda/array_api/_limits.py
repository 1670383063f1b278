"""clip() with bounds of another data type than the array's; C does the other calls."""

from __future__ import annotations

import numpy as np

from pycuda._driver import _maximum, _minimum
from pycuda.gpuarray import GPUArray


def _limit(x: GPUArray, bound: GPUArray | float | None, is_upper: bool) -> GPUArray:
    """Return the elements, replaced by a bound where they are beyond it."""
    if bound is None:
        return x
    if not isinstance(bound, GPUArray) and x.dtype.kind in "iu":
        limits = np.iinfo(x.dtype)
        if bound <= limits.min if not is_upper else bound >= limits.max:
            return x
        if not limits.min <= bound <= limits.max:
            bound = limits.min if bound < limits.min else limits.max
    result = _minimum(x, bound) if is_upper else _maximum(x, bound)
    return result if result.dtype == x.dtype else result.astype(x.dtype)


def clip(
    x: GPUArray,
    min: GPUArray | float | None,
    max: GPUArray | float | None,
) -> GPUArray:
    """Return the elements, limited to the range from ``min`` to ``max``."""
    result = _limit(_limit(x, min, False), max, True)
    return x.copy() if result is x else result
