"""``rand``: random numbers without a generator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pycuda._array.kernels.compilation import load
from pycuda._array.kernels.context_cache import context_dependent_memoize
from pycuda._driver import GPUArray
from pycuda._random import sources
from pycuda._random.generator import F4, F8, I4, U4, multiprocessors

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from pycuda._array.kernels.compilation import SourceModule
    from pycuda._driver import Function, Stream
    from pycuda._random.generator import _Shape

_RAND_OF = {F4: "rand_float", F8: "rand_double", I4: "rand_uint", U4: "rand_uint"}


@context_dependent_memoize
def _rand_module() -> SourceModule:
    return load(sources.rand_text())


@context_dependent_memoize
def _rand_kernel(name: str) -> tuple[Function, int]:
    """Return (kernel, number of blocks that fill the device)."""
    function = _rand_module().get_function(name).prepare("PQQ")
    return function, 8 * multiprocessors()


def rand(
    shape: _Shape, dtype: DTypeLike = np.float32, stream: Stream | None = None
) -> GPUArray:
    """Return a new array of random numbers: floats in [0, 1), or integers of all bits.

    ``dtype`` is float32, float64, int32 or uint32. Raises NotImplementedError for
    others. The seed comes from NumPy's global generator. Use a generator of this module
    for many numbers and for other distributions.
    """
    name = _RAND_OF.get(np.dtype(dtype))
    if name is None:
        raise NotImplementedError(
            f"rand() makes float32, float64, int32 and uint32, not {np.dtype(dtype)}"
        )
    result = GPUArray(shape, dtype)
    low, high = (int(each) for each in np.random.randint(0, 2**31 - 1, 2))
    if result.size:
        kernel, most = _rand_kernel(name)
        packs = -(-result.nbytes // 16)
        blocks = min(-(-packs // 256), most)
        kernel.prepared_async_call(
            (blocks, 1),
            (256, 1, 1),
            stream,
            result.gpudata,
            result.size,
            low | high << 32,
        )
    return result
