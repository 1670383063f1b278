"""Functions of a program applied to lines, parts and axes of arrays."""

from __future__ import annotations

import itertools

import numpy as np

from pycuda._array.functions.conversion import asarray
from pycuda._array.functions.operations import where
from pycuda._array.functions.shapes import expand_dims, moveaxis
from pycuda._array.layout import normal_axes, normal_axis
from pycuda._array.numpy_calls import as_mask
from pycuda._driver import (
    GPUArray,
    _any,
    _stack,
)


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """Return the results of a function applied to each line along an axis.

    Parameters
    ----------
    func1d : callable
        Function ``func1d(line, *args, **kwargs)`` that gets GPUArrays with one axis. It
        returns a number or a GPUArray, of the same shape for each line.
    axis : int
        Axis of the lines.
    arr : GPUArray
        Array of any dtype.
    *args
        Arguments for the function.
    **kwargs
        Keywords for the function.

    Returns
    -------
    GPUArray
        A new array. The axes of the results take the place of the axis.

    Raises
    ------
    ValueError
        If the array has no lines.

    Notes
    -----
    The function is called once for each line: a function of whole arrays is much
    faster.

    Examples
    --------
    >>> gpuarray.apply_along_axis(gpuarray.sum, 1, gpuarray.ones((2, 3)))
    array([3., 3.])
    """
    axis = normal_axis(axis, arr.ndim)
    outer = [n for k, n in enumerate(arr.shape) if k != axis]
    if 0 in outer:
        raise ValueError(
            f"apply_along_axis: an array of shape {arr.shape} has no lines along axis "
            f"{axis}"
        )
    results = []
    for place in itertools.product(*map(range, outer)):
        line = arr[place[:axis] + (slice(None),) + place[axis:]]
        results.append(asarray(func1d(line, *args, **kwargs)))
    shape = results[0].shape
    result = _stack(results, 0).reshape((*outer, *shape))
    for k in range(len(shape)):
        result = moveaxis(result, len(outer) + k, axis + k)
    return result


def apply_over_axes(func, a, axes):
    """Return the result of a function applied for one axis after the other.

    Parameters
    ----------
    func : callable
        Function ``func(a, axis)``.
    a : GPUArray
        Array of any dtype.
    axes : int or sequence of int
        The axes.

    Returns
    -------
    GPUArray
        The last result. A result with an axis less gets that axis back, with length 1.

    Raises
    ------
    ValueError
        If a result has another number of axes.

    Examples
    --------
    >>> total = lambda a, axis: a.sum(axis=axis)
    >>> gpuarray.apply_over_axes(total, gpuarray.ones((2, 3)), [0, 1])
    array([[6.]])
    """
    result = a
    for axis in np.atleast_1d(axes).tolist():
        axis = normal_axis(axis, a.ndim)
        found = func(result, axis)
        if found.ndim == result.ndim - 1:
            found = expand_dims(found, axis)
        if found.ndim != result.ndim:
            raise ValueError(
                f"apply_over_axes: the function returned an array of shape "
                f"{found.shape} for one of shape {result.shape}"
            )
        result = found
    return result


def piecewise(x, condlist, funclist, *args, **kw):
    """Return numbers, or functions of the elements, where conditions are true.

    Parameters
    ----------
    x : GPUArray
        Array of numbers.
    condlist : sequence of GPUArray
        Arrays of bool, or numbers, that broadcast with ``x``. A later one decides.
    funclist : sequence of number or callable
        A number or a function ``f(elements, *args, **kw)`` for each condition. One more
        is for the remaining elements, which are 0 otherwise.
    *args
        Arguments for the functions.
    **kw
        Keywords for the functions.

    Returns
    -------
    GPUArray
        A new array of the dtype of ``x``.

    Raises
    ------
    ValueError
        If the number of functions does not fit.

    See Also
    --------
    select : Arrays instead of functions.

    Notes
    -----
    The call waits for the device once for each function.

    Examples
    --------
    >>> x = gpuarray.to_gpu(np.array([-2.0, 3]))
    >>> gpuarray.piecewise(x, [x < 0, x >= 0], [lambda v: -v, 7])
    array([2., 7.])
    """
    if isinstance(condlist, GPUArray):
        condlist = list(condlist) if condlist.ndim > x.ndim else [condlist]
    conditions = [as_mask(asarray(c)) for c in condlist]
    functions = list(funclist)
    if len(functions) == len(conditions) + 1:
        rest = conditions[0]
        for condition in conditions[1:]:
            rest = rest | condition
        conditions.append(~rest)
    if len(functions) != len(conditions):
        raise ValueError(
            f"piecewise: there are {len(functions)} functions for {len(conditions)} "
            "conditions"
        )
    result = GPUArray(x.shape, x.dtype, x.allocator).fill(0)
    for condition, function in zip(conditions, functions, strict=True):
        if not callable(function):
            number = result.dtype.type(function)
            result = where(condition, number, result)
            continue
        elements = x[condition]
        if elements.size:
            result[condition] = function(elements, *args, **kw)
    return result


def trim_zeros(filt, trim="fb", axis=None):
    """Return a view without the zeros at the ends of axes.

    Parameters
    ----------
    filt : GPUArray
        Array of numbers.
    trim : {"f", "b", "fb"}, optional
        The ends: "f" is the front, "b" the back.
    axis : int or tuple of int, optional
        The axes. The default is all. What is cut off is zero in all elements of the
        other axes.

    Returns
    -------
    GPUArray
        A view.

    Raises
    ------
    ValueError
        If ``trim`` is something else.

    Notes
    -----
    The call waits for the number of zeros.

    Examples
    --------
    >>> gpuarray.trim_zeros(gpuarray.to_gpu(np.array([0, 1, 2, 0])))
    array([1, 2])
    """
    ends = trim.lower()
    if not ends or not {*ends} <= {*"fb"}:
        raise ValueError(f"trim_zeros: trim names 'f', 'b' or both, not {trim!r}")
    axes = normal_axes(axis, filt.ndim)
    bounds = [slice(None)] * filt.ndim
    for k in axes:
        others = tuple(each for each in range(filt.ndim) if each != k)
        places = np.flatnonzero(_any(filt, axis=others).get())
        if places.size == 0:
            bounds[k] = slice(0, 0)
            continue
        begin = int(places[0]) if "f" in ends else 0
        bounds[k] = slice(begin, int(places[-1]) + 1 if "b" in ends else None)
    return filt[tuple(bounds)]
