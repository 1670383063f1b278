"""tables/opcodes.h against the loader, the list of opcodes and the conformance cases.

A child process loads many texts with PYCUDA_EMULATOR_DUMP=l, so that the loader prints
each PTX instruction and the operations that it became.
"""

import functools
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from device.conformance import suite
from support import cc
from support.emulator import PATH, R

TABLE = cc.SOURCE / "tables" / "opcodes.h"
COMPILE = cc.SOURCE / "device" / "compile"
TEXTS = cc.ROOT / "test" / "data"

#: The operations of operands, guards and labels: any instruction may have them.
OF_OPERANDS = {
    *("special", "lane_special", "local_address", "shared_dynamic"),
    *("cvt_32from64_u32", "label", "bra_if", "not_p"),
}

#: Those that modifiers, packed halves, conversions of operands and addresses add.
HELPERS = {
    *("ftz_f32", "sat_f32", "half_sat", "part_16from32", "join_32", "mov_p"),
    *("fence", "spin", "cvt_64from32_u32"),
}

#: Instructions for the rows that no conformance case and no text in test/data has.
MORE = """
    .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %w<9>; .reg .pred %p<9>;
    .reg .f32 %f<9>; .reg .f64 %d<9>;
    .shared .align 128 .b8 room[64];
    .shared .align 8 .b64 object;
    subc.u32 %r1, %r2, %r3;
    cnot.b32 %r1, %r2;
    rem.u32 %r1, %r2, %r3;
    tanh.approx.f32 %f1, %f2;
    testp.normal.f32 %p1, %f2;
    fns.b32 %r1, %r2, %r3, %r4;
    isspacep.global %p1, %w1;
    set.lt.u32.f32 %r1, %f1, %f2;
    slct.s32.s32 %r1, %r2, %r3, %r4;
    ldu.global.u32 %r1, [%w1];
    red.global.add.u32 [%w1], %r1;
    tensormap.replace.tile.rank.global.b1024.b32 [%w1], %r1;
    tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [room], 1, %r1;
    tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [room], 1, %r1;
    tensormap.replace.tile.global_dim.global.b1024.b32 [%w1], 4, 7;
    tensormap.replace.tile.global_stride.global.b1024.b64 [%w1], 3, %w2;
    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned
        [%w1], [room], 128;
    prefetch.global.L1 [%w1];
    prefetchu.L1 [%w1];
    applypriority.global.L2::evict_normal [%w1], 128;
    discard.global.L2 [%w1], 128;
    alloca.u64 %w2, %w3;
    stacksave.u64 %w4;
    stackrestore.u64 %w4;
    brkpt;
    griddepcontrol;
    mapa.shared::cluster.u32 %r1, %r2, %r3;
    getctarank.shared::cluster.u64 %r1, %w2;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
    pmevent 1;
    setmaxnreg.inc.sync.aligned.u32 40;
    nanosleep.u32 20;
    trap;
    exit;
    membar.gl;
    fence.acq_rel.gpu;
    vote.sync.any.pred %p1, %p2, -1;
    activemask.b32 %r1;
    match.any.sync.b32 %r1, %r2, -1;
    redux.sync.add.u32 %r1, %r2, -1;
    elect.sync %r1|%p1, -1;
    tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%w1, {%f5, %f6}];
    tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%w1, {%r1}];
    txq.width.b32 %r1, [%w1];
    suq.width.b32 %r1, [%w1];
    suld.b.1d.b32.trap %r1, [%w1, {%r2}];
    sust.b.1d.b32.trap [%w1, {%r2}], %r1;
    sured.b.add.1d.u32.trap [%w1, {%r2}], %r1;
    mad24.lo.u32 %r1, %r2, %r3, %r4;
    dp2a.lo.u32.u32 %r1, %r2, %r3, %r4;
    sad.u32 %r1, %r2, %r3, %r4;
    cp.async.ca.shared.global [room], [%w1], 4;
    vadd.s32.u32.s32.sat %r1, %r2.b0, %r3.h1;
    vsub.u32.s32.u32.add %r1, %r2, %r3, %r4;
    vabsdiff.s32.s32.s32 %r1.b2, %r2, %r3, %r4;
    vmin.u32.u32.u32.min %r1, %r2, %r3, %r4;
    vmax.s32.s32.u32 %r1, %r2, %r3;
    vshl.u32.u32.u32.wrap %r1, %r2, %r3;
    vshr.s32.s32.u32.clamp %r1, %r2.h0, %r3;
    vset.u32.s32.lt %r1, %r2, %r3;
    vmad.s32.u32.s32.shr7 %r1, -%r2, %r3.b1, %r4;
    vadd4.u32.u32.u32 %r1.b10, %r2.b0123, %r3, %r4;
    vset2.s32.u32.ge.add %r1, %r2, %r3, %r4;
    createpolicy.fractional.L2::evict_last.b64 %w2, 0.5;
    createpolicy.cvt.L2.b64 %w2, %w3;
    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32
        [%r1], {%r2, %r3}, [%r4];
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32
        [%r1], %r2, [%r4];
    cp.async.cg.shared.global [room], [%w1], 16, %p1;
    alloca.u32 %r2, %r3;
    stacksave.u32 %r4;
    stackrestore.u32 %r4;
    lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x80, %p2;
    atom.global.v2.f16.add.noftz {%h1, %h2}, [%w1], {%h3, %h4};
    red.global.add.v4.f32 [%w1], {%f1, %f2, %f3, %f4};
    cp.async.mbarrier.arrive.noinc.shared::cta.b64 [object];
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint
        [room], [%w1], 16, [object], %w2;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
        [room], [%w1], 16, [object], %h1;
    cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes
        [%r1], [room], %r2, [%r3];
    cp.async.bulk.global.shared::cta.bulk_group [%w1], [room], 16;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16
        [%w1], [room], 16;
    cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.inc.u32
        [%r1], [room], 16, [%r3];
    cp.async.bulk.prefetch.L2.global [%w1], 16;
    cp.async.bulk.prefetch.tensor.2d.L2.global.tile [map, {%r1, %r2}];
    cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes
        [room], [map, {%r1}], [object];
    cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [room], [%w1, {%r1, %r2, %r3, %r4, %r5}], [object];
    cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
        [room], [%w1, {%r1, %r2, %r3, %r4}], [object], {%h1, %h2};
    cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group
        [%w1, {%r1, %r2, %r3}], [room];
    cp.reduce.async.bulk.tensor.2d.global.shared::cta.max.tile.bulk_group
        [%w1, {%r1, %r2}], [room];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
    prefetch.tensormap [%w1];
    prefetch.param.tensormap [map];
    fence.proxy.async.shared::cta;
    fence.proxy.tensormap::generic.acquire.gpu [%w1], 128;
    fence.mbarrier_init.release.cluster;
    mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [object], 16;
    mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r1], 16;
    mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %w3, [object], 16;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1], 2;
    mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %w3, [object], 1;
    mbarrier.pending_count.b64 %r1, %w3;
    mbarrier.try_wait.acquire.cluster.shared::cta.b64 %p1, [object], %w3, %r1;
    barrier.sync 0;
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
        {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f5, %f6, %f7, %f8};
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16
        {%f1, %f2, %f3, %f4}, %w1, %w2, %p1, 1, -1, 0, 1;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r1, %r2}, [room];
    stmatrix.sync.aligned.m8n8.x1.shared.b16 [room], {%r1};
    movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;
    ret;
"""


class Row:
    """A row of the table: lower, types (text), modifiers, operations."""

    def __init__(self, lower, types, modifiers, operations):
        self.lower = lower
        self.types = types
        self.modifiers = set("".join(re.findall(r'"([^"]*)"', modifiers)).split())
        names = re.findall(r"EMU_OP_(\w+)", operations)
        self.operations = set(names) - {"NONE"}


def rows(text):
    """The rows of the table, by opcode."""
    text = text.replace("\\\n", " ")
    texts, operations = r'((?:"[^"]*"\s*)+)', r"((?:EMU_OP_\w+,?\s*)+)"
    pattern = rf"X\((\w+), (low_\w+), ([\w() |]+?),\s+{texts},\s*{operations}\)"
    return {name: Row(*columns) for name, *columns in re.findall(pattern, text)}


def types_of(text):
    """The types among the words, as device/ptx/words.h lists them."""
    table = re.search(r"PTX_TYPES\(X\)(.*?)\n\n", text, re.DOTALL)[1]
    return set(re.findall(r"X\((\w+),", table))


@functools.cache
def table():
    return rows(TABLE.read_text())


@functools.cache
def type_words():
    return types_of((cc.SOURCE / "device" / "ptx" / "words.h").read_text())


# -- the loader ---------------------------------------------------------------------

LOAD = """
import sys
from pathlib import Path
from support.emulator import *
d = Driver()
d.ok("Init", 0)
d.context()
for path in sorted(Path(sys.argv[1]).glob("*.ptx")):
    module = c_void_p()
    code = d.ModuleLoadData(byref(module), path.read_bytes() + bytes(1))
    print(path.stem, code)
    if code == 0:
        d.ok("ModuleUnload", module)
"""


def load(texts, letters):
    """Load texts by name in a child. Return their codes, and what the loader prints."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            Path(folder, f"{name}.ptx").write_text(text)
        done = subprocess.run(
            [sys.executable, "-c", LOAD, folder],
            env={
                **os.environ,
                "PYTHONPATH": PATH,
                "PYCUDA_EMULATOR_CAPABILITY": "9.0",
                "PYCUDA_EMULATOR_DUMP": letters,
            },
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-2000:]
    pairs = (line.split() for line in done.stdout.splitlines())
    return {name: int(code) for name, code in pairs}, done.stderr


def kernel(body, target="sm_90a"):
    head = f".version 8.6\n.target {target}\n.address_size 64\n"
    return f"{head}.visible .entry k(.param .align 64 .b8 map[128]) {{\n{body}\n}}\n"


@functools.cache
def texts():
    found = {"more": kernel(MORE)}
    for number, case in enumerate(suite.cases().values()):
        found[f"case{number}"] = case.module()
    for path in [*TEXTS.glob("ptx/*.ptx"), *TEXTS.glob("kernels/*.ptx")]:
        found[f"data-{path.stem}"] = path.read_text()
    return found


def lowered(dump):
    """(opcode, words, operations) of each instruction in a dump after lowering."""
    found = []
    for line in dump.splitlines():
        if line.startswith("    "):
            found[-1][2].append(line.split()[0])
        elif line.startswith("  "):
            opcode, *words = re.sub(r"^@\S+ ", "", line.strip()).split()[0].split(".")
            found.append((opcode.rstrip(";"), [w.rstrip(";") for w in words], []))
    return found


@functools.cache
def instructions():
    codes, dump = load(texts(), "l")
    assert codes["more"] == 0
    return lowered(dump)


# -- the checks ---------------------------------------------------------------------


def unlisted_operations(known, found):
    """The (opcode, operation) pairs that a row with operations does not name."""
    return sorted(
        {
            (opcode, operation)
            for opcode, _, operations in found
            for operation in operations
            if opcode in known
            and known[opcode].operations
            and operation not in known[opcode].operations | OF_OPERANDS | HELPERS
        }
    )


#: Opcodes whose operands and addresses need operations of other rows.
COMPOSED = {"wmma", "setp", "set", "slct", "mbarrier", "tensormap"}
COMPOSED |= {"ldmatrix", "stmatrix", "movmatrix"}

#: The shapes of matrix operations, which the rows do not list.
SHAPE = re.compile(r"m\d+n\d+k\d+")


def unlisted_words(known, pairs):
    """The (opcode, word) pairs that are no type, shape or modifier of the row."""
    return sorted(
        {
            (opcode, word)
            for opcode, words in pairs
            for word in words
            if word not in type_words()
            and not SHAPE.fullmatch(word)
            and word not in known[opcode].modifiers
        }
    )


def listed_pairs():
    return [(p.split()[0], p.split()[1].split(".")) for p in suite.listed() if " " in p]


def test_the_table_is_read_whole():
    text = TABLE.read_text()
    assert len(table()) == len(re.findall(r"^    X\(\w+, low_", text, re.MULTILINE))
    assert len(table()) > 120


def test_each_function_lowers_something():
    sources = "".join(path.read_text() for path in sorted(COMPILE.glob("lower*.c")))
    defined = set(
        re.findall(r"^void\n(low_\w+)\(low_func \*f\)", sources, re.MULTILINE)
    )
    named = {row.lower for row in table().values()}
    assert named <= defined
    passes = {"low_begin", "low_instructions"}
    forms_of_cp = {"low_bulk", "low_copy_arrive"}
    counting = {"low_count_begin", "low_count_before", "low_count_end"}
    assert defined - named == passes | forms_of_cp | counting


def test_every_row_is_reached():
    seen = {opcode for opcode, _, _ in instructions()}
    refused = {name for name, row in table().items() if row.lower == "low_refuse"}
    assert set(table()) - seen - refused == set()
    assert refused & seen == set()


def test_refused_opcodes_are_named():
    refused = [name for name, row in table().items() if row.lower == "low_refuse"]
    codes, _ = load({name: kernel(f"{name} 1;") for name in refused}, "")
    assert set(codes.values()) == {R.ERROR_INVALID_PTX}


def test_operations_are_those_of_the_row():
    found = [part for part in instructions() if part[0] not in COMPOSED]
    assert unlisted_operations(table(), found) == []


def test_each_operation_of_a_row_is_emitted():
    """Of the rows with one operation; forms of the others may need rare types."""
    emitted = {}
    for opcode, _, operations in instructions():
        emitted.setdefault(opcode, set()).update(operations)
    for opcode, row in table().items():
        if len(row.operations) == 1:
            assert row.operations <= emitted[opcode], opcode


def test_words_of_the_cases_are_in_the_rows():
    pairs = [(opcode, words) for opcode, words, _ in instructions()]
    assert unlisted_words(table(), pairs) == []


def test_words_of_the_list_of_opcodes_are_in_the_rows():
    assert unlisted_words(table(), listed_pairs()) == []
    for opcode, _ in listed_pairs():
        assert table()[opcode].lower != "low_refuse"


# -- counterparts: the checks can fail ------------------------------------------------


def test_a_wrong_operation_is_noticed():
    text = TABLE.read_text().replace("EMU_OP_shl_32", "EMU_OP_shr_u32")
    assert unlisted_operations(rows(text), instructions()) != []


def test_a_missing_modifier_is_noticed():
    text = TABLE.read_text().replace('"bfly down idx sync up"', '"down idx sync up"')
    assert unlisted_words(rows(text), listed_pairs()) == [("shfl", "bfly")]


@pytest.mark.parametrize("line", ["sin.approx.f64 %d, %d;", "shl.f32 %f, %f, 1;"])
def test_a_type_outside_of_the_row_is_refused(line):
    codes, _ = load({"k": kernel(f".reg .f64 %d; .reg .f32 %f;\n{line}")}, "")
    assert codes["k"] == R.ERROR_INVALID_PTX


# -- the dump -----------------------------------------------------------------------

ADD = """
    .reg .b32 %r<4>;
    .reg .pred %p;
    add.u32 %r1, %r2, 5;
    setp.lt.s32 %p, %r1, %r2;
    @!%p bra done;
    popc.b32 %r3, %r1;
done:
    ret;
"""


def test_dump_prints_each_pass():
    _, dump = load({"k": kernel(ADD)}, "plrc")
    passes = re.findall(r"^-- (\w+) k", dump, re.MULTILINE)
    assert passes == ["parsed", "lowered", "registers", "code"]
    parsed, low, registers, code = re.split(r"^-- \w+ k.*\n", dump, flags=re.MULTILINE)[
        1:
    ]
    assert "  add.u32 %" in parsed and ", 0x5;" in parsed and "L0:" in parsed
    assert re.search(r"add\.u32 .*\n    add_32 d=v\d+ a=v\d+ b=#\d+", low)
    assert re.search(r"add_32 d=@\d+ a=@\d+ b=#\d+", registers)
    assert re.search(r"^ +\d+ popc_32 d=\d+", code, re.MULTILINE)
    assert [name for name, _, _ in lowered(low)] == [
        "add",
        "setp",
        "bra",
        "popc",
        "ret",
    ]


def test_dump_is_silent_without_its_letter():
    assert load({"k": kernel(ADD)}, "")[1] == ""
    dump = load({"k": kernel(ADD)}, "c")[1]
    assert re.findall(r"^-- (\w+)", dump, re.MULTILINE) == ["code"]
