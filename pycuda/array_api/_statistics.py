"""Statistical and utility functions of the standard.

``axis`` is a number, a tuple of numbers, or None for all axes. With ``keepdims`` the
axes stay with length 1.
"""

from __future__ import annotations

from typing import TypeAlias

import pycuda.gpuarray as _ga
from pycuda.array_api._data_types import DType, int64
from pycuda.gpuarray import GPUArray

__all__ = [
    "all",
    "any",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]

_Axis: TypeAlias = int | tuple[int, ...] | None


def _number_dtype(x: GPUArray, dtype: DType | None) -> DType | None:
    """Return the dtype of a sum. Truth values count as int64, also those compared."""
    return int64 if dtype is None and x.dtype.kind == "b" else dtype


def cumulative_prod(
    x: GPUArray,
    /,
    *,
    axis: int | None = None,
    dtype: DType | None = None,
    include_initial: bool = False,
) -> GPUArray:
    """Return the products up to each element along an axis.

    ``include_initial`` puts a 1 first.
    """
    return _ga.cumulative_prod(
        x,
        axis=axis,
        dtype=_number_dtype(x, dtype),
        include_initial=include_initial,
    )


def cumulative_sum(
    x: GPUArray,
    /,
    *,
    axis: int | None = None,
    dtype: DType | None = None,
    include_initial: bool = False,
) -> GPUArray:
    """Return the sums up to each element along an axis.

    ``include_initial`` puts a 0 first.
    """
    return _ga.cumulative_sum(
        x,
        axis=axis,
        dtype=_number_dtype(x, dtype),
        include_initial=include_initial,
    )


def max(x: GPUArray, /, *, axis: _Axis = None, keepdims: bool = False) -> GPUArray:
    """Return the greatest element; NaN if there is one."""
    return _ga.max(x, axis=axis, keepdims=keepdims)


def mean(x: GPUArray, /, *, axis: _Axis = None, keepdims: bool = False) -> GPUArray:
    """Return the mean, in the array's data type if that is a floating-point one."""
    return _ga.mean(x, axis=axis, keepdims=keepdims)


def min(x: GPUArray, /, *, axis: _Axis = None, keepdims: bool = False) -> GPUArray:
    """Return the smallest element; NaN if there is one."""
    return _ga.min(x, axis=axis, keepdims=keepdims)


def prod(
    x: GPUArray,
    /,
    *,
    axis: _Axis = None,
    dtype: DType | None = None,
    keepdims: bool = False,
) -> GPUArray:
    """Return the product of the elements."""
    return _ga.prod(x, _number_dtype(x, dtype), axis=axis, keepdims=keepdims)


def std(
    x: GPUArray,
    /,
    *,
    axis: _Axis = None,
    correction: float = 0.0,
    keepdims: bool = False,
) -> GPUArray:
    """Return the standard deviation: the root of the variance.

    Parameters
    ----------
    correction : number, optional
        The divisor is the number of elements less ``correction``. The default is 0.
    """
    return _ga.std(x, axis, correction, keepdims)


def sum(
    x: GPUArray,
    /,
    *,
    axis: _Axis = None,
    dtype: DType | None = None,
    keepdims: bool = False,
) -> GPUArray:
    """Return the sum of the elements."""
    return _ga.sum(x, _number_dtype(x, dtype), axis=axis, keepdims=keepdims)


def var(
    x: GPUArray,
    /,
    *,
    axis: _Axis = None,
    correction: float = 0.0,
    keepdims: bool = False,
) -> GPUArray:
    """Return the variance.

    It is the sum of the squared distances from the mean, divided by the number of
    elements less ``correction``.

    Parameters
    ----------
    correction : number, optional
        The divisor is the number of elements less ``correction``. The default is 0.
    """
    return _ga.var(x, axis, correction, keepdims)


# -- utilities -------------------------------------------------------------------------


def all(
    x: GPUArray,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
) -> GPUArray:
    """Return whether all elements are true; true if there are none."""
    return _ga.all(x, axis=axis, keepdims=keepdims)


def any(
    x: GPUArray,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
) -> GPUArray:
    """Return whether any element is true; false if there are none."""
    return _ga.any(x, axis=axis, keepdims=keepdims)


def diff(
    x: GPUArray,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: GPUArray | None = None,
    append: GPUArray | None = None,
) -> GPUArray:
    """Return the differences of neighbours along an axis, taken ``n`` times."""
    if n == 0:  # as in NumPy, nothing is put before or after
        return x.copy()
    return _ga.diff(x, n, axis, prepend, append)
