"""Linear algebra on the software device: NumPy's, which is LAPACK."""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda._array.copies import is_captured, on_stream
from pycuda._array.host import computed
from pycuda._array.linalg.matrices import check_square, common_dtype
from pycuda._driver import to_gpu

#: Functions that read one triangle of a matrix.
_TRIANGLES = ("cholesky", "eigh", "eigvalsh")


def serves(*arrays, stream=None):
    """Return whether NumPy computes: on the software device, unless work is captured.

    ``PYCUDA_SOLVER`` may choose generated kernels. Arrays without elements are not
    NumPy's.
    """
    if not _driver._is_emulated() or _driver._setting("PYCUDA_SOLVER") != "auto":
        return False
    if not all(isinstance(a, _driver.GPUArray) and a.size for a in arrays):
        return False
    with on_stream(stream):
        return not is_captured()


def apply(name, function, *arrays, stream=None, check=check_square, dtype=None):
    """Return what a function of NumPy makes of arrays, as one array or a tuple.

    ``name`` is for errors. ``dtype`` is that of the results if NumPy's may differ.
    """
    common = common_dtype(name, *arrays)
    check(name, arrays[0])
    allocator = arrays[0].allocator

    def sent(value):
        value = np.asarray(value)
        kept = value.dtype if dtype is None else np.result_type(dtype, common)
        return to_gpu(np.asarray(value, kept, order="C"), allocator)

    with on_stream(stream):
        made = computed(function, arrays, common, name not in _TRIANGLES)
        return tuple(map(sent, made)) if isinstance(made, tuple) else sent(made)


def cholesky(upper):
    """Return the function that makes Cholesky factors of one triangle."""
    if not upper:
        return np.linalg.cholesky
    return lambda a: _adjoint(np.linalg.cholesky(_adjoint(a)))


def _adjoint(a):
    return a.swapaxes(-1, -2).conj()
