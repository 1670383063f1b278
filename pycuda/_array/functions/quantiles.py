"""Medians, quantiles and percentiles, from sorted lines.

A line is what is reduced: all elements, or those along some axes. The places of the
quantiles are computed on the host from ``q`` and the lengths; the elements stay on the
device. For the functions that skip NaNs, places are computed on the device.
"""

from __future__ import annotations

import numpy as np

from pycuda._array.copies import np_ravel
from pycuda._array.creation import full
from pycuda._array.functions import reductions
from pycuda._array.functions.operations import maximum, minimum, where
from pycuda._array.functions.sorting import along_axis, sort
from pycuda._array.layout import normal_axis
from pycuda._array.numpy_calls import into
from pycuda._array.streams import on_stream
from pycuda._driver import GPUArray, _plain_array

# -- the places of quantiles -----------------------------------------------------------


#: (alpha, beta) of the methods that interpolate: Hyndman and Fan, 1996.
_CONTINUOUS = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3.0, 1 / 3.0),
    "normal_unbiased": (3 / 8.0, 3 / 8.0),
}


def _half_if_between(n, q):
    place = (n - 1) * q
    return 0.5 * (np.floor(place) + np.ceil(place))


def _next_unless(n, q, shift, stays):
    """Return the place after ``n * q - shift``, or that place where ``stays`` says."""
    place = n * q - shift
    low = np.floor(place)
    return low + 1 - stays(place - low, low) * 1


#: The place of a quantile in a line of n elements, for the other methods.
_PLACES = {
    "linear": lambda n, q: (n - 1) * q,
    "lower": lambda n, q: np.floor((n - 1) * q),
    "higher": lambda n, q: np.ceil((n - 1) * q),
    "nearest": lambda n, q: np.rint((n - 1) * q),
    "midpoint": _half_if_between,
    "averaged_inverted_cdf": lambda n, q: n * q - 1,
    "inverted_cdf": lambda n, q: _next_unless(n, q, 1, lambda part, low: part == 0),
    "closest_observation": lambda n, q: _next_unless(
        n, q, 1.5, lambda part, low: (part == 0) & (low % 2 == 1)
    ),
}

#: Methods whose result is an element, of the dtype of the array.
_DISCRETE = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")


def _place(method, n, q):
    """Return the place of quantiles: numbers of the host, or arrays."""
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        return n * q + (alpha + q * (1 - alpha - beta)) - 1
    if method not in _PLACES:
        known = ", ".join(sorted((*_PLACES, *_CONTINUOUS)))
        raise ValueError(f"quantile: method is one of {known}, not {method!r}")
    return _PLACES[method](n, q)


def _weight(method, place, low):
    """Return how far between two elements the quantile is, 0 to 1."""
    if method == "midpoint":
        return (place % 1 != 0) * 0.5
    if method == "averaged_inverted_cdf":
        return 1.0 - (place == low) * 0.5
    return place - low


# -- lines -----------------------------------------------------------------------------


def _axes_of(a, axis):
    """Return the axes of the lines."""
    if axis is None:
        return tuple(range(a.ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    result = tuple(normal_axis(k, a.ndim) for k in axes)
    if len({*result}) != len(result):
        raise ValueError(f"axis {axis} names an axis twice")
    return result


def _sorted_lines(a, axes):
    """Return the lines as the last axis, sorted, and their number of elements."""
    kept = [k for k in range(a.ndim) if k not in axes]
    if len(axes) == 1:
        lines = a.transpose([*kept, *axes])
    else:
        shape = tuple(a.shape[k] for k in kept)
        length = int(np.prod([a.shape[k] for k in axes], dtype=object))
        lines = np_ravel(a.transpose([*kept, *axes])).reshape((*shape, length))
    return sort(lines), lines.shape[-1]


def _finished(result, a, axes, keepdims, out, lead=()):
    """Return a result with the axes that ``keepdims`` keeps, or ``out``."""
    if keepdims:
        kept = tuple(1 if k in axes else n for k, n in enumerate(a.shape))
        result = np_ravel(result).reshape((*lead, *kept))
    return into(result, out)


def _between(low, high, weight):
    """Return the values at ``weight`` between two arrays; exact at both ends."""
    step = high - low
    near_low = low + step * weight
    near_high = high - step * (1 - weight)
    if isinstance(weight, GPUArray):
        return where(weight >= 0.5, near_high, near_low)
    return near_high if weight >= 0.5 else near_low


def _with_nan(result, lines):
    """Return a result that is NaN for each line with a NaN: its last element is one."""
    if lines.dtype.kind in "biu":
        return result
    last = lines[..., -1]
    return where(last == last, result, last.astype(result.dtype))


# -- quantiles -------------------------------------------------------------------------


def _check_quantiles(q):
    """Return quantiles as an array of the host; ValueError if one is not in [0, 1]."""
    q = np.asarray(q.get() if isinstance(q, GPUArray) else q)
    if q.dtype.kind not in "biuf":
        raise TypeError(f"quantile: q must be real numbers, not {q.dtype}")
    if not ((q >= 0) & (q <= 1)).all():
        raise ValueError("quantile: every q must be in the range [0, 1]")
    return q


def _result_dtype(a, q, wanted, method):
    """Return the dtype of the result; ``wanted`` is ``q`` as an array of the host."""
    if method in _DISCRETE or (method == "linear" and wanted.dtype.kind in "iu"):
        return a.dtype  # the result is an element
    if type(q) in (int, float):
        return np.dtype(np.float64) if a.dtype.kind in "biu" else a.dtype
    kind = wanted.dtype if wanted.dtype.kind == "f" else np.dtype(np.float64)
    return np.result_type(a.dtype, kind, np.float64 if a.dtype.kind in "biu" else kind)


def _at(lines, length, place, method, dtype):
    """Return the quantile at one place of all lines."""
    place = np.float64(place)
    low = np.floor(min(max(place, 0.0), length - 1.0))
    first = lines[..., int(low)]
    weight = float(_weight(method, place, low)) if 0 <= place < length - 1 else 0.0
    if weight == 0 or first.dtype == dtype and method in _DISCRETE:
        return first.astype(dtype)
    second = lines[..., int(low) + 1].astype(dtype)
    return _between(first.astype(dtype), second, weight)


def quantile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
    stream=None,
):
    """Return the quantiles ``q``, from 0 to 1, of all elements or along axes.

    ``q`` is a number or an array of numbers, whose axes come first in the result.
    ``method`` is one of NumPy's 13. A line with a NaN has the quantile NaN. Integers
    become float64, unless the method returns elements.

    Raises TypeError for complex numbers, ValueError for ``q`` outside of [0, 1], for
    lines without elements, and for ``weights``, which are not supported.
    """
    if weights is not None:
        raise ValueError("quantile: weights are not supported")
    if a.dtype.kind == "c":
        raise TypeError(f"quantile takes real numbers, not {a.dtype}")
    axes = _axes_of(a, axis)
    wanted = _check_quantiles(q)
    dtype = _result_dtype(a, q, wanted, method)
    with on_stream(stream):
        lines, length = _sorted_lines(_plain_array(a), axes)
        if length == 0:
            raise ValueError(f"quantile: the lines of shape {a.shape} have no elements")
        places = np.asarray(_place(method, length, wanted))
        shape = lines.shape[:-1]
        if places.ndim == 0:
            result = _with_nan(_at(lines, length, places, method, dtype), lines)
            return _finished(result, a, axes, keepdims, out)
        result = GPUArray((places.size, *shape), dtype, a.allocator)
        for number, place in enumerate(places.ravel().tolist()):
            value = _at(lines, length, place, method, dtype)
            result[number] = _with_nan(value, lines)
        result = result.reshape((*places.shape, *shape))
        return _finished(result, a, axes, keepdims, out, places.shape)


def percentile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
    stream=None,
):
    """Return the percentiles ``q``, from 0 to 100: see ``quantile``."""
    return quantile(
        a,
        _hundredth(q),
        axis,
        out,
        overwrite_input,
        method,
        keepdims,
        weights=weights,
        stream=stream,
    )


def _hundredth(q):
    if isinstance(q, int | float) and not isinstance(q, np.generic):
        return q / 100
    q = np.asarray(q.get() if isinstance(q, GPUArray) else q)
    return q / q.dtype.type(100) if q.dtype.kind == "f" else q / 100


def median(
    a, axis=None, out=None, overwrite_input=False, keepdims=False, *, stream=None
):
    """Return the median of all elements or along axes.

    It is the middle element of a sorted line, or the mean of both middle elements. A
    line with a NaN or without elements has the median NaN. Integers become float64.
    """
    axes = _axes_of(a, axis)
    dtype = np.dtype(np.float64) if a.dtype.kind in "biu" else a.dtype
    with on_stream(stream):
        lines, length = _sorted_lines(_plain_array(a), axes)
        if length == 0:
            shape = lines.shape[:-1]
            return _finished(full(shape, np.nan, dtype), a, axes, keepdims, out)
        middle = length // 2
        result = lines[..., middle].astype(dtype)
        if length % 2 == 0:
            result = _mean_of_two(lines[..., middle - 1].astype(dtype), result)
        result = _with_nan(result, lines)
        return _finished(result, a, axes, keepdims, out)


def _mean_of_two(a, b):
    if a.dtype.itemsize == 2:  # the sum may be too large
        both = a.astype(np.float32) + b.astype(np.float32)
        return (both / np.float32(2)).astype(a.dtype)
    return (a + b) / a.dtype.type(2)


# -- without NaNs ----------------------------------------------------------------------


def nanquantile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
    stream=None,
):
    """Return quantiles of the elements that are not NaN: see ``quantile``.

    A line without such elements has the quantile NaN.
    """
    if weights is not None:
        raise ValueError("nanquantile: weights are not supported")
    if a.dtype.kind in "biuc":
        return quantile(
            a, q, axis, out, overwrite_input, method, keepdims, stream=stream
        )
    axes = _axes_of(a, axis)
    wanted = _check_quantiles(q)
    dtype = _result_dtype(a, q, wanted, method)
    with on_stream(stream):
        lines, length = _sorted_lines(_plain_array(a), axes)
        if length == 0:
            result = full((*wanted.shape, *lines.shape[:-1]), np.nan, dtype)
            return _finished(result, a, axes, keepdims, out, wanted.shape)
        count = reductions.count_nonzero(lines == lines, axis=-1)
        result = GPUArray((wanted.size, *count.shape), dtype, a.allocator)
        for number, one in enumerate(wanted.ravel().tolist()):
            result[number] = _at_counted(lines, count, one, method, dtype)
        result = result.reshape((*wanted.shape, *count.shape))
        return _finished(result, a, axes, keepdims, out, wanted.shape)


def _at_counted(lines, count, q, method, dtype):
    """Return the quantile of the first ``count`` elements of each line, an array."""
    place = _place(method, count.astype(np.float64), q)
    last = maximum(count - 1, 0)
    low = np.floor(maximum(minimum(place, last.astype(np.float64)), 0.0))
    at_low = low.astype(np.int64)
    first = _elements(lines, at_low).astype(dtype)
    if method in _DISCRETE:
        return first
    second = _elements(lines, minimum(at_low + 1, last)).astype(dtype)
    between = (place >= 0) & (place < last.astype(np.float64))
    weight = where(between, _weight(method, place, low), 0.0).astype(dtype)
    return _between(first, second, weight)


def _elements(lines, places):
    """Return one element of each line."""
    if lines.ndim == 1:
        return along_axis(lines, places.reshape(1), 0).reshape(())
    return along_axis(lines, places.reshape((*places.shape, 1)), -1)[..., 0]


def nanpercentile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    weights=None,
    stream=None,
):
    """Return percentiles of the elements that are not NaN: see ``nanquantile``."""
    return nanquantile(
        a,
        _hundredth(q),
        axis,
        out,
        overwrite_input,
        method,
        keepdims,
        weights=weights,
        stream=stream,
    )


def nanmedian(
    a, axis=None, out=None, overwrite_input=False, keepdims=False, *, stream=None
):
    """Return the median of the elements that are not NaN: see ``median``."""
    if a.dtype.kind in "biu":
        return median(a, axis, out, overwrite_input, keepdims, stream=stream)
    axes = _axes_of(a, axis)
    with on_stream(stream):
        lines, length = _sorted_lines(_plain_array(a), axes)
        if length == 0:
            shape = lines.shape[:-1]
            return _finished(full(shape, np.nan, a.dtype), a, axes, keepdims, out)
        count = reductions.count_nonzero(lines == lines, axis=-1)
        low = _elements(lines, maximum((count - 1) // 2, 0))
        high = _elements(lines, minimum(count // 2, maximum(count - 1, 0)))
        return _finished(_mean_of_two(low, high), a, axes, keepdims, out)
