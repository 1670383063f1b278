"""The kernels of a plan: instructions on variables, and their estimated work.

``_WORK`` has the operations that count as more or less than ``_OTHER_WORK``; a byte
takes the time of ``OPERATIONS_PER_BYTE`` simple operations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import pycuda.fuse._moves as moves
from pycuda.fuse._moves import Jump
from pycuda.fuse._program import (
    Cut,
    Loop,
    Operation,
    Reduction,
    Scalar,
    extent,
    itemsize,
)

OPERATIONS_PER_BYTE = 10
_SIMPLE = (
    "add subtract multiply negative positive absolute fabs maximum minimum fmax fmin "
    "where copy equal not_equal less less_equal greater greater_equal logical_and "
    "logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor invert "
    "left_shift right_shift square real imag conjugate isnan isinf isfinite signbit "
    "clip floor ceil trunc rint sign copysign if_positive axpb axpby arange join remap "
    "gather"
)
_WORK = dict.fromkeys(_SIMPLE.split(), 1) | {"divide": 8, "reciprocal": 8, "sqrt": 8}
_OTHER_WORK = 30


@dataclass(frozen=True)
class Access:
    """Elements of a block, by the indices of a kernel: bytes and strides in bytes."""

    block: int
    dtype: str
    offset: int
    strides: tuple[int, ...]
    jumps: tuple[Jump, ...] = ()

    def extent(self, shape: tuple[int, ...]) -> tuple[int, int]:
        """Return the first byte and the byte behind the last one."""
        lengths = (*shape, *(jump.length for jump in self.jumps))
        strides = (*self.strides, *(jump.stride for jump in self.jumps))
        return extent(self.offset, lengths, strides, itemsize(self.dtype))

    def meets(self, other: Access, shape: tuple[int, ...]) -> bool:
        """Say whether two accesses may have a byte in common."""
        if self.block != other.block:
            return False
        (a, b), (c, d) = self.extent(shape), other.extent(shape)
        if b <= c or d <= a:
            return False
        steps = [*self.strides, *other.strides]
        steps += [jump.stride for jump in (*self.jumps, *other.jumps)]
        step = math.gcd(*steps)  # elements that alternate have no byte in common
        apart = other.offset - self.offset
        return not step or (
            apart % step < itemsize(self.dtype) or -apart % step < itemsize(other.dtype)
        )

    def depends_on(self, axis: int) -> bool:
        """Say whether an index of the kernel changes the element."""
        jumps = any(jump.axes[axis] for jump in self.jumps)
        return self.strides[axis] != 0 or jumps


@dataclass(frozen=True)
class Load:
    """Set a variable to an element."""

    target: int
    access: Access
    line: str = ""


@dataclass(frozen=True)
class Index:
    """Set a variable to an affine function of the kernel's indices."""

    target: int
    offset: int
    strides: tuple[int, ...]
    jumps: tuple[Jump, ...] = ()


@dataclass(frozen=True)
class Compute:
    """Set variables to the results of an operation. A Scalar is its own argument."""

    targets: tuple[int, ...]
    operation: Operation
    arguments: tuple[int | Scalar, ...]
    index: int | None = None  # the variable of the element's number

    @property
    def line(self) -> str:
        """The line of the program."""
        return self.operation.line


@dataclass(frozen=True)
class Repeat:
    """Repeat instructions; ``state`` are variables, which begin as ``arguments``."""

    count: int
    state: tuple[int, ...]
    arguments: tuple[int, ...]
    body: tuple[Any, ...]
    ends: tuple[int, ...]


@dataclass(frozen=True)
class Store:
    """Store a variable."""

    source: int
    access: Access
    line: str = ""


@dataclass(frozen=True)
class Reduce:
    """Set a variable to the result of a reduction of variables."""

    target: int
    reduction: Reduction
    arguments: tuple[int, ...]


@dataclass(frozen=True)
class Few:
    """Set a variable to the reduction of a few variables in each thread."""

    target: int
    reduction: Reduction
    arguments: tuple[int, ...]


@dataclass(frozen=True)
class Join:
    """Set a variable to the result of a reduction whose segments another kernel made.

    Each warp joins them. They are in ``block``.
    """

    target: int
    reduction: Reduction
    block: int


@dataclass
class Kernel:
    """A kernel over the elements of a shape.

    A kernel that reduces has a cut. If results are made in segments, ``partial`` has
    the blocks of their accumulators by the variables, and a second kernel joins them.
    ``before`` are instructions that are the same for all elements: a ``Join`` and what
    uses its result.
    """

    shape: tuple[int, ...]
    instructions: list[Any] = field(default_factory=list)
    types: list[str] = field(default_factory=list)  # of the variables
    cut: Cut | None = None
    partial: dict[int, int] = field(default_factory=dict)
    joins: bool = False
    before: list[Any] = field(default_factory=list)

    @property
    def elements(self) -> tuple[int, ...]:
        """The shape of what is computed: all elements, or the results of segments."""
        if self.cut is None or not self.joins:
            return self.shape
        return tuple(self.shape[k] for k in self.cut.kept)

    @property
    def operations(self) -> int:
        """The number of operations on an element."""
        return _count([*self.before, *self.instructions])

    @property
    def bytes(self) -> int:
        """The bytes that the kernel loads and stores, each load counted once."""
        return round(self._traffic(self.instructions))

    def _traffic(self, instructions: Any) -> float:
        total = 0.0
        for each in instructions:
            if isinstance(each, (Load, Store)):
                lengths = [
                    n for k, n in enumerate(self.shape) if each.access.depends_on(k)
                ]
                total += math.prod(lengths) * itemsize(each.access.dtype)
            for body, share in moves.bodies(each):
                total += share * self._traffic(body)
        return total

    @property
    def work(self) -> int:
        """The estimated operations on all elements, in those of a float."""
        return sum(map(work_of_one, self.instructions)) * math.prod(self.elements)


def _count(instructions: Any) -> int:
    """Return the number of operations in instructions."""
    return sum(
        isinstance(each, (Compute, Repeat, Reduce, Few, Join))
        + sum(_count(body) for body, _ in moves.bodies(each))
        for each in instructions
    )


# -- the estimate ----------------------------------------------------------------------


def work_of(statement: Operation | Reduction | Loop) -> int:
    if isinstance(statement, Reduction):
        return statement.length
    if isinstance(statement, Loop):
        return statement.count * sum(work_of(each) for each in statement.body)
    if statement.name == "products":
        return len(statement.inputs)
    return _WORK.get(statement.name, _OTHER_WORK)


def work_of_one(instruction: Any) -> int:
    if isinstance(instruction, Compute):
        return work_of(instruction.operation)
    if isinstance(instruction, Repeat):
        return instruction.count * sum(map(work_of_one, instruction.body))
    if isinstance(instruction, Few):
        return len(instruction.arguments)
    made: int = moves.work(instruction, work_of_one)
    return isinstance(instruction, Reduce) + made
