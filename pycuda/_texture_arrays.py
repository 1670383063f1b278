"""Arrays of textures (``Array``) made from NumPy arrays and device arrays.

An Array has its fastest dimension first: in order "C" the last axis is x, in order "F"
the first axis. Textures have no elements of double or complex. These are split into
integers of 32 bits, which ``pycuda-helpers.hpp`` joins again.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pycuda._driver import (
    Array,
    ArrayDescriptor,
    ArrayDescriptor3D,
    LogicError,
    _plain_array,
    address_mode,
    array3d_flags,
    array_format,
    filter_mode,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from pycuda._driver import TextureReference

_FORMATS = {
    "uint8": array_format.UNSIGNED_INT8,
    "uint16": array_format.UNSIGNED_INT16,
    "uint32": array_format.UNSIGNED_INT32,
    "int8": array_format.SIGNED_INT8,
    "int16": array_format.SIGNED_INT16,
    "int32": array_format.SIGNED_INT32,
    "float16": array_format.HALF,
    "float32": array_format.FLOAT,
}

# The number of 32-bit integers that replace an element which textures do not have.
_CUT = {"float64": 2, "complex64": 2, "complex128": 4}


def dtype_to_array_format(dtype: npt.DTypeLike) -> array_format:
    """Return the format of a dtype in texture arrays.

    Parameters
    ----------
    dtype : dtype_like
        Integers of 8, 16 or 32 bits, or floats of 16 or 32.

    Returns
    -------
    array_format
        The format.

    Raises
    ------
    TypeError
        For another dtype.

    Examples
    --------
    >>> drv.dtype_to_array_format(np.float32) == drv.array_format.FLOAT
    True
    """
    dtype = np.dtype(dtype)
    if dtype.name not in _FORMATS or not dtype.isnative:
        raise TypeError(
            f"texture arrays have no elements of dtype '{dtype}'; convert it with "
            f"astype() to one of {', '.join(_FORMATS)}"
        )
    return _FORMATS[dtype.name]


def _element(dtype: np.dtype[Any], cut: bool) -> tuple[array_format, int]:
    """Return (array_format, number of channels) of one element."""
    if cut and dtype.name in _CUT and dtype.isnative:
        return array_format.SIGNED_INT32, _CUT[dtype.name]
    return dtype_to_array_format(dtype), 1


def _order(order: object, lenient: bool = False) -> Literal["C", "F"]:
    wanted = order.upper() if lenient and isinstance(order, str) else order
    if wanted == "C":
        return "C"
    if wanted == "F":
        return "F"
    raise LogicError(f"order must be 'C' or 'F', not {order!r}")


def _sides(shape: Sequence[int], order: str) -> tuple[int, ...]:
    """Return the shape with x first."""
    return tuple(shape[::-1]) if order == "C" else tuple(shape)


def matrix_to_array(
    matrix: np.ndarray[Any, Any], order: str, allow_double_hack: bool = False
) -> Array:
    """Return a two-dimensional Array of a matrix.

    Parameters
    ----------
    matrix : ndarray
        Array of two dimensions.
    order : {"C", "F"}
        "C": x is the column; "F": x is the row.
    allow_double_hack : bool, optional
        If true, split double and complex elements into integers, which
        ``pycuda-helpers.hpp`` joins again.

    Returns
    -------
    Array
        A new Array.

    Raises
    ------
    TypeError
        For a dtype that textures do not have.
    LogicError
        For another order, or another number of dimensions.

    See Also
    --------
    np_to_array : Make an Array of two or three dimensions.
    TextureObject : Read the Array in a kernel.

    Notes
    -----
    The matrix can be changed when the call returns.

    Examples
    --------
    >>> image = drv.matrix_to_array(np.array([[1, 2], [3, 4]], np.float32), "C")
    >>> image.get()
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    layout = _order(order, lenient=True)
    matrix = np.asarray(matrix)
    if matrix.ndim != 2:
        raise LogicError(f"a matrix has 2 dimensions, not {matrix.ndim}")
    descriptor = ArrayDescriptor()
    descriptor.width, descriptor.height = _sides(matrix.shape, layout)
    descriptor.format, descriptor.num_channels = _element(
        matrix.dtype, allow_double_hack
    )
    array = Array(descriptor)
    array.set(np.asarray(matrix, order=layout))
    return array


def make_multichannel_2d_array(ndarray: np.ndarray[Any, Any], order: str) -> Array:
    """Return a two-dimensional Array whose elements have channels.

    Parameters
    ----------
    ndarray : ndarray
        Array of three dimensions. The 1, 2 or 4 channels are the last axis in order
        "C", and the first axis in order "F".
    order : {"C", "F"}
        Order of the axes: "C" is y, x, channel, and "F" is channel, x, y.

    Returns
    -------
    Array
        A new Array.

    Raises
    ------
    TypeError
        For a dtype that textures do not have.
    LogicError
        For another order, or another number of dimensions or channels.

    See Also
    --------
    matrix_to_array : Make an Array without channels.

    Examples
    --------
    >>> pixels = np.zeros((2, 3, 4), np.uint8)
    >>> image = drv.make_multichannel_2d_array(pixels, "C")
    >>> image.get_descriptor().num_channels
    4
    """
    layout = _order(order, lenient=True)
    ndarray = np.asarray(ndarray)
    if ndarray.ndim != 3:
        raise LogicError(f"an image with channels has 3 dimensions, not {ndarray.ndim}")
    channels, width, height = _sides(ndarray.shape, layout)
    descriptor = ArrayDescriptor()
    descriptor.width, descriptor.height = width, height
    descriptor.format = dtype_to_array_format(ndarray.dtype)
    descriptor.num_channels = channels
    array = Array(descriptor)
    array.set(np.asarray(ndarray, order=layout))
    return array


def _make_array(
    shape: tuple[int, ...], dtype: np.dtype[Any], order: str, surface: bool
) -> Array:
    """Return an Array of 2 or 3 dimensions; its elements are not set."""
    if len(shape) not in (2, 3):
        raise LogicError(f"an Array is made of 2 or 3 dimensions, not {len(shape)}")
    sides = _sides(shape, order)
    descriptor = ArrayDescriptor3D()
    descriptor.width, descriptor.height = sides[:2]
    descriptor.depth = sides[2] if len(sides) == 3 else 0
    descriptor.format, descriptor.num_channels = _element(np.dtype(dtype), True)
    if surface:
        descriptor.flags |= array3d_flags.SURFACE_LDST
        if len(sides) == 2:
            descriptor.flags |= array3d_flags.ARRAY3D_LAYERED
            descriptor.depth = 1
    return Array(descriptor)


def np_to_array(
    nparray: np.ndarray[Any, Any], order: str, allowSurfaceBind: bool = False
) -> Array:
    """Return an Array of a NumPy array with two or three dimensions.

    Parameters
    ----------
    nparray : ndarray
        The array. Elements of double, complex64 and complex128 become 2, 2 and 4
        channels of integers.
    order : {"C", "F"}
        Order of the axes: "C" is z, y, x, and "F" is x, y, z.
    allowSurfaceBind : bool, optional
        If true, kernels can write the Array through surfaces. An Array of two
        dimensions then has one layer.

    Returns
    -------
    Array
        A new Array.

    Raises
    ------
    TypeError
        For a dtype that textures do not have.
    LogicError
        For another order, or another number of dimensions.

    See Also
    --------
    gpuarray_to_array : Copy from the device.
    SurfaceObject : Write the Array in a kernel.

    Examples
    --------
    >>> drv.np_to_array(np.zeros((2, 3, 4), np.float32), "C").get().shape
    (2, 3, 4)
    """
    layout = _order(order)
    nparray = np.asarray(nparray)
    array = _make_array(nparray.shape, nparray.dtype, layout, allowSurfaceBind)
    array.set(np.asarray(nparray, order=layout))
    return array


def gpuarray_to_array(
    gpuarray: Any, order: str, allowSurfaceBind: bool = False
) -> Array:
    """Return an Array of a device array with two or three dimensions.

    Parameters
    ----------
    gpuarray : GPUArray
        The array, or another object with shape, dtype, strides and gpudata. Its memory
        is contiguous in this order, except for gaps between rows.
    order : {"C", "F"}
        Order of the axes: "C" is z, y, x, and "F" is x, y, z.
    allowSurfaceBind : bool, optional
        If true, kernels can write the Array through surfaces. An Array of two
        dimensions then has one layer.

    Returns
    -------
    Array
        A new Array, which keeps no reference to the device array.

    Raises
    ------
    TypeError
        For a dtype that textures do not have.
    LogicError
        For another order, number of dimensions, or order of the memory.

    See Also
    --------
    np_to_array : Copy from the host.

    Examples
    --------
    >>> a = gpuarray.zeros((2, 3), np.float32)
    >>> drv.gpuarray_to_array(a, "C").get().shape
    (2, 3)
    """
    layout = _order(order)
    gpuarray = _plain_array(gpuarray)
    shape, dtype = tuple(gpuarray.shape), np.dtype(gpuarray.dtype)
    array = _make_array(shape, dtype, layout, allowSurfaceBind)
    sides = _sides(shape, layout)
    strides = _sides(gpuarray.strides, layout)
    pitch = strides[1] if sides[1] > 1 else sides[0] * dtype.itemsize
    row = sides[0] * dtype.itemsize
    steps = [dtype.itemsize, pitch, pitch * sides[1]]
    rows = zip(sides, strides, steps, strict=False)
    if pitch < row or any(n > 1 and given != step for n, given, step in rows):
        raise LogicError(
            f"a device array of shape {shape} and strides {tuple(gpuarray.strides)} "
            f"is not in order '{layout}'"
        )
    array.set(gpuarray.gpudata, pitch=pitch)
    return array


def bind_array_to_texref(ary: Array, texref: TextureReference) -> None:
    """Bind an Array, with CLAMP in both dimensions and without filtering.

    Parameters
    ----------
    ary : Array
        Array, which the reference holds.
    texref : TextureReference
        The reference.

    See Also
    --------
    matrix_to_texref : Bind a new Array of a matrix.
    TextureReference.set_array : Bind an Array only.
    """
    texref.set_array(ary)
    texref.set_address_mode(0, address_mode.CLAMP)
    texref.set_address_mode(1, address_mode.CLAMP)
    texref.set_filter_mode(filter_mode.POINT)


def matrix_to_texref(
    matrix: np.ndarray[Any, Any], texref: TextureReference, order: str
) -> None:
    """Bind a new Array of a matrix, with CLAMP and without filtering.

    Parameters
    ----------
    matrix : ndarray
        Array of two dimensions.
    texref : TextureReference
        The reference, which holds the new Array.
    order : {"C", "F"}
        "C": x is the column; "F": x is the row.

    Raises
    ------
    TypeError
        For a dtype that textures do not have.
    LogicError
        For another order, or another number of dimensions.

    See Also
    --------
    matrix_to_array : Make the Array only.
    bind_array_to_texref : Bind an Array that exists.
    """
    bind_array_to_texref(matrix_to_array(matrix, order), texref)


def gpuarray_to_texref(
    gpuarray: Any,
    texref: TextureReference,
    channels: int = 1,
    allow_double_hack: bool = False,
    allow_complex_hack: bool = False,
    allow_offset: bool = False,
) -> int:
    """Bind the memory of a device array, which kernels read with ``tex1Dfetch``.

    Parameters
    ----------
    gpuarray : GPUArray
        The array, without gaps. The reference does not keep its memory.
    texref : TextureReference
        The reference.
    channels : int, optional
        Elements of the array in one element of the texture: 1, 2 or 4.
    allow_double_hack : bool, optional
        If true, split double elements into integers.
    allow_complex_hack : bool, optional
        If true, split complex elements into integers.
    allow_offset : bool, optional
        If true, the memory may begin where no texture can begin.

    Returns
    -------
    int
        Elements of the texture before the array.

    Raises
    ------
    TypeError
        For a dtype that textures do not have.
    LogicError
        If the array has gaps, if there are too many channels, or if the address is not
        aligned and ``allow_offset`` is false.

    See Also
    --------
    TextureReference.set_address : Bind memory without an array.
    """
    gpuarray = _plain_array(gpuarray)
    dtype = np.dtype(gpuarray.dtype)
    flags = getattr(gpuarray, "flags", None)
    if flags is not None and not flags.forc:
        raise LogicError("only memory without gaps can be bound to a texture")
    cut = allow_double_hack if dtype.kind == "f" else allow_complex_hack
    format, pieces = _element(dtype, cut)
    if pieces * channels not in (1, 2, 4):
        raise LogicError(
            f"{channels} channels of dtype '{dtype}' are more than a texture's element"
        )
    size = math.prod(map(int, gpuarray.shape)) * dtype.itemsize
    texref.set_format(format, pieces * channels)
    offset = texref.set_address(gpuarray.gpudata, size, allow_offset=allow_offset)
    return int(offset // (dtype.itemsize * channels))
