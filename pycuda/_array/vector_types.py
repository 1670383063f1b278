"""CUDA's vector types as dtypes."""

from __future__ import annotations

import numpy as np

from pycuda.compyte.dtypes import get_or_register_dtype


class vec:  # noqa: N801
    """CUDA's vector types: dtype ``vec.float4``; ``vec.make_float4(x, y, z, w)``."""


def _fill_vec():
    names = {"char": np.int8, "uchar": np.uint8, "short": np.int16}
    names |= {"ushort": np.uint16, "int": np.int32, "uint": np.uint32}
    names |= {"long": np.int64, "ulong": np.uint64, "float": np.float32}
    names |= {"longlong": np.int64, "ulonglong": np.uint64, "double": np.float64}

    def maker(dtype, name):
        def record(*numbers):
            value = np.zeros((), dtype)
            value[()] = numbers
            return value

        make = {
            1: lambda x: record(x),
            2: lambda x, y: record(x, y),
            3: lambda x, y, z: record(x, y, z),
            4: lambda x, y, z, w: record(x, y, z, w),
        }[len(dtype.names)]
        make.__name__ = make.__qualname__ = f"make_{name}"
        make.__doc__ = f"Return a {name} as a numpy array without axes."
        return staticmethod(make)

    for base, scalar in names.items():
        most = 2 if base in ("longlong", "ulonglong", "double") else 4
        for count in range(1, most + 1):
            name = f"{base}{count}"
            dtype = np.dtype([(field, scalar) for field in "xyzw"[:count]])
            dtype = get_or_register_dtype(name, dtype)
            setattr(vec, name, dtype)
            setattr(vec, f"make_{name}", maker(dtype, name))


_fill_vec()
