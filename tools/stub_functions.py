"""The declarations of functions in a stub.

The text signatures of a built extension, and Python's own of functions in Python, have
the names, the order, the kinds and the defaults of parameters. stub_types.ini has what
they do not say: the types, by the names of parameters, and the results. make_stub.py
writes the declarations into the stubs.
"""

import ast
import configparser
import inspect
import re
import types
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

TYPES = Path(__file__).with_name("stub_types.ini")
WIDTH = 88

# -- reading the text signatures -------------------------------------------------------


@dataclass
class Described:
    """A function or method, and the text of its signature."""

    owner: str  # its class, or ""
    name: str
    text: str = ""
    doc: str = ""
    decorator: str = ""
    first: str = ""  # self or cls
    room: str = ""  # whose own rows of types come first

    @property
    def path(self):
        return f"{self.owner}.{self.name}" if self.owner else self.name


def read_constructor(owner, class_):
    """Return a list of the constructor, which is empty if there are no parameters."""
    text = class_.__text_signature__
    if text in (None, "()"):
        return []
    if "__init__" in vars(class_):
        return [Described(owner, "__init__", text, first="self")]
    if "__new__" in vars(class_):
        return [Described(owner, "__new__", text, "Return", first="cls")]
    return []


def says_that_it_returns(doc):
    """Say whether a docstring has a section Returns, or names a result before it."""
    text, *sections = re.split(r"\n(\w[\w ]*)\n---+\n", doc)
    return "Returns" in sections or bool(re.search(r"\b[Rr]eturns?\b", text))


def inherited_texts(class_, name):
    """Return the texts of a method in the base classes: subclasses repeat rows."""
    bases = [vars(base) for base in class_.__mro__[1:-1]]
    return [base[name].__text_signature__ for base in bases if name in base]


def read_methods(owner, class_):
    """Return what the class has itself; operators have no text signature of ours."""
    found = read_constructor(owner, class_)
    for name, method in vars(class_).items():
        kind, first = "", "self"
        if isinstance(method, staticmethod):
            kind, first, method = "staticmethod", "", method.__func__
        elif isinstance(method, types.ClassMethodDescriptorType):
            kind, first = "classmethod", "cls"
        elif not isinstance(method, types.MethodDescriptorType):
            continue
        text = method.__text_signature__
        if name != "__reduce__" and text not in inherited_texts(class_, name):
            found.append(Described(owner, name, text, method.__doc__, kind, first))
    return found


def read_extension(module):
    """Return {class: [Described]}, and the functions of the module under ""."""
    classes = {}
    for name, class_ in vars(module).items():
        if isinstance(class_, type) and not issubclass(class_, tuple):
            classes.setdefault(class_, name)  # more names are other spellings
    texts = {name: read_methods(name, class_) for class_, name in classes.items()}
    texts[""] = [
        Described("", name, function.__text_signature__, function.__doc__)
        for name, function in vars(module).items()
        if isinstance(function, types.BuiltinFunctionType)
    ]
    return texts


def text_of(function):
    """Return the signature of a function in Python, without annotations."""
    none = inspect.Parameter.empty
    parameters = []
    for parameter in inspect.signature(function).parameters.values():
        is_class = isinstance(parameter.default, type) and parameter.default is not none
        default = ... if is_class else parameter.default
        parameters.append(parameter.replace(annotation=none, default=default))
    return str(inspect.Signature(parameters))


def read_python(module, room):
    """Return the public functions in Python that a module calls its own."""
    functions = {name: getattr(module, name) for name in dir(module)}
    return [
        Described("", name, text_of(function), function.__doc__, room=room)
        for name, function in functions.items()
        if isinstance(function, types.FunctionType)
        and function.__module__ == module.__name__
        and not name.startswith("_")
    ]


# -- the types -------------------------------------------------------------------------


class Types:
    """The rows of stub_types.ini. Patterns are looked up after names."""

    def __init__(self, stub):
        file = configparser.ConfigParser(delimiters=":", interpolation=None)
        file.optionxform = str
        file.read_string(TYPES.read_text())
        self.wrong = []
        self.rows = {part: {} for part in file.sections()}
        for part, rows in self.rows.items():
            for type_, names in file[part].items():
                for name in names.split():
                    if name in rows:
                        self.wrong.append(f"[{part}] has {name} twice")
                    rows[name] = type_
        self.patterns = {
            part: [row for row in rows if "*" in row]
            for part, rows in self.rows.items()
        }
        self.unused = {(part, name) for part in self.rows for name in self.rows[part]}
        aliases = re.findall(r"^(_\w+)(?:: TypeAlias)? = .*\bNone\b", stub, re.M)
        self.with_none = {"None", "Any", "object", *aliases}

    def find(self, part, *names):
        """Return the type in the row of the first of the names that has one."""
        rows = self.rows[part]
        for name in names:
            patterns = [row for row in self.patterns[part] if fnmatchcase(name, row)]
            for row in [name, *patterns]:
                if row in rows:
                    self.unused.discard((part, row))
                    return rows[row]
        return None

    def of_parameter(self, function, name, default):
        names = (f"{function.path}.{name}", f"{function.owner}.{name}", name)
        if function.room:
            own = self.find(f"parameters of {function.room}", *names)
            found = own or self.find("parameters", name)
        else:
            found = self.find("parameters", *names)
        if found is None and default in ("True", "False"):
            return "bool"
        if found is None:
            message = f"{function.path} has the parameter {name}, which has no row"
            self.wrong.append(message)
            return "Any"
        takes_none = found.split(" | ")[-1] in self.with_none
        return f"{found} | None" if default == "None" and not takes_none else found

    def of_result(self, function, is_of_arrays):
        room = f" of {function.room}" if function.room else ""
        found = self.find(f"results{room}", function.path)
        if found is None and function.name in ("__init__", "__new__"):
            return "None" if function.name == "__init__" else "Self"
        if found is None and not says_that_it_returns(function.doc):
            return "None"
        if found is None and is_of_arrays:
            return "GPUArray"
        if found is None:
            self.wrong.append(f"{function.path} returns something, which has no row")
        return found or "Any"

    def problems(self):
        """Return a line about each missing type, and each row without use."""
        unused = [
            f"[{part}] has the row {name}, but no function has that"
            for part, name in sorted(self.unused)
        ]
        return [f"{TYPES.name}: {line}" for line in self.wrong + unused]


# -- writing functions -----------------------------------------------------------------


def write_default(value):
    """Return the text of a default, or ... if it is no constant."""
    if value is None:
        return None
    try:
        found = ast.literal_eval(value)
    except ValueError:
        return "..."
    return f'"{found}"' if isinstance(found, str) else ast.unparse(value)


def write_parameters(function, known):
    """Return the parameters with their types, without self or cls."""
    text = re.sub(r"^\(\$\w+(, /)?(, )?", "(", function.text)
    found = ast.parse(f"def f{text}: ...").body[0].args
    places = found.posonlyargs + found.args
    defaults = [None] * (len(places) - len(found.defaults)) + found.defaults
    lines = []

    def write(parameter, value=None, stars=""):
        default = write_default(value)
        type_ = known.of_parameter(function, parameter.arg, default)
        equals = "" if default is None else f" = {default}"
        lines.append(f"{stars}{parameter.arg}: {type_}{equals}")

    for i, (parameter, default) in enumerate(zip(places, defaults, strict=True)):
        write(parameter, default)
        if i + 1 == len(found.posonlyargs):
            lines.append("/")
    if found.vararg:
        write(found.vararg, stars="*")
    elif found.kwonlyargs:
        lines.append("*")
    for parameter, default in zip(found.kwonlyargs, found.kw_defaults, strict=True):
        write(parameter, default)
    if found.kwarg:
        write(found.kwarg, stars="**")
    return lines


def write_declaration(function, parameters, result):
    """Return the lines of a declaration, laid out as ruff does it."""
    indent = "    " if function.owner else ""
    lines = [f"{indent}@{function.decorator}"] if function.decorator else []
    parameters = ([function.first] if function.first else []) + parameters
    begin, end = f"{indent}def {function.name}(", f") -> {result}: ..."
    inside, further = ", ".join(parameters), f"{indent}    "
    if len(begin + inside + end) <= WIDTH:
        return [*lines, begin + inside + end]
    if len(further + inside) <= WIDTH:
        return [*lines, begin, further + inside, indent + end]
    return [*lines, begin, *(f"{further}{p}," for p in parameters), indent + end]


def is_of_arrays(function, parameters):
    """Say whether a function is a method of an array, takes one first, or makes one."""
    first = parameters[0] if parameters else ""
    of_arrays = function.owner == "GPUArray" or function.room == "gpuarray"
    return of_arrays or "GPUArray" in first or "_Operand" in first


def write_function(function, known):
    """Return the lines of a function: two declarations if the result has its dtype.

    Prepared calls have a second one, with ``size`` in place of grid and block.
    """
    parameters = write_parameters(function, known)
    result = known.of_result(function, is_of_arrays(function, parameters))
    if parameters[:2] == ["grid: _Dims", "block: _Dims"] and "*args: Any" in parameters:
        sized = parameters[2:]
        sized.insert(sized.index("*args: Any") + 1, "size: _Dims")
        return [
            *("    @overload", *write_declaration(function, parameters, result)),
            *("    @overload", *write_declaration(function, sized, result)),
        ]
    if "_Scalar" not in result:
        return write_declaration(function, parameters, result)
    exact = [
        re.sub("^dtype: DTypeLike", "dtype: type[_Scalar] | np.dtype[_Scalar]", p)
        for p in parameters
    ]
    overload = "    @overload" if function.owner else "@overload"
    return [
        *(overload, *write_declaration(function, exact, result)),
        overload,
        *write_declaration(function, parameters, result.replace("_Scalar", "Any")),
    ]
