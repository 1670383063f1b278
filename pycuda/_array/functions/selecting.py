"""The first elements of an order, without sorting the others: see ``top_k``.

All arrays here are packed, have one axis, and no complex numbers.
"""

from __future__ import annotations

import numpy as np

from pycuda._array.kernels.compilation import BackgroundCompilation, compile_text
from pycuda._array.kernels.context_cache import context_dependent_memoize
from pycuda._array.sources.selection import (
    FEW_EACH,
    FEW_THREADS,
    few_texts,
    selection_text,
)
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


#: The most elements that ``first_few`` selects.
FEW = 256
_FEW_BLOCKS = 4  # on a multiprocessor
_FEW_OF_MANY = 32  # elements of a block from which one block is on a multiprocessor
_NARROW = 1 << 32  # elements whose indices, all but the greatest, have 32 bits


# -- few elements ----------------------------------------------------------------------


@context_dependent_memoize
def _few_kernels(name, narrow):
    """Return (blocks, all, multiprocessors) for a dtype."""
    texts = few_texts(name, narrow)
    jobs = [BackgroundCompilation(text) for text in texts]
    modules = [module_from_buffer(job.image()) for job in jobs]
    blocks, whole = (module.get_function("kernel") for module in modules)
    count = device_attribute.MULTIPROCESSOR_COUNT
    return (
        blocks.prepare("PQQIP"),
        whole.prepare("PQQIPQPP"),
        Context.get_device().get_attribute(count),
    )


def first_few(x, k, descending, allocator):
    """Return (elements, indices) of the first ``k`` in the order of a stable sort.

    ``k`` is 1 to ``FEW``. A kernel reads all elements once; each of its blocks keeps
    ``k``. A second kernel with one block selects from these. One kernel is enough for a
    short array.
    """
    _check_arrays(x)
    size = x.size
    narrow = x.dtype.itemsize <= 4 and size < _NARROW
    blocks, whole, processors = _few_kernels(x.dtype.name, narrow)
    threads = (FEW_THREADS, 1, 1)
    most = processors * _FEW_BLOCKS if k <= _FEW_OF_MANY else processors
    count = min(most, -(-size // (FEW_THREADS * FEW_EACH)))
    elements = GPUArray(k, x.dtype, allocator)
    indices = GPUArray(k, np.int64, allocator)
    head = (x.ptr, size, _ALL if descending else 0, k)
    entries = 0
    if count > 1:
        kept = GPUArray(count * k * (1 if narrow else 2), np.uint64, allocator)
        entries = kept.ptr
        blocks.prepared_async_call((count, 1), threads, None, *head, entries)
    whole.prepared_async_call(
        (1, 1), threads, None, *head, entries, count * k, elements.ptr, indices.ptr
    )
    return elements, indices


# -- more elements ---------------------------------------------------------------------


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
