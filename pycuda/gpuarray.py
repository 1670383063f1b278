"""Arrays in device memory that compute like NumPy's: ``GPUArray`` and its functions.

The type, its operators, views and reductions are C (``pycuda._driver``); here are the
functions around it, under the names that programs know.
"""

from __future__ import annotations

import contextlib
import warnings
from builtins import max as _builtin_max
from builtins import min as _builtin_min
from types import ModuleType

import numpy as np
from numpy.lib.stride_tricks import as_strided as _as_strided  # noqa: F401

import pycuda.driver as drv
from pycuda import _codegen, _driver  # noqa: F401  the first operation need not load it
from pycuda._driver import (
    ArrayFlags,
    GPUArray,
    _plain_array,
    to_gpu,
    to_gpu_async,  # noqa: F401  known under this module's name
)
from pycuda.characterize import has_double_support  # noqa: F401
from pycuda.compyte.array import c_contiguous_strides as _c_contiguous_strides
from pycuda.compyte.array import f_contiguous_strides as _f_contiguous_strides  # noqa: F401
from pycuda.compyte.array import get_common_dtype as _get_common_dtype_base
from pycuda.compyte.dtypes import get_or_register_dtype as _get_or_register_dtype
from pycuda.tools import context_dependent_memoize as _context_dependent_memoize

_ArrayFlags = ArrayFlags
_ops = _driver._array_ops
_reductions = _driver._array_reductions
_apply = _driver._apply
_reduce = _driver._reduce

empty = GPUArray


def __getattr__(name: str) -> ModuleType:
    if name == "elementwise":
        import pycuda.elementwise

        return pycuda.elementwise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# Vector types


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
            dtype = _get_or_register_dtype(name, dtype)
            setattr(vec, name, dtype)
            setattr(vec, f"make_{name}", maker(dtype, name))


_fill_vec()


# Making arrays


def zeros(shape, dtype=np.float64, allocator=None, order="C"):
    """Return a new array of zeros."""
    return GPUArray(shape, dtype, allocator, order=order).fill(_zero_of(dtype))


def ones(shape, dtype=np.float64, allocator=None, order="C"):
    """Return a new array of ones."""
    return GPUArray(shape, dtype, allocator, order=order).fill(1)


def full(shape, fill_value, dtype=None, allocator=None, order="C"):
    """Return a new array of one value, by default of the value's dtype."""
    if dtype is None:
        dtype = np.asarray(fill_value).dtype
    return GPUArray(shape, dtype, allocator, order=order).fill(fill_value)


def _zero_of(dtype):
    dtype = np.dtype(dtype)
    return 0 if dtype.kind in "biufc" else np.zeros((), dtype)


def _array_like_helper(other_ary, dtype, order):
    """Return (dtype, order, strides) of an array like another one."""
    dtype = np.dtype(other_ary.dtype if dtype is None else dtype)
    strides = None
    flags = ArrayFlags(other_ary)
    if order == "A":
        order = "F" if flags.f_contiguous and not flags.c_contiguous else "C"
    elif order == "K":
        order = "C"
        if not flags.c_contiguous:
            strides = _packed_like(other_ary, dtype.itemsize)
    return dtype, order, strides


def _packed_like(ary, itemsize):
    """Return strides without gaps for the axes in their order in memory."""
    axes = sorted(range(ary.ndim), key=lambda axis: abs(ary.strides[axis]))
    if ary.ndim > 1 and len({abs(stride) for stride in ary.strides}) < ary.ndim:
        return None
    strides = [0] * ary.ndim
    for axis in axes:
        strides[axis] = itemsize
        itemsize *= _builtin_max(ary.shape[axis], 1)
    return tuple(strides)


def empty_like(other_ary, dtype=None, order="K"):
    """Return a new array of another's shape; its elements are not set.

    ``order`` is "C", "F", "A" or "K", which keeps the order of the axes.
    """
    dtype, order, strides = _array_like_helper(other_ary, dtype, order)
    allocator = getattr(other_ary, "allocator", None)
    result = GPUArray(other_ary.shape, dtype, allocator, strides=strides, order=order)
    if isinstance(other_ary, GPUArray):
        _remember(result, [other_ary])
    return result


def zeros_like(other_ary, dtype=None, order="K"):
    """Return a new array of zeros of another's shape."""
    result = empty_like(other_ary, dtype, order)
    return result.fill(_zero_of(result.dtype))


def ones_like(other_ary, dtype=None, order="K"):
    """Return a new array of ones of another's shape."""
    return empty_like(other_ary, dtype, order).fill(1)


def full_like(other_ary, fill_value, dtype=None, order="K"):
    """Return a new array of one value of another's shape."""
    return empty_like(other_ary, dtype, order).fill(fill_value)


def arange(*args, **kwargs):
    """Return ``start``, ``start + step``, ... below ``stop``: ``arange(stop)``,
    ``arange(start, stop)``, ``arange(start, stop, step)``; a numpy.dtype may follow.

    ``start``, ``stop``, ``step`` and ``dtype`` can be given by keyword instead, as can
    ``allocator`` and ``stream``. Without a dtype it is what NumPy makes of the numbers,
    with a warning unless that is float32.

    ValueError for a name that is given twice, other keywords, and a missing ``stop``.
    """
    args = list(args)
    names = {"start": 0, "step": 1, "dtype": None, "allocator": None, "stream": None}
    given = {}
    if args and isinstance(args[-1], np.dtype):
        given["dtype"] = args.pop()
    if len(args) > 3:
        raise TypeError(f"arange() takes up to 3 numbers, not {len(args)}")
    places = ("stop",) if len(args) == 1 else ("start", "stop", "step")
    given.update(zip(places, args, strict=False))
    for name, value in kwargs.items():
        if name in given:
            raise ValueError(f"arange(): {name} is given by position and by keyword")
        if name != "stop" and name not in names:
            raise ValueError(
                f"arange() takes the keywords start, stop, {', '.join([*names][1:])}, "
                f"not {name}"
            )
        given[name] = value
    if given.get("stop") is None:
        raise ValueError("arange() needs a stop")
    given = {name: value for name, value in given.items() if value is not None}
    settings = names | given
    start, step, dtype, allocator, stream = (settings[name] for name in names)
    stop = given["stop"]
    if dtype is None:
        dtype = np.array([start, stop, step]).dtype
        if dtype != np.float32:
            warnings.warn(
                f"arange() guessed dtype {dtype}; give dtype= to say what is meant",
                stacklevel=2,
            )
    dtype = np.dtype(dtype)
    size = _builtin_max(int(np.ceil((stop - start) / step)), 0)
    result = GPUArray((size,), dtype, allocator)
    if dtype.kind == "u" and step < 0:  # the same, modulo the range of the dtype
        step = int(step) % (np.iinfo(dtype).max + 1)
    numbers = (dtype.type(start), dtype.type(step))
    return _apply(_ops["arange"], numbers, result, dtype, stream)


def from_dlpack(x, /, *, device=None, copy=None, stream=None):
    """Return the array of another library that has ``__dlpack__``, without copying it.

    The other library is asked to make it safe for work on the stream, by default the
    current one. ``copy=True`` makes a copy, which memory of the host, another device
    and memory that must not be written need: BufferError for these without it.
    ``device`` is None or the current context's, a pycuda.driver.Device.
    """
    here = drv.Context.get_device()
    if device is not None and device != here:
        raise ValueError(f"device {device} is not that of the current context")
    if type(x).__name__ != "PyCapsule" and tuple(x.__dlpack_device__())[0] == 1:
        if not copy:
            raise BufferError("the array is in memory of the host: say copy=True")
        return to_gpu(np.from_dlpack(x))
    borrowed = drv.from_dlpack(x, stream)
    kind, number = borrowed.device
    if kind == 2 and number != hash(here):
        raise BufferError(
            f"the array is on device {number}, the current context on {hash(here)}"
        )
    if borrowed.readonly and not copy:
        raise BufferError("the array must not be written: say copy=True")
    memory = {"gpudata": borrowed, "base": borrowed} if 0 not in borrowed.shape else {}
    array = GPUArray(borrowed.shape, borrowed.dtype, strides=borrowed.strides, **memory)
    return array.copy() if copy else array


def _unpickle(cls, host, state=None):
    array = to_gpu(host)
    if cls is not GPUArray:
        plain = array
        array = cls(plain.shape, plain.dtype, strides=plain.strides)
        array.set(plain)
    return array


# Copies between arrays of any layout


def _compact_strides(a):
    """Return the strides of ``a`` without gaps, its axes in the order of memory."""
    return list(
        _packed_like(a, a.dtype.itemsize)
        or _c_contiguous_strides(a.dtype.itemsize, a.shape)
    )


def _memcpy_discontig(dst, src, async_=False, stream=None):
    """Copy one array to another of its shape and dtype; one may be of the host."""
    if not isinstance(src, GPUArray) and not isinstance(dst, GPUArray):
        dst[...] = src
        return
    if src.shape != dst.shape:
        raise ValueError(f"shapes {src.shape} and {dst.shape} differ")
    if src.dtype != dst.dtype:
        raise TypeError(f"dtypes {src.dtype} and {dst.dtype} differ")
    if isinstance(dst, GPUArray):
        dst.set(src, async_=async_, stream=stream)
    else:
        src.get(dst, async_=async_, stream=stream)


# Dtypes and shapes of results


def _get_common_dtype(obj1, obj2):
    """Return the dtype of ``obj1 + obj2``; Python's numbers have none of their own."""
    return _get_common_dtype_base(obj1, obj2, True)


def _get_broadcasted_binary_op_result(obj1, obj2, dtype_getter=None):
    """Return an uninitialised array for an operation on two arrays."""
    dtype = (dtype_getter or _get_common_dtype)(obj1, obj2)
    shape = np.broadcast_shapes(obj1.shape, obj2.shape)
    if shape == obj1.shape:
        return obj1._new_like_me(dtype)
    if shape == obj2.shape:
        return obj2._new_like_me(dtype)
    return GPUArray(shape, dtype, obj1.allocator)


def _splay_backend(n, dev):
    """Return (grid, block) for a loop over ``n`` elements on a device."""
    most = 32 * dev.get_attribute(drv.device_attribute.MULTIPROCESSOR_COUNT)
    each = -(-n // most)
    threads = 32 * _builtin_min(_builtin_max(-(-each // 32), 1), 4)
    blocks = _builtin_min(_builtin_max(-(-n // threads), 1), most)
    return (blocks, 1), (threads, 1, 1)


def splay(n, dev=None):
    """Return (grid, block) for a kernel whose threads share ``n`` elements."""
    return _splay_backend(n, drv.Context.get_device() if dev is None else dev)


# Elementwise functions


def where(criterion, then_, else_, out=None, stream=None):
    """Return ``then_`` where the criterion is not 0, ``else_`` elsewhere."""
    return _apply(_ops["where"], (criterion, then_, else_), out, None, stream)


def if_positive(criterion, then_, else_, out=None, stream=None):
    """Return ``then_`` where the criterion is above 0, ``else_`` elsewhere."""
    return _apply(_ops["if_positive"], (criterion, then_, else_), out, None, stream)


def maximum(a, b, out=None, stream=None):
    """Return the greater elements; either argument may be a number."""
    return _apply(_ops["maximum"], (a, b), out, None, stream)


def minimum(a, b, out=None, stream=None):
    """Return the smaller elements; either argument may be a number."""
    return _apply(_ops["minimum"], (a, b), out, None, stream)


def _logical_op(x1, x2, out, allocator, operator):
    """Apply ``operator``, such as "logical_and", to arrays or numbers."""
    if out is None and not isinstance(x1, GPUArray) and not isinstance(x2, GPUArray):
        return to_gpu(np.asarray(getattr(np, operator)(x1, x2)), allocator)
    return _apply(_ops[operator], (x1, x2), out, allocator=allocator)


def logical_and(x1, x2, /, out=None, *, allocator=None):
    """Return the truth of ``x1 and x2``, element by element."""
    return _logical_op(x1, x2, out, allocator, "logical_and")


def logical_or(x1, x2, /, out=None, *, allocator=None):
    """Return the truth of ``x1 or x2``, element by element."""
    return _logical_op(x1, x2, out, allocator, "logical_or")


def logical_not(x, /, out=None, *, allocator=None):
    """Return the truth of ``not x``, element by element."""
    if out is None and not isinstance(x, GPUArray):
        return to_gpu(np.asarray(np.logical_not(x)), allocator)
    return _apply(_ops["logical_not"], (x,), out, allocator=allocator)


# Shapes


def reshape(a, *shape, **kwargs):
    """Return ``a.reshape(*shape)``."""
    return a.reshape(*shape, **kwargs)


def transpose(a, axes=None):
    """Return ``a.transpose(axes)``."""
    return a.transpose(axes)


def _normal_axis(axis, ndim):
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is not one of {ndim} axes")
    return axis % ndim


def _allocator_of(allocator, array):
    return array.allocator if allocator is None else allocator


def concatenate(arrays, axis=0, allocator=None):
    """Return the arrays joined along an axis that they have."""
    arrays = list(arrays)
    if not arrays:
        raise ValueError("there is nothing to concatenate")
    first = arrays[0]
    if first.ndim == 0:
        raise ValueError("arrays without axes cannot be concatenated")
    axis = _normal_axis(axis, first.ndim)
    around = (*first.shape[:axis], *first.shape[axis + 1 :])
    for array in arrays:
        if (*array.shape[:axis], *array.shape[axis + 1 :]) != around or (
            array.ndim != first.ndim
        ):
            raise ValueError(
                f"arrays of shape {first.shape} and {array.shape} cannot be "
                f"concatenated along axis {axis}"
            )
    dtype = np.result_type(*(array.dtype for array in arrays))
    length = int(np.sum([array.shape[axis] for array in arrays]))
    shape = (*first.shape[:axis], length, *first.shape[axis + 1 :])
    result = GPUArray(shape, dtype, _allocator_of(allocator, first))
    begin = 0
    for array in arrays:
        end = begin + array.shape[axis]
        result[(slice(None),) * axis + (slice(begin, end),)] = array
        begin = end
    _remember(result, arrays)
    return result


def _remember(result, arrays):
    """Let a bool array of others' elements remember the dtype that was compared."""
    dtypes = [array._counts_as for array in arrays]
    dtypes = [dtype for dtype in dtypes if dtype is not None]
    if result.dtype == bool and len(dtypes) == len(arrays):
        result._counts_as = np.result_type(*dtypes)


def stack(arrays, axis=0, allocator=None):
    """Return the arrays, which have one shape, side by side along a new axis.

    The result is in C order for axis 0, in F order for others.
    """
    arrays = list(arrays)
    if not arrays:
        raise ValueError("there is nothing to stack")
    first = arrays[0]
    for array in arrays:
        if array.shape != first.shape:
            raise ValueError(
                f"arrays of shape {first.shape} and {array.shape} cannot be stacked"
            )
    axis = _normal_axis(axis, first.ndim + 1)
    dtype = np.result_type(*(array.dtype for array in arrays))
    shape = (*first.shape[:axis], len(arrays), *first.shape[axis:])
    order = "C" if axis == 0 else "F"
    result = GPUArray(shape, dtype, _allocator_of(allocator, first), order=order)
    for number, array in enumerate(arrays):
        result[(slice(None),) * axis + (number,)] = array
    _remember(result, arrays)
    return result


# Reductions


def _reducer(name, doc):
    def function(
        a,
        dtype=None,
        stream=None,
        allocator=None,
        *,
        axis=None,
        keepdims=False,
        out=None,
        initial=None,
        where=True,
    ):
        return _reduced(
            name, a, axis, keepdims, dtype, out, stream, allocator, initial, where
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _bounder(name, doc):
    def function(
        a,
        stream=None,
        *,
        axis=None,
        keepdims=False,
        out=None,
        allocator=None,
        initial=None,
        where=True,
    ):
        return _reduced(
            name, a, axis, keepdims, None, out, stream, allocator, initial, where
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _placer(name, doc):
    number = _reductions[name]

    def function(
        a, stream=None, *, axis=None, keepdims=False, out=None, allocator=None
    ):
        return _reduce(number, (a,), axis, keepdims, None, out, stream, allocator)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _tester(name, doc):
    def function(
        a,
        stream=None,
        allocator=None,
        axis=None,
        keepdims=False,
        out=None,
        *,
        initial=None,
        where=True,
    ):
        return _reduced(
            name, a, axis, keepdims, None, out, stream, allocator, initial, where
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


# What joins a result with the initial one, and what changes nothing.
_JOINS = {
    "sum": ("add", 0),
    "prod": ("multiply", 1),
    "min": ("minimum", None),
    "max": ("maximum", None),
    "any": ("logical_or", 0),
    "all": ("logical_and", 1),
}


def _reduced(
    name, a, axis, keepdims, dtype, out, stream, allocator, initial=None, where=True
):
    number = _reductions[name]
    if initial is None and where is True:
        return _reduce(number, (a,), axis, keepdims, dtype, out, stream, allocator)
    joint, neutral = _JOINS[name]
    if where is not True:
        mask = _mask_of(where, a)
        if neutral is None and initial is None:
            raise ValueError(f"{name}() with where= needs initial=")
        filler = a.dtype.type(initial if neutral is None else neutral)
        a = _apply(_ops["where"], (mask, a, filler), None, None, stream)
    if neutral is None and _plain_array(a).size == 0:  # which has no least element
        shape = _reduced_shape(a, axis, keepdims)
        result = full(shape, initial, a.dtype, _allocator_of(allocator, a))
    else:
        result = _reduce(number, (a,), axis, keepdims, dtype, None, stream, allocator)
    if initial is not None:
        pair = (result, result.dtype.type(initial))
        result = _apply(_ops[joint], pair, result, None, stream)
    return _stored(result, out, stream)


def _reduced_shape(a, axis, keepdims):
    """Return the shape of a reduction."""
    return np.empty(a.shape, bool).any(axis=axis, keepdims=keepdims).shape


def _stored(result, out, stream):
    if out is None:
        return result
    if out.shape != result.shape:
        raise ValueError(f"the result has shape {result.shape}, out has {out.shape}")
    return _apply(_ops["copy"], (result,), out, None, stream)


def _as_mask(where):
    """Return a mask of bool on the device."""
    mask = where if isinstance(where, GPUArray) else np.asarray(where)
    if not isinstance(mask, GPUArray) and mask.ndim:
        raise TypeError("where must be a GPUArray of bool; copy it with to_gpu()")
    if mask.dtype != bool:
        raise TypeError(f"where must be of bool, not {mask.dtype}")
    return mask if isinstance(mask, GPUArray) else to_gpu(mask)


def _mask_of(where, a):
    """Return a mask of an array's shape."""
    return _broadcast_to(_as_mask(where), a.shape)


def _broadcast_to(a, shape):
    """Return a view of another shape, its elements repeated."""
    given, a = a, _plain_array(a)
    if a.shape == shape:
        return given
    if np.broadcast_shapes(a.shape, shape) != shape:
        raise ValueError(f"an array of shape {a.shape} cannot be broadcast to {shape}")
    strides = (0,) * (len(shape) - a.ndim) + tuple(
        0 if length == 1 else stride
        for length, stride in zip(a.shape, a.strides, strict=True)
    )
    if a.gpudata is None or 0 in shape:
        return GPUArray(shape, a.dtype, a.allocator)
    view = GPUArray(
        shape, a.dtype, a.allocator, base=given, gpudata=a.gpudata, strides=strides
    )
    view._counts_as = a._counts_as
    return view


_AXES = """

    Along all axes, or along ``axis`` (one, or a tuple); keepdims leaves those axes with
    length 1. The result is an array, without axes if none is left. ``where`` is a mask
    of the elements that count, ``initial`` a first one.
    """
sum = _reducer("sum", "Return the sum; small integers are summed as 64 bits." + _AXES)
prod = _reducer("prod", "Return the product." + _AXES)
min = _bounder("min", "Return the least element; ValueError without any." + _AXES)
max = _bounder("max", "Return the greatest element; ValueError without any." + _AXES)
argmin = _placer("argmin", "Return where the least element is, first." + _AXES)
argmax = _placer("argmax", "Return where the greatest element is, first." + _AXES)
count_nonzero = _placer("count_nonzero", "Return how many are not 0." + _AXES)
any = _tester("any", "Return whether any element is true." + _AXES)
all = _tester("all", "Return whether all elements are true." + _AXES)


def mean(
    a,
    dtype=None,
    stream=None,
    allocator=None,
    *,
    axis=None,
    keepdims=False,
    out=None,
    where=True,
):
    """Return the mean, along all axes or along ``axis``, of all or where a mask is."""
    if where is True:
        number = _reductions["mean"]
        return _reduce(number, (a,), axis, keepdims, dtype, out, stream, allocator)
    if dtype is None:
        dtype = a.dtype if a.dtype.kind in "fc" else np.float64
    with _on(stream):
        result = _mean_where(a, _mask_of(where, a), axis, keepdims)
        return _stored(result.astype(dtype), out, None)


def _on(stream):
    """Return what makes a stream current in a ``with`` block; None changes nothing."""
    if stream is None:
        return contextlib.nullcontext()
    if isinstance(stream, drv.Stream):
        return stream
    return drv.Stream.from_handle(stream)  # of another library


def _wide(dtype):
    return np.dtype(np.complex128 if dtype.kind == "c" else np.float64)


def _mean_where(a, mask, axis, keepdims):
    total = sum(a, _wide(a.dtype), axis=axis, keepdims=keepdims, where=mask)
    return total / count_nonzero(mask, axis=axis, keepdims=keepdims)


def _var_where(a, mask, axis, ddof, keepdims):
    distance = abs(a.astype(_wide(a.dtype)) - _mean_where(a, mask, axis, True))
    total = sum(distance * distance, axis=axis, keepdims=keepdims, where=mask)
    count = count_nonzero(mask, axis=axis, keepdims=keepdims)
    return total / maximum(count - ddof, 0)


def var(
    a,
    axis=None,
    ddof=0,
    keepdims=False,
    *,
    out=None,
    stream=None,
    allocator=None,
    where=True,
):
    """Return the variance: the mean squared distance from the mean."""
    return _spread("var", a, axis, ddof, keepdims, out, stream, allocator, where)


def std(
    a,
    axis=None,
    ddof=0,
    keepdims=False,
    *,
    out=None,
    stream=None,
    allocator=None,
    where=True,
):
    """Return the standard deviation, the root of the variance."""
    return _spread("std", a, axis, ddof, keepdims, out, stream, allocator, where)


def _spread(name, a, axis, ddof, keepdims, out, stream, allocator, where):
    dtype = np.dtype(a.dtype.char.lower() if a.dtype.kind in "fc" else np.float64)
    if where is not True:
        with _on(stream):
            result = _var_where(a, _mask_of(where, a), axis, ddof, keepdims)
            result = np.sqrt(result) if name == "std" else result
            return _stored(result.astype(dtype), out, None)
    wide = _wide(a.dtype) if a.dtype.kind in "fc" else None
    middle = _reduce(_reductions["mean"], (a,), axis, True, wide, None, stream)
    number = _reductions[name]
    result = _reduce(
        number, (a, middle), axis, keepdims, None, None, stream, allocator, ddof
    )
    if result.dtype != dtype:
        result = result.astype(dtype, stream)
    return _stored(result, out, stream)


def cumsum(a, axis=None, dtype=None, *, stream=None):
    """Return the sums of the elements up to each one, flat or along an axis."""
    return _running("a + b", np.add, a, axis, dtype, stream)


def cumprod(a, axis=None, dtype=None, *, stream=None):
    """Return the products of the elements up to each one, flat or along an axis."""
    return _running("a * b", np.multiply, a, axis, dtype, stream)


def _copy_into(target, source, stream):
    with _on(stream):
        target[...] = source


def _running(expression, ufunc, a, axis, dtype, stream):
    if axis is None or (a.ndim == 0 and axis in (0, -1)):
        a, axis = _in_c_order(a, stream).reshape(a.size), 0
    axis = _normal_axis(axis, a.ndim)
    if dtype is None:  # small integers widen, as in sums
        dtype = ufunc.accumulate(np.ones(1, a.dtype)).dtype
    dtype = np.dtype(dtype)
    # The lines are packed one after the other; half precision has no name in C.
    order = (*(k for k in range(a.ndim) if k != axis), axis)
    back = tuple(order.index(k) for k in range(a.ndim))
    work_dtype = np.dtype(np.float32) if dtype == np.float16 else dtype
    lines = a.transpose(*order)
    work = GPUArray(lines.shape, work_dtype, a.allocator)
    _copy_into(work, lines, stream)
    if work.size:
        kernel = _scan_kernel(work.dtype, expression)
        kernel._scan_lines(work, work, work.size // a.shape[axis], a.allocator, stream)
    if axis == a.ndim - 1 and dtype == work_dtype:
        return work
    result = GPUArray(a.shape, dtype, a.allocator)
    _copy_into(result, work.transpose(*back), stream)
    return result


@_context_dependent_memoize
def _scan_kernel(dtype, expression):
    from pycuda.scan import InclusiveScanKernel

    return InclusiveScanKernel(dtype, expression)


def dot(a, b, dtype=None, stream=None, allocator=None):
    """Return the sum of the products of the elements of two arrays of one size."""
    if a.shape != b.shape:
        if _plain_array(a).size != _plain_array(b).size:
            raise ValueError(f"arrays of shape {a.shape} and {b.shape} have no dot")
        a, b = a.ravel(), b.ravel()
    return _reduce(
        _reductions["dot"], (a, b), dtype=dtype, stream=stream, allocator=allocator
    )


def _subset(a, subset, stream):
    from pycuda import _indexing

    return _indexing.take(a, subset, None, stream, wait=False)


def subset_sum(subset, a, dtype=None, stream=None, allocator=None):
    """Return the sum of the elements whose flat indices are in ``subset``."""
    return sum(_subset(a, subset, stream), dtype, stream, allocator)


def subset_dot(subset, a, b, dtype=None, stream=None, allocator=None):
    """Return the dot of the elements whose flat indices are in ``subset``."""
    a, b = _subset(a, subset, stream), _subset(b, subset, stream)
    return dot(a, b, dtype, stream, allocator)


def subset_min(subset, a, stream=None):
    """Return the least of the elements whose flat indices are in ``subset``."""
    return min(_subset(a, subset, stream), stream)


def subset_max(subset, a, stream=None):
    """Return the greatest of the elements whose flat indices are in ``subset``."""
    return max(_subset(a, subset, stream), stream)


# Elements by their indices: see _indexing.py


def take(a, indices, out=None, stream=None):
    """Return the elements of ``a``, taken flat, at indices; negative ones count from
    the end.

    IndexError for one that is not there: for indices on the device this waits.
    """
    from pycuda import _indexing

    return _indexing.take(a, indices, out, stream)


def multi_take(arrays, indices, out=None, stream=None):
    """Return ``take(array, indices)`` for each of the arrays, without waiting.

    For an index that is not there, the next ``get()`` raises the IndexError.
    """
    from pycuda import _indexing

    outs = [None] * len(arrays) if out is None else out
    _same_length(arrays, outs, "out")
    indices = _indexing.apart(indices, outs, stream)
    arrays = _unchanged(arrays, outs, stream)
    return [
        _indexing.take(array, indices, output, stream, wait=False)
        for array, output in zip(arrays, outs, strict=True)
    ]


def multi_put(arrays, dest_indices, dest_shape=None, out=None, stream=None):
    """Put the elements of each array at flat indices of its output.

    New outputs, of shape ``dest_shape``, are not set elsewhere. Returns the outputs.
    """
    from pycuda import _indexing

    outs = _outputs(arrays, dest_shape, out)
    dest_indices = _indexing.apart(dest_indices, outs, stream)
    arrays = _unchanged(arrays, outs, stream)
    for array, output in zip(arrays, outs, strict=True):
        _indexing.put(output, dest_indices, array, stream)
    return outs


def multi_take_put(
    arrays,
    dest_indices,
    src_indices,
    dest_shape=None,
    out=None,
    stream=None,
    src_offsets=None,
):
    """Move elements at flat indices of each array to flat indices of its output.

    ``src_offsets`` has one number for each array, which is added to its indices.
    """
    from pycuda import _indexing

    outs = _outputs(arrays, dest_shape, out)
    offsets = [0] * len(arrays) if src_offsets is None else src_offsets
    _same_length(arrays, offsets, "src_offsets")
    dest_indices = _indexing.apart(dest_indices, outs, stream)
    src_indices = _indexing.apart(src_indices, outs, stream)
    arrays = _unchanged(arrays, outs, stream)
    for array, output, offset in zip(arrays, outs, offsets, strict=True):
        indices = _shifted(src_indices, offset, stream)
        taken = _indexing.take(array, indices, None, stream, wait=False)
        _indexing.put(output, dest_indices, taken, stream)
    return outs


def _shifted(indices, offset, stream):
    if not isinstance(indices, GPUArray):
        return np.asarray(indices) + offset
    if not offset:
        return indices
    return _apply(_ops["add"], (indices, offset), None, np.int64, stream)


def _unchanged(arrays, outs, stream):
    """Return the arrays, with copies of those that outputs before theirs change."""
    from pycuda import _indexing

    return [_indexing.apart(array, outs[:k], stream) for k, array in enumerate(arrays)]


def _same_length(arrays, others, name):
    if len(arrays) != len(others):
        raise ValueError(f"there are {len(arrays)} arrays, but {len(others)} in {name}")


def _outputs(arrays, dest_shape, out):
    if out is not None:
        _same_length(arrays, out, "out")
        return out
    if dest_shape is None:
        raise ValueError("either dest_shape or out must be given")
    return [GPUArray(dest_shape, a.dtype, a.allocator) for a in arrays]


def _take_indexed(array, index):
    from pycuda import _indexing

    return _indexing.get_item(array, index)


def _put_indexed(array, index, value):
    from pycuda import _indexing

    _indexing.set_item(array, index, value)


# Texture references


def _bind_to_texref(array, texref, allow_offset=False):
    return _bind_to_texref_ext(array, texref, 1, False, False, allow_offset)


def _bind_to_texref_ext(
    array,
    texref,
    channels=1,
    allow_double_hack=False,
    allow_complex_hack=False,
    allow_offset=False,
):
    array = _plain_array(array)
    if not array.flags.forc:
        raise RuntimeError("an array with gaps cannot be bound to a texture reference")
    dtype = array.dtype
    if dtype == np.float64 and allow_double_hack:
        if channels != 1:
            raise ValueError("doubles are read as pairs: they have one channel")
        channels, dtype = 2, np.dtype(np.int32)
    elif dtype.kind == "c" and allow_complex_hack:
        if channels != 1:
            raise ValueError("complex numbers are read as pairs: they have one channel")
        channels = 2 if dtype == np.complex64 else 4
        dtype = np.dtype(np.float32 if dtype == np.complex64 else np.int32)
    offset = texref.set_address(array.gpudata, array.nbytes, allow_offset)
    texref.set_format(drv.dtype_to_array_format(dtype), channels)
    return offset / array.dtype.itemsize


# What NumPy's names do: see _numpy.py


def _np_reshape(a, /, shape, order="C"):
    """Read the elements by their indices, whatever their order in memory."""
    if order == "A":
        flags = ArrayFlags(a)
        order = "F" if flags.f_contiguous and not flags.c_contiguous else "C"
    if order not in ("C", "F"):
        raise ValueError(f"order must be 'C', 'F' or 'A', not {order!r}")
    flags = ArrayFlags(a)
    lies_so = flags.c_contiguous if order == "C" else flags.f_contiguous
    return (a if lies_so else _c_copy(a, order)).reshape(shape, order=order)


def _c_copy(a, order="C", stream=None):
    result = GPUArray(a.shape, a.dtype, a.allocator, order=order)
    result.set_async(a, stream)
    result._counts_as = a._counts_as
    return result


def _in_c_order(a, stream):
    """Return an array, or a copy that the stream makes, packed in C order."""
    return a if a.flags.c_contiguous else _c_copy(a, stream=stream)


def _np_ravel(a, order="C"):
    if order == "K":
        return a.ravel()
    return _np_reshape(a, (_plain_array(a).size,), order)


def _array_function(array, function, types, args, kwargs):
    from pycuda import _numpy

    return _numpy.array_function(array, function, types, args, kwargs)


def _array_ufunc(array, ufunc, method, *inputs, **kwargs):
    from pycuda import _numpy

    return _numpy.array_ufunc(array, ufunc, method, *inputs, **kwargs)
