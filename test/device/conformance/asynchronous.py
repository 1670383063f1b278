"""st.async, red.async, and cp.async with a predicate.

A kernel of st.async or red.async has two blocks, which are a cluster. Each thread
writes to the memory of the other block. An mbarrier of each block counts the bytes that
arrive, and all threads wait for its first phase.
"""

import dataclasses

from . import values
from .case import Kernel, register_class

STORES = "b32 u64 f32 f64 v2.b32 v2.s64 v4.f32 v4.u32"

REDUCTIONS = """
inc.u32 dec.u32 min.u32 max.u32 add.u32 min.s32 max.s32 add.s32 add.u64 and.b32 or.b32
xor.b32
"""

#: Threads of a block, and of the two blocks.
BLOCK = 64
THREADS = 2 * BLOCK

MEET = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"


def begin(kernel, size):
    """Make the mbarrier, and variables for `size` bytes of each thread.

    Return three addresses: this thread's part, that of the same thread in the other
    block, and the other block's mbarrier.
    """
    kernel.variables += [
        ".shared .align 8 .b64 object;",
        f".shared .align 16 .b8 room[{BLOCK * 16}];",
    ]
    first, state = kernel.reg("pred"), kernel.reg("b64")
    near, far, there = kernel.regs("b32", 3)
    rank = kernel.special("%cluster_ctarank")
    kernel(f"""setp.eq.u32 {first}, {kernel.tid}, 0;
               @{first} mbarrier.init.shared::cta.b64 [object], 1;
               @{first} fence.mbarrier_init.release.cluster;
               bar.sync 0;
               @{first} mbarrier.arrive.expect_tx.shared::cta.b64 {state}, [object],
               {size * BLOCK};
               xor.b32 {rank}, {rank}, 1;
               mov.u32 {there}, object;
               mapa.shared::cluster.u32 {there}, {there}, {rank};
               mov.u32 {near}, room;
               mad.lo.u32 {near}, {kernel.tid}, {size}, {near};
               mapa.shared::cluster.u32 {far}, {near}, {rank};""")
    return near, far, there


def wait(kernel):
    """Wait for the first phase."""
    over, again = kernel.reg("pred"), kernel.label()
    kernel(f"""{again}:
               mbarrier.try_wait.parity.shared::cta.b64 {over}, [object], 0;
               @!{over} bra {again};""")


def end(kernel):
    """Return the case, whose blocks leave together."""
    kernel(MEET)
    case = kernel.case("asynchronous", (), block=BLOCK, threads=THREADS, target=90)
    text = case.text.replace("\n)\n{", "\n)\n.reqnctapercluster 2, 1, 1\n{")
    return dataclasses.replace(case, text=text)


def store(form):
    kind = form.rpartition(".")[2]
    count = int(form[1]) if form.startswith("v") else 1
    size = count * values.width(kind) // 8
    kernel = Kernel(f"st.async.{form}")
    names = []
    for column in range(count):
        data = values.ternary(kind, f"st.async {form} {column}", THREADS)[0]
        names.append(kernel.load(kernel.input(data, f"value {column}"), kind))
    near, far, there = begin(kernel, size)
    source = f"{{{', '.join(names)}}}" if count > 1 else names[0]
    words = "weak.shared::cluster.mbarrier::complete_tx::bytes"
    kernel(MEET)
    kernel(f"st.async.{words}.{form} [{far}], {source}, [{there}];")
    wait(kernel)
    cls = register_class(kind)
    for column in range(count):
        got = kernel.reg(cls)
        at = column * values.width(kind) // 8
        kernel(f"ld.shared.{kind} {got}, [{near}+{at}];")
        kernel.keep(kind, got, f"element {column}", THREADS)
    return end(kernel)


def reduction(form):
    op, kind = form.split(".")
    size = values.width(kind) // 8
    kernel = Kernel(f"red.async.{form}")
    memory, operand = values.ternary(kind, f"red.async {form}", THREADS)[:2]
    if op in ("inc", "dec"):
        memory, operand = memory % 9, operand % 9
    value = kernel.load(kernel.input(operand, "operand"), kind)
    old = kernel.load(kernel.input(memory, "memory"), kind)
    near, far, there = begin(kernel, size)
    words = "relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes"
    kernel(f"st.shared.{kind} [{near}], {old};")
    kernel(MEET)
    kernel(f"red.async.{words}.{form} [{far}], {value}, [{there}];")
    wait(kernel)
    kernel(f"ld.shared.{kind} {old}, [{near}];")
    kernel.keep(kind, old, count=THREADS)
    return end(kernel)


def copy(size):
    """cp.async with a predicate: true for odd threads, which get zeros."""
    mode = "cg" if size == 16 else "ca"
    kernel = Kernel(f"cp.async.{mode} {size} with a predicate")
    words = values.random_bits(values.source("cp.async predicate"), 32, 4 * BLOCK)
    base = kernel.input(words, "in")
    kernel.threads = BLOCK
    kernel.variables += [f".shared .align 16 .b8 room[{BLOCK * 16}];"]
    near, bit = kernel.regs("b32", 2)
    skip, from_ = kernel.reg("pred"), kernel.at(base, 16)
    kernel(f"""mov.u32 {near}, room;
               mad.lo.u32 {near}, {kernel.tid}, 16, {near};
               st.shared.v2.b64 [{near}], {{-1, -1}};
               and.b32 {bit}, {kernel.tid}, 1;
               setp.ne.u32 {skip}, {bit}, 0;
               cp.async.{mode}.shared.global [{near}], [{from_}], {size}, {skip};
               cp.async.wait_all;""")
    for at in range(0, 16, 4):
        got = kernel.reg("b32")
        kernel(f"ld.shared.b32 {got}, [{near}+{at}];")
        kernel.keep("u32", got, f"byte {at}", BLOCK)
    return kernel.case("asynchronous", (), threads=BLOCK, target=90)


def cases():
    for form in STORES.split():
        yield store(form)
    for form in REDUCTIONS.split():
        yield reduction(form)
    for size in (4, 8, 16):
        yield copy(size)
