"""Cumulative sums and products."""

from __future__ import annotations

import numpy as np

from pycuda._array.context_cache import context_dependent_memoize
from pycuda._array.copies import copy_into, in_c_order
from pycuda._array.layout import normal_axis
from pycuda._driver import GPUArray


def cumsum(a, axis=None, dtype=None, *, stream=None):
    """Return the cumulative sums, of all elements in C order or along an axis."""
    return _running("a + b", np.add, a, axis, dtype, stream)


def cumprod(a, axis=None, dtype=None, *, stream=None):
    """Return the cumulative products, of all elements in C order or along an axis."""
    return _running("a * b", np.multiply, a, axis, dtype, stream)


def _running(expression, ufunc, a, axis, dtype, stream):
    """Scan an array along an axis; ``ufunc`` is the same operation in NumPy."""
    if axis is None or (a.ndim == 0 and axis in (0, -1)):
        a, axis = in_c_order(a, stream).reshape(a.size), 0
    axis = normal_axis(axis, a.ndim)
    if dtype is None:  # NumPy widens small integers
        dtype = ufunc.accumulate(np.ones(1, a.dtype)).dtype
    dtype = np.dtype(dtype)
    # The kernel scans packed lines. It has no half precision, which has no name in C.
    order = (*(k for k in range(a.ndim) if k != axis), axis)
    back = tuple(order.index(k) for k in range(a.ndim))
    work_dtype = np.dtype(np.float32) if dtype == np.float16 else dtype
    lines = a.transpose(*order)
    work = GPUArray(lines.shape, work_dtype, a.allocator)
    copy_into(work, lines, stream)
    if work.size:
        kernel = scan_kernel_of(work.dtype, expression)
        kernel._scan_lines(work, work, work.size // a.shape[axis], a.allocator, stream)
    if axis == a.ndim - 1 and dtype == work_dtype:
        return work
    result = GPUArray(a.shape, dtype, a.allocator)
    copy_into(result, work.transpose(*back), stream)
    return result


@context_dependent_memoize
def scan_kernel_of(dtype, expression):
    """Return the inclusive scan of a dtype by an expression such as "a + b"."""
    from pycuda._array.scan_kernel import InclusiveScanKernel

    return InclusiveScanKernel(dtype, expression)
