"""The different elements of arrays, and arrays as sets.

Most is built on stable sorts. The number of elements of a result depends on the
values, so these functions wait for the device once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pycuda._array.copies import np_ravel, on_stream
from pycuda._array.creation import arange, empty_like, zeros
from pycuda._array.functions.conversion import asarray, operand
from pycuda._array.functions.sorting import along_axis, lexsort, sort
from pycuda._array.kernels.c_types import dtype_to_ctype
from pycuda._array.layout import normal_axis
from pycuda._context_cache import context_dependent_memoize
from pycuda._driver import (
    GPUArray,
    _array_ops,
    _concatenate,
    _cumsum as cumsum,
    _elementwise,
    _nonzero,
    _sort,
)
from pycuda._public import published_by


@published_by("pycuda.gpuarray")
class UniqueAllResult(NamedTuple):
    """What ``unique_all`` returns.

    Parameters
    ----------
    values : GPUArray
        The different elements.
    indices : GPUArray
        Indices of their first occurrences.
    inverse_indices : GPUArray
        Indices that make the array of the values.
    counts : GPUArray
        Numbers of occurrences.

    Attributes
    ----------
    values : GPUArray
        The different elements, of shape (k,).
    indices : GPUArray
        The index of the first occurrence of each value, int64 of shape (k,).
    inverse_indices : GPUArray
        The index of each element's value, int64 of the array's shape.
    counts : GPUArray
        How often each value occurs, int64 of shape (k,).
    """

    values: GPUArray
    indices: GPUArray
    inverse_indices: GPUArray
    counts: GPUArray


@published_by("pycuda.gpuarray")
class UniqueCountsResult(NamedTuple):
    """What ``unique_counts`` returns.

    Parameters
    ----------
    values : GPUArray
        The different elements.
    counts : GPUArray
        Numbers of occurrences.

    Attributes
    ----------
    values : GPUArray
        The different elements, of shape (k,).
    counts : GPUArray
        How often each value occurs, int64 of shape (k,).
    """

    values: GPUArray
    counts: GPUArray


@published_by("pycuda.gpuarray")
class UniqueInverseResult(NamedTuple):
    """What ``unique_inverse`` returns.

    Parameters
    ----------
    values : GPUArray
        The different elements.
    inverse_indices : GPUArray
        Indices that make the array of the values.

    Attributes
    ----------
    values : GPUArray
        The different elements, of shape (k,).
    inverse_indices : GPUArray
        The index of each element's value, int64 of the array's shape.
    """

    values: GPUArray
    inverse_indices: GPUArray


# -- the different elements ------------------------------------------------------------


def unique(
    ar,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    *,
    equal_nan=True,
    sorted=True,
    stream=None,
):
    """Return the different elements, sorted.

    Parameters
    ----------
    ar : GPUArray
        Array of any dtype of numbers.
    return_index : bool, optional
        If true, return the indices of the first occurrences too.
    return_inverse : bool, optional
        If true, return the indices too that make ``ar`` of the result, in the shape of
        ``ar``.
    return_counts : bool, optional
        If true, return the numbers of occurrences too.
    axis : int or None, default None
        Axis along which to compare whole parts of the array. The default compares
        elements.
    equal_nan : bool, optional
        If true, NaNs count as one element.
    sorted : bool, optional
        Not used: the result is always sorted.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray or tuple of GPUArray
        The elements, and what else was asked for, as int64.

    Raises
    ------
    ValueError
        If there is no such axis.

    See Also
    --------
    unique_counts : A named tuple.

    Notes
    -----
    The call waits for the number of elements of the result.

    Examples
    --------
    >>> gpuarray.unique(gpuarray.to_gpu(np.array([2, 1, 2])), return_counts=True)
    (array([1, 2]), array([1, 2]))
    """
    with on_stream(stream):
        if axis is None:
            whole = _unique_flat(
                np_ravel(ar), return_index, return_inverse, return_counts, equal_nan
            )
            values, index, inverse, counts = whole
            if inverse is not None:
                inverse = inverse.reshape(ar.shape)
        else:
            values, index, inverse, counts = _unique_parts(
                ar, normal_axis(axis, ar.ndim), return_inverse, return_counts
            )
        result = [values]
        wanted = (return_index, return_inverse, return_counts)
        for is_wanted, array in zip(wanted, (index, inverse, counts), strict=True):
            if is_wanted:
                result.append(array)
        return tuple(result) if len(result) > 1 else values


def unique_all(x, /):
    """Return different elements, first indices, inverse indices and counts.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype of numbers. NaNs differ from each other.

    Returns
    -------
    UniqueAllResult
        Named tuple (values, indices, inverse_indices, counts).

    See Also
    --------
    unique : Choose what to return.

    Notes
    -----
    The call waits for the number of elements of the result.

    Examples
    --------
    >>> gpuarray.unique_all(gpuarray.to_gpu(np.array([2, 1, 2]))).indices
    array([1, 0])
    """
    return UniqueAllResult(*unique(x, True, True, True, equal_nan=False))


def unique_counts(x, /):
    """Return the different elements and their numbers of occurrences.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype of numbers. NaNs differ from each other.

    Returns
    -------
    UniqueCountsResult
        Named tuple (values, counts).

    See Also
    --------
    unique : Choose what to return.

    Notes
    -----
    The call waits for the number of elements of the result.

    Examples
    --------
    >>> values, counts = gpuarray.unique_counts(gpuarray.to_gpu(np.array([2, 1, 2])))
    >>> values, counts
    (array([1, 2]), array([1, 2]))
    """
    return UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x, /):
    """Return the different elements and the indices that make ``x`` of them.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype of numbers. NaNs differ from each other.

    Returns
    -------
    UniqueInverseResult
        Named tuple (values, inverse_indices).

    See Also
    --------
    unique : Choose what to return.

    Notes
    -----
    The call waits for the number of elements of the result.

    Examples
    --------
    >>> gpuarray.unique_inverse(gpuarray.to_gpu(np.array([2, 1, 2]))).inverse_indices
    array([1, 0, 1])
    """
    return UniqueInverseResult(*unique(x, return_inverse=True, equal_nan=False))


def unique_values(x, /):
    """Return the different elements, sorted.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype of numbers. NaNs differ from each other.

    Returns
    -------
    GPUArray
        A new array with one axis.

    See Also
    --------
    unique : NaNs count as one element.

    Notes
    -----
    The call waits for the number of elements of the result.

    Examples
    --------
    >>> gpuarray.unique_values(gpuarray.to_gpu(np.array([2, 1, 2])))
    array([1, 2])
    """
    return unique(x, equal_nan=False)


def _true_places(mask):
    """Return the indices of the true elements of a mask with one axis."""
    return _nonzero(mask)[0]


def _first_of_runs(ordered, equal_nan):
    """Return the mask of the elements of a sorted array that begin a run of equals."""
    mask = empty_like(ordered, np.bool_)
    mask[:1] = True
    before, after, differs = ordered[:-1], ordered[1:], mask[1:]
    _elementwise(_array_ops["not_equal"], (before, after), differs)
    if equal_nan and ordered.dtype.kind not in "biu":  # NaNs are at the end
        differs &= before == before
    return mask


def _runs(mask, size, return_counts):
    """Return where runs begin, and their lengths if they are asked for."""
    begin = _true_places(mask)
    counts = None
    if return_counts:
        counts = empty_like(begin)
        counts[:-1] = begin[1:]
        counts[-1:] = size
        counts -= begin
    return begin, counts


def _inverse(mask, order):
    """Return for each element before a sort the number of its run."""
    inverse = empty_like(order)
    inverse[order] = cumsum(mask, dtype=np.int64) - 1
    return inverse


def _unique_flat(flat, return_index, return_inverse, return_counts, equal_nan):
    """Return values, indices, inverse and counts of an array with one axis."""
    needs_order = return_index or return_inverse
    order = index = inverse = None
    if needs_order:
        ordered, order = _sort(flat, 0, True, True)
    else:
        ordered = sort(flat)
    if flat.size == 0:
        empty = zeros(0, np.int64, flat.allocator)
        return ordered, empty, empty.copy(), empty.copy()
    mask = _first_of_runs(ordered, equal_nan)
    if not (return_index or return_counts):
        inverse = _inverse(mask, order) if return_inverse else None
        return ordered[mask], None, inverse, None
    begin, counts = _runs(mask, flat.size, return_counts)
    if return_index:
        index = along_axis(order, begin, 0)
    if return_inverse:
        inverse = _inverse(mask, order)
    return along_axis(ordered, begin, 0), index, inverse, counts


def _unique_parts(ar, axis, return_inverse, return_counts):
    """Return the different parts along an axis, and so on."""
    others = [k for k in range(ar.ndim) if k != axis]
    length = ar.shape[axis]
    width = int(np.prod([ar.shape[k] for k in others], dtype=object))
    rows = np_ravel(ar.transpose([axis, *others])).reshape((length, width))
    if length == 0 or width == 0:
        order = arange(0, length, 1, dtype=np.int64)
    else:
        order = lexsort([rows[:, k] for k in range(width - 1, -1, -1)])
    ordered = rows[order]
    mask = zeros(length, np.bool_, ar.allocator)
    mask[:1] = True
    if length > 1 and width:
        mask[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    begin, counts = _runs(mask, length, return_counts)
    inverse = _inverse(mask, order) if return_inverse else None
    values = ordered[begin].reshape((begin.size, *(ar.shape[k] for k in others)))
    back = list(range(1, ar.ndim))
    back.insert(axis, 0)
    return values.transpose(back), along_axis(order, begin, 0), inverse, counts


# -- sets ------------------------------------------------------------------------------


@context_dependent_memoize
def _finder(dtype, invert):
    """Return the kernel that tells whether elements are in a sorted array."""
    name = dtype_to_ctype(dtype)
    if dtype.kind == "c":
        part = "float" if dtype == np.complex64 else "double"
        order = (
            f"#include <pycuda-sort.hpp>\n"
            f"__device__ bool comes_before(pycuda::complex<{part}> a, "
            f"pycuda::complex<{part}> b) {{\n"
            "return a.real() < b.real() || "
            "(a.real() == b.real() && a.imag() < b.imag()); }\n"
        )
        # NaNs are at the end and equal nothing.
        is_before = (
            "!(table[middle] != table[middle]) && comes_before(table[middle], x)"
        )
    else:
        order = "#include <pycuda-sort.hpp>\n"
        is_before = "pycuda_sort::order_of(table[middle]) < pycuda_sort::order_of(x)"
    lines = [
        f"const {name} x = a[i];",
        "unsigned long long low = 0, high = length;",
        "while (low < high) {",
        "unsigned long long middle = low + (high - low) / 2;",
        f"if ({is_before}) low = middle + 1; else high = middle;",
        "}",
        f"found[i] = (low < length && table[low] == x) != {str(invert).lower()};",
    ]
    from pycuda._array.kernels.elementwise_kernel import ElementwiseKernel

    return ElementwiseKernel(
        f"{name} *a, {name} *table, bool *found, unsigned long length",
        "\n".join(lines),
        "is_in",
        preamble=order,
    )


def _has_table(elements, tests, kind):
    """Return whether a table with a bit for each value shall find elements.

    The table of 32 bits has 512 MiB, and a bit takes longer to set than to look at.
    """
    size = elements.dtype.itemsize
    if kind == "sort" or size > 4 or elements.dtype.kind not in "biuf":
        return False
    is_large = elements.size >= 2**26 and 2**20 <= tests.size <= 4 * elements.size
    return kind == "table" or size < 4 or is_large


@context_dependent_memoize
def _table_kernels(dtype, invert):
    """Return the kernels that set the bits of elements and that look at them.

    The place of a bit is the element's order in a sort. NaN equals nothing, so it has
    no bit.
    """
    from pycuda._array.kernels.elementwise_kernel import ElementwiseKernel

    name = dtype_to_ctype(dtype)
    lines = [
        f"const {name} x = a[i];",
        "const unsigned int place = pycuda_sort::order_of(x);",
        "unsigned int *word = table + place / 32;",
        "const unsigned int bit = 1u << place % 32;",
    ]
    note = "if (x == x && !(*word & bit)) atomicOr(word, bit);"
    look = f"found[i] = (x == x && *word & bit) != {str(invert).lower()};"
    include = "#include <pycuda-sort.hpp>\n"
    arguments = f"{name} *a, unsigned int *table"
    return (
        ElementwiseKernel(
            arguments, "\n".join([*lines, note]), "note_values", preamble=include
        ),
        ElementwiseKernel(
            f"{arguments}, bool *found",
            "\n".join([*lines, look]),
            "look_up_values",
            preamble=include,
        ),
    )


def _common(ar1, ar2):
    """Return two arrays with one axis each and one dtype, for what asarray takes."""
    ar1, ar2 = asarray(ar1), asarray(ar2)
    dtype = np.result_type(ar1.dtype, ar2.dtype)
    return tuple(np_ravel(a).astype(dtype) for a in (ar1, ar2))


def isin(
    element, test_elements, assume_unique=False, invert=False, *, kind=None, stream=None
):
    """Return whether each element is in another array.

    Parameters
    ----------
    element : GPUArray
        Array of any dtype of numbers.
    test_elements : GPUArray or array_like
        The other array. One in host memory, or a list, is copied to the device.
    assume_unique : bool, optional
        Not used; NumPy has this parameter.
    invert : bool, optional
        If true, return whether each element is not in the other array.
    kind : {"sort", "table"}, optional
        Way to find the elements: in the sorted test elements, or in a table with a bit
        for each value of the dtype, which dtypes of more than 32 bits do not have. The
        table of 32 bits takes 512 MiB. The default chooses the faster way.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array of bool in the shape of ``element``. NaN is in no array.

    Raises
    ------
    ValueError
        If ``kind`` is something else.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> x = gpuarray.arange(4, dtype=np.int32)
    >>> gpuarray.isin(x, gpuarray.to_gpu(np.array([1, 3], np.int32)))
    array([False,  True, False,  True])
    """
    if kind not in (None, "sort", "table"):
        raise ValueError(f"isin: kind is 'sort', 'table' or None, not {kind!r}")
    with on_stream(stream):
        element = operand("isin", element)
        flat, tests = _common(element, test_elements)
        found = GPUArray(element.shape, np.bool_, element.allocator)
        if flat.size == 0:
            return found
        if tests.size == 0:
            return found.fill(bool(invert))
        if flat.dtype.itemsize == 2 and flat.dtype.kind not in "iu":
            # The formats of half precision have no name in C.
            flat, tests = flat.astype(np.float32), tests.astype(np.float32)
        result = found.reshape(flat.size)
        if _has_table(flat, tests, kind):
            words = max(1, 256**flat.dtype.itemsize // 32)
            table = zeros(words, np.uint32, element.allocator)
            note, look = _table_kernels(flat.dtype, bool(invert))
            note(tests, table)
            look(flat, table, result)
        else:
            kernel = _finder(flat.dtype, bool(invert))
            kernel(flat, sort(tests), result, tests.size)
        return found


def union1d(ar1, ar2, *, stream=None):
    """Return the different elements of both arrays, sorted.

    Parameters
    ----------
    ar1 : GPUArray
        First array.
    ar2 : GPUArray or array_like
        Second array. One in host memory, or a list, is copied to the device.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array with one axis, of the common dtype.

    Notes
    -----
    The call waits for the number of elements of the result.

    Examples
    --------
    >>> x, y = (gpuarray.to_gpu(np.array(values)) for values in ([1, 2], [2, 3]))
    >>> gpuarray.union1d(x, y)
    array([1, 2, 3])
    """
    with on_stream(stream):
        return unique(_concatenate(_common(ar1, ar2)))


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False, *, stream=None):
    """Return the different elements that are in both arrays, sorted.

    Parameters
    ----------
    ar1 : GPUArray
        First array.
    ar2 : GPUArray or array_like
        Second array. One in host memory, or a list, is copied to the device.
    assume_unique : bool, optional
        True says that no array has an element twice.
    return_indices : bool, optional
        If true, return the indices too of the first occurrences in the flat arrays.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray or tuple of GPUArray
        A new array with one axis, of the common dtype, and the indices.

    Notes
    -----
    The call waits for the number of elements of the result.

    Examples
    --------
    >>> x, y = (gpuarray.to_gpu(np.array(values)) for values in ([1, 2], [2, 3]))
    >>> gpuarray.intersect1d(x, y)
    array([2])
    """
    with on_stream(stream):
        ar1, ar2 = _common(ar1, ar2)
        first1 = first2 = None
        if not assume_unique:
            if return_indices:
                ar1, first1 = unique(ar1, return_index=True)
                ar2, first2 = unique(ar2, return_index=True)
            else:
                ar1, ar2 = unique(ar1), unique(ar2)
        both = _concatenate([ar1, ar2])
        if return_indices:
            ordered, order = _sort(both, 0, True, True)
        else:
            ordered = sort(both)
        places = _true_places(ordered[1:] == ordered[:-1])
        values = along_axis(ordered, places, 0)
        if not return_indices:
            return values
        at1 = along_axis(order, places, 0)
        at2 = along_axis(order, places + 1, 0) - ar1.size
        if first1 is not None:
            at1, at2 = along_axis(first1, at1, 0), along_axis(first2, at2, 0)
        return values, at1, at2


def setdiff1d(ar1, ar2, assume_unique=False, *, stream=None):
    """Return the different elements of ``ar1`` that are not in ``ar2``, sorted.

    Parameters
    ----------
    ar1 : GPUArray
        First array.
    ar2 : GPUArray or array_like
        Second array. One in host memory, or a list, is copied to the device.
    assume_unique : bool, optional
        True says that ``ar1`` has no element twice. Then the result has the order of
        ``ar1``.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array with one axis, of the dtype of ``ar1``.

    Notes
    -----
    The call waits for the number of elements of the result.

    Examples
    --------
    >>> x, y = (gpuarray.to_gpu(np.array(values)) for values in ([1, 2], [2, 3]))
    >>> gpuarray.setdiff1d(x, y)
    array([1])
    """
    with on_stream(stream):
        ar1 = np_ravel(ar1) if assume_unique else unique(ar1)
        return along_axis(ar1, _true_places(isin(ar1, ar2, invert=True)), 0)


def setxor1d(ar1, ar2, assume_unique=False, *, stream=None):
    """Return the different elements that are in one of the arrays only, sorted.

    Parameters
    ----------
    ar1 : GPUArray
        First array.
    ar2 : GPUArray or array_like
        Second array. One in host memory, or a list, is copied to the device.
    assume_unique : bool, optional
        True says that no array has an element twice.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array with one axis, of the common dtype.

    Notes
    -----
    The call waits for the number of elements of the result.

    Examples
    --------
    >>> x, y = (gpuarray.to_gpu(np.array(values)) for values in ([1, 2], [2, 3]))
    >>> gpuarray.setxor1d(x, y)
    array([1, 3])
    """
    with on_stream(stream):
        ar1, ar2 = _common(ar1, ar2)
        if not assume_unique:
            ar1, ar2 = unique(ar1), unique(ar2)
        ordered = sort(_concatenate([ar1, ar2]))
        if ordered.size == 0:
            return ordered
        edge = GPUArray(ordered.size + 1, np.bool_, ordered.allocator)
        edge[:1] = True
        edge[-1:] = True
        edge[1:-1] = ordered[1:] != ordered[:-1]
        return along_axis(ordered, _true_places(edge[1:] & edge[:-1]), 0)
