"""ld, st, cvta and cp.async in every state space, scalars and vectors."""

import numpy as np

from . import values
from .case import Kernel, register_class

#: The loads in the list, by state space.
LD = """
global u32 f32 u64 f64 u8 u16 s8 s16 s32 v2.u32 v2.f64 v2.f32 v4.u32 v4.f32
global v2.u16 v4.u16
global.nc v2.f64 u32 u64 f32 f64
global.ca f32
global.cg f32
global.cs f32
global.cv f32
volatile.global u32
volatile.shared u8 f32 u32 u64 f64 u16 s16 s8
shared u8 u32 f32 u64 f64 u16 v2.f32 s16 s8 v2.f64 v4.f32 v4.u32
local u32 f64 f32 u64 v2.u32 u8
const f32 f64 v2.u32
acquire.gpu b32 u32
"""

ST = """
global u32 f64 f32 u64 u8 v2.u32 u16 v2.f32 v2.f64 v4.u32 v4.f32 v4.u16 v2.u16
global.cg f32
global.cs f32
global.wt f32
volatile.global f32 u32
volatile.shared u8 f32 u16 u32 u64 f64
shared u8 u32 f32 f64 u16 u64 v2.f32 v2.f64 v4.u32
local u32 f32 u64 f64 v2.u32 v4.u32 u16 u8 v4.u8
release.gpu b32
"""

THREADS = 128


def split(form):
    """Split `v2.f32` or `f32` into the number of lanes and the type."""
    vector, _, kind = form.rpartition(".")
    return int(vector[1:]) if vector else 1, kind


def data_for(kind, count, name):
    """Return special values, then random bits."""
    bits = values.width(kind)
    special = values.specials(kind)
    return np.concatenate(
        [special, values.random_bits(values.source(name), bits, count)]
    )[:count]


def braces(registers):
    return registers[0] if len(registers) == 1 else "{" + ", ".join(registers) + "}"


def loaded_class(kind, wide):
    """Return the register class of a load, which may be wider than the value."""
    return "b32" if wide and values.width(kind) < 32 else register_class(kind)


def keep_all(kernel, kind, registers, wide):
    """Store registers, with all bits that the load of a narrow value set."""
    cls = loaded_class(kind, wide)
    for i, register in enumerate(registers):
        stored = {"b16": "u16", "b32": "u32", "b64": "u64"}.get(cls, cls)
        kernel.keep(stored, register, f"lane {i}{' wide' if wide else ''}", THREADS)


def widths(kind):
    """Return whether to test with the narrowest register, and with a wider one."""
    return (False, True) if values.width(kind) < 32 else (False,)


def plain_type(kind):
    """Return the unsigned type of the same width, for the other half of a pair."""
    return kind if kind[0] == "f" else f"u{values.width(kind)}"


def array_variable(space, kind, count, name):
    bits = values.width(kind)
    return f".{space} .align 16 .b{bits} {name}[{count}];"


def constant_table(name, kind, data):
    listed = ", ".join(str(v) for v in data)
    return (
        f".const .align 16 .b{values.width(kind)} {name}[{len(data)}] = {{{listed}}};"
    )


def opcode(op, space, form):
    """Join for example `ld`, `global.nc` and `v2.f64` to the instruction's name."""
    return f"{op}.{space}.{form}"


def load_case(space, form, listed=True):
    lanes, kind = split(form)
    size = values.width(kind) // 8
    kernel = Kernel(f"ld.{space}.{form}")
    words = space.split(".")
    data = data_for(kind, THREADS * lanes, f"ld {form}")
    base = kernel.input(data, "memory")
    kernel.threads = THREADS
    own = kernel.reg("b64")
    if "shared" in words or "local" in words:
        place = "shared" if "shared" in words else "local"
        count = (THREADS if place == "shared" else 2) * lanes
        kernel.variables.append(array_variable(place, kind, count, "mine"))
        start, slot = kernel.reg("b64"), kernel.reg("b32")
        kernel(f"mov.u64 {start}, mine;")
        index = kernel.tid if place == "shared" else kernel.constant(1)
        kernel(f"""mul.lo.s32 {slot}, {index}, {size * lanes};
                   cvt.u64.u32 {own}, {slot};
                   add.s64 {own}, {start}, {own};""")
        first = kernel.reg("b32")
        kernel(f"mul.lo.s32 {first}, {kernel.index}, {lanes};")
        for lane in range(lanes):
            element = kernel.reg("b32")
            kernel(f"add.s32 {element}, {first}, {lane};")
            value = kernel.load(base, plain_type(kind), element)
            kernel(f"st.{place}.{plain_type(kind)} [{own}+{lane * size}], {value};")
        if place == "shared":
            neighbour = kernel.reg("b32")
            kernel(f"""bar.sync 0;
                       xor.b32 {neighbour}, {kernel.tid}, 37;
                       mul.lo.s32 {slot}, {neighbour}, {size * lanes};
                       cvt.u64.u32 {own}, {slot};
                       add.s64 {own}, {start}, {own};""")
    elif "const" in words:
        table = f"{kernel.entry}_table"
        kernel.before.append(constant_table(table, kind, data))
        kernel(f"mov.u64 {own}, {table};")
        kernel(f"add.s64 {own}, {kernel.at(own, size * lanes)}, 0;")
    else:
        kernel(f"add.s64 {own}, {kernel.at(base, size * lanes)}, 0;")
    for wide in widths(kind):
        registers = kernel.regs(loaded_class(kind, wide), lanes)
        kernel(f"{opcode('ld', space, form)} {braces(registers)}, [{own}];")
        keep_all(kernel, kind, registers, wide)
    block = THREADS if "shared" in words else values.BLOCK
    pairs = f"ld {space}.{form}" if listed else ()
    return kernel.case("load", pairs, block=block, threads=THREADS)


def store_case(space, form, listed=True):
    lanes, kind = split(form)
    size = values.width(kind) // 8
    kernel = Kernel(f"st.{space}.{form}")
    words = space.split(".")
    base = kernel.input(data_for(kind, THREADS * lanes, f"st {form}"), "value")
    kernel.threads = THREADS
    access = plain_type(kind)
    target = kernel.output(
        8 * size,
        (THREADS + 2) * lanes,
        "memory",
        np.full((THREADS + 2) * lanes, 0x5A, values.uint(8 * size)),
    )
    first = kernel.reg("b32")
    kernel(f"mul.lo.s32 {first}, {kernel.index}, {lanes};")
    loaded = []
    for lane in range(lanes):
        element = kernel.reg("b32")
        kernel(f"add.s32 {element}, {first}, {lane};")
        loaded.append(kernel.load(base, access, element))
    place = next((w for w in words if w in ("shared", "local")), None)
    destination = kernel.at(target, size * lanes)
    own = destination
    if place:
        count = (THREADS if place == "shared" else 3) * lanes
        kernel.variables.append(array_variable(place, kind, count, "mine"))
        start = kernel.reg("b64")
        kernel(f"mov.u64 {start}, mine;")
        index = kernel.tid if place == "shared" else kernel.constant(1)
        own = kernel.at(start, size * lanes, index)
    wide = values.width(kind) < 16
    if wide:  # stores only the low byte of a wider register
        stored = []
        for register in loaded:
            wider = kernel.reg("b32")
            kernel(f"""cvt.u32.u16 {wider}, {register};
                       or.b32 {wider}, {wider}, 0x7ACE5500;""")
            stored.append(wider)
    else:
        stored = loaded
    kernel(f"{opcode('st', space, form)} [{own}], {braces(stored)};")
    if place:
        if place == "shared":
            neighbour = kernel.reg("b32")
            kernel(f"""bar.sync 0;
                       xor.b32 {neighbour}, {kernel.tid}, 21;""")
            own = kernel.at(start, size * lanes, neighbour)
        for lane in range(lanes):
            back = kernel.reg(register_class(access))
            kernel(f"""ld.{place}.{access} {back}, [{own}+{lane * size}];
                       st.global.{access} [{destination}+{lane * size}], {back};""")
    block = THREADS if place == "shared" else values.BLOCK
    pairs = f"st {space}.{form}" if listed else ()
    return kernel.case("store", pairs, block=block, threads=THREADS)


def generic():
    """Test generic ld and st at global, shared and local addresses."""
    for kind in ("u32", "u64"):
        size = values.width(kind) // 8
        kernel = Kernel(f"generic {kind}")
        base = kernel.input(data_for(kind, THREADS, f"generic {kind}"), "memory")
        kernel.variables += [
            array_variable("shared", kind, THREADS, "near"),
            array_variable("local", kind, 4, "own"),
        ]
        value = kernel.load(base, kind)
        places = {}
        for space, variable in (("shared", "near"), ("local", "own")):
            start, address = kernel.regs("b64", 2)
            kernel(f"""mov.u64 {start}, {variable};
                       cvta.{space}.u64 {address}, {start};""")
            index = kernel.tid if space == "shared" else kernel.constant(2)
            places[space] = kernel.at(address, size, index)
        room = kernel.output(8 * size, THREADS, "generic global")
        start = kernel.reg("b64")
        kernel(f"cvta.global.u64 {start}, {room};")
        places["global"] = kernel.at(start, size)
        for space, address in places.items():
            kernel(f"st.{kind} [{address}], {value};")
            if space != "global":
                back = kernel.reg(register_class(kind))
                kernel(f"ld.{kind} {back}, [{address}];")
                kernel.keep(kind, back, space)
        yield kernel.case(
            "generic",
            [f"ld {kind}", f"st {kind}", "cvta global.u64", "cvta local.u64"],
            block=THREADS,
        )

    kernel = Kernel("cvta to a space and back")
    values_in = data_for("u32", THREADS, "cvta")
    base = kernel.input(values_in, "memory")
    kernel.variables.append(array_variable("local", "u32", 8, "own"))
    start, address, again = kernel.regs("b64", 3)
    value, back, far = kernel.load(base, "u32"), kernel.reg("b32"), kernel.reg("b32")
    kernel(f"""mov.u64 {start}, own;
               cvta.local.u64 {address}, {start};
               add.s64 {address}, {address}, 12;
               st.u32 [{address}], {value};
               cvta.to.local.u64 {again}, {address};
               ld.local.u32 {back}, [{again}];""")
    kernel.keep("u32", back, "local")
    generic_base = kernel.reg("b64")
    kernel(f"""cvta.global.u64 {generic_base}, {base};
               cvta.to.global.u64 {again}, {generic_base};""")
    kernel(f"ld.global.u32 {far}, [{kernel.at(again, 4)}];")
    kernel.keep("u32", far, "global")
    yield kernel.case("generic", ["cvta to.local.u64", "cvta to.global.u64"])

    for form in ("acquire.gpu.b32", "acquire.gpu.u32"):
        kernel = Kernel(f"ld.{form} generic")
        base = kernel.input(values_in, "memory")
        start, d = kernel.reg("b64"), kernel.reg("b32")
        kernel(f"cvta.global.u64 {start}, {base};")
        kernel(f"ld.{form} {d}, [{kernel.at(start, 4)}];")
        kernel.keep("u32", d)
        yield kernel.case("load", f"ld {form}")
    kernel = Kernel("st.release.gpu.b32 generic")
    value = kernel.load(kernel.input(values_in, "value"), "u32")
    start = kernel.reg("b64")
    room = kernel.output(32)
    kernel(f"cvta.global.u64 {start}, {room};")
    kernel(f"st.release.gpu.b32 [{kernel.at(start, 4)}], {value};")
    yield kernel.case("store", "st release.gpu.b32")


PARAM = "u64 u32 f64 f32 b32 u16 u8 s8 b64 s32"


def parameters():
    """Test kernel parameters of each type, alone and at offsets of a structure."""
    for kind in PARAM.split():
        size = values.width(kind) // 8
        kernel = Kernel(f"ld.param.{kind}")
        data = data_for(kind, 24, f"param {kind}")
        scalar = "u8" if kind in ("u8", "s8") else kind
        for i in (1, 7, 23):
            name = kernel.parameter(scalar, data[i : i + 1].tobytes())
            for wide in widths(kind):
                d = kernel.reg(loaded_class(kind, wide))
                kernel(f"ld.param.{kind} {d}, [{name}];")
                keep_param(kernel, kind, d, wide)
        name = kernel.parameter("b8", data.tobytes(), align=16)
        for i in (0, 3, 10, 15):
            for wide in widths(kind):
                d = kernel.reg(loaded_class(kind, wide))
                kernel(f"ld.param.{kind} {d}, [{name}+{i * size}];")
                keep_param(kernel, kind, d, wide)
        yield kernel.case("parameter", f"ld param.{kind}", threads=values.BLOCK)
    kernel = Kernel("ld.param.v2.f32 of a structure")
    data = data_for("f32", 8, "param v2")
    name = kernel.parameter("b8", data.tobytes(), align=8)
    for i in (0, 2, 6):
        x, y = kernel.regs("f32", 2)
        kernel(f"ld.param.v2.f32 {{{x}, {y}}}, [{name}+{4 * i}];")
        kernel.keep("f32", x, "x", values.BLOCK)
        kernel.keep("f32", y, "y", values.BLOCK)
    yield kernel.case("parameter", (), threads=values.BLOCK)


def keep_param(kernel, kind, register, wide):
    cls = loaded_class(kind, wide)
    stored = {"b16": "u16", "b32": "u32", "b64": "u64"}.get(cls, cls)
    kernel.keep(stored, register, count=values.BLOCK)


def shape(form, name):
    """Return the declaration of a function's parameter."""
    lanes, kind = split(form)
    bits = values.width(kind)
    if lanes == 1:
        return f".param .b{bits} {name}"
    return f".param .align {lanes * bits // 8} .b8 {name}[{lanes * bits // 8}]"


def call_parameters():
    """Test arguments and results of functions through st.param and ld.param."""
    for form in ("f64", "b32", "b64", "f32", "v2.f32"):
        lanes, kind = split(form)
        kernel = Kernel(f"st.param.{form}")
        cls = register_class(kind)
        prefix = {"b32": "%r", "b64": "%q", "f32": "%f", "f64": "%d"}[cls]
        inner = [f"{prefix}{i}" for i in range(lanes)]
        swapped = inner[::-1]
        change = f"neg.{kind}" if kind[0] == "f" else f"not.{kind}"
        function = f"{kernel.entry}_function"
        kernel.before.append(
            f".func ({shape(form, 'result')}) {function}({shape(form, 'value')})\n{{\n"
            f".reg .{cls} {prefix}<{lanes}>;\n"
            f"ld.param.{form} {braces(inner)}, [value+0];\n"
            f"{change} {inner[0]}, {inner[0]};\n"
            f"st.param.{form} [result+0], {braces(swapped)};\nret;\n}}"
        )
        base = kernel.input(data_for(kind, THREADS * lanes, form), "value")
        kernel.threads = THREADS
        first = kernel.reg("b32")
        kernel(f"mul.lo.s32 {first}, {kernel.index}, {lanes};")
        given = []
        for lane in range(lanes):
            element = kernel.reg("b32")
            kernel(f"add.s32 {element}, {first}, {lane};")
            given.append(kernel.load(base, plain_type(kind), element))
        got = kernel.regs(cls, lanes)
        kernel(f"""{{
                   {shape(form, "given")};
                   {shape(form, "back")};
                   st.param.{form} [given+0], {braces(given)};
                   call.uni (back), {function}, (given);
                   ld.param.{form} {braces(got)}, [back+0];
                   }}""")
        for i, register in enumerate(got):
            kernel.keep(kind, register, f"lane {i}")
        pairs = [f"st param.{form}"]
        if form == "v2.f32":
            pairs.append("ld param.v2.f32")
        yield kernel.case("parameter", pairs)


def asynchronous():
    """Test cp.async of 16, 8 and 4 bytes in two groups, and one with zero fill."""
    kernel = Kernel("cp.async")
    data = data_for("u32", 4 * THREADS, "cp.async")
    base = kernel.input(data, "memory")
    kernel.threads = THREADS
    kernel.variables += [
        array_variable("shared", "u32", 4 * THREADS, "near"),
        array_variable("shared", "u32", 4 * THREADS, "small"),
    ]
    near, small = kernel.regs("b64", 2)
    kernel(f"""mov.u64 {near}, near;
               mov.u64 {small}, small;""")
    source = kernel.at(base, 16)
    to, low = kernel.at(near, 16, kernel.tid), kernel.at(small, 16, kernel.tid)
    kernel(f"""cp.async.cg.shared.global [{to}], [{source}], 16;
               cp.async.commit_group;
               cp.async.ca.shared.global [{low}], [{source}+8], 8;
               cp.async.ca.shared.global [{low}+8], [{source}+4], 4;
               cp.async.ca.shared.global [{low}+12], [{source}], 4, 0;
               cp.async.commit_group;
               cp.async.wait_group 0;
               bar.sync 0;""")
    other = kernel.reg("b32")
    kernel(f"xor.b32 {other}, {kernel.tid}, 33;")
    for start in (near, small):
        place = kernel.at(start, 16, other)
        got = kernel.regs("b32", 4)
        kernel(f"ld.shared.v4.u32 {braces(got)}, [{place}];")
        for i, register in enumerate(got):
            kernel.keep("u32", register, f"word {i}")
    return kernel.case(
        "load",
        ["cp async.cg.shared.global", "cp async.commit_group", "cp async.wait_group"],
        block=THREADS,
        target=80,
    )


def hints():
    """Test prefetch, and the byte order of a wide store."""
    kernel = Kernel("prefetch")
    base = kernel.input(data_for("u32", THREADS, "prefetch"), "memory")
    address, d = kernel.at(base, 4), kernel.reg("b32")
    kernel(f"""prefetch.global.L1 [{address}];
               ld.global.u32 {d}, [{address}];""")
    kernel.keep("u32", d)
    yield kernel.case("hint", "prefetch global.L1")

    kernel = Kernel("bytes of a stored word")
    word = kernel.load(kernel.input(data_for("u64", THREADS, "bytes"), "word"), "u64")
    kernel.variables.append(".local .align 8 .b8 own[8];")
    place = kernel.reg("b64")
    kernel(f"""mov.u64 {place}, own;
               st.local.u64 [{place}], {word};""")
    for i in range(8):
        byte = kernel.reg("b32")
        kernel(f"ld.local.u8 {byte}, [{place}+{i}];")
        kernel.keep("u8", byte, f"byte {i}")
    yield kernel.case("load", ())


def dynamic_shared():
    """Test .extern .shared after static variables, with the size of the launch."""
    kernel = Kernel("dynamic shared memory")
    far = f"{kernel.entry}_far"
    kernel.before.append(f".extern .shared .align 16 .b8 {far}[];")
    kernel.variables.append(array_variable("shared", "u32", 32, "near"))
    value = kernel.load(kernel.input(data_for("u32", THREADS, "dynamic"), "a"), "u32")
    a, b = kernel.regs("b64", 2)
    lane, other, p, q = kernel.reg("b32"), kernel.reg("b32"), *kernel.regs("b32", 2)
    kernel(f"""mov.u64 {a}, {far};
               mov.u64 {b}, near;
               and.b32 {lane}, {kernel.tid}, 31;
               xor.b32 {other}, {kernel.tid}, 63;""")
    kernel(f"st.shared.u32 [{kernel.at(a, 4, kernel.tid)}], {value};")
    kernel(f"st.shared.u32 [{kernel.at(b, 4, lane)}], {lane};")
    kernel("bar.sync 0;")
    kernel(f"ld.shared.u32 {p}, [{kernel.at(a, 4, other)}];")
    kernel(f"ld.shared.u32 {q}, [{kernel.at(b, 4, lane)}];")
    kernel.keep("u32", p, "dynamic")
    kernel.keep("u32", q, "static")
    return kernel.case("load", (), shared=4 * values.BLOCK)


def rows(table):
    for line in table.strip().split("\n"):
        space, *forms = line.split()
        for form in forms:
            yield space, form


def cases():
    for space, form in rows(LD):
        if not space.startswith("acquire"):
            yield load_case(space, form)
    for space, form in rows(ST):
        if not space.startswith("release"):
            yield store_case(space, form)
    yield from generic()
    yield from parameters()
    yield from call_parameters()
    yield asynchronous()
    yield from hints()
    yield dynamic_shared()
