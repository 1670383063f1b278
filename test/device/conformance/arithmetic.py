"""Arithmetic: floating, half, integer, carry chains, and the approximations."""

import numpy as np

from . import rules, values
from .case import Kernel, elementwise

#: pair: target, for instructions that compute capability 7.5 lacks.
TARGETS = {
    "add bf16": 90,
    "add s16x2": 90,
    "fma rn.bf16": 80,
    "mul bf16": 90,
    "mul bf16x2": 90,
    "max f16": 80,
    "max f16x2": 80,
}

UNARY = """
neg f64 f32 s32 s64 f16 s16
abs f64 f32 s32 f16 s64
rcp rn.f64 rn.f32
sqrt rn.f64 rn.f32
"""

BINARY = """
add f64 f32 rn.f64 rn.f32 rz.f32 rz.f64 rp.f32 rp.f64 ftz.f32 f16 f16x2 bf16
add s64 s32 s16 u64 u32 s16x2
sub f64 f32 rn.f32 f16 s32 s64 s16
mul f64 f32 rn.f64 rn.f32 rz.f32 rz.f64 ftz.f32 f16x2 bf16 bf16x2
mul lo.s32 lo.s64 lo.u32 lo.s16 hi.u32 hi.s32 hi.u64 hi.s64
div rn.f64 rn.f32 rm.f32 rm.f64 s32 u32 u16 s64 u64
rem s32 u32 u16 u64 s64
max s32 u32 f32 u64 f64 s64 s16 u16 ftz.f32 f16 f16x2
min s32 u32 f32 u64 f64 s64
mul24 lo.u32
copysign f32 f64
"""

WIDE = {"s32": "s64", "u32": "u64", "s16": "s32", "u16": "u32"}

TERNARY = """
fma rn.f64 rn.f32 rm.f32 rn.f16 rz.f32 rn.f16x2 rn.ftz.f32 rz.f64 rn.bf16
mad lo.s32
mad24 lo.u32
sad s32 u32
"""

#: Forms that are not in the list but occur in programs built with other options.
EXTRA_UNARY = """
neg ftz.f32
abs ftz.f32
rcp rz.f32 rm.f32 rp.f32 rn.ftz.f32 rz.f64 rm.f64 rp.f64
sqrt rz.f32 rm.f32 rp.f32 rn.ftz.f32 rz.f64 rm.f64 rp.f64
"""
EXTRA_BINARY = """
add rm.f32 rm.f64 sat.f32 rn.ftz.f32 sat.s32 rn.f16 sat.f16
sub rz.f32 rm.f32 rp.f32 rz.f64 rm.f64 rp.f64 ftz.f32 sat.f32 sat.s32 u32 u64
mul rm.f32 rp.f32 rm.f64 rp.f64 sat.f32 f16 rn.ftz.f32 lo.u64 lo.u16 hi.s16 hi.u16
div rz.f32 rp.f32 rn.ftz.f32 rz.f64 rp.f64 s16
rem s16
max NaN.f32 NaN.f16
min s16 u16 ftz.f32 f16 NaN.f32 s16x2 u16x2 relu.s32 relu.s16x2
max s16x2 u16x2 relu.s32 relu.s16x2
add u16x2
mul24 lo.s32 hi.s32 hi.u32
"""
EXTRA_TERNARY = """
fma rp.f32 rm.f64 rp.f64 rn.sat.f32 rz.ftz.f32 rm.ftz.f32
fma rn.ftz.f16 rn.sat.f16 rn.relu.f16
mad lo.u32 lo.s64 hi.s32 hi.u32 hi.s64 lo.u64 hi.u64 lo.s16 hi.s16 lo.u16
mad24 lo.s32 hi.s32 hi.u32 hi.sat.s32
mad hi.sat.s32
sad s16 u16 s64 u64
"""
EXTRA_TARGETS = {
    "max NaN.f32": 80,
    "max NaN.f16": 80,
    "min NaN.f32": 80,
    "min f16": 80,
    "add u16x2": 90,
    "min s16x2": 90,
    "min u16x2": 90,
    "min relu.s32": 90,
    "min relu.s16x2": 90,
    "max s16x2": 90,
    "max u16x2": 90,
    "max relu.s32": 90,
    "max relu.s16x2": 90,
    "fma rn.relu.f16": 80,
}

TAU = 6.283185307179586


def rows(table):
    """Yield (pair, type) for each row of a table."""
    for line in table.split("\n"):
        opcode, *forms = line.split() or [""]
        for form in forms:
            yield f"{opcode} {form}", form.rpartition(".")[2]


def family_of(kind):
    if "f16" in kind:
        return "half"
    return "float" if kind[0] == "f" else "integer"


def plain(table, vectors, operands, targets, pairs=True):
    for pair, kind in rows(table):
        options = {"target": targets.get(pair, 75)}
        if not pairs:
            options["pairs"] = ()
        yield elementwise(
            family_of(kind),
            pair,
            kind,
            [kind] * operands,
            vectors(kind, pair),
            **options,
        )


def wide():
    for pair, kind in rows("mul wide.u32 wide.s32 wide.s16 wide.u16"):
        vectors = values.binary(kind, pair)
        yield elementwise("integer", pair, WIDE[kind], [kind] * 2, vectors)
    vectors = values.ternary("u32", "mad wide")
    vectors[2] = values.ternary("u64", "mad wide")[2]
    yield elementwise("integer", "mad wide.u32", "u64", ["u32", "u32", "u64"], vectors)


def carries():
    """Test 128-bit sums and differences, and a product with carries through mad."""
    a, b, c = values.ternary("u32", "carry", 1024)
    high = [np.roll(v, 11) for v in (a, b, c)]

    def start(name):
        kernel = Kernel(name)
        low = [
            kernel.load(kernel.input(v, t), "u32")
            for v, t in zip((a, b, c), "abc", strict=True)
        ]
        top = [
            kernel.load(kernel.input(v, t), "u32")
            for v, t in zip(high, "xyz", strict=True)
        ]
        return kernel, low, top, kernel.regs("b32", 4)

    for op, pairs in (
        ("add", ["add cc.u32", "addc cc.u32", "addc u32"]),
        ("sub", ["sub cc.u32", "subc cc.u32", "subc u32"]),
    ):
        kernel, low, top, d = start(f"{op}.cc chain")
        kernel(f"""{op}.cc.u32 {d[0]}, {low[0]}, {low[1]};
                   {op}c.cc.u32 {d[1]}, {top[0]}, {top[1]};
                   {op}c.cc.u32 {d[2]}, {low[2]}, {top[2]};
                   {op}c.u32 {d[3]}, 0, 0;""")
        for i, register in enumerate(d):
            kernel.keep("u32", register, f"d{i}")
        yield kernel.case("carry", pairs)

    kernel, low, top, d = start("mad.cc chain")
    kernel(f"""mad.lo.cc.u32 {d[0]}, {low[0]}, {low[1]}, {low[2]};
               madc.hi.cc.u32 {d[1]}, {low[0]}, {low[1]}, {top[2]};
               madc.lo.cc.u32 {d[2]}, {top[0]}, {top[1]}, {low[2]};
               madc.hi.u32 {d[3]}, {top[0]}, {top[1]}, 0;""")
    for i, register in enumerate(d):
        kernel.keep("u32", register, f"d{i}")
    yield kernel.case(
        "carry", ["mad lo.cc.u32", "madc hi.cc.u32", "madc lo.cc.u32", "madc hi.u32"]
    )

    # Each mad with carry alone, with its carry-in and its carry-out.
    for form in ("madc lo.cc.u32", "madc hi.cc.u32"):
        kernel, low, top, d = start(f"{form.replace(' ', '.')} alone")
        kernel(f"""add.cc.u32 {d[0]}, {top[0]}, {top[1]};
                   {form.replace(" ", ".")} {d[1]}, {low[0]}, {low[1]}, {low[2]};
                   addc.u32 {d[2]}, 0, 0;""")
        for i, register in enumerate(d[:3]):
            kernel.keep("u32", register, f"d{i}")
        yield kernel.case("carry", ())

    kernel, low, top, d = start("add.cc.u64 chain")
    x, y, s, t = kernel.regs("b64", 4)
    kernel(f"""mov.b64 {x}, {{{low[0]}, {top[0]}}};
               mov.b64 {y}, {{{low[1]}, {top[1]}}};
               add.cc.u64 {s}, {x}, {y};
               addc.u64 {t}, 0, 0;""")
    kernel.keep("u64", s)
    kernel.keep("u64", t, "carry")
    yield kernel.case("carry", ())


#: The starts of a chain: instructions with a carry-out and no carry-in.
CHAIN_STARTS = ("add.cc", "sub.cc", "mad.lo.cc", "mad.hi.cc")
#: The middles have a carry-in and a carry-out, the ends only a carry-in.
CHAIN_MIDDLES = ("addc.cc", "subc.cc", "madc.lo.cc", "madc.hi.cc")
CHAIN_ENDS = ("addc", "subc", "madc.lo", "madc.hi")


def chain_inputs(bits, name, count=64):
    """Make a few values that cause every kind of carry. Their answers compress well."""
    top = 1 << (bits - 1)
    near = values.array([0, 1, 2, 3, -1, -2, top, top - 1, top + 1, top // 2], bits)
    rng = values.source(name)
    columns = []
    for _ in range(3):
        picked = near[values.random_bits(rng, 32, count) % len(near)]
        drawn = values.random_integers(rng, bits, count)
        columns.append(np.where(np.arange(count) % 4 == 3, drawn, picked))
    return columns


def mixed_carries():
    """Combine every start of a chain with every middle and every end.

    The answer is that of the whole chain. So it reveals a carry with the wrong sign,
    which a chain of one operation cannot reveal.
    """
    for kind in ("u32", "s32", "u64", "s64"):
        for start in CHAIN_STARTS:
            kernel = Kernel(f"chains after {start}.{kind}")
            bits = values.width(kind)
            cls = f"b{bits}"
            a, b, c = (
                kernel.load(kernel.input(v, label), f"u{bits}")
                for v, label in zip(
                    chain_inputs(bits, f"{start}.{kind}"), "abc", strict=True
                )
            )

            def step(op, x, y, z, kernel=kernel, cls=cls, kind=kind):
                d = kernel.reg(cls)
                third = f", {z}" if op.startswith("mad") else ""
                kernel(f"{op}.{kind} {d}, {x}, {y}{third};")
                return d

            first = True
            for middle in (None, *CHAIN_MIDDLES):
                for end in CHAIN_ENDS:
                    d = step(start, a, b, c)
                    e = step(middle, b, c, a) if middle else None
                    f = step(end, c, a, b)
                    if first:
                        kernel.keep(kind, d, start)
                        first = False
                    if middle and end == CHAIN_ENDS[0]:
                        kernel.keep(kind, e, f"{start} {middle}")
                    words = " ".join(w for w in (start, middle, end) if w)
                    kernel.keep(kind, f, words)
            yield kernel.case("carry", ())


def carry_of_some_lanes():
    """Let only some lanes change the carry. Plain operations must not change it."""
    kernel = Kernel("carry of some lanes")
    a, b, c = (
        kernel.load(kernel.input(v, label), "u32")
        for v, label in zip(chain_inputs(32, "some lanes"), "abc", strict=True)
    )
    d, e, f, g = kernel.regs("b32", 4)
    odd, p = kernel.reg("b32"), kernel.reg("pred")
    kernel(f"""and.b32 {odd}, {kernel.tid}, 1;
               setp.ne.s32 {p}, {odd}, 0;
               mov.u32 {e}, 0;
               add.cc.u32 {d}, {a}, {b};
               @{p} sub.cc.u32 {e}, {b}, {c};
               add.u32 {f}, {a}, {c};
               mul.lo.u32 {f}, {f}, {b};
               addc.u32 {g}, {f}, 0;""")
    for label, register in zip("degf", (d, e, g, f), strict=True):
        kernel.keep("u32", register, label)
    yield kernel.case("carry", ())


# -- approximations -------------------------------------------------------------------

#: instruction: forms, rule. The modifiers have the order of hand-written PTX.
APPROXIMATE = {
    "ex2": ("approx.ftz.f32 approx.f32.ftz approx.f32", rules.EX2),
    "lg2": ("approx.ftz.f32 approx.f32 approx.f32.ftz", rules.LG2),
    "rcp": ("approx.ftz.f32 approx.f32.ftz", rules.RCP),
    "rsqrt": ("approx.f32.ftz approx.f32 approx.ftz.f32", rules.RSQRT),
    "sqrt": ("approx.ftz.f32", rules.SQRT),
    "sin": ("approx.f32 approx.ftz.f32", rules.SIN_NEAR),
    "cos": ("approx.f32 approx.ftz.f32", rules.SIN_NEAR),
    "tanh": ("approx.f32", rules.TANH),
}


def reals(low, high, count, name):
    """Return the bits of float32 numbers between two limits."""
    unit = values.random_bits(values.source(name), 32, count) / 2.0**32
    return (low + (high - low) * unit).astype(np.float32).view(np.uint32)


def approximate_inputs(op):
    """Return special values, and numbers for which the manual states a bound."""
    special = values.specials("f32")
    if op in ("sin", "cos"):
        real = special.view(np.float32)
        bounded = ~(np.abs(real) > TAU)  # keeps NaN
        bounded |= np.isinf(real)
        return np.concatenate([special[bounded], reals(-TAU, TAU, 960, op)])
    parts = [special, values.unary("f32", op)[0]]
    if op == "ex2":
        parts += [reals(-151, 129, 512, op), reals(-1, 1, 256, op + "1")]
        whole = np.arange(-152, 130, dtype=np.float32)
        parts.append(whole.view(np.uint32))
    elif op == "lg2":
        parts += [reals(0.5, 2, 512, op), reals(0, 1000, 256, op + "1")]
    elif op == "tanh":
        parts += [reals(-10, 10, 512, op), reals(-0.1, 0.1, 256, op + "1")]
    else:
        parts.append(reals(0, 4, 512, op))
    return np.concatenate(parts)


def approximations():
    for op, (forms, rule) in APPROXIMATE.items():
        vector = [values.pad(approximate_inputs(op))]
        for form in forms.split():
            yield elementwise(
                "approx", f"{op} {form}", "f32", ["f32"], vector, rule=rule
            )
    far = [values.pad(reals(-50 * TAU, 50 * TAU, 512, "far"))]
    for op in ("sin", "cos"):
        yield elementwise(
            "approx",
            f"{op} approx.f32",
            "f32",
            ["f32"],
            far,
            rule=rules.SIN_FAR,
            name=f"{op}.approx.f32 far",
            pairs=(),
        )
    for form, plain_op in (("rcp approx.f32", "rcp"), ("sqrt approx.f32", "sqrt")):
        vector = [values.pad(approximate_inputs(plain_op))]
        yield elementwise(
            "approx",
            form,
            "f32",
            ["f32"],
            vector,
            rule=APPROXIMATE[plain_op][1],
            pairs=(),
        )
    vectors = values.binary("f32", "div approx")
    for form in ("approx.ftz.f32", "approx.f32"):
        yield elementwise(
            "approx", f"div {form}", "f32", ["f32"] * 2, vectors, rule=rules.DIV
        )
    yield elementwise(
        "approx", "div full.f32", "f32", ["f32"] * 2, vectors, rule=rules.DIV, pairs=()
    )
    vector = values.unary("f64", "approx64", count=960)
    for pair, rule in (
        ("rcp approx.ftz.f64", rules.GROSS64),
        ("rsqrt approx.ftz.f64", rules.GROSS64),
        ("rsqrt approx.f64", rules.RSQRT64),
    ):
        yield elementwise("approx", pair, "f64", ["f64"], vector, rule=rule)


def cases():
    yield from plain(UNARY, values.unary, 1, TARGETS)
    yield from plain(BINARY, values.binary, 2, TARGETS)
    yield from plain(TERNARY, values.ternary, 3, TARGETS)
    yield from wide()
    yield from carries()
    yield from mixed_carries()
    yield from carry_of_some_lanes()
    yield from approximations()
    yield from plain(EXTRA_UNARY, values.unary, 1, EXTRA_TARGETS, pairs=False)
    yield from plain(EXTRA_BINARY, values.binary, 2, EXTRA_TARGETS, pairs=False)
    yield from plain(EXTRA_TERNARY, values.ternary, 3, EXTRA_TARGETS, pairs=False)
