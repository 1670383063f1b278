"""Calls of a recorded function.

The first call with a key records the function and makes a specialisation. Later calls
compare their arguments with the keys of the last runs and enqueue the steps in C.
``FusedFunction._run`` has all other calls.
"""

from __future__ import annotations

import functools
import inspect
import operator
import os
import pickle
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

import pycuda.fuse._trace as trace
from pycuda import _driver
from pycuda._context_cache import _current_memory
from pycuda.fuse._group import Plan
from pycuda.fuse._instructions import Kernel
from pycuda.fuse._keys import Unhashable, key_in_c, key_of, same_arrays
from pycuda.fuse._program import Program, Result, Same, leaves
from pycuda.fuse._steps import Specialisation
from pycuda.gpuarray import GPUArray

#: A function keeps so many specialisations in a context, those used last. If it needs
#: again what it has removed, it keeps twice as many, up to 16 times this number.
MOST_SPECIALISATIONS = 64


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


def _recorded() -> None:
    """Be the key of all functions' specialisations in the memory of a context."""


_MISSING: Any = object()


class _Specialisations(dict[Any, "Specialisation | None"]):
    """The specialisations of a function in a context, in whose memory they are."""

    def __init__(self, context: Any) -> None:
        super().__init__()
        self.context = context
        self.times = 1  # as many as usual
        self.removed: set[int] = set()  # hashes of keys

    def bound(self, new: Any) -> None:
        """Remove those that were not used for the longest time, not the new one."""
        if len(self) > self.times * MOST_SPECIALISATIONS and hash(new) in self.removed:
            self.times = min(2 * self.times, 16)
        while len(self) > self.times * MOST_SPECIALISATIONS:
            last = {
                key: -1 if made is None or made.steps is None else made.steps.used
                for key, made in list(self.items())
                if key != new
            }
            key = min(last, key=last.__getitem__)
            self.pop(key, None)
            if len(self.removed) < 16 * MOST_SPECIALISATIONS:
                self.removed.add(hash(key))


_IS_RUN_LATER: tuple[Any, ...] = (
    inspect.isgeneratorfunction,
    inspect.iscoroutinefunction,
    inspect.isasyncgenfunction,
)


#: The keywords that a call takes for itself.
_KEYWORDS = ("out", "stream")
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


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
        If the function is a generator or a coroutine, or has a parameter ``out`` or
        ``stream``.
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
        for name in _KEYWORDS:
            parameter = self.__signature.parameters.get(name)
            if parameter is not None and parameter.kind in _BY_NAME:
                raise TypeError(
                    f"{self._name} has a parameter {name!r}, but this keyword belongs "
                    "to the call of a function under pycuda.fuse: give the parameter "
                    "another name"
                )
        if any(test(function) for test in _IS_RUN_LATER):
            raise TypeError(
                f"{self._name} is a generator or a coroutine, which runs after its call"
            )
        self.specialisations: int = 0
        self._last: Any = _nothing  # a weak reference

    def __reduce__(self) -> Any:
        where = self._plain.__module__, self._plain.__qualname__
        try:
            found = _find(*where)
        except (ImportError, AttributeError):
            found = None
        if found is not self:
            raise pickle.PicklingError(
                f"{'.'.join(where)} does not name this fused function: define it at "
                "the top of a module, with the decorator"
            )
        return _find, where

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
        if not _driver._setting("PYCUDA_FUSE"):
            return _copied(self._plain(*args, **kwargs), out)
        arrays: list[GPUArray] = []
        try:
            key = tuple([key_of(each, arrays) for each in args])
            if kwargs:
                key = key, key_of(kwargs, arrays)
            same = same_arrays(arrays)
            if same:
                key = key, same
        except (Unhashable, RecursionError):  # a list may be in itself
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
                        None if kwargs else key_in_c(args),
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
            results = functions[self] = _Specialisations(_driver.Context.get_current())
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
        for leaf, array in zip(
            result if isinstance(result, tuple) else (result,), outs, strict=True
        ):
            if isinstance(leaf, Result):
                _check_out(leaf.place.dtype, array)
            elif not isinstance(leaf, Same):
                _refuse_out(leaf)
        return _copied(made.steps.run(tuple(arrays), outs), out)

    def _donated(self, args: Any, kwargs: Any) -> tuple[int, ...]:
        """Return the numbers of the donated arrays among those in the arguments."""
        bound = self.__signature.bind(*args, **kwargs).arguments
        given = [bound.get(name) for name in self._donate]
        arrays = leaves((args, kwargs), GPUArray)
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

    def to_svg(self, *args: Any, **kwargs: Any) -> str:
        """Return a picture of the steps for some arguments.

        Parameters
        ----------
        *args, **kwargs
            The arguments of the function. Nothing is computed.

        Returns
        -------
        str
            SVG: the arrays with their bytes, and the kernels with their operations.
        """
        from pycuda.fuse._picture import to_svg

        made = self._inspected(args, kwargs)
        if made is None:
            return to_svg(Plan(Program()), [], None)
        names: list[str] = []
        for name, value in self.__signature.bind(*args, **kwargs).arguments.items():
            found = len(leaves(value, GPUArray))
            is_one = isinstance(value, GPUArray)
            names += [name] if is_one else [f"{name} {k}" for k in range(found)]
        return to_svg(made.plan, names, made.program.result)


def _copied(result: Any, out: Any) -> Any:
    """Return a result, or ``out`` with its elements."""
    if out is None:
        return result
    for array, value in zip(
        out if isinstance(out, tuple) else (out,),
        result if isinstance(result, tuple) else (result,),
        strict=True,
    ):
        if not isinstance(value, GPUArray):
            _refuse_out(value)
        if array is not value:
            _check_out(value.dtype, array)
            array[...] = value
    return out


def _check_out(dtype: Any, out: GPUArray) -> None:
    if not np.can_cast(dtype, out.dtype, "same_kind"):
        raise TypeError(
            f"a result of dtype {dtype} cannot be put into an array of dtype "
            f"{out.dtype}: convert it in the function by astype()"
        )


def _refuse_out(value: Any) -> Any:
    raise TypeError(
        f"out takes arrays, but the function returns a {type(value).__name__}"
    )


def _find(module: str, name: str) -> Any:
    """Return the fused function of a name, for pickle."""
    import importlib

    return operator.attrgetter(name)(importlib.import_module(module))
