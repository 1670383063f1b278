"""Which operations become one kernel.

The statements are taken in their order. A temporary that one operation writes as a
whole is not stored, but computed in the kernels that read it, unless

* the function returns it, or a call reads it,
* an array that it was computed from changes before its last use,
* a view of it has no affine map of indices, or
* computing it again costs more than memory, by the estimate below.

A reduction is a kernel, which computes the values that it reduces. It may join the
kernel before it, and operations may join it: see ``_rows``. A reduction of a few
elements is also computed in the threads that need it, like an operation. So is a
product of small matrices.

An operation that stores joins the kernel before it if both have the same shape and each
thread touches only what it wrote itself. An operation that writes elements which other
threads of its kernel read gets a temporary, which a second kernel copies.

The estimate: a second way to read a temporary (another shift) computes it once more.
That costs ``work`` operations for an element. A store and a load cost twice the bytes
of an element, and a byte takes the time of ``OPERATIONS_PER_BYTE`` operations: an H200
does 67e12 float operations and moves 4.8e12 bytes in a second. ``_instructions`` has
the work of operations. A load of an element that a cache has counts as ``_LOAD``, with
its index. Each further kernel that computes a temporary loads all bytes that it is
computed from once more.

If all ways differ by rows and columns only, threads share the temporary: see ``_tile``.
A thread that computes ``MOST_ROWS`` rows computes a temporary for ``r`` more rows if
its readers see it ``r`` rows apart, and a warp for ``c`` more columns than its
``LANES``. So the second ways together cost ``r / MOST_ROWS + c / LANES`` of the work,
and two operations for each column that comes from a neighbour. All values together
reach over at most ``MOST_HALO`` rows and columns. Beyond that, threads would compute
more for others than they save in bytes.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Container
from dataclasses import replace
from typing import Any

import numpy as np

import pycuda.fuse._moves as moves
import pycuda.fuse._rows as rows
from pycuda import _driver
from pycuda._driver import GPUArray
from pycuda.fuse._instructions import (
    OPERATIONS_PER_BYTE,
    Access,
    Compute,
    Few,
    Index,
    Kernel,
    Load,
    Reduce,
    Repeat,
    Store,
    work_of,
)
from pycuda.fuse._moves import Find, Jump, Pick
from pycuda.fuse._program import (
    Block,
    Call,
    Loop,
    Operation,
    Place,
    Program,
    Reduction,
    Result,
    Same,
    Scalar,
    Statement,
    is_packed,
    itemsize,
    map_tree,
    packed_strides,
)

_LOAD = 8
#: A value is computed from at most so many operations that are not stored. A kernel
#: that has more of them takes further values only if they add few.
MOST_OPERATIONS = 1000
_FEW_OPERATIONS = MOST_OPERATIONS // 8
#: A thread computes at most so many rows, and a warp so many columns.
MOST_ROWS = 8
LANES = 32
#: A value that is not stored reaches over at most so many rows and columns in all.
MOST_HALO = 4
_TWOS = {(dtype, np.dtype(dtype).type(2).tobytes()) for dtype in ("float32", "float64")}
#: A product of matrices is an operation if it adds so few products to each element.
SHORT = 4  # PCU_TILES_SHORT of tiles.h
_PRODUCTS = ("float32", "float64")
#: Chains of values that are longer are appended to a kernel without recursion.
_DEEP = 60
#: A value with less work is computed again for each element that it is broadcast to.
BROADCAST_WORK = 16

Map = tuple[tuple[int, tuple[int, ...]], ...]


Step = Kernel | Call


class _Conflict(Exception):
    """A statement cannot join a kernel."""


def _simplified(statement: Statement) -> Statement:
    """Return a statement with the same bits and less work: a square for a power."""
    if isinstance(statement, Call) and statement.function is GPUArray.__matmul__:
        return _short_product(statement) or statement
    if isinstance(statement, Operation) and statement.name == "power":
        exponent = statement.inputs[1]
        if isinstance(exponent, Scalar) and (exponent.dtype, exponent.data) in _TWOS:
            return replace(statement, name="square", inputs=statement.inputs[:1])
    return statement


def _short_product(call: Call) -> Operation | None:
    """Return the operation that multiplies matrices, if its sums are short.

    A plain product adds them in the same order.
    """
    if call.kwargs or not all(isinstance(each, Result) for each in call.args):
        return None
    a, b, (made,) = call.args[0].place, call.args[1].place, call.outputs
    if len(a.shape) < 2 or len(b.shape) < 2 or made.dtype not in _PRODUCTS:
        return None
    height, length, width = a.shape[-2], a.shape[-1], b.shape[-1]
    is_short = length <= SHORT and 1 < min(height, width) <= SHORT
    if not (is_short and a.dtype == b.dtype == made.dtype):
        return None
    if _driver._setting("PYCUDA_BLAS") == "cublas":
        return None
    inputs: list[Place | Scalar] = []
    for k in range(length):
        for place, axis in ((a, -1), (b, -2)):
            shape = list(place.shape)
            shape[axis] = 1
            offset = place.offset + k * place.strides[axis]
            inputs.append(replace(place, offset=offset, shape=tuple(shape)))
    return Operation("products", made.dtype, tuple(inputs), (made,), call.line)


def shape_of(statement: Any) -> tuple[int, ...]:
    """Return the shape of the elements that a statement computes or reduces."""
    places = statement.outputs
    if isinstance(statement, Reduction):
        places = statement.inputs
    shape: tuple[int, ...] = places[0].shape
    return shape


# -- maps of indices -------------------------------------------------------------------


def _identity(ndim: int) -> Map:
    """Return the map of indices to themselves."""
    return tuple(
        (0, tuple(int(k == axis) for k in range(ndim))) for axis in range(ndim)
    )


identity = functools.cache(_identity)  # the same object each time


def find_map(read: Place, written: Place) -> Map | None:
    """Return the indices of ``written`` at the indices of ``read``, if affine."""
    if read == written:
        return identity(len(read.shape))
    if read.dtype != written.dtype:
        return None
    order = sorted(
        (k for k, n in enumerate(written.shape) if n > 1),
        key=lambda k: -abs(written.strides[k]),
    )
    constants = [0] * len(written.shape)
    coefficients = [[0] * len(read.shape) for _ in written.shape]
    rest = read.offset - written.offset
    for k in order:
        constants[k], rest = divmod(rest, written.strides[k])
    if rest:
        return None
    for axis, (length, stride) in enumerate(zip(read.shape, read.strides, strict=True)):
        if length == 1 or stride == 0:
            continue
        for k in order:
            steps, odd = divmod(stride, written.strides[k])
            if not odd and steps and abs(steps) * (length - 1) < written.shape[k]:
                coefficients[k][axis] = steps
                break
        else:
            return None
    for k, length in enumerate(written.shape):
        ends = [c * (n - 1) for c, n in zip(coefficients[k], read.shape, strict=True)]
        low = constants[k] + sum(end for end in ends if end < 0)
        if low < 0 or constants[k] + sum(end for end in ends if end > 0) >= length:
            return None
    return tuple(
        (constant, tuple(c))
        for constant, c in zip(constants, coefficients, strict=True)
    )


def compose(outer: Map, inner: Map, ndim: int) -> Map:
    """Return the map that applies ``inner``, then ``outer``.

    ``ndim`` counts the axes of a kernel and the variables that are indices.
    """
    if outer is identity(len(inner)):
        return inner
    result = []
    for constant, coefficients in outer:
        sums = [0] * ndim
        for c, (inner_constant, inner_coefficients) in zip(
            coefficients, inner, strict=True
        ):
            if c:
                constant += c * inner_constant
                for axis, each in enumerate(inner_coefficients):
                    sums[axis] += c * each
        result.append((constant, tuple(sums)))
    return tuple(result)


def aligned(shape: tuple[int, ...], target: tuple[int, ...]) -> Map:
    """Return the indices of an input of a shape at the indices of an output."""
    if shape == target:
        return identity(len(shape))
    behind = len(target) - len(shape)
    return tuple(
        (
            0,
            tuple(
                int(k == axis + behind and (length > 1 or target[k] == 1))
                for k in range(len(target))
            ),
        )
        for axis, length in enumerate(shape)
    )


def _distance(
    where: Map, shape: tuple[int, ...], shifts: tuple[int, ...]
) -> tuple[int, int] | None:
    """Return the rows and columns by which elements are apart, if only these are."""
    if len(shape) < 2 or shape[-1] < 4 * LANES:
        return None
    apart = []
    for k, (constant, coefficients) in enumerate(where):
        if any(c != (axis == k) for axis, c in enumerate(coefficients)):
            return None
        shift = shifts[k] % shape[k] if shifts else 0
        apart.append(constant - (shift - shape[k] if 2 * shift > shape[k] else shift))
    return None if any(apart[:-2]) else (apart[-2], apart[-1])


def overlaps(a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Say whether two ranges of bytes overlap."""
    return a[0] < b[1] and b[0] < a[1]


# -- one kernel ------------------------------------------------------------------------


class _Builder:
    """A kernel in the making. ``plan`` knows which temporaries are not stored."""

    def __init__(self, plan: Plan, shape: tuple[int, ...]) -> None:
        self.plan = plan
        self.kernel = Kernel(shape)
        self.values: dict[tuple[int, int, Map], int] = {}
        self.elements: dict[Access, int] = {}
        self.loaded: set[Access] = set()
        self.stored: dict[Access, int] = {}
        self.known: set[int] = set()  # stored blocks that are computed again
        self.indices: list[Jump] = []  # the variables that are indices, for one unit
        self.found: dict[Any, int] = {}  # the variables of places
        self.rolls: dict[int, Find] = {}
        self.line = ""  # of the operation whose inputs are loaded
        self.operations = 0  # as Kernel.operations counts them

    def copy(self) -> _Builder:
        """Return a copy, which can be given up."""
        made = _Builder(self.plan, self.kernel.shape)
        made.kernel.cut = self.kernel.cut
        made.kernel.instructions = list(self.kernel.instructions)
        made.kernel.types = list(self.kernel.types)
        made.values = dict(self.values)
        made.elements = dict(self.elements)
        made.loaded = set(self.loaded)
        made.stored = dict(self.stored)
        made.known = set(self.known)
        made.indices = list(self.indices)
        made.found = dict(self.found)
        made.rolls = dict(self.rolls)
        made.operations = self.operations
        return made

    def variable(self, dtype: str) -> int:
        """Return a new variable."""
        self.kernel.types.append(dtype)
        return len(self.kernel.types) - 1

    @property
    def width(self) -> int:
        """The number of indices: the axes, and the variables that are indices."""
        return len(self.kernel.shape) + len(self.indices)

    def split(self, sums: list[int]) -> tuple[tuple[int, ...], tuple[Jump, ...]]:
        """Return the strides of the axes, and those of variables."""
        shape = self.kernel.shape
        strides = [0 if n == 1 else s for n, s in zip(shape, sums, strict=False)]
        jumps = tuple(
            replace(index, stride=stride)
            for index, stride in zip(self.indices, sums[len(shape) :], strict=False)
            if stride
        )
        return tuple(strides), jumps

    def access(self, place: Place, at: Map) -> Access:
        """Return the access of a place at some indices."""
        if at is identity(len(self.kernel.shape)) and 1 not in self.kernel.shape:
            return Access(place.block, place.dtype, place.offset, place.strides)
        offset, sums = place.offset, [0] * self.width
        for (constant, coefficients), stride in zip(at, place.strides, strict=True):
            offset += constant * stride
            for axis, each in enumerate(coefficients):
                sums[axis] += each * stride
        return Access(place.block, place.dtype, offset, *self.split(sums))

    def load(self, access: Access) -> int:
        """Return the variable of an element."""
        if access not in self.elements:
            for other in self.stored:
                if access.meets(other, self.kernel.shape):
                    raise _Conflict
            target = self.variable(access.dtype)
            self.kernel.instructions.append(Load(target, access, self.line))
            self.elements[access] = target
            self.loaded.add(access)
        return self.elements[access]

    def element(self, place: Place, target: tuple[int, ...], where: Map) -> int:
        """Return the variable of an element of an input that is broadcast."""
        at = compose(aligned(place.shape, target), where, self.width)
        return self.element_at(place, at)

    def element_at(self, place: Place, at: Map) -> int:
        """Return the variable of an element of an input."""
        made = self.plan.unstored(place, self.known)
        if made is None:
            return self.load(self.access(place, at))
        number, output, within = made
        return self.value(number, output, compose(within, at, self.width))

    # places that are not affine: see _moves

    def index_of(self, variable: int) -> tuple[int, tuple[int, ...]]:
        """Return the map of a variable that is an index."""
        variables = [known.variable for known in self.indices]
        k = len(self.kernel.shape) + variables.index(variable)
        return 0, (0,) * k + (1,)

    def _add_index(self, variable: int, length: int, axes: Any) -> None:
        self.indices.append(Jump(1, length, variable, tuple(axes)))

    def find(self, index: Any, rule: str = "", length: int = 1, number: int = 0) -> int:
        """Return the variable of an index that a rule changes."""
        constant, coefficients = index
        behind = [0] * (self.width - len(coefficients))
        strides, jumps = self.split([*coefficients, *behind])
        if rule == "roll" and not constant and not any(strides) and len(jumps) == 1:
            known = self.rolls.get(jumps[0].variable)
            if known is not None and known.length == length == jumps[0].length:
                constant, strides, jumps = known.offset, known.strides, known.jumps
                number = (number + known.number) % length  # a roll of a roll
        key = constant, strides, jumps, rule, length, number
        if key not in self.found:
            target = self.found[key] = self.variable(moves.PLACE)
            found = Find(
                target, constant, strides, jumps, rule, length, number, self.line
            )
            self.kernel.instructions.append(found)
            if rule == "roll":
                self.rolls[target] = found
            if rule:
                axes = [
                    s != 0 or any(jump.axes[k] for jump in jumps)
                    for k, s in enumerate(strides)
                ]
                self._add_index(target, length, axes)
        return self.found[key]

    def pick(self, given: int, bounds: int, length: int, axis: int, report: Any) -> int:
        """Return the variable of the place that an index means."""
        key = given, bounds, length, axis, report
        if key not in self.found:
            target = self.found[key] = self.variable(moves.PLACE)
            picked = Pick(target, given, bounds, length, axis, report)
            self.kernel.instructions.append(picked)
            self._add_index(target, length, [n > 1 for n in self.kernel.shape])
        return self.found[key]

    def branch(self, place: Place, at: Map) -> tuple[tuple[Any, ...], int]:
        """Return instructions for an element of an input, and its variable."""
        outer = self.kernel.instructions, self.values, self.elements, self.found
        self.kernel.instructions = []
        self.values, self.elements = dict(self.values), dict(self.elements)
        self.found = dict(self.found)
        result = self.element_at(place, at)
        body = tuple(self.kernel.instructions)
        self.kernel.instructions, self.values, self.elements, self.found = outer
        return body, result

    def value(self, number: int, output: int, where: Map) -> int:
        """Return the variable of an operation's result at some indices."""
        if self.indices or 1 in self.kernel.shape:
            where = tuple([self._normal(index) for index in where])
        key = number, output, where
        if key not in self.values:
            if self.plan.is_deep(number):
                self.values_before(number, where)
            statement = self.plan.statements[number]
            if isinstance(statement, Loop):
                targets = self.loop(statement, where)
            elif isinstance(statement, Reduction):
                targets = (self.few(statement, where),)
            else:
                assert isinstance(statement, Operation)
                targets = self.compute(statement, where)
            for k, target in enumerate(targets):
                self.values[number, k, where] = target
        return self.values[key]

    def _normal(self, index: Any) -> Any:
        """Return an index without coefficients of axes with one element."""
        constant, coefficients = index
        shape = self.kernel.shape
        made = [0 if n == 1 else c for c, n in zip(coefficients, shape, strict=False)]
        made += [0] * (len(shape) - len(made))
        behind = coefficients[len(shape) :]
        while behind and not behind[-1]:
            behind = behind[:-1]
        return constant, (*made, *behind)

    def values_before(self, number: int, where: Map) -> None:
        """Append the deep values from which an operation is computed, deepest first."""
        waiting = [(number, 0, where)]
        begun = set()
        while waiting:
            number, output, where = key = waiting[-1]
            if key in begun or key in self.values:
                waiting.pop()
                if len(waiting):
                    self.value(number, output, where)
                continue
            begun.add(key)
            statement = self.plan.statements[number]
            assert not isinstance(statement, Call)
            if isinstance(statement, Reduction) or moves.is_move(statement):
                continue  # inputs are read at other places
            target = statement.outputs[0].shape
            for place in statement.inputs:
                if isinstance(place, Scalar):
                    continue
                made = self.plan.unstored(place)
                if made is None or not self.plan.is_deep(made[0]):
                    continue
                at = compose(made[2], aligned(place.shape, target), len(target))
                at = compose(at, where, self.width)
                waiting.append((made[0], made[1], at))

    def few(self, reduction: Reduction, where: Map) -> int:
        """Append a reduction of a few elements in each thread; return its variable."""
        (place,), (made,) = reduction.inputs, reduction.outputs
        nothing = 0, (0,) * self.width
        entries = [nothing] * len(place.shape)
        kept = iter(reduction.cut.kept)
        for entry, length in zip(where, made.shape, strict=True):
            if length > 1:
                entries[next(kept)] = entry
        arguments = []
        lengths = [place.shape[k] for k in reduction.cut.reduced]
        for indices in itertools.product(*map(range, lengths)):
            for axis, index in zip(reduction.cut.reduced, indices, strict=True):
                entries[axis] = index, nothing[1]
            arguments.append(self.element(place, place.shape, tuple(entries)))
        target = self.variable(made.dtype)
        self.kernel.instructions.append(Few(target, reduction, tuple(arguments)))
        self.operations += 1
        return target

    def compute(self, operation: Operation, where: Map) -> tuple[int, ...]:
        """Append an operation; return its variables."""
        shape = operation.outputs[0].shape
        if operation.name in moves.MOVES:
            return (moves.value(self, operation, where),)
        arguments: list[int | Scalar] = []
        for each in operation.inputs:
            self.line = operation.line
            if isinstance(each, Place):
                arguments.append(self.element(each, shape, where))
            else:
                arguments.append(each)
        index = None
        if operation.name in ("arange", "linspace"):
            index = self.number(shape, where)
        targets = tuple([self.variable(each.dtype) for each in operation.outputs])
        self.kernel.instructions.append(
            Compute(targets, operation, tuple(arguments), index)
        )
        self.operations += 1
        return targets

    def number(self, shape: tuple[int, ...], where: Map) -> int:
        """Append the number of an element in C order."""
        offset, sums = 0, [0] * self.width
        for (constant, coefficients), step in zip(
            where, packed_strides(shape, 1), strict=True
        ):
            offset += constant * step
            for axis, each in enumerate(coefficients):
                sums[axis] += each * step
        target = self.variable("int64")
        self.kernel.instructions.append(Index(target, offset, *self.split(sums)))
        return target

    def loop(self, loop: Loop, where: Map) -> tuple[int, ...]:
        """Append a loop; return the variables of the state."""
        shape = loop.outputs[0].shape
        arguments = tuple(self.element(each, shape, where) for each in loop.inputs)
        state = tuple(self.variable(each.dtype) for each in loop.begin)
        outer = self.kernel.instructions
        known = dict(zip((each.block for each in loop.begin), state, strict=True))
        body: list[Any] = []
        inner = {p.block for operation in loop.body for p in operation.outputs}
        self.kernel.instructions = outer
        for operation in loop.body:  # what the loop does not change, before the loop
            for each in operation.inputs:
                if isinstance(each, Place) and each.block not in inner | set(known):
                    self.element(each, shape, where)
        self.kernel.instructions = body
        for operation in loop.body:
            inputs: list[int | Scalar] = []
            for each in operation.inputs:
                if isinstance(each, Scalar):
                    inputs.append(each)
                elif each.block in known:
                    inputs.append(known[each.block])
                else:
                    inputs.append(self.element(each, shape, where))
            targets = tuple(self.variable(each.dtype) for each in operation.outputs)
            body.append(Compute(targets, operation, tuple(inputs)))
            for place, target in zip(operation.outputs, targets, strict=True):
                known[place.block] = target
        self.kernel.instructions = outer
        ends = tuple(known[each.block] for each in loop.end)
        outer.append(Repeat(loop.count, state, arguments, tuple(body), ends))
        self.operations += 1
        return state

    def store(self, number: int) -> None:
        """Append the stores of a statement. Raises _Conflict."""
        statement = self.plan.statements[number]
        assert not isinstance(statement, Call)
        shape = self.kernel.shape
        where = identity(len(shape))
        if isinstance(statement, Reduction):
            values = [self.reduce(statement)]
            shape = statement.outputs[0].shape
            where = self.rows_map(shape)
        else:
            if statement.outputs[0].shape != shape:
                shape = statement.outputs[0].shape
                where = self.rows_map(shape)
            values = [
                self.value(number, k, where) for k in range(len(statement.outputs))
            ]
        for place, value in zip(statement.outputs, values, strict=True):
            if place.block in self.plan.dead:
                continue
            access = self.access(place, where)
            for other in [*self.loaded, *self.stored]:
                if other != access and access.meets(other, self.kernel.shape):
                    raise _Conflict
            if Plan._overlaps_itself(place):
                raise _Conflict
            self.kernel.instructions.append(Store(value, access, statement.line))
            self.elements[access] = self.stored[access] = value
            if place.block in self.plan.near:
                self.known.add(place.block)
        if not rows.fits(self.kernel):
            raise _Conflict

    def reduce(self, statement: Reduction) -> int:
        """Append a reduction; return the variable of its result."""
        kernel = self.kernel
        if kernel.cut is None:
            kernel.cut = statement.cut
        if not kernel.cut.fits(statement.cut):
            raise _Conflict
        where = identity(len(kernel.shape))
        arguments = tuple(
            self.element(each, kernel.shape, where) for each in statement.inputs
        )
        target = self.variable(statement.outputs[0].dtype)
        kernel.instructions.append(Reduce(target, statement, arguments))
        self.operations += 1
        return target

    def rows_map(self, shape: tuple[int, ...]) -> Map:
        """Return the map from the kernel's indices to those of its rows.

        The rows have a shape with or without the axes that are reduced.
        """
        assert self.kernel.cut is not None
        ndim = len(self.kernel.shape)
        reduced = set(self.kernel.cut.reduced)
        whole = identity(ndim)
        nothing = 0, (0,) * ndim
        kept = tuple(1 if k in reduced else n for k, n in enumerate(self.kernel.shape))
        if shape == kept:
            return tuple(nothing if k in reduced else whole[k] for k in range(ndim))
        order = [k for k in range(ndim) if kept[k] > 1]
        if [n for n in shape if n > 1] != [kept[k] for k in order]:
            raise _Conflict
        axes = iter(order)
        return tuple(nothing if n == 1 else whole[next(axes)] for n in shape)


# -- the plan --------------------------------------------------------------------------


class Plan:
    """The kernels and calls of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.blocks: list[Block] = list(program.blocks)
        self.statements: list[Statement] = [*map(_simplified, program.statements)]
        self._divide_stacks()
        self.steps: list[Step] = []
        self.dead: set[int] = set()
        self.near: set[int] = set()  # stored by the open kernel, and computed again
        self.outside = {
            k for k, block in enumerate(self.blocks) if block.kind != "temporary"
        }
        self.escaping: set[int] = set()
        map_tree(self._escape, program.result)
        self._writers: dict[int, list[int]] = {}
        self._readers: dict[int, list[int]] = {}
        self._simple: dict[int, tuple[int, int]] = {}  # block: (statement, output)
        self._last_reader: dict[int, int] = {}  # of a simple temporary
        self._stored: set[int] = set()  # blocks of simple temporaries with memory
        self._leaves: dict[int, list[tuple[int, tuple[int, int]]]] = {}
        self._cone: dict[int, set[int]] = {}
        self._extra: dict[int, int] = {}
        self._depth: dict[int, int] = {}
        self._reach: dict[int, tuple[int, int]] = {}  # rows and columns: see MOST_HALO
        self._open: _Builder | None = None
        self._live = self._find_live()
        self._index_blocks()
        self._alone = self._find_alone()
        self._run()

    # what the program uses

    def _divide_stacks(self) -> None:
        """Let each part of a stack that no statement reads be a statement.

        They are in one kernel, whose threads do once what the parts share.
        """
        names = [getattr(each, "name", "") for each in self.statements]
        if "join" not in names:
            return
        read = {p.block for each in self.statements for p in self._reads(each)}
        divided: list[Statement] = []
        for statement, name in zip(self.statements, names, strict=True):
            if name == "join" and self._writes(statement)[0].block not in read:
                divided += moves.parts(statement)
            else:
                divided.append(statement)
        self.statements = divided

    def _escape(self, leaf: Any) -> Any:
        if isinstance(leaf, Result):
            self.escaping.add(leaf.place.block)
        elif isinstance(leaf, Same):
            self.escaping.add(leaf.block)
        return leaf

    @staticmethod
    def _reads(statement: Statement) -> list[Place]:
        if isinstance(statement, Operation):
            return statement.reads
        if isinstance(statement, Reduction):
            return list(statement.inputs)
        if isinstance(statement, Call):
            return list(statement.reads)
        places = list(statement.inputs)
        if isinstance(statement, Loop):
            inner = {p.block for o in statement.body for p in o.outputs}
            inner |= {p.block for p in statement.begin}
            for operation in statement.body:
                places += [each for each in operation.reads if each.block not in inner]
        return places

    @staticmethod
    def _writes(statement: Statement) -> list[Place]:
        if isinstance(statement, Call):
            return [*statement.outputs, *statement.writes]
        return list(statement.outputs)

    def _find_live(self) -> set[int]:
        """Return the statements whose results are used."""
        used = self.escaping | self.outside
        live = set()
        for number in range(len(self.statements) - 1, -1, -1):
            statement = self.statements[number]
            written = {place.block for place in self._writes(statement)}
            if isinstance(statement, Call) or written & used:
                live.add(number)
                used |= {place.block for place in self._reads(statement)}
        self.dead = set(range(len(self.blocks))) - used
        return live

    def _index_blocks(self) -> None:
        for number, statement in enumerate(self.statements):
            if number not in self._live:
                continue
            for place in self._reads(statement):
                self._readers.setdefault(place.block, []).append(number)
            for place in self._writes(statement):
                self._writers.setdefault(place.block, []).append(number)
        for block, writers in self._writers.items():
            number = writers[0]
            statement = self.statements[number]
            if block in self.outside or len(writers) > 1:
                continue
            if isinstance(statement, Call):
                continue
            if isinstance(statement, Reduction) and not statement.is_few:
                continue
            for k, place in enumerate(statement.outputs):
                readers = self._readers.get(block, [])
                is_first = all(reader > number for reader in readers)
                whole = is_packed(place, self.blocks[block].size)
                if place.block == block and whole and is_first:
                    self._simple[block] = number, k
                    self._last_reader[block] = max(readers, default=-1)

    def _find_alone(self) -> dict[int, Any]:
        """Return the statements of reductions that no reader joins, with their cuts.

        What only such a reduction reads is in its kernel, too.
        """
        alone: dict[int, Any] = {}
        if not any(isinstance(each, Reduction) for each in self.statements):
            return alone
        inner = self._simple.keys() - self.escaping
        for number in sorted(self._live, reverse=True):
            statement = self.statements[number]
            if isinstance(statement, Call):
                continue
            if isinstance(statement, Reduction) and not statement.is_few:
                if not rows.may_be_joined(statement.cut):
                    alone[number] = statement.cut
                continue
            blocks = {place.block for place in statement.outputs}
            if blocks <= inner:
                readers = {r for block in blocks for r in self._readers.get(block, ())}
                owners = {alone.get(reader) for reader in readers}
                if len(owners) == 1:
                    alone[number] = owners.pop()
        return alone

    # values that are not stored

    def unstored(
        self, place: Place, known: Container[int] = ()
    ) -> tuple[int, int, Map] | None:
        """Return what makes the elements of a place, if they are not stored.

        The stored blocks in ``known`` are computed, too.
        """
        found = self._simple.get(place.block)
        if found is None or (place.block in self._stored and place.block not in known):
            return None
        statement = self.statements[found[0]]
        assert not isinstance(statement, Call)
        where = find_map(place, statement.outputs[found[1]])
        assert where is not None
        return (*found, where)

    def _note_value(self, number: int) -> None:
        """Note from what an operation is computed."""
        statement = self.statements[number]
        assert not isinstance(statement, Call)
        leaves: list[tuple[int, tuple[int, int]]] = []
        cone, extra, depth = {number}, 0, 1
        reach = 0, 0
        for place in self._reads(statement):
            made = self._simple.get(place.block)
            if made is None or place.block in self._stored - self.near:
                leaves.append((place.block, place.extent))
                continue
            known = self._reach[made[0]]
            reach = max(reach[0], known[0]), max(reach[1], known[1])
            leaves += self._leaves[made[0]]
            cone |= self._cone[made[0]]
            extra += self._extra[made[0]]
            depth = max(depth, self._depth[made[0]] + 1)
        self._leaves[number] = list(dict.fromkeys(leaves))
        self._cone[number] = cone
        if isinstance(statement, Reduction) and statement.is_few:
            reach = MOST_HALO, MOST_HALO
            self._extra[number] = extra
            extra += (statement.length - 1) * self.work(number)
        self._extra[number] = min(extra, 10**9)
        self._depth[number] = depth
        self._reach[number] = reach

    def is_deep(self, number: int) -> bool:
        """Say whether a value is at the end of a long chain."""
        return self._depth.get(number, 0) > _DEEP

    def work(self, number: int) -> int:
        """Return the estimated work of an element of a value that is not stored."""
        operations: list[Any] = [self.statements[k] for k in self._cone[number]]
        work = sum(work_of(each) for each in operations)
        return work + self._extra[number] + _LOAD * len(self._leaves[number])

    def _must_store(self, number: int) -> bool:
        """Say whether a simple temporary has to be in memory."""
        statement = self.statements[number]
        assert not isinstance(statement, Call)
        if len(self._cone[number]) > MOST_OPERATIONS:
            return True
        return any(self._place_must_be_stored(number, p) for p in statement.outputs)

    def _place_must_be_stored(self, number: int, written: Place) -> bool:
        if written.block not in self.escaping:
            return self._is_better_stored(number, written)
        if len(self.statements[number].outputs) == 1:
            reach = self._reach[number]
            if (
                not self._is_better_stored(number, written)
                and reach != (self._reach[number])
            ):
                self.near.add(written.block)
        return True

    def _is_better_stored(self, number: int, written: Place) -> bool:
        ways: set[tuple[Any, ...]] = set()
        distances: set[Any] = set()
        count = written.count
        for reader in self._readers.get(written.block, ()):
            statement = self.statements[reader]
            if isinstance(statement, Call):
                return True
            target = shape_of(statement)
            is_move = moves.is_move(statement)
            is_whole = not is_move or moves.needs_all(statement)
            own = self._alone.get(reader)
            if isinstance(self.statements[number], Reduction) and own is None:
                own = reader  # which may be in any kernel
                if isinstance(statement, Reduction):
                    own = statement.cut
            if isinstance(statement, Reduction):
                if not rows.may_choose(statement.cut) and self._chooses(number):
                    return True
                if self._idles(statement, number, written):
                    return True
            for k, place in enumerate(self._reads(statement)):
                if place.block != written.block:
                    continue
                where = find_map(place, written)
                if where is None:
                    return True
                moved = moves.distance(statement) if is_move else ()
                if own is None and moved is not None:
                    distances.add(_distance(where, written.shape, moved))
                else:
                    distances.add(None)
                times = -(-math.prod(target) // count) if is_whole else 1
                if (
                    times > 1
                    and self.work(number) > BROADCAST_WORK
                    and times > self._together(own, place, target)
                ):
                    return True
                way = place.offset, place.strides, place.shape, own
                ways.add((reader, k, own, None) if moved is None else (*way, moved))
        if len(ways) < 2:
            return False
        more = (len(ways) - 1) * self.work(number)
        if None not in distances:
            near = self._work_of_near(number, distances)
            if near is None:
                return True
            more = min(more, near)
        kernels = len({own for *_, own, _ in ways})
        loaded = sum(high - low for _, (low, high) in self._leaves[number]) // count
        saved = max(kernels, 2) * itemsize(written.dtype) - (kernels - 1) * loaded
        if more > saved * OPERATIONS_PER_BYTE:
            return True
        self._extra[number] = min(self._extra[number] + more, 10**9)
        return False

    @staticmethod
    def _together(cut: Any, place: Place, shape: tuple[int, ...]) -> int:
        """Return how many elements of a shape need the same one of a place at once."""
        length = rows.together(cut, shape)
        if length > 1:
            where = aligned(place.shape, shape)
            axis = cut.kept[-1]
            if any(
                c[axis] and s for (_, c), s in zip(where, place.strides, strict=True)
            ):
                return 1
        return length

    def _work_of_near(self, number: int, distances: set[Any]) -> int | None:
        """Return the work to have a value at some distances; None: store it."""
        rows, columns = (max(each) - min(each) for each in zip(*distances, strict=True))
        reach = self._reach[number]
        reach = reach[0] + rows, reach[1] + columns
        if max(reach) > MOST_HALO:
            return None
        self._reach[number] = reach
        more = rows / MOST_ROWS + columns / LANES
        shuffles = len({column for _, column in distances}) - 1
        work: int = math.ceil(more * self.work(number)) + 2 * shuffles
        return work

    def _chooses(self, number: int) -> bool:
        """Say whether a value is computed from elements that a kernel chooses."""
        return any(moves.chooses(self.statements[k]) for k in self._cone[number])

    def _idles(self, reduction: Reduction, number: int, written: Place) -> bool:
        """Say whether few blocks would take long to compute what they reduce."""
        if reduction.is_few:
            return False
        size = sum(
            high - low for _, (low, high) in self._leaves[number]
        ) - written.count * itemsize(written.dtype)
        work = self.work(number) * written.count
        return rows.idles(reduction.cut, work + max(size, 0) * OPERATIONS_PER_BYTE)

    # the steps

    def _run(self) -> None:
        for number in range(len(self.statements)):
            if number not in self._live:
                continue
            statement = self.statements[number]
            if isinstance(statement, Call):
                self._before_writes(number, list(statement.writes))
                self._close()
                self.steps.append(statement)
                continue
            self._note_value(number)
            blocks = {place.block for place in statement.outputs} - self.dead
            if blocks <= self._simple.keys():
                if self._must_store(number):
                    self._store(number)
                continue
            self._before_writes(number, list(statement.outputs))
            self._store(number)
        self._close()
        self._finish()

    def _before_writes(self, number: int, places: list[Place]) -> None:
        """Store the values that are used later and read what a statement changes."""
        for block, (maker, _) in list(self._simple.items()):
            if maker >= number or self._last_reader[block] <= number:
                continue
            if block in self._stored or block in self.dead:
                continue
            changed = any(
                leaf == place.block and overlaps(ends, place.extent)
                for leaf, ends in self._leaves[maker]
                for place in places
            )
            if changed:
                self._store(maker)

    def _store(self, number: int) -> None:
        """Add a statement that stores to a kernel."""
        statement = self.statements[number]
        assert not isinstance(statement, Call)
        shape = shape_of(statement)
        if self._open is not None and self._may_join(self._open.kernel, statement):
            is_full = self._open.operations > 2 * MOST_OPERATIONS
            if not is_full and self._try(self._open.copy(), number):
                return
        near = self.near & {place.block for place in statement.outputs}
        self._close()
        self.near |= near
        if not self._try(_Builder(self, shape), number):
            self._store_by_copy(number)

    @staticmethod
    def _may_join(kernel: Kernel, statement: Statement) -> bool:
        """Say whether a statement has the shape of a kernel, or that of its rows."""
        shape = shape_of(statement)
        if kernel.shape == shape:
            return True
        if kernel.cut is None or isinstance(statement, Reduction):
            return False
        lengths = [kernel.shape[k] for k in kernel.cut.kept]
        return lengths == [n for n in shape if n > 1]

    def _try(self, builder: _Builder, number: int) -> bool:
        before = builder.operations
        try:
            builder.store(number)
        except _Conflict:
            return False
        added = builder.operations - before
        if before and builder.operations > MOST_OPERATIONS and added > _FEW_OPERATIONS:
            return False
        self._open = builder
        statement = self.statements[number]
        assert not isinstance(statement, Call)
        for place in statement.outputs:
            if place.block in self._simple:
                self._stored.add(place.block)
        return True

    def _store_by_copy(self, number: int) -> None:
        """Store a statement that writes what other elements of it read."""
        statement = self.statements[number]
        assert isinstance(statement, (Operation, Reduction))
        between, copies = [], []
        for place in statement.outputs:
            size = place.count * itemsize(place.dtype)
            self.blocks.append(Block("temporary", size))
            strides = packed_strides(place.shape, itemsize(place.dtype))
            made = Place(len(self.blocks) - 1, place.dtype, 0, place.shape, strides)
            between.append(made)
            copies.append(Operation("copy", "raw", (made,), (place,), statement.line))
        changed = replace(statement, outputs=tuple(between))
        for each in (changed, *copies):
            self.statements.append(each)
            if any(self._overlaps_itself(place) for place in each.outputs):
                raise NotImplementedError("an output overlaps itself")
            self._close()
            if not self._try(_Builder(self, shape_of(each)), self._last()):
                raise AssertionError("a copy conflicts with itself")

    @staticmethod
    def _overlaps_itself(place: Place) -> bool:
        return any(
            s == 0 and n > 1 for s, n in zip(place.strides, place.shape, strict=True)
        )

    def _last(self) -> int:
        return len(self.statements) - 1

    def _close(self) -> None:
        """End the kernel that operations may still join."""
        if self._open is not None:
            self.steps.append(self._open.kernel)
            self._open = None
            self.near.clear()

    def _finish(self) -> None:
        """Leave out stores that no one reads, and split kernels with segments."""
        read = set(self.escaping | self.outside)
        for step in self.steps:
            if isinstance(step, Call):
                read |= {place.block for place in self._reads(step)}
            else:
                read |= {access.block for access in rows.loads(step.instructions)}
        made: list[Step] = []
        for step in self.steps:
            if isinstance(step, Call) or step.cut is None:
                made.append(step)
                continue
            step.instructions = [
                each
                for each in step.instructions
                if not isinstance(each, Store) or each.access.block in read
            ]
            made += self._parts(step)
        self.steps = self._joined_by_readers(made)

    def _joined_by_readers(self, steps: list[Step]) -> list[Step]:
        """Leave out kernels whose segments the next kernel joins itself."""
        if not any(isinstance(step, Kernel) and step.joins for step in steps):
            return steps
        readers: dict[int, set[int]] = {}
        for number, step in enumerate(steps):
            if isinstance(step, Call):
                used = {place.block for place in self._reads(step)}
            else:
                used = {access.block for access in rows.loads(step.instructions)}
            for block in used:
                readers.setdefault(block, set()).add(number)
        made: list[Step] = []
        for number, step in enumerate(steps):
            before = made[-1] if made else None
            if isinstance(before, Kernel) and isinstance(step, Kernel) and before.joins:
                stored = rows.stores(before.instructions)
                is_only = all(readers.get(each) == {number} for each in stored)
                is_seen = stored & (self.escaping | self.outside)
                joined = None
                if is_only and not is_seen:
                    joined = rows.with_segments(before, step)
                if joined is not None:
                    made[-1] = joined
                    continue
            made.append(step)
        return made

    def _parts(self, kernel: Kernel) -> list[Step]:
        """Return a kernel that reduces, in two if it makes segments."""
        cut = kernel.cut
        assert cut is not None
        level = rows.Levels(kernel)
        ends = [e for e in kernel.instructions if isinstance(e, (Reduce, Store))]
        if cut.segments == 1:
            kernel.instructions = rows.needed(kernel.instructions, ends)
            return [kernel]
        for each in ends:
            if isinstance(each, Reduce):
                size = (
                    rows.LARGEST
                    * cut.segments
                    * math.prod(kernel.shape[k] for k in cut.kept)
                )
                self.blocks.append(Block("temporary", size))
                kernel.partial[each.target] = len(self.blocks) - 1
        first = [e for e in ends if isinstance(e, Reduce) or level.is_inner(e)]
        second = [e for e in ends if isinstance(e, Store) and not level.is_inner(e)]
        parts = (
            rows.needed(kernel.instructions, first),
            rows.needed(kernel.instructions, second, stop=Reduce),
        )
        return [
            replace(kernel, instructions=parts[0]),
            replace(kernel, instructions=parts[1], joins=True),
        ]


def plan(program: Program, note: Callable[[Plan], None] | None = None) -> Plan:
    """Return the kernels and calls of a program."""
    made = Plan(program)
    if note is not None:
        note(made)
    return made
