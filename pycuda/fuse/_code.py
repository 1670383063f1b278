"""The CUDA C of a kernel.

Sizes, strides and numbers of the program are parameters, so one source serves all
arrays of the same dtypes and layout classes.

A thread that computes several elements in a row computes quotients and roots of float32
without the branches for unusual numbers. If it meets such a number, it computes all of
these elements again with them.
"""

from __future__ import annotations

import math
import re
import struct
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pycuda.fuse._kernels as kernels
import pycuda.fuse._moves as moves
from pycuda._array.kernels.compilation import OPTIONS
from pycuda._array.sources.elementwise import (
    _BODIES,
    _ON_BITS,
    HALVES,
    computation_type,
    computed,
)
from pycuda._compile import recording
from pycuda._compile.build import wants_lines
from pycuda.fuse._instructions import (
    OPERATIONS_PER_BYTE,
    Access,
    Compute,
    Few,
    Index,
    Join,
    Kernel,
    Load,
    Repeat,
    Store,
)
from pycuda.fuse._moves import Find
from pycuda.fuse._program import Scalar, itemsize
from pycuda.fuse._tile import NoTile, Tile, geometry

#: The options of kernels whose products and sums may be contracted.
FAST = ("-fmad=true", "-w")
#: What is between a line of a kernel and the line of the program, until it is finished.
_LINE = recording.LINE
_THREADS = 256
_WORD = 16  # bytes that a thread loads at once
#: Kernels over so many elements in the order of memory load and store whole words.
WORDS_FROM = 1 << 18
#: If operations take so many times as long as bytes, more threads with an element each
#: divide the work better.
_LONG = 4
#: So many quotients and roots of an element are first computed for usual numbers.
_QUICK_FROM = 2


@dataclass
class Source:
    """A kernel's source, and how it is launched."""

    text: str
    format: str  # of prepare()
    blocks: list[int]  # whose addresses are the first parameters
    values: list[Any] = field(default_factory=list)  # of the others
    grid: tuple[int, ...] = (1, 1)
    block: tuple[int, int, int] = (_THREADS, 1, 1)
    options: tuple[str, ...] = OPTIONS
    marked: str = ""  # the text, with the lines of the program behind its lines

    def to_compile(self) -> str:
        """Return the text, with the lines of the program if reports name them."""
        recording.note_lines(self.text, self.marked)
        return recording.with_lines(self.text) if wants_lines() else self.text


def collapse(
    shape: tuple[int, ...], rows: list[tuple[int, ...]]
) -> tuple[list[int], list[list[int]]]:
    """Return lengths and strides with fewer axes for the same elements.

    ``rows`` are the strides of all that depends on the indices. The axis with the
    smallest stride of the first row becomes the last one.
    """
    axes = [k for k, n in enumerate(shape) if n != 1]
    axes.sort(key=lambda k: -abs(rows[0][k]))
    lengths: list[int] = []
    columns: list[list[int]] = []
    for k in axes:
        column = [row[k] for row in rows]
        if columns and all(
            outer == inner * shape[k]
            for outer, inner in zip(columns[-1], column, strict=True)
        ):
            lengths[-1] *= shape[k]
            columns[-1] = column
        else:
            lengths.append(shape[k])
            columns.append(column)
    strides = [[column[r] for column in columns] for r in range(len(rows))]
    return lengths, strides


class _Writer:
    """The text of one kernel."""

    @staticmethod
    def mark(rows: list[str], before: int, line: str) -> None:
        """Note the program's line for all rows from a number on that have none."""
        if line:
            rows[before:] = [
                row if _LINE in row else f"{row}{_LINE}{line}" for row in rows[before:]
            ]

    def __init__(
        self, kernel: Kernel, misaligned: set[int], sizes: list[int] | None = None
    ) -> None:
        self.kernel = kernel
        self.sizes = sizes
        self.renamed: dict[int, str] = {}  # variables of an operation that repeats
        self.misaligned = misaligned
        self.packs: dict[int, str] = {}  # the words of loads and stores, if in use
        self.pointers: dict[int, tuple[str, str]] = {}  # of a block: const, type
        self.lines: list[str] = []
        self.parameters: list[str] = []
        self.format = ""
        self.values: list[Any] = []
        self.numbers: dict[tuple[str, Any], str] = {}
        self.scalars: list[str] = []
        self.functions: dict[Any, str] = {}  # those of _kernels
        self.quick = ""  # a last argument, while quick operations are written

    def write(self) -> Source:
        """Return the source."""
        kernel = self.kernel
        affine = self._affine([*kernel.before, *kernel.instructions])
        affine.sort(key=lambda each: not isinstance(each, Store))
        rows = [self._strides(each) for each in affine]
        lengths, strides = collapse(kernel.shape, rows)
        self.strides = {
            id(each): row for each, row in zip(affine, strides, strict=False)
        }
        count = math.prod(kernel.shape)
        ends = [moves.reach(each, kernel.shape) for each in affine if _is_index(each)]
        ends += [
            abs(end)
            for each in affine
            if not _is_index(each)
            for end in each.access.extent(kernel.shape)
        ]
        self.wide = max([count, *ends]) >= 1 << 31
        blocks = self._blocks(affine)
        for number, block in enumerate(blocks):
            self.pointers[block] = const, kind = self._pointer(block, affine)
            self.parameters.append(f"{const}{kind} *__restrict__ p{number}")
            self.format += "P"
        self.names = {block: f"p{number}" for number, block in enumerate(blocks)}
        self._add_segments(blocks)
        index = self.unsigned = "uint64" if self.wide else "uint32"
        self.step = "int64" if self.wide else "int32"
        each_thread = self._elements_of_a_thread(lengths, affine)
        tile = None if each_thread > 1 else self._tile(lengths)
        if tile is None:
            self._parameter(f"{index} n", "Q" if self.wide else "I", count)
        if tile is not None:
            tile.write()
        elif each_thread > 1:
            self._by_words(each_thread, index, affine)
        else:
            self._indices(lengths, index)
            for each in kernel.instructions:
                self._instruction(each)
        before = self._before()
        scalars = list(self.scalars)
        if before:  # by whole warps
            before, scalars = [*scalars, *before], []
        lines = [*self._places(), *before, *self.head, *scalars, *self.lines]
        text = "\n".join(
            [
                self._include(),
                *self._functions(),
                "using namespace pycuda_array;",
                'extern "C" __global__ void __launch_bounds__(256)',
                f"kernel({', '.join(self.parameters)})",
                "{",
                *(f"    {line}" for line in lines),
                "}",
                "",
            ]
        )
        source = Source(text, self.format, blocks, self.values)
        if tile is None:
            source.grid = -(-count // (_THREADS * each_thread)), 1
        else:
            across, down = tile.geometry.grid
            source.grid = across, down, math.prod(lengths[:-2])
            source.block = (*tile.geometry.block, 1)
        return source

    def _add_segments(self, blocks: list[int]) -> None:
        """Add the parameters of segments that this kernel joins before it begins."""
        self.segments: dict[int, str] = {}
        for each in self.kernel.before:
            if isinstance(each, Join):
                name = self.segments[each.target] = f"segments{len(self.segments)}"
                blocks.append(each.block)
                self.parameters.append(f"const char *__restrict__ {name}")
                self.format += "P"

    def _before(self) -> list[str]:
        """Return the lines of what is the same for all elements."""
        kept, self.lines = self.lines, []
        for each in self.kernel.before:
            self._instruction(each)
        lines, self.lines = self.lines, kept
        return lines

    def _tile(self, lengths: list[int]) -> Tile | None:
        """Return the values of a kernel over rows; None: it is not over rows."""
        made = None if self.wide else geometry(lengths)
        with suppress(NoTile):
            return None if made is None else Tile(self, made, lengths, self.sizes)
        return None

    # what depends on the indices

    def _affine(self, instructions: Any) -> list[Any]:
        found = []
        for each in instructions:
            if isinstance(each, (Load, Store, Index, Find)):
                found.append(each)
            elif isinstance(each, Repeat):
                found += self._affine(each.body)
            for body, _ in moves.bodies(each):
                found += self._affine(body)
        return found

    @staticmethod
    def _strides(each: Any) -> tuple[int, ...]:
        if _is_index(each):
            own: tuple[int, ...] = each.strides
            return own
        strides: tuple[int, ...] = each.access.strides
        return strides

    @staticmethod
    def _blocks(affine: list[Any]) -> list[int]:
        accesses = [each.access for each in affine if not _is_index(each)]
        return list(dict.fromkeys(access.block for access in accesses))

    @staticmethod
    def _pointer(block: int, affine: list[Any]) -> tuple[str, str]:
        accesses = [
            (each.access.dtype, isinstance(each, Store))
            for each in affine
            if not _is_index(each) and each.access.block == block
        ]
        const = "" if any(stores for _, stores in accesses) else "const "
        types = {dtype for dtype, _ in accesses}
        kind = accesses[0][0] if len(types) == 1 else "char"
        return const, kind

    # whole words

    def _elements_of_a_thread(self, lengths: list[int], affine: list[Any]) -> int:
        """Return how many elements a thread computes: those of a word."""
        accesses = [
            (each.access, self.strides[id(each)])
            for each in affine
            if not _is_index(each)
        ]
        kernel, count = self.kernel, math.prod(self.kernel.shape)
        if len(lengths) != 1 or count < WORDS_FROM:
            return 1
        if kernel.work > _LONG * kernel.bytes * OPERATIONS_PER_BYTE:
            return 1
        for access, (stride,) in accesses:
            if stride == 0 and not access.jumps:
                continue
            if (
                access.jumps
                or stride != itemsize(access.dtype)
                or access.offset % _WORD
                or access.block in self.misaligned
                or self.pointers[access.block][1] != access.dtype
            ):
                return 1
        return _WORD // max(itemsize(access.dtype) for access, _ in accesses)

    def _by_words(self, each_thread: int, index: str, affine: list[Any]) -> None:
        """Write the body of a thread that loads, computes and stores whole words."""
        step = "int64" if self.wide else "int32"
        self.axes = ["i0"]
        self.head = [
            f"const {index} first = "
            f"(({index})blockIdx.x * 256 + threadIdx.x) * {each_thread};"
        ]
        packed = [
            each
            for each in self.kernel.instructions
            if isinstance(each, (Load, Store)) and self.strides[id(each)] != [0]
        ]
        declared, stored = [], []
        for each in packed:
            is_load = isinstance(each, Load)
            kind = "in" if is_load else "out"
            name = self.packs[id(each)] = f"{kind}{len(self.packs)}"
            access = each.access
            declared.append(f"    pack<{access.dtype}, {each_thread}> {name};")
            offset = self._number(access.offset // itemsize(access.dtype))
            at = f"{self.names[access.block]} + first"
            at += "" if offset == "0" else f" + {offset}"
            if is_load:
                declared.append(f"    {name}.load({at});")
            else:
                stored.append(f"    {name}.store({at});")
        self.quick = ", usual" if self._has_quick_operations() else ""
        self.lines = [f"if (first + {each_thread} <= n) {{", *declared]
        if self.quick:
            self.lines.append("    bool usual = true;")
            stored = ["    if (usual) {", *(f"    {line}" for line in stored)]
            stored += ["        return;", "    }"]
        self.lines.append("    #pragma unroll")
        self.lines.append(f"    for (int j = 0; j < {each_thread}; j++) {{")
        self.lines.append(f"        const {step} i0 = first + j;")
        for each in self.kernel.instructions:
            self._instruction(each, " " * 8)
        self.packs.clear()
        end, begin = "n", "} else {"
        if self.quick:
            end, begin = f"n && i0 < first + {each_thread}", "} {"
        self.quick = ""
        self.lines += ["    }", *stored, begin]
        self.lines.append(f"    for ({step} i0 = first; i0 < {end}; i0++) {{")
        for each in self.kernel.instructions:
            self._instruction(each, " " * 8)
        self.lines += ["    }", "}"]

    def _has_quick_operations(self) -> bool:
        """Say whether so many operations are quicker for usual numbers."""
        quick = [e for e in self.kernel.instructions if _is_quick(e)]
        return len(quick) >= _QUICK_FROM

    # parameters

    def _parameter(self, text: str, code: str, value: Any) -> None:
        self.parameters.append(text)
        self.format += code
        self.values.append(value)

    def _number(self, value: int) -> str:
        """Return the text of a size: itself if 0, 1 or -1, else a parameter."""
        if value in (0, 1, -1):
            return str(value)
        key = "int", value
        if key not in self.numbers:
            name = f"s{len(self.numbers)}"
            kind, code = ("int64", "q") if self.wide else ("int32", "i")
            self._parameter(f"{kind} {name}", code, value)
            self.numbers[key] = name
        return self.numbers[key]

    def _scalar(self, scalar: Scalar) -> str:
        """Return the text of a number of the program: a parameter."""
        key = scalar.dtype, scalar.data
        if key in self.numbers:
            return self.numbers[key]
        name = f"c{len(self.numbers)}"
        self.numbers[key] = name
        kind = scalar.dtype
        if kind in HALVES:
            (bits,) = struct.unpack("<H", scalar.data)
            self._parameter(f"uint16 {name}_bits", "H", bits)
            self.scalars.append(f"{kind} {name}; {name}.bits = {name}_bits;")
        elif kind.startswith("complex"):
            code = "f" if kind == "complex64" else "d"
            part = "float" if kind == "complex64" else "double"
            for value, word in zip(
                struct.unpack(f"<2{code}", scalar.data), ("re", "im"), strict=True
            ):
                self._parameter(f"{part} {name}_{word}", code, value)
            self.scalars.append(
                f"const {kind} {name} = make_complex({name}_re, {name}_im);"
            )
        else:
            code = _CODES[kind]
            (value,) = struct.unpack(f"<{code}", scalar.data)
            self._parameter(f"{kind} {name}", code, value)
        return name

    # indices

    def _indices(self, lengths: list[int], index: str) -> None:
        """Write the indices i0, i1, ... of the axes."""
        step = "int64" if self.wide else "int32"
        self.axes = [f"i{k}" for k in range(len(lengths))]
        self.head = [f"const {index} i = ({index})blockIdx.x * 256 + threadIdx.x;"]
        self.head.append("if (i >= n) return;")
        if len(lengths) == 1:
            self.head.append(f"const {step} i0 = i;")
            return
        self._divide(lengths, index)

    def _divide(self, lengths: list[int], index: str) -> None:
        """Write the indices of the axes, from that of an element in C order."""
        step = "int64" if self.wide else "int32"
        rest = "i"
        for k in range(len(lengths) - 1, 0, -1):
            multiplier, shift = divisor(lengths[k], self.wide)
            code = "Q" if self.wide else "I"
            for letter, value in zip(
                "dmh", (lengths[k], multiplier, shift), strict=True
            ):
                self._parameter(f"{index} {letter}{k}", code, value)
            self.head.append(f"const {index} r{k} = quotient({rest}, m{k}, h{k});")
            self.head.append(f"const {step} i{k} = {rest} - r{k} * d{k};")
            rest = f"r{k}"
        if lengths:
            self.head.append(f"const {step} i0 = {rest};")

    def index_text(self, offset: int, strides: Any, jumps: Any, unit: int) -> str:
        """Return the text of an affine function of indices and variables."""
        terms = [
            f"v{jump.variable} * {self._number(jump.stride // unit)}" for jump in jumps
        ]
        if terms and not offset and not any(strides):
            return " + ".join(terms)
        return " + ".join([self._sum(offset, strides, unit), *terms])

    def constant(self, kind: str, code: str, value: float) -> str:
        """Return the parameter of a number that is the same for all elements."""
        key = kind, value
        if key not in self.numbers:
            self.numbers[key] = f"g{len(self.numbers)}"
            self._parameter(f"{kind} {self.numbers[key]}", code, value)
        return self.numbers[key]

    def divisor(self, length: int) -> tuple[str, str, str]:
        """Return the parameters of a division by a length, and those of quotient()."""
        kind, code = ("uint64", "Q") if self.wide else ("uint32", "I")
        multiplier, shift = divisor(length, self.wide)
        return (
            self._number(length),
            self.constant(kind, code, multiplier),
            self.constant(kind, code, shift),
        )

    def _sum(self, offset: int, strides: list[int], unit: int) -> str:
        """Return the text of an affine function of the indices."""
        terms = []
        for name, stride in zip(self.axes, strides, strict=True):
            number = self._number(stride // unit)
            if number == "1":
                terms.append(name)
            elif number == "-1":
                terms.append(f"-{name}")
            elif number != "0":
                terms.append(f"{name} * {number}")
        if offset // unit or not terms:
            terms.append(self._number(offset // unit))
        return " + ".join(terms).replace("+ -", "- ")

    def _element(self, access: Access, each: Any) -> str:
        """Return the text of an element in memory."""
        if id(each) in self.packs:
            return f"{self.packs[id(each)]}.items[j]"
        size = itemsize(access.dtype)
        strides = self.strides[id(each)]
        name = self.names[access.block]
        const, kind = self.pointers[access.block]
        steps = [*strides, access.offset, *(jump.stride for jump in access.jumps)]
        is_own = kind == access.dtype and not any(step % size for step in steps)
        unit = size if is_own else 1
        at = self.index_text(access.offset, strides, access.jumps, unit)
        if is_own:
            return f"{name}[{at}]"
        return f"*({const}{access.dtype} *)(({const}char *){name} + {at})"

    # instructions

    def _instruction(self, each: Any, depth: str = "") -> None:
        """Append the lines of an instruction, which know the program's line."""
        before = len(self.lines)
        self._write(each, depth)
        kind = type(each)
        if kind is Compute:
            line = each.operation.line
        elif kind is Load or kind is Store or kind is Find:
            line = each.line
        else:
            return
        rows = self.lines
        if line and len(rows) == before + 1:
            rows[before] += _LINE + line
        elif line:
            self.mark(rows, before, line)

    def _write(self, each: Any, depth: str) -> None:
        types = self.kernel.types
        if isinstance(each, Load):
            element = self._element(each.access, each)
            self.lines.append(
                f"{depth}const {types[each.target]} v{each.target} = {element};"
            )
        elif isinstance(each, Store):
            self.lines.append(
                f"{depth}{self._element(each.access, each)} = v{each.source};"
            )
        elif isinstance(each, Index):
            at = self.index_text(each.offset, self.strides[id(each)], each.jumps, 1)
            self.lines.append(f"{depth}const int64 v{each.target} = {at};")
        elif isinstance(each, Few):
            self._few(each, depth)
        elif isinstance(each, Compute):
            self._compute(each, depth)
        elif isinstance(each, Repeat):
            self._repeat(each, depth)
        elif isinstance(each, Join):
            self._join_segments(each)
        else:
            moves.write(self, each, depth)

    def _variable(self, number: int) -> str:
        return self.renamed.get(number, f"v{number}")

    def _compute(self, each: Compute, depth: str) -> None:
        operation = each.operation
        if operation.name == "kernel":
            kernels.write(self, each, depth)
            return
        types = self.kernel.types
        compute = operation.compute
        kind = computation_type(compute)
        words: dict[str, str] = {}
        for k, argument in enumerate(each.arguments):
            if isinstance(argument, Scalar):
                name, own = self._scalar(argument), argument.dtype
            else:
                name, own = self._variable(argument), types[argument]
            words[f"a{k}"] = name
            words[f"c{k}"] = _computed(name, own, compute, operation.name)
        results = [types[target] for target in each.targets]
        body = _BODIES.get(operation.name)
        if operation.name == "products":
            body = f"{kind}(0)"
            for k in range(0, len(each.arguments), 2):
                body = f"add_product({body}, {{c{k}}}, {{c{k + 1}}})"
            body = f"z0 = {body} + {kind}(0);"  # products of zeros are added, too
        is_quick = self.quick and _is_quick(each)
        if body is None or is_quick:
            arguments = ", ".join(f"{{c{k}}}" for k in range(len(each.arguments)))
            prefix, more = ("quick", self.quick) if is_quick else ("op", "")
            body = f"z0 = cast<Z0>({prefix}_{operation.name}({arguments}{more}));"
        if each.index is not None:
            count = math.prod(operation.outputs[0].shape)
            number = self._number(count)
            position = f"(uint64){self._variable(each.index)}"
            body = body.replace("(uint64)i", position)
            body = body.replace("cast<C>(i)", f"cast<C>({position})")
            body = body.replace("(uint64)n", f"(uint64){number}")
        body = body.format(**words).replace("<C>", f"<{kind}>")
        for k, result in enumerate(results):
            body = body.replace(f"<Z{k}>", f"<{result}>")
        if len(results) == 1 and body.startswith("z0 = "):
            value = body.removeprefix("z0 = ")
            name = self._variable(each.targets[0])
            self.lines.append(f"{depth}const {results[0]} {name} = {value}")
            return
        for k, (result, target) in enumerate(zip(results, each.targets, strict=True)):
            self.lines.append(f"{depth}{result} {self._variable(target)};")
            body = body.replace(f"z{k}", self._variable(target))
        self.lines.append(depth + body)

    def _few(self, each: Few, depth: str) -> None:
        """Write a reduction that each thread does by itself."""
        reduction = each.reduction
        compute, cut = computation_type(reduction.compute), reduction.cut
        kind = self.kernel.types[each.target]
        elements = [computed(f"v{k}", reduction.compute) for k in each.arguments]
        text = ", ".join(elements).replace("<C>", f"<{compute}>")
        count, name = len(elements), f"x{each.target}"
        self.lines.append(f"{depth}const {compute} {name}[] = {{{text}}};")
        numbers = f"{cut.lanes}, {cut.vector}, {count}"
        self.lines.append(
            f"{depth}const {kind} v{each.target} = "
            f"reduce_few<reduce_{reduction.name}<{compute}, int32>, {numbers}, {kind}>"
            f"({name}, {float(reduction.divisor)!r});"
        )

    def _join_segments(self, each: Join) -> None:
        """Write what joins segments: all warps do it."""
        reduction, kind = each.reduction, self.kernel.types[each.target]
        compute = computation_type(reduction.compute)
        count = self.constant("uint32", "I", reduction.cut.segments)
        divisor = self.constant("double", "d", float(reduction.divisor))
        self.lines.append(
            f"const {kind} v{each.target} = "
            f"joined<reduce_{reduction.name}<{compute}, int32>, {kind}>"
            f"({self.segments[each.target]}, {count}, {divisor});"
        )

    def _repeat(self, each: Repeat, depth: str) -> None:
        types = self.kernel.types
        for variable, argument in zip(each.state, each.arguments, strict=True):
            self.lines.append(f"{depth}{types[variable]} v{variable} = v{argument};")
        count = self._number(each.count)
        self.lines.append(f"{depth}for (int turn = 0; turn < {count}; turn++) {{")
        for instruction in each.body:
            self._instruction(instruction, depth + "    ")
        inner = depth + "    "
        for k, (variable, end) in enumerate(zip(each.state, each.ends, strict=True)):
            self.lines.append(f"{inner}const {types[variable]} next{k} = v{end};")
        for k, variable in enumerate(each.state):
            self.lines.append(f"{inner}v{variable} = next{k};")
        self.lines.append(f"{depth}}}")

    def _places(self) -> list[str]:
        """Return the types that rules of places use."""
        if moves.PLACE not in self.kernel.types:
            return []
        return [f"typedef {self.step} {moves.PLACE}; typedef {self.unsigned} I;"]

    def _functions(self) -> list[str]:
        """Return the functions of a program's kernels."""
        return [kernels.function_text(*each) for each in self.functions.items()]

    def _include(self) -> str:
        kernel, lines = self.kernel, []
        types = moves.types_in(kernel.instructions)
        if kernel.cut or kernel.before or Few in types:
            lines.append("#include <pycuda-reduce.hpp>")
        if any(each.startswith("complex") for each in kernel.types):
            lines.append("#include <pycuda-array-complex.hpp>")
        if not lines:
            lines.append("#include <pycuda-array.hpp>")
        if moves.Pick in types:
            lines.append("#include <pycuda-index.hpp>")
        return "\n".join(lines)


def _is_quick(instruction: Any) -> bool:
    """Say whether an operation is quicker for usual numbers."""
    if not isinstance(instruction, Compute):
        return False
    operation = instruction.operation
    return operation.name in ("divide", "sqrt") and operation.compute == "float32"


def _is_index(instruction: Any) -> bool:
    return isinstance(instruction, (Index, Find))


_CODES = {
    "bool": "?",
    "int8": "b",
    "uint8": "B",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
    "float32": "f",
    "float64": "d",
}


def _computed(name: str, own: str, compute: str, operation: str) -> str:
    """Return the text of an argument in the type of the computation."""
    if compute == "raw" or (own == compute and compute not in HALVES):
        return name
    if compute in HALVES:
        half = name if own == compute else f"cast<{compute}>({name})"
        return half if operation in _ON_BITS else f"(float){half}"
    return f"cast<{compute}>({name})"


def divisor(length: int, wide: bool) -> tuple[int, int]:
    """Return multiplier and shift of a division by a length: see quotient()."""
    shift = max(length - 1, 0).bit_length()
    rest = (1 << shift) - length
    return ((rest << (64 if wide else 32)) // length + 1), shift


def write(
    kernel: Kernel,
    misaligned: set[int],
    sizes: list[int] | None = None,
    fast: bool = False,
) -> Source:
    """Return the source of a kernel.

    ``misaligned`` are blocks not at whole words, ``sizes`` the bytes of all blocks.
    """
    return finished(_Writer(kernel, misaligned, sizes).write(), fast)


def finished(source: Source, fast: bool) -> Source:
    """Return a source with its options and the lines of the program."""
    text = source.text
    if fast:
        source.options = FAST
        text = f"// Compiled with {FAST[0]}.\n{text}"
    source.text, source.marked = re.sub(f"{_LINE}.*", "", text), text
    return source
