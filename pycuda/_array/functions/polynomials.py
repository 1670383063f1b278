"""Polynomials as arrays of coefficients, the highest power first."""

from __future__ import annotations

import operator

import numpy as np

from pycuda._array.copies import c_copy, on_stream
from pycuda._array.functions import joining
from pycuda._array.functions.conversion import operand
from pycuda._array.functions.correlation import convolve
from pycuda._array.functions.lines import trim_zeros
from pycuda._array.kernels.c_types import dtype_to_ctype
from pycuda._array.kernels.elementwise_kernel import ElementwiseKernel
from pycuda._context_cache import context_dependent_memoize
from pycuda._driver import GPUArray, _array_ops, _elementwise


def _coefficients(name, p):
    """Return coefficients as an array with one axis."""
    p = operand(name, p)
    if p.ndim > 1:
        raise ValueError(f"{name}: coefficients have one axis, not shape {p.shape}")
    return p.reshape(1) if p.ndim == 0 else p


@context_dependent_memoize
def _evaluator(dtype):
    """Return the kernel that evaluates a polynomial by Horner's rule."""
    name = dtype_to_ctype(dtype)
    return ElementwiseKernel(
        f"{name} *z, {name} *x, {name} *p, long count",
        f"const {name} at = x[i]; {name} sum = 0; "
        "for (long k = 0; k < count; k++) sum = sum * at + p[k]; z[i] = sum;",
        "polyval",
    )


def polyval(p, x, *, stream=None):
    """Return the values of a polynomial at ``x``, by Horner's rule.

    ``p`` has the coefficients, the highest power first. The result has the shape of
    ``x`` and the dtype to which both promote.
    """
    with on_stream(stream):
        p, x = _coefficients("polyval", p), operand("polyval", x)
        dtype = work = np.result_type(p.dtype, x.dtype)
        if p.shape[0] == 0:
            return GPUArray(x.shape, x.dtype, x.allocator).fill(0)
        if dtype.kind == "b":
            work = np.dtype(np.int64)
        elif dtype.itemsize == 2 and dtype.kind not in "iu":  # C has no name for it
            work = np.dtype(np.float32)
        p, x = p.astype(work), x.astype(work)
        p = p if p.flags.c_contiguous else c_copy(p)
        result = GPUArray(x.shape, work, x.allocator)
        if result.size:
            _evaluator(work)(result, x, p, p.shape[0])
        return result if work == dtype else result.astype(dtype)


def _of_length(p, length):
    """Return coefficients with zeros in front."""
    if p.shape[0] == length:
        return p
    zeros = GPUArray((length - p.shape[0],), p.dtype, p.allocator).fill(0)
    return joining.concatenate([zeros, p])


def _combined(name, a1, a2, function):
    a1, a2 = _coefficients(name, a1), _coefficients(name, a2)
    length = max(a1.shape[0], a2.shape[0])
    return function(_of_length(a1, length), _of_length(a2, length))


def polyadd(a1, a2, *, stream=None):
    """Return the coefficients of the sum of two polynomials."""
    with on_stream(stream):
        return _combined("polyadd", a1, a2, operator.add)


def polysub(a1, a2, *, stream=None):
    """Return the coefficients of the difference of two polynomials."""
    with on_stream(stream):
        return _combined("polysub", a1, a2, operator.sub)


def polymul(a1, a2, *, stream=None):
    """Return the coefficients of the product of two polynomials.

    Zeros in front of their coefficients are left out, so the call waits for these.
    """
    with on_stream(stream):
        factors = []
        for a in (a1, a2):
            a = _coefficients("polymul", a)
            trimmed = trim_zeros(a, "f")
            factors.append(trimmed if trimmed.size else _of_length(trimmed, 1))
        return convolve(*factors)


def _powers(first, count, like):
    """Return ``first``, ``first - 1``, ... as an array of int64."""
    numbers = GPUArray((count,), np.int64, like.allocator)
    return _elementwise(_array_ops["arange"], (first, -1), numbers, np.int64)


def _check_times(name, m):
    if m < 0:
        raise ValueError(f"{name}: m must be 0 or more, not {m}")


def polyder(p, m=1, *, stream=None):
    """Return the coefficients of the ``m``-th derivative of a polynomial."""
    m = operator.index(m)
    _check_times("polyder", m)
    with on_stream(stream):
        p = _coefficients("polyder", p)
        for _ in range(m):
            count = p.shape[0] - 1
            if count < 1:
                return p[:0]
            p = p[:-1] * _powers(count, count, p)
        return p


def polyint(p, m=1, k=None, *, stream=None):
    """Return the coefficients of the ``m``-th integral of a polynomial.

    ``k`` has the constants of integration, one for each of the ``m`` steps, or one for
    all of them; 0 by default.
    """
    m = operator.index(m)
    _check_times("polyint", m)
    with on_stream(stream):
        p = _coefficients("polyint", p)
        constants = _coefficients("polyint", 0.0 if k is None else k)
        count = constants.shape[0]
        if count < m and count != 1:
            raise ValueError(f"polyint: k has {count} constants for {m} integrals")
        for step in range(m):
            quotients = p / _powers(p.shape[0], p.shape[0], p)
            first = step if count > 1 else 0
            p = joining.concatenate([quotients, constants[first : first + 1]])
        return p
