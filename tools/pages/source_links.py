"""Where a name of the package is written, for links from the reference."""

import importlib
import inspect
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
C_FILES = "src/cpp_free_c/python/**/*.c"
#: A type of the extension: its spec, or the row of a macro that makes the spec.
C_TYPE = (
    r'^(?:static )?(?:    )?PyType_Spec \w+ = \{{\s*"[\w.]*\.{0}"|^[A-Z_]+\(\w+, "{0}"'
)


@cache
def texts(pattern):
    """Return the texts of files: {path in the repository: text}."""
    paths = sorted(ROOT.glob(pattern))
    return {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths
    }


def search(files, *patterns):
    """Return the file and the line of the first pattern that matches, or None."""
    for pattern in patterns:
        for file, text in files.items():
            where = re.search(pattern, text, re.MULTILINE)
            if where:
                return file, text.count("\n", 0, where.start()) + 1
    return None


def in_c(entry, is_method):
    """Return the place of a function of the extension."""
    # A function begins its line, or a macro's row makes it; a table has brackets.
    name, argument = entry.function, r"\$self" if is_method else r"\$module"
    return search(
        {entry.file: texts(C_FILES)[entry.file]},
        rf"^{name}\(",
        rf"^.*\b{name}\[",
        rf"^[A-Z_]+\({name},[^;]*?{argument}",
        rf'^ *"{name}\({argument}',  # its docstring
        rf"^[A-Z_]+\({name}\b",
        rf"\b{name}\b",
    )


def in_python(thing):
    """Return the place of a function or a class of Python, or None."""
    try:
        thing = inspect.unwrap(getattr(thing, "fget", None) or thing)
        path = Path(inspect.getsourcefile(thing)).resolve()
        _, line = inspect.getsourcelines(thing)
    except (TypeError, OSError):
        return None  # data, or made by a function
    return (str(path.relative_to(ROOT)), line) if ROOT in path.parents else None


def of_class(class_, entries):
    """Return the place of a class, or None. Its module may be set by hand."""
    name = class_.__name__
    if name in entries:
        return in_c(entries[name], True)
    return (
        in_python(class_)
        or search(texts("pycuda/**/*.py"), rf"^class _?{name}\b")
        or search(texts(C_FILES), C_TYPE.format(name))
    )


def find(module, name, entries):
    """Return the file and the line of a public name, or None.

    ``entries`` is what tools/doc_sources.py found about the names of the extension. An
    object can have several names; the one that it got from its definition counts.
    """
    try:
        owner, thing = None, importlib.import_module(module)
    except (ImportError, RuntimeError):
        return None  # another language's, or pycuda.gl.autoinit without a window
    try:
        for part in name.split("."):
            owner, thing = thing, getattr(thing, part)
    except AttributeError:
        return None  # an attribute of objects
    if inspect.isclass(thing):
        return of_class(thing, entries)
    class_ = getattr(thing, "__objclass__", owner if inspect.isclass(owner) else None)
    own = getattr(thing, "__name__", "")
    entry = entries.get(f"{class_.__name__}.{own}" if class_ else own)
    if entry and not hasattr(inspect.unwrap(thing), "__code__"):
        return in_c(entry, bool(class_))
    # Operators are slots of their type.
    return in_python(thing) or (of_class(class_, entries) if class_ else None)
