"""Helpers of the functions that have NumPy's names."""

from __future__ import annotations

import inspect


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


def into(result, out):
    """Return a result, or ``out`` with the elements of it."""
    if out is None:
        return result
    if out.shape != result.shape:
        raise ValueError(f"the result has shape {result.shape}, out has {out.shape}")
    out[...] = result
    return out
