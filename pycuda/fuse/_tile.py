"""Kernels over rows: blocks of two dimensions, and several rows for each thread.

An index of a column and one of a row come from the block, without a division. A thread
computes some elements of one column, one below the other. What the rows of a thread
have in common is loaded and computed once: the element below that of a row is that of
the next row.

Two values are the same but for their place if they come by the same operations from
elements at the same distances. Such values have one *signature*, and differ by rows and
columns. A signature that is needed in several columns and is not cheap is computed in
one of them by each thread. The others come from the neighbours in the warp (shuffles).
The first and the last lanes of a warp then compute elements for their neighbours only.

A thread loads nothing outside its arrays: indices of rows and columns whose elements
are not used are replaced by the last ones that exist.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import pycuda.fuse._moves as moves
from pycuda.fuse._group import LANES, MOST_ROWS
from pycuda.fuse._instructions import Compute, Index, Load, Store
from pycuda.fuse._moves import Choose, Find
from pycuda.fuse._program import Scalar, itemsize

#: Threads of a block: columns and rows.
_BLOCKS = ((64, 4), (128, 2), (256, 1), (32, 8))
#: At least this part of the threads has elements.
_USED = 0.75
_MOST_BLOCKS = 65535  # along the second and third axis of a grid
#: A thread takes more rows if as many threads are left.
_ENOUGH_THREADS = 1 << 17
#: All rows of a thread have at most so many instructions.
_MOST_INSTRUCTIONS = 600
#: Elements at a distance of at most so many rows and columns are neighbours.
_NEAR = 32
#: Values of at least so many operations come from neighbours in a warp.
_DEAR = 3
_SHUFFLED = {"float32", "float64", "int32", "uint32"}

Coordinate = tuple[int | None, int | None]  # a row and a column; None: in all of them
Ends = tuple[tuple[int, int], ...]  # of each axis the first index and the last one


@dataclass
class Geometry:
    """How the threads of a kernel lie over its last two axes."""

    columns: int
    rows: int
    block: tuple[int, int]
    each: int = 1  # rows of a thread
    before: int = 0  # lanes of a warp that compute for their neighbours only
    after: int = 0

    @property
    def grid(self) -> tuple[int, int]:
        """The blocks along columns and rows."""
        across = self.block[0] - self.before - self.after
        return -(-self.columns // across), -(-self.rows // (self.block[1] * self.each))


def geometry(lengths: list[int]) -> Geometry | None:
    """Return the geometry of a kernel with one element for each thread."""
    if len(lengths) < 2 or math.prod(lengths[:-2]) > _MOST_BLOCKS:
        return None
    rows, columns = lengths[-2:]
    best, most = None, _USED
    for block in _BLOCKS:
        made = Geometry(columns, rows, block)
        covered = math.prod(made.grid) * math.prod(block)
        if rows * columns > most * covered and made.grid[1] <= _MOST_BLOCKS:
            best, most = made, rows * columns / covered + 0.05
    return best


@dataclass
class _Group:
    """Loads and stores that differ by rows and columns only."""

    block: int
    dtype: str
    strides: tuple[int, ...]  # in elements
    origin: int
    is_torus: bool
    #: The first row and the last one that exist: apart from 0 and the last index.
    rows: tuple[int, int] | None = None
    columns: tuple[int, int] = (0, 0)


class NoTile(Exception):
    """A kernel has something else than loads, operations and stores of neighbours."""


class Tile:
    """The values of a kernel by signatures, and the text for the rows of a thread."""

    def __init__(
        self, writer: Any, made: Geometry, lengths: list[int], sizes: Any
    ) -> None:
        self.writer = writer
        self.kernel = writer.kernel
        self.geometry = made
        self.lengths = lengths
        self.sizes = sizes
        self.groups: list[_Group] = []
        self._group_numbers: dict[Any, int] = {}
        self._signatures: dict[Any, int] = {}
        self.first: list[tuple[Any, Coordinate]] = []  # of each signature
        self.values: dict[int, tuple[int, Coordinate]] = {}  # of variables
        self.found: dict[int, Find] = {}  # of the variables of indices
        self.located: dict[int, tuple[int, int, int]] = {}  # group, row, column
        self.chooses = False
        self.stores: list[tuple[Any, int, int, int]] = []  # group, row, column
        self.work: list[int] = []
        self.column_of: dict[int, int] = {}  # of signatures that are shuffled
        self.reach: dict[int, tuple[int, int]] = {}
        self._names: dict[Any, str] = {}
        self._pointers: dict[Any, str] = {}
        self._places: dict[Any, str] = {}
        self.lines: list[str] = []
        self._sign()
        self._choose()

    # signatures

    def _sign(self) -> None:
        instructions = self.kernel.instructions
        for each in moves.flat(instructions):
            if isinstance(each, Find):
                self.found[each.target] = each
        for each in moves.flat(instructions):
            if isinstance(each, (Load, Store)) and each.access.jumps:
                self._locate(each)
        for each in self.kernel.before:
            for target in _targets(each):
                everywhere = None, None
                self._note(target, ("before", target), each, everywhere, 0)
                self._names[self.values[target]] = f"v{target}"
        whole = tuple((0, length - 1) for length in self.lengths)
        for each in instructions:
            self._sign_one(each, whole)

    def _sign_one(self, each: Any, ends: Ends) -> None:
        """Sign an instruction, which happens at indices between some ends."""
        if isinstance(each, Load):
            number, row, column = self._grown(self._locate(each), ends)
            self.located[id(each)] = number, row, column
            strides = self.groups[number].strides
            where = (row if strides[-2] else None, column if strides[-1] else None)
            self._note(each.target, ("load", number), each, where, 0)
        elif isinstance(each, Store):
            self.stores.append((each, *self._grown(self._locate(each), ends)))
        elif isinstance(each, Index) and not each.jumps:
            strides = self.writer.strides[id(each)]
            where = (0 if strides[-2] else None, 0 if strides[-1] else None)
            sign = "index", each.offset, tuple(strides)
            self._note(each.target, sign, each, where, 0)
        elif isinstance(each, Compute):
            self._sign_operation(each)
        elif isinstance(each, Choose):
            self._sign_choice(each, ends)
        elif not isinstance(each, Find):  # _locate and _tests know what that means
            raise NoTile

    def _sign_choice(self, each: Choose, ends: Ends) -> None:
        tests = self._tests(each)
        inside = list(ends)
        for axis, offset, length in tests:
            low, high = inside[axis]
            inside[axis] = max(low, -offset), min(high, length - 1 - offset)
        for instruction in each.branches[0].instructions:
            self._sign_one(instruction, tuple(inside))
        self.chooses = True
        known = [
            self.values[branch.result] if isinstance(branch.result, int) else None
            for branch in each.branches
        ]
        where: list[int | None] = [None, None]
        for value in known:
            for k in (0, 1):
                if value is not None and where[k] is None:
                    where[k] = value[1][k]
        for axis, offset, _ in tests:
            where[axis] = offset if where[axis] is None else where[axis]
        own = where[0], where[1]
        relative = tuple(
            (branch.result, ()) if value is None else (value[0], _minus(value[1], own))
            for value, branch in zip(known, each.branches, strict=True)
        )
        placed = tuple((a, offset - (where[a] or 0), n) for a, offset, n in tests)
        work = 1 + sum(self.work[value[0]] for value in known if value is not None)
        sign = "choose", self.kernel.types[each.target], placed, relative
        self._note(each.target, sign, each, own, work)

    def _tests(self, each: Choose) -> list[tuple[int, int, int]]:
        """Return axes (-2 and -1), offsets and lengths of the tests of a choice."""
        if len(each.branches) != 2 or each.branches[1].instructions:
            raise NoTile
        tests = []
        for variable, length in each.branches[0].tests:
            found = self.found[variable]
            strides = self.writer.strides[id(found)]
            axis = next((k for k, c in enumerate(strides) if c), 0) - len(strides)
            if found.rule or found.jumps or axis < -2 or strides[axis] != 1:
                raise NoTile
            if sum(map(bool, strides)) != 1:
                raise NoTile
            tests.append((axis, found.offset, length))
        return tests

    def _note(
        self, variable: int, sign: Any, each: Any, where: Coordinate, work: int
    ) -> None:
        number = self._signatures.setdefault(sign, len(self.first))
        if number == len(self.first):
            self.first.append((each, where))
            self.work.append(work)
        self.values[variable] = number, where

    def _sign_operation(self, each: Compute) -> None:
        known: list[Any] = [
            argument if isinstance(argument, Scalar) else self.values[argument]
            for argument in each.arguments
        ]
        if each.index is not None:
            known.append(self.values[each.index])
        row = column = None
        for argument in known:
            if not isinstance(argument, Scalar):
                row = argument[1][0] if row is None else row
                column = argument[1][1] if column is None else column
        relative = tuple(
            argument
            if isinstance(argument, Scalar)
            else (argument[0], _minus(argument[1], (row, column)))
            for argument in known
        )
        operation = replace(each.operation, inputs=(), outputs=(), line="")
        shape = each.operation.outputs[0].shape if each.index is not None else ()
        types = tuple(self.kernel.types[target] for target in each.targets)
        work = 1 + sum(
            self.work[argument[0]]
            for argument in known
            if not isinstance(argument, Scalar)
        )
        for k, target in enumerate(each.targets):
            sign = operation, types, shape, relative, k
            self._note(target, sign, each, (row, column), work)

    def _locate(self, each: Any) -> tuple[int, int, int]:
        """Return the group of a load or store, its row and its column."""
        access = each.access
        size = itemsize(access.dtype)
        strides = list(self.writer.strides[id(each)])
        rows = columns = 0
        for jump in access.jumps:
            found = self.found.get(jump.variable)
            if found is None or found.rule != "roll" or found.jumps:
                raise NoTile
            coefficients = self.writer.strides[id(found)]
            axis = next((k for k, c in enumerate(coefficients) if c), 0)
            if (
                axis < len(strides) - 2
                or coefficients[axis] != 1
                or any(c for k, c in enumerate(coefficients) if k != axis)
                or strides[axis]
                or self.lengths[axis] != jump.length
                or jump.length < 2 * _NEAR
            ):
                raise NoTile
            strides[axis] = jump.stride
            step = (found.offset + found.number) % jump.length
            step -= jump.length if step > jump.length // 2 else 0
            if abs(step) > _NEAR // 2:
                raise NoTile
            if axis == len(strides) - 1:
                columns = step
            else:
                rows = step
        if any(step % size for step in (*strides, access.offset)):
            raise NoTile
        steps = tuple(step // size for step in strides)
        offset = access.offset // size
        whole = access.block, access.dtype, steps, offset, "torus"
        if access.jumps or whole in self._group_numbers:
            return self._in_group(whole), rows, columns
        for k, group in enumerate(self.groups):
            if group.is_torus or (group.block, group.dtype, group.strides) != (
                access.block,
                access.dtype,
                steps,
            ):
                continue
            near = _near(offset - group.origin, steps[-2], steps[-1])
            if near is not None:
                return k, *near
        return self._in_group((access.block, access.dtype, steps, offset, "")), 0, 0

    def _in_group(self, key: Any) -> int:
        number = self._group_numbers.setdefault(key, len(self.groups))
        if number == len(self.groups):
            block, dtype, strides, origin, kind = key
            self.groups.append(_Group(block, dtype, strides, origin, kind == "torus"))
        return number

    def _grown(self, located: tuple[int, int, int], ends: Ends) -> tuple[int, int, int]:
        """Note the rows and columns that an access has at some indices."""
        number, row, column = located
        group = self.groups[number]
        rows, columns = (
            (at + low, at + high - (length - 1))
            for at, (low, high), length in zip(
                (row, column), ends[-2:], self.lengths[-2:], strict=True
            )
        )
        if group.rows is not None:
            rows = min(group.rows[0], rows[0]), max(group.rows[1], rows[1])
            columns = (
                min(group.columns[0], columns[0]),
                max(group.columns[1], columns[1]),
            )
        group.rows, group.columns = rows, columns
        return located

    # the geometry

    def _may_grow(self) -> bool:
        """Say whether threads may load what only other threads need."""
        stored = {store.access.block for store, *_ in self.stores}
        loaded = {number for number, *_ in self.located.values()}
        return self.sizes is not None and all(
            self.groups[number].block not in stored and self._exists(number)
            for number in loaded
        )

    def _exists(self, number: int, column: int | None = None) -> bool:
        """Say whether all elements between the outer ones of a group are memory.

        With ``column``, those that all lanes would load in it.
        """
        group = self.groups[number]
        first, last = group.columns
        if column is not None:
            first = column - self.geometry.before
            last = column + self.geometry.after
        if group.is_torus:
            return True
        low = high = group.origin
        ends = [(0, length - 1) for length in self.lengths]
        assert group.rows is not None
        ends[-2] = group.rows[0], ends[-2][1] + group.rows[1]
        ends[-1] = first, ends[-1][1] + last
        for stride, pair in zip(group.strides, ends, strict=True):
            low += min(stride * end for end in pair)
            high += max(stride * end for end in pair)
        size = self.sizes[group.block]
        return low >= 0 and (high + 1) * itemsize(group.dtype) <= size

    def _choose_rows(self) -> None:
        count = math.prod(self.lengths)
        each = 1
        while (
            each < MOST_ROWS
            and count // (2 * each) >= _ENOUGH_THREADS
            and 2 * each * len(self.first) <= _MOST_INSTRUCTIONS
        ):
            each *= 2
        self.geometry.each = each

    def _choose_shuffles(self, are_used: bool) -> None:
        """Find the columns in which each signature is needed, and who computes it."""
        needed: dict[int, set[Any]] = {}
        self.reach = dict.fromkeys(range(len(self.first)), (0, 0))
        for store, *_ in self.stores:
            number, (_, column) = self.values[store.source]
            needed.setdefault(number, set()).add(column)
        for number in range(len(self.first) - 1, -1, -1):
            columns = needed.get(number)
            each, (_, own) = self.first[number]
            if columns is None or not isinstance(each, (Compute, Choose)):
                continue
            before, after = self.reach[number]
            if len(columns) > 1 and are_used and self._is_worth_a_shuffle(number):
                middle = sorted(columns)[len(columns) // 2]
                self.column_of[number] = middle
                before += middle - min(columns)
                after += max(columns) - middle
                columns = {middle}
            for variable in _variables(each):
                made, (_, column) = self.values[variable]
                at = self.reach[made]
                self.reach[made] = max(at[0], before), max(at[1], after)
                for wanted in columns:
                    shift = 0 if wanted is None else wanted - own
                    needed.setdefault(made, set()).add(
                        None if column is None else column + shift
                    )

    def _is_worth_a_shuffle(self, number: int) -> bool:
        each, _ = self.first[number]
        target = next(t for t in _targets(each) if self.values[t][0] == number)
        return self.work[number] >= _DEAR and self.kernel.types[target] in _SHUFFLED

    def _choose(self) -> None:
        """Choose rows and shuffles."""
        made = self.geometry
        grows = self._may_grow()
        if self.chooses and not grows:
            raise NoTile
        if grows:
            self._choose_rows()
        self._choose_shuffles(grows and made.columns >= 2 * LANES)
        before = max(reach[0] for reach in self.reach.values())
        after = max(reach[1] for reach in self.reach.values())
        if before + after > LANES // 2:
            before = after = 0
            self.column_of.clear()
            self._choose_shuffles(False)
        if self.column_of:
            made.before, made.after, made.block = before, after, (LANES, 8)
        while made.grid[1] > _MOST_BLOCKS:
            made.block = made.block[0], 2 * made.block[1]

    # the text

    def write(self) -> None:
        """Write the body of the kernel."""
        made, writer = self.geometry, self.writer
        last_row = writer._number(made.rows - 1)
        last_column = writer._number(made.columns - 1)
        self.last = last_row, last_column
        self._outer_indices()
        rows, each = made.block[1], made.each
        head = writer.head
        self.outer = list(writer.axes)
        head.append(f"const int32 y = (blockIdx.y * {rows} + threadIdx.y) * {each};")
        if self.column_of:
            across = LANES - made.before - made.after
            head.append(
                f"const int32 own = (int32)(blockIdx.x * {across} + threadIdx.x)"
                f" - {made.before};"
            )
            head.append(f"const int32 x = min(own, {last_column} + {made.after});")
            head.append(f"if (y > {last_row}) return;")
        else:
            columns = made.block[0]
            head.append(f"const int32 x = blockIdx.x * {columns} + threadIdx.x;")
            head.append(f"if (x > {last_column} || y > {last_row}) return;")
        stores = []
        for row in range(each):
            lines = []
            for store, group, at, column in self.stores:
                number, (own_row, own_column) = self.values[store.source]
                where = (None if own_row is None else own_row + row), own_column
                name = self._value((number, where))
                pointer = self._pointer(group, at + row, False)
                lines.append(f"{pointer}[{self._column(group, column)}] = {name};")
            if row:
                lines = [f"if (y + {row} <= {last_row}) {{", *lines, "}"]
            stores += lines
        writer.lines += self.lines
        if self.column_of:
            end = LANES - made.after
            writer.lines.append(
                f"if (threadIdx.x < {made.before} || threadIdx.x >= {end} || "
                f"own > {last_column}) return;"
            )
        writer.lines += stores

    def _outer_indices(self) -> None:
        writer = self.writer
        outer = self.lengths[:-2]
        writer.head, writer.axes = [], [f"i{k}" for k in range(len(outer))]
        if len(outer) == 1:
            writer.head.append("const int32 i0 = blockIdx.z;")
        elif outer:
            writer.head.append("const uint32 i = blockIdx.z;")
            writer._divide(outer, "uint32")

    def _value(self, key: tuple[int, Coordinate]) -> str:
        """Return the variable of a value in a row and a column."""
        waiting = [key]
        while waiting:
            number, where = waiting[-1]
            if (number, where) in self._names:
                waiting.pop()
                continue
            inputs = self._inputs(number, where)
            missing = [each for each in inputs if each not in self._names]
            if missing:
                waiting += reversed(missing)
                continue
            self._write_value(number, where, inputs)
        return self._names[key]

    def _inputs(self, number: int, where: Coordinate) -> list[Any]:
        middle = self.column_of.get(number)
        if middle is not None and where[1] != middle:
            return [(number, (where[0], middle))]
        each, own = self.first[number]
        if not isinstance(each, (Compute, Choose)):
            return []
        shift = _minus(where, own)
        found = []
        for variable in _variables(each):
            made, at = self.values[variable]
            found.append((made, _plus(at, shift)))
        return found

    def _new(self, key: Any) -> str:
        first = len(self.kernel.types) if self.kernel.before else 0
        self._names[key] = name = f"v{first + len(self._names)}"
        return name

    def _write_value(self, number: int, where: Coordinate, inputs: Any) -> None:
        before = len(self.lines)
        each, own = self.first[number]
        shift = _minus(where, own)
        if isinstance(each, Load):
            kind = self.kernel.types[each.target]
            element = self._element(number, each, shift)
            name = self._new((number, where))
            self.lines.append(f"const {kind} {name} = {element};")
        elif isinstance(each, Index):
            name = self._new((number, where))
            writer = self.writer
            writer.axes = [*self.outer, _at("y", shift[0]), _at("x", shift[1])]
            at = writer._sum(each.offset, writer.strides[id(each)], 1)
            self.lines.append(f"const int64 {name} = {at};")
        elif inputs and inputs[0][0] == number:
            middle = self.column_of[number]
            assert where[1] is not None
            target = next(t for t in _targets(each) if self.values[t][0] == number)
            kind = self.kernel.types[target]
            source = self._names[inputs[0]]
            name = self._new((number, where))
            self.lines.append(
                f"const {kind} {name} = __shfl_sync(0xffffffffu, {source}, "
                f"{_at('threadIdx.x', where[1] - middle)});"
            )
        elif isinstance(each, Choose):
            self._write_choice(each, (number, where), shift, inputs)
        else:
            self._write_operation(each, shift, inputs)
        self.writer.mark(self.lines, before, getattr(each, "line", ""))

    def _write_choice(
        self, each: Choose, key: Any, shift: Coordinate, inputs: Any
    ) -> None:
        writer = self.writer
        kind = self.kernel.types[each.target]
        names = [self._names[known] for known in inputs]
        results = []
        for branch in each.branches:
            if isinstance(branch.result, Scalar):
                text, own = writer._scalar(branch.result), branch.result.dtype
            else:
                text, own = names.pop(0), self.kernel.types[branch.result]
            results.append(text if own == kind else f"cast<{kind}>({text})")
        tests = []
        for axis, offset, length in self._tests(each):
            at = _at("yx"[axis], offset + (shift[axis] or 0))
            tests.append(f"(uint32)({at}) < (uint32){writer._number(length)}")
        self.lines.append(
            f"const {kind} {self._new(key)} = "
            f"{' && '.join(tests)} ? {results[0]} : {results[1]};"
        )

    def _write_operation(self, each: Compute, shift: Coordinate, inputs: Any) -> None:
        writer = self.writer
        renamed = {
            variable: self._names[key]
            for variable, key in zip(_variables(each), inputs, strict=True)
        }
        for target in each.targets:
            number, at = self.values[target]
            renamed[target] = self._new((number, _plus(at, shift)))
        writer.renamed = renamed
        kept, writer.lines = writer.lines, self.lines
        writer._compute(each, "")
        writer.lines, writer.renamed = kept, {}

    def _element(self, number: int, each: Load, shift: Coordinate) -> str:
        """Return the text of a loaded element."""
        group, row, column = self.located[id(each)]
        row += shift[0] or 0
        column += shift[1] or 0
        made = self.groups[group]
        low, high = made.columns
        is_inside = low <= column <= high and not self.column_of
        if made.is_torus or not (
            is_inside or not made.strides[-1] or self._exists(group, column)
        ):
            index = self._index_of_row(group, row)
            step = made.strides[-1]
            at = self._place_of_column(made, column)
            if step != 1:
                at = f"{at} * {self.writer._number(step)}"
            return f"{self._source(made)}[{index} + {at}]"
        pointer = self._pointer(group, row, True)
        return f"{pointer}[{self._column(group, column)}]"

    def _column(self, group: int, column: int) -> str:
        step = self.groups[group].strides[-1]
        if step in (0, 1, -1):
            return str(column * step)
        return f"{column} * {self.writer._number(step)}" if column else "0"

    def _place_of_column(self, group: _Group, column: int) -> str:
        """Return the variable of a column that exists."""
        before, after = self.geometry.before, self.geometry.after
        low, high = group.columns
        key = ("x", column, low, high, group.is_torus)
        if key not in self._places:
            name = f"x{len(self._places)}"
            _, last = self.last
            if group.is_torus:
                text = self._wrapped(
                    name, "x", column, last, column < before, column > -after
                )
            else:
                low_end, high_end = _at(last, high), str(low)
                text = [
                    f"const int32 {name} = "
                    f"max(min({_at('x', column)}, {low_end}), {high_end});"
                ]
            self.lines += text
            self._places[key] = name
        return self._places[key]

    @staticmethod
    def _wrapped(
        name: str, index: str, step: int, last: str, below: bool, above: bool
    ) -> list[str]:
        """Return the text of an index on a torus."""
        lines = [f"int32 {name} = {_at(index, step)};"]
        if below:
            lines.append(f"if ({name} < 0) {name} += {last} + 1;")
        if above:
            lines.append(f"if ({name} > {last}) {name} -= {last} + 1;")
        return lines

    def _source(self, group: _Group) -> str:
        """Return the address of a group's block, with the type of its elements."""
        const, kind = self.writer.pointers[group.block]
        source: str = self.writer.names[group.block]
        if kind != group.dtype:
            source = f"(({const}{group.dtype} *){source})"
        return source

    def _pointer(self, number: int, row: int, loads: bool) -> str:
        """Return the pointer to an element of this thread in a row of a group."""
        group = self.groups[number]
        row = row if group.strides[-2] else 0
        assert group.rows is not None
        key = number, row, loads and not group.rows[0] <= row <= group.rows[1]
        if key not in self._pointers:
            name = f"q{len(self._pointers)}"
            at = self._sum(group, row, loads, group.strides)
            const = self.writer.pointers[group.block][0]
            text = f"{const}{group.dtype} *{name} = {self._source(group)} + ({at});"
            self.lines.append(text)
            self._pointers[key] = name
        return self._pointers[key]

    def _index_of_row(self, number: int, row: int) -> str:
        """Return the index of the first column in a row of a group."""
        group = self.groups[number]
        row = row if group.strides[-2] else 0
        key = "row", number, row
        if key not in self._places:
            name = f"r{len(self._places)}"
            at = self._sum(group, row, True, (*group.strides[:-1], 0))
            self.lines.append(f"const int32 {name} = {at};")
            self._places[key] = name
        return self._places[key]

    def _sum(
        self, group: _Group, row: int, loads: bool, strides: tuple[int, ...]
    ) -> str:
        """Return the text of an index in a row that exists."""
        if group.is_torus:
            index = self._row_on_torus(row)
        else:
            index = _at("y", row)
            assert group.rows is not None
            low, high = group.rows
            if loads and group.strides[-2]:
                if row > high:
                    index = f"min({index}, {_at(self.last[0], high)})"
                if row < low:
                    index = f"max({index}, {low})"
        self.writer.axes = [*self.outer, _grouped(index), "x"]
        text: str = self.writer._sum(group.origin, list(strides), 1)
        return text

    def _row_on_torus(self, row: int) -> str:
        if not row:
            return "y"
        key = "y", row
        if key not in self._places:
            name = f"y{len(self._places)}"
            self.lines += self._wrapped(name, "y", row, self.last[0], row < 0, row > 0)
            self._places[key] = name
        return self._places[key]


def _grouped(index: str) -> str:
    is_one = index.isidentifier() or index.startswith(("min(", "max("))
    return index if is_one else f"({index})"


def _at(index: str, step: int | None) -> str:
    """Return the text of a sum."""
    if not step:
        return index
    return f"{index} + {step}" if step > 0 else f"{index} - {-step}"


def _targets(each: Any) -> tuple[int, ...]:
    return each.targets if isinstance(each, Compute) else (each.target,)


def _variables(each: Compute | Choose) -> list[int]:
    """Return the variables that an operation or a choice uses."""
    if isinstance(each, Choose):
        return [b.result for b in each.branches if isinstance(b.result, int)]
    found = [a for a in each.arguments if not isinstance(a, Scalar)]
    return found if each.index is None else [*found, each.index]


def _plus(a: Coordinate, b: Coordinate) -> Coordinate:
    row = None if a[0] is None else a[0] + (b[0] or 0)
    return row, None if a[1] is None else a[1] + (b[1] or 0)


def _minus(a: Coordinate, b: Coordinate) -> Coordinate:
    row = None if a[0] is None else a[0] - (b[0] or 0)
    return row, None if a[1] is None else a[1] - (b[1] or 0)


def _near(step: int, row: int, column: int) -> tuple[int, int] | None:
    """Return the rows and columns of a distance in memory, if they are few."""
    first = round(step / row) if row else 0
    for rows in (first, first - 1, first + 1) if row else (0,):
        rest = step - rows * row
        columns, odd = divmod(rest, column) if column else (0, rest)
        if not odd and abs(rows) <= _NEAR and abs(columns) <= _NEAR:
            return rows, columns
    return None
