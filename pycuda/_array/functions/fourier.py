"""Fourier transforms of arrays: the functions of ``pycuda.fft``."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np
from numpy.typing import DTypeLike

from pycuda._array.creation import arange
from pycuda._array.functions.shapes import roll, rolled
from pycuda._array.layout import normal_axis
from pycuda._driver import (
    GPUArray,
    Stream,
    _array_ops,
    _elementwise,
    _fourier,
    _fourier_axes,
    _fourier_functions,
    _fourier_library,
)

_Lengths = Sequence[SupportsIndex] | None
_FFT = _fourier_functions["fft"]
_IFFT = _fourier_functions["ifft"]
_RFFT = _fourier_functions["rfft"]
_IRFFT = _fourier_functions["irfft"]
_HFFT = _fourier_functions["hfft"]
_IHFFT = _fourier_functions["ihfft"]


def _real_result(
    result: GPUArray, a: GPUArray, out: GPUArray | None, stream: Stream | None
) -> GPUArray:
    """Return real numbers in half precision if the input has it, as NumPy does."""
    if out is None and a.dtype == np.float16:
        return result.astype(np.float16, stream)
    return result


def fft(
    a: GPUArray,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: str | None = None,
    out: GPUArray | None = None,
    *,
    stream: Stream | None = None,
) -> GPUArray:
    """Return the Fourier transform along an axis.

    The result has ``n`` complex numbers along the axis. The input is cut off or padded
    with zeros to ``n`` elements, by default its length. The result goes to ``out``, an
    array of its shape, or to a new array. ValueError if there is no such axis, norm or
    length.
    """
    return _fourier(_FFT, a, n, axis, norm, out, stream)


def ifft(
    a: GPUArray,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: str | None = None,
    out: GPUArray | None = None,
    *,
    stream: Stream | None = None,
) -> GPUArray:
    """Return the inverse Fourier transform along an axis.

    The result has ``n`` complex numbers along the axis. The input is cut off or padded
    with zeros to ``n`` elements, by default its length. The result goes to ``out``, an
    array of its shape, or to a new array. ValueError if there is no such axis, norm or
    length.
    """
    return _fourier(_IFFT, a, n, axis, norm, out, stream)


def rfft(
    a: GPUArray,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: str | None = None,
    out: GPUArray | None = None,
    *,
    stream: Stream | None = None,
) -> GPUArray:
    """Return the Fourier transform of real elements along an axis.

    The result has ``n // 2 + 1`` complex numbers along the axis: the others are their
    conjugates. The input is cut off or padded with zeros to ``n`` elements, by default
    its length. The result goes to ``out``, an array of its shape, or to a new array.
    ValueError if there is no such axis, norm or length. TypeError for a complex dtype.
    """
    return _fourier(_RFFT, a, n, axis, norm, out, stream)


def irfft(
    a: GPUArray,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: str | None = None,
    out: GPUArray | None = None,
    *,
    stream: Stream | None = None,
) -> GPUArray:
    """Return the real elements whose transform ``rfft`` has given.

    The result has ``n`` real numbers along the axis. The input is cut off or padded
    with zeros to ``n // 2 + 1`` elements. The default of ``n`` is ``2 * (m - 1)`` for
    an input of ``m`` elements. The imaginary part of the first element is not used, nor
    that of the last one if ``n`` is even. The result goes to ``out``, an array of its
    shape, or to a new array. ValueError if there is no such axis, norm or length.
    """
    return _real_result(_fourier(_IRFFT, a, n, axis, norm, out, stream), a, out, stream)


def hfft(
    a: GPUArray,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: str | None = None,
    out: GPUArray | None = None,
    *,
    stream: Stream | None = None,
) -> GPUArray:
    """Return the Fourier transform of elements with Hermitian symmetry.

    The result has ``n`` real numbers along the axis. The input is one half of the
    elements: ``n // 2 + 1``, to which it is cut off or padded with zeros. The default
    of ``n`` is ``2 * (m - 1)`` for ``m`` elements. The result goes to ``out``, an array
    of its shape, or to a new array. ValueError if there is no such axis, norm or
    length.
    """
    return _real_result(_fourier(_HFFT, a, n, axis, norm, out, stream), a, out, stream)


def ihfft(
    a: GPUArray,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: str | None = None,
    out: GPUArray | None = None,
    *,
    stream: Stream | None = None,
) -> GPUArray:
    """Return the elements whose transform ``hfft`` has given.

    The result has ``n // 2 + 1`` complex numbers along the axis. The input is real. It
    is cut off or padded with zeros to ``n`` elements, by default its length. The result
    goes to ``out``, an array of its shape, or to a new array. ValueError if there is no
    such axis, norm or length. TypeError for a complex dtype.
    """
    return _fourier(_IHFFT, a, n, axis, norm, out, stream)


def fft2(
    a: GPUArray,
    s: _Lengths = None,
    axes: Sequence[SupportsIndex] | None = (-2, -1),
    norm: str | None = None,
    out: GPUArray | None = None,
    *,
    stream: Stream | None = None,
) -> GPUArray:
    """Return the Fourier transform along two axes.

    The result has the complex numbers of ``s`` elements along the axes. ``axes`` are
    the last two by default. ``s`` has the lengths of the transform along them, -1 for
    that of the input; the input is cut off or padded with zeros. The result goes to
    ``out``, an array of its shape, or to a new array. ValueError if there is no such
    axis, norm or length.
    """
    return _fourier_axes(_FFT, a, s, axes, norm, out, stream)


def ifft2(
    a: GPUArray,
    s: _Lengths = None,
    axes: Sequence[SupportsIndex] | None = (-2, -1),
    norm: str | None = None,
    out: GPUArray | None = None,
    *,
    stream: Stream | None = None,
) -> GPUArray:
    """Return the inverse Fourier transform along two axes.

    The result has the complex numbers of ``s`` elements along the axes. ``axes`` are
    the last two by default. ``s`` has the lengths of the transform along them, -1 for
    that of the input; the input is cut off or padded with zeros. The result goes to
    ``out``, an array of its shape, or to a new array. ValueError if there is no such
    axis, norm or length.
    """
    return _fourier_axes(_IFFT, a, s, axes, norm, out, stream)


def rfft2(
    a: GPUArray,
    s: _Lengths = None,
    axes: Sequence[SupportsIndex] | None = (-2, -1),
    norm: str | None = None,
    out: GPUArray | None = None,
    *,
    stream: Stream | None = None,
) -> GPUArray:
    """Return the Fourier transform of real elements along two axes.

    The last of the axes is transformed as by ``rfft``: the result has ``s[-1] // 2 +
    1`` elements along it. TypeError for a complex dtype. ``axes`` are the last two by
    default. ``s`` has the lengths of the transform along them, -1 for that of the
    input; the input is cut off or padded with zeros. The result goes to ``out``, an
    array of its shape, or to a new array. ValueError if there is no such axis, norm or
    length.
    """
    return _fourier_axes(_RFFT, a, s, axes, norm, out, stream)


def irfft2(
    a: GPUArray,
    s: _Lengths = None,
    axes: Sequence[SupportsIndex] | None = (-2, -1),
    norm: str | None = None,
    out: GPUArray | None = None,
    *,
    stream: Stream | None = None,
) -> GPUArray:
    """Return the real elements whose transform ``rfft2`` has given.

    The last of the axes is transformed as by ``irfft``, after the others: the result
    has ``s[-1]`` real elements along it, by default ``2 * (m - 1)`` for ``m`` of the
    input. ``axes`` are the last two by default. ``s`` has the lengths of the transform
    along them, -1 for that of the input; the input is cut off or padded with zeros. The
    result goes to ``out``, an array of its shape, or to a new array. ValueError if
    there is no such axis, norm or length.
    """
    return _fourier_axes(_IRFFT, a, s, axes, norm, out, stream)


def fftn(
    a: GPUArray,
    s: _Lengths = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: str | None = None,
    out: GPUArray | None = None,
    *,
    stream: Stream | None = None,
) -> GPUArray:
    """Return the Fourier transform along several axes.

    The result has the complex numbers of ``s`` elements along the axes. ``axes`` are
    all axes by default, or the last ``len(s)``. ``s`` has the lengths of the transform
    along them, -1 for that of the input; the input is cut off or padded with zeros. The
    result goes to ``out``, an array of its shape, or to a new array. ValueError if
    there is no such axis, norm or length.
    """
    return _fourier_axes(_FFT, a, s, axes, norm, out, stream)


def ifftn(
    a: GPUArray,
    s: _Lengths = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: str | None = None,
    out: GPUArray | None = None,
    *,
    stream: Stream | None = None,
) -> GPUArray:
    """Return the inverse Fourier transform along several axes.

    The result has the complex numbers of ``s`` elements along the axes. ``axes`` are
    all axes by default, or the last ``len(s)``. ``s`` has the lengths of the transform
    along them, -1 for that of the input; the input is cut off or padded with zeros. The
    result goes to ``out``, an array of its shape, or to a new array. ValueError if
    there is no such axis, norm or length.
    """
    return _fourier_axes(_IFFT, a, s, axes, norm, out, stream)


def rfftn(
    a: GPUArray,
    s: _Lengths = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: str | None = None,
    out: GPUArray | None = None,
    *,
    stream: Stream | None = None,
) -> GPUArray:
    """Return the Fourier transform of real elements along several axes.

    The last of the axes is transformed as by ``rfft``: the result has ``s[-1] // 2 +
    1`` elements along it. TypeError for a complex dtype. ``axes`` are all axes by
    default, or the last ``len(s)``. ``s`` has the lengths of the transform along them,
    -1 for that of the input; the input is cut off or padded with zeros. The result goes
    to ``out``, an array of its shape, or to a new array. ValueError if there is no such
    axis, norm or length.
    """
    return _fourier_axes(_RFFT, a, s, axes, norm, out, stream)


def irfftn(
    a: GPUArray,
    s: _Lengths = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: str | None = None,
    out: GPUArray | None = None,
    *,
    stream: Stream | None = None,
) -> GPUArray:
    """Return the real elements whose transform ``rfftn`` has given.

    The last of the axes is transformed as by ``irfft``, after the others: the result
    has ``s[-1]`` real elements along it, by default ``2 * (m - 1)`` for ``m`` of the
    input. ``axes`` are all axes by default, or the last ``len(s)``. ``s`` has the
    lengths of the transform along them, -1 for that of the input; the input is cut off
    or padded with zeros. The result goes to ``out``, an array of its shape, or to a new
    array. ValueError if there is no such axis, norm or length.
    """
    return _fourier_axes(_IRFFT, a, s, axes, norm, out, stream)


def _frequencies(count, n, d, dtype, first):
    dtype = np.dtype(np.float64 if dtype is None else dtype)
    if dtype.kind not in "fc":
        raise TypeError(f"frequencies need a floating-point dtype, not {dtype}")
    places = arange(first, first + count, dtype=dtype)
    return _elementwise(_array_ops["multiply"], (places, 1.0 / (n * d)), places)


def _checked_count(n):
    if not isinstance(n, (int, np.integer)):
        raise ValueError(f"n must be an integer, not {type(n).__name__}")
    if n < 1:
        raise ValueError(f"n is {n}; it must be at least 1")
    return int(n)


def fftfreq(n: int, d: float = 1.0, *, dtype: DTypeLike | None = None) -> GPUArray:
    """Return the frequencies of the elements of ``fft``, for samples ``d`` apart.

    The result is a float64 array, or one of ``dtype``: ``(n + 1) // 2`` frequencies
    from 0 on, then the negative ones. ValueError if ``n`` is not a positive integer.
    """
    n = _checked_count(n)
    values = _frequencies(n, n, d, dtype, -(n // 2))
    return roll(values, -(n // 2))


def rfftfreq(n: int, d: float = 1.0, *, dtype: DTypeLike | None = None) -> GPUArray:
    """Return the frequencies of the elements of ``rfft``, for samples ``d`` apart.

    The result is a float64 array, or one of ``dtype``, of ``n // 2 + 1`` frequencies
    from 0 on. ValueError if ``n`` is not a positive integer.
    """
    n = _checked_count(n)
    return _frequencies(n // 2 + 1, n, d, dtype, 0)


def _shifts(shape, axes, back):
    """Return the shift along each axis of the shape."""
    shifts = [0] * len(shape)
    for axis in map(int, axes):
        axis = normal_axis(axis, len(shape))
        middle = shape[axis] // 2
        shifts[axis] += -middle if back else middle
    return tuple(shifts)


_kept_shifts = functools.lru_cache(maxsize=256)(_shifts)


def _shifted(x, axes, back):
    if axes is None:
        axes = range(x.ndim)
    elif isinstance(axes, Sequence):
        axes = tuple(axes)
    else:
        axes = (axes,)
    return rolled(x, _kept_shifts(x.shape, axes, back)) if axes else x.copy()


def fftshift(
    x: GPUArray, axes: SupportsIndex | Sequence[SupportsIndex] | None = None
) -> GPUArray:
    """Return a copy with the element of frequency 0 in the middle of the axes.

    ``axes`` is an axis, several, or None for all. ValueError if there is no such axis.
    """
    return _shifted(x, axes, False)


def ifftshift(
    x: GPUArray, axes: SupportsIndex | Sequence[SupportsIndex] | None = None
) -> GPUArray:
    """Return a copy with the middle element of the axes first: undo ``fftshift``.

    ``axes`` is an axis, several, or None for all. ValueError if there is no such axis.
    """
    return _shifted(x, axes, True)


def transform_library() -> str:
    """Return a sentence: what transforms in the current context, and why."""
    return _fourier_library()
