"""One case of the suite, and the builder of its kernel.

The parameters of a kernel are the addresses of its arrays, in the order in which they
were made, or values. The builder hands out registers and declares them. The text of a
case can be a module alone, or be joined with the texts of other cases.
"""

import hashlib
import re
from dataclasses import dataclass, field

import numpy as np

from . import values
from .rules import EXACT

VERSION = "8.3"

_PREFIX = {
    "pred": "%p",
    "b8": "%b",
    "b16": "%h",
    "b32": "%r",
    "b64": "%q",
    "b128": "%x",
    "f32": "%f",
    "f64": "%d",
}

#: The type with which the harness loads and stores a register of a class.
_ACCESS = {"b16": "u16", "b32": "u32", "b64": "u64", "f32": "f32", "f64": "f64"}


def register_class(kind):
    """Return the class of registers that holds values of a PTX type."""
    if kind in ("pred", "f32", "f64"):
        return kind
    return f"b{max(16, values.width(kind))}"


def identifier(name):
    return "k_" + re.sub(r"\W", "_", name)


@dataclass
class Array:
    """An array of a kernel. `data` is its content before the launch."""

    data: np.ndarray
    is_output: bool
    label: str


@dataclass
class Texture:
    """A texture or surface object. `settings` are for runner.Run.texture."""

    settings: dict


#: Used as an error code: the launch never ends.
HANGS = 0xFFFFFFFF


@dataclass
class Case:
    """A kernel, its parameters, and how its answer is compared."""

    name: str
    family: str
    pairs: tuple
    text: str
    entry: str
    parameters: list
    grid: int
    block: int
    target: int = 75
    rule: object = EXACT
    shared: int = 0
    fails: bool = False  # the launch must end in an error, whose code is the answer
    ends: bool = False  # the answer begins with how the launch ended
    digest: str = field(init=False)

    def __post_init__(self):
        hasher = hashlib.sha1(self.text.encode())
        hasher.update(repr((self.grid, self.block, self.shared)).encode())
        for parameter in self.parameters:
            if isinstance(parameter, Array):
                hasher.update(parameter.data.tobytes())
            elif isinstance(parameter, Texture):
                for key, value in sorted(parameter.settings.items()):
                    if isinstance(value, np.ndarray):
                        value = value.tobytes()
                    hasher.update(repr((key, value)).encode())
            else:
                hasher.update(parameter)
        self.digest = hasher.hexdigest()[:16]

    @property
    def inputs(self):
        arrays = [p for p in self.parameters if isinstance(p, Array)]
        return [a for a in arrays if not a.is_output or a.data.any()]

    @property
    def outputs(self):
        """(label, bits, number of elements) of each array that is compared."""
        found = []
        for parameter in self.parameters:
            if isinstance(parameter, Array) and parameter.is_output:
                data = parameter.data
                found.append((parameter.label, 8 * data.itemsize, data.size))
            elif isinstance(parameter, Texture) and parameter.settings.get("read_back"):
                data = parameter.settings["data"]
                found.append(("surface", 8 * data.itemsize, data.size))
        return found

    def module(self):
        return header(self.target) + self.text


def header(target):
    suffix = "a" if target == "90a" else ""
    return f".version {VERSION}\n.target sm_{target}{suffix}\n.address_size 64\n"


class Kernel:
    """Build the text of one kernel."""

    def __init__(self, name):
        self.name = name
        self.entry = identifier(name)
        self.parameters = []
        self.declared = []  # lines of the parameter list
        self.before = []  # module scope: variables and functions
        self.variables = []  # of the function
        self.lines = []
        self.counts = dict.fromkeys(_PREFIX, 0)
        self.labels = 0
        self.threads = 0
        self.tid = self.special("%tid.x")
        block, size = self.special("%ctaid.x"), self.special("%ntid.x")
        self.index = self.reg("b32")
        self(f"mad.lo.s32 {self.index}, {block}, {size}, {self.tid};")

    def __call__(self, text):
        """Add instructions."""
        self.lines.extend(line.strip() for line in text.strip().splitlines())

    def reg(self, cls):
        self.counts[cls] += 1
        return f"{_PREFIX[cls]}{self.counts[cls]}"

    def regs(self, cls, count):
        return [self.reg(cls) for _ in range(count)]

    def label(self):
        self.labels += 1
        return f"$L_{self.entry}_{self.labels}"

    def special(self, name, cls="b32"):
        register = self.reg(cls)
        self(f"mov.u{cls[1:]} {register}, {name};")
        return register

    def constant(self, value, cls="b32"):
        register = self.reg(cls)
        self(f"mov.u{cls[1:]} {register}, {value};")
        return register

    # -- parameters

    def parameter(self, kind, value, align=None):
        """Add a parameter by value. Return its name."""
        name = f"{self.entry}_p{len(self.parameters)}"
        aligned = f".align {align} " if align else ""
        size = f"[{len(value)}]" if align else ""
        self.declared.append(f".param {aligned}.{kind} {name}{size}")
        self.parameters.append(bytes(value))
        return name

    def _pointer(self, parameter):
        name = f"{self.entry}_p{len(self.parameters)}"
        self.declared.append(f".param .u64 {name}")
        self.parameters.append(parameter)
        address = self.reg("b64")
        self(f"ld.param.u64 {address}, [{name}];")
        return address

    def array(self, parameter):
        address = self._pointer(parameter)
        self(f"cvta.to.global.u64 {address}, {address};")
        return address

    def input(self, data, label="in"):
        """Add an input array. Return the register with its global address."""
        self.threads = max(self.threads, len(data))
        return self.array(Array(np.ascontiguousarray(data), False, label))

    def output(self, bits, count=None, label="out", data=None):
        """Add an output array, which is a part of the answer."""
        if data is None:
            count = self.threads if count is None else count
            data = np.zeros(count, dtype=values.uint(bits))
        return self.array(Array(np.ascontiguousarray(data), True, label))

    def texture(self, **settings):
        """Add a texture or surface object. Return the register with its handle."""
        return self._pointer(Texture(settings))

    # -- elements

    def at(self, base, size, index=None):
        """Return the address of an element, by default that of the thread's number."""
        offset, address = self.reg("b64"), self.reg("b64")
        self(f"""mul.wide.u32 {offset}, {index or self.index}, {size};
                 add.s64 {address}, {base}, {offset};""")
        return address

    def load(self, base, kind, index=None):
        cls = register_class(kind)
        register = self.reg(cls)
        bits = values.width(kind)
        access = "u8" if bits == 8 else _ACCESS[cls]
        address = self.at(base, bits // 8, index)
        self(f"ld.global.{access} {register}, [{address}];")
        return register

    def store(self, base, kind, register, index=None):
        bits = values.width(kind)
        if kind == "pred":
            flag = self.reg("b32")
            self(f"selp.u32 {flag}, 1, 0, {register};")
            register = flag
        access = "u8" if bits == 8 else _ACCESS[register_class(kind)]
        address = self.at(base, bits // 8, index)
        self(f"st.global.{access} [{address}], {register};")

    def keep(self, kind, register, label="out", count=None):
        """Add an output and store this register of each thread in it."""
        bits = values.width(kind)
        self.store(self.output(bits, count, label), kind, register)

    # -- the end

    def text(self):
        declarations = [
            f".reg .{cls} {_PREFIX[cls]}<{count + 1}>;"
            for cls, count in self.counts.items()
            if count
        ]
        body = declarations + self.variables + self.lines + ["ret;"]
        lines = [
            *self.before,
            f".visible .entry {self.entry}(",
            ",\n".join(self.declared),
            ")",
            "{",
            *body,
            "}",
        ]
        return "\n".join(lines) + "\n"

    def case(self, family, pairs, block=values.BLOCK, threads=None, **options):
        threads = threads or self.threads
        if threads % block:
            raise ValueError(f"{self.name}: {threads} threads in blocks of {block}")
        return Case(
            name=self.name,
            family=family,
            pairs=tuple([pairs] if isinstance(pairs, str) else pairs),
            text=self.text(),
            entry=self.entry,
            parameters=self.parameters,
            grid=threads // block,
            block=block,
            **options,
        )


def elementwise(family, pair, result, sources, vectors, text=None, **options):
    """Make a case that applies one instruction to each tuple of operands.

    The optional text has the fields {op}, {d} and {a}, {b}, {c}.
    """
    name = options.pop("name", pair.replace(" ", "."))
    pairs = options.pop("pairs", pair)
    kernel = Kernel(name)
    labels = "abcefgh"  # d is the result
    bases = [kernel.input(v, label) for v, label in zip(vectors, labels, strict=False)]
    given = {
        label: kernel.load(base, kind)
        for base, kind, label in zip(bases, sources, labels, strict=False)
    }
    d = kernel.reg(register_class(result))
    if text is None:
        text = "{op} {d}, " + ", ".join(f"{{{label}}}" for label in given) + ";"
    kernel(text.format(op=pair.strip().replace(" ", "."), d=d, **given))
    kernel.keep(result, d)
    return kernel.case(family, pairs, **options)
