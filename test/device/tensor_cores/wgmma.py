"""The forms of wgmma, their matrices in shared memory, and their kernels."""

from dataclasses import dataclass, replace

import numpy as np

from . import inputs
from .forms import BITS
from .kernels import Registers, braces, entry, place, transfers

#: Bytes of a row of the pattern, by the number of the swizzle in a descriptor.
SWIZZLES = {0: 16, 3: 32, 2: 64, 1: 128}
#: Bytes of shared memory of a kernel.
MEMORY = 48 * 1024 - 1024
LANES = 128


@dataclass(frozen=True)
class Descriptor:
    """A matrix in shared memory: bytes, as the instruction's descriptor has them."""

    start: int
    leading: int
    stride: int
    swizzle: int
    base: int = 0

    def bits(self):
        return (
            (self.leading >> 4) << 16
            | (self.stride >> 4) << 32
            | self.base << 49
            | self.swizzle << 62
        )


@dataclass(frozen=True)
class Form:
    columns: int
    types: tuple  # of D, A, B
    b: Descriptor
    a: Descriptor = None  # None: A is in registers
    transposed: tuple = (0, 0)
    negated: tuple = (1, 1)
    scale: int = 1  # 0: without the addend
    after: str = ""
    sparse: str = ""

    @property
    def depth(self):
        return 256 // BITS[self.types[1]] * (2 if self.sparse else 1)

    @property
    def text(self):
        d, a, b = self.types
        middle = ".sp" if self.sparse else ""
        before = ".satfinite" if self.after == ".satfinite" else ""
        after = "" if before else self.after
        return (
            f"wgmma.mma_async{middle}.sync.aligned.m64n{self.columns}k{self.depth}"
            f"{before}.{d}.{a}.{b}{after}"
        )

    @property
    def name(self):
        parts = [self.text]
        for label, place_ in (("a", self.a), ("b", self.b)):
            if place_ is None:
                parts.append("registers")
                continue
            parts.append(
                f"{label}:{place_.start}/{place_.leading}/{place_.stride}"
                f"/{place_.swizzle}/{place_.base}"
            )
        parts.append("".join(str(t) for t in self.transposed))
        parts.append("".join("-" if t < 0 else "+" for t in self.negated))
        return " ".join([*parts, f"scale{self.scale}", self.sparse]).strip()

    @property
    def registers(self):
        """The registers of D."""
        return self.columns * BITS[self.types[0]] // 64


def kernel(form):
    """Return the kernel of a form: parameters pd, ps (memory), pc, and pa or pe."""
    pool = Registers()
    d = pool.take(form.types[0], form.registers)
    a = pool.take("b32", 4) if form.a is None else []
    e = pool.take("b32", 1) if form.sparse else []
    lines = _fill()
    lines += place("pc", "%q0", d, LANES) + transfers("ld", d, "%q0", LANES)
    names = ["pd", "ps", "pc"]
    for name, registers, address in (("pa", a, "%q1"), ("pe", e, "%q2")):
        if registers:
            names.append(name)
            lines += place(name, address, registers, LANES)
            lines += transfers("ld", registers, address, LANES)
    lines += _descriptor("%q3", form.b)
    if form.a is not None:
        lines += _descriptor("%q4", form.a)
    operands = [braces(d), braces(a) if a else "%q4", "%q3"]
    if form.sparse:
        operands += [e[0], form.sparse]
    operands.append("%p1")
    if form.types[1] not in ("s8", "u8", "b1"):
        operands += [str(s) for s in form.negated]
    if BITS[form.types[1]] == 16:
        operands += [str(t) for t in form.transposed[0 if form.a else 1 :]]
    lines += [
        f"setp.ne.u32 %p1, {form.scale}, 0;",
        "wgmma.fence.sync.aligned;",
        f"{form.text} {', '.join(operands)};",
        "wgmma.commit_group.sync.aligned;",
        "wgmma.wait_group.sync.aligned 0;",
    ]
    lines += place("pd", "%q5", d, LANES) + transfers("st", d, "%q5", LANES)
    return entry(names, lines)


def _fill():
    """Copy the memory of the block to shared memory."""
    return [
        f".shared .align 1024 .b8 near[{MEMORY}];",
        "ld.param.u64 %q6, [ps];",
        f"mul.wide.u32 %q7, %m1, {MEMORY};",
        "add.s64 %q6, %q6, %q7;",
        "mul.wide.u32 %q7, %m0, 4;",
        "add.s64 %q6, %q6, %q7;",
        "mov.u32 %m3, near;",
        "mad.lo.u32 %m4, %m0, 4, %m3;",
        f"add.u32 %m5, %m3, {MEMORY};",
        "Fill:",
        "ld.global.u32 %m6, [%q6];",
        "st.shared.u32 [%m4], %m6;",
        f"add.s64 %q6, %q6, {4 * LANES};",
        f"add.u32 %m4, %m4, {4 * LANES};",
        "setp.lt.u32 %p0, %m4, %m5;",
        "@%p0 bra Fill;",
        "fence.proxy.async;",
        "bar.sync 0;",
    ]


def _descriptor(register, descriptor):
    return [
        f"add.u32 %m6, %m3, {descriptor.start};",
        "and.b32 %m6, %m6, 0x3ffff;",
        "shr.u32 %m6, %m6, 4;",
        f"cvt.u64.u32 {register}, %m6;",
        f"or.b64 {register}, {register}, 0x{descriptor.bits():016x};",
    ]


def compact(rows, swizzle, transposed, start):
    """Return the descriptor of a matrix without gaps, and the bytes to its end.

    rows: the rows of A or the columns of B. A transposed matrix has them along a line.
    """
    width = SWIZZLES[swizzle]
    if not transposed:
        stride = 256 if swizzle == 0 else 8 * width
        leading = 128 if swizzle == 0 else 16
        return Descriptor(start, leading, stride, swizzle), start + rows // 8 * stride
    if swizzle == 0:
        found = Descriptor(start, 128, 256, swizzle)
        return found, start + max(1, rows // 8) * 256
    chunks = -(-rows * 2 // width)
    found = Descriptor(start, 16 * width, 8 * width, swizzle)
    return found, start + chunks * 16 * width


def form(columns, types, swizzles, transposed=(0, 0), shared=True, **options):
    """Return a form whose matrices follow each other in shared memory."""
    a, start = None, 0
    if shared:
        a, start = compact(64, swizzles[0], transposed[0], 0)
    start = -(-start // 1024) * 1024
    b, end = compact(columns, swizzles[1], transposed[1], start)
    if end > MEMORY:
        raise ValueError(f"{columns} columns need {end} bytes")
    return Form(columns, types, b, a, transposed, **options)


def _types():
    yield from ((d, "f16", "f16") for d in ("f32", "f16"))
    yield ("f32", "bf16", "bf16")
    yield ("f32", "tf32", "tf32")
    for a in ("e4m3", "e5m2"):
        for b in ("e4m3", "e5m2"):
            yield from ((d, a, b) for d in ("f32", "f16"))
    for a in ("s8", "u8"):
        for b in ("s8", "u8"):
            yield ("s32", a, b)
    yield ("s32", "b1", "b1")


def numeric_forms():
    """Return forms whose answers show the arithmetic: few columns, many groups."""
    found = []
    for types in _types():
        after = ".and.popc" if types[1] == "b1" else ""
        found.append(form(8, types, (0, 0), after=after))
        found.append(form(24, types, (1, 2), shared=False, after=after))
        if types[1] in ("s8", "u8"):
            found.append(form(8, types, (0, 0), after=".satfinite"))
    for types in (
        ("f32", "f16", "f16"),
        ("f16", "f16", "f16"),
        ("f32", "tf32", "tf32"),
    ):
        for negated in ((-1, 1), (1, -1), (-1, -1)):
            found.append(form(8, types, (0, 0), negated=negated))
        found.append(form(8, types, (0, 0), scale=0))
    found.append(form(8, ("f32", "e4m3", "e4m3"), (0, 0), negated=(-1, 1), scale=0))
    found.append(form(8, ("s32", "s8", "s8"), (0, 0), scale=0))
    return found


def sparse_forms():
    found = []
    for types, selectors in (
        (("f32", "f16", "f16"), "01"),
        (("f16", "f16", "f16"), "0"),
        (("f32", "bf16", "bf16"), "1"),
        (("f32", "tf32", "tf32"), "01"),
        (("f32", "e4m3", "e5m2"), "0"),
        (("f16", "e5m2", "e4m3"), "0"),
        (("s32", "s8", "s8"), "0"),
        (("s32", "u8", "s8"), "0"),
    ):
        for selector in selectors:
            for shared in (True, False):
                a, start = None, 0
                if shared:
                    a, start = compact(64, 0, False, 0)
                b = Descriptor(start, 128, 512, 0)
                found.append(Form(16, types, b, a, sparse=selector))
    return found


def layout_forms():
    """Return forms that show where the elements of A and B are in shared memory."""
    found = []
    for columns in range(8, 257, 8):
        types = (("f32", "f16", "f16"), ("f16", "f16", "f16"))[columns // 8 % 2]
        for transposed in (0, 1):
            swizzle = (columns // 8 + transposed) % 4
            found.append(form(columns, types, (0, swizzle), (0, transposed), False))
    for i, columns in enumerate((8, 16, 24, 32, 48, 96, 128, 192, 256)):
        for types in (("s32", "s8", "s8"), ("f32", "tf32", "tf32")):
            found.append(form(columns, types, (i % 4, (i + 1) % 4)))
    for swizzle in SWIZZLES:
        for transposed in (0, 1):
            found.append(form(32, ("f32", "f16", "f16"), (swizzle, 3), (transposed, 0)))
    return found


def odd_forms():
    """Return forms with strides, starts and base offsets that tiles seldom have."""
    found, types = [], ("f32", "f16", "f16")
    for swizzle in SWIZZLES:
        for transposed in (0, 1):
            plain, _ = compact(40, swizzle, transposed, 8192)
            for change in (
                {"leading": 1040, "stride": 2080},
                {"leading": 2048, "stride": 1024},
                {"leading": 48, "stride": 80},
                {"leading": 0, "stride": 0},
                {"start": 8192 + 32},
                {"start": 8192 + 16},
                {"start": 8192 + 128},
                {"start": 8192 + 512},
                {"start": 8192 + 512, "base": 4},
                {"start": 8192 + 128, "base": 1},
                {"base": 3},
                {"start": 8192 + 128 + 64, "base": 1, "leading": 640},
            ):
                b = replace(plain, **change)
                found.append(Form(40, types, b, None, (0, transposed)))
                a = replace(b, start=b.start - 8192)
                b, _ = compact(16, 0, 0, 24576)
                found.append(Form(16, types, b, a, (transposed, 0)))
    return found


# -- inputs ----------------------------------------------------------------------------


def operands(form, groups, seed=""):
    """Return the arrays of a kernel by the names of its parameters."""
    source = inputs.Source(form.name + seed)
    d, a, b = form.types
    styles = [inputs.STYLES[i % len(inputs.STYLES)] for i in range(groups)]
    c = [s[1] for s in styles]
    found = {"pc": inputs.operand(source, LANES, form.registers, d, c)}
    memory = []
    limit = form.b.start // 1024 * 1024 if form.a is not None else 0
    for style, _ in styles:
        near = inputs.numbers(source, limit * 8 // BITS[a], a, style)
        far = inputs.numbers(source, (MEMORY - limit) * 8 // BITS[b], b, style)
        memory.append(inputs.packed(near, a) + inputs.packed(far, b))
    found["ps"] = np.frombuffer(b"".join(memory), "<u4").reshape(groups, -1)
    if form.a is None:
        first = [s[0] for s in styles]
        found["pa"] = inputs.operand(source, LANES, 4, a, first)
    if form.sparse:
        found["pe"] = inputs.indices(source, 4 * groups, a).reshape(groups, 1, LANES)
    return found


def probe(form):
    """Return operands that copy a matrix of halves in shared memory to D.

    The other matrix has a one in each row. Each half is the number of its place, in
    group 0 modulo 2048 and in group 1 divided by it.
    """
    half = np.arange(MEMORY // 2)
    near = np.stack([half % 2048, half // 2048]).astype(np.float16)
    found = {"pc": np.zeros((2, form.registers, LANES), np.uint32)}
    if form.a is None:
        lane = np.arange(LANES)
        far, at = lane % 32 // 4, lane % 4 * 2
        ones = np.zeros((4, LANES, 2), np.float16)
        for register in range(4):
            row, column = far + register % 2 * 8, at + register // 2 * 8
            for i in range(2):
                ones[register, :, i] = row % 16 == column + i
        found["pa"] = np.stack([ones.view(np.uint32)[..., 0]] * 2)
    else:
        place_ = form.b.start // 2
        for column in range(16):
            for row in range(16):
                index = place_ + column // 8 * 128 + column % 8 * 8 + row % 8
                near[:, index + row // 8 * 64] = row == column
    found["ps"] = near.view(np.uint32).reshape(2, -1)
    return found
