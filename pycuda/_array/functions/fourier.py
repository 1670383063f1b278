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

    Parameters
    ----------
    a : GPUArray
        Array of any dtype of numbers.
    n : int, optional
        Number of elements of the input to use: it is cut off or padded with zeros. The
        default is its length.
    axis : int, optional
        Axis along which to compute. The default is the last one.
    norm : {"backward", "ortho", "forward"}, optional
        Scaling of the transform. The default is "backward": the inverse transform is
        divided by the number of elements. With "ortho" both transforms are divided by
        its square root, with "forward" the forward transform by the number.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        ``out``, or a new array of complex numbers with ``n`` elements along the axis.

    Raises
    ------
    ValueError
        If there is no such axis, norm or length.

    See Also
    --------
    ifft : The inverse.
    rfft : Half of the result, for real elements.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> from pycuda import fft
    >>> fft.fft(gpuarray.to_gpu(np.array([1.0, 1, 0, 0])))
    array([2.+0.j, 1.-1.j, 0.+0.j, 1.+1.j])
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

    Parameters
    ----------
    a : GPUArray
        Array of any dtype of numbers.
    n : int, optional
        Number of elements of the input to use: it is cut off or padded with zeros. The
        default is its length.
    axis : int, optional
        Axis along which to compute. The default is the last one.
    norm : {"backward", "ortho", "forward"}, optional
        Scaling of the transform. The default is "backward": the inverse transform is
        divided by the number of elements. With "ortho" both transforms are divided by
        its square root, with "forward" the forward transform by the number.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        ``out``, or a new array of complex numbers with ``n`` elements along the axis.

    Raises
    ------
    ValueError
        If there is no such axis, norm or length.

    See Also
    --------
    fft : The inverse.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> from pycuda import fft
    >>> fft.ifft(gpuarray.to_gpu(np.array([4.0, 0, 0, 0])))
    array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
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

    Parameters
    ----------
    a : GPUArray
        Array of real numbers.
    n : int, optional
        Number of elements of the input to use: it is cut off or padded with zeros. The
        default is its length.
    axis : int, optional
        Axis along which to compute. The default is the last one.
    norm : {"backward", "ortho", "forward"}, optional
        Scaling of the transform. The default is "backward": the inverse transform is
        divided by the number of elements. With "ortho" both transforms are divided by
        its square root, with "forward" the forward transform by the number.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        ``out``, or a new array of complex numbers with ``n // 2 + 1`` elements along
        the axis: the others are their conjugates.

    Raises
    ------
    ValueError
        If there is no such axis, norm or length.
    TypeError
        If the dtype is complex.

    See Also
    --------
    irfft : The inverse.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> from pycuda import fft
    >>> abs(fft.rfft(gpuarray.to_gpu(np.array([1.0, 1, 0, 0]))))
    array([2.        , 1.41421356, 0.        ])
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

    The imaginary part of the first element is not used, nor that of the last one if
    ``n`` is even.

    Parameters
    ----------
    a : GPUArray
        Array of any dtype of numbers.
    n : int, optional
        Number of elements of the result. The input is cut off or padded with zeros to
        ``n // 2 + 1`` elements. The default is ``2 * (m - 1)`` for an input of ``m``
        elements.
    axis : int, optional
        Axis along which to compute. The default is the last one.
    norm : {"backward", "ortho", "forward"}, optional
        Scaling of the transform. The default is "backward": the inverse transform is
        divided by the number of elements. With "ortho" both transforms are divided by
        its square root, with "forward" the forward transform by the number.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        ``out``, or a new array of real numbers with ``n`` elements along the axis.

    Raises
    ------
    ValueError
        If there is no such axis, norm or length.

    See Also
    --------
    rfft : The inverse.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> from pycuda import fft
    >>> fft.irfft(gpuarray.to_gpu(np.array([4.0, 0, 0])))
    array([1., 1., 1., 1.])
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

    The input is one half of the elements.

    Parameters
    ----------
    a : GPUArray
        Array of any dtype of numbers.
    n : int, optional
        Number of elements of the result. The input is cut off or padded with zeros to
        ``n // 2 + 1`` elements. The default is ``2 * (m - 1)`` for an input of ``m``
        elements.
    axis : int, optional
        Axis along which to compute. The default is the last one.
    norm : {"backward", "ortho", "forward"}, optional
        Scaling of the transform. The default is "backward": the inverse transform is
        divided by the number of elements. With "ortho" both transforms are divided by
        its square root, with "forward" the forward transform by the number.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        ``out``, or a new array of real numbers with ``n`` elements along the axis.

    Raises
    ------
    ValueError
        If there is no such axis, norm or length.

    See Also
    --------
    ihfft : The inverse.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> from pycuda import fft
    >>> fft.hfft(gpuarray.to_gpu(np.array([1.0, 0, 0])))
    array([1., 1., 1., 1.])
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

    Parameters
    ----------
    a : GPUArray
        Array of real numbers.
    n : int, optional
        Number of elements of the input to use: it is cut off or padded with zeros. The
        default is its length.
    axis : int, optional
        Axis along which to compute. The default is the last one.
    norm : {"backward", "ortho", "forward"}, optional
        Scaling of the transform. The default is "backward": the inverse transform is
        divided by the number of elements. With "ortho" both transforms are divided by
        its square root, with "forward" the forward transform by the number.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        ``out``, or a new array of complex numbers with ``n // 2 + 1`` elements along
        the axis.

    Raises
    ------
    ValueError
        If there is no such axis, norm or length.
    TypeError
        If the dtype is complex.

    See Also
    --------
    hfft : The inverse.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> from pycuda import fft
    >>> fft.ihfft(gpuarray.to_gpu(np.array([1.0, 1, 1, 1]))).real
    array([1., 0., 0.])
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

    Parameters
    ----------
    a : GPUArray
        Array of any dtype of numbers.
    s : sequence of int, optional
        Lengths of the transform along the axes. The input is cut off or padded with
        zeros; -1 is its own length. The default is the lengths of the input.
    axes : sequence of int, optional
        Axes along which to transform. The default is the last two.
    norm : {"backward", "ortho", "forward"}, optional
        Scaling of the transform. The default is "backward": the inverse transform is
        divided by the number of elements. With "ortho" both transforms are divided by
        its square root, with "forward" the forward transform by the number.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        ``out``, or a new array of complex numbers with ``s`` elements along the axes.

    Raises
    ------
    ValueError
        If there is no such axis, norm or length.

    See Also
    --------
    ifft2 : The inverse.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> from pycuda import fft
    >>> fft.fft2(gpuarray.to_gpu(np.ones((2, 2))))
    array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]])
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

    Parameters
    ----------
    a : GPUArray
        Array of any dtype of numbers.
    s : sequence of int, optional
        Lengths of the transform along the axes. The input is cut off or padded with
        zeros; -1 is its own length. The default is the lengths of the input.
    axes : sequence of int, optional
        Axes along which to transform. The default is the last two.
    norm : {"backward", "ortho", "forward"}, optional
        Scaling of the transform. The default is "backward": the inverse transform is
        divided by the number of elements. With "ortho" both transforms are divided by
        its square root, with "forward" the forward transform by the number.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        ``out``, or a new array of complex numbers with ``s`` elements along the axes.

    Raises
    ------
    ValueError
        If there is no such axis, norm or length.

    See Also
    --------
    fft2 : The inverse.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> from pycuda import fft
    >>> fft.ifft2(gpuarray.to_gpu(np.array([[4.0, 0], [0, 0]])))
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
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

    Parameters
    ----------
    a : GPUArray
        Array of real numbers.
    s : sequence of int, optional
        Lengths of the transform along the axes. The input is cut off or padded with
        zeros; -1 is its own length. The default is the lengths of the input.
    axes : sequence of int, optional
        Axes along which to transform. The default is the last two.
    norm : {"backward", "ortho", "forward"}, optional
        Scaling of the transform. The default is "backward": the inverse transform is
        divided by the number of elements. With "ortho" both transforms are divided by
        its square root, with "forward" the forward transform by the number.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        ``out``, or a new array of complex numbers with ``s`` elements along the axes,
        but ``s[-1] // 2 + 1`` along the last.

    Raises
    ------
    ValueError
        If there is no such axis, norm or length.
    TypeError
        If the dtype is complex.

    See Also
    --------
    irfft2 : The inverse.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> from pycuda import fft
    >>> fft.rfft2(gpuarray.to_gpu(np.ones((2, 4)))).shape
    (2, 3)
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

    The last of the axes is transformed as by ``irfft``, after the others. The default
    of ``s[-1]`` is ``2 * (m - 1)`` for ``m`` elements of the input.

    Parameters
    ----------
    a : GPUArray
        Array of any dtype of numbers.
    s : sequence of int, optional
        Lengths of the transform along the axes. The input is cut off or padded with
        zeros; -1 is its own length. The default is the lengths of the input.
    axes : sequence of int, optional
        Axes along which to transform. The default is the last two.
    norm : {"backward", "ortho", "forward"}, optional
        Scaling of the transform. The default is "backward": the inverse transform is
        divided by the number of elements. With "ortho" both transforms are divided by
        its square root, with "forward" the forward transform by the number.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        ``out``, or a new array of real numbers with ``s`` elements along the axes.

    Raises
    ------
    ValueError
        If there is no such axis, norm or length.

    See Also
    --------
    rfft2 : The inverse.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> from pycuda import fft
    >>> x = gpuarray.to_gpu(np.array([[0.0, 1, 2, 3]]))
    >>> fft.irfft2(fft.rfft2(x))
    array([[0., 1., 2., 3.]])
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

    Parameters
    ----------
    a : GPUArray
        Array of any dtype of numbers.
    s : sequence of int, optional
        Lengths of the transform along the axes. The input is cut off or padded with
        zeros; -1 is its own length. The default is the lengths of the input.
    axes : sequence of int or None, optional
        Axes along which to transform. The default is all axes, or the last ``len(s)``.
    norm : {"backward", "ortho", "forward"}, optional
        Scaling of the transform. The default is "backward": the inverse transform is
        divided by the number of elements. With "ortho" both transforms are divided by
        its square root, with "forward" the forward transform by the number.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        ``out``, or a new array of complex numbers with ``s`` elements along the axes.

    Raises
    ------
    ValueError
        If there is no such axis, norm or length.

    See Also
    --------
    ifftn : The inverse.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> from pycuda import fft
    >>> fft.fftn(gpuarray.to_gpu(np.ones((2, 2))))
    array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]])
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

    Parameters
    ----------
    a : GPUArray
        Array of any dtype of numbers.
    s : sequence of int, optional
        Lengths of the transform along the axes. The input is cut off or padded with
        zeros; -1 is its own length. The default is the lengths of the input.
    axes : sequence of int or None, optional
        Axes along which to transform. The default is all axes, or the last ``len(s)``.
    norm : {"backward", "ortho", "forward"}, optional
        Scaling of the transform. The default is "backward": the inverse transform is
        divided by the number of elements. With "ortho" both transforms are divided by
        its square root, with "forward" the forward transform by the number.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        ``out``, or a new array of complex numbers with ``s`` elements along the axes.

    Raises
    ------
    ValueError
        If there is no such axis, norm or length.

    See Also
    --------
    fftn : The inverse.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> from pycuda import fft
    >>> fft.ifftn(gpuarray.to_gpu(np.array([[4.0, 0], [0, 0]])))
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
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

    Parameters
    ----------
    a : GPUArray
        Array of real numbers.
    s : sequence of int, optional
        Lengths of the transform along the axes. The input is cut off or padded with
        zeros; -1 is its own length. The default is the lengths of the input.
    axes : sequence of int or None, optional
        Axes along which to transform. The default is all axes, or the last ``len(s)``.
    norm : {"backward", "ortho", "forward"}, optional
        Scaling of the transform. The default is "backward": the inverse transform is
        divided by the number of elements. With "ortho" both transforms are divided by
        its square root, with "forward" the forward transform by the number.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        ``out``, or a new array of complex numbers with ``s`` elements along the axes,
        but ``s[-1] // 2 + 1`` along the last.

    Raises
    ------
    ValueError
        If there is no such axis, norm or length.
    TypeError
        If the dtype is complex.

    See Also
    --------
    irfftn : The inverse.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> from pycuda import fft
    >>> fft.rfftn(gpuarray.to_gpu(np.ones((2, 4)))).shape
    (2, 3)
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

    The last of the axes is transformed as by ``irfft``, after the others. The default
    of ``s[-1]`` is ``2 * (m - 1)`` for ``m`` elements of the input.

    Parameters
    ----------
    a : GPUArray
        Array of any dtype of numbers.
    s : sequence of int, optional
        Lengths of the transform along the axes. The input is cut off or padded with
        zeros; -1 is its own length. The default is the lengths of the input.
    axes : sequence of int or None, optional
        Axes along which to transform. The default is all axes, or the last ``len(s)``.
    norm : {"backward", "ortho", "forward"}, optional
        Scaling of the transform. The default is "backward": the inverse transform is
        divided by the number of elements. With "ortho" both transforms are divided by
        its square root, with "forward" the forward transform by the number.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        ``out``, or a new array of real numbers with ``s`` elements along the axes.

    Raises
    ------
    ValueError
        If there is no such axis, norm or length.

    See Also
    --------
    rfftn : The inverse.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> from pycuda import fft
    >>> x = gpuarray.to_gpu(np.array([[0.0, 1, 2, 3]]))
    >>> fft.irfftn(fft.rfftn(x))
    array([[0., 1., 2., 3.]])
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
    """Return the frequencies of the elements of ``fft``, in cycles per unit of ``d``.

    Parameters
    ----------
    n : int
        Number of samples, at least 1.
    d : float, optional
        Distance of the samples.
    dtype : dtype_like, optional
        Floating-point dtype of the result. The default is float64.

    Returns
    -------
    GPUArray
        A new array: ``(n + 1) // 2`` frequencies from 0 on, then the negative ones.

    Raises
    ------
    ValueError
        If ``n`` is not a positive integer.
    TypeError
        If ``dtype`` is not a floating-point dtype.

    Examples
    --------
    >>> from pycuda import fft
    >>> fft.fftfreq(4)
    array([ 0.  ,  0.25, -0.5 , -0.25])
    """
    n = _checked_count(n)
    values = _frequencies(n, n, d, dtype, -(n // 2))
    return roll(values, -(n // 2))


def rfftfreq(n: int, d: float = 1.0, *, dtype: DTypeLike | None = None) -> GPUArray:
    """Return the frequencies of the elements of ``rfft``, in cycles per unit of ``d``.

    Parameters
    ----------
    n : int
        Number of samples, at least 1.
    d : float, optional
        Distance of the samples.
    dtype : dtype_like, optional
        Floating-point dtype of the result. The default is float64.

    Returns
    -------
    GPUArray
        A new array: ``n // 2 + 1`` frequencies from 0 on.

    Raises
    ------
    ValueError
        If ``n`` is not a positive integer.
    TypeError
        If ``dtype`` is not a floating-point dtype.

    Examples
    --------
    >>> from pycuda import fft
    >>> fft.rfftfreq(4)
    array([0.  , 0.25, 0.5 ])
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

    Parameters
    ----------
    x : GPUArray
        Array of any dtype.
    axes : int or sequence of int, optional
        Axes along which to shift. The default is all axes.

    Returns
    -------
    GPUArray
        A new array of the same shape and dtype.

    Raises
    ------
    ValueError
        If there is no such axis.

    See Also
    --------
    ifftshift : The inverse.

    Examples
    --------
    >>> from pycuda import fft
    >>> x = gpuarray.to_gpu(np.array([0, 1, -2, -1]))
    >>> fft.fftshift(x)
    array([-2, -1,  0,  1])
    """
    return _shifted(x, axes, False)


def ifftshift(
    x: GPUArray, axes: SupportsIndex | Sequence[SupportsIndex] | None = None
) -> GPUArray:
    """Return a copy with the middle element of the axes first: undo ``fftshift``.

    Parameters
    ----------
    x : GPUArray
        Array of any dtype.
    axes : int or sequence of int, optional
        Axes along which to shift. The default is all axes.

    Returns
    -------
    GPUArray
        A new array of the same shape and dtype.

    Raises
    ------
    ValueError
        If there is no such axis.

    See Also
    --------
    fftshift : The inverse.

    Examples
    --------
    >>> from pycuda import fft
    >>> x = gpuarray.to_gpu(np.array([0, 1, -2, -1]))
    >>> fft.ifftshift(x)
    array([-2, -1,  0,  1])
    """
    return _shifted(x, axes, True)


def transform_library() -> str:
    """Return a sentence that says what computes transforms in the current context.

    Returns
    -------
    str
        The sentence names cuFFT with its version, or SciPy, NumPy or generated kernels
        with the reason.
    """
    return _fourier_library()
