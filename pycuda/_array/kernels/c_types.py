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
    """Return the C name of a dtype.

    Parameters
    ----------
    dtype : dtype_like
        Dtype that is registered.

    Returns
    -------
    str
        Name of the type.

    Raises
    ------
    ValueError
        If the dtype has no name in C.
    """
    return dtypes.dtype_to_ctype(dtype)


def dtype_to_ctype(dtype: DTypeLike, with_fp_tex_hack: bool = False) -> str:
    """Return the C name of a dtype.

    Parameters
    ----------
    dtype : dtype_like
        Dtype that is registered.
    with_fp_tex_hack : bool, optional
        If true, return the type of ``pycuda-helpers.hpp`` that replaces it in a
        texture.

    Returns
    -------
    str
        Name of the type.

    Raises
    ------
    ValueError
        If the dtype has no name in C.

    See Also
    --------
    get_or_register_dtype : Register the name of a struct.

    Examples
    --------
    >>> from pycuda.tools import dtype_to_ctype
    >>> dtype_to_ctype(np.uint8), dtype_to_ctype(np.complex64)
    ('unsigned char', 'pycuda::complex<float>')
    """
    name = base_dtype_to_ctype(dtype)
    return _FP_TEX.get(np.dtype(dtype), name) if with_fp_tex_hack else name


def layout_advice(dtype: np.dtype[Any]) -> str:
    """Return what to do if a struct in C has another size than its dtype."""
    fields = [(name, dtype[name]) for name in dtype.names or ()]
    size = np.dtype(fields, align=True).itemsize
    if size == dtype.itemsize:
        return "compare the fields of the struct with those of the dtype"
    return f"with align=True the dtype places its fields as C does, in {size} bytes"


def with_checks(preamble: str, arrays: Iterable[np.dtype[Any]]) -> str:
    """Return a preamble with checks, in C, that structs have the sizes of their dtypes.

    ``arrays`` are the dtypes of arrays, in which a kernel would find structs of another
    size at wrong places.
    """
    lines = [preamble]
    for dtype in dict.fromkeys(arrays):
        if dtype.names is None or dtype in dict(dtypes._vector_types()).values():
            continue
        name, size = dtype_to_ctype(dtype), dtype.itemsize
        text = f"the dtype of {name} has {size} bytes, the struct has not"
        lines.append(
            f"static_assert(sizeof({name}) == {size},\n"
            f'    "{text}: {layout_advice(dtype)}");'
        )
    return "\n".join(lines)


class Argument:
    """Argument of a kernel: its name, and the dtype of its value or elements.

    Parameters
    ----------
    dtype : dtype_like
        Dtype of the value, or of the elements.
    name : str
        Name of the parameter.

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
    """Argument passed by value.

    Parameters
    ----------
    dtype : dtype_like
        Dtype of the value.
    name : str
        Name of the parameter.

    See Also
    --------
    VectorArg : An argument that points to elements.

    Examples
    --------
    >>> from pycuda.tools import ScalarArg
    >>> ScalarArg(np.float32, "a").declarator()
    'float a'
    """

    def declarator(self) -> str:
        """Return the declaration of the parameter in C.

        Returns
        -------
        str
            Type and name.
        """
        return f"{dtype_to_ctype(self.dtype)} {self.name}"

    @property
    def struct_char(self) -> str:
        """The parameter's character in the format of ``Function.prepare``."""
        if self.dtype.char == "V":
            return f"{self.dtype.itemsize}s"
        return self.dtype.char


class VectorArg(Argument):
    """Argument that points to elements.

    Parameters
    ----------
    dtype : dtype_like
        Dtype of the elements.
    name : str
        Name of the parameter.

    Attributes
    ----------
    struct_char : str
        The character of a pointer in the format of ``Function.prepare``: ``"P"``.

    See Also
    --------
    ScalarArg : An argument passed by value.

    Examples
    --------
    >>> from pycuda.tools import VectorArg
    >>> VectorArg(np.float32, "x").declarator()
    'float *x'
    """

    struct_char: str = "P"

    def declarator(self) -> str:
        """Return the declaration of the parameter in C.

        Returns
        -------
        str
            Type and name.
        """
        return f"{dtype_to_ctype(self.dtype)} *{self.name}"


def parse_c_arg(c_arg: str) -> ScalarArg | VectorArg:
    """Return the argument that a C declaration describes.

    Parameters
    ----------
    c_arg : str
        Declaration such as ``const float *x``.

    Returns
    -------
    ScalarArg or VectorArg
        The argument.

    Raises
    ------
    ValueError
        If the text is not a declaration, or if its type has no dtype.

    Examples
    --------
    >>> from pycuda.tools import parse_c_arg
    >>> parse_c_arg("const float *x")
    VectorArg('x', float32)
    """
    return cast(
        "ScalarArg | VectorArg",
        dtypes.parse_c_arg_backend(c_arg, ScalarArg, VectorArg),
    )


def get_arg_type(c_arg: str) -> str:
    """Return the format character of a C declaration's argument.

    Parameters
    ----------
    c_arg : str
        Declaration such as ``const float *x``.

    Returns
    -------
    str
        Character for the format of ``Function.prepare``; "P" for a pointer.

    Raises
    ------
    ValueError
        If the text is not a declaration, or if its type has no dtype.
    """
    return parse_c_arg(c_arg).struct_char


#: The docstring of a function that makes one value of a vector type.
_MAKER_TEXT = """Return one value of CUDA's vector type ``{name}``.

Parameters
----------
{parameters}

Returns
-------
numpy.ndarray
    Array without axes in host memory, to pass to a kernel.

Examples
--------
>>> gpuarray.vec.make_{name}({numbers}).dtype.names
{names}
"""


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
    make.__doc__ = _MAKER_TEXT.format(
        name=name,
        parameters="\n".join(f"{each} : number\n    Element." for each in dtype.names),
        numbers=", ".join("1234"[: len(dtype.names)]),
        names=dtype.names,
    )
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
