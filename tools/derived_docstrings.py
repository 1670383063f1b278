#!/usr/bin/env python3
"""Write the docstrings of pycuda.array_api that follow from those of other functions.

    python tools/derived_docstrings.py [--check] [root]

A function of the array API standard calls one of ``pycuda.gpuarray``, ``pycuda.linalg``
or ``pycuda.fft``, and has fewer parameters. Its first sentence and the paragraphs below
it are by hand. This tool writes the sections: those of the function that it calls, with
the names of its own parameters and without what it lacks. ROWS has what differs. So a
fact stands in one place, and ``help()``, editors and pages show it.

With --check nothing is written. What is out of date is named, and the status is 1.
"""

import argparse
import ast
import importlib
import inspect
import re
import sys
import textwrap
from pathlib import Path

from numpydoc.docscrape import NumpyDocString

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path("pycuda/array_api")
WIDTH = 88

#: The names by which the modules call other functions, and the modules of these.
HOMES = {
    "_ga": "pycuda.gpuarray",
    "_solvers": "pycuda.linalg",
    "_fourier": "pycuda.fft",
}

#: Functions whose sections are by hand, because no other function is alike.
BY_HAND = {"arange", "empty", "reshape"}

_DEVICE = ("Device, optional", "The device, which must be that of the current context.")
_FLOAT64 = ("dtype_like, optional", "Dtype of the result. The default is float64.")
_LIKE = ("GPUArray", "Array with the shape and dtype.")
_PART = (
    "GPUArray or number",
    "Array of any dtype of numbers. One of both is an array.",
)
_CORRECTION = (
    "number, optional",
    "The divisor is the number of elements less ``correction``. The default is 0.",
)
_FREQUENCIES = {
    "dtype": _FLOAT64,
    "TypeError": "",
    "ValueError": "If ``n`` is not positive, or if ``dtype`` has no real floats.",
}
_ON_DEVICE = "If an operand is not on the device."
_TOLERANCE = (
    "float or GPUArray, optional",
    "Singular values up to ``rtol`` times the largest count as 0. The default is "
    "``max(m, n)`` times the dtype's epsilon.",
)

#: What an error says of functions that take matrices of floats only.
MATRICES = {
    "TypeError": "If the elements are not floating-point or complex numbers.",
    "ValueError": "If ``{}`` has fewer than two axes.",
}

#: Parameters, "return" and errors that differ from the other function's, or that it
#: lacks: by function, then by name, the type and the text. An empty text of an error
#: leaves it out.
ROWS = {
    "argsort": {"TypeError": "", "ValueError": "If there is no such axis."},
    "astype": {"TypeError": "If complex numbers would lose their imaginary parts."},
    "concat": {"TypeError": ""},
    "cross": {
        "axis": ("int, default -1", "Axis of the elements, counted from the end."),
        "ValueError": "If the vectors do not have three elements, or ``axis`` is not "
        "negative.",
    },
    "diagonal": {
        "x": ("GPUArray", "Matrices, shape (..., m, n)."),
        "ValueError": "If there are fewer than two axes.",
    },
    "empty_like": {"x": _LIKE},
    "eye": {"dtype": _FLOAT64},
    "fftfreq": _FREQUENCIES,
    "full_like": {"x": _LIKE},
    "isin": {
        "x1": _PART,
        "x2": ("GPUArray or number", "The other array, or one number."),
        "ValueError": "",
    },
    "linspace": {
        "start": ("number", "First number."),
        "stop": ("number", "Last number."),
        "return": ("GPUArray", "A new array with the values of ``numpy.linspace``."),
    },
    "matmul": {"TypeError": _ON_DEVICE},
    "matrix_norm": {
        "ValueError": "If there is no such order, or if ``x`` has fewer than two axes.",
    },
    "matrix_rank": {
        "x": ("GPUArray", "Matrices, shape (..., m, n)."),
        "rtol": _TOLERANCE,
    },
    "meshgrid": {
        "ValueError": "If the arrays differ in dtype, if one has more axes, or if "
        "``indexing`` is something else.",
    },
    "ones": {"dtype": _FLOAT64},
    "ones_like": {"x": _LIKE},
    "outer": {"ValueError": "If an array has not one axis."},
    "pinv": {"rtol": _TOLERANCE},
    "qr": {
        "mode": (
            '{"reduced", "complete"}, optional',
            'With k = min(m, n), "reduced" gives shapes (..., m, k) and (..., k, n), '
            '"complete" (..., m, m) and (..., m, n).',
        ),
        "return": ("QRResult", "The named tuple ``(Q, R)``."),
        "LinAlgError": "",
        "ValueError": "If there is no such mode, or if ``x`` has fewer than two axes.",
    },
    "rfftfreq": _FREQUENCIES,
    "searchsorted": {"x2": ("GPUArray or number", "The values.")},
    "sort": {"TypeError": "", "ValueError": "If there is no such axis."},
    "stack": {"TypeError": ""},
    "std": {"correction": _CORRECTION},
    "svd": {
        "return": ("SVDResult", "The named tuple ``(U, S, Vh)``. The values descend."),
        "RuntimeError": "On the software device, which has no cuSOLVER.",
    },
    "tile": {
        "repetitions": (
            "tuple of int",
            "Number of repetitions along each axis. The shorter one of ``repetitions`` "
            "and the shape gets ones in front.",
        ),
    },
    "take": {
        "indices": ("GPUArray", "Integers. Negative ones count from the end."),
        "axis": (
            "int or None, default None",
            "Axis of the indices. It can be left out for an array with one axis.",
        ),
        "ValueError": "If there is no such axis, or if it is missing.",
    },
    "trace": {
        "x": ("GPUArray", "Matrices, shape (..., m, n)."),
        "ValueError": "If there are fewer than two axes.",
    },
    "var": {"correction": _CORRECTION},
    "vecdot": {
        "axis": ("int, default -1", "Axis of the vectors, counted from the end."),
        "TypeError": _ON_DEVICE,
        "ValueError": "If the shapes do not fit, or ``axis`` is not negative.",
    },
    "vector_norm": {"TypeError": MATRICES["TypeError"]},
    "zeros": {"dtype": _FLOAT64},
    "zeros_like": {"x": _LIKE},
}

#: Examples that differ from the other function's.
EXAMPLES = {
    "astype": [
        ">>> xp.astype(gpuarray.to_gpu(np.array([1.5, 2.5])), xp.int32)",
        "array([1, 2], dtype=int32)",
    ],
    "matrix_power": [
        ">>> xp.linalg.matrix_power(gpuarray.to_gpu(np.array([[1.0, 1], [0, 1]])), 5)",
        "array([[1., 5.],",
        "       [0., 1.]])",
    ],
    "slogdet": [
        ">>> a = gpuarray.to_gpu(np.array([[0.0, 1], [1, 0]]))",
        ">>> sign, logarithm = xp.linalg.slogdet(a)",
        ">>> print(sign, logarithm)",
        "-1.0 0.0",
    ],
    "squeeze": [">>> xp.squeeze(xp.zeros((1, 3, 1)), axis=2).shape", "(1, 3)"],
    "svd": [
        ">>> a = gpuarray.to_gpu(np.array([[4.0, 1], [1, 3]]))",
        ">>> xp.linalg.svdvals(a)",
        "array([4.61803399, 2.38196601])",
    ],
    "take_along_axis": [
        ">>> x = gpuarray.to_gpu(np.array([[3, 1], [2, 4]]))",
        ">>> xp.take_along_axis(x, xp.argsort(x))",
        "array([[1, 3],",
        "       [2, 4]])",
    ],
    "tile": [">>> xp.tile(xp.arange(3), (2,))", "array([0, 1, 2, 0, 1, 2])"],
    "zeros": [">>> xp.zeros((2, 3), dtype=xp.float32).shape", "(2, 3)"],
}

#: What is not true of functions that take matrices of floats only.
UNTRUE = ("Integers are computed in float64.", ' and mode "raw"')


class DerivationError(Exception):
    """A function does not have the form that this tool expects."""


def counterpart(function, home):
    """Return the other function: the one that a definition calls, or of its name."""
    for node in ast.walk(function):
        called = node.func if isinstance(node, ast.Call) else None
        is_theirs = (
            isinstance(called, ast.Attribute)
            and isinstance(called.value, ast.Name)
            and called.value.id in HOMES
        )
        if is_theirs and (called.attr == function.name or len(function.body) < 3):
            home, name = HOMES[called.value.id], called.attr
            break
    else:
        name = function.name
    other = getattr(importlib.import_module(home), name, None)
    return other, f"{home}.{name}"


def parameters_of(function):
    """Return the names of the parameters, with asterisks, and which have defaults."""
    args = function.args
    names = [arg.arg for arg in (*args.posonlyargs, *args.args)]
    have = dict.fromkeys(names[len(names) - len(args.defaults) :])
    if args.vararg:
        names.append(f"*{args.vararg.arg}")
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        names.append(arg.arg)
        if default is not None:
            have[arg.arg] = None
    return names, set(have)


def kind_of(kind, name, optional):
    """Return the type of a parameter, which is optional if it has a default."""
    if name not in optional:
        return kind.partition(", optional")[0].partition(", default")[0]
    return kind if re.search(r"optional|default", kind) else f"{kind}, optional"


def paired(own, theirs):
    """Return the other function's name of each parameter that has one."""
    pairs = {name: name for name in own if name in theirs}
    free = [name for name in theirs if name not in pairs]
    for name in own:
        if name not in pairs and name != "device" and free:
            pairs[name] = free.pop(0)
    return pairs


class Wording:
    """What turns a text of the other function into one of this function."""

    def __init__(self, pairs, theirs):
        self.renamed = {theirs: own for own, theirs in pairs.items()}
        self.missing = {name for name in theirs if name not in self.renamed}

    def fits(self, sentence):
        """Return whether a sentence names no parameter that is not there."""
        return not {*re.findall(r"``\*?(\w+)``", sentence)} & self.missing

    def text(self, lines):
        """Return a text without the sentences that do not fit."""
        text = " ".join(line.strip() for line in lines)
        for phrase in UNTRUE:
            text = text.replace(phrase, "")
        text = re.sub(r"^(The result: )?``out``, or a new", "A new", text)
        text = text.replace("``out``, or a new", "a new")
        sentences = re.split(r"(?<=[.])\s+(?=[A-Z`])", text)
        text = " ".join(each for each in sentences if self.fits(each))
        return re.sub(r"``(\w+)``", self._own, text)

    def _own(self, found):
        return f"``{self.renamed.get(found[1], found[1])}``"


def wrapped(text, indent, first=""):
    """Return the lines of a text in a section of a docstring."""
    return textwrap.wrap(
        text, WIDTH - 4, initial_indent=first or indent, subsequent_indent=indent
    )


def row(head, text):
    """Return the lines of a row of a section."""
    return [head, *wrapped(text, " " * 4)]


def section(title, lines):
    return ["", title, "-" * len(title), *lines] if lines else []


def see_also(doc, path, missing, listed):
    """Return the lines about the other function, and about functions beside this."""
    more = ", ".join(f"``{name}``" for name in missing)
    text = f"It has {more} too." if more else "The function that it calls."
    lines = wrapped(text, " " * 4, f"{path} : ")
    for names, description in doc["See Also"]:
        for name, _ in names:
            if name in listed:
                lines += wrapped(" ".join(description), " " * 4, f"{name} : ")
    return lines


def example(doc, function, other, module):
    """Return the lines of the example, which calls this function instead."""
    lines = list(EXAMPLES.get(function.name, doc["Examples"]))
    lines = [line for line in lines if not line.startswith(">>> from pycuda import")]
    own = f"xp.{module}.{function.name}(" if module else f"xp.{function.name}("
    lines = [
        re.sub(r"\b(?<!xp\.)(fft|linalg)\.(?=\w+\()", r"xp.\1.", each) for each in lines
    ]
    pattern = rf"\b(?:gpuarray|xp\.linalg|xp\.fft)\.{other.__name__}\("
    lines = [re.sub(pattern, own, line) for line in lines]
    if any("xp." in line for line in lines):
        return [">>> import pycuda.array_api as xp", *lines]
    return lines


def sections_of(function, other, path, listed, module):
    """Return the lines of the sections of a function."""
    doc = NumpyDocString(inspect.getdoc(other))
    rows = {"device": _DEVICE, **ROWS.get(function.name, {})}
    theirs = {each.name: each for each in doc["Parameters"]}
    own, optional = parameters_of(function)
    pairs = paired(own, theirs)
    words = Wording(pairs, theirs)
    lines = []
    for name in own:
        if name in rows:
            kind, text = rows[name]
        else:
            kind, text = theirs[pairs[name]].type, words.text(theirs[pairs[name]].desc)
        if name not in optional:
            text = re.sub(r" The default is [^.]*\.", "", text)
        lines += row(f"{name} : {kind_of(kind, name, optional)}", text)
    result = section("Parameters", lines)
    returned = [(each.type, words.text(each.desc)) for each in doc["Returns"]]
    returned = [rows["return"]] if "return" in rows else returned
    result += section("Returns", [line for each in returned for line in row(*each)])
    raised = {each.type: words.text(each.desc) for each in doc["Raises"]}
    if any(getattr(node, "id", "") == "_check_matrices" for node in ast.walk(function)):
        raised |= {name: text.format(own[0]) for name, text in MATRICES.items()}
    raised |= {name: text for name, text in rows.items() if name.endswith("Error")}
    if "device" in own and "``device``" not in raised.get("ValueError", ""):
        before = raised.get("ValueError", "").rstrip(".")
        text = "if ``device`` is another one."
        raised["ValueError"] = f"{before}, or {text}" if before else f"I{text[1:]}"
    raised = {name: text for name, text in raised.items() if text}
    lines = [line for name in sorted(raised) for line in row(name, raised[name])]
    result += section("Raises", lines)
    missing = [name for name in theirs if name in words.missing]
    result += section("See Also", see_also(doc, path, missing, listed))
    result += section("Notes", wrapped(words.text(doc["Notes"]), ""))
    return result + section("Examples", example(doc, function, other, module))


# -- the files -------------------------------------------------------------------------


def rewritten(path, text):
    """Return the text of a module with the sections of its docstrings."""
    module = "" if path.stem.startswith("_") else path.stem
    home = f"pycuda.{module}" if module else "pycuda.gpuarray"
    public = importlib.import_module(f"pycuda.array_api.{path.stem}")
    listed = {*public.__all__, *importlib.import_module("pycuda.array_api").__all__}
    lines = text.splitlines()
    tree = ast.parse(text)
    for function in reversed(tree.body):
        name = getattr(function, "name", "_")
        if name not in public.__all__ or name in BY_HAND:
            continue
        if not isinstance(function, ast.FunctionDef):
            continue
        other, path_of_other = counterpart(function, home)
        if other is None:
            continue
        node = function.body[0]
        words = ast.get_docstring(function).partition("\n\nParameters\n---")[0]
        found = sections_of(function, other, path_of_other, listed, module)
        new = [f'"""{words}', *found, '"""']
        lines[node.lineno - 1 : node.end_lineno] = [
            f"    {line}" if line else "" for line in "\n".join(new).splitlines()
        ]
    return "\n".join([*lines, ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("root", nargs="?", default=ROOT, type=Path)
    options = parser.parse_args()
    outdated = []
    for path in sorted((options.root / FOLDER).glob("*.py")):
        if path.stem in ("__init__", "_elementwise", "special"):
            continue
        text = path.read_text(encoding="utf-8")
        wanted = rewritten(path, text)
        if wanted != text:
            outdated.append(str(path.relative_to(options.root)))
            if not options.check:
                path.write_text(wanted, encoding="utf-8")
    if options.check and outdated:
        print("run tools/derived_docstrings.py:", *outdated, sep="\n  ")
        return 1
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
