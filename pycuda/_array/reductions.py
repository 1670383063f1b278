"""Reductions: one result of all elements, or one along axes."""

from __future__ import annotations

import numpy as np

from pycuda._array.creation import allocator_of, full
from pycuda._array.masks import mask_of
from pycuda._array.operations import maximum
from pycuda._array.streams import on_stream
from pycuda._driver import _apply, _array_ops, _array_reductions, _plain_array, _reduce


def _reducer(name, doc):
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

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _bounder(name, doc):
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

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _placer(name, doc):
    number = _array_reductions[name]

    def function(
        a, stream=None, *, axis=None, keepdims=False, out=None, allocator=None
    ):
        return _reduce(number, (a,), axis, keepdims, None, out, stream, allocator)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _tester(name, doc):
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

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


# What joins a result with the initial one, and what changes nothing.
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
    number = _array_reductions[name]
    if initial is None and where is True:
        return _reduce(number, (a,), axis, keepdims, dtype, out, stream, allocator)
    joint, neutral = _JOINS[name]
    if where is not True:
        mask = mask_of(where, a)
        if neutral is None and initial is None:
            raise ValueError(f"{name}() with where= needs initial=")
        filler = a.dtype.type(initial if neutral is None else neutral)
        a = _apply(_array_ops["where"], (mask, a, filler), None, None, stream)
    if neutral is None and _plain_array(a).size == 0:  # which has no least element
        shape = _reduced_shape(a, axis, keepdims)
        result = full(shape, initial, a.dtype, allocator_of(allocator, a))
    else:
        result = _reduce(number, (a,), axis, keepdims, dtype, None, stream, allocator)
    if initial is not None:
        pair = (result, result.dtype.type(initial))
        result = _apply(_array_ops[joint], pair, result, None, stream)
    return _stored(result, out, stream)


def _reduced_shape(a, axis, keepdims):
    """Return the shape of a reduction."""
    return np.empty(a.shape, bool).any(axis=axis, keepdims=keepdims).shape


def _stored(result, out, stream):
    if out is None:
        return result
    if out.shape != result.shape:
        raise ValueError(f"the result has shape {result.shape}, out has {out.shape}")
    return _apply(_array_ops["copy"], (result,), out, None, stream)


_AXES = """

    Along all axes, or along ``axis`` (one, or a tuple); keepdims leaves those axes with
    length 1. The result is an array, without axes if none is left. ``where`` is a mask
    of the elements that count, ``initial`` a first one.
    """
sum = _reducer("sum", "Return the sum; small integers are summed as 64 bits." + _AXES)
prod = _reducer("prod", "Return the product." + _AXES)
min = _bounder("min", "Return the least element; ValueError without any." + _AXES)
max = _bounder("max", "Return the greatest element; ValueError without any." + _AXES)
argmin = _placer("argmin", "Return where the least element is, first." + _AXES)
argmax = _placer("argmax", "Return where the greatest element is, first." + _AXES)
count_nonzero = _placer("count_nonzero", "Return how many are not 0." + _AXES)
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
    """Return the mean, along all axes or along ``axis``, of all or where a mask is."""
    if where is True:
        number = _array_reductions["mean"]
        return _reduce(number, (a,), axis, keepdims, dtype, out, stream, allocator)
    if dtype is None:
        dtype = a.dtype if a.dtype.kind in "fc" else np.float64
    with on_stream(stream):
        result = _mean_where(a, mask_of(where, a), axis, keepdims)
        return _stored(result.astype(dtype), out, None)


def _wide(dtype):
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
    return _spread("var", a, axis, ddof, keepdims, out, stream, allocator, where)


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
    """Return the standard deviation, the root of the variance."""
    return _spread("std", a, axis, ddof, keepdims, out, stream, allocator, where)


def _spread(name, a, axis, ddof, keepdims, out, stream, allocator, where):
    dtype = np.dtype(a.dtype.char.lower() if a.dtype.kind in "fc" else np.float64)
    if where is not True:
        with on_stream(stream):
            result = _var_where(a, mask_of(where, a), axis, ddof, keepdims)
            result = np.sqrt(result) if name == "std" else result
            return _stored(result.astype(dtype), out, None)
    wide = _wide(a.dtype) if a.dtype.kind in "fc" else None
    middle = _reduce(_array_reductions["mean"], (a,), axis, True, wide, None, stream)
    number = _array_reductions[name]
    result = _reduce(
        number, (a, middle), axis, keepdims, None, None, stream, allocator, ddof
    )
    if result.dtype != dtype:
        result = result.astype(dtype, stream)
    return _stored(result, out, stream)


def dot(a, b, dtype=None, stream=None, allocator=None):
    """Return the sum of the products of the elements of two arrays of one size."""
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
