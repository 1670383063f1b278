"""What NumPy and SciPy compute on the software device; C calls it for arrays.

The arrays are copied in the order of the stream, so the checks of the device see what
is read and written.
"""

from __future__ import annotations

import functools
import os

import numpy as np

from pycuda import _driver
from pycuda._array.copies import on_stream

# The functions by the kind of a step, not inverse and inverse.
_NAMES = {
    "complex": ("fft", "ifft"),
    "real": ("rfft", "ihfft"),
    "half": ("hfft", "irfft"),
}


def may_compute():
    """Return whether NumPy computes some function, which a graph cannot repeat."""
    names = ("PYCUDA_BLAS", "PYCUDA_FFT", "PYCUDA_SOLVER")
    return _driver._is_emulated() and any(
        _driver._setting(name) == "auto" for name in names
    )


def _checks_values():
    """Return whether PYCUDA_CHECK finds uses of uninitialised memory."""
    words = os.environ.get("PYCUDA_CHECK", "").replace(",", " ").split()
    return not {"init", "all"}.isdisjoint(words)


def computed(function, arrays, dtype, whole=True):
    """Return what a function makes of copies of arrays, which have a dtype.

    ``whole`` says that the function uses all elements.
    """
    if whole and _checks_values():
        for a in arrays:
            # A copy to the host may have unwritten bytes; the operand of a kernel not.
            a != a  # noqa: B015
    hosts = [a.get().astype(dtype, copy=False) for a in arrays]
    with np.errstate(all="ignore"):
        return function(*hosts)


def multiply(a, b, target, stream):
    """Store the product of two arrays: called by ``matmul``.

    ``stream`` is a handle; 0 is the current stream.
    """
    _store(np.matmul, (a, b), target.dtype, target, stream)


def sort(x, axis, descending, keys, indices, stream):
    """Store the elements sorted along an axis, their indices, or both.

    ``sort`` and ``argsort`` call it, with None for what they do not need. The order is
    that of the kernels: equal elements, which are zeros of both signs and NaNs, stay in
    their order.
    """
    with on_stream(stream or None):
        values = x.get()
        if indices is None:
            keys[...] = _sorted(values, axis, descending)
            return
        order = _order(values, axis, descending)
        indices[...] = order
        if keys is not None:
            keys[...] = np.take_along_axis(values, order, axis)


def _order(values, axis, descending):
    if not descending:
        return np.argsort(values, axis, "stable")
    order = np.argsort(np.flip(values, axis), axis, "stable")
    return values.shape[axis] - 1 - np.flip(order, axis)


def _sorted(values, axis, descending):
    kind = None if _has_one_order(values) else "stable"
    if descending and kind:
        values = np.flip(values, axis)
    values = np.sort(values, axis, kind)
    return np.flip(values, axis) if descending else values


def _has_one_order(values):
    """Return whether elements that are equal have the same bits."""
    if values.dtype.kind != "f":
        return True
    zeros = values[values == 0]
    return not (np.isnan(np.min(values)) or np.signbit(zeros).any())


def transform(a, target, steps, dtype, stream):
    """Store the transform of an array along some axes: called by ``fourier``.

    A step is the kind (a key of _NAMES), whether it is inverse, the axis, the length
    and the factor of the result. ``dtype`` is a real one.
    """
    kept = [slice(None)] * a.ndim
    if len(steps) == 1:  # else a later step may have the same axis
        _, _, axis, n, _ = steps[0]
        kept[axis] = slice(n)
    if a.dtype.kind == "c":
        dtype = np.result_type(dtype, np.complex64)
    function = functools.partial(_transformed, steps=steps)
    source = a[tuple(kept)]
    whole = all(
        source.shape[axis] <= (n // 2 + 1 if kind == "half" else n)
        for kind, _, axis, n, _ in steps
    )
    _store(function, (source,), dtype, target, stream, whole)


def transforms_by():
    """Return the name of the library that transforms: called by ``fourier``."""
    return "NumPy" if _transforms() is np.fft else "SciPy"


def _store(function, arrays, dtype, target, stream, whole=True):
    with on_stream(stream or None):
        made = computed(function, arrays, dtype, whole)
        target[...] = made.astype(target.dtype, copy=False)


def _find_transforms():
    """Return the module with the functions of ``numpy.fft``: SciPy's is faster."""
    try:
        import scipy.fft
    except ImportError:
        return np.fft
    return scipy.fft


_transforms = functools.cache(_find_transforms)


def _transformed(values, steps):
    library = _transforms()
    # SciPy may overwrite its input, which is a copy.
    options = {} if library is np.fft else {"overwrite_x": True}
    for kind, inverse, axis, n, scale in steps:
        norm = "ortho"
        if scale in (1, 1 / n):
            norm = "backward" if (scale == 1) != inverse else "forward"
        name = _NAMES[kind][inverse]
        if name in ("fft", "ifft") and values.dtype.kind == "f":
            # SciPy would give zeros of real numbers other signs than NumPy.
            values = values.astype(np.result_type(values.dtype, np.complex64))
        transformed = getattr(library, name)
        values = transformed(values, n=n, axis=axis, norm=norm, **options)
    return values
