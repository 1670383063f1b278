"""Reductions with NumPy's parameters and their order."""

from __future__ import annotations

from pycuda._array.functions import reductions
from pycuda._array.numpy_calls import into


def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Return the sum along all axes or some. Small integers are added in 64 bits."""
    return reductions.sum(
        a, dtype, axis=axis, keepdims=keepdims, out=out, initial=initial, where=where
    )


def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Return the product along all axes or some."""
    return reductions.prod(
        a, dtype, axis=axis, keepdims=keepdims, out=out, initial=initial, where=where
    )


def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """Return the mean along all axes or some."""
    return reductions.mean(a, dtype, axis=axis, keepdims=keepdims, out=out, where=where)


def _spread(name, function):
    def call(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True):
        if dtype is not None:
            return reductions.deviation_in(
                name, a, dtype, axis, ddof, keepdims, out, where
            )
        return function(a, axis, ddof, keepdims, out=out, where=where)

    return call


var, std = _spread("var", reductions.var), _spread("std", reductions.std)


def _bound(function):
    def call(a, axis=None, out=None, keepdims=False, initial=None, where=True):
        return function(
            a, axis=axis, keepdims=keepdims, out=out, initial=initial, where=where
        )

    return call


min, max = _bound(reductions.min), _bound(reductions.max)


def _place(function):
    def call(a, axis=None, out=None, *, keepdims=False):
        return function(a, axis=axis, keepdims=keepdims, out=out)

    return call


argmin, argmax = _place(reductions.argmin), _place(reductions.argmax)


def _test(function):
    def call(a, axis=None, out=None, keepdims=False, *, where=True):
        return function(a, axis=axis, keepdims=keepdims, out=out, where=where)

    return call


any, all = _test(reductions.any), _test(reductions.all)


def count_nonzero(a, axis=None, *, keepdims=False):
    """Return the number of elements that are not 0."""
    return reductions.count_nonzero(a, axis=axis, keepdims=keepdims)


def ptp(a, axis=None, out=None, keepdims=False):
    """Return the difference of the greatest and the least element."""
    return into(max(a, axis, None, keepdims) - min(a, axis, None, keepdims), out)
