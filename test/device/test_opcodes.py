"""Compare each PTX instruction of the software device with NumPy or Python integers.

Integer results, and the IEEE results of add, sub, mul, fma, div, sqrt and conversions,
must be equal. Approximations have the bounds of the PTX manual. Both builds of the
interpreter run all tests.
"""

import itertools
import math
import operator
import os
from fractions import Fraction

import numpy as np
import pytest

from support.emulator_arrays import Arrays, apply

pytest_plugins = ["support.emulator_fixtures"]


@pytest.fixture(params=["simd", "base", "lockstep"])
def g(request, d, emu_ctx, monkeypatch):
    if request.param == "base":
        monkeypatch.setenv("PYCUDA_EMULATOR_SIMD", "0")
    else:
        monkeypatch.delenv("PYCUDA_EMULATOR_SIMD", raising=False)
    assert ("PYCUDA_EMULATOR_SIMD" in os.environ) == (request.param == "base")
    arrays = Arrays(d)
    arrays.lockstep = request.param == "lockstep"
    yield arrays
    arrays.close()


def pad(values, dtype):
    """Repeat the values to fill whole warps."""
    values = np.array(list(values), dtype)
    n = -(-len(values) // 32) * 32
    return np.resize(values, n)


def integers(bits, signed=False):
    edge = [0, 1, 2, 3, 5, 7, 100, 255, 256, 32767, 32768, 65535, 65536]
    edge += [2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
    edge += [0x12345678, 0xDEADBEEF, 0x0123456789ABCDEF, 0xFEDCBA9876543210]
    values = sorted({e & (2**bits - 1) for e in edge})
    return values


def unsigned(bits):
    return np.dtype(f"u{bits // 8}")


def signed(x, bits):
    x &= 2**bits - 1
    return x - 2**bits if x >> (bits - 1) else x


def pairs(bits):
    both = list(itertools.product(integers(bits), repeat=2))
    t = unsigned(bits)
    return pad([a for a, _ in both], t), pad([b for _, b in both], t)


def triples(bits):
    values = integers(bits)[::2]
    all3 = list(itertools.product(values, repeat=3))
    return [pad([x[k] for x in all3], unsigned(bits)) for k in range(3)]


def check(g, code, inputs, function, bits):
    """Compare with function(ints...) modulo 2**bits."""
    got = apply(g, code, inputs, unsigned(bits))
    want = [
        function(*(int(v) for v in row)) % 2**bits for row in zip(*inputs, strict=True)
    ]
    bad = [
        (row, hex(int(x)), hex(w))
        for row, x, w in zip(zip(*inputs, strict=True), got, want, strict=False)
        if int(x) != w
    ]
    assert not bad, (code, bad[:5])


# -- integers --------------------------------------------------------------------------


def divide(a, b, s):
    if b == 0:
        return -1
    q = abs(a) // abs(b)
    return -q if (a < 0) != (b < 0) and s else q


def remainder(a, b, s):
    return -1 if b == 0 else a - b * divide(a, b, s)


def clamp(x, lo, hi):
    return max(lo, min(hi, x))


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_integer_arithmetic(g, bits):
    a, b = pairs(bits)
    for s in "us":
        t = f"{s}{bits}"

        def v(x, s=s):
            return signed(x, bits) if s == "s" else x

        check(g, f"add.{t} %d, %0, %1;", [a, b], lambda x, y: x + y, bits)
        check(g, f"sub.{t} %d, %0, %1;", [a, b], lambda x, y: x - y, bits)
        check(g, f"mul.lo.{t} %d, %0, %1;", [a, b], lambda x, y: x * y, bits)
        check(
            g,
            f"mul.hi.{t} %d, %0, %1;",
            [a, b],
            lambda x, y, v=v: v(x) * v(y) >> bits,
            bits,
        )
        check(
            g,
            f"div.{t} %d, %0, %1;",
            [a, b],
            lambda x, y, v=v, s=s: divide(v(x), v(y), s == "s"),
            bits,
        )
        check(
            g,
            f"rem.{t} %d, %0, %1;",
            [a, b],
            lambda x, y, v=v, s=s: remainder(v(x), v(y), s == "s"),
            bits,
        )
        check(
            g, f"min.{t} %d, %0, %1;", [a, b], lambda x, y, v=v: min(v(x), v(y)), bits
        )
        check(
            g, f"max.{t} %d, %0, %1;", [a, b], lambda x, y, v=v: max(v(x), v(y)), bits
        )
        if bits < 64:
            check(
                g,
                f"mul.wide.{t} %d, %0, %1;",
                [a, b],
                lambda x, y, v=v: v(x) * v(y),
                2 * bits,
            )
    check(g, f"neg.s{bits} %d, %0;", [a], lambda x: -x, bits)
    check(g, f"abs.s{bits} %d, %0;", [a], lambda x: abs(signed(x, bits)), bits)
    check(g, f"not.b{bits} %d, %0;", [a], lambda x: ~x, bits)
    check(g, f"cnot.b{bits} %d, %0;", [a], lambda x: x == 0, bits)
    for name, f in [
        ("and", lambda x, y: x & y),
        ("or", lambda x, y: x | y),
        ("xor", lambda x, y: x ^ y),
    ]:
        check(g, f"{name}.b{bits} %d, %0, %1;", [a, b], f, bits)


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_integer_mad_sad(g, bits):
    a, b, c = triples(bits)
    check(
        g, f"mad.lo.u{bits} %d, %0, %1, %2;", [a, b, c], lambda x, y, z: x * y + z, bits
    )
    for s in "us":

        def v(x, s=s):
            return signed(x, bits) if s == "s" else x

        check(
            g,
            f"mad.hi.{s}{bits} %d, %0, %1, %2;",
            [a, b, c],
            lambda x, y, z, v=v: (v(x) * v(y) >> bits) + z,
            bits,
        )
        check(
            g,
            f"sad.{s}{bits} %d, %0, %1, %2;",
            [a, b, c],
            lambda x, y, z, v=v: z + abs(v(x) - v(y)),
            bits,
        )


def test_mad_hi_saturates(g):
    """mad.hi.sat.s32 saturates at both ends. Without sat the sum wraps."""
    a, b, c = triples(32)
    low, high = -(2**31), 2**31 - 1

    def want(x, y, z):
        total = (signed(x, 32) * signed(y, 32) >> 32) + signed(z, 32)
        return min(max(total, low), high)

    check(g, "mad.hi.sat.s32 %d, %0, %1, %2;", [a, b, c], want, 32)
    sums = [want(*map(int, each)) for each in zip(a, b, c, strict=True)]
    assert low in sums and high in sums


def test_saturating_and_24_bit(g):
    a, b = pairs(32)

    def top(x):
        return clamp(x, -(2**31), 2**31 - 1)

    check(
        g,
        "add.sat.s32 %d, %0, %1;",
        [a, b],
        lambda x, y: top(signed(x, 32) + signed(y, 32)),
        32,
    )
    check(
        g,
        "sub.sat.s32 %d, %0, %1;",
        [a, b],
        lambda x, y: top(signed(x, 32) - signed(y, 32)),
        32,
    )
    for s, v in [("u", lambda x: x & 0xFFFFFF), ("s", lambda x: signed(x, 24))]:
        check(
            g, f"mul24.lo.{s}32 %d, %0, %1;", [a, b], lambda x, y, v=v: v(x) * v(y), 32
        )
        check(
            g,
            f"mul24.hi.{s}32 %d, %0, %1;",
            [a, b],
            lambda x, y, v=v: v(x) * v(y) >> 16,
            32,
        )
        check(
            g,
            f"mad24.lo.{s}32 %d, %0, %1, 77;",
            [a, b],
            lambda x, y, v=v: v(x) * v(y) + 77,
            32,
        )


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_shifts_beyond_width(g, bits):
    values = integers(bits)
    counts = [0, 1, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 2**31, 2**32 - 1]
    rows = list(itertools.product(values, counts))
    a = pad([x for x, _ in rows], unsigned(bits))
    n = pad([y for _, y in rows], np.uint32)
    check(g, f"shl.b{bits} %d, %0, %1;", [a, n], lambda x, y: x << min(y, bits), bits)
    check(g, f"shr.u{bits} %d, %0, %1;", [a, n], lambda x, y: x >> min(y, bits), bits)
    check(
        g,
        f"shr.s{bits} %d, %0, %1;",
        [a, n],
        lambda x, y: signed(x, bits) >> min(y, bits),
        bits,
    )


def test_carry_chains(g):
    a, b, c = triples(64)
    add = """{ .reg .b32 a0, a1, b0, b1, c0, c1;
    mov.b64 {a0, a1}, %0; mov.b64 {b0, b1}, %1;
    add.cc.u32 c0, a0, b0; addc.u32 c1, a1, b1; mov.b64 %d, {c0, c1}; }"""
    check(g, add, [a, b], lambda x, y: x + y, 64)
    check(
        g,
        add.replace("add.cc", "sub.cc").replace("addc", "subc"),
        [a, b],
        lambda x, y: x - y,
        64,
    )
    wide = """{ .reg .b64 low, high;
    add.cc.u64 low, %0, %1; addc.cc.u64 high, %0, %2; addc.u64 %d, high, 0; }"""
    check(
        g,
        wide,
        [a, b, c],
        lambda x, y, z: (x + z + (x + y >> 64)) % 2**64 + (x + z + (x + y >> 64) >> 64),
        64,
    )
    mad = """{ .reg .b32 a0, b0, c0, c1, r0, r1;
    cvt.u32.u64 a0, %0; cvt.u32.u64 b0, %1; mov.b64 {c0, c1}, %2;
    mad.lo.cc.u32 r0, a0, b0, c0; madc.hi.u32 r1, a0, b0, c1; mov.b64 %d, {r0, r1}; }"""
    m = 2**32 - 1
    check(g, mad, [a, b, c], lambda x, y, z: (x & m) * (y & m) + z, 64)


# -- bits ------------------------------------------------------------------------------


def field(x, pos, n, bits, s):
    pos, n = pos & 255, n & 255
    sign = (x >> min(pos + n - 1, bits - 1)) & 1 if s and n else 0
    out = 0
    for i in range(bits):
        bit = (x >> (pos + i)) & 1 if i < n and pos + i < bits else sign
        out |= bit << i
    return out


def put(a, b, pos, n, bits):
    pos, n = pos & 255, n & 255
    for i in range(n):
        if pos + i < bits:
            b = b & ~(1 << (pos + i)) | ((a >> i) & 1) << (pos + i)
    return b


@pytest.mark.parametrize("bits", [32, 64])
def test_bit_counting_and_fields(g, bits):
    values = integers(bits)
    a = pad(values, unsigned(bits))
    check(g, f"popc.b{bits} %d, %0;", [a], lambda x: x.bit_count(), 32)
    check(g, f"clz.b{bits} %d, %0;", [a], lambda x: bits - x.bit_length(), 32)
    check(
        g, f"brev.b{bits} %d, %0;", [a], lambda x: int(f"{x:0{bits}b}"[::-1], 2), bits
    )
    for s in "us":

        def top(x, s=s):
            if s == "s" and x >> (bits - 1):
                x = ~x & (2**bits - 1)
            return x.bit_length() - 1

        check(g, f"bfind.{s}{bits} %d, %0;", [a], top, 32)
        check(
            g,
            f"bfind.shiftamt.{s}{bits} %d, %0;",
            [a],
            lambda x, top=top: bits - 1 - top(x) if top(x) >= 0 else -1,
            32,
        )
    lengths = [0, 1, 7, 31, 32, 33, 63, 64, 200]
    rows = list(itertools.product(values[::3], lengths, lengths))
    x = pad([r[0] for r in rows], unsigned(bits))
    pos = pad([r[1] for r in rows], np.uint32)
    n = pad([r[2] for r in rows], np.uint32)
    for s in "us":
        check(
            g,
            f"bfe.{s}{bits} %d, %0, %1, %2;",
            [x, pos, n],
            lambda v, p, m, s=s: field(v, p, m, bits, s == "s"),
            bits,
        )
    check(
        g,
        f"bfi.b{bits} %d, {0x5A5A5A5A}, %0, %1, %2;",
        [x, pos, n],
        lambda v, p, m: put(0x5A5A5A5A, v, p, m, bits),
        bits,
    )


def permute(a, b, c, mode):
    both = [(b << 32 | a) >> (8 * i) & 255 for i in range(8)]
    k = c & 3
    tables = {
        "f4e": [(k + i) % 8 for i in range(4)],
        "b4e": [(k - i) % 8 for i in range(4)],
        "rc8": [k] * 4,
        "ecl": [max(k, i) for i in range(4)],
        "ecr": [min(k, i) for i in range(4)],
        "rc16": [2 * (k & 1), 2 * (k & 1) + 1] * 2,
    }
    if mode:
        return sum(both[i] << (8 * n) for n, i in enumerate(tables[mode]))
    out = 0
    for n in range(4):
        pick = c >> (4 * n) & 15
        byte = both[pick & 7]
        if pick & 8:
            byte = 255 if byte & 128 else 0
        out |= byte << (8 * n)
    return out


def test_byte_operations(g):
    a, b, c = triples(32)
    for mode in ["", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]:
        code = f"prmt.b32{'.' + mode if mode else ''} %d, %0, %1, %2;"
        check(g, code, [a, b, c], lambda x, y, z, m=mode: permute(x, y, z, m), 32)
    for side, mode in itertools.product("lr", ["wrap", "clamp"]):

        def shift(x, y, z, side=side, mode=mode):
            n = z & 31 if mode == "wrap" else min(z, 32)
            both = y << 32 | x
            return both >> n if side == "r" else both << n >> 32

        check(g, f"shf.{side}.{mode}.b32 %d, %0, %1, %2;", [a, b, c], shift, 32)
    for table in [0x00, 0x1B, 0x80, 0x96, 0xE8, 0xFE, 0xFF]:

        def logic(x, y, z, table=table):
            out = 0
            for i in range(32):
                at = (x >> i & 1) << 2 | (y >> i & 1) << 1 | (z >> i & 1)
                out |= (table >> at & 1) << i
            return out

        check(g, f"lop3.b32 %d, %0, %1, %2, {table};", [a, b, c], logic, 32)


def parts(x, bits, s):
    out = [x >> (bits * i) & (2**bits - 1) for i in range(32 // bits)]
    return [signed(v, bits) if s == "s" else v for v in out]


def test_dot_products_and_simd(g):
    a, b, c = triples(32)
    for s, t in itertools.product("us", repeat=2):
        check(
            g,
            f"dp4a.{s}32.{t}32 %d, %0, %1, %2;",
            [a, b, c],
            lambda x, y, z, s=s, t=t: (
                z
                + sum(
                    i * j for i, j in zip(parts(x, 8, s), parts(y, 8, t), strict=True)
                )
            ),
            32,
        )
        for half in (0, 1):
            check(
                g,
                f"dp2a.{['lo', 'hi'][half]}.{s}32.{t}32 %d, %0, %1, %2;",
                [a, b, c],
                lambda x, y, z, s=s, t=t, h=half: (
                    z
                    + sum(
                        i * j
                        for i, j in zip(
                            parts(x, 16, s),
                            parts(y, 8, t)[2 * h : 2 * h + 2],
                            strict=True,
                        )
                    )
                ),
                32,
            )
    check(
        g,
        "vabsdiff4.u32.u32.u32.add %d, %0, %1, %2;",
        [a, b, c],
        lambda x, y, z: (
            z
            + sum(
                abs(i - j)
                for i, j in zip(parts(x, 8, "u"), parts(y, 8, "u"), strict=True)
            )
        ),
        32,
    )
    check(
        g,
        "vadd4.u32.u32.u32 %d, %0, %1, %2;",
        [a, b, c],
        lambda x, y, z: sum(
            (i + j) % 256 << 8 * n
            for n, (i, j) in enumerate(
                zip(parts(x, 8, "u"), parts(y, 8, "u"), strict=True)
            )
        ),
        32,
    )


@pytest.mark.parametrize("name", ["min", "max"])
def test_smaller_and_larger_of_two_kinds(g, name):
    function, (a, b) = getattr(np, f"{name}imum"), pairs(32)
    for kind in ("u", "i"):
        got = apply(
            g, f"{name}.{'s' if kind == 'i' else 'u'}16x2 %d, %0, %1;", [a, b], "u4"
        )
        halves = [v.view(f"{kind}2") for v in (a, b)]
        assert (got.view(f"{kind}2") == function(*halves)).all()
    got = apply(g, f"{name}.relu.s32 %d, %0, %1;", [a, b], "i4")
    assert (got == np.maximum(function(a.view("i4"), b.view("i4")), 0)).all()
    x = np.resize([1.5, -2, 0, -7, 3, -0.5], 64).astype(np.float32)
    y = np.roll(x, 5)
    got = apply(g, f"{name}.xorsign.abs.f32 %d, %0, %1;", [x, y], np.float32)
    sign = np.where(np.signbit(x) ^ np.signbit(y), -1, 1)
    assert (got == sign * function(abs(x), abs(y))).all()


#: The result of two parts of registers, before it is written to a part.
VIDEO = {
    "vadd": lambda x, y: x + y,
    "vsub": lambda x, y: x - y,
    "vavrg": lambda x, y: (x + y + (x + y >= 0)) >> 1,
    "vabsdiff": lambda x, y: abs(x - y),
    "vmin": min,
    "vmax": max,
}


def joined(values, bits):
    return sum(value % 2**bits << bits * i for i, value in enumerate(values))


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("name", VIDEO)
def test_simd_of_parts(g, name, bits):
    inputs, count, operation = triples(32), 32 // bits, VIDEO[name]
    for s, t in itertools.product("us", repeat=2):
        low = -(2 ** (bits - 1)) if s == "s" else 0

        def each(x, y, s=s, t=t):
            return map(operation, parts(x, bits, s), parts(y, bits, t))

        def within(value, low=low):
            return min(max(value, low), low + 2**bits - 1)

        code = f"{name}{count}.{s}32.{s}32.{t}32"
        for more, function in (
            ("", lambda x, y, z: joined(each(x, y), bits)),
            (".sat", lambda x, y, z: joined([within(v) for v in each(x, y)], bits)),
            (".add", lambda x, y, z: z + sum(each(x, y))),
        ):
            check(g, f"{code}{more} %d, %0, %1, %2;", inputs, function, 32)


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_simd_comparisons(g, name, bits):
    inputs, count = triples(32), 32 // bits
    compare = getattr(operator, name)
    for s, t in itertools.product("us", repeat=2):

        def each(x, y, s=s, t=t):
            return map(compare, parts(x, bits, s), parts(y, bits, t))

        code = f"vset{count}.{s}32.{t}32.{name}"
        for more, function in (
            ("", lambda x, y, z: joined(each(x, y), bits)),
            (".add", lambda x, y, z: z + sum(each(x, y))),
        ):
            check(g, f"{code}{more} %d, %0, %1, %2;", inputs, function, 32)


def test_masks_and_extensions(g):
    a, b = pairs(32)

    def mask(x, y, wrap):
        x, y = (x & 31, y & 31) if wrap else (min(x, 32), min(y, 32))
        return (2**y - 1) << x

    check(g, "bmsk.clamp.b32 %d, %0, %1;", [a, b], lambda x, y: mask(x, y, False), 32)
    check(g, "bmsk.wrap.b32 %d, %0, %1;", [a, b], lambda x, y: mask(x, y, True), 32)

    def extend(x, n, s):
        n = min(n, 32)
        x &= 2**n - 1
        return signed(x, n) if s and n else x

    check(
        g, "szext.clamp.u32 %d, %0, %1;", [a, b], lambda x, y: extend(x, y, False), 32
    )
    check(g, "szext.clamp.s32 %d, %0, %1;", [a, b], lambda x, y: extend(x, y, True), 32)

    def nth(m, base, k):
        step = -1 if k < 0 else 1
        hits = [i for i in range(base, 32 if k > 0 else -1, step) if m >> i & 1]
        return hits[abs(k) - 1] if len(hits) >= abs(k) else -1

    for base, k in itertools.product([0, 3, 31], [1, 2, -1, -3]):
        check(
            g,
            f"fns.b32 %d, %0, {base}, {k};",
            [a],
            lambda x, base=base, k=k: nth(x, base, k),
            32,
        )


# -- comparison and selection ----------------------------------------------------------

INTEGER_TESTS = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
}


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_integer_comparisons(g, bits):
    a, b = pairs(bits)
    for s, (name, f) in itertools.product("us", INTEGER_TESTS.items()):

        def v(x, s=s):
            return signed(x, bits) if s == "s" else x

        check(
            g,
            f"setp.{name}.{s}{bits} %p1, %0, %1; selp.u32 %d, 3, 5, %p1;",
            [a, b],
            lambda x, y, v=v, f=f: 3 if f(v(x), v(y)) else 5,
            32,
        )
    check(
        g,
        f"set.gt.u32.s{bits} %d, %0, %1;",
        [a, b],
        lambda x, y: -1 if signed(x, bits) > signed(y, bits) else 0,
        32,
    )


def test_predicates(g):
    a, b = pairs(32)
    for name, f in [
        ("and", lambda p, q: p and q),
        ("or", lambda p, q: p or q),
        ("xor", lambda p, q: p != q),
    ]:
        code = f"""setp.lt.u32 %p3, %1, 1000; setp.gt.{name}.s32 %p1|%p2, %0, %1, %p3;
        selp.u32 %t1, 1, 0, %p1; selp.u32 %t2, 2, 0, %p2; or.b32 %d, %t1, %t2;"""

        def want(x, y, f=f):
            t, c = signed(x, 32) > signed(y, 32), y < 1000
            return f(t, c) | f(not t, c) << 1

        check(g, code, [a, b], want, 32)
    code = """setp.eq.u32 %p1, %0, %1; mov.u32 %d, 7; @%p1 mov.u32 %d, 8;
    @!%p1 add.u32 %d, %d, 100;"""
    check(g, code, [a, b], lambda x, y: 8 if x == y else 107, 32)
    check(
        g,
        "slct.u32.s32 %d, 1, 2, %0;",
        [a],
        lambda x: 1 if signed(x, 32) >= 0 else 2,
        32,
    )


# -- floats ----------------------------------------------------------------------------

SINGLE = [
    0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x40490FDB, 0x3EAAAAAB, 0x00000001,
    0x80000001, 0x007FFFFF, 0x00800000, 0x80800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000,
    0xFF800000, 0x7FC00000, 0x7F800001, 0xFFC12345, 0x4B800000, 0x4B7FFFFF, 0x33800000,
    0x3F000000, 0x5F000000, 0xDF000000, 0x4F000000, 0xCF000001, 0x3FC00000, 0x40200000,
    0xC0200000, 0x42FF0000,
]  # fmt: skip
DOUBLE = [
    0x0000000000000000, 0x8000000000000000, 0x3FF0000000000000, 0xBFF0000000000000,
    0x400921FB54442D18, 0x3FD5555555555555, 0x0000000000000001, 0x8000000000000001,
    0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF,
    0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x4330000000000000,
    0x3E70000000000000, 0x3FE0000000000000, 0x43E0000000000000, 0xC3E0000000000001,
    0x41DFFFFFFFE00000, 0x3FF8000000000000, 0x4004000000000000, 0xC004000000000000,
    0x36A0000000000001, 0x47EFFFFFF0000000, 0x380FFFFFFFFFFFFF, 0x3810000000000000,
]  # fmt: skip
NAN = 0x7FFFFFFF


def floats(bits, count):
    values = SINGLE if bits == 32 else DOUBLE
    if count == 1:
        rng = np.random.default_rng(1)
        more = rng.integers(0, 2**bits, 2000, dtype=unsigned(bits))
        return [pad(list(values) + list(more), unsigned(bits))]
    rows = list(itertools.product(values[:: 1 if count == 2 else 2], repeat=count))
    return [pad([r[k] for r in rows], unsigned(bits)) for k in range(count)]


def as_float(x, bits):
    return x.view(np.float32 if bits == 32 else np.float64)


def same(got, want, bits):
    """Compare bits. A single NaN must be the canonical one, a double NaN may be any."""
    got, want = np.array(got), np.array(want)
    f = as_float(want, bits)
    if bits == 32:
        want = np.where(np.isnan(f), np.uint32(NAN), want)
        return got == want
    return (got == want) | (np.isnan(f) & np.isnan(as_float(got, bits)))


def compare_floats(g, code, inputs, want, bits):
    got = apply(g, code, inputs, unsigned(bits))
    ok = same(got, want.view(unsigned(bits)), bits)
    k = np.flatnonzero(~ok)[:5]
    assert ok.all(), (
        code,
        [
            (
                [hex(i[j]) for i in inputs],
                hex(got[j]),
                hex(want.view(unsigned(bits))[j]),
            )
            for j in k
        ],
    )


@pytest.mark.parametrize("bits", [32, 64])
def test_float_arithmetic(g, bits):
    t = f"f{bits}"
    a, b = floats(bits, 2)
    x, y = as_float(a, bits), as_float(b, bits)
    with np.errstate(all="ignore"):
        compare_floats(g, f"add.{t} %d, %0, %1;", [a, b], x + y, bits)
        compare_floats(g, f"sub.{t} %d, %0, %1;", [a, b], x - y, bits)
        compare_floats(g, f"mul.{t} %d, %0, %1;", [a, b], x * y, bits)
        compare_floats(g, f"div.rn.{t} %d, %0, %1;", [a, b], x / y, bits)
        (u,) = floats(bits, 1)
        v = as_float(u, bits)
        one = v.dtype.type(1)
        compare_floats(g, f"sqrt.rn.{t} %d, %0;", [u], np.sqrt(v), bits)
        compare_floats(g, f"rcp.rn.{t} %d, %0;", [u], one / v, bits)
    # sign operations change no other bit
    sign = 1 << (bits - 1)
    finite = u[~np.isnan(v)]
    finite = pad(finite, unsigned(bits))
    check(g, f"neg.{t} %d, %0;", [finite], lambda z: z ^ sign, bits)
    check(g, f"abs.{t} %d, %0;", [finite], lambda z: z & ~sign, bits)
    check(
        g,
        f"copysign.{t} %d, %0, %1;",
        [a, b],
        lambda p, q: p & sign | q & (sign - 1),
        bits,
    )


def exact(x):
    return Fraction(float(x))


def fused(x, y, z):
    """Return x*y+z, rounded once to single precision."""
    x, y, z = (np.float32(v) for v in (x, y, z))
    if not (np.isfinite(x) and np.isfinite(y) and np.isfinite(z)):
        with np.errstate(all="ignore"):
            return np.float32(np.float64(x) * np.float64(y) + np.float64(z))
    value = exact(x) * exact(y) + exact(z)
    if value == 0:
        with np.errstate(all="ignore"):
            return np.float32(np.float64(x) * np.float64(y) + np.float64(z))
    return round_single(value)


def round_single(value, mode="rn", low=-126, digits=24, top=127, dtype=np.float32):
    """Round a non-zero fraction to a float in the given direction."""
    sign = -1 if value < 0 else 1
    m = abs(value)
    e = m.numerator.bit_length() - m.denominator.bit_length()
    if Fraction(2) ** e > m:
        e -= 1
    e = max(e, low)
    scaled = m / Fraction(2) ** (e - digits + 1)
    n = scaled.numerator // scaled.denominator
    rest = scaled - n
    if mode == "rn":
        n += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and n & 1)
    elif (mode == "rp" and sign > 0) or (mode == "rm" and sign < 0):
        n += rest > 0
    if n >= 2 ** (digits) and e == top:
        huge = mode == "rn" or (mode == "rp") == (sign > 0) and mode != "rz"
        if huge:
            return dtype(sign * math.inf)
        n = 2**digits - 1
    if e > top:
        huge = mode == "rn" or (mode == "rp") == (sign > 0) and mode != "rz"
        if huge:
            return dtype(sign * math.inf)
        n, e = 2**digits - 1, top
    return dtype(sign * math.ldexp(n, e - digits + 1))


def test_fma(g):
    a, b, c = floats(32, 3)
    x, y, z = (as_float(v, 32) for v in (a, b, c))
    want = np.array([fused(*row) for row in zip(x, y, z, strict=True)], np.float32)
    compare_floats(g, "fma.rn.f32 %d, %0, %1, %2;", [a, b, c], want, 32)
    compare_floats(g, "mad.rn.f32 %d, %0, %1, %2;", [a, b, c], want, 32)
    # a double fma that fails with a product rounded separately
    u = np.full(32, 1 + 2.0**-30)
    minus = np.full(32, -(1 + 2.0**-29))
    got = apply(
        g,
        "fma.rn.f64 %d, %0, %0, %1;",
        [u.view(np.uint64), minus.view(np.uint64)],
        np.float64,
    )
    assert (got == 2.0**-60).all()


@pytest.mark.parametrize("mode", ["rz", "rm", "rp"])
def test_directed_rounding(g, mode):
    a, b = floats(32, 2)
    x, y = as_float(a, 32), as_float(b, 32)
    ok = np.isfinite(x) & np.isfinite(y) & (y != 0)
    a, b = pad(a[ok], np.uint32), pad(b[ok], np.uint32)
    x, y = as_float(a, 32), as_float(b, 32)

    def want(f):
        out = []
        for p, q in zip(x, y, strict=True):
            v = f(exact(p), exact(q))
            out.append(round_single(v, mode) if v else np.float32(0))
        return np.array(out, np.float32)

    for name, f in [
        ("add", lambda p, q: p + q),
        ("mul", lambda p, q: p * q),
        ("div", lambda p, q: p / q),
    ]:
        got = apply(g, f"{name}.{mode}.f32 %d, %0, %1;", [a, b], np.float32)
        w = want(f)
        assert ((got == w) | ((got == 0) & (w == 0))).all(), (name, mode)
    # the next instruction rounds to nearest again
    got = apply(
        g, f"add.{mode}.f32 %d, %0, %1; add.rn.f32 %d, %0, %1;", [a, b], np.float32
    )
    with np.errstate(all="ignore"):
        assert (got == x + y).all()


def flush(x):
    return np.where(np.abs(x) < np.float32(2**-126), np.copysign(np.float32(0), x), x)


def test_flush_and_saturate(g):
    a, b = floats(32, 2)
    x, y = as_float(a, 32), as_float(b, 32)
    with np.errstate(all="ignore"):
        compare_floats(
            g, "add.ftz.f32 %d, %0, %1;", [a, b], flush(flush(x) + flush(y)), 32
        )
        compare_floats(
            g, "mul.ftz.f32 %d, %0, %1;", [a, b], flush(flush(x) * flush(y)), 32
        )
        compare_floats(
            g, "div.rn.ftz.f32 %d, %0, %1;", [a, b], flush(flush(x) / flush(y)), 32
        )
        s = x + y
        sat = np.where(s > 0, np.where(s < 1, s, np.float32(1)), np.float32(0))
        compare_floats(g, "add.sat.f32 %d, %0, %1;", [a, b], sat.astype("f"), 32)
    (u,) = floats(32, 1)
    v = as_float(u, 32)
    want = np.where(v > 0, np.where(v < 1, v, np.float32(1)), np.float32(0)).astype("f")
    compare_floats(g, "cvt.sat.f32.f32 %d, %0;", [u], want, 32)


@pytest.mark.parametrize("bits", [32, 64])
def test_float_min_max(g, bits):
    a, b = floats(bits, 2)
    x, y = as_float(a, bits), as_float(b, bits)
    t = f"f{bits}"
    u = a.dtype.type

    def pick(least):
        out = []
        for p, q, pb, qb in zip(x, y, a, b, strict=True):
            if np.isnan(p) or np.isnan(q):
                r = qb if np.isnan(p) else pb
            elif p == q:
                r = u(pb | qb) if least else u(pb & qb)
            else:
                r = pb if (p < q) == least else qb
            out.append(r)
        return np.array(out, a.dtype)

    compare_floats(g, f"min.{t} %d, %0, %1;", [a, b], pick(True), bits)
    compare_floats(g, f"max.{t} %d, %0, %1;", [a, b], pick(False), bits)
    if bits == 32:
        nan = np.isnan(x) | np.isnan(y)
        want = np.where(nan, np.uint32(NAN), pick(True)).astype(np.uint32)
        compare_floats(g, "min.NaN.f32 %d, %0, %1;", [a, b], want, 32)


FLOAT_TESTS = {
    "eq": lambda x, y, u: not u and x == y,
    "ne": lambda x, y, u: not u and x != y,
    "lt": lambda x, y, u: not u and x < y,
    "le": lambda x, y, u: not u and x <= y,
    "gt": lambda x, y, u: not u and x > y,
    "ge": lambda x, y, u: not u and x >= y,
    "equ": lambda x, y, u: u or x == y,
    "neu": lambda x, y, u: u or x != y,
    "ltu": lambda x, y, u: u or x < y,
    "leu": lambda x, y, u: u or x <= y,
    "gtu": lambda x, y, u: u or x > y,
    "geu": lambda x, y, u: u or x >= y,
    "num": lambda x, y, u: not u,
    "nan": lambda x, y, u: u,
}


@pytest.mark.parametrize("bits", [32, 64])
def test_float_comparisons(g, bits):
    a, b = floats(bits, 2)
    x, y = as_float(a, bits), as_float(b, bits)
    for name, f in FLOAT_TESTS.items():
        got = apply(
            g,
            f"setp.{name}.f{bits} %p1, %0, %1; selp.u32 %d, 1, 0, %p1;",
            [a, b],
            np.uint32,
        )
        want = [f(p, q, np.isnan(p) or np.isnan(q)) for p, q in zip(x, y, strict=True)]
        assert (got == np.array(want)).all(), name
    got = apply(g, f"set.lt.f32.f{bits} %d, %0, %1;", [a, b], np.float32)
    assert (got == (x < y)).all()


def test_testp(g):
    (u,) = floats(32, 1)
    v = as_float(u, 32)
    small = (np.abs(v) < 2.0**-126) & (v != 0)
    for name, want in {
        "finite": np.isfinite(v),
        "infinite": np.isinf(v),
        "number": ~np.isnan(v),
        "notanumber": np.isnan(v),
        "normal": np.isfinite(v) & (~small | (v == 0)),
        "subnormal": small,
    }.items():
        got = apply(
            g, f"testp.{name}.f32 %p1, %0; selp.u32 %d, 1, 0, %p1;", [u], np.uint32
        )
        assert (got == want).all(), name


# -- conversions -----------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["rni", "rzi", "rmi", "rpi"])
@pytest.mark.parametrize("source", [32, 64])
def test_float_to_integer(g, source, mode):
    (u,) = floats(source, 1)
    near = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 255.5, -128.5, 32767.5, 2.0**31])
    extra = near.astype(np.float32 if source == 32 else np.float64).view(u.dtype)
    u = pad(list(u) + list(extra), u.dtype)
    v = as_float(u, source)
    round_ = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}[mode]
    with np.errstate(invalid="ignore"):
        whole = [float(z) for z in round_(v)]
    for s, bits in itertools.product("su", [8, 16, 32, 64]):
        lo, hi = (
            (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if s == "s" else (0, 2**bits - 1)
        )
        keep = np.ones(len(v), bool)
        if s == "u" and bits < 32:
            keep = ~np.isnan(v)  # the result for a NaN is not documented
        nan = 2 ** (bits - 1) if source == 64 or bits == 64 else 0
        width = max(bits, 16)
        want = [
            nan
            if math.isnan(z)
            else (hi if z > 0 else lo)
            if math.isinf(z)
            else clamp(int(z), lo, hi)
            for z in whole
        ]
        if s == "s" and nan:
            want = [
                signed(w, bits) if math.isnan(z) else w
                for w, z in zip(want, whole, strict=True)
            ]
        got = apply(g, f"cvt.{mode}.{s}{bits}.f{source} %d, %0;", [u], unsigned(width))
        want = np.array([w % 2**width for w in want], unsigned(width))
        assert (got == want)[keep].all(), (
            s,
            bits,
            u[got != want][:4],
            got[got != want][:4],
        )


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
def test_integer_to_float(g, mode):
    for s, bits in itertools.product("su", [16, 32, 64]):
        values = integers(bits) + [2**24 + 1, 2**25 + 3, 2**53 + 1, 2**62 + 2**8 + 1]
        a = pad([v % 2**bits for v in values], unsigned(bits))
        ints = [signed(int(x), bits) if s == "s" else int(x) for x in a]
        got = apply(g, f"cvt.{mode}.f32.{s}{bits} %d, %0;", [a], np.float32)
        want = [round_single(Fraction(i), mode) if i else np.float32(0) for i in ints]
        assert (got == np.array(want, np.float32)).all(), (s, bits)
        got = apply(g, f"cvt.{mode}.f64.{s}{bits} %d, %0;", [a], np.float64)
        want = [
            round_single(Fraction(i), mode, -1022, 53, 1023, np.float64) if i else 0.0
            for i in ints
        ]
        assert (got == np.array(want)).all(), (s, bits)


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
def test_double_to_single(g, mode):
    (u,) = floats(64, 1)
    rng = np.random.default_rng(2)
    near = (rng.standard_normal(500) * 10.0 ** rng.integers(-46, 39, 500)).view(
        np.uint64
    )
    u = pad(list(u) + list(near), np.uint64)
    v = u.view(np.float64)
    with np.errstate(all="ignore"):
        want = [
            np.float32(x)
            if not np.isfinite(x) or x == 0
            else round_single(exact(x), mode)
            for x in v
        ]
    want = np.array(want, np.float32).view(np.uint32)
    kept = (u >> np.uint64(32) & np.uint64(0x80000000)).astype(np.uint32)
    kept |= (u >> np.uint64(29) & np.uint64(0x3FFFFF)).astype(np.uint32) | 0x7FC00000
    want = np.where(np.isnan(v), kept, want)  # sign and upper bits of a NaN
    got = apply(g, f"cvt.{mode}.f32.f64 %d, %0;", [u], np.uint32)
    assert (got == want).all()


def test_single_to_double_and_whole(g):
    (u,) = floats(32, 1)
    v = u.view(np.float32)
    with np.errstate(all="ignore"):
        got = apply(g, "cvt.f64.f32 %d, %0;", [u], np.float64)
        want = v.astype(np.float64)
        assert ((got == want) | (np.isnan(got) & np.isnan(want))).all()
        for mode, f in [
            ("rni", np.rint),
            ("rzi", np.trunc),
            ("rmi", np.floor),
            ("rpi", np.ceil),
        ]:
            compare_floats(g, f"cvt.{mode}.f32.f32 %d, %0;", [u], f(v), 32)
            (w,) = floats(64, 1)
            compare_floats(
                g, f"cvt.{mode}.f64.f64 %d, %0;", [w], f(w.view(np.float64)), 64
            )


def test_integer_to_integer(g):
    """Convert between all types. The destination register may be wider."""
    for (s, n), (t, m) in itertools.product(
        itertools.product("us", [8, 16, 32, 64]), repeat=2
    ):
        width = max(n, 16)
        a = pad(integers(width), unsigned(width))

        def value(x, s=s, n=n):
            x %= 2**n
            return signed(x, n) if s == "s" else x

        for out in {max(m, 16), 64}:

            def want(x, t=t, m=m, out=out, value=value):
                r = value(x) % 2**m
                return (signed(r, m) if t == "s" else r) % 2**out

            check(g, f"cvt.{t}{m}.{s}{n} %d, %0;", [a], want, out)
        lo, hi = (-(2 ** (m - 1)), 2 ** (m - 1) - 1) if t == "s" else (0, 2**m - 1)
        check(
            g,
            f"cvt.sat.{t}{m}.{s}{n} %d, %0;",
            [a],
            lambda x, value=value, lo=lo, hi=hi: clamp(value(x), lo, hi),
            max(m, 16),
        )


# -- half precision --------------------------------------------------------------------


def test_half(g):
    rng = np.random.default_rng(3)
    edge = [
        0,
        0x8000,
        1,
        0x8001,
        0x03FF,
        0x0400,
        0x3C00,
        0xBC00,
        0x7BFF,
        0xFBFF,
        0x7C00,
    ]
    a = pad(edge + list(rng.integers(0, 0x7C00, 300)), np.uint16)
    b = np.ascontiguousarray(np.roll(a, 7)) ^ np.uint16(0x8000)
    c = np.ascontiguousarray(np.roll(a, 91))
    x, y, z = (v.view(np.float16) for v in (a, b, c))
    with np.errstate(all="ignore"):
        for name, want in [("add", x + y), ("sub", x - y), ("mul", x * y)]:
            got = apply(g, f"{name}.f16 %d, %0, %1;", [a, b], np.float16)
            assert ((got == want) | (np.isnan(got) & np.isnan(want))).all(), name
        got = apply(g, "fma.rn.f16 %d, %0, %1, %2;", [a, b, c], np.float16)
        finite = np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
        for i in np.flatnonzero(finite):
            v = exact(x[i]) * exact(y[i]) + exact(z[i])
            want = (
                round_single(v, "rn", -14, 11, 15, np.float16) if v else np.float16(0)
            )
            assert got[i] == want, (hex(a[i]), hex(b[i]), hex(c[i]))
        got = apply(g, "cvt.f32.f16 %d, %0;", [a], np.float32)
        assert (got == x.astype(np.float32)).all()
    pairs_ = (a.astype(np.uint32) << 16 | b)[:320]
    q = (c.astype(np.uint32) << 16 | a)[:320]
    got = apply(g, "add.f16x2 %d, %0, %1;", [pairs_, q], np.uint32)
    low = apply(
        g,
        "add.f16 %d, %0, %1;",
        [(pairs_ & 0xFFFF).astype("u2"), (q & 0xFFFF).astype("u2")],
        "u2",
    )
    high = apply(
        g,
        "add.f16 %d, %0, %1;",
        [(pairs_ >> 16).astype("u2"), (q >> 16).astype("u2")],
        "u2",
    )
    assert (got == high.astype("u4") << 16 | low).all()


def test_functions_of_half(g):
    """Compare half functions within the bounds of the PTX manual."""
    x = np.linspace(-10, 10, 320).astype(np.float16)
    bits, wide = x.view(np.uint16), x.astype(np.float64)
    got = apply(g, "tanh.approx.f16 %d, %0;", [bits], np.float16)
    assert (abs(got - np.tanh(wide)) <= 2**-10.987).all()
    got = apply(g, "ex2.approx.f16 %d, %0;", [bits], np.float16)
    assert (abs(got - np.exp2(wide)) <= 2**-9.9 * np.exp2(wide)).all()


def test_to_tf32(g):
    """Round to ten bits after the first, halves away from zero."""
    x = np.array([1, 1 + 2**-11, 1 + 2**-10, -1 - 2**-11, 1 / 3, -1e30, 7e-30, 0])
    x = np.resize(x.astype(np.float32), 32)
    got = apply(g, "cvt.rna.tf32.f32 %d, %0;", [x], np.float32)
    wide = x.astype(np.float64)
    step = np.exp2(np.frexp(wide)[1] - 11.0)
    assert (got == np.copysign(np.floor(abs(wide) / step + 0.5) * step, wide)).all()


def test_saturated_double(g):
    x = np.resize([-1.0, 0.25, 1.0, 3.0, -np.inf, np.inf, 1e-300, np.nan], 32)
    got = apply(g, "cvt.sat.f64.f64 %d, %0;", [x], np.float64)
    assert (got == np.clip(np.nan_to_num(x, nan=0.0), 0, 1)).all()


@pytest.mark.parametrize("mode", ["rn", "rz"])
def test_to_half(g, mode):
    rng = np.random.default_rng(4)
    v = (rng.standard_normal(2000) * 10.0 ** rng.integers(-9, 6, 2000)).astype(
        np.float32
    )
    v = np.resize(
        np.concatenate([v, [0, -0.0, np.inf, -np.inf, 65504, 65520, 2**-24]]), 2016
    )
    v = v.astype(np.float32)
    for name, low, digits, top in [("f16", -14, 11, 15), ("bf16", -126, 8, 127)]:
        got = apply(g, f"cvt.{mode}.{name}.f32 %d, %0;", [v.view("u4")], np.uint16)
        back = apply(g, f"cvt.f32.{name} %d, %0;", [got], np.float32)
        for x, r in zip(v, back, strict=True):
            want = (
                x
                if not np.isfinite(x) or x == 0
                else round_single(exact(x), mode, low, digits, top)
            )
            assert r == want, (name, x)
    assert (
        apply(g, "cvt.rn.f16.f32 %d, %0;", [np.full(32, NAN, "u4")], "u2") == 0x7FFF
    ).all()


# -- approximations --------------------------------------------------------------------


def test_approximations(g):
    rng = np.random.default_rng(5)
    v = np.resize(
        np.concatenate(
            [rng.uniform(-30, 30, 4000), 10.0 ** rng.uniform(-30, 30, 2000)]
        ),
        6016,
    ).astype(np.float32)
    u = v.view(np.uint32)
    d = v.astype(np.float64)
    with np.errstate(all="ignore"):
        for code, want, relative, absolute in [
            ("rcp.approx.f32", 1 / d, 2**-23, 0),
            ("sqrt.approx.f32", np.sqrt(d), 2**-22, 0),
            ("rsqrt.approx.f32", 1 / np.sqrt(d), 2**-22.4, 0),
            ("ex2.approx.f32", np.exp2(d), 2**-22, 2**-126),
            ("lg2.approx.f32", np.log2(d), 2**-22, 2**-22),
            ("tanh.approx.f32", np.tanh(d), 2**-11, 0),
        ]:
            got = apply(g, f"{code} %d, %0;", [u], np.float32).astype(np.float64)
            nan = np.isnan(want)
            assert (np.isnan(got) == nan).all(), code
            inf = np.abs(want) > 3.4e38
            assert np.isinf(got[inf]).all(), code
            good = ~nan & ~inf
            error = np.abs(got - want)[good]
            assert (error <= absolute + relative * np.abs(want[good])).all(), code
        near = np.resize(rng.uniform(-3.14159, 3.14159, 2000), 2016).astype(np.float32)
        for code, f in [("sin", np.sin), ("cos", np.cos)]:
            got = apply(g, f"{code}.approx.f32 %d, %0;", [near.view("u4")], np.float32)
            assert np.abs(got - f(near.astype(np.float64))).max() < 2**-20.5
        x = np.resize(rng.uniform(-1e5, 1e5, 1000), 1024)
        got = apply(g, "rcp.approx.ftz.f64 %d, %0;", [x.view("u8")], np.uint64)
        assert (got & 0xFFFFFFFF == 0).all()
        assert np.abs(got.view("f8") * x - 1).max() < 2**-19
    edge = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0] + [1.0] * 26, np.float32)
    e = edge.view("u4")
    assert apply(g, "rcp.approx.f32 %d, %0;", [e], "f4")[:4].tolist() == [
        math.inf,
        -math.inf,
        0.0,
        -0.0,
    ]
    assert (apply(g, "lg2.approx.f32 %d, %0;", [e], "u4")[[4, 5]] == NAN).all()
    assert apply(g, "ex2.approx.f32 %d, %0;", [e], "f4")[[2, 3]].tolist() == [
        math.inf,
        0.0,
    ]


# -- packing, special registers --------------------------------------------------------


def test_vectors_of_registers(g):
    a, b = pairs(32)
    check(g, "mov.b64 %d, {%0, %1};", [a, b], lambda x, y: y << 32 | x, 64)
    check(
        g,
        "mov.b32 {%h1, %h2}, %0; mov.b32 %d, {%h2, %h1};",
        [a],
        lambda x: (x & 0xFFFF) << 16 | x >> 16,
        32,
    )
    code = """mov.b64 %u1, {%0, %1}; mov.b64 {%h1, %h2, %h3, %h4}, %u1;
    mov.b64 %d, {%h4, %h3, %h2, %h1};"""

    def turned(x, y):
        v = y << 32 | x
        return sum((v >> 16 * k & 0xFFFF) << 16 * (3 - k) for k in range(4))

    check(g, code, [a, b], turned, 64)


def test_special_registers(g):
    g.lockstep = False  # the expected values are those of blocks of 32 threads
    n = 96
    out = np.zeros(n, np.uint32)
    zero = np.zeros(n, np.uint32)

    def value(name):
        return apply(g, f"mov.u32 %d, {name};", [zero], np.uint32)

    assert (value("%laneid") == np.arange(n) % 32).all()
    assert (value("%tid.x") == np.arange(n) % 32).all()
    assert (value("%ntid.x") == 32).all() and (value("%nctaid.x") == n // 32).all()
    assert (value("%ctaid.x") == np.arange(n) // 32).all()
    assert (value("%tid.y") == 0).all() and (value("%ntid.z") == 1).all()
    lane = np.arange(n) % 32
    assert (value("%lanemask_lt") == (1 << lane) - 1).all()
    assert (value("%lanemask_eq") == 1 << lane).all()
    assert (value("%lanemask_ge") == 2**32 - (1 << lane)).all()
    assert (value("WARP_SZ") == 32).all()
    got = apply(g, "mov.u64 %d, %globaltimer;", [zero], np.uint64)
    assert (got > 10**18).all()
    assert out.sum() == 0


def test_special_registers_of_the_machine(g):
    zero = np.zeros(96, np.uint32)

    def value(name):
        return apply(g, f"mov.u32 %d, {name};", [zero], np.uint32)

    def wide(code):
        return apply(g, code, [zero], np.uint64)

    assert (value("%warpid") < value("%nwarpid")).all()
    assert (value("%smid") < value("%nsmid")).all()
    for name in ("%cluster_nctaid.x", "%cluster_nctaid.z", "%cluster_nctarank"):
        assert (value(name) == 1).all()
    first, second = (wide("mov.u64 %d, %gridid;") for _ in range(2))
    assert len(set(first)) == len(set(second)) == 1 and first[0] != second[0]
    room = ".shared .align 4 .b8 room[48]; mov.u32 %t1, room; st.shared.u32 [%t1], 1;"
    assert (apply(g, room + "mov.u32 %d, %dynamic_smem_size;", [zero], "u4") == 0).all()
    assert (apply(g, room + "mov.u32 %d, %total_smem_size;", [zero], "u4") >= 48).all()


@pytest.mark.parametrize("members", [0xFFFFFFFF, 0xF0F0, 1 << 31])
def test_one_is_elected(g, members):
    """The lowest active lane is elected, and all active lanes know it."""
    inside = np.array([members >> i & 1 for i in range(32)], np.uint32)
    code = f"""mov.u32 %d, 100; setp.eq.u32 %p1, %0, 0; @%p1 bra done;
    elect.sync %t1|%p2, {members}; selp.u32 %t2, 1000, 0, %p2; add.u32 %d, %t1, %t2;
    done:"""
    got = apply(g, code, [inside], np.uint32)
    lowest = (members & -members).bit_length() - 1
    wanted = np.where(inside, lowest, 100)
    wanted[lowest] += 1000
    assert (got == wanted).all()


def test_clocks(g):
    """Clocks advance, and the halves match the whole clock."""
    zero = np.zeros(32, np.uint32)

    def differences(first, second):
        code = f"{first}\n{second}\nsub.u64 %d, %u2, %u1;"
        return apply(g, code, [zero], np.int64)

    halves = (
        ("%clock64", "%clock", "%clock_hi"),
        ("%globaltimer", "%globaltimer_lo", "%globaltimer_hi"),
    )
    for whole, low, high in halves:
        before = f"mov.u64 %u1, {whole};"
        again = before.replace("%u1", "%u2")
        assert (differences(before, again) >= 0).all()
        # the upper half may have just increased
        parts = f"mov.u32 %t2, {high}; mov.u32 %t1, {low}; mov.b64 %u2, {{%t1, %t2}};"
        found = differences(before, parts)
        assert (abs(found) < 2**33).all()
        lower = (
            f"mov.u32 %t1, {low}; cvt.u64.u32 %u2, %t1; and.b64 %u1, %u1, 0xffffffff;"
        )
        passed = differences(before, lower)
        assert (passed % 2**32 < 10**9).all()


def test_registers_of_128_bits(g):
    g.lockstep = False  # the warps of a block would share `room`
    a, b = pairs(64)
    new = {"version": "8.3", "target": "sm_75"}
    both = ".reg .b128 %x<4>; mov.b128 %x1, {%0, %1};"
    split = "mov.b128 {%u1, %u2}, %x2; sub.u64 %d, %u1, %u2;"
    with np.errstate(over="ignore"):
        wanted = a - b
    for way in (
        "mov.b128 %x2, %x1;",
        """.shared .align 16 .b8 room[512];
        mov.u32 %t1, room; mov.u32 %t2, %laneid; mad.lo.u32 %t1, %t2, 16, %t1;
        st.shared.b128 [%t1], %x1; ld.shared.b128 %x2, [%t1];""",
    ):
        got = apply(g, both + way + split, [a, b], np.uint64, **new)
        assert (got == wanted).all()
