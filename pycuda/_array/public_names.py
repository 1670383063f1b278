"""Functions and classes of the private rooms under the names of public modules."""

from __future__ import annotations

from typing import Any

_ROOMS = ("pycuda._array.", "pycuda._random.")


def publish(namespace: dict[str, Any]) -> None:
    """Give the functions and classes of a public module that module's name.

    ``namespace`` is the module's ``globals()``. Pickles, pages and messages then name
    the module that programs import. What another public module has published keeps its
    name.
    """
    for name, value in namespace.items():
        home = getattr(value, "__module__", None)
        is_private = isinstance(home, str) and home.startswith(_ROOMS)
        if is_private and value.__name__ == name and not name.startswith("_"):
            value.__module__ = namespace["__name__"]
