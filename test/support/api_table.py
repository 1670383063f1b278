"""Compare the package with the table of public names, test/data/api.tsv.

A row has a module, a name in it, the kind of the object and its signature. The package
may offer more than a row says, for example another optional parameter or a keyword,
but never less. ``complaint`` describes the difference for one row.
"""

import ast
import csv
import importlib
import inspect
import io
import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import pycuda.driver as drv

#: Modules whose functions take the parameters of the table by position only, as the
#: functions of the standard library's struct do.
POSITIONAL = ("pycuda._pvt_struct",)

#: Functions that take any keyword in the table, but only useful keywords here.
NAMED_KEYWORDS = (
    "pycuda.gpuarray.GPUArray.get",
    "pycuda.gpuarray.GPUArray.reshape",
    "pycuda.gpuarray.GPUArray.set",
    "pycuda.gpuarray.arange",
)

#: A name of another package. The table has it to say that this package lacks it.
NOWHERE = ("pycuda.gpuarray.GPUArray._new_with_changes",)

#: Objects that take a keyword missing from their signature, and a call that proves it.
SECOND_KEYWORDS = {
    "pycuda.driver.ArgumentHandler": lambda: drv.ArgumentHandler(ary=np.zeros(1)),
}

PATH = Path(__file__).resolve().parents[1] / "data" / "api.tsv"
TWICE = b"""
.version 6.0
.target sm_50
.address_size 64
.visible .entry nothing() { ret; }
"""


@dataclass(frozen=True)
class Row:
    module: str
    qualname: str
    kind: str
    signature: str

    def __str__(self):
        return f"{self.module}.{self.qualname}"


def read(*modules):
    """Return the rows of some modules, in order."""
    with PATH.open(newline="", encoding="utf-8") as file:
        lines = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        rows = [
            Row(line["module"], line["qualname"], line["kind"], line["signature"])
            for line in lines
        ]
    return [row for row in rows if row.module in modules and str(row) not in NOWHERE]


# -- signatures ------------------------------------------------------------------------


class Any:
    """A default that the table describes in words."""


@dataclass(frozen=True)
class Parameter:
    name: str
    kind: inspect._ParameterKind
    required: bool
    default: object = None


def parentheses(text):
    """Return the parameter list of a signature, or None if it has none."""
    if not text.startswith("("):
        return None
    depth = 0
    for place, char in enumerate(text):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth == 0:
            return text[: place + 1]
    raise ValueError(f"unbalanced: {text}")


def default_of(node):
    """Return the value of a default from the table."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        scope = {"drv": drv, "np": np}.get(node.value.id)
        return getattr(scope or getattr(drv, node.value.id), node.attr)
    try:
        return ast.literal_eval(node)
    except ValueError:
        return Any


def parse(text):
    """Return the parameters that a parameter list of the table describes."""
    plain = re.sub(r"<[^>]*>", "object()", text.replace(", ...)", ")"))
    arguments = ast.parse(f"def f{plain}: pass").body[0].args
    found = []
    positional = [
        *((node, inspect.Parameter.POSITIONAL_ONLY) for node in arguments.posonlyargs),
        *((node, inspect.Parameter.POSITIONAL_OR_KEYWORD) for node in arguments.args),
    ]
    first_default = len(positional) - len(arguments.defaults)
    for number, (node, kind) in enumerate(positional):
        required = number < first_default
        default = (
            None if required else default_of(arguments.defaults[number - first_default])
        )
        found.append(Parameter(node.arg, kind, required, default))
    if arguments.vararg:
        found.append(
            Parameter(arguments.vararg.arg, inspect.Parameter.VAR_POSITIONAL, False)
        )
    for node, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        value = None if default is None else default_of(default)
        kind = inspect.Parameter.KEYWORD_ONLY
        found.append(Parameter(node.arg, kind, default is None, value))
    if arguments.kwarg:
        found.append(
            Parameter(arguments.kwarg.arg, inspect.Parameter.VAR_KEYWORD, False)
        )
    return found


def same_default(wanted, ours):
    if wanted is Any or ours is ...:
        return True
    if wanted is drv.mem_alloc and ours is None:  # arrays then allocate with mem_alloc
        return True
    if isinstance(wanted, (list, tuple)) and not wanted:
        return ours is None or len(ours) == 0
    return ours is not inspect.Parameter.empty and wanted == ours


def compare(wanted, signature):
    """Return why a call that follows the table fails with our signature, or None."""
    ours = list(signature.parameters.values())
    takes_all = {p.kind for p in ours} >= {
        inspect.Parameter.VAR_POSITIONAL,
        inspect.Parameter.VAR_KEYWORD,
    }
    if takes_all:
        return None
    by_name = {parameter.name: parameter for parameter in ours}
    by_place = [
        parameter
        for parameter in ours
        if parameter.kind.name in ("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD")
    ]
    used = set()
    for place, parameter in enumerate(wanted):
        kind = parameter.kind.name
        if kind.startswith("VAR_"):
            if not any(p.kind == parameter.kind for p in ours):
                return f"does not take {parameter.name} in any number"
            continue
        if kind == "KEYWORD_ONLY":
            found = by_name.get(parameter.name)
        else:
            found = by_place[place] if place < len(by_place) else None
        if found is None:
            return f"has no parameter {parameter.name}"
        used.add(found.name)
        if kind != "POSITIONAL_ONLY" and (
            found.name != parameter.name or found.kind.name == "POSITIONAL_ONLY"
        ):
            return f"does not take {parameter.name} by keyword (has {found})"
        if not parameter.required and not same_default(
            parameter.default, found.default
        ):
            return f"has {found}, not the default {parameter.default!r}"
    for parameter in ours:
        needed = parameter.default is inspect.Parameter.empty
        if parameter.name not in used and needed and "VAR_" not in parameter.kind.name:
            return f"wants {parameter.name} too"
    return None


def signature_of(owner, name, found):
    """Return the signature of a function, without self for a method."""
    signature = inspect.signature(found)
    if owner is None or not inspect.isclass(owner):
        return signature
    raw = inspect.getattr_static(owner, name)
    bound = isinstance(raw, (staticmethod, classmethod)) or inspect.isbuiltin(found)
    if bound or type(raw).__name__ in ("classmethod_descriptor", "staticmethod"):
        return signature
    parameters = list(signature.parameters.values())
    return signature.replace(parameters=parameters[1:])


def by_position(parameter):
    if parameter.kind.name != "POSITIONAL_OR_KEYWORD":
        return parameter
    return replace(parameter, kind=inspect.Parameter.POSITIONAL_ONLY)


# -- objects with attributes of their own ----------------------------------------------


def prepared_function():
    function = drv.module_from_buffer(TWICE).get_function("nothing")
    function.prepare("")
    return function


def linked_module():
    from pycuda.compiler import DynamicModule

    return DynamicModule().add_data(TWICE, drv.jit_input_type.PTX).link()


def sparse_sample(name):
    """Return an object of a class of pycuda.sparse, or None for another name."""
    from pycuda.gpuarray import to_gpu
    from pycuda.sparse import cg, coordinate, inner, operator, packeted

    ones, matrix = to_gpu(np.ones(3)), np.eye(3)

    def allocate(shape, dtype, stream):
        return drv.pagelocked_empty(shape, dtype)

    def state():
        container = cg.CGStateContainer(coordinate.CoordinateSpMV(matrix))
        container.reset(ones)
        return container

    makers = {
        "AsyncInnerProduct": lambda: inner.AsyncInnerProduct(ones, ones, allocate),
        "CGStateContainer": state,
        "CoordinateSpMV": lambda: coordinate.CoordinateSpMV(matrix),
        "DiagonalPreconditioner": lambda: operator.DiagonalPreconditioner(ones),
        "IdentityOperator": lambda: operator.IdentityOperator(np.float64, 3),
        "PacketedSpMV": lambda: packeted.PacketedSpMV(matrix, True),
    }
    return makers[name]() if name in makers else None


def sample(row):
    """Return an object of a row's class, in the current context."""
    from pycuda import compiler, curandom, tools
    from pycuda.compyte import array, dtypes
    from pycuda.elementwise import ElementwiseKernel
    from pycuda.reduction import ReductionKernel
    from pycuda.scan import InclusiveScanKernel

    makers = {
        "ArrayFlags": lambda: array.ArrayFlags(np.zeros(3)),
        "Argument": lambda: tools.Argument(np.float32, "x"),
        "CompileError": lambda: drv.CompileError("text", ["nvcc"]),
        "DTypeRegistry": lambda: dtypes.DTypeRegistry(),
        "DebugMemoryPool": lambda: tools.DebugMemoryPool(False, io.StringIO()),
        "DeviceData": lambda: tools.DeviceData(),
        "DynamicModule": linked_module,
        "Function": prepared_function,
        "MRG32k3aRandomNumberGenerator": curandom.MRG32k3aRandomNumberGenerator,
        "OccupancyRecord": lambda: tools.OccupancyRecord(tools.DeviceData(), 32),
        "ElementwiseKernel": lambda: ElementwiseKernel("float *x", "x[i] = 1"),
        "ReductionKernel": lambda: ReductionKernel(
            "f4", "0", "a+b", "x[i]", "float *x"
        ),
        "_ScanKernelBase": lambda: InclusiveScanKernel(np.int32, "a + b"),
        "_PseudoRandomNumberGeneratorBase": curandom.XORWOWRandomNumberGenerator,
        "_RandomNumberGeneratorBase": curandom.XORWOWRandomNumberGenerator,
        "SourceModule": lambda: compiler.SourceModule("__global__ void k() {}"),
    }
    name = row.qualname.partition(".")[0]
    if row.module.startswith("pycuda.sparse"):
        return sparse_sample(name)
    maker = makers.get(name)
    return None if maker is None else maker()


# -- rows ------------------------------------------------------------------------------


def find(row):
    """Return the owner of the name, the name and its value, or raise AttributeError."""
    owner = importlib.import_module(row.module)
    *path, name = row.qualname.split(".")
    for part in path:
        owner = getattr(owner, part)
    if name.startswith("<"):
        return owner, name, owner
    if row.kind == "attribute" and not hasattr(owner, name):
        return owner, name, getattr(sample(row), name)
    return owner, name, getattr(owner, name)


def complain_about_class(row, found):
    if not inspect.isclass(found):
        return "is no class"
    for base in re.findall(r"bases? ([\w, .]+)$", row.signature):
        for word in base.split(", "):
            known = getattr(importlib.import_module(row.module), word, None)
            if known is not None and not issubclass(found, known):
                return f"is not derived from {word}"
    if "alias of " in row.signature:
        other = row.signature.partition("alias of ")[2]
        if found is not getattr(drv, other):
            return f"is not {other}"
    if "(enumeration)" in row.signature and not issubclass(found, int):
        return "is not derived from int"
    if "not constructible" in row.signature:
        try:
            found()
        except TypeError:
            return None
        return "can be made by calling it"
    return None


def complain_about_exception(row, found):
    if not (inspect.isclass(found) and issubclass(found, Exception)):
        return "is no exception"
    base = row.signature.partition(")")[0].lstrip("(").rpartition(".")[2]
    scope = vars(drv) if row.module.startswith("pycuda.driver") else {}
    known = scope.get(base) or vars(__import__("builtins")).get(base)
    if known is not None and not issubclass(found, known):
        return f"is not derived from {base}"
    return None


def complain_about_dunder(owner, name):
    """Check that properties replace the attributes of PyCUDA's ``__getattr__``."""
    names = {"Device": drv.device_attribute, "Function": drv.function_attribute}
    missing = [
        member
        for member in names[owner.__name__].names
        if not hasattr(owner, member.lower())
        # MAX is the number of attributes and not an attribute itself.
        and member != "MAX"
    ]
    return f"has no {', '.join(missing)}" if missing else None


def complaint(row):
    """Return how the package differs from a row, or None if it does not."""
    served = row.kind == "dunder" and row.qualname.endswith(".__getattr__")
    try:
        if served:
            owner = getattr(importlib.import_module(row.module), row.qualname[:-12])
            return complain_about_dunder(owner, row.qualname)
        owner, name, found = find(row)
    except (ImportError, AttributeError) as error:
        return f"is missing ({error})"
    if row.signature.startswith("same object as "):
        holder, _, short = row.signature.removeprefix("same object as ").rpartition(".")
        same = getattr(importlib.import_module(holder), short) is found
        return None if same else "is another object"
    if row.kind in ("constant", "enum_value") and row.signature.startswith("= "):
        value = ast.literal_eval(row.signature.removeprefix("= "))
        return None if found == value else f"is {found!r}, not {value!r}"
    if row.kind == "class":
        wrong = complain_about_class(row, found)
        if wrong:
            return wrong
    if row.kind == "exception":
        return complain_about_exception(row, found)
    if row.kind in ("function", "method", "staticmethod") and not callable(found):
        return "cannot be called"
    if str(row) in SECOND_KEYWORDS:
        SECOND_KEYWORDS[str(row)]()
        return None
    listed = parentheses(row.signature)
    if listed is None or row.kind in ("dunder", "property", "attribute", "module_attr"):
        return None
    try:
        signature = signature_of(owner if row.kind != "class" else None, name, found)
    except ValueError as error:
        return f"does not tell its signature: {error}"
    wanted = parse(listed)
    if str(row) in NAMED_KEYWORDS:
        wanted = [p for p in wanted if p.kind.name != "VAR_KEYWORD"]
    if row.module in POSITIONAL:
        wanted = [by_position(parameter) for parameter in wanted]
    return compare(wanted, signature)


def walk(*modules):
    """Return the number of rows of some modules, and a list of (row, complaint)."""
    rows = read(*modules)
    found = [(str(row), complaint(row)) for row in rows]
    return len(rows), [pair for pair in found if pair[1]]
