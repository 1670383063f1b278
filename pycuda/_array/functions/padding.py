"""``pad``: more elements at both ends of each axis."""

from __future__ import annotations

import itertools

import numpy as np

from pycuda._array.copies import copy_into, on_stream
from pycuda._array.functions import elements
from pycuda._array.functions.operations import where
from pycuda._array.layout import normal_axis
from pycuda._driver import (
    GPUArray,
    _array_ops,
    _elementwise,
    _max,
    _mean,
    _median,
    _min,
    _remap,
)

# The rules of src/cpp_free_c/python/array/ops/remap.h: one kernel pads all axes.
_RULES = {
    "empty": 3,
    "constant": 4,
    "edge": 5,
    "wrap": 6,
    "reflect": 7,
    "symmetric": 8,
}
_STATISTICS = {
    "maximum": _max,
    "mean": _mean,
    "median": _median,
    "minimum": _min,
}
#: The only keyword of each mode.
_KEYWORDS = {
    "constant": "constant_values",
    "linear_ramp": "end_values",
    "reflect": "reflect_type",
    "symmetric": "reflect_type",
    **dict.fromkeys(_STATISTICS, "stat_length"),
}
_SUBTRACT = _array_ops["subtract"]
_MODES = ("linear_ramp", *_RULES, *_STATISTICS)


# -- arguments -------------------------------------------------------------------------


def _pairs(value, ndim, name):
    """Return (before, after) for each axis, as NumPy broadcasts such an argument."""
    try:
        return np.broadcast_to(value, (ndim, 2)).tolist()
    except ValueError:
        raise ValueError(
            f"{name} of shape {np.shape(value)} does not fit {ndim} axes: it is a "
            f"number, a pair, or a pair for each axis"
        ) from None


def _widths(pad_width, ndim):
    """Return (before, after) for each axis."""
    if isinstance(pad_width, int):
        widths = [(pad_width, pad_width)] * ndim
    elif isinstance(pad_width, dict):
        widths = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            widths[normal_axis(axis, ndim)] = np.broadcast_to(width, 2).tolist()
    else:
        widths = _pairs(pad_width, ndim, "pad_width")
    for pair in widths:
        for width in pair:
            if not isinstance(width, int):
                raise TypeError(f"pad_width must be integers, not {width!r}")
            if width < 0:
                raise ValueError(f"pad_width must not be negative, but has {width}")
    return widths


def _lengths(stat_length, ndim):
    """Return how many elements at both ends of each axis a statistic takes, or None."""
    if stat_length is None:
        return [(None, None)] * ndim
    pairs = _pairs(stat_length, ndim, "stat_length")
    for length in itertools.chain.from_iterable(pairs):
        if length is not None and (not isinstance(length, int) or length < 1):
            raise ValueError(f"stat_length must be 1 or more, but has {length!r}")
    return pairs


def _check(mode, kwargs):
    """Raise ValueError for an unknown mode and for other modes' keywords."""
    if mode not in _MODES:
        raise ValueError(f"mode must be one of {', '.join(_MODES)}, not {mode!r}")
    wrong = sorted({*kwargs} - {_KEYWORDS.get(mode)})
    if wrong:
        raise ValueError(f"mode {mode!r} has no argument {', '.join(wrong)}")
    kind = kwargs.get("reflect_type", "even")
    if kind not in ("even", "odd"):
        raise ValueError(f"reflect_type is 'even' or 'odd', not {kind!r}")


# -- the ends of one axis --------------------------------------------------------------


def _part(a, axis, begin, end):
    """Return a view of a part of an axis."""
    return a[(slice(None),) * axis + (slice(begin, end),)]


def _inside(result, axis, shape, widths):
    """Return the view whose ends along an axis are to be filled.

    Earlier axes are complete. Later ones have the elements of the array only, and their
    ends are filled in their turn.
    """
    index = [slice(None)] * (axis + 1)
    for k in range(axis + 1, len(shape)):
        before = widths[k][0]
        index.append(slice(before, before + shape[k]))
    return result[tuple(index)]


def _statistic(function, a, axis, dtype):
    """Return a statistic along an axis, which stays, in the dtype of the result."""
    value = function(a, axis=axis, keepdims=True)
    if dtype.kind in "iu" and value.dtype.kind == "f":
        value = np.rint(value)
    return value.astype(dtype)


def _fill_statistics(view, axis, pair, lengths, mode):
    """Fill both ends of an axis with a statistic of the elements next to them."""
    before, after = pair
    length = view.shape[axis] - before - after
    first, last = (length if n is None else min(n, length) for n in lengths)
    function = _STATISTICS[mode]
    if before:
        near = _part(view, axis, before, before + first)
        value = _statistic(function, near, axis, view.dtype)
        _part(view, axis, 0, before)[...] = value
    if after:
        end = before + length
        near = _part(view, axis, end - last, end)
        value = _statistic(function, near, axis, view.dtype)
        _part(view, axis, end, None)[...] = value


def _counted(count, a, axis, first=0, step=1):
    """Return ``first``, ``first + step``, ... of int64, along one axis of an array."""
    numbers = GPUArray((count,), np.int64, a.allocator)
    _elementwise(_array_ops["arange"], (first, step), numbers, np.int64)
    return numbers.reshape((-1,) + (1,) * (a.ndim - 1 - axis))


def _ramp(edge, width, end_value, axis, backward):
    """Return the numbers from an end value to an edge, which is left out."""
    number = _counted(width, edge, axis)
    if backward:
        number = _counted(width, edge, axis, width - 1, -1)
    work = np.result_type(edge.dtype, np.float64)
    start = work.type(end_value)
    ramp = (edge.astype(work) - start) / width * number + start
    if edge.dtype.kind in "iu":  # whole numbers, modulo the range of the dtype
        return np.floor(ramp).astype(np.int64)
    return ramp


def _fill_ramps(view, axis, pair, ends):
    """Fill both ends of an axis with numbers that lead to the elements next to them."""
    before, after = pair
    if before:
        edge = _part(view, axis, before, before + 1)
        ramp = _ramp(edge, before, ends[0], axis, False)
        _part(view, axis, 0, before)[...] = ramp.astype(view.dtype)
    if after:
        end = view.shape[axis] - after
        edge = _part(view, axis, end - 1, end)
        ramp = _ramp(edge, after, ends[1], axis, True)
        _part(view, axis, end, None)[...] = ramp.astype(view.dtype)


def _odd(inside, axis, first, count, twice):
    """Return ``count`` elements of the odd reflection from place ``first`` on.

    Two reflections, one at each end, move the array by twice its length and add twice
    the difference of its ends. ``twice`` says that an edge is repeated ("symmetric").
    """
    length = inside.shape[axis]
    period = length if twice else length - 1
    place = _counted(count, inside, axis, first)
    turns = np.floor_divide(place, period)
    rest = place - turns * period
    odd = turns & 1
    mirrored = (period - 1 if twice else period) - rest
    source = where(odd == 1, mirrored, rest)
    shape = [1] * inside.ndim
    shape[axis] = count
    picked = elements.take_along_axis(inside, source.reshape(tuple(shape)), axis)
    dtype = inside.dtype
    left, right = _part(inside, axis, 0, 1), _part(inside, axis, length - 1, None)
    sign = (1 - 2 * odd).astype(dtype)
    return sign * picked + (
        (turns + odd).astype(dtype) * right - (turns - odd).astype(dtype) * left
    )


def _fill_odd_once(view, axis, pair, length, twice):
    """Fill both ends of an axis with one reflection each, as short as the axis."""
    before, after = pair
    end = before + length
    backward = (*(slice(None),) * axis, slice(None, None, -1))
    if before:
        edge = _part(view, axis, before, before + 1)
        first = before if twice else before + 1
        mirrored = _part(view, axis, first, first + before)[backward]
        _elementwise(_SUBTRACT, (edge + edge, mirrored), _part(view, axis, 0, before))
    if after:
        edge = _part(view, axis, end - 1, end)
        last = end if twice else end - 1
        mirrored = _part(view, axis, last - after, last)[backward]
        _elementwise(_SUBTRACT, (edge + edge, mirrored), _part(view, axis, end, None))


def _fill_odd(view, axis, pair, twice):
    """Fill both ends of an axis with the odd reflection of the elements."""
    before, after = pair
    length = view.shape[axis] - before - after
    inside = _part(view, axis, before, before + length)
    if length == 1 and not twice:  # nothing to reflect
        _part(view, axis, 0, before)[...] = inside
        _part(view, axis, before + 1, None)[...] = inside
        return
    dtype = inside.dtype
    if dtype.kind != "b" and max(pair) <= (length if twice else length - 1):
        _fill_odd_once(view, axis, pair, length, twice)
        return
    if dtype.kind == "b":
        inside = inside.astype(np.int64)
    if before:
        made = _odd(inside, axis, -before, before, twice)
        _part(view, axis, 0, before)[...] = made.astype(dtype)
    if after:
        made = _odd(inside, axis, length, after, twice)
        _part(view, axis, before + length, None)[...] = made.astype(dtype)


# -- pad -------------------------------------------------------------------------------


def _padded_by_axis(array, shape, widths, fill, stream):
    """Return the padded array; ``fill(view, axis, pair)`` fills the ends of an axis."""
    firsts = tuple(before for before, _ in widths)
    result = _remap(array, _RULES["empty"], shape, firsts, None, stream)
    with on_stream(stream):
        for axis, pair in enumerate(widths):
            if any(pair) and result.size:
                fill(_inside(result, axis, array.shape, widths), axis, pair)
    return result


def _pad_constant(array, shape, widths, constant_values, stream):
    """Return the array with constants at its ends."""
    firsts = tuple(before for before, _ in widths)
    values = np.asarray(
        constant_values
    )  # with a dtype, so they are converted as elements
    if values.ndim == 0:
        return _remap(array, _RULES["constant"], shape, firsts, values, stream)
    kind = values.dtype.type
    pairs = _pairs(values, array.ndim, "constant_values")
    values = [[kind(number) for number in pair] for pair in pairs]
    numbers = {repr(number) for pair in values for number in pair}
    if len(numbers) <= 1:
        value = values[0][0] if values else 0
        return _remap(array, _RULES["constant"], shape, firsts, value, stream)
    result = _remap(array, _RULES["empty"], shape, firsts, None, stream)
    for axis, (before, after) in enumerate(widths):  # a later axis decides at a corner
        if before:
            copy_into(_part(result, axis, 0, before), values[axis][0], stream)
        if after:
            end = shape[axis] - after
            copy_into(_part(result, axis, end, None), values[axis][1], stream)
    return result


def _pad_by_function(array, shape, widths, function, kwargs, stream):
    """Return the array whose lines a function of the program completes."""
    firsts = tuple(before for before, _ in widths)
    result = _remap(array, _RULES["constant"], shape, firsts, 0, stream)
    with on_stream(stream):
        for axis, pair in enumerate(widths):
            others = [range(n) for k, n in enumerate(shape) if k != axis]
            for place in itertools.product(*others):
                line = result[place[:axis] + (slice(None),) + place[axis:]]
                function(line, tuple(pair), axis, kwargs)
    return result


def _check_empty_axes(array, widths, mode):
    """Raise ValueError for an axis without elements that gets some from others."""
    for axis, (length, pair) in enumerate(zip(array.shape, widths, strict=True)):
        if length == 0 and any(pair):
            raise ValueError(
                f"axis {axis} of shape {array.shape} has no elements, and mode "
                f"{mode!r} has none to add: use 'constant' or 'empty'"
            )


def pad(array, pad_width, mode="constant", *, stream=None, **kwargs):
    """Return the array with more elements at both ends of each axis.

    Parameters
    ----------
    array : GPUArray
        Array of any dtype.
    pad_width : int, pair, sequence of pair or dict
        Numbers of elements: for all ends, a pair, a pair for each axis, or a dict of
        axes.
    mode : str or callable, optional
        One of NumPy's modes: "constant", "empty", "edge", "wrap", "reflect",
        "symmetric", "linear_ramp", "maximum", "mean", "median" or "minimum". A function
        ``f(line, (before, after), axis, kwargs)`` sets the ends of each line, a
        GPUArray with one axis, in place.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.
    **kwargs
        Keyword of the mode: ``constant_values``, ``reflect_type``, ``end_values`` or
        ``stat_length``.

    Returns
    -------
    GPUArray
        A new array of the same dtype.

    Raises
    ------
    ValueError
        If there is no such mode, keyword or width, or if an axis without elements gets
        some from others.

    Examples
    --------
    >>> gpuarray.pad(gpuarray.arange(3, dtype=np.int32), 1, mode="edge")
    array([0, 0, 1, 2, 2], dtype=int32)
    """
    widths = _widths(pad_width, array.ndim)
    shape = tuple(
        before + n + after
        for n, (before, after) in zip(array.shape, widths, strict=True)
    )
    if callable(mode):
        return _pad_by_function(array, shape, widths, mode, kwargs, stream)
    _check(mode, kwargs)
    if mode == "constant":
        values = kwargs.get("constant_values", 0)
        return _pad_constant(array, shape, widths, values, stream)
    firsts = tuple(before for before, _ in widths)
    if mode in _RULES and kwargs.get("reflect_type", "even") == "even":
        return _remap(array, _RULES[mode], shape, firsts, None, stream)
    _check_empty_axes(array, widths, mode)
    if mode == "linear_ramp":
        ends = _pairs(kwargs.get("end_values", 0), array.ndim, "end_values")

        def fill(view, axis, pair):
            _fill_ramps(view, axis, pair, ends[axis])

    elif mode in _STATISTICS:
        lengths = _lengths(kwargs.get("stat_length"), array.ndim)

        def fill(view, axis, pair):
            _fill_statistics(view, axis, pair, lengths[axis], mode)

    else:

        def fill(view, axis, pair):
            _fill_odd(view, axis, pair, mode == "symmetric")

    return _padded_by_axis(array, shape, widths, fill, stream)
