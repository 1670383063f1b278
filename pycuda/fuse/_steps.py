"""Steps of a recorded function: its kernels, calls and temporaries, for one key.

A ``Specialisation`` makes a ``pycuda._driver._FusedRun`` of a plan, which enqueues the
steps in C. ``FusedFunction`` makes specialisations.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pycuda import _driver
from pycuda._array import host
from pycuda._array.kernels.compilation import compile_texts
from pycuda._context_cache import _current_memory
from pycuda.fuse._code import Source
from pycuda.fuse._group import Plan
from pycuda.fuse._instructions import Kernel
from pycuda.fuse._program import (
    Block,
    Call,
    Place,
    Program,
    Result,
    Same,
    alignment_of,
    is_packed,
    leaves,
    map_tree,
)
from pycuda.fuse._reduce import write
from pycuda.gpuarray import GPUArray

#: No type of a parameter needs a check: the format is that of the text.
_UNKNOWN = "vu"


def _functions(sources: Sequence[Source | None]) -> list[Any]:
    """Return the prepared kernel of each source, in the current context.

    The context keeps a kernel as long as a specialisation uses it.
    """
    memory: Any = _current_memory().results
    known = memory.get(_functions)
    if known is None:
        known = memory[_functions] = weakref.WeakValueDictionary()
    texts = ["" if each is None else each.to_compile() for each in sources]
    functions: dict[str, Any] = {each: known.get(each) for each in texts}
    new = {
        text: source
        for text, source in zip(texts, sources, strict=True)
        if source is not None and functions[text] is None
    }
    images = compile_texts([(text, each.options, False) for text, each in new.items()])
    for (text, source), image in zip(new.items(), images, strict=True):
        module = _driver.module_from_buffer(image)
        vars(module)["_characters"] = {"kernel": _UNKNOWN * len(source.format)}
        function = module.get_function("kernel")
        function.prepare(source.format)
        functions[text] = known[text] = function
    return [functions[text] for text in texts]


#: A run of so many kernels becomes a graph.
LEAST_STEPS = 4

#: A run of so many steps, of which some are plain functions, becomes a graph.
LEAST_STEPS_WITH_CALLS = 2

#: A graph copies arguments of so many bytes to memory of its own, if plain functions
#: use them.
MOST_COPIED = 1 << 20


def repeats(step: Kernel | Call) -> bool:
    """Say whether each run of a step enqueues the same work."""
    return isinstance(step, Kernel) or step.repeats


def _stream() -> Any:
    """Return the stream of the current context in which runs are captured."""
    memory: Any = _current_memory().results
    stream = memory.get(_stream)
    if stream is None:
        flags = _driver.stream_flags.NON_BLOCKING
        stream = memory[_stream] = _driver.Stream(flags)
    return stream


@dataclass
class _Allocation:
    """Memory of a temporary, from the step ``first`` to the step ``last``."""

    block: int
    first: int
    last: int
    size: int
    place: Place | None = None  # the layout, if the block is a packed array
    counts_as: Any = None

    def layout(self) -> GPUArray:
        """Return an array with the layout, but without memory."""
        if self.place is None:
            return layout_of((self.size,), np.dtype(np.uint8))
        dtype = _dtype(self.place.dtype)
        return layout_of(self.place.shape, dtype, self.place.strides, self.counts_as)


class Specialisation:
    """A program and its steps, for arguments of one key."""

    def __init__(self, program: Program, plan: Plan) -> None:
        self.program = program
        self.plan = plan
        self.steps: Any = None  # a _FusedRun
        self.lock = threading.Lock()  # of the thread that compiles
        misaligned = {
            number
            for number, block in enumerate(self.plan.blocks)
            if block.alignment < 16
        }
        sizes = [block.size for block in self.plan.blocks]
        self.sources: list[Source | None] = [
            write(step, misaligned, sizes, program.fast)
            if isinstance(step, Kernel)
            else None
            for step in self.plan.steps
        ]
        self.allocations = self._allocations()

    def compile(
        self, key: tuple[Any, ...] | None = None, donated: tuple[int, ...] = ()
    ) -> None:
        """Compile and load the kernels. ``key`` is that of calls without keywords."""
        functions = _functions(self.sources)
        work = [*map(self._work, self.plan.steps, self.sources, functions)]
        work = work or [self._no_work()]
        begins: list[list[_Allocation]] = [[] for _ in work]
        ends: list[list[int]] = [[] for _ in work]
        for each in self.allocations:
            begins[each.first].append(each)
            if each.last < len(self.plan.steps):
                ends[each.last].append(each.block)
        steps = [
            (
                function,
                tuple([each.block for each in first]),
                tuple([each.layout() for each in first]),
                tuple(last),
                *rest,
            )
            for (function, *rest), first, last in zip(work, begins, ends, strict=True)
        ]
        sources = [
            block.source if block.kind in ("argument", "constant") else None
            for block in self.plan.blocks
        ]
        result = self._result()
        self.steps = _driver._FusedRun(
            _context(),
            key,
            tuple(sources),
            tuple(self._external_writes()),
            tuple(steps),
            result,
            self._layouts(result),
            () if leaves(self.program.result, Same) else donated,
            self._graphs(),
        )

    def _graphs(self) -> tuple[Any, ...] | None:
        """Return what _FusedRun needs to run the steps as a graph; None: it does not.

        Plain functions use memory of the graph for results, which must be whole blocks
        to be copied from there, and for small arguments.
        """
        steps = self.plan.steps
        calls = [step for step in steps if isinstance(step, Call)]
        if calls and (host.may_compute() or not all(map(repeats, calls))):
            return None
        if len(steps) < (LEAST_STEPS_WITH_CALLS if calls else LEAST_STEPS):
            return None
        known = {each.block: each.layout() for each in self.allocations}
        layouts = {}
        for leaf in leaves(self.program.result, Result):
            block = leaf.place.block
            if block in self.plan.outside:
                continue
            if block not in known:
                if not is_packed(leaf.place, self.plan.blocks[block].size):
                    return None
                place = leaf.place
                known[block] = layout_of(
                    place.shape, _dtype(place.dtype), place.strides, leaf.counts_as
                )
            layouts[block] = known[block]
        used: set[int] = set()
        for step, blocks in zip(steps, self._used(), strict=True):
            if isinstance(step, Call):
                used |= blocks
        outs = tuple([block for block in layouts if block in used])
        arguments = used & self.plan.outside
        ins = arguments - self._external_writes()
        ins = {block for block in ins if self._is_small(block)}
        return (
            _stream(),
            tuple(layouts),
            tuple(layouts.values()),
            tuple(arguments - ins),
            tuple(ins),
            outs,
        )

    def _is_small(self, number: int) -> bool:
        """Say whether a block is an argument that is cheap to copy."""
        block = self.plan.blocks[number]
        return block.kind == "argument" and block.size <= MOST_COPIED

    @staticmethod
    def _no_work(function: Any = None) -> tuple[Any, ...]:
        """Return a step without a kernel; see _FusedRun."""
        return function, (), (), (), (1, 1), (1, 1, 1), 0

    def _work(
        self, step: Kernel | Call, source: Source | None, function: Any
    ) -> tuple[Any, ...]:
        """Return what a step runs: a function, and what its kernel gets."""
        if source is None:
            assert isinstance(step, Call)
            return self._no_work(functools.partial(_call, step, self.plan.blocks))
        blocks, values = tuple(source.blocks), tuple(source.values)
        offsets = (0,) * len(blocks)
        return function, blocks, offsets, values, source.grid, source.block, 0

    def _used(self) -> list[set[int]]:
        """Return the blocks that each step uses."""
        used = []
        for step, source in zip(self.plan.steps, self.sources, strict=True):
            if source is not None:
                used.append(set(source.blocks))
            else:
                assert isinstance(step, Call)
                places = (*step.reads, *step.writes, *step.outputs)
                used.append({place.block for place in places})
        return used

    def _external_writes(self) -> set[int]:
        """Return the arguments and outer arrays that steps may change."""
        changed = set()
        for statement in self.plan.statements:
            changed |= {place.block for place in self.plan._writes(statement)}
        return changed & self.plan.outside

    def _allocations(self) -> list[_Allocation]:
        """Return what a call allocates: blocks that a step uses, and results."""
        used = self._used()
        results: dict[int, Result] = {}
        for leaf in leaves(self.program.result, Result):
            results.setdefault(leaf.place.block, leaf)
        made = []
        from_calls = {
            place.block
            for step in self.plan.steps
            if isinstance(step, Call)
            for place in step.outputs
        }
        steps_of: dict[int, list[int]] = {}
        for k, numbers in enumerate(used):
            for number in numbers:
                steps_of.setdefault(number, []).append(k)
        for number, block in enumerate(self.plan.blocks):
            steps = steps_of.get(number)
            if number in self.plan.outside or number in from_calls:
                continue
            if not steps and number not in results:
                continue
            first, last = (steps[0], steps[-1]) if steps else (0, 0)
            allocation = _Allocation(number, first, last, block.size)
            if number in results:
                allocation.last = len(used)
                place = results[number].place
                if is_packed(place, block.size):
                    allocation.place = place
                    allocation.counts_as = results[number].counts_as
            made.append(allocation)
        return made

    def _result(self) -> Any:
        """Return the blocks of the result, or a function that makes it of them."""
        result = self.program.result
        places = {each.block: each.place for each in self.allocations}

        def block_of(leaf: Any) -> int | None:
            if isinstance(leaf, Same):
                return leaf.block
            if isinstance(leaf, Result) and places.get(leaf.place.block) == leaf.place:
                return leaf.place.block
            return None

        if type(result) is tuple and len(result) > 1:
            blocks = [block_of(leaf) for leaf in result]
            if None not in blocks:
                return tuple(blocks)
        block = block_of(result)
        if block is not None:
            return (block,)
        return lambda memory: map_tree(functools.partial(_result, memory), result)

    def _layouts(self, result: Any) -> tuple[GPUArray | None, ...]:
        """Return the layouts of results that may be in memory of the program."""
        if not isinstance(result, tuple):
            return ()
        known = {each.block: each for each in self.allocations}
        return tuple([known[k].layout() if k in known else None for k in result])


def _context() -> Any:
    """Return the context in which this thread works."""
    return _driver.Context.get_current() or _driver._working_context()


def layout_of(
    shape: tuple[int, ...],
    dtype: Any,
    strides: Any = None,
    counts_as: Any = None,
    address: int = 16,
) -> GPUArray:
    """Return an array with a layout, but without memory."""
    made = GPUArray(shape, dtype, gpudata=address, strides=strides)
    if dtype.char == "?":
        setattr(made, "_counts_as", counts_as)  # noqa: B010  not for programs
    return made


def _find_dtype(name: str) -> Any:
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


_dtype = functools.cache(_find_dtype)


def _at(memory: dict[int, Any], place: Place) -> GPUArray:
    """Return the array at a place."""
    if not place.count:
        return GPUArray(place.shape, _dtype(place.dtype), strides=place.strides)
    whole: GPUArray = memory[place.block]
    if (
        not place.offset
        and whole.shape == place.shape
        and whole.strides == place.strides
        and whole.dtype == _dtype(place.dtype)
    ):
        return whole
    return GPUArray(
        place.shape,
        _dtype(place.dtype),
        base=whole,
        gpudata=whole.ptr + place.offset,
        strides=place.strides,
    )


def _call(step: Call, blocks: list[Block], memory: dict[int, Any]) -> None:
    """Call a plain function."""
    array = functools.partial(_result, memory)
    args, kwargs = map_tree(array, step.args), map_tree(array, step.kwargs)
    result = step.function(*args, **kwargs)
    given = {id(each) for each in leaves((args, kwargs), GPUArray)}
    found = [each for each in leaves(result, GPUArray) if id(each) not in given]
    for place, array_ in zip(step.outputs, found[-len(step.outputs) :], strict=False):
        expected = blocks[place.block].alignment
        if array_.size and alignment_of(array_.ptr) < expected:
            array_ = array_.copy()  # the kernels load whole words
        memory[place.block] = array_


def _result(memory: dict[int, Any], leaf: Any) -> Any:
    if isinstance(leaf, Same):
        return memory[leaf.block]
    if isinstance(leaf, Result):
        made: Any = _at(memory, leaf.place)
        if leaf.counts_as is not None:
            made._counts_as = leaf.counts_as
        return made
    return leaf.copy() if type(leaf) is np.ndarray else leaf
