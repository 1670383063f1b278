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
    """Return views of arrays that repeat their elements to a common shape."""
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
    """Return a view that repeats the elements to a shape."""
    return _ga.broadcast_to(x, shape)


def concat(
    arrays: tuple[GPUArray, ...] | list[GPUArray], /, *, axis: int | None = 0
) -> GPUArray:
    """Return arrays joined along an axis; with ``axis=None`` all their elements."""
    return _ga.concatenate(arrays, axis)


def expand_dims(x: GPUArray, /, axis: int | tuple[int, ...]) -> GPUArray:
    """Return a view with new axes of length 1."""
    return _ga.expand_dims(x, axis)


def flip(x: GPUArray, /, *, axis: int | tuple[int, ...] | None = None) -> GPUArray:
    """Return the elements in reversed order along some axes, by default all."""
    return _ga.flip(x, axis)


def moveaxis(
    x: GPUArray,
    source: int | tuple[int, ...],
    destination: int | tuple[int, ...],
    /,
) -> GPUArray:
    """Return a view with axes moved to other places."""
    return _ga.moveaxis(x, source, destination)


def permute_dims(x: GPUArray, /, axes: tuple[int, ...]) -> GPUArray:
    """Return a view with the axes in another order."""
    return x.transpose(tuple(axes))


def repeat(
    x: GPUArray, repeats: int | GPUArray, /, *, axis: int | None = None
) -> GPUArray:
    """Return each element repeated along an axis, or flat without an axis."""
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
    """
    return _ga.roll(x, shift, axis)


def squeeze(x: GPUArray, /, axis: int | tuple[int, ...]) -> GPUArray:
    """Return a view without some axes of length 1."""
    return _ga.squeeze(x, axis)


def stack(
    arrays: tuple[GPUArray, ...] | list[GPUArray], /, *, axis: int = 0
) -> GPUArray:
    """Return arrays of one shape joined along a new axis."""
    return _ga.stack(arrays, axis)


def tile(x: GPUArray, repetitions: tuple[int, ...], /) -> GPUArray:
    """Return copies of the array side by side, so many along each axis.

    Parameters
    ----------
    repetitions : tuple of int
        Number of repetitions along each axis. The shorter one of ``repetitions`` and
        the shape gets ones in front.
    """
    return _ga.tile(x, tuple(repetitions))


def unstack(x: GPUArray, /, *, axis: int = 0) -> tuple[GPUArray, ...]:
    """Return views of the parts of an array along an axis, without this axis."""
    return _ga.unstack(x, axis=axis)


# -- linear algebra of the main namespace ----------------------------------------------


def matmul(x1: GPUArray, x2: GPUArray, /) -> GPUArray:
    """Return the products of matrices, in the last two axes; other axes broadcast.

    An array of one axis is a row on the left and a column on the right.
    """
    return _ga.matmul(x1, x2)


def matrix_transpose(x: GPUArray, /) -> GPUArray:
    """Return a view with the last two axes exchanged."""
    return x.mT


def tensordot(
    x1: GPUArray,
    x2: GPUArray,
    /,
    *,
    axes: int | tuple[Sequence[int], Sequence[int]] = 2,
) -> GPUArray:
    """Return the sums of products over axes of both arrays."""
    return _ga.tensordot(x1, x2, axes)


def vecdot(x1: GPUArray, x2: GPUArray, /, *, axis: int = -1) -> GPUArray:
    """Return the sums of ``conj(x1) * x2`` along an axis; the other axes broadcast.

    Parameters
    ----------
    axis : int, default -1
        Axis of the vectors, counted from the end.

    Raises
    ------
    ValueError
        If the shapes do not fit, or ``axis`` is not negative.
    """
    if not -min(x1.ndim, x2.ndim) <= axis < 0:
        raise ValueError(
            f"axis must be between {-min(x1.ndim, x2.ndim)} and -1, not {axis}"
        )
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"axis {axis} of the shapes {x1.shape} and {x2.shape} differs")
    return _ga.vecdot(x1, x2, axis=axis)
