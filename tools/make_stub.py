#!/usr/bin/env python3
"""Write the parts of the stubs that follow from C and from the modules.

    python tools/make_stub.py [--check] [root]

Functions and methods follow from the text signatures of the built extension: names,
order, kinds and defaults. Types are in stub_types.ini, by the names of parameters. They
stand at the end of each class and of the file, below a line that names this tool. What
is declared by hand above the line is not written again: operators, which have no text
of ours, and functions with results that the file of types cannot say.

Sections between a line `# <name>: written by tools/make_stub.py` and a line
`# <name>: end` follow from the tables in src/cpp_free_c/abi, docstrings included, and
from tables/kernel_request.h; those of gpuarray.pyi follow from what gpuarray.py
imports, and from its vector types. ``__all__`` is that of the modules, also in modules
without a stub that compute it. The rest of the stubs is by hand.

With --check nothing is written. What is out of date is named, and the status is 1.
"""

import argparse
import importlib
import inspect
import re
import sys
import textwrap
from pathlib import Path

from stub_functions import (
    WIDTH,
    Described,
    Types,
    read_extension,
    read_python,
    write_declaration,
    write_function,
)

ROOT = Path(__file__).resolve().parents[1]
SOURCE = Path("src/cpp_free_c")
STUB = Path("pycuda/_driver.pyi")
ARRAYS = Path("pycuda/gpuarray.py")
ARRAY_STUB = ARRAYS.with_suffix(".pyi")

#: Modules without a stub that compute their ``__all__``.
COMPUTING = (Path("pycuda/curandom.py"), Path("pycuda/tools.py"))

#: Everything below these lines, to the end of the class or file, follows from texts.
CLASS_LINE = "    # To the end of the class: written by tools/make_stub.py\n"
FILE_LINE = "# To the end of the file: written by tools/make_stub.py\n"

#: Classes whose members are in their own table.
OWN_TABLES = {
    "device_attribute": "abi/device_attributes.h",
    "function_attribute": "abi/function_attributes.h",
}

#: Rows of function_attribute that count the others instead of naming one.
NO_PROPERTY = {"MAX"}


class StubError(Exception):
    """A table or the stub does not have the form that this script expects."""


# -- reading the tables ----------------------------------------------------------------


def rows(text, pattern, what):
    found = re.findall(pattern, text, re.MULTILINE)
    if not found:
        raise StubError(f"no rows of {what} found")
    return found


def read_classes(root):
    """Return the enumerations: [(class, docstring)], in the order of the table."""
    text = (root / SOURCE / "abi/enums.h").read_text()
    return rows(text, r'^ *X\((\w+), "([^"]*)"\)', "PCU_ENUM_CLASSES")


def read_members(root):
    """Return {class: [(member, docstring)]}, in the order of the tables."""
    members = {}
    text = (root / SOURCE / "abi/enums.h").read_text()
    pattern = r'^ *X\((\w+), (\w+), \d+, "(.*)"\)'
    for class_, name, doc in rows(text, pattern, "PCU_ENUMS"):
        members.setdefault(class_, []).append((name, doc))
    for class_, path in OWN_TABLES.items():
        text = (root / SOURCE / path).read_text()
        members[class_] = rows(text, r'^ *X\((\w+), \d+,(?: \w+,)? "(.*)"\)', path)
    return members


def read_plain(root):
    """Return the classes of plain ints: [(class, docstring, [(name, docstring)])]."""
    text = (root / SOURCE / "abi/enums.h").read_text()
    members = {}
    pattern = r'^ *X\((\w+), "(\w+)", \d+, "(.*)"\)'
    for class_, name, doc in rows(text, pattern, "rows of classes of ints"):
        if name.isidentifier():
            members.setdefault(class_, []).append((name, doc))
    classes = rows(text, r'^ *X\((\w+), "(.*)", PCU_\w+\)', "PCU_PLAIN_CLASSES")
    return [(class_, doc, members[class_]) for class_, doc in classes]


def read_kinds(root):
    """Return the device attributes with their results: [(NAME, kind, docstring)]."""
    text = (root / SOURCE / "abi/device_attributes.h").read_text()
    return rows(text, r'^ *X\((\w+), \d+, (\w+), "(.*)"\)', "PCU_DEVICE_ATTRS")


def read_request(root):
    """Return the fields of a kernel request: [(FIELD or LIST, name, VIEW)]."""
    text = (root / SOURCE / "tables/kernel_request.h").read_text()
    pattern = r"^ *(FIELD|LIST)\(\w+, (\w+), (\w+), "
    return rows(text, pattern, "PCU_KERNEL_REQUEST")


# -- writing the sections --------------------------------------------------------------


def write_docstring(doc):
    """Return the lines of the docstring of an attribute or a class."""
    text = f'"""{doc}"""'
    indent = "    "
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent)


def write_attribute(name, kind, doc):
    return [f"    {name}: {kind}", *write_docstring(doc)]


def write_class(head, doc, kind, members):
    lines = [head, *write_docstring(doc), ""]
    for name, text in members:
        lines += write_attribute(name, f"ClassVar[{kind}]", text)
    return [*lines, ""]


def write_enumerations(root, _methods):
    lines = []
    members = read_members(root)
    for class_, doc in read_classes(root):
        head = f"class {class_}(_Enumeration):"
        lines += write_class(head, doc, class_, members[class_])
    for class_, doc, names in read_plain(root):
        lines += ["@final", *write_class(f"class {class_}:", doc, "int", names)]
    return lines


def write_property(name, kind, doc):
    """Return the lines of an attribute. It is not read-only: programs may assign it."""
    return write_attribute(name.lower(), kind, doc)


def write_device_properties(root, methods):
    """Return the attributes of Device, except those with the name of a method."""
    lines = []
    for name, kind, doc in read_kinds(root):
        if name.lower() not in methods:
            lines += write_property(name, kind if kind == "int" else f"_{kind}", doc)
    return lines


def write_function_properties(root, methods):
    lines = []
    for name, doc in read_members(root)["function_attribute"]:
        if name not in NO_PROPERTY and name.lower() not in methods:
            lines += write_property(name, "int", doc)
    return lines


def write_request_fields(root, _methods):
    fields = read_request(root)
    names = "".join(f'        "{name}",\n' for _, name, _ in fields).rstrip("\n")
    lines = ["    __match_args__: Final = (", names, "    )"]
    for form, name, view in fields:
        kinds = {"NUMBER": "int", "FLAG": "bool", "FOURIER": "tuple[str, ...]"}
        kind = kinds.get(view, "str")
        if form == "LIST":
            kind = f"tuple[{kind}, ...]"
        lines += ["    @property", f"    def {name}(self) -> {kind}: ..."]
    return lines


def write_public_names(root, _methods):
    """Return what gives functions in C their public names."""
    names = rows((root / ARRAYS).read_text(), r"^    (_\w+) as (\w+),$", ARRAYS)
    return [f"{name} = _driver.{of_driver}" for of_driver, name in names]


def write_vectors(_root, _methods):
    """Return CUDA's vector types, and what makes values of them."""
    members = vars(importlib.import_module("pycuda.gpuarray").vec)
    names = [name for name in members if f"make_{name}" in members]
    lines = [f"    {name}: np.dtype[np.void]" for name in names]
    for name in names:
        maker = members[f"make_{name}"].__func__
        parameters = [f"{p}: _Number" for p in inspect.signature(maker).parameters]
        function = Described("vec", maker.__name__, decorator="staticmethod")
        lines += write_declaration(function, parameters, "NDArray[np.void]")
    return lines


def write_names(names, indent=""):
    """Return ``__all__``, where type checkers read it."""
    text = ", ".join(f'"{name}"' for name in names) + ","
    rows = textwrap.wrap(text, WIDTH - 4 - len(indent), break_on_hyphens=False)
    lines = ["# fmt: off", "__all__ = [", *(f"    {row}" for row in rows), "]"]
    return [f"{indent}{line}" for line in (*lines, "# fmt: on")]


def names_of_module(path):
    """Return the section with ``__all__`` of a stub, or of a module without one."""
    module = ".".join(path.with_suffix("").parts)
    indent = "" if path.suffix == ".pyi" else "    "
    return {
        f"names of {module}": lambda _root, _methods: write_names(
            importlib.import_module(module).__all__, indent
        )
    }


def write_driver_names(_root, _methods):
    """Return what pycuda.driver publishes of the extension by a star import."""
    extension = vars(importlib.import_module("pycuda._driver"))
    driver = importlib.import_module("pycuda.driver")
    return write_names(name for name in driver.__all__ if name in extension)


SECTIONS = {
    STUB: {
        "names of pycuda.driver": write_driver_names,
        "enumerations": write_enumerations,
        "attributes of Device": write_device_properties,
        "attributes of Function": write_function_properties,
        "fields of _KernelRequest": write_request_fields,
    },
    ARRAY_STUB: {
        "functions in C": write_public_names,
        "members of vec": write_vectors,
        **names_of_module(ARRAY_STUB),
    },
    **{path: names_of_module(path) for path in (Path("pycuda/linalg.pyi"), *COMPUTING)},
}


def class_pattern(name):
    return re.compile(
        rf"^class {name}\b.*?\n(?=\n*(?:[^ \n]|\Z))", re.MULTILINE | re.DOTALL
    )


def methods_of(stub, section):
    """Return the names that the class around a section defines."""
    body = class_pattern(section.rpartition(" ")[2]).search(stub)
    return names_of(body.group(), "    ") if body else set()


def section_pattern(name):
    return re.compile(
        rf"^(?P<first> *# {name}: written by tools/make_stub\.py\n)(?P<body>.*?)"
        rf"(?P<last>^ *# {name}: end\n)",
        re.MULTILINE | re.DOTALL,
    )


def rewrite_sections(path, stub, root):
    """Return the stub with new sections, and a line about each that changed."""
    changed = []
    for name, write in SECTIONS[path].items():
        found = section_pattern(name).search(stub)
        if found is None:
            raise StubError(f"{path} has no section '{name}'")
        body = "".join(f"{line}\n" for line in write(root, methods_of(stub, name)))
        if body != found["body"]:
            changed.append(f"section '{name}' is not what the tables say")
            stub = stub[: found.start("body")] + body + stub[found.end("body") :]
    return stub, changed


def declared(text):
    """Return the declarations of a part of the stub: {name: text}."""
    found = {}
    pattern = r"^ *(?:@.*\n *)*def \w+\((?:.|\n)*?: \.\.\.\n"
    for block in re.findall(pattern, text, re.MULTILINE):
        name = re.search(r"def (\w+)", block)[1]
        found[name] = found.get(name, "") + block
    return found


def names_of(text, indent):
    return set(re.findall(rf"^{indent}def (\w+)\(", text, re.MULTILINE))


def rewrite_part(part, line, functions, by_hand, known):
    """Return a class or the file with new functions, and the names of the changed."""
    above, _, below = part.partition(line)
    by_hand = by_hand | names_of(above, line[: line.index("#")])
    wanted = {
        f.name: "".join(f"{row}\n" for row in write_function(f, known))
        for f in functions
        if f.name not in by_hand
    }
    old = declared(below)
    changed = [n for n in {**old, **wanted} if old.get(n) != wanted.get(n)]
    new = "".join(wanted.values())
    if not changed and new == below:
        return part, []
    above = re.sub(r"\A(class .*:) \.\.\.\n\Z", r"\1\n", above)
    return above + (line + new if new else ""), changed or list(wanted)


def methods_by_hand(stub, class_):
    """Return what the base classes of a class declare, above the line of this tool."""
    names = set()
    found = class_pattern(class_).search(stub)
    bases = re.match(r"class \w+\(([\w, ]+)\)", found.group()) if found else None
    for base in bases[1].split(", ") if bases else ():
        body = class_pattern(base).search(stub)
        above = body.group().partition(CLASS_LINE)[0] if body else ""
        names |= names_of(above, "    ")
    return names


def rewrite_functions(path, stub, texts, known):
    """Return the stub with the functions of the texts, and a line about each change."""
    changed = []
    for owner, functions in texts.items():
        if not owner:
            stub, names = rewrite_part(stub, FILE_LINE, functions, set(), known)
            changed += names
            continue
        found = class_pattern(owner).search(stub)
        if found is None and functions:
            raise StubError(f"{path} has no class {owner}")
        if found is not None:
            inherited = methods_by_hand(stub, owner)
            part = found.group()
            part, names = rewrite_part(part, CLASS_LINE, functions, inherited, known)
            stub = stub[: found.start()] + part + stub[found.end() :]
            changed += [f"{owner}.{name}" for name in names]
    return stub, [f"{name} is not what its signature says" for name in changed]


def rewrite(root, texts):
    """Return {stub: (its text as the texts say it, a line about each difference)}."""
    stubs = {path: (root / path).read_text() for path in SECTIONS}
    known = Types("".join(stubs[path] for path in texts))
    found = {}
    for path, stub in stubs.items():
        stub, functions = rewrite_functions(path, stub, texts.get(path, {}), known)
        stub, sections = rewrite_sections(path, stub, root)
        found[path] = stub, functions + sections
    if known.problems():
        raise StubError("\n".join(known.problems()))
    return found


def read_texts():
    """Return {stub: {class: [Described]}}; functions are under ""."""
    extension = importlib.import_module("pycuda._driver")
    arrays = importlib.import_module("pycuda.gpuarray")
    functions = read_python(arrays, "gpuarray")
    return {STUB: read_extension(extension), ARRAY_STUB: {"": functions}}


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("root", nargs="?", type=Path, default=ROOT)
    options = parser.parse_args(argv)
    try:
        found = rewrite(options.root, read_texts())
    except StubError as error:
        print(f"make_stub: {error}", file=sys.stderr)
        return 2
    changed = {path: text for path, (text, lines) in found.items() if lines}
    if options.check:
        for path in changed:
            print("\n".join(f"{path}: {line}" for line in found[path][1]))
        if changed:
            print("run: python tools/make_stub.py")
        return 1 if changed else 0
    for path, text in changed.items():
        (options.root / path).write_text(text)
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
