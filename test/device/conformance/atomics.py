"""atom, in shared, global and generic memory.

The order of threads is undefined. So each kernel stores two kinds of results: the value
and the result of an operation on the thread's own word, and the value of one word after
operations of all threads whose order does not matter.
"""

import numpy as np

from . import values
from .case import Kernel, register_class

ATOM = """
global.add.u32 global.cas.b32 global.exch.b32 shared.add.u32 add.relaxed.gpu.s32
add.release.gpu.u32 cas.acquire.gpu.b32 global.add.f32 global.add.f64 global.add.u64
global.and.b32 global.cas.b64 global.cta.add.u32 global.dec.u32 global.inc.u32
global.max.u32 global.max.u64 global.min.s32 global.min.s64 global.or.b32 global.or.b64
global.sys.add.u32 global.xor.b32 shared.cas.b32 shared.max.s32
"""

EXTRA = """
shared.add.f32 shared.add.f64 shared.exch.b64 shared.cas.b64
shared.inc.u32 shared.dec.u32 shared.min.u64 shared.xor.b64 shared.or.b32
global.and.b64 global.xor.b64 global.max.s64 global.min.u64 global.max.s32
global.min.u32 global.exch.b64 global.add.noftz.f16x2 global.add.noftz.f16
"""

OPS = ("add", "cas", "exch", "and", "or", "xor", "inc", "dec", "max", "min")

THREADS = 192


def operands(op, kind, count):
    """Return the words and operands of the threads. For cas, every second is equal."""
    if op in ("inc", "dec"):
        old = values.array(
            [0, 1, 2, 5, 6, 7, 8, 0xFFFFFFFF, 0xFFFFFFFE, 0x80000000], 32
        )
        bound = values.array([0, 1, 6, 7, 0x7FFFFFFF, 0xFFFFFFFF], 32)
        memory, operand = np.repeat(old, len(bound)), np.tile(bound, len(old))
    else:
        pair = values.binary(
            kind if kind[0] != "b" else f"u{kind[1:]}", f"atom {op} {kind}"
        )
        step = 7 if kind in values.FORMATS else 5
        memory, operand = pair[0][::step], pair[1][::step]
    memory, operand = np.resize(memory, count).copy(), np.resize(operand, count).copy()
    if op == "cas":
        operand[::2] = memory[::2]
    return memory, operand


def common(op, kind):
    """Return the initial value of the common word and the operands of the threads."""
    bits = values.width(kind)
    if kind == "f16":
        return np.uint16(0x4400), np.full(THREADS, 0x3C00, np.uint16)
    if kind == "f16x2":
        return np.uint32(0x44003C00), np.full(THREADS, 0x3C003800, np.uint32)
    if kind[0] == "f":
        real = np.float32 if bits == 32 else np.float64
        each = np.arange(THREADS).astype(real)
        return real(0.5).view(values.uint(bits)), each.view(values.uint(bits))
    rng = values.source(f"common {op} {kind}")
    each = values.random_bits(rng, bits, THREADS)
    if op in ("inc", "dec"):
        each = np.full(THREADS, 10, each.dtype)
    if op == "and":
        each |= ~(
            values.uint(bits)(1) << (np.arange(THREADS) % bits).astype(each.dtype)
        )
    if op == "or":
        each &= values.uint(bits)(0x8421)
    return values.uint(bits)(5), each


def atom_case(form, in_list):
    words = form.split(".")
    op = next(w for w in words if w in OPS)
    kind = words[-1]
    space = words[0] if words[0] in ("global", "shared") else ""
    bits = values.width(kind)
    cls = register_class(kind)
    stored = {"b16": "u16", "b32": "u32", "b64": "u64"}.get(cls, cls)
    kernel = Kernel(f"atom.{form}")
    memory, operand = operands(op, kind, THREADS)
    start, each = common(op, kind)
    value = kernel.load(kernel.input(operand, "operand"), kind)
    swap = ""
    if op == "cas":
        new = kernel.load(
            kernel.input(values.random_bits(values.source(form), bits, THREADS), "new"),
            kind,
        )
        swap = f", {new}"
    own = kernel.output(bits, label="memory", data=memory)
    together = kernel.output(
        bits, label="common", data=np.array([start] * (16 // (bits // 8)))
    )
    one = kernel.load(kernel.input(each, "common operand"), kind)
    place = kernel.at(own, bits // 8)
    if space == "shared":
        kernel.variables += [
            f".shared .align 16 .b{bits} near[{THREADS}];",
            f".shared .align 16 .b{bits} meet[2];",
        ]
        near, meet, back = kernel.reg("b64"), kernel.reg("b64"), kernel.reg(cls)
        kernel(f"mov.u64 {near}, near;\nmov.u64 {meet}, meet;")
        near = kernel.at(near, bits // 8, kernel.tid)
        kernel(f"""ld.global.{stored} {back}, [{place}];
                   st.shared.{stored} [{near}], {back};
                   ld.global.{stored} {back}, [{together}];
                   st.shared.{stored} [{meet}], {back};
                   bar.sync 0;""")
    elif not space:
        near, meet = kernel.regs("b64", 2)
        kernel(f"""cvta.global.u64 {near}, {place};
                   cvta.global.u64 {meet}, {together};""")
    else:
        near, meet = place, together
    old = kernel.reg(cls)
    kernel(f"atom.{form} {old}, [{near}], {value}{swap};")
    kernel.keep(stored, old, "returned")
    if op == "cas":
        contended_swap(kernel, form, cls, meet, bits)
    elif op == "exch":
        kernel(f"atom.{form} {old}, [{meet}], {kernel.constant(9, cls)};")
    else:
        kernel(f"atom.{form} {old}, [{meet}], {one};")
    if space == "shared":
        kernel(f"""bar.sync 0;
                   ld.shared.{stored} {back}, [{near}];
                   st.global.{stored} [{place}], {back};
                   ld.shared.{stored} {back}, [{meet}];
                   st.global.{stored} [{together}], {back};""")
    pairs = f"atom {form}" if in_list else ()
    block = THREADS if space == "shared" else values.BLOCK
    return kernel.case("atomic", pairs, block=block, threads=THREADS)


def contended_swap(kernel, form, cls, meet, bits):
    """Let every thread add 3 with a compare-and-swap loop."""
    seen, wanted, was = kernel.regs(cls, 3)
    p, again = kernel.reg("pred"), kernel.label()
    kernel(f"""mov.u{bits} {seen}, 5;
               {again}:
               add.s{bits} {wanted}, {seen}, 3;
               atom.{form} {was}, [{meet}], {seen}, {wanted};
               setp.ne.s{bits} {p}, {was}, {seen};
               mov.u{bits} {seen}, {was};
               @{p} bra {again};""")


def lock():
    """Let the lanes of a warp take a lock one after the other."""
    kernel = Kernel("spin lock")
    word = kernel.output(32, label="lock", data=np.array([0, 0, 0, 9], np.uint32))
    count = kernel.output(32, label="counter", data=np.array([0, 0, 0, 9], np.uint32))
    was, value, done = kernel.reg("b32"), kernel.reg("b32"), kernel.constant(0)
    p, again, skip = kernel.reg("pred"), kernel.label(), kernel.label()
    kernel(f"""{again}:
               atom.global.cas.b32 {was}, [{word}], 0, 1;
               setp.ne.s32 {p}, {was}, 0;
               @{p} bra {skip};
               membar.gl;
               ld.volatile.global.u32 {value}, [{count}];
               add.s32 {value}, {value}, 1;
               st.volatile.global.u32 [{count}], {value};
               membar.gl;
               atom.global.exch.b32 {was}, [{word}], 0;
               mov.u32 {done}, 1;
               {skip}:
               setp.eq.s32 {p}, {done}, 0;
               @{p} bra {again};""")
    return kernel.case("atomic", (), threads=128)


def reductions():
    """Test red, the form without a result."""
    kernel = Kernel("red")
    rng = values.source("red")
    value = kernel.load(kernel.input(values.random_bits(rng, 32, THREADS), "a"), "u32")
    for form in (
        "global.add.u32",
        "global.max.s32",
        "global.xor.b32",
        "global.min.u32",
    ):
        word = kernel.output(32, label=form, data=np.full(4, 17, np.uint32))
        kernel(f"red.{form} [{word}], {value};")
    return kernel.case("atomic", ())


def cases():
    for form in ATOM.split():
        yield atom_case(form, True)
    for form in EXTRA.split():
        yield atom_case(form, False)
    yield lock()
    yield reductions()
