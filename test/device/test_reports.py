"""The reports of the software device about wrong kernels and wrong PTX.

A fault breaks the context, so each test runs in its own process.
"""

import pytest

from support.emulator import DriverError, R, child

pytest_plugins = ["support.emulator_fixtures"]


@pytest.fixture(autouse=True)
def exact_bounds(monkeypatch):
    """An access beyond an array is an error, also where a GPU would let it pass."""
    monkeypatch.setenv("PYCUDA_CHECK", "memory")


START = """
import numpy as np
os.chdir(str(ROOT))
from support.emulator_arrays import Arrays, Launched
d.ok("Init", 0)
d.context()
g = Arrays(d)
def load(name):
    return g.load(open("test/data/kernels/" + name + ".ptx").read())
def fault(m, *launch, **more):
    try:
        g.launch(m, *launch, **more)
    except Launched as error:
        print(NAMES[error.code])
        print(error.report)
    else:
        print("no fault")
I = np.int32
L = np.int64
"""


def report(code, **environment):
    """Return the name of the code, and the report."""
    name, _, text = child(START + code, **environment).partition("\n")
    return name.removeprefix("CUDA_ERROR_"), text


def test_write_beyond_an_allocation():
    name, text = report(
        "p = g.empty(400)\nfault(load('runtime'), 'store_at', 3, 1, p, L(100))"
    )
    assert name == "ILLEGAL_ADDRESS"
    assert "write of 4 bytes" in text and "kernel store_at" in text
    assert "0 bytes beyond the end of the 400-byte device allocation" in text
    assert "block (" in text and "thread (0, 0, 0)" in text


@pytest.mark.parametrize(
    "kind, source, value, words",
    [
        ("u8", "%r", "mov.b32 %r, 0x1ff", "0xff (int -1)"),
        ("u16", "%r", "mov.b32 %r, 0x8001", "0x8001 (int -32767)"),
        ("u32", "%r", "mov.b32 %r, 42", "0x0000002a (int 42)"),
        ("f32", "%f", "mov.f32 %f, 0f3FC00000", "(int 1069547520, float 1.5)"),
        ("u64", "%q", "mov.b64 %q, 5", "0x0000000000000005 (int 5)"),
        ("f64", "%d", "mov.f64 %d, 0d4004000000000000", "double 2.5)"),
        ("v2.u32", "{%r, %r}", "mov.b32 %r, 1", "0x0000000100000001"),
        ("v4.u32", "{%r, %r, %r, %r}", "mov.b32 %r, 3", "0x" + 4 * "00000003"),
    ],
)
def test_the_value_of_a_write(kind, source, value, words):
    code = f"""
m = g.load('''.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p) {{
    .reg .b32 %r; .reg .b64 %q, %a; .reg .f32 %f; .reg .f64 %d;
    ld.param.u64 %a, [p];
    {value};
    st.global.{kind} [%a+512], {source};
    ret; }}''')
fault(m, "k", 1, 1, g.empty(512))
"""
    _, text = report(code)
    assert "\n  value: the thread writes 0x" in text and words in text, text


def test_a_read_has_no_value():
    _, text = report(
        "p = g.empty(400)\nfault(load('runtime'), 'load_at', 1, 32, p, p, L(99))"
    )
    assert "read of 4 bytes" in text and "value:" not in text


def test_a_write_over_an_end():
    name, text = report(
        "p = g.empty(402)\nfault(load('runtime'), 'store_at', 3, 1, p, L(100))"
    )
    assert name == "ILLEGAL_ADDRESS"
    assert "its last bytes are 2 beyond the end of the 402-byte device" in text


def test_read_beyond_names_the_thread():
    name, text = report(
        "p = g.up(np.zeros(40, 'i4'))\n"
        "fault(load('basics'), 'multiply_them', 1, (48, 1, 1), p, p, p)",
        PYCUDA_EMULATOR_THREADS="1",
    )
    assert name == "ILLEGAL_ADDRESS"
    assert "read of 4 bytes" in text and "thread (40, 0, 0)" in text
    assert "160-byte" in text


def test_use_after_free():
    name, text = report(
        "p = g.empty(1024)\ng.free(p)\n"
        "fault(load('runtime'), 'store_at', 1, 1, p, L(5))"
    )
    assert name == "ILLEGAL_ADDRESS"
    assert "20 bytes into the 1024-byte device allocation" in text
    assert "freed" in text


@pytest.mark.parametrize("address", ["0", "16", "2**40", "2**63", "2**64 - 4"])
def test_wild_pointer(address):
    name, text = report(f"fault(load('runtime'), 'store_at', 1, 1, {address}, L(0))")
    assert name == "ILLEGAL_ADDRESS" and "no allocation is near" in text


def test_misaligned():
    name, text = report(
        "p = g.empty(400)\nfault(load('runtime'), 'load_at', 1, 32, p, p, L(6))"
    )
    assert name == "MISALIGNED_ADDRESS" and "no multiple of 4" in text


def test_beyond_shared_memory(monkeypatch):
    monkeypatch.delenv("PYCUDA_CHECK")
    name, text = report(
        "p = g.empty(400)\nfault(load('runtime'), 'shared_at', 1, 32, p, I(1))"
    )
    assert name == "ILLEGAL_ADDRESS"
    assert "shared memory, which has 128 bytes" in text and "thread (31, 0, 0)" in text


#: A kernel with one instruction and 2,048 bytes of shared memory.
MATRIX = """
m = g.load('''.version 8.0
.target sm_75
.address_size 64
.visible .entry k() {
    .reg .b32 %r<9>; .reg .b64 %q<9>; .reg .f32 %f<16>; .reg .pred %p<2>;
    .shared .align 16 .b8 near[2048];
    BODY
    ret; }''')
fault(m, "k", 1, 128)
"""

#: The same for wgmma, which is an instruction of one architecture.
GROUP = MATRIX.replace("sm_75", "sm_90a")
HOPPER = {"PYCUDA_EMULATOR_CAPABILITY": "9.0"}


def test_a_row_of_ldmatrix_that_is_not_aligned():
    body = """
        mov.u32 %r0, near;
        add.u32 %r0, %r0, 8;
        ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r0];"""
    name, text = report(MATRIX.replace("BODY", body))
    assert name == "MISALIGNED_ADDRESS" and "no multiple of 4" in text


def test_a_matrix_of_wgmma_beyond_the_end_of_shared_memory():
    registers = ", ".join(f"%f{i}" for i in range(16))
    body = f"""
        mov.u32 %r0, near;
        mov.u64 %q5, 0x0000001000080070; // from byte 1792 on, 256 bytes a block
        wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {{{registers}}},
            {{%r1, %r2, %r3, %r4}}, %q5, %p1, 1, 1, 0;"""
    name, text = report(GROUP.replace("BODY", body), **HOPPER)
    assert name == "ILLEGAL_ADDRESS"
    assert "wgmma read 2 bytes at offset 2048 of shared memory, which has 2048" in text


def test_a_race_of_wgmma_and_a_store():
    body = """
        mov.u32 %r1, %tid.x;
        shl.b32 %r2, %r1, 2;
        mov.u32 %r3, near;
        add.u32 %r2, %r2, %r3;
        st.shared.u32 [%r2], %r1;
        mov.u64 %q5, 0x0000001000080000;
        wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3},
            {%r1, %r2, %r3, %r4}, %q5, %p1, 1, 1, 0;"""
    race = {**HOPPER, "PYCUDA_EMULATOR_CHECK": "race"}
    name, text = report(GROUP.replace("BODY", body), **race)
    assert name == "LAUNCH_FAILED" and "race" in text
    body = body.replace("mov.u64 %q5", "bar.sync 0;\nmov.u64 %q5")
    name, _ = report(GROUP.replace("BODY", body), **race)
    assert name.startswith("no fault")


def test_assert():
    name, text = report(
        "p = g.up(np.arange(64, dtype='i4'))\n"
        "fault(load('runtime'), 'check', 1, 64, p, I(33))",
        PYCUDA_EMULATOR_THREADS="1",
    )
    assert name == "ASSERT"
    assert "runtime.cu" in text and "`x[threadIdx.x] < limit`" in text
    assert "thread (33, 0, 0)" in text


def test_an_assert_that_holds_is_silent():
    name, _ = report(
        "p = g.up(np.arange(64, dtype='i4'))\n"
        "fault(load('runtime'), 'check', 1, 64, p, I(64))"
    )
    assert name == "no fault"


def test_trap():
    assert report("fault(load('runtime'), 'stop', 1, 1)")[0] == "LAUNCH_FAILED"


@pytest.mark.parametrize("count", [2, 3])
def test_a_branch_by_an_index_without_a_target(count):
    """The kernel uses indices up to 2."""
    targets = ", ".join("zero" for _ in range(count))
    text = f"""
.version 8.0
.target sm_75
.address_size 64
.visible .entry k() {{
    .reg .b32 %i;
    mov.u32 %i, %tid.x;
    where: .branchtargets {targets};
    brx.idx %i, where;
    zero: ret;
}}
"""
    name, text = report(f"fault(g.load({text!r}), 'k', 1, 3)")
    if count == 3:
        assert name.startswith("no fault")
        return
    assert name == "INVALID_PC"
    assert "brx.idx with index 2 of 2" in text and "thread (2, 0, 0)" in text


def test_free_twice():
    name, text = report("fault(load('runtime'), 'free_twice', 1, 1)")
    assert name == "LAUNCH_FAILED" and "freed already" in text


def test_endless_recursion():
    name, text = report(
        "p = g.empty(256)\nfault(load('basics'), 'overflow_stack', 1, 64, p)"
    )
    assert name == "HARDWARE_STACK_ERROR"
    assert "stack overflow" in text and "forever" in text


def test_missing_barrier():
    name, text = report(
        "p = g.empty(256)\nfault(load('shared'), 'missing_barrier', 1, 64, p)"
    )
    assert name == "LAUNCH_FAILED"
    assert "deadlock" in text and "64 threads wait at barriers" in text


FOREVER = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry spin() { again: bra again; }
"""


@pytest.mark.parametrize("block", [1, 64])
def test_a_kernel_that_never_ends_can_be_cut_off(block):
    name, text = report(
        f"m = g.load('''{FOREVER}''')\nfault(m, 'spin', 2, {block})",
        PYCUDA_EMULATOR_TIMEOUT="0.2",
    )
    assert name == "LAUNCH_TIMEOUT" and "kernel spin" in text


LOCATED = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry poke(.param .u64 where)
{
    .reg .b64 %rd<3>;
    .loc 1 41 5
    ld.param.u64 %rd1, [where];
    .loc 1 42 7, function_name $L__info_string0, inlined_at 1 50 3
    st.global.u64 [%rd1+8], %rd1;
    ret;
}
.file 1 "poke.cu"
.section .debug_str
{
$L__info_string0:
.b8 95,90,0
}
"""


def test_source_line():
    name, text = report(f"m = g.load('''{LOCATED}''')\nfault(m, 'poke', 1, 1, 0)")
    assert name == "ILLEGAL_ADDRESS" and "poke.cu:42" in text


def test_the_fault_sticks_and_a_fresh_context_works():
    code = """
p = g.empty(400)
fault(load('runtime'), 'store_at', 1, 1, p, L(100))
print(NAMES[d.CtxSynchronize()])
d.CtxDestroy(d.out(c_void_p, "CtxGetCurrent"))
d.context()
g = Arrays(d)
x = g.up(np.ones(4, "f"))
g.launch(load("basics"), "multiply_them", 1, 4, x, x, x)
print("fine")
"""
    lines = child(START + code).splitlines()
    assert lines[0] == "CUDA_ERROR_ILLEGAL_ADDRESS"
    assert lines[-2:] == ["CUDA_ERROR_ILLEGAL_ADDRESS", "fine"]


# -- texts that are wrong --------------------------------------------------------------

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"


def kernel(body):
    return (
        HEAD
        + ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>; .reg .b16 %h<9>;\n"
        + ".reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %d<9>; .shared .b32 s;\n"
        + body
        + "\nret;\n}\n"
    )


@pytest.mark.parametrize(
    "text, words",
    [
        (kernel("frobnicate.u32 %r1, %r2;"), ["frobnicate", "line 8"]),
        (kernel("add.q32 %r1, %r2, %r3;"), ["q32", "add", "line 8"]),
        (kernel("tcgen05.st %r1, %r2;"), ["tcgen05.st", "line 8"]),
        (kernel("add.u32 %r1, %d2, %r3;"), ["add", "width"]),
        (kernel("add.u32 %r1, %r2;"), ["add", "operands"]),
        (kernel("add.u32 %r1, %r2, %r99;"), ["%r99", "not declared"]),
        (kernel("bra nowhere;"), ["nowhere"]),
        (kernel("ld.global.u64 %r1, [%d1];"), ["ld", "narrow"]),
        (kernel("mov.u32 5, %r1;"), ["destination"]),
        (kernel("call unknown_function, ();"), ["unknown_function"]),
        (kernel("@%r1 bra x; x:"), ["%r1", "predicate"]),
        (kernel("add.u32 %r1, %r2, %r3"), ["expected"]),
        (kernel("x: x: add.u32 %r1, %r2, %r3;"), ["twice"]),
        (kernel("mov.u32 %r1, 0f12;"), ["digits"]),
        (HEAD + ".visible .entry k( {", ["no type"]),
        (HEAD + ".entry k() { add.u32", ["line 4"]),
        (HEAD + '.file 1 "abc', ["string"]),
        (HEAD + ".global .u32 x[4] = {1, 2, 3, 4, 5};", ["more values"]),
        (HEAD + ".global .u64 x = y;", ["'y'"]),
        (HEAD + ".extern .global .u32 x;", ["x", "not defined"]),
        (HEAD + ".entry k() { ret; }\n.entry k() { ret; }", ["twice"]),
        (HEAD.replace("64", "32") + ".entry k() { ret; }", ["64-bit"]),
        (HEAD + ".entry k() { \x01 }", ["0x01"]),
    ],
)
def test_a_wrong_text_is_refused_with_the_reason(g, text, words):
    with pytest.raises(DriverError) as caught:
        g.load(text)
    assert caught.value.code == R.ERROR_INVALID_PTX
    for word in words:
        assert word in caught.value.log, caught.value.log


def test_deep_nesting_is_refused(g):
    for text in [
        HEAD + ".entry k() " + "{" * 5000 + "}" * 5000,
        HEAD + ".global .u32 x[1] = " + "{" * 5000 + "1" + "}" * 5000 + ";",
        HEAD + ".entry k() { .reg .b32 %r<4294967295>; ret; }",
        HEAD + ".entry k() { .local .b8 x[99999999999]; ret; }",
        HEAD + ".entry k() { .shared .b8 x[99999999999]; st.shared.u8 [x], 1; ret; }",
    ]:
        with pytest.raises(DriverError) as caught:
            g.load(text)
        assert caught.value.code == R.ERROR_INVALID_PTX


def test_the_texts_that_were_refused_load_when_mended(g):
    """The kernels above are rejected for the expected reason, not for another one."""
    body = """
    add.u32 %r1, %r2, %r3; ld.global.u64 %d1, [%d1]; mov.u32 %r1, 0x12; bra x; x:
    mov.f32 %f1, 0f12345678; @%p1 bra y; y: { x: bra x; }
    """
    assert g.load(kernel(body))
    assert g.load(HEAD + ".global .u32 x[4] = {1, 2, 3, 4};\n.global .u64 y = x;")
