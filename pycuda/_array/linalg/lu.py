"""LU decompositions of stacks of matrices: one by one, or many small ones at once."""

from __future__ import annotations

import numpy as np

from pycuda._array.linalg.cublas import BatchedLU
from pycuda._array.linalg.cusolver import Routines, at
from pycuda._array.linalg.matrices import are_many_small
from pycuda._driver import GPUArray


class LoopedLU:
    """The LU decompositions of a stack of matrices, made in their place.

    LAPACK sees the matrices by column. ``pivots`` has a row for each matrix.
    """

    def __init__(self, stack):
        count, n, _ = stack.shape
        self._stack = stack
        self._routines = Routines(stack.dtype, count, stack.allocator)
        self.pivots = GPUArray((count, n), np.int32, stack.allocator)
        space, _ = self._routines.space("getrf", n, n, stack, n)
        for i in range(count):
            self._routines.call(
                "getrf", i, n, n, at(stack, i), n, space, at(self.pivots, i)
            )

    def stopped(self):
        """Wait for the decompositions. Return their statuses as a NumPy array."""
        return self._routines.stopped()

    def substitute(self, right):
        """Solve for right sides, which are stored by column, in their place."""
        count, n, _ = self._stack.shape
        routines = Routines(right.dtype, count, right.allocator)
        for i in range(count):
            routines.call(
                *("getrs", i, 0, n, right.shape[1], at(self._stack, i), n),
                *(at(self.pivots, i), at(right, i), n),
            )


def decompose(stack):
    """Return the decompositions of a stack of shape (count, n, n), in its place."""
    if are_many_small(stack):
        return BatchedLU(stack)
    return LoopedLU(stack)
