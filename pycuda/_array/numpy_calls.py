"""What functions with NumPy's names share: ``where=``, ``out=``, casting, errors."""

from __future__ import annotations

import inspect

import numpy as np

from pycuda._array.layout import broadcast_to
from pycuda._driver import GPUArray, to_gpu


def as_mask(where):
    """Return a ``where`` argument as a mask on the device."""
    is_array = isinstance(where, GPUArray)
    mask = where if is_array else np.asarray(where)
    if not is_array and mask.ndim:
        raise TypeError("where must be a GPUArray of bool; copy it with to_gpu()")
    if mask.dtype != bool:
        raise TypeError(f"where must be of bool, not {mask.dtype}")
    return mask if is_array else to_gpu(mask)


def mask_of(where, a):
    """Return a ``where`` argument as a mask, broadcast to an array's shape."""
    return broadcast_to(as_mask(where), a.shape)


# -- calls, casting, results -----------------------------------------------------------


def called(full, function, args, kwargs):
    """Call a function. A TypeError for wrong arguments has ``full``, NumPy's name.

    ``full`` is the name or NumPy's function.
    """
    try:
        return function(*args, **kwargs)
    except TypeError:
        try:
            inspect.signature(function).bind(*args, **kwargs)
        except TypeError as error:
            text = str(error)
        else:
            raise
    if not isinstance(full, str):
        full = f"{full.__module__}.{full.__name__}"
    raise TypeError(f"{full} of GPUArrays: {text}")


def same(namespace, homes, prefix=""):
    """Return {NumPy's function: ours} for functions of the same names and parameters.

    ``homes`` are {where ours are: their names}, where they have a prefix. An older
    NumPy lacks some.
    """
    return {
        getattr(namespace, name): getattr(home, prefix + name)
        for home, names in homes.items()
        for name in names.split()
        if hasattr(namespace, name)
    }


def casting_dtype(value, dtype):
    """Return the dtype by which NumPy's casting rules judge a value for a dtype.

    Python's numbers have none of their own: they adapt to ``dtype`` as far as its kind
    allows.
    """
    if hasattr(value, "dtype"):
        return value.dtype
    if type(value) in (int, float, complex):
        return np.result_type(dtype, value)
    return np.asarray(value).dtype


def check_out(out):
    """Return an ``out`` argument; TypeError if it is no GPUArray."""
    if not isinstance(out, GPUArray):
        raise TypeError(f"out must be a GPUArray, not {type(out).__name__}")
    return out


def into(result, out, casting="same_kind"):
    """Return a result, or ``out`` with the elements of it."""
    if out is None:
        return result
    if check_out(out).shape != result.shape:
        raise ValueError(f"the result has shape {result.shape}, out has {out.shape}")
    if not np.can_cast(result.dtype, out.dtype, casting):
        raise TypeError(
            f"the result of dtype {result.dtype} cannot be put into an array of dtype "
            f"{out.dtype}; convert with astype()"
        )
    out[...] = result
    return out
