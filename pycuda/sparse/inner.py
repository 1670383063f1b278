"""Inner products whose results come to the host by themselves: ``AsyncInnerProduct``.

The product is queued, and nothing waits for it: whoever wants the number asks now and
then whether it has arrived.
"""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Callable
from typing import Any

import pycuda.driver as _cuda
from pycuda import gpuarray
from pycuda._driver import GPUArray
from pycuda.tools import context_dependent_memoize

#: Streams for copies that are not in use, as weak references: each belongs to its
#: context and is gone with it.
STREAM_POOL: list[weakref.ref[_cuda.Stream]] = []


@context_dependent_memoize
def _own_streams() -> dict[int, _cuda.Stream]:
    """The streams of the current context that were ever in the pool."""
    return {}


def get_stream() -> _cuda.Stream:
    """Return a stream of the current context that no copy uses, from the pool if one
    is there."""
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
    """Return the sum of ``conj(a) * b`` as an array without axes."""
    return gpuarray.dot(a.conj() if a.dtype.kind == "c" else a, b, allocator=allocator)


class AsyncInnerProduct:
    """The inner product of two vectors, on its way to the host.

    ``gpu_result`` is the sum of ``conj(a) * b``, an array without axes, which kernels
    can use at once. Once the device has it, ``get_host_result()`` starts the copy to
    ``pagelocked_allocator((), dtype, copy_stream)``, on a stream of its own; the
    ``allocate`` of a PageLockedMemoryPool will do.
    """

    def __init__(
        self,
        a: GPUArray,
        b: GPUArray,
        pagelocked_allocator: Callable[..., Any],
        _allocator: Any = None,
    ) -> None:
        self.gpu_result: GPUArray = inner_product(a, b, _allocator)
        self.gpu_finished_evt: _cuda.Event = _cuda.Event(
            _cuda.event_flags.DISABLE_TIMING
        )
        self.gpu_finished_evt.record()
        self.gpu_finished: bool = False
        self.pagelocked_allocator = pagelocked_allocator
        self.copy_stream: _cuda.Stream | None = None
        self.host_dest: Any = None
        self.copy_finished_evt: _cuda.Event | None = None
        self._value: Any = None

    def get_host_result(self) -> Any:
        """Return the product as a number, None as long as it has not arrived."""
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
        """Return the product as a number, after it has arrived."""
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
            host_dest = allocator((), dtype)  # a pool's own has no word for a stream
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
