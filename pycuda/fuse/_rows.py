"""Kernels that reduce: what may be in one, and in which order it happens.

A reduction has the loops of the plain kernel for its shape, so it adds the elements in
the same order. Its kernel computes the values that it reduces. More may join it:

* another reduction of the same shape whose work is cut in the same way,
* operations of the same shape, also those that use results, if a warp or a block makes
  the whole result: each pass over a row loads or computes its elements again, and ends
  with the reductions of the pass,
* operations on the results, which have one element for each row.

Passes are numbered. A variable belongs to the first pass in which it is known, the
result of a reduction to the pass after it. A variable is *inner* if it differs along
the reduced axes. The others are the same for a whole row.

If a result is made in segments, another kernel joins them. If the next kernel alone
reads the result, each of its warps joins the segments itself, unless that takes longer
than a launch.

A kernel with few blocks leaves most of the device idle. What joins it must take less
time there than another launch, for which a device does ``LAUNCH`` operations.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pycuda.fuse._moves as moves
from pycuda.fuse._instructions import (
    OPERATIONS_PER_BYTE,
    Compute,
    Few,
    Index,
    Join,
    Kernel,
    Load,
    Reduce,
    Repeat,
    Store,
    work_of_one,
)
from pycuda.fuse._program import Cut, itemsize

#: Bytes of the largest accumulator: see PCU_REDUCTION_ACC_BYTES.
LARGEST = 48
#: Bytes of the accumulator of a segment, about.
_OF_A_SUM = 8
#: Neighbouring results of a thread, and the accumulators of a block's warps at most.
MOST_TOGETHER = 4
ROOM = 1024
#: Simple operations that an H200 does in the time of a launch: 67e12 a second, 1.5 us.
LAUNCH = 10**8


def idles(cut: Cut, work: int) -> bool:
    """Say whether the blocks of a reduction take too long for some other work."""
    return work * (cut.idle - 1) > LAUNCH


def may_be_joined(cut: Cut) -> bool:
    """Say whether operations may use results of a reduction in its kernel."""
    return cut.segments == 1 and cut.variant != "by_column"


def together(cut: Any, shape: tuple[int, ...]) -> int:
    """Return how many neighbouring results a thread may have, to share work.

    They are those along the last axis that is kept, if it is short.
    """
    if not isinstance(cut, Cut) or cut.variant != "by_column" or cut.vector > 1:
        return 1
    if cut.kept[-1] >= len(shape):
        return 1  # of values from which the elements are computed
    length = shape[cut.kept[-1]]
    room = cut.threads // 32 * cut.lanes * length
    return length if length <= MOST_TOGETHER and room <= ROOM else 1


def may_choose(cut: Any) -> bool:
    """Say whether a kernel may load elements only where they are chosen.

    Short rows are loaded before the loop over their elements.
    """
    return bool(cut.variant != "by_short_row")


def _inside(instruction: Any) -> list[Any]:
    """Return the instructions of a loop, without the loop."""
    lists = [body for body, _ in moves.bodies(instruction)]
    if isinstance(instruction, Repeat):
        lists.append(instruction.body)
    return [part for body in lists for each in body for part in (each, *_inside(each))]


def loads(instructions: list[Any]) -> list[Any]:
    """Return the accesses of all loads."""
    every = [part for each in instructions for part in (each, *_inside(each))]
    return [each.access for each in every if isinstance(each, Load)]


def stores(instructions: list[Any]) -> set[int]:
    """Return the blocks of all stores."""
    return {each.access.block for each in instructions if isinstance(each, Store)}


def targets(instruction: Any) -> tuple[int, ...]:
    """Return the variables that an instruction sets, of a loop those outside."""
    if isinstance(instruction, Compute):
        return instruction.targets
    if isinstance(instruction, Repeat):
        return instruction.state
    if isinstance(instruction, Store):
        return ()
    target: int = instruction.target
    return (target,)


def sources(instruction: Any) -> list[int]:
    """Return the variables that an instruction uses."""
    if isinstance(instruction, Store):
        return [instruction.source, *moves.sources(instruction)]
    if isinstance(instruction, (Reduce, Few)):
        return list(instruction.arguments)
    if isinstance(instruction, Compute):
        used = [each for each in instruction.arguments if isinstance(each, int)]
        return used if instruction.index is None else [*used, instruction.index]
    used, own = moves.sources(instruction), set()
    bodies = [body for body, _ in moves.bodies(instruction)]
    if isinstance(instruction, Repeat):
        own = set(instruction.state)
        used += [*instruction.arguments, *instruction.ends]
        bodies = [instruction.body]
    for body in bodies:
        for each in body:
            used += sources(each)
            own |= set(targets(each))
    return [each for each in used if each not in own]


def needed(instructions: list[Any], ends: list[Any], stop: Any = ()) -> list[Any]:
    """Return the instructions that some of them need, with these, in their order.

    What others of the class ``stop`` use is not needed.
    """
    last = {id(each) for each in ends}
    wanted: set[int] = set()
    found = []
    for each in reversed(instructions):
        if id(each) in last or wanted & set(targets(each)):
            found.append(each)
            if id(each) in last or not (stop and isinstance(each, stop)):
                wanted |= set(sources(each))
    return found[::-1]


class Levels:
    """The passes of the variables of a kernel, and which of them are inner."""

    def __init__(self, kernel: Kernel) -> None:
        assert kernel.cut is not None
        self.cut = kernel.cut
        self.passes: dict[int, int] = {}
        self.inner: set[int] = set()
        for each in kernel.instructions:
            number, inner = self.pass_of(each), self.is_inner(each)
            if isinstance(each, Reduce):
                number, inner = number + 1, False
            for target in targets(each):
                self.passes[target] = number
                if inner:
                    self.inner.add(target)

    def pass_of(self, instruction: Any) -> int:
        """Return the first pass in which an instruction can happen."""
        known = [self.passes.get(each, 0) for each in sources(instruction)]
        return max(known, default=0)

    def is_inner(self, instruction: Any) -> bool:
        """Say whether an instruction happens for each element of a row."""
        if isinstance(instruction, Reduce):
            return True
        for each in (instruction, *_inside(instruction)):
            if isinstance(each, (Load, Store)):
                strides = each.access.strides
            elif isinstance(each, (Index, moves.Find)):
                strides = each.strides
            else:
                continue
            # Variables that are indices are sources.
            if any(strides[axis] for axis in self.cut.reduced):
                return True
        if isinstance(instruction, Store):
            return any(each in self.inner for each in moves.sources(instruction))
        return any(each in self.inner for each in sources(instruction))


def loops(level: Levels, instructions: list[Any]) -> list[list[tuple[Any, list[Any]]]]:
    """Return the loops of each pass: their cuts, and the reductions and stores in them.

    Reductions of types of other sizes may take up other numbers of elements at once.
    """
    cut = level.cut
    found: list[dict[tuple[int, int], tuple[Any, list[Any]]]] = []
    for each in instructions:
        is_reduce = isinstance(each, Reduce)
        if not is_reduce and not (isinstance(each, Store) and level.is_inner(each)):
            continue
        number = level.pass_of(each)
        while len(found) <= number:
            found.append({})
        own = each.reduction.cut if is_reduce else cut
        if not is_reduce and found[number]:
            own = next(iter(found[number].values()))[0]
        key = own.vector, own.rounds
        found[number].setdefault(key, (own, []))[1].append(each)
    return [list(each.values()) for each in found]


def fits(kernel: Kernel) -> bool:
    """Say whether a kernel with reductions can do its instructions in passes."""
    cut = kernel.cut
    if cut is None:
        return True
    kinds = {moves.Pick, moves.Choose}
    if not may_choose(cut) and kinds & moves.types_in(kernel.instructions):
        return False
    level = Levels(kernel)
    passes = loops(level, kernel.instructions)
    if len(passes) > 1 and not may_be_joined(cut):
        return False
    results = {each.target for each in kernel.instructions if isinstance(each, Reduce)}
    loaded = {access.block for access in loads(kernel.instructions)}
    stored: dict[int, int] = {}  # the pass of the last store to a block
    for each in kernel.instructions:
        if not isinstance(each, Store):
            continue
        number, block = level.pass_of(each), each.access.block
        changes = block in loaded
        if stored.get(block, 0) > number:
            return False  # it would happen before
        if level.is_inner(each):
            # The elements are loaded again in later passes and loops.
            alone = len(passes[number]) == 1
            if not alone and (changes or block in stored):
                return False
            if changes and number + 1 < len(passes):
                return False
        elif changes or (cut.variant == "by_column" and each.source not in results):
            return False
        stored[block] = number
    return not idles(cut, _other_work(kernel, level))


def with_segments(joining: Kernel, reader: Kernel) -> Kernel | None:
    """Return a kernel that joins the segments of one result itself.

    Each of its warps does what the kernel that joins them does. None: it takes longer,
    or the kernel reads the result in another way.
    """
    cut = joining.cut
    assert cut is not None
    if reader.joins or reader.before or math.prod(joining.elements) != 1:
        return None
    threads = math.prod(reader.shape)
    if reader.cut is not None:
        threads = reader.cut.blocks * reader.cut.threads
    loaded = -(-threads // 32) * cut.segments * _OF_A_SUM
    if loaded * OPERATIONS_PER_BYTE > LAUNCH:
        return None
    needs = {access.block for access in loads(joining.instructions)}
    if needs & stores(reader.instructions):
        return None  # some warps would load what others have stored
    found = {e.access.block: e for e in joining.instructions if isinstance(e, Store)}
    names: dict[int, int] = {}  # the variables of the reader for those of the other
    rest = []
    for each in reader.instructions:
        if not isinstance(each, Load) or each.access.block not in found:
            rest.append(each)
            continue
        stored = found[each.access.block]
        is_whole = each.access.offset == stored.access.offset
        if stored.source in names or not is_whole or each.access.jumps:
            return None
        if each.access.dtype != stored.access.dtype or any(each.access.strides):
            return None
        names[stored.source] = each.target
    if any(access.block in found for access in loads(rest)):
        return None
    types = list(reader.types)

    def named(variable: int) -> int:
        if variable not in names:
            names[variable] = len(types)
            types.append(joining.types[variable])
        return names[variable]

    before: list[Any] = []
    for each in joining.instructions:
        if isinstance(each, Reduce) and "arg" not in each.reduction.name:
            block = joining.partial[each.target]
            before.append(Join(named(each.target), each.reduction, block))
        elif isinstance(each, Load) and not each.access.jumps:
            access = replace(each.access, strides=(0,) * len(reader.shape))
            before.append(replace(each, target=named(each.target), access=access))
        elif isinstance(each, Compute) and each.index is None:
            arguments = [
                named(argument) if isinstance(argument, int) else argument
                for argument in each.arguments
            ]
            targets_ = tuple([named(target) for target in each.targets])
            made = replace(each, targets=targets_, arguments=tuple(arguments))
            before.append(made)
        elif not isinstance(each, Store):
            return None
    return replace(reader, instructions=rest, types=types, before=before)


def _other_work(kernel: Kernel, level: Levels) -> int:
    """Return the work on elements beside the reductions of elements in memory."""
    work = 0
    for each in kernel.instructions:
        if isinstance(each, Reduce) or not level.is_inner(each):
            continue
        work += work_of_one(each)
        if isinstance(each, Store):
            work += itemsize(each.access.dtype) * OPERATIONS_PER_BYTE
    return work * math.prod(kernel.shape)


__all__ = ["LAUNCH", "LARGEST", "Levels", "fits", "idles", "loops", "needed"]
