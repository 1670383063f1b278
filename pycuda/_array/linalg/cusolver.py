"""The routines of cuSOLVER and cuBLAS that solve systems and decompose matrices.

Each context has a handle of a library, which ends with it and is used by one thread at
a time. Matrices are stored by column, as in LAPACK. ``@`` calls cuBLAS from C.
"""

from __future__ import annotations

import os
import sys
import threading
from ctypes import byref, c_int, c_void_p

import numpy as np

import pycuda.driver as _cuda
from pycuda import _driver, _libraries
from pycuda._array.copies import is_captured
from pycuda._array.linalg.matrices import addresses, are_many_small
from pycuda._context_cache import context_dependent_memoize
from pycuda._driver import Context, GPUArray, Stream

_LETTERS = {"float32": "S", "float64": "D", "complex64": "C", "complex128": "Z"}


class _Statuses:
    """The failures of a library: their names, and the exceptions of some."""

    def __init__(self, prefix, names, kinds):
        self._prefix = prefix
        self._names = names
        self._kinds = kinds

    def check(self, name, status):
        """Raise the exception of a status."""
        if status:
            kind = self._kinds.get(status, _cuda.LogicError)
            text = self._names.get(status, status)
            raise kind(f"{name} failed: {self._prefix}_STATUS_{text}")


class Handle:
    """A library's handle of the current context.

    ``open_library()`` returns the library. ``names`` are its functions that make a
    handle, release one and set the stream; ``check(name, status)`` raises the exception
    of a status. The context remembers the handle, which is released with it.
    """

    def __init__(self, open_library, names, check):
        if _driver._is_emulated():
            raise _cuda.RuntimeError(
                "the software device has no cuSOLVER (the extra linalg): there NumPy "
                "computes, but not while a graph is captured, nor if PYCUDA_SOLVER "
                "chooses something else"
            )
        self.library = library = open_library()
        self.value = c_void_p()
        self.lengths = {}  # of work spaces, which depend on sizes only
        self._check = check
        create, self._destroy, self._set_stream = names
        self._lock = threading.Lock()
        self._context = Context.get_current()
        self._pid = os.getpid()
        check(create, getattr(library, create)(byref(self.value)))

    def __del__(self):
        if not getattr(self, "value", None) or os.getpid() != self._pid:
            return  # there is no handle, or it belongs to the parent process
        if self._context is None or sys.is_finalizing():
            return  # the context is not ours, or ends with the process
        try:
            self._context.push()
        except _cuda.Error:
            return  # the context has ended, and the handle with it
        try:
            getattr(self.library, self._destroy)(self.value)
        finally:
            Context.pop()

    def call(self, name, *arguments):
        """Call a function on the current stream. Arrays are passed as addresses.

        A captured stream is refused before the library enqueues anything: routines
        report a status, for which the host would have to wait.
        """
        _driver._refuse_recording()
        if is_captured():
            raise _cuda.LogicError(
                f"{name} cannot be captured: the host waits for its status; call it "
                "before the capture"
            )
        stream = Stream.get_current()
        passed = [
            c_void_p(a.ptr if a.size else 0) if isinstance(a, GPUArray) else a
            for a in arguments
        ]
        function = getattr(self.library, name)
        with self._lock:
            number = c_void_p(stream.handle if stream else 0)
            set_stream = getattr(self.library, self._set_stream)
            self._check(self._set_stream, set_stream(self.value, number))
            status = function(self.value, *passed)
        self._check(name, status)
        if not name.endswith("_bufferSize"):  # those enqueue no work
            _driver._note_library_call(name, number.value or 0)


# -- cuSOLVER --------------------------------------------------------------------------


_CUSOLVER_STATUSES = _Statuses(
    "CUSOLVER",
    {
        1: "NOT_INITIALIZED",
        2: "ALLOC_FAILED",
        3: "INVALID_VALUE",
        4: "ARCH_MISMATCH",
        5: "MAPPING_ERROR",
        6: "EXECUTION_FAILED",
        7: "INTERNAL_ERROR",
        8: "MATRIX_TYPE_NOT_SUPPORTED",
        9: "NOT_SUPPORTED",
    },
    {2: _cuda.MemoryError, 6: _cuda.LaunchError},
)

check_cusolver = _CUSOLVER_STATUSES.check

LOWER, UPPER = 0, 1
VALUES, VECTORS = 0, 1


@context_dependent_memoize
def _cusolver_handle():
    names = ("cusolverDnCreate", "cusolverDnDestroy", "cusolverDnSetStream")
    return Handle(_libraries.CUSOLVER.open, names, check_cusolver)


class Routines:
    """The routines for one dtype, on the current stream.

    ``made`` are the statuses of the matrices of a batch: 0, or the number of the row
    that stopped the routine.
    """

    def __init__(self, dtype, batch, allocator=None):
        self._handle = _cusolver_handle()
        self._library = self._handle.library
        self._letter = _LETTERS[np.dtype(dtype).name]
        self._dtype = dtype
        self._allocator = allocator
        self.batch = batch
        self.made = GPUArray((max(batch, 1),), np.int32, allocator)

    def space(self, name, *arguments):
        """Return a routine's work space as (array, number of elements)."""
        numbers = [a for a in arguments if isinstance(a, int)]
        key = (self._letter, name, *numbers)
        length = self._handle.lengths.get(key)
        if length is None:
            asked = c_int()
            self._call(f"{name}_bufferSize", *arguments, byref(asked))
            length = self._handle.lengths[key] = asked.value
        return GPUArray((max(length, 1),), self._dtype, self._allocator), length

    def call(self, name, number, *arguments):
        """Call a routine for the matrix of that number in the batch."""
        self._call(name, *arguments, at(self.made, number))

    def call_all(self, name, *arguments):
        """Call a routine for all matrices of the batch at once."""
        self._call(f"{name}Batched", *arguments, self.made, self.batch)

    def jacobi_values(self, work, values):
        """Store the singular values of matrices that LAPACK sees with m >= n.

        ``gesvdj`` computes them. Return its statuses as ``stopped`` does.
        """
        count, n, m = work.shape
        library, asked = self._library, c_int()
        parameters = c_void_p()
        check_cusolver(
            "cusolverDnCreateGesvdjInfo",
            library.cusolverDnCreateGesvdjInfo(byref(parameters)),
        )

        # Vectors are not computed, but the routine uses their memory.
        left = GPUArray((1, n, m), self._dtype, self._allocator)
        right = GPUArray((1, n, n), self._dtype, self._allocator)

        def matrices(i):
            return (
                *(VALUES, 1, m, n, at(work, i), m, at(values, i)),
                *(at(left, 0), m, at(right, 0), n),
            )

        try:
            self._call("gesvdj_bufferSize", *matrices(0), byref(asked), parameters)
            space = GPUArray((max(asked.value, 1),), self._dtype, self._allocator)
            for i in range(count):
                self._call(
                    *("gesvdj", *matrices(i), space, asked.value),
                    *(at(self.made, i), parameters),
                )
            return self.stopped()
        finally:
            library.cusolverDnDestroyGesvdjInfo(parameters)

    def exchange_rows(self, *arguments):
        """Call ``laswp``, which has no status."""
        self._call("laswp", *arguments)

    def _call(self, name, *arguments):
        self._handle.call(f"cusolverDn{self._letter}{name}", *arguments)

    def stopped(self):
        """Wait for the routines. Return the statuses as a NumPy array."""
        return self.made.get()[: self.batch]


def at(array, number):
    """Return the address of the item of that number along the first axis."""
    step = array.strides[0] if array.ndim else 0
    return c_void_p(array.ptr + number * step)


# -- cuBLAS: many small matrices at once -----------------------------------------------


_CUBLAS_STATUSES = _Statuses(
    "CUBLAS",
    {
        1: "NOT_INITIALIZED",
        3: "ALLOC_FAILED",
        7: "INVALID_VALUE",
        8: "ARCH_MISMATCH",
        11: "MAPPING_ERROR",
        13: "EXECUTION_FAILED",
        14: "INTERNAL_ERROR",
        15: "NOT_SUPPORTED",
    },
    {3: _cuda.MemoryError, 13: _cuda.LaunchError},
)


@context_dependent_memoize
def _cublas_handle():
    names = ("cublasCreate_v2", "cublasDestroy_v2", "cublasSetStream_v2")
    return Handle(_libraries.CUBLAS.open, names, _CUBLAS_STATUSES.check)


def solve_triangle(lower, a, right):
    """Solve for one triangle of a matrix in place of right sides, stored by column.

    The diagonal of a lower triangle is 1.
    """
    n, columns = a.shape[-1], right.shape[0]
    dtype = right.dtype
    one = np.ones((), dtype)
    fill, is_unit = (0, 1) if lower else (1, 0)
    _cublas_handle().call(
        f"cublas{_LETTERS[dtype.name]}trsm_v2",
        *(0, fill, 0, is_unit, n, columns, c_void_p(one.ctypes.data)),
        *(a, n, right, n),
    )


class BatchedLU:
    """The LU decompositions of a stack of matrices, made in their place.

    LAPACK sees the matrices by column. ``pivots`` has a row for each matrix.
    """

    def __init__(self, stack):
        count, n, _ = stack.shape
        self._handle = _cublas_handle()
        self._letter = _LETTERS[stack.dtype.name]
        self._stack, self._matrices = stack, addresses(stack)
        self.pivots = GPUArray((count, n), np.int32, stack.allocator)
        self._made = GPUArray((count,), np.int32, stack.allocator)
        self._handle.call(
            f"cublas{self._letter}getrfBatched",
            *(n, self._matrices, n, self.pivots, self._made, count),
        )

    def stopped(self):
        """Wait for the decompositions. Return their statuses as a NumPy array."""
        return self._made.get()

    def substitute(self, right):
        """Solve for right sides, which are stored by column, in their place."""
        count, n, _ = self._stack.shape
        wrong = c_int()
        name = f"cublas{self._letter}getrsBatched"
        self._handle.call(
            *(name, 0, n, right.shape[1], self._matrices, n, self.pivots),
            *(addresses(right), n, byref(wrong), count),
        )
        if wrong.value:
            raise _cuda.LogicError(f"{name} refused its argument {-wrong.value}")


# -- LU decompositions -----------------------------------------------------------------


class LoopedLU:
    """The LU decompositions of a stack of matrices, made in their place.

    LAPACK sees the matrices by column. ``pivots`` has a row for each matrix.
    """

    def __init__(self, stack):
        count, n, _ = stack.shape
        self._stack = stack
        self._routines = Routines(stack.dtype, count, stack.allocator)
        self.pivots = GPUArray((count, n), np.int32, stack.allocator)
        space, _ = self._routines.space("getrf", n, n, stack, n)
        for i in range(count):
            self._routines.call(
                "getrf", i, n, n, at(stack, i), n, space, at(self.pivots, i)
            )

    def stopped(self):
        """Wait for the decompositions. Return their statuses as a NumPy array."""
        return self._routines.stopped()

    def substitute(self, right):
        """Solve for right sides, which are stored by column, in their place.

        Exchanging rows and solving for the triangles by cuBLAS takes half the time of
        cuSOLVER's ``getrs``.
        """
        count, n, _ = self._stack.shape
        routines = Routines(right.dtype, count, right.allocator)
        for i in range(count):
            routines.exchange_rows(
                *(right.shape[1], at(right, i), n, 1, n, at(self.pivots, i), 1)
            )
            solve_triangle(True, self._stack[i], right[i])
            solve_triangle(False, self._stack[i], right[i])


def decompose(stack):
    """Return the decompositions of a stack of shape (count, n, n), in its place."""
    if are_many_small(stack):
        return BatchedLU(stack)
    return LoopedLU(stack)
