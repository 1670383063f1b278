"""PTX instructions that no recorded kernel covers, compared with Python integers.

test_ptx_forms.py and test_conformance.py compare all other instructions with an H200.
"""

import itertools
import os

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


def integers(bits):
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


# -- predicates, conversions -----------------------------------------------------------


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


def test_functions_of_half(g):
    """Compare half functions within the bounds of the PTX manual."""
    x = np.linspace(-10, 10, 320).astype(np.float16)
    bits, wide = x.view(np.uint16), x.astype(np.float64)
    got = apply(g, "tanh.approx.f16 %d, %0;", [bits], np.float16)
    assert (abs(got - np.tanh(wide)) <= 2**-10.987).all()
    got = apply(g, "ex2.approx.f16 %d, %0;", [bits], np.float16)
    assert (abs(got - np.exp2(wide)) <= 2**-9.9 * np.exp2(wide)).all()


# -- special registers, registers of 128 bits ------------------------------------------


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
