"""Constant expressions, sums of registers and numbers, elements of arrays, ranges.

The values are those of NVIDIA's assembler, and the file also runs on a GPU.
"""

import numpy as np
import pytest

from support.emulator import DriverError, R

pytest_plugins = ["support.emulator_fixtures"]
HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"


def kernel(body, before=""):
    return (
        f"{HEAD}{before}.visible .entry k(.param .u64 out)\n{{\n"
        ".reg .b64 %out, %at; .reg .b32 %me;\n"
        "ld.param.u64 %out, [out]; mov.u32 %me, %tid.x;\n"
        f"mad.wide.u32 %at, %me, 8, %out;\n{body}\nret;\n}}\n"
    )


def per_thread(g, body, before="", n=1, dtype=np.int64):
    """Run the kernel with n threads. Each has 8 bytes at %at."""
    return g.run(kernel(body, before), "k", 1, n, [], np.zeros(n, dtype)).tolist()


INTEGERS = {
    # precedence and parentheses
    "1 + 2 * 3": 7,
    "(1 + 2) * 3": 9,
    "1 << 2 + 1": 8,
    "6 & 3 | 8": 10,
    "6 ^ 3 & 1": 7,
    "10 - 4 - 3": 3,
    "-(-5)": 5,
    "- -5": 5,
    "-~5": 6,
    "((((1))))": 1,
    "1 < 2 < 3": 1,
    # signs: a U or a large number makes an operation unsigned
    "-7 / 2": -3,
    "-1 / 2U": 2**63 - 1,
    "-1 >> 1": -1,
    "-1U >> 1": 2**63 - 1,
    "0xffffffffffffffff >> 1": 2**63 - 1,
    "(.u64)-1 >> 1": 2**63 - 1,
    "(.s64)0xffffffffffffffff >> 1": -1,
    "-1 < 1U": 0,
    "-1 < 1": 1,
    "7 % 3": 1,
    "-7 % 3": 0,  # unsigned: 2**64 - 7
    "9223372036854775808 >> 1": 2**62,
    "-9223372036854775808": -(2**63),
    # shifts by 64 and more
    "1 << 63": -(2**63),
    "1 << 64": 1,
    "1 << 65": 2,
    "1 >> 64": 1,
    # truth
    "!5": 0,
    "!0": 1,
    "1 || 0": 1,
    "1 && 0": 0,
    "3 >= 3": 1,
    "3 <= 2": 0,
    "1 == 1": 1,
    "1 != 1": 0,
    # choices
    "1 ? 2 : 3": 2,
    "0 ? 2 : 3": 3,
    "0 ? 2 : 1 ? 4 : 5": 4,
    "1 ? 0 ? 2 : 3 : 4": 3,
    "(1 ? 2 : 3) + 4": 6,
    # other forms
    "WARP_SZ * 2": 64,
    "-WARP_SZ": -32,
    "0b101 + 1": 6,
    "017 + 1": 16,
    "0x10U + 1U": 17,
}


def test_integers(g):
    lines = ".reg .b64 %v;\n" + "".join(
        f"mov.b64 %v, {text}; st.global.b64 [%out+{8 * n}], %v;\n"
        for n, text in enumerate(INTEGERS)
    )
    text = kernel(lines)
    found = g.run(text, "k", 1, 1, [], np.zeros(len(INTEGERS), np.int64)).tolist()
    assert dict(zip(INTEGERS, found, strict=True)) == INTEGERS


def test_numbers_of_floating_point(g):
    values = {
        "1.0 + 2.0 * 3.0": 7.0,
        "(1.0 + 2.0) * 3.0": 9.0,
        "1.0 / 3.0": 1 / 3,
        "-(1.5)": -1.5,
        "0d3FF0000000000000 + 1.0": 2.0,
        ".5": 0.5,
        "5.": 5.0,
        "1.e2": 100.0,
        "-.25e1": -2.5,
    }
    lines = ".reg .f64 %v; .reg .f32 %f;\n" + "".join(
        f"mov.f64 %v, {text}; st.global.f64 [%out+{16 * n}], %v;\n"
        f"mov.f32 %f, {text}; cvt.f64.f32 %v, %f;\n"
        f"st.global.f64 [%out+{16 * n + 8}], %v;\n"
        for n, text in enumerate(values)
    )
    out = np.zeros((len(values), 2))
    found = g.run(kernel(lines), "k", 1, 1, [], out)
    assert found[:, 0].tolist() == list(values.values())
    assert found[:, 1].tolist() == np.float32(list(values.values())).tolist()


def test_in_other_places(g):
    body = """.reg .b32 %r<4>; .reg .b64 %w; .reg .pred %p;
    setp.eq.u32 %p, %me, 2 * 2 + 1;
    and.b32 %r1, %me, 1 << 1 | 1;
    selp.b32 %r2, (100 + 1), -(1), %p;
    add.u32 %r1, %r1, %r2;
    cvt.s64.s32 %w, %r1;
    st.global.u64 [%at + 2 * 4 - 8], %w;"""
    found = per_thread(g, body, n=8)
    assert found == [(t & 3) + (101 if t == 5 else -1) for t in range(8)]


def test_initialisers(g):
    before = """.shared .b8 sized[WARP_SZ];
    .global .b32 x[5] = {1 + 2, -(3), ~0, 5 > 3 ? 7 : 8, WARP_SZ};
    .global .f64 y[2] = {1.0 / 4.0, -.5};
    """
    body = """.reg .b32 %r; .reg .b64 %w; .reg .f64 %d;
    mov.u64 %w, x;
    {}
    ld.global.f64 %d, [y]; st.global.f64 [%out+40], %d;
    ld.global.f64 %d, [y+4*2]; st.global.f64 [%out+48], %d;"""
    loads = "".join(
        f"ld.global.s32 %w, [x+{4 * n}]; st.global.u64 [%out+{8 * n}], %w;\n"
        for n in range(5)
    )
    out = g.run(kernel(body.format(loads), before), "k", 1, 1, [], np.zeros(7))
    assert out[:5].view(np.int64).tolist() == [3, -3, -1, 7, 32]
    assert out[5:].tolist() == [0.25, -0.5]


def test_sums_of_a_register_and_a_number(g):
    body = """.reg .b32 %r<3>; .reg .b64 %w<3>; .reg .b16 %h<3>;
    add.u32 %r1, %me + 1, %me;
    mov.u32 %r1, %r1 + 1 << 2;
    cvt.u16.u32 %h1, %r1 + -1;
    add.u16 %h2, %h1 + 0x10000, 1;
    cvt.u64.u16 %w1, %h2;
    mul.wide.u32 %w2, %r1 + 1, 1000;
    add.u64 %w1, %w1 + 0, %w2 + 100000;
    st.global.u64 [%at], %w1 + 7;"""
    # r1 = 2 t + 1 + 4; h2 = r1
    values = [2 * t + 5 for t in range(8)]
    assert per_thread(g, body, n=8) == [v + (v + 1) * 1000 + 100007 for v in values]


@pytest.mark.parametrize("space", ["global", "const", "shared", "local"])
def test_elements_of_arrays(g, space):
    """The index counts elements, whatever the dimensions."""
    declared = {
        "global": ".global .b32 a[6] = {10, 11, 12, 13, 14, 15};",
        "const": ".const .b32 a[2][3] = {{10, 11, 12}, {13, 14, 15}};",
        "shared": ".shared .b32 a[2][3];",
        "local": "",
    }[space]
    inside = ".local .b32 a[6];" if space == "local" else ""
    fill = ""
    if space in ("shared", "local"):
        fill = "".join(
            f"mov.u32 %r, {10 + n}; st.{space}.u32 a[{n}], %r;" for n in range(6)
        )
    body = f""".reg .b32 %r<5>, %r; .reg .b64 %w<3>; .reg .b16 %h;
    {inside}{fill}
    bar.sync 0;
    ld.{space}.u32 %r1, a[%me];
    ld.{space}.u32 %r2, a[%me + 2];
    ld.{space}.u32 %r3, a[2 - 1];
    cvt.u64.u32 %w1, %me;
    ld.{space}.u32 %r4, a[%w1 + 1];
    mad.lo.u32 %r1, %r1, 100, %r2;
    mad.lo.u32 %r1, %r1, 100, %r3;
    mad.lo.u32 %r1, %r1, 100, %r4;
    mov.u64 %w1, a[%me + 1];
    mov.u64 %w2, a[1];
    sub.u64 %w1, %w1, %w2;
    cvt.u64.u32 %w2, %r1;
    mad.lo.u64 %w1, %w1, 100000000, %w2;
    st.global.u64 [%at], %w1;"""
    expected = [
        t * 4 * 10**8 + (10 + t) * 10**6 + (12 + t) * 10**4 + 1100 + 11 + t
        for t in range(4)
    ]
    assert per_thread(g, body, declared, n=4) == expected


def test_elements_of_parameters(g):
    text = f"""{HEAD}.visible .entry k(.param .u64 out, .param .b32 p[4])
    {{ .reg .b32 %r, %s; .reg .b64 %w;
    ld.param.u64 %w, [out]; mov.u32 %r, %tid.x; mad.wide.u32 %w, %r, 4, %w;
    ld.param.b32 %s, p[%r]; ld.param.b32 %r, p[3]; add.u32 %s, %s, %r;
    st.global.u32 [%w], %s; ret; }}"""
    given = np.array([1, 20, 300, 4000], np.int32)
    out = np.zeros(4, np.int32)
    p = g.up(out)
    g.launch(g.load(text), "k", 1, 4, p, given)
    assert g.down(p, out).tolist() == [4001, 4020, 4300, 8000]


def test_ranges_of_vector_registers(g):
    body = """.reg .v4 .b32 %v<70000>; .reg .v2 .b64 %u<2>; .reg .b32 %r;
    mov.b32 %v9.x, %me; mov.b32 %v9.y, 2; mov.b32 %v9.z, 3; mov.b32 %v9.w, 4;
    mov.v4.b32 %v69999, %v9;
    add.u32 %v69999.y, %v69999.y, %v9.x;
    mad.lo.u32 %r, %v69999.y, 10, %v69999.w;
    cvt.u64.u32 %u1.y, %r;
    st.global.u64 [%at], %u1.y;"""
    assert per_thread(g, body, n=4) == [(2 + t) * 10 + 4 for t in range(4)]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("mov.u32 %r, 5 / 0;", "divides by zero"),
        ("mov.f32 %f, 1.0 + 2;", "differ in type"),
        ("mov.f32 %f, 0f3F800000 + 0f3F800000;", "differ in type"),
        ("mov.f32 %f, ~1.5;", "an integer constant is needed"),
        ("mov.f32 %f, 1.5 % 1.0;", "an integer constant is needed"),
        ("mov.u32 %r, 1.5 ? 1 : 2;", "an integer constant is needed"),
        ("mov.u32 %r, (1 + 2;", "expected ')'"),
        ("mov.u32 %r, 1 ? 2;", "expected ':'"),
        ("mov.u32 %r, 1 = 2;", "expected an operator"),
        ("mov.u32 %r, 1 ! 2;", "expected an operator"),
        ("mov.u32 %r, 1 +;", "expected an operand"),
        ("mov.u32 %r, 1 + %r;", "'%r' is no constant"),
        ("mov.u32 %r, " + "(" * 65 + "1" + ")" * 65 + ";", "nested too deeply"),
        ("mov.u32 %r, %r + 1.5;", "expected an offset"),
        ("mov.f32 %f, %f + 1;", "holds no integer has an offset"),
        ("mov.pred %p, %p + 1;", "holds no integer has an offset"),
        ("mov.b64 %w, {%r + 1, %r};", "a register in a list has an offset"),
        ("mov.b64 %w, {x[1], %r};", "an element of an array in a list"),
        ("ld.global.u32 %r, [x[1]];", "an address is of the wrong kind"),
        ("ld.global.u32 %r, x[1.5];", "the index of an array is no integer"),
        ("ld.global.u32 %r, x[x];", "neither a register nor a constant"),
        ("ld.global.u32 %r, x[%p];", "the index of an array is no integer"),
        ("ld.global.u32 %r, x[1;", "expected ']'"),
        (".reg .b32 %many<2147483648>;", "too many registers"),
    ],
)
def test_refusals(g, body, words):
    registers = ".reg .b32 %r; .reg .f32 %f; .reg .pred %p; .reg .b64 %w;\n"
    with pytest.raises(DriverError) as caught:
        g.load(kernel(registers + body, ".global .b32 x[4];\n"))
    assert caught.value.code == R.ERROR_INVALID_PTX
    assert words in str(caught.value)
