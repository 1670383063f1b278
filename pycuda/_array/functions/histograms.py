"""Histograms of points with several coordinates."""

from __future__ import annotations

import math
import operator

import numpy as np

from pycuda._array.functions import counting
from pycuda._array.functions.conversion import asarray, operand
from pycuda._array.functions.flat_indices import ravel_multi_index
from pycuda._array.streams import on_stream
from pycuda._driver import GPUArray, _searchsorted


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
    return counting.histogram_bin_edges(values, bins, range).astype(np.float64)


def _places(values, edges):
    """Return the bin of each value: 0 below the first edge, the last one above."""
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
    """Return (counts, edges) of points: how many lie in each cell of a grid.

    ``sample`` has a row for each point, or is a list with an array for each coordinate.
    ``bins`` is a number of bins or edges for each coordinate, or one number;
    ``range`` has a pair or None for each. The counts are float64, sums of ``weights``
    or a ``density``; ``edges`` is a list of arrays. Points outside and NaN are not
    counted. The call waits for the least and the greatest coordinates, and for edges
    that are given. Raises ValueError for edges that do not rise or do not fit.
    """
    with on_stream(stream):
        points = _coordinates(sample)
        bins = _bins_of(bins, len(points))
        ranges = [None] * len(points) if range is None else list(range)
        if len(ranges) != len(points):
            raise ValueError(
                f"there are {len(ranges)} ranges for {len(points)} coordinates"
            )
        points = [x.astype(np.float64) for x in points]
        edges = [_edges(*each) for each in zip(points, bins, ranges, strict=True)]
        shape = tuple(edge.shape[0] + 1 for edge in edges)
        places = [_places(x, edge) for x, edge in zip(points, edges, strict=True)]
        flat = ravel_multi_index(places, shape)
        if weights is not None:
            weights = operand("histogramdd", weights).astype(np.float64)
        counts = counting.bincount(flat, weights, math.prod(shape))
        inside = tuple(slice(1, -1) for _ in shape)
        counts = counts.reshape(shape)[inside].astype(np.float64)
        return (_density(counts, edges) if density else counts), edges


def histogram2d(x, y, bins=10, range=None, density=None, weights=None, *, stream=None):
    """Return (counts, edges of x, edges of y) of points: see ``histogramdd``.

    ``bins`` is a number, an array of edges for both coordinates, or a pair of either.
    """
    if not isinstance(bins, int) and len(bins) not in (1, 2):
        bins = [bins, bins]
    counts, edges = histogramdd([x, y], bins, range, density, weights, stream=stream)
    return counts, edges[0], edges[1]
