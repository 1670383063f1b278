"""Loops inside recorded functions: one kernel, or steps that the host repeats.

The body is recorded once. If it computes each element of the state from the same
element, the loop is inside a kernel. Otherwise its steps are a program of their own,
which the host launches again and again. Two turns are recorded as well. They are used
if they have fewer kernels than two single ones, as with stencils.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pycuda.fuse._trace as trace
from pycuda._array.copies import is_captured
from pycuda.fuse._group import Plan
from pycuda.fuse._moves import MOVES
from pycuda.fuse._program import (
    Block,
    Call,
    Loop,
    Operation,
    Place,
    Program,
    Result,
    Same,
    alignment_of,
    itemsize,
    packed_strides,
)
from pycuda.fuse._steps import Specialisation, repeats
from pycuda.gpuarray import GPUArray

#: A body may change the dtypes of the state in so many turns before they have to stay.
_TURNS_TO_SETTLE = 3


def _state_of(value: Any) -> tuple[GPUArray, ...]:
    state = value if isinstance(value, tuple) else (value,)
    if not state or not all(isinstance(each, GPUArray) for each in state):
        trace.refuse(
            "the state of a loop has something else than arrays",
            "Use an array, or a tuple of arrays.",
        )
    return state


def _is_like(a: GPUArray, b: GPUArray) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype


def loop(n: int, body: Callable[[Any], Any], state: Any) -> Any:
    """Repeat ``state = body(state)`` and return the last state.

    Parameters
    ----------
    n : int
        Number of turns.
    body : callable
        Function of the state that returns the next one.
    state : GPUArray or tuple of GPUArray
        The first state.

    Returns
    -------
    GPUArray or tuple of GPUArray
        The last state.

    Notes
    -----
    Inside a function under ``pycuda.fuse``, the body is recorded once. If it computes
    each element from the same element of the state, the loop is inside one kernel.
    Otherwise two turns are recorded as well, and the host launches the kernels of one
    or two turns until ``n`` are done.
    """
    n = operator.index(n)
    if not trace.is_recording() or not all(each.size for each in _state_of(state)):
        for _ in range(n):
            state = body(state)
        return state
    made = None
    for _ in range(_TURNS_TO_SETTLE):
        if n < 1:
            return state
        made = _Recorded(body, state)
        if made.settles:
            break
        state = body(state)
        n -= 1
    assert made is not None
    if not made.settles:
        trace.refuse(
            "the state of a loop changes its shape or dtype in each turn",
            "Return arrays like the state, or use a Python loop.",
        )
    if made.is_elementwise():
        return made.as_loop(n)
    pair = _Recorded(lambda state: body(body(state)), state) if n > 1 else None
    return made.on_host(n, None, pair)


def while_loop(
    condition: Callable[[Any], Any], body: Callable[[Any], Any], state: Any
) -> Any:
    """Repeat ``state = body(state)`` while ``condition(state)`` is true.

    Parameters
    ----------
    condition : callable
        Function of the state that returns an array with one element.
    body : callable
        Function of the state that returns the next one.
    state : GPUArray or tuple of GPUArray
        The first state.

    Returns
    -------
    GPUArray or tuple of GPUArray
        The first state for which the condition is false.

    Notes
    -----
    The host reads the condition before each turn, so the call waits for the device and
    cannot be captured in a graph.
    """
    if not trace.is_recording():
        while bool(_scalar(condition(state))):
            state = body(state)
        return state
    made = _Recorded(body, state)
    if not made.settles:
        trace.refuse(
            "the state of a loop changes its shape or dtype",
            "Return arrays like the state.",
        )
    return made.on_host(None, condition)


def _scalar(value: Any) -> Any:
    return value.get().item() if isinstance(value, GPUArray) else value


class _Recorded:
    """A body that was recorded with places for a state."""

    def __init__(self, body: Callable[[Any], Any], state: Any) -> None:
        self.trace = trace._current()
        self.is_tuple = isinstance(state, tuple)
        self.state = _state_of(state)
        self.begin = tuple(_packed(self.trace, each) for each in self.state)
        self.begin_places = tuple(self.trace.place(each) for each in self.begin)
        self.trace.unaligned |= {place.block for place in self.begin_places}
        statements = self.trace.program.statements
        before = len(statements)
        self._record(body)
        self.statements = statements[before:]
        del statements[before:]
        begin = {place.block for place in self.begin_places}
        if any(p.block in begin for s in self.statements for p in Plan._writes(s)):
            trace.refuse(
                "the body of a loop changes the state in place", "Return new arrays."
            )

    def _record(self, body: Callable[[Any], Any]) -> None:
        before = len(self.trace.memories)
        state = _state_of(self._run(body))
        self.settles = len(state) == len(self.begin) and all(
            _is_like(a, b) for a, b in zip(state, self.begin, strict=True)
        )
        self.next = tuple(map(self.trace.described, state))
        self.next_places = tuple(each.place for each in self.next)
        del state
        self._refuse_kept(body, before)

    def _run(self, function: Callable[[Any], Any]) -> Any:
        """Call a function of the state, which must not remember anything."""
        given = self.begin if self.is_tuple else self.begin[0]
        return trace.without_effects(function, (given,), {}, strict=True)

    def _refuse_kept(self, function: Any, before: int) -> None:
        """Refuse arrays that outlive a turn: later ones have other elements."""
        trace.refuse_kept(self.begin, function, 0, True)
        trace.refuse_kept(self.trace.memories, function, before, True)

    def _inner(self) -> set[int]:
        blocks = {p.block for s in self.statements for p in Plan._writes(s)}
        return blocks | {place.block for place in self.begin_places}

    def is_elementwise(self) -> bool:
        """Say whether each element depends on the same element of the state only."""
        shape = self.begin[0].shape
        known = {place.block: place for place in self.begin_places}
        begin = set(known)
        for statement in self.statements:
            if not isinstance(statement, Operation):
                return False
            if statement.name in ("arange", "linspace", *MOVES):
                return False
            for place in statement.outputs:
                if place.shape != shape or place.block in begin:
                    return False
                if self.trace.program.blocks[place.block].kind != "temporary":
                    return False
        inner = self._inner()
        for statement in self.statements:
            assert isinstance(statement, Operation)
            for each in statement.inputs:
                if not isinstance(each, Place) or each.block not in inner:
                    continue
                if known.get(each.block) != each:
                    return False
            for place in statement.outputs:
                if known.setdefault(place.block, place) != place:
                    return False
        outside = {
            each.block
            for statement in self.statements
            for each in Plan._reads(statement)
            if each.block not in inner
        }
        made = {p.block for s in self.statements for p in Plan._writes(s)}
        if made & outside or any(len(each.shape) > len(shape) for each in self.begin):
            return False
        return all(each.shape == shape for each in self.begin) and all(
            known.get(place.block) == place for place in self.next_places
        )

    def _result(self, outputs: tuple[GPUArray, ...]) -> Any:
        return outputs if self.is_tuple else outputs[0]

    def as_loop(self, n: int) -> Any:
        """Record a loop inside a kernel."""
        outputs = tuple(_packed(self.trace, each) for each in self.begin)
        body: list[Any] = self.statements
        self.trace.program.statements.append(
            Loop(
                n,
                tuple(self.trace.place(each) for each in self.state),
                self.begin_places,
                tuple(body),
                self.next_places,
                tuple(self.trace.place(each) for each in outputs),
                trace._line(),
            )
        )
        return self._result(outputs)

    def on_host(
        self, n: int | None, condition: Any, pair: _Recorded | None = None
    ) -> Any:
        """Record a call that launches the body's steps in each turn.

        ``pair`` is the body of two turns. It is used if it has fewer kernels than two
        turns.
        """
        statements = self.trace.program.statements
        tests: list[Any] = []
        test: Any = None
        if condition is not None:
            before = len(statements)
            memories = len(self.trace.memories)
            made_test = self._run(condition)
            tests = statements[before:]
            del statements[before:]
            if not isinstance(made_test, GPUArray) or made_test.size != 1:
                trace.refuse(
                    "the condition of a loop is not an array with one element",
                    "Use all(), any() or a comparison of one element.",
                )
            test = self.trace.described(made_test)
            del made_test
            self._refuse_kept(condition, memories)
        outer, made = self._outer(tests)
        results = self._results()
        body = Plan(self._program(outer, self.statements, results))
        two = None
        if pair is not None:
            more, made_by_pair = pair._outer([])
            outer = list(dict.fromkeys((*outer, *more)))
            made |= made_by_pair
            body = Plan(self._program(outer, self.statements, results))
            two = Plan(pair._program(outer, pair.statements, pair._results()))
            if len(two.steps) >= 2 * len(body.steps):
                two = None
        test_steps = None
        if condition is not None:
            test_steps = Plan(self._program(outer, tests, (test,)))
        where = trace._line()
        function = _HostLoop(n, len(self.begin), body, two, test_steps, where)
        outputs = tuple(_packed(self.trace, each) for each in self.begin)
        states = tuple(self.trace.place(each) for each in self.state)
        wholes = tuple(self._whole(block) for block in outer)
        statements.append(
            Call(
                function,
                tuple(map(Result, (*states, *wholes))),
                {},
                (*states, *wholes),
                tuple(self._whole(block) for block in outer if block in made),
                tuple(self.trace.place(each) for each in outputs),
                where,
                n is not None and all(map(repeats, body.steps)),
            )
        )
        return self._result(outputs)

    def _outer(self, tests: list[Any]) -> tuple[list[int], set[int]]:
        """Return the blocks from outside that the body uses, and what it writes."""
        every = [*self.statements, *tests]
        made = {p.block for s in every for p in Plan._writes(s)}
        inner = {place.block for place in self.begin_places}
        inner |= {block for block in made if self._is_own(block)}
        used = [p.block for s in every for p in (*Plan._reads(s), *Plan._writes(s))]
        used += [place.block for place in self.next_places]
        return list(dict.fromkeys(b for b in used if b not in inner)), made

    def _results(self) -> Any:
        """Return what stands for the next state."""
        results = tuple(
            Same(place.block) if place in self.begin_places else each
            for place, each in zip(self.next_places, self.next, strict=True)
        )
        return results if len(results) > 1 else results[0]

    def _is_own(self, block: int) -> bool:
        """Say whether the body allocated a block."""
        first = self.begin_places[0].block
        is_temporary = self.trace.program.blocks[block].kind == "temporary"
        return is_temporary and block >= first

    def _whole(self, block: int) -> Place:
        size = max(self.trace.program.blocks[block].size, 1)
        return Place(block, "uint8", 0, (size,), (1,))

    def _program(self, outer: list[int], statements: list[Any], result: Any) -> Program:
        arguments = [*(place.block for place in self.begin_places), *outer]
        blocks = list(self.trace.program.blocks)
        for number, block in enumerate(arguments):
            known = blocks[block].alignment if number >= len(self.begin) else 16
            blocks[block] = replace(
                blocks[block], kind="argument", source=number, alignment=known
            )
        used = set(arguments)
        used |= {
            p.block for s in statements for p in (*Plan._reads(s), *Plan._writes(s))
        }
        blocks = [
            block
            if number in used or block.kind == "temporary"
            else Block("temporary", block.size)
            for number, block in enumerate(blocks)
        ]
        return Program(blocks, list(statements), result, self.trace.fast)


def _packed(made: trace.Trace, like: GPUArray) -> GPUArray:
    """Return a stand-in in C order."""
    stand_in = trace.StandIn(like.shape, like.dtype)
    trace._keep_counting(stand_in, like)
    assert stand_in.strides == packed_strides(like.shape, like.dtype.itemsize)
    return stand_in


class _HostLoop:
    """The steps of a body, which the host launches in each turn."""

    def __init__(
        self,
        n: int | None,
        states: int,
        body: Plan,
        pair: Plan | None,
        test: Any,
        line: str,
    ) -> None:
        self.__name__ = "loop" if test is None else "while_loop"
        self.n = n
        self.states = states
        self.line = line
        self.plans = {"body": body, "pair": pair, "test": test}
        self.fresh: dict[str, list[int]] = {}  # what is not an array of the state
        self.is_whole: dict[str, bool] = {}  # whether _whole() changes nothing
        for name in ("body", "pair"):
            plan: Any = self.plans[name]
            result = () if plan is None else plan.program.result
            leaves = result if isinstance(result, tuple) else (result,)
            self.fresh[name] = [
                k for k, leaf in enumerate(leaves) if isinstance(leaf, Result)
            ]
            self.is_whole[name] = all(
                isinstance(leaf, Same) or _is_whole(plan, leaf.place) for leaf in leaves
            )
        self.made: dict[str, Any] = {}  # of the context of the caller

    def __call__(self, *arrays: GPUArray) -> tuple[GPUArray, ...]:
        if self.n is None and is_captured():
            raise trace.FuseError(
                f"{self.line}: while_loop reads its condition on the host, which a "
                "captured stream does not allow. Use loop(n, body, state), or call the "
                "function outside the capture."
            )
        outer = arrays[self.states :]
        state: tuple[GPUArray, ...] = tuple(map(_whole, arrays[: self.states]))
        given = {id(each) for each in arrays}
        free: list[GPUArray] = []  # memory of earlier states
        turns = 0
        while turns != self.n:
            name = "body"
            if self.n is None:
                (value,) = self._steps("test").run((*state, *outer))
                if not value.get().item():
                    break
            elif self.n - turns > 1 and self.plans["pair"] is not None:
                name = "pair"
            steps = self.made.get(name) or self._steps(name)
            made = steps.run((*state, *outer), self._outs(name, state, free))
            following = made if self.states > 1 else (made,)
            known = given | {id(each) for each in following}
            free = [each for each in (*free, *state) if id(each) not in known]
            state = following if self.is_whole[name] else tuple(map(_whole, following))
            turns += 1 if name == "body" else 2
        return tuple(self._own(list(state), arrays))

    def _outs(
        self, name: str, state: tuple[GPUArray, ...], free: list[GPUArray]
    ) -> tuple[GPUArray | None, ...]:
        """Return memory for the next state, from that of earlier ones."""
        if not free:
            return ()
        if self.states == 1:
            return (free[0],)
        outs: list[GPUArray | None] = [None] * self.states
        rest = free
        for k in self.fresh[name]:
            for each in rest:
                if each.shape == state[k].shape and each.dtype == state[k].dtype:
                    outs[k] = each
                    rest = [a for a in rest if a is not each]
                    break
        return tuple(outs)

    @staticmethod
    def _own(state: list[GPUArray], given: tuple[GPUArray, ...]) -> list[GPUArray]:
        """Return the arrays, with copies of those that belong to the caller."""
        known = [id(each) for each in given]
        owned = []
        for each in state:
            each = _in_c_order(each)
            owned.append(each.copy() if id(each) in known else each)
            known.append(id(each))
        return owned

    def _steps(self, name: str) -> Any:
        """Return the steps of the body, of two turns, or of the condition."""
        if name not in self.made:
            plan: Any = self.plans[name]
            made = Specialisation(plan.program, plan)
            made.compile()
            self.made[name] = made.steps
        return self.made[name]


def _is_whole(plan: Plan, place: Place) -> bool:
    """Say whether a place is a block of the program in C order."""
    block = plan.blocks[place.block]
    size = itemsize(place.dtype)
    return (
        block.kind == "temporary"
        and place.strides == packed_strides(place.shape, size)
        and (place.offset, place.count * size) == (0, block.size)
    )


def _whole(array: GPUArray) -> GPUArray:
    """Return an array in C order, at a whole word."""
    if array.size and alignment_of(array.ptr) < 16:
        return array.copy()
    return _in_c_order(array)


def _in_c_order(array: GPUArray) -> GPUArray:
    if array.strides == packed_strides(array.shape, array.dtype.itemsize):
        return array
    made = GPUArray(array.shape, array.dtype, allocator=array.allocator)
    made[...] = array
    return made
