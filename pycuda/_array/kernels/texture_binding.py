"""Texture references that read the memory of an array."""

from __future__ import annotations

import numpy as np

from pycuda._driver import _plain_array
from pycuda._texture_arrays import dtype_to_array_format


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
