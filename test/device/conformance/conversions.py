"""cvt, comparisons, selections and moves."""

import numpy as np

from . import values
from .case import Kernel, elementwise, register_class

CVT = """
u64.u32 rmi.f64.f64 rn.f64.u32 u32.u64 rzi.u32.f64 f64.f32 rn.f32.f64 rn.f64.s32
rn.f32.s32 s64.s32 rn.f64.s64 rzi.f64.f64 rn.f32.u32 rn.f64.u64 rni.s32.f32
rni.s32.f64 u16.u32 rzi.f32.f32 sat.f32.f32 rzi.s64.f64 u32.u16 rzi.s32.f32
rzi.s32.f64 rn.f64.s16 rni.f64.f64 rni.f32.f32 rn.f64.u16 rmi.f32.f32 rzi.u32.f32
rn.f16.f32 f32.f16 rzi.u64.f64 s32.s16 rn.f32.s16 rn.f32.u16 u16.u64 s16.s8 s32.s8
rni.s64.f32 rpi.f32.f32 rpi.f64.f64 rm.f32.f64 rm.f32.s32 rmi.u32.f32 rn.f16.f64
rn.f16.s32 rn.f32.u64 rni.s64.f64 rni.u32.f64 rp.f32.u32 rz.f32.s64 rzi.s32.f16
rzi.u64.f32 f32.bf16 rn.bf16.f32
"""

#: Forms that are not in the list but occur in other programs.
EXTRA_CVT = """
rz.f32.f64 rp.f32.f64 rn.ftz.f32.f64 ftz.f64.f32 rzi.ftz.s32.f32 rni.ftz.f32.f32
rmi.ftz.s32.f32 ftz.sat.f32.f32 rpi.s32.f64 rmi.s64.f64 rpi.u64.f32 rzi.u16.f32
rzi.s16.f64 rzi.u8.f32 rzi.s8.f32 rn.f32.s64 rz.f64.s64 rm.f64.u64 rp.f64.s64
rz.f32.u64 sat.u8.s32 sat.s8.s32 sat.s16.s32 sat.u16.s32 sat.u32.s32 sat.s32.s64
sat.s32.u32 sat.u32.u64 u8.u32 s8.s32 u32.u8 s64.s16 s64.s8 u64.u16 s64.u32
rz.f16.f32 rm.f16.f32 rp.f16.f32 rn.sat.f16.f32 f64.f16 rn.f16.u32 rn.f16.s64
rn.f16.u16 rzi.u32.f16 rni.f16.f16 rzi.s64.f16 rz.bf16.f32
"""

TARGETS = {"f32.bf16": 90, "rn.bf16.f32": 80, "rz.bf16.f32": 90}


def edges(source, target):
    """Return numbers near the limits and ties of a conversion."""
    wide_range = range(0, 66)
    found = []
    for power in wide_range:
        for step in (-2, -1, 0, 1, 2):
            found += [(1 << power) + step, -(1 << power) + step]
    if source[0] not in "fb":
        bits = values.width(source)
        for digits in (10, 11, 23, 24, 25, 52, 53, 54):  # ties of the fraction
            for top in range(digits, bits):
                low = 1 << (top - digits)
                found += [(1 << top) + low, (1 << top) + 3 * low, (1 << top) + low + 1]
        return values.array(found, bits)
    real = {"f16": np.float16, "bf16": np.float32, "f32": np.float32, "f64": np.float64}
    numbers = [float(n) for n in found]
    numbers += [n + f for n in range(-5, 6) for f in (0.25, 0.5, 0.75)]
    numbers += [float(n) * 0.5 for n in found[60:140]]
    for digits in (7, 8, 10, 11, 23, 24):  # ties between two numbers of the target
        tail = 2.0**-digits
        for scale in (1.0, 2.0**-14, 2.0**-126, 2.0**-24, 2.0**-149, 3 * 2.0**-25):
            for step in (tail, tail / 2, 3 * tail, 1.5 * tail, tail + 2.0**-40):
                numbers += [scale * (1 + step), -scale * (1 + step)]
    for top in (65504.0, 65519.0, 65520.0, 65536.0, 3.4028234663852886e38):
        numbers += [top, -top, top * (1 + 2.0**-25), top * (1 + 2.0**-24)]
    with np.errstate(all="ignore"):
        bits = (
            np.array(numbers)
            .astype(real[source])
            .view(values.uint(32 if source == "bf16" else values.width(source)))
        )
    return (bits >> 16).astype(np.uint16) if source == "bf16" else bits


def cvt_case(form, in_list):
    result, source = form.split(".")[-2:]
    base = values.unary(source, f"cvt {form}")[0]
    vector = [values.pad(np.unique(np.concatenate([base, edges(source, result)])))]
    options = {} if in_list else {"pairs": ()}
    return elementwise(
        "convert",
        f"cvt {form}",
        # The instruction writes the whole register of 16 bits or more.
        "u16" if values.width(result) == 8 else result,
        [source],
        vector,
        target=TARGETS.get(form, 75),
        **options,
    )


def conversions():
    for form in CVT.split():
        yield cvt_case(form, True)
    for form in EXTRA_CVT.split():
        yield cvt_case(form, False)
    for form, target in (("rn.f16x2.f32", 80), ("rn.bf16x2.f32", 80)):
        vectors = values.binary("f32", f"cvt {form}")
        yield elementwise(
            "convert", f"cvt {form}", "u32", ["f32"] * 2, vectors, target=target
        )


SETP = """
f64 lt eq gtu neu gt ltu le ge leu geu nan ne
f32 eq lt gt leu geu ltu gtu ge le neu
f16 lt gt
s16 ne eq gt lt ge le
u16 lt ge gt le
s32 eq ne lt gt ge le
u32 gt ge lt ne le
s64 eq ne gt lt ge le
u64 ge lt gt le
b32 eq
b64 eq
"""
EXTRA_SETP = """
ftz.f32 lt eq ne gtu equ num nan
f32 ne num nan equ
f64 num equ
f16 eq ne neu geu nan
u32 eq lo ls hi hs
b16 eq ne
b32 ne
s64 eq
"""


def comparisons():
    for table, in_list in ((SETP, True), (EXTRA_SETP, False)):
        for line in table.strip().split("\n"):
            form, *tests = line.split()
            kind = form.rpartition(".")[2]
            vectors = values.binary(kind, f"setp {kind}")
            for test in tests:
                options = (
                    {}
                    if in_list
                    else {"pairs": (), "name": f"setp.{test}.{form} extra"}
                )
                yield elementwise(
                    "compare",
                    f"setp {test}.{form}",
                    "pred",
                    [kind] * 2,
                    vectors,
                    **options,
                )
    yield combined()
    for test, kind in (("eq", "f16"), ("eq", "f16x2"), ("nan", "f16")):
        vectors = values.binary(kind, f"set {kind}")
        yield elementwise(
            "compare", f"set {test}.{kind}.{kind}", kind, [kind] * 2, vectors
        )
    for test, result, kind in (
        ("lt", "u32", "f32"),
        ("ge", "f32", "s32"),
        ("gtu", "s32", "f64"),
    ):
        vectors = values.binary(kind, f"set {kind}")
        yield elementwise(
            "compare",
            f"set {test}.{result}.{kind}",
            result,
            [kind] * 2,
            vectors,
            pairs=(),
        )


def combined():
    """Test setp with two results and a predicate that is combined with the test."""
    kernel = Kernel("setp with and, or, xor")
    a, b = values.binary("s32", "setp combined")
    x, y = (
        kernel.load(kernel.input(a, "a"), "s32"),
        kernel.load(kernel.input(b, "b"), "s32"),
    )
    p = kernel.reg("pred")
    kernel(f"setp.gt.s32 {p}, {x}, 10;")
    for word in ("and", "or", "xor"):
        for guard in (p, f"!{p}"):
            q, r = kernel.regs("pred", 2)
            kernel(f"setp.lt.{word}.s32 {q}|{r}, {x}, {y}, {guard};")
            kernel.keep("pred", q, f"{word} p")
            kernel.keep("pred", r, f"{word} q")
    return kernel.case("compare", ())


SELP = "f64 f32 b32 u16 b64 u32 u64 b16 s32 s64"


def selections():
    choice = values.random_bits(values.source("selp"), 8, 512) & 1
    for kind in SELP.split():
        kernel = Kernel(f"selp.{kind}")
        a = values.pad(np.resize(values.specials(kind), 512))
        x = kernel.load(kernel.input(a, "a"), kind)
        y = kernel.load(kernel.input(a[::-1].copy(), "b"), kind)
        flag = kernel.load(kernel.input(choice, "c"), "u8")
        p, cls = kernel.reg("pred"), register_class(kind)
        d, e = kernel.regs(cls, 2)
        kernel(f"""setp.ne.s16 {p}, {flag}, 0;
                   selp.{kind} {d}, {x}, {y}, {p};""")
        kernel.keep(kind, d)
        immediate = {"f32": "0f7FC12345", "f64": "0d7FF8000012345678"}.get(kind, "-7")
        if kind[0] == "u":
            immediate = "7"
        kernel(f"selp.{kind} {e}, {immediate}, {x}, {p};")
        kernel.keep(kind, e, "immediate")
        yield kernel.case("select", f"selp {kind}")
    vectors = values.binary("u32", "slct")
    vectors.append(np.roll(vectors[0], 77))
    yield elementwise("select", "slct u32.s32", "u32", ["u32", "u32", "s32"], vectors)
    third = values.unary("f32", "slct f32", count=len(vectors[0]))[0][: len(vectors[0])]
    for form in ("u32.f32", "u32.ftz.f32"):
        if form == "u32.ftz.f32":
            text = "slct.ftz.u32.f32 {d}, {a}, {b}, {c};"
        else:
            text = "slct.u32.f32 {d}, {a}, {b}, {c};"
        yield elementwise(
            "select",
            f"slct {form}",
            "u32",
            ["u32", "u32", "f32"],
            [*vectors[:2], third],
            text,
            pairs=(),
        )


def moves():
    immediates = {
        "f32": ["0f80000001", "0f7FA00001", "1.5", "-0.0"],
        "f64": [
            "0d8000000000000001",
            "0d7FF4000000000001",
            "-2.5",
            "0d3FB999999999999A",
        ],
        "s32": ["-1", "-2147483648", "0x7fffffff", "0177"],
        "u32": ["4294967295", "0xDEADBEEF", "0b1011", "7"],
        "b32": ["0x80000000", "1", "-5", "'A'"],
        "u64": ["18446744073709551615", "0x0123456789ABCDEF", "1", "0"],
        "b64": ["-1", "0x8000000000000000", "3", "0"],
        "u16": ["65535", "0x1234", "1", "0"],
        "b16": ["0x8000", "-2", "1", "0"],
    }
    immediates["b32"][3] = "0x41"
    for kind, literals in immediates.items():
        kernel = Kernel(f"mov.{kind}")
        data = values.pad(values.specials(kind))
        x = kernel.load(kernel.input(data, "a"), kind)
        d = kernel.reg(register_class(kind))
        kernel(f"mov.{kind} {d}, {x};")
        kernel.keep(kind, d)
        for literal in literals:
            d = kernel.reg(register_class(kind))
            kernel(f"mov.{kind} {d}, {literal};")
            kernel.keep(kind, d, literal)
        yield kernel.case("move", f"mov {kind}")
    yield special_registers()
    yield packing()
    yield predicates()
    yield addresses()


def special_registers():
    """Test the special registers that have the same values on every device."""
    kernel = Kernel("mov of special registers")
    names = ["%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ctaid.x", "%ctaid.y"]
    names += ["%ctaid.z", "%nctaid.x", "%nctaid.z", "%laneid", "%lanemask_eq"]
    names += ["%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge", "%ntid.z"]
    for name in names:
        kernel.keep("u32", kernel.special(name), name, 192)
    narrow = kernel.reg("b16")
    kernel(f"mov.u16 {narrow}, %tid.x;")
    kernel.keep("u16", narrow, "%tid.x", 192)
    return kernel.case("move", (), block=96, threads=192)


def packing():
    kernel = Kernel("mov that packs and unpacks")
    words = values.pad(values.specials("u32"))
    x = kernel.load(kernel.input(words, "a"), "u32")
    y = kernel.load(kernel.input(np.roll(words, 3), "b"), "u32")
    q, back = kernel.reg("b64"), kernel.reg("b64")
    h, low, high = kernel.regs("b16", 4), kernel.reg("b32"), kernel.reg("b32")
    f = kernel.reg("f64")
    w = kernel.reg("b32")
    kernel(f"""mov.b64 {q}, {{{x}, {y}}};
               mov.b64 {{{low}, {high}}}, {q};
               mov.b32 {{{h[0]}, {h[1]}}}, {y};
               mov.b32 {w}, {{{h[1]}, {h[0]}}};
               mov.b64 {{{h[0]}, {h[1]}, {h[2]}, {h[3]}}}, {q};
               mov.b64 {back}, {{{h[3]}, {h[0]}, {h[2]}, {h[1]}}};
               mov.b64 {f}, {{{y}, {x}}};""")
    for kind, register in (("u64", q), ("u32", low), ("u32", high), ("u32", w)):
        kernel.keep(kind, register)
    kernel.keep("u64", back, "halves")
    kernel.keep("f64", f, "double")
    return kernel.case("move", ())


def predicates():
    """Test mov, and, or, xor, not of predicates and immediates in all combinations."""
    kernel = Kernel("logic of predicates")
    flags = values.pad(np.arange(64, dtype=np.uint32))
    x = kernel.load(kernel.input(flags, "a"), "u32")
    p, q = kernel.regs("pred", 2)
    t = kernel.regs("b32", 2)
    kernel(f"""and.b32 {t[0]}, {x}, 1;
               and.b32 {t[1]}, {x}, 2;
               setp.ne.s32 {p}, {t[0]}, 0;
               setp.ne.s32 {q}, {t[1]}, 0;""")
    for line in (
        "mov.pred {d}, {p};",
        "and.pred {d}, {p}, {q};",
        "or.pred {d}, {p}, {q};",
        "xor.pred {d}, {p}, {q};",
        "not.pred {d}, {p};",
    ):
        d = kernel.reg("pred")
        kernel(line.format(d=d, p=p, q=q))
        kernel.keep("pred", d, line.split()[0])
    pairs = [f"{op} pred" for op in ("mov", "and", "or", "xor", "not")]
    return kernel.case("logic", pairs)


def addresses():
    """Test mov of a variable's address with an offset, in three state spaces."""
    kernel = Kernel("mov of an address")
    table = f"{kernel.entry}_table"
    kernel.before.append(
        f".global .align 4 .u32 {table}[8] = {{3, 1, 4, 1, 5, 9, 2, 6}};"
    )
    kernel.variables += [
        ".shared .align 4 .u32 near[64];",
        ".local .align 4 .b8 own[16];",
    ]
    a, s, own = kernel.regs("b64", 3)
    slot, place = kernel.reg("b64"), kernel.reg("b64")
    r = kernel.regs("b32", 4)
    kernel(f"""mov.u64 {a}, {table};
               ld.global.u32 {r[0]}, [{a}+8];
               mov.u64 {s}, near;
               mul.wide.u32 {slot}, {kernel.tid}, 4;
               add.s64 {place}, {s}, {slot};
               st.shared.u32 [{place}], {kernel.tid};
               ld.shared.u32 {r[1]}, [{place}];
               mov.u64 {own}, own;
               st.local.u32 [{own}+4], {r[1]};
               ld.local.u32 {r[2]}, [{own}+4];
               mov.u64 {slot}, {table}+20;
               ld.global.u32 {r[3]}, [{slot}];""")
    for register in r:
        kernel.keep("u32", register, count=64)
    return kernel.case("move", (), threads=64)


def cases():
    yield from conversions()
    yield from comparisons()
    yield from selections()
    yield from moves()
