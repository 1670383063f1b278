"""Exchange of arrays in device memory with other libraries, without a copy.

``to_gpuarray`` makes a GPUArray over the memory of another library's array.
``from_gpuarray`` makes another library's array over the memory of a GPUArray. Both
share the memory or raise ValueError. Only ``to_gpuarray(x, copyif=True)`` copies.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

import pycuda.driver as _cuda
from pycuda import _hide_imports
from pycuda._driver import (
    GPUArray,
    _plain_array,
    _pointer_facts,
    _wait_for_stream,
    _working_context,
    to_gpu,
)

__all__ = ["ColumnMajorMatrix", "StridedArray", "from_gpuarray", "to_gpuarray"]
_hide_imports(globals())

_HOST, _DEVICE = 1, 2  # memory types of the driver
_DLPACK_CPU = 1  # a device type of DLPack


def _name(x: object) -> str:
    kind = type(x)
    return f"{kind.__module__}.{kind.__qualname__}"


# Containers with the attributes of older libraries


@dataclass(frozen=True)
class StridedArray:
    """An array with the attributes of Theano's and PyTensor's containers.

    Parameters
    ----------
    gpudata : int
        Address of the first element.
    shape : tuple of int
        Lengths of the axes.
    strides : tuple of int
        Bytes from one element to the next, for each axis.
    dtype : numpy.dtype
        Dtype of the elements.
    base : object
        Object that keeps the memory alive.
    """

    #: The address of the first element.
    gpudata: int
    #: The lengths of the axes.
    shape: tuple[int, ...]
    #: Bytes from one element to the next, for each axis.
    strides: tuple[int, ...]
    #: The dtype of the elements.
    dtype: np.dtype[Any]
    #: Keeps the memory alive.
    base: Any = field(repr=False)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The bytes of the elements."""
        return self.size * self.dtype.itemsize


class _Matrix(ctypes.Structure):
    """The struct behind a CUDAMat matrix: float32, column after column."""

    _fields_ = (
        ("data_host", ctypes.c_void_p),
        ("data_device", ctypes.c_void_p),
        ("on_device", ctypes.c_int),
        ("on_host", ctypes.c_int),
        ("size", ctypes.c_int * 2),
        ("is_trans", ctypes.c_int),
        ("owns_data", ctypes.c_int),
    )


class ColumnMajorMatrix:
    """A float32 matrix with the attributes of CUDAMat's matrices.

    ``mat`` is the struct with ``data_device``, ``size`` (rows, columns) and
    ``is_trans``. ``p_mat`` is a pointer to it. The struct does not own the memory;
    ``base`` keeps the memory alive.

    Parameters
    ----------
    address : int
        Address of the first element.
    shape : tuple of int
        Rows and columns.
    base : object
        Object that keeps the memory alive.
    """

    #: The dtype of the elements, float32.
    dtype: np.dtype[Any] = np.dtype(np.float32)

    def __init__(self, address: int, shape: tuple[int, int], base: object) -> None:
        self.mat: _Matrix = _Matrix(data_device=address, on_device=1, size=shape)
        self.p_mat: ctypes._Pointer[_Matrix] = ctypes.pointer(self.mat)
        self.base: object = base

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.mat.size[0], self.mat.size[1]


# Reading arrays of other libraries


class _Array(NamedTuple):
    """An array of another library, as a GPUArray needs it."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # bytes
    dtype: np.dtype[Any]
    readonly: bool
    base: Any  # keeps the memory alive
    stream: int | None = None  # the work on this stream must be done first


def _packed(shape: tuple[int, ...], itemsize: int, order: str = "C") -> tuple[int, ...]:
    """Return the strides in bytes of an array without gaps."""
    lengths = shape if order == "F" else shape[::-1]
    strides, step = [], itemsize
    for length in lengths:
        strides.append(step)
        step *= max(length, 1)
    return tuple(strides if order == "F" else strides[::-1])


def _integers(values: Any) -> tuple[int, ...]:
    return tuple(int(value) for value in values)


def _from_interface(x: Any, interface: Any) -> _Array:
    """Read a ``__cuda_array_interface__``."""
    if not isinstance(interface, Mapping):
        raise ValueError(
            f"__cuda_array_interface__ of this {_name(x)} is a "
            f"{_name(interface)}, not a mapping"
        )
    missing = [key for key in ("shape", "typestr", "data") if key not in interface]
    if missing:
        raise ValueError(
            f"__cuda_array_interface__ of this {_name(x)} has no {missing[0]!r}"
        )
    if interface.get("mask") is not None:
        raise ValueError(
            f"this {_name(x)} has a mask, which a GPUArray cannot have; apply it first"
        )
    typestr = interface["typestr"]
    fields = interface.get("descr")
    dtype: np.dtype[Any] = np.dtype(typestr)
    if dtype.kind == "V" and fields and fields != [("", typestr)]:
        dtype = np.dtype([tuple(item) for item in fields])
    shape = _integers(interface["shape"])
    strides = interface.get("strides")
    address, readonly = interface["data"]
    stream = interface.get("stream")
    if stream is not None and stream < 1:
        raise ValueError(
            f"__cuda_array_interface__ of this {_name(x)} names stream {stream}; the "
            "default stream is 1, the thread's default stream is 2"
        )
    return _Array(
        int(address or 0),
        shape,
        _packed(shape, dtype.itemsize) if strides is None else _integers(strides),
        dtype,
        bool(readonly),
        x,
        stream,
    )


def _from_dlpack(x: Any) -> _Array:
    try:
        borrowed = _cuda.from_dlpack(x)
    except BufferError as error:
        raise ValueError(f"this {_name(x)} cannot be borrowed: {error}") from error
    return _Array(
        int(borrowed),
        borrowed.shape,
        borrowed.strides,
        borrowed.dtype,
        borrowed.readonly,
        borrowed,
    )


def _from_container(x: Any) -> _Array:
    """Read an object with gpudata, shape, dtype and perhaps strides, in bytes."""
    dtype = np.dtype(x.dtype)
    shape = _integers(x.shape)
    strides = getattr(x, "strides", None)
    address = x.gpudata
    return _Array(
        0 if address is None else int(address),
        shape,
        _packed(shape, dtype.itemsize) if strides is None else _integers(strides),
        dtype,
        False,
        x,
    )


def _from_matrix(x: Any, mat: Any, shape: tuple[int, ...] | None = None) -> _Array:
    """Read the struct of a CUDAMat matrix; with a shape, in C order of that shape."""
    dtype = np.dtype(getattr(x, "dtype", None) or np.float32)
    if not mat.on_device:
        raise ValueError(
            f"this {_name(x)} is in host memory only; its copy_to_device() puts it on "
            "the device"
        )
    address = ctypes.cast(mat.data_device, ctypes.c_void_p).value or 0
    if shape is not None:
        strides = _packed(shape, dtype.itemsize)
    else:
        shape = _integers(mat.size)
        strides = _packed(shape, dtype.itemsize, "F")
        if mat.is_trans:
            shape, strides = shape[::-1], strides[::-1]
    return _Array(address, shape, strides, dtype, False, x)


def _is_host_array(x: Any) -> bool:
    if isinstance(x, np.ndarray | np.generic) or hasattr(x, "__array_interface__"):
        return True
    return hasattr(x, "__dlpack_device__") and x.__dlpack_device__()[0] == _DLPACK_CPU


def _interface_of(x: Any) -> Any:
    """Return the ``__cuda_array_interface__`` of x, None if it has none."""
    try:
        return getattr(x, "__cuda_array_interface__", None)
    except Exception as error:  # the library's error says why x has none now
        raise ValueError(
            f"this {_name(x)} does not share its memory: {error}"
        ) from error


def _described(x: Any) -> _Array | None:
    """Return x as an _Array; None if it is an array in host memory."""
    interface = _interface_of(x)
    if interface is not None:
        return _from_interface(x, interface)
    if _is_host_array(x):
        return None
    if hasattr(x, "__dlpack__"):
        return _from_dlpack(x)
    if all(hasattr(x, name) for name in ("gpudata", "shape", "dtype")):
        return _from_container(x)
    if hasattr(getattr(x, "mat", None), "data_device"):
        return _from_matrix(x, x.mat)
    inner = getattr(getattr(x, "_base", None), "mat", None)
    if hasattr(inner, "data_device") and hasattr(x, "shape"):
        return _from_matrix(x, inner, _integers(x.shape))
    raise TypeError(
        f"a {_name(x)} is no array of a known protocol: it has neither "
        "__cuda_array_interface__ nor __dlpack__, no gpudata with shape and dtype, and "
        "no mat with data_device"
    )


# To a GPUArray


def _check(x: object, array: _Array) -> None:
    """Raise ValueError for an array that no GPUArray can describe, in any memory."""
    if len(array.strides) != len(array.shape):
        raise ValueError(
            f"this {_name(x)} has {len(array.shape)} axes and {len(array.strides)} "
            "strides"
        )
    if any(length < 0 for length in array.shape):
        raise ValueError(f"this {_name(x)} has the shape {array.shape}")
    if not array.dtype.isnative:
        raise ValueError(
            f"the items of this {_name(x)} are {array.dtype.str!r}, whose bytes are "
            "swapped; kernels cannot read them"
        )
    unit = array.dtype.alignment
    if any(number % unit for number in (array.address, *array.strides)):
        raise ValueError(
            f"the items of this {_name(x)} are not at multiples of {unit} bytes, where "
            f"kernels can read {array.dtype}: address {array.address:#x}, strides "
            f"{array.strides}"
        )


def _reason_not_to_share(x: object, array: _Array) -> str | None:
    """Return the reason why a GPUArray cannot share this memory, None if it can."""
    if array.readonly:
        return f"this {_name(x)} is read-only, which a GPUArray cannot be"
    if math.prod(array.shape) == 0:
        return None
    facts = _pointer_facts(array.address)
    if facts is None:
        raise ValueError(
            f"the address {array.address:#x} of this {_name(x)} is unknown to CUDA"
        )
    owner, number, memory_type, managed = facts
    if managed or memory_type == _HOST:
        return None
    here = _cuda.Context.get_device()  # raises if there is no context
    current = _working_context()
    assert current is not None
    if owner == current.handle or (owner == 0 and _cuda.Device(number) == here):
        return None
    if _cuda.Device(number) != here:
        return f"the memory of this {_name(x)} is on device {number}, not the current"
    return (
        f"the memory of this {_name(x)} belongs to another context of device {number} "
        "than the current one. Libraries on CUDA's runtime use the primary context, "
        "which pycuda.autoprimaryctx makes current"
    )


def _order(x: Any, array: _Array) -> None:
    """Let the current stream wait for the work on x."""
    if array.stream is not None:
        _wait_for_stream(array.stream)
    elif array.base is x and not isinstance(x, GPUArray) and hasattr(x, "__dlpack__"):
        # PyTorch's interface names no stream, but its DLPack exporter knows it. The
        # program must synchronise arrays that DLPack cannot describe.
        with contextlib.suppress(BufferError, TypeError, ValueError, RuntimeError):
            _cuda.from_dlpack(x)


def _over(array: _Array, allocator: Any = None) -> GPUArray:
    if math.prod(array.shape) == 0:  # no memory to share
        return GPUArray(array.shape, array.dtype)
    borrowed = isinstance(array.base, _cuda.ForeignAllocation)
    return GPUArray(
        array.shape,
        array.dtype,
        allocator=allocator,
        base=array.base,
        gpudata=array.base if borrowed else array.address,
        strides=array.strides,
    )


def _copied_from(x: object, array: _Array) -> GPUArray:
    """Copy an array of a primary context that is not the current context."""
    current = _working_context()
    assert current is not None
    facts = _pointer_facts(array.address)
    assert facts is not None  # _reason_not_to_share checked it
    owner, number, *_ = facts
    primary = _cuda.Device(number).retain_primary_context()
    try:
        if owner not in (0, primary.handle):
            raise ValueError(
                f"the memory of this {_name(x)} belongs to a context that is neither "
                "the current one nor a primary one; make that context current, and "
                "copy by way of the host"
            )
        with primary:
            primary.synchronize()  # wait for work on x in any stream
            # The default allocator may belong to the current context.
            packed = _over(array, _cuda.mem_alloc).copy()
            primary.synchronize()
            strides = packed.strides
        result = GPUArray(array.shape, array.dtype, strides=strides)
        _cuda.memcpy_peer(
            result.gpudata, packed.gpudata, packed.nbytes, current, primary
        )
        del packed
    finally:
        primary.detach()
    return result


def to_gpuarray(x: Any, copyif: bool = False) -> GPUArray:
    """Return a GPUArray over the memory of an array of any library.

    Parameters
    ----------
    x : object
        Array with one of ``__cuda_array_interface__`` (CuPy, PyTorch, JAX, Numba, ...);
        ``__dlpack__``; ``gpudata``, ``shape``, ``dtype`` and ``strides`` in bytes;
        ``mat``, the struct of a CUDAMat matrix.
    copyif : bool, optional
        If true, copy arrays that cannot be shared: host arrays, read-only memory,
        memory of another device, memory of the primary context if another context is
        current.

    Returns
    -------
    GPUArray
        An array with the shape, dtype and strides of ``x``, whose ``base`` keeps the
        memory alive. A GPUArray is returned unchanged.

    Raises
    ------
    TypeError
        If ``x`` is no array.
    ValueError
        If the array cannot be shared and ``copyif`` is false, or if it has a mask,
        swapped bytes or misaligned items.

    See Also
    --------
    from_gpuarray : The other direction.

    Notes
    -----
    The current stream waits for the work on ``x`` that ``x`` names. The call does not
    wait.

    Examples
    --------
    >>> from pycuda.interop import to_gpuarray
    >>> to_gpuarray(np.array([1, 2, 3]), copyif=True)
    array([1, 2, 3])
    """
    array = _described(x)
    if array is None:
        if not copyif:
            raise ValueError(
                f"this {_name(x)} is in host memory, which a GPUArray cannot share; "
                "copyif=True copies it"
            )
        return to_gpu(np.asarray(x))
    _check(x, array)
    reason = _reason_not_to_share(x, array)
    if reason is None:
        _order(x, array)
        return x if isinstance(x, GPUArray) else _over(array)
    if not copyif:
        raise ValueError(f"{reason}; copyif=True copies it")
    if _reason_not_to_share(x, array._replace(readonly=False)) is None:
        _order(x, array)
        return _over(array).copy()
    return _copied_from(x, array)


# From a GPUArray


def _imported(module: str, kind: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"from_gpuarray(..., {kind!r}) needs the package {module.partition('.')[0]}"
            f", which cannot be imported: {error}"
        ) from error


def _to_cupy(array: GPUArray) -> Any:
    return _imported("cupy", "cupy").from_dlpack(array)


def _to_torch(array: GPUArray) -> Any:
    if any(stride < 0 for stride in array.strides):
        raise ValueError(
            f"PyTorch has no negative strides, and this array has {array.strides}; its "
            "copy() has none"
        )
    return _imported("torch", "torch").from_dlpack(array)


def _to_jax(array: GPUArray) -> Any:
    return _imported("jax.dlpack", "jax").from_dlpack(array)


class _OnStream:
    """Return the interface of an array, with the stream that works on it."""

    def __init__(self, array: GPUArray, stream: int) -> None:
        self.array = array
        self.__cuda_array_interface__ = {
            **array.__cuda_array_interface__,
            "stream": stream,
        }


def _to_numba(array: GPUArray) -> Any:
    stream = _cuda.Stream.get_current()
    lent = array if stream is None else _OnStream(array, stream.handle or 1)
    return _imported("numba.cuda", "numba").as_cuda_array(lent)


def _to_strided(array: GPUArray) -> StridedArray:
    return StridedArray(_address(array), array.shape, array.strides, array.dtype, array)


def _to_column_major(array: GPUArray) -> ColumnMajorMatrix:
    if array.ndim != 2 or array.dtype != np.float32 or not array.flags.f_contiguous:
        raise ValueError(
            "a column-major matrix has two axes, items of float32 and the columns one "
            f"after the other; this array has the shape {array.shape}, {array.dtype}, "
            f"strides {array.strides}"
        )
    if max(array.shape) > 2**31 - 1:
        raise ValueError(f"CUDAMat counts in 32 bits, the shape is {array.shape}")
    rows, columns = array.shape
    return ColumnMajorMatrix(_address(array), (rows, columns), array)


def _to_cudamat(array: GPUArray) -> Any:
    ours = _to_column_major(array)
    module = _imported("cudamat", "cudamat")
    struct = module.cudamat()
    if ctypes.sizeof(struct) != ctypes.sizeof(ours.mat):
        raise ValueError(
            f"the struct of this cudamat has {ctypes.sizeof(struct)} bytes, not the "
            f"{ctypes.sizeof(ours.mat)} of CUDAMat's"
        )
    ctypes.memmove(ctypes.byref(struct), ctypes.byref(ours.mat), ctypes.sizeof(struct))
    matrix = module.CUDAMatrix(struct)
    matrix.base = array
    return matrix


def _address(array: GPUArray) -> int:
    return array.ptr if array.size else 0


#: Kinds whose libraries work in the primary context.
_RUNTIME_KINDS: dict[str, Callable[[GPUArray], Any]] = {
    "cupy": _to_cupy,
    "jax": _to_jax,
    "numba": _to_numba,
    "torch": _to_torch,
}
_OTHER_KINDS: dict[str, Callable[[GPUArray], Any]] = {
    "column-major": _to_column_major,
    "cudamat": _to_cudamat,
    "strided": _to_strided,
}


def _require_primary(array: GPUArray, kind: str) -> None:
    """Raise ValueError for memory that a library in the primary context cannot use."""
    facts = _pointer_facts(_address(array)) if array.size else None
    if facts is None or facts[0] == 0 or facts[2] != _DEVICE or facts[3]:
        return
    owner, number, *_ = facts
    primary = _cuda.Device(number).retain_primary_context()
    handle = primary.handle
    primary.detach()
    if owner != handle:
        raise ValueError(
            f"the array is in a context of its own, but {kind} works in the primary "
            f"context of device {number}; import pycuda.autoprimaryctx, which makes "
            "that context current, before the array is made"
        )


def from_gpuarray(ga: GPUArray, kind: str) -> Any:
    """Return an array of another library over the memory of a GPUArray.

    Parameters
    ----------
    ga : GPUArray
        The array.
    kind : {"cupy", "torch", "jax", "numba", "strided", "column-major", "cudamat"}
        Kind of the result. For the first four the memory must belong to the primary
        context (``pycuda.autoprimaryctx``). "strided" is a StridedArray, "column-major"
        a ColumnMajorMatrix and "cudamat" a cudamat.CUDAMatrix. The last two need an
        array in Fortran order with two axes of float32.

    Returns
    -------
    object
        An array that keeps the memory alive. Nothing is ever copied.

    Raises
    ------
    ImportError
        If the library is not installed.
    TypeError
        If ``ga`` is not a GPUArray.
    ValueError
        If the memory cannot be shared, or if there is no such kind.

    See Also
    --------
    to_gpuarray : The other direction.

    Notes
    -----
    The protocol of the other library decides whether its current stream waits for this
    one.

    Examples
    --------
    >>> from pycuda.interop import from_gpuarray
    >>> from_gpuarray(gpuarray.zeros((2, 3)), "strided").shape
    (2, 3)
    """
    if not isinstance(ga, GPUArray):
        raise TypeError(f"from_gpuarray takes a GPUArray, not a {_name(ga)}")
    make = _RUNTIME_KINDS.get(kind) or _OTHER_KINDS.get(kind)
    if make is None:
        known = ", ".join(sorted({**_RUNTIME_KINDS, **_OTHER_KINDS}))
        text = f"there is no kind {kind!r}; there are {known}"
        if kind == "numpy":
            text += ". An array in host memory is a copy: use the method get()"
        raise ValueError(text)
    if kind in _OTHER_KINDS:
        return make(_plain_array(ga))
    _require_primary(ga, kind)
    try:
        result = make(ga)
    except (BufferError, TypeError, RuntimeError, NotImplementedError) as error:
        raise ValueError(f"{kind} does not take this array: {error}") from error
    shared = result.__cuda_array_interface__["data"][0] or 0
    if ga.size and shared != ga.ptr:
        raise ValueError(
            f"{kind} has copied the array instead of sharing it: the memory is at "
            f"{ga.ptr:#x}, the result's at {shared:#x}"
        )
    return result
