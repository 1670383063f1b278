"""Registrations of GPUArray with libraries that keep tables of array types.

Each takes effect when the library is imported, before or after ``pycuda.gpuarray``.
Nothing here imports a library. dask and einops have no entry points for these tables.
"""

from __future__ import annotations

import importlib.machinery
import sys
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
    """Let dask count elements on the device, and copy arrays to the host on request."""
    count = module.numel_lookup.dispatch(np.ndarray)

    def count_elements(x: GPUArray, **kwargs: Any) -> Any:
        counts = count(np.broadcast_to(np.empty((), x.dtype), x.shape), **kwargs)
        if np.ndim(counts) == 0:
            return counts
        value = counts.max(initial=0)  # they are all equal
        return GPUArray(counts.shape, counts.dtype).fill(value)

    module.numel_lookup.register(GPUArray, count_elements)
    module.to_numpy_dispatch.register(GPUArray, lambda data, **kwargs: data.get())


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
_REGISTRATIONS: dict[str, Callable[[Any], None]] = {
    "dask.array.backends": _dask_backends,
    "dask.array.chunk_types": _dask_chunk_types,
    "dask.sizeof": _dask_sizes,
    "einops._backends": _einops_backends,
}


def _register(name: str, module: ModuleType) -> None:
    """Register GPUArray with a module. A warning says that its tables have changed."""
    try:
        _REGISTRATIONS[name](module)
    except (AttributeError, ImportError, TypeError) as error:
        warnings.warn(
            f"this version of {name.partition('.')[0]} does not take GPUArrays: "
            f"{name}: {error}",
            RuntimeWarning,
            stacklevel=2,
        )


class _Finder:
    """Finder of modules, which registers GPUArray after a module has run."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec of a module in the table, None for others."""
        if name not in _REGISTRATIONS:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_and_register(module: ModuleType) -> None:
            execute(module)
            _register(name, module)

        spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec


def install() -> None:
    """Register GPUArray with what is imported, and later with what is not yet."""
    for name in _REGISTRATIONS:
        if name in sys.modules:
            _register(name, sys.modules[name])
    sys.meta_path.insert(0, _Finder)
