"""NumPy's products of arrays, and the diagonals and traces of matrices."""

from __future__ import annotations

import functools
import operator

import numpy as np

from pycuda._array.copies import np_ravel, np_reshape, on_stream
from pycuda._array.functions import reductions
from pycuda._array.functions.diagonals import diagonal
from pycuda._array.layout import broadcast_to, normal_axes, normal_axis
from pycuda._array.linalg.plans import Plan, Term
from pycuda._array.numpy_calls import into
from pycuda._driver import (
    GPUArray,
    _any,
    _array_ops,
    _array_reductions,
    _cross,
    _elementwise,
    _reduce,
    _sum,
    matmul,
)

_DOT, _VDOT = _array_reductions["dot"], _array_reductions["vdot"]


def require_arrays(name, *arrays):
    """Refuse operands that are no GPUArrays."""
    for a in arrays:
        if not isinstance(a, GPUArray):
            hint = "; copy it with to_gpu()" if isinstance(a, np.ndarray) else ""
            raise TypeError(f"{name} takes GPUArrays, not {type(a).__name__}{hint}")


def _scaled(name, a, b):
    """Return a product of which one operand is a number."""
    for x in (a, b):
        if isinstance(x, np.ndarray) and x.ndim:
            require_arrays(name, x)
    return a * b


# -- diagonals -------------------------------------------------------------------------


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """Return the sums of the diagonals of two axes.

    Parameters
    ----------
    a : GPUArray
        Array with two axes or more.
    offset : int, optional
        Number of the diagonal: above 0 it begins in a later column, below 0 in a later
        row.
    axis1 : int, optional
        Axis of the rows.
    axis2 : int, optional
        Axis of the columns.
    dtype : dtype_like, optional
        Dtype of the result. Small integers add in 64 bits.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.

    Returns
    -------
    GPUArray
        The result: ``out``, or a new array.

    Raises
    ------
    ValueError
        If there are fewer than two axes. If ``axis1`` is ``axis2``.

    See Also
    --------
    diagonal : The elements.

    Examples
    --------
    >>> print(gpuarray.trace(gpuarray.to_gpu(np.array([[1, 2], [3, 4]]))))
    5
    """
    return _sum(diagonal(a, offset, axis1, axis2), dtype, axis=-1, out=out)


# -- products of vectors ---------------------------------------------------------------


def vecdot(x1, x2, /, out=None, *, axis=-1, dtype=None, stream=None, allocator=None):
    """Return the sums of ``conj(x1) * x2`` along an axis.

    Parameters
    ----------
    x1 : GPUArray
        First vectors.
    x2 : GPUArray
        Second vectors. Both broadcast.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    axis : int, optional
        Axis along which to compute. The default is the last one.
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
        The result: ``out``, or a new array. For bool it says whether any product is
        true.

    Raises
    ------
    TypeError
        If an operand is not on the device. If it cannot be computed in ``dtype``.
    ValueError
        If the shapes do not fit.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> x = gpuarray.to_gpu(np.array([[1, 2], [3, 4]]))
    >>> gpuarray.vecdot(x, x)
    array([ 5, 25])
    """
    require_arrays("vecdot", x1, x2)
    for x in (x1, x2):
        if x.ndim == 0:
            raise ValueError("vecdot takes arrays with one axis or more")
        if dtype is not None and not np.can_cast(x.dtype, dtype, "same_kind"):
            raise TypeError(
                f"vecdot: an operand of dtype {x.dtype} cannot be computed in dtype "
                f"{np.dtype(dtype)}; convert with astype()"
            )
    if x1.shape[normal_axis(axis, x1.ndim)] != x2.shape[normal_axis(axis, x2.ndim)]:
        raise ValueError(
            f"vecdot: shapes {x1.shape} and {x2.shape} differ along axis {axis}"
        )
    if axis != -1:
        x1, x2 = _last(x1, axis), _last(x2, axis)
    if x1.shape != x2.shape:
        shape = np.broadcast_shapes(x1.shape, x2.shape)
        x1, x2 = broadcast_to(x1, shape), broadcast_to(x2, shape)
    if x1.dtype == bool and x2.dtype == bool and dtype is None:
        with on_stream(stream):
            both = _elementwise(_array_ops["logical_and"], (x1, x2))
            return _any(both, axis=-1, out=out, allocator=allocator)
    number = _VDOT if x1.dtype.kind == "c" else _DOT
    return _reduce(number, (x1, x2), -1, False, dtype, out, stream, allocator)


def _last(x, axis):
    """Return a view in which an axis is the last."""
    k = normal_axis(axis, x.ndim)
    return x.transpose((*range(k), *range(k + 1, x.ndim), k))


def vdot(a, b, /):
    """Return the sum of ``conj(a) * b`` over all elements, in C order.

    Parameters
    ----------
    a : GPUArray
        First array.
    b : GPUArray
        Second array, with as many elements.

    Returns
    -------
    GPUArray
        A new array without axes.

    Raises
    ------
    TypeError
        If an operand is not on the device.
    ValueError
        If the arrays differ in size.

    See Also
    --------
    vecdot : Along an axis.

    Examples
    --------
    >>> x = gpuarray.to_gpu(np.array([1j, 2]))
    >>> print(gpuarray.vdot(x, x))
    (5+0j)
    """
    require_arrays("vdot", a, b)
    if a.size != b.size:
        raise ValueError(f"vdot: shapes {a.shape} and {b.shape} differ in size")
    if a.shape != b.shape:
        a, b = np_ravel(a), np_ravel(b)
    number = _VDOT if a.dtype.kind == "c" else _DOT
    return _reduce(number, (a, b))


def outer(a, b, out=None):
    """Return the products of all elements of ``a`` and all of ``b``.

    Parameters
    ----------
    a : GPUArray
        Array of m elements.
    b : GPUArray
        Array of n elements.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.

    Returns
    -------
    GPUArray
        The result of shape (m, n): ``out``, or a new array.

    Raises
    ------
    TypeError
        If an operand is not on the device.

    Examples
    --------
    >>> gpuarray.outer(*[gpuarray.to_gpu(np.array([1, 2]))] * 2)
    array([[1, 2],
           [2, 4]])
    """
    require_arrays("outer", a, b)
    pair = (np_ravel(a)[:, None], np_ravel(b)[None])
    return _elementwise(_array_ops["multiply"], pair, out)


def kron(a, b):
    """Return the Kronecker product: each element of ``a`` times the array ``b``.

    Parameters
    ----------
    a : GPUArray or number
        First operand.
    b : GPUArray or number
        Second operand.

    Returns
    -------
    GPUArray
        A new array of the common dtype.

    Examples
    --------
    >>> gpuarray.kron(*[gpuarray.to_gpu(np.array([1, 2]))] * 2)
    array([1, 2, 2, 4])
    """
    if not (isinstance(a, GPUArray) and isinstance(b, GPUArray)):
        return _scaled("kron", a, b)
    ndim = max(a.ndim, b.ndim)
    a, b = a[(None,) * (ndim - a.ndim)], b[(None,) * (ndim - b.ndim)]
    product = a[(slice(None), None) * ndim] * b[(None, slice(None)) * ndim]
    return np_reshape(product, tuple(map(operator.mul, a.shape, b.shape)))


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Return the cross products of vectors with three elements along an axis.

    Vectors with two elements have 0 as the third. Of two such vectors the result is the
    third element alone.

    Parameters
    ----------
    a : GPUArray
        First vectors.
    b : GPUArray
        Second vectors. Both broadcast.
    axisa : int, optional
        Axis of the elements of ``a``.
    axisb : int, optional
        Axis of the elements of ``b``.
    axisc : int, optional
        Axis of the elements of the result.
    axis : int or None, default None
        Axis of the elements of both operands and of the result.

    Returns
    -------
    GPUArray
        A new array of the common dtype.

    Raises
    ------
    TypeError
        If an operand is not on the device.
    ValueError
        If the vectors do not have two or three elements.

    Examples
    --------
    >>> x, y = (gpuarray.to_gpu(np.array(values)) for values in ([1, 0, 0], [0, 1, 0]))
    >>> gpuarray.cross(x, y)
    array([0, 0, 1])
    """
    require_arrays("cross", a, b)
    if axis is not None:
        axisa = axisb = axisc = axis
    if axisa == axisb == axisc == -1:
        result = _cross(a, b)
        if result is not None:
            return result
    a, b = _last(a, axisa), _last(b, axisb)
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError(
            f"cross takes vectors of 2 or 3 elements, not {a.shape[-1]} and "
            f"{b.shape[-1]}"
        )
    x, y = ([v[..., k] for k in range(v.shape[-1])] for v in (a, b))
    if len(x) == len(y) == 2:
        return x[0] * y[1] - x[1] * y[0]
    shape = np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
    result = GPUArray((*shape, 3), np.result_type(a.dtype, b.dtype), a.allocator)
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        result[..., k] = _difference(x, y, i, j)
    axisc = normal_axis(axisc, result.ndim)
    order = [*range(result.ndim - 1)]
    order.insert(axisc, result.ndim - 1)
    return result.transpose(order)


def _difference(x, y, i, j):
    """Return ``x[i] * y[j] - x[j] * y[i]``, in which missing elements are 0."""
    if i == 2 and len(x) == 2:
        return -(x[j] * y[i])
    if j == 2 and len(y) == 2:
        return -(x[j] * y[i])
    if j == 2 and len(x) == 2:
        return x[i] * y[j]
    if i == 2 and len(y) == 2:
        return x[i] * y[j]
    return x[i] * y[j] - x[j] * y[i]


# -- products along axes ---------------------------------------------------------------


def _axes_of(axes, ndim_a, ndim_b):
    """Return the axes that are summed, as two tuples of the same length."""
    try:
        first, second = axes
    except TypeError:
        count = operator.index(axes)
        if count < 0 or count > min(ndim_a, ndim_b):
            raise ValueError(f"tensordot cannot sum along {count} axes") from None
        return tuple(range(ndim_a - count, ndim_a)), tuple(range(count))
    first, second = normal_axes(first, ndim_a), normal_axes(second, ndim_b)
    if len(first) != len(second):
        raise ValueError(f"tensordot: the axes {axes} do not fit each other")
    return first, second


def _tensordot_plan(shape_a, shape_b, dtype_a, dtype_b, first, second):
    """Return the plan of a sum along pairs of axes."""
    if [shape_a[k] for k in first] != [shape_b[k] for k in second]:
        raise ValueError(
            f"tensordot: shapes {shape_a} and {shape_b} differ along the axes {first} "
            f"and {second}"
        )
    labels_a = list(range(len(shape_a)))
    labels_b = list(range(len(shape_a), len(shape_a) + len(shape_b)))
    for one, two in zip(first, second, strict=True):
        labels_b[two] = labels_a[one]
    kept = [k for k in (*labels_a, *labels_b) if not (k in labels_a and k in labels_b)]
    plan = Plan(2, np.result_type(dtype_a, dtype_b))
    a = Term(0, labels_a, shape_a, dtype_a)
    b = Term(1, labels_b, shape_b, dtype_b)
    plan.arranged(plan.contracted(a, b, kept), kept)
    return plan


_kept_plan = functools.lru_cache(maxsize=256)(_tensordot_plan)


def tensordot(a, b, axes=2, *, out=None, stream=None):
    """Return the sums of products of two arrays along pairs of axes.

    Parameters
    ----------
    a : GPUArray
        First operand.
    b : GPUArray
        Second operand.
    axes : int or pair of sequence of int, optional
        Number of axes, the last of ``a`` and the first of ``b``, or the axes of both.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        The result: ``out``, or a new array with the other axes of ``a``, then those of
        ``b``.

    Raises
    ------
    TypeError
        If an operand is not on the device.
    ValueError
        If the shapes differ along the axes.

    See Also
    --------
    matmul : The product of matrices, which computes it.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> a = gpuarray.ones((2, 3))
    >>> gpuarray.tensordot(a, a, axes=([1], [1]))
    array([[3., 3.],
           [3., 3.]])
    """
    require_arrays("tensordot", a, b)
    first, second = _axes_of(axes, a.ndim, b.ndim)
    plan = _kept_plan(a.shape, b.shape, a.dtype, b.dtype, first, second)
    if stream is None:
        return into(plan.run((a, b)), out)
    with on_stream(stream):
        return into(plan.run((a, b)), out)


def dot(a, b, out=None):
    """Return NumPy's ``dot``.

    Two vectors give the sum of products, matrices their product, a number scales. Of
    other arrays, the last axis of ``a`` and the last but one of ``b`` are summed.
    """
    if not (isinstance(a, GPUArray) and isinstance(b, GPUArray)):
        return into(_scaled("dot", a, b), out)
    if a.ndim == 0 or b.ndim == 0:
        return into(a * b, out)
    if a.ndim == 1 and b.ndim == 1:
        return into(reductions.dot(a, b), out)
    if b.ndim == 1 or b.ndim == a.ndim == 2:
        return matmul(a, b, out)
    if b.ndim == 2 and a.ndim == 1:
        return matmul(a, b, out)
    return tensordot(a, b, ((a.ndim - 1,), (b.ndim - 2,)), out=out)


def inner(a, b):
    """Return the sums of products along the last axes; a number scales.

    Parameters
    ----------
    a : GPUArray or number
        First operand.
    b : GPUArray or number
        Second operand.

    Returns
    -------
    GPUArray
        A new array of the common dtype.

    Raises
    ------
    ValueError
        If the last axes differ in length.

    See Also
    --------
    matmul : The last axis of one, the last but one of the other.

    Examples
    --------
    >>> a = gpuarray.to_gpu(np.array([[1, 2], [3, 4]]))
    >>> gpuarray.inner(a, a)
    array([[ 5, 11],
           [11, 25]])
    """
    if not (isinstance(a, GPUArray) and isinstance(b, GPUArray)):
        return _scaled("inner", a, b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if a.ndim == 1 and b.ndim == 1:
        return reductions.dot(a, b)
    return tensordot(a, b, ((a.ndim - 1,), (b.ndim - 1,)))


def matvec(x1, x2, /, out=None, *, dtype=None, stream=None):
    """Return the products of matrices and vectors.

    Parameters
    ----------
    x1 : GPUArray
        Matrices, shape (..., m, n).
    x2 : GPUArray
        Vectors, shape (..., n).
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    dtype : dtype_like, optional
        Dtype of the result. The default is the common dtype.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        The result of shape (..., m): ``out``, or a new array.

    Raises
    ------
    TypeError
        If an operand is not on the device.
    ValueError
        If the shapes do not fit.

    Examples
    --------
    >>> a = gpuarray.to_gpu(np.array([[1, 2], [3, 4]]))
    >>> gpuarray.matvec(a, gpuarray.to_gpu(np.array([1, 10])))
    array([21, 43])
    """
    require_arrays("matvec", x1, x2)
    column = x2[..., None]
    product = matmul(x1, column, dtype=dtype, stream=stream)
    return into(product[..., 0], out)


def vecmat(x1, x2, /, out=None, *, dtype=None, stream=None):
    """Return the products of conjugate vectors and matrices.

    Parameters
    ----------
    x1 : GPUArray
        Vectors, shape (..., n).
    x2 : GPUArray
        Matrices, shape (..., n, m).
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    dtype : dtype_like, optional
        Dtype of the result. The default is the common dtype.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        The result of shape (..., m): ``out``, or a new array.

    Raises
    ------
    TypeError
        If an operand is not on the device.
    ValueError
        If the shapes do not fit.

    Examples
    --------
    >>> a = gpuarray.to_gpu(np.array([[1, 2], [3, 4]]))
    >>> gpuarray.vecmat(gpuarray.to_gpu(np.array([1, 10])), a)
    array([31, 42])
    """
    require_arrays("vecmat", x1, x2)
    vector = x1.conj() if x1.dtype.kind == "c" else x1
    product = matmul(vector[..., None, :], x2, dtype=dtype, stream=stream)
    return into(product[..., 0, :], out)


def multi_dot(arrays, *, out=None):
    """Return the product of several matrices, in the order with the fewest products.

    Parameters
    ----------
    arrays : sequence of GPUArray
        Two matrices or more. The first and the last array may be vectors.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.

    Returns
    -------
    GPUArray
        The product.

    Raises
    ------
    LinAlgError
        If an array is not a matrix.
    TypeError
        If an array is not on the device.
    ValueError
        If there is one array only, or if the shapes do not fit.

    Notes
    -----
    The call does not wait. It allocates the products of parts.

    Examples
    --------
    >>> from pycuda import linalg
    >>> a = gpuarray.to_gpu(np.array([[4.0, 1], [1, 3]]))
    >>> linalg.multi_dot([a, a, gpuarray.to_gpu(np.array([1.0, 2]))])
    array([31., 27.])
    """
    arrays = list(arrays)
    require_arrays("multi_dot", *arrays)
    if len(arrays) < 2:
        raise ValueError("multi_dot takes two arrays or more")
    first, last = arrays[0].ndim, arrays[-1].ndim
    if first == 1:
        arrays[0] = arrays[0][None]
    if last == 1:
        arrays[-1] = arrays[-1][:, None]
    for a in arrays:
        if a.ndim != 2:
            raise np.linalg.LinAlgError(
                f"multi_dot takes matrices, not an array of shape {a.shape}"
            )
    sizes = [arrays[0].shape[0], *(a.shape[1] for a in arrays)]
    result = _chain(arrays, _splits(sizes), 0, len(arrays) - 1)
    if first == 1:
        result = result[0]
    if last == 1:
        result = result[..., 0]
    return into(result, out)


def _splits(sizes):
    """Return where the best order splits the product of matrices i to j."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    split = {}
    for span in range(1, count):
        for i in range(count - span):
            j = i + span
            cost[i, j], split[i, j] = min(
                (
                    cost[i, k]
                    + cost[k + 1, j]
                    + sizes[i] * sizes[k + 1] * sizes[j + 1],
                    k,
                )
                for k in range(i, j)
            )
    return split


def _chain(arrays, splits, i, j):
    if i == j:
        return arrays[i]
    k = splits[i, j]
    return matmul(_chain(arrays, splits, i, k), _chain(arrays, splits, k + 1, j))
