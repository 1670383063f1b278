"""Masks: arrays of bool that select elements."""

from __future__ import annotations

import numpy as np

from pycuda._array.layout import broadcast_to
from pycuda._driver import GPUArray, to_gpu


def as_mask(where):
    """Return a ``where`` argument as a mask on the device."""
    is_array = isinstance(where, GPUArray)
    mask = where if is_array else np.asarray(where)
    if not is_array and mask.ndim:
        raise TypeError("where must be a GPUArray of bool; copy it with to_gpu()")
    if mask.dtype != bool:
        raise TypeError(f"where must be of bool, not {mask.dtype}")
    return mask if is_array else to_gpu(mask)


def mask_of(where, a):
    """Return a ``where`` argument as a mask, broadcast to an array's shape."""
    return broadcast_to(as_mask(where), a.shape)
