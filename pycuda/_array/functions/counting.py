"""Counts of elements in bins: ``bincount``, histograms of one or more coordinates."""

from __future__ import annotations

import functools
import math
import operator
import warnings

import numpy as np

from pycuda._array.copies import on_stream
from pycuda._array.creation import zeros
from pycuda._array.functions.conversion import asarray, astype, operand
from pycuda._array.functions.flat_indices import ravel_multi_index
from pycuda._driver import (
    GPUArray,
    _any,
    _array_reductions,
    _count,
    _max,
    _mean,
    _min,
    _percentile,
    _reduce,
    _searchsorted,
    _std,
    to_gpu,
)

# -- NumPy's rules for the number of bins, such as "auto" ------------------------------


def _extent(x):
    """Return the distance of the least and the greatest element."""
    return _numbers(_max(x))[()] - _numbers(_min(x))[()]


def _numbers(x):
    """Return the few elements of a result in host memory."""
    return x.get()


def _sqrt(x):
    return _extent(x) / np.sqrt(x.size)


def _sturges(x):
    return _extent(x) / (np.log2(x.size) + 1.0)


def _rice(x):
    return _extent(x) / (2.0 * x.size ** (1.0 / 3))


def _scott(x):
    deviation = float(_numbers(_std(x)))
    return (24.0 * np.pi**0.5 / x.size) ** (1.0 / 3.0) * deviation


def _doane(x):
    if x.size <= 2:
        return 0.0
    n = x.size
    spread_of_skew = np.sqrt(6.0 * (n - 2) / ((n + 1.0) * (n + 3)))
    deviation = float(_numbers(_std(x)))
    if deviation <= 0:
        return 0.0
    away = (x - float(_numbers(_mean(x)))) / deviation
    skew = float(_numbers(_mean(away * away * away)))
    count = 1.0 + np.log2(n) + np.log2(1.0 + abs(skew) / spread_of_skew)
    return _extent(x) / count


def _freedman_diaconis(x):
    upper, lower = _numbers(_percentile(x, [75, 25]))
    return 2.0 * (upper - lower) * x.size ** (-1.0 / 3.0)


def _auto(x):
    width = max(_freedman_diaconis(x), _sqrt(x) / 2)
    return min(width, _sturges(x)) if width else _sturges(x)


def _stone(x, ends, counts_of):
    """Return the width for which Stone's estimate of the squared error is least.

    One histogram is made for each number of bins up to 100, or up to the root of the
    number of elements.
    """
    extent = _extent(x)
    if x.size <= 1 or extent == 0:
        return 0.0
    most = max(100, int(np.sqrt(x.size)))

    def error(bins):
        shares = counts_of(x, bins, ends) / x.size
        return (2 - (x.size + 1) * shares.dot(shares)) * bins / extent

    best = min(range(1, most + 1), key=error)
    if best == most:
        warnings.warn(
            "The number of bins estimated may be suboptimal.",
            RuntimeWarning,
            stacklevel=5,
        )
    return extent / best


_RULES = {
    "sqrt": _sqrt,
    "sturges": _sturges,
    "rice": _rice,
    "scott": _scott,
    "doane": _doane,
    "fd": _freedman_diaconis,
    "auto": _auto,
}


def count_of_bins(a, rule, range, counts_of):
    """Return the number of bins that a rule of NumPy gives for the elements.

    ``counts_of(a, bins, range)`` returns the counts of a histogram in host memory.
    """
    if rule != "stone" and rule not in _RULES:
        known = ", ".join([*_RULES, "stone"])
        raise ValueError(f"bins is {rule!r}, which is none of the rules {known}")
    a = a.ravel()
    # NumPy tests the range, and gives its outer edges.
    if range is None:
        ends = [] if a.size == 0 else [_numbers(_min(a))[()], _numbers(_max(a))[()]]
        first, last = np.histogram_bin_edges(np.array(ends, a.dtype), 1)
    else:
        first, last = np.histogram_bin_edges(np.zeros(0, a.dtype), 1, range)
        a = a[(a >= first) & (a <= last)]
    if a.size == 0:
        return 1
    rules = {**_RULES, "stone": lambda x: _stone(x, (first, last), counts_of)}
    width = rules[rule](a)
    if not width:
        return 1
    if a.dtype.kind in "iu" and width < 1:
        width = 1
    return int(np.ceil((float(last) - float(first)) / width))


# -- counts, and histograms of one coordinate ------------------------------------------


def _require_array(name, what, value):
    """Raise TypeError unless an argument is a GPUArray."""
    if not isinstance(value, GPUArray):
        kind = type(value).__name__
        raise TypeError(f"{name}: {what} must be a GPUArray, not {kind}; use to_gpu()")


def most_bins(dtype):
    """Return how many bins elements of a dtype can need; inf: they may be negative."""
    if dtype.kind == "b":
        return 2
    return 2 ** (8 * dtype.itemsize) if dtype.kind == "u" else math.inf


def _greatest(x):
    """Return the greatest of some integers; ValueError if one is negative."""
    # Negative numbers are the greatest ones among the unsigned numbers.
    unsigned = np.dtype(f"u{x.dtype.itemsize}")
    top = int(_max(x.view(unsigned)).get())
    if x.dtype.kind == "i" and top > np.iinfo(x.dtype).max:
        least = top - 256**x.dtype.itemsize
        raise ValueError(f"bincount: x must not have negative elements, as {least}")
    return top


def bincount(x, weights=None, minlength=0, *, stream=None, allocator=None):
    """Return how often each number from 0 to the greatest is in an array of integers.

    Parameters
    ----------
    x : GPUArray
        Integers with one axis, not negative.
    weights : GPUArray, optional
        Weights of the elements, real numbers in the shape of ``x``.
    minlength : int, optional
        Least number of elements of the result.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.
    allocator : callable, optional
        Function of a number of bytes that returns device memory. The default is the
        allocator of the array.

    Returns
    -------
    GPUArray
        A new array of ``max(x) + 1`` elements or more: int64, or float64 sums of
        weights.

    Raises
    ------
    TypeError
        If the elements are not integers that int64 holds.
    ValueError
        If an element is negative, or if the shapes do not fit.

    See Also
    --------
    histogram : Bins of other numbers.

    Notes
    -----
    The call waits for the greatest element, unless ``minlength`` is as large as
    elements of the dtype can make the result, such as 256 for uint8. Weighted sums may
    differ in the last bits between calls.

    Examples
    --------
    >>> gpuarray.bincount(gpuarray.to_gpu(np.array([0, 2, 2])))
    array([1, 0, 2])
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
        bins = minlength
        if bins < most_bins(x.dtype):
            bins = max(_greatest(x) + 1, minlength)
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


def _edges_of(name, a, bins, range, weights):
    """Return (edges, how a kernel finds the bin of an element)."""
    if isinstance(bins, GPUArray):
        if bins.ndim != 1:
            raise ValueError(f"{name}: bins must have one axis, not {bins.ndim}")
        if bool(_any(bins[:-1] > bins[1:])):
            raise ValueError(f"{name}: the edges in bins must rise monotonically")
        return bins, "search"
    if isinstance(bins, str):
        if weights is not None:
            raise TypeError(f"{name}: no rule for the number of bins knows weights")
        bins = count_of_bins(a, bins, range, _counts_of)
    if np.ndim(bins) == 0:
        return _even_edges(a, bins, range), "distance"
    edges = np.ascontiguousarray(bins)
    if np.ndim(bins) != 1:
        raise ValueError(f"{name}: bins must have one axis, not {np.ndim(bins)}")
    if (edges[:-1] > edges[1:]).any():
        raise ValueError(f"{name}: the edges in bins must rise monotonically")
    return edges, "search"


def _counts_of(a, bins, range):
    return histogram(a, bins, range)[0].get()


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
    """Return the edges of the bins that ``histogram`` uses.

    Parameters
    ----------
    a : GPUArray
        Array of real numbers.
    bins : int, array_like or str, optional
        Number of bins, their edges, or the name of a rule of NumPy.
    range : pair of number, optional
        Outer edges. The default is the least and the greatest element.
    weights : GPUArray, optional
        Not used; NumPy has this parameter.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.
    allocator : callable, optional
        Function of a number of bytes that returns device memory. The default is the
        allocator of the array.

    Returns
    -------
    GPUArray
        The edges, one more than bins.

    Raises
    ------
    ValueError
        If the edges do not rise, or if the range is not finite.

    Notes
    -----
    Without a range the call waits for the least and the greatest element.

    Examples
    --------
    >>> gpuarray.histogram_bin_edges(gpuarray.to_gpu(np.array([0.0, 4])), 4)
    array([0., 1., 2., 3., 4.])
    """
    with on_stream(stream):
        a = _checked("histogram_bin_edges", a, weights)
        edges, _ = _edges_of("histogram_bin_edges", a, bins, range, weights)
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
    """Return how many elements lie in each bin, and the edges of the bins.

    Parameters
    ----------
    a : GPUArray
        Array of real numbers.
    bins : int, array_like or str, optional
        Number of bins of the same width, their edges, or the name of a rule of NumPy
        for their number.
    range : pair of number, optional
        Outer edges. The default is the least and the greatest element.
    density : bool, optional
        If true, return float64 whose integral is 1.
    weights : GPUArray, optional
        Weights of the elements, in the shape of ``a``.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.
    allocator : callable, optional
        Function of a number of bytes that returns device memory. The default is the
        allocator of the array.

    Returns
    -------
    counts : GPUArray
        Numbers of elements, int64, or sums in the dtype of the weights. Elements
        outside the bins and NaN are not counted.
    edges : GPUArray
        The edges, one more than bins. A bin has its left edge, the last one both.

    Raises
    ------
    TypeError
        If the elements are complex.
    ValueError
        If the edges do not rise, or if the range is not finite.

    See Also
    --------
    bincount : Counts of integers.

    Notes
    -----
    Without a range the call waits for the least and the greatest element. Weighted sums
    may differ in the last bits between calls.

    Examples
    --------
    >>> counts, edges = gpuarray.histogram(gpuarray.to_gpu(np.array([1.0, 2, 2, 5])), 2)
    >>> counts, edges
    (array([3, 1]), array([1., 3., 5.]))
    """
    with on_stream(stream):
        a = _checked("histogram", a, weights)
        allocator = allocator or a.allocator
        edges, kind = _edges_of("histogram", a, bins, range, weights)
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


# -- histograms of several coordinates -------------------------------------------------


def _coordinates(sample):
    """Return an array for each coordinate of the points."""
    if isinstance(sample, GPUArray):
        if sample.ndim == 1:
            return [sample]
        if sample.ndim != 2:
            raise ValueError(
                f"histogramdd: sample must have two axes, not shape {sample.shape}"
            )
        return [sample[:, k] for k in range(sample.shape[1])]
    return [operand("histogramdd", part) for part in sample]


def _bins_of(bins, count):
    """Return the bins of each coordinate."""
    try:
        return [operator.index(bins)] * count
    except TypeError:
        bins = list(bins)
    if len(bins) != count:
        raise ValueError(f"there are {len(bins)} bins for {count} coordinates")
    return bins


def _edges(values, bins, range):
    """Return the edges along one coordinate."""
    if isinstance(bins, GPUArray) or np.ndim(bins):
        edges = asarray(bins)
        if edges.ndim != 1 or edges.shape[0] < 2:
            raise ValueError(f"bins must have one axis and 2 edges, not {edges.shape}")
        host = edges.get()
        if np.any(host[:-1] > host[1:]):
            raise ValueError("the edges in bins must rise monotonically")
        return edges
    if range is not None and range[0] > range[1]:
        raise ValueError(f"the range must rise, but is {range}")
    if range is not None:  # without the dtype of the values, as in NumPy
        return asarray(np.linspace(*_outer_edges(*range), bins + 1))
    return histogram_bin_edges(values, bins)


def _outer_edges(first, last):
    """Return the outer edges of a range, with a width if it has none."""
    return (first - 0.5, last + 0.5) if first == last else (first, last)


def _places(values, edges):
    """Return the bin of each value: 0 below the first edge, the last one above."""
    dtype = np.result_type(edges.dtype, values.dtype)
    edges, values = (astype(x, dtype, copy=False) for x in (edges, values))
    places = _searchsorted(edges, values, "right")
    return places - (values == edges[-1:]).astype(np.int64)


def _density(counts, edges):
    """Return the counts as a density whose integral is 1."""
    result = counts
    for axis, edge in enumerate(edges):
        widths = edge[1:] - edge[:-1]
        shape = [1] * counts.ndim
        shape[axis] = widths.shape[0]
        result = result / widths.reshape(tuple(shape))
    return result / counts.sum()


def histogramdd(
    sample, bins=10, range=None, density=None, weights=None, *, stream=None
):
    """Return how many points lie in each cell of a grid, and the edges of the cells.

    Parameters
    ----------
    sample : GPUArray or sequence of GPUArray
        A row for each point, or an array for each coordinate.
    bins : int or sequence, optional
        Number of bins or edges for each coordinate, or one number.
    range : sequence of pair, optional
        Outer edges for each coordinate, or None.
    density : bool, optional
        If true, return numbers whose integral is 1.
    weights : GPUArray, optional
        Weights of the points.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    counts : GPUArray
        Numbers of points, or sums of weights, float64. Points outside and NaN are not
        counted.
    edges : list of GPUArray
        The edges for each coordinate.

    Raises
    ------
    ValueError
        If the edges do not rise or do not fit.

    See Also
    --------
    histogram : One coordinate.

    Notes
    -----
    The call waits for the least and the greatest coordinates, and for edges that are
    given.

    Examples
    --------
    >>> x = gpuarray.to_gpu(np.array([0.0, 1, 1]))
    >>> counts, edges = gpuarray.histogramdd([x, x], bins=2)
    >>> counts
    array([[1., 0.],
           [0., 2.]])
    """
    with on_stream(stream):
        points = _coordinates(sample)
        bins = _bins_of(bins, len(points))
        ranges = [None] * len(points) if range is None else list(range)
        if len(ranges) != len(points):
            raise ValueError(
                f"there are {len(ranges)} ranges for {len(points)} coordinates"
            )
        dtype = np.result_type(*(x.dtype for x in points))
        points = [astype(x, dtype, copy=False) for x in points]
        edges = [_edges(*each) for each in zip(points, bins, ranges, strict=True)]
        shape = tuple(edge.shape[0] + 1 for edge in edges)
        places = [_places(x, edge) for x, edge in zip(points, edges, strict=True)]
        flat = ravel_multi_index(places, shape)
        if weights is not None:
            weights = operand("histogramdd", weights)
        counts = bincount(flat, weights, math.prod(shape))
        inside = tuple(slice(1, -1) for _ in shape)
        counts = counts.reshape(shape)[inside].astype(np.float64)
        return (_density(counts, edges) if density else counts), edges


def histogram2d(x, y, bins=10, range=None, density=None, weights=None, *, stream=None):
    """Return how many points of a plane lie in each cell of a grid, and the edges.

    Parameters
    ----------
    x : GPUArray
        First coordinates.
    y : GPUArray
        Second coordinates.
    bins : int, GPUArray or pair, optional
        Number of bins, edges for both coordinates, or a pair of either.
    range : pair of pair, optional
        Outer edges for each coordinate, or None.
    density : bool, optional
        If true, return numbers whose integral is 1.
    weights : GPUArray, optional
        Weights of the points.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    counts : GPUArray
        Numbers of points, or sums of weights, float64.
    x_edges : GPUArray
        Edges of the first coordinate.
    y_edges : GPUArray
        Edges of the second coordinate.

    Raises
    ------
    ValueError
        If the edges do not rise or do not fit.

    See Also
    --------
    histogramdd : More coordinates.

    Examples
    --------
    >>> x = gpuarray.to_gpu(np.array([0.0, 1, 1]))
    >>> gpuarray.histogram2d(x, x, bins=2)[0]
    array([[1., 0.],
           [0., 2.]])
    """
    if not isinstance(bins, int) and len(bins) not in (1, 2):
        bins = [bins, bins]
    counts, edges = histogramdd([x, y], bins, range, density, weights, stream=stream)
    return counts, edges[0], edges[1]
