"""The names that dtypes have in C.

``TYPE_REGISTRY`` is the registry of the process, which the functions use. A type has
many spellings in C (``long unsigned int`` is ``unsigned long``). All are understood.
The functions return the spelling that was registered first.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pycuda import _hide_imports

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = [
    "ArgTypeT",
    "DTYPE_TO_NAME",
    "DTypeRegistry",
    "NAME_TO_DTYPE",
    "TYPE_REGISTRY",
    "TypeNameNotKnown",
    "dtype_to_ctype",
    "fill_registry_with_c99_complex_types",
    "fill_registry_with_c99_stdint_types",
    "fill_registry_with_c_types",
    "fill_registry_with_opencl_c_types",
    "get_or_register_dtype",
    "parse_c_arg_backend",
    "register_dtype",
]
_hide_imports(globals())

ArgTypeT = TypeVar("ArgTypeT")

_WORDS_OF_INTEGERS = frozenset(("signed", "unsigned", "char", "short", "int", "long"))
# Patterns are compiled at their first use, which keeps the import short.
_QUALIFIERS = (
    r"\b(?:const|volatile|restrict|__restrict__|__restrict|__global|__constant)\b"
)
_KEYWORDS = r"\b(?:struct|class|union)\b"  # C++ knows a type without them
_DECLARATION = r"(?P<type>.*?)(?P<name>[A-Za-z_]\w*)\s*(?P<array>\[[^]]*\])?"


class TypeNameNotKnown(RuntimeError):  # noqa: N818  the name programs know
    """A C type has no dtype."""


def _canonical(c_name: str) -> str:
    """Return one spelling for all the spellings of a C type."""
    words = c_name.split()
    if not words or not _WORDS_OF_INTEGERS.issuperset(words):
        if len(words) == 1 and words[0].isidentifier():
            return words[0]
        return re.sub(r"\s*([<>,]|::)\s*", r"\1", " ".join(words))
    sign = [word for word in words if word in ("signed", "unsigned")]
    size = sorted(word for word in words if word in ("char", "short", "long"))
    if "char" not in size and sign == ["signed"]:
        sign = []
    return " ".join(sign + (size or ["int"]))


class DTypeRegistry:
    """The dtypes of C names, and the C names of dtypes.

    Attributes
    ----------
    name_to_dtype : dict
        From C names to dtypes.
    dtype_to_name : dict
        From dtypes, and from their ``str``, to C names.
    """

    def __init__(self) -> None:
        self.name_to_dtype: dict[str, np.dtype[Any]] = {}
        self.dtype_to_name: dict[np.dtype[Any] | str, str] = {}

    def _find(self, name: str) -> np.dtype[Any] | None:
        known = self.name_to_dtype.get(name)
        return self.name_to_dtype.get(_canonical(name)) if known is None else known

    def _add(self, names: Iterable[str], dtype: DTypeLike) -> None:
        dtype = np.dtype(dtype)
        for name in names:
            self.name_to_dtype[name] = self.name_to_dtype[_canonical(name)] = dtype
            self.dtype_to_name.setdefault(dtype, name)
            self.dtype_to_name.setdefault(str(dtype), name)

    def get_or_register_dtype(
        self, names: str | Iterable[str], dtype: DTypeLike | None = None
    ) -> np.dtype[Any]:
        """Register C names of a dtype, or look up the dtype of a name.

        Parameters
        ----------
        names : str or iterable of str
            The C names.
        dtype : dtype_like, optional
            The dtype. Without it, look up that of the first name.

        Returns
        -------
        numpy.dtype
            The dtype that was registered first among equal ones.

        Raises
        ------
        KeyError
            If an unknown name is looked up.
        RuntimeError
            If a name means another dtype.
        """
        names = [names] if isinstance(names, str) else list(names)
        if dtype is None:
            found = self._find(names[0])
            if found is None:
                raise KeyError(names[0])
            return found
        dtype = np.dtype(dtype)
        for name in names:
            known = self._find(name)
            if known is not None and known != dtype:
                raise RuntimeError(
                    f"the C type '{name}' already means {known!r}, it cannot mean "
                    f"{dtype!r} too"
                )
        first = dtype
        if dtype in self.dtype_to_name:
            dtypes = (each for each in self.dtype_to_name if not isinstance(each, str))
            first = next(each for each in dtypes if each == dtype)
        self._add(names, first)
        return first

    def dtype_to_ctype(self, dtype: DTypeLike | None) -> str:
        """Return the C name of a dtype.

        Parameters
        ----------
        dtype : dtype_like
            Dtype that is registered.

        Returns
        -------
        str
            The name that was registered first.

        Raises
        ------
        ValueError
            If the dtype has no name in C.
        """
        if dtype is None:
            raise ValueError("None is not a dtype")
        dtype = np.dtype(dtype)
        try:
            return self.dtype_to_name[dtype]
        except KeyError:
            message = f"no C type is known for {dtype!r}"
            if dtype.fields is not None:
                message += (
                    ": register the struct, as in "
                    'pycuda.tools.get_or_register_dtype("name", dtype)'
                )
            raise ValueError(message) from None


# -- the types of languages ------------------------------------------------------------


def fill_registry_with_c_types(
    reg: DTypeRegistry, respect_windows: bool, include_bool: bool = True
) -> None:
    """Register the types of C.

    Parameters
    ----------
    reg : DTypeRegistry
        The registry.
    respect_windows : bool
        If true, ``long`` has its size on this operating system.
    include_bool : bool, optional
        If true, register ``bool`` too.
    """
    if include_bool:
        reg._add(["bool"], np.bool_)
    reg._add(["signed char", "char"], np.int8)
    reg._add(["unsigned char"], np.uint8)
    reg._add(["short", "signed short", "short int", "signed short int"], np.int16)
    reg._add(["unsigned short", "unsigned short int"], np.uint16)
    reg._add(["int", "signed int", "signed"], np.int32)
    reg._add(["unsigned", "unsigned int"], np.uint32)
    bits = 32 if respect_windows and os.name == "nt" else 64
    reg._add(["long", "long int", "signed long"], f"int{bits}")
    reg._add(["unsigned long", "unsigned long int"], f"uint{bits}")
    reg._add(["long long", "long long int"], np.int64)
    reg._add(["unsigned long long", "unsigned long long int"], np.uint64)
    reg._add(["float"], np.float32)
    reg._add(["double"], np.float64)


def fill_registry_with_c99_stdint_types(reg: DTypeRegistry) -> None:
    """Register ``int8_t`` to ``uint64_t``, ``size_t`` and ``ptrdiff_t``.

    Parameters
    ----------
    reg : DTypeRegistry
        The registry.
    """
    for bits in (8, 16, 32, 64):
        reg._add([f"int{bits}_t"], f"int{bits}")
        reg._add([f"uint{bits}_t"], f"uint{bits}")
    reg._add(["size_t"], np.uintp)
    reg._add(["ptrdiff_t"], np.intp)


def fill_registry_with_c99_complex_types(reg: DTypeRegistry) -> None:
    """Register ``float complex`` and the like.

    Parameters
    ----------
    reg : DTypeRegistry
        The registry.
    """
    reg._add(["float complex", "complex float"], np.complex64)
    reg._add(["double complex", "complex double"], np.complex128)
    reg._add(["long double complex", "complex long double"], np.clongdouble)


def fill_registry_with_opencl_c_types(reg: DTypeRegistry) -> None:
    """Register the scalar types of OpenCL C, where ``long`` has 64 bits everywhere.

    Parameters
    ----------
    reg : DTypeRegistry
        The registry.
    """
    for name, bits in (("char", 8), ("short", 16), ("int", 32), ("long", 64)):
        reg._add([name, f"signed {name}"], f"int{bits}")
        reg._add([f"u{name}", f"unsigned {name}"], f"uint{bits}")
    reg._add(["unsigned"], np.uint32)
    reg._add(["half"], np.float16)
    reg._add(["float"], np.float32)
    reg._add(["double"], np.float64)


#: The elements of CUDA's vectors: their name, their type, the largest vector.
_VECTORS: tuple[tuple[str, type[np.generic], int], ...] = (
    ("char", np.int8, 4),
    ("uchar", np.uint8, 4),
    ("short", np.int16, 4),
    ("ushort", np.uint16, 4),
    ("int", np.int32, 4),
    ("uint", np.uint32, 4),
    ("long", np.int64, 4),
    ("ulong", np.uint64, 4),
    ("float", np.float32, 4),
    ("longlong", np.int64, 2),
    ("ulonglong", np.uint64, 2),
    ("double", np.float64, 2),
)


def _cuda_types() -> Iterator[tuple[str, DTypeLike]]:
    """Yield (name, dtype) of the types of CUDA C besides those of C."""
    yield "uchar", np.uint8
    yield "ushort", np.uint16
    yield "uint", np.uint32
    yield "pycuda::complex<float>", np.complex64
    yield "pycuda::complex<double>", np.complex128
    yield from _vector_types()


def _vector_types() -> Iterator[tuple[str, np.dtype[Any]]]:
    """Yield (name, dtype) of CUDA's vector types, such as ``float4``."""
    for base, scalar, most in _VECTORS:
        for count in range(1, most + 1):
            dtype = np.dtype([(field, scalar) for field in "xyzw"[:count]])
            yield f"{base}{count}", dtype


# -- the registry of the process -------------------------------------------------------


TYPE_REGISTRY = DTypeRegistry()
# The dictionaries of the registry, under older names.
DTYPE_TO_NAME = TYPE_REGISTRY.dtype_to_name
NAME_TO_DTYPE = TYPE_REGISTRY.name_to_dtype


def _fill_dtype_registry(respect_windows: bool, include_bool: bool = True) -> None:
    """Register the types of C and CUDA C.

    With ``respect_windows``, ``long`` has its size on this operating system.
    """
    fill_registry_with_c_types(TYPE_REGISTRY, respect_windows, include_bool)
    fill_registry_with_c99_stdint_types(TYPE_REGISTRY)
    for name, dtype in _cuda_types():
        TYPE_REGISTRY.get_or_register_dtype(name, dtype)


_fill_dtype_registry(respect_windows=True)


def get_or_register_dtype(
    names: str | Iterable[str], dtype: DTypeLike | None = None
) -> np.dtype[Any]:
    """Register C names of a dtype, or look up the dtype of a name.

    The C source must define a struct itself, with the same fields.

    Parameters
    ----------
    names : str or iterable of str
        The C names.
    dtype : dtype_like, optional
        The dtype. Without it, look up that of the first name. ``align=True`` places the
        fields of a struct as C does.

    Returns
    -------
    numpy.dtype
        The dtype that was registered first among equal ones.

    Raises
    ------
    KeyError
        If an unknown name is looked up.
    RuntimeError
        If a name means another dtype.

    Examples
    --------
    >>> from pycuda.tools import dtype_to_ctype, get_or_register_dtype
    >>> pair = np.dtype([("key", np.int32), ("value", np.float32)], align=True)
    >>> pair = get_or_register_dtype("pair", pair)
    >>> dtype_to_ctype(pair)
    'pair'
    """
    return TYPE_REGISTRY.get_or_register_dtype(names, dtype)


def register_dtype(
    dtype: DTypeLike, c_names: str | Iterable[str], alias_ok: bool = False
) -> None:
    """Register C names of a dtype; deprecated for ``get_or_register_dtype``.

    Parameters
    ----------
    dtype : dtype_like
        The dtype.
    c_names : str or iterable of str
        The C names.
    alias_ok : bool, optional
        If true, the dtype may have other names already.

    Raises
    ------
    RuntimeError
        If the dtype has a name already, or if a name means another dtype.

    See Also
    --------
    get_or_register_dtype : The same, and it returns the dtype.
    """
    warnings.warn(
        "register_dtype is deprecated; get_or_register_dtype(c_names, dtype) also "
        "returns the dtype",
        DeprecationWarning,
        stacklevel=2,
    )
    dtype = np.dtype(dtype)
    known = TYPE_REGISTRY.dtype_to_name.get(dtype)
    if known is not None and not alias_ok:
        raise RuntimeError(f"{dtype!r} already has the C name '{known}'")
    TYPE_REGISTRY.get_or_register_dtype(c_names, dtype)


def dtype_to_ctype(dtype: DTypeLike | None) -> str:
    """Return the C name of a dtype.

    Parameters
    ----------
    dtype : dtype_like
        Dtype that is registered.

    Returns
    -------
    str
        The name that was registered first.

    Raises
    ------
    ValueError
        If the dtype has no name in C.

    Examples
    --------
    >>> from pycuda.compyte.dtypes import dtype_to_ctype
    >>> dtype_to_ctype(np.int32)
    'int'
    """
    return TYPE_REGISTRY.dtype_to_ctype(dtype)


def parse_c_arg_backend(
    c_arg: str,
    scalar_arg_factory: Callable[[np.dtype[Any], str], ArgTypeT],
    vec_arg_factory: Callable[[np.dtype[Any], str], ArgTypeT],
    name_to_dtype: DTypeRegistry | Callable[[str], np.dtype[Any]] | None = None,
) -> ArgTypeT:
    """Make an argument from a C declaration.

    Parameters
    ----------
    c_arg : str
        Declaration such as ``const float *x``.
    scalar_arg_factory : callable
        Function of dtype and name for values.
    vec_arg_factory : callable
        Function of dtype and name for pointers.
    name_to_dtype : DTypeRegistry or callable, optional
        Registry, or function that raises KeyError for an unknown name. The default is
        the registry of the process.

    Returns
    -------
    object
        What the function returns.

    Raises
    ------
    ValueError
        If the text is not a declaration, or if its type has no dtype.
    """
    match = re.fullmatch(_DECLARATION, re.sub(_QUALIFIERS, " ", c_arg).strip())
    if match is None:
        raise ValueError(f"'{c_arg}' does not declare an argument")
    stars = match["type"].count("*")
    c_type = " ".join(match["type"].replace("*", " ").split())
    if stars + bool(match["array"]) > 1:
        raise ValueError(f"'{c_arg}' points to pointers, which is not supported")
    if name_to_dtype is None:
        name_to_dtype = TYPE_REGISTRY
    if isinstance(name_to_dtype, DTypeRegistry):
        name_to_dtype = name_to_dtype.get_or_register_dtype
    try:
        try:
            dtype = name_to_dtype(c_type)
        except KeyError:
            dtype = name_to_dtype(re.sub(_KEYWORDS, "", c_type).strip())
    except KeyError:
        raise ValueError(
            f"the type of '{c_arg}' is not known: pycuda.tools.dtype_to_ctype(dtype) "
            "is the name of a dtype in C, and a struct needs a name, as in "
            'pycuda.tools.get_or_register_dtype("name", dtype)'
        ) from None
    factory = vec_arg_factory if stars or match["array"] else scalar_arg_factory
    return factory(dtype, match["name"])
