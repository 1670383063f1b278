"""Rows: reductions without NaN, searches in sorted arrays, and counts in bins."""

import numpy as np

from pycuda import gpuarray

from .rows_gpuarray import warm

NUMBERS = np.arange(24, dtype=np.float32).reshape(4, 6)


def numbers(w):
    return gpuarray.to_gpu(NUMBERS)


def flat(w):
    return gpuarray.to_gpu(NUMBERS.ravel())


def integers(w):
    return gpuarray.to_gpu(NUMBERS.astype(np.int32).ravel())


for _name, _call, _make in (
    ("nansum", gpuarray.nansum, numbers),
    ("nanvar, axis 0", lambda a: gpuarray.nanvar(a, 0), numbers),
    ("var, columns", lambda a: gpuarray.var(a.reshape(12, 2), 0), numbers),
    ("ptp", gpuarray.ptp, numbers),
    ("average", lambda a: gpuarray.average(a, weights=a), numbers),
    ("searchsorted", lambda a: gpuarray.searchsorted(a, a), flat),
    ("searchsorted of columns", lambda a: gpuarray.searchsorted(a[0], a.T), numbers),
    ("digitize", lambda a: gpuarray.digitize(a, a), flat),
    ("bincount", gpuarray.bincount, integers),
    ("bincount with weights", lambda a: gpuarray.bincount(a, a), integers),
    ("histogram", gpuarray.histogram, numbers),
    ("histogram with edges", lambda a: gpuarray.histogram(a.T, [0, 3, 9]), numbers),
):
    warm(f"pycuda.gpuarray: {_name}", _call, _make)
