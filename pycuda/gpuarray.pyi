"""The types of pycuda.gpuarray, whose functions are made by other functions in part.

mypy's stubtest compares this with the module (test/typing/test_typing.py).
"""

from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pycuda import elementwise as elementwise
from pycuda._driver import (
    ArrayFlags as ArrayFlags,
    Device,
    GPUArray as GPUArray,
    Stream,
    _Allocator,
    _Number,
    _Operand,
    _Order,
    _Shape,
    matmul as matmul,
    to_gpu as to_gpu,
    to_gpu_async as to_gpu_async,
)
from pycuda.characterize import has_double_support as has_double_support

_Axis: TypeAlias = int | tuple[int, ...] | None
_Arrays: TypeAlias = Sequence[GPUArray]
_KeptOrder: TypeAlias = Literal["C", "F", "A", "K", "c", "f", "a", "k"]

empty = GPUArray

class vec:
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

def zeros(
    shape: _Shape,
    dtype: DTypeLike = ...,
    allocator: _Allocator | None = None,
    order: _Order = "C",
) -> GPUArray: ...
def ones(
    shape: _Shape,
    dtype: DTypeLike = ...,
    allocator: _Allocator | None = None,
    order: _Order = "C",
) -> GPUArray: ...
def full(
    shape: _Shape,
    fill_value: _Number,
    dtype: DTypeLike | None = None,
    allocator: _Allocator | None = None,
    order: _Order = "C",
) -> GPUArray: ...
def empty_like(
    other_ary: GPUArray, dtype: DTypeLike | None = None, order: _KeptOrder = "K"
) -> GPUArray: ...
def zeros_like(
    other_ary: GPUArray, dtype: DTypeLike | None = None, order: _KeptOrder = "K"
) -> GPUArray: ...
def ones_like(
    other_ary: GPUArray, dtype: DTypeLike | None = None, order: _KeptOrder = "K"
) -> GPUArray: ...
def full_like(
    other_ary: GPUArray,
    fill_value: _Number,
    dtype: DTypeLike | None = None,
    order: _KeptOrder = "K",
) -> GPUArray: ...
def arange(
    *args: Any,
    start: _Number | None = None,
    stop: _Number | None = None,
    step: _Number | None = None,
    dtype: DTypeLike | None = None,
    allocator: _Allocator | None = None,
    stream: Stream | None = None,
) -> GPUArray: ...
def from_dlpack(
    x: Any,
    /,
    *,
    device: Device | None = None,
    copy: bool | None = None,
    stream: Stream | None = None,
) -> GPUArray: ...
def concatenate(
    arrays: _Arrays, axis: int = 0, allocator: _Allocator | None = None
) -> GPUArray: ...
def stack(
    arrays: _Arrays, axis: int = 0, allocator: _Allocator | None = None
) -> GPUArray: ...
def reshape(a: GPUArray, *shape: Any, **kwargs: Any) -> GPUArray: ...
def transpose(a: GPUArray, axes: Sequence[SupportsIndex] | None = None) -> GPUArray: ...
def splay(
    n: SupportsIndex, dev: Device | None = None
) -> tuple[tuple[int, int], tuple[int, int, int]]: ...
def where(
    criterion: GPUArray,
    then_: _Operand,
    else_: _Operand,
    out: GPUArray | None = None,
    stream: Stream | None = None,
) -> GPUArray: ...
def if_positive(
    criterion: GPUArray,
    then_: _Operand,
    else_: _Operand,
    out: GPUArray | None = None,
    stream: Stream | None = None,
) -> GPUArray: ...
def maximum(
    a: _Operand, b: _Operand, out: GPUArray | None = None, stream: Stream | None = None
) -> GPUArray: ...
def minimum(
    a: _Operand, b: _Operand, out: GPUArray | None = None, stream: Stream | None = None
) -> GPUArray: ...
def logical_and(
    x1: _Operand,
    x2: _Operand,
    /,
    out: GPUArray | None = None,
    *,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def logical_or(
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
def sum(
    a: GPUArray,
    dtype: DTypeLike | None = None,
    stream: Stream | None = None,
    allocator: _Allocator | None = None,
    *,
    axis: _Axis = None,
    keepdims: bool = False,
    out: GPUArray | None = None,
    initial: _Number | None = None,
    where: GPUArray | bool = True,
) -> GPUArray: ...
def prod(
    a: GPUArray,
    dtype: DTypeLike | None = None,
    stream: Stream | None = None,
    allocator: _Allocator | None = None,
    *,
    axis: _Axis = None,
    keepdims: bool = False,
    out: GPUArray | None = None,
    initial: _Number | None = None,
    where: GPUArray | bool = True,
) -> GPUArray: ...
def mean(
    a: GPUArray,
    dtype: DTypeLike | None = None,
    stream: Stream | None = None,
    allocator: _Allocator | None = None,
    *,
    axis: _Axis = None,
    keepdims: bool = False,
    out: GPUArray | None = None,
    where: GPUArray | bool = True,
) -> GPUArray: ...
def min(
    a: GPUArray,
    stream: Stream | None = None,
    *,
    axis: _Axis = None,
    keepdims: bool = False,
    out: GPUArray | None = None,
    allocator: _Allocator | None = None,
    initial: _Number | None = None,
    where: GPUArray | bool = True,
) -> GPUArray: ...
def max(
    a: GPUArray,
    stream: Stream | None = None,
    *,
    axis: _Axis = None,
    keepdims: bool = False,
    out: GPUArray | None = None,
    allocator: _Allocator | None = None,
    initial: _Number | None = None,
    where: GPUArray | bool = True,
) -> GPUArray: ...
def argmin(
    a: GPUArray,
    stream: Stream | None = None,
    *,
    axis: _Axis = None,
    keepdims: bool = False,
    out: GPUArray | None = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def argmax(
    a: GPUArray,
    stream: Stream | None = None,
    *,
    axis: _Axis = None,
    keepdims: bool = False,
    out: GPUArray | None = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def count_nonzero(
    a: GPUArray,
    stream: Stream | None = None,
    *,
    axis: _Axis = None,
    keepdims: bool = False,
    out: GPUArray | None = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def any(
    a: GPUArray,
    stream: Stream | None = None,
    allocator: _Allocator | None = None,
    axis: _Axis = None,
    keepdims: bool = False,
    out: GPUArray | None = None,
    *,
    initial: _Number | None = None,
    where: GPUArray | bool = True,
) -> GPUArray: ...
def all(
    a: GPUArray,
    stream: Stream | None = None,
    allocator: _Allocator | None = None,
    axis: _Axis = None,
    keepdims: bool = False,
    out: GPUArray | None = None,
    *,
    initial: _Number | None = None,
    where: GPUArray | bool = True,
) -> GPUArray: ...
def var(
    a: GPUArray,
    axis: _Axis = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    out: GPUArray | None = None,
    stream: Stream | None = None,
    allocator: _Allocator | None = None,
    where: GPUArray | bool = True,
) -> GPUArray: ...
def std(
    a: GPUArray,
    axis: _Axis = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    out: GPUArray | None = None,
    stream: Stream | None = None,
    allocator: _Allocator | None = None,
    where: GPUArray | bool = True,
) -> GPUArray: ...
def cumsum(
    a: GPUArray,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    *,
    stream: Stream | None = None,
) -> GPUArray: ...
def cumprod(
    a: GPUArray,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    *,
    stream: Stream | None = None,
) -> GPUArray: ...
def dot(
    a: GPUArray,
    b: GPUArray,
    dtype: DTypeLike | None = None,
    stream: Stream | None = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def einsum(
    subscripts: str | GPUArray,
    *operands: Any,
    out: GPUArray | None = None,
    dtype: DTypeLike | None = None,
    optimize: Any = True,
    stream: Stream | None = None,
) -> GPUArray: ...
def tensordot(
    a: GPUArray,
    b: GPUArray,
    axes: Any = 2,
    *,
    out: GPUArray | None = None,
    stream: Stream | None = None,
) -> GPUArray: ...
def vecdot(
    x1: GPUArray,
    x2: GPUArray,
    /,
    out: GPUArray | None = None,
    *,
    axis: int = -1,
    dtype: DTypeLike | None = None,
    stream: Stream | None = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def matvec(
    x1: GPUArray,
    x2: GPUArray,
    /,
    out: GPUArray | None = None,
    *,
    dtype: DTypeLike | None = None,
    stream: Stream | None = None,
) -> GPUArray: ...
def vecmat(
    x1: GPUArray,
    x2: GPUArray,
    /,
    out: GPUArray | None = None,
    *,
    dtype: DTypeLike | None = None,
    stream: Stream | None = None,
) -> GPUArray: ...
def vdot(a: GPUArray, b: GPUArray, /) -> GPUArray: ...
def inner(a: _Operand, b: _Operand) -> GPUArray: ...
def outer(a: GPUArray, b: GPUArray, out: GPUArray | None = None) -> GPUArray: ...
def kron(a: _Operand, b: _Operand) -> GPUArray: ...
def cross(
    a: GPUArray,
    b: GPUArray,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> GPUArray: ...
def diagonal(
    a: GPUArray, offset: int = 0, axis1: int = 0, axis2: int = 1
) -> GPUArray: ...
def trace(
    a: GPUArray,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: DTypeLike | None = None,
    out: GPUArray | None = None,
) -> GPUArray: ...
def matrix_transpose(x: GPUArray, /) -> GPUArray: ...
def subset_sum(
    subset: GPUArray,
    a: GPUArray,
    dtype: DTypeLike | None = None,
    stream: Stream | None = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def subset_dot(
    subset: GPUArray,
    a: GPUArray,
    b: GPUArray,
    dtype: DTypeLike | None = None,
    stream: Stream | None = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def subset_min(
    subset: GPUArray, a: GPUArray, stream: Stream | None = None
) -> GPUArray: ...
def subset_max(
    subset: GPUArray, a: GPUArray, stream: Stream | None = None
) -> GPUArray: ...
def take(
    a: GPUArray,
    indices: GPUArray,
    out: GPUArray | None = None,
    stream: Stream | None = None,
) -> GPUArray: ...
def multi_take(
    arrays: _Arrays,
    indices: GPUArray,
    out: _Arrays | None = None,
    stream: Stream | None = None,
) -> list[GPUArray]: ...
def multi_put(
    arrays: _Arrays,
    dest_indices: GPUArray,
    dest_shape: _Shape | None = None,
    out: _Arrays | None = None,
    stream: Stream | None = None,
) -> list[GPUArray]: ...
def multi_take_put(
    arrays: _Arrays,
    dest_indices: GPUArray,
    src_indices: GPUArray,
    dest_shape: _Shape | None = None,
    out: _Arrays | None = None,
    stream: Stream | None = None,
    src_offsets: Sequence[SupportsIndex] | None = None,
) -> list[GPUArray]: ...
def _c_copy(
    a: GPUArray, order: str = "C", stream: Stream | None = None
) -> GPUArray: ...
def _in_c_order(a: GPUArray, stream: Stream | None) -> GPUArray: ...
def _normal_axis(axis: int, ndim: int) -> int: ...
def _np_ravel(a: GPUArray, order: str = "C") -> GPUArray: ...
def _np_reshape(a: GPUArray, /, shape: Any, order: str = "C") -> GPUArray: ...
