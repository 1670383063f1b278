"""Kernels of one instruction each, and their operands."""

import functools
import importlib.util
import re
import zlib
from pathlib import Path

import numpy as np

from device.conformance import values

ROOT = Path(__file__).resolve().parents[3]

#: Sections of the patterns whose forms compute a value.
SECTIONS = (
    "Integer arithmetic",
    "Extended precision",
    "Floating point",
    "Half precision",
    "Comparison and selection",
    "Logic and shift",
    "Data movement",
    "Conversion",
    "Video",
)

#: Opcodes of these sections that are no functions of their operands, or whose answer
#: the manual leaves open for some operands; other tests cover them.
OTHER_OPCODES = {
    *("mov", "shfl", "ld", "ldu", "st", "multimem", "prefetch", "prefetchu", "discard"),
    *("applypriority", "isspacep", "cvta", "mapa", "getctarank"),
    *("fns", "div", "rem"),
}

THREADS = 512

#: Bytes of an answer of one thread: the result, and the carry or second predicate.
WIDTH = 16
ANSWER = WIDTH * THREADS

#: Forms in one module.
TOGETHER = 100

#: Where the operands of each kind are: (kind, column) gives a place in the input.
KINDS = (
    *("b16", "b32", "b64", "f32", "f64", "f16", "bf16", "f16x2", "bf16x2"),
    *("s16", "s32", "s64", "count"),
)
COLUMNS = 4

#: The NaN of 16 bits that stands for an element outside of a tensor.
OUTSIDE = 0x7FF7
STRIDE = 8 * THREADS

_CLASS = {"h": "b16", "r": "b32", "q": "b64", "f": "f32", "d": "f64", "p": "pred"}
_BYTES = {"h": 2, "r": 4, "q": 8, "f": 4, "d": 8}


@functools.cache
def tool():
    """Return tools/ptx_forms.py as a module."""
    path = ROOT / "tools" / "ptx_forms.py"
    spec = importlib.util.spec_from_file_location("ptx_forms", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# -- which forms --------------------------------------------------------------------


def is_function(form):
    """Whether a form computes an exact value from registers."""
    opcode, operands = form
    words = opcode.split(".")
    if words[0] == "createpolicy" and operands.endswith(",f"):
        return False  # open for a fraction beyond 1
    if words[0] in OTHER_OPCODES or {"approx", "full", "range"} & set(words):
        return False
    pattern = r"_?[!-]?[hrqfdpTDS]\d?(\.\w+)?(\|p2?)?|_\|p|0x\w+|\d\.\d+"
    return all(re.fullmatch(pattern, part) for part in operands.split(","))


@functools.cache
def forms():
    """Return all forms to run, in the order of the patterns."""
    found = tool().legal(tool().sections())
    return tuple(f for name in SECTIONS for f in found[name] if is_function(f))


def name_of(form):
    return " ".join(form)


# -- operands -----------------------------------------------------------------------


@functools.cache
def inputs():
    """Return the values of all kinds and columns, as bytes."""
    whole = bytearray(len(KINDS) * COLUMNS * STRIDE)
    for number, kind in enumerate(KINDS):
        if kind == "count":
            rng = values.source("counts of forms")
            near = [values.random_bits(rng, 32, THREADS) % 70 for _ in range(COLUMNS)]
            far = [values.random_bits(rng, 32, THREADS) for _ in range(COLUMNS)]
            pick = np.arange(THREADS) % 3 == 0
            columns = [np.where(pick, f, n) for f, n in zip(far, near, strict=True)]
        else:
            columns = values.ternary(kind, f"forms {kind}", THREADS)
            columns.append(values.ternary(kind, f"forms, fourth {kind}", THREADS)[0])
        if kind in ("f16", "bf16", "f16x2", "bf16x2"):
            columns[0][::37] = OUTSIDE
            columns[1][5::37] = OUTSIDE | 0x8000
        for column, data in enumerate(columns):
            data = data.astype(
                values.uint(32 if kind == "count" else values.width(kind))
            )
            at = (number * COLUMNS + column) * STRIDE
            whole[at : at + data.nbytes] = data.tobytes()
    return np.frombuffer(bytes(whole), np.uint8)


def value_kind(word, letter):
    """Return the kind of values for an operand of a type."""
    if word in KINDS:
        return word
    plain = {"h": "b16", "r": "b32", "q": "b64", "f": "f32", "d": "f64", "p": "b32"}
    return plain[letter]


def types_of(opcode):
    return [w for w in opcode.split(".")[1:] if tool().kind_of(w)]


class Kernel:
    """The text of the kernel for one form."""

    def __init__(self, number, form):
        self.number, (self.opcode, operands) = number, form
        self.lines, self.count = [], 0
        self.declared = []
        self.column = 0
        types = types_of(self.opcode)
        second = types[1] if len(types) > 1 else types[0]
        self.letters = {"D": types[0], "S": second, "T": types[-1]}
        self.operands = operands.split(",")

    def register(self, letter):
        self.count += 1
        name = f"%{letter}{self.count}"
        self.declared.append(f".reg .{_CLASS[letter]} {name};")
        return name

    def split(self, part):
        """Return (before, letter, type or None, after) of an operand."""
        match = re.fullmatch(r"([!-]?)([hrqfdpTDS])\d?(\.\w+)?", part)
        letter, kind = match[2], None
        if letter in self.letters:
            kind = self.letters[letter]
            letter = tool().kind_of(kind)
        return match[1], letter, kind, match[3] or ""

    def load(self, letter, kind):
        base = self.opcode.partition(".")[0]
        counts = ("shl", "shr", "shf", "bfe", "bfi", "bmsk", "szext", "vshl", "vshr")
        if kind is None and letter == "r" and base in counts and self.column:
            place = KINDS.index("count")
        else:
            place = KINDS.index(value_kind(kind, letter))
        at = (place * COLUMNS + self.column) * STRIDE
        self.column += 1
        wide = "r" if letter == "p" else letter
        size = _BYTES[wide]
        value, address = self.register(wide), self.register("q")
        self.lines += [
            f"mad.wide.u32 {address}, %me, {size}, %in;",
            f"ld.global.{_CLASS[wide]} {value}, [{address}+{at}];",
        ]
        if letter != "p":
            return value
        flag, bit = self.register("p"), self.register("r")
        self.lines += [
            f"and.b32 {bit}, {value}, 1;",
            f"setp.ne.u32 {flag}, {bit}, 0;",
        ]
        return flag

    def source(self, part):
        if part[0].isdigit():
            return part
        before, letter, kind, after = self.split(part)
        return before + self.load(letter, kind) + after

    def keep(self, letter, register, at):
        if letter == "p":
            flag = self.register("r")
            self.lines.append(f"selp.u32 {flag}, 1, 0, {register};")
            letter, register = "r", flag
        self.lines.append(f"st.global.{_CLASS[letter]} [%out+{at}], {register};")

    def text(self):
        sources = [self.source(part) for part in self.operands[1:]]
        first, _, second = self.operands[0].partition("|")
        kept = []
        target = "_"
        after = ""
        if first != "_":
            _, letter, _, after = self.split(first)
            target = self.register(letter)
            kept.append((letter, target, 0))
            if after:  # a part of the register is written
                self.lines.append(f"mov.b32 {target}, 0x76543210;")
        if second:
            other = self.register("p")
            kept.append(("p", other, 8))
            target = f"{target}{after}|{other}"
            after = ""
        base = self.opcode.partition(".")[0]
        if base in ("addc", "subc", "madc"):
            a, b, lost = self.load("r", None), self.load("r", None), self.register("r")
            self.lines.append(f"add.cc.u32 {lost}, {a}, {b};")
        self.lines.append(f"{self.opcode} {', '.join([target + after, *sources])};")
        if ".cc" in self.opcode:
            carry = self.register("r")
            self.lines.append(f"addc.u32 {carry}, 0, 0;")
            kept.append(("r", carry, 8))
        for item in kept:
            self.keep(*item)
        return "\n".join([
            f".visible .entry k{self.number}(.param .u64 input, .param .u64 output) {{",
            *self.declared,
            ".reg .b64 %in, %out; .reg .b32 %me; mov.u32 %me, %tid.x;",
            "ld.param.u64 %in, [input]; cvta.to.global.u64 %in, %in;",
            "ld.param.u64 %out, [output]; cvta.to.global.u64 %out, %out;",
            f"mad.wide.u32 %out, %me, {WIDTH}, %out;",
            *self.lines,
            "ret; }",
        ]) + "\n"  # fmt: skip


def module(numbers):
    """Return a module with the kernels of the forms of these numbers."""
    text = ".version 9.0\n.target sm_90a\n.address_size 64\n"
    return text + "".join(Kernel(n, forms()[n]).text() for n in numbers)


def fingerprint():
    """Return a number that changes with any kernel or input."""
    text = module(range(len(forms())))
    return zlib.crc32(inputs().tobytes(), zlib.crc32(text.encode()))


def count():
    return len(forms())
