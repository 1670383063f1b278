"""The types of CUDA C: names, vectors, arguments of kernels, elements of textures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pycuda._driver import _plain_array
from pycuda._texture_arrays import dtype_to_array_format
from pycuda.compyte import dtypes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from numpy.typing import DTypeLike

    _Arguments: TypeAlias = "str | Iterable[ScalarArg | VectorArg]"

_FP_TEX = {
    np.dtype(np.float32): "fp_tex_float",
    np.dtype(np.float64): "fp_tex_double",
    np.dtype(np.complex64): "fp_tex_cfloat",
    np.dtype(np.complex128): "fp_tex_cdouble",
}


def base_dtype_to_ctype(dtype: DTypeLike) -> str:
    """Return the C name of a dtype; ValueError if it has none."""
    return dtypes.dtype_to_ctype(dtype)


def dtype_to_ctype(dtype: DTypeLike, with_fp_tex_hack: bool = False) -> str:
    """Return the C name of a dtype, or of the type that replaces it in a texture."""
    name = base_dtype_to_ctype(dtype)
    return _FP_TEX.get(np.dtype(dtype), name) if with_fp_tex_hack else name


class Argument:
    """An argument of a kernel: its name, and the dtype of its value or elements.

    Attributes
    ----------
    dtype : numpy.dtype
        The dtype of the value, or of the elements.
    name : str
        The name in the kernel.
    """

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
    """An argument that points to elements.

    Attributes
    ----------
    struct_char : str
        The character of a pointer in the format of ``Function.prepare``: ``"P"``.
    """

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


def _maker(dtype, name):
    """Return the function that makes one value of a vector type."""

    def value_of(*numbers):
        value = np.zeros((), dtype)
        value[()] = numbers
        return value

    makers = (
        lambda x: value_of(x),
        lambda x, y: value_of(x, y),
        lambda x, y, z: value_of(x, y, z),
        lambda x, y, z, w: value_of(x, y, z, w),
    )
    make = makers[len(dtype.names) - 1]
    make.__name__ = make.__qualname__ = f"make_{name}"
    make.__doc__ = f"Return a {name} as a NumPy array without axes."
    return make


def _vector_members():
    """Yield (name, dtype or function) of all that ``pycuda.gpuarray.vec`` has."""
    for name, _ in dtypes._vector_types():
        dtype = dtypes.get_or_register_dtype(name)
        yield name, dtype
        yield f"make_{name}", staticmethod(_maker(dtype, name))


vec: Any = type("vec", (), dict(_vector_members()))
vec.__doc__ = (
    "CUDA's vector types: dtype ``vec.float4``; ``vec.make_float4(x, y, z, w)``."
)


# -- elements of textures --------------------------------------------------------------


def bind_to_texref(array, texref, allow_offset=False):
    """Let a texture reference read an array; return the offset in elements."""
    return bind_to_texref_ext(array, texref, 1, False, False, allow_offset)


def bind_to_texref_ext(
    array,
    texref,
    channels=1,
    allow_double_hack=False,
    allow_complex_hack=False,
    allow_offset=False,
):
    """Let a texture reference read an array; return the offset in elements.

    ``channels`` elements of the array are one element of the texture. No texture has
    doubles or complex numbers: with the arguments called hack, they are bound as
    several channels of 32 bits.
    """
    array = _plain_array(array)
    if not array.flags.forc:
        raise RuntimeError("an array with gaps cannot be bound to a texture reference")
    dtype = array.dtype
    if dtype == np.float64 and allow_double_hack:
        if channels != 1:
            raise ValueError("doubles are read as pairs: they have one channel")
        channels, dtype = 2, np.dtype(np.int32)
    elif dtype.kind == "c" and allow_complex_hack:
        if channels != 1:
            raise ValueError("complex numbers are read as pairs: they have one channel")
        channels = 2 if dtype == np.complex64 else 4
        dtype = np.dtype(np.float32 if dtype == np.complex64 else np.int32)
    offset = texref.set_address(array.gpudata, array.nbytes, allow_offset)
    texref.set_format(dtype_to_array_format(dtype), channels)
    return offset / array.dtype.itemsize
