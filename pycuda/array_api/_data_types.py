"""The data types of the standard, its functions of data types, and inspection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from pycuda.driver import Context, Device
from pycuda.gpuarray import GPUArray

__all__ = [
    "__array_namespace_info__",
    "astype",
    "bool",
    "can_cast",
    "complex128",
    "complex64",
    "finfo",
    "float32",
    "float64",
    "iinfo",
    "int16",
    "int32",
    "int64",
    "int8",
    "isdtype",
    "result_type",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
]

# -- the devices: that of the current context ------------------------------------------


def current_device() -> Device:
    """Return the device of the current context, on which new arrays are made."""
    return Context.get_device()


def check_device(device: Device | None) -> None:
    """Raise ValueError unless arrays can be made on a device; None is the default."""
    if device is None:
        return
    here = current_device()
    if not isinstance(device, Device) or device != here:
        raise ValueError(
            f"device {device!r} is not that of the current context, {here!r}: make a "
            "context of that device current"
        )


# -- data types ------------------------------------------------------------------------


DType: TypeAlias = np.dtype[Any]
Number: TypeAlias = complex

bool: DType = np.dtype("bool")
int8: DType = np.dtype("int8")
int16: DType = np.dtype("int16")
int32: DType = np.dtype("int32")
int64: DType = np.dtype("int64")
uint8: DType = np.dtype("uint8")
uint16: DType = np.dtype("uint16")
uint32: DType = np.dtype("uint32")
uint64: DType = np.dtype("uint64")
float32: DType = np.dtype("float32")
float64: DType = np.dtype("float64")
complex64: DType = np.dtype("complex64")
complex128: DType = np.dtype("complex128")

_DTYPES: tuple[DType, ...] = (
    *(bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64),
    *(float32, float64, complex64, complex128),
)

#: NumPy's letters of the kinds, for data types beyond the standard's, such as float16.
_LETTERS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


def _letters_of(kind: str) -> str:
    """Return NumPy's letters of a kind; ValueError for a name that is no kind."""
    if kind not in _LETTERS:
        raise ValueError(f"{kind!r} is not a kind: {', '.join(_LETTERS)} are")
    return _LETTERS[kind]


def _dtype_of(value: object, name: str) -> DType:
    """Return the dtype of an array, or a dtype itself; TypeError for others."""
    if isinstance(value, GPUArray):
        return value.dtype
    if isinstance(value, np.dtype):
        return value
    if isinstance(value, np.generic):
        return value.dtype
    if isinstance(value, type) and issubclass(value, np.generic):
        return np.dtype(value)
    raise TypeError(f"{name} must be a dtype or an array, not {value!r}")


def astype(
    x: GPUArray,
    dtype: DType,
    /,
    *,
    copy: Any = True,
    device: Device | None = None,
) -> GPUArray:
    """Return the elements of an array in another data type.

    ``real()`` and ``abs()`` make real numbers of complex ones.

    Raises
    ------
    TypeError
        If complex numbers would lose their imaginary parts.
    """
    check_device(device)
    dtype = np.dtype(dtype)
    if not copy and x.dtype == dtype:
        return x
    if x.dtype.kind == "c" and dtype.kind in "iuf":
        raise TypeError(f"{x.dtype} cannot become {dtype}: take real() or abs()")
    return x.astype(dtype)


def can_cast(from_: DType | GPUArray, to: DType, /) -> Any:
    """Return whether the rules of promotion lead from a data type to ``to``.

    So ``result_type(from_, to)`` is ``to``. The standard has no rule for mixed kinds,
    such as bool and float64. There the rules are NumPy's.

    Parameters
    ----------
    from_ : dtype or GPUArray
        The data type, or an array of it.
    to : dtype
        The other data type.

    Returns
    -------
    bool
        Whether they do.

    Raises
    ------
    TypeError
        If an argument is something else.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.can_cast(xp.int32, xp.float64), xp.can_cast(xp.int64, xp.int32)
    (True, False)
    """
    source, target = _dtype_of(from_, "from_"), _dtype_of(to, "to")
    return np.can_cast(source, target, "safe")


@dataclass(frozen=True)
class FloatInfo:
    """The limits of a floating-point data type; of its parts if it is complex."""

    #: The number of bits.
    bits: int
    #: The difference between 1 and the next larger number.
    eps: float
    #: The largest number.
    max: float
    #: The smallest number, which is negative.
    min: float
    #: The smallest positive number with full precision.
    smallest_normal: float
    #: The real data type.
    dtype: DType


@dataclass(frozen=True)
class IntegerInfo:
    """The limits of an integer data type."""

    #: The number of bits.
    bits: int
    #: The largest number.
    max: int
    #: The smallest number.
    min: int
    dtype: DType


def finfo(type: DType | GPUArray, /) -> FloatInfo:
    """Return the limits of a floating-point data type, or of an array's.

    Parameters
    ----------
    type : dtype or GPUArray
        The data type, or an array of it.

    Returns
    -------
    FloatInfo
        Object with the attributes ``bits``, ``eps``, ``max``, ``min``,
        ``smallest_normal`` and ``dtype``, of the parts of a complex data type.

    Raises
    ------
    TypeError
        If the data type is another one.

    See Also
    --------
    iinfo : Integers.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.finfo(xp.float32).eps
    1.1920928955078125e-07
    """
    dtype = _dtype_of(type, "type")
    if dtype.kind not in "fc":
        raise TypeError(f"finfo() takes floating-point data types, not {dtype}")
    info = np.finfo(dtype)
    return FloatInfo(
        bits=int(info.bits),
        eps=float(info.eps),
        max=float(info.max),
        min=float(info.min),
        smallest_normal=float(info.tiny),
        dtype=np.dtype(info.dtype),
    )


def iinfo(type: DType | GPUArray, /) -> IntegerInfo:
    """Return the limits of an integer data type, or of an array's.

    Parameters
    ----------
    type : dtype or GPUArray
        The data type, or an array of it.

    Returns
    -------
    IntegerInfo
        Object with the attributes ``bits``, ``max``, ``min`` and ``dtype``.

    Raises
    ------
    TypeError
        If the data type is another one.

    See Also
    --------
    finfo : Floating-point numbers.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.iinfo(xp.int16).max
    32767
    """
    dtype = _dtype_of(type, "type")
    if dtype.kind not in "iu":
        raise TypeError(f"iinfo() takes integer data types, not {dtype}")
    info = np.iinfo(dtype)
    return IntegerInfo(int(info.bits), int(info.max), int(info.min), dtype)


def isdtype(dtype: DType, kind: DType | str | tuple[DType | str, ...]) -> Any:
    """Return whether a data type is of a kind.

    Parameters
    ----------
    dtype : dtype
        The data type.
    kind : dtype, str or tuple
        A data type, one of the names "bool", "signed integer", "unsigned integer",
        "integral", "real floating", "complex floating" and "numeric", or a tuple of
        these.

    Returns
    -------
    bool
        Whether it is of one of the kinds.

    Raises
    ------
    TypeError
        If an argument is something else.
    ValueError
        If there is no kind of this name.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.isdtype(xp.int16, ("bool", "integral"))
    True
    """
    if isinstance(dtype, GPUArray):
        raise TypeError("isdtype() takes a data type, not an array")
    dtype = _dtype_of(dtype, "dtype")
    if isinstance(kind, tuple):
        if any(isinstance(item, tuple) for item in kind):
            raise TypeError("a kind must not be a tuple inside of a tuple")
        return any(isdtype(dtype, item) for item in kind)
    if isinstance(kind, str):
        return dtype.kind in _letters_of(kind)
    if isinstance(kind, GPUArray):
        raise TypeError("a kind is a data type or a name, not an array")
    return dtype == _dtype_of(kind, "kind")


def result_type(*arrays_and_dtypes: GPUArray | DType | Number) -> DType:
    """Return the data type of a result of arrays, data types and Python numbers.

    Parameters
    ----------
    *arrays_and_dtypes : GPUArray, dtype or number
        What is combined. Numbers of Python adapt to the others; NumPy's have a dtype.

    Returns
    -------
    dtype
        The data type. Mixed kinds, for which the standard has no rule, have NumPy's.

    Raises
    ------
    TypeError
        If an argument is something else.
    ValueError
        If there are only numbers of Python.

    Examples
    --------
    >>> import pycuda.array_api as xp
    >>> xp.result_type(xp.int8, xp.int32, 1)
    dtype('int32')
    """
    found, numbers = [], []
    for item in arrays_and_dtypes:
        is_number = isinstance(item, (int, float, complex))
        if is_number and not isinstance(item, np.generic):
            numbers.append(item)
        else:
            found.append(_dtype_of(item, "each argument"))
    if not found:
        raise ValueError("result_type() needs at least one array or data type")
    return np.result_type(*found, *numbers)


# -- what the namespace can do ---------------------------------------------------------


_MAX_NDIM = 64


class NamespaceInfo:
    """The answers of ``__array_namespace_info__()``."""

    def capabilities(self) -> dict[str, Any]:
        """Return the optional abilities: masks and shapes that depend on data."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": _MAX_NDIM,
        }

    def default_device(self) -> Device:
        """Return the device of the current context."""
        return current_device()

    def default_dtypes(self, *, device: Device | None = None) -> dict[str, DType]:
        """Return the data types that functions choose if none is given."""
        check_device(device)
        return {
            "real floating": float64,
            "complex floating": complex128,
            "integral": int64,
            "indexing": int64,
        }

    def dtypes(
        self,
        *,
        device: Device | None = None,
        kind: str | tuple[str, ...] | None = None,
    ) -> dict[str, DType]:
        """Return the data types by name, all of them or those of some kinds.

        Raises ValueError for a name that is no kind.
        """
        check_device(device)
        if kind is None:
            kind = ("bool", "numeric")
        kinds = kind if isinstance(kind, tuple) else (kind,)
        return {
            dtype.name: dtype
            for letters in map(_letters_of, kinds)
            for dtype in _DTYPES
            if dtype.kind in letters
        }

    def devices(self) -> tuple[Device, ...]:
        """Return the devices on which arrays can be made: the current context's."""
        return (current_device(),)


def __array_namespace_info__() -> NamespaceInfo:
    """Return an object whose methods describe the namespace."""
    return NamespaceInfo()
