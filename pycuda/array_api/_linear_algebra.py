"""Linear algebra functions in the main namespace of the standard."""

from __future__ import annotations

from collections.abc import Sequence

import pycuda.gpuarray as _ga
from pycuda.gpuarray import GPUArray


def matmul(x1: GPUArray, x2: GPUArray, /) -> GPUArray:
    """Return the products of matrices, in the last two axes; other axes broadcast.

    An array of one axis is a row on the left and a column on the right. Raises
    ValueError for arrays without axes and for shapes that do not fit.
    """
    return _ga.matmul(x1, x2)


def matrix_transpose(x: GPUArray, /) -> GPUArray:
    """Return a view with the last two axes exchanged; ValueError if there are fewer."""
    return x.mT


def tensordot(
    x1: GPUArray,
    x2: GPUArray,
    /,
    *,
    axes: int | tuple[Sequence[int], Sequence[int]] = 2,
) -> GPUArray:
    """Return the sums of products over axes of both arrays.

    ``axes`` is a number of axes, the last ones of ``x1`` and the first ones of ``x2``,
    or a sequence of axes for each.
    """
    return _ga.tensordot(x1, x2, axes)


def vecdot(x1: GPUArray, x2: GPUArray, /, *, axis: int = -1) -> GPUArray:
    """Return the sums of ``conj(x1) * x2`` along an axis; the other axes broadcast.

    ``axis`` is negative. Raises ValueError if the lengths differ.
    """
    if not -min(x1.ndim, x2.ndim) <= axis < 0:
        raise ValueError(
            f"axis must be between {-min(x1.ndim, x2.ndim)} and -1, not {axis}"
        )
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"axis {axis} of the shapes {x1.shape} and {x2.shape} differs")
    return _ga.vecdot(x1, x2, axis=axis)
