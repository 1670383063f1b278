"""Sums of products of two sequences at all distances, and covariances."""

from __future__ import annotations

import warnings

import numpy as np

from pycuda._array.copies import c_copy, on_stream
from pycuda._array.functions import fourier, reductions
from pycuda._array.functions.conversion import operand
from pycuda._array.functions.operations import clip
from pycuda._array.kernels.c_types import dtype_to_ctype
from pycuda._array.kernels.elementwise_kernel import ElementwiseKernel
from pycuda._context_cache import context_dependent_memoize
from pycuda._driver import (
    GPUArray,
    _any,
    _concatenate,
    _sum,
    matmul,
)

_MODES = ("full", "same", "valid")

#: Elements of the shorter sequence from which Fourier transforms are faster.
_LONG = 512


@context_dependent_memoize
def _slider(dtype):
    """Return the kernel that multiplies a sequence by another one at each distance."""
    name = dtype_to_ctype(dtype)
    add = "sum = sum || (a[first + k] && v[k]);"
    if dtype.kind != "b":
        add = "sum += a[first + k] * v[k];"
    return ElementwiseKernel(
        f"{name} *z, {name} *a, {name} *v, long count, long length, long offset",
        f"{name} sum = 0; const long first = (long)i - offset; "
        "const long begin = first < 0 ? -first : 0; "
        "const long end = count - first < length ? count - first : length; "
        f"for (long k = begin; k < end; k++) {{ {add} }} z[i] = sum;",
        "correlate",
    )


def _place(mode, count, length):
    """Return the first distance and the number of distances of a mode."""
    if mode == "full":
        return length - 1, count + length - 1
    if mode == "same":
        return length // 2, count
    return 0, count - length + 1


def _slid_direct(a, v, offset, size):
    dtype = a.dtype
    if dtype.itemsize == 2 and dtype.kind not in "iu":  # C has no name for it
        a, v = a.astype(np.float32), v.astype(np.float32)
    a, v = (x if x.flags.c_contiguous else c_copy(x) for x in (a, v))
    result = GPUArray((size,), a.dtype, a.allocator)
    _slider(a.dtype)(result, a, v, a.size, v.size, offset)
    return result if result.dtype == dtype else result.astype(dtype)


def _slid_by_transforms(a, v, offset, size):
    total = a.size + v.size - 1
    length = 1 << (total - 1).bit_length()
    first = v.size - 1 - offset
    backward = v[::-1]
    if a.dtype.kind == "c":
        product = fourier.fft(a, length) * fourier.fft(backward, length)
        result = fourier.ifft(product)
    else:
        product = fourier.rfft(a, length) * fourier.rfft(backward, length)
        result = fourier.irfft(product, length)
    return result[first : first + size].astype(a.dtype)


def _slid(a, v, mode):
    """Return sums of ``a[k + j] * v[j]`` for the distances of a mode; ``v`` is shorter.

    Long sequences of floats take Fourier transforms.
    """
    dtype = np.result_type(a.dtype, v.dtype)
    a, v = a.astype(dtype), v.astype(dtype)
    offset, size = _place(mode, a.size, v.size)
    if v.size >= _LONG and dtype.kind in "fc" and dtype.itemsize > 2:
        return _slid_by_transforms(a, v, offset, size)
    return _slid_direct(a, v, offset, size)


def _sequences(name, a, v, mode):
    """Return the arguments as arrays with one axis and elements."""
    if mode not in _MODES:
        raise ValueError(f"{name}: mode is 'full', 'same' or 'valid', not {mode!r}")
    arrays = []
    for value in (a, v):
        array = operand(name, value)
        array = array.reshape(1) if array.ndim == 0 else array
        if array.ndim != 1:
            raise ValueError(f"{name} takes arrays of one axis, not {array.shape}")
        if array.size == 0:
            raise ValueError(f"{name}: an array has no elements")
        arrays.append(array)
    return arrays


def convolve(a, v, mode="full", *, stream=None):
    """Return the convolution of two sequences.

    Parameters
    ----------
    a : GPUArray
        First sequence, an array with one axis.
    v : GPUArray
        Second sequence.
    mode : {"full", "same", "valid"}, optional
        The distances: all where they overlap, as many as the longer one has elements,
        or those where they overlap completely.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array of the dtype to which both promote.

    Raises
    ------
    ValueError
        If a sequence has no elements or more axes, or if there is no such mode.

    See Also
    --------
    correlate : Without the reversal.

    Notes
    -----
    The call does not wait. From 512 elements of the shorter sequence on, floats are
    convolved by Fourier transforms, whose error is relative to the greatest result.

    Examples
    --------
    >>> a, v = (gpuarray.to_gpu(np.array(values)) for values in ([1, 2, 3], [1, 1]))
    >>> gpuarray.convolve(a, v)
    array([1, 3, 5, 3])
    """
    with on_stream(stream):
        a, v = _sequences("convolve", a, v, mode)
        if v.size > a.size:
            a, v = v, a
        return _slid(a, v[::-1], mode) if mode != "same" else _slid_same(a, v)


def _slid_same(a, v):
    """Return the middle of a full convolution, of the length of ``a``."""
    first = (v.size - 1) // 2
    return _slid(a, v[::-1], "full")[first : first + a.size]


def _conjugate(a):
    return a.conj() if a.dtype.kind == "c" else a


def correlate(a, v, mode="valid", *, stream=None):
    """Return the sums of ``a[k + j] * conj(v[j])`` for the distances ``k`` of a mode.

    Parameters
    ----------
    a : GPUArray
        First sequence, an array with one axis.
    v : GPUArray
        Second sequence.
    mode : {"valid", "same", "full"}, optional
        The distances, as for ``convolve``.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array of the dtype to which both promote.

    Raises
    ------
    ValueError
        If a sequence has no elements or more axes, or if there is no such mode.

    See Also
    --------
    convolve : With one sequence reversed.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> a, v = (gpuarray.to_gpu(np.array(values)) for values in ([1, 2, 3], [0, 1]))
    >>> gpuarray.correlate(a, v)
    array([2, 3])
    """
    with on_stream(stream):
        a, v = _sequences("correlate", a, v, mode)
        if v.size > a.size:
            return _conjugate(_slid(v, _conjugate(a), mode)[::-1])
        return _slid(a, _conjugate(v), mode)


# -- covariances -----------------------------------------------------------------------


def _observations(m, y, rowvar):
    """Return a matrix with a row for each variable."""
    m = operand("cov", m)
    if m.ndim > 2:
        raise ValueError(f"m has more than two axes: shape {m.shape}")
    if y is not None:
        y = operand("cov", y)
        if y.ndim > 2:
            raise ValueError(f"y has more than two axes: shape {y.shape}")
    rows = []
    for part in (m, y):
        if part is None:
            continue
        if part.ndim < 2:
            part = part.reshape((1, part.size))
        elif not rowvar and (part is m or part.shape[0] != 1):  # as NumPy
            part = part.T
        rows.append(part)
    return rows[0] if len(rows) == 1 else _concatenate(rows, 0)


def _weights(fweights, aweights, count):
    """Return (weights of the observations or None, the frequencies or None)."""
    result = None
    for name, weights in (("fweights", fweights), ("aweights", aweights)):
        if weights is None:
            continue
        weights = operand(name, weights)
        if weights.ndim != 1 or weights.shape[0] != count:
            raise RuntimeError(
                f"{name} has shape {weights.shape}, but there are {count} observations"
            )
        is_whole = name == "aweights" or weights.dtype.kind in "biu"
        if not is_whole and bool(_any(weights != np.rint(weights))):
            raise TypeError("fweights must be whole numbers")
        if bool(_any(weights < 0)):
            raise ValueError(f"{name} must not be negative")
        weights = weights.astype(np.float64)
        result = weights if result is None else result * weights
    return result


def _divisor(weights, aweights, count, ddof):
    """Return the number by which sums of products are divided."""
    if weights is None:
        return count - ddof
    total = float(_sum(weights).get())
    if ddof == 0 or aweights is None:
        return total - ddof
    share = float(_sum(weights * operand("aweights", aweights)).get())
    return total - ddof * share / total


def cov(
    m,
    y=None,
    rowvar=True,
    bias=False,
    ddof=None,
    fweights=None,
    aweights=None,
    *,
    dtype=None,
    stream=None,
):
    """Return the covariances of variables.

    Parameters
    ----------
    m : GPUArray
        A row for each variable and a column for each observation.
    y : GPUArray, optional
        More variables.
    rowvar : bool, optional
        If false, columns are variables and rows are observations.
    bias : bool, optional
        If true, the default of ``ddof`` is 0 instead of 1.
    ddof : int or None, optional
        The divisor is the number of observations less ``ddof``.
    fweights : GPUArray, optional
        Whole numbers of repetitions of observations.
    aweights : GPUArray, optional
        Weights of observations.
    dtype : dtype_like, optional
        Dtype of the result. The default is float64 or complex128, or a wider one of the
        arguments.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A matrix; without axes for one variable.

    Raises
    ------
    RuntimeError
        If weights have another shape.
    ValueError
        If there are more than two axes, or if weights are negative.

    See Also
    --------
    corrcoef : Divided by the standard deviations.

    Examples
    --------
    >>> gpuarray.cov(gpuarray.to_gpu(np.array([[0.0, 2], [0, 4]])))
    array([[2., 4.],
           [4., 8.]])
    """
    if ddof is not None and int(ddof) != ddof:
        raise ValueError(f"ddof must be an integer, not {ddof!r}")
    if ddof is None:
        ddof = 0 if bias else 1
    with on_stream(stream):
        x = _observations(m, y, rowvar)
        wanted = np.result_type(x.dtype, np.float64) if dtype is None else dtype
        x = x.astype(wanted)
        if x.shape[0] == 0:
            return GPUArray((0, 0), x.dtype, x.allocator)
        weights = _weights(fweights, aweights, x.shape[1])
        divisor = _divisor(weights, aweights, x.shape[1], ddof)
        if divisor <= 0:
            warnings.warn(
                "Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=2
            )
            divisor = 0.0
        mean = reductions.average(x, axis=1, weights=weights)
        x = x - mean.reshape((-1, 1))
        scaled = x if weights is None else x * weights.astype(x.real.dtype)
        result = matmul(x, scaled.conj().T)
        with np.errstate(all="ignore"):
            result = result * np.true_divide(1, divisor).astype(x.real.dtype)
        return result.reshape(()) if result.shape == (1, 1) else result


def corrcoef(x, y=None, rowvar=True, *, dtype=None, stream=None):
    """Return the correlation coefficients of variables.

    Parameters
    ----------
    x : GPUArray
        A row for each variable and a column for each observation.
    y : GPUArray, optional
        More variables.
    rowvar : bool, optional
        If false, columns are variables and rows are observations.
    dtype : dtype_like, optional
        Dtype of the result. The default is float64 or complex128, or a wider one of the
        arguments.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        The covariances divided by the standard deviations of both variables.

    See Also
    --------
    cov : The covariances.

    Examples
    --------
    >>> gpuarray.corrcoef(gpuarray.to_gpu(np.array([[0.0, 2], [0, 4]])))
    array([[1., 1.],
           [1., 1.]])
    """
    with on_stream(stream):
        c = cov(x, y, rowvar, dtype=dtype)
        if c.ndim == 0:
            return c / c
        deviation = reductions.root(c.diagonal().real)
        c = c / deviation.reshape((-1, 1)) / deviation
        if c.dtype.kind == "c":
            real, imag = clip(c.real, -1, 1), clip(c.imag, -1, 1)
            return (real + 1j * imag).astype(c.dtype)
        return clip(c, -1, 1)
