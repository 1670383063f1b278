"""Other shapes and other places: axes, flips, parts, elements that repeat or move."""

from __future__ import annotations

import operator

import numpy as np

from pycuda._array import layout
from pycuda._array.copies import np_ravel, np_reshape
from pycuda._array.layout import AxisError, normal_axis
from pycuda._driver import GPUArray, _remap, _take


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
            results.append(a[(...,) + (None,) * (3 - a.ndim)] if a.ndim < 3 else a)
    return results[0] if len(results) == 1 else tuple(results)


def unstack(x, /, *, axis=0):
    """Return a tuple of views: the parts of an array along an axis, without it."""
    front = (slice(None),) * normal_axis(axis, x.ndim)
    return tuple(x[front + (k,)] for k in range(x.shape[len(front)]))


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


# -- elements in other places, flips, parts --------------------------------------------


# The rules of src/cpp_free_c/python/array/ops/remap.h.
_ROLL, _REPEAT, _TILE = 0, 1, 2


# -- copies ----------------------------------------------------------------------------


def rolled(a, shifts, stream=None):
    """Return the elements shifted by a distance for each axis."""
    return _remap(a, _ROLL, a.shape, shifts, None, stream)


def roll(a, shift, axis=None, *, stream=None):
    """Return the elements shifted along axes; those beyond the end become the first.

    ``shift`` and ``axis`` are integers or tuples, as in NumPy. Without an axis the
    elements are shifted in C order. Raises ValueError for an axis that does not exist.
    """
    if axis is None:
        flat = np_ravel(a)
        total = shift if isinstance(shift, int) else int(np.sum(shift))
        return _remap(flat, _ROLL, flat.shape, (total,), None, stream).reshape(a.shape)
    if isinstance(shift, int) and isinstance(axis, int):
        pairs = ((shift, axis),)
    elif type(shift) is type(axis) is tuple and len(shift) == len(axis):
        pairs = zip(shift, axis, strict=True)
    else:
        broadcast = np.broadcast_arrays(np.atleast_1d(shift), np.atleast_1d(axis))
        pairs = zip(*(b.tolist() for b in broadcast), strict=True)
    shifts = [0] * a.ndim
    for distance, k in pairs:
        shifts[normal_axis(k, a.ndim)] += distance
    return rolled(a, tuple(shifts), stream)


def repeat(a, repeats, axis=None, *, stream=None):
    """Return each element repeated, along an axis or flattened.

    ``repeats`` is an integer, or a list of one integer for each place of the axis; one
    on the device is read back. Raises ValueError if the lengths differ.
    """
    if axis is None:
        a, axis = np_ravel(a), 0
    axis = normal_axis(axis, a.ndim)
    if isinstance(repeats, GPUArray):
        repeats = repeats.get()
    counts = np.asarray(repeats)
    if counts.dtype.kind not in "biu" and counts.size:
        raise TypeError(f"repeats must be integers, not {counts.dtype}")
    if counts.size == 1:
        count = operator.index(counts.ravel()[0].item())
        if count < 0:
            raise ValueError(f"repeats must not be negative, but is {count}")
        firsts = [1] * a.ndim
        firsts[axis] = count
        shape = (*a.shape[:axis], a.shape[axis] * count, *a.shape[axis + 1 :])
        return _remap(a, _REPEAT, shape, tuple(firsts), None, stream)
    length = a.shape[axis]
    if counts.shape != (length,):
        raise ValueError(
            f"repeats has shape {counts.shape}, but axis {axis} has length {length}"
        )
    if (counts < 0).any():
        raise ValueError("repeats must not be negative")
    places = np.repeat(np.arange(length), counts)
    return _take(a, places, None, stream, axis)


def tile(A, reps, *, stream=None):  # noqa: N803  NumPy's name
    """Return the array repeated as a whole, ``reps`` times along each axis.

    ``reps`` is an integer or a tuple; the shorter one of ``reps`` and the shape gets
    ones in front.
    """
    try:
        reps = tuple(map(operator.index, reps))
    except TypeError:
        reps = (operator.index(reps),)
    a = A
    if a.ndim < len(reps):
        a = a[(None,) * (len(reps) - a.ndim)]
    reps = (1,) * (a.ndim - len(reps)) + reps
    shape = tuple(n * r for n, r in zip(a.shape, reps, strict=True))
    return _remap(a, _TILE, shape, (0,) * a.ndim, None, stream)


# -- views -----------------------------------------------------------------------------


def flip(m, axis=None):
    """Return a view reversed along all axes or some."""
    axes = range(m.ndim) if axis is None else _as_tuple(axis)
    axes = {normal_axis(k, m.ndim) for k in axes}
    backward = slice(None, None, -1)
    return m[tuple(backward if k in axes else slice(None) for k in range(m.ndim))]


def flipud(m):
    """Return a view reversed along the first axis."""
    return flip(m, 0)


def fliplr(m):
    """Return a view reversed along the second axis."""
    return flip(m, 1)


def rot90(m, k=1, axes=(0, 1)):
    """Return a view turned by ``k`` times 90 degrees, from one axis to the other.

    Raises ValueError unless ``axes`` names two axes of the array.
    """
    first, second = (normal_axis(axis, m.ndim) for axis in axes)
    if first == second:
        raise ValueError(f"axes {tuple(axes)} are one axis")
    k %= 4
    if k == 0:
        return m[...]
    if k == 2:
        return flip(m, (first, second))
    order = list(range(m.ndim))
    order[first], order[second] = second, first
    if k == 1:
        return flip(m, second).transpose(order)
    return flip(m.transpose(order), second)


# -- parts -----------------------------------------------------------------------------


def _parts(ary, cuts, axis):
    """Return the views between cuts along an axis."""
    front = (slice(None),) * axis
    return [
        ary[front + (slice(begin, end),)] if axis else ary[begin:end]
        for begin, end in zip(cuts[:-1], cuts[1:], strict=True)
    ]


def array_split(ary, indices_or_sections, axis=0):
    """Return views of parts of an array along an axis; their lengths may differ."""
    axis = normal_axis(axis, ary.ndim)
    length = ary.shape[axis]
    try:
        count = operator.index(indices_or_sections)
    except TypeError:
        return _parts(ary, [0, *indices_or_sections, length], axis)
    if count <= 0:
        raise ValueError(f"an array cannot be split into {count} parts")
    each, more = divmod(length, count)
    cuts = [k * each + min(k, more) for k in range(count + 1)]
    return _parts(ary, cuts, axis)


def split(ary, indices_or_sections, axis=0):
    """Return views of equal parts of an array along an axis, or of those between cuts.

    Raises ValueError if the length is no multiple of the number of parts.
    """
    if isinstance(indices_or_sections, (int, np.integer)) and indices_or_sections > 0:
        length = ary.shape[normal_axis(axis, ary.ndim)]
        if length % indices_or_sections:
            raise ValueError(
                f"{length} elements have no {indices_or_sections} equal parts"
            )
    return array_split(ary, indices_or_sections, axis)


def _require_axes(ary, ndim, name):
    if ary.ndim < ndim:
        raise ValueError(f"{name} takes arrays of {ndim} or more axes, not {ary.ndim}")


def vsplit(ary, indices_or_sections):
    """Return views of parts of an array along the first of two or more axes."""
    _require_axes(ary, 2, "vsplit")
    return split(ary, indices_or_sections, 0)


def hsplit(ary, indices_or_sections):
    """Return views of parts of an array along the second axis, or the only one."""
    _require_axes(ary, 1, "hsplit")
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def dsplit(ary, indices_or_sections):
    """Return views of parts of an array along the third axis."""
    _require_axes(ary, 3, "dsplit")
    return split(ary, indices_or_sections, 2)


def resize(a, new_shape, *, stream=None):
    """Return the elements in C order, repeated or cut off, in another shape."""
    shape = tuple(np.atleast_1d(new_shape).tolist())
    count = int(np.prod(shape, dtype=object))
    if count < 0 or any(length < 0 for length in shape):
        raise ValueError(f"the shape {shape} has a negative length")
    if a.size == 0:
        result = GPUArray(shape, a.dtype, a.allocator)
        return result.fill(0) if count else result
    flat = _remap(np_ravel(a), _TILE, (count,), (0,), None, stream)
    return np_reshape(flat, shape)
