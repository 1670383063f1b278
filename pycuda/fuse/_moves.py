"""Operations whose elements come from other places: joins, remaps and gathers.

They compute nothing. A kernel that reads such an element finds its place in an input,
and reads or computes the input's element there. So ``roll``, ``pad``, ``concat`` and
``take`` need no kernel of their own. Three instructions find places:

* ``Find`` sets a variable to an affine function of the kernel's indices, changed by a
  rule such as a remainder. The variable is an index from then on: maps have a
  coefficient for it behind those of the kernel's axes.
* ``Pick`` sets a variable to the place that an element of an index array means.
* ``Choose`` runs one of several lists of instructions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from pycuda._array.sources.moving import RULES_OF_PLACES
from pycuda.fuse._program import Operation, Place, Scalar, itemsize

#: The type of places in kernels, as the rules name it.
PLACE = "S"
MOVES = ("join", "remap", "gather")
#: The rules of src/cpp_free_c/python/array/ops/remap.h.
_RULES = ["roll", "repeat", "tile", "empty", "constant"]
_RULES += ["edge", "wrap", "reflect", "symmetric"]
#: The bounds of src/cpp_free_c/python/array/index/selection.h.
_NOTED = 0
_FINDERS = ("place_or_note", "place_wrapped", "place_clipped")
#: A join of more arrays copies each one into its part of the result.
MOST_JOINED = 8

Affine = tuple[int, tuple[int, ...]]


@dataclass(frozen=True)
class Jump:
    """Bytes for each unit of an index that a variable has: 0 up to a length."""

    stride: int
    length: int
    variable: int
    axes: tuple[bool, ...]  # the axes of the kernel that it depends on


@dataclass(frozen=True)
class Find:
    """Set a variable to an index: an affine function, changed by a rule."""

    target: int
    offset: int
    strides: tuple[int, ...]
    jumps: tuple[Jump, ...]
    rule: str = ""
    length: int = 1
    number: int = 0
    line: str = ""


@dataclass(frozen=True)
class Pick:
    """Set a variable to the place of an index; -1 if it is out of bounds."""

    target: int
    given: int
    bounds: int
    length: int
    axis: int
    report: tuple[int, int]  # its address and the number of the statement, or zeros


@dataclass(frozen=True)
class Branch:
    """Instructions and their result, for indices from 0 up to the lengths."""

    tests: tuple[tuple[int, int], ...]  # variables and lengths
    instructions: tuple[Any, ...]
    result: int | Scalar
    share: float  # of the kernel's elements


@dataclass(frozen=True)
class Choose:
    """Set a variable by the first branch whose tests hold. The last one has none."""

    target: int
    branches: tuple[Branch, ...]


# -- recording -------------------------------------------------------------------------


def as_recorded(operation: Operation) -> list[Operation]:
    """Return the operations that stand for one as C describes it."""
    if operation.name == "join":
        return _joined(operation)
    if operation.name == "gather":
        return [_gathered(operation)]
    if operation.name == "remap":
        rule, firsts = operation.details
        if _RULES[rule] == "empty":
            (target,) = operation.outputs
            source = operation.inputs[0]
            assert isinstance(source, Place)
            inside = _part(target, firsts, source.shape)
            return [replace(operation, name="copy", outputs=(inside,), details=())]
        return [replace(operation, details=(_RULES[rule], firsts))]
    return [operation]


def _part(place: Place, firsts: tuple[int, ...], shape: tuple[int, ...]) -> Place:
    offset = sum(f * s for f, s in zip(firsts, place.strides, strict=True))
    return replace(place, offset=place.offset + offset, shape=shape)


def parts(operation: Any) -> list[Operation]:
    """Return the copies that make a stack; the operation, if it makes none."""
    (axis,) = operation.details
    (target,) = operation.outputs
    shape = operation.inputs[0].shape
    if shape[axis] != 1 or any(each.shape != shape for each in operation.inputs):
        return [operation]
    made = []
    for number, place in enumerate(operation.inputs):
        firsts = tuple(number if k == axis else 0 for k in range(len(shape)))
        part = _part(target, firsts, shape)
        if len(shape) > 1:
            place, part = _without(place, axis), _without(part, axis)
        made.append(
            replace(
                operation, name="copy", inputs=(place,), outputs=(part,), details=()
            )
        )
    return made


def _without(place: Place, axis: int) -> Place:
    shape, strides = list(place.shape), list(place.strides)
    del shape[axis], strides[axis]
    return replace(place, shape=tuple(shape), strides=tuple(strides))


def _joined(operation: Operation) -> list[Operation]:
    (axis,) = operation.details
    (target,) = operation.outputs
    inputs = [p for p in operation.inputs if isinstance(p, Place) and p.count]
    if len(inputs) == 1:
        made = replace(operation, name="copy", inputs=(inputs[0],), details=())
        return [made]
    if len(inputs) <= MOST_JOINED:
        return [replace(operation, inputs=tuple(inputs))]
    made_parts, first = [], 0
    for place in inputs:
        firsts = tuple(first if k == axis else 0 for k in range(len(target.shape)))
        part = _part(target, firsts, place.shape)
        made_parts.append(
            replace(
                operation, name="copy", inputs=(place,), outputs=(part,), details=()
            )
        )
        first += place.shape[axis]
    return made_parts


def _gathered(operation: Operation) -> Operation:
    """Return a gather whose source has an axis for each index array, behind others."""
    bounds, offset, begin, end, strides, numbers, report = operation.details
    source, *indices = operation.inputs
    assert isinstance(source, Place)
    shape = operation.outputs[0].shape
    lengths = [n if s else 1 for n, s in zip(shape, strides, strict=True)]
    place = Place(
        source.block,
        source.dtype,
        source.offset + offset,
        (*lengths, *(length for _, length, _, _ in numbers)),
        (*strides, *(stride for _, _, stride, _ in numbers)),
    )
    notes = tuple(
        (axis, length, (0, 0) if is_checked else report)
        for axis, length, _, is_checked in numbers
    )
    details = bounds, begin, end, notes
    return replace(operation, inputs=(place, *indices), details=details)


def is_move(statement: Any) -> bool:
    """Say whether the elements of a statement come from other places."""
    return isinstance(statement, Operation) and statement.name in MOVES


def distance(operation: Any) -> tuple[int, ...] | None:
    """Return by how much elements move along each axis, if all move alike."""
    if operation.name != "remap" or operation.details[0] not in ("roll", "constant"):
        return None
    rule, firsts = operation.details
    source = operation.inputs[0]
    assert isinstance(source, Place)
    if rule == "constant":
        return tuple(firsts)
    ahead = [first % n for first, n in zip(firsts, source.shape, strict=True)]
    return tuple(
        first - n if 2 * first > n else first
        for first, n in zip(ahead, source.shape, strict=True)
    )


def chooses(statement: Any) -> bool:
    """Say whether a kernel may load an element of an input only where it exists."""
    if not is_move(statement):
        return False
    return bool(statement.name != "remap" or statement.details[0] == "constant")


def needs_all(statement: Any) -> bool:
    """Say whether each element of the result reads one of each input."""
    if not is_move(statement) or statement.name == "gather":
        return True
    return bool(statement.name == "remap" and statement.details[0] != "constant")


# -- the instructions of an element ----------------------------------------------------


def value(builder: Any, operation: Operation, where: Any) -> int:
    """Append what makes an element at some indices; return its variable."""
    builder.line = operation.line
    how = {"join": _join, "remap": _remap, "gather": _gather}[operation.name]
    return how(builder, operation, where)


def _shifted(index: Affine, by: int) -> Affine:
    return index[0] + by, index[1]


def _choose(builder: Any, dtype: str, branches: list[Branch]) -> int:
    target: int = builder.variable(dtype)
    builder.kernel.instructions.append(Choose(target, tuple(branches)))
    return target


def _join(builder: Any, operation: Operation, where: Any) -> int:
    (axis,) = operation.details
    target = operation.outputs[0]
    at = builder.find(where[axis])
    branches: list[Branch] = []
    first = 0
    for number, place in enumerate(operation.inputs):
        assert isinstance(place, Place)
        length = place.shape[axis]
        own = [*where[:axis], _shifted(where[axis], -first), *where[axis + 1 :]]
        body, result = builder.branch(place, tuple(own))
        first += length
        is_last = number == len(operation.inputs) - 1
        tests = () if is_last else ((at, first),)
        share = length / target.shape[axis]
        branches.append(Branch(tests, body, result, share))
    common = _common(builder, target.dtype, branches)
    return _choose(builder, target.dtype, branches) if common is None else common


def _common(builder: Any, dtype: str, branches: list[Branch]) -> int | None:
    """Append what branches do that differ in numbers only; return its variable.

    The numbers are chosen instead.
    """
    first, result = branches[0].instructions, branches[0].result
    if not isinstance(result, int) or builder.kernel.types[result] != dtype:
        return None
    numbers: list[list[Any]] = [[] for _ in branches]
    for branch, own in zip(branches, numbers, strict=True):
        if not _is_alike(builder, branches[0], branch, own):
            return None
    chosen = []
    for alternatives in zip(*numbers, strict=True):
        made = alternatives[0]
        if len(set(alternatives)) > 1:
            parts = [
                replace(branch, instructions=(), result=number)
                for branch, number in zip(branches, alternatives, strict=True)
            ]
            made = _choose(builder, alternatives[0].dtype, parts)
        chosen.append(made)
    waiting = iter(chosen)
    for each in first:
        if not hasattr(each, "access"):
            arguments = [
                next(waiting) if isinstance(argument, Scalar) else argument
                for argument in each.arguments
            ]
            each = replace(each, arguments=tuple(arguments))
        builder.kernel.instructions.append(each)
    return result


def _is_alike(builder: Any, first: Branch, other: Branch, numbers: list[Any]) -> bool:
    """Say whether two branches differ in numbers only; note those of the other."""
    types = builder.kernel.types
    known: dict[int, int] = {}  # the variables of the first for those of the other
    if len(first.instructions) != len(other.instructions):
        return False
    for a, b in zip(first.instructions, other.instructions, strict=True):
        if hasattr(a, "access") and hasattr(b, "access"):
            if a.access != b.access:
                return False
            known[b.target] = a.target
            continue
        if not hasattr(a, "operation") or not hasattr(b, "operation"):
            return False
        if _sign(a, types) != _sign(b, types) or b.index is not None:
            return False
        for x, y in zip(a.arguments, b.arguments, strict=True):
            if isinstance(y, Scalar):
                numbers.append(y)
            if isinstance(x, Scalar) or isinstance(y, Scalar):
                if getattr(x, "dtype", "") != getattr(y, "dtype", ""):
                    return False
            elif known.get(y, y) != x:
                return False
        known.update(zip(b.targets, a.targets, strict=True))
    return known.get(other.result, other.result) == first.result  # type: ignore


def _sign(each: Any, types: list[str]) -> Any:
    """Return what two operations have in common, but for their arguments."""
    operation = each.operation
    results = tuple(types[target] for target in each.targets)
    details = operation.details
    return operation.name, operation.compute, details, results, len(each.arguments)


def _keeps(rule: str, first: int, source: int, target: int) -> bool:
    if source != target:
        return False
    if rule == "roll":
        return first % source == 0
    return rule == "tile" or first == (rule == "repeat")


def _remap(builder: Any, operation: Operation, where: Any) -> int:
    rule, firsts = operation.details
    source, *outside = operation.inputs
    assert isinstance(source, Place)
    target = operation.outputs[0]
    own, tests = [], []
    for index, first, length, whole in zip(
        where, firsts, source.shape, target.shape, strict=True
    ):
        if _keeps(rule, first, length, whole):
            own.append(index)
        elif rule == "constant":
            own.append(_shifted(index, -first))
            tests.append((builder.find(own[-1]), length))
        else:
            number = -first % length if rule == "roll" else first
            at = builder.find(index, rule, length, number)
            own.append(builder.index_of(at))
    if not tests:
        return int(builder.element_at(source, tuple(own)))
    body, result = builder.branch(source, tuple(own))
    share = source.count / target.count
    inside = Branch(tuple(tests), body, result, share)
    assert isinstance(outside[0], Scalar)
    other = Branch((), (), outside[0], 1 - share)
    return _choose(builder, target.dtype, [inside, other])


def _gather(builder: Any, operation: Operation, where: Any) -> int:
    bounds, begin, end, notes = operation.details
    source, *indices = operation.inputs
    assert isinstance(source, Place)
    target = operation.outputs[0]
    own: list[Any] = [
        index if length > 1 else (0, ())
        for index, length in zip(where, source.shape, strict=False)
    ]
    tests = []
    for place, (axis, length, report) in zip(indices, notes, strict=True):
        given = builder.element(place, target.shape[begin:end], where[begin:end])
        at = builder.pick(given, bounds, length, axis, report)
        own.append(builder.index_of(at))
        if report[0]:
            tests.append((at, length))
    if not tests:
        return int(builder.element_at(source, tuple(own)))
    body, result = builder.branch(source, tuple(own))
    zero = Scalar(target.dtype, bytes(itemsize(target.dtype)))
    branches = [Branch(tuple(tests), body, result, 1.0), Branch((), (), zero, 0.0)]
    return _choose(builder, target.dtype, branches)


# -- facts about instructions ----------------------------------------------------------


def bodies(instruction: Any) -> list[tuple[tuple[Any, ...], float]]:
    """Return the lists in an instruction, and how often each runs for an element."""
    if isinstance(instruction, Choose):
        return [(each.instructions, each.share) for each in instruction.branches]
    return []


def flat(instructions: Any) -> list[Any]:
    """Return instructions and those of the lists in them."""
    found = []
    for each in instructions:
        found.append(each)
        for body, _ in bodies(each):
            found += flat(body)
    return found


def reach(index: Any, shape: tuple[int, ...]) -> int:
    """Return a bound of the numbers in the computation of an index."""
    reached = abs(index.offset)
    if isinstance(index, Find):
        reached += 2 * index.length + abs(index.number)
    reached += sum(abs(s) * n for s, n in zip(index.strides, shape, strict=True))
    return int(reached + sum(abs(each.stride) * each.length for each in index.jumps))


# -- text ------------------------------------------------------------------------------


def write(writer: Any, each: Any, depth: str) -> None:
    """Append the lines of an instruction."""
    if isinstance(each, Find):
        _write_find(writer, each, depth)
    elif isinstance(each, Pick):
        _write_pick(writer, each, depth)
    else:
        _write_choose(writer, each, depth)


def _write_find(writer: Any, each: Find, depth: str) -> None:
    name = f"v{each.target}"
    at = writer.index_text(each.offset, writer.strides[id(each)], each.jumps, 1)
    if not each.rule:
        writer.lines.append(f"{depth}const S {name} = {at};")
        return
    k = each.target
    text = RULES_OF_PLACES[f"remap_{each.rule}"]
    names = {f"n{k}": each.length, f"f{k}": each.number}
    words = {f"{letter}{{k}}": f"{letter}{k}" for letter in "nf"}
    if "w{k}" in text:
        by = each.number if each.rule == "repeat" else each.length
        words |= dict(zip(("b{k}", "v{k}", "w{k}"), writer.divisor(by), strict=True))
    for word, own in words.items():
        text = text.replace(word, own)
    text = text.replace("{{", "{").replace("}}", "}")
    lines = [f"S {name};", "{"]
    lines += [
        f"    const S {own} = {writer._number(number)};"
        for own, number in names.items()
        if own in text
    ]
    lines += [f"    S at = {at};", f"    {text}", f"    {name} = at;", "}"]
    writer.lines += [depth + line for line in lines]


def _write_pick(writer: Any, each: Pick, depth: str) -> None:
    kind, name = writer.kernel.types[each.given], f"v{each.target}"
    length = writer._number(each.length)
    find = f"{_FINDERS[each.bounds]}<{kind}, S>"
    find += f"(v{each.given}, {length}, {name})"
    writer.lines.append(f"{depth}S {name};")
    if each.bounds != _NOTED or not each.report[0]:
        writer.lines.append(f"{depth}{find};")
        return
    report = writer.constant("uint64", "Q", each.report[0])
    site = writer.constant("uint32", "I", each.report[1])
    arguments = f"(index_report *){report}, (uint64)(int64)v{each.given}, "
    arguments += f"({kind})-1 > ({kind})0, (uint64){length}, {each.axis}, {site}"
    writer.lines += [
        f"{depth}if (!{find}) {{",
        f"{depth}    {name} = -1;",
        f"{depth}    note_index({arguments});",
        f"{depth}}}",
    ]


def _write_choose(writer: Any, each: Choose, depth: str) -> None:
    kind = writer.kernel.types[each.target]
    writer.lines.append(f"{depth}{kind} v{each.target};")
    head = ""
    for branch in each.branches:
        tests = [
            f"(I)v{variable} < (I){writer._number(n)}" for variable, n in branch.tests
        ]
        condition = f"if ({' && '.join(tests)}) " if tests else ""
        writer.lines.append(f"{depth}{head}{condition}{{")
        for instruction in branch.instructions:
            writer._instruction(instruction, depth + "    ")
        if isinstance(branch.result, Scalar):
            result, own = writer._scalar(branch.result), branch.result.dtype
        else:
            result = f"v{branch.result}"
            own = writer.kernel.types[branch.result]
        made = result if own == kind else f"cast<{kind}>({result})"
        writer.lines.append(f"{depth}    v{each.target} = {made};")
        head = "} else "
    writer.lines.append(f"{depth}}}")


def types_in(instructions: Any) -> set[type]:
    """Return the types of instructions and of those in the lists in them."""
    found = set(map(type, instructions))
    if Choose in found:
        for each in instructions:
            for body, _ in bodies(each):
                found |= types_in(body)
    return found


def sources(instruction: Any) -> list[int]:
    """Return the variables of places and elements that an instruction uses.

    Those in the lists of a ``Choose`` are left out, but not their results.
    """
    if isinstance(instruction, Pick):
        return [instruction.given]
    if isinstance(instruction, Choose):
        found = [v for each in instruction.branches for v, _ in each.tests]
        results = [each.result for each in instruction.branches]
        return found + [each for each in results if isinstance(each, int)]
    access = getattr(instruction, "access", instruction)
    return [jump.variable for jump in getattr(access, "jumps", ())]


def work(instruction: Any, of_one: Any) -> int:
    """Return the estimated work of the lists in an instruction."""
    total = 0.0
    for body, share in bodies(instruction):
        total += share * sum(map(of_one, body))
    return math.ceil(total)
