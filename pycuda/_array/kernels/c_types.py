"""The names of dtypes in CUDA C, and the declared arguments of a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pycuda.compyte import dtypes
from pycuda.compyte.dtypes import get_or_register_dtype

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from numpy.typing import DTypeLike

    _Arguments: TypeAlias = "str | Iterable[ScalarArg | VectorArg]"

_CUDA_TYPES = {
    "uchar": np.uint8,
    "ushort": np.uint16,
    "uint": np.uint32,
    "pycuda::complex<float>": np.complex64,
    "pycuda::complex<double>": np.complex128,
}
_FP_TEX = {
    np.dtype(np.float32): "fp_tex_float",
    np.dtype(np.float64): "fp_tex_double",
    np.dtype(np.complex64): "fp_tex_cfloat",
    np.dtype(np.complex128): "fp_tex_cdouble",
}


def fill_dtype_registry(respect_windows, include_bool=True):
    """Register the types of C and CUDA C in ``pycuda.compyte.dtypes``.

    With ``respect_windows``, ``long`` has its size on this operating system.
    """
    dtypes._fill_dtype_registry(respect_windows, include_bool)
    for name, dtype in _CUDA_TYPES.items():
        get_or_register_dtype(name, dtype)


fill_dtype_registry(respect_windows=True)


def base_dtype_to_ctype(dtype: DTypeLike) -> str:
    """Return the C name of a dtype; ValueError if it has none."""
    return dtypes.dtype_to_ctype(dtype)


def dtype_to_ctype(dtype: DTypeLike, with_fp_tex_hack: bool = False) -> str:
    """Return the C name of a dtype, or of the type that replaces it in a texture."""
    name = base_dtype_to_ctype(dtype)
    return _FP_TEX.get(np.dtype(dtype), name) if with_fp_tex_hack else name


class Argument:
    """An argument of a kernel: its name, and the dtype of its value or elements."""

    def __init__(self, dtype: DTypeLike, name: str) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.name: str = name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.dtype})"


class ScalarArg(Argument):
    """An argument passed by value."""

    def declarator(self) -> str:
        """Return the declaration of the parameter."""
        return f"{dtype_to_ctype(self.dtype)} {self.name}"

    @property
    def struct_char(self) -> str:
        """The parameter's character in the format of ``Function.prepare``."""
        if self.dtype.char == "V":
            return f"{self.dtype.itemsize}s"
        return self.dtype.char


class VectorArg(Argument):
    """An argument that points to elements."""

    struct_char: str = "P"

    def declarator(self) -> str:
        """Return the declaration of the parameter."""
        return f"{dtype_to_ctype(self.dtype)} *{self.name}"


def parse_c_arg(c_arg: str) -> ScalarArg | VectorArg:
    """Return the argument that a C declaration such as ``const float *x`` describes."""
    return cast(
        "ScalarArg | VectorArg",
        dtypes.parse_c_arg_backend(c_arg, ScalarArg, VectorArg),
    )


def get_arg_type(c_arg: str) -> str:
    """Return the format character of a C declaration's argument."""
    return parse_c_arg(c_arg).struct_char
