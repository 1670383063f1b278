"""PTX of people and older compilers, in forms that nvcc 13 does not produce."""

from ctypes import byref, c_char_p, c_size_t, c_void_p

import numpy as np
import pytest

from support.emulator import DriverError, R

pytest_plugins = ["support.emulator_fixtures"]
HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"


def per_thread(g, text, name="k", n=32, dtype=np.int32):
    """Run name(out) with n threads."""
    out = np.zeros(n, dtype)
    return g.run(text, name, 1, n, [], out).tolist()


INTO = """
    .reg .b64 %out; .reg .b32 %me; .reg .b64 %at;
    ld.param.u64 %out, [out];
    mov.u32 %me, %tid.x;
    mad.wide.u32 %at, %me, 4, %out;
"""


def kernel(body, before="", head=HEAD):
    return (
        f"{head}{before}.visible .entry k(.param .u64 out)\n{{\n{INTO}{body}\n"
        "st.global.u32 [%at], %r;\nret;\n}\n"
    )


def test_version_1_4(g):
    text = """
        .version 1.4
        .target sm_10, map_f64_to_f32
        // compiled with an open64 of long ago
        .entry add_one (
            .param .u64 __cudaparm_p,
            .param .s32 __cudaparm_n)
        {
        .reg .u16 %rh<4>;
        .reg .u32 %r<8>;
        .reg .u64 %rd<6>;
        .reg .pred %p<3>;
        .loc    14      3       0
    $LBB1_add_one:
        mov.u16     %rh1, %ctaid.x;
        mov.u16     %rh2, %ntid.x;
        mul.wide.u16    %r1, %rh1, %rh2;
        cvt.u32.u16     %r2, %tid.x;
        add.u32     %r3, %r2, %r1;
        ld.param.s32    %r4, [__cudaparm_n];
        setp.le.s32     %p1, %r4, %r3;
        @%p1 bra    $Lt_0_1026;
        ld.param.u64    %rd1, [__cudaparm_p];
        cvt.s64.s32     %rd2, %r3;
        mul.wide.s32    %rd3, %r3, 4;
        add.u64     %rd4, %rd1, %rd3;
        ld.global.s32   %r5, [%rd4+0];
        add.s32     %r6, %r5, 1;
        st.global.s32   [%rd4+0], %r6;
    $Lt_0_1026:
        exit;
    $LDWend_add_one:
        } // add_one
    """
    x = np.arange(100, dtype="i4")
    p = g.up(x)
    g.launch(g.load(text), "add_one", 4, 32, p, np.int32(90))
    assert (g.down(p, x) == x + (x < 90)).all()


def test_registers_as_parameters(g):
    before = """
    .func (.reg .u32 %sum, .reg .u32 %product) both (.reg .u32 %a, .reg .u32 %b)
    {
        add.u32 %sum, %a, %b;
        mul.lo.u32 %product, %a, %b;
        ret;
    }
    """
    body = """.reg .b32 %r, %q;
    call (%r, %q), both, (%me, 5);
    mad.lo.u32 %r, %q, 1000, %r;"""
    assert per_thread(g, kernel(body, before)) == [5000 * t + t + 5 for t in range(32)]


def test_calls_through_a_prototype(g):
    before = """
    .func (.param .u32 r) first (.param .u32 x)
    { .reg .u32 %v; ld.param.u32 %v, [x]; add.u32 %v, %v, 1;
      st.param.u32 [r], %v; ret; }
    .func (.param .u32 r) second (.param .u32 x)
    { .reg .u32 %v; ld.param.u32 %v, [x]; mul.lo.u32 %v, %v, 2;
      st.param.u32 [r], %v; ret; }
    .global .u64 table[2] = {first, second};
    """
    body = """.reg .b32 %r, %i; .reg .b64 %f, %t;
    and.b32 %i, %me, 1; mov.u64 %t, table; mad.wide.u32 %t, %i, 8, %t;
    ld.global.u64 %f, [%t];
    { .param .u32 arg; .param .u32 res;
    st.param.u32 [arg], %me;
    kind: .callprototype (.param .u32 _) _ (.param .u32 _);
    call (res), %f, (arg), kind;
    ld.param.u32 %r, [res]; }"""
    want = [2 * t if t & 1 else t + 1 for t in range(32)]
    assert per_thread(g, kernel(body, before)) == want


def test_branch_by_index(g):
    body = """.reg .b32 %r, %i;
    rem.u32 %i, %me, 3;
    mov.u32 %r, 0;
    where: .branchtargets zero, one, two;
    brx.idx %i, where;
    zero: add.u32 %r, %r, 100;
    one: add.u32 %r, %r, 10;
    two: add.u32 %r, %r, 1;"""
    assert per_thread(g, kernel(body)) == [[111, 11, 1][t % 3] for t in range(32)]


def test_vector_registers_and_scopes(g):
    body = """.reg .v4 .b32 %v; .reg .b32 %r, %a<3>; .reg .b64 %w;
    mov.b32 %v.x, %me; mov.b32 %v.y, 10; add.u32 %v.z, %v.x, %v.y; mov.u32 %v.w, 1;
    mov.b64 %w, {%v.x, %v.z};
    mov.b64 {_, %a1}, %w;
    { .reg .b32 %a1; mov.u32 %a1, 1000; add.u32 %r, %a1, %me; }
    add.u32 %r, %r, %a1;"""
    assert per_thread(g, kernel(body)) == [1010 + 2 * t for t in range(32)]


def test_labels_in_scopes(g):
    """Inline assembly repeats a label in several blocks."""
    block = """{ .reg .pred %p;
    setp.lt.u32 %p, %me, 7;
    @%p bra skip;
    add.u32 %r, %r, 1;
    skip: }"""
    body = f".reg .b32 %r; mov.u32 %r, 0;\n{block}\n{block}\n{block}"
    assert per_thread(g, kernel(body)) == [0] * 7 + [3] * 25


def test_ranges_whose_names_end_in_digits(g):
    body = """.reg .b32 %r1<3>, %r<20>, %r;
    mov.u32 %r10, 5; mov.u32 %r9, 6; mov.u32 %r12, 7; mov.u32 %r1, 100;
    add.u32 %r, %r10, %r9; add.u32 %r, %r, %r12; add.u32 %r, %r, %r1;"""
    assert per_thread(g, kernel(body)) == [118] * 32


def test_module_shared_memory_in_functions(g):
    before = """
    .shared .align 8 .b8 common[256];
    .extern .shared .align 16 .b8 rest[];
    .func put (.param .b32 i)
    { .reg .b32 %i, %a, %v;
      ld.param.b32 %i, [i];
      mov.u32 %a, common; mad.lo.u32 %a, %i, 4, %a; st.shared.u32 [%a], %i;
      mov.u32 %a, rest; mad.lo.u32 %a, %i, 4, %a; mul.lo.u32 %v, %i, 3;
      st.shared.u32 [%a], %v; ret; }
    """
    body = """.reg .b32 %r, %a, %b; .shared .b32 mine[32];
    mov.u32 %a, mine; mad.lo.u32 %a, %me, 4, %a; st.shared.u32 [%a], 7;
    { .param .b32 i; st.param.b32 [i], %me; call put, (i); }
    bar.sync 0;
    xor.b32 %b, %me, 31; shl.b32 %b, %b, 2;
    mov.u32 %a, common; add.u32 %a, %a, %b; ld.shared.u32 %r, [%a];
    mov.u32 %a, rest; add.u32 %a, %a, %b; ld.shared.u32 %b, [%a];
    mad.lo.u32 %r, %b, 1000, %r;
    ld.shared.u32 %b, [mine+124]; add.u32 %r, %r, %b;"""
    out = np.zeros(32, "i4")
    got = g.run(kernel(body, before), "k", 1, 32, [], out, shared=128)
    assert got.tolist() == [(31 - t) * 3001 + 7 for t in range(32)]


def test_generic_addresses_of_every_space(g):
    body = """.reg .b32 %r, %v, %s; .reg .b64 %g<5>; .reg .pred %p<5>;
    .shared .b32 s[32]; .local .b32 l[2];
    mov.u32 %s, s; mad.lo.u32 %s, %me, 4, %s;
    cvt.u64.u32 %g1, %s; cvta.shared.u64 %g1, %g1;
    mov.u64 %g2, l; cvta.local.u64 %g2, %g2;
    st.u32 [%g1], %me; st.u32 [%g2+4], 40; st.u32 [%at], 2;
    ld.shared.u32 %r, [%s]; ld.local.u32 %v, [l+4]; add.u32 %r, %r, %v;
    ld.u32 %v, [%at]; add.u32 %r, %r, %v;
    isspacep.shared %p1, %g1; isspacep.local %p2, %g2; isspacep.global %p3, %at;
    isspacep.global %p4, %g1;
    selp.u32 %v, 100, 0, %p1; add.u32 %r, %r, %v;
    selp.u32 %v, 1000, 0, %p2; add.u32 %r, %r, %v;
    selp.u32 %v, 10000, 0, %p3; add.u32 %r, %r, %v;
    selp.u32 %v, 100000, 0, %p4; add.u32 %r, %r, %v;
    cvta.to.shared.u64 %g3, %g1; cvt.u32.u64 %v, %g3; sub.u32 %v, %v, %s;
    add.u32 %r, %r, %v;"""
    assert per_thread(g, kernel(body)) == [11142 + t for t in range(32)]


def test_alloca(g):
    body = """.reg .b32 %r, %v; .reg .b64 %n, %p, %s;
    stacksave.u64 %s;
    and.b32 %v, %me, 3; add.u32 %v, %v, 1; mul.wide.u32 %n, %v, 16;
    alloca.u64 %p, %n, 16;
    st.local.u32 [%p+8], %me;
    ld.local.u32 %r, [%p+8];
    stackrestore.u64 %s;"""
    assert per_thread(g, kernel(body)) == list(range(32))


def test_guarded_control_flow(g):
    before = """
    .func (.param .u32 r) seven () { st.param.u32 [r], 7; ret; }
    """
    body = """.reg .b32 %r; .reg .pred %p<3>;
    mov.u32 %r, %me; setp.lt.u32 %p1, %me, 4; setp.gt.u32 %p2, %me, 28;
    { .param .u32 x;
    @%p1 call (x), seven, ();
    @%p1 ld.param.u32 %r, [x]; }
    @%p2 st.global.u32 [%at], 99;
    @%p2 ret;
    @!%p1 bar.sync 1, 32;"""
    want = [7] * 4 + list(range(4, 29)) + [99] * 3
    # lanes 0 to 3 do not arrive at the barrier of 32; exited lanes count
    text = kernel(body.replace("@!%p1 bar.sync 1, 32;", ""), before)
    assert per_thread(g, text) == want


def test_initialisers(g, d):
    from ctypes import byref, c_size_t, c_uint64

    text = (
        HEAD
        + """
    .global .u32 plain = 5;
    .global .align 4 .b8 bytes[6] = {1, 2, 0xff};
    .global .f32 floats[3] = {1.5, -2, 0f40490FDB};
    .const .f64 doubles[2] = {0d3FF8000000000000, 3.25};
    .global .f32 less[3] = {-0f40490FDB, -1.5, -0d3FF8000000000000};
    .global .f64 lesser[3] = {-0f3FC00000, -3.25, -0d3FF8000000000000};
    .global .s16 rows[2][3] = {{1, 2}, {-3}};
    .global .u64 pointers[3] = {plain, generic(bytes)+2, rows};
    .global .u8 byte_of_pointer[2] = {0xff(plain), 0xff00(plain)};
    .visible .entry k() { ret; }
    """
    )
    m = g.load(text)

    def value(name, dtype):
        p, n = c_uint64(), c_size_t()
        d.ok("ModuleGetGlobal", byref(p), byref(n), m, name)
        return p.value, np.frombuffer(d.read(p, n.value), dtype).tolist()

    at, five = value(b"plain", "u4")
    assert five == [5]
    assert value(b"bytes", "u1")[1] == [1, 2, 255, 0, 0, 0]
    assert value(b"floats", "f4")[1] == [1.5, -2.0, float(np.float32(np.pi))]
    assert value(b"doubles", "f8")[1] == [1.5, 3.25]
    assert value(b"less", "f4")[1] == [-float(np.float32(np.pi)), -1.5, -1.5]
    assert value(b"lesser", "f8")[1] == [-1.5, -3.25, -1.5]
    assert value(b"rows", "i2")[1] == [1, 2, 0, -3, 0, 0]
    addresses = [at, value(b"bytes", "u1")[0] + 2, value(b"rows", "i2")[0]]
    assert value(b"pointers", "u8")[1] == addresses
    assert value(b"byte_of_pointer", "u1")[1] == [at & 255, at >> 8 & 255]


def test_limits_of_a_block_are_attributes(g, d):
    from ctypes import c_int

    text = f"""{HEAD}
    .visible .entry most(.param .u64 a, .param .align 16 .b8 s[40], .param .u8 c)
    .maxntid 96, 2, 1 .minnctapersm 2 {{ ret; }}
    .visible .entry exactly() .reqntid 64 {{ .shared .b8 x[100]; .reg .b32 %r;
        mov.u32 %r, x; st.shared.u32 [%r], 1; ret; }}
    """
    m = g.load(text)
    f, e = d.function(m, b"most"), d.function(m, b"exactly")
    assert d.out(c_int, "FuncGetAttribute", 0, f) == 192
    assert d.out(c_int, "FuncGetAttribute", 0, e) == 64
    assert d.out(c_int, "FuncGetAttribute", 1, e) == 100
    launch = [None, None, None]
    assert d.LaunchKernel(e, 1, 1, 1, 64, 1, 1, 0, *launch) == 0
    assert d.LaunchKernel(e, 1, 1, 1, 32, 1, 1, 0, *launch) == R.ERROR_INVALID_VALUE
    d.ok("CtxSynchronize")


def link(g, d, *texts):
    """Link texts. Return the code, and the module if there is one."""
    state = c_void_p()
    d.ok("LinkCreate", 0, None, None, byref(state))
    code = 0
    for text in texts:
        data = text.encode() + b"\0"
        code = code or d.LinkAddData(
            state, 1, c_char_p(data), c_size_t(len(data)), b"t", 0, None, None
        )
    image, size = c_void_p(), c_size_t()
    code = code or d.LinkComplete(state, byref(image), byref(size))
    module = c_void_p()
    if not code:
        d.ok("ModuleLoadData", byref(module), image)
        g.modules.append(module)
    d.ok("LinkDestroy", state)
    return code, module


def test_a_function_without_the_result_of_its_declaration(g, d):
    """Numba declares C functions of type void with a result. Linkers accept it."""
    one = (
        HEAD
        + ".extern .func (.param .b64 r) store (.param .b64 p);\n"
        + f".visible .entry k(.param .u64 out) {{ {INTO} .reg .b64 %r;"
        + "{ .param .b64 p; .param .b64 r; st.param.b64 [p], %at;"
        + "call (r), store, (p); ld.param.b64 %r, [r]; } ret; }"
    )
    two = (
        HEAD
        + ".visible .func store (.param .b64 p) { .reg .b64 %a;"
        + "ld.param.b64 %a, [p]; st.u32 [%a], 7; ret; }"
    )
    code, module = link(g, d, one, two)
    assert code == 0
    out = g.up(np.zeros(4, "i4"))
    g.launch(module, "k", 1, 4, out)
    assert g.down(out, np.zeros(4, "i4")).tolist() == [7] * 4


def test_two_texts_with_weak_and_hidden_names(g, d):
    """A program may have a hidden name twice, but not a visible one."""
    helper = """.func (.param .u32 r) hidden () { st.param.u32 [r], %d; ret; }
    .visible .func (.param .u32 r) %s () {
    .reg .u32 %%v; { .param .u32 x; call (x), hidden, (); ld.param.u32 %%v, [x]; }
    st.param.u32 [r], %%v; ret; }
    """
    one = (
        HEAD
        + helper % (1, "one")
        + ".extern .func (.param .u32 r) two ();\n.extern .global .u32 shared_value;\n"
        + f".visible .entry k(.param .u64 out) {{ {INTO} .reg .u32 %r, %v;"
        + "{ .param .u32 x; call (x), one, (); ld.param.u32 %r, [x]; }"
        + "{ .param .u32 x; call (x), two, (); ld.param.u32 %v, [x]; }"
        + "mad.lo.u32 %r, %r, 10, %v; ld.global.u32 %v, [shared_value];"
        + "mad.lo.u32 %r, %r, 10, %v; st.global.u32 [%at], %r; ret; }"
    )
    two = HEAD + helper % (2, "two") + ".visible .global .u32 shared_value = 3;\n"

    code, module = link(g, d, one, two)
    assert code == 0
    out = g.up(np.zeros(4, "i4"))
    g.launch(module, "k", 1, 4, out)
    assert g.down(out, np.zeros(4, "i4")).tolist() == [123] * 4
    assert link(g, d, one, two, two)[0] != 0
    assert link(g, d, one)[0] != 0


def test_refusals(g):
    for text in [
        kernel(".reg .b32 %r; call (%r), k, ();"),
        kernel(".reg .b32 %r; .reg .pred %p; mov.pred %p, %r;"),
        HEAD + ".func f() { ret; }\n.entry f() { ret; }",
    ]:
        with pytest.raises(DriverError) as caught:
            g.load(text)
        assert caught.value.code == R.ERROR_INVALID_PTX


#: Wrong lines in a kernel with these registers, and the messages.
REGISTERS = """.reg .pred %p, %q; .reg .b16 %h; .reg .b32 %r; .reg .b64 %w;
.reg .f32 %f; .reg .f64 %g; .reg .b128 %x; .reg .v2 .b32 %v;
"""
WRONG = [
    # words and names
    ("add.u32 %r, %r, nothing;", "'nothing' is not declared"),
    ("ld.global.u32 %r, [nothing];", "'nothing' is not declared"),
    ("mov.u32 %r, %v.z;", "no such element of a vector"),
    ("mov.u32 %r, %tid.q;", "no such part of a special register"),
    ("mov.u32 %r, -me;", "'-' before a name"),
    ("add.u32 %r, %r.b0, %r;", "no selector '.b0' for an operand of 'add'"),
    ("vadd.u32.u32.u32 %r, %r.b4, %r.h1;", "a selector of another opcode"),
    ("vadd.u32.u32.u32 %r, %r.b9, %r.h1;", "no selector '.b9'"),
    ("vadd2.u32.u32.u32 %r, %r, %r.b10, %r;", "a selector of another opcode"),
    ("vadd4.u32.u32.u32 %r.b4, %r, %r, %r;", "a selector names part 4"),
    ("vadd.u32.u32.u32.add %r.h1, %r, %r, %r;", "and an operation with c"),
    ("vadd.u32.u32.u32 %r, -%r, %r;", "'-' before a name"),
    ("vmad.u32.u32.u32 %r, %r, %r;", "vmad: 3 operands"),
    ("@me add.u32 %r, %r, 1;", "me is not a register"),
    ("add.u32 %r, %r, !%r;", "'!' before an operand that is not a predicate"),
    ("add.u32 %r, 1x, 2;", ""),
    ("add.u32 %r, %r, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13;", "operands"),
    # addresses
    ("ld.global.u32 %r, [];", "an address is empty"),
    ("ld.global.u32 %r, %w;", "an operand is not an address"),
    ("ld.global.u32 %r, [%h];", "neither 32 nor 64 bits wide"),
    ("ld.global.u32 %r, [%p];", "neither 32 nor 64 bits wide"),
    ("st.param.u32 [out], %r;", "a kernel's parameters cannot be written"),
    # widths and vectors
    ("ld.global.u64 %r, [%w];", "too narrow for what is loaded"),
    ("ld.global.v2.u32 %r, [%w];", "not a vector of 2 elements"),
    ("ld.global.v2.u64 {%r, %r}, [%w];", "too narrow for what is loaded"),
    ("ld.global.u32 {%r, %r}, [%w];", "the destination is a vector"),
    ("st.global.u64 [%w], %r;", "too narrow for what is stored"),
    ("st.global.v2.u32 [%w], %r;", "not a vector of 2 elements"),
    ("st.global.v2.u64 [%w], {%r, %r};", "too narrow for what is stored"),
    ("st.global.v2.u32 [%w], {%r, %w};", "differ in width"),
    ("mov.b64 %w, {%r, %r, %r};", "a vector has 3 elements"),
    ("mov.b64 {%r, %r, %r}, %w;", "a vector has 3 elements"),
    ("cvt.f64.f32 %f, %f;", "the destination register has the wrong width"),
    ("cvt.f32.f64 %f, %f;", "the source register has the wrong width"),
    ("cvt.u32.u32 %p, %r;", "a register has the wrong width"),
    ("cvt.u32.u32 %x, %r;", "a register has the wrong width"),
    # unknown things
    ("add.u8 %r, %r, %r;", ""),
    ("mul.wide.u64 %w, %w, %w;", ""),
    ("mad.wide.f32 %w, %f, %f, %w;", ""),
    ("mul24.lo.u64 %w, %w, %w;", ""),
    ("sad.f32 %f, %f, %f;", ""),
    ("shl.b8 %r, %r, 1;", ""),
    ("setp.eq.b8 %p, %r, %r;", ""),
    ("set.eq.pred.u32 %p, %r, %r;", ""),
    ("slct.u32.u32 %r, %r, %r, %r;", ""),
    ("selp.pred %p, %p, %q, %p;", ""),
    ("min.relu.u32 %r, %r, %r;", ""),
    ("sin.approx.f64 %g, %g;", ""),
    ("testp.finite.u32 %p, %r;", ""),
    ("testp.odd.f32 %p, %f;", ""),
    ("atom.global.add.v2.u32 %r, [%w], %r;", ""),
    ("atom.global.add.u8 %r, [%w], %r;", ""),
    ("shfl.sync.bfly.b64 %w, %w, 1, 31, -1;", ""),
    ("vote.sync.sum.b32 %r, %p, -1;", ""),
    ("match.any.sync.b16 %r, %h, -1;", ""),
    ("redux.sync.add.f32 %f, %f, -1;", ""),
    ("elect.sync %r, -1;", ""),
    ("cp.async.ca.shared.global [%w], [%w], 5;", "a copy of 5 bytes"),
    ("alloca.u64 %w, 16, 3;", "an alignment is not a power of two"),
    ("brx.idx %r, %r;", "not a list of targets"),
]


@pytest.mark.parametrize("body, words", WRONG, ids=lambda text: text[:40])
def test_wrong_instructions(g, body, words):
    head = HEAD.replace("8.0", "8.3")
    g.load(kernel(REGISTERS, head=head))
    with pytest.raises(DriverError) as caught:
        g.load(kernel(REGISTERS + body, head=head))
    assert caught.value.code in (R.ERROR_INVALID_PTX, R.ERROR_NOT_SUPPORTED)
    assert words in str(caught.value)


#: Texts that are not modules, without the head.
BODY = ".visible .entry k() "
WRONG_MODULES = [
    (".global .align 3 .b32 x;", "an alignment is not a power of two"),
    (".global .b32 x[2][2][2][2][2][2][2][2][2][2];", "too many dimensions"),
    (".global .b8 x[2000000000000];", "an array is too large"),
    (".global .b32 x = ;", "expected a value"),
    (".global .b32 x[2] = {1, 2", "an initialiser does not end"),
    (".global .b32 ;", "expected"),
    (".local .b32 x; .entry k() { ret; }", ""),
    ("add.u32 x;", "expected a directive"),
    (".alias f, g;", "alias is not supported"),
    (".section .debug {", "'{' is never closed"),
    (".global .attribute(.managed .b32 x;", "'(' is never closed"),
    (BODY + "{ ret;", "the body of k does not end"),
    (".entry f(.global .b32 x) { ret; }", "neither .param nor .reg"),
    (".func f(.reg .pred %p) { ret; }", "a predicate as parameter"),
]


@pytest.mark.parametrize("text, words", WRONG_MODULES, ids=lambda text: text[:40])
def test_wrong_modules(g, text, words):
    with pytest.raises(DriverError) as caught:
        g.load(f"{HEAD}{text}\n")
    assert caught.value.code == R.ERROR_INVALID_PTX
    assert words in str(caught.value)


@pytest.mark.parametrize("version", ["", ".version x\n", ".version 0.5\n", ";"])
def test_texts_without_a_version(g, version):
    with pytest.raises(DriverError) as caught:
        g.load(f"{version}.target sm_75\n.address_size 64\n.entry k() {{ ret; }}\n")
    assert caught.value.code == R.ERROR_INVALID_PTX


def test_words_that_change_nothing(g):
    """Comments, hints and attributes from other compilers are accepted."""
    text = f"""/* a comment
    of two lines */ {HEAD.replace("8.0", "8")};
    .visible .entry k(.param .u64 out) .maxnreg 32 .pragma "nounroll";
    {{ {INTO} /* within */ .reg .b32 %r;
    .loc 1 2 3
    mov.u32 %r, ~5; add.u32 %r, %r, 0x2 /* ends here */;
    st.global.u32 [%at], %r; ret; }}
    """
    assert per_thread(g, text) == [~5 + 2] * 32


def test_asynchronous_copies(g):
    for bytes_ in (4, 8, 16):
        words = bytes_ // 4
        text = f"""{HEAD}.visible .entry k(.param .u64 out, .param .u64 in)
        {{ .shared .align 16 .b8 s[512]; .reg .b64 %o, %i, %a; .reg .b32 %r<6>;
        ld.param.u64 %o, [out]; ld.param.u64 %i, [in];
        mov.u32 %r1, %tid.x; mad.wide.u32 %i, %r1, {bytes_}, %i;
        mov.u32 %r2, s; mad.lo.u32 %r2, %r1, {bytes_}, %r2;
        cp.async.ca.shared.global [%r2], [%i], {bytes_};
        cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
        sub.u32 %r3, 31, %r1; mov.u32 %r2, s; mad.lo.u32 %r2, %r3, {bytes_}, %r2;
        ld.shared.u32 %r4, [%r2+{bytes_ - 4}];
        mad.wide.u32 %o, %r1, 4, %o; st.global.u32 [%o], %r4; ret; }}
        """
        x = np.arange(32 * words, dtype="i4") * 3
        out, source = g.up(np.zeros(32, "i4")), g.up(x)
        g.launch(g.load(text), "k", 1, 32, out, source)
        got = g.down(out, np.zeros(32, "i4"))
        assert (got == x.reshape(32, words)[::-1, -1]).all()
