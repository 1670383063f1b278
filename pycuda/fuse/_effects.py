"""What a function changes outside its results while it is recorded.

Python code of a recorded function runs once. A value that it stores in an argument, in
an attribute or under a global name would be missing after later calls, and a stored
stand-in has no elements. ``Effects`` looks at these places before and after the
recording and puts back what they had. ``keeper`` finds stand-ins that are
anywhere else. ``_trace`` raises FuseError then.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from types import BuiltinFunctionType, CellType, FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

from pycuda.gpuarray import GPUArray

#: Attributes of objects in attributes of arguments count, up to this depth.
MOST_DEPTH = 3

#: Lists and dicts outside with more items are not noted.
_MOST_ITEMS = 1000

#: Objects of these types count as constants.
CONSTANT: tuple[type, ...] = (
    type,
    ModuleType,
    FunctionType,
    BuiltinFunctionType,
    np.ufunc,
    np.generic,
    np.ndarray,
    GPUArray,
)


def _parts(value: Any) -> Iterator[Any]:
    """Yield what an object or a container has."""
    if isinstance(value, (list, tuple)):
        yield from value
    elif isinstance(value, dict):
        yield from value.values()
    elif not isinstance(value, CONSTANT) and hasattr(value, "__dict__"):
        yield from vars(value).values()


class Effects:
    """The places outside a function, as they were before it ran.

    ``copies`` are the arguments as the function gets them, with new lists and dicts.
    ``is_stand_in`` says whether a value is an array of the recording. Other values may
    change in places that are no arguments, unless ``strict`` is true.
    """

    def __init__(
        self,
        function: Any,
        copies: Any,
        is_stand_in: Callable[[Any], bool],
        strict: bool = False,
    ) -> None:
        self._is_stand_in = is_stand_in
        self._strict = strict
        self._lists: list[tuple[list[Any], list[Any], bool]] = []
        self._dicts: list[tuple[dict[Any, Any], dict[Any, Any], str, bool]] = []
        self._cells: list[tuple[Any, Any, str]] = []
        self._known: set[int] = set()
        self._note(copies, 0)
        code = getattr(function, "__code__", None)
        if code is not None:
            names = function.__globals__
            used = {name: names[name] for name in code.co_names if name in names}
            self._globals, self._used = names, used
            for name, cell in zip(
                code.co_freevars, function.__closure__ or (), strict=True
            ):
                if cell != type(cell)():  # not empty
                    self._cells.append((cell, cell.cell_contents, name))
            for each in (
                *used.values(),
                *(contents for _, contents, _ in self._cells),
                *(function.__defaults__ or ()),
                *(function.__kwdefaults__ or {}).values(),
            ):
                self._note_one(each, False)
            own = vars(function)
            self._dicts.append((own, dict(own), "a function: the attribute", False))
        else:
            self._globals, self._used = {}, {}

    def _note(self, value: Any, depth: int) -> None:
        """Note a value, and what is in it."""
        if depth > MOST_DEPTH + 2 or id(value) in self._known:
            return
        self._known.add(id(value))
        self._note_one(value, True)
        for part in _parts(value):
            self._note(part, depth + 1)

    def _note_one(self, value: Any, is_own: bool) -> None:
        """Note a value, which is in the arguments (``is_own``) or outside."""
        is_list, is_dict = isinstance(value, list), isinstance(value, dict)
        if (is_list or is_dict) and not is_own and len(value) > _MOST_ITEMS:
            return
        if is_list:
            self._lists.append((value, list(value), is_own))
        elif is_dict:
            self._dicts.append((value, dict(value), "the key", is_own))
        elif not isinstance(value, CONSTANT) and hasattr(value, "__dict__"):
            if is_own and any(
                vars(base).get("__slots__") for base in type(value).mro()
            ):
                raise NotImplementedError("keys have no slots")
            kind = f"a {type(value).__name__}: the attribute"
            self._dicts.append((vars(value), dict(vars(value)), kind, is_own))

    def _has_stand_in(self, value: Any, depth: int = 0) -> bool:
        if self._is_stand_in(value):
            return True
        return depth <= MOST_DEPTH and any(
            self._has_stand_in(part, depth + 1) for part in _parts(value)
        )

    def undo(self) -> str:
        """Put back what the places had. Return what the function changed, or ''."""
        found = ""
        for values, earlier, is_own in self._lists:
            if len(values) == len(earlier) and not any(map(_differ, values, earlier)):
                continue
            if is_own or self._counts(values):
                values[:] = earlier
                found = "a list"
        for items, before, kind, is_own in self._dicts:
            found = self._undo_dict(items, before, kind, is_own) or found
        for cell, before, name in self._cells:
            now = before if cell == type(cell)() else cell.cell_contents
            if now is not before and self._counts(now):
                cell.cell_contents = before
                found = f"the name {name!r}"
        for name, before in self._used.items():
            now = self._globals.get(name)
            if now is not before and self._counts(now):
                self._globals[name] = before
                found = f"the name {name!r}"
        return found

    def _counts(self, value: Any) -> bool:
        """Say whether a new value outside is lost in later calls."""
        return self._strict or self._has_stand_in(value)

    def _undo_dict(
        self, items: dict[Any, Any], before: dict[Any, Any], kind: str, is_own: bool
    ) -> str:
        """Put back the items of a dict; those without arrays may be new."""
        found = ""
        for key in [*before, *(key for key in items if key not in before)]:
            is_new = key not in before
            if not is_new and items.get(key, items) is before[key]:
                continue
            if is_new and kind != "the key" and not self._has_stand_in(items[key]):
                continue  # such as a property that is computed once
            if not is_own and not self._counts(items.get(key)):
                continue
            found = f"{kind} {key!r}"
        if found:
            items.clear()
            items.update(before)
        return found


def _differ(a: Any, b: Any) -> bool:
    return a is not b


# -- stand-ins that are kept -----------------------------------------------------------


def keeper(
    things: Sequence[Any], is_stand_in: Callable[[Any], bool], first: int = 0
) -> str:
    """Return what keeps a stand-in in words, '' if nothing does.

    ``things`` are stand-ins or memories of some, from the index ``first`` on. Nothing
    but this sequence, which does not count, should refer to them.
    """
    if not _referred(things, first):
        return ""
    gc.collect()  # objects that refer to each other only
    for k in _referred(things, first):
        found = _holder_of(things[k], is_stand_in, things)
        if found:
            return found
    return ""


def _referred(things: Sequence[Any], first: int) -> list[int]:
    """Return the indices of things to which something else refers."""
    least = next(map(sys.getrefcount, [object()]))
    counts = map(sys.getrefcount, islice(things, first, None))
    return [k for k, count in enumerate(counts, first) if count > least]


def _holder_of(thing: Any, is_stand_in: Callable[[Any], bool], known: Any) -> str:
    arrays = [thing]
    if not is_stand_in(thing):
        arrays = [each for each in gc.get_referrers(thing) if is_stand_in(each)]
    if not arrays:
        return ""  # a capture keeps memory that a call has refused
    while arrays:
        array = arrays.pop()
        for each in gc.get_referrers(array):
            if each is known or each is arrays or isinstance(each, FrameType):
                continue
            if not is_stand_in(each):
                return _in_words(each, array)
            arrays.append(each)  # a view
    return "an object"


def _in_words(holder: Any, array: Any) -> str:
    items = holder if isinstance(holder, dict) else getattr(holder, "__dict__", {})
    names = [name for name, each in items.items() if each is array]
    if isinstance(holder, CellType):
        return "the closure of a function"
    if not names:
        return f"a {type(holder).__name__}"
    if holder is not items:
        return f"a {type(holder).__name__}: the attribute {names[0]!r}"
    if "__builtins__" in items:
        return f"the name {names[0]!r} of {items.get('__name__')}"
    return f"the key {names[0]!r} of a dict"
