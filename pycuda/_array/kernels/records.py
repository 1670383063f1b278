"""Structs of CUDA C and dtypes of records: the text of one from the other."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from pycuda.compyte import dtypes

#: Vector types whose alignment is larger than that of their members, by the base type
#: and the number of members.
_WIDE = re.compile(r"(u?char|u?short|u?int|u?long|u?longlong|float|double)([24])")


#: The names in C of half-precision numbers, which the registry of types has not.
_HALF = np.dtype(np.float16)
_HALVES = ("__half", "half")

#: Words of C++ that are no names.
_KEYWORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char
    char16_t char32_t class compl const const_cast constexpr continue decltype
    default delete do double dynamic_cast else enum explicit export extern false
    float for friend goto if inline int long mutable namespace new noexcept not
    not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast return short signed sizeof static static_assert static_cast
    struct switch template this thread_local throw true try typedef typeid typename
    union unsigned using virtual void volatile wchar_t while xor xor_eq
"""

#: The headers that define the types of a kind of dtypes.
_HEADERS = {"c": "pycuda-complex.hpp", "e": "cuda_fp16.h"}


def _alignment(dtype: np.dtype[Any]) -> int:
    """Return the alignment that nvcc gives the type of a dtype."""
    if dtype.subdtype is not None:
        return _alignment(dtype.subdtype[0])
    name = dtypes.TYPE_REGISTRY.dtype_to_name.get(dtype)
    if name and _WIDE.fullmatch(name):
        return min(dtype.itemsize, 16)
    if dtype.kind == "c":  # pycuda::complex has two numbers
        return dtype.itemsize // 2
    if dtype.names is not None:
        inner = (_alignment(dtype[each]) for each in dtype.names)
        return max(inner, default=1)
    return dtype.itemsize


def _declared(name: str, dtype: np.dtype[Any], inner: dict[np.dtype[Any], str]) -> str:
    """Return the declaration of a field."""
    shape: tuple[int, ...] = ()
    if dtype.subdtype is not None:
        dtype, shape = dtype.subdtype
    c_type = inner.get(dtype)
    if c_type is None:
        c_type = _HALVES[0] if dtype == _HALF else dtypes.dtype_to_ctype(dtype)
    return f"{c_type} {name}" + "".join(f"[{n}]" for n in shape)


def _nested(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """Return the dtype of a field's records, None if they have a name in C."""
    if dtype.subdtype is not None:
        dtype = dtype.subdtype[0]
    if dtype.names is None or dtype in dtypes.TYPE_REGISTRY.dtype_to_name:
        return None
    return dtype


def _headers(dtype: np.dtype[Any]) -> set[str]:
    """Return the headers that the types of a dtype's fields need."""
    if dtype.subdtype is not None:
        return _headers(dtype.subdtype[0])
    if dtype.names is not None:
        return set().union(*(_headers(dtype[each]) for each in dtype.names))
    return {_HEADERS[each] for each in (dtype.kind, dtype.char) if each in _HEADERS}


def _is_name(text: str) -> bool:
    """Return whether C++ takes a text as a name."""
    return text.isidentifier() and text.isascii() and text not in _KEYWORDS.split()


def struct_from_dtype(dtype: DTypeLike, name: str) -> str:
    """Return the definition in CUDA C of a struct that has the layout of a dtype.

    Parameters
    ----------
    dtype : dtype_like
        Dtype with fields. ``align=True`` places them as C does. Fields may be arrays,
        records, and vector types of CUDA.
    name : str
        Name of the struct.

    Returns
    -------
    str
        The definition, for the source of a kernel. Where the dtype has a gap that C
        does not make, the struct has a member ``pad_0``, ``pad_1`` ... of bytes. The
        compiler compares the size. Fields of float16 are ``__half``, and complex ones
        ``pycuda::complex``, whose headers the text includes: compile it with
        ``no_extern_c=True``. A record in it that is not registered has its own
        struct, whose name is that of the outer one with the field's.

    Raises
    ------
    TypeError
        If the dtype has no fields.
    ValueError
        If C cannot place a field where the dtype has it, or if a field has no type or
        no name in C.

    See Also
    --------
    get_or_register_dtype : Give a struct a name for the kernels of arrays.
    dtype_to_ctype : The C name of a type.

    Examples
    --------
    >>> from pycuda.tools import struct_from_dtype
    >>> body = np.dtype([("id", np.int32), ("mass", np.float64)], align=True)
    >>> print(struct_from_dtype(body, "body"))
    struct body
    {
        int id;
        double mass;
    };
    static_assert(sizeof(body) == 16, "the dtype of body has 16 bytes");
    """
    dtype = np.dtype(dtype)
    if not dtype.names or dtype.fields is None:
        raise TypeError(f"a struct needs a dtype with fields, not {dtype}")
    if not _is_name(name):
        raise ValueError(f"{name!r} is not a name in C")
    before = [f"#include <{each}>" for each in sorted(_headers(dtype))]
    members, inner = [], {}
    end = pads = 0
    of = dtype.fields
    fields = sorted(
        ((each, *of[each][:2]) for each in dtype.names),
        key=lambda row: int(row[2]),
    )

    def advance(target: int, align: int) -> None:
        """Fill up to an offset, which C may do itself."""
        nonlocal end, pads
        if -(-end // align) * align != target:
            while f"pad_{pads}" in of:
                pads += 1
            members.append(f"unsigned char pad_{pads}[{target - end}]")
            pads += 1
        end = target

    for each, field, offset in fields:
        align = _alignment(field)
        if offset % align or offset < end:
            raise ValueError(
                f"the field {each!r} is at byte {offset} of the dtype; C puts it at a "
                f"multiple of {align} behind the field before it. Make the dtype with "
                "align=True"
            )
        if not _is_name(each):
            raise ValueError(f"the field {each!r} has no name in C")
        nested = _nested(field)
        if nested is not None and nested not in inner:
            inner[nested] = f"{name}_{each}"
            before.append(struct_from_dtype(nested, inner[nested]))
        advance(offset, align)
        members.append(_declared(each, field, inner))
        end = offset + field.itemsize
    align = _alignment(dtype)
    if dtype.itemsize % align:
        raise ValueError(
            f"the dtype has {dtype.itemsize} bytes; in C the size of the struct is a "
            f"multiple of {align}. Make the dtype with align=True"
        )
    advance(dtype.itemsize, align)
    rows = [f"    {each};" for each in members]
    check = (
        f"static_assert(sizeof({name}) == {dtype.itemsize}, "
        f'"the dtype of {name} has {dtype.itemsize} bytes");'
    )
    return "\n".join([*before, f"struct {name}", "{", *rows, "};", check])


_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_STRUCT = re.compile(r"\bstruct\s+(?P<name>\w+)\s*\{(?P<body>[^{}]*)\}\s*;", re.DOTALL)
_MEMBERS = re.compile(r"(?P<type>[\w:<>\s]*[\w>])\s+(?P<names>\w+[^;]*)", re.DOTALL)
_NAME = re.compile(r"(?P<name>\w+)\s*(?P<shape>(?:\[\s*\d+\s*\]\s*)*)")


def _laid_out(fields: list[tuple[str, np.dtype[Any]]]) -> np.dtype[Any]:
    """Return a dtype with the fields where C puts them."""
    offsets, end, largest = [], 0, 1
    for _, field in fields:
        align = _alignment(field)
        largest = max(largest, align)
        offsets.append(-(-end // align) * align)
        end = offsets[-1] + field.itemsize
    return np.dtype(
        {
            "names": [name for name, _ in fields],
            "formats": [field for _, field in fields],
            "offsets": offsets,
            "itemsize": -(-end // largest) * largest,
        }
    )


def _members(
    text: str, known: dict[str, np.dtype[Any]]
) -> list[tuple[str, np.dtype[Any]]]:
    """Return the members that a declaration without its semicolon declares."""
    found = _MEMBERS.fullmatch(text)
    if found is None:
        raise ValueError(
            f"'{text}' is no member of numbers, vectors, structs or arrays"
        )
    c_type = " ".join(found["type"].removeprefix("struct ").split())
    if c_type not in known:
        try:
            known[c_type] = dtypes.get_or_register_dtype(c_type)
        except KeyError:
            raise ValueError(f"the type '{c_type}' of '{text}' is not known") from None
    members = []
    for each in found["names"].split(","):
        one = _NAME.fullmatch(each.strip())
        if one is None:
            raise ValueError(f"'{each.strip()}' in '{text}' is no name of a member")
        shape = tuple(int(n) for n in re.findall(r"\d+", one["shape"]))
        members.append((one["name"], np.dtype((known[c_type], shape))))
    return members


def dtype_from_struct(source: str, name: str | None = None) -> np.dtype[Any]:
    """Return the dtype of a struct in CUDA C.

    Parameters
    ----------
    source : str
        Text with the struct. Members are numbers, vector types, structs that the text
        defines before, and arrays of these.
    name : str, optional
        Name of the struct. The default is the last one.

    Returns
    -------
    numpy.dtype
        The dtype, with the fields where the compiler puts them.

    Raises
    ------
    KeyError
        If there is no such struct.
    ValueError
        If a member of the struct, or of one before it, has no dtype.

    See Also
    --------
    struct_from_dtype : The struct of a dtype.

    Notes
    -----
    The preprocessor does not run. Pointers, bit fields, functions and attributes such
    as ``__align__`` are refused.

    Examples
    --------
    >>> from pycuda.tools import dtype_from_struct
    >>> dtype = dtype_from_struct("struct body { char kind; double mass, at[3]; };")
    >>> dtype.names, dtype.itemsize
    (('kind', 'mass', 'at'), 40)
    """
    known: dict[str, np.dtype[Any]] = dict.fromkeys(_HALVES, _HALF)
    structs: dict[str, np.dtype[Any]] = {}
    for found in _STRUCT.finditer(_COMMENT.sub(" ", source)):
        rows = (row.strip() for row in found["body"].split(";"))
        fields = [field for row in rows if row for field in _members(row, known)]
        known[found["name"]] = structs[found["name"]] = _laid_out(fields)
        if found["name"] == name:
            break
    if not structs or (name is not None and name not in structs):
        raise KeyError(f"the text defines no struct{f' {name}' if name else ''}")
    return structs[name] if name else structs[next(reversed(structs))]
