"""Rows: Fourier transforms of arrays, by generated kernels."""

import numpy as np

from pycuda import fft, gpuarray

from .rows_gpuarray import warm

COMPLEX = np.arange(24, dtype=np.complex64).reshape(4, 6)


def numbers(w):
    return gpuarray.to_gpu(COMPLEX)


def reals(w):
    return gpuarray.to_gpu(COMPLEX.real.copy())


def long(w):
    """Two kernels, and the memory between them."""
    return gpuarray.zeros(8192, np.complex64)


def prime(w):
    """A convolution in nine kernels."""
    return gpuarray.zeros(4099, np.complex64)


for _name, _call, _make in (
    ("fft", fft.fft, numbers),
    ("ifft, axis 0", lambda a: fft.ifft(a, axis=0), numbers),
    ("rfft", fft.rfft, reals),
    ("irfft", fft.irfft, numbers),
    ("fft2", fft.fft2, numbers),
    ("irfft2", fft.irfft2, numbers),
    ("fftn of no axes", lambda a: fft.fftn(a, axes=()), numbers),
    ("fft in place", lambda a: fft.fft(a, out=a), numbers),
    ("fft with overlap", lambda a: fft.fft(a, out=a[::-1]), numbers),
    ("fft of two kernels", fft.fft, long),
    ("fft of a prime length", fft.fft, prime),
):
    warm(f"pycuda.fft: {_name}", _call, _make)
