"""What the functions for NumPy's names have in common."""

from __future__ import annotations

import inspect


def called(full, function, args, kwargs):
    """Call; a keyword that the function lacks is a TypeError with NumPy's name."""
    try:
        return function(*args, **kwargs)
    except TypeError:
        try:
            inspect.signature(function).bind(*args, **kwargs)
        except TypeError as error:
            text = str(error)
        else:
            raise
    raise TypeError(f"{full} of GPUArrays: {text}")


def into(result, out):
    if out is None:
        return result
    if out.shape != result.shape:
        raise ValueError(f"the result has shape {result.shape}, out has {out.shape}")
    out[...] = result
    return out
