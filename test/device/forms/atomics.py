"""Kernels of one atomic operation each. Every thread has its own word."""

import functools
import re
import zlib

from . import kernels

THREADS = 128

#: Bytes of an answer of one thread: the memory after the operation, and the result.
WIDTH = 32
ANSWER = 2 * WIDTH * THREADS
TOGETHER = 50


@functools.cache
def forms():
    """Return all forms of atom and red, in the order of the patterns."""
    found = kernels.tool().legal(kernels.tool().sections())["Synchronisation"]
    return tuple(
        form
        for form in found
        if form[0].partition(".")[0] in ("atom", "red") and ".async" not in form[0]
    )


def inputs():
    return kernels.inputs()


def vector(names):
    return names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"


class Kernel:
    """The text of the kernel for one form."""

    def __init__(self, number, form):
        self.number, (self.opcode, operands) = number, form
        self.operands = operands.split(",")
        if self.opcode.startswith("red"):
            self.operands.insert(0, None)
        kind = kernels.types_of(self.opcode)[-1]
        self.kind = kind
        match = re.fullmatch(r"(?:(\d)\*)?(\w)2?", self.operands[2])
        self.count = int(match[1] or 1)
        self.letter = kernels.tool().kind_of(kind)
        self.bytes = {"h": 2, "r": 4, "q": 8, "f": 4, "d": 8, "x": 16}[self.letter]
        self.lines = []

    def place(self, column, element):
        """Return where the values of an operand of an element are."""
        kind = "b64" if self.letter == "x" else self.kind
        number = kernels.KINDS.index(kernels.value_kind(kind, self.letter))
        index = (column + element) % kernels.COLUMNS
        return (number * kernels.COLUMNS + index) * kernels.STRIDE + 16 * element

    def load(self, name, column):
        """Load the elements of an operand. Return the operand."""
        cls = {"h": "b16", "r": "b32", "q": "b64", "f": "f32", "d": "f64", "x": "b128"}
        cls = cls[self.letter]
        names = [f"%{name}{i}" for i in range(self.count)]
        self.lines.append(f".reg .{cls} {', '.join(names)};")
        for i, register in enumerate(names):
            if self.letter == "x":
                at = self.place(column, 0)
                self.lines.append(f"ld.global.v2.b64 {{%qa, %qb}}, [%wide+{at}];")
                self.lines.append(f"mov.b128 {register}, {{%qa, %qb}};")
            else:
                at = self.place(column, i)
                self.lines.append(f"ld.global.{cls} {register}, [%one+{at}];")
        return names

    def store(self, names, base, at=0):
        space = "shared" if base == "%near" else "global"
        for i, register in enumerate(names):
            where = f"[{base}+{at + i * self.bytes}]"
            if self.letter == "x":
                self.lines.append(f"mov.b128 {{%qa, %qb}}, {register};")
                self.lines.append(f"st.{space}.v2.b64 {where}, {{%qa, %qb}};")
            else:
                self.lines.append(f"st.{space}.b{8 * self.bytes} {where}, {register};")

    def text(self):
        shared = ".shared" in self.opcode
        place = "%near" if shared else "%slot"
        if not shared and ".global" not in self.opcode:
            place = "%any"
        memory, operand, other = (
            self.load(name, column) for name, column in (("m", 2), ("v", 0), ("n", 1))
        )
        old = self.load("old", 3)
        self.store(memory, "%near" if shared else "%slot")
        if ".cas" in self.opcode:  # every second comparison succeeds
            if self.letter == "x":
                self.lines.append(f"@%even mov.b128 {operand[0]}, {memory[0]};")
            else:
                self.lines.append(
                    f"@%even mov.b{8 * self.bytes} {operand[0]}, {memory[0]};"
                )
        parts = [f"[{place}]", vector(operand)]
        rest = self.operands[3:]
        if ".cas" in self.opcode:
            parts.append(vector(other))
            rest = rest[1:]
        if rest:
            parts.append("%policy")
        if self.operands[0]:
            parts.insert(0, vector(old))
        self.lines.append(f"{self.opcode} {', '.join(parts)};")
        if shared:
            back = self.load("back", 3)
            for i, register in enumerate(back):
                where = f"[%near+{i * self.bytes}]"
                if self.letter == "x":
                    self.lines.append(f"ld.shared.v2.b64 {{%qa, %qb}}, {where};")
                    self.lines.append(f"mov.b128 {register}, {{%qa, %qb}};")
                else:
                    self.lines.append(
                        f"ld.shared.b{8 * self.bytes} {register}, {where};"
                    )
            self.store(back, "%slot")
        self.store(old, "%slot", WIDTH)
        size = min(self.bytes, 8)
        return "\n".join([
            f".visible .entry k{self.number}(.param .u64 input, .param .u64 output) {{",
            ".reg .b64 %in, %out, %one, %wide, %slot, %any, %near, %qa, %qb, %policy;",
            ".reg .b32 %me, %bit; .reg .pred %even;",
            f".shared .align 16 .b8 room[{16 * THREADS}];",
            "mov.u32 %me, %tid.x;",
            "and.b32 %bit, %me, 1; setp.eq.u32 %even, %bit, 0;",
            "ld.param.u64 %in, [input]; cvta.to.global.u64 %in, %in;",
            "ld.param.u64 %out, [output]; cvta.to.global.u64 %out, %out;",
            f"mad.wide.u32 %one, %me, {size}, %in; mad.wide.u32 %wide, %me, 16, %in;",
            f"mad.wide.u32 %slot, %me, {2 * WIDTH}, %out;",
            "cvta.global.u64 %any, %slot;",
            "mov.u64 %near, room; mad.wide.u32 %near, %me, 16, %near;",
            "createpolicy.fractional.L2::evict_last.b64 %policy, 1.0;"
            if "cache_hint" in self.opcode else "",
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
