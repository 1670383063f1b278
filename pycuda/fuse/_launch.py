"""Calls of a recorded function: its specialisations, their kernels and launches.

A specialisation serves the arguments of one key: dtypes, shapes and strides of arrays,
and the values of everything else. Its steps are prepared at the first call. A later
call looks up the key, allocates, and enqueues the steps.
"""

from __future__ import annotations

import functools
import inspect
import operator
import os
import weakref
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import pycuda.fuse._trace as trace
from pycuda import _driver
from pycuda._array.kernels.compilation import compile_text
from pycuda._context_cache import _current_memory, context_dependent_memoize
from pycuda.fuse._code import Source, write
from pycuda.fuse._group import Kernel, Plan, overlaps
from pycuda.fuse._program import (
    Block,
    Call,
    Place,
    Program,
    Result,
    Same,
    alignment_of,
    extent,
    is_packed,
    itemsize,
    map_tree,
    packed_strides,
)
from pycuda.gpuarray import GPUArray

#: A function keeps so many specialisations in a context, those used last.
MOST_SPECIALISATIONS = 64


#: Whether functions are recorded.
ENABLED = os.environ.get("PYCUDA_FUSE", "1") not in ("0", "off")


@context_dependent_memoize
def _function(text: str, format: str, options: tuple[str, ...]) -> Any:
    """Return the prepared kernel of a source."""
    image = compile_text(text, options)
    function = _driver.module_from_buffer(image).get_function("kernel")
    function.prepare(format)
    return function


@dataclass(frozen=True)
class KernelFacts:
    """A kernel of a fused function.

    Parameters
    ----------
    shape : tuple of int
        The elements that it computes, one by each thread.
    operations : int
        The operations on an element.
    bytes : int
        The bytes that it loads and stores, each element of a load counted once.
    work : int
        The estimated time of the operations, in simple operations on a number.
    call : str
        The name of the plain function, if this step is not a kernel.
    line : str
        File and line of the call.
    """

    #: The elements that it computes.
    shape: tuple[int, ...]
    #: The operations on an element.
    operations: int
    #: The bytes that it loads and stores.
    bytes: int
    #: The estimated time of the operations.
    work: int
    #: The name of the plain function; empty for a kernel.
    call: str = ""
    #: File and line of the call.
    line: str = ""


@dataclass
class _Launch:
    """A kernel, ready to be launched."""

    enqueue: Any
    arrays: Any  # gets the arrays of the memory
    grid: tuple[int, int]
    threads: tuple[int, int, int]
    values: tuple[Any, ...]


def _prepared(source: Source) -> _Launch:
    """Return the launch of a source's kernel, in the current context."""
    enqueue = _function(source.text, source.format, source.options).prepared_call
    blocks = source.blocks
    arrays: Any = operator.itemgetter(*blocks)
    if len(blocks) == 1:
        arrays = lambda memory: (memory[blocks[0]],)  # noqa: E731
    return _Launch(enqueue, arrays, source.grid, source.block, tuple(source.values))


@dataclass
class _Allocation:
    """Memory of a temporary, from the step ``first`` to the step ``last``."""

    block: int
    first: int
    last: int
    size: int
    place: Place | None = None  # the layout, if the block is a packed array
    counts_as: Any = None
    dtype: Any = None
    order: tuple[int, ...] | None = None  # the strides, if they are not in C order


@dataclass
class Specialisation:
    """A program and its steps, for arguments of one key."""

    program: Program
    plan: Plan
    sources: list[Source | None] = field(default_factory=list)
    steps: list[_Launch | Call] = field(default_factory=list)
    spare: list[tuple[Any, GPUArray]] = field(default_factory=list)  # donated

    def __post_init__(self) -> None:
        misaligned = {
            number
            for number, block in enumerate(self.plan.blocks)
            if block.alignment < 16
        }
        self.sources = [
            write(step, misaligned, self.program.fast)
            if isinstance(step, Kernel)
            else None
            for step in self.plan.steps
        ]
        blocks = self.plan.blocks
        self.arguments = [
            (number, block.source)
            for number, block in enumerate(blocks)
            if block.kind == "argument"
        ]
        self.constants = {
            number: block.source
            for number, block in enumerate(blocks)
            if block.kind == "constant"
        }
        self.written = self._external_writes()
        self.allocations = self._allocations()

    def compile(self) -> None:
        """Compile and load the kernels."""
        self.steps = []
        for step, source in zip(self.plan.steps, self.sources, strict=True):
            if source is None:
                assert isinstance(step, Call)
                self.steps.append(step)
            else:
                self.steps.append(_prepared(source))
        self._prepare_run()

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

        def note(leaf: Any) -> Any:
            if isinstance(leaf, Result):
                results.setdefault(leaf.place.block, leaf)
            return leaf

        map_tree(note, self.program.result)
        made = []
        from_calls = {
            place.block
            for step in self.plan.steps
            if isinstance(step, Call)
            for place in step.outputs
        }
        for number, block in enumerate(self.plan.blocks):
            steps = [k for k, blocks in enumerate(used) if number in blocks]
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
                    allocation.dtype = _dtype(place.dtype)
                    size = itemsize(place.dtype)
                    if place.strides != packed_strides(place.shape, size):
                        allocation.order = place.strides
            made.append(allocation)
        return made

    # the call

    def may_run(self, arrays: list[GPUArray]) -> bool:
        """Say whether no array that the function changes overlaps another one."""
        if not self.written:
            return True
        ranges = [(number, _range(arrays[k])) for number, k in self.arguments]
        ranges += [(number, _range(each)) for number, each in self.constants.items()]
        for number, own in ranges:
            if number in self.written:
                for other, its in ranges:
                    if other != number and overlaps(own, its):
                        return False
        return True

    def _prepare_run(self) -> None:
        """Note what a call does at each step, so that calls only follow the lists."""
        count = len(self.steps)
        self.begins: list[list[_Allocation]] = [[] for _ in range(max(count, 1))]
        self.ends: list[list[int]] = [[] for _ in range(count)]
        for each in self.allocations:
            self.begins[each.first].append(each)
            if each.last < count:
                self.ends[each.last].append(each.block)
        self.result = self._result_getter()

    def _result_getter(self) -> Any:
        """Return the function that makes the result of the blocks."""
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
                return operator.itemgetter(*blocks)
        block = block_of(result)
        if block is not None:
            return operator.itemgetter(block)
        return lambda memory: map_tree(functools.partial(_result, memory), result)

    def run(self, arrays: list[GPUArray], given: dict[int, GPUArray]) -> Any:
        """Enqueue the steps; return the result. ``given`` are blocks to write to."""
        memory: dict[int, Any] = dict(self.constants)
        for number, k in self.arguments:
            memory[number] = arrays[k]
        allocator = arrays[0].allocator if arrays else None
        memory.update(given)
        if not self.steps:
            for each in self.begins[0]:
                memory.setdefault(each.block, _allocated(each, allocator))
        for step, begins, ends in zip(self.steps, self.begins, self.ends, strict=False):
            for each in begins:
                if each.block not in given:
                    memory[each.block] = _allocated(each, allocator)
            if type(step) is _Launch:
                step.enqueue(
                    step.grid, step.threads, *step.arrays(memory), *step.values
                )
            else:
                assert isinstance(step, Call)
                _call(step, memory, self.plan.blocks)
            for block in ends:
                del memory[block]
        return self.result(memory)


def _leaves(tree: Any, kind: Any) -> list[Any]:
    """Return the leaves of a type."""
    found: list[Any] = []

    def note(leaf: Any) -> Any:
        if isinstance(leaf, kind):
            found.append(leaf)
        return leaf

    map_tree(note, tree)
    return found


def _range(array: GPUArray) -> tuple[int, int]:
    if not array.size:
        return 0, 0
    return extent(array.ptr, array.shape, array.strides, array.dtype.itemsize)


def _allocated(each: _Allocation, allocator: Any) -> Any:
    if each.place is None:
        return GPUArray((each.size,), np.uint8, allocator=allocator)
    made: Any = GPUArray(
        each.place.shape, each.dtype, allocator, None, None, each.order
    )
    if each.counts_as is not None:
        made._counts_as = each.counts_as
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
        return GPUArray(place.shape, _dtype(place.dtype))
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


def _call(step: Call, memory: dict[int, Any], blocks: list[Block]) -> None:
    """Call a plain function."""
    array = functools.partial(_result, memory)
    args, kwargs = map_tree(array, step.args), map_tree(array, step.kwargs)
    result = step.function(*args, **kwargs)
    given = {id(each) for each in _leaves((args, kwargs), GPUArray)}
    found: list[GPUArray] = []

    def note(leaf: Any) -> Any:
        if isinstance(leaf, GPUArray) and id(leaf) not in given:
            found.append(leaf)
        return leaf

    map_tree(note, result)
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
    return leaf


# -- keys ------------------------------------------------------------------------------


class _Unhashable(Exception):
    """An argument has no key: the function runs plainly."""


def _key(leaf: Any, arrays: list[GPUArray]) -> Any:
    """Return the part of a key for an argument, and collect the arrays."""
    kind = type(leaf)
    if kind is GPUArray:
        arrays.append(leaf)
        dtype = leaf.dtype
        rest = leaf.ptr & 15 if leaf.size else 0
        if dtype.char == "?":
            return dtype, leaf.shape, leaf.strides, rest, leaf._counts_as
        return dtype, leaf.shape, leaf.strides, rest
    if kind is float:
        return kind, leaf.hex()
    if kind in (int, bool, str, type(None)):
        return kind, leaf
    if kind in (tuple, list):
        return kind, tuple([_key(each, arrays) for each in leaf])
    if kind is dict:
        items = tuple([(name, _key(each, arrays)) for name, each in leaf.items()])
        return kind, items
    if isinstance(leaf, GPUArray):
        raise _Unhashable
    if isinstance(leaf, np.generic):
        return kind, leaf.dtype, leaf.tobytes()
    if isinstance(leaf, complex):
        return kind, leaf.real.hex(), leaf.imag.hex()
    try:
        hash(leaf)
    except TypeError:
        raise _Unhashable from None
    return kind, leaf


def _recorded() -> None:
    """Be the key of all functions' specialisations in the memory of a context."""


class _Specialisations(OrderedDict[Any, "Specialisation | None"]):
    """The specialisations of a function in a context, in whose memory they are."""

    context: Any = None


def _nothing() -> None:
    """Be a reference to no specialisations."""


class FusedFunction:
    """A function of arrays that runs as few kernels.

    ``pycuda.fuse`` makes it. The first call with arrays of some dtypes and shapes
    records the function and compiles its kernels. Later calls launch them.

    Parameters
    ----------
    function : callable
        The function.
    donate : sequence of str, optional
        Names of parameters whose arrays the caller gives up: a result of the same
        layout may be written into their memory.
    fast : bool, optional
        If true, the compiler may contract a product and a sum.
    """

    def __init__(
        self, function: Any, donate: tuple[str, ...] = (), fast: bool = False
    ) -> None:
        functools.update_wrapper(self, function)
        self._plain = function
        self._name = getattr(function, "__name__", "the function")
        self._donate = tuple(donate)
        self._fast = bool(fast)
        self.__signature = inspect.signature(function)
        for name in self._donate:
            if name not in self.__signature.parameters:
                raise ValueError(f"{function.__name__} has no parameter {name!r}")
        self.specialisations: int = 0
        self._last: Any = _nothing  # a weak reference

    def __reduce__(self) -> Any:
        return _find, (self._plain.__module__, self._plain.__qualname__)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(
        self, *args: Any, out: Any = None, stream: Any = None, **kwargs: Any
    ) -> Any:
        """Call the function.

        Parameters
        ----------
        *args
            The arguments of the function.
        out : GPUArray or tuple of GPUArray, optional
            Arrays for the results.
        stream : pycuda.driver.Stream, optional
            The stream. The default is the current one.
        **kwargs
            More arguments of the function.

        Returns
        -------
        object
            What the function returns.

        Raises
        ------
        FuseError
            If the function needs elements of its arrays.
        """
        if trace.is_recording():
            return self._nested(args, kwargs, out)
        if stream is not None:
            with stream:
                return self(*args, out=out, **kwargs)
        if not ENABLED:
            return _copied(self._plain(*args, **kwargs), out)
        arrays: list[GPUArray] = []
        try:
            key = tuple([_key(each, arrays) for each in args])
            if kwargs:
                key = key, _key(kwargs, arrays)
        except _Unhashable:
            return _copied(self._plain(*args, **kwargs), out)
        made = self._specialisation(key, args, kwargs)
        if made is None or not made.may_run(arrays):
            return _copied(self._plain(*args, **kwargs), out)
        if out is None and not self._donate:
            return made.run(arrays, {})
        return self._run_into(made, arrays, args, kwargs, out)

    def _nested(self, args: Any, kwargs: Any, out: Any) -> Any:
        return _copied(self._plain(*args, **kwargs), out)

    def _specialisation(self, key: Any, args: Any, kwargs: Any) -> Any:
        results = self._last()
        context = _driver.Context.get_current()
        if results is None or context is None or results.context is not context:
            results = self._of_context()
        try:
            made = results[key]
        except KeyError:
            made = self._record(args, kwargs)
            if made is not None:
                made.compile()
            results[key] = made
            while len(results) > MOST_SPECIALISATIONS:
                results.popitem(last=False)
        else:
            if len(results) > MOST_SPECIALISATIONS // 2:
                with suppress(KeyError):  # another thread may have removed it
                    results.move_to_end(key)
        return made

    def _of_context(self) -> _Specialisations:
        """Return the specialisations of the current context."""
        memory: Any = _current_memory().results
        functions: Any = memory.get(_recorded)
        if functions is None:
            functions = memory[_recorded] = weakref.WeakKeyDictionary()
        results: _Specialisations | None = functions.get(self)
        if results is None:
            results = functions[self] = _Specialisations()
            results.context = _driver.Context.get_current()
        self._last = weakref.ref(results)
        return results

    def _record(self, args: Any, kwargs: Any) -> Specialisation | None:
        """Return a new specialisation; None: the function runs plainly."""
        self.specialisations += 1
        try:
            program = trace.record(self._plain, args, kwargs, self._fast)
            return Specialisation(program, Plan(program))
        except (trace.Unsupported, NotImplementedError):
            return None

    def _run_into(
        self, made: Specialisation, arrays: Any, args: Any, kwargs: Any, out: Any
    ) -> Any:
        """Run with memory for the results: ``out``, or donated arguments."""
        given: dict[int, GPUArray] = {}
        result = made.program.result
        results = result if isinstance(result, tuple) else (result,)
        outs = out if isinstance(out, tuple) else (out,)
        if out is None:
            outs = tuple(self._take_donated(made, results))
        elif len(outs) != len(results):
            raise ValueError(
                f"{self._name} returns {len(results)} arrays, out has {len(outs)}"
            )
        inputs = [_range(each) for each in (*arrays, *made.constants.values())]
        for leaf, array in zip(results, outs, strict=False):
            if array is None or not isinstance(leaf, Result):
                continue
            allocation = next(
                (a for a in made.allocations if a.block == leaf.place.block), None
            )
            fits = (
                allocation is not None
                and allocation.place == leaf.place
                and array.shape == leaf.place.shape
                and array.strides == leaf.place.strides
                and array.dtype == _dtype(leaf.place.dtype)
                and array.ptr % 16 == 0
            )
            own = _range(array)
            if fits and not any(overlaps(own, each) for each in inputs):
                given[leaf.place.block] = array
                inputs.append(own)
        value = made.run(arrays, given)
        if out is None:
            self._keep_donated(made, args, kwargs)
        return value if out is None else _copied(value, out)

    def _take_donated(self, made: Specialisation, results: Any) -> list[Any]:
        """Return the array for each result that an earlier call was given."""
        current = _driver.Stream.get_current()
        spare = [array for stream, array in made.spare if stream is current]
        made.spare.clear()
        taken: list[Any] = []
        for leaf in results:
            found = None
            for array in spare if isinstance(leaf, Result) else ():
                if leaf.place.shape == array.shape and array.dtype == _dtype(
                    leaf.place.dtype
                ):
                    found = array
                    break
            spare = [array for array in spare if array is not found]
            taken.append(found)
        return taken

    def _keep_donated(self, made: Specialisation, args: Any, kwargs: Any) -> None:
        """Keep the donated arrays for the next call's results."""
        bound = self.__signature.bind(*args, **kwargs).arguments
        current = _driver.Stream.get_current()
        returned = [each.block for each in _leaves(made.program.result, Same)]
        if not returned:
            made.spare = [
                (current, bound[name])
                for name in self._donate
                if type(bound.get(name)) is GPUArray
            ]

    # what became of a function

    def _inspected(self, args: Any, kwargs: Any) -> Specialisation | None:
        return self._record(args, kwargs)

    def source(self, *args: Any, **kwargs: Any) -> str:
        """Return the CUDA C of the kernels for some arguments.

        Parameters
        ----------
        *args, **kwargs
            The arguments of the function. Nothing is computed.

        Returns
        -------
        str
            The sources, in the order of the launches.
        """
        made = self._inspected(args, kwargs)
        if made is None:
            return ""
        return "\n".join(each.text for each in made.sources if each is not None)

    def kernels(self, *args: Any, **kwargs: Any) -> list[KernelFacts]:
        """Return the steps for some arguments: kernels, and calls of plain functions.

        Parameters
        ----------
        *args, **kwargs
            The arguments of the function. Nothing is computed.

        Returns
        -------
        list of KernelFacts
            The steps in their order.
        """
        made = self._inspected(args, kwargs)
        facts = []
        for step in [] if made is None else made.plan.steps:
            if isinstance(step, Kernel):
                facts.append(
                    KernelFacts(step.shape, step.operations, step.bytes, step.work)
                )
            else:
                name = getattr(step.function, "__name__", str(step.function))
                facts.append(KernelFacts((), 0, 0, 0, name, step.line))
        return facts


def _copied(result: Any, out: Any) -> Any:
    """Return a result, or ``out`` with its elements."""
    if out is None:
        return result
    for array, value in zip(
        out if isinstance(out, tuple) else (out,),
        result if isinstance(result, tuple) else (result,),
        strict=True,
    ):
        if array is not value:
            array[...] = value
    return out


def _find(module: str, name: str) -> Any:
    """Return the fused function of a name, for pickle."""
    import importlib
    import operator

    return operator.attrgetter(name)(importlib.import_module(module))
