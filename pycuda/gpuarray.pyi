"""The types of pycuda.gpuarray, whose functions are made by other functions in part.

mypy's stubtest compares this with the module (test/typing/test_typing.py).
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pycuda import _driver, driver, elementwise as elementwise
from pycuda._array.files import NpzFile as NpzFile
from pycuda._array.growable import GrowableArray as GrowableArray
from pycuda._driver import (
    ArrayFlags as ArrayFlags,
    Device,
    GPUArray as GPUArray,
    _Allocator,
    _File,
    _Number,
    _Operand,
    _Order,
    _Shape,
    _Stream,
    matmul as matmul,
    to_gpu as to_gpu,
    to_gpu_async as to_gpu_async,
)
from pycuda.characterize import has_double_support as has_double_support

# names of pycuda.gpuarray: written by tools/make_stub.py
# fmt: off
__all__ = [
    "ArrayFlags", "GPUArray", "GrowableArray", "NpzFile", "UniqueAllResult",
    "UniqueCountsResult", "UniqueInverseResult", "append", "apply_along_axis",
    "apply_over_axes", "arange", "argmax", "argmin", "argpartition", "argsort",
    "argwhere", "array_equiv", "array_split", "asarray", "ascontiguousarray",
    "asfortranarray", "astype", "atleast_1d", "atleast_2d", "atleast_3d", "average",
    "bincount", "block", "broadcast_arrays", "broadcast_to", "choose", "clip",
    "column_stack", "compress", "concatenate", "convolve", "copy", "corrcoef",
    "correlate", "count_nonzero", "cov", "cross", "cummax", "cummin", "cumprod",
    "cumsum", "cumulative_prod", "cumulative_sum", "delete", "diag", "diag_indices",
    "diag_indices_from", "diagflat", "diagonal", "diff", "digitize", "dot", "dsplit",
    "dstack", "ediff1d", "einsum", "empty", "empty_like", "expand_dims", "extract",
    "eye", "fill_diagonal", "flatnonzero", "flip", "fliplr", "flipud", "from_dlpack",
    "fromfile", "fromfunction", "full", "full_like", "geomspace", "gradient",
    "has_double_support", "histogram", "histogram2d", "histogram_bin_edges",
    "histogramdd", "hsplit", "hstack", "identity", "if_positive", "indices", "inner",
    "insert", "interp", "intersect1d", "isin", "ix_", "kron", "lexsort", "linspace",
    "load", "logical_and", "logical_not", "logical_or", "logspace", "matmul",
    "matrix_transpose", "matvec", "maximum", "mean", "median", "meshgrid", "minimum",
    "moveaxis", "multi_put", "multi_take", "multi_take_put", "nanargmax", "nanargmin",
    "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin",
    "nanpercentile", "nanprod", "nanquantile", "nanstd", "nansum", "nanvar", "nonzero",
    "ones", "ones_like", "outer", "packbits", "pad", "partition", "percentile",
    "permute_dims", "piecewise", "place", "polyadd", "polyder", "polyint", "polymul",
    "polysub", "polyval", "prod", "ptp", "put", "put_along_axis", "putmask", "quantile",
    "ravel_multi_index", "real_if_close", "repeat", "reshape", "resize", "roll",
    "rollaxis", "rot90", "save", "savez", "savez_compressed", "searchsorted", "select",
    "setdiff1d", "setxor1d", "shares_memory", "sort", "sort_complex", "splay", "split",
    "squeeze", "stack", "std", "subset_dot", "subset_max", "subset_min", "subset_sum",
    "swapaxes", "take", "take_along_axis", "tensordot", "tile", "to_gpu",
    "to_gpu_async", "top_k", "trace", "transpose", "trapezoid", "tri", "tril",
    "tril_indices", "tril_indices_from", "trim_zeros", "triu", "triu_indices",
    "triu_indices_from", "union1d", "unique", "unique_all", "unique_counts",
    "unique_inverse", "unique_values", "unpackbits", "unravel_index", "unstack",
    "unwrap", "vander", "var", "vdot", "vec", "vecdot", "vecmat", "vsplit", "vstack",
    "where", "zeros", "zeros_like",
]
# fmt: on
# names of pycuda.gpuarray: end

drv = driver
# functions in C: written by tools/make_stub.py
all = _driver._all
any = _driver._any
argmax = _driver._argmax
argmin = _driver._argmin
argwhere = _driver._argwhere
concatenate = _driver._concatenate
count_nonzero = _driver._count_nonzero
cummax = _driver._cummax
cummin = _driver._cummin
cumprod = _driver._cumprod
cumsum = _driver._cumsum
cumulative_prod = _driver._cumulative_prod
cumulative_sum = _driver._cumulative_sum
digitize = _driver._digitize
flatnonzero = _driver._flatnonzero
max = _driver._max
mean = _driver._mean
median = _driver._median
min = _driver._min
nanargmax = _driver._nanargmax
nanargmin = _driver._nanargmin
nanmax = _driver._nanmax
nanmean = _driver._nanmean
nanmedian = _driver._nanmedian
nanmin = _driver._nanmin
nanpercentile = _driver._nanpercentile
nanprod = _driver._nanprod
nanquantile = _driver._nanquantile
nanstd = _driver._nanstd
nansum = _driver._nansum
nanvar = _driver._nanvar
nonzero = _driver._nonzero
percentile = _driver._percentile
prod = _driver._prod
ptp = _driver._ptp
quantile = _driver._quantile
searchsorted = _driver._searchsorted
stack = _driver._stack
std = _driver._std
sum = _driver._sum
take = _driver._take
var = _driver._var
# functions in C: end

_T = TypeVar("_T")
_Axis: TypeAlias = int | tuple[int, ...] | None
_Arrays: TypeAlias = Sequence[GPUArray]
#: Arrays of the device, and numbers and lists of which arrays are made.
_Values: TypeAlias = GPUArray | Sequence[Any] | complex
_Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
_BoundsMode: TypeAlias = Literal["raise", "wrap", "clip"]
_OverlapMode: TypeAlias = Literal["full", "same", "valid"]
_KeptOrder: TypeAlias = Literal["C", "F", "A", "K", "c", "f", "a", "k"]

empty = GPUArray

def arange(
    *args: Any,
    start: _Number | None = None,
    stop: _Number | None = None,
    step: _Number | None = None,
    dtype: DTypeLike | None = None,
    allocator: _Allocator | None = None,
    stream: _Stream = None,
) -> GPUArray: ...

class vec:
    # members of vec: written by tools/make_stub.py
    char1: np.dtype[np.void]
    char2: np.dtype[np.void]
    char3: np.dtype[np.void]
    char4: np.dtype[np.void]
    uchar1: np.dtype[np.void]
    uchar2: np.dtype[np.void]
    uchar3: np.dtype[np.void]
    uchar4: np.dtype[np.void]
    short1: np.dtype[np.void]
    short2: np.dtype[np.void]
    short3: np.dtype[np.void]
    short4: np.dtype[np.void]
    ushort1: np.dtype[np.void]
    ushort2: np.dtype[np.void]
    ushort3: np.dtype[np.void]
    ushort4: np.dtype[np.void]
    int1: np.dtype[np.void]
    int2: np.dtype[np.void]
    int3: np.dtype[np.void]
    int4: np.dtype[np.void]
    uint1: np.dtype[np.void]
    uint2: np.dtype[np.void]
    uint3: np.dtype[np.void]
    uint4: np.dtype[np.void]
    long1: np.dtype[np.void]
    long2: np.dtype[np.void]
    long3: np.dtype[np.void]
    long4: np.dtype[np.void]
    ulong1: np.dtype[np.void]
    ulong2: np.dtype[np.void]
    ulong3: np.dtype[np.void]
    ulong4: np.dtype[np.void]
    float1: np.dtype[np.void]
    float2: np.dtype[np.void]
    float3: np.dtype[np.void]
    float4: np.dtype[np.void]
    longlong1: np.dtype[np.void]
    longlong2: np.dtype[np.void]
    ulonglong1: np.dtype[np.void]
    ulonglong2: np.dtype[np.void]
    double1: np.dtype[np.void]
    double2: np.dtype[np.void]
    @staticmethod
    def make_char1(x: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_char2(x: _Number, y: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_char3(x: _Number, y: _Number, z: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_char4(
        x: _Number, y: _Number, z: _Number, w: _Number
    ) -> NDArray[np.void]: ...
    @staticmethod
    def make_uchar1(x: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_uchar2(x: _Number, y: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_uchar3(x: _Number, y: _Number, z: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_uchar4(
        x: _Number, y: _Number, z: _Number, w: _Number
    ) -> NDArray[np.void]: ...
    @staticmethod
    def make_short1(x: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_short2(x: _Number, y: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_short3(x: _Number, y: _Number, z: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_short4(
        x: _Number, y: _Number, z: _Number, w: _Number
    ) -> NDArray[np.void]: ...
    @staticmethod
    def make_ushort1(x: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_ushort2(x: _Number, y: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_ushort3(x: _Number, y: _Number, z: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_ushort4(
        x: _Number, y: _Number, z: _Number, w: _Number
    ) -> NDArray[np.void]: ...
    @staticmethod
    def make_int1(x: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_int2(x: _Number, y: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_int3(x: _Number, y: _Number, z: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_int4(
        x: _Number, y: _Number, z: _Number, w: _Number
    ) -> NDArray[np.void]: ...
    @staticmethod
    def make_uint1(x: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_uint2(x: _Number, y: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_uint3(x: _Number, y: _Number, z: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_uint4(
        x: _Number, y: _Number, z: _Number, w: _Number
    ) -> NDArray[np.void]: ...
    @staticmethod
    def make_long1(x: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_long2(x: _Number, y: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_long3(x: _Number, y: _Number, z: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_long4(
        x: _Number, y: _Number, z: _Number, w: _Number
    ) -> NDArray[np.void]: ...
    @staticmethod
    def make_ulong1(x: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_ulong2(x: _Number, y: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_ulong3(x: _Number, y: _Number, z: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_ulong4(
        x: _Number, y: _Number, z: _Number, w: _Number
    ) -> NDArray[np.void]: ...
    @staticmethod
    def make_float1(x: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_float2(x: _Number, y: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_float3(x: _Number, y: _Number, z: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_float4(
        x: _Number, y: _Number, z: _Number, w: _Number
    ) -> NDArray[np.void]: ...
    @staticmethod
    def make_longlong1(x: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_longlong2(x: _Number, y: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_ulonglong1(x: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_ulonglong2(x: _Number, y: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_double1(x: _Number) -> NDArray[np.void]: ...
    @staticmethod
    def make_double2(x: _Number, y: _Number) -> NDArray[np.void]: ...
    # members of vec: end

_Bound: TypeAlias = GPUArray | _Number
_Stored: TypeAlias = Literal["C", "F"]

@overload
def linspace(
    start: _Bound,
    stop: _Bound,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    retstep: Literal[False] = False,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    allocator: _Allocator | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
@overload
def linspace(
    start: _Bound,
    stop: _Bound,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    *,
    retstep: Literal[True],
    dtype: DTypeLike | None = None,
    axis: int = 0,
    allocator: _Allocator | None = None,
    stream: _Stream = None,
) -> tuple[GPUArray, Any]: ...
@overload
def indices(
    dimensions: Sequence[SupportsIndex],
    dtype: DTypeLike = ...,
    sparse: Literal[False] = False,
    *,
    allocator: _Allocator | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
@overload
def indices(
    dimensions: Sequence[SupportsIndex],
    dtype: DTypeLike = ...,
    *,
    sparse: Literal[True],
    allocator: _Allocator | None = None,
    stream: _Stream = None,
) -> tuple[GPUArray, ...]: ...

class UniqueAllResult(NamedTuple):
    values: GPUArray
    indices: GPUArray
    inverse_indices: GPUArray
    counts: GPUArray

class UniqueCountsResult(NamedTuple):
    values: GPUArray
    counts: GPUArray

class UniqueInverseResult(NamedTuple):
    values: GPUArray
    inverse_indices: GPUArray

# choices and indices

# bits

# sequences, curves and covariances

# polynomials

# histograms of points

# functions of a program

# queries

# To the end of the file: written by tools/make_stub.py
def append(
    arr: GPUArray,
    values: Any,
    axis: SupportsIndex | None = None,
    *,
    stream: _Stream = None,
) -> GPUArray: ...
def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: GPUArray, *args: Any, **kwargs: Any
) -> GPUArray: ...
def apply_over_axes(
    func: Callable[[GPUArray, int], GPUArray], a: GPUArray, axes: int | Sequence[int]
) -> GPUArray: ...
def argpartition(
    a: GPUArray,
    kth: SupportsIndex | Sequence[SupportsIndex],
    axis: SupportsIndex | None = -1,
    kind: str = "introselect",
    order: None = None,
    *,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def argsort(
    a: GPUArray,
    axis: SupportsIndex | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    stable: bool | None = None,
    descending: bool = False,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def array_equiv(a1: _Operand, a2: _Operand) -> bool: ...
def array_split(
    ary: GPUArray,
    indices_or_sections: SupportsIndex | Sequence[SupportsIndex],
    axis: int = 0,
) -> list[GPUArray]: ...
def asarray(
    a: Any,
    dtype: DTypeLike | None = None,
    order: _Stored | None = None,
    *,
    copy: bool | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def ascontiguousarray(
    a: Any, dtype: DTypeLike | None = None, *, stream: _Stream = None
) -> GPUArray: ...
def asfortranarray(
    a: Any, dtype: DTypeLike | None = None, *, stream: _Stream = None
) -> GPUArray: ...
def astype(
    x: GPUArray, dtype: DTypeLike, /, *, copy: bool = True, device: None = None
) -> GPUArray: ...
def atleast_1d(*arys: GPUArray) -> Any: ...
def atleast_2d(*arys: GPUArray) -> Any: ...
def atleast_3d(*arys: GPUArray) -> Any: ...
def average(
    a: GPUArray,
    axis: _Axis = None,
    weights: GPUArray | None = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> Any: ...
def bincount(
    x: GPUArray,
    weights: GPUArray | None = None,
    minlength: int = 0,
    *,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def block(arrays: Any, *, stream: _Stream = None) -> GPUArray: ...
def broadcast_arrays(*args: GPUArray) -> tuple[GPUArray, ...]: ...
def broadcast_to(
    array: GPUArray, shape: int | Sequence[int], subok: bool = False
) -> GPUArray: ...
def choose(
    a: _Values,
    choices: GPUArray | Sequence[_Values],
    out: GPUArray | None = None,
    mode: _BoundsMode = "raise",
    *,
    stream: _Stream = None,
) -> GPUArray: ...
def clip(
    a: GPUArray,
    min: GPUArray | float | None = None,
    max: GPUArray | float | None = None,
    out: GPUArray | None = None,
) -> GPUArray: ...
def column_stack(tup: _Arrays, *, stream: _Stream = None) -> GPUArray: ...
def compress(
    condition: Any, a: GPUArray, axis: int | None = None, out: GPUArray | None = None
) -> GPUArray: ...
def convolve(
    a: _Values, v: _Values, mode: _OverlapMode = "full", *, stream: _Stream = None
) -> GPUArray: ...
def copy(a: Any, *, stream: _Stream = None) -> GPUArray: ...
def corrcoef(
    x: _Values,
    y: _Values | None = None,
    rowvar: bool = True,
    *,
    dtype: DTypeLike | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def correlate(
    a: _Values, v: _Values, mode: _OverlapMode = "valid", *, stream: _Stream = None
) -> GPUArray: ...
def cov(
    m: _Values,
    y: _Values | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: _Values | None = None,
    aweights: _Values | None = None,
    *,
    dtype: DTypeLike | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def cross(
    a: GPUArray,
    b: GPUArray,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> GPUArray: ...
def delete(
    arr: GPUArray,
    obj: Any,
    axis: SupportsIndex | None = None,
    *,
    stream: _Stream = None,
) -> GPUArray: ...
def diag(v: GPUArray, k: SupportsIndex = 0, *, stream: _Stream = None) -> GPUArray: ...
def diag_indices(
    n: SupportsIndex,
    ndim: SupportsIndex = 2,
    *,
    allocator: _Allocator | None = None,
    stream: _Stream = None,
) -> tuple[GPUArray, ...]: ...
def diag_indices_from(arr: GPUArray) -> tuple[GPUArray, ...]: ...
def diagflat(
    v: GPUArray, k: SupportsIndex = 0, *, stream: _Stream = None
) -> GPUArray: ...
def diagonal(
    a: GPUArray, offset: SupportsIndex = 0, axis1: int = 0, axis2: int = 1
) -> GPUArray: ...
def diff(
    a: GPUArray,
    n: int = 1,
    axis: int = -1,
    prepend: _Values | None = None,
    append: _Values | None = None,
) -> GPUArray: ...
def dot(
    a: GPUArray,
    b: GPUArray,
    dtype: DTypeLike | None = None,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def dsplit(
    ary: GPUArray, indices_or_sections: SupportsIndex | Sequence[SupportsIndex]
) -> list[GPUArray]: ...
def dstack(tup: _Arrays, *, stream: _Stream = None) -> GPUArray: ...
def ediff1d(
    ary: GPUArray, to_end: _Values | None = None, to_begin: _Values | None = None
) -> GPUArray: ...
def einsum(
    subscripts: str | GPUArray,
    *operands: Any,
    out: GPUArray | None = None,
    dtype: DTypeLike | None = None,
    casting: _Casting = "safe",
    optimize: Any = True,
    stream: _Stream = None,
) -> GPUArray: ...
def empty_like(
    other_ary: GPUArray, dtype: DTypeLike | None = None, order: _KeptOrder = "K"
) -> GPUArray: ...
def expand_dims(a: GPUArray, axis: int | tuple[int, ...]) -> GPUArray: ...
def extract(condition: Any, arr: GPUArray) -> GPUArray: ...
def eye(
    N: SupportsIndex,
    M: SupportsIndex | None = None,
    k: SupportsIndex = 0,
    dtype: DTypeLike = ...,
    order: _Stored = "C",
    *,
    allocator: _Allocator | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def fill_diagonal(
    a: GPUArray, val: Any, wrap: bool = False, *, stream: _Stream = None
) -> None: ...
def flip(m: GPUArray, axis: _Axis = None) -> GPUArray: ...
def fliplr(m: GPUArray) -> GPUArray: ...
def flipud(m: GPUArray) -> GPUArray: ...
def from_dlpack(
    x: Any,
    /,
    *,
    device: Device | None = None,
    copy: bool | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def fromfile(
    file: _File,
    dtype: DTypeLike,
    count: SupportsIndex = -1,
    sep: str = "",
    offset: SupportsIndex = 0,
    *,
    allocator: _Allocator | None = None,
    progress: bool | None = None,
) -> GPUArray: ...
def fromfunction(
    function: Callable[..., _T],
    shape: Sequence[SupportsIndex],
    *,
    dtype: DTypeLike = ...,
    allocator: _Allocator | None = None,
    stream: _Stream = None,
    **kwargs: Any,
) -> _T: ...
def full(
    shape: _Shape,
    fill_value: _Number,
    dtype: DTypeLike | None = None,
    allocator: _Allocator | None = None,
    order: _Order = "C",
) -> GPUArray: ...
def full_like(
    other_ary: GPUArray,
    fill_value: _Number,
    dtype: DTypeLike | None = None,
    order: _KeptOrder = "K",
) -> GPUArray: ...
def geomspace(
    start: _Bound,
    stop: _Bound,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    allocator: _Allocator | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def gradient(
    f: GPUArray, *varargs: Any, axis: _Axis = None, edge_order: Literal[1, 2] = 1
) -> Any: ...
def histogram(
    a: GPUArray,
    bins: Any = 10,
    range: tuple[float, float] | None = None,
    density: bool | None = None,
    weights: GPUArray | None = None,
    *,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> tuple[GPUArray, GPUArray]: ...
def histogram2d(
    x: _Values,
    y: _Values,
    bins: Any = 10,
    range: Sequence[tuple[float, float] | None] | None = None,
    density: bool | None = None,
    weights: _Values | None = None,
    *,
    stream: _Stream = None,
) -> tuple[GPUArray, GPUArray, GPUArray]: ...
def histogram_bin_edges(
    a: GPUArray,
    bins: Any = 10,
    range: tuple[float, float] | None = None,
    weights: GPUArray | None = None,
    *,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def histogramdd(
    sample: GPUArray | Sequence[_Values],
    bins: Any = 10,
    range: Sequence[tuple[float, float] | None] | None = None,
    density: bool | None = None,
    weights: _Values | None = None,
    *,
    stream: _Stream = None,
) -> tuple[GPUArray, list[GPUArray]]: ...
def hsplit(
    ary: GPUArray, indices_or_sections: SupportsIndex | Sequence[SupportsIndex]
) -> list[GPUArray]: ...
def hstack(
    tup: _Arrays,
    *,
    dtype: DTypeLike | None = None,
    casting: str | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def identity(
    n: SupportsIndex,
    dtype: DTypeLike = ...,
    *,
    allocator: _Allocator | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def if_positive(
    criterion: GPUArray,
    then_: _Operand,
    else_: _Operand,
    out: GPUArray | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def inner(a: _Operand, b: _Operand) -> GPUArray: ...
def insert(
    arr: GPUArray,
    obj: Any,
    values: Any,
    axis: SupportsIndex | None = None,
    *,
    stream: _Stream = None,
) -> GPUArray: ...
def interp(
    x: _Values,
    xp: _Values,
    fp: _Values,
    left: complex | None = None,
    right: complex | None = None,
    period: float | None = None,
    *,
    stream: _Stream = None,
) -> GPUArray: ...
def intersect1d(
    ar1: GPUArray,
    ar2: _Values,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    stream: _Stream = None,
) -> Any: ...
def isin(
    element: GPUArray,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def ix_(*args: GPUArray) -> tuple[GPUArray, ...]: ...
def kron(a: _Operand, b: _Operand) -> GPUArray: ...
def lexsort(
    keys: GPUArray | Sequence[GPUArray],
    axis: SupportsIndex = -1,
    *,
    stream: _Stream = None,
) -> GPUArray: ...
def load(
    file: _File,
    mmap_mode: str | None = None,
    allow_pickle: bool = False,
    *,
    allocator: _Allocator | None = None,
    progress: bool | None = None,
) -> Any: ...
def logical_and(
    x1: _Operand,
    x2: _Operand,
    /,
    out: GPUArray | None = None,
    *,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def logical_not(
    x: _Operand, /, out: GPUArray | None = None, *, allocator: _Allocator | None = None
) -> GPUArray: ...
def logical_or(
    x1: _Operand,
    x2: _Operand,
    /,
    out: GPUArray | None = None,
    *,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def logspace(
    start: _Bound,
    stop: _Bound,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    base: _Bound = 10.0,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    allocator: _Allocator | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def matrix_transpose(x: GPUArray, /) -> GPUArray: ...
def matvec(
    x1: GPUArray,
    x2: GPUArray,
    /,
    out: GPUArray | None = None,
    *,
    dtype: DTypeLike | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def maximum(
    a: _Operand, b: _Operand, out: GPUArray | None = None, stream: _Stream = None
) -> GPUArray: ...
def meshgrid(
    *xi: GPUArray,
    copy: bool = True,
    sparse: bool = False,
    indexing: Literal["xy", "ij"] = "xy",
    stream: _Stream = None,
) -> tuple[GPUArray, ...]: ...
def minimum(
    a: _Operand, b: _Operand, out: GPUArray | None = None, stream: _Stream = None
) -> GPUArray: ...
def moveaxis(
    a: GPUArray, source: int | Sequence[int], destination: int | Sequence[int]
) -> GPUArray: ...
def multi_put(
    arrays: _Arrays,
    dest_indices: GPUArray,
    dest_shape: _Shape | None = None,
    out: _Arrays | None = None,
    stream: _Stream = None,
) -> list[GPUArray]: ...
def multi_take(
    arrays: _Arrays,
    indices: GPUArray,
    out: _Arrays | None = None,
    stream: _Stream = None,
) -> list[GPUArray]: ...
def multi_take_put(
    arrays: _Arrays,
    dest_indices: GPUArray,
    src_indices: GPUArray,
    dest_shape: _Shape | None = None,
    out: _Arrays | None = None,
    stream: _Stream = None,
    src_offsets: Sequence[SupportsIndex] | None = None,
) -> list[GPUArray]: ...
def nancumprod(
    a: GPUArray,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: GPUArray | None = None,
    *,
    stream: _Stream = None,
) -> GPUArray: ...
def nancumsum(
    a: GPUArray,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: GPUArray | None = None,
    *,
    stream: _Stream = None,
) -> GPUArray: ...
def ones(
    shape: _Shape,
    dtype: DTypeLike = ...,
    allocator: _Allocator | None = None,
    order: _Order = "C",
) -> GPUArray: ...
def ones_like(
    other_ary: GPUArray, dtype: DTypeLike | None = None, order: _KeptOrder = "K"
) -> GPUArray: ...
def outer(a: GPUArray, b: GPUArray, out: GPUArray | None = None) -> GPUArray: ...
def packbits(
    a: _Values,
    axis: SupportsIndex | None = None,
    bitorder: Literal["big", "little"] = "big",
    *,
    stream: _Stream = None,
) -> GPUArray: ...
def pad(
    array: GPUArray,
    pad_width: Any,
    mode: str | Callable[..., object] = "constant",
    *,
    stream: _Stream = None,
    **kwargs: Any,
) -> GPUArray: ...
def partition(
    a: GPUArray,
    kth: SupportsIndex | Sequence[SupportsIndex],
    axis: SupportsIndex | None = -1,
    kind: str = "introselect",
    order: None = None,
    *,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def permute_dims(
    a: GPUArray, axes: Sequence[SupportsIndex] | None = None
) -> GPUArray: ...
def piecewise(
    x: GPUArray,
    condlist: GPUArray | Sequence[GPUArray],
    funclist: Sequence[Any],
    *args: Any,
    **kw: Any,
) -> GPUArray: ...
def place(arr: GPUArray, mask: GPUArray, vals: Any) -> None: ...
def polyadd(a1: _Values, a2: _Values, *, stream: _Stream = None) -> GPUArray: ...
def polyder(
    p: _Values, m: SupportsIndex = 1, *, stream: _Stream = None
) -> GPUArray: ...
def polyint(
    p: _Values,
    m: SupportsIndex = 1,
    k: _Values | None = None,
    *,
    stream: _Stream = None,
) -> GPUArray: ...
def polymul(a1: _Values, a2: _Values, *, stream: _Stream = None) -> GPUArray: ...
def polysub(a1: _Values, a2: _Values, *, stream: _Stream = None) -> GPUArray: ...
def polyval(p: _Values, x: _Values, *, stream: _Stream = None) -> GPUArray: ...
def put(
    a: GPUArray, indices: Any, values: Any, mode: str = "raise", stream: _Stream = None
) -> None: ...
def put_along_axis(
    arr: GPUArray,
    indices: Any,
    values: Any,
    axis: SupportsIndex | None,
    *,
    stream: _Stream = None,
) -> None: ...
def putmask(a: GPUArray, mask: GPUArray, values: Any) -> None: ...
def ravel_multi_index(
    multi_index: GPUArray | Sequence[_Values],
    dims: _Shape,
    mode: _BoundsMode | tuple[_BoundsMode, ...] = "raise",
    order: Literal["C", "F"] = "C",
    *,
    stream: _Stream = None,
) -> GPUArray: ...
def real_if_close(a: GPUArray, tol: float = 100) -> GPUArray: ...
def repeat(
    a: GPUArray,
    repeats: Any,
    axis: SupportsIndex | None = None,
    *,
    stream: _Stream = None,
) -> GPUArray: ...
def reshape(a: GPUArray, *shape: Any, **kwargs: Any) -> GPUArray: ...
def resize(a: GPUArray, new_shape: _Shape, *, stream: _Stream = None) -> GPUArray: ...
def roll(
    a: GPUArray,
    shift: int | Sequence[int],
    axis: int | Sequence[int] | None = None,
    *,
    stream: _Stream = None,
) -> GPUArray: ...
def rollaxis(a: GPUArray, axis: int, start: int = 0) -> GPUArray: ...
def rot90(m: GPUArray, k: int = 1, axes: tuple[int, int] = (0, 1)) -> GPUArray: ...
def save(
    file: _File, arr: Any, allow_pickle: bool = True, *, progress: bool | None = None
) -> None: ...
def savez(file: _File, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None: ...
def savez_compressed(
    file: _File, *args: Any, allow_pickle: bool = True, **kwds: Any
) -> None: ...
def select(
    condlist: _Arrays,
    choicelist: Sequence[_Operand],
    default: _Operand = 0,
    *,
    stream: _Stream = None,
) -> GPUArray: ...
def setdiff1d(
    ar1: GPUArray, ar2: _Values, assume_unique: bool = False, *, stream: _Stream = None
) -> GPUArray: ...
def setxor1d(
    ar1: GPUArray, ar2: _Values, assume_unique: bool = False, *, stream: _Stream = None
) -> GPUArray: ...
def shares_memory(a: object, b: object, max_work: int | None = None) -> bool: ...
def sort(
    a: GPUArray,
    axis: SupportsIndex | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    stable: bool | None = None,
    descending: bool = False,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def sort_complex(a: GPUArray) -> GPUArray: ...
def splay(
    n: SupportsIndex, dev: Device | None = None
) -> tuple[tuple[int, int], tuple[int, int, int]]: ...
def split(
    ary: GPUArray,
    indices_or_sections: SupportsIndex | Sequence[SupportsIndex],
    axis: int = 0,
) -> list[GPUArray]: ...
def squeeze(a: GPUArray, axis: _Axis = None) -> GPUArray: ...
def subset_dot(
    subset: GPUArray,
    a: GPUArray,
    b: GPUArray,
    dtype: DTypeLike | None = None,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def subset_max(subset: GPUArray, a: GPUArray, stream: _Stream = None) -> GPUArray: ...
def subset_min(subset: GPUArray, a: GPUArray, stream: _Stream = None) -> GPUArray: ...
def subset_sum(
    subset: GPUArray,
    a: GPUArray,
    dtype: DTypeLike | None = None,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def swapaxes(a: GPUArray, axis1: int, axis2: int) -> GPUArray: ...
def take_along_axis(
    arr: GPUArray,
    indices: Any,
    axis: SupportsIndex | None = -1,
    *,
    stream: _Stream = None,
) -> GPUArray: ...
def tensordot(
    a: GPUArray,
    b: GPUArray,
    axes: Any = 2,
    *,
    out: GPUArray | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def tile(
    A: GPUArray,
    reps: SupportsIndex | Sequence[SupportsIndex],
    *,
    stream: _Stream = None,
) -> GPUArray: ...
def top_k(
    x: GPUArray,
    k: SupportsIndex,
    axis: SupportsIndex = -1,
    *,
    largest: bool = True,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> tuple[GPUArray, GPUArray]: ...
def trace(
    a: GPUArray,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: DTypeLike | None = None,
    out: GPUArray | None = None,
) -> GPUArray: ...
def transpose(a: GPUArray, axes: Sequence[SupportsIndex] | None = None) -> GPUArray: ...
def trapezoid(
    y: _Values,
    x: _Values | None = None,
    dx: float = 1.0,
    axis: int = -1,
    *,
    stream: _Stream = None,
) -> GPUArray: ...
def tri(
    N: SupportsIndex,
    M: SupportsIndex | None = None,
    k: SupportsIndex = 0,
    dtype: DTypeLike = ...,
    *,
    allocator: _Allocator | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def tril(m: GPUArray, k: SupportsIndex = 0, *, stream: _Stream = None) -> GPUArray: ...
def tril_indices(
    n: SupportsIndex,
    k: SupportsIndex = 0,
    m: SupportsIndex | None = None,
    *,
    allocator: _Allocator | None = None,
    stream: _Stream = None,
) -> tuple[GPUArray, ...]: ...
def tril_indices_from(arr: GPUArray, k: SupportsIndex = 0) -> tuple[GPUArray, ...]: ...
def trim_zeros(filt: GPUArray, trim: str = "fb", axis: _Axis = None) -> GPUArray: ...
def triu(m: GPUArray, k: SupportsIndex = 0, *, stream: _Stream = None) -> GPUArray: ...
def triu_indices(
    n: SupportsIndex,
    k: SupportsIndex = 0,
    m: SupportsIndex | None = None,
    *,
    allocator: _Allocator | None = None,
    stream: _Stream = None,
) -> tuple[GPUArray, ...]: ...
def triu_indices_from(arr: GPUArray, k: SupportsIndex = 0) -> tuple[GPUArray, ...]: ...
def union1d(ar1: GPUArray, ar2: _Values, *, stream: _Stream = None) -> GPUArray: ...
def unique(
    ar: GPUArray,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
    stream: _Stream = None,
) -> Any: ...
def unique_all(x: GPUArray, /) -> UniqueAllResult: ...
def unique_counts(x: GPUArray, /) -> UniqueCountsResult: ...
def unique_inverse(x: GPUArray, /) -> UniqueInverseResult: ...
def unique_values(x: GPUArray, /) -> GPUArray: ...
def unpackbits(
    a: _Values,
    axis: SupportsIndex | None = None,
    count: SupportsIndex | None = None,
    bitorder: Literal["big", "little"] = "big",
    *,
    stream: _Stream = None,
) -> GPUArray: ...
def unravel_index(
    indices: _Values,
    shape: _Shape,
    order: Literal["C", "F"] = "C",
    *,
    stream: _Stream = None,
) -> tuple[GPUArray, ...]: ...
def unstack(x: GPUArray, /, *, axis: int = 0) -> tuple[GPUArray, ...]: ...
def unwrap(
    p: _Values,
    discont: float | None = None,
    axis: int = -1,
    *,
    period: float = 6.283185307179586,
    stream: _Stream = None,
) -> GPUArray: ...
def vander(
    x: GPUArray,
    N: SupportsIndex | None = None,
    increasing: bool = False,
    *,
    stream: _Stream = None,
) -> GPUArray: ...
def vdot(a: GPUArray, b: GPUArray, /) -> GPUArray: ...
def vecdot(
    x1: GPUArray,
    x2: GPUArray,
    /,
    out: GPUArray | None = None,
    *,
    axis: int = -1,
    dtype: DTypeLike | None = None,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def vecmat(
    x1: GPUArray,
    x2: GPUArray,
    /,
    out: GPUArray | None = None,
    *,
    dtype: DTypeLike | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def vsplit(
    ary: GPUArray, indices_or_sections: SupportsIndex | Sequence[SupportsIndex]
) -> list[GPUArray]: ...
def vstack(
    tup: _Arrays,
    *,
    dtype: DTypeLike | None = None,
    casting: str | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def where(
    criterion: GPUArray,
    then_: _Operand,
    else_: _Operand,
    out: GPUArray | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def zeros(
    shape: _Shape,
    dtype: DTypeLike = ...,
    allocator: _Allocator | None = None,
    order: _Order = "C",
) -> GPUArray: ...
def zeros_like(
    other_ary: GPUArray, dtype: DTypeLike | None = None, order: _KeptOrder = "K"
) -> GPUArray: ...
