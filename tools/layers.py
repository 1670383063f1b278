"""The order of the folders, and the rules that depend on it.

A file may include or import what is in its own folder and in lower folders. No chain of
includes or imports may lead back to the file where it began. check_layout.py runs the
rules; this module reads text only.
"""

import ast
import re
from pathlib import Path, PurePosixPath

SOURCE = "src/cpp_free_c"

#: The folders of each C library, from the lowest to the highest. The two libraries
#: share the facts about the driver and the tables, and include nothing of each other.
EXTENSION = (
    "abi",
    "tables",
    "driver",
    "python/support",
    "python/driver",
    "python/driver/memory",
    "python/driver/exchange",
    "python/driver/texture",
    "python/driver/launch",
    "python/driver/module",
    "python/driver/graph",
    "python/array",
    "python/array/ops",
    "python/array/sort",
    "python/array/product",
    "python/array/fourier",
    "python/array/index",
    "python/array/collective",
    "python/array/solver",
    "python/array/type",
    "python/structs",
    "python",
)
DEVICE = (
    "abi",
    "tables",
    "device/base",
    "device/ptx",
    "device/memory",
    "device/sync_check",
    "device/compile",
    "device/machine/warp",
    "device/machine/services",
    "device/machine/ops",
    "device/machine/grid",
    "device/api/entry",
    "device/api/stream",
    "device/api/memory",
    "device/api/module",
    "device/api/texture",
    "device/api/graph",
    "device/api/context",
    "device/api/exports",
    "device/api/management",
)
LIBRARIES = (EXTENSION, DEVICE)

#: Folders that must not use some lower ones, though the order would let them.
CLOSED = {
    "device/ptx": ("abi",),
    "python/structs": ("driver", "python/support", "python/driver", "python/array"),
}

#: The folders and some files of the Python package, from the lowest to the highest.
#: The extension module pycuda._driver is below all of them. pycuda.driver is its public
#: name and adds the errors of compilers, so everything else is built on it. The kernels
#: of arrays are loaded by the SourceModule of pycuda.compiler.
PACKAGE = (
    "pycuda/compyte",
    "pycuda/_start.py",
    "pycuda/_public.py",
    "pycuda/_warning.py",
    "pycuda/_context_cache.py",
    "pycuda/_excerpt.py",
    "pycuda/_extras.py",
    "pycuda/_page.py",
    "pycuda/_registrations.py",
    "pycuda/_texture_arrays.py",
    "pycuda/driver.py",
    "pycuda/_compile",
    "pycuda/_libraries.py",
    "pycuda/compiler.py",
    "pycuda/_array",
    "pycuda/_array/sources",
    "pycuda/_array/kernels",
    "pycuda/_array/functions",
    "pycuda/_array/linalg",
    "pycuda/_array/numpy_protocol",
    "pycuda/_random",
    "pycuda",
)


def is_below(folder, parent):
    """Say whether a folder is another one, or inside it."""
    return folder == parent or folder.startswith(parent + "/")


def place(path, order):
    """Return the position of a file in an order, None if it is not in it.

    A file that the order does not name has the position of the closest folder.
    """
    while path not in order:
        if path in ("", "."):
            return None
        path = PurePosixPath(path).parent.as_posix()
    return order.index(path)


def may_use(path, used, orders):
    """Say whether a file may use another one."""
    if any(
        is_below(path, name) and any(is_below(used, low) for low in closed)
        for name, closed in CLOSED.items()
    ):
        return False
    for order in orders:
        own, other = place(path, order), place(used, order)
        if own is not None and other is not None:
            return other <= own
    return False


# -- cycles ----------------------------------------------------------------------------


def cycles(edges):
    """Return the groups of nodes that reach each other, each sorted.

    ``edges`` maps a node to the nodes that it uses.
    """
    order, seen = [], set()
    for first in sorted(edges):
        stack = [(first, iter(sorted(edges[first])))] if first not in seen else []
        seen.add(first)
        while stack:
            node, rest = stack[-1]
            following = next((n for n in rest if n not in seen), None)
            if following is None:
                order.append(node)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(sorted(edges.get(following, ())))))
    users = {}
    for node, used in edges.items():
        for other in used:
            users.setdefault(other, set()).add(node)
    found, taken = [], set()
    for first in reversed(order):
        group, waiting = set(), [first]
        while waiting:
            node = waiting.pop()
            if node not in taken:
                taken.add(node)
                group.add(node)
                waiting.extend(users.get(node, ()))
        if len(group) > 1:
            found.append(sorted(group))
    return sorted(found)


def report_cycles(uses):
    """Yield one problem for each cycle.

    ``uses`` lists (path, line, unit, used unit).
    """
    edges = {}
    for _, _, unit, used in uses:
        edges.setdefault(unit, set()).add(used)
    for group in cycles(edges):
        path, line = min(
            (path, line)
            for path, line, unit, used in uses
            if unit in group and used in group
        )
        yield path, line, f"these use each other: {', '.join(group)}"


# -- C ---------------------------------------------------------------------------------

INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')


def unit_of(name):
    """Return the unit of a C file: x.c and x.h are one."""
    return str(PurePosixPath(name).with_suffix(""))


def includes(sources):
    """Yield (source, line, name) for each include of a header of ours."""
    known = {source.room for source in sources}
    for source in sources:
        for line, text in source.directives:
            found = INCLUDE.match(text)
            if found:
                yield source, line, found[1] if found[1] in known else None, found[1]


def include_order(root, sources):
    """Refuse includes of higher folders, and headers not named from the root."""
    for source, line, known, name in includes(sources):
        if known is None:
            message = f"{name} is not the path of a header below {SOURCE}"
            yield source.name, line, message
            continue
        if not may_use(source.room, known, LIBRARIES):
            folder = PurePosixPath(source.room).parent.as_posix()
            yield source.name, line, f"{folder} must not include {known}"


def include_cycle(root, sources):
    """Refuse cycles of includes between units."""
    uses = [
        (source.name, line, unit_of(source.room), unit_of(known))
        for source, line, known, _ in includes(sources)
        if known is not None and unit_of(source.room) != unit_of(known)
    ]
    yield from report_cycles(uses)


# -- Python ----------------------------------------------------------------------------


class Imports(ast.NodeVisitor):
    """Every import of a module: lazy ones and those for type checkers too."""

    def __init__(self, package):
        self.package = package  # the dotted name of the package that the module is in
        self.found = []  # (line, dotted name)

    def visit_Import(self, node):
        for name in node.names:
            self.found.append((node.lineno, name.name))

    def visit_ImportFrom(self, node):
        base = node.module or ""
        if node.level:
            parts = self.package.split(".")
            parts = parts[: len(parts) - node.level + 1]
            base = ".".join([*parts, *filter(None, [node.module])])
        if base == self.package and "." in base:  # the module loads its own package
            self.found.append((node.lineno, base))
        for name in node.names:
            # The name may be a module of the package, or something that it defines.
            self.found.append((node.lineno, f"{base}.{name.name}"))

    def visit_Call(self, node):
        called = ast.unparse(node.func)
        if called in ("import_module", "importlib.import_module") and node.args:
            name = node.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                self.found.append((node.lineno, name.value))
        if called.endswith("names_at_first_use"):
            _, homes = node.args
            for home, names in ast.literal_eval(homes).items():
                for name in names.split():
                    defined = name.partition(":")[0]
                    self.found.append((node.lineno, f"{home}.{defined}"))
        self.generic_visit(node)


def modules(root):
    """Map the dotted name of every module of the package to its path."""
    found = {}
    for path in sorted((root / "pycuda").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        if parts[-1] == "__init__":
            parts = parts[:-1]
        found[".".join(parts)] = path
    return found


def module_of(name, known):
    """Return the module that a dotted name is in, None if it is not one of ours."""
    while name:
        if name in known:
            return name
        name = name.rpartition(".")[0]
    return None


def imports(root):
    """Yield (path, line, module, imported module) inside of the package."""
    known = modules(root)
    for name, path in known.items():
        is_package = path.name == "__init__.py"
        visitor = Imports(name if is_package else name.rpartition(".")[0])
        visitor.visit(ast.parse(path.read_text(encoding="utf-8")))
        for line, dotted in visitor.found:
            used = module_of(dotted, known)
            # `from pycuda import _driver` names the extension, not the package.
            if used == "pycuda" and dotted != "pycuda":
                continue
            if used is not None and used != name:
                yield path.relative_to(root).as_posix(), line, name, used


def path_of(module, root):
    """Return the path of a module's file, relative to the root."""
    path = Path(*module.split("."))
    if (root / path).is_dir():
        return (path / "__init__.py").as_posix()
    return path.with_suffix(".py").as_posix()


def import_order(root, sources):
    """Refuse imports of higher folders, lazy ones too."""
    for path, line, _, used in imports(root):
        if not may_use(path, path_of(used, root), [PACKAGE]):
            folder = PurePosixPath(path).parent.as_posix()
            yield path, line, f"{folder} must not import {used}"


def import_cycle(root, sources):
    """Refuse cycles of imports, lazy ones too."""
    yield from report_cycles(list(imports(root)))


RULES = {
    "include-order": include_order,
    "include-cycle": include_cycle,
    "import-order": import_order,
    "import-cycle": import_cycle,
}
