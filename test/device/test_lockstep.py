"""The warps of a block in lockstep: the results and reports of warps that run alone.

A block of several full warps runs in lockstep. PYCUDA_EMULATOR_SEED runs each warp by
itself. The recorded answers of a GPU (test_conformance.py) are of blocks of two warps.
"""

import numpy as np
import pytest

from device import batch
from device.random_ptx import program
from support.emulator import LIBRARY, child

pytest_plugins = ["support.emulator_fixtures"]

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
I32, U32 = np.int32, np.uint32


def kernel(body, parameters="dst", scalars="n"):
    """Return a kernel whose first registers are its parameters, tid.x and the index."""
    names = parameters.split()
    text = [f".param .u64 p{i}" for i in range(len(names))]
    text += [f".param .u32 s{i}" for i in range(len(scalars.split()))]
    lines = [f"ld.param.u64 %{n}, [p{i}];" for i, n in enumerate(names)]
    lines += [f"ld.param.u32 %{n}, [s{i}];" for i, n in enumerate(scalars.split())]
    wide = ", ".join(f"%{n}" for n in names)
    narrow = ", ".join(f"%{n}" for n in scalars.split())
    return (
        HEAD + ".shared .align 16 .b8 tile[4096];\n.visible .entry k("
        f"{', '.join(text)})\n{{\n.reg .b64 {wide}; .reg .b32 {narrow};\n"
        ".reg .b32 %thread, %block, %size, %i, %r<20>; .reg .b64 %q<10>;\n"
        ".reg .pred %p<5>;\n"
        f"{' '.join(lines)}\nmov.u32 %thread, %tid.x; mov.u32 %block, %ctaid.x;\n"
        "mov.u32 %size, %ntid.x; mad.lo.s32 %i, %block, %size, %thread;\n"
        f"{body}\nret;\n}}\n"
    )


STORE = "mul.wide.s32 %q1, %i, 4; add.s64 %q2, %dst, %q1; st.global.u32 [%q2], %r1;"


# -- the same bits ---------------------------------------------------------------------


def test_builds_give_the_same_answers(monkeypatch):
    count, answers = 60, {}
    for name, value in [
        ("PYCUDA_EMULATOR_SEED", "5"),
        ("PYCUDA_EMULATOR_SIMD", "0"),
        ("PYCUDA_EMULATOR_SIMD", "256"),
        ("PYCUDA_EMULATOR_SIMD", "512"),
    ]:
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            answers[name, value] = batch.run(program, LIBRARY, 0, count, 1)
    first = answers.pop(("PYCUDA_EMULATOR_SEED", "5"))
    assert first.any()
    for found in answers.values():
        assert np.array_equal(found, first)


# -- branches --------------------------------------------------------------------------


def test_warps_that_branch_differently_separate_and_meet_again(g):
    body = f"""
    shr.u32 %r2, %thread, 5; mov.u32 %r1, 0; mov.u32 %r3, 0;
    loop:
    add.u32 %r1, %r1, %r3;
    and.b32 %r4, %r2, 1; setp.eq.u32 %p1, %r4, 0;
    @%p1 bra even;
    mul.lo.u32 %r1, %r1, 3;
    even:
    bar.sync 0;
    add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, %n;
    @%p2 bra loop;
    {STORE}
    """
    got = g.run(kernel(body), "k", 3, 256, [], np.zeros(768, U32), U32(7))
    want = np.zeros(768, U32)
    for k in range(7):
        want += U32(k)
        want[np.arange(768) // 32 % 2 == 1] *= U32(3)
    assert np.array_equal(got, want)


def test_lanes_that_branch_differently(g):
    body = f"""
    mov.u32 %r1, 5; and.b32 %r2, %thread, 1; setp.eq.u32 %p1, %r2, 0;
    @%p1 bra done;
    add.u32 %r1, %thread, 100;
    done:
    {STORE}
    """
    got = g.run(kernel(body), "k", 2, 96, [], np.zeros(192, U32), U32(0))
    tid = np.arange(192) % 96
    assert np.array_equal(got, np.where(tid % 2, tid + 100, 5))


def test_loops_of_other_lengths_meet_behind_their_end(g):
    """Lanes leave the loop one after the other, and some warps skip it."""
    body = f"""
    mov.u32 %r1, 0; shr.u32 %r2, %thread, 5; and.b32 %r3, %thread, %n;
    setp.eq.u32 %p1, %r2, 3;
    @%p1 bra behind;
    loop:
    add.u32 %r1, %r1, %thread; setp.eq.u32 %p2, %r3, 0;
    @%p2 bra behind;
    sub.u32 %r3, %r3, 1;
    bra loop;
    behind:
    bar.sync 0;
    add.u32 %r1, %r1, 1;
    {STORE}
    """
    got = g.run(kernel(body), "k", 2, 256, [], np.zeros(512, U32), U32(63))
    tid = np.arange(512) % 256
    want = np.where(tid // 32 == 3, 1, tid * (tid % 64 + 1) + 1)
    assert np.array_equal(got, want)


@pytest.mark.parametrize("steps, lanes", [(1, "rows"), (0, "one element a row")])
def test_rows_of_16_threads_in_global_memory(g, steps, lanes):
    body = f"""
    shr.u32 %r2, %thread, 4; and.b32 %r3, %thread, 15;
    mul.lo.u32 %r3, %r3, {steps}; mad.lo.u32 %r2, %r2, %n, %r3;
    cvta.to.global.u64 %q3, %src; mul.wide.u32 %q4, %r2, 4; add.s64 %q5, %q3, %q4;
    ld.global.u32 %r1, [%q5];
    xor.b32 %r4, %r2, 1; mul.wide.s32 %q6, %r4, 4; add.s64 %q7, %src, %q6;
    ld.global.u32 %r5, [%q7+4];
    mad.lo.u32 %r1, %r5, 1000, %r1;
    {STORE}
    """
    data = np.arange(1000, dtype=U32)
    out = np.zeros(128, U32)
    got = g.run(kernel(body, "src dst"), "k", 1, 128, [data], out, U32(40))
    at = np.arange(128) // 16 * 40 + np.arange(128) % 16 * steps
    assert np.array_equal(got, at + 1000 * ((at ^ 1) + 1))


@pytest.mark.parametrize("operation", ["add", "max", "xor", "inc"])
def test_atomics_whose_old_value_nothing_reads(g, operation):
    body = f"""
    and.b32 %r2, %thread, %n; mul.wide.u32 %q3, %r2, 4; add.s64 %q4, %dst, %q3;
    setp.lt.u32 %p1, %r2, 5;
    @%p1 atom.global.{operation}.u32 %r3, [%q4], 77;
    atom.global.{operation}.u32 %r4, [%q4+64], %thread;
    """
    body = body.replace("xor.u32", "xor.b32")
    got = g.run(kernel(body), "k", 1, 128, [], np.zeros(32, U32), U32(7))
    want = np.zeros(32, U32)
    for tid in range(128):
        for at, value in [(tid % 8, 77), (tid % 8 + 16, tid)]:
            if at < 5 or at >= 16:
                old = want[at]
                want[at] = {
                    "add": old + U32(value),
                    "max": max(old, value),
                    "xor": old ^ U32(value),
                    "inc": 0 if old >= value else old + U32(1),
                }[operation]
    assert np.array_equal(got, want)


@pytest.mark.parametrize("threads", [33, 64, 96, 100, 1024])
def test_blocks_with_a_part_of_a_warp(g, threads):
    body = f"add.u32 %r1, %i, %n; {STORE}"
    out = np.zeros(5 * threads, U32)
    got = g.run(kernel(body), "k", 5, threads, [], out, U32(9))
    assert np.array_equal(got, np.arange(len(out)) + 9)


def test_guards_exits_and_barriers(g):
    body = f"""
    shr.u32 %r2, %thread, 5; setp.ge.u32 %p1, %r2, %n;
    @%p1 exit;
    shl.b32 %r3, %thread, 2; mov.u32 %r4, tile; add.u32 %r3, %r3, %r4;
    st.shared.u32 [%r3], %thread;
    bar.sync 0;
    xor.b32 %r5, %r3, 128; ld.shared.u32 %r1, [%r5];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 add.u32 %r1, %r1, 1000;
    {STORE}
    """
    got = g.run(kernel(body), "k", 1, 128, [], np.zeros(128, U32), U32(2))
    tid = np.arange(128)
    want = np.where(tid < 64, (tid ^ 32) + 1000 * (tid < 32), 0)
    assert np.array_equal(got, want)


def test_warps_run_in_order_where_order_counts(g):
    """The old values of an atomic addition show the order of the warps."""
    body = f"atom.global.add.u32 %r1, [%count], 1; {STORE}"
    text = kernel(body, "count dst")
    got = g.run(text, "k", 1, 256, [np.zeros(1, U32)], np.zeros(256, U32), U32(0))
    assert np.array_equal(got, np.arange(256))


# -- addresses -------------------------------------------------------------------------


def index_kernel(change, product="mul.wide.s32 %q1, %r1, 4;"):
    return kernel(
        f"{change} {product} add.s64 %q2, %src, %q1; ld.global.u32 %r9, [%q2]; "
        "mul.wide.s32 %q3, %i, 4; add.s64 %q4, %dst, %q3; st.global.u32 [%q4], %r9;",
        "src dst",
    )


@pytest.mark.parametrize(
    "change, index",
    [
        ("mov.b32 %r1, %i;", lambda i: i),
        ("add.s32 %r1, %i, 3;", lambda i: i + 3),
        ("xor.b32 %r1, %i, 5;", lambda i: i ^ 5),
        ("sub.s32 %r1, %n, %i;", lambda i: 255 - i),
        ("shl.b32 %r1, %i, 1;", lambda i: 2 * i),
        ("and.b32 %r1, %n, 1;", lambda i: 0 * i + 1),
    ],
)
def test_indices(g, change, index):
    source = np.random.default_rng(3).integers(0, 2**32, 600, U32)
    out = np.zeros(256, U32)
    got = g.run(index_kernel(change), "k", 2, 128, [source], out, U32(255))
    assert np.array_equal(got, source[index(np.arange(256))])


def test_negative_and_unsigned_indices(g):
    """The address wraps: the pointer is beyond or before the elements."""
    source = np.arange(256, dtype=U32)
    pointer, out = g.up(source), g.empty(1024)
    signed = index_kernel("sub.s32 %r1, %i, %n;")
    unsigned = index_kernel("add.u32 %r1, %i, %n;", "mul.wide.u32 %q1, %r1, 4;")
    for text, start, n in [
        (signed, pointer + 4 * 200, 200),
        (unsigned, pointer - 4 * 0xFFFFFF00, 0xFFFFFF00),
    ]:
        g.launch(g.load(text), "k", 1, 256, start % 2**64, out, U32(n))
        assert np.array_equal(g.down(out, source), source)


def test_an_index_that_wraps_inside_a_warp(g):
    """tid + 0x7ffffff0 becomes negative in the middle of the first warp."""
    source = np.arange(16, dtype=U32)
    near, out = g.up(source), g.empty(256)
    body = (
        "add.s32 %r1, %i, %n; setp.lt.s32 %p1, %r1, 0; @%p1 bra done;"
        "mul.wide.s32 %q1, %r1, 4; add.s64 %q2, %src, %q1; ld.global.u32 %r2, [%q2];"
        "mul.wide.s32 %q3, %i, 4; add.s64 %q4, %dst, %q3; st.global.u32 [%q4], %r2;"
        "done:"
    )
    start = (near - 4 * 0x7FFFFFF0) % 2**64
    module = g.load(kernel(body, "src dst"))
    g.launch(module, "k", 1, 64, start, out, U32(0x7FFFFFF0))
    assert np.array_equal(g.down(out, source), source)


def test_blocks_of_two_dimensions(g):
    """tid.x does not count the threads of such a block."""
    body = "mov.u32 %r2, %tid.y; mad.lo.u32 %r1, %r2, 1000, %thread; " + (
        "mad.lo.u32 %r3, %r2, %size, %thread; mov.b32 %i, %thread;"
        "mul.wide.s32 %q1, %i, 4; add.s64 %q2, %dst, %q1; mul.wide.u32 %q3, %r2, 256;"
        "add.s64 %q2, %q2, %q3; st.global.u32 [%q2], %r1;"
    )
    got = g.run(kernel(body), "k", 1, (16, 8), [], np.zeros((8, 64), U32), U32(0))
    y, x = np.mgrid[:8, :64]
    assert np.array_equal(got, np.where(x < 16, 1000 * y + x, 0))


@pytest.mark.parametrize(
    "address, index",
    [
        ("shl.b32 %r3, %thread, 2;", lambda t: t),
        ("and.b32 %r3, %thread, 16; shl.b32 %r3, %r3, 2;", lambda t: t & 16),
        ("and.b32 %r3, %thread, 15; shl.b32 %r3, %r3, 2;", lambda t: t & 15),
        ("shl.b32 %r3, %thread, 3;", lambda t: 2 * t),
        ("xor.b32 %r3, %thread, 3; shl.b32 %r3, %r3, 2;", lambda t: t ^ 3),
        ("sub.s32 %r3, 255, %thread; shl.b32 %r3, %r3, 2;", lambda t: 255 - t),
    ],
)
def test_addresses_of_shared_memory(g, address, index):
    body = f"""
    mov.u32 %r2, 0;
    fill:
    mad.lo.u32 %r4, %r2, 256, %thread; shl.b32 %r5, %r4, 2; mov.u32 %r6, tile;
    add.u32 %r5, %r5, %r6; mul.lo.u32 %r7, %r4, 7; st.shared.u32 [%r5], %r7;
    add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 4;
    @%p1 bra fill;
    bar.sync 0;
    {address} mov.u32 %r8, tile; add.u32 %r9, %r8, %r3;
    ld.shared.u32 %r10, [%r9+16]; ld.shared.u8 %r11, [%r9];
    shl.b32 %r11, %r11, 24; add.u32 %r1, %r10, %r11;
    {STORE}
    """
    got = g.run(kernel(body), "k", 2, 256, [], np.zeros(512, U32), U32(0))
    at = index(np.arange(512) % 256)
    want = (at + 4) * 7 + ((at * 7 & 255) << 24)
    assert np.array_equal(got, want.astype(U32))


def test_values_of_the_launch_follow_its_parameters(g):
    module = g.load(kernel(f"mul.lo.u32 %r1, %n, %size; {STORE}"))
    out = g.empty(4 * 256)
    for n, block in [(3, 64), (4, 128), (5, 256), (3, 64)]:
        g.launch(module, "k", 1, block, out, U32(n))
        assert np.array_equal(g.down(out, np.zeros(block, U32)), [n * block] * block)


@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("form", ["address", "index"])
@pytest.mark.parametrize("pitch", [32, 37, 96])
def test_rows_of_32_threads(g, width, form, pitch):
    """Each warp accesses consecutive elements; those of the next one are elsewhere."""
    base = (
        f"mul.lo.u32 %r2, %r2, {pitch}; cvt.u64.u32 %q1, %r2; cvt.u64.u32 %q2, %thread;"
    )
    at = f"add.s64 %q1, %q1, %q2; mul.lo.s64 %q1, %q1, {width};"
    if form == "index":
        base = f"mad.lo.u32 %r2, %r2, {pitch}, %thread;"
        at = f"mul.wide.u32 %q1, %r2, {width};"
    bits = 8 * width
    value = "%q9" if width == 8 else "%r9"
    body = f"""
    mov.u32 %r2, %tid.y; {base} {at}
    add.s64 %q3, %src, %q1; add.s64 %q4, %dst, %q1;
    ld.global.u{bits} {value}, [%q3+{width}]; st.global.u{bits} [%q4], {value};
    """
    like = np.zeros((8, pitch), f"u{width}")
    source = np.random.default_rng(3).integers(0, 250, 8 * pitch + 1).astype(like.dtype)
    got = g.run(kernel(body, "src dst"), "k", 1, (32, 8), [source], like, U32(0))
    want = np.zeros_like(like)
    want[:, :32] = source[1:].reshape(8, pitch)[:, :32]
    assert np.array_equal(got, want)


@pytest.mark.parametrize("wide", ["s32", "u32"])
@pytest.mark.parametrize(
    "lanes", ["", "and.b32 %r4, %thread, 3; setp.eq.u32 %p1, %r4, 2;"]
)
def test_elements_in_any_order(g, wide, lanes):
    """The lanes of a warp access elements that do not follow each other, or some do."""
    skip = "@%p1 bra done;" if lanes else ""
    body = f"""
    mul.lo.u32 %r2, %thread, 37; and.b32 %r2, %r2, 127; {lanes} mov.u32 %r1, 0;
    {skip}
    mul.wide.{wide} %q3, %r2, 4; add.s64 %q4, %src, %q3;
    ld.global.u32 %r1, [%q4]; ld.global.u16 %r5, [%q4+4]; add.u32 %r1, %r1, %r5;
    done:
    {STORE}
    """
    source = np.random.default_rng(4).integers(0, 2**31, 129).astype(U32)
    got = g.run(
        kernel(body, "src dst"), "k", 2, 128, [source], np.zeros(256, U32), U32(0)
    )
    tid = np.arange(256) % 128
    at = tid * 37 & 127
    want = source[at] + (source[at + 1] & U32(0xFFFF))
    if lanes:
        want[tid % 4 == 2] = 0
    assert np.array_equal(got, want)


def test_one_element_for_all_threads(g):
    body = f"ld.global.u32 %r1, [%src+8]; ld.global.s16 %r2, [%src+2]; {STORE}"
    body = body.replace(STORE, f"add.s32 %r1, %r1, %r2; {STORE}")
    source = np.array([0x80010000, 5, 100_000], U32)
    got = g.run(
        kernel(body, "src dst"), "k", 3, 64, [source], np.zeros(192, U32), U32(0)
    )
    assert np.array_equal(got, np.full(192, 100_000 - 0x7FFF, U32))


# -- comparisons of consecutive numbers ------------------------------------------------


@pytest.mark.parametrize("relation", ["lt", "le", "gt", "ge"])
@pytest.mark.parametrize("kind", ["s32", "u32"])
@pytest.mark.parametrize("start", [0, 0x7FFFFFC0, 0x80000000 - 256, 2**32 - 100])
@pytest.mark.parametrize("bound", [0, 31, 32, 100, 255, 256, 0x7FFFFFFF, 2**32 - 1])
def test_consecutive_numbers_and_a_bound(g, relation, kind, start, bound):
    """They may wrap around, between warps or within one."""
    body = f"""
    add.u32 %r2, %i, %n; setp.{relation}.{kind} %p1, %r2, {bound};
    selp.u32 %r1, 3, 4, %p1; {STORE}
    """
    got = g.run(kernel(body), "k", 2, 128, [], np.zeros(256, U32), U32(start))
    numbers = (np.arange(256, dtype=np.int64) + start).astype(U32).astype(kind_of(kind))
    compare = {"lt": np.less, "le": np.less_equal, "gt": np.greater}
    answers = compare.get(relation, np.greater_equal)(
        numbers, np.array(bound, U32).astype(kind_of(kind))
    )
    assert np.array_equal(got, np.where(answers, 3, 4))


def kind_of(name):
    return np.int32 if name == "s32" else np.uint32


# -- operations that become one --------------------------------------------------------

JOINED = {
    "a shift and a sum": (
        "shl.b32 %r2, %x, 5; add.u32 %r1, %r2, %y;",
        lambda x, y: (x << 5) + y,
    ),
    "a product and a sum": (
        "mul.lo.u32 %r2, %x, %y; add.u32 %r1, %x, %r2;",
        lambda x, y: x * y + x,
    ),
    "a sum with itself": (
        "shl.b32 %r2, %x, 3; add.u32 %r1, %r2, %r2;",
        lambda x, y: x << 4,
    ),
    "a product that is read again": (
        "mul.lo.u32 %r2, %x, 9; sub.u32 %r3, %y, %r2; xor.b32 %r1, %r2, %r3;",
        lambda x, y: x * 9 ^ (y - x * 9),
    ),
    "a remainder": (
        "mul.lo.u32 %r2, %x, 18; sub.u32 %r1, %y, %r2;",
        lambda x, y: y - x * 18,
    ),
    "a difference from a number": (
        "mul.lo.u32 %r2, %x, 18; sub.u32 %r1, %r2, %y;",
        lambda x, y: x * 18 - y,
    ),
    "an operand that changes": (
        "shl.b32 %r2, %x, 4; xor.b32 %x, %x, %y; add.u32 %r3, %r2, %y;"
        "sub.u32 %r1, %r3, %x;",
        lambda x, y: (x << 4) + y - (x ^ y),
    ),
    "a signed wide product": (
        "mul.wide.s32 %q1, %x, %y; cvt.u64.u32 %q2, %y; add.s64 %q3, %q1, %q2;"
        "shr.u64 %q3, %q3, 7; cvt.u32.u64 %r1, %q3;",
        lambda x, y: (signed(x) * signed(y) + y) >> 7,
    ),
    "widened numbers": (
        "cvt.s64.s32 %q1, %x; cvt.u64.u32 %q2, %y; add.s64 %q3, %q1, %q2;"
        "shl.b64 %q4, %q3, 3; add.s64 %q5, %q4, %q1; shr.u64 %q5, %q5, 9;"
        "cvt.u32.u64 %r1, %q5;",
        lambda x, y: (8 * (signed(x) + y) + signed(x)) >> 9,
    ),
}
JOINED |= {
    f"a quotient, shifted by {by}": (
        f"mul.wide.u32 %q1, %x, -1431655765; shr.u64 %q2, %q1, {by};"
        "cvt.u32.u64 %r1, %q2;",
        lambda x, y, by=by: x * 0xAAAAAAAB >> by,
    )
    for by in (31, 32, 33, 63)
}


def signed(x):
    return (x & 0xFFFFFFFF ^ 0x80000000) - 0x80000000


@pytest.mark.parametrize("name", JOINED)
def test_joined_operations(g, name):
    """With Python's numbers as the reference; a loop keeps its values."""
    text, want = JOINED[name]
    body = f"""
    .reg .b32 %x, %y;
    mad.lo.u32 %x, %i, 0x9e3779b1, 1; mul.lo.u32 %y, %i, 0x85ebca6b;
    mov.u32 %r9, 0; mov.u32 %r10, 0;
    loop:
    {text}
    xor.b32 %r10, %r10, %r1; add.u32 %x, %x, %y;
    add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, %n;
    @%p1 bra loop;
    mov.u32 %r1, %r10; {STORE}
    """
    got = g.run(kernel(body), "k", 2, 96, [], np.zeros(192, U32), U32(3))
    assert got.tolist() == [joined_sum(name, want, i) for i in range(192)]


def joined_sum(name, want, i):
    x, y, total = i * 0x9E3779B1 + 1 & 0xFFFFFFFF, i * 0x85EBCA6B & 0xFFFFFFFF, 0
    for _ in range(3):
        total ^= want(x, y) & 0xFFFFFFFF
        if name == "an operand that changes":
            x ^= y
        x = x + y & 0xFFFFFFFF
    return total


# -- reports ---------------------------------------------------------------------------

FAULT = """
import numpy as np
from support.emulator_arrays import Arrays, Launched
from device.test_lockstep import STORE, kernel
d.ok("Init", 0)
d.context()
g = Arrays(d)
p = g.empty(400)
try:
    g.launch(g.load({text}), "k", 1, 128, {arguments})
except Launched as error:
    print(NAMES[error.code])
    print(error.report)
"""


@pytest.mark.parametrize("seed", ["", "7"])
def test_a_fault_names_the_first_thread(seed, monkeypatch):
    """With a seed another warp may be the first one: only 3 is at fault."""
    monkeypatch.setenv("PYCUDA_CHECK", "memory")
    code = FAULT.format(text="kernel(STORE)", arguments="p, np.uint32(0)")
    environment = {"PYCUDA_EMULATOR_SEED": seed} if seed else {}
    text = child(code, **environment)
    assert "ILLEGAL_ADDRESS" in text
    assert "write of 4 bytes" in text and "thread (100, 0, 0)" in text
    assert "0 bytes beyond the end of the 400-byte device allocation" in text


@pytest.mark.parametrize("form", ["rows", "elements"])
def test_a_fault_behind_legal_accesses(form, monkeypatch):
    """The instruction has accessed the allocation before, so one check covers all.

    The first block may run with more checks. The second one makes a round more.
    """
    monkeypatch.setenv("PYCUDA_CHECK", "memory")
    order = "mul.lo.u32 %r4, %thread, 5;" if form == "elements" else ""
    body = f"""
    mov.u32 %r3, 0; add.u32 %n, %n, %block; mov.u32 %r4, %thread;
    {order} and.b32 %r4, %r4, 31;
    loop:
    mad.lo.u32 %r2, %r3, 40, %r4; mul.wide.u32 %q1, %r2, 4; add.s64 %q2, %dst, %q1;
    ld.global.u32 %r1, [%q2];
    add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %n;
    @%p1 bra loop;
    """
    code = FAULT.format(text=f"kernel({body!r})", arguments="p, np.uint32(2)")
    code = code.replace('"k", 1', '"k", 2')
    text = child(code)
    assert "ILLEGAL_ADDRESS" in text and "read of 4 bytes" in text
    thread = 20 if form == "rows" else 4
    assert f"block (1, 0, 0), thread ({thread}, 0, 0)" in text
    legal = child(code.replace("np.uint32(2)", "np.uint32(1)"))
    assert "ILLEGAL_ADDRESS" not in legal


def test_a_misaligned_linear_access():
    code = FAULT.format(text="kernel(STORE)", arguments="p + 2, np.uint32(0)")
    text = child(code)
    assert "MISALIGNED_ADDRESS" in text and "thread (0, 0, 0)" in text


def test_a_read_beyond_shared_memory():
    body = (
        "shl.b32 %r3, %thread, 2; mov.u32 %r4, tile; add.u32 %r3, %r3, %r4;"
        f"ld.shared.u32 %r1, [%r3+3968]; {STORE}"
    )
    arguments = "g.empty(512), np.uint32(0)"
    text = child(FAULT.format(text=f"kernel({body!r})", arguments=arguments))
    assert "ILLEGAL_ADDRESS" in text and "thread (32, 0, 0)" in text
    assert "offset 4096 of shared memory, which has 4096 bytes" in text


def test_a_deadlock_is_found():
    body = "setp.lt.u32 %p1, %thread, 32; @%p1 bra one; bar.sync 1; one: bar.sync 0;"
    arguments = "p, np.uint32(0)"
    text = child(FAULT.format(text=f"kernel({body!r})", arguments=arguments))
    assert "LAUNCH_FAILED" in text and "deadlock" in text


@pytest.mark.parametrize("lanes", [0, 1, 31, 32, 33, 64, 95, 130, 224, 254, 255, 256])
@pytest.mark.parametrize("width", [1, 4, 8])
def test_the_first_threads_alone_access_a_row(g, lanes, width):
    """The warps that agree stay together; the last one has the first lanes active."""
    body = f"""
    setp.ge.u32 %p1, %thread, %n;
    @%p1 bra done;
    mul.wide.s32 %q1, %i, {width}; add.s64 %q2, %src, %q1; add.s64 %q3, %dst, %q1;
    ld.global.b{8 * width} %q4, [%q2]; add.s64 %q4, %q4, 1;
    st.global.b{8 * width} [%q3], %q4;
    done:
    """
    dtype = f"u{width}"
    src = np.random.default_rng(lanes).integers(0, 200, 3 * 256).astype(dtype)
    out = np.full(3 * 256, 7, dtype)
    if width == 1:
        body = body.replace("%q4", "%r4").replace("add.s64 %r4", "add.s32 %r4")
    got = g.run(kernel(body, "src dst"), "k", 3, 256, [src], out, U32(lanes))
    here = np.arange(3 * 256) % 256 < lanes
    assert np.array_equal(got, np.where(here, src + np.array(1, dtype), 7))


def test_warps_that_stay_together_meet_the_others_at_a_barrier(g):
    """The last warp takes the other way, and all exchange values afterwards."""
    body = f"""
    mov.u32 %r5, tile; shl.b32 %r6, %thread, 2; add.u32 %r5, %r5, %r6;
    mov.u32 %r1, %thread;
    setp.ge.u32 %p1, %thread, %n;
    @%p1 bra other;
    add.u32 %r1, %r1, 1000;
    bra join;
    other:
    add.u32 %r1, %r1, 5000;
    join:
    st.shared.u32 [%r5], %r1;
    bar.sync 0;
    xor.b32 %r7, %thread, 255; shl.b32 %r7, %r7, 2; mov.u32 %r8, tile;
    add.u32 %r7, %r7, %r8; ld.shared.u32 %r1, [%r7];
    {STORE}
    """
    for first in (16, 64, 100, 224):
        out = np.zeros(512, U32)
        got = g.run(kernel(body), "k", 2, 256, [], out, U32(first))
        tid = 255 - np.arange(512) % 256
        assert np.array_equal(got, tid + np.where(tid < first, 1000, 5000))


def test_a_block_after_one_whose_warps_separated(g):
    """Blocks that stay together leave their warps as the next one needs them."""
    body = f"""
    shr.u32 %r2, %thread, 5; and.b32 %r3, %block, 3; mov.u32 %r1, 7;
    setp.ne.u32 %p1, %r3, %n; setp.ne.u32 %p2, %r2, 1; or.pred %p1, %p1, %p2;
    @%p1 bra past;
    mov.u32 %r1, %thread;
    {STORE}
    exit;
    past:
    add.u32 %r1, %r1, %r2;
    {STORE}
    """
    for at in (0, 1, 3, 9):
        got = g.run(kernel(body), "k", 16, 128, [], np.zeros(2048, U32), U32(at))
        i = np.arange(2048)
        tid, block = i % 128, i // 128
        apart = (block % 4 == at) & (tid // 32 == 1)
        assert np.array_equal(got, np.where(apart, tid, 7 + tid // 32))


# -- addresses that are taken apart ----------------------------------------------------


def test_an_address_is_used_in_later_blocks_of_instructions(g):
    """The index stays as it was, or changes without the address."""
    body = """
    mul.wide.s32 %q1, %i, 4; add.s64 %q2, %src, %q1; add.s64 %q3, %dst, %q1;
    mov.u32 %r3, 0; mov.u32 %r1, 0;
    loop:
    ld.global.u32 %r2, [%q2]; add.u32 %r1, %r1, %r2;
    add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %n;
    @%p1 bra loop;
    st.global.u32 [%q3], %r1;
    """
    src = np.arange(512, dtype=U32)
    out = np.zeros(512, U32)
    got = g.run(kernel(body, "src dst"), "k", 2, 256, [src], out, U32(5))
    assert np.array_equal(got, 5 * src)
    stale = """
    mov.u32 %r3, 0; mov.u32 %r1, 0; mov.u32 %r4, %i;
    mul.wide.s32 %q1, %r4, 4; add.s64 %q2, %src, %q1;
    loop:
    ld.global.u32 %r2, [%q2]; add.u32 %r1, %r1, %r2;
    xor.b32 %r4, %r4, 1;
    and.b32 %r5, %r3, 1; setp.eq.u32 %p2, %r5, 0;
    @%p2 bra past;
    mul.wide.s32 %q4, %r4, 4; add.s64 %q2, %src, %q4;
    past:
    add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %n;
    @%p1 bra loop;
    mul.wide.s32 %q5, %i, 4; add.s64 %q3, %dst, %q5; st.global.u32 [%q3], %r1;
    """
    got = g.run(kernel(stale, "src dst"), "k", 2, 256, [src], out, U32(6))
    assert np.array_equal(got, expected_of_stale(src, 6))
    one = """
    mov.u32 %r3, 0; mov.u32 %r1, 0; mov.u64 %q2, %src;
    loop:
    add.u32 %r4, %i, %r3;
    setp.gt.u32 %p2, %r3, 0;
    @%p2 bra past;
    mul.wide.s32 %q1, %r4, 4; add.s64 %q6, %src, %q1;
    past:
    ld.global.u32 %r2, [%q6]; add.u32 %r1, %r1, %r2;
    add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %n;
    @%p1 bra loop;
    mul.wide.s32 %q5, %i, 4; add.s64 %q3, %dst, %q5; st.global.u32 [%q3], %r1;
    """
    got = g.run(kernel(one, "src dst"), "k", 2, 256, [src], out, U32(4))
    assert np.array_equal(got, 4 * src)


def expected_of_stale(src, rounds):
    """Return what the loop sums whose address is made anew in every second round."""
    index = np.arange(len(src))
    at, total = index.copy(), np.zeros(len(src), U32)
    for k in range(rounds):
        total += src[at]
        index ^= 1
        if k % 2:
            at = index.copy()
    return total


@pytest.mark.parametrize("operation", ["mul.hi.u32", "mul.hi.s32"])
def test_high_halves_of_values_of_a_block(g, operation):
    body = f"{operation} %r1, %block, %n; {STORE}"
    got = g.run(kernel(body), "k", 9, 64, [], np.zeros(9 * 64, U32), U32(0xF0000000))
    block = np.repeat(np.arange(9, dtype=np.int64), 64)
    factor = 0xF0000000 - (2**32 if operation.endswith("s32") else 0)
    assert np.array_equal(got, (block * factor >> 32).astype(U32))
