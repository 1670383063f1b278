"""Elements in other places: roll, repeat, tile; and views: flips and parts."""

from __future__ import annotations

import operator

import numpy as np

from pycuda._array.copies import np_ravel, np_reshape
from pycuda._array.layout import normal_axis
from pycuda._driver import GPUArray, _remap, _take

# The rules of src/cpp_free_c/python/array/ops/remap.h.
_ROLL, _REPEAT, _TILE = 0, 1, 2


def _as_tuple(axis):
    return axis if isinstance(axis, tuple) else (axis,)


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
        ary[(*front, slice(begin, end))] if axis else ary[begin:end]
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
