"""Arrays in device memory that compute like NumPy's: ``GPUArray`` and its functions.

The type with its operators, views and reductions is C (``pycuda._driver``). The
functions are in ``pycuda._array``. This module gives them their public names, and loads
them at their first use.

``from pycuda.gpuarray import *`` does not replace builtins. So it leaves out ``all``,
``any``, ``max``, ``min`` and ``sum``, which are here: ``gpuarray.sum(x)``.
"""

# ruff: noqa: F401  all names are public

from builtins import max as _builtin_max, min as _builtin_min

import numpy as np
from numpy.lib.stride_tricks import as_strided as _as_strided

import pycuda.driver as drv
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
from pycuda._public import (
    names_at_first_use as _names_at_first_use,
    register_after_import as _register_after_import,
)

_register_after_import("pycuda._registrations", ("dask", "einops"))
__getattr__ = _names_at_first_use(
    globals(),
    {
        "pycuda": "elementwise",
        "pycuda._array.copies": "memcpy_discontig:_memcpy_discontig",
        "pycuda._array.creation": (
            "_unpickle arange empty_like from_dlpack full full_like ones ones_like "
            "zeros zeros_like"
        ),
        "pycuda._array.files": "NpzFile fromfile load save savez savez_compressed",
        "pycuda._array.functions.bits": "packbits unpackbits",
        "pycuda._array.functions.conversion": (
            "array_equiv asarray ascontiguousarray asfortranarray astype copy "
            "real_if_close shares_memory"
        ),
        "pycuda._array.functions.correlation": "convolve corrcoef correlate cov",
        "pycuda._array.functions.counting": (
            "bincount histogram histogram2d histogram_bin_edges histogramdd"
        ),
        "pycuda._array.functions.curves": (
            "interp polyadd polyder polyint polymul polysub polyval trapezoid unwrap"
        ),
        "pycuda._array.functions.diagonals": (
            "diag diag_indices diag_indices_from diagflat diagonal eye fill_diagonal "
            "identity tri tril tril_indices tril_indices_from triu triu_indices "
            "triu_indices_from"
        ),
        "pycuda._array.functions.differences": "diff ediff1d gradient",
        "pycuda._array.functions.elements": (
            "compress extract multi_put multi_take multi_take_put place put "
            "put_along_axis putmask select subset_dot subset_max subset_min "
            "subset_sum take_along_axis"
        ),
        "pycuda._array.functions.flat_indices": (
            "choose ravel_multi_index unravel_index"
        ),
        "pycuda._array.functions.joining": (
            "append block column_stack delete dstack hstack insert vstack"
        ),
        "pycuda._array.functions.lines": (
            "apply_along_axis apply_over_axes piecewise trim_zeros"
        ),
        "pycuda._array.functions.operations": (
            "binary_op_result:_get_broadcasted_binary_op_result clip "
            "common_dtype:_get_common_dtype if_positive logical_and logical_not "
            "logical_op:_logical_op logical_or maximum minimum reshape transpose "
            "where"
        ),
        "pycuda._array.functions.padding": "pad",
        "pycuda._array.functions.reductions": "average dot nancumprod nancumsum",
        "pycuda._array.functions.sequences": (
            "broadcast_arrays fromfunction geomspace indices ix_ linspace logspace "
            "meshgrid vander"
        ),
        "pycuda._array.functions.sets": (
            "UniqueAllResult UniqueCountsResult UniqueInverseResult intersect1d isin "
            "setdiff1d setxor1d union1d unique unique_all unique_counts "
            "unique_inverse unique_values"
        ),
        "pycuda._array.functions.shapes": (
            "array_split atleast_1d atleast_2d atleast_3d broadcast_to dsplit "
            "expand_dims flip fliplr flipud hsplit matrix_transpose moveaxis "
            "permute_dims repeat resize roll rollaxis rot90 split squeeze swapaxes "
            "tile unstack vsplit"
        ),
        "pycuda._array.functions.sorting": (
            "argpartition argsort lexsort partition sort sort_complex top_k"
        ),
        "pycuda._array.growable": "GrowableArray",
        "pycuda._array.kernels.c_types": "vec",
        "pycuda._array.kernels.elementwise_kernel": (
            "splay splay_backend:_splay_backend"
        ),
        "pycuda._array.layout": (
            "array_like_helper:_array_like_helper compact_strides:_compact_strides"
        ),
        "pycuda._array.linalg.einsum": "einsum",
        "pycuda._array.linalg.products": (
            "cross inner kron matvec outer tensordot trace vdot vecdot vecmat"
        ),
        "pycuda._registrations": "dask_backend:_dask_backend",
        "pycuda.characterize": "has_double_support",
        "pycuda.compyte.array": (
            "c_contiguous_strides:_c_contiguous_strides "
            "f_contiguous_strides:_f_contiguous_strides "
            "get_common_dtype:_get_common_dtype_base"
        ),
    },
    unlisted="elementwise",
)

_ArrayFlags = ArrayFlags

empty = GPUArray
