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
    """Base class of operators, which define ``shape``, ``dtype`` and the call.

    See Also
    --------
    IdentityOperator : Return the operand.
    DiagonalPreconditioner : Multiply element by element.

    Examples
    --------
    >>> from pycuda.sparse.operator import OperatorBase
    >>> class Twice(OperatorBase):
    ...     shape, dtype = (3, 3), np.dtype(np.float64)
    ...     def __call__(self, operand):
    ...         return 2 * operand
    >>> Twice()(gpuarray.ones(3, np.float64))
    array([2., 2., 2.])
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
        """Apply the operator.

        Parameters
        ----------
        operand : GPUArray
            Vector with one axis.

        Returns
        -------
        GPUArray
            The result, which may be the operand.

        Raises
        ------
        NotImplementedError
            If a class does not define the call.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot be applied")


class IdentityOperator(OperatorBase):
    """Operator that returns its operand.

    Parameters
    ----------
    dtype : dtype_like
        Dtype of the vector.
    n : int
        Number of elements.

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
        """Return the operand itself.

        Parameters
        ----------
        operand : GPUArray
            Vector with one axis.

        Returns
        -------
        GPUArray
            The operand.
        """
        return operand


class DiagonalPreconditioner(OperatorBase):
    """Operator that multiplies by a vector, element by element.

    Parameters
    ----------
    diagonal : GPUArray
        Vector. For the method of conjugate gradients, it is the inverse of the matrix's
        diagonal: ``DiagonalPreconditioner(1 / diagonal)``.

    Attributes
    ----------
    diagonal : pycuda.gpuarray.GPUArray
        The vector, of shape (n,).

    Examples
    --------
    >>> from pycuda.sparse.operator import DiagonalPreconditioner
    >>> operator = DiagonalPreconditioner(gpuarray.to_gpu(np.array([1.0, 2, 3])))
    >>> operator(gpuarray.ones(3, np.float64))
    array([1., 2., 3.])
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
        """Return the product of vector and operand.

        Parameters
        ----------
        operand : GPUArray
            Vector of the same number of elements.
        out : GPUArray, optional
            Array of the result's shape to which the result goes. The default is a new
            array.

        Returns
        -------
        GPUArray
            The result: ``out``, or a new array.
        """
        diagonal = self.diagonal
        if operand.shape != diagonal.shape and operand.size == diagonal.size:
            diagonal = diagonal.reshape(operand.shape)  # a column counts as a vector
        if out is None:
            return diagonal * operand
        return diagonal._elwise_multiply(operand, out)
