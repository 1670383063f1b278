"""Functions whose results are remembered for each context."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any, TypeVar, cast

from pycuda._driver import Context, _working_context


class _Memory:
    """The results of memoized functions in one context: {function: {key: result}}.

    It is an attribute of the context. Results that hold the context (functions,
    modules, arrays) form a cycle with it. The garbage collector frees the cycle when
    the program has dropped the context.
    """

    __slots__ = ("__weakref__", "results")

    def __init__(self) -> None:
        self.results: dict[Callable[..., Any], dict[Any, Any]] = {}
        _memories.add(self)


_memories: weakref.WeakSet[_Memory] = weakref.WeakSet()
_without_context = _Memory()
_ATTRIBUTE = "_memory_of_tools"
_Function = TypeVar("_Function", bound=Callable[..., Any])
context_dependent_memoized_functions: list[Callable[..., object]] = []


def _current_memory() -> _Memory:
    context = Context.get_current() or _working_context()
    if context is None:
        return _without_context
    memory: _Memory | None = getattr(context, _ATTRIBUTE, None)
    if memory is None:
        memory = _Memory()
        setattr(context, _ATTRIBUTE, memory)
    return memory


def context_dependent_memoize(func: _Function) -> _Function:
    """Remember the function's results, separately for each context.

    Parameters
    ----------
    func : callable
        Function with hashable arguments.

    Returns
    -------
    callable
        Function that calls ``func`` once for the same arguments and the same current
        context.

    See Also
    --------
    clear_context_caches : Forget all results.

    Notes
    -----
    The same value by position and by keyword makes two entries. The results live as
    long as the context.

    Examples
    --------
    >>> from pycuda.compiler import SourceModule
    >>> from pycuda.tools import context_dependent_memoize
    >>> @context_dependent_memoize
    ... def get_kernel(name):
    ...     return SourceModule(f"__global__ void {name}() {{}}").get_function(name)
    >>> get_kernel("f") is get_kernel("f")
    True
    """

    @functools.wraps(func)
    def memoized(*args: Any, **kwargs: Any) -> Any:
        key = (args, frozenset(kwargs.items())) if kwargs else (args,)
        results = _current_memory().results.setdefault(memoized, {})
        try:
            return results[key]
        except KeyError:
            pass
        result = results[key] = func(*args, **kwargs)
        return result

    context_dependent_memoized_functions.append(memoized)
    return cast(_Function, memoized)


def clear_context_caches() -> None:
    """Forget the results of all memoized functions in all contexts.

    See Also
    --------
    context_dependent_memoize : Remember results for each context.
    """
    for memory in list(_memories):
        memory.results.clear()
