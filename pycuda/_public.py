"""The names of public modules: the module that defines them, and when it is loaded.

A public module publishes what private modules define. ``names_at_first_use`` loads a
private module when a program uses one of its names for the first time, so the import of
the public module stays short. ``register_after_import`` waits for other libraries.
"""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Callable, Mapping
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any, TypeVar

from pycuda import _hide_imports

_Class = TypeVar("_Class", bound=type)

_PRIVATE = (
    "pycuda._array.",
    "pycuda._context_cache",
    "pycuda._measure",
    "pycuda._random.",
    "pycuda._texture_arrays",
    "pycuda.array_api._",
    "pycuda.fuse._",
)


def _publish_as(name: str, value: Any, module: str) -> None:
    """Give a function or class of a private module the name of a public module."""
    home = getattr(value, "__module__", None)
    is_private = isinstance(home, str) and home.startswith(_PRIVATE)
    if is_private and value.__name__ == name and not name.startswith("_"):
        value.__module__ = module


def published_by(module: str) -> Callable[[_Class], _Class]:
    """Return a decorator for classes whose objects programs get without their name.

    A pickle of such an object names the public module, even if nothing has published
    the class yet.
    """

    def name(value: _Class) -> _Class:
        value.__module__ = module
        return value

    return name


def publish(namespace: dict[str, Any]) -> None:
    """Give the functions and classes of a public module that module's name.

    ``namespace`` is the module's ``globals()``. Pickles, pages and messages then name
    the module that programs import. What another public module has published keeps its
    name.
    """
    for name, value in namespace.items():
        _publish_as(name, value, namespace["__name__"])


def names_at_first_use(
    namespace: dict[str, Any], homes: Mapping[str, str], unlisted: str = ""
) -> Callable[[str], Any]:
    """Return ``__getattr__`` of a public module, and give it ``__dir__``.

    ``namespace`` is the module's ``globals()``. ``homes`` maps a module to the names
    that it defines, separated by spaces; ``copy:_copy`` publishes ``copy`` as
    ``_copy``. The first use of a name loads the module that defines it, and publishes
    all its names.

    ``__all__`` has the public names of ``homes`` and what of this package is in the
    namespace. It lacks modules, names of builtins, and those in ``unlisted``: programs
    can import all these by name. ``from module import *`` loads all modules.
    """
    home_of = {
        pair.rpartition(":")[2]: home
        for home, pairs in homes.items()
        for pair in pairs.split()
    }

    def load(name: str) -> Any:
        if name == "__all__":
            without = {*unlisted.split(), *vars(builtins), "TYPE_CHECKING"}
            ours = [name for name, value in namespace.items() if _is_ours(value)]
            names = {*ours, *home_of} - without
            return sorted(name for name in names if not name.startswith("_"))
        if name not in home_of:
            raise AttributeError(
                f"module {namespace['__name__']!r} has no attribute {name!r}"
            )
        home = home_of[name]
        pairs = [pair.partition(":") for pair in homes[home].split()]
        # As `from home import name` does it: the name may be that of a module in home.
        module = __import__(home, fromlist=[defined for defined, _, _ in pairs])
        for defined, _, public in pairs:
            value = getattr(module, defined)
            _publish_as(public or defined, value, namespace["__name__"])
            namespace.setdefault(public or defined, value)
        return namespace[name]

    _hide_imports(namespace)
    return load


class _Finder:
    """Finder of modules of other libraries. It calls a function after one has run."""

    def __init__(self, home: str, libraries: tuple[str, ...]) -> None:
        self.home = home
        self.libraries = libraries

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec of a module in the table, None for others."""
        if name.partition(".")[0] not in self.libraries:
            return None
        home = importlib.import_module(self.home)
        if name not in home.MODULES:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_and_register(module: ModuleType) -> None:
            execute(module)
            home.register(name, module)

        spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec


def register_after_import(home: str, libraries: tuple[str, ...]) -> None:
    """Call ``register`` of a private module for the modules of other libraries.

    ``MODULES`` of the private module has their names. The call is made now for those
    that are imported, and for others after their import.
    """
    if not sys.modules.keys().isdisjoint(libraries):
        table = importlib.import_module(home)
        for name in sys.modules.keys() & table.MODULES.keys():
            table.register(name, sys.modules[name])
    sys.meta_path.insert(0, _Finder(home, libraries))


def _is_ours(value: object) -> bool:
    """Return whether this package has defined a value. Constants count as its own."""
    if isinstance(value, ModuleType):
        return False
    home = getattr(value, "__module__", None)
    return home is None or str(home).startswith("pycuda.")
