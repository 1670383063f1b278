"""Shapes and strides of arrays of other libraries than NumPy.

Strides are in bytes. The stride of an axis of length 1 is ignored. An array without
elements has every layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.lib.stride_tricks import as_strided

from pycuda import _hide_imports

__all__ = [
    "ArrayFlags",
    "ArrayIsh",
    "as_strided",
    "c_contiguous_strides",
    "equal_strides",
    "f_contiguous_strides",
    "get_common_dtype",
    "is_c_contiguous_strides",
    "is_f_contiguous_strides",
]
_hide_imports(globals())


class ArrayIsh(Protocol):
    """An object with the layout of an array."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""

    @property
    def strides(self) -> tuple[int, ...]:
        """The steps between elements along each axis, in bytes."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements."""


def f_contiguous_strides(itemsize: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of an array without gaps whose first axis varies fastest.

    Parameters
    ----------
    itemsize : int
        Bytes of an element.
    shape : sequence of int
        The shape.

    Returns
    -------
    tuple of int
        The strides, in bytes.

    Examples
    --------
    >>> from pycuda.compyte.array import f_contiguous_strides
    >>> f_contiguous_strides(8, (2, 3))
    (8, 16)
    """
    strides = []
    for length in shape:
        strides.append(itemsize)
        itemsize *= max(length, 1)
    return tuple(strides)


def c_contiguous_strides(itemsize: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of an array without gaps whose last axis varies fastest.

    Parameters
    ----------
    itemsize : int
        Bytes of an element.
    shape : sequence of int
        The shape.

    Returns
    -------
    tuple of int
        The strides, in bytes.

    Examples
    --------
    >>> from pycuda.compyte.array import c_contiguous_strides
    >>> c_contiguous_strides(8, (2, 3))
    (24, 8)
    """
    return f_contiguous_strides(itemsize, tuple(shape)[::-1])[::-1]


def equal_strides(
    strides1: Sequence[int], strides2: Sequence[int], shape: Sequence[int]
) -> bool:
    """Return whether two lists of strides mean the same layout of a shape.

    Parameters
    ----------
    strides1 : sequence of int
        Strides, in bytes.
    strides2 : sequence of int
        Strides, in bytes.
    shape : sequence of int
        The shape. Strides of axes of length 1 do not matter.

    Returns
    -------
    bool
        True if the layouts are the same.

    Examples
    --------
    >>> from pycuda.compyte.array import equal_strides
    >>> equal_strides((24, 8), (99, 8), (1, 3))
    True
    """
    if len(strides1) != len(strides2) or len(strides1) != len(shape):
        return False
    if 0 in shape:
        return True
    axes = zip(strides1, strides2, shape, strict=True)
    return all(first == second for first, second, length in axes if length != 1)


def is_f_contiguous_strides(
    strides: Sequence[int], itemsize: int, shape: Sequence[int]
) -> bool:
    """Return whether the strides are those of ``f_contiguous_strides``.

    Parameters
    ----------
    strides : sequence of int
        Strides, in bytes.
    itemsize : int
        Bytes of an element.
    shape : sequence of int
        The shape.

    Returns
    -------
    bool
        True if the first axis varies fastest and there are no gaps.
    """
    return equal_strides(strides, f_contiguous_strides(itemsize, shape), shape)


def is_c_contiguous_strides(
    strides: Sequence[int], itemsize: int, shape: Sequence[int]
) -> bool:
    """Return whether the strides are those of ``c_contiguous_strides``.

    Parameters
    ----------
    strides : sequence of int
        Strides, in bytes.
    itemsize : int
        Bytes of an element.
    shape : sequence of int
        The shape.

    Returns
    -------
    bool
        True if the last axis varies fastest and there are no gaps.
    """
    return equal_strides(strides, c_contiguous_strides(itemsize, shape), shape)


class ArrayFlags:
    """The layouts that an array has, read once.

    Parameters
    ----------
    ary : ArrayIsh
        The array.

    Attributes
    ----------
    c_contiguous : bool
        Whether there are no gaps and the last axis varies fastest.
    f_contiguous : bool
        Whether there are no gaps and the first axis varies fastest.
    forc : bool
        Whether one of the two is true.
    """

    def __init__(self, ary: ArrayIsh) -> None:
        layout = (ary.strides, ary.dtype.itemsize, ary.shape)
        self.f_contiguous: bool = is_f_contiguous_strides(*layout)
        self.c_contiguous: bool = is_c_contiguous_strides(*layout)
        self.forc: bool = self.f_contiguous or self.c_contiguous

    def __repr__(self) -> str:
        return (
            f"  C_CONTIGUOUS : {self.c_contiguous}\n"
            f"  F_CONTIGUOUS : {self.f_contiguous}"
        )

    def __str__(self) -> str:
        return repr(self)


_SINGLE = {
    np.dtype(np.float64): np.dtype(np.float32),
    np.dtype(np.complex128): np.dtype(np.complex64),
}


def _stand_in(operand: Any) -> Any:
    """Return an object of an operand's type, with a value that fits every dtype."""
    if hasattr(operand, "dtype"):
        return np.ones(1, operand.dtype)
    return type(operand)(1)


def get_common_dtype(obj1: Any, obj2: Any, allow_double: bool) -> np.dtype[Any]:
    """Return the dtype of the sum of two arrays or scalars, by NumPy's rules.

    Parameters
    ----------
    obj1 : object
        First operand.
    obj2 : object
        Second operand.
    allow_double : bool
        If false, return the dtype of single precision of its kind.

    Returns
    -------
    numpy.dtype
        The common dtype.
    """
    common: np.dtype[Any] = np.asarray(_stand_in(obj1) + _stand_in(obj2)).dtype
    return common if allow_double else _SINGLE.get(common, common)
