"""The CUDA C of kernels that reduce.

The loops are those of plain reductions (``pycuda._array.sources.reduction``), with
computed elements instead of loaded ones. So each result is the sum of the same elements
in the same order, and has the same bits.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pycuda.fuse._code as _code
import pycuda.fuse._moves as moves
from pycuda._array.sources.elementwise import computation_type, computed
from pycuda._array.sources.reduction import (
    column_job,
    column_loops,
    column_results,
    column_start,
    job,
    lane_loops,
    merged,
    unrolled_lane_loops,
)
from pycuda.fuse._group import BROADCAST_WORK
from pycuda.fuse._instructions import Kernel, Load, Reduce, Store, work_of_one
from pycuda.fuse._program import Cut, itemsize
from pycuda.fuse._rows import Levels, loops, needed, sources, targets, together

_WORD = 16  # bytes that a thread loads at once
_JOIN_THREADS = 256  # of a block that joins segments
#: A thread of a block of 256 keeps so many bytes of a row in registers.
ROW_BYTES = 256
#: By how much an index may exceed the number of elements: see CUT_MARGIN.
_MARGIN = 1 << 18


def join_axes(
    axes: tuple[int, ...], shape: tuple[int, ...], rows: list[tuple[int, ...]]
) -> tuple[list[int], list[list[int]]]:
    """Return lengths and strides of fewer axes, in the same order of elements."""
    lengths: list[int] = []
    columns: list[list[int]] = []
    for axis in axes:
        column = [row[axis] for row in rows]
        if columns and columns[-1] == [step * shape[axis] for step in column]:
            lengths[-1] *= shape[axis]
            columns[-1] = column
        else:
            lengths.append(shape[axis])
            columns.append(column)
    return lengths, [[column[r] for column in columns] for r in range(len(rows))]


class Writer(_code._Writer):
    """The text of one kernel that reduces."""

    def write(self) -> _code.Source:
        """Return the source."""
        kernel = self.kernel
        assert kernel.cut is not None
        self.cut = cut = kernel.cut
        self.level = Levels(kernel)
        self._prepare()
        self.reduces = [e for e in kernel.instructions if isinstance(e, Reduce)]
        self.numbers_of = {id(each): m for m, each in enumerate(self.reduces)}
        if not kernel.joins:
            self.cut = cut = self._together()
        if kernel.joins:
            body = self._join()
            threads, jobs = _JOIN_THREADS, _JOIN_THREADS // cut.join_lanes
            blocks = -(-self.results // jobs)
        else:
            write = _BODIES[cut.variant]
            body = write(self)
            threads, blocks = cut.threads, cut.blocks
        before = self._before()
        text = "\n".join(
            [
                self._include(),
                *self._functions(),
                "using namespace pycuda_array;",
                f'extern "C" __global__ void __launch_bounds__({threads})',
                f"kernel({', '.join(self.parameters)})",
                "{",
                *_indented(
                    [
                        *self._places(),
                        *self._typedefs(),
                        *self.scalars,
                        *before,
                        *body,
                    ]
                ),
                "}",
                "",
            ]
        )
        return _code.Source(
            text, self.format, self.blocks, self.values, (blocks, 1), (threads, 1, 1)
        )

    def _prepare(self) -> None:
        """Find the axes, the pointers, and the strides of all that has indices."""
        kernel, cut = self.kernel, self.cut
        affine = self._affine([*kernel.before, *kernel.instructions])
        rows = [self._strides(each) for each in affine]
        self.kept, kept = join_axes(cut.kept, kernel.shape, rows)
        self.reduced, reduced = join_axes(cut.reduced, kernel.shape, rows)
        strides = [[*a, *b] for a, b in zip(kept, reduced, strict=True)]
        self.strides = {
            id(each): row for each, row in zip(affine, strides, strict=False)
        }
        self.axes = [f"k{k}" for k in range(len(self.kept))]
        self.axes += [f"r{k}" for k in range(len(self.reduced))]
        self.cached: dict[int, str] = {}
        self.kept_loads: dict[int, tuple[str, str]] = {}
        self.results = math.prod(kernel.shape[k] for k in cut.kept)
        self.length = math.prod(kernel.shape[k] for k in cut.reduced)
        ends = [self.results * cut.segments, self.length]
        for each in affine:
            if _code._is_index(each):
                ends.append(moves.reach(each, kernel.shape))
            else:
                ends += map(abs, each.access.extent(kernel.shape))
        self.wide = max(ends) >= (1 << 31) - _MARGIN
        self.index, self.step = (
            ("uint64", "int64") if self.wide else ("uint32", "int32")
        )
        self.unsigned = self.index
        self.blocks = self._blocks(affine)
        for number, block in enumerate(self.blocks):
            self.pointers[block] = const, kind = self._pointer(block, affine)
            self.parameters.append(f"{const}{kind} *__restrict__ p{number}")
            self.format += "P"
        for number, (target, block) in enumerate(kernel.partial.items()):
            if any(
                isinstance(e, Reduce) and e.target == target
                for e in kernel.instructions
            ):
                self.blocks.append(block)
                const = "const " if kernel.joins else ""
                self.parameters.append(f"{const}char *__restrict__ partial{number}")
                self.format += "P"
        self.names = {block: f"p{number}" for number, block in enumerate(self.blocks)}
        self._add_segments(self.blocks)
        numbers = {"results": self.results, "length": self.length}
        if cut.segments > 1 or cut.variant == "by_column":
            numbers |= {"segments": cut.segments, "segment": cut.segment}
        for name, value in numbers.items():
            self._parameter(f"{self.index} {name}", "Q" if self.wide else "I", value)
        self.divisors: dict[float, str] = {}

    def _together(self) -> Cut:
        """Return the cut, with more results of a thread if they share work."""
        cut, axis = self.cut, len(self.kept) - 1
        length = together(cut, self.kernel.shape)
        if length == 1 or axis < 1 or self.kept[axis] != length:
            return cut
        own: set[int] = set()  # what differs between neighbouring results
        work = 0
        for each in self._inner(self.reduces):
            differs = any(self.strides[id(e)][axis] for e in self._affine([each]))
            if differs or own & set(sources(each)):
                own |= set(targets(each))
            else:
                work += work_of_one(each)
        if work <= BROADCAST_WORK:
            return cut
        tiles = -(-self.results // (cut.lanes * length))
        return replace(cut, vector=length, blocks=tiles * cut.segments)

    # declarations

    def _typedefs(self) -> list[str]:
        lines = []
        for m, each in enumerate(self.reduces):
            compute = computation_type(each.reduction.compute)
            lines.append(f"typedef {compute} C{m};")
            lines.append(
                f"typedef reduce_{each.reduction.name}<C{m}, {self.step}> R{m};"
            )
        return lines

    def _finished(self, each: Reduce, acc: str) -> str:
        """Return the text of a result."""
        value = each.reduction.divisor
        if value not in self.divisors:
            self.divisors[value] = f"divisor{len(self.divisors)}"
            self._parameter(f"double {self.divisors[value]}", "d", value)
        kind = self.kernel.types[each.target]
        m = self.numbers_of[id(each)]
        return f"R{m}::finish<{kind}>({acc}, {self.divisors[value]})"

    # indices

    def _divisor(self, length: int) -> tuple[str, str, str]:
        """Return the names of a length and of the numbers that divide by it."""
        key = "divisor", length
        if key not in self.numbers:
            name = str(len(self.numbers))
            self.numbers[key] = name
            multiplier, shift = _code.divisor(length, self.wide)
            code = "Q" if self.wide else "I"
            for letter, value in zip("dmh", (length, multiplier, shift), strict=True):
                self._parameter(f"{self.index} {letter}{name}", code, value)
        name = self.numbers[key]
        return f"d{name}", f"m{name}", f"h{name}"

    def _split(
        self, letter: str, source: str, plus: str = "", last: str = ""
    ) -> list[str]:
        """Return the lines that find the indices of the element of a number.

        ``plus`` is added to the last index, and ``last`` may be its name.
        """
        lengths = self.kept if letter == "k" else self.reduced
        lines = []
        rest = source
        names = [f"{letter}{axis}" for axis in range(len(lengths))]
        if last:
            names[-1] = last
        for axis in range(len(lengths) - 1, 0, -1):
            length, multiplier, shift = self._divisor(lengths[axis])
            lines.append(
                f"const {self.index} {letter}q{axis} = "
                f"quotient({rest}, {multiplier}, {shift});"
            )
            lines.append(
                f"const {self.step} {names[axis]} = "
                f"{rest} - {letter}q{axis} * {length}{plus};"
            )
            rest, plus = f"{letter}q{axis}", ""
        if lengths:
            lines.append(f"const {self.step} {names[0]} = {rest}{plus};")
        return lines

    def _stays(self, letter: str, vector: int) -> bool:
        """Say whether a vector of elements is inside the last axis."""
        lengths = self.kept if letter == "k" else self.reduced
        return len(lengths) < 2 or lengths[-1] % vector == 0

    def _is_packed(self, each: Any, letter: str, vector: int) -> bool:
        """Say whether an element and those after it are whole words."""
        access = each.access
        size = itemsize(access.dtype)
        word = min(vector * size, _WORD)
        axes = self.kept if letter == "k" else self.reduced
        if vector in (1, 3) or not axes or not self._stays(letter, vector):
            return False
        along = (len(self.kept) if letter == "k" else len(self.axes)) - 1
        strides = self.strides[id(each)]
        return (
            not access.jumps
            and strides[along] == size
            and access.offset % word == 0
            and all(s % word == 0 for k, s in enumerate(strides) if k != along)
            and access.block not in self.misaligned
            and self.pointers[access.block][1] == access.dtype
        )

    def _element(self, access: Any, each: Any) -> str:
        if id(each) in self.cached:
            return self.cached[id(each)]
        return super()._element(access, each)

    # instructions

    def _lines(self, instructions: list[Any]) -> list[str]:
        """Return the lines of instructions."""
        before, self.lines = self.lines, []
        for each in instructions:
            self._instruction(each)
        lines, self.lines = self.lines, before
        return lines

    def _has_indices(self, instructions: list[Any]) -> bool:
        """Say whether instructions use the indices of an element."""
        return any(id(each) not in self.cached for each in self._affine(instructions))

    def _inner(self, ends: list[Any]) -> list[Any]:
        """Return the instructions in a loop that some reductions and stores need."""
        found = needed(self.kernel.instructions, ends, stop=Reduce)
        inner = []
        for each in found:
            if isinstance(each, Reduce):
                continue
            if self.cut.variant == "by_column" or self.level.is_inner(each):
                inner.append(each)
        return inner

    def _taken(self, each: Reduce, place: str) -> list[str]:
        """Return the lines that put an element where a reduction takes it up."""
        m = self.numbers_of[id(each)]
        lines = []
        for k, argument in enumerate(each.arguments):
            value = computed(f"v{argument}", each.reduction.compute)
            value = value.replace("cast<C>", f"cast<C{m}>")
            lines.append(f"x{m}_{k}[{place}] = {value};")
        self.mark(lines, 0, each.reduction.line)
        return lines

    def _elements(
        self, name: str, count: int, begin: list[str], inner: list[Any], ends: list[Any]
    ) -> list[str]:
        """Return the loop that computes elements. ``begin`` finds their indices."""

        def loop() -> list[str]:
            body = [*begin, *self._lines(inner)]
            for each in ends:
                body += self._taken(each, name)
            return _loop(name, count, body)

        stores = any(isinstance(each, Store) for each in inner)
        if count == 1 or stores or not any(map(_code._is_quick, inner)):
            return loop()
        self.quick = ", usual"
        quick = loop()
        self.quick = ""
        return ["bool usual = true;", *quick, "if (!usual) {", *loop(), "}"]

    def _room(self, each: Reduce, count: int) -> list[str]:
        m = self.numbers_of[id(each)]
        return [f"C{m} x{m}_{k}[{count}];" for k in range(len(each.arguments))]

    def _arguments(self, each: Reduce) -> str:
        m = self.numbers_of[id(each)]
        return ", ".join(f"x{m}_{k}" for k in range(len(each.arguments)))

    # a block or a warp for each row

    def _by_lanes(self) -> list[str]:
        cut, kernel = self.cut, self.kernel
        passes = loops(self.level, kernel.instructions)
        lines = [
            *job(cut, self.index),
            *self._segment(),
            *(["if (result >= results) return;"] if cut.lanes < cut.threads else []),
            *self._split("k", "result"),
        ]
        lines += self._kept_loads(passes)
        for number, each in enumerate(passes):
            lines += self._row(number)
            ends = [end for _, some in each for end in some]
            reduces = [end for end in ends if isinstance(end, Reduce)]
            for one in reduces:
                m = self.numbers_of[id(one)]
                lines.append(f"R{m}::Acc a{m} = R{m}::identity();")
            for own, some in each:
                elements = _LaneElements(self, own.vector, some, len(passes) == 1)
                args = _Lanes(cut, own), self.index, elements
                if self.kept_loads:
                    inside = unrolled_lane_loops(*args, self.length)
                else:
                    inside = lane_loops(*args)
                lines += ["{", *inside, "}"]
            for k, one in enumerate(reduces):
                lines += self._merged(one, k, number + 1 < len(passes))
        return [*lines, *self._row(len(passes))]

    def _segment(self) -> list[str]:
        """Return the lines that find the result and the elements of a job."""
        if self.cut.segments == 1:
            return [
                f"const {self.index} result = job;",
                f"const {self.index} begin = 0, end = length;",
            ]
        return [
            f"const {self.index} result = job / segments;",
            f"const {self.index} begin = (job - result * segments) * segment;",
            f"const {self.index} end ="
            " begin + segment < length ? begin + segment : length;",
        ]

    def _kept_loads(self, passes: list[Any]) -> list[str]:
        """Return the lines that load what several passes need into registers.

        There are none if a row has too many elements, or less than a vector.
        """
        cuts = {(own.vector, own.rounds) for each in passes for own, _ in each}
        if len(passes) < 2 or len(cuts) > 1:
            return []
        cut = passes[0][0][0]
        vec, across = cut.vector, cut.lanes * cut.vector
        vectors = -(-(self.length // vec) // cut.lanes)
        counts: dict[int, int] = {}
        found: dict[int, Any] = {}
        for each in passes:
            for load in self._inner([end for _, ends in each for end in ends]):
                if isinstance(load, Load):
                    counts[id(load)] = counts.get(id(load), 0) + 1
                    found[id(load)] = load
        several = [
            load
            for key, load in found.items()
            if counts[key] > 1 and self._has_known_place(load)
        ]
        size = sum(itemsize(load.access.dtype) for load in several) * vec * vectors
        if not size or size > ROW_BYTES * min(256 / cut.threads, 1):
            return []
        lines = []
        for n, load in enumerate(several):
            kind = load.access.dtype
            packed = self._is_packed(load, "r", vec)
            room = f"row{n}[{vectors}]" if packed else f"row{n}[{vectors * vec}]"
            lines.append(
                f"pack<{kind}, {vec}> {room};" if packed else f"{kind} {room};"
            )
            if self.length % vec:
                lines.append(f"{kind} rest{n};")
        for n, load in enumerate(several):
            lines += self._kept_load(load, n, vectors, vec, across)
        return lines

    def _kept_load(
        self, load: Load, n: int, vectors: int, vec: int, across: int
    ) -> list[str]:
        """Return the lines that load the elements of a lane."""
        if self._is_packed(load, "r", vec):
            inside = [*self._split("r", "i"), *self._place_lines(load)]
            inside.append(f"row{n}[t].load(&{self._element(load.access, load)});")
            self.kept_loads[id(load)] = f"row{n}[{{at}}].items[j % {vec}]", f"rest{n}"
        else:
            plus = f" + j % {vec}" if vec > 1 else ""
            inside = (
                self._split("r", "i", plus)
                if self._stays("r", vec)
                else self._split("r", f"(i{plus})")
            )
            inside += self._place_lines(load)
            inside.append(
                f"row{n}[t * {vec} + j] = {self._element(load.access, load)};"
            )
            inside = _loop("j", vec, inside)
            self.kept_loads[id(load)] = (
                f"row{n}[({{at}}) * {vec} + j % {vec}]",
                f"rest{n}",
            )
        lines = [
            "#pragma unroll",
            f"for (int t = 0; t < {vectors}; t++) {{",
            f"    const {self.index} i = lane * {vec} + t * {across};",
            f"    if (i < end / {vec} * {vec}) {{",
            *inside,
            "    }",
            "}",
        ]
        if self.length % vec:
            lines += [
                f"if (end / {vec} * {vec} + lane < end) {{",
                *self._split("r", f"(end / {vec} * {vec} + lane)"),
                *self._place_lines(load),
                f"    rest{n} = {self._element(load.access, load)};",
                "}",
            ]
        return lines

    def _merged(self, each: Reduce, before: int, is_shared: bool) -> list[str]:
        """Return the lines that join the accumulators of a row."""
        cut, kind = self.cut, self.kernel.types[each.target]
        m = self.numbers_of[id(each)]
        is_block = cut.lanes == cut.threads
        lines = [merged(cut, f"R{m}", f"a{m}")]
        if before and is_block and not is_shared:
            lines.insert(0, "__syncthreads();")
        if self.kernel.partial:
            place = f"((R{m}::Acc *)partial{self._partial(each)})[job]"
            return [*lines, f"if (lane == 0) {place} = a{m};"]
        value = self._finished(each, f"a{m}")
        if is_shared:
            value = f"from_first_{'thread' if is_block else 'lane'}<{kind}>({value})"
        return [*lines, f"const {kind} v{each.target} = {value};"]

    def _partial(self, each: Reduce) -> int:
        return list(self.kernel.partial).index(each.target)

    def _row(self, number: int) -> list[str]:
        """Return the lines of a pass that are the same for a whole row."""
        own = self._row_instructions(number)
        lines = self._lines([each for each in own if not isinstance(each, Store)])
        stores = self._lines([each for each in own if isinstance(each, Store)])
        if stores:
            lines += ["if (lane == 0) {", *stores, "}"]
        return lines

    def _row_instructions(self, number: int) -> list[Any]:
        return [
            each
            for each in self.kernel.instructions
            if not self.level.is_inner(each) and self.level.pass_of(each) == number
        ]

    # the kernel that joins segments

    def _join(self) -> list[str]:
        cut = _Lanes(self.cut, self.cut)
        cut.threads, cut.lanes = _JOIN_THREADS, self.cut.join_lanes
        is_block = cut.threads == cut.lanes
        lines = [
            *job(cut, self.index),
            *([] if is_block else ["if (job >= results) return;"]),
            *self._split("k", "job"),
        ]
        for k, each in enumerate(self.reduces):
            m = self.numbers_of[id(each)]
            kind = self.kernel.types[each.target]
            partial = f"((const R{m}::Acc *)partial{self._partial(each)})"
            lines += [
                f"R{m}::Acc a{m} = R{m}::identity();",
                f"for ({self.index} s = lane; s < segments; s += {cut.lanes})",
                f"    R{m}::merge(a{m}, {partial}[job * segments + s]);",
                *(["__syncthreads();"] if k and is_block else []),
                merged(cut, f"R{m}", f"a{m}"),
                f"const {kind} v{each.target} = {self._finished(each, f'a{m}')};",
            ]
        rest = [e for e in self.kernel.instructions if not isinstance(e, Reduce)]
        return [*lines, "if (lane == 0) {", *self._lines(rest), "}"]

    # some lanes for each row

    def _by_short_row(self) -> list[str]:
        cut, kernel = self.cut, self.kernel
        vec, rounds, lanes = cut.vector, cut.rounds, cut.lanes
        groups, warps = 32 // lanes, cut.threads // 32
        lines = [
            f"const {self.index} lane = threadIdx.x % {lanes};",
            f"const {self.index} warp ="
            f" ({self.index})blockIdx.x * {warps} + threadIdx.x / 32;",
            f"const {self.index} first ="
            f" warp * {groups * rounds} + threadIdx.x % 32 / {lanes};",
            f"const bool has = lane * {vec} < length;",
        ]
        passes = loops(self.level, kernel.instructions)
        self.loaded: dict[int, str] = {}
        for number, each in enumerate(passes):
            lines += self._short_rows(number)
            for _, ends in each:
                lines += self._short_pass(ends)
            reduces = [e for _, ends in each for e in ends if isinstance(e, Reduce)]
            for one in reduces:
                lines += self._short_result(one)
        return [*lines, *self._short_rows(len(passes))]

    def _at_row(self) -> list[str]:
        """Return the lines that find the row of the round u."""
        groups = 32 // self.cut.lanes
        return [
            f"const {self.index} result = first + u * {groups};",
            "const bool active = result < results;",
            f"const {self.index} row = active ? result : 0;",
            *self._split("k", "row"),
        ]

    def _rows_used(self, instructions: list[Any]) -> list[str]:
        """Return the lines that name what rows have in the round u."""
        known = [*instructions, *self.kernel.before]
        own = {target for each in known for target in targets(each)}
        used = {s for each in instructions for s in sources(each)} - own
        types = self.kernel.types
        return [f"const {types[v]} v{v} = w{v}[u];" for v in sorted(used)]

    def _short_rows(self, number: int) -> list[str]:
        own = self._row_instructions(number)
        if not own:
            return []
        rounds, types = self.cut.rounds, self.kernel.types
        stores = [each for each in own if isinstance(each, Store)]
        rest = [each for each in own if not isinstance(each, Store)]
        made = [target for each in rest for target in targets(each)]
        lines = [f"{types[v]} w{v}[{rounds}];" for v in made]
        inside = [*self._at_row(), *self._rows_used(own), *self._lines(rest)]
        inside += [f"w{v}[u] = v{v};" for v in made]
        if stores:
            inside += ["if (active && lane == 0) {"]
            inside += [*self._lines(stores), "}"]
        return [*lines, *_loop("u", rounds, inside)]

    def _short_loads(self, inner: list[Any]) -> list[str]:
        """Return the lines that load what a pass needs and no pass before it did."""
        vec, rounds = self.cut.vector, self.cut.rounds
        lines = []
        for each in inner:
            if not isinstance(each, Load) or id(each) in self.loaded:
                continue
            kind = each.access.dtype
            name = f"q{len(self.loaded)}"
            packed = self._is_packed(each, "r", vec)
            element = self._element(each.access, each)
            if packed:
                self.loaded[id(each)] = f"{name}[u].items[j % {vec}]"
                lines.append(f"pack<{kind}, {vec}> {name}[{rounds}];")
                inside = self._split("r", f"lane * {vec}")
                inside.append(f"{name}[u].load(&{element});")
                inside = [
                    *self._at_row(),
                    "if (active && has) {",
                    *inside,
                    "}",
                ]
                lines += _loop("u", rounds, inside)
            else:
                self.loaded[id(each)] = f"{name}[j]"
                lines.append(f"{kind} {name}[{rounds * vec}];")
                inside = [*self._short_element(), *self._place_lines(each)]
                inside.append(f"{name}[j] = {element};")
                inside = ["if (active && has) {", *inside, "}"]
                inside = [f"const int u = j / {vec};", *self._at_row(), *inside]
                lines += _loop("j", rounds * vec, inside)
        return lines

    def _has_known_place(self, load: Load) -> bool:
        """Say whether a load needs no other elements to find its own."""
        before = needed(self.kernel.instructions, [load])[:-1]
        return all(isinstance(each, moves.Find) for each in before)

    def _place_lines(self, load: Load) -> list[str]:
        """Return the lines of the indices that rules give to a load."""
        before = needed(self.kernel.instructions, [load])
        return self._lines([e for e in before if isinstance(e, moves.Find)])

    def _short_element(self) -> list[str]:
        """Return the lines that find the indices of the element j of a lane."""
        vec = self.cut.vector
        if vec == 1:
            return self._split("r", "lane")
        if self._stays("r", vec):
            return self._split("r", f"lane * {vec}", f" + j % {vec}")
        return self._split("r", f"(lane * {vec} + j % {vec})")

    def _short_pass(self, ends: list[Any]) -> list[str]:
        vec, rounds = self.cut.vector, self.cut.rounds
        inner = self._inner(ends)
        lines = self._short_loads(inner)
        self.cached = dict(self.loaded)
        reduces = [each for each in ends if isinstance(each, Reduce)]
        stores = [each for each in ends if isinstance(each, Store)]
        packed = [each for each in stores if self._is_packed(each, "r", vec)]
        after = []
        for n, each in enumerate(packed):
            name = f"o{each.source}_{n}"
            lines.append(f"pack<{each.access.dtype}, {vec}> {name}[{rounds}];")
            element = self._element(each.access, each)
            inside = [
                *self._split("r", f"lane * {vec}"),
                f"{name}[u].store(&{element});",
            ]
            inside = [*self._at_row(), "if (active && has) {", *inside, "}"]
            after += _loop("u", rounds, inside)
            self.cached[id(each)] = f"{name}[u].items[j % {vec}]"
        for one in reduces:
            lines += self._room(one, rounds * vec)
        rest = [each for each in inner if not isinstance(each, Store)]
        scattered = [each for each in stores if each not in packed]
        inside = [f"const int u = j / {vec};"]
        if self._has_indices(inner):
            inside += [*self._at_row(), *self._short_element()]
        inside += [*self._rows_used([*inner, *reduces]), *self._lines(rest)]
        for each in packed:
            inside.append(f"{self.cached[id(each)]} = v{each.source};")
        if scattered:
            inside += ["if (active && has) {", *self._lines(scattered), "}"]
        for one in reduces:
            inside += self._taken(one, "j")
        lines += [*_loop("j", rounds * vec, inside), *after]
        self.cached = {}
        return lines

    def _short_result(self, each: Reduce) -> list[str]:
        """Return the lines that give all lanes of a row its result."""
        cut, kind = self.cut, self.kernel.types[each.target]
        vec, rounds, lanes = cut.vector, cut.rounds, cut.lanes
        kept, apart = max(rounds // lanes, 1), max(lanes // rounds, 1)
        m = self.numbers_of[id(each)]
        target = each.target
        source = f"threadIdx.x % 32 / {lanes} * {lanes} + u / {kept} * {apart}"
        return [
            f"R{m}::Acc a{m}[{rounds}];",
            f"short_rows<R{m}, {lanes}, {rounds}, {vec}>::reduce(a{m}, "
            f"{self._arguments(each)}, ({self.step})(lane * {vec}), has, "
            f"({self.step})length);",
            f"{kind} w{target}[{rounds}];",
            *_loop(
                "u",
                rounds,
                [
                    f"const {kind} own = {self._finished(each, f'a{m}[u % {kept}]')};",
                    f"w{target}[u] = from_lane<{kind}>(own, {source});",
                ],
            ),
        ]

    # a thread for some neighbouring rows

    def _by_column(self) -> list[str]:
        cut, kernel = self.cut, self.kernel
        ((_, ends),) = (
            one for each in loops(self.level, kernel.instructions) for one in each
        )
        reduces = [each for each in ends if isinstance(each, Reduce)]
        lines: list[str] = column_job(cut, self.index)
        for each in reduces:
            m = self.numbers_of[id(each)]
            lines += column_start(cut, f"R{m}", f"a{m}")
        inside = []
        if self._stays("k", cut.vector):
            inside = self._split("k", "mine", last="base")
            if len(self.kept) > 1 and self.kept[-1] == cut.vector:
                inside[1] = f"const {self.step} base = 0;"
        inside += [
            f"{self.index} i = begin + threadIdx.x / {cut.lanes};",
            *column_loops(cut, _ColumnElements(self, ends)),
        ]
        lines += ["if (mine < results) {", *inside, "}"]
        for k, each in enumerate(reduces):
            lines += self._column_results(each, k)
        return lines

    def _column_results(self, each: Reduce, before: int) -> list[str]:
        m = self.numbers_of[id(each)]
        if self.kernel.partial:
            place = "(first + column) * segments + number"
            target = f"((R{m}::Acc *)partial{self._partial(each)})[{place}]"
            stores = [f"{target} = one;"]
        else:
            kind = self.kernel.types[each.target]
            stores = [
                f"const {kind} v{each.target} = {self._finished(each, 'one')};",
                *self._split("k", "(first + column)"),
                *self._lines(
                    [
                        store
                        for store in self.kernel.instructions
                        if isinstance(store, Store) and store.source == each.target
                    ]
                ),
            ]
        alone = self.cut.lanes == self.cut.threads
        return [
            *(["__syncthreads();"] if before and not alone else []),
            f"auto store{m} = [&](int column, const R{m}::Acc &one) {{",
            "    if (first + column < results) {",
            *stores,
            "    }",
            "};",
            *column_results(self.cut, f"store{m}", f"R{m}", f"a{m}"),
        ]


class _Lanes:
    """The numbers of a cut that lane_loops() needs, with another vector and rounds."""

    def __init__(self, cut: Any, own: Any) -> None:
        self.threads, self.lanes = cut.threads, cut.lanes
        self.vector, self.rounds = own.vector, own.rounds


class _LaneElements:
    """What the lanes of a row do with its elements."""

    def __init__(
        self, writer: Writer, vector: int, ends: list[Any], is_only: bool
    ) -> None:
        self.writer, self.vector = writer, vector
        self.reduces = [each for each in ends if isinstance(each, Reduce)]
        self.inner = writer._inner(ends)
        self.load = "stream" if is_only and writer.cut.streamed else "load"

    def round(self, rounds: int, apart: int, at: str = "") -> list[str]:
        """Return the lines that take up a number of vectors at once.

        ``at`` is the number of the vector u among those of the lane.
        """
        for key, (element, _) in self.writer.kept_loads.items():
            self.writer.cached[key] = element.format(at=at)
        return self._some(rounds, self.vector, apart)

    def one(self) -> list[str]:
        """Return the lines that take up one element."""
        for key, (_, element) in self.writer.kept_loads.items():
            self.writer.cached[key] = element
        return self._some(1, 1, 0)

    def _some(self, rounds: int, vec: int, apart: int) -> list[str]:
        writer = self.writer
        count = rounds * vec
        first = f"(i + u * {apart})" if rounds > 1 else "i"
        lines, before, after = [], [], []
        for each in self.inner:
            if not isinstance(each, (Load, Store)) or id(each) in writer.cached:
                continue
            if not writer._is_packed(each, "r", vec):
                continue
            is_load = isinstance(each, Load)
            name = f"{'q' if is_load else 'o'}{len(writer.cached)}"
            element = writer._element(each.access, each)
            lines.append(f"pack<{each.access.dtype}, {vec}> {name}[{rounds}];")
            if is_load:
                is_once = all(writer.strides[id(each)][: len(writer.kept)])
                load = self.load if is_once else "load"
                before.append(f"{name}[u].{load}(&{element});")
            else:
                after.append(f"{name}[u].store(&{element});")
            writer.cached[id(each)] = f"{name}[u].items[j % {vec}]"
        at = writer._split("r", first)
        if before:
            lines += _loop("u", rounds, [*at, *before])
        for each in self.reduces:
            lines += writer._room(each, count)
        inside = [f"const int u = j / {vec};"]
        if writer._has_indices(self.inner):
            if vec == 1:
                inside += at
            elif writer._stays("r", vec):
                inside += writer._split("r", first, f" + j % {vec}")
            else:
                inside += writer._split("r", f"({first} + j % {vec})")
        lines += writer._elements("j", count, inside, self.inner, self.reduces)
        if after:
            lines += _loop("u", rounds, [*at, *after])
        for each in self.reduces:
            m, step = writer.numbers_of[id(each)], writer.step
            arguments = writer._arguments(each)
            if apart:
                lines.append(
                    f"R{m}::add_some<{vec}, {rounds}>(a{m}, {arguments}, ({step})i, "
                    f"({step}){apart});"
                )
            else:
                arguments = arguments.replace(",", "[0],") + "[0]"
                lines.append(f"R{m}::add(a{m}, {arguments}, ({step})i);")
        writer.cached = {}
        return lines


class _ColumnElements:
    """What a thread with neighbouring rows does with their elements."""

    def __init__(self, writer: Writer, ends: list[Any]) -> None:
        self.writer = writer
        self.reduces = [each for each in ends if isinstance(each, Reduce)]
        self.inner = writer._inner(ends)
        self.load = "stream" if writer.cut.streamed else "load"

    def round(self, rounds: int, rows: int) -> list[str]:
        """Return the lines that take up a number of elements of each row at once."""
        writer, vec = self.writer, self.writer.cut.vector
        last = f"k{len(writer.kept) - 1}"
        stays = writer._stays("k", vec)
        lines, before, after = [], [], []
        for each in self.inner:
            if not isinstance(each, (Load, Store)):
                continue
            if not writer._is_packed(each, "k", vec):
                continue
            is_load = isinstance(each, Load)
            name = f"{'q' if is_load else 'o'}{len(writer.cached)}"
            writer.axes = ["base" if axis == last else axis for axis in writer.axes]
            element = writer._element(each.access, each)
            writer.axes = [last if axis == "base" else axis for axis in writer.axes]
            lines.append(f"pack<{each.access.dtype}, {vec}> {name}[{rounds}];")
            if is_load:
                before.append(f"{name}[u].{self.load}(&{element});")
            else:
                after.append(f"{name}[u].store(&{element});")
            writer.cached[id(each)] = f"{name}[u].items[v]"
        at = writer._split("r", f"(i + u * {rows})" if rounds > 1 else "i")
        if before:
            lines += _loop("u", rounds, [*at, *before])
        inside = []
        for each in self.reduces:
            inside += writer._room(each, rounds)
        if stays:
            inside.append(f"const {writer.step} {last} = base + v;")
        else:
            inside += writer._split("k", "(mine + v)")
        begin = at if writer._has_indices(self.inner) else []
        inside += writer._elements("u", rounds, begin, self.inner, self.reduces)
        for each in self.reduces:
            m, step = writer.numbers_of[id(each)], writer.step
            inside.append(
                f"R{m}::add_some<1, {rounds}>(a{m}[v], {writer._arguments(each)}, "
                f"({step})i, ({step}){rows});"
            )
        lines += _loop("v", vec, inside)
        if after:
            lines += _loop("u", rounds, [*at, *after])
        writer.cached = {}
        return lines


_BODIES: dict[str, Any] = {
    "by_block": Writer._by_lanes,
    "by_row": Writer._by_lanes,
    "by_short_row": Writer._by_short_row,
    "by_column": Writer._by_column,
}


def _indented(lines: list[str]) -> list[str]:
    """Return lines with the depth of their braces."""
    depth, made = 1, []
    for line in lines:
        text = line.strip()
        depth -= text.startswith("}")
        made.append("    " * depth + text)
        depth += text.count("{") - text.count("}") + text.startswith("}")
    return made


def _loop(name: str, count: int, lines: list[str]) -> list[str]:
    """Return a loop that is unrolled; it is a scope in any case."""
    if count == 1:
        return ["{", f"const int {name} = 0;", *lines, "}"]
    return [
        "#pragma unroll",
        f"for (int {name} = 0; {name} < {count}; {name}++) {{",
        *lines,
        "}",
    ]


def write(
    kernel: Kernel,
    misaligned: set[int],
    sizes: list[int] | None = None,
    fast: bool = False,
) -> _code.Source:
    """Return the source of a kernel.

    ``misaligned`` are blocks not at whole words, ``sizes`` the bytes of all blocks.
    """
    if kernel.cut is None:
        return _code.write(kernel, misaligned, sizes, fast)
    return _code.finished(Writer(kernel, misaligned).write(), fast)


__all__ = ["write"]
