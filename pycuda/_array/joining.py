"""Arrays joined along an axis."""

from __future__ import annotations

import numpy as np

from pycuda._array.creation import allocator_of, remember_counts
from pycuda._array.layout import normal_axis
from pycuda._driver import GPUArray


def concatenate(arrays, axis=0, allocator=None):
    """Return the arrays joined along an existing axis."""
    arrays = list(arrays)
    if not arrays:
        raise ValueError("there is nothing to concatenate")
    first = arrays[0]
    if first.ndim == 0:
        raise ValueError("arrays without axes cannot be concatenated")
    axis = normal_axis(axis, first.ndim)
    around = (*first.shape[:axis], *first.shape[axis + 1 :])
    for array in arrays:
        others = (*array.shape[:axis], *array.shape[axis + 1 :])
        if others != around or array.ndim != first.ndim:
            raise ValueError(
                f"arrays of shape {first.shape} and {array.shape} cannot be "
                f"concatenated along axis {axis}"
            )
    dtype = np.result_type(*(array.dtype for array in arrays))
    length = int(np.sum([array.shape[axis] for array in arrays]))
    shape = (*first.shape[:axis], length, *first.shape[axis + 1 :])
    result = GPUArray(shape, dtype, allocator_of(allocator, first))
    begin = 0
    for array in arrays:
        end = begin + array.shape[axis]
        result[(slice(None),) * axis + (slice(begin, end),)] = array
        begin = end
    remember_counts(result, arrays)
    return result


def stack(arrays, axis=0, allocator=None):
    """Return arrays of one shape joined along a new axis.

    The result is in C order for axis 0, in Fortran order for others.
    """
    arrays = list(arrays)
    if not arrays:
        raise ValueError("there is nothing to stack")
    first = arrays[0]
    for array in arrays:
        if array.shape != first.shape:
            raise ValueError(
                f"arrays of shape {first.shape} and {array.shape} cannot be stacked"
            )
    axis = normal_axis(axis, first.ndim + 1)
    dtype = np.result_type(*(array.dtype for array in arrays))
    shape = (*first.shape[:axis], len(arrays), *first.shape[axis:])
    order = "C" if axis == 0 else "F"
    result = GPUArray(shape, dtype, allocator_of(allocator, first), order=order)
    for number, array in enumerate(arrays):
        result[(slice(None),) * axis + (number,)] = array
    remember_counts(result, arrays)
    return result
