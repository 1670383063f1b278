#!/usr/bin/env python3
"""Copy the stub of the extension, with the docstrings of the extension.

    python tools/stub_docstrings.py pycuda/_driver.pyi build/lib/pycuda build/lib

Editors show the docstring that a stub has, and of functions in C they find no other.
The stub of the repository has none of these thousands of lines: setup.py calls this
script for the stub of a wheel. The last argument is the folder that has the package
with the extension.
"""

import ast
import importlib
import inspect
import sys
import types
from pathlib import Path


def attribute(owner, name):
    """Return what a class or module has under a name, or None."""
    found = inspect.getattr_static(owner, name, None)
    return getattr(found, "__func__", found)


def docstring(thing):
    """Return the docstring of a function, class or attribute in C, or None."""
    if thing is None or isinstance(thing, types.WrapperDescriptorType):
        return None  # operators have the texts of Python
    told = getattr(thing, "__doc__", None)
    return None if told == type(thing).__doc__ else told


def literal(doc, indent):
    """Return a docstring as it stands in a file."""
    doc = inspect.cleandoc(doc).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if "\n" in doc:
        doc += "\n"
    elif doc.endswith('"'):
        doc = f'{doc[:-1]}\\"'
    lines = f'"""{doc}"""'.split("\n")
    return "\n".join(f"{indent}{line}".rstrip() for line in lines)


def is_text(node):
    """Say whether a statement is a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value.value, str)


def additions(body, owner):
    """Yield (line, column, docstring, indent) of each declaration without docstring.

    The place is that of three dots, the end of an attribute, or the first statement.
    """
    for node, following in zip(body, [*body[1:], None], strict=True):
        indent = " " * node.col_offset
        if isinstance(node, ast.AnnAssign):
            doc = docstring(attribute(owner, node.target.id))
            if doc and inspect.isclass(owner) and not is_text(following):
                yield node.end_lineno, node.end_col_offset, doc, indent
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            thing, first = attribute(owner, name_of(node, body)), node.body[0]
            doc = docstring(thing)
            if doc and not is_text(first):
                begin = min([first.lineno, *(d.lineno for d in decorators(first))])
                yield begin, first.col_offset, doc, f"{indent}    "
            if isinstance(node, ast.ClassDef) and thing is not None:
                yield from additions(node.body, thing)


def decorators(node):
    return getattr(node, "decorator_list", [])


def name_of(node, body):
    """Return the name of a declaration in the extension.

    A class that only the stub has, what several classes have in common, stands for the
    first of these.
    """
    if not node.name.startswith("_") or isinstance(node, ast.FunctionDef):
        return node.name
    heirs = (c for c in body if isinstance(c, ast.ClassDef) and node.name in bases(c))
    return next((heir.name for heir in heirs), node.name)


def bases(node):
    return [base.id for base in node.bases if isinstance(base, ast.Name)]


def with_docstrings(stub, module):
    """Return the text of a stub with the docstrings of the module."""
    lines = stub.splitlines()
    found = sorted(additions(ast.parse(stub).body, module), reverse=True)
    for row, column, doc, indent in found:
        line, text = lines[row - 1], literal(doc, indent)
        before, after = line[:column], line[column:]
        if after.startswith("..."):
            lines[row - 1 : row] = [before.rstrip() + after[3:], text]
        elif before.strip():
            lines[row - 1 : row] = [line, text]
        else:
            lines[row - 1 : row] = [text, "", line]
    return "\n".join(lines) + "\n"


def main(stub, folder, root):
    path = Path(stub)
    sys.path.insert(0, root)
    module = importlib.import_module(f"pycuda.{path.stem}")
    if Path(root).absolute() not in Path(module.__file__).absolute().parents:
        sys.exit(f"{root} has no pycuda.{path.stem}")  # an installed one was found
    text = with_docstrings(path.read_text(encoding="utf-8"), module)
    Path(folder, path.name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
