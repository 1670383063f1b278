"""Asynchronous inner products: ``AsyncInnerProduct``.

The product is enqueued, and nothing waits for it. The program asks from time to time
whether the number has arrived on the host.
"""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Callable
from typing import Any

import pycuda.driver as _cuda
from pycuda import _hide_imports, gpuarray
from pycuda._driver import GPUArray
from pycuda.tools import context_dependent_memoize

__all__ = ["AsyncInnerProduct", "STREAM_POOL", "get_stream", "inner_product"]
_hide_imports(globals())

#: Streams for copies that are not in use, as weak references: a stream belongs to its
#: context and ends with it.
STREAM_POOL: list[weakref.ref[_cuda.Stream]] = []


@context_dependent_memoize
def _own_streams() -> dict[int, _cuda.Stream]:
    """Return the list of all streams of the current context that the pool made."""
    return {}


def get_stream() -> _cuda.Stream:
    """Return an unused stream of the current context, from the pool if possible.

    Returns
    -------
    Stream
        The stream.
    """
    own = _own_streams()
    for reference in list(STREAM_POOL):
        stream = reference()
        if stream is None:
            STREAM_POOL.remove(reference)
        elif own.get(id(stream)) is stream:
            STREAM_POOL.remove(reference)
            return stream
    return _cuda.Stream()


def _give_back(stream: _cuda.Stream) -> None:
    _own_streams()[id(stream)] = stream
    STREAM_POOL.append(weakref.ref(stream))


def _at_exit() -> None:
    """Empty the pool of streams."""
    STREAM_POOL.clear()


atexit.register(_at_exit)


def inner_product(a: GPUArray, b: GPUArray, allocator: Any = None) -> GPUArray:
    """Return the sum of ``conj(a) * b``.

    Parameters
    ----------
    a : GPUArray
        First vector.
    b : GPUArray
        Second vector, of the same length.
    allocator : callable, optional
        Function of a number of bytes that returns device memory. The default is the
        allocator of the array.

    Returns
    -------
    GPUArray
        A new array without axes.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> from pycuda.sparse.inner import inner_product
    >>> x = gpuarray.to_gpu(np.array([1.0, 2, 3]))
    >>> print(inner_product(x, x))
    14.0
    """
    return gpuarray.dot(a.conj() if a.dtype.kind == "c" else a, b, allocator=allocator)


class AsyncInnerProduct:
    """Inner product of two vectors, which is copied to the host asynchronously.

    When the device has computed the sum of ``conj(a) * b``, ``get_host_result`` starts
    the copy on a separate stream.

    Parameters
    ----------
    a : GPUArray
        First vector.
    b : GPUArray
        Second vector, of the same length.
    pagelocked_allocator : callable
        Function of a shape, a dtype and a stream that returns page-locked memory, such
        as ``allocate`` of a PageLockedMemoryPool.
    _allocator : callable, optional
        Allocator of the result on the device.

    Attributes
    ----------
    gpu_result : pycuda.gpuarray.GPUArray
        The product, an array without axes.
    gpu_finished_evt : pycuda.driver.Event
        The event that is recorded when the device has computed the product.
    gpu_finished : bool
        Whether the copy to the host has begun.
    pagelocked_allocator : callable
        The argument of that name: it allocates the memory of the host.
    copy_stream : pycuda.driver.Stream or None
        The stream of the copy, while it runs.
    host_dest : numpy.ndarray or None
        The page-locked memory that gets the product, once the copy has begun.
    copy_finished_evt : pycuda.driver.Event or None
        The event that is recorded when the copy is done.

    Examples
    --------
    >>> from pycuda.sparse.inner import AsyncInnerProduct
    >>> x = gpuarray.to_gpu(np.array([1.0, 2, 3]))
    >>> product = AsyncInnerProduct(x, x, drv.PageLockedMemoryPool().allocate)
    >>> print(product.wait())
    14.0
    """

    gpu_result: GPUArray
    gpu_finished_evt: _cuda.Event
    gpu_finished: bool
    copy_stream: _cuda.Stream | None
    host_dest: Any
    copy_finished_evt: _cuda.Event | None

    def __init__(
        self,
        a: GPUArray,
        b: GPUArray,
        pagelocked_allocator: Callable[..., Any],
        _allocator: Any = None,
    ) -> None:
        self.gpu_result = inner_product(a, b, _allocator)
        self.gpu_finished_evt = _cuda.Event(_cuda.event_flags.DISABLE_TIMING)
        self.gpu_finished_evt.record()
        self.gpu_finished = False
        self.pagelocked_allocator = pagelocked_allocator
        self.copy_stream = None
        self.host_dest = None
        self.copy_finished_evt = None
        self._value: Any = None

    def get_host_result(self) -> Any:
        """Return the product if it has arrived.

        Returns
        -------
        numpy.generic or None
            The number, or None if it has not arrived.

        Notes
        -----
        The call does not wait. The first call after the device has computed the product
        starts the copy.
        """
        if self._value is not None:
            return self._value
        if not self.gpu_finished:
            if not self.gpu_finished_evt.query():
                return None
            self._start_copy()
        assert self.copy_finished_evt is not None
        if not self.copy_finished_evt.query():
            return None
        return self._finish()

    def wait(self) -> Any:
        """Wait for the product and return it.

        Returns
        -------
        numpy.generic
            The number.
        """
        if self._value is not None:
            return self._value
        if not self.gpu_finished:
            self.gpu_finished_evt.synchronize()
            self._start_copy()
        assert self.copy_finished_evt is not None
        self.copy_finished_evt.synchronize()
        return self._finish()

    def _start_copy(self) -> None:
        stream = get_stream()
        dtype = self.gpu_result.dtype
        allocator = self.pagelocked_allocator
        if isinstance(getattr(allocator, "__self__", None), _cuda.PageLockedMemoryPool):
            host_dest = allocator((), dtype)  # a pool takes no stream
        else:
            host_dest = allocator((), dtype, stream)
        self.gpu_result.get_async(stream, host_dest)
        self.copy_finished_evt = _cuda.Event(_cuda.event_flags.DISABLE_TIMING)
        self.copy_finished_evt.record(stream)
        self.copy_stream, self.host_dest = stream, host_dest
        self.gpu_finished = True

    def _finish(self) -> Any:
        self._value = self.host_dest[()]
        assert self.copy_stream is not None
        _give_back(self.copy_stream)
        self.copy_stream = None
        return self._value
