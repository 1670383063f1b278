"""Operations between the lanes of a warp, and the matrix fragments."""

import numpy as np

from . import values
from .case import Kernel

THREADS = 256

FULL = "0xffffffff"


def shuffles():
    for mode in ("down", "up", "bfly", "idx"):
        kernel = Kernel(f"shfl.sync.{mode}.b32")
        rng = values.source(f"shfl {mode}")
        value = kernel.load(
            kernel.input(values.random_bits(rng, 32, THREADS), "a"), "u32"
        )
        lanes = values.random_bits(rng, 32, THREADS) % 32
        lanes[200:] = values.random_bits(rng, 32, THREADS - 200) % 70
        by_lane = kernel.load(kernel.input(lanes.astype(np.uint32), "b"), "u32")
        clamp = 0 if mode == "up" else 0x1F
        segments = [clamp | (32 - size) << 8 for size in (32, 16, 8, 4, 2, 1)]
        bounds = np.resize(values.array(segments, 32), THREADS)
        by_bound = kernel.load(kernel.input(bounds, "c"), "u32")
        p = kernel.reg("pred")
        trials = [(b, segments[0]) for b in (0, 1, 5, 16, 31)]
        trials += [(1, c) for c in segments[1:]] + [(9, segments[2]), (33, clamp)]
        trials += [(by_lane, clamp), (3, by_bound), (by_lane, by_bound)]
        for b, c in trials:
            d = kernel.reg("b32")
            kernel(f"shfl.sync.{mode}.b32 {d}|{p}, {value}, {b}, {c}, {FULL};")
            kernel.keep("u32", d, f"b={b} c={c}")
            kernel.keep("pred", p, f"p b={b} c={c}")
        half_warp(kernel, value)
        yield kernel.case("warp", f"shfl sync.{mode}.b32", block=128)


def half_warp(kernel, value):
    """Let only the even lanes exchange words."""
    d, odd, p, out = (
        kernel.constant(77),
        kernel.reg("b32"),
        kernel.reg("pred"),
        kernel.label(),
    )
    kernel(f"""and.b32 {odd}, {kernel.tid}, 1;
               setp.ne.s32 {p}, {odd}, 0;
               @{p} bra {out};
               shfl.sync.bfly.b32 {d}, {value}, 6, 0x1f, 0x55555555;
               {out}:""")
    kernel.keep("u32", d, "even lanes")


def flags():
    """Return a predicate of each lane that differs between warps."""
    rng = values.source("flags")
    words = values.random_bits(rng, 32, THREADS)
    words[:32] |= 1
    words[32:64] &= ~np.uint32(1)
    words[64:96] &= ~np.uint32(1)
    words[77] |= 1
    words[96:128] |= 1
    words[100] &= ~np.uint32(1)
    return words


def votes():
    for form, kind in (
        ("ballot.b32", "u32"),
        ("all.pred", "pred"),
        ("any.pred", "pred"),
        ("uni.pred", "pred"),
    ):
        kernel = Kernel(f"vote.sync.{form}")
        word = kernel.load(kernel.input(flags(), "a"), "u32")
        p, odd, low = kernel.reg("pred"), kernel.reg("b32"), kernel.reg("b32")
        cls = "b32" if kind == "u32" else "pred"
        kernel(f"and.b32 {odd}, {word}, 1;\nsetp.ne.s32 {p}, {odd}, 0;")
        for source in (p, f"!{p}"):
            d = kernel.reg(cls)
            kernel(f"vote.sync.{form} {d}, {source}, {FULL};")
            kernel.keep(kind, d, source)
        d, q, skip = kernel.reg(cls), kernel.reg("pred"), kernel.label()
        part = kernel.output(32, label="ten lanes")
        kernel(f"""and.b32 {low}, {kernel.tid}, 31;
                   setp.ge.u32 {q}, {low}, 10;
                   @{q} bra {skip};
                   vote.sync.{form} {d}, {p}, 0x3ff;""")
        if kind == "pred":
            kernel(f"selp.u32 {low}, 1, 2, {d};")
        kernel.store(part, "u32", low if kind == "pred" else d)
        kernel(f"{skip}:")
        yield kernel.case("warp", f"vote sync.{form}", block=128)


def matches():
    for form in ("any.sync.b32", "all.sync.b32", "any.sync.b64", "all.sync.b64"):
        bits = int(form[-2:])
        kernel = Kernel(f"match.{form}")
        rng = values.source("match")
        words = values.random_bits(rng, bits, THREADS)
        words[32:] &= np.asarray(3 | 1 << (bits - 1), words.dtype)
        words[64:96] = 5
        words[96:128] = 9
        words[111] = 8
        word = kernel.load(kernel.input(words, "a"), f"u{bits}")
        for mask, first in ((FULL, 32), ("0xfff", 12)):
            d, p, q, low = (
                kernel.constant(3),
                *kernel.regs("pred", 2),
                kernel.reg("b32"),
            )
            skip = kernel.label()
            result = f"{d}|{q}" if form.startswith("all") else d
            kernel(f"""and.b32 {low}, {kernel.tid}, 31;
                       setp.ge.u32 {p}, {low}, {first};
                       setp.ne.s32 {q}, {low}, {low};
                       @{p} bra {skip};
                       match.{form} {result}, {word}, {mask};
                       {skip}:""")
            kernel.keep("u32", d, mask)
            if form.startswith("all"):
                kernel.keep("pred", q, f"p {mask}")
        listed = form != "all.sync.b64"
        yield kernel.case("warp", f"match {form}" if listed else (), block=128)


def reductions():
    listed = ("add.s32", "add.u32", "max.u32", "min.s32", "or.b32")
    for form in (*listed, "max.s32", "min.u32", "and.b32", "xor.b32"):
        kernel = Kernel(f"redux.sync.{form}")
        words = values.random_bits(values.source("redux"), 32, THREADS)
        words[:32] = values.integer_specials(32)[0:1]
        words[40:80] >>= 20
        word = kernel.load(kernel.input(words, "a"), "u32")
        d = kernel.reg("b32")
        kernel(f"redux.sync.{form} {d}, {word}, {FULL};")
        kernel.keep("u32", d)
        part, p, low, skip = (
            kernel.constant(6),
            kernel.reg("pred"),
            kernel.reg("b32"),
            kernel.label(),
        )
        kernel(f"""and.b32 {low}, {kernel.tid}, 1;
                   setp.eq.s32 {p}, {low}, 0;
                   @{p} bra {skip};
                   redux.sync.{form} {part}, {word}, 0xaaaaaaaa;
                   {skip}:""")
        kernel.keep("u32", part, "odd lanes")
        pairs = f"redux sync.{form}" if form in listed else ()
        yield kernel.case("warp", pairs, block=128, target=80)


def active():
    kernel = Kernel("activemask.b32")
    d = kernel.reg("b32")
    kernel(f"activemask.b32 {d};")
    kernel.keep("u32", d, "all", 256)
    part, p, low, skip = (
        kernel.constant(0),
        kernel.reg("pred"),
        kernel.reg("b32"),
        kernel.label(),
    )
    kernel(f"""and.b32 {low}, {kernel.tid}, 31;
               setp.ge.u32 {p}, {low}, 7;
               @{p} bra {skip};
               activemask.b32 {part};
               {skip}:""")
    kernel.keep("u32", part, "the first seven", 256)
    return kernel.case("warp", "activemask b32", block=128, threads=256)


def matrices():
    """Test wmma with small integers in half precision. Their sums are always exact."""
    kernel = Kernel("wmma.m16n16k16")
    rng = values.source("wmma")

    def halves():
        numbers = (values.random_bits(rng, 8, 256) % 17).astype(np.float16) - 8
        return numbers.astype(np.float16).view(np.uint16)

    a, b = kernel.input(halves(), "a"), kernel.input(halves(), "b")
    out = kernel.output(32, 256, "d")
    x, y = kernel.regs("b32", 8), kernel.regs("b32", 8)
    c, d = kernel.regs("f32", 8), kernel.regs("f32", 8)
    for register in c:
        kernel(f"mov.f32 {register}, 0f3F800000;")

    def braces(registers):
        return "{" + ", ".join(registers) + "}"

    form = "sync.aligned"
    tile = "m16n16k16"
    x, y, c, d = (braces(registers) for registers in (x, y, c, d))
    kernel(f"""wmma.load.a.{form}.row.{tile}.global.f16 {x}, [{a}], 16;
               wmma.load.b.{form}.col.{tile}.global.f16 {y}, [{b}], 16;
               wmma.mma.{form}.row.col.{tile}.f32.f32 {d}, {x}, {y}, {c};
               wmma.store.d.{form}.row.{tile}.global.f32 [{out}], {d}, 16;""")
    kernel.threads = 32
    return kernel.case(
        "matrix",
        [
            "wmma load.a.sync.aligned.row.m16n16k16.global.f16",
            "wmma load.b.sync.aligned.col.m16n16k16.global.f16",
            "wmma mma.sync.aligned.row.col.m16n16k16.f32.f32",
            "wmma store.d.sync.aligned.row.m16n16k16.global.f32",
        ],
        block=32,
        threads=32,
    )


def cases():
    yield from shuffles()
    yield from votes()
    yield from matches()
    yield from reductions()
    yield active()
    yield matrices()
