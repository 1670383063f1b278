"""Searches in sorted arrays with numbers and sequences of the host.

``pycuda.gpuarray.searchsorted`` and ``digitize`` are C functions, which call these for
arguments that are not on the device.
"""

from __future__ import annotations

import numpy as np

from pycuda._driver import (
    GPUArray,
    _digitize,
    _searchsorted,
    to_gpu,
)


def _on_device(value, allocator):
    """Return a number or a sequence as a GPUArray."""
    if isinstance(value, GPUArray):
        return value
    return to_gpu(np.asarray(value), allocator)


def searchsorted(a, v, side="left", sorter=None, *, stream=None, allocator=None):
    """Return the place at which a number goes into a sorted array."""
    values = _on_device(v, allocator)
    return _searchsorted(a, values, side, sorter, stream=stream, allocator=allocator)


def digitize(x, bins, right=False, *, stream=None, allocator=None):
    """Return the numbers of bins, whose edges may be on the host."""
    if not isinstance(bins, GPUArray):
        bins = np.asarray(bins)
        if bins.ndim != 1:
            raise ValueError(f"digitize: bins must have one axis, not {bins.ndim}")
        rises = bins[1:] >= bins[:-1]
        if not (rises.all() or (bins[1:] <= bins[:-1]).all()):
            raise ValueError(
                "digitize: bins must rise or fall monotonically; sort them first"
            )
        bins = to_gpu(bins, allocator)
    if not isinstance(x, GPUArray):
        if isinstance(x, np.ndarray | list | tuple):
            raise TypeError(
                f"digitize takes a GPUArray, not {type(x).__name__}; copy it with "
                "to_gpu()"
            )
        x = _on_device(x, allocator)
    return _digitize(x, bins, right, stream=stream, allocator=allocator)
