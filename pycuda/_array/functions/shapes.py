"""Other shapes and other places: axes, flips, parts, elements that repeat or move."""

from __future__ import annotations

import operator

import numpy as np

from pycuda._array import layout
from pycuda._array.copies import np_ravel, np_reshape
from pycuda._array.layout import AxisError, normal_axis
from pycuda._driver import GPUArray, _remap, _take


def squeeze(a, axis=None):
    """Return a view without axes of length 1.

    Parameters
    ----------
    a : GPUArray
        Array of any dtype.
    axis : int or tuple of int, optional
        The axes. The default is all of length 1.

    Returns
    -------
    GPUArray
        A view.

    Raises
    ------
    ValueError
        If an axis has another length or does not exist.

    See Also
    --------
    expand_dims : The inverse.

    Examples
    --------
    >>> gpuarray.squeeze(gpuarray.zeros((1, 3, 1)), axis=2).shape
    (1, 3)
    """
    if axis is None:
        return a[tuple(0 if length == 1 else slice(None) for length in a.shape)]
    axes = {normal_axis(k, a.ndim) for k in _as_tuple(axis)}
    for k in axes:
        if a.shape[k] != 1:
            raise ValueError(f"axis {k} has length {a.shape[k]}, not 1")
    return a[tuple(0 if k in axes else slice(None) for k in range(a.ndim))]


def _as_tuple(axis):
    return axis if isinstance(axis, tuple) else (axis,)


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """Return a view with an axis for each place of a window, and one for each offset.

    Unlike NumPy's the view can be written to.
    """
    lengths = tuple(window_shape) if np.iterable(window_shape) else (window_shape,)
    axes = range(x.ndim) if axis is None else _as_tuple(axis)
    if len(lengths) != len(axes):
        raise ValueError(
            f"window_shape has {len(lengths)} lengths for {len(axes)} axes"
        )
    shape, more = list(x.shape), []
    for k, length in zip(axes, lengths, strict=True):
        k = normal_axis(k, x.ndim)
        if not 0 <= length <= shape[k]:
            raise ValueError(
                f"a window of {length} does not fit axis {k} of length {shape[k]}"
            )
        shape[k] -= length - 1
        more.append(x.strides[k])
    return layout.strided(x, (*shape, *lengths), (*x.strides, *more))


def expand_dims(a, axis):
    """Return a view with new axes of length 1.

    Parameters
    ----------
    a : GPUArray
        Array of any dtype.
    axis : int or tuple of int
        Places of the new axes in the result.

    Returns
    -------
    GPUArray
        A view.

    Raises
    ------
    ValueError
        If an axis is named twice or is out of bounds.

    See Also
    --------
    squeeze : The inverse.

    Examples
    --------
    >>> gpuarray.expand_dims(gpuarray.zeros(3), 0).shape
    (1, 3)
    """
    ndim = a.ndim + len(_as_tuple(axis))
    axes = {normal_axis(k, ndim) for k in _as_tuple(axis)}
    if len(axes) != ndim - a.ndim:
        raise ValueError(f"axis {axis} names an axis twice")
    return a[tuple(None if k in axes else slice(None) for k in range(ndim))]


def swapaxes(a, axis1, axis2):
    """Return a view with two axes exchanged.

    Parameters
    ----------
    a : GPUArray
        Array of any dtype.
    axis1 : int
        First axis.
    axis2 : int
        Second axis.

    Returns
    -------
    GPUArray
        A view.

    Raises
    ------
    ValueError
        If there is no such axis.

    Examples
    --------
    >>> gpuarray.swapaxes(gpuarray.zeros((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    axes = list(range(a.ndim))
    one, two = normal_axis(axis1, a.ndim), normal_axis(axis2, a.ndim)
    axes[one], axes[two] = axes[two], axes[one]
    return a.transpose(axes)


def moveaxis(a, source, destination):
    """Return a view with axes moved to other places.

    Parameters
    ----------
    a : GPUArray
        Array of any dtype.
    source : int or sequence of int
        The axes that move.
    destination : int or sequence of int
        Their places in the result.

    Returns
    -------
    GPUArray
        A view.

    Raises
    ------
    ValueError
        If the axes do not exist, or if the numbers of both differ.

    Examples
    --------
    >>> gpuarray.moveaxis(gpuarray.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
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
    """Return a view of another shape that repeats the elements.

    Parameters
    ----------
    array : GPUArray
        Array of any dtype.
    shape : int or tuple of int
        The shape.
    subok : bool, optional
        Not used; NumPy has this parameter.

    Returns
    -------
    GPUArray
        A view, in which several elements share memory. Writing different values to it
        raises ValueError: write to a copy.

    Raises
    ------
    ValueError
        If the array does not broadcast to the shape.

    See Also
    --------
    broadcast_arrays : The common shape of several arrays.

    Examples
    --------
    >>> gpuarray.broadcast_to(gpuarray.to_gpu(np.array([1, 2])), (2, 2))
    array([[1, 2],
           [1, 2]])
    """
    if type(shape) is not tuple:
        shape = tuple(np.atleast_1d(shape).tolist())
    return layout.broadcast_to(array, shape)


def _at_least(arys, ndim):
    """Return arrays, or the only one, with leading axes up to ``ndim``."""
    results = [a[(None,) * (ndim - a.ndim)] if a.ndim < ndim else a for a in arys]
    return results[0] if len(results) == 1 else results


def atleast_1d(*arys):
    """Return views of arrays with one axis or more.

    Parameters
    ----------
    *arys : GPUArray
        Arrays of any dtype.

    Returns
    -------
    GPUArray or list of GPUArray
        The view of one array, or the views of several.

    See Also
    --------
    atleast_2d : Two axes or more.

    Examples
    --------
    >>> gpuarray.atleast_1d(gpuarray.zeros(())).shape
    (1,)
    """
    return _at_least(arys, 1)


def atleast_2d(*arys):
    """Return views of arrays with two axes or more.

    Parameters
    ----------
    *arys : GPUArray
        Arrays of any dtype.

    Returns
    -------
    GPUArray or list of GPUArray
        The view of one array, or the views of several. New axes are the first ones.

    See Also
    --------
    atleast_3d : Three axes or more.

    Examples
    --------
    >>> gpuarray.atleast_2d(gpuarray.zeros(3)).shape
    (1, 3)
    """
    return _at_least(arys, 2)


def atleast_3d(*arys):
    """Return views of arrays with three axes or more.

    Parameters
    ----------
    *arys : GPUArray
        Arrays of any dtype.

    Returns
    -------
    GPUArray or tuple of GPUArray
        The view of one array, or the views of several. New axes surround one axis, or
        follow two.

    See Also
    --------
    atleast_2d : Two axes or more.

    Examples
    --------
    >>> gpuarray.atleast_3d(gpuarray.zeros(3)).shape
    (1, 3, 1)
    """
    results = []
    for a in arys:
        if a.ndim == 1:
            results.append(a[None, :, None])
        else:
            results.append(a[(...,) + (None,) * (3 - a.ndim)] if a.ndim < 3 else a)
    return results[0] if len(results) == 1 else tuple(results)


def unstack(x, /, *, axis=0):
    """Return the parts of an array along an axis, without the axis.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype.
    axis : int, default 0
        Axis along which to separate.

    Returns
    -------
    tuple of GPUArray
        The views.

    Raises
    ------
    ValueError
        If there is no such axis.

    See Also
    --------
    stack : The inverse.

    Examples
    --------
    >>> [part.shape for part in gpuarray.unstack(gpuarray.zeros((2, 3)))]
    [(3,), (3,)]
    """
    front = (slice(None),) * normal_axis(axis, x.ndim)
    return tuple(x[front + (k,)] for k in range(x.shape[len(front)]))


def permute_dims(a, axes=None):
    """Return a view with the axes in another order.

    Parameters
    ----------
    a : GPUArray
        Array of any dtype.
    axes : sequence of int, optional
        The axes in the new order. The default is to reverse them.

    Returns
    -------
    GPUArray
        A view.

    Raises
    ------
    ValueError
        If ``axes`` is no order of the axes.

    Examples
    --------
    >>> gpuarray.permute_dims(gpuarray.zeros((2, 3, 4)), (1, 2, 0)).shape
    (3, 4, 2)
    """
    return a.transpose(axes)


def matrix_transpose(x, /):
    """Return a view with the last two axes exchanged.

    Parameters
    ----------
    x : GPUArray
        Matrices, shape (..., m, n).

    Returns
    -------
    GPUArray
        A view of shape (..., n, m).

    Raises
    ------
    ValueError
        If the array has fewer than two axes.

    Examples
    --------
    >>> gpuarray.matrix_transpose(gpuarray.zeros((2, 3, 4))).shape
    (2, 4, 3)
    """
    return x.mT


def rollaxis(a, axis, start=0):
    """Return a view with an axis moved before another one.

    Parameters
    ----------
    a : GPUArray
        Array of any dtype.
    axis : int
        The axis that moves.
    start : int, optional
        The axis before which it moves.

    Returns
    -------
    GPUArray
        A view.

    Raises
    ------
    ValueError
        If there is no such axis.

    See Also
    --------
    moveaxis : The same with clearer arguments.

    Examples
    --------
    >>> gpuarray.rollaxis(gpuarray.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
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

    Parameters
    ----------
    a : GPUArray
        Array of any dtype.
    shift : int or tuple of int
        Number of places for each axis.
    axis : int or tuple of int, optional
        The axes. The default is to shift the elements in C order.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array of the same shape and dtype.

    Raises
    ------
    ValueError
        If there is no such axis.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> gpuarray.roll(gpuarray.arange(5, dtype=np.int32), 2)
    array([3, 4, 0, 1, 2], dtype=int32)
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
    """Return each element repeated.

    Parameters
    ----------
    a : GPUArray
        Array of any dtype.
    repeats : int or sequence of int
        Number of repetitions of all, or of each place of the axis. A GPUArray is copied
        to the host.
    axis : int or None, optional
        Axis along which to compute. The default is the flat array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    TypeError
        If ``repeats`` are not integers.
    ValueError
        If a number is negative, or if the lengths differ.

    See Also
    --------
    tile : Repeat the array as a whole.

    Notes
    -----
    The call does not wait, except for ``repeats`` on the device.

    Examples
    --------
    >>> gpuarray.repeat(gpuarray.arange(3, dtype=np.int32), 2)
    array([0, 0, 1, 1, 2, 2], dtype=int32)
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
    """Return the array repeated as a whole.

    Parameters
    ----------
    A : GPUArray
        Array of any dtype.
    reps : int or tuple of int
        Number of repetitions along each axis. The shorter one of ``reps`` and the shape
        gets ones in front.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array.

    See Also
    --------
    repeat : Repeat each element.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> gpuarray.tile(gpuarray.arange(3, dtype=np.int32), (2,))
    array([0, 1, 2, 0, 1, 2], dtype=int32)
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
    """Return a view reversed along axes.

    Parameters
    ----------
    m : GPUArray
        Array of any dtype.
    axis : int or tuple of int, optional
        The axes. The default is all.

    Returns
    -------
    GPUArray
        A view.

    Raises
    ------
    ValueError
        If there is no such axis.

    Examples
    --------
    >>> gpuarray.flip(gpuarray.arange(3, dtype=np.int32))
    array([2, 1, 0], dtype=int32)
    """
    axes = range(m.ndim) if axis is None else _as_tuple(axis)
    axes = {normal_axis(k, m.ndim) for k in axes}
    backward = slice(None, None, -1)
    return m[tuple(backward if k in axes else slice(None) for k in range(m.ndim))]


def flipud(m):
    """Return a view reversed along the first axis.

    Parameters
    ----------
    m : GPUArray
        Array with one axis or more.

    Returns
    -------
    GPUArray
        A view.

    See Also
    --------
    flip : Any axis.

    Examples
    --------
    >>> gpuarray.flipud(gpuarray.to_gpu(np.array([[1, 2], [3, 4]])))
    array([[3, 4],
           [1, 2]])
    """
    return flip(m, 0)


def fliplr(m):
    """Return a view reversed along the second axis.

    Parameters
    ----------
    m : GPUArray
        Array with two axes or more.

    Returns
    -------
    GPUArray
        A view.

    See Also
    --------
    flip : Any axis.

    Examples
    --------
    >>> gpuarray.fliplr(gpuarray.to_gpu(np.array([[1, 2], [3, 4]])))
    array([[2, 1],
           [4, 3]])
    """
    return flip(m, 1)


def rot90(m, k=1, axes=(0, 1)):
    """Return a view turned by 90 degrees, from one axis to the other.

    Parameters
    ----------
    m : GPUArray
        Array with two axes or more.
    k : int, optional
        Number of turns.
    axes : pair of int, optional
        The plane.

    Returns
    -------
    GPUArray
        A view.

    Raises
    ------
    ValueError
        If ``axes`` does not name two axes of the array.

    Examples
    --------
    >>> gpuarray.rot90(gpuarray.to_gpu(np.array([[1, 2], [3, 4]])))
    array([[2, 4],
           [1, 3]])
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
    """Return views of parts of an array along an axis; their lengths may differ.

    Parameters
    ----------
    ary : GPUArray
        Array of any dtype.
    indices_or_sections : int or sequence of int
        Number of parts, or the places of the cuts.
    axis : int, default 0
        Axis along which to separate.

    Returns
    -------
    list of GPUArray
        The views.

    Raises
    ------
    ValueError
        If there is no such axis, or if the number of parts is below 1.

    See Also
    --------
    split : Equal parts.

    Examples
    --------
    >>> [part.shape for part in gpuarray.array_split(gpuarray.zeros(5), 2)]
    [(3,), (2,)]
    """
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

    Parameters
    ----------
    ary : GPUArray
        Array of any dtype.
    indices_or_sections : int or sequence of int
        Number of parts, or the places of the cuts.
    axis : int, default 0
        Axis along which to separate.

    Returns
    -------
    list of GPUArray
        The views.

    Raises
    ------
    ValueError
        If the length is no multiple of the number of parts.

    See Also
    --------
    concatenate : The inverse.

    Examples
    --------
    >>> gpuarray.split(gpuarray.arange(4, dtype=np.int32), 2)
    [array([0, 1], dtype=int32), array([2, 3], dtype=int32)]
    """
    if isinstance(indices_or_sections, (int, np.integer)) and indices_or_sections > 0:
        length = ary.shape[normal_axis(axis, ary.ndim)]
        if length % indices_or_sections:
            raise ValueError(
                f"{length} elements have no {indices_or_sections} equal parts; "
                "array_split() makes parts of different lengths"
            )
    return array_split(ary, indices_or_sections, axis)


def _require_axes(ary, ndim, name):
    if ary.ndim < ndim:
        raise ValueError(f"{name} takes arrays of {ndim} or more axes, not {ary.ndim}")


def vsplit(ary, indices_or_sections):
    """Return views of parts of an array along the first of two or more axes.

    Parameters
    ----------
    ary : GPUArray
        Array with two axes or more.
    indices_or_sections : int or sequence of int
        Number of parts, or the places of the cuts.

    Returns
    -------
    list of GPUArray
        The views.

    Raises
    ------
    ValueError
        If the array has fewer axes, or cannot be split into equal parts.

    See Also
    --------
    split : Any axis.

    Examples
    --------
    >>> [part.shape for part in gpuarray.vsplit(gpuarray.zeros((4, 2)), 2)]
    [(2, 2), (2, 2)]
    """
    _require_axes(ary, 2, "vsplit")
    return split(ary, indices_or_sections, 0)


def hsplit(ary, indices_or_sections):
    """Return views of parts of an array along the second axis, or the only one.

    Parameters
    ----------
    ary : GPUArray
        Array with one axis or more.
    indices_or_sections : int or sequence of int
        Number of parts, or the places of the cuts.

    Returns
    -------
    list of GPUArray
        The views.

    Raises
    ------
    ValueError
        If the array has no axis, or cannot be split into equal parts.

    See Also
    --------
    split : Any axis.

    Examples
    --------
    >>> [part.shape for part in gpuarray.hsplit(gpuarray.zeros((4, 2)), 2)]
    [(4, 1), (4, 1)]
    """
    _require_axes(ary, 1, "hsplit")
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def dsplit(ary, indices_or_sections):
    """Return views of parts of an array along the third axis.

    Parameters
    ----------
    ary : GPUArray
        Array with three axes or more.
    indices_or_sections : int or sequence of int
        Number of parts, or the places of the cuts.

    Returns
    -------
    list of GPUArray
        The views.

    Raises
    ------
    ValueError
        If the array has fewer axes, or cannot be split into equal parts.

    See Also
    --------
    split : Any axis.

    Examples
    --------
    >>> [part.shape for part in gpuarray.dsplit(gpuarray.zeros((1, 2, 4)), 2)]
    [(1, 2, 2), (1, 2, 2)]
    """
    _require_axes(ary, 3, "dsplit")
    return split(ary, indices_or_sections, 2)


def resize(a, new_shape, *, stream=None):
    """Return the elements in C order, repeated or cut off, in another shape.

    Parameters
    ----------
    a : GPUArray
        Array of any dtype.
    new_shape : int or tuple of int
        The shape.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array. An array without elements gives zeros.

    Raises
    ------
    ValueError
        If a length is negative.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> gpuarray.resize(gpuarray.arange(3, dtype=np.int32), (2, 2))
    array([[0, 1],
           [2, 0]], dtype=int32)
    """
    shape = tuple(np.atleast_1d(new_shape).tolist())
    count = int(np.prod(shape, dtype=object))
    if count < 0 or any(length < 0 for length in shape):
        raise ValueError(f"the shape {shape} has a negative length")
    if a.size == 0:
        result = GPUArray(shape, a.dtype, a.allocator)
        return result.fill(0) if count else result
    flat = _remap(np_ravel(a), _TILE, (count,), (0,), None, stream)
    return np_reshape(flat, shape)
