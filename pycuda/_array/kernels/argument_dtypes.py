"""The dtypes of arrays that a pointer parameter of a kernel accepts."""

from __future__ import annotations

import numpy as np

from pycuda._array.kernels.c_types import dtype_to_ctype


def _base_of(dtype):
    """Return (kind, size) of the numbers in an element; None if they differ."""
    if dtype.subdtype is not None:
        return _base_of(dtype.subdtype[0])
    if dtype.names is not None:
        bases = {_base_of(dtype[name]) for name in dtype.names}
        return bases.pop() if len(bases) == 1 else None
    if not dtype.isnative:
        return None
    if dtype.kind == "c":
        return "f", dtype.itemsize // 2
    kind = "i" if dtype.kind in "iumM" else dtype.kind
    return kind, dtype.itemsize


def is_bytes(dtype):
    """Return whether elements are plain bytes, which a kernel may read as any type."""
    return dtype.itemsize == 1 and dtype.kind in "iuSV" and dtype.names is None


def _accepts_same_size(declared, dtype):
    """Return whether elements of one size stand for each other, whatever their base.

    That is so for two structures, for bytes without a type, and for 16 bits, which hold
    a half float or an integer.
    """
    if declared.names is not None and dtype.names is not None:
        return True
    opaque = declared if declared.names is None else dtype
    if opaque.kind == "V":
        return True
    return declared.itemsize == 2 and {declared.kind, dtype.kind} <= set("iuf")


def accepts(declared, dtype):
    """Return whether a kernel that declares one dtype may be given another.

    Other names of the same type are accepted: integers of one size, a ``float4`` for
    four floats, a complex number for a ``float2``, the 16 bits of a half float as an
    integer. ``char *`` is a pointer to anything, and an array of bytes can hold
    anything.
    """
    if declared == dtype:
        return True
    if declared.itemsize == 1 and declared.names is None:
        return declared.kind != "b" or (dtype.itemsize == 1 and dtype.kind in "iu")
    if is_bytes(dtype):
        return True
    if not (dtype.isnative and declared.isnative):
        return False
    if declared.itemsize == dtype.itemsize:
        if _accepts_same_size(declared, dtype):
            return True
    elif declared.names is None and dtype.names is None:
        return False
    base = _base_of(declared)
    return base is not None and base == _base_of(dtype)


def dtype_of(array):
    """Return the numpy.dtype of an array; None if a foreign type has none."""
    dtype = getattr(array, "dtype", None)
    if dtype is None:  # numpy.dtype(None) is float64
        return None
    try:
        return np.dtype(dtype)
    except TypeError:
        return None


def takes_bool(declared):
    """Return whether a bool array can be converted for a parameter of this dtype."""
    return declared.kind in "iufc" and declared.itemsize > 1


def type_name(dtype):
    """Return the name of a dtype in C, or in NumPy if C has none."""
    try:
        return dtype_to_ctype(dtype)
    except ValueError:
        return str(dtype)


def wrong_dtype(what, declared, array):
    """Return the TypeError for an array of a dtype that the kernel does not accept."""
    dtype = dtype_of(array)
    if declared.names is not None:
        hint = f"pass an array of dtype {declared}"
    elif dtype.names is not None or dtype.kind not in "biufc":
        hint = f"pass an array of {declared}"
    elif declared.kind == "b":
        hint = "convert it with .astype(bool)"
    else:
        hint = f"convert it with .astype(np.{declared})"
        if declared.itemsize == dtype.itemsize:
            hint += f", or reinterpret its bits with .view(np.{declared})"
    size = getattr(array, "size", "unknown")
    return TypeError(
        f"{what} is an array of {dtype} with {size} elements, but the "
        f"kernel reads {type_name(declared)}: {hint}"
    )
