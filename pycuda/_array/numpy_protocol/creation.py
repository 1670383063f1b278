"""NumPy's functions that make arrays, for ``like=x`` of a GPUArray and for ``*_like``.

NumPy calls them without ``like``, with the parameters of its own functions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pycuda._array import creation
from pycuda._array.functions import conversion
from pycuda._array.layout import array_like_helper
from pycuda._driver import GPUArray, _array_ops, _elementwise, to_gpu

# -- ranges ----------------------------------------------------------------------------

_EXACT = 2**53


def _steps(start, stop, step):
    """Return the number of elements of arange()."""
    if step == 0:
        raise ValueError("arange() needs a step other than 0")
    if all(isinstance(value, int) for value in (start, stop, step)):
        return max(-((start - stop) // step), 0)
    return max(math.ceil((stop - start) / step), 0)


def _wrapped(value, dtype):
    """Return a number in a dtype, as NumPy converts: integers modulo the range."""
    if dtype.kind in "iu" and isinstance(value, int):
        bits = 8 * dtype.itemsize
        value %= 1 << bits
        if dtype.kind == "i" and value >> (bits - 1):
            value -= 1 << bits
    return np.asarray(value).astype(dtype)[()]


def _first_and_step(start, step, size, dtype):
    """Return the first number of a range and NumPy's step: of the first two."""
    whole = isinstance(start, int) and isinstance(step, int)
    if dtype == np.int64 and whole and max(abs(start), abs(step)) <= _EXACT:
        return start, step
    if dtype == np.float64 and not isinstance(start, np.generic):
        first = float(start)
        return first, float(start + step) - first
    first = _wrapped(start, dtype)
    with np.errstate(over="ignore"):
        return first, _wrapped(start + step, dtype) - first if size > 1 else first


def arange(start=None, stop=None, step=None, dtype=None):
    """Return the numbers of ``numpy.arange``, with its dtype and its rounding."""
    if stop is None:
        start, stop = None, start
    if stop is None:
        raise TypeError("arange() needs stop")
    start, step = 0 if start is None else start, 1 if step is None else step
    dtype = np.dtype(np.result_type(start, stop, step) if dtype is None else dtype)
    size = _steps(start, stop, step)
    result = GPUArray((size,), dtype)
    if size == 0:
        return result
    numbers = _first_and_step(start, step, size, dtype)
    return _elementwise(_array_ops["arange"], numbers, result, dtype)


# -- shapes and values -----------------------------------------------------------------


def _filled(array, value):
    """Set all elements to a number, or to those of a value that broadcasts."""
    if isinstance(value, GPUArray):
        array[...] = value
        return array
    if np.ndim(value):
        array[...] = conversion.asarray(value, array.dtype)
        return array
    return array.fill(value)


def _new(value):
    """Return a function that makes an array of one value; None sets no elements."""

    def call(shape, dtype=None, order="C"):
        dtype = np.float64 if dtype is None else dtype
        if value == 0:
            return creation.zeros(shape, dtype, order=order)
        result = GPUArray(shape, dtype, order=order)
        return result if value is None else result.fill(value)

    return call


def full(shape, fill_value, dtype=None, order="C"):
    """Return an array of one value, or of the values of an array that broadcasts."""
    if dtype is None:
        on_device = isinstance(fill_value, GPUArray)
        dtype = (fill_value if on_device else np.asarray(fill_value)).dtype
    return _filled(GPUArray(shape, dtype, order=order), fill_value)


def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0):
    """Return an object as an array with at least ``ndmin`` axes."""
    order = None if order in ("K", "A") else order
    result = conversion.asarray(object, dtype, order, copy=copy)
    return result[(None,) * (ndmin - result.ndim)] if result.ndim < ndmin else result


def _empty_like(a, dtype, order, shape):
    if shape is None:
        return creation.empty_like(a, dtype, order)
    dtype, order, _ = array_like_helper(a, dtype, order)
    for name in dtype.names or ():
        field, offset = dtype.fields[name][:2]
        if (offset | dtype.itemsize) % field.alignment:  # dask then keeps two arrays
            raise TypeError(
                f"shape= needs records whose fields are aligned, and field {name!r} of "
                f"{dtype} is not: use np.dtype(..., align=True)"
            )
    return GPUArray(shape, dtype, a.allocator, order=order)


def _like(value):
    """Return NumPy's ``zeros_like`` or ``ones_like``; None sets no elements."""

    def call(a, dtype=None, order="K", shape=None):
        if value == 0 and shape is None:
            return creation.zeros_like(a, dtype, order)
        result = _empty_like(a, dtype, order, shape)
        return result if value is None else result.fill(value)

    return call


def full_like(a, fill_value, dtype=None, order="K", shape=None):
    """Return an array of one value. Dtype and shape are another's by default."""
    return _filled(_empty_like(a, dtype, order, shape), fill_value)


# -- what NumPy reads ------------------------------------------------------------------


def _of_host(function):
    """Return a function that copies NumPy's result to the device."""

    def call(*args, **kwargs):
        return to_gpu(function(*args, **kwargs))

    return call


def like_device(function):
    """Return a function that also takes NumPy's ``device``, which must be None."""

    def call(*args, device=None, **kwargs):
        if device is not None:
            raise TypeError(f"device= is for arrays in host memory, not {device!r}")
        return function(*args, **kwargs)

    return call


_FOR_LIKE: dict[Any, Any] = {
    np.arange: arange,
    np.asanyarray: conversion.asarray,
    np.asarray: conversion.asarray,
    np.empty: _new(None),
    np.full: full,
    np.ones: _new(1),
    np.zeros: _new(0),
}
_READING = (
    *(np.frombuffer, np.fromfile, np.fromiter, np.fromstring),
    *(np.genfromtxt, np.loadtxt),
)

FUNCTIONS: dict[Any, Any] = {
    **{function: like_device(ours) for function, ours in _FOR_LIKE.items()},
    **{function: _of_host(function) for function in _READING},
    np.array: array,
    np.empty_like: _like(None),
    np.full_like: full_like,
    np.ones_like: _like(1),
    np.zeros_like: _like(0),
}
