"""NumPy's functions for GPUArrays: what ``__array_ufunc__``, ``__array_function__`` and
the methods of NumPy's names do.

A function that has no counterpart here, or a keyword that it does not take, is a
TypeError that names it. Where an operand is of a type with an ``__array_ufunc__`` or
``__array_function__`` of its own, that type is asked instead.
"""

import inspect

import numpy as np

from pycuda import gpuarray
from pycuda._driver import GPUArray, _apply, _array_ops, _plain_array
from pycuda.gpuarray import _c_copy, _normal_axis, _np_ravel, _np_reshape

# -- ufuncs ----------------------------------------------------------------------------

_REDUCTIONS = {
    "add": gpuarray.sum,
    "multiply": gpuarray.prod,
    "minimum": gpuarray.min,
    "maximum": gpuarray.max,
    "logical_and": gpuarray.all,
    "logical_or": gpuarray.any,
}
_ACCUMULATIONS = {"add": gpuarray.cumsum, "multiply": gpuarray.cumprod}

#: Keywords of ufuncs with the one value that means what is done here.
_DEFAULTS = {"casting": "same_kind", "order": "K", "subok": True}


def _is_known(value):
    """Is this a type that is told of here, rather than one with rules of its own?"""
    if isinstance(value, (GPUArray, np.ndarray, np.generic)):
        return True
    return getattr(type(value), "__array_ufunc__", None) is None


def array_ufunc(array, ufunc, method, *inputs, **kwargs):
    """Do what a ufunc or one of its methods does."""
    outs = kwargs.pop("out", ())
    outs = outs if isinstance(outs, tuple) else (outs,)
    if not all(_is_known(value) for value in (*inputs, *outs)):
        return NotImplemented
    name = ufunc.__name__
    full = f"numpy.{name}" if method == "__call__" else f"numpy.{name}.{method}"
    function = _UFUNC_METHODS.get(method)
    if function is None or (method == "__call__" and name not in _array_ops):
        raise TypeError(f"{full} has no counterpart for GPUArrays: fetch with get()")
    for keyword, value in _DEFAULTS.items():
        if kwargs.pop(keyword, value) != value:
            raise TypeError(f"{full} of GPUArrays takes no {keyword}=, but {value!r}")
    out = outs[0] if len(outs) == 1 else outs or None
    if out is not None:
        kwargs["out"] = out
    return _called(full, function, (name, *inputs), kwargs)


def _call(name, *inputs, out=None, dtype=None, where=True):
    number = _array_ops[name]
    for value in inputs:
        if isinstance(value, np.ndarray) and value.ndim:
            raise TypeError(
                f"{name} takes GPUArrays and numbers, not ndarray; copy it with "
                "to_gpu()"
            )
    if where is True:
        return _apply(number, inputs, out, dtype)
    mask = gpuarray._as_mask(where)
    results = _apply(number, inputs, None, dtype)
    single = not isinstance(results, tuple)
    results = (results,) if single else results
    outs = out if isinstance(out, tuple) else (out,) * len(results)
    chosen = tuple(
        _choose(name, mask, result, target)
        for result, target in zip(results, outs, strict=True)
    )
    return chosen[0] if single else chosen


def _choose(name, mask, result, out):
    """Put the elements of a result that a mask chooses into ``out``."""
    shape = np.broadcast_shapes(mask.shape, result.shape)
    if out is None:
        out = GPUArray(shape, result.dtype, result.allocator)
    elif out.shape != shape:
        raise ValueError(f"{name}: the result has shape {shape}, out has {out.shape}")
    if not np.can_cast(result.dtype, out.dtype, "same_kind"):
        raise TypeError(
            f"{name}: the result of dtype {result.dtype} cannot be put into an array "
            f"of dtype {out.dtype}; convert with astype()"
        )
    if result.dtype != out.dtype:
        result = result.astype(out.dtype)
    return _apply(_array_ops["where"], (mask, result, out), out)


def _ufunc_reduce(name, a, axis=0, dtype=None, out=None, keepdims=False, **kwargs):
    function = _REDUCTIONS.get(name)
    if function is None:
        raise TypeError(
            f"numpy.{name}.reduce has no counterpart for GPUArrays: fetch with get()"
        )
    if a.ndim == 0 and axis in (0, -1):
        axis = None
    if dtype is not None:
        if function not in (gpuarray.sum, gpuarray.prod):
            a = a.astype(dtype)
        else:
            kwargs["dtype"] = dtype
    return function(a, axis=axis, out=out, keepdims=keepdims, **kwargs)


def _ufunc_accumulate(name, a, axis=0, dtype=None, out=None):
    function = _ACCUMULATIONS.get(name)
    if function is None:
        raise TypeError(
            f"numpy.{name}.accumulate has no counterpart for GPUArrays: fetch with "
            "get()"
        )
    return _into(function(a, axis, dtype), out)


def _ufunc_outer(name, a, b, out=None, dtype=None, where=True):
    if name not in _array_ops:
        raise TypeError(
            f"numpy.{name}.outer has no counterpart for GPUArrays: fetch with get()"
        )
    if isinstance(a, GPUArray) and np.ndim(b):
        a = a[(..., *(None,) * np.ndim(b))]
    return _call(name, a, b, out=out, dtype=dtype, where=where)


_UFUNC_METHODS = {
    "__call__": _call,
    "reduce": _ufunc_reduce,
    "accumulate": _ufunc_accumulate,
    "outer": _ufunc_outer,
}


def _called(full, function, args, kwargs):
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


def _into(result, out):
    if out is None:
        return result
    if out.shape != result.shape:
        raise ValueError(f"the result has shape {result.shape}, out has {out.shape}")
    out[...] = result
    return out


# -- reductions ------------------------------------------------------------------------


def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Return the sum along all axes or some; integers are summed as 64 bits."""
    return gpuarray.sum(
        a, dtype, axis=axis, keepdims=keepdims, out=out, initial=initial, where=where
    )


def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Return the product along all axes or some."""
    return gpuarray.prod(
        a, dtype, axis=axis, keepdims=keepdims, out=out, initial=initial, where=where
    )


def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """Return the mean along all axes or some."""
    return gpuarray.mean(a, dtype, axis=axis, keepdims=keepdims, out=out, where=where)


def _spread(function):
    def call(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True):
        a = a if dtype is None else a.astype(dtype)
        return function(a, axis, ddof, keepdims, out=out, where=where)

    return call


var, std = _spread(gpuarray.var), _spread(gpuarray.std)


def _bound(function):
    def call(a, axis=None, out=None, keepdims=False, initial=None, where=True):
        return function(
            a, axis=axis, keepdims=keepdims, out=out, initial=initial, where=where
        )

    return call


min, max = _bound(gpuarray.min), _bound(gpuarray.max)


def _place(function):
    def call(a, axis=None, out=None, *, keepdims=False):
        return function(a, axis=axis, keepdims=keepdims, out=out)

    return call


argmin, argmax = _place(gpuarray.argmin), _place(gpuarray.argmax)


def _test(function):
    def call(a, axis=None, out=None, keepdims=False, *, where=True):
        return function(a, axis=axis, keepdims=keepdims, out=out, where=where)

    return call


def count_nonzero(a, axis=None, *, keepdims=False):
    """Return how many elements are not 0."""
    return gpuarray.count_nonzero(a, axis=axis, keepdims=keepdims)


def cumsum(a, axis=None, dtype=None, out=None):
    """Return the sums of the elements up to each one, flat or along an axis."""
    return _into(gpuarray.cumsum(a, axis, dtype), out)


def cumprod(a, axis=None, dtype=None, out=None):
    """Return the products of the elements up to each one, flat or along an axis."""
    return _into(gpuarray.cumprod(a, axis, dtype), out)


def ptp(a, axis=None, out=None, keepdims=False):
    """Return the distance from the least to the greatest element."""
    return _into(max(a, axis, None, keepdims) - min(a, axis, None, keepdims), out)


def _matrix_like(name, a, b):
    """Return the product of arrays with one axis; more is not done here."""
    if not (isinstance(a, GPUArray) and isinstance(b, GPUArray)):
        return a * b
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if a.ndim != 1 or b.ndim != 1:
        raise TypeError(
            f"numpy.{name} of GPUArrays takes arrays with one axis, not shapes "
            f"{a.shape} and {b.shape}"
        )
    return gpuarray.dot(a, b)


def dot(a, b, out=None):
    """Return the sum of products of two arrays with one axis."""
    return _into(_matrix_like("dot", a, b), out)


# -- shapes ----------------------------------------------------------------------------


def squeeze(a, axis=None):
    """Return the array without its axes of length 1, or without those named."""
    if axis is None:
        return a[tuple(0 if length == 1 else slice(None) for length in a.shape)]
    axes = {_normal_axis(k, a.ndim) for k in _as_tuple(axis)}
    for k in axes:
        if a.shape[k] != 1:
            raise ValueError(f"axis {k} has length {a.shape[k]}, not 1")
    return a[tuple(0 if k in axes else slice(None) for k in range(a.ndim))]


def _as_tuple(axis):
    return axis if isinstance(axis, tuple) else (axis,)


def expand_dims(a, axis):
    """Return the array with new axes of length 1 at places of the result."""
    ndim = a.ndim + len(_as_tuple(axis))
    axes = {_normal_axis(k, ndim) for k in _as_tuple(axis)}
    if len(axes) != ndim - a.ndim:
        raise ValueError(f"axis {axis} names an axis twice")
    return a[tuple(None if k in axes else slice(None) for k in range(ndim))]


def swapaxes(a, axis1, axis2):
    """Return the array with two axes exchanged; a view."""
    axes = list(range(a.ndim))
    one, two = _normal_axis(axis1, a.ndim), _normal_axis(axis2, a.ndim)
    axes[one], axes[two] = axes[two], axes[one]
    return a.transpose(axes)


def moveaxis(a, source, destination):
    """Return the array with axes at other places; a view."""
    source = [_normal_axis(k, a.ndim) for k in np.atleast_1d(source).tolist()]
    target = [_normal_axis(k, a.ndim) for k in np.atleast_1d(destination).tolist()]
    if len(source) != len(target) or len({*source}) != len(source):
        raise ValueError(f"axes {source} cannot move to {target}")
    order = [k for k in range(a.ndim) if k not in source]
    for place, axis in sorted(zip(target, source, strict=True)):
        order.insert(place, axis)
    return a.transpose(order)


def flip(m, axis=None):
    """Return the array reversed along all axes or some; a view."""
    axes = range(m.ndim) if axis is None else _as_tuple(axis)
    axes = {_normal_axis(k, m.ndim) for k in axes}
    backward = slice(None, None, -1)
    return m[tuple(backward if k in axes else slice(None) for k in range(m.ndim))]


def broadcast_to(array, shape, subok=False):
    """Return a view of another shape, its elements repeated."""
    return gpuarray._broadcast_to(array, tuple(np.atleast_1d(shape).tolist()))


def roll(a, shift, axis=None):
    """Return the elements moved along an axis; those that leave come in again."""
    if axis is None:
        return _np_reshape(roll(_np_ravel(a), shift, 0), a.shape)
    result = a
    shifts = np.broadcast_to(shift, len(_as_tuple(axis))).tolist()
    for distance, k in zip(shifts, _as_tuple(axis), strict=True):
        k = _normal_axis(k, a.ndim)
        if a.shape[k] == 0:
            continue
        cut = -distance % a.shape[k]
        parts = [slice(cut, None), slice(None, cut)]
        front = (slice(None),) * k
        result = gpuarray.concatenate([result[(*front, part)] for part in parts], k)
    return result


def _at_least(ndim):
    def call(*arrays):
        results = [a[(None,) * (ndim - a.ndim)] if a.ndim < ndim else a for a in arrays]
        return results[0] if len(results) == 1 else results

    return call


atleast_1d, atleast_2d = _at_least(1), _at_least(2)


def vstack(tup):
    """Return the arrays below each other."""
    return gpuarray.concatenate([atleast_2d(a) for a in tup], 0)


def hstack(tup):
    """Return the arrays beside each other."""
    arrays = [atleast_1d(a) for a in tup]
    return gpuarray.concatenate(arrays, 0 if arrays[0].ndim == 1 else 1)


def array_split(ary, indices_or_sections, axis=0):
    """Return views of parts of an array along an axis."""
    axis = _normal_axis(axis, ary.ndim)
    length, front = ary.shape[axis], (slice(None),) * axis
    if isinstance(indices_or_sections, int):
        each, more = divmod(length, indices_or_sections)
        sizes = [each + (k < more) for k in range(indices_or_sections)]
        cuts = [0, *np.cumsum(sizes).tolist()]
    else:
        cuts = [0, *indices_or_sections, length]
    return [
        ary[(*front, slice(begin, end))]
        for begin, end in zip(cuts[:-1], cuts[1:], strict=True)
    ]


def split(ary, indices_or_sections, axis=0):
    """Return views of equal parts of an array along an axis."""
    length = ary.shape[_normal_axis(axis, ary.ndim)]
    if isinstance(indices_or_sections, int) and length % indices_or_sections:
        raise ValueError(f"{length} elements have no {indices_or_sections} equal parts")
    return array_split(ary, indices_or_sections, axis)


def diff(a, n=1, axis=-1):
    """Return the differences of neighbours along an axis, ``n`` times."""
    axis = _normal_axis(axis, a.ndim)
    front = (slice(None),) * axis
    for _ in range(n):
        after, before = a[(*front, slice(1, None))], a[(*front, slice(None, -1))]
        a = after != before if a.dtype == bool else after - before
    return a


# -- elements --------------------------------------------------------------------------


def take(a, indices, axis=None, out=None):
    """Return the elements at indices, of the array taken flat or along an axis."""
    if axis is None:
        return gpuarray.take(_np_ravel(a), indices, out)
    result = a[(slice(None),) * _normal_axis(axis, a.ndim) + (indices,)]
    return _into(result, out)


def nonzero(a):
    """Return the indices of the elements that are not 0, an array for each axis."""
    from pycuda import _indexing

    if a.ndim == 0:
        raise ValueError("nonzero of an array without axes: use atleast_1d()")
    return tuple(_indexing.nonzero(a if a.dtype == bool else a != 0))


def flatnonzero(a):
    """Return the flat indices of the elements that are not 0."""
    return nonzero(_np_ravel(a))[0]


def where(condition, x=None, y=None):
    """Return ``x`` where the condition is true, ``y`` elsewhere; without them the
    indices of the true elements.
    """
    if x is None and y is None:
        return nonzero(condition)
    return gpuarray.where(condition, x, y)


def clip(a, min=None, max=None, out=None):
    """Return the elements, those outside of the bounds set to the bounds."""
    if min is None and max is None:
        return _into(a.copy(), out)
    result = a
    if min is not None:  # out may be where max is
        first_out = out if max is None else None
        result = _apply(_array_ops["maximum"], (result, min), first_out)
    if max is not None:
        result = _apply(_array_ops["minimum"], (result, max), out)
    return result


def round(a, decimals=0, out=None):
    """Return the elements rounded to a number of decimals, halves to even."""
    if a.dtype.kind in "biu" and decimals >= 0:
        return _into(a.copy(), out)
    if a.dtype.kind == "c":
        result = round(a.real, decimals) + 1j * round(a.imag, decimals)
    elif a.dtype.kind in "biu":
        unit = 10**-decimals
        result = (np.rint(a / unit) * unit).astype(a.dtype)
    elif decimals == 0:
        result = np.rint(a)
    else:
        unit = 10.0 ** abs(decimals)
        scaled = a * unit if decimals > 0 else a / unit
        whole = np.rint(scaled)
        result = whole / unit if decimals > 0 else whole * unit
    return _into(result, out)


def copyto(dst, src, casting="same_kind", where=True):
    """Copy values into an array, where a mask is true."""
    dtype = getattr(src, "dtype", None)
    if dtype is not None and not np.can_cast(dtype, dst.dtype, casting):
        raise TypeError(f"dtype {dtype} does not become {dst.dtype} by {casting!r}")
    if where is True:
        dst[...] = src
        return
    mask = gpuarray._broadcast_to(gpuarray._as_mask(where), dst.shape)
    values = GPUArray(dst.shape, dst.dtype, dst.allocator)
    values[...] = src
    _apply(_array_ops["where"], (mask, values, dst), dst)


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Return whether elements differ by no more than ``atol + rtol * abs(b)``."""
    if result_type(b).kind in "biu":  # differences would wrap around
        b = b.astype(np.float64) if isinstance(b, GPUArray) else np.float64(b)
    near = abs(a - b) <= atol + rtol * abs(b)
    near = (near & np.isfinite(b)) if isinstance(b, GPUArray) else near
    if not isinstance(b, GPUArray) and not np.isfinite(b):
        near = near & False
    near = near | (a == b)
    return near | (np.isnan(a) & np.isnan(b)) if equal_nan else near


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Return whether all elements are close, as a bool of Python."""
    return bool(gpuarray.all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a1, a2):
    """Return whether shapes and elements are equal, as a bool of Python."""
    if not (isinstance(a1, GPUArray) and isinstance(a2, GPUArray)):
        raise TypeError("array_equal takes two GPUArrays; copy with to_gpu()")
    return a1.shape == a2.shape and bool(gpuarray.all(a1 == a2))


def may_share_memory(a, b, max_work=None):
    """Return whether the bytes from the first to the last of two arrays overlap."""
    from pycuda import _indexing

    if not (isinstance(a, GPUArray) and isinstance(b, GPUArray)):
        return False
    return _indexing._may_overlap(a, b)


def result_type(*arrays_and_dtypes):
    """Return the dtype that NumPy's rules give for dtypes, arrays and numbers."""
    return np.result_type(
        *(a.dtype if isinstance(a, GPUArray) else a for a in arrays_and_dtypes)
    )


# -- methods ---------------------------------------------------------------------------


def flatten(a, order="C"):
    """Return a copy with one axis, in the order of the indices."""
    result = _np_ravel(a, order)
    return result.copy() if may_share_memory(result, a) else result


def item(a, *args):
    """Return an element as a number of Python: the only one, or the one at indices."""
    if not args:
        if _plain_array(a).size != 1:
            raise ValueError(
                f"an array of shape {a.shape} has not one element: name the one"
            )
        return a.get().item()
    index = args[0] if len(args) == 1 else args
    if not isinstance(index, tuple) and a.ndim != 1:
        size = _plain_array(a).size
        if not -size <= index < size:
            raise IndexError(f"index {index} is out of bounds for {size} elements")
        index = np.unravel_index(index + size if index < 0 else index, a.shape)
    element = a[index]
    if element.ndim:
        raise ValueError(f"{args} names no element of an array of shape {a.shape}")
    return element.get().item()


def tolist(a):
    """Return the elements as numbers of Python, in lists of lists."""
    return a.get().tolist()


# -- the table -------------------------------------------------------------------------


def _like(function):
    def call(a, dtype=None, order="K"):
        return function(a, dtype, order)

    return call


def _like_full(a, fill_value, dtype=None, order="K"):
    return gpuarray.full_like(a, fill_value, dtype, order)


def _text(function):
    def call(a, *args, **kwargs):
        return function(a.get(), *args, **kwargs)

    return call


_FUNCTIONS = {
    np.sum: sum,
    np.prod: prod,
    np.mean: mean,
    np.var: var,
    np.std: std,
    np.min: min,
    np.max: max,
    np.amin: min,
    np.amax: max,
    np.argmin: argmin,
    np.argmax: argmax,
    np.any: _test(gpuarray.any),
    np.all: _test(gpuarray.all),
    np.count_nonzero: count_nonzero,
    np.cumsum: cumsum,
    np.cumprod: cumprod,
    np.ptp: ptp,
    np.dot: dot,
    np.inner: lambda a, b: _matrix_like("inner", a, b),
    np.vdot: lambda a, b: gpuarray.dot(a.conj(), b),
    np.outer: lambda a, b: _np_ravel(a)[:, None] * _np_ravel(b)[None],
    np.where: where,
    np.concatenate: lambda arrays, axis=0: (
        gpuarray.concatenate([_np_ravel(a) for a in arrays])
        if axis is None
        else gpuarray.concatenate(arrays, axis)
    ),
    np.stack: lambda arrays, axis=0: _c_copy(gpuarray.stack(arrays, axis)),
    np.vstack: vstack,
    np.hstack: hstack,
    np.split: split,
    np.array_split: array_split,
    np.reshape: _np_reshape,
    np.ravel: _np_ravel,
    np.transpose: gpuarray.transpose,
    np.squeeze: squeeze,
    np.expand_dims: expand_dims,
    np.swapaxes: swapaxes,
    np.moveaxis: moveaxis,
    np.flip: flip,
    np.flipud: lambda m: flip(m, 0),
    np.fliplr: lambda m: flip(m, 1),
    np.roll: roll,
    np.broadcast_to: broadcast_to,
    np.atleast_1d: atleast_1d,
    np.atleast_2d: atleast_2d,
    np.diff: diff,
    np.take: take,
    np.nonzero: nonzero,
    np.flatnonzero: flatnonzero,
    np.clip: clip,
    np.round: round,
    np.around: round,
    np.copyto: copyto,
    np.empty_like: _like(gpuarray.empty_like),
    np.zeros_like: _like(gpuarray.zeros_like),
    np.ones_like: _like(gpuarray.ones_like),
    np.full_like: _like_full,
    np.copy: lambda a: a.copy(),
    np.real: lambda val: val.real,
    np.imag: lambda val: val.imag,
    np.angle: lambda z: _apply(_array_ops["angle"], (z,)),
    np.isreal: lambda x: x.imag == 0,
    np.iscomplex: lambda x: x.imag != 0,
    np.isrealobj: lambda x: x.dtype.kind != "c",
    np.iscomplexobj: lambda x: x.dtype.kind == "c",
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: a.size if axis is None else a.shape[axis],
    np.result_type: result_type,
    np.isclose: isclose,
    np.allclose: allclose,
    np.array_equal: array_equal,
    np.may_share_memory: may_share_memory,
    np.array_repr: _text(np.array_repr),
    np.array_str: _text(np.array_str),
    np.array2string: _text(np.array2string),
}


def array_function(array, function, types, args, kwargs):
    """Do what NumPy's function does, if there is one for the device."""
    if not all(issubclass(kind, (GPUArray, np.ndarray)) for kind in types):
        return NotImplemented
    full = f"{function.__module__}.{function.__name__}"
    ours = _FUNCTIONS.get(function)
    if ours is None:
        raise TypeError(f"{full} has no counterpart for GPUArrays: fetch with get()")
    kwargs = {k: v for k, v in kwargs.items() if v is not np._NoValue}
    return _called(full, ours, args, kwargs)
