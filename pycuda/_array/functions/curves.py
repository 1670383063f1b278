"""Functions of sampled curves, such as interpolation; polynomials."""

from __future__ import annotations

import operator

import numpy as np

from pycuda._array.copies import c_copy, on_stream
from pycuda._array.functions.conversion import operand
from pycuda._array.functions.correlation import convolve
from pycuda._array.functions.differences import diff
from pycuda._array.functions.lines import trim_zeros
from pycuda._array.functions.operations import where
from pycuda._array.functions.sorting import argsort
from pycuda._array.kernels.c_types import dtype_to_ctype
from pycuda._array.kernels.elementwise_kernel import ElementwiseKernel
from pycuda._array.layout import normal_axis
from pycuda._context_cache import context_dependent_memoize
from pycuda._driver import (
    GPUArray,
    _array_ops,
    _concatenate,
    _cumsum,
    _elementwise,
    _sum,
    _take,
)


@context_dependent_memoize
def _interpolator(dtype):
    """Return the kernel that reads a polygon at places."""
    name = dtype_to_ctype(dtype)
    return ElementwiseKernel(
        f"{name} *z, double *x, double *xp, {name} *fp, unsigned count, "
        f"{name} left, {name} right, int given",
        f"""
        const double at = x[i];
        unsigned below = 0;  // the last place that is not beyond, or the first
        for (unsigned length = count; length > 1; length -= length >> 1)
            if (xp[below + (length >> 1)] <= at) below += length >> 1;
        const unsigned above = below + 1 < count ? below + 1 : below;
        {name} value = fp[below];
        if (at != at && count > 1) value = {name}(at);
        else if (at < xp[0]) value = given & 1 ? left : value;
        else if (at > xp[above]) value = given & 2 ? right : fp[above];
        else if (below != above && at != xp[below])
            value = pycuda_interpolated(at, xp[below], xp[above], value, fp[above]);
        z[i] = value;
        """,
        "interp",
        preamble="""
        __device__ double pycuda_interpolated(
            double at, double left, double right, double low, double high)
        {
            const double slope = (high - low) / (right - left);
            double value = slope * (at - left) + low;
            if (value != value) {  // an infinite part: begin at the other end
                value = slope * (at - right) + high;
                if (value != value && low == high) value = low;
            }
            return value;
        }
        __device__ pycuda::complex<double> pycuda_interpolated(
            double at, double left, double right, pycuda::complex<double> low,
            pycuda::complex<double> high)
        {
            return pycuda::complex<double>(
                pycuda_interpolated(at, left, right, low.real(), high.real()),
                pycuda_interpolated(at, left, right, low.imag(), high.imag()));
        }
        """,
    )


def _converted(a, dtype):
    """Return the array in C order without gaps, a copy only if it must be one."""
    if a.dtype != dtype:
        a = a.astype(dtype)
    return a if a.flags.c_contiguous else c_copy(a)


def _samples(xp, fp):
    """Return the samples as arrays of float64, or complex128, without gaps."""
    xp, fp = operand("interp", xp), operand("interp", fp)
    if xp.ndim != 1 or fp.shape != xp.shape:
        raise ValueError(
            f"interp: xp and fp have one axis and one length, not the shapes {xp.shape}"
            f" and {fp.shape}"
        )
    if not 0 < xp.shape[0] < 2**31:
        raise ValueError(f"interp takes 1 to 2**31 - 1 samples, not {xp.shape[0]}")
    if xp.dtype.kind == "c":
        raise TypeError(f"interp: xp must be real, not {xp.dtype}")
    wanted = np.complex128 if fp.dtype.kind == "c" else np.float64
    return _converted(xp, np.float64), _converted(fp, wanted)


def _periodic(x, xp, fp, period):
    """Return the arguments of one period, with a sample beyond each end."""
    if period == 0:
        raise ValueError("interp: the period must not be 0")
    period = abs(period)
    x, xp = x % period, xp % period
    order = argsort(xp, kind="stable")
    xp, fp = _take(xp, order), _take(fp, order)
    xp = _concatenate([xp[-1:] - period, xp, xp[:1] + period])
    fp = _concatenate([fp[-1:], fp, fp[:1]])
    return x, xp, fp


def interp(x, xp, fp, left=None, right=None, period=None, *, stream=None):
    """Return the polygon through the points ``(xp, fp)`` at places ``x``.

    Parameters
    ----------
    x : GPUArray
        Places, real numbers.
    xp : GPUArray
        Places of the points, which must rise.
    fp : GPUArray
        Values at the points.
    left : number, optional
        Value before the first point. The default is the first of ``fp``.
    right : number, optional
        Value after the last point. The default is the last of ``fp``.
    period : float, optional
        If given, the points are sorted first and continue on both sides.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array in the shape of ``x``, of float64, or complex128 for complex ``fp``.

    Raises
    ------
    TypeError
        If the places are complex.
    ValueError
        If the points do not fit together.

    Examples
    --------
    >>> x, y = (gpuarray.to_gpu(np.array(values)) for values in ([0.0, 1], [0.0, 10]))
    >>> gpuarray.interp(gpuarray.to_gpu(np.array([0.5])), x, y)
    array([5.])
    """
    with on_stream(stream):
        xp, fp = _samples(xp, fp)
        x = operand("interp", x)
        if x.dtype.kind == "c":
            raise TypeError(f"interp: x must be real, not {x.dtype}")
        x = _converted(x, np.float64)
        if period is not None:
            x, xp, fp = _periodic(x, xp, fp, period)
            left = right = None
        given = (left is not None) + 2 * (right is not None)
        numbers = [fp.dtype.type(0 if end is None else end) for end in (left, right)]
        result = GPUArray(x.shape, fp.dtype, x.allocator)
        if result.size:
            kernel = _interpolator(fp.dtype)
            kernel(result, x, xp, fp, xp.shape[0], *numbers, given)
        return result


def trapezoid(y, x=None, dx=1.0, axis=-1, *, stream=None):
    """Return the integral of samples along an axis, by the trapezoidal rule.

    Parameters
    ----------
    y : GPUArray
        The samples.
    x : GPUArray, optional
        Places of the samples, an array with one axis or of a shape that broadcasts with
        ``y``.
    dx : float, optional
        Distance of the samples if ``x`` is not given.
    axis : int, optional
        Axis along which to compute. The default is the last one.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array with an axis less.

    Raises
    ------
    ValueError
        If there is no such axis.

    Examples
    --------
    >>> print(gpuarray.trapezoid(gpuarray.to_gpu(np.array([1.0, 2, 3]))))
    4.0
    """
    with on_stream(stream):
        y = operand("trapezoid", y)
        axis = normal_axis(axis, y.ndim)
        if x is None:
            distance = dx
        else:
            x = operand("trapezoid", x)
            if x.ndim == 1:
                distance = diff(x).reshape((-1,) + (1,) * (y.ndim - 1 - axis))
            else:
                distance = diff(x, axis=axis - y.ndim)
        front = (slice(None),) * axis
        after, before = y[front + (slice(1, None),)], y[front + (slice(None, -1),)]
        return _sum(distance * (after + before) / 2.0, axis=axis)


def unwrap(p, discont=None, axis=-1, *, period=2 * np.pi, stream=None):
    """Return phases along an axis without jumps: moved by multiples of the period.

    Parameters
    ----------
    p : GPUArray
        Phases.
    discont : float, optional
        A step of this size or more becomes the equal step that is at most half a period
        long. The default is half the period.
    axis : int, optional
        Axis along which to compute. The default is the last one.
    period : float, optional
        The period. The default is 2 pi.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array of the dtype to which ``p`` and the period promote.

    Raises
    ------
    ValueError
        If there is no such axis.

    Examples
    --------
    >>> gpuarray.unwrap(gpuarray.to_gpu(np.array([0, 3, 1])), period=4)
    array([ 0, -1, -3])
    """
    with on_stream(stream):
        p = operand("unwrap", p)
        axis = normal_axis(axis, p.ndim)
        step = diff(p, axis=axis)
        dtype = np.result_type(step.dtype, period)
        if discont is None:
            discont = period / 2
        high, rest = period / 2, 0
        if dtype.kind in "iu":
            high, rest = divmod(period, 2)
        step = step.astype(dtype)
        short = np.remainder(step + high, period) - high
        if rest == 0:
            short = where((short == -high) & (step > 0), high, short)
        moved = where(abs(step) < discont, 0, short - step)
        result = p.astype(dtype)
        result = c_copy(p) if result is p else result
        front = (slice(None),) * axis
        total = _cumsum(moved, axis, dtype=dtype)
        result[front + (slice(1, None),)] += total
        return result


# -- polynomials: arrays of coefficients, the highest power first ----------------------


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
    """Return the values of a polynomial, by Horner's rule.

    Parameters
    ----------
    p : GPUArray
        The coefficients, the highest power first.
    x : GPUArray or number
        Places.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array in the shape of ``x``, of the dtype to which both promote.

    Examples
    --------
    >>> p = gpuarray.to_gpu(np.array([1, 0, 2]))
    >>> gpuarray.polyval(p, gpuarray.arange(3, dtype=np.int64))
    array([2, 3, 6])
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
    return _concatenate([zeros, p])


def _combined(name, a1, a2, function):
    a1, a2 = _coefficients(name, a1), _coefficients(name, a2)
    length = max(a1.shape[0], a2.shape[0])
    return function(_of_length(a1, length), _of_length(a2, length))


def polyadd(a1, a2, *, stream=None):
    """Return the coefficients of the sum of two polynomials.

    Parameters
    ----------
    a1 : GPUArray
        Coefficients of the first, the highest power first.
    a2 : GPUArray
        Coefficients of the second.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array.

    Examples
    --------
    >>> a = gpuarray.to_gpu(np.array([1, 2]))
    >>> gpuarray.polyadd(a, a)
    array([2, 4])
    """
    with on_stream(stream):
        return _combined("polyadd", a1, a2, operator.add)


def polysub(a1, a2, *, stream=None):
    """Return the coefficients of the difference of two polynomials.

    Parameters
    ----------
    a1 : GPUArray
        Coefficients of the first, the highest power first.
    a2 : GPUArray
        Coefficients of the second.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array.

    Examples
    --------
    >>> a, b = (gpuarray.to_gpu(np.array(values)) for values in ([1, 2, 3], [1, 1]))
    >>> gpuarray.polysub(a, b)
    array([1, 1, 2])
    """
    with on_stream(stream):
        return _combined("polysub", a1, a2, operator.sub)


def polymul(a1, a2, *, stream=None):
    """Return the coefficients of the product of two polynomials.

    Parameters
    ----------
    a1 : GPUArray
        Coefficients of the first, the highest power first.
    a2 : GPUArray
        Coefficients of the second.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array.

    Notes
    -----
    Zeros in front of the coefficients are left out, so the call waits for them.

    Examples
    --------
    >>> a = gpuarray.to_gpu(np.array([1, 2]))
    >>> gpuarray.polymul(a, a)
    array([1, 4, 4])
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
    """Return the coefficients of a derivative of a polynomial.

    Parameters
    ----------
    p : GPUArray
        The coefficients, the highest power first.
    m : int, optional
        Number of derivatives.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    ValueError
        If ``m`` is negative.

    Examples
    --------
    >>> gpuarray.polyder(gpuarray.to_gpu(np.array([1, 2, 3])))
    array([2, 2])
    """
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
    """Return the coefficients of an integral of a polynomial.

    Parameters
    ----------
    p : GPUArray
        The coefficients, the highest power first.
    m : int, optional
        Number of integrals.
    k : number or sequence of number, optional
        Constants of integration, one for each of the ``m`` steps, or one for all. The
        default is 0.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array.

    Raises
    ------
    ValueError
        If the number of constants does not fit, or if ``m`` is negative.

    Examples
    --------
    >>> gpuarray.polyint(gpuarray.to_gpu(np.array([2, 2])))
    array([1., 2., 0.])
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
            p = _concatenate([quotients, constants[first : first + 1]])
        return p
