"""Keys of calls: what of its arguments a recording depends on.

Equal keys have equal dtypes, shapes, strides and alignment of arrays, and equal values
of everything else. ``FusedFunction`` finds specialisations by them.
"""

from __future__ import annotations

import functools
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

import pycuda.fuse._trace as trace
from pycuda.fuse._effects import CONSTANT, MOST_DEPTH
from pycuda.fuse._steps import layout_of
from pycuda.gpuarray import GPUArray


class Unhashable(Exception):
    """An argument has no key: the function runs plainly."""


#: The hash of types whose objects are equal to themselves only.
_HASH_OF_IDENTITY: Any = object.__hash__


def key_of(leaf: Any, arrays: list[GPUArray]) -> Any:
    """Return the part of a key for an argument, and collect the arrays."""
    kind = type(leaf)
    if kind is GPUArray:
        arrays.append(leaf)
        dtype = leaf.dtype
        rest = leaf.ptr & 15 if leaf.size else 0
        if dtype.char == "?":
            return dtype, leaf.shape, leaf.strides, rest, leaf._counts_as
        return dtype, leaf.shape, leaf.strides, rest
    if kind is float:
        return kind, leaf.hex()
    if kind in (int, bool, str, type(None)):
        return kind, leaf
    if kind in (tuple, list):
        return kind, tuple([key_of(each, arrays) for each in leaf])
    if kind is dict:
        items = tuple([(name, key_of(each, arrays)) for name, each in leaf.items()])
        return kind, items
    if isinstance(leaf, GPUArray):
        raise Unhashable
    if kind.__hash__ is _HASH_OF_IDENTITY:
        return kind, leaf, _state(leaf)
    if kind is MethodType:
        return kind, leaf.__func__, _value(leaf.__self__, 0)
    if isinstance(leaf, np.generic):
        return kind, leaf.dtype, leaf.tobytes()
    if isinstance(leaf, complex):
        return kind, leaf.real.hex(), leaf.imag.hex()
    try:
        hash(leaf)
    except TypeError:
        raise Unhashable from None
    return (kind, leaf, _state(leaf)) if hasattr(leaf, "__dict__") else (kind, leaf)


class _Same:
    """An object in a key that is equal to itself only."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def _state(leaf: Any, depth: int = 0) -> Any:
    """Return the part of a key for the attributes of an object."""
    if depth > MOST_DEPTH:
        return None
    if isinstance(leaf, FunctionType):
        return _state_of_function(leaf, depth)
    if isinstance(leaf, functools.partial):
        parts = (leaf.func, leaf.args, leaf.keywords)
        return tuple([_value(each, depth + 1) for each in parts])
    if isinstance(leaf, CONSTANT):
        return None
    if not hasattr(leaf, "__dict__"):
        raise Unhashable  # such as a generator, which a call changes
    items = vars(leaf).items()
    return tuple([(name, _value(each, depth + 1)) for name, each in items])


def _state_of_function(leaf: FunctionType, depth: int) -> Any:
    """Return the part of a key for the names outside a function that it uses."""
    empty = CellType()
    cells = [each for each in leaf.__closure__ or () if each != empty]
    return (
        tuple([_value(each.cell_contents, depth + 1) for each in cells]),
        _value(leaf.__defaults__, depth + 1),
        _value(leaf.__kwdefaults__, depth + 1),
        _value(vars(leaf), depth + 1),
    )


def _value(value: Any, depth: int) -> Any:
    """Return the part of a key for a value that is no argument.

    A recording has the values of numbers, and the arrays themselves.
    """
    kind = type(value)
    if isinstance(value, GPUArray):
        return _Same(value)
    if kind in (tuple, list):
        return kind, tuple([_value(each, depth) for each in value])
    if kind is dict:
        return kind, tuple([(k, _value(each, depth)) for k, each in value.items()])
    if kind.__hash__ is _HASH_OF_IDENTITY:
        return _Same(value), _state(value, depth)
    return key_of(value, [])


def same_arrays(arrays: list[GPUArray]) -> tuple[int, ...]:
    """Return the part of a key that says which arrays are the same object."""
    known: dict[int, int] = {}
    numbers = [known.setdefault(id(each), k) for k, each in enumerate(arrays)]
    return tuple(numbers) if len(known) < len(arrays) else ()


def key_in_c(args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Return the key of a call for C, None if an argument has none."""
    key: list[Any] = []
    if same_arrays([each for each in args if type(each) is GPUArray]):
        return None
    for each in args:
        if type(each) is GPUArray:
            counts_as = trace._counts_as(each) if each.dtype.char == "?" else None
            address = 16 + (each.ptr & 15 if each.size else 0)
            each = layout_of(each.shape, each.dtype, each.strides, counts_as, address)
        elif type(each) not in (float, int, bool, str, type(None)):
            return None
        key.append(each)
    return tuple(key)
