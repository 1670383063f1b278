"""NumPy's functions that change the shape of an array, or join and split arrays."""

from __future__ import annotations

import numpy as np

from pycuda._array import layout
from pycuda._array.layout import AxisError, normal_axis


def squeeze(a, axis=None):
    """Return a view without the axes of length 1, or without those given."""
    if axis is None:
        return a[tuple(0 if length == 1 else slice(None) for length in a.shape)]
    axes = {normal_axis(k, a.ndim) for k in _as_tuple(axis)}
    for k in axes:
        if a.shape[k] != 1:
            raise ValueError(f"axis {k} has length {a.shape[k]}, not 1")
    return a[tuple(0 if k in axes else slice(None) for k in range(a.ndim))]


def _as_tuple(axis):
    return axis if isinstance(axis, tuple) else (axis,)


def expand_dims(a, axis):
    """Return a view with new axes of length 1, at these places of the result."""
    ndim = a.ndim + len(_as_tuple(axis))
    axes = {normal_axis(k, ndim) for k in _as_tuple(axis)}
    if len(axes) != ndim - a.ndim:
        raise ValueError(f"axis {axis} names an axis twice")
    return a[tuple(None if k in axes else slice(None) for k in range(ndim))]


def swapaxes(a, axis1, axis2):
    """Return a view with two axes exchanged."""
    axes = list(range(a.ndim))
    one, two = normal_axis(axis1, a.ndim), normal_axis(axis2, a.ndim)
    axes[one], axes[two] = axes[two], axes[one]
    return a.transpose(axes)


def moveaxis(a, source, destination):
    """Return a view with axes moved to other places."""
    if isinstance(source, int) and isinstance(destination, int):
        order = list(range(a.ndim))
        axis = order.pop(normal_axis(source, a.ndim))
        order.insert(normal_axis(destination, a.ndim), axis)
        return a.transpose(order)
    source = [normal_axis(k, a.ndim) for k in np.atleast_1d(source).tolist()]
    target = [normal_axis(k, a.ndim) for k in np.atleast_1d(destination).tolist()]
    if len(source) != len(target) or len({*source}) != len(source):
        raise ValueError(f"axes {source} cannot move to {target}")
    order = [k for k in range(a.ndim) if k not in source]
    for place, axis in sorted(zip(target, source, strict=True)):
        order.insert(place, axis)
    return a.transpose(order)


def broadcast_to(array, shape, subok=False):
    """Return a view of another shape that repeats the elements."""
    if type(shape) is not tuple:
        shape = tuple(np.atleast_1d(shape).tolist())
    return layout.broadcast_to(array, shape)


def _at_least(arys, ndim):
    """Return arrays, or the only one, with leading axes up to ``ndim``."""
    results = [a[(None,) * (ndim - a.ndim)] if a.ndim < ndim else a for a in arys]
    return results[0] if len(results) == 1 else results


def atleast_1d(*arys):
    """Return views of arrays with one axis or more; of one array, the view."""
    return _at_least(arys, 1)


def atleast_2d(*arys):
    """Return views with two axes or more. New axes are the first ones."""
    return _at_least(arys, 2)


def atleast_3d(*arys):
    """Return views with three axes or more; new axes surround one, or follow two."""
    results = []
    for a in arys:
        if a.ndim == 1:
            results.append(a[None, :, None])
        else:
            results.append(a[(..., *(None,) * (3 - a.ndim))] if a.ndim < 3 else a)
    return results[0] if len(results) == 1 else tuple(results)


def unstack(x, /, *, axis=0):
    """Return a tuple of views: the parts of an array along an axis, without it."""
    front = (slice(None),) * normal_axis(axis, x.ndim)
    return tuple(x[(*front, k)] for k in range(x.shape[len(front)]))


def permute_dims(a, axes=None):
    """Return a view with the axes in another order, by default reversed."""
    return a.transpose(axes)


def matrix_transpose(x, /):
    """Return a view with the last two axes exchanged."""
    return x.mT


def rollaxis(a, axis, start=0):
    """Return a view with an axis moved before another one, ``start``."""
    axis = normal_axis(axis, a.ndim)
    if not -a.ndim <= start <= a.ndim:
        raise AxisError(f"start {start} is not one of the places of {a.ndim} axes")
    start += a.ndim if start < 0 else 0
    return moveaxis(a, axis, start - 1 if axis < start else start)
