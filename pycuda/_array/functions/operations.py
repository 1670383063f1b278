"""Elementwise functions of arrays, and the dtype and shape of their results.

Operators and universal functions are C.
"""

from __future__ import annotations

import numpy as np

from pycuda._driver import GPUArray, _all, _array_ops, _elementwise, to_gpu
from pycuda.compyte.array import get_common_dtype as get_common_dtype_base


def common_dtype(obj1, obj2):
    """Return the dtype of ``obj1 + obj2``. Numbers of Python adapt to the array."""
    return get_common_dtype_base(obj1, obj2, True)


def binary_op_result(obj1, obj2, dtype_getter=None):
    """Return a new array for the result of an operation on two arrays, not set."""
    dtype = (dtype_getter or common_dtype)(obj1, obj2)
    shape = np.broadcast_shapes(obj1.shape, obj2.shape)
    if shape == obj1.shape:
        return obj1._new_like_me(dtype)
    if shape == obj2.shape:
        return obj2._new_like_me(dtype)
    return GPUArray(shape, dtype, obj1.allocator)


def where(criterion, then_, else_, out=None, stream=None):
    """Return ``then_`` where the criterion is not 0, ``else_`` elsewhere.

    Parameters
    ----------
    criterion : GPUArray
        Array of numbers or bool.
    then_ : GPUArray or number
        Values where the criterion is not 0.
    else_ : GPUArray or number
        Values elsewhere.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        The result: ``out``, or a new array of the common dtype of the values. All
        broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    if_positive : Compare with 0.
    select : Several conditions.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> x = gpuarray.to_gpu(np.array([1.0, -2, 3]))
    >>> gpuarray.where(x > 0, x, 0)
    array([1., 0., 3.])
    """
    return _elementwise(
        _array_ops["where"], (criterion, then_, else_), out, None, stream
    )


def if_positive(criterion, then_, else_, out=None, stream=None):
    """Return ``then_`` where the criterion is above 0, ``else_`` elsewhere.

    Parameters
    ----------
    criterion : GPUArray
        Array of numbers.
    then_ : GPUArray or number
        Values where the criterion is above 0.
    else_ : GPUArray or number
        Values elsewhere.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        The result: ``out``, or a new array of the common dtype of the values. All
        broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    where : A condition of any kind.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> x = gpuarray.to_gpu(np.array([1.0, -2, 3]))
    >>> gpuarray.if_positive(x, x, -x)
    array([1., 2., 3.])
    """
    return _elementwise(
        _array_ops["if_positive"], (criterion, then_, else_), out, None, stream
    )


def maximum(a, b, out=None, stream=None):
    """Return the greater of the elements.

    Parameters
    ----------
    a : GPUArray or number
        First operand.
    b : GPUArray or number
        Second operand. Both broadcast.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        The result: ``out``, or a new array of the common dtype. It is NaN where an
        operand is.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    max : The greatest element of one array.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> gpuarray.maximum(gpuarray.to_gpu(np.array([1.0, 5])), 3)
    array([3., 5.])
    """
    return _elementwise(_array_ops["maximum"], (a, b), out, None, stream)


def minimum(a, b, out=None, stream=None):
    """Return the lesser of the elements.

    Parameters
    ----------
    a : GPUArray or number
        First operand.
    b : GPUArray or number
        Second operand. Both broadcast.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        The result: ``out``, or a new array of the common dtype. It is NaN where an
        operand is.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    min : The least element of one array.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> gpuarray.minimum(gpuarray.to_gpu(np.array([1.0, 5])), 3)
    array([1., 3.])
    """
    return _elementwise(_array_ops["minimum"], (a, b), out, None, stream)


def logical_op(x1, x2, out, allocator, operator):
    """Apply ``operator``, such as "logical_and", to two arrays or numbers."""
    if out is None and not isinstance(x1, GPUArray) and not isinstance(x2, GPUArray):
        return to_gpu(np.asarray(getattr(np, operator)(x1, x2)), allocator)
    return _elementwise(_array_ops[operator], (x1, x2), out, allocator=allocator)


def clip(
    a: GPUArray,
    min: GPUArray | float | None = None,
    max: GPUArray | float | None = None,
    out: GPUArray | None = None,
) -> GPUArray:
    """Return the elements, with those outside the bounds replaced by the bounds.

    Parameters
    ----------
    a : GPUArray
        Array of numbers.
    min : GPUArray or number, optional
        Lower bound, which broadcasts. The default is no bound.
    max : GPUArray or number, optional
        Upper bound, which broadcasts. The default is no bound.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.

    Returns
    -------
    GPUArray
        The result: ``out``, or a new array of the common dtype. It is NaN where an
        operand is.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> gpuarray.clip(gpuarray.to_gpu(np.array([1.0, 5, 9])), 2, 6)
    array([2., 5., 6.])
    """
    if min is None and max is None:
        if out is None:
            return a.copy()
        out[...] = a
        return out
    try:
        if max is None:
            return _elementwise(_array_ops["maximum"], (a, min), out)
        if min is None:
            return _elementwise(_array_ops["minimum"], (a, max), out)
        return _elementwise(_array_ops["clip"], (a, min, max), out)
    except OverflowError:
        low, high = _without_vain_bounds(a, min, max)
        if low is min and high is max:
            raise
        return clip(a, low, high, out)


def _without_vain_bounds(a, low, high):
    """Return the bounds, None for an integer beyond which no element can be."""
    if a.dtype.kind in "iu":
        limits = np.iinfo(a.dtype)
        if isinstance(low, int) and low < limits.min:
            low = None
        if isinstance(high, int) and high > limits.max:
            high = None
    return low, high


def logical_and(x1, x2, /, out=None, *, allocator=None):
    """Return the truth of ``x1 and x2``, element by element.

    Parameters
    ----------
    x1 : GPUArray or number
        First operand.
    x2 : GPUArray or number
        Second operand. Both broadcast.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    allocator : callable, optional
        Function of a number of bytes that returns device memory. The default is the
        allocator of the array.

    Returns
    -------
    GPUArray
        The result: ``out``, or a new array of bool.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> gpuarray.logical_and(gpuarray.to_gpu(np.array([0, 1, 2])), 1)
    array([False,  True,  True])
    """
    return logical_op(x1, x2, out, allocator, "logical_and")


def logical_or(x1, x2, /, out=None, *, allocator=None):
    """Return the truth of ``x1 or x2``, element by element.

    Parameters
    ----------
    x1 : GPUArray or number
        First operand.
    x2 : GPUArray or number
        Second operand. Both broadcast.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    allocator : callable, optional
        Function of a number of bytes that returns device memory. The default is the
        allocator of the array.

    Returns
    -------
    GPUArray
        The result: ``out``, or a new array of bool.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> gpuarray.logical_or(gpuarray.to_gpu(np.array([0, 1, 2])), 0)
    array([False,  True,  True])
    """
    return logical_op(x1, x2, out, allocator, "logical_or")


def logical_not(x, /, out=None, *, allocator=None):
    """Return the truth of ``not x``, element by element.

    Parameters
    ----------
    x : GPUArray or number
        Operand.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    allocator : callable, optional
        Function of a number of bytes that returns device memory. The default is the
        allocator of the array.

    Returns
    -------
    GPUArray
        The result: ``out``, or a new array of bool.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> gpuarray.logical_not(gpuarray.to_gpu(np.array([0, 1, 2])))
    array([ True, False, False])
    """
    if out is None and not isinstance(x, GPUArray):
        return to_gpu(np.asarray(np.logical_not(x)), allocator)
    return _elementwise(_array_ops["logical_not"], (x,), out, allocator=allocator)


def reshape(a, *shape, **kwargs):
    """Return an array with the same elements in another shape.

    Parameters
    ----------
    a : GPUArray
        Array of any dtype.
    *shape : int or tuple of int
        The shape. One length may be -1.
    **kwargs
        ``order``, as for ``GPUArray.reshape``.

    Returns
    -------
    GPUArray
        As of ``GPUArray.reshape``: a view of an array in C or Fortran order, which
        keeps the memory as it is.

    Raises
    ------
    ValueError
        If the array does not have as many elements as the shape.

    See Also
    --------
    GPUArray.reshape : The method.

    Examples
    --------
    >>> gpuarray.reshape(gpuarray.arange(6, dtype=np.int32), (2, 3))
    array([[0, 1, 2],
           [3, 4, 5]], dtype=int32)
    """
    return a.reshape(*shape, **kwargs)


def transpose(a, axes=None):
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

    See Also
    --------
    permute_dims : The same under the name of the array API standard.

    Examples
    --------
    >>> x = gpuarray.arange(6, dtype=np.int32).reshape(2, 3)
    >>> gpuarray.transpose(x)
    array([[0, 3],
           [1, 4],
           [2, 5]], dtype=int32)
    """
    return a.transpose(axes)


# -- NumPy's elementwise functions that are no universal functions ---------------------


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Return whether elements differ by no more than ``atol + rtol * abs(b)``."""
    if any(getattr(value, "dtype", None) == np.float16 for value in (a, b)):
        return _isclose_of_halves(a, b, rtol, atol, equal_nan)
    name = "isclose_or_nan" if equal_nan else "isclose"
    return _elementwise(_array_ops[name], (a, b, rtol, atol))


def _isclose_of_halves(a, b, rtol, atol, equal_nan):
    """Return ``isclose`` with every step rounded to half precision, as in NumPy."""
    near = abs(a - b) <= atol + rtol * abs(b)
    if isinstance(b, GPUArray):
        near = near & np.isfinite(b)
    elif not np.isfinite(b):
        near = near & False
    near = near | (a == b)
    if equal_nan:
        near = near | (np.isnan(a) & np.isnan(b))
    return near


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Return whether all elements are close, as Python's bool."""
    return bool(_all(isclose(a, b, rtol, atol, equal_nan)))


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """Return the elements, with numbers in place of NaN and infinities.

    By default infinities become the greatest and the least number of the dtype. Without
    ``copy`` the array itself is changed.
    """
    out = None if copy else x
    if x.dtype.kind not in "fc":
        return x.copy() if copy else x
    limits = np.finfo(x.dtype)
    above = float(limits.max) if posinf is None else posinf
    below = float(limits.min) if neginf is None else neginf
    return _elementwise(_array_ops["nan_to_num"], (x, nan, above, below), out)


def sinc(x):
    """Return ``sin(pi * x) / (pi * x)``, and 1 where an element is 0."""
    return _elementwise(_array_ops["sinc"], (x,))


def fix(x, out=None):
    """Return the elements rounded to whole numbers toward 0."""
    return _elementwise(_array_ops["trunc"], (x,), out)


def isposinf(x, out=None):
    """Return whether elements are positive infinity. TypeError for complex dtypes."""
    return _elementwise(_array_ops["isposinf"], (x,), out)


def isneginf(x, out=None):
    """Return whether elements are negative infinity. TypeError for complex dtypes."""
    return _elementwise(_array_ops["isneginf"], (x,), out)


def angle(z, deg=False):
    """Return the angle of complex numbers, in radians or degrees."""
    result = _elementwise(_array_ops["angle"], (z,))
    if deg:
        _elementwise(_array_ops["rad2deg"], (result,), result)
    return result
