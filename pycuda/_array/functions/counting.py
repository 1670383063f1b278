"""Counts of elements in bins: ``bincount`` and the histograms."""

from __future__ import annotations

import functools
import operator
import warnings

import numpy as np

from pycuda._array.creation import zeros
from pycuda._array.functions.bin_widths import count_of_bins
from pycuda._array.streams import on_stream
from pycuda._driver import (
    GPUArray,
    _any,
    _array_reductions,
    _count,
    _max,
    _min,
    _reduce,
    to_gpu,
)


def _require_array(name, what, value):
    """Raise TypeError unless an argument is a GPUArray."""
    if not isinstance(value, GPUArray):
        kind = type(value).__name__
        raise TypeError(f"{name}: {what} must be a GPUArray, not {kind}; use to_gpu()")


def bincount(x, weights=None, minlength=0, *, stream=None, allocator=None):
    """Return how often each number from 0 to the greatest is in an array of integers.

    ``x`` has one axis and no negative elements. The result has ``max(x) + 1`` elements,
    at least ``minlength``: int64, or float64 sums of the ``weights`` of the elements.
    The length is not known before the greatest element is, so the call waits for it.
    Weighted sums may differ in the last bits between calls. ValueError for negative
    elements and for shapes that do not fit, TypeError for dtypes other than bool and
    integers that int64 holds.
    """
    _require_array("bincount", "x", x)
    if weights is not None:
        _require_array("bincount", "weights", weights)
        if weights.dtype.kind not in "biuf":
            raise TypeError(f"bincount: weights of dtype {weights.dtype} are not real")
    if x.ndim != 1:
        raise ValueError(f"bincount: x must have one axis, not shape {x.shape}")
    if x.dtype.kind not in "biu" or x.dtype == np.uint64:
        raise TypeError(
            f"bincount: x must hold integers that int64 can hold, not {x.dtype}"
        )
    if weights is not None and weights.shape != x.shape:
        raise ValueError(
            f"bincount: x has shape {x.shape}, weights have shape {weights.shape}"
        )
    if minlength < 0:
        raise ValueError(f"bincount: minlength must not be negative, as {minlength} is")
    dtype = np.int64 if weights is None else np.float64
    with on_stream(stream):
        if x.shape[0] == 0:
            return zeros(minlength, dtype, allocator or x.allocator)
        # Negative numbers are the greatest ones among the unsigned numbers.
        unsigned = np.dtype(f"u{x.dtype.itemsize}")
        top = int(_max(x.view(unsigned)).get())
        if x.dtype.kind == "i" and top > np.iinfo(x.dtype).max:
            least = top - 256**x.dtype.itemsize
            raise ValueError(f"bincount: x must not have negative elements, as {least}")
        bins = max(top + 1, minlength)
        return _count("value", x, None, None, weights, bins, 0, 0, allocator=allocator)


#: Bytes of edges that a launch passes by value: PCU_COUNT_EDGE_BYTES of count.h.
_EDGE_BYTES = 2048


def _ends_of(a):
    """Return the least and the greatest element, in an array of the same dtype."""
    if a.dtype.itemsize == 8 and a.dtype.kind in "iu":  # a double does not hold them
        both = GPUArray(2, a.dtype, a.allocator)
        _min(a, out=both[0])
        _max(a, out=both[1])
        return both.get()
    ends = _reduce(_array_reductions["ends"], (a,)).get()
    return np.array([ends.real, ends.imag]).astype(a.dtype)


def _edges_made(ends, dtype, bins, first=None, last=None):
    """Return NumPy's edges of bins of the same width; ``ends``: bytes of elements."""
    range = None if first is None else (first, last)
    edges = np.histogram_bin_edges(np.frombuffer(ends, dtype), bins, range)
    edges.flags.writeable = False
    return edges


# By type too: the range (0, 1) may give other dtypes than (0.0, 1.0).
_edges_between = functools.lru_cache(maxsize=64, typed=True)(_edges_made)


def _even_edges(a, bins, range):
    """Return the edges of bins of the same width: NumPy's, of the range of ``a``."""
    try:
        bins = operator.index(bins)
    except TypeError:
        raise TypeError(
            f"bins must be an integer, a sequence or the name of a rule, not {bins!r}"
        ) from None
    if range is not None:
        first, last = range
        return _edges_between(b"", a.dtype, bins, first, last)
    ends = b"" if a.size == 0 else _ends_of(a).tobytes()
    return _edges_between(ends, a.dtype, bins)


def _edges_of(name, a, bins, range):
    """Return (edges, how a kernel finds the bin of an element)."""
    if isinstance(bins, GPUArray):
        if bins.ndim != 1:
            raise ValueError(f"{name}: bins must have one axis, not {bins.ndim}")
        if bool(_any(bins[:-1] > bins[1:])):
            raise ValueError(f"{name}: the edges in bins must rise monotonically")
        return bins, "search"
    if isinstance(bins, str):
        bins = count_of_bins(a, bins, range)
    if np.ndim(bins) == 0:
        return _even_edges(a, bins, range), "distance"
    edges = np.ascontiguousarray(bins)
    if np.ndim(bins) != 1:
        raise ValueError(f"{name}: bins must have one axis, not {np.ndim(bins)}")
    if (edges[:-1] > edges[1:]).any():
        raise ValueError(f"{name}: the edges in bins must rise monotonically")
    return edges, "search"


def _checked(name, a, weights):
    """Return the array to count, whose shape the weights must have."""
    _require_array(name, "a", a)
    if weights is not None:
        _require_array(name, "weights", weights)
        if weights.shape != a.shape:
            raise ValueError(
                f"{name}: a has shape {a.shape}, weights have shape {weights.shape}"
            )
    if a.dtype == bool:
        warnings.warn(
            f"{name} counts an array of dtype bool as uint8",
            RuntimeWarning,
            stacklevel=3,
        )
        a = a.view(np.uint8)
    if a.dtype.kind not in "iuf":
        raise TypeError(f"{name}: elements of dtype {a.dtype} have no bins")
    return a


def histogram_bin_edges(
    a, bins=10, range=None, weights=None, *, stream=None, allocator=None
):
    """Return the edges of the bins that ``histogram`` uses, one more than bins.

    The edges are those that NumPy computes. Without a range the call waits for the
    least and the greatest element.
    """
    with on_stream(stream):
        a = _checked("histogram_bin_edges", a, weights)
        edges, _ = _edges_of("histogram_bin_edges", a, bins, range)
        if isinstance(edges, GPUArray):
            return edges
        return to_gpu(edges, allocator or a.allocator)


def histogram(
    a,
    bins=10,
    range=None,
    density=None,
    weights=None,
    *,
    stream=None,
    allocator=None,
):
    """Return (counts, edges): how many elements lie in each bin, and the bins' edges.

    ``bins`` is a number of bins of the same width, an array or sequence of their edges,
    or the name of a rule of NumPy for their number. ``range`` has the outer edges, by
    default the least and the greatest element: the call waits for these. A bin has its
    left edge, the last one both. Counts are int64; with ``weights``, of ``a``'s shape,
    sums in the dtype of the weights; with ``density``, float64 whose integral is 1.
    Elements outside the bins and NaN are not counted. Weighted sums may differ in the
    last bits between calls. ValueError for edges that do not rise and for a range that
    is not finite, TypeError for complex elements.
    """
    with on_stream(stream):
        a = _checked("histogram", a, weights)
        allocator = allocator or a.allocator
        edges, kind = _edges_of("histogram", a, bins, range)
        first = last = 0.0
        if kind == "distance":
            first, last = float(edges[0]), float(edges[-1])
        result, copy = edges, None
        if not isinstance(edges, GPUArray):
            if len(edges) > 1 and edges.nbytes <= _EDGE_BYTES:
                result = copy = GPUArray(edges.shape, edges.dtype, allocator)
            else:
                edges = result = to_gpu(edges, allocator)
        count_of = max(edges.shape[0] - 1, 0)

        def count(weights):
            return _count(
                kind,
                a,
                edges,
                copy,
                weights,
                count_of,
                first,
                last,
                allocator=allocator,
            )

        if weights is None:
            counts = count(None)
        elif weights.dtype.kind == "c":
            counts = (count(weights.real) + 1j * count(weights.imag)).astype(
                weights.dtype
            )
        else:
            counts = count(weights).astype(weights.dtype)
        if density:
            widths = (result[1:] - result[:-1]).astype(np.float64)
            counts = counts / widths / counts.sum()
        return counts, result
