"""Assertions about arrays, for tests: ``assert_array_equal`` and ``assert_allclose``.

The rules are those of ``numpy.testing``. Arrays on the device are compared there, and
only the first elements that differ are copied to the host.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pycuda import _hide_imports
from pycuda.gpuarray import GPUArray, asarray, to_gpu

__all__ = ["assert_allclose", "assert_array_equal"]
_hide_imports(globals())

#: How many of the differing elements a message shows.
_SHOWN = 10


def _native(x: Any) -> Any:
    """Return a host array in the byte order of the device."""
    x = np.asarray(x)
    return x if x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))


def _is_of_numbers(dtype: np.dtype[Any]) -> bool:
    """Return whether the device compares elements of a dtype."""
    is_known = dtype.kind in "biufc" and dtype.char not in "gG"  # long double
    return is_known or dtype.name == "bfloat16"


def _pair(actual: Any, desired: Any) -> tuple[Any, Any]:
    """Return two arrays that can be compared: both on the device, or both not."""
    a: Any
    b: Any
    given = actual, desired
    if not any(hasattr(x, "__cuda_array_interface__") for x in given):
        return np.asarray(actual), np.asarray(desired)
    pair = [
        asarray(x) if hasattr(x, "__cuda_array_interface__") else _native(x)
        for x in given
    ]
    if all(_is_of_numbers(x.dtype) for x in pair):
        a, b = (x if isinstance(x, GPUArray) else to_gpu(x) for x in pair)
    else:  # records and texts are compared on the host
        a, b = (x.get() if isinstance(x, GPUArray) else x for x in pair)
    return a, b


def _described(x: Any) -> str:
    place = "device" if hasattr(x, "__cuda_array_interface__") else "host"
    x = x if hasattr(x, "dtype") else np.asarray(x)
    return f"shape {tuple(x.shape)}, dtype {x.dtype}, on the {place}"


def _distances(a: Any, b: Any) -> Any:
    """Return the absolute differences. Those of integers do not overflow."""
    if a.dtype.kind in "iu" and b.dtype.kind in "iu":
        low = np.where(a > b, a - b, b - a)
        if low.dtype.kind == "i":  # the bits are right, also where the sign is not
            low = low.view(f"u{low.dtype.itemsize}")
        return low
    return abs(a - b)


def _largest(a: Any, b: Any) -> list[str]:
    """Return lines with the largest differences of elements that differ."""
    if not all(x.dtype.kind in "iufc" for x in (a, b)):
        return []
    with np.errstate(all="ignore"):
        distances = _distances(a, b)
        is_finite = np.isfinite(distances)
        lines = []
        if np.any(is_finite):
            lines = [f"largest absolute difference: {np.max(distances[is_finite])}"]
        is_finite = is_finite & (b != 0)
        if np.any(is_finite):
            ratios = distances[is_finite] / abs(b[is_finite])
            lines += [f"largest relative difference: {float(np.max(ratios)):.6g}"]
    return lines


def _elements(x: Any, places: tuple[Any, ...]) -> Any:
    """Return the elements of an array in these places, on the host."""
    chosen = x[places] if x.shape else x[()]
    if isinstance(chosen, GPUArray):
        chosen = chosen.get()
    return np.broadcast_to(chosen, places[0].shape if places else (1,))


def _rows(a: Any, b: Any, is_wrong: Any) -> list[str]:
    """Return a table of the first elements that differ."""
    flat = np.flatnonzero(is_wrong)[:_SHOWN]
    if isinstance(flat, GPUArray):
        flat = flat.get()
    places = np.unravel_index(flat, is_wrong.shape) if is_wrong.shape else ()
    indices = zip(*(p.tolist() for p in places), strict=True) if places else [()]
    table = [("index", "actual", "desired")]
    table += [
        ("[" + ", ".join(map(str, index)) + "]", str(x), str(y))
        for index, x, y in zip(
            indices, _elements(a, places), _elements(b, places), strict=True
        )
    ]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]


def _compare(
    actual: Any,
    desired: Any,
    agree: Callable[[Any, Any], Any],
    rule: str,
    err_msg: str,
    strict: bool,
) -> None:
    """Raise AssertionError unless ``agree`` is true for all elements."""
    __tracebackhide__ = True
    a, b = _pair(actual, desired)
    head = [
        f"actual:  {_described(actual)}",
        f"desired: {_described(desired)}",
        *([err_msg] if err_msg else []),
    ]
    if a.shape != b.shape and (strict or (a.shape and b.shape)):
        raise AssertionError("\n".join(["the shapes differ", *head]))
    if strict and a.dtype != b.dtype:
        raise AssertionError("\n".join(["the dtypes differ", *head]))
    is_wrong = ~agree(a, b)
    count = int(np.count_nonzero(is_wrong))
    if count == 0:
        return
    total = is_wrong.size
    title = f"{count:,} of {total:,} elements {rule} ({100 * count / total:.3g}%)"
    differing = [np.broadcast_to(x, is_wrong.shape)[is_wrong] for x in (a, b)]
    rows = _rows(a, b, is_wrong)
    if count > _SHOWN:
        rows.append(f"... and {count - _SHOWN:,} more")
    lines = [title, *head, *_largest(*differing), *rows]
    raise AssertionError("\n".join(lines))


def _same(a: Any, b: Any) -> Any:
    """Return whether elements are equal, or both NaN."""
    if a.dtype.kind in "fc" and b.dtype.kind in "fc":
        return (a == b) | ((a != a) & (b != b))
    return np.asarray(a == b) if isinstance(a, np.ndarray) else a == b


def assert_array_equal(
    actual: Any, desired: Any, err_msg: str = "", *, strict: bool = False
) -> None:
    """Raise an error unless two arrays have equal elements.

    Parameters
    ----------
    actual, desired : array_like
        Arrays on the device or on the host, or numbers. Arrays of other libraries on
        the device are taken, too. A number is compared with each element. NaN equals
        NaN.
    err_msg : str, optional
        Text to add to the message.
    strict : bool, optional
        Whether the dtypes must be equal, too, and the shapes also if one of both is a
        number.

    Raises
    ------
    AssertionError
        If they differ. The message has the shapes, the dtypes, the number of elements
        that differ, the largest differences, and the first elements with their indices.

    See Also
    --------
    assert_allclose : Allow small differences.

    Notes
    -----
    If one array is on the device, both are compared there, and only the elements of the
    message are copied to the host. Records and texts are compared on the host.

    Examples
    --------
    >>> from pycuda.testing import assert_array_equal
    >>> x = gpuarray.arange(5, dtype=np.int32)
    >>> assert_array_equal(x, [0, 1, 2, 3, 4])
    >>> assert_array_equal(x, np.int32([0, 1, 7, 3, 4]))
    Traceback (most recent call last):
    AssertionError: 1 of 5 elements differ (20%)
    actual:  shape (5,), dtype int32, on the device
    desired: shape (5,), dtype int32, on the host
    largest absolute difference: 5
    largest relative difference: 0.714286
    index  actual  desired
    [2]    2       7
    """
    __tracebackhide__ = True
    _compare(actual, desired, _same, "differ", err_msg, strict)


def assert_allclose(
    actual: Any,
    desired: Any,
    rtol: float = 1e-7,
    atol: float = 0,
    equal_nan: bool = True,
    err_msg: str = "",
    *,
    strict: bool = False,
) -> None:
    """Raise an error if two arrays differ by more than ``atol + rtol * abs(desired)``.

    Parameters
    ----------
    actual, desired : array_like
        Arrays on the device or on the host, or numbers, as for ``assert_array_equal``.
    rtol, atol : float, optional
        Relative and absolute tolerance.
    equal_nan : bool, optional
        Whether NaN equals NaN.
    err_msg : str, optional
        Text to add to the message.
    strict : bool, optional
        Whether the dtypes must be equal, too, and the shapes also if one of both is a
        number.

    Raises
    ------
    AssertionError
        If an element differs by more. The message is that of ``assert_array_equal``.
    TypeError
        If an array has records. Compare their fields.

    See Also
    --------
    assert_array_equal : Allow no differences.

    Examples
    --------
    >>> from pycuda.testing import assert_allclose
    >>> x = gpuarray.to_gpu(np.float32([1, 2, 3]))
    >>> assert_allclose(x / 3 * 3, x, rtol=1e-6)
    """
    __tracebackhide__ = True

    def agree(a: Any, b: Any) -> Any:
        if a.dtype.names or b.dtype.names:
            raise TypeError(
                "assert_allclose compares numbers, not records: compare by field, such "
                f"as x[{(a.dtype.names or b.dtype.names)[0]!r}]"
            )
        return np.isclose(a, b, rtol, atol, equal_nan=equal_nan)

    rule = f"differ by more than {atol:g} + {rtol:g} * abs(desired)"
    _compare(actual, desired, agree, rule, err_msg, strict)
