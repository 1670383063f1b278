"""Large PTX texts: the time of a load, many registers, many blocks, many calls."""

import time

import numpy as np
import pytest

from support.marks import emulator_only

pytest_plugins = ["support.emulator_fixtures"]
HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
START = """ld.param.u64 %rd1, [out];
mov.u32 %r0, %tid.x;
mad.wide.u32 %rd1, %r0, 4, %rd1;
"""


def kernel(body, registers, name="k"):
    return (
        f".visible .entry {name}(.param .u64 out)\n{{\n"
        f".reg .b32 %r<{registers}>; .reg .b64 %rd<3>; .reg .pred %p<3>;\n"
        f"{START}{body}ret;\n}}\n"
    )


def small_kernels(n):
    body = """setp.ge.u32 %p1, %r0, 100;
@%p1 bra $end;
ld.global.u32 %r1, [%rd1];
add.u32 %r2, %r1, {};
xor.b32 %r1, %r2, %r0;
mad.lo.u32 %r2, %r1, %r2, 12345;
st.global.u32 [%rd1], %r2;
$end:
"""
    return "".join(kernel(body.format(i), 3, f"kernel_number_{i}") for i in range(n))


def one_long_block(n):
    lines = [
        f"add.u32 %r{i}, %r{i - 1}, {i * 7919};\n"
        f"st.global.u32 [%rd1+{4 * (i % 64)}], %r{i};\n"
        for i in range(1, n)
    ]
    return kernel("".join(lines), n)


def many_blocks(n, reach):
    """Each block uses a register that a block far before it has written."""
    lines = [
        f"setp.lt.u32 %p1, %r{i - 1}, {i};\n@%p1 bra $L{i};\nadd.u32 %r0, %r0, {i};\n"
        f"$L{i}:\nadd.u32 %r{i}, %r{max(0, i - reach)}, {i};\n"
        for i in range(1, n)
    ]
    return kernel("".join(lines) + f"st.global.u32 [%rd1], %r{n - 1};\n", n)


def many_calls(functions, kernels):
    """Each function calls two others, and each kernel reaches nearly all of them."""
    parts = []
    for i in range(functions):
        calls = "".join(f"call (%r), f{k}, (%x);\n" for k in (i - 1, i - 7) if k >= 0)
        parts.append(
            f".func (.reg .b32 %r) f{i}(.reg .b32 %x)\n{{\n.reg .pred %p;\n"
            f"add.u32 %r, %x, {i};\nsetp.eq.u32 %p, %x, 77;\n@!%p bra $end;\n"
            f"{calls}$end:\nret;\n}}\n"
        )
    for i in range(kernels):
        body = f"call (%r1), f{functions - 1 - i}, (%r0);\nst.global.u32 [%rd1], %r1;\n"
        parts.append(kernel(body, 2, f"k{i}"))
    return "".join(parts)


TEXTS = {
    "small kernels": lambda: small_kernels(2600),
    "one long block": lambda: one_long_block(17000),
    "many blocks": lambda: many_blocks(10000, 2000),
    "many calls": lambda: many_calls(5000, 300),
}


@emulator_only
@pytest.mark.parametrize("shape", TEXTS)
def test_a_megabyte_loads_within_a_tenth_of_a_second(d, emu_ctx, shape):
    text = (HEAD + TEXTS[shape]()).encode()
    assert len(text) > 850_000
    best = 1e9
    for _ in range(10):
        start = time.process_time()
        module = d.module(text)
        best = min(best, (time.process_time() - start) / len(text) * 1e6)
        d.ok("ModuleUnload", module)
        if best < 0.1:
            break
    print(f"{shape}: {1000 * best:.0f} ms for each MB")
    assert best < 0.1


def test_registers_of_many_blocks(g):
    """So many registers live across blocks that liveness is found in parts."""
    n, reach = 6000, 100
    text = HEAD + many_blocks(n, reach)
    found = g.run(text, "k", 1, 32, [], np.zeros(32, np.uint32)).tolist()
    expected = []
    for thread in range(32):
        values = [thread]
        for i in range(1, n):
            if values[i - 1] >= i:
                values[0] += i
            values.append(values[max(0, i - reach)] + i)
        expected.append(values[-1])
    assert found == expected


def test_more_live_registers_than_a_gpu_has(g):
    """All values are needed at the end. A GPU would spill them."""
    n = 4000
    lines = [f"mad.lo.u32 %r{i}, %r0, {i}, {i * i};\n" for i in range(1, n)]
    lines += ["mov.u32 %r0, 0;\n"]
    lines += [f"mad.lo.u32 %r0, %r0, 3, %r{i};\n" for i in range(n - 1, 0, -1)]
    lines += ["st.global.u32 [%rd1], %r0;\n"]
    text = HEAD + kernel("".join(lines), 2**31 - 1)
    found = g.run(text, "k", 1, 32, [], np.zeros(32, np.uint32)).tolist()
    expected = []
    for thread in range(32):
        total = 0
        for i in range(n - 1, 0, -1):
            total = (total * 3 + thread * i + i * i) & 0xFFFFFFFF
        expected.append(total)
    assert found == expected


def test_shared_memory_behind_many_calls(g):
    """A kernel reaches the variables of functions through other functions."""
    text = (
        HEAD
        + """.shared .b32 deep[8];
.func (.reg .b32 %r) inner(.reg .b32 %x)
{ .reg .b32 %a; mov.u32 %a, deep; st.shared.u32 [%a], %x; ld.shared.u32 %r, [%a]; ret; }
.func (.reg .b32 %r) outer(.reg .b32 %x) { call (%r), inner, (%x); ret; }
"""
        + kernel(
            """.shared .b32 own[4];
            mov.u32 %r1, own; st.shared.u32 [%r1], 7;
            call (%r2), outer, (5);
            ld.shared.u32 %r3, [%r1]; mad.lo.u32 %r3, %r3, 10, %r2;
            st.global.u32 [%rd1], %r3;
            """,
            4,
        )
    )
    assert g.run(text, "k", 1, 1, [], np.zeros(1, np.uint32)).tolist() == [75]
