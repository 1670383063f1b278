"""The way back from copies that a kernel worked on to the arrays of the program."""

from __future__ import annotations

from pycuda._array.copies import empty_alike
from pycuda._array.kernels.context_cache import context_dependent_memoize
from pycuda._array.kernels.elementwise_module import get_elwise_kernel


@context_dependent_memoize
def _merger(itemsize):
    """Return the kernel that copies from ``after`` the elements that changed.

    Its arguments are ``now``, which it writes to, ``before`` and ``after``. Elements
    are compared by their bits.
    """
    word = min(itemsize & -itemsize, 8)
    kind = {1: "char", 2: "short", 4: "int", 8: "long long"}[word]
    count = itemsize // word
    return get_elwise_kernel(
        f"{kind} *now, {kind} *before, {kind} *after",
        f"""
        bool changed = false;
        for (size_t k = i * {count}; k < (i + 1) * {count}; k++)
            changed = changed || before[k] != after[k];
        for (size_t k = i * {count}; changed && k < (i + 1) * {count}; k++)
            now[k] = after[k];
        """,
        "merge",
    )


def copy_back(triples, stream):
    """Copy the triples of ``Arguments.copies_before`` back to their arrays."""
    for array, packed, before in triples:
        if before is None:
            array.set_async(packed, stream)
            continue
        now = empty_alike(packed)
        now.set_async(array, stream)
        _merger(packed.dtype.itemsize).prepared_async_call(
            now._grid,
            now._block,
            stream,
            now.gpudata,
            before.gpudata,
            packed.gpudata,
            now.size,
        )
        array.set_async(now, stream)
