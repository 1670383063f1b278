"""``__array_ufunc__``: NumPy's ufuncs applied to GPUArrays.

A ufunc or a keyword that GPUArrays do not support raises a TypeError that names it. An
operand whose type has its own ``__array_ufunc__`` gets the call instead.
"""

from __future__ import annotations

import numpy as np

from pycuda._array.functions import special
from pycuda._array.numpy_calls import as_mask, called, into
from pycuda._array.numpy_protocol.linalg import UFUNCS
from pycuda._driver import (
    GPUArray,
    _accumulate,
    _all,
    _any,
    _apply_at,
    _array_ops,
    _elementwise,
    _max,
    _min,
    _prod,
    _sum,
)

_REDUCTIONS = {
    "add": _sum,
    "multiply": _prod,
    "minimum": _min,
    "maximum": _max,
    "logical_and": _all,
    "logical_or": _any,
}

#: Keywords of ufuncs with the only value that is supported.
_DEFAULTS = {"casting": "same_kind", "order": "K", "subok": True}


def _is_known(value):
    """Return whether a value is of a type without an ``__array_ufunc__`` of its own."""
    if isinstance(value, (GPUArray, np.ndarray, np.generic)):
        return True
    return getattr(type(value), "__array_ufunc__", None) is None


def _full_name(ufunc, method):
    """Return the name of a method of a ufunc; other libraries have ufuncs, too."""
    name = ufunc.__name__
    full = f"numpy.{name}" if getattr(np, name, None) is ufunc else name
    return full if method == "__call__" else f"{full}.{method}"


def array_ufunc(array, ufunc, method, *inputs, **kwargs):
    """Apply a ufunc or one of its methods."""
    outs = kwargs.pop("out", ())
    if not isinstance(outs, tuple):
        outs = (outs,)
    if not all(_is_known(value) for value in (*inputs, *outs)):
        return NotImplemented
    name = ufunc.__name__
    full = _full_name(ufunc, method)
    function = _UFUNC_METHODS.get(method)
    if method == "__call__" and name in UFUNCS:
        function = _product
    elif method == "__call__" and name not in _array_ops and name in special.__all__:
        function, full = _special, f"scipy.special.{name}"
    elif function is None or (method == "__call__" and name not in _array_ops):
        raise TypeError(f"{full} has no counterpart for GPUArrays: fetch with get()")
    for keyword, value in _DEFAULTS.items():
        if kwargs.pop(keyword, value) != value:
            raise TypeError(f"{full} of GPUArrays takes no {keyword}=, but {value!r}")
    out = outs[0] if len(outs) == 1 else outs or None
    if out is not None:
        kwargs["out"] = out
    return called(full, function, (name, *inputs), kwargs)


def _call(name, *inputs, out=None, dtype=None, where=True):
    """Apply a ufunc to arrays and numbers."""
    number = _array_ops[name]
    for value in inputs:
        if isinstance(value, np.ndarray) and value.ndim:
            raise TypeError(
                f"{name} takes GPUArrays and numbers, not ndarray; copy it with "
                "to_gpu()"
            )
    if where is True:
        return _elementwise(number, inputs, out, dtype)
    mask = as_mask(where)
    results = _elementwise(number, inputs, None, dtype)
    single = not isinstance(results, tuple)
    if single:
        results = (results,)
    outs = out if isinstance(out, tuple) else (out,) * len(results)
    chosen = tuple(
        _choose(name, mask, result, target)
        for result, target in zip(results, outs, strict=True)
    )
    return chosen[0] if single else chosen


def _product(name, *inputs, **kwargs):
    """Apply a ufunc that multiplies matrices or vectors."""
    return UFUNCS[name](*inputs, **kwargs)


def _special(name, *inputs, out=None):
    """Apply a ufunc of scipy.special."""
    result = getattr(special, name)(*inputs)
    return into(result, out)


def _choose(name, mask, result, out):
    """Store the elements of a result that a mask selects in ``out``."""
    shape = np.broadcast_shapes(mask.shape, result.shape)
    if out is None:
        out = GPUArray(shape, result.dtype, result.allocator)
    elif np.broadcast_shapes(shape, out.shape) != out.shape:
        raise ValueError(f"{name}: the result has shape {shape}, out has {out.shape}")
    if not np.can_cast(result.dtype, out.dtype, "same_kind"):
        raise TypeError(
            f"{name}: the result of dtype {result.dtype} cannot be put into an array "
            f"of dtype {out.dtype}; convert with astype()"
        )
    if result.dtype != out.dtype:
        result = result.astype(out.dtype)
    return _elementwise(_array_ops["where"], (mask, result, out), out)


def _ufunc_reduce(name, a, axis=0, dtype=None, out=None, keepdims=False, **kwargs):
    function = _REDUCTIONS.get(name)
    if function is None:
        raise TypeError(
            f"numpy.{name}.reduce has no counterpart for GPUArrays: fetch with get()"
        )
    if a.ndim == 0 and axis in (0, -1):
        axis = None
    if dtype is not None:
        if function not in (_sum, _prod):
            a = a.astype(dtype)
        else:
            kwargs["dtype"] = dtype
    return function(a, axis=axis, out=out, keepdims=keepdims, **kwargs)


def _ufunc_accumulate(name, a, axis=0, dtype=None, out=None):
    if axis is None or isinstance(axis, tuple):
        raise ValueError(f"numpy.{name}.accumulate takes one axis, not {axis}")
    if a.ndim == 0:
        raise TypeError(f"numpy.{name}.accumulate takes an array with axes")
    number = _array_ops.get(name, -1)
    result = _accumulate(number, a, axis=axis, dtype=dtype, out=out)
    if result is NotImplemented:
        raise TypeError(
            f"numpy.{name}.accumulate has no counterpart for GPUArrays: fetch with "
            "get()"
        )
    return result


def _ufunc_outer(name, a, b, out=None, dtype=None, where=True):
    if name not in _array_ops:
        raise TypeError(
            f"numpy.{name}.outer has no counterpart for GPUArrays: fetch with get()"
        )
    if isinstance(a, GPUArray) and np.ndim(b):
        a = a[(...,) + (None,) * np.ndim(b)]
    return _call(name, a, b, out=out, dtype=dtype, where=where)


#: Ufuncs whose ``at`` runs on the device.
_APPLIED = {
    *("add", "subtract", "multiply", "maximum", "minimum", "fmax", "fmin"),
    *("bitwise_and", "bitwise_or", "bitwise_xor"),
}


def _ufunc_at(name, a, indices, b=None):
    """Apply a ufunc to the elements at an index, where repeated indices count."""
    if name not in _APPLIED or not isinstance(a, GPUArray) or b is None:
        raise TypeError(
            f"numpy.{name}.at has no counterpart for GPUArrays: fetch with get()"
        )
    dtype = np.result_type(a.dtype, getattr(b, "dtype", b))
    if not np.can_cast(dtype, a.dtype, "same_kind"):
        raise TypeError(
            f"numpy.{name}.at: results of dtype {dtype} cannot be put into an array of "
            f"dtype {a.dtype}; convert with astype()"
        )
    if name == "subtract" and a.dtype.kind in "fc":
        name, b = "add", -b
    size = a.dtype.itemsize  # no device has steps of one byte, or of 16
    if size == 1 or (size > 8 and name != "add"):
        raise TypeError(
            f"numpy.{name}.at does not take arrays of dtype {a.dtype}; convert with "
            f"astype()"
        )
    _apply_at(_array_ops[name], a, indices, b)


_UFUNC_METHODS = {
    "at": _ufunc_at,
    "__call__": _call,
    "reduce": _ufunc_reduce,
    "accumulate": _ufunc_accumulate,
    "outer": _ufunc_outer,
}
