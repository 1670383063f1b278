"""Recording: run a function once with stand-ins for its arrays.

A stand-in is a GPUArray with shape, strides, dtype and an address, but without memory.
While a thread records, ``pycuda._driver`` gives each elementwise operation to
``_note`` instead of a kernel, and each reduction with the cut of its work, so dtypes,
broadcasting, views and errors are those of plain arrays. Another operation raises
``_Refused`` in C. The stand-in then notes a call of the plain function, which it tries
with other arrays of the same layout to learn the layout of the result.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import linecache
import os
import re
import sys
import threading
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

import pycuda
import pycuda.fuse._kernels as kernels
from pycuda import _driver
from pycuda._array.copies import is_captured
from pycuda._array.functions.counting import most_bins
from pycuda._array.numpy_protocol import functions  # noqa: F401  before a first call
from pycuda.fuse._effects import CONSTANT, Effects, keeper
from pycuda.fuse._moves import MOVES, as_recorded
from pycuda.fuse._program import (
    Block,
    Call,
    Cut,
    Loop,
    Operation,
    Place,
    Program,
    Reduction,
    Result,
    Same,
    Scalar,
    alignment_of,
    extent,
    itemsize,
    leaves,
    map_tree,
)
from pycuda.gpuarray import GPUArray

_PACKAGE = os.path.dirname(os.path.abspath(pycuda.__file__)) + os.sep


class FuseError(TypeError):
    """A function under ``pycuda.fuse`` does what a recording cannot keep.

    It needs the elements of an array, changes or returns what later calls could not, or
    calls what must be called by ``pycuda.fuse.call``. If the function catches this
    error, the call raises it all the same.
    """


class _Refused(RuntimeError):
    """An operation on a stand-in is not elementwise.

    C raises it. Outside a recording it becomes the error of a stand-in that was kept.
    """

    def __new__(cls, *args: Any) -> Any:
        if not is_recording():
            return _kept()
        made = super().__new__(cls, *args)
        _current().failure = made
        return made


class Unsupported(Exception):
    """The function cannot be recorded; it runs plainly."""


def place_in_program() -> tuple[str, int]:
    """Return the file and the line from which the package was called."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    if frame is None:
        return "?", 0
    return frame.f_code.co_filename, frame.f_lineno


def _line() -> str:
    path, line = place_in_program()
    return f"{path}:{line}"


def _kept() -> FuseError:
    """Return the error of a stand-in that was kept after the recording."""
    return FuseError(
        "this array has no elements: a function under pycuda.fuse kept it while it was "
        "recorded, in a name outside or for a function that it gives to "
        "pycuda.fuse.call. Return the array, or pass it as an argument."
    )


def refuse(what: str, advice: str) -> Any:
    """Raise the error of something that needs elements."""
    if not is_recording():
        raise _kept()
    path, line = place_in_program()
    error = FuseError(
        f"{path}, line {line}: {what}, but a function under pycuda.fuse is recorded "
        f"before its arrays have elements. {advice}"
    )
    _current().failure = error
    raise error


# -- memory ----------------------------------------------------------------------------


class Memory:
    """The memory of a stand-in: an address that no device has."""

    __slots__ = ("address", "block", "end", "owner", "start")

    def __init__(self, size: int, before: int = 0, like: int = 0) -> None:
        """Reserve bytes; the address has the remainder of ``like`` by 16."""
        trace = _current()
        self.start, self.end = trace.reserve(size + 16)
        self.start += (like - before - self.start) % 16
        self.address = self.start + before
        self.owner = trace
        self.block = trace.add_block(Block("temporary", size))
        trace.memories.append(self)
        trace.starts.append(self.start)

    def __int__(self) -> int:
        return self.address

    __index__ = __int__


class Trace:
    """A recording in progress."""

    def __init__(self) -> None:
        self.program = Program()
        self.memories: list[Memory] = []
        self.starts: list[int] = []
        self.constants: dict[int, int] = {}
        self.samples: dict[int, GPUArray] = {}
        self.next_address = 1 << 56
        self.empty = -1  # the block of arrays without elements
        self.fast = False  # whether results may have other bits
        self.failure: FuseError | _Refused | None = None  # what was refused
        self.unaligned: set[int] = set()  # blocks whose addresses vary

    def reserve(self, size: int) -> tuple[int, int]:
        """Return the ends of a new range of addresses."""
        start = self.next_address
        self.next_address += (size + 8191) // 4096 * 4096
        return start, start + max(size, 1)

    def add_block(self, block: Block) -> int:
        """Add a block; return its number."""
        self.program.blocks.append(block)
        return len(self.program.blocks) - 1

    def memory_of(self, array: GPUArray) -> Memory | None:
        """Return the memory of a stand-in, None for an array from outside."""
        if not array.size:
            return None
        found = bisect_right(self.starts, array.ptr) - 1
        if found >= 0 and array.ptr < self.memories[found].end:
            return self.memories[found]
        return None

    def place(self, array: GPUArray) -> Place:
        """Return the place of an array."""
        if not array.size:
            if self.empty < 0:
                self.empty = self.add_block(Block("temporary", 0))
            kind = _type_name(array.dtype)
            return Place(self.empty, kind, 0, tuple(array.shape), tuple(array.strides))
        memory = self.memory_of(array)
        if memory is not None:
            block, first = memory.block, memory.address
        else:
            root = array
            while isinstance(root.base, GPUArray):
                root = root.base
            first = root.ptr
            if id(root) not in self.constants:
                block = self.add_block(_constant(root))
                self.constants[id(root)] = block
            block = self.constants[id(root)]
        return Place(
            block,
            _type_name(array.dtype),
            array.ptr - first,
            tuple(array.shape),
            tuple(array.strides),
        )

    def array_at(self, leaf: Any) -> GPUArray | None:
        """Return an argument of a kernel as an array: also an address is one."""
        if isinstance(leaf, GPUArray):
            return leaf
        if not isinstance(leaf, (Memory, int, np.integer)):
            return None
        address = int(leaf)
        found = bisect_right(self.starts, address) - 1
        if found < 0 or address >= self.memories[found].end:
            return None
        end = self.memories[found].end
        return StandIn((end - address,), np.uint8, gpudata=address)

    def align(self, array: GPUArray, address: int) -> None:
        """Note the alignment of the memory of a stand-in."""
        memory = self.memory_of(array)
        assert memory is not None
        block = self.program.blocks[memory.block]
        made = replace(block, alignment=alignment_of(address))
        self.program.blocks[memory.block] = made
        if made.alignment < 16:
            self.unaligned.add(memory.block)

    def described(self, array: GPUArray) -> Result:
        """Return the place of an array, and how its bool elements count."""
        counts_as = _counts_as(array) if array.dtype.char == "?" else None
        return Result(self.place(array), counts_as)

    def stand_in(self, like: GPUArray, block: Block | None = None) -> StandIn:
        """Return a stand-in with the layout of an array, in a new block."""
        size = like.dtype.itemsize
        low, high = 0, 0
        if like.size:
            low, high = extent(0, like.shape, like.strides, size)
        memory = Memory(high - low, -low, like.ptr if block and like.size else 0)
        if block is not None:
            self.program.blocks[memory.block] = block
        made = StandIn(
            like.shape, like.dtype, gpudata=memory, strides=tuple(like.strides)
        )
        _keep_counting(made, like)
        return made

    def sample(self, array: GPUArray) -> GPUArray:
        """Return an array with memory and the layout of a stand-in."""
        if not array.size:
            return GPUArray(array.shape, array.dtype)
        memory = self.memory_of(array)
        if memory is None:
            if type(array) is not StandIn:
                return array
            return GPUArray(  # a view of an array from outside
                array.shape,
                array.dtype,
                base=array.base,
                gpudata=array.ptr,
                strides=tuple(array.strides),
            )
        whole = self.samples.get(memory.block)
        if whole is None:
            whole = GPUArray((memory.end - memory.start,), np.uint8)
            whole.fill(0)
            self.samples[memory.block] = whole
        made = GPUArray(
            array.shape,
            array.dtype,
            base=whole,
            gpudata=whole.ptr + (array.ptr - memory.start),
            strides=tuple(array.strides),
        )
        _keep_counting(made, array)
        if made.dtype.kind in "fc":
            made.fill(1)
            if made.ndim >= 2 and made.shape[-1] == made.shape[-2]:
                made[...] = np.eye(made.shape[-1]).astype(made.dtype)
        return made


def _find_type_name(dtype: Any) -> str:
    name = dtype.name
    if name not in _TYPES:
        raise Unsupported(f"dtype {name}")
    return str(name)


_type_name = functools.cache(_find_type_name)


def _counts_as(array: Any) -> Any:
    return array._counts_as


def _keep_counting(made: Any, like: Any) -> None:
    """Let a bool array count in arithmetic as another one."""
    if made.dtype.char == "?":
        made._counts_as = like._counts_as


_TYPES = {"bool", "bfloat16"}
_TYPES |= {f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
_TYPES |= {"float16", "float32", "float64", "complex64", "complex128"}

lock = threading.RLock()
_active: list[Trace | None] = []  # the last one is in use; None: a plain function runs


def _current() -> Trace:
    trace = _active[-1] if is_recording() else None
    if trace is None:
        raise _kept()
    return trace


def is_recording() -> bool:
    """Say whether this thread records."""
    if not _active or _active[-1] is None:
        return False
    return bool(lock._is_owned())  # type: ignore[attr-defined]


def _note(
    name: str,
    compute: str,
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    details: tuple[Any, ...] = (),
) -> None:
    """Record an elementwise operation or a reduction: called by pycuda._driver."""
    trace = _current()
    if details and name not in MOVES:
        _note_reduction(trace, name, compute, inputs, outputs, *details)
        return
    if not outputs[0].size:
        return
    places: list[Place | Scalar] = [
        Scalar(*each) if isinstance(each, tuple) else trace.place(each)
        for each in inputs
    ]
    targets = tuple(map(trace.place, outputs))
    operation = Operation(name, compute, tuple(places), targets, _line(), details)
    if details:
        trace.program.statements += as_recorded(operation)
    else:
        trace.program.statements.append(operation)


def _note_kernel(kernel: Any, *args: Any, **kwargs: Any) -> Any:
    """Record a call of a program's kernel: called by pycuda._driver."""
    if sys._getframe(1).f_code.co_filename.startswith(_PACKAGE):
        raise _Refused("a function under pycuda.fuse launches a kernel")
    try:
        return kernels.record(_current(), kernel, args, kwargs, _line())
    except NotImplementedError:
        raise _Refused("a function under pycuda.fuse calls a kernel") from None


def _note_reduction(
    trace: Trace,
    name: str,
    compute: str,
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    divisor: float,
    cut: tuple[int, Any, Any, tuple[int, ...]],
) -> None:
    """Record a reduction. Its order of elements follows from the inputs' addresses."""
    places = tuple(trace.place(each) for each in inputs)
    if any(place.block in trace.unaligned for place in places):
        raise _Refused("the address of an input is not known")
    variant, kept, reduced, numbers = cut
    trace.program.statements.append(
        Reduction(
            name,
            compute,
            places,
            tuple(trace.place(each) for each in outputs),
            divisor,
            Cut(_driver._kernel_variants[variant], kept, reduced, *numbers),
            _line(),
        )
    )


# -- calls of plain functions ----------------------------------------------------------

_BY_VALUES = {
    "argwhere",
    "compress",
    "extract",
    "flatnonzero",
    "intersect1d",
    "nonzero",
    "setdiff1d",
    "setxor1d",
    "trim_zeros",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
}
_CHANGES_FIRST = {
    "__setitem__",
    "at",
    "copyto",
    "fill_diagonal",
    "place",
    "put",
    "put_along_axis",
    "putmask",
    "set",
}
#: NumPy's functions of these names return new arrays.
_METHODS_THAT_CHANGE = (GPUArray.partition, GPUArray.sort)


def _has_fixed_bins(x: Any, weights: Any = None, minlength: Any = 0) -> bool:
    """Say whether the number of counts of bincount is known without the elements."""
    return isinstance(x, GPUArray) and (not x.size or minlength >= most_bins(x.dtype))


def _is_mask(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return any(getattr(part, "dtype", None) == np.bool_ for part in parts)


def _repeats(function: Any) -> bool:
    """Say whether each call of a function enqueues the same work."""
    module = getattr(function, "__module__", None) or ""
    return module.startswith("pycuda.") and "rand" not in module


def call(
    function: Any, args: Any, kwargs: Any, name: str, writes: Any = (), own: bool = True
) -> Any:
    """Record a call of a plain function."""
    trace = _current()
    if name == "bincount":
        if not _has_fixed_bins(*args, **kwargs):
            refuse(
                "the number of counts of bincount depends on elements",
                "Use bincount(x, minlength=256) for x of dtype uint8, 65536 for uint16,"
                " or histogram(x, n, (-0.5, n - 0.5))[0].",
            )
    elif name in _BY_VALUES or (name == "where" and len(args) == 1):
        refuse(
            f"the shape of the result of {name} depends on elements",
            "Call it outside, or use where(condition, x, y).",
        )
    places: dict[int, tuple[GPUArray, GPUArray]] = {}

    def sample(leaf: Any) -> Any:
        if not isinstance(leaf, GPUArray):
            return leaf
        if id(leaf) not in places:
            places[id(leaf)] = (leaf, trace.sample(leaf))
        return places[id(leaf)][1]

    def made(leaf: Any) -> Any:
        if not isinstance(leaf, GPUArray):
            if isinstance(leaf, (str, type(None), np.dtype)):
                return leaf
            return refuse(
                f"{name} returns a {type(leaf).__name__}",
                "Compute it outside and pass it as an argument.",
            )
        for given, used in places.values():
            if leaf is used:
                return given
            memory = trace.memory_of(given)
            whole = None if memory is None else trace.samples.get(memory.block)
            if not leaf.size or memory is None or whole is None:
                continue
            if whole.ptr <= leaf.ptr < whole.ptr + whole.nbytes:
                return _view(given, leaf, memory.start + leaf.ptr - whole.ptr)
        array = trace.stand_in(leaf)
        if leaf.size:
            trace.align(array, leaf.ptr)
        outputs.append(trace.place(array))
        return array

    outputs: list[Place] = []
    _driver._record(False)
    _active.append(None)
    try:
        result = function(*map_tree(sample, args), **map_tree(sample, kwargs))
    finally:
        _active.pop()
        _driver._record(True)
    result = map_tree(made, result)
    changed = [args[k] for k in writes]
    if own and (name in _CHANGES_FIRST or function in _METHODS_THAT_CHANGE):
        changed.append(args[0])
    outs = kwargs.get("out") if own else None
    if outs is not None:
        changed += outs if isinstance(outs, (tuple, list)) else [outs]
    if not outputs and not changed and own:
        return result
    reads = tuple(trace.place(given) for given, _ in places.values())

    def put(leaf: Any) -> Any:
        return trace.described(leaf) if isinstance(leaf, GPUArray) else leaf

    trace.program.statements.append(
        Call(
            function,
            map_tree(put, args),
            map_tree(put, kwargs),
            reads,
            tuple(trace.place(each) for each in changed if isinstance(each, GPUArray)),
            tuple(outputs),
            _line(),
            own or _repeats(function),
        )
    )
    return result


def _view(given: GPUArray, leaf: GPUArray, address: int) -> GPUArray:
    """Return the view of a stand-in that corresponds to a view of its sample."""
    made = StandIn(
        leaf.shape,
        leaf.dtype,
        base=given,
        gpudata=address,
        strides=tuple(leaf.strides),
    )
    _keep_counting(made, leaf)
    return made


def attempt(function: Any, args: Any, kwargs: Any, name: str, own: Any = None) -> Any:
    """Record what a function does, or else a call of it or of ``own``."""
    trace = _current()
    statements, failure = trace.program.statements, trace.failure
    before = len(statements)
    try:
        return function(*args, **kwargs)
    except (_Refused, FuseError):  # it launches other kernels, or reads elements
        del statements[before:]
        trace.failure = failure
    return call(own or function, args, kwargs, name)


# -- stand-ins -------------------------------------------------------------------------


class Namespace:
    """The functions of the array API standard, as a function under fuse calls them."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        if isinstance(value, type(np)) or hasattr(value, "__path__"):
            return Namespace(value)
        if not callable(value) or isinstance(value, type):
            return value

        def function(*args: Any, **kwargs: Any) -> Any:
            if not is_recording():
                return value(*args, **kwargs)
            return attempt(value, args, kwargs, name)

        return function


_ADVICE = "Use where(condition, x, y), or compute it outside."


def _needs_one(name: str, what: str, advice: str) -> Any:
    """Return a method that reads the only element; another size is a plain error."""
    plain = getattr(GPUArray, name)

    @functools.wraps(plain)
    def method(self: StandIn, *args: Any) -> Any:
        if self.size != 1 and not args and is_recording():
            return plain(self)
        return refuse(what, advice)

    return method


class StandIn(GPUArray):
    """A GPUArray without memory."""

    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: Any
    ) -> Any:
        def plain(*args: Any, **kwargs: Any) -> Any:
            return GPUArray.__array_function__(self, function, types, args, kwargs)

        types = tuple(GPUArray if kind is StandIn else kind for kind in types)
        return attempt(plain, args, kwargs, function.__name__, function)

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any
    ) -> Any:
        def plain(*inputs: Any, **kwargs: Any) -> Any:
            return GPUArray.__array_ufunc__(self, ufunc, method, *inputs, **kwargs)

        function = ufunc if method == "__call__" else getattr(ufunc, method)
        return attempt(plain, inputs, kwargs, method, function)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return Namespace(GPUArray.__array_namespace__(self, api_version=api_version))

    def __getitem__(self, index: Any) -> Any:
        if _is_mask(index):
            refuse("the shape of x[mask] depends on elements", _ADVICE)
        return attempt(GPUArray.__getitem__, (self, index), {}, "__getitem__")

    def __setitem__(self, index: Any, value: Any) -> None:
        is_one = np.isscalar(value) or (isinstance(value, StandIn) and value.size == 1)
        is_array = isinstance(index, GPUArray) and index.shape == self.shape
        if is_one and is_array and index.dtype == np.bool_:
            self._set_where(index, value)
            return
        attempt(GPUArray.__setitem__, (self, index, value), {}, "__setitem__")

    def _set_where(self, mask: GPUArray, value: Any) -> None:
        """Record ``x[mask] = value`` for one value."""
        filled = GPUArray(self.shape, self.dtype)
        GPUArray.__setitem__(filled, ..., value)
        if self.size:
            name = _type_name(self.dtype)
            _note("where", name, (mask, filled, self), (self,))

    __bool__ = _needs_one(
        "__bool__", "`if`, `while`, `and` or `or` takes an array", _ADVICE
    )
    __float__ = _needs_one(
        "__float__", "float() takes an array", "Return the array instead."
    )
    __int__ = _needs_one("__int__", "int() takes an array", "Return the array instead.")
    __complex__ = _needs_one(
        "__complex__", "complex() takes an array", "Return the array instead."
    )
    item = _needs_one("item", "item() copies to the host", "Return the array instead.")

    def __index__(self) -> int:
        return int(refuse("an array is used as an index", "Use take(x, indices)."))

    def __repr__(self) -> str:
        if not is_recording():
            return f"<stand-in for an array of shape {self.shape}>"
        return str(refuse("an array is printed", "Return it, and print it outside."))

    __str__ = __repr__

    def __format__(self, how: str) -> str:
        return repr(self)


def _reader(name: str) -> Any:
    @functools.wraps(getattr(GPUArray, name))
    def method(self: StandIn, *args: Any, **kwargs: Any) -> Any:
        return refuse(f"{name}() copies to the host", "Return the array instead.")

    return method


def _method(name: str, plain: Any) -> Any:
    @functools.wraps(plain)
    def method(self: StandIn, *args: Any, **kwargs: Any) -> Any:
        return attempt(plain, (self, *args), kwargs, name)

    return method


for _name in ("get", "get_async", "tolist", "to_device", "__dlpack__"):
    setattr(StandIn, _name, _reader(_name))
for _name in [*dir(GPUArray), "__matmul__", "__rmatmul__", "__imatmul__"]:
    _plain = getattr(GPUArray, _name, None)
    if _name.startswith("_") and not _name.endswith("matmul__"):
        continue
    if callable(_plain) and _name not in vars(StandIn):
        setattr(StandIn, _name, _method(_name, _plain))
StandIn.__name__ = GPUArray.__name__  # which a function may read
StandIn.__qualname__, StandIn.__module__ = GPUArray.__qualname__, GPUArray.__module__
_driver._set_recorder((_note, StandIn, Memory, _Refused, _note_kernel))


# -- the recording ---------------------------------------------------------------------


def record(function: Any, args: Any, kwargs: Any, fast: bool = False) -> Program:
    """Run a function with stand-ins for the arrays in its arguments.

    Arrays get the numbers of their order, arguments first.
    """
    if is_recording():
        raise RuntimeError("source() and kernels() cannot be called while recording")
    with lock, _beside_captures():
        trace = Trace()
        trace.fast = trace.program.fast = fast
        _active.append(trace)
        try:
            _driver._record(True)
            try:
                _run_with_stand_ins(trace, function, args, kwargs)
            except _Refused as error:
                raise _explained(error) from None
            except Exception:
                if trace.failure is None:
                    raise
            finally:
                _driver._record(False)
            if isinstance(trace.failure, _Refused):
                raise _explained(trace.failure) from None
            if trace.failure is not None:
                raise trace.failure  # the function may have caught it
        finally:
            _active.pop()
        refuse_kept(trace.memories, function)
        return trace.program


def _run_with_stand_ins(trace: Trace, function: Any, args: Any, kwargs: Any) -> None:
    arrays: list[tuple[StandIn, int]] = []
    known: dict[int, tuple[StandIn, int]] = {}
    layouts: list[tuple[StandIn, GPUArray]] = []

    def stand_in(leaf: Any) -> Any:
        if not isinstance(leaf, GPUArray):
            return leaf
        if id(leaf) not in known:
            low, high = 0, 0
            _type_name(leaf.dtype)
            if leaf.size:
                size = itemsize(leaf.dtype.name)
                low, high = extent(0, leaf.shape, leaf.strides, size)
            made = trace.stand_in(leaf, _argument(leaf, high - low, arrays))
            known[id(leaf)] = made, len(trace.program.blocks) - 1
            layouts.append((made, leaf))
        arrays.append(known[id(leaf)])
        return known[id(leaf)][0]

    args = map_tree(stand_in, args)
    kwargs = map_tree(stand_in, kwargs)
    given = {id(leaf) for leaf in leaves((args, kwargs))}
    returned = without_effects(function, args, kwargs, strict=False)
    for made, leaf in layouts:
        if made.dtype != leaf.dtype or made.shape != leaf.shape:
            raise FuseError(
                f"{_place_of(function)}the function changes the shape or dtype of an "
                "array that it got. Use reshape() or view()."
            )
    trace.program.result = map_tree(
        lambda leaf: _returned(trace, arrays, given, function, leaf), returned
    )


def _is_stand_in(leaf: Any) -> bool:
    return isinstance(leaf, StandIn)


def _place_of(function: Any) -> str:
    """Return where a function begins."""
    code = getattr(function, "__code__", None)
    return f"{code.co_filename}, line {code.co_firstlineno}: " if code else ""


def without_effects(function: Any, args: Any, kwargs: Any, strict: bool) -> Any:
    """Call a function, and refuse what it changes outside."""
    effects = Effects(function, (args, kwargs), _is_stand_in, strict)
    try:
        returned = function(*args, **kwargs)
    except BaseException:
        effects.undo()
        raise
    changed = effects.undo()
    if changed:
        _refuse_effect(function, f"changes {changed}", strict)
    return returned


def refuse_kept(
    things: Any, function: Any, first: int = 0, in_loop: bool = False
) -> None:
    """Raise an error if stand-ins, or their memories, outlive their function."""
    holder = keeper(things, _is_stand_in, first)
    if holder:
        _refuse_effect(function, f"keeps an array in {holder}", in_loop)


def _refuse_effect(function: Any, what: str, in_loop: bool) -> None:
    """Raise the error of an effect that would be missing later."""
    if in_loop:
        raise FuseError(
            f"{_place_of(function)}the body or condition of a loop {what}, but it is "
            "recorded once for all turns. Make the value a part of the state."
        )
    raise FuseError(
        f"{_place_of(function)}the function {what}, but under pycuda.fuse its Python "
        "code runs once, while it is recorded. Return the value and store it outside, "
        "or assign to elements of an array: x[...] = value."
    )


@contextlib.contextmanager
def _beside_captures() -> Iterator[None]:
    """Let calls of plain functions launch in another stream than a captured one."""
    if not is_captured():
        yield
        return
    with _driver.Stream() as stream:
        try:
            yield
        finally:
            stream.synchronize()  # before the arrays of the calls are freed


def _argument(array: GPUArray, size: int, before: Any) -> Block:
    """Return the block of an argument."""
    alignment = alignment_of(array.ptr) if array.size else 16
    return Block("argument", size, len(before), alignment)


def _constant(array: GPUArray) -> Block:
    """Return the block of an array from outside."""
    return Block("constant", array.nbytes, array, alignment_of(array.ptr))


#: Values of these types, and nested tuples, lists and dicts, may be returned.
_VALUES: tuple[type, ...] = (
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    type(None),
    type(...),
    slice,
    np.generic,
    np.ndarray,
    np.dtype,
    enum.Enum,
    *CONSTANT,
)


def _returned(
    trace: Trace,
    arrays: list[tuple[StandIn, int]],
    given: set[int],
    function: Any,
    leaf: Any,
) -> Any:
    """Return what stands for a returned value. ``given`` are objects in arguments."""
    if isinstance(leaf, GPUArray):
        for array, block in arrays:
            if leaf is array:
                return Same(block)
        return trace.described(leaf)
    is_value = isinstance(leaf, _VALUES) and not getattr(leaf, "__closure__", None)
    if not is_value and id(leaf) not in given:
        raise FuseError(
            f"{_place_of(function)}the function returns a {type(leaf).__name__}, which "
            "pycuda.fuse cannot make again in later calls. Return arrays, numbers, and "
            "tuples, lists and dicts of them."
        )
    return leaf


def _explained(error: BaseException) -> FuseError:
    """Return the error of an operation that only the plain function can do."""
    where, name, entry = "", "", error.__traceback__
    while entry is not None:
        path = entry.tb_frame.f_code.co_filename
        if not path.startswith(_PACKAGE):
            where = f"{path}, line {entry.tb_lineno}: "
            name = _called_at(entry)
        entry = entry.tb_next
    return FuseError(
        f"{where}{name or 'this function'} is not elementwise and cannot be recorded "
        "by this name. Call it as a method, as NumPy's function, by "
        f"x.__array_namespace__(), or as pycuda.fuse.call({name or 'function'}, "
        "*arguments)"
    )


def _called_at(entry: Any) -> str:
    """Return the name of the function that a line was calling; empty if unknown."""
    code = entry.tb_frame.f_code
    text = linecache.getline(code.co_filename, entry.tb_lineno).encode()
    first, last = 0, len(text)
    if hasattr(code, "co_positions"):  # from Python 3.11 on
        positions = next(islice(code.co_positions(), entry.tb_lasti // 2, None))
        if positions[0] == entry.tb_lineno and positions[2] is not None:
            first = positions[2]
            last = positions[3] if positions[1] == positions[0] else last
    found = re.match(r"[\w.]+(?=\()", text[first:last].decode(errors="replace"))
    return found[0] if found else ""


__all__ = ["FuseError", "Loop", "Trace", "record"]
