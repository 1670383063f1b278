"""Sorted arrays, and the indices that sort them.

All sorts are stable: equal elements keep their order. NaNs are equal and greater than
all numbers; 0.0 and -0.0 are equal. Complex numbers are compared by real part and then
imaginary part. In a descending order everything but the order of equal elements is
reversed, so NaNs come first.
"""

from __future__ import annotations

import numpy as np

from pycuda._array.copies import np_ravel
from pycuda._array.layout import normal_axis
from pycuda._array.streams import on_stream
from pycuda._driver import _plain_array, _sort

_KINDS = ("quicksort", "mergesort", "heapsort", "stable")


def _check_kind(name, kind, order, stable):
    """Raise for arguments of NumPy's sorts that arrays do not have."""
    if kind is not None and stable is not None:
        raise ValueError(f"{name}: give kind or stable, not both")
    if kind is not None and kind not in _KINDS:
        raise ValueError(f"{name}: kind is one of {', '.join(_KINDS)}, not {kind!r}")
    if order is not None:
        raise ValueError(f"{name}: order names fields of records, which have no order")


def sort(
    a,
    axis=-1,
    kind=None,
    order=None,
    *,
    stable=None,
    descending=False,
    stream=None,
    allocator=None,
):
    """Return a sorted copy, along an axis or of all elements if ``axis`` is None.

    The sort is stable, whatever ``kind`` and ``stable`` are. NaNs are the greatest
    elements. ``a`` has any dtype of numbers; the result has its shape and dtype.

    Raises TypeError for another dtype, ValueError for an axis that ``a`` does not have.
    """
    if kind is not None or order is not None:
        _check_kind("sort", kind, order, stable)
    if axis is None:
        a, axis = np_ravel(a), 0
    return _sort(a, axis, False, descending, False, stream, allocator)


def argsort(
    a,
    axis=-1,
    kind=None,
    order=None,
    *,
    stable=None,
    descending=False,
    stream=None,
    allocator=None,
):
    """Return the indices that sort an array, int64, in its shape.

    The arguments are those of ``sort``. With ``axis`` None the indices are those of the
    flat array.
    """
    if kind is not None or order is not None:
        _check_kind("argsort", kind, order, stable)
    if axis is None:
        a, axis = np_ravel(a), 0
    return _sort(a, axis, True, descending, False, stream, allocator)


def sort_in_place(a, axis=-1, kind=None, order=None, *, stable=None):
    """Sort an array in place along an axis: the method ``sort``."""
    if kind is not None or order is not None:
        _check_kind("sort", kind, order, stable)
    _sort(a, axis, in_place=True)


def sort_complex(a):
    """Return all elements along the first axis sorted, as complex numbers.

    Integers of up to 16 bits and float16, float32 become complex64, others complex128.
    """
    result = sort(a)
    if a.dtype.kind == "c":
        return result
    is_small = a.dtype.char in "bhBHef"
    return result.astype(np.complex64 if is_small else np.complex128)


# -- elements along an axis ------------------------------------------------------------


def along_axis(a, indices, axis, stream=None):
    """Return the elements of ``a`` at indices along an axis, which sorts computed.

    ``indices`` has the shape of ``a``, except along the axis. They are not checked.
    """
    from pycuda._array import flat_indices

    a = _plain_array(a)
    axis = normal_axis(axis, a.ndim)
    if a.ndim == 1:
        return flat_indices.take(a, indices, None, stream, wait=False)
    order = [k for k in range(a.ndim) if k != axis] + [axis]
    back = [order.index(k) for k in range(a.ndim)]
    with on_stream(stream):
        lines = a.transpose(order)
        places = indices.transpose(order)
        length = lines.shape[-1]
        flat = np_ravel(lines)
        count = flat.size // length if length else 0
        begin = np.arange(0, count * length, max(length, 1), dtype=np.int64)
        from pycuda._array.creation import arange

        begin = arange(0, count * length, max(length, 1), dtype=np.int64)
        places = places + begin.reshape((*lines.shape[:-1], 1))
        return flat_indices.take(flat, places, None, None, wait=False).transpose(back)
