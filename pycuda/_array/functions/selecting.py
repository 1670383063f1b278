"""The first elements of an order, without sorting the others: see ``top_k``.

All arrays here are packed, have one axis, and no complex numbers.
"""

from __future__ import annotations

import numpy as np

from pycuda._array.kernels.compilation import compile_text
from pycuda._array.kernels.context_cache import context_dependent_memoize
from pycuda._array.sources.selection import selection_text
from pycuda._driver import (
    Context,
    GPUArray,
    _check_arrays,
    _sort,
    _take,
    device_attribute,
    module_from_buffer,
)

_STATE = 256 + 5  # words of 64 bits: struct selection in pycuda-select.hpp
_LEFT = 256  # the word that holds how many elements are wanted
_ALL = (1 << 64) - 1
_BLOCKS = 8  # on a multiprocessor
_EACH = 2048  # elements of a block, at least


@context_dependent_memoize
def _kernels(name):
    """Return (find, store, blocks that fill the device) for a dtype."""
    module = module_from_buffer(compile_text(selection_text(name)))
    find = module.get_function("find").prepare("PQPQII")
    store = module.get_function("store").prepare("PQPQPP")
    count = device_attribute.MULTIPROCESSOR_COUNT
    return find, store, _BLOCKS * Context.get_device().get_attribute(count)


def first_of_order(x, k, descending, allocator):
    """Return (elements, indices) of the first ``k`` in the order of a stable sort.

    ``k`` is at least 1. The kernels read all elements once for each byte of a key, and
    once more.
    """
    _check_arrays(x)
    find, store, most = _kernels(x.dtype.name)
    grid = (min(most, -(-x.size // _EACH)), 1)
    block = (256, 1, 1)
    state = GPUArray(_STATE, np.uint64, allocator).fill(0)
    state[_LEFT].fill(k)
    elements = GPUArray(k, x.dtype, allocator)
    indices = GPUArray(k, np.int64, allocator)
    flip = _ALL if descending else 0
    head = (x.ptr, x.size, state.ptr, flip)
    for place in range(x.dtype.itemsize - 1, -1, -1):
        find.prepared_async_call(grid, block, None, *head, place, 0)
    for place in range((x.size.bit_length() - 1) // 8, -1, -1):
        find.prepared_async_call(grid, block, None, *head, place, 1)
    store.prepared_async_call(grid, block, None, *head, elements.ptr, indices.ptr)
    indices, order = _sort(indices, 0, True, True)
    elements, order = _sort(
        _take(elements, order, mode="clip"), 0, True, True, descending
    )
    return elements, _take(indices, order, mode="clip")
