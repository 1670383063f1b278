#!/usr/bin/env python3
"""Write the descriptions of parameters that many functions share into docstrings.

    python tools/shared_parameters.py [--check] [root]

A docstring has only the line of the parameter, such as ``stream : Stream, optional``.
This tool writes the description below it. A parameter that needs another description
has another line, with its type in more words. So a sentence about streams is changed
here, in one place, and ``help()``, editors and pages show the same text.

With --check nothing is written. What is out of date is named, and the status is 1.
"""

import argparse
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: The line of a parameter: its description.
TEXTS = {
    "allocator : callable, optional": (
        "Function of a number of bytes that returns device memory. The default is the "
        "allocator of the array."
    ),
    "allocator : callable or None, optional": (
        "Function of a number of bytes that returns device memory. The default is the "
        "default allocator."
    ),
    "arch : str, optional": (
        'Architecture to compile for, such as "sm_90". The default is that of the '
        "current context's device."
    ),
    "axis : int, tuple of int or None, optional": (
        "Axis or axes along which to compute. The default is all axes."
    ),
    "axis : int, optional": "Axis along which to compute. The default is the last one.",
    "cache_dir : str or False, optional": (
        "Folder of the compile cache. False compiles without a cache. The default is "
        "the folder of the user."
    ),
    "code : str, optional": "Value of nvcc's option ``-code``.",
    "compiler : str, optional": (
        'Compiler to use, "nvcc" or "nvrtc". The default is the value of '
        "PYCUDA_COMPILER, else nvcc."
    ),
    "include_dirs : iterable of str, optional": "Folders to search for headers.",
    "axis : int or None, optional": (
        "Axis along which to compute. The default is the flat array."
    ),
    "ddof : int, optional": (
        "The divisor is the number of elements less ``ddof``. The default is 0."
    ),
    "endpoint : bool, optional": (
        "If false, the last number is one step before ``stop``."
    ),
    "initial : number, optional": (
        "One more element, with which the computation begins."
    ),
    "keep : bool, optional": (
        "If true, compile in a folder that is not removed, and print its name."
    ),
    "keepdims : bool, optional": (
        "If true, the result keeps the axes along which it was computed, with length 1."
    ),
    "no_extern_c : bool, optional": (
        'If true, do not put the source into ``extern "C" { }``.'
    ),
    "nvcc : str, optional": "Name or path of nvcc.",
    "options : iterable of str, optional": (
        "Options of the compiler. The default is DEFAULT_NVCC_FLAGS."
    ),
    'norm : {"backward", "ortho", "forward"}, optional': (
        'Scaling of the transform. The default is "backward": the inverse transform is '
        'divided by the number of elements. With "ortho" both transforms are divided '
        'by its square root, with "forward" the forward transform by the number.'
    ),
    'order : {"C", "F"}, optional': "Order of the elements in memory.",
    'order : {"C", "F", "A", "K"}, optional': (
        'Order of the elements in memory. "K" keeps the order of the axes, "A" is "F" '
        'for an array in Fortran order, else "C".'
    ),
    "out : GPUArray, optional": (
        "Array of the result's shape to which the result goes. The default is a new "
        "array."
    ),
    "s : sequence of int, optional": (
        "Lengths of the transform along the axes. The input is cut off or padded with "
        "zeros; -1 is its own length. The default is the lengths of the input."
    ),
    "stream : Stream, optional": (
        "Stream in which the work is enqueued. The default is the current stream."
    ),
    "where : GPUArray, optional": (
        "Mask of the elements that count, which broadcasts. The default is all."
    ),
}

WIDTH = 88
NAME = r"\w+(?:, \w+)* : "
#: By the ending of a file: the pattern of a parameter's line, and what surrounds lines.
KINDS = {
    ".py": (re.compile(rf"( *)({NAME}.*)"), "", ""),
    ".c": (re.compile(rf'( *)"({NAME}.*?)(?:\\n)+"'), '"', '\\n"'),
}


def described(lines, kind):
    """Return the lines of a file with the descriptions of shared parameters."""
    header, before, after = KINDS[kind]
    result = []
    rest = iter([*lines, ""])
    line = next(rest)
    for following in rest:
        result.append(line)
        match = header.fullmatch(line)
        text = TEXTS.get(match[2].replace('\\"', '"')) if match else None
        line = following
        if text is None:
            continue
        indent = match[1] + before + "    "
        if before:
            text = text.replace('"', '\\"')
        replaced = [result[-1]]
        while line.startswith(indent):
            replaced.append(line)
            line = next(rest)
        wrapped = textwrap.wrap(
            text,
            WIDTH - len(after) - 2 * bool(after),
            initial_indent=indent,
            subsequent_indent=indent,
        )
        result += [each + after for each in wrapped]
        if before and replaced[-1].endswith(r'\n\n"'):  # an empty line follows
            result[-1] = result[-1].replace(after, r'\n\n"')
            result[-1 - len(wrapped)] = replaced[0].replace(r'\n\n"', after)
    return result


def sources(root):
    """Return the files with docstrings."""
    found = [*(root / "pycuda").rglob("*.py")]
    return sorted([*found, *(root / "src/cpp_free_c/python").rglob("*.c")])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("root", nargs="?", default=ROOT, type=Path)
    options = parser.parse_args()
    outdated = []
    for path in sources(options.root):
        text = path.read_text(encoding="utf-8")
        wanted = "\n".join([*described(text.splitlines(), path.suffix), ""])
        if text and wanted != text:
            outdated.append(str(path.relative_to(options.root)))
            if not options.check:
                path.write_text(wanted, encoding="utf-8")
    if options.check and outdated:
        print("run tools/shared_parameters.py:", *outdated, sep="\n  ")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
