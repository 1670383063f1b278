"""Properties of the current context's device and of its compiler."""

from __future__ import annotations

import ctypes

import numpy as np

import pycuda.driver as _cuda
from pycuda import _hide_imports
from pycuda.compiler import SourceModule
from pycuda.tools import context_dependent_memoize

__all__ = ["has_double_support", "has_stack", "platform_bits", "sizeof"]
_hide_imports(globals())


def platform_bits() -> int:
    """Return the number of bits of a pointer.

    Returns
    -------
    int
        The number: 64 on all systems that this package supports.
    """
    return 8 * ctypes.sizeof(ctypes.c_void_p)


def _capability() -> tuple[int, int]:
    return _cuda.Context.get_device().compute_capability()


def has_stack() -> bool:
    """Return whether kernels can call functions that are not inlined.

    Returns
    -------
    bool
        True for compute capability 2.0 and above.
    """
    return _capability() >= (2, 0)


def has_double_support() -> bool:
    """Return whether the device computes with double precision.

    Returns
    -------
    bool
        True for compute capability 1.3 and above.
    """
    return _capability() >= (1, 3)


_SIZEOF = """
{preamble}
extern "C" __global__ void write_size(size_t *size)
{{
    *size = sizeof({type_name});
}}
"""


@context_dependent_memoize
def sizeof(type_name: str, preamble: str = "") -> int:
    """Return the size of a type in device code.

    Parameters
    ----------
    type_name : str
        Name of the type in CUDA C.
    preamble : str, optional
        Source in CUDA C that declares the type.

    Returns
    -------
    int
        The size, in bytes.

    Raises
    ------
    CompileError
        If the compiler refuses the type.

    Notes
    -----
    One kernel is compiled for each type and context, and the call waits for it.

    Examples
    --------
    >>> from pycuda.characterize import sizeof
    >>> sizeof("pair", "struct pair { char c; double d; };")
    16
    """
    source = _SIZEOF.format(type_name=type_name, preamble=preamble)
    kernel = SourceModule(source, no_extern_c=True).get_function("write_size")
    size = np.zeros((), np.uintp)
    kernel(_cuda.Out(size), block=(1, 1, 1))
    return int(size)
