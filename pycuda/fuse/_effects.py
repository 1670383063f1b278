"""What a function changes outside its results while it is recorded.

Python code of a recorded function runs once. A value that it stores in an argument, in
an attribute or under a global name would be missing after later calls, and a stored
stand-in has no elements. ``Effects`` looks at these places before and after the
recording, puts back what they had, and raises FuseError. ``_trace.record`` uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from pycuda.gpuarray import GPUArray

#: Attributes of objects in attributes of arguments count, up to this depth.
MOST_DEPTH = 3

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
    ``is_stand_in`` says whether a value is an array of the recording.
    """

    def __init__(
        self, function: Any, copies: Any, is_stand_in: Callable[[Any], bool]
    ) -> None:
        self._is_stand_in = is_stand_in
        self._lists: list[tuple[list[Any], list[Any]]] = []
        self._dicts: list[tuple[dict[Any, Any], dict[Any, Any], str]] = []
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
        else:
            self._globals, self._used = {}, {}

    def _note(self, value: Any, depth: int) -> None:
        """Note a value, and what is in it."""
        if depth > MOST_DEPTH + 2 or id(value) in self._known:
            return
        self._known.add(id(value))
        if isinstance(value, list):
            self._lists.append((value, list(value)))
        elif isinstance(value, dict):
            self._dicts.append((value, dict(value), "the key"))
        elif not isinstance(value, CONSTANT) and hasattr(value, "__dict__"):
            kind = f"a {type(value).__name__}: the attribute"
            self._dicts.append((vars(value), dict(vars(value)), kind))
        for part in _parts(value):
            self._note(part, depth + 1)

    def _has_stand_in(self, value: Any, depth: int = 0) -> bool:
        if self._is_stand_in(value):
            return True
        return depth <= MOST_DEPTH and any(
            self._has_stand_in(part, depth + 1) for part in _parts(value)
        )

    def undo(self) -> str:
        """Put back what the places had. Return what the function changed, or ''."""
        found = ""
        for values, earlier in self._lists:
            if len(values) != len(earlier) or any(map(_differ, values, earlier)):
                values[:] = earlier
                found = "a list"
        for items, before, kind in self._dicts:
            found = self._undo_dict(items, before, kind) or found
        for cell, before, name in self._cells:
            if cell.cell_contents is not before and self._has_stand_in(
                cell.cell_contents
            ):
                cell.cell_contents = before
                found = f"the name {name!r}"
        for name, before in self._used.items():
            now = self._globals.get(name)
            if now is not before and self._has_stand_in(now):
                self._globals[name] = before
                found = f"the name {name!r}"
        return found

    def _undo_dict(
        self, items: dict[Any, Any], before: dict[Any, Any], kind: str
    ) -> str:
        """Put back the items of a dict; those without arrays may be new."""
        found = ""
        for key in [*before, *(key for key in items if key not in before)]:
            is_new = key not in before
            if not is_new and items.get(key, items) is before[key]:
                continue
            if is_new and kind != "the key" and not self._has_stand_in(items[key]):
                continue  # such as a property that is computed once
            found = f"{kind} {key!r}"
        if found:
            items.clear()
            items.update(before)
        return found


def _differ(a: Any, b: Any) -> bool:
    return a is not b
