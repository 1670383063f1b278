"""What a recorded function does: operations and calls on places in memory.

A block is memory that the function uses: an argument, an array from outside, or a
temporary. A place is a block's elements as an array sees them. The order of the
statements is that of the function.
"""

from __future__ import annotations

import copy
import functools
import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Place:
    """Elements of a block: the bytes before the first one, lengths and strides."""

    block: int
    dtype: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def count(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def extent(self) -> tuple[int, int]:
        """The first byte and the byte behind the last one."""
        return extent(self.offset, self.shape, self.strides, itemsize(self.dtype))


def alignment_of(address: int) -> int:
    """Return the power of two up to 16 that divides an address."""
    return min(address & -address, 16) or 16


def _itemsize(name: str) -> int:
    """Return the bytes of an element."""
    return 2 if name == "bfloat16" else np.dtype(name).itemsize


itemsize = functools.cache(_itemsize)


def extent(
    offset: int, shape: tuple[int, ...], strides: tuple[int, ...], size: int
) -> tuple[int, int]:
    """Return the first byte of some elements and the byte behind the last one."""
    low, high = _kept_ends(shape, strides)
    return offset + low, offset + high + size


def _ends(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, int]:
    """Return the bytes from an array's first element to the outermost ones."""
    ends = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    return sum(end for end in ends if end < 0), sum(end for end in ends if end > 0)


_kept_ends = functools.lru_cache(maxsize=4096)(_ends)


def packed_strides(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Return the strides of elements in C order without gaps."""
    strides = []
    for length in reversed(shape):
        strides.append(size)
        size *= length
    return tuple(reversed(strides))


@dataclass(frozen=True)
class Scalar:
    """A number as a kernel gets it."""

    dtype: str
    data: bytes


@dataclass(frozen=True)
class Block:
    """Memory that a function uses."""

    kind: str  # "argument", "constant" or "temporary"
    size: int  # bytes
    source: Any = None  # the number of the argument; the array of a constant
    alignment: int = 16  # a power of two that divides the address, at most 16


@dataclass(frozen=True)
class Operation:
    """An elementwise operation. All inputs are read before an output is written.

    Operations whose elements come from other places have ``details``: see ``_moves``.
    """

    name: str
    compute: str
    inputs: tuple[Place | Scalar, ...]
    outputs: tuple[Place, ...]
    line: str = ""
    details: tuple[Any, ...] = ()

    @functools.cached_property
    def reads(self) -> list[Place]:
        """The inputs that are in memory."""
        return [each for each in self.inputs if isinstance(each, Place)]


@dataclass(frozen=True)
class Cut:
    """How the work of a reduction is cut, in the words of ``reduction_plan.h``.

    The axes are those of the first input, in the order of the kernel's loops and
    without those of length 1.
    """

    variant: str
    kept: tuple[int, ...]
    reduced: tuple[int, ...]
    join_lanes: int
    segments: int
    segment: int
    vector: int
    threads: int
    lanes: int
    rounds: int
    blocks: int
    streamed: int
    multiprocessors: int

    def fits(self, other: Cut) -> bool:
        """Say whether reductions of both cuts can be in one kernel."""
        if self.variant in ("by_short_row", "by_column"):
            return replace(self, streamed=0) == replace(other, streamed=0)
        same = replace(other, vector=self.vector, rounds=self.rounds)
        return replace(self, streamed=0) == replace(same, streamed=0)

    @property
    def idle(self) -> float:
        """How many times as long all work takes that these blocks do."""
        return max(self.multiprocessors / self.blocks, 1)


#: A thread that needs a result may reduce so many elements by itself.
MOST_FEW = 8


@dataclass(frozen=True)
class Reduction:
    """A reduction along axes of its first input, to which a second one broadcasts."""

    name: str
    compute: str
    inputs: tuple[Place, ...]
    outputs: tuple[Place, ...]
    divisor: float
    cut: Cut
    line: str = ""

    @property
    def length(self) -> int:
        """The number of elements of a result."""
        return math.prod(self.inputs[0].shape[k] for k in self.cut.reduced)

    @property
    def is_few(self) -> bool:
        """Say whether a thread may reduce a result's elements with the same bits.

        Lanes join the elements as a tree, in which a result may be left or right.
        """
        if self.cut.variant != "by_short_row" or self.length > MOST_FEW:
            return False
        if self.name in ("sum", "mean"):
            return self.compute not in ("float64", "complex128")
        if self.name in ("min", "max"):
            return self.cut.rounds == 1
        return self.name in ("prod", "any", "all", "argmin", "argmax", "count_nonzero")


@dataclass(frozen=True)
class Loop:
    """Some operations, repeated on the elements of a state.

    ``body`` reads the places ``begin`` and makes the places ``end``; both are in blocks
    that no other statement uses. The loop reads ``inputs`` and writes ``outputs``.
    """

    count: int
    inputs: tuple[Place, ...]
    begin: tuple[Place, ...]
    body: tuple[Operation, ...]
    end: tuple[Place, ...]
    outputs: tuple[Place, ...]
    line: str = ""


@dataclass(frozen=True)
class Call:
    """A call of a plain function. Arrays in its arguments are places."""

    function: Any
    args: Any
    kwargs: Any
    reads: tuple[Place, ...]
    writes: tuple[Place, ...]  # arguments that the function may change
    outputs: tuple[Place, ...]  # the arrays in its result
    line: str = ""
    repeats: bool = True  # whether a graph may repeat what the call enqueues


Statement = Operation | Reduction | Loop | Call


@dataclass
class Program:
    """A recorded function."""

    blocks: list[Block] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    result: Any = None  # the returned value, in which Results take the place of arrays
    fast: bool = False  # whether products and sums may be contracted


@dataclass(frozen=True)
class Result:
    """An array that a function returns."""

    place: Place
    counts_as: Any = None


@dataclass(frozen=True)
class Same:
    """A returned array that the function got: an argument or an array from outside."""

    block: int


def map_tree(change: Any, tree: Any) -> Any:
    """Return nested tuples, lists and dicts with changed leaves."""
    if isinstance(tree, tuple):
        items = [change_leaf(change, item) for item in tree]
        if hasattr(tree, "_fields"):
            return type(tree)(*items)
        return tuple(items)
    if isinstance(tree, list):
        items = [change_leaf(change, item) for item in tree]
        return items if type(tree) is list else _filled(tree, items)
    if isinstance(tree, dict):
        pairs = {key: change_leaf(change, item) for key, item in tree.items()}
        return pairs if type(tree) is dict else _filled(tree, pairs)
    return change(tree)


def _filled(tree: Any, items: Any) -> Any:
    """Return a copy of a list or dict of a derived type with other items."""
    made = copy.copy(tree)
    made.clear()
    made.extend(items) if isinstance(made, list) else made.update(items)
    return made


def leaves(tree: Any, kind: Any = object) -> list[Any]:
    """Return the leaves of nested tuples, lists and dicts that have a type."""
    found: list[Any] = []
    map_tree(found.append, tree)
    return [leaf for leaf in found if isinstance(leaf, kind)]


def change_leaf(change: Any, tree: Any) -> Any:
    """Return a changed part of a tree."""
    if isinstance(tree, (tuple, list, dict)):
        return map_tree(change, tree)
    if isinstance(tree, slice):
        return slice(*(change(part) for part in (tree.start, tree.stop, tree.step)))
    return change(tree)


def is_packed(place: Place, size: int) -> bool:
    """Say whether a place has each byte of its block once."""
    if place.offset:
        return False
    return _kept_are_packed(place.shape, place.strides, itemsize(place.dtype), size)


def _are_packed(
    shape: tuple[int, ...], strides: tuple[int, ...], expected: int, size: int
) -> bool:
    """Say whether elements of a size have each byte of so many once."""
    if math.prod(shape) * expected != size:
        return False
    axes = [(s, n) for s, n in zip(strides, shape, strict=True) if n != 1]
    for stride, length in sorted(axes):
        if stride != expected:
            return False
        expected *= length
    return True


_kept_are_packed = functools.lru_cache(maxsize=4096)(_are_packed)
