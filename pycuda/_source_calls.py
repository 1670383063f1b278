"""The sources in the text of a program, found without running it.

A call of ``SourceModule``, ``DynamicSourceModule`` or ``pycuda.compiler.compile`` can
be read if its arguments are constants: strings, names that the file assigns once, and
simple operations on them. The other calls are reported by their lines.
"""

from __future__ import annotations

import ast
import inspect
import os
import textwrap
from collections.abc import Iterator
from typing import Any, NamedTuple

from pycuda import compiler
from pycuda._compile.architecture import RELOCATABLE
from pycuda._compile.recording import Device, Recorded
from pycuda._compile.request import CompileRequest

_MODULE = "pycuda.compiler"
_CALLS = ("SourceModule", "DynamicSourceModule", "compile")

#: Methods of strings whose result depends on nothing but their arguments.
_METHODS = frozenset(
    ("format", "join", "lstrip", "replace", "rstrip", "strip", "lower", "upper")
)

#: A program that is read has no device. The architectures are those of the user.
_ANY_DEVICE = Device((0, 0), False)


class NotConstantError(ValueError):
    """An expression has a value that is known only when the program runs."""


class Unread(NamedTuple):
    """A call that compiles a source which is no constant."""

    line: str  # "file:number"
    text: str  # the expression


def read(path: str) -> tuple[list[Recorded], list[Unread]]:
    """Return the sources in a file, and the calls that could not be read.

    The file is Python, or CUDA C if its name ends with ".cu". Raise OSError,
    SyntaxError or ValueError for a file that is neither.
    """
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".cu"):
        options = tuple(compiler.DEFAULT_NVCC_FLAGS)
        request = CompileRequest(text, options=options)
        return [Recorded(request, (), _ANY_DEVICE, f"{path}:1")], []
    program = _Program(ast.parse(text, path))
    found: list[Recorded] = []
    unread: list[Unread] = []
    for call, name in program.calls():
        line = f"{path}:{call.lineno}"
        try:
            found += _recorded(name, program.arguments(call, name), line)
        except NotConstantError as error:
            unread.append(Unread(line, str(error)))
    return found, unread


class _Program:
    """A parsed file: its imports, and the names that it assigns once."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._imported: dict[str, str] = {}
        stores: dict[str, int] = {}
        values: dict[str, ast.expr] = {}
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._imported.update(_imports(node))
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                stores[node.id] = stores.get(node.id, 0) + 1
            elif isinstance(node, ast.arg):
                stores[node.arg] = stores.get(node.arg, 0) + 1
            elif isinstance(node, ast.Assign) and len(node.targets) == 1:
                target = node.targets[0]
                if isinstance(target, ast.Name):
                    values[target.id] = node.value
        self._values = {name: v for name, v in values.items() if stores[name] == 1}
        self._open: set[str] = set()  # names whose values are being computed

    def calls(self) -> Iterator[tuple[ast.Call, str]]:
        """Yield (call, name of the function) for each call that compiles."""
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Call):
                module, _, name = self._dotted(node.func).rpartition(".")
                if module == _MODULE and name in _CALLS:
                    yield node, name

    def _dotted(self, node: ast.expr) -> str:
        """Return the full name of a function, "" if it has none."""
        if isinstance(node, ast.Name):
            return self._imported.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            base = self._dotted(node.value)
            return f"{base}.{node.attr}" if base else ""
        return ""

    def arguments(self, call: ast.Call, name: str) -> dict[str, Any]:
        """Return the arguments of a call by name. Raise NotConstantError."""
        signature = inspect.signature(getattr(compiler, name))
        positional = [self.value(each) for each in call.args]
        keywords: dict[str, Any] = {}
        for each in call.keywords:
            if each.arg is None:
                raise NotConstantError(ast.unparse(each.value))
            keywords[each.arg] = self.value(each.value)
        try:
            return dict(signature.bind(*positional, **keywords).arguments)
        except TypeError as error:
            raise NotConstantError(f"{ast.unparse(call.func)}: {error}") from None

    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression. Raise NotConstantError."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, (ast.List, ast.Tuple)):
            return [self.value(each) for each in node.elts]
        if isinstance(node, ast.Dict) and None not in node.keys:
            keys = [self.value(each) for each in node.keys if each is not None]
            return dict(zip(keys, map(self.value, node.values), strict=True))
        if isinstance(node, ast.Name) and node.id in self._values:
            return self._named(node.id)
        try:
            return self._computed(node)
        except (TypeError, ValueError, KeyError, IndexError, AttributeError):
            raise NotConstantError(_short(node)) from None

    def _named(self, name: str) -> Any:
        if name in self._open:  # its value uses the name itself
            raise NotConstantError(name)
        self._open.add(name)
        try:
            return self.value(self._values[name])
        finally:
            self._open.discard(name)

    def _computed(self, node: ast.expr) -> Any:
        if isinstance(node, ast.BinOp):
            left, right = self.value(node.left), self.value(node.right)
            if isinstance(left, (str, list)) and isinstance(node.op, ast.Add):
                return left + right
            if isinstance(left, str) and isinstance(node.op, ast.Mod):
                return left % (tuple(right) if isinstance(right, list) else right)
        elif isinstance(node, ast.JoinedStr):
            return "".join(self._part(each) for each in node.values)
        elif isinstance(node, ast.Call):
            return self._called(node)
        raise NotConstantError(_short(node))

    def _part(self, node: ast.expr) -> str:
        """Return a part of an f-string."""
        if not isinstance(node, ast.FormattedValue):
            return str(self.value(node))
        if node.conversion != -1:
            raise NotConstantError(_short(node.value))
        form = self.value(node.format_spec) if node.format_spec is not None else ""
        return format(self.value(node.value), form)

    def _called(self, node: ast.Call) -> Any:
        """Return the result of a method of a string, or of ``textwrap.dedent``."""
        arguments = [self.value(each) for each in node.args]
        keywords = {e.arg: self.value(e.value) for e in node.keywords if e.arg}
        if self._dotted(node.func) == "textwrap.dedent" and len(arguments) == 1:
            return textwrap.dedent(*arguments)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            text = self.value(node.func.value)
            if isinstance(text, str) and len(keywords) == len(node.keywords):
                return getattr(text, node.func.attr)(*arguments, **keywords)
        raise NotConstantError(_short(node))


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield (name in the file, full name) for each import."""
    for each in node.names:
        if isinstance(node, ast.ImportFrom):
            yield each.asname or each.name, f"{node.module}.{each.name}"
        elif each.asname:
            yield each.asname, each.name
        else:
            first = each.name.partition(".")[0]
            yield first, first


def _short(node: ast.expr) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def _recorded(name: str, given: dict[str, Any], line: str) -> list[Recorded]:
    """Return the sources that a call compiles."""
    if not isinstance(given.get("source"), str):
        raise NotConstantError("the source is no text")
    options = given.get("options")
    options = list(compiler.DEFAULT_NVCC_FLAGS if options is None else options)
    if name == "DynamicSourceModule":
        if not RELOCATABLE.intersection(options):
            options.append("-rdc=true")
        if "-lcudadevrt" not in options:
            options.append("-lcudadevrt")
    target = "ptx" if name == "DynamicSourceModule" else given.get("target")
    request = CompileRequest(
        given["source"],
        options=tuple(options),
        include_dirs=[os.path.abspath(e) for e in given.get("include_dirs") or ()],
        no_extern_c=bool(given.get("no_extern_c")),
        arch=given.get("arch"),
        code=given.get("code"),
        target=target,
        linked=name == "SourceModule",
        nvcc=given.get("nvcc", "nvcc"),
        compiler=given.get("compiler"),
    )
    names = tuple(given.get("name_expressions") or ())
    return [Recorded(request, names, _ANY_DEVICE, line)]
