"""Arrays in device memory that compute like NumPy's: ``GPUArray`` and its functions.

The type with its operators, views and reductions is C (``pycuda._driver``). The
functions are in ``pycuda._array``. This module gives them their public names.
"""

# ruff: noqa: F401  all names are public

from __future__ import annotations

from builtins import max as _builtin_max, min as _builtin_min
from types import ModuleType

import numpy as np
from numpy.lib.stride_tricks import as_strided as _as_strided

import pycuda.driver as drv

# Loaded now, so that the first operation need not load it.
from pycuda._array import kernel_request as _kernel_request
from pycuda._array.copies import memcpy_discontig as _memcpy_discontig
from pycuda._array.creation import (
    _unpickle,
    arange,
    empty_like,
    from_dlpack,
    full,
    full_like,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from pycuda._array.cumulative import cumprod, cumsum
from pycuda._array.elements import (
    multi_put,
    multi_take,
    multi_take_put,
    subset_dot,
    subset_max,
    subset_min,
    subset_sum,
    take,
)
from pycuda._array.joining import concatenate, stack
from pycuda._array.launch_shape import splay, splay_backend as _splay_backend
from pycuda._array.layout import (
    array_like_helper as _array_like_helper,
    compact_strides as _compact_strides,
)
from pycuda._array.linalg.einsum import einsum
from pycuda._array.linalg.products import (
    cross,
    diagonal,
    inner,
    kron,
    matrix_transpose,
    matvec,
    outer,
    tensordot,
    trace,
    vdot,
    vecdot,
    vecmat,
)
from pycuda._array.operations import (
    binary_op_result as _get_broadcasted_binary_op_result,
    common_dtype as _get_common_dtype,
    if_positive,
    logical_and,
    logical_not,
    logical_op as _logical_op,
    logical_or,
    maximum,
    minimum,
    reshape,
    transpose,
    where,
)
from pycuda._array.public_names import publish as _publish
from pycuda._array.reductions import (
    all,
    any,
    argmax,
    argmin,
    count_nonzero,
    dot,
    max,
    mean,
    min,
    prod,
    std,
    sum,
    var,
)
from pycuda._array.vector_types import vector_members as _vector_members
from pycuda._driver import ArrayFlags, GPUArray, matmul, to_gpu, to_gpu_async
from pycuda.characterize import has_double_support
from pycuda.compyte.array import (
    c_contiguous_strides as _c_contiguous_strides,
    f_contiguous_strides as _f_contiguous_strides,
    get_common_dtype as _get_common_dtype_base,
)

_ArrayFlags = ArrayFlags

empty = GPUArray


class vec:  # noqa: N801
    """CUDA's vector types: dtype ``vec.float4``; ``vec.make_float4(x, y, z, w)``."""


for _name, _value in _vector_members():
    setattr(vec, _name, _value)
del _name, _value


def __getattr__(name: str) -> ModuleType:
    if name == "elementwise":
        import pycuda.elementwise

        return pycuda.elementwise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_publish(globals())
