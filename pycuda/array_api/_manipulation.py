"""Manipulation functions of the standard, and linear algebra of its main namespace."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import as_strided

import pycuda.gpuarray as _ga
from pycuda._array.copies import c_copy
from pycuda.gpuarray import GPUArray

__all__ = [
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "matmul",
    "matrix_transpose",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "tensordot",
    "tile",
    "unstack",
    "vecdot",
]


def broadcast_arrays(*arrays: GPUArray) -> tuple[GPUArray, ...]:
    """Return views of arrays that repeat their elements to a common shape.

    Parameters
    ----------
    *arrays : GPUArray
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
    pycuda.gpuarray.broadcast_arrays : The function that it calls.
    broadcast_to : A given shape.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x, y = xp.broadcast_arrays(gpuarray.zeros(3), gpuarray.zeros((2, 1)))
    >>> x.shape, y.shape
    ((2, 3), (2, 3))
    """
    return _ga.broadcast_arrays(*arrays)


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape to which shapes broadcast.

    Parameters
    ----------
    *shapes : tuple of int
        The shapes.

    Returns
    -------
    tuple of int
        The common shape.

    Raises
    ------
    ValueError
        If there is none.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.broadcast_shapes((3, 1), (4,))
    (3, 4)
    """
    return np.broadcast_shapes(*shapes)


def broadcast_to(x: GPUArray, /, shape: tuple[int, ...]) -> GPUArray:
    """Return a view that repeats the elements to a shape.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype.
    shape : int or tuple of int
        The shape.

    Returns
    -------
    GPUArray
        A view.

    Raises
    ------
    ValueError
        If the array does not broadcast to the shape.

    See Also
    --------
    pycuda.gpuarray.broadcast_to : It has ``subok`` too.
    broadcast_arrays : The common shape of several arrays.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.broadcast_to(gpuarray.to_gpu(np.array([1, 2])), (2, 2))
    array([[1, 2],
           [1, 2]])
    """
    return _ga.broadcast_to(x, shape)


def concat(
    arrays: tuple[GPUArray, ...] | list[GPUArray], /, *, axis: int | None = 0
) -> GPUArray:
    """Return arrays joined along an axis; with ``axis=None`` all their elements.

    Parameters
    ----------
    arrays : sequence of GPUArray
        The arrays, whose shapes differ along the axis only.
    axis : int or None, default 0
        The axis. None joins the flattened arrays.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    ValueError
        If the shapes do not fit, or if there is no such axis.

    See Also
    --------
    pycuda.gpuarray.concatenate : It has ``allocator``, ``out``, ``dtype``, ``casting``,
        ``stream`` too.
    stack : A new axis.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.to_gpu(np.array([1, 2]))
    >>> xp.concat([x, 10 * x])
    array([ 1,  2, 10, 20])
    """
    return _ga.concatenate(arrays, axis)


def expand_dims(x: GPUArray, /, axis: int | tuple[int, ...]) -> GPUArray:
    """Return a view with new axes of length 1.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype.
    axis : int or tuple of int
        Places of the new axes in the result.

    Returns
    -------
    GPUArray
        A view.

    Raises
    ------
    ValueError
        If an axis is named twice or is out of bounds.

    See Also
    --------
    pycuda.gpuarray.expand_dims : The function that it calls.
    squeeze : The inverse.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.expand_dims(gpuarray.zeros(3), 0).shape
    (1, 3)
    """
    return _ga.expand_dims(x, axis)


def flip(x: GPUArray, /, *, axis: int | tuple[int, ...] | None = None) -> GPUArray:
    """Return the elements in reversed order along some axes, by default all.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype.
    axis : int or tuple of int, optional
        The axes. The default is all.

    Returns
    -------
    GPUArray
        A view.

    Raises
    ------
    ValueError
        If there is no such axis.

    See Also
    --------
    pycuda.gpuarray.flip : The function that it calls.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.flip(gpuarray.arange(3, dtype=np.int32))
    array([2, 1, 0], dtype=int32)
    """
    return _ga.flip(x, axis)


def moveaxis(
    x: GPUArray,
    source: int | tuple[int, ...],
    destination: int | tuple[int, ...],
    /,
) -> GPUArray:
    """Return a view with axes moved to other places.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype.
    source : int or sequence of int
        The axes that move.
    destination : int or sequence of int
        Their places in the result.

    Returns
    -------
    GPUArray
        A view.

    Raises
    ------
    ValueError
        If the axes do not exist, or if the numbers of both differ.

    See Also
    --------
    pycuda.gpuarray.moveaxis : The function that it calls.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.moveaxis(gpuarray.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    return _ga.moveaxis(x, source, destination)


def permute_dims(x: GPUArray, /, axes: tuple[int, ...]) -> GPUArray:
    """Return a view with the axes in another order.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype.
    axes : sequence of int
        The axes in the new order.

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
    pycuda.gpuarray.permute_dims : The function that it calls.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.permute_dims(gpuarray.zeros((2, 3, 4)), (1, 2, 0)).shape
    (3, 4, 2)
    """
    return x.transpose(tuple(axes))


def repeat(
    x: GPUArray, repeats: int | GPUArray, /, *, axis: int | None = None
) -> GPUArray:
    """Return each element repeated along an axis, or flat without an axis.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype.
    repeats : int or sequence of int
        Number of repetitions of all, or of each place of the axis. A GPUArray is copied
        to the host.
    axis : int or None, optional
        Axis along which to compute. The default is the flat array.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    TypeError
        If ``repeats`` are not integers.
    ValueError
        If a number is negative, or if the lengths differ.

    See Also
    --------
    pycuda.gpuarray.repeat : It has ``stream`` too.
    tile : Repeat the array as a whole.

    Notes
    -----
    The call does not wait, except for ``repeats`` on the device.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.repeat(gpuarray.arange(3, dtype=np.int32), 2)
    array([0, 0, 1, 1, 2, 2], dtype=int32)
    """
    return _ga.repeat(x, repeats, axis)


def _view_of_shape(x: GPUArray, shape: tuple[int, ...]) -> GPUArray | None:
    """Return a view of another shape, in the order of indices; None if none has it."""
    if x.flags.c_contiguous:
        return x.reshape(shape)
    if x.size == 0:
        return GPUArray(np.empty(x.shape, "V0").reshape(shape).shape, x.dtype)
    layout = as_strided(np.empty((), x.dtype), x.shape, x.strides)
    try:
        layout.shape = shape  # refuses to copy
    except AttributeError:
        return None
    return GPUArray(
        layout.shape,
        x.dtype,
        x.allocator,
        base=x,
        gpudata=x.gpudata,
        strides=layout.strides,
    )


def reshape(
    x: GPUArray, /, shape: tuple[int, ...], *, copy: bool | None = None
) -> GPUArray:
    """Return the elements under another shape, in the order of the indices.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype.
    shape : tuple of int
        The shape. One length may be -1.
    copy : bool, optional
        If true, make a copy; if false, never. The default is a view where the strides
        allow it.

    Returns
    -------
    GPUArray
        A view or a copy.

    Raises
    ------
    TypeError
        If ``shape`` is not a tuple.
    ValueError
        If the numbers of elements differ, or if ``copy`` is false and only a copy has
        the shape.

    See Also
    --------
    pycuda.gpuarray.reshape : It has ``order`` too, and never copies.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.reshape(xp.arange(6), (2, -1))
    array([[0, 1, 2],
           [3, 4, 5]])
    """
    if not isinstance(shape, Sequence):
        raise TypeError(f"shape must be a tuple, not {shape!r}")
    shape = tuple(shape)
    if copy:
        return c_copy(x).reshape(shape)
    view = _view_of_shape(x, shape)
    if view is not None:
        return view
    if copy is False:
        raise ValueError(
            f"an array of shape {x.shape} and strides {x.strides} has the shape "
            f"{shape} only as a copy, which copy=False forbids"
        )
    return c_copy(x).reshape(shape)


def roll(
    x: GPUArray,
    /,
    shift: int | tuple[int, ...],
    *,
    axis: int | tuple[int, ...] | None = None,
) -> GPUArray:
    """Return the elements shifted along axes, or flat without an axis.

    Elements that are shifted beyond the end come back at the beginning.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype.
    shift : int or tuple of int
        Number of places for each axis.
    axis : int or tuple of int, optional
        The axes. The default is to shift the elements in C order.

    Returns
    -------
    GPUArray
        A new array of the same shape and dtype.

    Raises
    ------
    ValueError
        If there is no such axis.

    See Also
    --------
    pycuda.gpuarray.roll : It has ``stream`` too.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.roll(gpuarray.arange(5, dtype=np.int32), 2)
    array([3, 4, 0, 1, 2], dtype=int32)
    """
    return _ga.roll(x, shift, axis)


def squeeze(x: GPUArray, /, axis: int | tuple[int, ...]) -> GPUArray:
    """Return a view without some axes of length 1.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype.
    axis : int or tuple of int
        The axes.

    Returns
    -------
    GPUArray
        A view.

    Raises
    ------
    ValueError
        If an axis has another length or does not exist.

    See Also
    --------
    pycuda.gpuarray.squeeze : The function that it calls.
    expand_dims : The inverse.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.squeeze(xp.zeros((1, 3, 1)), axis=2).shape
    (1, 3)
    """
    return _ga.squeeze(x, axis)


def stack(
    arrays: tuple[GPUArray, ...] | list[GPUArray], /, *, axis: int = 0
) -> GPUArray:
    """Return arrays of one shape joined along a new axis.

    Parameters
    ----------
    arrays : sequence of GPUArray
        The arrays.
    axis : int, default 0
        Place of the new axis in the result.

    Returns
    -------
    GPUArray
        A new array, in C order for axis 0, in Fortran order for others.

    Raises
    ------
    ValueError
        If the shapes differ, or if there is no such axis.

    See Also
    --------
    pycuda.gpuarray.stack : It has ``allocator``, ``out``, ``dtype``, ``casting``,
        ``stream`` too.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.to_gpu(np.array([1, 2]))
    >>> xp.stack([x, 10 * x])
    array([[ 1,  2],
           [10, 20]])
    """
    return _ga.stack(arrays, axis)


def tile(x: GPUArray, repetitions: tuple[int, ...], /) -> GPUArray:
    """Return copies of the array side by side, so many along each axis.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype.
    repetitions : tuple of int
        Number of repetitions along each axis. The shorter one of ``repetitions`` and
        the shape gets ones in front.

    Returns
    -------
    GPUArray
        A new array.

    See Also
    --------
    pycuda.gpuarray.tile : It has ``stream`` too.
    repeat : Repeat each element.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.tile(xp.arange(3), (2,))
    array([0, 1, 2, 0, 1, 2])
    """
    return _ga.tile(x, tuple(repetitions))


def unstack(x: GPUArray, /, *, axis: int = 0) -> tuple[GPUArray, ...]:
    """Return views of the parts of an array along an axis, without this axis.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype.
    axis : int, default 0
        Axis along which to separate.

    Returns
    -------
    tuple of GPUArray
        The views.

    Raises
    ------
    ValueError
        If there is no such axis.

    See Also
    --------
    pycuda.gpuarray.unstack : The function that it calls.
    stack : The inverse.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> [part.shape for part in xp.unstack(gpuarray.zeros((2, 3)))]
    [(3,), (3,)]
    """
    return _ga.unstack(x, axis=axis)


# -- linear algebra of the main namespace ----------------------------------------------


def matmul(x1: GPUArray, x2: GPUArray, /) -> GPUArray:
    """Return the products of matrices, in the last two axes; other axes broadcast.

    An array of one axis is a row on the left and a column on the right.

    Parameters
    ----------
    x1 : GPUArray
        Matrices, shape (..., m, k). One axis is a vector.
    x2 : GPUArray
        Matrices, shape (..., k, n). One axis is a vector.

    Returns
    -------
    GPUArray
        The result of shape (..., m, n): a new array.

    Raises
    ------
    TypeError
        If an operand is not on the device.
    ValueError
        If the shapes do not fit, or if an operand has no axes.

    See Also
    --------
    pycuda.gpuarray.matmul : It has ``out``, ``dtype``, ``stream``, ``allocator`` too.

    Notes
    -----
    The call does not wait. cuBLAS computes floating-point and complex products where it
    is found, in the full precision of the dtype (no TF32); generated kernels compute
    all others. float16 is summed in float32, integers wrap around and bool gives
    whether any product is true. Strided and transposed operands are not copied where
    BLAS can take them.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> a = gpuarray.to_gpu(np.array([[1, 2], [3, 4]]))
    >>> xp.matmul(a, a)
    array([[ 7, 10],
           [15, 22]])
    """
    return _ga.matmul(x1, x2)


def matrix_transpose(x: GPUArray, /) -> GPUArray:
    """Return a view with the last two axes exchanged.

    Parameters
    ----------
    x : GPUArray
        Matrices, shape (..., m, n).

    Returns
    -------
    GPUArray
        A view of shape (..., n, m).

    Raises
    ------
    ValueError
        If the array has fewer than two axes.

    See Also
    --------
    pycuda.gpuarray.matrix_transpose : The function that it calls.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.matrix_transpose(gpuarray.zeros((2, 3, 4))).shape
    (2, 4, 3)
    """
    return x.mT


def tensordot(
    x1: GPUArray,
    x2: GPUArray,
    /,
    *,
    axes: int | tuple[Sequence[int], Sequence[int]] = 2,
) -> GPUArray:
    """Return the sums of products over axes of both arrays.

    Parameters
    ----------
    x1 : GPUArray
        First operand.
    x2 : GPUArray
        Second operand.
    axes : int or pair of sequence of int, optional
        Number of axes, the last of ``x1`` and the first of ``x2``, or the axes of both.

    Returns
    -------
    GPUArray
        A new array with the other axes of ``x1``, then those of ``x2``.

    Raises
    ------
    TypeError
        If an operand is not on the device.
    ValueError
        If the shapes differ along the axes.

    See Also
    --------
    pycuda.gpuarray.tensordot : It has ``out``, ``stream`` too.
    matmul : The product of matrices, which computes it.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> a = gpuarray.ones((2, 3))
    >>> xp.tensordot(a, a, axes=([1], [1]))
    array([[3., 3.],
           [3., 3.]])
    """
    return _ga.tensordot(x1, x2, axes)


def vecdot(x1: GPUArray, x2: GPUArray, /, *, axis: int = -1) -> GPUArray:
    """Return the sums of ``conj(x1) * x2`` along an axis; the other axes broadcast.

    Parameters
    ----------
    x1 : GPUArray
        First vectors.
    x2 : GPUArray
        Second vectors. Both broadcast.
    axis : int, default -1
        Axis of the vectors, counted from the end.

    Returns
    -------
    GPUArray
        A new array. For bool it says whether any product is true.

    Raises
    ------
    TypeError
        If an operand is not on the device.
    ValueError
        If the shapes do not fit, or ``axis`` is not negative.

    See Also
    --------
    pycuda.gpuarray.vecdot : It has ``out``, ``dtype``, ``stream``, ``allocator`` too.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.to_gpu(np.array([[1, 2], [3, 4]]))
    >>> xp.vecdot(x, x)
    array([ 5, 25])
    """
    if not -min(x1.ndim, x2.ndim) <= axis < 0:
        raise ValueError(
            f"axis must be between {-min(x1.ndim, x2.ndim)} and -1, not {axis}"
        )
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"axis {axis} of the shapes {x1.shape} and {x2.shape} differs")
    return _ga.vecdot(x1, x2, axis=axis)
