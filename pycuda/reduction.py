"""``ReductionKernel``: one result from all elements; ready-made kernels by dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pycuda import _hide_imports
from pycuda._array.kernels.reduction_kernel import (
    ReductionKernel as ReductionKernel,
    get_reduction_kernel_and_types as get_reduction_kernel_and_types,
    get_reduction_module as get_reduction_module,
)
from pycuda._public import publish as _publish
from pycuda.tools import VectorArg, context_dependent_memoize, dtype_to_ctype

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = [
    "ReductionKernel",
    "get_all_kernel",
    "get_any_kernel",
    "get_dot_kernel",
    "get_minmax_kernel",
    "get_minmax_neutral",
    "get_reduction_kernel_and_types",
    "get_reduction_module",
    "get_subset_dot_kernel",
    "get_subset_minmax_kernel",
    "get_subset_sum_kernel",
    "get_sum_kernel",
]
_hide_imports(globals())


@context_dependent_memoize
def get_any_kernel(dtype_out: DTypeLike, dtype_in: DTypeLike) -> ReductionKernel:
    """Return the kernel that tests whether any element is not 0.

    Parameters
    ----------
    dtype_out : dtype_like
        Dtype of the result.
    dtype_in : dtype_like
        Dtype of the elements.

    Returns
    -------
    ReductionKernel
        The kernel. A call takes the array.
    """
    return ReductionKernel(
        dtype_out, "false", "a || b", "bool(in[i])", [VectorArg(dtype_in, "in")]
    )


@context_dependent_memoize
def get_all_kernel(dtype_out: DTypeLike, dtype_in: DTypeLike) -> ReductionKernel:
    """Return the kernel that tests whether all elements are not 0.

    Parameters
    ----------
    dtype_out : dtype_like
        Dtype of the result.
    dtype_in : dtype_like
        Dtype of the elements.

    Returns
    -------
    ReductionKernel
        The kernel. A call takes the array.
    """
    return ReductionKernel(
        dtype_out, "true", "a && b", "bool(in[i])", [VectorArg(dtype_in, "in")]
    )


def _element(name, dtype_in, dtype_out, index="i"):
    """Return the expression of an element, converted if the dtypes differ."""
    text = f"{name}[{index}]"
    if np.dtype(dtype_in) == np.dtype(dtype_out):
        return text
    return f"({dtype_to_ctype(dtype_out)})({text})"


@context_dependent_memoize
def get_sum_kernel(dtype_out: DTypeLike, dtype_in: DTypeLike) -> ReductionKernel:
    """Return the kernel of the sum.

    Parameters
    ----------
    dtype_out : dtype_like or None
        Dtype of the result. None is the dtype of the elements.
    dtype_in : dtype_like
        Dtype of the elements.

    Returns
    -------
    ReductionKernel
        The kernel. A call takes the array.

    Examples
    --------
    >>> from pycuda.reduction import get_sum_kernel
    >>> kernel = get_sum_kernel(np.int64, np.int32)
    >>> print(kernel(gpuarray.arange(5, dtype=np.int32)))
    10
    """
    dtype_out = dtype_in if dtype_out is None else dtype_out
    return ReductionKernel(
        dtype_out,
        "0",
        "a + b",
        _element("in", dtype_in, dtype_out),
        [VectorArg(dtype_in, "in")],
    )


@context_dependent_memoize
def get_subset_sum_kernel(
    dtype_out: DTypeLike, dtype_subset: DTypeLike, dtype_in: DTypeLike
) -> ReductionKernel:
    """Return the kernel of the sum of the elements at indices.

    Parameters
    ----------
    dtype_out : dtype_like or None
        Dtype of the result. None is the dtype of the elements.
    dtype_subset : dtype_like
        Dtype of the indices.
    dtype_in : dtype_like
        Dtype of the elements.

    Returns
    -------
    ReductionKernel
        The kernel. A call takes the indices and the array.
    """
    dtype_out = dtype_in if dtype_out is None else dtype_out
    return ReductionKernel(
        dtype_out,
        "0",
        "a + b",
        _element("in", dtype_in, dtype_out, "lookup_tbl[i]"),
        [VectorArg(dtype_subset, "lookup_tbl"), VectorArg(dtype_in, "in")],
    )


def _dot_dtypes(dtype_out, dtype_a, dtype_b):
    dtype_b = dtype_a if dtype_b is None else dtype_b
    if dtype_out is None:
        dtype_out = np.result_type(dtype_a, dtype_b)
    return np.dtype(dtype_out), dtype_b


@context_dependent_memoize
def get_dot_kernel(
    dtype_out: DTypeLike,
    dtype_a: DTypeLike | None = None,
    dtype_b: DTypeLike | None = None,
) -> ReductionKernel:
    """Return the kernel of the sum of products of two arrays.

    Parameters
    ----------
    dtype_out : dtype_like or None
        Dtype of the result. None is the common dtype of both arrays.
    dtype_a : dtype_like, optional
        Dtype of the first array. The default is ``dtype_out``.
    dtype_b : dtype_like, optional
        Dtype of the second array. The default is that of the first.

    Returns
    -------
    ReductionKernel
        The kernel. A call takes both arrays.
    """
    dtype_a = dtype_out if dtype_a is None else dtype_a
    dtype_out, dtype_b = _dot_dtypes(dtype_out, dtype_a, dtype_b)
    a = _element("a", dtype_a, dtype_out)
    b = _element("b", dtype_b, dtype_out)
    return ReductionKernel(
        dtype_out,
        "0",
        "a + b",
        f"{a} * {b}",
        [VectorArg(dtype_a, "a"), VectorArg(dtype_b, "b")],
    )


@context_dependent_memoize
def get_subset_dot_kernel(
    dtype_out: DTypeLike,
    dtype_subset: DTypeLike,
    dtype_a: DTypeLike | None = None,
    dtype_b: DTypeLike | None = None,
) -> ReductionKernel:
    """Return the kernel of the sum of products of the elements at indices.

    Parameters
    ----------
    dtype_out : dtype_like or None
        Dtype of the result. None is the common dtype of both arrays.
    dtype_subset : dtype_like
        Dtype of the indices.
    dtype_a : dtype_like, optional
        Dtype of the first array. The default is ``dtype_out``.
    dtype_b : dtype_like, optional
        Dtype of the second array. The default is that of the first.

    Returns
    -------
    ReductionKernel
        The kernel. A call takes the indices and both arrays.
    """
    dtype_a = dtype_out if dtype_a is None else dtype_a
    dtype_out, dtype_b = _dot_dtypes(dtype_out, dtype_a, dtype_b)
    a = _element("a", dtype_a, dtype_out, "lookup_tbl[i]")
    b = _element("b", dtype_b, dtype_out, "lookup_tbl[i]")
    return ReductionKernel(
        dtype_out,
        "0",
        "a + b",
        f"{a} * {b}",
        [
            VectorArg(dtype_subset, "lookup_tbl"),
            VectorArg(dtype_a, "a"),
            VectorArg(dtype_b, "b"),
        ],
    )


def get_minmax_neutral(what: str, dtype: DTypeLike) -> str:
    """Return the neutral element of "min" or "max" in C.

    Parameters
    ----------
    what : {"min", "max"}
        Which operation.
    dtype : dtype_like
        Dtype of the elements.

    Returns
    -------
    str
        An expression in C. For floats it names the macro MY_INFINITY, which the
        preamble of the kernel must define: ``#define MY_INFINITY (1./0)``.

    Raises
    ------
    TypeError
        If elements of the dtype have no order.
    """
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return f"{'' if what == 'min' else '-'}MY_INFINITY"
    if dtype.kind not in "iu":
        raise TypeError(f"elements of dtype {dtype} have no order, so no {what}")
    limits = np.iinfo(dtype)
    if what == "min":
        return f"{limits.max}{'ULL' if dtype.kind == 'u' else 'LL'}"
    # C has no literal for the least integer: its positive counterpart is too large.
    return f"({limits.min + 1}LL - 1)" if limits.min else "0"


_INFINITY = "#define MY_INFINITY (1./0)"


def _minmax_expr(what, dtype):
    if np.dtype(dtype).kind == "f":
        return f"f{what}(a, b)"
    return f"{what}(a, b)"


@context_dependent_memoize
def get_minmax_kernel(what: str, dtype: DTypeLike) -> ReductionKernel:
    """Return the kernel of the least or greatest element.

    Parameters
    ----------
    what : {"min", "max"}
        Which element.
    dtype : dtype_like
        Dtype of the elements.

    Returns
    -------
    ReductionKernel
        The kernel. A call takes the array.

    Raises
    ------
    TypeError
        If elements of the dtype have no order.
    """
    neutral = get_minmax_neutral(what, dtype)
    return ReductionKernel(
        dtype,
        neutral,
        _minmax_expr(what, dtype),
        "in[i]",
        [VectorArg(dtype, "in")],
        preamble=_INFINITY,
    )


@context_dependent_memoize
def get_subset_minmax_kernel(
    what: str, dtype: DTypeLike, dtype_subset: DTypeLike
) -> ReductionKernel:
    """Return the kernel of the least or greatest of the elements at indices.

    Parameters
    ----------
    what : {"min", "max"}
        Which element.
    dtype : dtype_like
        Dtype of the elements.
    dtype_subset : dtype_like
        Dtype of the indices.

    Returns
    -------
    ReductionKernel
        The kernel. A call takes the indices and the array.

    Raises
    ------
    TypeError
        If elements of the dtype have no order.
    """
    neutral = get_minmax_neutral(what, dtype)
    return ReductionKernel(
        dtype,
        neutral,
        _minmax_expr(what, dtype),
        "in[lookup_tbl[i]]",
        [VectorArg(dtype_subset, "lookup_tbl"), VectorArg(dtype, "in")],
        preamble=_INFINITY,
    )


_publish(globals())
