"""Calls of a recorded function: its specialisations, their kernels and launches.

A specialisation serves the arguments of one key: dtypes, shapes and strides of arrays,
and the values of everything else. The first call makes a ``pycuda._driver._FusedRun``
of its steps. Later calls compare their arguments with the keys of the last runs and
enqueue the steps in C. ``FusedFunction._run`` has all other calls.
"""

from __future__ import annotations

import functools
import inspect
import operator
import os
import threading
import weakref
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

import pycuda.fuse._trace as trace
from pycuda import _driver
from pycuda._array.kernels.compilation import compile_text
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
    extent,
    is_packed,
    map_tree,
)
from pycuda.fuse._reduce import write
from pycuda.gpuarray import GPUArray

#: A function keeps so many specialisations in a context, those used last.
MOST_SPECIALISATIONS = 64


#: Whether functions are recorded.
ENABLED = os.environ.get("PYCUDA_FUSE", "1") not in ("0", "off")


#: No type of a parameter needs a check: the format is that of the text.
_UNKNOWN = "vu"


def _function(text: str, format: str, options: tuple[str, ...]) -> Any:
    """Return the prepared kernel of a source, in the current context.

    The context keeps a kernel as long as a specialisation uses it.
    """
    memory: Any = _current_memory().results
    known = memory.get(_function)
    if known is None:
        known = memory[_function] = weakref.WeakValueDictionary()
    function = known.get(text)
    if function is None:
        module = _driver.module_from_buffer(compile_text(text, options))
        vars(module)["_characters"] = {"kernel": _UNKNOWN * len(format)}
        function = module.get_function("kernel")
        function.prepare(format)
        known[text] = function
    return function


@dataclass(frozen=True)
class KernelFacts:
    """A kernel of a fused function.

    Parameters
    ----------
    shape : tuple of int
        The elements that it computes or reduces.
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

    #: The elements that it computes or reduces.
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
            return _layout((self.size,), np.dtype(np.uint8))
        dtype = _dtype(self.place.dtype)
        return _layout(self.place.shape, dtype, self.place.strides, self.counts_as)


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
        self.constants = {
            number: block.source
            for number, block in enumerate(self.plan.blocks)
            if block.kind == "constant"
        }
        self.allocations = self._allocations()

    def compile(
        self, key: tuple[Any, ...] | None = None, donated: tuple[int, ...] = ()
    ) -> None:
        """Compile and load the kernels. ``key`` is that of calls without keywords."""
        work = [*map(self._work, self.plan.steps, self.sources)] or [self._no_work()]
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
            () if _leaves(self.program.result, Same) else donated,
        )

    @staticmethod
    def _no_work(function: Any = None) -> tuple[Any, ...]:
        """Return a step without a kernel; see _FusedRun."""
        return function, (), (), (), (1, 1), (1, 1, 1), 0

    def _work(self, step: Kernel | Call, source: Source | None) -> tuple[Any, ...]:
        """Return what a step runs: a function, and what its kernel gets."""
        if source is None:
            assert isinstance(step, Call)
            return self._no_work(functools.partial(_call, step, self.plan.blocks))
        function = _function(source.to_compile(), source.format, source.options)
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


def _context() -> Any:
    """Return the context in which this thread works."""
    return _driver.Context.get_current() or _driver._working_context()


def _layout(
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


def _call(step: Call, blocks: list[Block], memory: dict[int, Any]) -> None:
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


#: The hash of types whose objects are equal to themselves only.
_HASH_OF_IDENTITY: Any = object.__hash__


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
    if kind.__hash__ is _HASH_OF_IDENTITY:
        return kind, leaf, _state(leaf)
    if isinstance(leaf, np.generic):
        return kind, leaf.dtype, leaf.tobytes()
    if isinstance(leaf, complex):
        return kind, leaf.real.hex(), leaf.imag.hex()
    try:
        hash(leaf)
    except TypeError:
        raise _Unhashable from None
    return kind, leaf


_MOST_DEPTH = 3  # of objects in attributes of objects, whose values count
#: Objects of these types count as constants.
_CONSTANT: tuple[type, ...] = (
    type,
    ModuleType,
    FunctionType,
    BuiltinFunctionType,
    np.ufunc,
)


class _Same:
    """An object in a key that is equal to itself only."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def _state(leaf: Any, depth: int = 0) -> Any:
    """Return the part of a key for the attributes of an object."""
    if isinstance(leaf, _CONSTANT) or depth > _MOST_DEPTH:
        return None
    if not hasattr(leaf, "__dict__"):
        raise _Unhashable  # such as a generator, which a call changes
    items = vars(leaf).items()
    return tuple([(name, _value(each, depth + 1)) for name, each in items])


def _value(value: Any, depth: int) -> Any:
    """Return the part of a key for a value that is no argument.

    A recording has the values of numbers, and the arrays themselves.
    """
    kind = type(value)
    if isinstance(value, GPUArray):
        return _Same(value)
    if kind in (tuple, list):
        return kind, tuple([_value(each, depth) for each in value])
    if kind is dict:
        return kind, tuple([(k, _value(each, depth)) for k, each in value.items()])
    if kind.__hash__ is _HASH_OF_IDENTITY:
        return _Same(value), _state(value, depth)
    return _key(value, [])


def _key_in_c(args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Return the key of a call for C, None if an argument has none."""
    key: list[Any] = []
    for each in args:
        if type(each) is GPUArray:
            counts_as = trace._counts_as(each) if each.dtype.char == "?" else None
            address = 16 + (each.ptr & 15 if each.size else 0)
            each = _layout(each.shape, each.dtype, each.strides, counts_as, address)
        elif type(each) not in (float, int, bool, str, type(None)):
            return None
        key.append(each)
    return tuple(key)


def _recorded() -> None:
    """Be the key of all functions' specialisations in the memory of a context."""


_MISSING: Any = object()


class _Specialisations(dict[Any, "Specialisation | None"]):
    """The specialisations of a function in a context, in whose memory they are."""

    context: Any = None

    def bound(self, new: Any) -> None:
        """Remove those that were not used for the longest time, not the new one."""
        while len(self) > MOST_SPECIALISATIONS:
            last = {
                key: -1 if made is None or made.steps is None else made.steps.used
                for key, made in list(self.items())
                if key != new
            }
            self.pop(min(last, key=last.__getitem__), None)


_IS_RUN_LATER: tuple[Any, ...] = (
    inspect.isgeneratorfunction,
    inspect.iscoroutinefunction,
    inspect.isasyncgenfunction,
)


def _nothing() -> None:
    """Be a reference to no specialisations."""


class FusedFunction(_driver._FusedCall):
    """A function of arrays that runs as few kernels.

    ``pycuda.fuse`` makes it. The first call with arrays of some dtypes and shapes
    records the function and compiles its kernels. Later calls launch them.

    A call takes the arguments of the function and returns what it returns. The keyword
    ``out`` is an array for the result, or a tuple with one for each; ``stream`` is the
    stream, by default the current one. A call raises FuseError if the function needs
    elements of its arrays.

    Parameters
    ----------
    function : callable
        The function.
    donate : sequence of str, optional
        Names of parameters whose arrays the caller gives up: a result of the same
        layout may be written into their memory.
    fast : bool, optional
        If true, the compiler may contract a product and a sum.

    Attributes
    ----------
    specialisations : int
        The number of recordings so far.

    Raises
    ------
    ValueError
        If the function has no parameter of a name in ``donate``.
    TypeError
        If the function is a generator or a coroutine.
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
                raise ValueError(f"{self._name} has no parameter {name!r}")
        if any(test(function) for test in _IS_RUN_LATER):
            raise TypeError(
                f"{self._name} is a generator or a coroutine, which runs after its call"
            )
        self.specialisations: int = 0
        self._last: Any = _nothing  # a weak reference

    def __reduce__(self) -> Any:
        return _find, (self._plain.__module__, self._plain.__qualname__)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def _run(
        self, *args: Any, out: Any = None, stream: Any = None, **kwargs: Any
    ) -> Any:
        """Run a call that C does not know."""
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
        if made is None or made.steps.conflicts(tuple(arrays)):
            return _copied(self._plain(*args, **kwargs), out)
        if out is not None:
            return self._run_into(made, arrays, out)
        if not kwargs:
            self._remember(made.steps)
        return made.steps.run(tuple(arrays))

    def _nested(self, args: Any, kwargs: Any, out: Any) -> Any:
        return _copied(self._plain(*args, **kwargs), out)

    def _specialisation(self, key: Any, args: Any, kwargs: Any) -> Any:
        results = self._last()
        context = _driver.Context.get_current()
        if results is None or context is None or results.context is not context:
            results = self._of_context()
        made = results.get(key, _MISSING)
        if made is _MISSING:
            with trace.lock:  # other threads wait, and find the result
                made = results.get(key, _MISSING)
                if made is _MISSING:
                    made = results[key] = self._record(args, kwargs)
        if made is not None and made.steps is None:
            with made.lock:
                if made.steps is None:
                    made.compile(
                        None if kwargs else _key_in_c(args),
                        self._donated(args, kwargs) if self._donate else (),
                    )
            results.bound(key)
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

    def _run_into(self, made: Specialisation, arrays: Any, out: Any) -> Any:
        """Run with memory for the results."""
        result = made.program.result
        count = len(result) if isinstance(result, tuple) else 1
        outs = out if isinstance(out, tuple) else (out,)
        if len(outs) != count:
            raise ValueError(
                f"{self._name} returns {count} arrays, out has {len(outs)}"
            )
        return _copied(made.steps.run(tuple(arrays), outs), out)

    def _donated(self, args: Any, kwargs: Any) -> tuple[int, ...]:
        """Return the numbers of the donated arrays among those in the arguments."""
        bound = self.__signature.bind(*args, **kwargs).arguments
        given = [bound.get(name) for name in self._donate]
        arrays = _leaves((args, kwargs), GPUArray)
        return tuple(
            [k for k, a in enumerate(arrays) if any(a is each for each in given)]
        )

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
                    KernelFacts(step.elements, step.operations, step.bytes, step.work)
                )
            else:
                name = getattr(step.function, "__name__", str(step.function))
                facts.append(
                    KernelFacts((), 0, 0, 0, name, os.path.basename(step.line))
                )
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

    return operator.attrgetter(name)(importlib.import_module(module))
