"""Matrix operations, barriers, mbarrier and cp.async of the software device, in forms
that the recorded cases lack."""

import re

import numpy as np
import pytest

from support.emulator import DriverError, R

pytest_plugins = ["support.emulator_fixtures"]

HEADER = ".version 8.0\n.target sm_75\n.address_size 64\n"


def run(g, body, inputs, output, block=32):
    """Run a kernel with the inputs' addresses in %q0, %q1, ..., then the output's."""
    count = len(inputs) + 1
    parameters = ", ".join(f".param .u64 p{i}" for i in range(count))
    loads = "\n".join(f"ld.param.u64 %q{i}, [p{i}];" for i in range(count))
    text = f"""{HEADER}.visible .entry k({parameters}) {{
        .reg .b16 %h<9>; .reg .b32 %r<99>; .reg .b64 %q<40>; .reg .f32 %f<40>;
        .reg .pred %p<9>;
        .shared .align 16 .b8 near[2048];
        .shared .align 8 .b64 object;
        {loads}
        {body}
        ret; }}"""
    module = g.load(text)
    out = g.up(output)
    g.launch(module, "k", 1, block, *(g.up(i) for i in inputs), out)
    return g.down(out, output)


def names(prefix, first, count):
    return "{" + ", ".join(f"%{prefix}{i}" for i in range(first, first + count)) + "}"


def matrices(seed):
    rng = np.random.default_rng(seed)
    return [rng.integers(-8, 8, (16, 16)).astype(np.float16) for _ in range(3)]


def stored(matrix, layout, stride):
    """Return the matrix in memory with lines of `stride` elements, filled with 99."""
    lines = np.full((16, stride), 99, matrix.dtype)
    lines[:, :16] = matrix if layout == "row" else matrix.T
    return lines


@pytest.mark.parametrize("la", ["row", "col"])
@pytest.mark.parametrize("lb", ["row", "col"])
@pytest.mark.parametrize("lc", ["row", "col"])
@pytest.mark.parametrize("c_kind", ["f16", "f32"])
@pytest.mark.parametrize("d_kind", ["f16", "f32"])
def test_wmma(g, la, lb, lc, c_kind, d_kind):
    a, b, c = matrices(1)
    kinds = {"f16": (np.float16, "r", 4), "f32": (np.float32, "f", 8)}
    (ct, cp, cn), (dt, dp, dn) = kinds[c_kind], kinds[d_kind]
    sa, sb, sc, sd = 16, 24, 18, 20
    form, tile = "sync.aligned", "m16n16k16"
    ra, rb = names("r", 10, 8), names("r", 20, 8)
    rc, rd = (
        names(cp, 30 if cp == "r" else 0, cn),
        names(dp, 30 if dp == "r" else 0, dn),
    )
    body = f"""
        mov.u32 %r0, {sb};
        wmma.load.a.{form}.{la}.{tile}.global.f16 {ra}, [%q0], {sa};
        wmma.load.b.{form}.{lb}.{tile}.f16 {rb}, [%q1], %r0;
        wmma.load.c.{form}.{lc}.{tile}.global.{c_kind} {rc}, [%q2+0], {sc};
        wmma.mma.{form}.{la}.{lb}.{tile}.{d_kind}.{c_kind} {rd}, {ra}, {rb}, {rc};
        wmma.store.d.{form}.{lc}.{tile}.global.{d_kind} [%q3], {rd}, {sd};"""
    inputs = [stored(a, la, sa), stored(b, lb, sb), stored(c.astype(ct), lc, sc)]
    got = run(g, body, inputs, np.full((16, sd), 77, dt))
    want = a.astype(np.float64) @ b.astype(np.float64) + c
    assert (got[:, :16] == (want if lc == "row" else want.T)).all()
    assert (got[:, 16:] == 77).all()


def test_wmma_of_lanes_that_come_apart(g):
    """The warp diverges before the multiplication, where all lanes converge."""
    a, b, _ = matrices(2)
    form, tile = "sync.aligned", "m16n16k16"
    ra, rb, rd = names("r", 10, 8), names("r", 20, 8), names("f", 0, 8)
    zeros = "\n".join(f"mov.f32 %f{i}, 0f00000000;" for i in range(8))
    body = f"""{zeros}
        wmma.load.a.{form}.row.{tile}.global.f16 {ra}, [%q0], 16;
        wmma.load.b.{form}.row.{tile}.global.f16 {rb}, [%q1], 16;
        mov.u32 %r1, %laneid;
        setp.lt.u32 %p0, %r1, 7;
        @%p0 bra Few;
        wmma.mma.{form}.row.row.{tile}.f32.f32 {rd}, {ra}, {rb}, {rd};
        bra.uni Done;
        Few:
        wmma.mma.{form}.row.row.{tile}.f32.f32 {rd}, {ra}, {rb}, {rd};
        Done:
        wmma.store.d.{form}.row.{tile}.global.f32 [%q2], {rd}, 16;"""
    got = run(g, body, [a, b], np.zeros((16, 16), np.float32))
    assert (got == a.astype(np.float64) @ b.astype(np.float64)).all()


def test_wmma_in_shared_memory(g):
    a, b, _ = matrices(3)
    form, tile = "sync.aligned", "m16n16k16"
    ra, rb, rd = names("r", 10, 8), names("r", 20, 8), names("f", 0, 8)
    ones = "\n".join(f"mov.f32 %f{i}, 0f3F800000;" for i in range(8))
    body = f"""{ones}
        mov.u32 %r0, near;
        mov.u32 %r1, %tid.x;
        shl.b32 %r2, %r1, 4;
        add.s32 %r3, %r2, %r0;
        cvt.u64.u32 %q10, %r2;
        add.s64 %q11, %q0, %q10;
        ld.global.v4.u32 {names("r", 30, 4)}, [%q11];
        st.shared.v4.u32 [%r3], {names("r", 30, 4)};
        bar.sync 0;
        wmma.load.a.{form}.row.{tile}.shared.f16 {ra}, [%r0];
        wmma.load.b.{form}.row.{tile}.global.f16 {rb}, [%q1];
        wmma.mma.{form}.row.row.{tile}.f32.f32 {rd}, {ra}, {rb}, {rd};
        wmma.store.d.{form}.row.{tile}.shared.f32 [near+1024], {rd};
        bar.sync 0;
        shl.b32 %r2, %r1, 5;
        add.s32 %r3, %r2, %r0;
        ld.shared.v4.u32 {names("r", 30, 4)}, [%r3+1024];
        ld.shared.v4.u32 {names("r", 34, 4)}, [%r3+1040];
        cvt.u64.u32 %q10, %r2;
        add.s64 %q11, %q2, %q10;
        st.global.v4.u32 [%q11], {names("r", 30, 4)};
        st.global.v4.u32 [%q11+16], {names("r", 34, 4)};"""
    got = run(g, body, [a, b], np.zeros((16, 16), np.float32))
    assert (got == a.astype(np.float64) @ b.astype(np.float64) + 1).all()


#: Forms that the hardware does not have, with the number of registers in braces.
REFUSED = """
    mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f32 {2}, {4}, {2}, {4f}
    mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32 {4f}, {4}, {2}, {4f}
    mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 {4f}, {4}, {2}, {4f}
    mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16 {2}, {4}, {2}, {2}
    mma.sync.aligned.m16n8k16.row.col.rz.f32.f16.f16.f32 {4f}, {4}, {2}, {4f}
    mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32 {4f}, {4}, {2}, {4f}
    mma.sync.aligned.m16n8k8.row.col.f32.e4m3.e4m3.f32 {4f}, {2}, {1}, {4f}
    mma.sync.aligned.m8n8k16.row.col.s32.s4.s4.s32 {2}, {1}, {1}, {2}
    mma.sp.sync.aligned.m16n8k64.row.col.f16.e4m3.e4m3.f16 {2}, {4}, {4}, {2}, %r0, 0
    wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 {20}, %q0, %q0, %p0
    wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.xor.popc {4}, %q0, %q0, %p0
    wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32.satfinite {8f}, {8}, {8}, {8f}
    wmma.mma.sync.aligned.col.row.m8n8k32.s32.s4.s4.s32 {2}, {1}, {1}, {2}
    wmma.load.a.sync.aligned.col.m8n8k32.global.s4 {1}, [%q0], 32
    ldmatrix.sync.aligned.m16n16.x1.trans.shared.b16 {1}, [near]
"""


@pytest.mark.parametrize("line", REFUSED.strip().splitlines())
def test_a_form_that_the_hardware_lacks_is_refused_by_name(g, line):
    def registers(match):
        return names(match[2] or "r", 0, int(match[1]))

    line = re.sub(r"\{(\d+)(f?)\}", registers, line.strip())
    with pytest.raises(DriverError) as caught:
        run(g, line + ";", [], np.zeros(1, np.uint32))
    assert caught.value.code == R.ERROR_INVALID_PTX
    opcode = re.escape(line.split(".")[0])
    assert re.search(
        rf"line \d+: .*(opcode|modifier).*'\.?({opcode}|m16n16)", caught.value.log
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {4f}, {1}, {1}, {4f};",
            "mma: a matrix needs 2 registers",
        ),
        (
            "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {4f}, {4}, {4}, {4f},"
            " %r0, 2;",
            "the selector is 2, which must be below 2",
        ),
        (
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {4f}, %q0, %q0, %p0, 2,"
            " 1, 0, 0;",
            "a scale is 2, which must be 1 or -1",
        ),
        (
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {4f}, %q0, %q0, %p0, 1,"
            " 1;",
            "6 operands",
        ),
        (
            "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {2}, [near];",
            "the form needs 4 registers",
        ),
        (
            "wgmma.fence.sync.aligned;",
            "wgmma: this instruction needs '.target sm_90a'",
        ),
        (
            "setmaxnreg.inc.sync.aligned.u32 64;",
            "setmaxnreg: this instruction needs '.target sm_90a'",
        ),
    ],
)
def test_wrong_operands_are_refused_with_the_reason(g, line, message):
    def registers(match):
        return names(match[2] or "r", 0, int(match[1]))

    with pytest.raises(DriverError) as caught:
        run(g, re.sub(r"\{(\d+)(f?)\}", registers, line), [], np.zeros(1, np.uint32))
    assert message in caught.value.log


@pytest.mark.parametrize("guard", ["@%p0", "@!%p0"])
def test_a_guarded_product(g, guard):
    """The sum of 16 products of ones, or D as it was."""
    body = f"""
        setp.eq.u32 %p0, 1, 1;
        mov.f32 %f0, 0f3F800000;
        mov.b32 %r9, 0x3C003C00; // two ones
        {guard} mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {names("f", 0, 4)},
            {{%r9, %r9, %r9, %r9}}, {{%r9, %r9}}, {{%f0, %f0, %f0, %f0}};
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %q9, %r1, 4;
        add.s64 %q0, %q0, %q9;
        st.global.f32 [%q0], %f0;"""
    got = run(g, body, [], np.zeros(32, np.float32))
    assert (got == (17 if guard == "@%p0" else 1)).all()


def test_the_target_of_a_product_may_be_its_factor(g):
    """D overwrites registers of A that the second half of the product reads."""
    a, b, c = matrices(5)
    form, tile = "sync.aligned", "m16n16k16"
    ra, rb, rc, rd = (names("r", i, 8) for i in (10, 20, 30, 40))
    ra, rc, rd = names("r", 10, 8), names("r", 30, 4), names("r", 10, 4)
    body = f"""
        wmma.load.a.{form}.row.{tile}.global.f16 {ra}, [%q0], 16;
        wmma.load.b.{form}.row.{tile}.global.f16 {rb}, [%q1], 16;
        wmma.load.c.{form}.row.{tile}.global.f16 {rc}, [%q2], 16;
        wmma.mma.{form}.row.row.{tile}.f16.f16 {rd}, {ra}, {rb}, {rc};
        wmma.store.d.{form}.row.{tile}.global.f16 [%q3], {rd}, 16;"""
    got = run(g, body, [a, b, c], np.zeros((16, 16), np.float16))
    assert (got == a.astype(np.float64) @ b.astype(np.float64) + c).all()


def test_a_warp_comes_to_a_barrier_by_lanes_that_exit_a_phase_later(g):
    """Half of warp 2 waits while warps 0 and 1 meet. Then its other half exits, so that
    the warp is complete when warp 0 arrives again."""
    body = """
        mov.u32 %r1, %tid.x;
        shr.u32 %r2, %r1, 5;
        and.b32 %r3, %r1, 31;
        setp.eq.u32 %p1, %r1, 0;
        @%p1 st.volatile.shared.b64 [near], 0;
        bar.sync 0;
        setp.eq.u32 %p1, %r2, 2;
        @%p1 bra Halves;
        Partly:
        ld.volatile.shared.u32 %r4, [near];
        setp.eq.u32 %p2, %r4, 0;
        @%p2 bra Partly;
        barrier.sync 1, 64;
        setp.eq.u32 %p2, %r2, 1;
        @%p2 bra Done;
        st.volatile.shared.u32 [near+4], 1;
        mov.u32 %r5, 100000;
        Late: // the others have exited before the end of this
        sub.u32 %r5, %r5, 1;
        setp.ne.u32 %p2, %r5, 0;
        @%p2 bra Late;
        barrier.sync 1, 64;
        bra Done;
        Halves:
        setp.lt.u32 %p2, %r3, 16;
        @%p2 bra Come;
        Stay:
        ld.volatile.shared.u32 %r4, [near+4];
        setp.eq.u32 %p2, %r4, 0;
        @%p2 bra Stay;
        ret;
        Come:
        st.volatile.shared.u32 [near], 1;
        barrier.sync 1, 64;
        Done:
        mul.wide.u32 %q1, %r1, 4;
        add.s64 %q0, %q0, %q1;
        mov.u32 %r6, 1;
        st.global.u32 [%q0], %r6;"""
    got = run(g, body, [], np.zeros(96, np.uint32), 96)
    assert got.tolist() == [1] * 80 + [0] * 16


def test_mbarrier_phases(g):
    """One thread tests tokens, parity, a count above one, and arrive_drop."""
    steps = [
        ("mbarrier.test_wait.parity.shared.b64 %p0, [%r0], 0;", 0),
        ("mbarrier.test_wait.parity.shared.b64 %p0, [%r0], 1;", 1),
        ("mbarrier.arrive.shared.b64 %q5, [%r0];", None),
        ("mbarrier.test_wait.shared.b64 %p0, [%r0], %q5;", 0),
        ("mbarrier.arrive.shared.b64 %q6, [%r0], 2;", None),
        ("mbarrier.test_wait.shared.b64 %p0, [%r0], %q5;", 1),
        ("mbarrier.try_wait.shared.b64 %p0, [%r0], %q6;", 1),
        ("mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r0], 0;", 1),
        ("mbarrier.arrive_drop.shared.b64 %q5, [%r0];", None),
        ("mbarrier.arrive.shared.b64 %q5, [%r0], 2;", None),
        ("mbarrier.test_wait.shared.b64 %p0, [%r0], %q5;", 1),
        ("mbarrier.arrive.shared.b64 %q5, [%r0], 1;", None),
        ("mbarrier.test_wait.shared.b64 %p0, [%r0], %q5;", 0),
        ("mbarrier.arrive.shared.b64 _, [%r0];", None),
        ("mbarrier.test_wait.shared.b64 %p0, [%r0], %q5;", 1),
    ]
    body = "mov.u32 %r0, object;\nmbarrier.init.shared.b64 [%r0], 3;\n"
    wanted = []
    for code, want in steps:
        body += code
        if want is not None:
            body += (
                f"selp.u32 %r1, 1, 0, %p0; st.global.u32 [%q0+{4 * len(wanted)}], %r1;"
            )
            wanted.append(want)
    body += "mbarrier.inval.shared.b64 [%r0];"
    got = run(g, body, [], np.full(len(wanted), 9, np.uint32), block=1)
    assert list(got) == wanted


@pytest.mark.parametrize("width", [4, 8, 16])
def test_cp_async_reads_only_what_it_is_told(g, width):
    """The source ends after the lane's part. The rest of the target is zero."""
    data = np.arange(1, 1 + 17 * 16, dtype=np.uint8)
    body = f"""
        mov.u32 %r0, %tid.x;
        mul.lo.u32 %r1, %r0, 16;
        cvt.u64.u32 %q10, %r1;
        add.s64 %q11, %q0, %q10;
        mov.u32 %r2, near;
        add.s32 %r3, %r2, %r1;
        mov.u32 %r4, 0x55555555;
        st.shared.v4.u32 [%r3], {{%r4, %r4, %r4, %r4}};
        setp.ne.u32 %p0, %r0, 3;
        @%p0 cp.async.ca.shared.global [%r3], [%q11], {width}, %r0;
        cp.async.wait_all;
        ld.shared.v4.u32 {names("r", 30, 4)}, [%r3];
        add.s64 %q12, %q1, %q10;
        st.global.v4.u32 [%q12], {names("r", 30, 4)};"""
    got = run(g, body, [data], np.zeros((width + 1, 16), np.uint8), block=width + 1)
    for lane in range(width + 1):
        want = np.full(16, 0x55, np.uint8)
        if lane != 3:
            want[:width] = 0
            want[:lane] = data[16 * lane : 17 * lane]
        assert (got[lane] == want).all(), lane
