"""Reductions that no kernel does, weighted means, sums that leave out NaN.

The public reductions are C. Their text signatures describe them.
"""

from __future__ import annotations

import numpy as np

from pycuda._array.copies import np_reshape, on_stream
from pycuda._array.creation import allocator_of, full
from pycuda._array.functions.conversion import operand
from pycuda._array.functions.operations import maximum, where as where_
from pycuda._array.layout import broadcast_to, normal_axes
from pycuda._array.numpy_calls import into, mask_of
from pycuda._driver import (
    GPUArray,
    _array_ops,
    _array_reductions,
    _count_nonzero as count_nonzero,
    _cumprod,
    _cumsum,
    _elementwise,
    _max as max,
    _mean,
    _min as min,
    _plain_array,
    _reduce,
    _std,
    _sum as sum,
    _var,
)

# (operation that joins a result with ``initial``, its neutral element)
_JOINS = {
    "sum": ("add", 0),
    "prod": ("multiply", 1),
    "min": ("minimum", None),
    "max": ("maximum", None),
    "any": ("logical_or", 0),
    "all": ("logical_and", 1),
}


def general(
    name,
    a,
    axis=None,
    dtype=None,
    out=None,
    keepdims=False,
    initial=None,
    where=True,
    ddof=0,
    stream=None,
    allocator=None,
):
    """Return a reduction that no kernel does, under its name in ``pycuda.gpuarray``.

    C calls this function with the arguments of its own: for ``initial``, for ``where``,
    for deviations in another dtype, for dtypes that would lose NaN, and for ``ptp`` of
    bool arrays.
    """
    if name == "ptp":
        with on_stream(stream):
            most = max(a, axis=axis, keepdims=keepdims, allocator=allocator)
            least = min(a, axis=axis, keepdims=keepdims)
            return _stored(most - least, out, None, _STORED[name])
    skips_nan = name.startswith("nan")
    if skips_nan:
        name = name.removeprefix("nan")
        if name not in _JOINS:
            _check_inexact(a, dtype, out)
        where = _without_nan(a, where, stream)
    if name in _JOINS:
        return _reduced(
            name, a, axis, keepdims, dtype, out, stream, allocator, initial, where
        )
    with on_stream(stream):
        if name == "mean":
            if dtype is None:
                dtype = a.dtype if a.dtype.kind in "fc" else np.float64
            result = _mean_where(a, mask_of(where, a), axis, keepdims).astype(dtype)
        elif dtype is None:
            dtype = _real_dtype(a.dtype)
            result = _var_where(a, mask_of(where, a), axis, ddof, keepdims)
            result = (root(result) if name == "std" else result).astype(dtype)
        else:
            result = _deviation_in(name, a, dtype, axis, ddof, keepdims, where)
        if skips_nan and name != "mean" and a.dtype.kind in "fc":
            # Too few elements have no deviation.
            count = count_nonzero(mask_of(where, a), axis=axis, keepdims=keepdims)
            result = where_(count > ddof, result, result.dtype.type(np.nan))
        return _stored(result, out, None, _STORED.get(name, "unsafe"))


def _reduced(
    name, a, axis, keepdims, dtype, out, stream, allocator, initial=None, where=True
):
    """Reduce with NumPy's ``initial`` and ``where``."""
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
        number = _array_reductions[name]
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


def _without_nan(a, where, stream):
    """Return the mask of the elements that count."""
    mask = _elementwise(_array_ops["isnan"], (a,), None, None, stream)
    mask = _elementwise(_array_ops["logical_not"], (mask,), None, None, stream)
    if where is True:
        return mask
    pair = (mask, mask_of(where, a))
    return _elementwise(_array_ops["logical_and"], pair, None, None, stream)


def _check_inexact(a, dtype, out):
    """Refuse an exact dtype for the mean or the deviation of floats, as NumPy does."""
    if a.dtype.kind in "biu":
        return
    for name, asked in (("dtype", dtype), ("out", getattr(out, "dtype", None))):
        if asked is not None and np.dtype(asked).kind in "biu":
            raise TypeError(
                f"{name} must be a floating-point dtype for an array of {a.dtype}, not "
                f"{np.dtype(asked)}; convert the result with astype()"
            )


# -- means and deviations --------------------------------------------------------------


def _wide(dtype):
    """Return the dtype of double precision for sums of a dtype."""
    return np.dtype(np.complex128 if dtype.kind == "c" else np.float64)


def _real_dtype(dtype):
    """Return the dtype of the deviation of elements of a dtype."""
    return np.dtype(dtype.char.lower() if dtype.kind in "fc" else np.float64)


def _mean_where(a, mask, axis, keepdims):
    total = sum(a, _wide(a.dtype), axis=axis, keepdims=keepdims, where=mask)
    return total / count_nonzero(mask, axis=axis, keepdims=keepdims)


def _var_where(a, mask, axis, ddof, keepdims):
    distance = abs(a.astype(_wide(a.dtype)) - _mean_where(a, mask, axis, True))
    total = sum(distance * distance, axis=axis, keepdims=keepdims, where=mask)
    count = count_nonzero(mask, axis=axis, keepdims=keepdims)
    return total / maximum(count - ddof, 0)


def root(a):
    """Return the square roots. np.sqrt() of NumPy 2.4 leaks if an allocation fails."""
    return _elementwise(_array_ops["sqrt"], (a,), None, None, None)


#: By which rule a result is stored in ``out``: NumPy converts the others.
_STORED = {"std": "same_kind", "ptp": "same_kind"}


def _deviation_in(name, a, dtype, axis, ddof, keepdims, where):
    """Return "var" or "std" with NumPy's argument ``dtype``.

    In an exact dtype, or with only one of the two complex, each step of NumPy is made:
    the mean and the squares have the dtype.
    """
    dtype = np.dtype(dtype)
    if dtype.kind not in "biuc" and a.dtype.kind != "c":
        function = {"var": _var, "std": _std}[name]
        return function(a.astype(dtype), axis, ddof, keepdims, where=where)
    mask = True if where is True else mask_of(where, a)
    counted = full(a.shape, True, bool, a.allocator) if where is True else mask
    count = count_nonzero(counted, axis=axis, keepdims=True)
    total = sum(a, dtype, axis=axis, keepdims=True, where=mask)
    distance = abs(a - (total / count).astype(dtype))
    total = sum(distance * distance, dtype, axis=axis, keepdims=keepdims, where=mask)
    result = (total / maximum(count - ddof, 0).reshape(total.shape)).astype(dtype)
    return root(result).astype(dtype) if name == "std" else result


def dot(a, b, dtype=None, stream=None, allocator=None):
    """Return the sum of the products of the elements of two arrays.

    Parameters
    ----------
    a : GPUArray
        First array.
    b : GPUArray
        Second array, with as many elements.
    dtype : dtype_like, optional
        Dtype of the result. The default is the common dtype.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.
    allocator : callable, optional
        Function of a number of bytes that returns device memory. The default is the
        allocator of the array.

    Returns
    -------
    GPUArray
        A new array without axes.

    Raises
    ------
    ValueError
        If the arrays differ in size.

    See Also
    --------
    matmul : The product of matrices.

    Notes
    -----
    The call does not wait. As in PyCUDA, ``dot`` of matrices is a number.

    Examples
    --------
    >>> x = gpuarray.arange(4, dtype=np.float32)
    >>> print(gpuarray.dot(x, x))
    14.0
    """
    if a.shape != b.shape:
        if _plain_array(a).size != _plain_array(b).size:
            raise ValueError(
                f"dot: arrays of shape {a.shape} and {b.shape} differ in the number of "
                "elements; matmul() multiplies matrices"
            )
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
    """Return the weighted mean.

    Parameters
    ----------
    a : GPUArray
        Array of numbers.
    axis : int or tuple of int, optional
        Axes along which to compute. The default is all axes.
    weights : GPUArray, optional
        The weights, in the shape of ``a`` or of ``a`` along ``axis``. The default is
        equal weights.
    returned : bool, optional
        If true, return the sums of the weights too.
    keepdims : bool, optional
        If true, the result keeps the axes along which it was computed, with length 1.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.
    allocator : callable, optional
        Function of a number of bytes that returns device memory. The default is the
        allocator of the array.

    Returns
    -------
    GPUArray or tuple of GPUArray
        The mean, and the sums of the weights.

    Raises
    ------
    TypeError
        If the shapes differ and no axis is given.
    ValueError
        If the weights do not fit the axes.

    See Also
    --------
    mean : Equal weights.

    Notes
    -----
    The call does not wait. A sum of weights of 0 gives NaN or infinity.

    Examples
    --------
    >>> x = gpuarray.to_gpu(np.array([1.0, 2]))
    >>> print(gpuarray.average(x, weights=gpuarray.to_gpu(np.array([3.0, 1]))))
    1.25
    """
    with on_stream(stream):
        if weights is None:
            result = _mean(a, allocator=allocator, axis=axis, keepdims=keepdims)
            if not returned:
                return result
            count = _plain_array(a).size // (_plain_array(result).size or 1)
            return result, full(result.shape, count, result.dtype, allocator)
        a, weights = operand("average", a), operand("average", weights)
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
        scale = sum(broadcast_to(weights, a.shape), dtype, axis=axis, keepdims=keepdims)
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
    axes = normal_axes(axis, a.ndim)
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


# -- cumulative operations in which NaNs do not count ---------------------------------


def _replaced_nan(a, value, stream):
    """Return an array with a value in place of NaNs; integers as they are."""
    if not isinstance(a, GPUArray) or a.dtype.kind not in "fc":
        return a
    is_nan = _elementwise(_array_ops["isnan"], (a,), None, None, stream)
    where = _array_ops["where"]
    return _elementwise(where, (is_nan, a.dtype.type(value), a), None, None, stream)


def nancumsum(a, axis=None, dtype=None, out=None, *, stream=None):
    """Return the sums up to each element, in which NaNs count as 0.

    Parameters
    ----------
    a : GPUArray
        Array of numbers.
    axis : int or None, optional
        Axis along which to compute. The default is the flat array.
    dtype : dtype_like, optional
        Dtype of the result. The default is that of ``cumsum``.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        The result: ``out``, or a new array.

    Raises
    ------
    ValueError
        If there is no such axis.

    See Also
    --------
    cumsum : NaNs remain.

    Notes
    -----
    The call does not wait. An array of floats or complex numbers is copied first.

    Examples
    --------
    >>> gpuarray.nancumsum(gpuarray.to_gpu(np.array([1, np.nan, 2])))
    array([1., 1., 3.])
    """
    return _cumsum(_replaced_nan(a, 0, stream), axis, dtype, out, stream)


def nancumprod(a, axis=None, dtype=None, out=None, *, stream=None):
    """Return the products up to each element, in which NaNs count as 1.

    Parameters
    ----------
    a : GPUArray
        Array of numbers.
    axis : int or None, optional
        Axis along which to compute. The default is the flat array.
    dtype : dtype_like, optional
        Dtype of the result. The default is that of ``cumprod``.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        The result: ``out``, or a new array.

    Raises
    ------
    ValueError
        If there is no such axis.

    See Also
    --------
    cumprod : NaNs remain.

    Notes
    -----
    The call does not wait. An array of floats or complex numbers is copied first.

    Examples
    --------
    >>> gpuarray.nancumprod(gpuarray.to_gpu(np.array([2, np.nan, 3])))
    array([2., 2., 6.])
    """
    return _cumprod(_replaced_nan(a, 1, stream), axis, dtype, out, stream)
