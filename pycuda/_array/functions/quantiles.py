"""Quantiles and percentiles of elements with weights.

C computes those without weights, in ``python/array/type/quantile_functions.c``. With
weights it calls ``weighted``.
"""

from __future__ import annotations

import numpy as np

from pycuda._array.copies import c_copy, np_ravel, on_stream
from pycuda._array.functions.conversion import asarray
from pycuda._array.functions.operations import where
from pycuda._array.functions.sorting import along_axis
from pycuda._array.layout import broadcast_to, normal_axes
from pycuda._array.numpy_calls import into
from pycuda._context_cache import context_dependent_memoize
from pycuda._driver import (
    GPUArray,
    _count_nonzero as count_nonzero,
    _cumsum as cumsum,
    _plain_array,
    _sort,
    to_gpu,
)

# -- arguments -------------------------------------------------------------------------


def _read_quantiles(name, a, q, most):
    """Return q / most as an array of the host, in the dtype in which NumPy compares."""
    is_python = type(q) in (int, float)
    q = np.asarray(q.get() if isinstance(q, GPUArray) else q)
    if q.dtype.kind not in "biuf":
        raise TypeError(f"{name}: q must be real numbers, not {q.dtype}")
    if is_python and a.dtype.kind == "f":
        q = q.astype(a.dtype)
    elif q.dtype.kind != "f":
        q = q.astype(np.float64)
    if most != 1:
        q = q / q.dtype.type(most)
    if not ((q >= 0) & (q <= 1)).all():
        wrong = float(q[~((q >= 0) & (q <= 1))].flat[0] * most)
        raise ValueError(
            f"{name}: every q must be in the range [0, {most}], but one is {wrong!r}"
        )
    return q


def _read_weights(name, a, weights, axes, axis):
    """Return weights as an array of the shape of ``a``."""
    weights = _plain_array(asarray(weights))
    if weights.dtype.kind not in "biuf":
        raise TypeError(f"{name}: weights must be real numbers, not {weights.dtype}")
    if weights.shape == a.shape:
        return weights
    if axis is None:
        raise TypeError(
            f"{name}: weights of shape {weights.shape} for an array of shape {a.shape} "
            "need the argument axis"
        )
    along = tuple(a.shape[k] for k in axes)
    if weights.shape != along:
        raise ValueError(
            f"{name}: weights have shape {weights.shape}, but the array has {a.shape} "
            f"and {along} along axis {axis}"
        )
    weights = weights.transpose([int(k) for k in np.argsort(axes)])
    shape = tuple(n if k in axes else 1 for k, n in enumerate(a.shape))
    return broadcast_to(np_ravel(weights).reshape(shape), a.shape)


def _lines(a, axes):
    """Return an array with two axes: lines, and the elements of each."""
    kept = [k for k in range(a.ndim) if k not in axes]
    length = int(np.prod([a.shape[k] for k in axes], dtype=object))
    count = int(np.prod([a.shape[k] for k in kept], dtype=object))
    return np_ravel(a.transpose([*kept, *axes])).reshape((count, length))


# -- the search ------------------------------------------------------------------------


@context_dependent_memoize
def _finder(kind):
    """Return the kernel that finds quantiles in lines of cumulated weights."""
    from pycuda._array.kernels.elementwise_kernel import ElementwiseKernel

    lines = [
        "const unsigned long long line = i % lines;",
        "const double *run = cumulated + line * length;",
        f"const {kind} wanted = ({kind})q[i / lines];",
        "const double all = run[length - 1];",
        "unsigned long long low = 0, high = (unsigned long long)last[line];",
        "while (low < high) {",
        "const unsigned long long middle = low + (high - low) / 2;",
        f"const {kind} part = ({kind})(run[middle] / all);",
        # An element whose weight is 0 is no quantile.
        "if (part < wanted || run[middle] == 0) low = middle + 1; else high = middle;",
        "}",
        "found[i] = (long long)low;",
    ]
    return ElementwiseKernel(
        "long *found, double *cumulated, double *q, long *last, unsigned long lines, "
        "unsigned long length",
        "\n".join(lines),
        "find_quantiles",
    )


def _check_sums(name, weights, sums, is_used):
    """Raise ValueError for weights that are no distribution. Wait for the device."""
    is_good = (sums > 0) & (sums < np.inf)
    if is_used is not None:
        is_good |= ~is_used
    if bool((weights < 0).any().get()) or not bool(is_good.all().get()):
        raise ValueError(
            f"{name}: weights must be finite and not negative, and their sum over each "
            "line must be more than 0"
        )


def weighted(
    name,
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    weights=None,
    stream=None,
):
    """Return weighted quantiles or percentiles, as ``pycuda.gpuarray`` has their name.

    The quantile is the first element of a sorted line up to which the weights are at
    least ``q`` of their sum. Waits for the device, which checks the weights.
    """
    if method != "inverted_cdf":
        raise ValueError(
            f"{name}: weights need the method 'inverted_cdf', not {method!r}"
        )
    if not isinstance(a, GPUArray):
        raise TypeError(f"{name} takes a GPUArray, not {type(a).__name__}")
    if a.dtype.kind == "c":
        raise TypeError(f"{name} takes real numbers, not {a.dtype}")
    axes = normal_axes(axis, a.ndim)
    wanted = _read_quantiles(name, a, q, 100 if name.endswith("percentile") else 1)
    with on_stream(stream):
        weights = _read_weights(name, a, weights, axes, axis)
        result = _of_lines(
            name,
            _lines(_plain_array(a), axes),
            _lines(weights, axes),
            wanted,
            name.startswith("nan") and a.dtype.kind not in "biu",
        )
        shape = [n for k, n in enumerate(a.shape) if k not in axes]
        if keepdims:
            shape = [1 if k in axes else n for k, n in enumerate(a.shape)]
        return into(result.reshape((*wanted.shape, *shape)), out)


def _of_lines(name, lines, weights, wanted, skips_nan):
    """Return the weighted quantiles of lines: (quantiles, lines)."""
    count, length = lines.shape
    if length == 0:
        raise ValueError(f"{name}: the lines have no elements")
    ordered, order = _sort(lines, 1, True, True)
    weights = along_axis(weights, order, 1)
    is_number = ordered == ordered
    last = is_used = None
    if skips_nan:
        numbers = count_nonzero(is_number, axis=1)
        is_used = numbers > 0
        weights = where(is_number, weights, weights.dtype.type(0))
        last = (numbers - is_used).astype(np.int64)
    cumulated = cumsum(weights, 1, np.float64)
    _check_sums(name, weights, cumulated[:, -1], is_used)
    if last is None:
        last = GPUArray(count, np.int64, lines.allocator).fill(length - 1)
    found = GPUArray((wanted.size, count), np.int64, lines.allocator)
    if found.size:
        places = to_gpu(wanted.ravel().astype(np.float64))
        kind = "double" if wanted.dtype == np.float64 else "float"
        _finder(kind)(found, cumulated, places, last, count, length)
    if not skips_nan:  # a line with a NaN has it at its end
        found = where(is_number[:, -1], found, np.int64(length - 1))
    return c_copy(along_axis(ordered, c_copy(found.T), 1).T)
