"""``__array_function__``: NumPy's functions applied to GPUArrays.

A function or a keyword that GPUArrays do not support raises a TypeError that names it.
An operand whose type has its own ``__array_function__`` gets the call instead.
"""

from __future__ import annotations

import inspect
import math
from types import MethodDescriptorType

import numpy as np

from pycuda import _driver
from pycuda._array import files
from pycuda._array.copies import may_overlap, np_ravel, np_reshape
from pycuda._array.functions import (
    bits,
    conversion,
    correlation,
    counting,
    curves,
    diagonals,
    differences,
    elements,
    flat_indices,
    fourier,
    joining,
    lines,
    operations,
    padding,
    reductions,
    sequences,
    sets,
    shapes,
    sorting,
    special,
)
from pycuda._array.layout import broadcast_to, normal_axes
from pycuda._array.numpy_calls import (
    as_mask,
    called,
    casting_dtype,
    check_out,
    into,
    same,
)
from pycuda._array.numpy_protocol import creation, linalg as linear_algebra
from pycuda._array.numpy_protocol.creation import like_device
from pycuda._driver import (
    GPUArray,
    _all,
    _any,
    _array_functions,
    _array_ops,
    _concatenate,
    _count_nonzero,
    _elementwise,
    _nonzero as nonzero,
    _numpy_stack,
    _take,
)


def take(a, indices, axis=None, out=None, mode="raise"):
    """Return the elements at indices, flat ones or those along an axis."""
    if axis is None:
        a = np_ravel(a)
    if out is not None and check_out(out).dtype != a.dtype:
        return into(_take(a, indices, None, None, axis, mode), out, "unsafe")
    return _take(a, indices, out, None, axis, mode)


def i0(x):
    """Return the modified Bessel function I of order 0, in the dtype of floats."""
    found = special.i0(x)
    return found.astype(x.dtype) if x.dtype.kind == "f" else found


def where(condition, x=None, y=None):
    """Return ``x`` where the condition is true, ``y`` elsewhere.

    Without ``x`` and ``y``, return the indices of the true elements.
    """
    if x is None and y is None:
        return nonzero(condition)
    return operations.where(condition, x, y)


def round(a, decimals=0, out=None):
    """Return the elements rounded to a number of decimals; halves become even."""
    if a.dtype.kind == "b" and decimals == 0:
        return into(a.astype(np.float16), out)
    if a.dtype.kind in "biu" and decimals >= 0:
        return into(a.copy(), out)
    if a.dtype.kind in "biu":
        unit = 10**-decimals
        result = (np.rint(a / unit) * unit).astype(a.dtype)
    elif decimals == 0:
        result = np.rint(a)
    elif a.dtype.itemsize > 2:
        unit = 10.0**decimals if decimals > 0 else -(10.0**-decimals)
        result = _elementwise(_array_ops["round_at"], (a, unit))
    elif decimals > 0:  # half precision: NumPy rounds the product, too
        unit = 10.0**decimals
        result = np.rint(a * unit) / unit
    else:
        unit = 10.0**-decimals
        result = np.rint(a / unit) * unit
    return into(result, out)


def clip(a, min=None, max=None, out=None, *, a_min=None, a_max=None):
    """Return the elements within bounds, which have two names each."""
    if (min is not None and a_min is not None) or (
        max is not None and a_max is not None
    ):
        raise ValueError("clip takes min= or a_min=, max= or a_max=, not both")
    low, high = a_min if min is None else min, a_max if max is None else max
    return operations.clip(a, low, high, out)


def copyto(dst, src, casting="same_kind", where=True):
    """Copy values into an array, or only where a mask is true."""
    dtype = casting_dtype(src, dst.dtype)
    if not np.can_cast(dtype, dst.dtype, casting):
        raise TypeError(f"cannot convert {dtype} to {dst.dtype} by {casting!r} casting")
    if isinstance(src, (float, complex)):
        src = np.asarray(src)  # has a dtype, so it is converted as elements are
    if where is True:
        dst[...] = src
        return
    mask = broadcast_to(as_mask(where), dst.shape)
    values = GPUArray(dst.shape, dst.dtype, dst.allocator)
    values[...] = src
    _elementwise(_array_ops["where"], (mask, values, dst), dst)


def array_equal(a1, a2, equal_nan=False):
    """Return whether shapes and elements are equal, as Python's bool.

    With ``equal_nan`` a NaN equals a NaN.
    """
    if not (isinstance(a1, GPUArray) and isinstance(a2, GPUArray)):
        raise TypeError("array_equal takes two GPUArrays; copy with to_gpu()")
    if a1.shape != a2.shape:
        return False
    equal = a1 == a2
    if equal_nan:
        equal = equal | (np.isnan(a1) & np.isnan(a2))
    return bool(_all(equal))


def may_share_memory(a, b, max_work=None):
    """Return whether the address ranges of two arrays overlap."""
    if not (isinstance(a, GPUArray) and isinstance(b, GPUArray)):
        return False
    return may_overlap(a, b)


def size(a, axis=None):
    """Return the number of elements, or of those along an axis or several."""
    return math.prod(a.shape[k] for k in normal_axes(axis, a.ndim))


def result_type(*arrays_and_dtypes):
    """Return the dtype of a result by NumPy's rules for dtypes, arrays and numbers."""
    return np.result_type(
        *(a.dtype if isinstance(a, GPUArray) else a for a in arrays_and_dtypes)
    )


def _by_name(ours, function):
    """Return a function whose parameters have another order, and the names of NumPy's.

    All arguments but the first go to ours by name.
    """
    return ours, tuple(inspect.signature(function).parameters)


def _text(function):
    """Return the function applied to a copy of the array in host memory."""

    def call(a, *args, **kwargs):
        return function(a.get(), *args, **kwargs)

    return call


# C calls these where each argument of an array type is a plain GPUArray.
_FUNCTIONS = _array_functions
_FUNCTIONS |= {
    **same(
        np,
        {
            _driver: (
                "argwhere cumprod cumsum cumulative_prod cumulative_sum digitize "
                "flatnonzero median nanargmax nanargmin nanmax nanmean nanmedian "
                "nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar nonzero "
                "percentile quantile searchsorted"
            )
        },
        prefix="_",
    ),
    **same(
        np,
        {
            GPUArray: "argmax argmin max mean min prod ptp std sum var",
            files: "save savez savez_compressed",
            bits: "packbits unpackbits",
            conversion: (
                "array_equiv ascontiguousarray asfortranarray astype can_cast "
                "common_type min_scalar_type real_if_close shares_memory"
            ),
            correlation: "convolve corrcoef correlate cov",
            counting: "bincount histogram histogram2d histogram_bin_edges histogramdd",
            curves: (
                "interp polyadd polyder polyint polymul polysub polyval trapezoid "
                "unwrap"
            ),
            diagonals: (
                "diag diag_indices_from diagflat diagonal fill_diagonal identity tri "
                "tril tril_indices_from triu triu_indices_from"
            ),
            differences: "diff ediff1d gradient",
            elements: (
                "compress extract place put_along_axis putmask select take_along_axis"
            ),
            flat_indices: "choose ravel_multi_index unravel_index",
            joining: "append block column_stack delete dstack hstack insert vstack",
            lines: "apply_along_axis apply_over_axes piecewise trim_zeros",
            operations: (
                "allclose angle fix isclose isneginf isposinf nan_to_num sinc transpose"
            ),
            padding: "pad",
            reductions: "average nancumprod nancumsum",
            sequences: (
                "broadcast_arrays fromfunction geomspace ix_ logspace meshgrid vander"
            ),
            sets: (
                "intersect1d isin setdiff1d setxor1d union1d unique unique_all "
                "unique_counts unique_inverse unique_values"
            ),
            shapes: (
                "array_split atleast_1d atleast_2d atleast_3d broadcast_to dsplit "
                "expand_dims flip fliplr flipud hsplit matrix_transpose moveaxis "
                "repeat resize roll rollaxis rot90 split squeeze swapaxes tile unstack "
                "vsplit"
            ),
            sorting: "argpartition argsort lexsort partition sort sort_complex",
        },
    ),
    **same(np.lib.stride_tricks, {shapes: "sliding_window_view"}),
    **same(
        np.fft,
        {
            fourier: (
                "fft fft2 fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft "
                "irfft2 irfftn rfft rfft2 rfftn"
            )
        },
    ),
    np.amin: GPUArray.min,
    np.amax: GPUArray.max,
    np.any: _by_name(_any, np.any),
    np.all: _by_name(_all, np.all),
    np.count_nonzero: _by_name(_count_nonzero, np.count_nonzero),
    np.concatenate: (_concatenate, ("arrays", "axis", "out", "dtype", "casting")),
    np.where: where,
    np.stack: _numpy_stack,
    np.reshape: np_reshape,
    np.ravel: np_ravel,
    np.take: take,
    np.put: lambda a, ind, v, mode="raise": elements.put(a, ind, v, mode),
    np.clip: clip,
    np.round: round,
    np.around: round,
    np.copyto: copyto,
    np.copy: lambda a: a.copy(),
    np.real: lambda val: val.real,
    np.imag: lambda val: val.imag,
    np.isreal: lambda x: x.imag == 0,
    np.iscomplex: lambda x: x.imag != 0,
    np.isrealobj: lambda x: x.dtype.kind != "c",
    np.iscomplexobj: lambda x: x.dtype.kind == "c",
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: size,
    np.result_type: result_type,
    np.array_equal: array_equal,
    np.may_share_memory: may_share_memory,
    np.i0: i0,
    np.linspace: like_device(sequences.linspace),
    np.eye: like_device(diagonals.eye),
    np.array_repr: _text(np.array_repr),
    np.array_str: _text(np.array_str),
    np.array2string: _text(np.array2string),
    **creation.FUNCTIONS,
    **linear_algebra.FUNCTIONS,
}


def array_function(array, function, types, args, kwargs):
    """Apply a function of NumPy by its counterpart for the device."""
    for kind in types:
        if not issubclass(kind, (GPUArray, np.ndarray)):
            return NotImplemented
    ours = _FUNCTIONS.get(function)
    if ours is None:
        full = f"{function.__module__}.{function.__name__}"
        raise TypeError(f"{full} has no counterpart for GPUArrays: fetch with get()")
    if kwargs:
        kwargs = {k: v for k, v in kwargs.items() if v is not np._NoValue}
    if isinstance(ours, tuple):
        ours, names = ours
        kwargs = {**dict(zip(names[1:], args[1:], strict=False)), **kwargs}
        args = args[:1]
    if isinstance(ours, MethodDescriptorType):
        args = args or (kwargs.pop("a"),)
        if not isinstance(args[0], GPUArray):
            raise TypeError(
                f"{ours.__name__} takes a GPUArray, not {type(args[0]).__name__}; copy "
                "it with to_gpu()"
            )
    return called(function, ours, args, kwargs)
