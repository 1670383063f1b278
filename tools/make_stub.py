#!/usr/bin/env python3
"""Write the parts of pycuda/_driver.pyi that follow from the C tables.

    python tools/make_stub.py [--check] [root]

The stub is written by hand except for four sections, each between a line
`# <name>: written by tools/make_stub.py` and a line `# <name>: end`: the enumerations,
the attributes of Device and Function, and the fields of a kernel request. They follow
the tables in src/cpp_free_c/abi, the plain flag classes of python/support/enums.c and
tables/kernel_request.h, so a new row of a table needs no second edit here. With --check
nothing is written. If sections are out of date, they are named and the status is 1.
"""

import argparse
import re
import sys
from pathlib import Path

SOURCE = Path("src/cpp_free_c")
STUB = Path("pycuda/_driver.pyi")

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
    return rows(text, r'^ *X\((\w+), "(.*)"\)', "PCU_ENUM_CLASSES")


def read_members(root):
    """Return {class: [member]}, in the order of the tables."""
    members = {}
    text = (root / SOURCE / "abi/enums.h").read_text()
    for class_, name in rows(text, r"^ *X\((\w+), (\w+), \d+\)", "PCU_ENUMS"):
        members.setdefault(class_, []).append(name)
    for class_, path in OWN_TABLES.items():
        text = (root / SOURCE / path).read_text()
        members[class_] = rows(text, r"^ *X\((\w+), \d+[,)]", path)
    return members


def read_plain(root):
    """Return the plain flag classes: {class: [name]}, identifiers only."""
    text = (root / SOURCE / "python/support/enums.c").read_text()
    plain = {}
    for class_, name in rows(text, r'^ *\{"(\w+)", "(\w+)", \d+\},', "enum_plain"):
        if name.isidentifier():
            plain.setdefault(class_, []).append(name)
    return plain


def read_kinds(root):
    """Return the device attributes with their results: [(NAME, kind)]."""
    text = (root / SOURCE / "abi/device_attributes.h").read_text()
    return rows(text, r"^ *X\((\w+), \d+, (\w+)\)", "PCU_DEVICE_ATTRS")


def read_request(root):
    """Return the fields of a kernel request: [(FIELD or LIST, name, VIEW)]."""
    text = (root / SOURCE / "tables/kernel_request.h").read_text()
    pattern = r"^ *(FIELD|LIST)\(\w+, (\w+), (\w+), "
    return rows(text, pattern, "PCU_KERNEL_REQUEST")


# -- writing the sections --------------------------------------------------------------


def write_enumerations(root, _methods):
    lines = []
    members = read_members(root)
    for class_, _ in read_classes(root):
        lines += [f"class {class_}(_Enumeration):"]
        lines += [f"    {name}: ClassVar[{class_}]" for name in members[class_]]
        lines += [""]
    for class_, names in read_plain(root).items():
        lines += ["@final", f"class {class_}:"]
        lines += [f"    {name}: ClassVar[int]" for name in names]
        lines += [""]
    return lines


def write_property(name, kind):
    """Return the line of an attribute. It is not read-only: programs may assign it."""
    return [f"    {name.lower()}: {kind}"]


def write_device_properties(root, methods):
    """Return the attributes of Device, except those with the name of a method."""
    lines = []
    for name, kind in read_kinds(root):
        if name.lower() not in methods:
            lines += write_property(name, kind if kind == "int" else f"_{kind}")
    return lines


def write_function_properties(root, methods):
    lines = []
    for name in read_members(root)["function_attribute"]:
        if name not in NO_PROPERTY and name.lower() not in methods:
            lines += write_property(name, "int")
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


SECTIONS = {
    "enumerations": write_enumerations,
    "attributes of Device": write_device_properties,
    "attributes of Function": write_function_properties,
    "fields of _KernelRequest": write_request_fields,
}


def methods_of(stub, section):
    """Return the names that the class around a section defines by hand."""
    class_ = section.rpartition(" ")[2]
    pattern = rf"^class {class_}\b.*?\n(?=\S|\Z)"
    body = re.search(pattern, stub, re.MULTILINE | re.DOTALL)
    if body is None:
        return set()
    kept = section_pattern(section).sub("", body.group())
    return set(re.findall(r"^    def (\w+)\(", kept, re.MULTILINE))


def section_pattern(name):
    return re.compile(
        rf"^(?P<first> *# {name}: written by tools/make_stub\.py\n)(?P<body>.*?)"
        rf"(?P<last>^ *# {name}: end\n)",
        re.MULTILINE | re.DOTALL,
    )


def rewrite(stub, root):
    """Return the stub with new sections, and the names of the changed sections."""
    changed = []
    for name, write in SECTIONS.items():
        found = section_pattern(name).search(stub)
        if found is None:
            raise StubError(f"{STUB} has no section '{name}'")
        body = "".join(f"{line}\n" for line in write(root, methods_of(stub, name)))
        if body != found["body"]:
            changed.append(name)
            stub = stub[: found.start("body")] + body + stub[found.end("body") :]
    return stub, changed


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument(
        "root", nargs="?", type=Path, default=Path(__file__).resolve().parents[1]
    )
    options = parser.parse_args(argv)
    path = options.root / STUB
    try:
        text, changed = rewrite(path.read_text(), options.root)
    except StubError as error:
        print(f"make_stub: {error}", file=sys.stderr)
        return 2
    if options.check:
        for name in changed:
            print(f"{STUB}: section '{name}' is not what the tables say")
        return 1 if changed else 0
    if changed:
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
