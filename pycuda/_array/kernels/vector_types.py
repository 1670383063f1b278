"""CUDA's vector types as dtypes."""

from __future__ import annotations

import numpy as np

from pycuda.compyte.dtypes import get_or_register_dtype

_SCALARS = {
    "char": np.int8,
    "uchar": np.uint8,
    "short": np.int16,
    "ushort": np.uint16,
    "int": np.int32,
    "uint": np.uint32,
    "long": np.int64,
    "ulong": np.uint64,
    "float": np.float32,
    "longlong": np.int64,
    "ulonglong": np.uint64,
    "double": np.float64,
}
#: CUDA has no vectors of three or four of these.
_PAIRS_AT_MOST = ("longlong", "ulonglong", "double")


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


def vector_members():
    """Yield (name, dtype or function) of all that ``pycuda.gpuarray.vec`` has."""
    for base, scalar in _SCALARS.items():
        most = 2 if base in _PAIRS_AT_MOST else 4
        for count in range(1, most + 1):
            name = f"{base}{count}"
            dtype = np.dtype([(field, scalar) for field in "xyzw"[:count]])
            dtype = get_or_register_dtype(name, dtype)
            yield name, dtype
            yield f"make_{name}", staticmethod(_maker(dtype, name))
