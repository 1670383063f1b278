"""``__array_function__``: NumPy's functions applied to GPUArrays.

A function or a keyword that GPUArrays do not support raises a TypeError that names it.
An operand whose type has its own ``__array_function__`` gets the call instead.
"""

from __future__ import annotations

import numpy as np

from pycuda._array import creation
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
    grids,
    joining,
    lines,
    nan_reductions,
    operations,
    padding,
    polynomials,
    rearranging,
    reductions,
    sequences,
    sets,
    shapes,
    sorting,
)
from pycuda._array.functions.elements import compress, extract, place, putmask
from pycuda._array.layout import broadcast_to
from pycuda._array.numpy_calls import as_mask, called, casting_dtype, into
from pycuda._array.numpy_protocol import (
    elementwise as numpy_elementwise,
    linalg as linear_algebra,
    reductions as numpy_reductions,
)
from pycuda._driver import (
    GPUArray,
    _argwhere as argwhere,
    _array_functions,
    _array_ops,
    _cumprod as cumprod,
    _cumsum as cumsum,
    _cumulative_prod as cumulative_prod,
    _cumulative_sum as cumulative_sum,
    _digitize,
    _elementwise,
    _flatnonzero as flatnonzero,
    _median as median,
    _nanargmax,
    _nanargmin,
    _nanmax,
    _nanmean,
    _nanmedian as nanmedian,
    _nanmin,
    _nanpercentile as nanpercentile,
    _nanprod,
    _nanquantile as nanquantile,
    _nanstd,
    _nansum,
    _nanvar,
    _nonzero as nonzero,
    _numpy_all,
    _numpy_any,
    _numpy_concatenate,
    _numpy_stack,
    _percentile as percentile,
    _quantile as quantile,
    _searchsorted,
    _take,
)


def take(a, indices, axis=None, out=None, mode="raise"):
    """Return the elements at indices, flat ones or those along an axis."""
    if axis is None:
        a = np_ravel(a)
    if out is not None and out.dtype != a.dtype:
        return into(_take(a, indices, None, None, axis, mode), out, "unsafe")
    return _take(a, indices, out, None, axis, mode)


def where(condition, x=None, y=None):
    """Return ``x`` where the condition is true, ``y`` elsewhere.

    Without ``x`` and ``y``, return the indices of the true elements.
    """
    if x is None and y is None:
        return nonzero(condition)
    return operations.where(condition, x, y)


def round(a, decimals=0, out=None):
    """Return the elements rounded to a number of decimals; halves become even."""
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
    return bool(reductions.all(equal))


def may_share_memory(a, b, max_work=None):
    """Return whether the address ranges of two arrays overlap."""
    if not (isinstance(a, GPUArray) and isinstance(b, GPUArray)):
        return False
    return may_overlap(a, b)


def result_type(*arrays_and_dtypes):
    """Return the dtype of a result by NumPy's rules for dtypes, arrays and numbers."""
    return np.result_type(
        *(a.dtype if isinstance(a, GPUArray) else a for a in arrays_and_dtypes)
    )


def _like(function):
    def call(a, dtype=None, order="K"):
        return function(a, dtype, order)

    return call


def _like_full(a, fill_value, dtype=None, order="K"):
    return creation.full_like(a, fill_value, dtype, order)


def _like_device(function):
    """Return a function that also takes NumPy's ``device``, which must be None."""

    def call(*args, device=None, **kwargs):
        if device is not None:
            raise TypeError(f"device= is for arrays in host memory, not {device!r}")
        return function(*args, **kwargs)

    return call


def _text(function):
    """Return the function applied to a copy of the array in host memory."""

    def call(a, *args, **kwargs):
        return function(a.get(), *args, **kwargs)

    return call


_FUNCTIONS = {
    np.sum: numpy_reductions.sum,
    np.prod: numpy_reductions.prod,
    np.mean: numpy_reductions.mean,
    np.var: numpy_reductions.var,
    np.std: numpy_reductions.std,
    np.min: numpy_reductions.min,
    np.max: numpy_reductions.max,
    np.amin: numpy_reductions.min,
    np.amax: numpy_reductions.max,
    np.argmin: numpy_reductions.argmin,
    np.argmax: numpy_reductions.argmax,
    np.any: numpy_reductions.any,
    np.all: numpy_reductions.all,
    np.count_nonzero: numpy_reductions.count_nonzero,
    np.cumsum: cumsum,
    np.median: median,
    np.nanmedian: nanmedian,
    np.nanpercentile: nanpercentile,
    np.nanquantile: nanquantile,
    np.percentile: percentile,
    np.quantile: quantile,
    np.cumprod: cumprod,
    np.nancumsum: nan_reductions.nancumsum,
    np.nancumprod: nan_reductions.nancumprod,
    np.ptp: numpy_reductions.ptp,
    np.where: where,
    np.concatenate: joining.np_concatenate,
    np.stack: joining.np_stack,
    np.vstack: joining.vstack,
    np.hstack: joining.hstack,
    np.dstack: joining.dstack,
    np.column_stack: joining.column_stack,
    np.block: joining.block,
    np.select: elements.select,
    np.append: joining.append,
    np.insert: joining.insert,
    np.delete: joining.delete,
    np.split: rearranging.split,
    np.array_split: rearranging.array_split,
    np.vsplit: rearranging.vsplit,
    np.hsplit: rearranging.hsplit,
    np.dsplit: rearranging.dsplit,
    np.flip: rearranging.flip,
    np.flipud: rearranging.flipud,
    np.fliplr: rearranging.fliplr,
    np.rot90: rearranging.rot90,
    np.roll: rearranging.roll,
    np.repeat: rearranging.repeat,
    np.tile: rearranging.tile,
    np.pad: padding.pad,
    np.resize: rearranging.resize,
    np.reshape: np_reshape,
    np.ravel: np_ravel,
    np.transpose: operations.transpose,
    np.squeeze: shapes.squeeze,
    np.expand_dims: shapes.expand_dims,
    np.swapaxes: shapes.swapaxes,
    np.moveaxis: shapes.moveaxis,
    np.broadcast_to: shapes.broadcast_to,
    np.atleast_1d: shapes.atleast_1d,
    np.atleast_2d: shapes.atleast_2d,
    np.diff: differences.diff,
    np.take: take,
    np.put: lambda a, ind, v, mode="raise": elements.put(a, ind, v, mode),
    np.take_along_axis: elements.take_along_axis,
    np.put_along_axis: elements.put_along_axis,
    np.nonzero: nonzero,
    np.flatnonzero: flatnonzero,
    np.argwhere: argwhere,
    np.extract: extract,
    np.compress: compress,
    np.place: place,
    np.putmask: putmask,
    np.clip: operations.clip,
    np.round: round,
    np.around: round,
    np.copyto: copyto,
    np.empty_like: _like(creation.empty_like),
    np.zeros_like: _like(creation.zeros_like),
    np.ones_like: _like(creation.ones_like),
    np.full_like: _like_full,
    np.copy: lambda a: a.copy(),
    np.real: lambda val: val.real,
    np.imag: lambda val: val.imag,
    np.angle: numpy_elementwise.angle,
    np.isreal: lambda x: x.imag == 0,
    np.iscomplex: lambda x: x.imag != 0,
    np.isrealobj: lambda x: x.dtype.kind != "c",
    np.iscomplexobj: lambda x: x.dtype.kind == "c",
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: a.size if axis is None else a.shape[axis],
    np.average: reductions.average,
    np.nanmean: _nanmean,
    np.nanvar: _nanvar,
    np.nanstd: _nanstd,
    np.nansum: _nansum,
    np.nanprod: _nanprod,
    np.nanmin: _nanmin,
    np.nanmax: _nanmax,
    np.nanargmin: _nanargmin,
    np.nanargmax: _nanargmax,
    np.searchsorted: _searchsorted,
    np.digitize: _digitize,
    np.bincount: counting.bincount,
    np.histogram: counting.histogram,
    np.histogram_bin_edges: counting.histogram_bin_edges,
    np.result_type: result_type,
    np.isclose: numpy_elementwise.isclose,
    np.allclose: numpy_elementwise.allclose,
    np.nan_to_num: numpy_elementwise.nan_to_num,
    np.sinc: numpy_elementwise.sinc,
    np.fix: numpy_elementwise.fix,
    np.isposinf: numpy_elementwise.isposinf,
    np.isneginf: numpy_elementwise.isneginf,
    np.ediff1d: differences.ediff1d,
    np.gradient: differences.gradient,
    np.array_equal: array_equal,
    np.may_share_memory: may_share_memory,
    np.linspace: _like_device(sequences.linspace),
    np.logspace: sequences.logspace,
    np.geomspace: sequences.geomspace,
    np.eye: _like_device(diagonals.eye),
    np.identity: diagonals.identity,
    np.tri: diagonals.tri,
    np.tril: diagonals.tril,
    np.triu: diagonals.triu,
    np.tril_indices_from: diagonals.tril_indices_from,
    np.triu_indices_from: diagonals.triu_indices_from,
    np.diag: diagonals.diag,
    np.diagflat: diagonals.diagflat,
    np.diagonal: diagonals.diagonal,
    np.meshgrid: grids.meshgrid,
    np.broadcast_arrays: grids.broadcast_arrays,
    np.vander: grids.vander,
    np.fromfunction: grids.fromfunction,
    np.atleast_3d: shapes.atleast_3d,
    np.asarray: _like_device(conversion.asarray),
    np.ascontiguousarray: conversion.ascontiguousarray,
    np.asfortranarray: conversion.asfortranarray,
    np.fft.fft: fourier.fft,
    np.fft.fft2: fourier.fft2,
    np.fft.fftn: fourier.fftn,
    np.fft.fftshift: fourier.fftshift,
    np.fft.hfft: fourier.hfft,
    np.fft.ifft: fourier.ifft,
    np.fft.ifft2: fourier.ifft2,
    np.fft.ifftn: fourier.ifftn,
    np.fft.ifftshift: fourier.ifftshift,
    np.fft.ihfft: fourier.ihfft,
    np.fft.irfft: fourier.irfft,
    np.fft.irfft2: fourier.irfft2,
    np.fft.irfftn: fourier.irfftn,
    np.fft.rfft: fourier.rfft,
    np.fft.rfft2: fourier.rfft2,
    np.fft.rfftn: fourier.rfftn,
    np.array_repr: _text(np.array_repr),
    np.array_str: _text(np.array_str),
    np.array2string: _text(np.array2string),
    **linear_algebra.FUNCTIONS,
}

for _name in ("unstack", "matrix_transpose"):  # since NumPy 2.1 and 2.0
    if hasattr(np, _name):
        _FUNCTIONS[getattr(np, _name)] = getattr(shapes, _name)


#: Functions that NumPy has since version 2.1.
_FUNCTIONS |= {
    getattr(np, function.__name__): function
    for function in (cumulative_sum, cumulative_prod)
    if hasattr(np, function.__name__)
}

# C calls these in place of the functions above: they run no Python.
_array_functions.update(
    {
        getattr(np, name): getattr(GPUArray, name)
        for name in ("sum", "prod", "mean", "var", "std", "argmin", "argmax")
    }
)
_array_functions.update(
    {
        np.min: GPUArray.min,
        np.max: GPUArray.max,
        np.amin: GPUArray.min,
        np.amax: GPUArray.max,
        np.any: _numpy_any,
        np.all: _numpy_all,
        np.ptp: GPUArray.ptp,
        np.nanmean: _nanmean,
        np.nanvar: _nanvar,
        np.nanstd: _nanstd,
        np.nansum: _nansum,
        np.nanprod: _nanprod,
        np.nanmin: _nanmin,
        np.nanmax: _nanmax,
        np.nanargmin: _nanargmin,
        np.nanargmax: _nanargmax,
        np.searchsorted: _searchsorted,
        np.digitize: _digitize,
        np.concatenate: _numpy_concatenate,
        np.stack: _numpy_stack,
    }
)
# Sorts: the functions have NumPy's parameters.
_FUNCTIONS.update(
    {
        getattr(np, function.__name__): function
        for function in (
            sorting.sort,
            sorting.argsort,
            sorting.lexsort,
            sorting.partition,
            sorting.argpartition,
            sorting.sort_complex,
            sets.unique,
            sets.isin,
            sets.union1d,
            sets.intersect1d,
            sets.setdiff1d,
            sets.setxor1d,
        )
    }
)
# Functions with NumPy's names and parameters.
_FUNCTIONS.update(
    {
        getattr(np, function.__name__): function
        for function in (
            bits.packbits,
            bits.unpackbits,
            correlation.convolve,
            correlation.correlate,
            correlation.cov,
            correlation.corrcoef,
            curves.interp,
            curves.trapezoid,
            curves.unwrap,
            diagonals.diag_indices_from,
            diagonals.fill_diagonal,
            flat_indices.choose,
            flat_indices.ravel_multi_index,
            flat_indices.unravel_index,
            grids.ix_,
            counting.histogram2d,
            counting.histogramdd,
            lines.apply_along_axis,
            lines.apply_over_axes,
            lines.piecewise,
            lines.trim_zeros,
            polynomials.polyadd,
            polynomials.polyder,
            polynomials.polyint,
            polynomials.polymul,
            polynomials.polysub,
            polynomials.polyval,
            conversion.array_equiv,
            conversion.astype,
            conversion.can_cast,
            conversion.common_type,
            conversion.min_scalar_type,
            conversion.real_if_close,
            conversion.shares_memory,
            shapes.rollaxis,
        )
        if hasattr(np, function.__name__)
    }
)
# NumPy 2 has these.
_FUNCTIONS.update(
    {
        getattr(np, function.__name__): function
        for function in (
            sets.unique_all,
            sets.unique_counts,
            sets.unique_inverse,
            sets.unique_values,
        )
        if hasattr(np, function.__name__)
    }
)

# C calls all of them where each argument of an array type is a plain GPUArray.
for _function, _ours in _FUNCTIONS.items():
    _array_functions.setdefault(_function, _ours)


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
    return called(function, ours, args, kwargs)
