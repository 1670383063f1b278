"""Flat indices and indices along axes, and elements of a choice of arrays.

No function waits for its kernel. A kernel takes index 0 for an index out of bounds; the
next call that waits for the device raises the IndexError.
"""

from __future__ import annotations

import math
import operator

import numpy as np

from pycuda._array.copies import may_overlap, on_stream
from pycuda._array.functions.conversion import operand
from pycuda._array.functions.sequences import broadcast_arrays
from pycuda._array.kernels.c_types import dtype_to_ctype
from pycuda._array.kernels.elementwise_kernel import ElementwiseKernel
from pycuda._array.numpy_calls import check_out, into
from pycuda._context_cache import context_dependent_memoize
from pycuda._driver import GPUArray, _index_report

_MODES = ("raise", "wrap", "clip")

#: ``at``: the place of the index ``k`` on an axis of length ``d``.
_PLACES = {
    "raise": (
        "long at = (long)k; if ((unsigned long)at >= (unsigned long)d) {{ "
        "pycuda_array::note_index((pycuda_array::index_report *)report, "
        "(pycuda_array::uint64)k, {unsigned}, d, {axis}, call); at = 0; }}"
    ),
    "wrap": "long at; pycuda_array::place_wrapped(k, d, at);",
    "clip": "long at; pycuda_array::place_clipped(k, d, at);",
}


def _place_text(name, dtype, mode, axis):
    """Return the statements that define ``at`` for the element of an index array."""
    unsigned = "true" if dtype.kind == "u" else "false"
    read = f"const {dtype_to_ctype(dtype)} k = {name}[i]; const long d = d{axis};"
    return read + _PLACES[mode].format(unsigned=unsigned, axis=axis)


def _check_mode(name, mode):
    if mode not in _MODES:
        raise ValueError(f"{name}: mode is 'raise', 'wrap' or 'clip', not {mode!r}")


def _check_integers(name, array):
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name}: indices must be integers, not {array.dtype}")


def _lengths(name, dims):
    """Return a shape as a tuple of integers, whose product int64 holds."""
    try:
        lengths = (operator.index(dims),)
    except TypeError:
        lengths = tuple(map(operator.index, dims))
    if any(length < 0 for length in lengths):
        raise ValueError(f"{name}: the shape {lengths} has a negative length")
    if math.prod(lengths) >= 2**63:
        raise ValueError(f"{name}: the shape {lengths} has more than 2**63 elements")
    return lengths


def _steps(name, lengths, order):
    """Return by how much an index along each axis moves the flat index."""
    if order not in ("C", "F"):
        raise ValueError(f"{name}: order is 'C' or 'F', not {order!r}")
    steps, step = [], 1
    for length in lengths if order == "F" else reversed(lengths):
        steps.append(step)
        step *= length
    return steps if order == "F" else steps[::-1]


@context_dependent_memoize
def _raveler(dtypes, modes):
    """Return the kernel that makes flat indices."""
    arguments = ["long *flat", "unsigned long report", "unsigned call"]
    lines = ["long sum = 0;"]
    for axis, (dtype, mode) in enumerate(zip(dtypes, modes, strict=True)):
        arguments.append(
            f"{dtype_to_ctype(dtype)} *k{axis}, long d{axis}, long s{axis}"
        )
        lines.append(
            f"{{ {_place_text(f'k{axis}', dtype, mode, axis)} sum += at * s{axis}; }}"
        )
    lines.append("flat[i] = sum;")
    return ElementwiseKernel(
        ", ".join(arguments),
        "\n".join(lines),
        "ravel_multi_index",
        preamble="#include <pycuda-index.hpp>",
    )


def ravel_multi_index(multi_index, dims, mode="raise", order="C", *, stream=None):
    """Return the flat indices of elements whose indices along each axis are given.

    Parameters
    ----------
    multi_index : tuple of GPUArray or GPUArray
        Integers for each axis of the shape, which broadcast, or an array with them
        along its first axis.
    dims : tuple of int
        The shape.
    mode : {"raise", "wrap", "clip"} or tuple, optional
        What an index out of bounds means, or a tuple with one for each axis.
    order : {"C", "F"}, default "C"
        Order of the flat elements.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        The flat indices, int64.

    Raises
    ------
    TypeError
        If the indices are not integers.
    ValueError
        If the number of indices is not that of the axes.

    See Also
    --------
    unravel_index : The inverse.

    Notes
    -----
    The call does not wait. With "raise", the next call that waits for the device raises
    IndexError if an index is out of bounds.

    Examples
    --------
    >>> i = gpuarray.to_gpu(np.array([0, 1]))
    >>> gpuarray.ravel_multi_index((i, i), (2, 3))
    array([0, 4])
    """
    name = "ravel_multi_index"
    lengths = _lengths(name, dims)
    parts = tuple(multi_index)
    modes = (mode,) * len(lengths) if isinstance(mode, str) else tuple(mode)
    if len(parts) != len(lengths) or len(modes) != len(lengths) or not parts:
        raise ValueError(
            f"{name}: there are {len(parts)} index arrays and {len(modes)} modes for "
            f"the shape {lengths}"
        )
    for one in modes:
        _check_mode(name, one)
    if 0 in lengths and any(getattr(part, "size", 1) for part in parts):
        raise ValueError(f"{name}: an array of shape {lengths} has no elements")
    steps = _steps(name, lengths, order)
    with on_stream(stream):
        arrays = [operand(name, part) for part in parts]
        for array in arrays:
            _check_integers(name, array)
        arrays = broadcast_arrays(*arrays)
        result = GPUArray(arrays[0].shape, np.int64, arrays[0].allocator)
        if result.size:
            values = []
            for array, length, step in zip(arrays, lengths, steps, strict=True):
                values += [array, length, step]
            kernel = _raveler(tuple(array.dtype for array in arrays), modes)
            kernel(result, *_index_report(), *values)
    return result


@context_dependent_memoize
def _unraveler(dtype, axes):
    """Return the kernel that makes indices along axes, the slowest axis first."""
    ctype = dtype_to_ctype(dtype)
    arguments = [f"{ctype} *flat", "unsigned long report", "unsigned call", "long d0"]
    lines = [_place_text("flat", dtype, "raise", 0), "long rest = at;"]
    for axis in range(axes):
        arguments.append(f"long *k{axis}, long s{axis}")
        if axis == axes - 1:
            lines.append(f"k{axis}[i] = rest;")
        else:
            lines.append(
                f"const long q{axis} = rest / s{axis}; rest -= q{axis} * s{axis};"
                f" k{axis}[i] = q{axis};"
            )
    return ElementwiseKernel(
        ", ".join(arguments),
        "\n".join(lines),
        "unravel_index",
        preamble="#include <pycuda-index.hpp>",
    )


def unravel_index(indices, shape, order="C", *, stream=None):
    """Return the indices along each axis of a shape for flat indices.

    Parameters
    ----------
    indices : GPUArray
        Flat indices, integers.
    shape : tuple of int
        The shape.
    order : {"C", "F"}, default "C"
        Order of the flat elements.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    tuple of GPUArray
        The indices along each axis, int64.

    Raises
    ------
    TypeError
        If the indices are not integers.

    See Also
    --------
    ravel_multi_index : The inverse.

    Notes
    -----
    The call does not wait. If an index is out of bounds, the next call that waits for
    the device raises IndexError.

    Examples
    --------
    >>> gpuarray.unravel_index(gpuarray.to_gpu(np.array([0, 4])), (2, 3))
    (array([0, 1]), array([0, 1]))
    """
    name = "unravel_index"
    lengths = _lengths(name, shape)
    steps = _steps(name, lengths, order)
    with on_stream(stream):
        indices = operand(name, indices)
        _check_integers(name, indices)
        if indices.size and (0 in lengths or not lengths):
            raise ValueError(f"{name}: an array of shape {lengths} has no such indices")
        results = tuple(
            GPUArray(indices.shape, np.int64, indices.allocator) for _ in lengths
        )
        if indices.size:
            slowest_first = range(len(lengths))[:: 1 if order == "C" else -1]
            values = []
            for axis in slowest_first:
                values += [results[axis], steps[axis]]
            kernel = _unraveler(indices.dtype, len(lengths))
            kernel(indices, *_index_report(), math.prod(lengths), *values)
    return results


# -- choose ----------------------------------------------------------------------------

#: The C types that move elements of each size.
_MOVED = {
    1: "unsigned char",
    2: "unsigned short",
    4: "unsigned int",
    8: "unsigned long",
    16: "pycuda::complex<double>",
}
_MOST_CHOICES = 32


@context_dependent_memoize
def _chooser(dtype, mode, itemsize, count):
    """Return the kernel that takes elements of several arrays."""
    word = _MOVED[itemsize]
    arguments = [f"{word} *z, {dtype_to_ctype(dtype)} *index, long d0"]
    arguments += ["unsigned long report", "unsigned call"]
    arguments += [f"{word} *c{k}" for k in range(count)]
    cases = "".join(f" case {k}: z[i] = c{k}[i]; break;" for k in range(count))
    return ElementwiseKernel(
        ", ".join(arguments),
        f"{_place_text('index', dtype, mode, 0)} switch (at) {{{cases} }}",
        "choose",
        preamble="#include <pycuda-index.hpp>",
    )


def _choice_arrays(choices):
    """Return the choices as arrays of one dtype."""
    if isinstance(choices, GPUArray) and choices.ndim == 0:
        raise ValueError("choose: choices must have one axis or more, not shape ()")
    choices = [c if np.isscalar(c) else operand("choose", c) for c in choices]
    if not choices:
        raise ValueError("choose: there are no choices")
    dtype = np.result_type(*(getattr(c, "dtype", c) for c in choices))
    arrays = [operand("choose", c, dtype) for c in choices]
    return arrays, dtype


def choose(a, choices, out=None, mode="raise", *, stream=None):
    """Return the elements of the choices whose number is in an array of integers.

    Parameters
    ----------
    a : GPUArray
        Numbers of choices.
    choices : sequence of GPUArray or number, or GPUArray
        The choices, or an array with them along its first axis. All broadcast with
        ``a``.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    mode : {"raise", "wrap", "clip"}, optional
        What a number of no choice means.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        The result: ``out``, or a new array of the dtype to which NumPy promotes the
        choices.

    Raises
    ------
    ValueError
        If there are more than 32 choices, or if the shapes do not broadcast.

    Notes
    -----
    The call does not wait. With "raise", the next call that waits for the device raises
    IndexError for a number of no choice.

    Examples
    --------
    >>> a = gpuarray.to_gpu(np.array([0, 1, 0]))
    >>> gpuarray.choose(a, [a + 10, a + 20])
    array([10, 21, 10])
    """
    _check_mode("choose", mode)
    with on_stream(stream):
        arrays, dtype = _choice_arrays(choices)
        if len(arrays) > _MOST_CHOICES:
            raise ValueError(
                f"choose: there are {len(arrays)} choices, more than {_MOST_CHOICES}: "
                "stack() them and use take_along_axis()"
            )
        index = operand("choose", a)
        _check_integers("choose", index)
        index, *arrays = broadcast_arrays(index, *arrays)
        if dtype.itemsize not in _MOVED:
            raise TypeError(f"choose: arrays of dtype {dtype} have no kernel")
        result = out
        inputs = [index, *arrays]
        if (
            out is None
            or check_out(out).dtype != dtype
            or out.shape != index.shape
            or any(may_overlap(out, array) for array in inputs)
        ):
            result = GPUArray(index.shape, dtype, index.allocator)
        if result.size:
            word = np.dtype("c16" if dtype.itemsize == 16 else f"u{dtype.itemsize}")
            kernel = _chooser(index.dtype, mode, dtype.itemsize, len(arrays))
            views = [array.view(word) for array in (result, *arrays)]
            kernel(views[0], index, len(arrays), *_index_report(), *views[1:])
        return result if result is out else into(result, out, "unsafe")
