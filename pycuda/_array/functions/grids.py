"""Arrays of coordinates: grids, indices, and functions of indices."""

from __future__ import annotations

import numpy as np

from pycuda._array.copies import on_stream
from pycuda._array.layout import broadcast_to
from pycuda._driver import (
    GPUArray,
    _array_ops,
    _cumprod,
    _elementwise,
    _nonzero,
    _plain_array,
)


def _counted(length, dtype, allocator):
    """Return 0, 1, 2, ... of a dtype."""
    dtype = np.dtype(dtype)
    result = GPUArray((length,), dtype, allocator)
    numbers = (dtype.type(0), dtype.type(1))
    return _elementwise(_array_ops["arange"], numbers, result, dtype)


def broadcast_arrays(*args):
    """Return views of arrays that repeat their elements to a common shape, a tuple."""
    shape = np.broadcast_shapes(*(a.shape for a in args))
    return tuple(broadcast_to(a, shape) for a in args)


def meshgrid(*xi, copy=True, sparse=False, indexing="xy", stream=None):
    """Return the coordinates of a grid, a tuple with an array for each axis.

    The axes are given by arrays of one axis. With "ij" the result has the shape of
    their lengths; with "xy" the first two axes are exchanged. ``sparse`` gives arrays
    that broadcast to the grid. ``copy=False`` gives views.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing must be 'xy' or 'ij', not {indexing!r}")
    ndim = len(xi)
    for a in xi:
        if a.ndim > 1:
            raise ValueError(f"meshgrid() takes arrays of one axis, not {a.shape}")
    result = []
    for axis, a in enumerate(xi):
        place = 1 - axis if indexing == "xy" and ndim > 1 and axis < 2 else axis
        result.append(a.reshape((1,) * place + (-1,) + (1,) * (ndim - 1 - place)))
    if not sparse:
        result = broadcast_arrays(*result)
    if copy:
        with on_stream(stream):
            result = [_packed_copy(a) for a in result]
    return tuple(result)


def _packed_copy(a):
    """Return a copy in C order."""
    result = GPUArray(a.shape, a.dtype, a.allocator)
    result[...] = a
    result._counts_as = a._counts_as
    return result


def indices(dimensions, dtype=np.int64, sparse=False, *, allocator=None, stream=None):
    """Return the indices of the elements of a shape, one array for each axis.

    The result has the shape ``(len(dimensions), *dimensions)``. ``sparse`` gives a
    tuple of arrays that broadcast to the shape.
    """
    shape = tuple(int(length) for length in dimensions)
    ndim = len(shape)
    with on_stream(stream):
        axes = [
            _counted(length, dtype, allocator).reshape(
                (1,) * axis + (length,) + (1,) * (ndim - 1 - axis)
            )
            for axis, length in enumerate(shape)
        ]
        if sparse:
            return tuple(axes)
        result = GPUArray((ndim, *shape), dtype, allocator)
        for axis, places in enumerate(axes):
            result[axis] = places
    return result


def fromfunction(
    function, shape, *, dtype=np.float64, allocator=None, stream=None, **kwargs
):
    """Return ``function(*indices(shape, dtype), **kwargs)``.

    The function gets an array for each axis and is called once.
    """
    with on_stream(stream):
        places = indices(shape, dtype, allocator=allocator)
        return function(*places, **kwargs)


def vander(x, N=None, increasing=False, *, stream=None):
    """Return the matrix with the powers of the elements in its columns.

    ``N`` is the number of columns, by default that of the elements. The powers go down
    to 0, or up from 0 with ``increasing``.
    """
    if x.ndim != 1:
        raise ValueError(f"vander() takes an array of one axis, not shape {x.shape}")
    columns = x.shape[0] if N is None else int(N)
    dtype = np.promote_types(x.dtype, np.int64)
    result = GPUArray((x.shape[0], columns), dtype, x.allocator)
    if 0 in result.shape:
        return result
    rising = result if increasing else result[:, ::-1]
    with on_stream(stream):
        rising[:, :1] = 1
        if columns > 1:
            repeated = broadcast_to(_plain_array(x)[:, None], (x.shape[0], columns - 1))
            rising[:, 1:] = _cumprod(repeated, 1, dtype)
    return result


def ix_(*args):
    """Return arrays with one axis each as arrays that broadcast to a grid of indices.

    An array of bool stands for the indices of its true elements. Raises ValueError for
    more axes.
    """
    result = []
    for place, a in enumerate(args):
        if a.ndim != 1:
            raise ValueError(f"ix_() takes arrays of one axis, not {a.shape}")
        if a.dtype == bool:
            (a,) = _nonzero(a)
        after = len(args) - 1 - place
        result.append(a.reshape((1,) * place + (a.size,) + (1,) * after))
    return tuple(result)
