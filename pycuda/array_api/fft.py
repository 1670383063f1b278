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
from pycuda.array_api._docs import complete as _complete
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
    """Return the Fourier transform along an axis, cut off or padded to length ``n``."""
    return _fourier.fft(x, n, axis, norm)


def ifft(
    x: GPUArray, /, *, n: int | None = None, axis: int = -1, norm: _Norm = "backward"
) -> GPUArray:
    """Return the inverse Fourier transform along an axis."""
    return _fourier.ifft(x, n, axis, norm)


def fftn(
    x: GPUArray,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = "backward",
) -> GPUArray:
    """Return the Fourier transform along several axes, by default all."""
    return _fourier.fftn(x, s, axes, norm)


def ifftn(
    x: GPUArray,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = "backward",
) -> GPUArray:
    """Return the inverse Fourier transform along several axes, by default all."""
    return _fourier.ifftn(x, s, axes, norm)


def rfft(
    x: GPUArray, /, *, n: int | None = None, axis: int = -1, norm: _Norm = "backward"
) -> GPUArray:
    """Return the half of the Fourier transform of real numbers that defines it."""
    return _fourier.rfft(x, n, axis, norm)


def irfft(
    x: GPUArray, /, *, n: int | None = None, axis: int = -1, norm: _Norm = "backward"
) -> GPUArray:
    """Return the inverse of ``rfft``, real numbers, ``n`` along the axis."""
    return _fourier.irfft(x, n, axis, norm)


def rfftn(
    x: GPUArray,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = "backward",
) -> GPUArray:
    """Return the half of the Fourier transform of real numbers, along several axes."""
    return _fourier.rfftn(x, s, axes, norm)


def irfftn(
    x: GPUArray,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm = "backward",
) -> GPUArray:
    """Return the inverse of ``rfftn``, real numbers."""
    return _fourier.irfftn(x, s, axes, norm)


def hfft(
    x: GPUArray, /, *, n: int | None = None, axis: int = -1, norm: _Norm = "backward"
) -> GPUArray:
    """Return the Fourier transform, real numbers, of the half of a Hermitian signal."""
    return _fourier.hfft(x, n, axis, norm)


def ihfft(
    x: GPUArray, /, *, n: int | None = None, axis: int = -1, norm: _Norm = "backward"
) -> GPUArray:
    """Return the inverse of ``hfft``, the half of a Hermitian signal."""
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

    Raises
    ------
    TypeError
    ValueError
        If ``n`` is not positive, or if ``dtype`` has no real floats.
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

    Raises
    ------
    TypeError
    ValueError
        If ``n`` is not positive, or if ``dtype`` has no real floats.
    """
    check_device(device)
    result = _fourier.rfftfreq(n, d)
    return result.astype(_real_dtype(dtype))


def fftshift(x: GPUArray, /, *, axes: int | Sequence[int] | None = None) -> GPUArray:
    """Return the elements with frequency 0 in the middle of the axes."""
    return _fourier.fftshift(x, axes)


def ifftshift(x: GPUArray, /, *, axes: int | Sequence[int] | None = None) -> GPUArray:
    """Return the inverse of ``fftshift``."""
    return _fourier.ifftshift(x, axes)


for _name in __all__:
    _complete(globals()[_name])
