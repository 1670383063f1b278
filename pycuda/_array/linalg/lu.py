"""LU decompositions of stacks of matrices: one by one, or many small ones at once."""

from __future__ import annotations

import numpy as np

from pycuda._array.linalg.cublas import BatchedLU, solve_triangle
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
        """Solve for right sides, which are stored by column, in their place.

        Exchanging rows and solving for the triangles by cuBLAS takes half the time of
        cuSOLVER's ``getrs``.
        """
        count, n, _ = self._stack.shape
        routines = Routines(right.dtype, count, right.allocator)
        for i in range(count):
            routines.exchange_rows(
                *(right.shape[1], at(right, i), n, 1, n, at(self.pivots, i), 1)
            )
            solve_triangle(True, self._stack[i], right[i])
            solve_triangle(False, self._stack[i], right[i])


def decompose(stack):
    """Return the decompositions of a stack of shape (count, n, n), in its place."""
    if are_many_small(stack):
        return BatchedLU(stack)
    return LoopedLU(stack)
