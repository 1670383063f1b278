"""The methods of GPUArray that have NumPy's names; C calls them by these names."""

# ruff: noqa: F401  other files define most of the functions

from __future__ import annotations

import numpy as np

from pycuda._array.copies import np_ravel
from pycuda._array.functions.diagonals import diagonal
from pycuda._array.functions.operations import clip
from pycuda._array.functions.shapes import swapaxes
from pycuda._array.functions.sorting import (
    argpartition,
    argsort,
    partition_in_place as partition,
    sort_in_place as sort,
)
from pycuda._array.linalg.products import dot, trace
from pycuda._array.numpy_protocol.functions import may_share_memory, round, take
from pycuda._driver import _plain_array


def flatten(a, order="C"):
    """Return a copy with one axis, in the order of indices."""
    result = np_ravel(a, order)
    return result.copy() if may_share_memory(result, a) else result


def item(a, *args):
    """Return an element as Python's number: the only one, or the one at indices."""
    if not args:
        if _plain_array(a).size != 1:
            raise ValueError(
                f"an array of shape {a.shape} does not have one element: give its index"
            )
        return a.get().item()
    index = args[0] if len(args) == 1 else args
    if not isinstance(index, tuple) and a.ndim != 1:
        size = _plain_array(a).size
        if not -size <= index < size:
            raise IndexError(f"index {index} is out of bounds for {size} elements")
        index = np.unravel_index(index + size if index < 0 else index, a.shape)
    element = a[index]
    if element.ndim:
        raise ValueError(f"{args} is not the index of an element of shape {a.shape}")
    return element.get().item()


def to_numpy(a):
    """Return a copy in host memory."""
    return a.get()


def tolist(a):
    """Return the elements as Python's numbers, in nested lists."""
    return a.get().tolist()
