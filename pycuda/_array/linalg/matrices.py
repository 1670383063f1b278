"""Operands of solvers: checks, dtypes, and copies that routines overwrite."""

from __future__ import annotations

import numpy as np

from pycuda._array.layout import broadcast_to
from pycuda._driver import GPUArray, to_gpu

_PLAIN = ("float32", "float64", "complex64", "complex128")
LARGEST = 2**31 - 1

#: Stacks of at least so many matrices, of at most so many rows, are decomposed at once.
#: A few small matrices are, too: that is one kernel instead of several.
MANY, SMALL, SMALLEST = 4, 256, 32

#: Larger matrices than these are never those of a generated kernel.
KERNELS_MOST = 256


def common_dtype(name, *arrays):
    """Return the dtype in which a solver computes: integers and bool become float64."""
    for a in arrays:
        if not isinstance(a, GPUArray):
            raise TypeError(
                f"{name} takes GPUArrays, not {type(a).__name__}; copy it with to_gpu()"
            )
        if a.dtype.kind not in "biufc" or a.dtype == np.float16:
            raise TypeError(f"{name} does not take arrays of dtype {a.dtype}")
    dtypes = [np.float64 if a.dtype.kind in "biu" else a.dtype for a in arrays]
    dtype = np.result_type(*dtypes)
    if dtype.name not in _PLAIN:
        raise TypeError(f"{name} does not compute in dtype {dtype}")
    return dtype


def real_dtype(dtype):
    """Return the dtype of the real part."""
    return np.dtype(dtype.char.lower())


def check_stack(name, *arrays):
    """Refuse an array that is not a matrix or a stack of matrices."""
    for a in arrays:
        if a.ndim < 2:
            raise np.linalg.LinAlgError(
                f"{name} takes arrays with two axes or more, not shape {a.shape}"
            )
        if max(a.shape[-2:]) > LARGEST:
            raise ValueError(f"{name}: a matrix of shape {a.shape[-2:]} is too big")


def check_square(name, *arrays):
    """Refuse matrices that are not square."""
    check_stack(name, *arrays)
    for a in arrays:
        if a.shape[-1] != a.shape[-2]:
            raise np.linalg.LinAlgError(
                f"{name} takes square matrices: the last two axes of shape {a.shape} "
                "differ"
            )


def may_be_small(a):
    """Return whether a generated kernel may take the matrices."""
    return bool(a.size) and max(a.shape[-2:]) <= KERNELS_MOST


def is_convertible(name, a):
    """Return whether a generated kernel may take the matrices in another dtype."""
    dtype = common_dtype(name, a)
    return a.dtype != dtype and a.ndim >= 2 and may_be_small(a)


def converted(a, dtype, batch):
    """Return matrices in another dtype and with another batch, copied if need be."""
    if a.dtype != dtype:
        a = a.astype(dtype)
    if a.shape[:-2] != batch:
        a = broadcast_to(a, (*batch, *a.shape[-2:]))
    return a


def turned(a):
    """Return a view with the last two axes exchanged."""
    return a.transpose((*range(a.ndim - 2), a.ndim - 1, a.ndim - 2))


def by_row(a, dtype, shape=None):
    """Return a packed copy of shape (batch, rows, columns): LAPACK sees it transposed.

    ``shape`` broadcasts the batch.
    """
    batch = a.shape[:-2] if shape is None else shape
    count = int(np.prod(batch, dtype=np.int64))
    work = GPUArray((*batch, *a.shape[-2:]), dtype, a.allocator)
    if work.size:
        work[...] = a
    return work.reshape((count, *a.shape[-2:]))


def by_column(a, dtype, shape=None):
    """Return a packed copy of shape (batch, columns, rows): LAPACK sees the matrix."""
    return by_row(turned(a), dtype, shape)


def result(work, batch):
    """Return matrices stored by column as an array in C order, with a batch's axes."""
    shape = (*batch, work.shape[2], work.shape[1])
    packed = GPUArray(
        (work.shape[0], work.shape[2], work.shape[1]), work.dtype, work.allocator
    )
    if packed.size:
        packed[...] = turned(work)
    return packed.reshape(shape)


def addresses(stack):
    """Return the addresses of the matrices of a stack, as an array of the device."""
    steps = np.arange(stack.shape[0], dtype=np.uint64) * np.uint64(stack.strides[0])
    return to_gpu(np.uint64(stack.ptr) + steps, stack.allocator)


def are_many_small(stack):
    """Return whether a stack is decomposed sooner at once than one by one."""
    rows = stack.shape[-1]
    return rows <= SMALLEST or (rows <= SMALL and stack.shape[0] >= MANY)


def refuse_stopped(stopped, message):
    """Raise LinAlgError if a routine stopped."""
    if stopped.any():
        raise np.linalg.LinAlgError(message)
