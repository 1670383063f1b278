"""What is wrong with the names that a public module shows.

``__all__`` is what ``from module import *`` binds and what ``help`` shows. ``dir`` has
that, loaded submodules, and names of builtins, and no more.
"""

import ast
import builtins
import importlib
import pkgutil
import sys
from pathlib import Path
from types import ModuleType

#: The namespace of the array API standard: names of builtins, in an order by subject.
STANDARD = "pycuda.array_api"
#: pytest looks for hooks in the whole of dir().
PLUGIN = "pycuda.pytest_plugin"
#: It computes __all__, and type checkers read the one in the stub of the extension.
DRIVER = "pycuda.driver"
#: A library, but no module.
LIBRARY = "pycuda.libpycuda_emulator"


def modules(package):
    """Return the names of the public modules of a package, and its own."""
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    names = [module.name for module in found if "._" not in module.name]
    return [package.__name__, *sorted({*names} - {LIBRARY})]


# -- what type checkers read -----------------------------------------------------------


def source_of(name):
    """Return the stub of a module, or else its source."""
    path = Path(importlib.util.find_spec(name).origin)
    stub = path.with_suffix(".pyi")
    return stub if stub.exists() else path


def written(name):
    """Return ``__all__`` as the stub or the source of a module has it, or None."""
    names = None
    for node in ast.walk(ast.parse(source_of(name).read_text(encoding="utf-8"))):
        target = getattr(node, "target", None) or getattr(node, "targets", [None])[0]
        if isinstance(target, ast.Name) and target.id == "__all__":
            value = node.value
            if isinstance(value, ast.Attribute):  # __all__ += _creation.__all__
                names += written(f"{name}.{value.value.id}")
            else:
                names = ast.literal_eval(value)
        elif isinstance(node, ast.ImportFrom) and node.names[0].name == "__all__":
            names = written(node.module)
    return names


# -- the checks ------------------------------------------------------------------------


def has(name, each):
    """Return whether ``from name import each`` works."""
    try:
        exec(f"from {name} import {each}", {})
    except ImportError:
        return False
    return True


def wrong_in_all(module):
    """Describe what is wrong with ``__all__`` of a module."""
    name, listed = module.__name__, module.__all__
    if len({*listed}) < len(listed):
        yield "__all__ has a name twice"
    if name != STANDARD and [*listed] != sorted(listed):
        yield "__all__ is not sorted"
    if name != DRIVER and sorted(listed) != sorted(written(name) or ()):
        yield f"__all__ is another one in {source_of(name).name}"
    for each in listed:
        if each.startswith("_") and (name != STANDARD or not each.startswith("__")):
            yield f"__all__ has {each}"
        if name != STANDARD and hasattr(builtins, each):
            yield f"__all__ has {each}, a builtin"
        if not has(name, each):
            yield f"{each} is not there"


def is_foreign(name, each, value):
    """Return whether a module has a value only because it imported that for itself."""
    if isinstance(value, ModuleType):
        return value.__name__ != f"{name}.{each}"
    home = getattr(value, "__module__", None) or "builtins"
    return each == "TYPE_CHECKING" or (
        home != "builtins" and home.partition(".")[0] in sys.stdlib_module_names
    )


def problems(name):
    """Return what is wrong with the names that a module shows."""
    module = importlib.import_module(name)
    if not hasattr(module, "__all__"):
        return ["has no __all__"]
    found = [*wrong_in_all(module)]
    if found:
        return found
    stars = {}
    exec(f"from {name} import *", stars)
    if stars.keys() - {"__builtins__"} != {*module.__all__}:
        found.append("a star import binds other names than __all__ has")
    shown = [] if name == PLUGIN else dir(module)
    found += [
        f"dir() lacks {each}" for each in module.__all__ if each not in dir(module)
    ]
    return found + [
        f"dir() has {each}"
        for each in shown
        if not each.startswith("__")
        and (each.startswith("_") or is_foreign(name, each, getattr(module, each)))
    ]


def unlisted(rows):
    """Return rows that a program cannot import, or that its star import would lack.

    A star import leaves out modules, builtins, and names with an underscore.
    """
    found = []
    for row in rows:
        name = row.qualname
        if not name.isidentifier():
            continue
        if not has(row.module, name):
            found.append(f"{row} cannot be imported")
            continue
        module = importlib.import_module(row.module)
        value = getattr(module, name)
        is_hidden = name.startswith("_") or hasattr(builtins, name)
        if is_hidden or isinstance(value, ModuleType):
            continue
        if name not in module.__all__:
            found.append(f"{row} is not in __all__")
    return found
