"""Registrations of GPUArray with libraries that keep tables of array types.

``pycuda._public.register_after_import`` calls them when a module of a library has been
imported, before or after ``pycuda.gpuarray``. dask and einops have no entry points for
these tables. dask has one for what makes arrays: ``dask_backend``, which
``pycuda.gpuarray`` has as ``_dask_backend``.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from pycuda._driver import GPUArray, to_gpu

_kept: list[type] = []  # einops holds its backends weakly


def _dask_chunk_types(module: Any) -> None:
    """Let dask's arrays take GPUArrays as operands: ``x + d``."""
    module.register_chunk_type(GPUArray)


def _dask_backends(module: Any) -> None:
    """Let dask count elements and find percentiles on the device.

    dask copies an array to the host where its user asks for that.
    """
    count = module.numel_lookup.dispatch(np.ndarray)

    def count_elements(x: GPUArray, **kwargs: Any) -> Any:
        counts = count(np.broadcast_to(np.empty((), x.dtype), x.shape), **kwargs)
        if np.ndim(counts) == 0:
            return counts
        value = counts.max(initial=0)  # they are all equal
        return GPUArray(counts.shape, counts.dtype).fill(value)

    module.numel_lookup.register(GPUArray, count_elements)
    module.empty_lookup.register(GPUArray, GPUArray)
    module.percentile_lookup.register(GPUArray, module.percentile)
    module.to_numpy_dispatch.register(GPUArray, lambda data, **kwargs: data.get())
    module.array_creation_dispatch.register_backend("pycuda", _dask_maker(module))


def _dask_maker(module: Any) -> Any:
    """Return what makes dask's arrays for ``dask.config.set({"array.backend": ...})``.

    dask makes an array of NumPy's type by default, or of the type of ``meta``.
    """

    def make(name: str, word: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            dask = importlib.import_module("dask.array")
            if kwargs.get(word) is None:
                kwargs[word] = GPUArray((), np.float64)
            with importlib.import_module("dask").config.set({"array.backend": "numpy"}):
                return getattr(dask, name)(*args, **kwargs)

        return staticmethod(call)

    class Maker(module.ArrayBackendEntrypoint):  # type: ignore[misc]
        ones = make("ones", "meta")
        zeros = make("zeros", "meta")
        empty = make("empty", "meta")
        full = make("full", "meta")
        arange = make("arange", "like")
        # Random numbers are NumPy's: curandom does not have all distributions.
        RandomState = np.random.RandomState
        default_bit_generator = np.random.PCG64

        @classmethod
        def to_backend_dispatch(cls) -> Callable[..., GPUArray]:
            return to_gpu

        @classmethod
        def to_backend(cls, data: Any, **kwargs: Any) -> Any:
            if isinstance(data._meta, GPUArray):
                return data
            return data.map_blocks(to_gpu, **kwargs)

    return Maker()


def dask_backend() -> Any:
    """Return the backend "pycuda" of dask.array. It is dask's entry point."""
    module = importlib.import_module("dask.array.backends")
    return module.array_creation_dispatch.dispatch("pycuda")


def _dask_sizes(module: Any) -> None:
    """Tell dask the size of an array in device memory."""
    module.sizeof.register(GPUArray, lambda x: x.nbytes)


def _einops_backends(module: Any) -> None:
    """Give einops a backend, which it finds among the subclasses of its own class."""

    class Backend(module.NumpyBackend):  # type: ignore[misc]
        framework_name = "pycuda.gpuarray"

        def is_appropriate_type(self, tensor: object) -> bool:
            return isinstance(tensor, GPUArray)

        def from_numpy(self, x: Any) -> GPUArray:
            return to_gpu(x)

        def to_numpy(self, x: GPUArray) -> Any:
            return x.get()

        def arange(self, start: int, stop: int) -> GPUArray:
            return to_gpu(np.arange(start, stop))

        def reshape(self, x: GPUArray, shape: Sequence[int]) -> Any:
            return np.reshape(x, shape)  # the method reads in the order of memory

    _kept.append(Backend)


#: {module of a library: function that registers GPUArray there}
MODULES: dict[str, Callable[[Any], None]] = {
    "dask.array.backends": _dask_backends,
    "dask.array.chunk_types": _dask_chunk_types,
    "dask.sizeof": _dask_sizes,
    "einops._backends": _einops_backends,
}


def register(name: str, module: ModuleType) -> None:
    """Register GPUArray with a module. A warning says that its tables have changed."""
    try:
        MODULES[name](module)
    except (AttributeError, ImportError, TypeError) as error:
        warnings.warn(
            f"this version of {name.partition('.')[0]} does not take GPUArrays: "
            f"{name}: {error}",
            RuntimeWarning,
            stacklevel=2,
        )
