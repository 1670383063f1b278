"""The indices of the elements that are not 0."""

from __future__ import annotations

import numpy as np

from pycuda._array.context_cache import context_dependent_memoize
from pycuda._array.copies import in_c_order
from pycuda._array.cumulative import scan_kernel_of
from pycuda._array.elementwise_kernel import ElementwiseKernel
from pycuda._driver import GPUArray, _plain_array


@context_dependent_memoize
def _lister(ndim):
    """Return the kernel that stores the indices of the true elements of a mask.

    ``count`` is the cumulative sum of the mask, which gives each index its place.
    """
    axes = range(ndim)
    arguments = ["bool *mask", "long *count", *(f"long *at{k}" for k in axes)]
    arguments += [f"long d{k}" for k in axes]
    lines = ["if (mask[i]) {", "long place = count[i] - 1; size_t rest = i;"]
    for k in range(ndim - 1, 0, -1):
        lines.append(f"at{k}[place] = rest % d{k}; rest /= d{k};")
    lines += ["at0[place] = rest;", "}"]
    return ElementwiseKernel(", ".join(arguments), "\n".join(lines), "list_true")


def nonzero(mask, stream=None):
    """Return the indices of the true elements of a mask, one array for each axis.

    The number of true elements is read back. The mask must have axes.
    """
    mask = _plain_array(mask)
    shape = mask.shape
    packed = in_c_order(mask, stream)
    if packed.size == 0:
        return [GPUArray(0, np.int64, mask.allocator) for _ in shape]
    count = packed.reshape(packed.size).astype(np.int64, stream)
    scan_kernel_of(count.dtype, "a + b")(count, stream=stream)
    found = int(count[-1].get(stream=stream))
    places = [GPUArray(found, np.int64, mask.allocator) for _ in shape]
    if found:
        kernel = _lister(mask.ndim)
        kernel(packed.reshape(packed.size), count, *places, *shape, stream=stream)
    return places
