"""New arrays: of one value, of a range, like another, from other libraries."""

from __future__ import annotations

import warnings

import numpy as np

from pycuda import _driver
from pycuda._array.counts import remember_counts
from pycuda._array.layout import array_like_helper
from pycuda._driver import Context, GPUArray, _apply, _array_ops, to_gpu


def allocator_of(allocator, array):
    return array.allocator if allocator is None else allocator


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


def empty_like(other_ary, dtype=None, order="K"):
    """Return a new array of another's shape; its elements are not set.

    ``order`` is "C", "F", "A" or "K", which keeps the order of the axes.
    """
    dtype, order, strides = array_like_helper(other_ary, dtype, order)
    allocator = getattr(other_ary, "allocator", None)
    result = GPUArray(other_ary.shape, dtype, allocator, strides=strides, order=order)
    if isinstance(other_ary, GPUArray):
        remember_counts(result, [other_ary])
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
    size = max(int(np.ceil((stop - start) / step)), 0)
    result = GPUArray((size,), dtype, allocator)
    if dtype.kind == "u" and step < 0:  # the same, modulo the range of the dtype
        step = int(step) % (np.iinfo(dtype).max + 1)
    numbers = (dtype.type(start), dtype.type(step))
    return _apply(_array_ops["arange"], numbers, result, dtype, stream)


def from_dlpack(x, /, *, device=None, copy=None, stream=None):
    """Return the array of another library that has ``__dlpack__``, without copying it.

    The other library is asked to make it safe for work on the stream, by default the
    current one. ``copy=True`` makes a copy, which memory of the host, another device
    and memory that must not be written need: BufferError for these without it.
    ``device`` is None or the current context's, a pycuda.driver.Device.
    """
    here = Context.get_device()
    if device is not None and device != here:
        raise ValueError(f"device {device} is not that of the current context")
    if type(x).__name__ != "PyCapsule" and tuple(x.__dlpack_device__())[0] == 1:
        if not copy:
            raise BufferError("the array is in memory of the host: say copy=True")
        return to_gpu(np.from_dlpack(x))
    borrowed = _driver.from_dlpack(x, stream)
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


_unpickle.__module__ = "pycuda.gpuarray"  # the name in pickles
