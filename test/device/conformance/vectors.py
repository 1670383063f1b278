"""Vectors: mov that packs and unpacks, vector registers, and vectors in memory."""

from . import values
from .case import Kernel, register_class
from .memory import braces, load_case, store_case

THREADS = 64

#: Type: the numbers of parts that mov may pack into it and unpack it to.
PACKED = {"b16": (2,), "b32": (2, 4), "b64": (2, 4), "b128": (2, 4)}


def part_class(bits):
    return f"b{bits}"


def give(kernel, bits, count, label="part"):
    """Load registers of `bits` bits from the inputs of each thread."""
    rng = values.source(f"{kernel.name} {label}")
    registers = []
    for i in range(count):
        data = values.random_bits(rng, bits, THREADS)
        base = kernel.input(data, f"{label} {i}")
        register = kernel.reg(part_class(bits))
        kernel(f"ld.global.b{bits} {register}, [{kernel.at(base, bits // 8)}];")
        registers.append(register)
    return registers


def keep(kernel, bits, register, label):
    base = kernel.output(bits, THREADS, label)
    kernel(f"st.global.b{bits} [{kernel.at(base, bits // 8)}], {register};")


def give_whole(kernel, bits, label="whole"):
    if bits < 128:
        return give(kernel, bits, 1, label)[0]
    low, high = give(kernel, 64, 2, label)
    whole = kernel.reg("b128")
    kernel(f"mov.b128 {whole}, {{{low}, {high}}};")
    return whole


def keep_whole(kernel, bits, register, label):
    if bits < 128:
        keep(kernel, bits, register, label)
        return
    low, high = kernel.regs("b64", 2)
    kernel(f"mov.b128 {{{low}, {high}}}, {register};")
    keep(kernel, 64, low, f"{label}, low")
    keep(kernel, 64, high, f"{label}, high")


def packing():
    for kind, counts in PACKED.items():
        bits = values.width(kind)
        for count in counts:
            part = bits // count
            kernel = Kernel(f"mov.{kind} of {count} parts")
            parts = give(kernel, part, count)
            orders = {
                "in order": parts,
                "backwards": parts[::-1],
                "one twice": [parts[0], *parts[:-1]],
            }
            for label, order in orders.items():
                whole = kernel.reg(part_class(bits))
                kernel(f"mov.{kind} {whole}, {braces(order)};")
                keep_whole(kernel, bits, whole, label)
            if part < 64:
                whole = kernel.reg(part_class(bits))
                mixed = ["0x5A" if i % 2 else p for i, p in enumerate(parts)]
                kernel(f"mov.{kind} {whole}, {braces(mixed)};")
                keep_whole(kernel, bits, whole, "numbers between")
            yield kernel.case("vector", ())

            kernel = Kernel(f"mov.{kind} to {count} parts")
            whole = give_whole(kernel, bits)
            parts = kernel.regs(part_class(part), count)
            kernel(f"mov.{kind} {braces(parts)}, {whole};")
            for i, register in enumerate(parts):
                keep(kernel, part, register, f"part {i}")
            for chosen in range(count):
                register = kernel.reg(part_class(part))
                sinks = [register if i == chosen else "_" for i in range(count)]
                kernel(f"mov.{kind} {braces(sinks)}, {whole};")
                keep(kernel, part, register, f"part {chosen} alone")
            yield kernel.case("vector", ())

    kernel = Kernel("mov between classes of registers")
    low, high = give(kernel, 32, 2)
    d, g = kernel.reg("f64"), kernel.reg("b64")
    x, y = kernel.regs("f32", 2)
    kernel(f"""mov.b64 {d}, {{{low}, {high}}};
               mov.b64 {{{x}, {y}}}, {d};
               mov.b64 {g}, {{{y}, {x}}};""")
    keep(kernel, 64, d, "double")
    keep(kernel, 32, x, "x")
    keep(kernel, 32, y, "y")
    keep(kernel, 64, g, "exchanged")
    yield kernel.case("vector", ())


#: The types of vector registers, with their possible numbers of lanes.
REGISTERS = {
    "b16": (2, 4),
    "u16": (2, 4),
    "s16": (2, 4),
    "b32": (2, 4),
    "u32": (2, 4),
    "s32": (2, 4),
    "f32": (2, 4),
    "b64": (2,),
    "u64": (2,),
    "f64": (2,),
}


def declare(kernel, lanes, kind, *names):
    kernel.variables.append(f".reg .v{lanes} .{kind} {', '.join(names)};")


def start(name, lanes, kind):
    """Return a kernel with two initialized vector registers, v and w."""
    kernel = Kernel(name)
    bits = values.width(kind)
    declare(kernel, lanes, kind, "v", "w", "u")
    for register, label in (("v", "v"), ("w", "w")):
        parts = give(kernel, bits, lanes, label)
        for selector, part in zip("xyzw", parts, strict=False):
            kernel(f"mov.b{bits} {register}.{selector}, {part};")
    return kernel, bits


def keep_vector(kernel, bits, lanes, name, label):
    for selector in "xyzw"[:lanes]:
        keep(kernel, bits, f"{name}.{selector}", f"{label}.{selector}")


def registers():
    for kind, counts in REGISTERS.items():
        for lanes in counts:
            form = f"v{lanes}.{kind}"
            kernel, bits = start(f"mov.{form} registers", lanes, kind)
            own = "xyzw"[:lanes]
            kernel(f"mov.{form} u, v;")
            keep_vector(kernel, bits, lanes, "u", "copied")
            plain = kernel.regs(register_class(kind), lanes)
            kernel(f"mov.{form} {braces(plain)}, w;")
            for i, register in enumerate(plain):
                keep(kernel, bits, register, f"taken {i}")
            kernel(f"mov.{form} u, {braces(plain[::-1])};")
            keep_vector(kernel, bits, lanes, "u", "given")
            # Elements move within one register: all are read before any is written.
            turned = own[lanes // 2 :] + own[: lanes // 2]
            kernel(f"mov.{form} v, {braces([f'v.{c}' for c in turned])};")
            keep_vector(kernel, bits, lanes, "v", "turned")
            kernel(f"mov.{form} {braces([f'w.{c}' for c in own[::-1]])}, w;")
            keep_vector(kernel, bits, lanes, "w", "reversed")
            kernel(f"mov.{form} {braces(plain)}, {braces(plain[1:] + plain[:1])};")
            for i, register in enumerate(plain):
                keep(kernel, bits, register, f"rotated {i}")
            yield kernel.case("vector", ())

    for lanes, kind, whole in (
        (2, "u16", "b32"),
        (4, "u16", "b64"),
        (2, "u32", "b64"),
        (2, "f32", "b64"),
        (4, "u32", "b128"),
        (2, "u64", "b128"),
        (4, "b8", "b32"),
        (2, "b8", "b16"),
    ):
        kernel = Kernel(f"mov.{whole} of a v{lanes}.{kind} register")
        bits, all_bits = values.width(kind), values.width(whole)
        declare(kernel, lanes, kind, "v", "w")
        given = give_whole(kernel, all_bits)
        kernel(f"mov.{whole} v, {given};")
        keep_vector(kernel, bits, lanes, "v", "part")
        back = kernel.reg(part_class(all_bits))
        order = ", ".join(f"v.{c}" for c in "wzyx"[4 - lanes :])
        kernel(f"mov.{whole} w, {given};")
        kernel(f"mov.{whole} {back}, w;")
        keep_whole(kernel, all_bits, back, "back")
        kernel(f"mov.{whole} {back}, {{{order}}};")
        keep_whole(kernel, all_bits, back, "backwards")
        kernel(f"mov.{whole} {{{order}}}, {given};")
        keep_vector(kernel, bits, lanes, "v", "taken backwards")
        yield kernel.case("vector", ())

    for names in ("xyzw", "rgba"):
        kernel, bits = start(f"elements {names}", 4, "u32")
        d = kernel.regs("b32", 4)
        a, b, c, e = (f"v.{n}" for n in names)
        kernel(f"""add.u32 {d[0]}, {a}, {c};
                   mad.lo.u32 {d[1]}, {b}, {e}, {a};
                   sub.u32 {e}, {c}, {b};
                   xor.b32 {c}, {e}, w.{names[3]};
                   mov.u32 {d[2]}, {c};
                   mov.b32 {d[3]}, {e};""")
        for i, register in enumerate(d):
            keep(kernel, 32, register, f"d{i}")
        keep_vector(kernel, 32, 4, "v", "v")
        yield kernel.case("vector", ())

    kernel = Kernel("mov of one value to all elements")
    declare(kernel, 4, "u32", "v")
    declare(kernel, 2, "f32", "w")
    a, b = give(kernel, 32, 2)
    f = kernel.reg("f32")
    kernel(f"""mov.b32 {f}, {b};
               mov.v4.u32 v, {a};
               mov.v2.f32 w, {f};""")
    keep_vector(kernel, 32, 4, "v", "v")
    keep_vector(kernel, 32, 2, "w", "w")
    kernel("mov.v4.u32 v, 7;\nmov.v2.f32 w, 0f40490FDB;")
    keep_vector(kernel, 32, 4, "v", "number")
    keep_vector(kernel, 32, 2, "w", "number")
    kernel("mov.v4.u32 v, %laneid;")
    keep_vector(kernel, 32, 4, "v", "lane")
    whole, low, high = kernel.reg("b128"), *kernel.regs("b64", 2)
    kernel(f"mov.b128 {whole}, %tid;\nmov.b128 {{{low}, {high}}}, {whole};")
    keep(kernel, 64, low, "tid x, y")
    yield kernel.case("vector", ())

    kernel = Kernel("mov.v4.u32 of special registers")
    declare(kernel, 4, "u32", "v", "w")
    kernel("""mov.v4.u32 v, %tid;
              mov.v4.u32 w, %ntid;""")
    keep_vector(kernel, 32, 3, "v", "tid")
    keep_vector(kernel, 32, 3, "w", "ntid")
    yield kernel.case("vector", (), threads=THREADS)


#: Vectors in memory that are not in the list.
FORMS = [
    "v2.u8",
    "v4.u8",
    "v2.s8",
    "v4.s8",
    "v2.b8",
    "v4.b8",
    "v2.s16",
    "v4.s16",
    "v2.b16",
    "v4.b16",
    "v2.u64",
    "v2.s64",
    "v2.b64",
    "v2.s32",
    "v4.s32",
    "v2.b32",
    "v4.b32",
]
PLACES = {
    "shared": [
        "v2.u8",
        "v4.u8",
        "v4.s8",
        "v2.u16",
        "v4.u16",
        "v4.s16",
        "v2.u64",
        "v2.u32",
    ],
    "local": [
        "v2.u8",
        "v4.u8",
        "v4.s8",
        "v2.u16",
        "v4.u16",
        "v4.s16",
        "v2.u64",
        "v4.u32",
        "v2.f64",
    ],
    "const": ["v4.u8", "v2.u16", "v4.u16", "v4.s16", "v4.u32", "v4.f32", "v2.u64"],
}


def memory():
    for form in FORMS:
        yield load_case("global", form, listed=False)
        yield store_case("global", form, listed=False)
    for space, forms in PLACES.items():
        for form in forms:
            yield load_case(space, form, listed=False)
            if space != "const" and form not in ("v4.u32", "v4.u8", "v2.f64"):
                yield store_case(space, form, listed=False)

    # Narrow elements in 64-bit registers, and elements that are ignored.
    for form in ("v2.u16", "v4.u16", "v4.s8", "v2.s32"):
        kernel = Kernel(f"ld.global.{form} to wide registers")
        lanes, kind = int(form[1]), form[3:]
        bits = values.width(kind)
        data = values.random_bits(values.source(form), bits, THREADS * lanes)
        base = kernel.input(data, "memory")
        kernel.threads = THREADS
        parts = kernel.regs("b64", lanes)
        place = kernel.at(base, lanes * bits // 8)
        kernel(f"ld.global.{form} {braces(parts)}, [{place}];")
        for i, register in enumerate(parts):
            keep(kernel, 64, register, f"lane {i}")
        one = kernel.reg("b64")
        sinks = ["_"] * (lanes - 1) + [one]
        kernel(f"ld.global.{form} {braces(sinks)}, [{place}];")
        keep(kernel, 64, one, "the last alone")
        yield kernel.case("vector", (), threads=THREADS)

    for form in ("v4.u32", "v2.f32", "v4.u16", "v2.u64"):
        lanes, kind = int(form[1]), form[3:]
        bits = values.width(kind)
        kernel = Kernel(f"ld and st of a {form} register")
        declare(kernel, lanes, kind, "v")
        data = values.random_bits(values.source(form), bits, THREADS * lanes)
        base = kernel.input(data, "memory")
        kernel.threads = THREADS
        out = kernel.output(bits, THREADS * lanes, "turned")
        kernel(f"ld.global.{form} v, [{kernel.at(base, lanes * bits // 8)}];")
        order = ", ".join(f"v.{c}" for c in "wzyx"[4 - lanes :])
        kernel(f"mov.{form} v, {{{order}}};")
        kernel(f"st.global.{form} [{kernel.at(out, lanes * bits // 8)}], v;")
        keep_vector(kernel, bits, lanes, "v", "v")
        yield kernel.case("vector", (), threads=THREADS)

    # The address may be one of the destination registers.
    kernel = Kernel("ld.global.v2.u64 over its address")
    data = values.random_bits(values.source("over"), 64, 2 * THREADS)
    base = kernel.input(data, "memory")
    kernel.threads = THREADS
    other = kernel.reg("b64")
    place = kernel.at(base, 16)
    kernel(f"ld.global.v2.u64 {{{place}, {other}}}, [{place}];")
    keep(kernel, 64, place, "low")
    keep(kernel, 64, other, "high")
    yield kernel.case("vector", (), threads=THREADS)

    kernel = Kernel("ld.global.b128")
    base = kernel.input(values.random_bits(values.source("b128"), 64, 2 * THREADS))
    kernel.threads = THREADS
    out = kernel.output(64, 2 * THREADS, "copy")
    whole, low, high = kernel.reg("b128"), *kernel.regs("b64", 2)
    kernel(f"""ld.global.b128 {whole}, [{kernel.at(base, 16)}];
               mov.b128 {{{low}, {high}}}, {whole};
               mov.b128 {whole}, {{{high}, {low}}};""")
    kernel(f"st.global.b128 [{kernel.at(out, 16)}], {whole};")
    yield kernel.case("vector", (), threads=THREADS)

    kernel = Kernel("variables of vector type")
    table, pair = f"{kernel.entry}_table", f"{kernel.entry}_pair"
    kernel.before += [
        f".global .v4 .u16 {table}[3] = {{{{1, 2, 3, 4}}, {{5, 6, 7, 8}}, "
        "{9, 10, 11, 12}};",
        f".const .v2 .f32 {pair} = {{1.5, -2.5}};",
    ]
    index, start_ = kernel.reg("b32"), kernel.reg("b64")
    kernel(f"""rem.u32 {index}, {kernel.index}, 3;
               mov.u64 {start_}, {table};""")
    h, f = kernel.regs("b16", 4), kernel.regs("f32", 2)
    kernel(f"""ld.global.v4.u16 {braces(h)}, [{kernel.at(start_, 8, index)}];
               ld.const.v2.f32 {braces(f)}, [{pair}];""")
    for i, register in enumerate(h):
        keep(kernel, 16, register, f"table {i}")
    for i, register in enumerate(f):
        keep(kernel, 32, register, f"pair {i}")
    yield kernel.case("vector", (), threads=THREADS)


def functions():
    """Test vectors as parameters and results of functions."""
    for form in ("v4.f32", "v2.u16", "v4.u16", "v4.u8", "v2.u64", "v4.u32"):
        lanes, kind = int(form[1]), form[3:]
        bits = values.width(kind)
        size = lanes * bits // 8
        cls = part_class(bits)
        kernel = Kernel(f"a function of {form}")
        function = f"{kernel.entry}_function"
        inner = [f"%i{i}" for i in range(2 * lanes)]
        block = f".param .align {size} .b8"
        first, second = inner[:lanes], inner[lanes:]
        kernel.before.append(
            f".func ({block} result[{size}]) {function}"
            f"({block} a[{size}], {block} b[{2 * size}])\n{{\n"
            f".reg .{cls} %i<{2 * lanes}>;\n"
            f"ld.param.{form} {braces(first)}, [a];\n"
            f"ld.param.{form} {braces(second)}, [b+{size}];\n"
            f"st.param.{form} [result], "
            f"{braces([*second[lanes // 2 :], *first[: lanes // 2]])};\nret;\n}}"
        )
        given = give(kernel, bits, 3 * lanes, "given")
        back = kernel.regs(cls, lanes)
        kernel(f"""{{
                   {block} given_a[{size}];
                   {block} given_b[{2 * size}];
                   {block} back[{size}];
                   st.param.{form} [given_a], {braces(given[:lanes])};
                   st.param.{form} [given_b+{size}], {braces(given[lanes : 2 * lanes])};
                   st.param.{form} [given_b], {braces(given[2 * lanes :])};
                   call (back), {function}, (given_a, given_b);
                   ld.param.{form} {braces(back)}, [back];
                   }}""")
        for i, register in enumerate(back):
            keep(kernel, bits, register, f"back {i}")
        yield kernel.case("vector", ())

    for lanes, kind in ((4, "f32"), (2, "u64"), (4, "u32")):
        kernel, bits = start(f"a function of a v{lanes}.{kind} register", lanes, kind)
        function = f"{kernel.entry}_function"
        own = "xyzw"[:lanes]
        kernel.before.append(
            f".func (.reg .v{lanes} .{kind} result) {function}"
            f"(.reg .v{lanes} .{kind} a, .reg .{kind} b)\n{{\n"
            f"mov.v{lanes}.{kind} result, {braces([f'a.{c}' for c in own[::-1]])};\n"
            f"mov.{kind} result.y, b;\nret;\n}}"
        )
        single = kernel.reg(register_class(kind))
        kernel(f"""mov.{kind} {single}, w.x;
                   call (u), {function}, (v, {single});""")
        keep_vector(kernel, bits, lanes, "u", "u")
        keep_vector(kernel, bits, lanes, "v", "v")
        yield kernel.case("vector", ())

    kernel = Kernel("a kernel's parameter read as vectors")
    data = values.random_bits(values.source("entry"), 8, 32)
    name = kernel.parameter("b8", data.tobytes(), align=16)
    for form, offset in (
        ("v4.u8", 4), ("v4.s8", 8), ("v2.u16", 4), ("v4.u16", 8), ("v4.u32", 16),
        ("v2.u64", 0),
    ):  # fmt: skip
        lanes, kind = int(form[1]), form[3:]
        bits = max(32, values.width(kind))
        parts = kernel.regs(part_class(bits), lanes)
        kernel(f"ld.param.{form} {braces(parts)}, [{name}+{offset}];")
        for i, register in enumerate(parts):
            keep(kernel, bits, register, f"{form} {i}")
    yield kernel.case("vector", (), threads=THREADS)


def cases():
    yield from packing()
    yield from registers()
    yield from memory()
    yield from functions()
