"""Rows: reductions without NaN, quantiles, searches among sorted elements, counts."""

import numpy as np

from pycuda import gpuarray

from .rows_gpuarray import warm

NUMBERS = np.arange(24, dtype=np.float32).reshape(4, 6)


def numbers(w):
    return gpuarray.to_gpu(NUMBERS)


def lines(w):
    """Lines that are sorted by another kernel than that of their quantiles."""
    return gpuarray.to_gpu(np.arange(900, dtype=np.float32).reshape(3, 300))


def long(w):
    return gpuarray.to_gpu(np.arange(20000, dtype=np.float32))


def flat(w):
    return gpuarray.to_gpu(NUMBERS.ravel())


def integers(w):
    return gpuarray.to_gpu(NUMBERS.astype(np.int32).ravel())


for _name, _call, _make in (
    ("nansum", gpuarray.nansum, numbers),
    ("nanvar, axis 0", lambda a: gpuarray.nanvar(a, 0), numbers),
    ("nanstd", gpuarray.nanstd, numbers),
    ("corrcoef", gpuarray.corrcoef, numbers),
    ("var, columns", lambda a: gpuarray.var(a.reshape(12, 2), 0), numbers),
    ("ptp", gpuarray.ptp, numbers),
    ("average", lambda a: gpuarray.average(a, weights=a), numbers),
    ("median", lambda a: gpuarray.median(a.T, 0), numbers),
    ("nanquantile", lambda a: gpuarray.nanquantile(a, [0.5, 1.0], 1), lines),
    (
        "percentile",
        lambda a: gpuarray.percentile(a, [10, 20], out=gpuarray.empty(2, np.float32)),
        flat,
    ),
    ("top_k", lambda a: gpuarray.top_k(a, 3), flat),
    ("top_k of a long array", lambda a: gpuarray.top_k(a, 3), long),
    ("searchsorted", lambda a: gpuarray.searchsorted(a, a), flat),
    ("searchsorted of columns", lambda a: gpuarray.searchsorted(a[0], a.T), numbers),
    ("digitize", lambda a: gpuarray.digitize(a, a), flat),
    ("bincount", gpuarray.bincount, integers),
    ("bincount with weights", lambda a: gpuarray.bincount(a, a), integers),
    ("histogram", gpuarray.histogram, numbers),
    ("histogram with edges", lambda a: gpuarray.histogram(a.T, [0, 3, 9]), numbers),
):
    warm(f"pycuda.gpuarray: {_name}", _call, _make)
