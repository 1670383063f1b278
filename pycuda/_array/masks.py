"""Masks: arrays of bool that choose elements."""

from __future__ import annotations

import numpy as np

from pycuda._array.layout import broadcast_to
from pycuda._driver import GPUArray, to_gpu


def as_mask(where):
    """Return a mask of bool on the device."""
    mask = where if isinstance(where, GPUArray) else np.asarray(where)
    if not isinstance(mask, GPUArray) and mask.ndim:
        raise TypeError("where must be a GPUArray of bool; copy it with to_gpu()")
    if mask.dtype != bool:
        raise TypeError(f"where must be of bool, not {mask.dtype}")
    return mask if isinstance(mask, GPUArray) else to_gpu(mask)


def mask_of(where, a):
    """Return a mask of an array's shape."""
    return broadcast_to(as_mask(where), a.shape)
