"""The extension for Fourier transforms of the standard.

Transforms have the precision of their argument: float32 gives complex64, float64 gives
complex128. ``norm`` is "backward", "ortho" or "forward".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from pycuda import _hide_imports, fft as _fourier
from pycuda.array_api._data_types import DType, check_device
from pycuda.driver import Device
from pycuda.gpuarray import GPUArray

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]
_hide_imports(globals())

if TYPE_CHECKING:
    _Norm: TypeAlias = Literal["backward", "ortho", "forward"]


def fft(
    x: GPUArray, /, *, n: int | None = None, axis: int = -1, norm: _Norm = "backward"
) -> GPUArray:
    """Return the Fourier transform along an axis, cut off or padded to length ``n``.

    Parameters
    ----------
    x : GPUArray
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

    Returns
    -------
    GPUArray
        A new array of complex numbers with ``n`` elements along the axis.

    Raises
    ------
    ValueError
        If there is no such axis, norm or length.

    See Also
    --------
    pycuda.fft.fft : It has ``out``, ``stream`` too.
    ifft : The inverse.
    rfft : Half of the result, for real elements.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.fft.fft(gpuarray.to_gpu(np.array([1.0, 1, 0, 0])))
    array([2.+0.j, 1.-1.j, 0.+0.j, 1.+1.j])
    """
    return _fourier.fft(x, n, axis, norm)


def ifft(
    x: GPUArray, /, *, n: int | None = None, axis: int = -1, norm: _Norm = "backward"
) -> GPUArray:
    """Return the inverse Fourier transform along an axis.

    Parameters
    ----------
    x : GPUArray
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

    Returns
    -------
    GPUArray
        A new array of complex numbers with ``n`` elements along the axis.

    Raises
    ------
    ValueError
        If there is no such axis, norm or length.

    See Also
    --------
    pycuda.fft.ifft : It has ``out``, ``stream`` too.
    fft : The inverse.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.fft.ifft(gpuarray.to_gpu(np.array([4.0, 0, 0, 0])))
    array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    return _fourier.ifft(x, n, axis, norm)


def fftn(
    x: GPUArray,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = "backward",
) -> GPUArray:
    """Return the Fourier transform along several axes, by default all.

    Parameters
    ----------
    x : GPUArray
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

    Returns
    -------
    GPUArray
        A new array of complex numbers with ``s`` elements along the axes.

    Raises
    ------
    ValueError
        If there is no such axis, norm or length.

    See Also
    --------
    pycuda.fft.fftn : It has ``out``, ``stream`` too.
    ifftn : The inverse.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.fft.fftn(gpuarray.to_gpu(np.ones((2, 2))))
    array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]])
    """
    return _fourier.fftn(x, s, axes, norm)


def ifftn(
    x: GPUArray,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = "backward",
) -> GPUArray:
    """Return the inverse Fourier transform along several axes, by default all.

    Parameters
    ----------
    x : GPUArray
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

    Returns
    -------
    GPUArray
        A new array of complex numbers with ``s`` elements along the axes.

    Raises
    ------
    ValueError
        If there is no such axis, norm or length.

    See Also
    --------
    pycuda.fft.ifftn : It has ``out``, ``stream`` too.
    fftn : The inverse.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.fft.ifftn(gpuarray.to_gpu(np.array([[4.0, 0], [0, 0]])))
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """
    return _fourier.ifftn(x, s, axes, norm)


def rfft(
    x: GPUArray, /, *, n: int | None = None, axis: int = -1, norm: _Norm = "backward"
) -> GPUArray:
    """Return the half of the Fourier transform of real numbers that defines it.

    Parameters
    ----------
    x : GPUArray
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

    Returns
    -------
    GPUArray
        A new array of complex numbers with ``n // 2 + 1`` elements along the axis: the
        others are their conjugates.

    Raises
    ------
    TypeError
        If the dtype is complex.
    ValueError
        If there is no such axis, norm or length.

    See Also
    --------
    pycuda.fft.rfft : It has ``out``, ``stream`` too.
    irfft : The inverse.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> abs(xp.fft.rfft(gpuarray.to_gpu(np.array([1.0, 1, 0, 0]))))
    array([2.        , 1.41421356, 0.        ])
    """
    return _fourier.rfft(x, n, axis, norm)


def irfft(
    x: GPUArray, /, *, n: int | None = None, axis: int = -1, norm: _Norm = "backward"
) -> GPUArray:
    """Return the inverse of ``rfft``, real numbers, ``n`` along the axis.

    Parameters
    ----------
    x : GPUArray
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

    Returns
    -------
    GPUArray
        A new array of real numbers with ``n`` elements along the axis.

    Raises
    ------
    ValueError
        If there is no such axis, norm or length.

    See Also
    --------
    pycuda.fft.irfft : It has ``out``, ``stream`` too.
    rfft : The inverse.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.fft.irfft(gpuarray.to_gpu(np.array([4.0, 0, 0])))
    array([1., 1., 1., 1.])
    """
    return _fourier.irfft(x, n, axis, norm)


def rfftn(
    x: GPUArray,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = "backward",
) -> GPUArray:
    """Return the half of the Fourier transform of real numbers, along several axes.

    Parameters
    ----------
    x : GPUArray
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

    Returns
    -------
    GPUArray
        A new array of complex numbers with ``s`` elements along the axes, but ``s[-1]
        // 2 + 1`` along the last.

    Raises
    ------
    TypeError
        If the dtype is complex.
    ValueError
        If there is no such axis, norm or length.

    See Also
    --------
    pycuda.fft.rfftn : It has ``out``, ``stream`` too.
    irfftn : The inverse.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.fft.rfftn(gpuarray.to_gpu(np.ones((2, 4)))).shape
    (2, 3)
    """
    return _fourier.rfftn(x, s, axes, norm)


def irfftn(
    x: GPUArray,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = "backward",
) -> GPUArray:
    """Return the inverse of ``rfftn``, real numbers.

    Parameters
    ----------
    x : GPUArray
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

    Returns
    -------
    GPUArray
        A new array of real numbers with ``s`` elements along the axes.

    Raises
    ------
    ValueError
        If there is no such axis, norm or length.

    See Also
    --------
    pycuda.fft.irfftn : It has ``out``, ``stream`` too.
    rfftn : The inverse.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.to_gpu(np.array([[0.0, 1, 2, 3]]))
    >>> xp.fft.irfftn(xp.fft.rfftn(x))
    array([[0., 1., 2., 3.]])
    """
    return _fourier.irfftn(x, s, axes, norm)


def hfft(
    x: GPUArray, /, *, n: int | None = None, axis: int = -1, norm: _Norm = "backward"
) -> GPUArray:
    """Return the Fourier transform, real numbers, of the half of a Hermitian signal.

    Parameters
    ----------
    x : GPUArray
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

    Returns
    -------
    GPUArray
        A new array of real numbers with ``n`` elements along the axis.

    Raises
    ------
    ValueError
        If there is no such axis, norm or length.

    See Also
    --------
    pycuda.fft.hfft : It has ``out``, ``stream`` too.
    ihfft : The inverse.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.fft.hfft(gpuarray.to_gpu(np.array([1.0, 0, 0])))
    array([1., 1., 1., 1.])
    """
    return _fourier.hfft(x, n, axis, norm)


def ihfft(
    x: GPUArray, /, *, n: int | None = None, axis: int = -1, norm: _Norm = "backward"
) -> GPUArray:
    """Return the inverse of ``hfft``, the half of a Hermitian signal.

    Parameters
    ----------
    x : GPUArray
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

    Returns
    -------
    GPUArray
        A new array of complex numbers with ``n // 2 + 1`` elements along the axis.

    Raises
    ------
    TypeError
        If the dtype is complex.
    ValueError
        If there is no such axis, norm or length.

    See Also
    --------
    pycuda.fft.ihfft : It has ``out``, ``stream`` too.
    hfft : The inverse.

    Notes
    -----
    The call does not wait. float16, float32 and complex64 are transformed in single
    precision, all other dtypes in double precision.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.fft.ihfft(gpuarray.to_gpu(np.array([1.0, 1, 1, 1]))).real
    array([1., 0., 0.])
    """
    return _fourier.ihfft(x, n, axis, norm)


def _real_dtype(dtype: DType | None) -> DType:
    """Return the data type of frequencies; ValueError unless it is a real one."""
    chosen = np.dtype("float64" if dtype is None else dtype)
    if chosen.kind != "f":
        raise ValueError(f"frequencies are of a real floating-point type, not {chosen}")
    return chosen


def fftfreq(
    n: int,
    /,
    *,
    d: float = 1.0,
    dtype: DType | None = None,
    device: Device | None = None,
) -> GPUArray:
    """Return the frequencies of the elements of ``fft``, for samples at distance ``d``.

    The default data type is float64.

    Parameters
    ----------
    n : int
        Number of samples, at least 1.
    d : float, optional
        Distance of the samples.
    dtype : dtype_like, optional
        Dtype of the result. The default is float64.
    device : Device, optional
        The device, which must be that of the current context.

    Returns
    -------
    GPUArray
        A new array: ``(n + 1) // 2`` frequencies from 0 on, then the negative ones.

    Raises
    ------
    ValueError
        If ``n`` is not positive, or if ``dtype`` has no real floats, or if ``device``
        is another one.

    See Also
    --------
    pycuda.fft.fftfreq : The function that it calls.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.fft.fftfreq(4)
    array([ 0.  ,  0.25, -0.5 , -0.25])
    """
    check_device(device)
    result = _fourier.fftfreq(n, d)
    return result.astype(_real_dtype(dtype))


def rfftfreq(
    n: int,
    /,
    *,
    d: float = 1.0,
    dtype: DType | None = None,
    device: Device | None = None,
) -> GPUArray:
    """Return the frequencies of the elements of ``rfft``: see ``fftfreq``.

    The default data type is float64.

    Parameters
    ----------
    n : int
        Number of samples, at least 1.
    d : float, optional
        Distance of the samples.
    dtype : dtype_like, optional
        Dtype of the result. The default is float64.
    device : Device, optional
        The device, which must be that of the current context.

    Returns
    -------
    GPUArray
        A new array: ``n // 2 + 1`` frequencies from 0 on.

    Raises
    ------
    ValueError
        If ``n`` is not positive, or if ``dtype`` has no real floats, or if ``device``
        is another one.

    See Also
    --------
    pycuda.fft.rfftfreq : The function that it calls.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.fft.rfftfreq(4)
    array([0.  , 0.25, 0.5 ])
    """
    check_device(device)
    result = _fourier.rfftfreq(n, d)
    return result.astype(_real_dtype(dtype))


def fftshift(x: GPUArray, /, *, axes: int | Sequence[int] | None = None) -> GPUArray:
    """Return the elements with frequency 0 in the middle of the axes.

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
    pycuda.fft.fftshift : The function that it calls.
    ifftshift : The inverse.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.to_gpu(np.array([0, 1, -2, -1]))
    >>> xp.fft.fftshift(x)
    array([-2, -1,  0,  1])
    """
    return _fourier.fftshift(x, axes)


def ifftshift(x: GPUArray, /, *, axes: int | Sequence[int] | None = None) -> GPUArray:
    """Return the inverse of ``fftshift``.

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
    pycuda.fft.ifftshift : The function that it calls.
    fftshift : The inverse.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> x = gpuarray.to_gpu(np.array([0, 1, -2, -1]))
    >>> xp.fft.ifftshift(x)
    array([-2, -1,  0,  1])
    """
    return _fourier.ifftshift(x, axes)
