"""Bit operations: logic, shifts, fields, counts, permutations, video, dot products."""

import numpy as np

from . import values
from .case import elementwise


def logic():
    for op in ("and", "xor", "or"):
        for kind in ("b32", "b64", "b16"):
            vectors = values.binary(kind, f"{op} {kind}", 64)
            yield elementwise("logic", f"{op} {kind}", kind, [kind] * 2, vectors)
    for op, kinds in (("not", "b32 b64 b16"), ("cnot", "b32")):
        for kind in kinds.split():
            vectors = values.unary(kind, f"{op} {kind}", count=64)
            yield elementwise("logic", f"{op} {kind}", kind, [kind], vectors)
    for kind in ("b16", "b64"):
        vectors = values.unary(kind, f"cnot {kind}", count=64)
        yield elementwise("logic", f"cnot {kind}", kind, [kind], vectors, pairs=())


def shifting():
    listed = "shl b32 b64 b16|shr u32 u64 s32 s64 b32 u16 s16"
    for row in listed.split("|"):
        op, *kinds = row.split()
        for kind in kinds:
            vectors = values.shifts(kind, f"{op} {kind}")
            yield elementwise("shift", f"{op} {kind}", kind, [kind, "u32"], vectors)
    a, b, _ = values.ternary("b32", "shf", 1024)
    rng = values.source("shf counts")
    counts = np.resize(values.array(values.SHIFTS, 32), len(a))
    counts[len(a) // 2 :] = values.random_bits(rng, 32, len(a) - len(a) // 2)
    for pair in (
        "shf l.wrap.b32",
        "shf l.clamp.b32",
        "shf r.wrap.b32",
        "shf r.clamp.b32",
    ):
        options = {"pairs": ()} if pair == "shf r.clamp.b32" else {}
        yield elementwise("shift", pair, "b32", ["b32"] * 3, [a, b, counts], **options)


def positions(name, count):
    """Return positions and lengths of fields, of which the low eight bits count."""
    rng = values.source(name)
    near = values.random_bits(rng, 32, count) % 70
    far = values.random_bits(rng, 32, count)
    return np.where(np.arange(count) % 4 == 0, far, near).astype(np.uint32)


def fields():
    for kind in ("b64", "b32"):
        a, b, _ = values.ternary(kind, f"bfi {kind}", 2048)
        vectors = [a, b, positions("bfi start", 2048), positions("bfi length", 2048)]
        yield elementwise(
            "bits", f"bfi {kind}", kind, [kind, kind, "u32", "u32"], vectors
        )
    for kind in ("u32", "s32", "u64", "s64"):
        a = values.ternary(kind, f"bfe {kind}", 2048)[0]
        vectors = [a, positions("bfe start", 2048), positions("bfe length", 2048)]
        options = {} if kind == "u32" else {"pairs": ()}
        yield elementwise(
            "bits", f"bfe {kind}", kind, [kind, "u32", "u32"], vectors, **options
        )
    vectors = [positions("bmsk start", 1024), positions("bmsk length", 1024)]
    yield elementwise("bits", "bmsk clamp.b32", "b32", ["b32"] * 2, vectors)
    yield elementwise("bits", "bmsk wrap.b32", "b32", ["b32"] * 2, vectors, pairs=())


def counts():
    powers32 = [1 << i for i in range(32)] + [(1 << i) - 1 for i in range(33)]
    powers64 = [1 << i for i in range(64)] + [(1 << i) - 1 for i in range(65)]
    for pair, result in (
        ("clz b64", "u32"),
        ("clz b32", "u32"),
        ("popc b32", "u32"),
        ("popc b64", "u32"),
        ("brev b32", "b32"),
        ("brev b64", "b64"),
        ("bfind shiftamt.u32", "u32"),
        ("bfind u32", "u32"),
    ):
        kind = pair.split(" ")[1].rpartition(".")[2]
        extra = powers64 if kind.endswith("64") else powers32
        vectors = values.unary(kind, pair, extra, 128)
        yield elementwise("bits", pair, result, [kind], vectors)
    for pair in (
        "bfind s32",
        "bfind u64",
        "bfind s64",
        "bfind shiftamt.s32",
        "bfind shiftamt.u64",
    ):
        kind = pair.rpartition(".")[2].rpartition(" ")[2]
        extra = powers64 if kind.endswith("64") else powers32
        vectors = values.unary(kind, pair, extra, 128)
        yield elementwise("bits", pair, "u32", [kind], vectors, pairs=())
    rng = values.source("fns")
    mask = values.ternary("b32", "fns", 1024)[0]
    base = values.random_bits(rng, 32, 1024) % 32
    offset = (values.random_bits(rng, 32, 1024) % 21).astype(np.int64) - 10
    vectors = [mask, base.astype(np.uint32), offset.astype(np.int32).view(np.uint32)]
    yield elementwise("bits", "fns b32", "b32", ["b32"] * 3, vectors)


def permutations():
    a, b, _ = values.ternary("b32", "prmt", 1024)
    rng = values.source("prmt select")
    select = values.random_bits(rng, 32, 1024)
    select[::2] &= 0xFFFF
    yield elementwise("bits", "prmt b32", "b32", ["b32"] * 3, [a, b, select])
    for mode in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):
        text = f"prmt.b32.{mode} {{d}}, {{a}}, {{b}}, {{c}};"
        yield elementwise(
            "bits",
            f"prmt b32.{mode}",
            "b32",
            ["b32"] * 3,
            [a[:256], b[:256], select[:256]],
            text,
            pairs=(),
        )
    a, b, c = values.ternary("b32", "lop3", 1024)
    for i, table in enumerate((0x96, 0xE8, 0x80, 0xFE, 0x1B, 0x00, 0xCA)):
        text = f"lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, {table};"
        options = {"pairs": "lop3 b32"} if i == 0 else {"pairs": ()}
        yield elementwise(
            "bits",
            "lop3 b32",
            "b32",
            ["b32"] * 3,
            [a, b, c],
            text,
            name=f"lop3.b32 {table:#x}",
            **options,
        )


LISTED_VIDEO = (
    "vabsdiff4 u32.u32.u32",
    "vabsdiff4 u32.u32.u32.add",
    "vadd4 u32.u32.u32",
)


def video():
    vectors = values.ternary("b32", "dot", 1024)
    for pair in ("dp2a lo.s32.s32", "dp2a lo.u32.u32", "dp4a s32.s32"):
        yield elementwise("video", pair, "b32", ["b32"] * 3, vectors)
    for pair in (
        "dp2a hi.s32.u32",
        "dp2a hi.u32.s32",
        "dp4a u32.u32",
        "dp4a s32.u32",
        "dp4a u32.s32",
    ):
        yield elementwise("video", pair, "b32", ["b32"] * 3, vectors, pairs=())
    for pair in LISTED_VIDEO:
        yield elementwise("video", pair, "b32", ["b32"] * 3, vectors)


def signs():
    """Test dot products and video instructions with every mix of signs."""
    vectors = [v[:128] for v in values.ternary("b32", "dot", 1024)]
    recorded = ("dp2a lo.s32.s32", "dp2a lo.u32.u32", "dp2a hi.s32.u32")
    for part in ("lo", "hi"):
        for a in ("s32", "u32"):
            for b in ("s32", "u32"):
                pair = f"dp2a {part}.{a}.{b}"
                if pair not in (*recorded, "dp2a hi.u32.s32"):
                    yield elementwise(
                        "video", pair, "b32", ["b32"] * 3, vectors, pairs=()
                    )
    columns = [v[:64] for v in values.ternary("b32", "video", 1024)]
    for op in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"):
        for size in "24":
            for types in ("s32.s32.s32", "u32.u32.u32", "s32.u32.s32", "u32.s32.u32"):
                for end in ("", ".sat", ".add"):
                    pair = f"{op}{size} {types}{end}"
                    if pair in LISTED_VIDEO:
                        continue
                    yield elementwise(
                        "video", pair, "b32", ["b32"] * 3, columns, pairs=()
                    )
    for size in "24":
        for types in ("u32.u32", "s32.s32", "s32.u32", "u32.s32"):
            for test in ("eq", "ne", "lt", "le", "gt", "ge"):
                end = ".add" if test in ("ne", "ge") else ""
                pair = f"vset{size} {types}.{test}{end}"
                yield elementwise("video", pair, "b32", ["b32"] * 3, columns, pairs=())


def extensions():
    """Test szext, and the remaining forms of the fields and of bfind."""
    a, b, _ = values.ternary("b32", "szext", 256)
    size = np.where(np.arange(256) % 4 == 0, b, b % 40).astype(np.uint32)
    for mode in ("wrap", "clamp"):
        for kind in ("s32", "u32"):
            pair = f"szext {mode}.{kind}"
            yield elementwise("bits", pair, "b32", ["b32"] * 2, [a, size], pairs=())
    powers = [1 << i for i in range(64)] + [~(1 << i) for i in range(64)]
    vectors = values.unary("s64", "bfind shiftamt.s64", powers, 128)
    yield elementwise("bits", "bfind shiftamt.s64", "u32", ["s64"], vectors, pairs=())


def cases():
    yield from signs()
    yield from extensions()
    yield from logic()
    yield from shifting()
    yield from fields()
    yield from counts()
    yield from permutations()
    yield from video()
