"""Fourier transforms of arrays in device memory: the functions of ``numpy.fft``.

The functions take a ``GPUArray`` of any dtype of numbers. float32 and complex64 are
transformed in single precision, float16 too; all other dtypes in double precision.
``norm`` is "backward" (the default: the inverse transform is divided by the number of
elements), "ortho" (both are divided by its square root) or "forward". ``stream`` is the
stream in which the transform is enqueued; without it, the current one.

NVIDIA's cuFFT computes transforms if it is installed. Kernels of this package compute
those that cuFFT does not take, and all without it. On the software device, SciPy or
NumPy computes them. The environment variable
``PYCUDA_FFT`` chooses: "auto", "cufft" or "generated".
"""

from __future__ import annotations

from pycuda import _hide_imports
from pycuda._array.functions.fourier import (
    fft,
    fft2,
    fftfreq,
    fftn,
    fftshift,
    hfft,
    ifft,
    ifft2,
    ifftn,
    ifftshift,
    ihfft,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftfreq,
    rfftn,
    transform_library,
)
from pycuda._public import publish as _publish

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
    "transform_library",
]
_hide_imports(globals())

_publish(globals())
