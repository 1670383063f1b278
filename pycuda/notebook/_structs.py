"""The structs of a cell, compared with the arrays that its kernels get.

A compiled kernel does not tell to what its pointers point, so the text of the cell is
read. A struct whose layout is not certain is not compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from pycuda import _parameter_types
from pycuda._array.kernels import c_types, records
from pycuda._parameter_types import Parameter

#: What may give a struct another layout than its members tell.
_UNCERTAIN = re.compile(r"^[ \t]*#[ \t]*(?:pragma[ \t]+pack|if)", re.MULTILINE)


def of_parameter(parameter: Parameter, source: str) -> np.dtype[Any] | None:
    """Return the dtype of the struct to which a parameter points, None if unknown."""
    words = re.findall(r"\w+|\S", parameter.text)
    unknown = {"struct", *_parameter_types.QUALIFIERS}
    name, *pointer = [word for word in words if word not in unknown] or [""]
    is_pointer = parameter.type == "pu" and "".join(pointer)[:1] in ("*", "[")
    if not is_pointer or "*" in pointer[1:]:
        return None
    source = _parameter_types.COMMENTS.sub(" ", source)
    defined = re.findall(rf"\b(?:struct|class|union)\s+{name}\s*[{{:]", source)
    if len(defined) != 1 or _UNCERTAIN.search(source):
        return None
    try:
        return records.dtype_from_struct(source, name)
    except (KeyError, ValueError):
        return None


def _numbers(dtype: np.dtype[Any]) -> Iterator[np.dtype[Any]]:
    """Yield the dtypes of the numbers in a record."""
    if dtype.subdtype is not None:
        yield from _numbers(dtype.subdtype[0])
    elif dtype.names is None:
        yield dtype
    else:
        for name in dtype.names:
            yield from _numbers(dtype[name])


def refuse(struct: np.dtype[Any], given: np.dtype[Any], described: str) -> None:
    """Raise TypeError for an array whose elements cannot be those of a struct.

    Records, integers and texts have the size of the struct. Other numbers have the size
    of each number in it, as those in the rows of a matrix, or are bytes. ``described``
    is the parameter.
    """
    size = given.itemsize
    if size == struct.itemsize and given.kind in "ViuS":
        return
    if given.kind != "V":
        number = size // 2 if given.kind == "c" else size
        if size == 1 or {each.itemsize for each in _numbers(struct)} == {number}:
            return
    advice = c_types.layout_advice(given) if given.names else "pass an array of records"
    raise TypeError(
        f"{described}, a struct of {struct.itemsize} bytes, and the argument is an "
        f"array of {given}, with elements of {size} bytes: {advice}"
    )
