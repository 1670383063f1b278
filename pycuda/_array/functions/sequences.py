"""Sequences of numbers between two bounds, and grids of coordinates."""

from __future__ import annotations

import operator

import numpy as np

from pycuda._array.copies import on_stream
from pycuda._array.functions.conversion import operand
from pycuda._array.functions.shapes import moveaxis
from pycuda._array.layout import broadcast_to, normal_axis
from pycuda._driver import (
    GPUArray,
    _array_ops,
    _cumprod,
    _elementwise,
    _nonzero,
    _plain_array,
)

_DOUBLE = np.dtype(np.float64)
_LINSPACE = _array_ops["linspace"]
_PLAIN = (int, float)
_NUMBERS = (int, float, complex)


def _count(num):
    """Return the number of elements; ValueError if it is negative."""
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"num must be 0 or more, not {num}")
    return num


def _bound(value, name):
    """Return a bound as an array of the device, or as a number of Python or NumPy."""
    if isinstance(value, GPUArray) or type(value) in _NUMBERS:
        return value
    value = np.asanyarray(value)
    if value.ndim:
        raise TypeError(
            f"{name} must be a number or a GPUArray, not an array of shape "
            f"{value.shape} in host memory: copy it with to_gpu()"
        )
    return value[()]


def _inexact_type(*bounds):
    """Return the common dtype of bounds, float64 for integers.

    Python's numbers adapt to the others.
    """
    dtype = np.result_type(*(getattr(bound, "dtype", bound) for bound in bounds))
    return _DOUBLE if dtype.kind in "biu" else dtype


def linspace(
    start,
    stop,
    num=50,
    endpoint=True,
    retstep=False,
    dtype=None,
    axis=0,
    *,
    allocator=None,
    stream=None,
):
    """Return evenly spaced numbers from ``start`` to ``stop``.

    Parameters
    ----------
    start : number or GPUArray
        First number. Arrays broadcast.
    stop : number or GPUArray
        Last number.
    num : int, optional
        Number of elements.
    endpoint : bool, optional
        If false, the last number is one step before ``stop``.
    retstep : bool, optional
        If true, return the step too.
    dtype : dtype_like, optional
        Dtype of the result. The default is that to which NumPy promotes the bounds,
        float64 for integers. Integers are rounded down.
    axis : int, default 0
        Axis of the sequences in the result, for arrays.
    allocator : callable or None, optional
        Function of a number of bytes that returns device memory. The default is the
        default allocator.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray or tuple
        A new array with the values of ``numpy.linspace``, or (array, step).

    Raises
    ------
    TypeError
        If a bound is an array in host memory.
    ValueError
        If ``num`` is negative.

    See Also
    --------
    arange : A step instead of a number of elements.
    geomspace : A constant ratio.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> gpuarray.linspace(0, 1, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    num = _count(num)
    if type(start) in _PLAIN and type(stop) in _PLAIN and not retstep:
        return _spaced_plain(start, stop, num, endpoint, dtype, allocator, stream)
    start, stop = _bound(start, "start"), _bound(stop, "stop")
    work = _inexact_type(start, stop)
    dtype = work if dtype is None else np.dtype(dtype)
    divisor = num - 1 if endpoint else num
    with on_stream(stream):
        if isinstance(start, GPUArray) or isinstance(stop, GPUArray):
            delta = _elementwise(_array_ops["subtract"], (stop, start), None, work)
            result = _spaced(start, stop, num, endpoint, work, allocator)
            result = _converted(result, dtype)
            result = moveaxis(result, 0, normal_axis(axis, result.ndim))
        else:
            delta = np.subtract(stop, start, dtype=work)
            result = _spaced_numbers(start, stop, num, endpoint, work, dtype, allocator)
    if not retstep:
        return result
    step = delta / divisor if divisor > 0 else delta * np.nan
    return result, step


def _spaced_plain(start, stop, num, endpoint, dtype, allocator, stream):
    """Return the sequence between two of Python's numbers, with little overhead."""
    start, stop = float(start), float(stop)
    dtype = _DOUBLE if dtype is None else np.dtype(dtype)
    divisor = num - 1 if endpoint else num
    delta = stop - start
    step = delta / divisor if divisor > 0 else delta
    stored = dtype if dtype.kind in "fc" else _DOUBLE
    result = GPUArray((num,), stored, allocator)
    numbers = (start, step, stop, 1.0 if endpoint else 0.0)
    _elementwise(_LINSPACE, numbers, result, _DOUBLE, stream)
    if stored == dtype:
        return result
    with on_stream(stream):
        return _converted(result, dtype)


def _converted(result, dtype):
    """Return a sequence in another dtype: integers are rounded down."""
    if dtype.kind not in "biufc":
        raise TypeError(f"linspace() makes arrays of numbers, not of dtype {dtype}")
    if dtype.kind in "biu":
        result = np.floor(result)
    return result if result.dtype == dtype else result.astype(dtype)


def _spaced_numbers(start, stop, num, endpoint, work, dtype, allocator):
    """Return the sequence between two numbers, computed in the dtype ``work``."""
    divisor = num - 1 if endpoint else num
    with np.errstate(all="ignore"):
        delta = np.subtract(stop, start, dtype=work)
        step = work.type(delta / divisor) if divisor > 0 else delta
    stored = dtype if np.can_cast(work, dtype, "same_kind") else work
    result = GPUArray((num,), stored, allocator)
    numbers = (work.type(start), step, work.type(stop), work.type(bool(endpoint)))
    _elementwise(_LINSPACE, numbers, result, work)
    return _converted(result, dtype)


def _spaced(start, stop, num, endpoint, work, allocator):
    """Return the sequences between arrays along a new first axis."""
    start, stop = (
        bound.astype(work) if isinstance(bound, GPUArray) else work.type(bound)
        for bound in (start, stop)
    )
    divisor = num - 1 if endpoint else num
    delta = stop - start
    places = GPUArray((num,), work, allocator or delta.allocator)
    _elementwise(_array_ops["arange"], (work.type(0), work.type(1)), places, work)
    places = places.reshape((num,) + (1,) * delta.ndim)
    if divisor > 0:
        # NumPy divides first where a step is 0, which it is for tiny distances.
        step = delta / work.type(divisor)
        none = (step == 0).any()
        divided = places / work.type(divisor) * delta
        result = _elementwise(_array_ops["where"], (none, divided, places * step))
    else:
        result = places * delta
    result += start
    if endpoint and num > 1:
        result[-1] = stop
    return result


def logspace(
    start,
    stop,
    num=50,
    endpoint=True,
    base=10.0,
    dtype=None,
    axis=0,
    *,
    allocator=None,
    stream=None,
):
    """Return ``base`` to the powers of evenly spaced numbers.

    Parameters
    ----------
    start : number or GPUArray
        First power. Arrays broadcast.
    stop : number or GPUArray
        Last power.
    num : int, optional
        Number of elements.
    endpoint : bool, optional
        If false, the last number is one step before ``stop``.
    base : number or GPUArray, optional
        The base.
    dtype : dtype_like, optional
        Dtype of the result. The default is that of the powers.
    axis : int, default 0
        Axis of the sequences in the result, for arrays.
    allocator : callable or None, optional
        Function of a number of bytes that returns device memory. The default is the
        default allocator.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    TypeError
        If a bound is an array in host memory.
    ValueError
        If ``num`` is negative.

    See Also
    --------
    linspace : The powers.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> gpuarray.logspace(0, 2, 3)
    array([  1.,  10., 100.])
    """
    with on_stream(stream):
        if isinstance(base, GPUArray):
            start, stop = (
                bound + base * 0 if not isinstance(bound, GPUArray) else bound
                for bound in (start, stop)
            )
        powers = linspace(start, stop, num, endpoint, axis=axis, allocator=allocator)
        if isinstance(base, GPUArray):
            axis = normal_axis(axis, powers.ndim)
            base = base.reshape((1,) * (powers.ndim - 1 - base.ndim) + base.shape)
            base = base[(slice(None),) * axis + (None,)]
        result = np.power(base, powers)
        return result if dtype is None else result.astype(dtype)


def geomspace(
    start,
    stop,
    num=50,
    endpoint=True,
    dtype=None,
    axis=0,
    *,
    allocator=None,
    stream=None,
):
    """Return numbers from ``start`` to ``stop`` in a constant ratio.

    Parameters
    ----------
    start : number or GPUArray
        First number, complex ones too. Arrays broadcast.
    stop : number or GPUArray
        Last number.
    num : int, optional
        Number of elements.
    endpoint : bool, optional
        If false, the last number is one step before ``stop``.
    dtype : dtype_like, optional
        Dtype of the result. The default is that to which NumPy promotes the bounds,
        float64 for integers.
    axis : int, default 0
        Axis of the sequences in the result, for arrays.
    allocator : callable or None, optional
        Function of a number of bytes that returns device memory. The default is the
        default allocator.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    TypeError
        If a bound is an array in host memory.
    ValueError
        If a bound is the number 0, or if ``num`` is negative.

    See Also
    --------
    linspace : A constant distance.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> gpuarray.geomspace(1, 8, 4)
    array([1., 2., 4., 8.])
    """
    bounds = _bound(start, "start"), _bound(stop, "stop")
    for bound in bounds:
        if not isinstance(bound, GPUArray) and bound == 0:
            raise ValueError("a geometric sequence cannot include 0")
    work = _inexact_type(*map(np.result_type, bounds), np.dtype(dtype))
    dtype = work if dtype is None else np.dtype(dtype)
    with on_stream(stream):
        start, stop = (
            bound.astype(work) if isinstance(bound, GPUArray) else work.type(bound)
            for bound in bounds
        )
        sign = np.sign(start)
        result = logspace(
            np.log10(start / sign),
            np.log10(stop / sign),
            num,
            endpoint,
            allocator=allocator,
        )
        if num > 0:
            result[0] = start / sign
        if num > 1 and endpoint:
            result[-1] = stop / sign
        result = result * sign
        if isinstance(start, GPUArray) or isinstance(stop, GPUArray):
            result = moveaxis(result, 0, normal_axis(axis, result.ndim))
        return result if result.dtype == dtype else result.astype(dtype)


# -- grids, indices, functions of indices ----------------------------------------------


def _counted(length, dtype, allocator):
    """Return 0, 1, 2, ... of a dtype."""
    dtype = np.dtype(dtype)
    result = GPUArray((length,), dtype, allocator)
    numbers = (dtype.type(0), dtype.type(1))
    return _elementwise(_array_ops["arange"], numbers, result, dtype)


def broadcast_arrays(*args):
    """Return views of arrays that repeat their elements to a common shape.

    Parameters
    ----------
    *args : GPUArray
        Arrays of any dtype.

    Returns
    -------
    tuple of GPUArray
        The views.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    broadcast_to : A given shape.

    Examples
    --------
    >>> x, y = gpuarray.broadcast_arrays(gpuarray.zeros(3), gpuarray.zeros((2, 1)))
    >>> x.shape, y.shape
    ((2, 3), (2, 3))
    """
    shape = np.broadcast_shapes(*(a.shape for a in args))
    return tuple(broadcast_to(a, shape) for a in args)


def meshgrid(*xi, copy=True, sparse=False, indexing="xy", stream=None):
    """Return the coordinates of a grid.

    Parameters
    ----------
    *xi : GPUArray
        The coordinates along each axis, arrays with one axis.
    copy : bool, optional
        If false, return views.
    sparse : bool, optional
        If true, return arrays that broadcast to the grid.
    indexing : {"xy", "ij"}, optional
        With "ij" the result has the shape of the lengths; with "xy" the first two axes
        are exchanged.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    tuple of GPUArray
        An array for each axis.

    Raises
    ------
    ValueError
        If an array has more axes, or if ``indexing`` is something else.

    Examples
    --------
    >>> x = gpuarray.arange(2, dtype=np.int32)
    >>> gpuarray.meshgrid(x, x)[0]
    array([[0, 1],
           [0, 1]], dtype=int32)
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing must be 'xy' or 'ij', not {indexing!r}")
    ndim = len(xi)
    xi = [operand("meshgrid", a) for a in xi]
    for a in xi:
        if a.ndim > 1:
            raise ValueError(f"meshgrid() takes arrays of one axis, not {a.shape}")
    result = []
    for axis, a in enumerate(xi):
        place = 1 - axis if indexing == "xy" and ndim > 1 and axis < 2 else axis
        result.append(a.reshape((1,) * place + (-1,) + (1,) * (ndim - 1 - place)))
    if not sparse:
        result = broadcast_arrays(*result)
    if copy:
        with on_stream(stream):
            result = [_packed_copy(a) for a in result]
    return tuple(result)


def _packed_copy(a):
    """Return a copy in C order."""
    result = GPUArray(a.shape, a.dtype, a.allocator)
    result[...] = a
    result._counts_as = a._counts_as
    return result


def indices(dimensions, dtype=np.int64, sparse=False, *, allocator=None, stream=None):
    """Return the indices of the elements of a shape.

    Parameters
    ----------
    dimensions : sequence of int
        The shape.
    dtype : dtype_like, optional
        Dtype of the result.
    sparse : bool, optional
        If true, return a tuple of arrays that broadcast to the shape.
    allocator : callable or None, optional
        Function of a number of bytes that returns device memory. The default is the
        default allocator.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray or tuple of GPUArray
        A new array of shape ``(len(dimensions), *dimensions)``.

    See Also
    --------
    meshgrid : Other coordinates.

    Examples
    --------
    >>> gpuarray.indices((2, 2))[1]
    array([[0, 1],
           [0, 1]])
    """
    shape = tuple(int(length) for length in dimensions)
    ndim = len(shape)
    with on_stream(stream):
        axes = [
            _counted(length, dtype, allocator).reshape(
                (1,) * axis + (length,) + (1,) * (ndim - 1 - axis)
            )
            for axis, length in enumerate(shape)
        ]
        if sparse:
            return tuple(axes)
        result = GPUArray((ndim, *shape), dtype, allocator)
        for axis, places in enumerate(axes):
            result[axis] = places
    return result


def fromfunction(
    function, shape, *, dtype=np.float64, allocator=None, stream=None, **kwargs
):
    """Return ``function(*indices(shape, dtype), **kwargs)``.

    Parameters
    ----------
    function : callable
        Function that gets an array for each axis. It is called once.
    shape : sequence of int
        The shape.
    dtype : dtype_like, optional
        Dtype of the indices.
    allocator : callable or None, optional
        Function of a number of bytes that returns device memory. The default is the
        default allocator.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.
    **kwargs
        Keywords for the function.

    Returns
    -------
    object
        What the function returns.

    See Also
    --------
    indices : The arguments of the function.

    Examples
    --------
    >>> gpuarray.fromfunction(lambda i, j: 10 * i + j, (2, 3))
    array([[ 0.,  1.,  2.],
           [10., 11., 12.]])
    """
    with on_stream(stream):
        places = indices(shape, dtype, allocator=allocator)
        return function(*places, **kwargs)


def vander(x, N=None, increasing=False, *, stream=None):
    """Return the matrix with the powers of the elements in its columns.

    Parameters
    ----------
    x : GPUArray
        Array with one axis.
    N : int, optional
        Number of columns. The default is the number of elements.
    increasing : bool, optional
        If true, the powers go up from 0, else down to 0.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    ValueError
        If ``x`` has more than one axis.

    Examples
    --------
    >>> gpuarray.vander(gpuarray.to_gpu(np.array([2, 3])), 3)
    array([[4, 2, 1],
           [9, 3, 1]])
    """
    if x.ndim != 1:
        raise ValueError(f"vander() takes an array of one axis, not shape {x.shape}")
    columns = x.shape[0] if N is None else int(N)
    dtype = np.promote_types(x.dtype, np.int64)
    result = GPUArray((x.shape[0], columns), dtype, x.allocator)
    if 0 in result.shape:
        return result
    rising = result if increasing else result[:, ::-1]
    with on_stream(stream):
        rising[:, :1] = 1
        if columns > 1:
            repeated = broadcast_to(_plain_array(x)[:, None], (x.shape[0], columns - 1))
            rising[:, 1:] = _cumprod(repeated, 1, dtype)
    return result


def ix_(*args):
    """Return arrays with one axis each as arrays that broadcast to a grid of indices.

    Parameters
    ----------
    *args : GPUArray
        Arrays with one axis. An array of bool stands for the indices of its true
        elements.

    Returns
    -------
    tuple of GPUArray
        The views.

    Raises
    ------
    ValueError
        If an array has more axes.

    Notes
    -----
    The call waits for the number of true elements of an array of bool.

    Examples
    --------
    >>> i = gpuarray.to_gpu(np.array([0, 2]))
    >>> [a.shape for a in gpuarray.ix_(i, i)]
    [(2, 1), (1, 2)]
    """
    result = []
    for place, a in enumerate(args):
        if a.ndim != 1:
            raise ValueError(f"ix_() takes arrays of one axis, not {a.shape}")
        if a.dtype == bool:
            (a,) = _nonzero(a)
        after = len(args) - 1 - place
        result.append(a.reshape((1,) * place + (a.size,) + (1,) * after))
    return tuple(result)
