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
from pycuda._array.functions.averages import average
from pycuda._array.functions.bits import packbits, unpackbits
from pycuda._array.functions.conversion import (
    asarray,
    ascontiguousarray,
    asfortranarray,
    copy,
)
from pycuda._array.functions.correlation import convolve, corrcoef, correlate, cov
from pycuda._array.functions.counting import bincount, histogram, histogram_bin_edges
from pycuda._array.functions.cumulative import nancumprod, nancumsum
from pycuda._array.functions.curves import interp, trapezoid, unwrap
from pycuda._array.functions.diagonals import (
    diag,
    diag_indices,
    diag_indices_from,
    diagflat,
    diagonal,
    eye,
    fill_diagonal,
    identity,
    tri,
    tril,
    tril_indices,
    tril_indices_from,
    triu,
    triu_indices,
    triu_indices_from,
)
from pycuda._array.functions.differences import diff, ediff1d, gradient
from pycuda._array.functions.elements import (
    multi_put,
    multi_take,
    multi_take_put,
    put,
    put_along_axis,
    select,
    subset_dot,
    subset_max,
    subset_min,
    subset_sum,
    take_along_axis,
)
from pycuda._array.functions.flat_indices import (
    choose,
    ravel_multi_index,
    unravel_index,
)
from pycuda._array.functions.grids import (
    broadcast_arrays,
    fromfunction,
    indices,
    ix_,
    meshgrid,
    vander,
)
from pycuda._array.functions.histograms import histogram2d, histogramdd
from pycuda._array.functions.joining import (
    append,
    block,
    column_stack,
    delete,
    dstack,
    hstack,
    insert,
    vstack,
)
from pycuda._array.functions.lines import (
    apply_along_axis,
    apply_over_axes,
    piecewise,
    trim_zeros,
)
from pycuda._array.functions.masked import compress, extract, place, putmask
from pycuda._array.functions.operations import (
    binary_op_result as _get_broadcasted_binary_op_result,
    clip,
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
from pycuda._array.functions.padding import pad
from pycuda._array.functions.polynomials import (
    polyadd,
    polyder,
    polyint,
    polymul,
    polysub,
    polyval,
)
from pycuda._array.functions.queries import (
    array_equiv,
    astype,
    real_if_close,
    shares_memory,
)
from pycuda._array.functions.rearranging import (
    array_split,
    dsplit,
    flip,
    fliplr,
    flipud,
    hsplit,
    repeat,
    resize,
    roll,
    rot90,
    split,
    tile,
    vsplit,
)
from pycuda._array.functions.reductions import dot
from pycuda._array.functions.sequences import geomspace, linspace, logspace
from pycuda._array.functions.sets import (
    UniqueAllResult,
    UniqueCountsResult,
    UniqueInverseResult,
    intersect1d,
    isin,
    setdiff1d,
    setxor1d,
    union1d,
    unique,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)
from pycuda._array.functions.shapes import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_to,
    expand_dims,
    matrix_transpose,
    moveaxis,
    permute_dims,
    rollaxis,
    squeeze,
    swapaxes,
    unstack,
)
from pycuda._array.functions.sorting import (
    argpartition,
    argsort,
    lexsort,
    partition,
    sort,
    sort_complex,
    top_k,
)
from pycuda._array.growable import GrowableArray

# Loaded now, so that the first operation need not load it.
from pycuda._array.kernels import kernel_request as _kernel_request
from pycuda._array.kernels.launch_shape import splay, splay_backend as _splay_backend
from pycuda._array.kernels.vector_types import vector_members as _vector_members
from pycuda._array.layout import (
    array_like_helper as _array_like_helper,
    compact_strides as _compact_strides,
)
from pycuda._array.linalg.einsum import einsum
from pycuda._array.linalg.products import (
    cross,
    inner,
    kron,
    matvec,
    outer,
    tensordot,
    trace,
    vdot,
    vecdot,
    vecmat,
)
from pycuda._array.public_names import publish as _publish
from pycuda._driver import (
    ArrayFlags,
    GPUArray,
    _all as all,
    _any as any,
    _argmax as argmax,
    _argmin as argmin,
    _argwhere as argwhere,
    _concatenate as concatenate,
    _count_nonzero as count_nonzero,
    _cummax as cummax,
    _cummin as cummin,
    _cumprod as cumprod,
    _cumsum as cumsum,
    _cumulative_prod as cumulative_prod,
    _cumulative_sum as cumulative_sum,
    _digitize as digitize,
    _flatnonzero as flatnonzero,
    _max as max,
    _mean as mean,
    _median as median,
    _min as min,
    _nanargmax as nanargmax,
    _nanargmin as nanargmin,
    _nanmax as nanmax,
    _nanmean as nanmean,
    _nanmedian as nanmedian,
    _nanmin as nanmin,
    _nanpercentile as nanpercentile,
    _nanprod as nanprod,
    _nanquantile as nanquantile,
    _nanstd as nanstd,
    _nansum as nansum,
    _nanvar as nanvar,
    _nonzero as nonzero,
    _percentile as percentile,
    _prod as prod,
    _ptp as ptp,
    _quantile as quantile,
    _searchsorted as searchsorted,
    _stack as stack,
    _std as std,
    _sum as sum,
    _take as take,
    _var as var,
    matmul,
    to_gpu,
    to_gpu_async,
)
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
