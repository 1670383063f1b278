"""Operators on vectors in device memory, for ``pycuda.sparse.cg``.

An operator has ``shape`` and ``dtype``, and is called with a GPUArray with one axis.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pycuda import _hide_imports

__all__ = ["DiagonalPreconditioner", "IdentityOperator", "OperatorBase"]
_hide_imports(globals())


class OperatorBase:
    """The base class of operators, which define ``shape``, ``dtype`` and the call.

    A call gets the operand and returns a GPUArray, which may be the operand.
    """

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of operands and results."""
        raise NotImplementedError(f"{type(self).__name__} has no dtype")

    @property
    def shape(self) -> tuple[int, int]:
        """(length of the result, length of the operand)."""
        raise NotImplementedError(f"{type(self).__name__} has no shape")

    def __call__(self, operand: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} cannot be applied")


class IdentityOperator(OperatorBase):
    """The operator that returns its operand, a vector of ``n`` elements.

    Attributes
    ----------
    my_dtype : numpy.dtype
        The dtype that was given.
    n : int
        The number of elements of the operand.
    """

    def __init__(self, dtype: Any, n: int) -> None:
        self.my_dtype: np.dtype[Any] = np.dtype(dtype)
        self.n = n

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype that was given."""
        return self.my_dtype

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return self.n, self.n

    def __call__(self, operand: Any) -> Any:
        """Return the operand itself."""
        return operand


class DiagonalPreconditioner(OperatorBase):
    """The operator that multiplies by a vector, element by element.

    For the method of conjugate gradients, the vector is a GPUArray of the inverse of
    the matrix's diagonal: ``DiagonalPreconditioner(1 / diagonal)``.

    Attributes
    ----------
    diagonal : pycuda.gpuarray.GPUArray
        The vector, of shape (n,).
    """

    def __init__(self, diagonal: Any) -> None:
        self.diagonal = diagonal

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the vector."""
        dtype: np.dtype[Any] = self.diagonal.dtype
        return dtype

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n) of a vector with ``n`` elements."""
        n = self.diagonal.shape[0]
        return n, n

    def __call__(self, operand: Any, out: Any = None) -> Any:
        """Return the product of vector and operand, in ``out`` if it is given."""
        diagonal = self.diagonal
        if operand.shape != diagonal.shape and operand.size == diagonal.size:
            diagonal = diagonal.reshape(operand.shape)  # a column counts as a vector
        if out is None:
            return diagonal * operand
        return diagonal._elwise_multiply(operand, out)
