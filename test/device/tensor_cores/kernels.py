"""The texts of kernels with one instruction of the tensor cores each.

Every operand is an array of registers: element [warp][register][lane].
"""

HEADER = ".version {}\n.target sm_90a\n.address_size 64\n"
VERSION = "8.7"

_PREFIX = {"f64": "%d", "f32": "%f"}
_ACCESS = {"%d": "f64", "%f": "f32", "%r": "u32"}
_DECLARE = """.reg .b32 %r<300>; .reg .f32 %f<300>; .reg .f64 %d<40>;
.reg .b64 %q<20>; .reg .pred %p<4>; .reg .b32 %m<20>;"""


class Registers:
    """Hands out the registers of operands."""

    def __init__(self):
        self.used = dict.fromkeys(_ACCESS, 0)

    def take(self, kind, count):
        prefix = _PREFIX.get(kind, "%r")
        first = self.used[prefix]
        self.used[prefix] += count
        return [f"{prefix}{i}" for i in range(first, first + count)]


def braces(registers):
    return "{" + ", ".join(registers) + "}"


def transfers(operation, registers, base, lanes=32):
    """Return loads or stores of registers at the address of the lane's first one."""
    lines = []
    for i, register in enumerate(registers):
        access = _ACCESS[register[:2]]
        offset = i * lanes * (8 if access == "f64" else 4)
        if operation == "ld":
            lines.append(f"ld.global.{access} {register}, [{base}+{offset}];")
        else:
            lines.append(f"st.global.{access} [{base}+{offset}], {register};")
    return lines


def place(parameter, address, registers, lanes=32):
    """Return the lines that compute where a lane's first register is.

    %m0 is the lane, %m1 is the warp.
    """
    count, size = len(registers), 8 if registers[0].startswith("%d") else 4
    return [
        f"ld.param.u64 {address}, [{parameter}];",
        f"mad.lo.u32 %m2, %m1, {count * lanes}, %m0;",
        f"mul.wide.u32 %q9, %m2, {size};",
        f"add.s64 {address}, {address}, %q9;",
    ]


def entry(parameters, lines):
    """Return a module with the kernel k."""
    listed = ", ".join(f".param .u64 {p}" for p in parameters)
    head = [_DECLARE, "mov.u32 %m0, %tid.x;", "mov.u32 %m1, %ctaid.x;"]
    body = "\n".join(head + lines)
    return f"{HEADER.format(VERSION)}.visible .entry k({listed}) {{\n{body}\nret; }}\n"


def multiplication(form):
    """Return the kernel of an mma: parameters pd, pa, pb, pc and, if sparse, pe."""
    pool = Registers()
    d, a, b, c = (
        pool.take(kind, count)
        for kind, count in zip(form.types, form.registers, strict=True)
    )
    lines, names = [], {"pa": a, "pb": b, "pc": c}
    if form.sparse:
        names["pe"] = pool.take("b32", 1)
    for i, (name, registers) in enumerate(names.items()):
        lines += place(name, f"%q{i}", registers)
        lines += transfers("ld", registers, f"%q{i}")
    operands = ", ".join(braces(registers) for registers in (d, a, b, c))
    if form.sparse:
        operands += f", {names['pe'][0]}, {form.sparse}"
    lines.append(f"{form.text} {operands};")
    lines += place("pd", "%q5", d) + transfers("st", d, "%q5")
    return entry(["pd", *names], lines)
