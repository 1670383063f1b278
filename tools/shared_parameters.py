#!/usr/bin/env python3
"""Write the descriptions of parameters that many functions share into docstrings.

    python tools/shared_parameters.py [--check] [root]

A docstring of Python has only the line of the parameter, such as ``stream : Stream,
optional``. This tool writes the description below it. It reads the descriptions from
the macros of src/cpp_free_c/python/support/docs.h, which docstrings in C use; the few
that no function in C has are here. A parameter that needs another description has
another line, with its type in more words.

With --check nothing is written. What is out of date is named, also a docstring in C
that repeats a macro, and the status is 1.
"""

import argparse
import ast
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADER = "src/cpp_free_c/python/support/docs.h"

#: The line of a parameter of functions in Python: its description.
TEXTS = {
    "allowSurfaceBind : bool, optional": (
        "If true, kernels can write the Array through surfaces. An Array of two "
        "dimensions then has one layer."
    ),
    "arch : str, optional": (
        'Architecture to compile for, such as "sm_90". The default is that of the '
        "current context's device."
    ),
    "cache_dir : str or False, optional": (
        "Folder of the compile cache. False compiles without a cache. The default "
        "is the folder of the user."
    ),
    "code : str, optional": ("Value of nvcc's option ``-code``."),
    "compiler : str, optional": (
        'Compiler to use, "nvcc" or "nvrtc". The default is the value of '
        "PYCUDA_COMPILER, else nvcc."
    ),
    "endpoint : bool, optional": (
        "If false, the last number is one step before ``stop``."
    ),
    "include_dirs : iterable of str, optional": ("Folders to search for headers."),
    "keep : bool, optional": (
        "If true, compile in a folder that is not removed, and print its name."
    ),
    "no_extern_c : bool, optional": (
        'If true, do not put the source into ``extern "C" { }``.'
    ),
    'norm : {"backward", "ortho", "forward"}, optional': (
        'Scaling of the transform. The default is "backward": the inverse transform'
        ' is divided by the number of elements. With "ortho" both transforms are '
        'divided by its square root, with "forward" the forward transform by the '
        "number."
    ),
    "nvcc : str, optional": ("Name or path of nvcc."),
    "options : iterable of str, optional": (
        "Options of the compiler. The default is DEFAULT_NVCC_FLAGS."
    ),
    'order : {"C", "F", "A", "K"}, optional': (
        'Order of the elements in memory. "K" keeps the order of the axes, "A" is '
        '"F" for an array in Fortran order, else "C".'
    ),
    "s : sequence of int, optional": (
        "Lengths of the transform along the axes. The input is cut off or padded "
        "with zeros; -1 is its own length. The default is the lengths of the input."
    ),
}

WIDTH = 88
PARAMETER = re.compile(r"( *)(\w+(?:, \w+)* : .*)")
MACRO = re.compile(r"#define (PCU_DOC_\w+)\s+((?:.*\\\n)*.*)")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def macros():
    """Return the optional parameters of docs.h, each with its macro and its text."""
    found = {}
    for name, body in MACRO.findall((ROOT / HEADER).read_text(encoding="utf-8")):
        text = "".join(ast.literal_eval(part) for part in STRING.findall(body))
        line, *description = text.splitlines()
        if line.endswith(", optional"):
            found[line] = name, " ".join(map(str.strip, description))
    return found


def described(text, texts):
    """Return a text of Python with the descriptions of shared parameters."""
    result = []
    lines = iter(text.splitlines())
    line = next(lines, None)
    while line is not None:
        result.append(line)
        match = PARAMETER.fullmatch(line)
        line = next(lines, None)
        if match is None or match[2] not in texts:
            continue
        indent = match[1] + "    "
        while line is not None and line.startswith(indent):
            line = next(lines, None)
        result += textwrap.wrap(
            texts[match[2]], WIDTH, initial_indent=indent, subsequent_indent=indent
        )
    return "".join(f"{line}\n" for line in result)


def repeated(text, names):
    """Return the macros that a text of C spells out."""
    literals = {line.replace('"', r"\""): name for line, name in names.items()}
    return [name for line, name in literals.items() if rf'"{line}\n"' in text]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("root", nargs="?", default=ROOT, type=Path)
    options = parser.parse_args()
    shared = macros()
    texts = {**TEXTS, **{line: text for line, (_, text) in shared.items()}}
    names = {line: name for line, (name, _) in shared.items()}
    faults = []
    for path in sorted((options.root / "pycuda").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        wanted = described(text, texts)
        if wanted != text:
            faults.append(f"{path.relative_to(options.root)}: run this tool")
            if not options.check:
                path.write_text(wanted, encoding="utf-8")
    if not options.check:
        return 0
    for path in sorted((options.root / "src").rglob("*.c")):
        for name in repeated(path.read_text(encoding="utf-8"), names):
            faults.append(f"{path.relative_to(options.root)}: use {name}")
    print(*faults, sep="\n")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
