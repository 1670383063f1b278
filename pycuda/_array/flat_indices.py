"""``take`` and ``put`` of the elements at flat indices."""

from __future__ import annotations

import operator

from pycuda._array.copies import c_copy, in_c_order
from pycuda._array.index_report import expect_report
from pycuda._array.overlap import apart, may_overlap
from pycuda._array.selection import Selection, as_index, checked_on_host
from pycuda._driver import GPUArray, _array_ops, _elementwise, _plain_array, to_gpu


def _flat(array, indices, what, stream):
    """Return the selection of the elements at flat indices.

    For an array with gaps, the stream makes a packed copy.
    """
    index = as_index(indices)
    if index.dtype.kind == "b":
        raise IndexError(f"{what}: indices must be integers, not bool")
    array = _plain_array(array)
    length = operator.index(array.size)
    flat = array if array.flags.forc else c_copy(array, stream=stream)
    checked = not isinstance(index, GPUArray)
    if checked:
        index = to_gpu(checked_on_host(index, length, 0))
    return Selection(
        flat.reshape(length),
        index.shape,
        [0] * index.ndim,
        [(index, list(index.strides), 0, checked)],
    )


def take(array, indices, out, stream, wait=True):
    """Return the elements at flat indices, in ``out`` if that is given.

    Without ``wait``, the next get() raises the IndexError for a wrong index.
    """
    given, out = out, _plain_array(out)
    selection = _flat(array, apart(indices, (out,), stream), "take", stream)
    if out is not None and (out.shape != selection.shape or out.dtype != array.dtype):
        raise ValueError(
            f"take: the result has shape {selection.shape} and dtype {array.dtype}, "
            f"out has {out.shape} and {out.dtype}"
        )
    overlaps = out is not None and may_overlap(out, _plain_array(array))
    target = None if overlaps else out
    result = selection.get(stream, target)
    if wait:
        selection.wait(stream)
    elif not selection.is_checked:
        expect_report(stream, wait=False)
    if out is None:
        return result
    if result is not out:
        out.set(result, stream=stream)
    return given


def put(array, indices, values, stream):
    """Assign to flat indices of an array without gaps; do not wait."""
    array, values = _plain_array(array), _plain_array(values)
    if not array.flags.forc:
        raise ValueError("put: the array to put into must be contiguous")
    selection = _flat(array, apart(indices, (array,), stream), "put", stream)
    if values.size != selection.size:
        raise ValueError(
            f"put: {values.size} values were given for {selection.size} indices"
        )
    elements = values
    if values.dtype != array.dtype or may_overlap(values, array):
        elements = GPUArray(values.shape, array.dtype, array.allocator)
        _elementwise(_array_ops["copy"], (values,), elements, None, stream)
    if elements.shape != selection.shape:
        elements = in_c_order(elements, stream).reshape(selection.shape)
    selection.move("put", elements, elements.strides, stream)
    if not selection.is_checked:
        expect_report(stream, wait=False)
