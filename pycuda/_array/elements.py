"""Functions of the elements at flat indices: ``take``, ``multi_put``, ``subset_sum``.

Most programs use none of these, so the first call imports ``flat_indices``.
"""

from __future__ import annotations

import numpy as np

from pycuda._array import reductions
from pycuda._array.overlap import apart
from pycuda._driver import GPUArray, _array_ops, _elementwise


def _subset(a, subset, stream):
    from pycuda._array import flat_indices

    return flat_indices.take(a, subset, None, stream, wait=False)


def subset_sum(subset, a, dtype=None, stream=None, allocator=None):
    """Return the sum of the elements whose flat indices are in ``subset``."""
    return reductions.sum(_subset(a, subset, stream), dtype, stream, allocator)


def subset_dot(subset, a, b, dtype=None, stream=None, allocator=None):
    """Return the dot of the elements whose flat indices are in ``subset``."""
    a, b = _subset(a, subset, stream), _subset(b, subset, stream)
    return reductions.dot(a, b, dtype, stream, allocator)


def subset_min(subset, a, stream=None):
    """Return the least of the elements whose flat indices are in ``subset``."""
    return reductions.min(_subset(a, subset, stream), stream)


def subset_max(subset, a, stream=None):
    """Return the greatest of the elements whose flat indices are in ``subset``."""
    return reductions.max(_subset(a, subset, stream), stream)


def take(a, indices, out=None, stream=None):
    """Return the elements of ``a`` at flat indices; negative ones count from the end.

    Raises IndexError for an index out of bounds. For indices on the device, this waits.
    """
    from pycuda._array import flat_indices

    return flat_indices.take(a, indices, out, stream)


def multi_take(arrays, indices, out=None, stream=None):
    """Return ``take(array, indices)`` for each of the arrays, without waiting.

    For an index out of bounds, the next ``get()`` raises the IndexError.
    """
    from pycuda._array import flat_indices

    outs = [None] * len(arrays) if out is None else out
    _same_length(arrays, outs, "out")
    indices = apart(indices, outs, stream)
    arrays = _unchanged(arrays, outs, stream)
    return [
        flat_indices.take(array, indices, output, stream, wait=False)
        for array, output in zip(arrays, outs, strict=True)
    ]


def multi_put(arrays, dest_indices, dest_shape=None, out=None, stream=None):
    """Store the elements of each array at flat indices of its output.

    New outputs have the shape ``dest_shape``; their other elements are not set. Returns
    the outputs.
    """
    from pycuda._array import flat_indices

    outs = _outputs(arrays, dest_shape, out)
    dest_indices = apart(dest_indices, outs, stream)
    arrays = _unchanged(arrays, outs, stream)
    for array, output in zip(arrays, outs, strict=True):
        flat_indices.put(output, dest_indices, array, stream)
    return outs


def multi_take_put(
    arrays,
    dest_indices,
    src_indices,
    dest_shape=None,
    out=None,
    stream=None,
    src_offsets=None,
):
    """Copy elements at flat indices of each array to flat indices of its output.

    ``src_offsets`` has a number for each array, which is added to its indices.
    """
    from pycuda._array import flat_indices

    outs = _outputs(arrays, dest_shape, out)
    offsets = [0] * len(arrays) if src_offsets is None else src_offsets
    _same_length(arrays, offsets, "src_offsets")
    dest_indices = apart(dest_indices, outs, stream)
    src_indices = apart(src_indices, outs, stream)
    arrays = _unchanged(arrays, outs, stream)
    for array, output, offset in zip(arrays, outs, offsets, strict=True):
        indices = _shifted(src_indices, offset, stream)
        taken = flat_indices.take(array, indices, None, stream, wait=False)
        flat_indices.put(output, dest_indices, taken, stream)
    return outs


def _shifted(indices, offset, stream):
    if not isinstance(indices, GPUArray):
        return np.asarray(indices) + offset
    if not offset:
        return indices
    return _elementwise(_array_ops["add"], (indices, offset), None, np.int64, stream)


def _unchanged(arrays, outs, stream):
    """Return the arrays, with copies of those that an earlier output may overwrite."""
    return [apart(array, outs[:k], stream) for k, array in enumerate(arrays)]


def _same_length(arrays, others, name):
    if len(arrays) != len(others):
        raise ValueError(f"there are {len(arrays)} arrays, but {len(others)} in {name}")


def _outputs(arrays, dest_shape, out):
    if out is not None:
        _same_length(arrays, out, "out")
        return out
    if dest_shape is None:
        raise ValueError("either dest_shape or out must be given")
    return [GPUArray(dest_shape, a.dtype, a.allocator) for a in arrays]
