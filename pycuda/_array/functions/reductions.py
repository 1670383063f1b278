"""Reductions: one result of all elements, or results along axes; weighted means."""

from __future__ import annotations

import numpy as np

from pycuda._array.copies import np_reshape, on_stream
from pycuda._array.creation import allocator_of, full
from pycuda._array.functions.operations import maximum
from pycuda._array.layout import broadcast_to, normal_axis
from pycuda._array.numpy_calls import into, mask_of
from pycuda._driver import (
    _array_ops,
    _array_reductions,
    _elementwise,
    _mean,
    _plain_array,
    _reduce,
    _sum,
)


def _named(function, name, doc):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _reducer(name, doc):
    """Return ``sum`` or ``prod``."""

    def function(
        a,
        dtype=None,
        stream=None,
        allocator=None,
        *,
        axis=None,
        keepdims=False,
        out=None,
        initial=None,
        where=True,
    ):
        return _reduced(
            name, a, axis, keepdims, dtype, out, stream, allocator, initial, where
        )

    return _named(function, name, doc)


def _bounder(name, doc):
    """Return ``min`` or ``max``."""

    def function(
        a,
        stream=None,
        *,
        axis=None,
        keepdims=False,
        out=None,
        allocator=None,
        initial=None,
        where=True,
    ):
        return _reduced(
            name, a, axis, keepdims, None, out, stream, allocator, initial, where
        )

    return _named(function, name, doc)


def _placer(name, doc):
    """Return ``argmin``, ``argmax`` or ``count_nonzero``."""
    number = _array_reductions[name]

    def function(
        a, stream=None, *, axis=None, keepdims=False, out=None, allocator=None
    ):
        return _reduce(number, (a,), axis, keepdims, None, out, stream, allocator)

    return _named(function, name, doc)


def _tester(name, doc):
    """Return ``any`` or ``all``."""

    def function(
        a,
        stream=None,
        allocator=None,
        axis=None,
        keepdims=False,
        out=None,
        *,
        initial=None,
        where=True,
    ):
        return _reduced(
            name, a, axis, keepdims, None, out, stream, allocator, initial, where
        )

    return _named(function, name, doc)


# (operation that joins a result with ``initial``, its neutral element)
_JOINS = {
    "sum": ("add", 0),
    "prod": ("multiply", 1),
    "min": ("minimum", None),
    "max": ("maximum", None),
    "any": ("logical_or", 0),
    "all": ("logical_and", 1),
}


def _reduced(
    name, a, axis, keepdims, dtype, out, stream, allocator, initial=None, where=True
):
    """Reduce with NumPy's ``initial`` and ``where``, which the kernels do not know."""
    number = _array_reductions[name]
    if initial is None and where is True:
        return _reduce(number, (a,), axis, keepdims, dtype, out, stream, allocator)
    joint, neutral = _JOINS[name]
    if where is not True:
        mask = mask_of(where, a)
        if neutral is None and initial is None:
            raise ValueError(f"{name}() with where= needs initial=")
        filler = a.dtype.type(initial if neutral is None else neutral)
        a = _elementwise(_array_ops["where"], (mask, a, filler), None, None, stream)
    if neutral is None and _plain_array(a).size == 0:  # there is no least element
        shape = _reduced_shape(a, axis, keepdims)
        result = full(shape, initial, a.dtype, allocator_of(allocator, a))
    else:
        result = _reduce(number, (a,), axis, keepdims, dtype, None, stream, allocator)
    if initial is not None:
        pair = (result, result.dtype.type(initial))
        result = _elementwise(_array_ops[joint], pair, result, None, stream)
    return _stored(result, out, stream)


def _reduced_shape(a, axis, keepdims):
    """Return the shape of the result of a reduction."""
    return np.empty(a.shape, bool).any(axis=axis, keepdims=keepdims).shape


def _stored(result, out, stream, casting="unsafe"):
    """Return a result, or ``out`` with a copy of it: NumPy's reductions convert it."""
    if out is None:
        return result
    with on_stream(stream):
        return into(result, out, casting)


_AXES = """

    The reduction is along all axes or along ``axis``, a number or a tuple. With
    ``keepdims`` these axes stay with length 1. The result is always an array, which may
    have no axes. ``where`` is a mask of the elements that count. ``initial`` is one
    more element.
    """
sum = _reducer("sum", "Return the sum. Small integers are added in 64 bits." + _AXES)
prod = _reducer("prod", "Return the product." + _AXES)
min = _bounder("min", "Return the least element; ValueError if none." + _AXES)
max = _bounder("max", "Return the greatest element; ValueError if none." + _AXES)
argmin = _placer("argmin", "Return the index of the first least element." + _AXES)
argmax = _placer("argmax", "Return the index of the first greatest element." + _AXES)
count_nonzero = _placer("count_nonzero", "Return the number that are not 0." + _AXES)
any = _tester("any", "Return whether any element is true." + _AXES)
all = _tester("all", "Return whether all elements are true." + _AXES)


def mean(
    a,
    dtype=None,
    stream=None,
    allocator=None,
    *,
    axis=None,
    keepdims=False,
    out=None,
    where=True,
):
    """Return the mean, along all axes or along ``axis``.

    ``where`` is a mask of the elements that count.
    """
    if where is True:
        number = _array_reductions["mean"]
        return _reduce(number, (a,), axis, keepdims, dtype, out, stream, allocator)
    if dtype is None:
        dtype = a.dtype if a.dtype.kind in "fc" else np.float64
    with on_stream(stream):
        result = _mean_where(a, mask_of(where, a), axis, keepdims)
        return _stored(result.astype(dtype), out, None)


def _wide(dtype):
    """Return the dtype of double precision for sums of a dtype."""
    return np.dtype(np.complex128 if dtype.kind == "c" else np.float64)


def _mean_where(a, mask, axis, keepdims):
    total = sum(a, _wide(a.dtype), axis=axis, keepdims=keepdims, where=mask)
    return total / count_nonzero(mask, axis=axis, keepdims=keepdims)


def _var_where(a, mask, axis, ddof, keepdims):
    distance = abs(a.astype(_wide(a.dtype)) - _mean_where(a, mask, axis, True))
    total = sum(distance * distance, axis=axis, keepdims=keepdims, where=mask)
    count = count_nonzero(mask, axis=axis, keepdims=keepdims)
    return total / maximum(count - ddof, 0)


def var(
    a,
    axis=None,
    ddof=0,
    keepdims=False,
    *,
    out=None,
    stream=None,
    allocator=None,
    where=True,
):
    """Return the variance: the mean squared distance from the mean."""
    return _deviation("var", a, axis, ddof, keepdims, out, stream, allocator, where)


def std(
    a,
    axis=None,
    ddof=0,
    keepdims=False,
    *,
    out=None,
    stream=None,
    allocator=None,
    where=True,
):
    """Return the standard deviation: the root of the variance."""
    return _deviation("std", a, axis, ddof, keepdims, out, stream, allocator, where)


#: By which rule a deviation is stored in ``out``: NumPy's square root is not converted.
STORED = {"var": "unsafe", "std": "same_kind"}


def _deviation(name, a, axis, ddof, keepdims, out, stream, allocator, where):
    """Return the variance ("var") or the standard deviation ("std")."""
    dtype = np.dtype(a.dtype.char.lower() if a.dtype.kind in "fc" else np.float64)
    if where is not True:
        with on_stream(stream):
            result = _var_where(a, mask_of(where, a), axis, ddof, keepdims)
            if name == "std":
                result = np.sqrt(result)
            return _stored(result.astype(dtype), out, None, STORED[name])
    result = _reduce(
        _array_reductions[name],
        (a,),
        axis,
        keepdims,
        stream=stream,
        allocator=allocator,
        ddof=ddof,
    )
    if result.dtype != dtype:
        result = result.astype(dtype, stream)
    return _stored(result, out, stream, STORED[name])


def deviation_in(name, a, dtype, axis, ddof, keepdims, out, where):
    """Return "var" or "std" with NumPy's argument ``dtype``.

    In an exact dtype, or with only one of the two complex, each step of NumPy is made:
    the mean and the squares have the dtype.
    """
    dtype = np.dtype(dtype)
    if dtype.kind not in "biuc" and a.dtype.kind != "c":
        return _deviation(
            name, a.astype(dtype), axis, ddof, keepdims, out, None, None, where
        )
    mask = True if where is True else mask_of(where, a)
    counted = full(a.shape, True, bool, a.allocator) if where is True else mask
    count = count_nonzero(counted, axis=axis, keepdims=True)
    total = sum(a, dtype, axis=axis, keepdims=True, where=mask)
    distance = abs(a - (total / count).astype(dtype))
    total = sum(distance * distance, dtype, axis=axis, keepdims=keepdims, where=mask)
    result = (total / maximum(count - ddof, 0).reshape(total.shape)).astype(dtype)
    if name == "std":
        result = np.sqrt(result).astype(dtype)
    return _stored(result, out, None, STORED[name])


def ptp(a, axis=None, out=None, *, keepdims=False, stream=None, allocator=None):
    """Return the difference of the greatest and the least element of bool arrays."""
    with on_stream(stream):
        most = max(a, axis=axis, keepdims=keepdims, allocator=allocator)
        least = min(a, axis=axis, keepdims=keepdims)
        return _stored(most - least, out, None, "same_kind")


def dot(a, b, dtype=None, stream=None, allocator=None):
    """Return the sum of the products of the elements of two arrays."""
    if a.shape != b.shape:
        if _plain_array(a).size != _plain_array(b).size:
            raise ValueError(f"arrays of shape {a.shape} and {b.shape} have no dot")
        a, b = a.ravel(), b.ravel()
    return _reduce(
        _array_reductions["dot"],
        (a, b),
        dtype=dtype,
        stream=stream,
        allocator=allocator,
    )


# -- weighted means --------------------------------------------------------------------


def average(
    a,
    axis=None,
    weights=None,
    returned=False,
    *,
    keepdims=False,
    stream=None,
    allocator=None,
):
    """Return the weighted mean, along all axes or along ``axis``.

    ``weights`` have the shape of ``a``, or of ``a`` along ``axis``. With ``returned``
    the result is a tuple of the mean and the sums of the weights. A sum of 0
    gives NaN or infinity: the call does not wait to find out. TypeError for shapes that
    differ without an axis, ValueError if the weights do not fit the axes.
    """
    with on_stream(stream):
        if weights is None:
            result = _mean(a, allocator=allocator, axis=axis, keepdims=keepdims)
            if not returned:
                return result
            count = _plain_array(a).size // (_plain_array(result).size or 1)
            return result, full(result.shape, count, result.dtype, allocator)
        exact = a.dtype.kind in "biu"
        dtype = np.result_type(a.dtype, weights.dtype, *(["f8"] if exact else []))
        weights = _weights_along(a, axis, weights)
        # One kernel multiplies and adds; the weights may be broadcast.
        total = _reduce(
            _array_reductions["dot"],
            (a, weights),
            axis,
            keepdims,
            dtype,
            allocator=allocator,
        )
        scale = _sum(
            broadcast_to(weights, a.shape), dtype, axis=axis, keepdims=keepdims
        )
        result = total / scale
        return (result, scale) if returned else result


def _weights_along(a, axis, weights):
    """Return the weights in a shape that broadcasts to the array's."""
    if weights.shape == a.shape:
        return weights
    if axis is None:
        raise TypeError(
            f"average: a has shape {a.shape}, weights have shape {weights.shape}; "
            "give the axis of the weights"
        )
    axes = [normal_axis(k, a.ndim) for k in (axis if np.iterable(axis) else (axis,))]
    if weights.shape != tuple(a.shape[k] for k in axes):
        raise ValueError(
            f"average: weights have shape {weights.shape}, a has shape {a.shape}, of "
            f"which the axes are {axis}"
        )
    order = sorted(range(len(axes)), key=axes.__getitem__)
    shape = [1] * a.ndim
    for k in axes:
        shape[k] = a.shape[k]
    return np_reshape(weights.transpose(order), tuple(shape))
