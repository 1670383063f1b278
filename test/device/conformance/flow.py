"""Control flow, barriers, fences, and the instructions that end a program."""

import numpy as np

from . import values
from .case import Kernel

THREADS = 128


def start(name, kinds="u32"):
    """Return a kernel with one input word for each thread."""
    kernel = Kernel(name)
    data = values.pad(values.unary("u32", name, count=64)[0], 64)[:THREADS]
    return kernel, kernel.load(kernel.input(data, "a"), "u32")


def branches():
    """Test a loop that each lane leaves in another iteration: bounded Collatz steps."""
    kernel, value = start("bra that diverges")
    steps, odd, limit = kernel.constant(0), kernel.reg("b32"), kernel.reg("b32")
    p, q = kernel.regs("pred", 2)
    top, even, join, out = (kernel.label() for _ in range(4))
    kernel(f"""and.b32 {value}, {value}, 0xffff;
               add.s32 {value}, {value}, 1;
               {top}:
               setp.le.u32 {p}, {value}, 1;
               @{p} bra {out};
               setp.gt.u32 {q}, {steps}, 150;
               @{q} bra {out};
               and.b32 {odd}, {value}, 1;
               setp.eq.s32 {p}, {odd}, 0;
               @{p} bra {even};
               mad.lo.s32 {value}, {value}, 3, 1;
               bra {join};
               {even}:
               shr.u32 {value}, {value}, 1;
               {join}:
               add.s32 {steps}, {steps}, 1;
               bra {top};
               {out}:
               add.s32 {limit}, {steps}, {value};""")
    kernel.keep("u32", steps, "steps")
    kernel.keep("u32", value, "value")
    yield kernel.case("flow", "bra")

    kernel, value = start("bra.uni")
    total, i = kernel.constant(0), kernel.constant(0)
    p, q = kernel.regs("pred", 2)
    top, skip, out = (kernel.label() for _ in range(3))
    kernel(f"""{top}:
               setp.ge.s32 {p}, {i}, 20;
               @{p} bra.uni {out};
               setp.lt.s32 {q}, {value}, {i};
               @!{q} bra {skip};
               add.s32 {total}, {total}, {value};
               {skip}:
               add.s32 {total}, {total}, {i};
               add.s32 {i}, {i}, 1;
               bra.uni {top};
               {out}:""")
    kernel.keep("u32", total)
    yield kernel.case("flow", "bra uni")

    kernel, value = start("brx.idx")
    choice, result = kernel.reg("b32"), kernel.constant(1000)
    names = [kernel.label() for _ in range(4)]
    out, targets = kernel.label(), kernel.label()
    kernel(f"""and.b32 {choice}, {value}, 3;
               {targets}: .branchtargets {", ".join(names)};
               brx.idx {choice}, {targets};""")
    for i, name in enumerate(names):
        kernel(f"""{name}:
                   add.s32 {result}, {result}, {i * i + 1};""")
        if i == 1:
            kernel(f"bra {out};")
    kernel(f"{out}:")
    kernel.keep("u32", result)
    yield kernel.case("flow", ())


SQUARE = """.func (.param .b32 result) {name}(.param .b32 value)
{{
.reg .b32 %r<3>;
ld.param.b32 %r1, [value];
mul.lo.s32 %r2, %r1, %r1;
st.param.b32 [result], %r2;
ret;
}}
.func (.param .b32 result) {name}_minus(.param .b32 value)
{{
.reg .b32 %r<3>;
ld.param.b32 %r1, [value];
sub.s32 %r2, 7, %r1;
st.param.b32 [result], %r2;
ret;
}}"""

FACTORIAL = """.func (.param .b32 result) {name}(.param .b32 value);
.func (.param .b32 result) {name}(.param .b32 value)
{{
.reg .b32 %r<6>;
.reg .pred %p<2>;
ld.param.b32 %r1, [value];
setp.gt.s32 %p1, %r1, 1;
@%p1 bra $L_more;
st.param.b32 [result], 1;
ret;
$L_more:
sub.s32 %r2, %r1, 1;
{{
.param .b32 given;
.param .b32 back;
st.param.b32 [given], %r2;
call (back), {name}, (given);
ld.param.b32 %r3, [back];
}}
mul.lo.s32 %r4, %r3, %r1;
st.param.b32 [result], %r4;
ret;
}}"""


def called(kernel, function, value, how="call.uni", rest=""):
    result = kernel.reg("b32")
    kernel(f"""{{
               .param .b32 given;
               .param .b32 back;
               st.param.b32 [given], {value};
               {how} (back), {function}, (given){rest};
               ld.param.b32 {result}, [back];
               }}""")
    return result


def calls():
    kernel, value = start("call.uni")
    name = f"{kernel.entry}_square"
    kernel.before.append(SQUARE.format(name=name))
    kernel.keep("u32", called(kernel, name, value))
    yield kernel.case("flow", "call uni")

    kernel, value = start("call that diverges")
    name = f"{kernel.entry}_square"
    kernel.before.append(SQUARE.format(name=name))
    p, skip, result = kernel.reg("pred"), kernel.label(), kernel.reg("b32")
    kernel(f"""mov.u32 {result}, {value};
               setp.lt.s32 {p}, {value}, 10;
               @{p} bra {skip};""")
    kernel(f"mov.u32 {result}, {called(kernel, name, value, 'call')};")
    kernel(f"{skip}:")
    kernel.keep("u32", result)
    yield kernel.case("flow", "call")

    kernel, value = start("call by address")
    name = f"{kernel.entry}_square"
    kernel.before.append(SQUARE.format(name=name))
    first, second, chosen = kernel.regs("b64", 3)
    p, prototype = kernel.reg("pred"), kernel.label()
    kernel(f"""mov.u64 {first}, {name};
               mov.u64 {second}, {name}_minus;
               setp.lt.s32 {p}, {value}, 3;
               selp.b64 {chosen}, {first}, {second}, {p};
               {prototype}: .callprototype (.param .b32 _) _ (.param .b32 _);""")
    kernel.keep("u32", called(kernel, chosen, value, "call", f", {prototype}"))
    yield kernel.case("flow", ())

    kernel, value = start("recursion")
    name = f"{kernel.entry}_factorial"
    kernel.before.append(FACTORIAL.format(name=name))
    small = kernel.reg("b32")
    kernel(f"and.b32 {small}, {value}, 15;")
    kernel.keep("u32", called(kernel, name, small, "call"))
    yield kernel.case("flow", ())


def endings():
    """Test conditional ret and exit. Lanes that exited must not write any more."""
    for word in ("ret", "exit"):
        kernel, value = start(f"{word} of some lanes")
        early = kernel.output(32, label="before")
        late = kernel.output(32, label="after")
        p, third = kernel.reg("pred"), kernel.reg("b32")
        kernel.store(early, "u32", value)
        kernel(f"""rem.u32 {third}, {kernel.tid}, 3;
                   setp.eq.s32 {p}, {third}, 1;
                   @{p} {word};""")
        kernel.store(late, "u32", value)
        yield kernel.case("flow", word)

    kernel, value = start("exit within a function")
    name = f"{kernel.entry}_leave"
    kernel.before.append(
        f".func {name}(.param .b32 value)\n{{\n.reg .b32 %r<2>;\n.reg .pred %p<2>;\n"
        "ld.param.b32 %r1, [value];\nsetp.lt.s32 %p1, %r1, 5;\n@%p1 exit;\nret;\n}"
    )
    late = kernel.output(32, label="after")
    kernel(f"""{{
               .param .b32 given;
               st.param.b32 [given], {value};
               call {name}, (given);
               }}""")
    kernel.store(late, "u32", value)
    yield kernel.case("flow", ())

    for word in ("trap", "brkpt"):
        kernel, value = start(f"{word} that no lane reaches")
        p, negative = kernel.reg("pred"), kernel.reg("b32")
        kernel(f"""and.b32 {negative}, {value}, 1;
                   setp.gt.u32 {p}, {negative}, 1;
                   @{p} {word};""")
        kernel.keep("u32", value)
        yield kernel.case("flow", word)
    kernel, value = start("trap")
    p = kernel.reg("pred")
    kernel(f"setp.eq.s32 {p}, {kernel.tid}, 3;\n@{p} trap;")
    kernel.keep("u32", value)
    yield kernel.case("flow", (), fails=True)


def barriers():
    kernel, value = start("bar.sync")
    kernel.variables.append(".shared .align 4 .u32 near[128];")
    near, other = kernel.reg("b64"), kernel.reg("b32")
    kernel(f"mov.u64 {near}, near;")
    mine = kernel.at(near, 4, kernel.tid)
    running = value
    for step in (1, 16, 32, 96, 127):
        got, total = kernel.regs("b32", 2)
        kernel(f"""st.shared.u32 [{mine}], {running};
                   bar.sync 0;
                   xor.b32 {other}, {kernel.tid}, {step};""")
        kernel(f"""ld.shared.u32 {got}, [{kernel.at(near, 4, other)}];
                   bar.sync 1;
                   mad.lo.s32 {total}, {got}, 3, {running};""")
        running = total
    kernel.keep("u32", running)
    yield kernel.case("barrier", "bar sync", block=THREADS)

    for form, pair in (
        ("red.and.pred", "bar red.and.pred"),
        ("red.or.pred", "bar red.or.pred"),
        ("red.popc.u32", "bar red.popc.u32"),
    ):
        kernel, value = start(f"bar.{form}")
        p = kernel.reg("pred")
        for limit in (0, 1, 64, 127, 128, 1000):
            kind = "pred" if form.endswith("pred") else "u32"
            d = kernel.reg("pred" if kind == "pred" else "b32")
            kernel(f"""setp.lt.u32 {p}, {kernel.tid}, {limit};
                       bar.{form} {d}, 0, {p};""")
            kernel.keep(kind, d, f"below {limit}")
        d = kernel.reg("pred" if kind == "pred" else "b32")
        kernel(f"""setp.lt.s32 {p}, {value}, 10;
                   bar.{form} {d}, 2, !{p};""")
        kernel.keep(kind, d, "data")
        yield kernel.case("barrier", pair, block=THREADS)

    yield warp_barrier()
    yield named_barriers()
    yield phase_barrier()


def warp_barrier():
    """Let all lanes of a warp exchange words, and then only some of them."""
    kernel, value = start("bar.warp.sync")
    kernel.variables.append(".shared .align 4 .u32 near[128];")
    near, other, got, low = kernel.reg("b64"), *kernel.regs("b32", 3)
    p, out = kernel.reg("pred"), kernel.label()
    kernel(f"mov.u64 {near}, near;\nand.b32 {low}, {kernel.tid}, 31;")
    mine = kernel.at(near, 4, kernel.tid)
    kernel(f"""st.shared.u32 [{mine}], {value};
               bar.warp.sync 0xffffffff;
               xor.b32 {other}, {kernel.tid}, 5;""")
    kernel(f"""ld.shared.u32 {got}, [{kernel.at(near, 4, other)}];
               bar.warp.sync -1;
               setp.ge.u32 {p}, {low}, 16;
               @{p} bra {out};
               add.s32 {got}, {got}, 1;
               st.shared.u32 [{mine}], {got};
               bar.warp.sync 0xffff;""")
    kernel(f"""xor.b32 {other}, {kernel.tid}, 9;
               ld.shared.u32 {got}, [{kernel.at(near, 4, other)}];
               {out}:""")
    kernel.keep("u32", got)
    return kernel.case("barrier", "bar warp.sync", block=THREADS)


def named_barriers():
    """Test barrier.sync with a count: the halves of a block synchronize separately."""
    kernel, value = start("barrier.sync")
    kernel.variables.append(".shared .align 4 .u32 near[128];")
    near, other, got = kernel.reg("b64"), *kernel.regs("b32", 2)
    p, second, out = kernel.reg("pred"), kernel.label(), kernel.label()
    which = kernel.reg("b32")
    kernel(f"mov.u64 {near}, near;")
    kernel(f"""st.shared.u32 [{kernel.at(near, 4, kernel.tid)}], {value};
               shr.u32 {which}, {kernel.tid}, 6;
               add.s32 {which}, {which}, 3;
               xor.b32 {other}, {kernel.tid}, 33;
               setp.ge.u32 {p}, {kernel.tid}, 64;
               @{p} bra {second};
               barrier.sync 1, 64;
               bra {out};
               {second}:
               barrier.sync 2, 64;
               {out}:""")
    kernel(f"""ld.shared.u32 {got}, [{kernel.at(near, 4, other)}];
               barrier.sync {which}, 64;
               barrier.sync 0;""")
    kernel.keep("u32", got)
    return kernel.case("barrier", "barrier sync", block=THREADS)


def phase_barrier():
    """Test an mbarrier: one thread initializes it, all arrive and wait for a phase."""
    kernel, value = start("mbarrier")
    kernel.variables += [
        ".shared .align 4 .u32 near[128];",
        ".shared .align 8 .b64 object;",
    ]
    near, object_, state = kernel.regs("b64", 3)
    p, q, skip = kernel.reg("pred"), kernel.reg("pred"), kernel.label()
    other, got = kernel.regs("b32", 2)
    kernel(f"""mov.u64 {near}, near;
               mov.u64 {object_}, object;
               setp.ne.s32 {p}, {kernel.tid}, 0;
               @{p} bra {skip};
               mbarrier.init.shared.b64 [{object_}], {THREADS};
               {skip}:
               bar.sync 0;""")
    mine = kernel.at(near, 4, kernel.tid)
    running = value
    for step in (1, 96):
        again, total = kernel.label(), kernel.reg("b32")
        kernel(f"""st.shared.u32 [{mine}], {running};
                   mbarrier.arrive.shared.b64 {state}, [{object_}];
                   {again}:
                   mbarrier.test_wait.shared.b64 {q}, [{object_}], {state};
                   @!{q} bra {again};
                   xor.b32 {other}, {kernel.tid}, {step};""")
        kernel(f"""ld.shared.u32 {got}, [{kernel.at(near, 4, other)}];
                   bar.sync 0;
                   add.s32 {total}, {got}, {running};""")
        running = total
    kernel.keep("u32", running)
    return kernel.case("barrier", (), block=THREADS, target=80)


def fences():
    """Write a word, a fence and a flag, within a block and between blocks."""
    for text in (
        "membar.cta",
        "membar.gl",
        "membar.sys",
        "fence.sc.gpu",
        "fence.sc.sys",
        "fence.acq_rel.cta",
        "fence.acq_rel.gpu",
    ):
        kernel, value = start(text)
        room = kernel.output(32, label="word", data=np.zeros(THREADS, np.uint32))
        tickets = kernel.output(32, label="tickets", data=np.zeros(4, np.uint32))
        kernel.store(room, "u32", value)
        was, back = kernel.regs("b32", 2)
        kernel(f"""{text};
                   atom.global.add.u32 {was}, [{tickets}], 1;
                   {text};
                   ld.volatile.global.u32 {back}, [{kernel.at(room, 4)}];""")
        kernel.keep("u32", back)
        in_list = not text.startswith("fence.acq_rel")
        op, _, rest = text.partition(".")
        yield kernel.case("hint", f"{op} {rest}" if in_list else ())
    kernel, value = start("nanosleep")
    kernel(f"nanosleep.u32 100;\nnanosleep.u32 {kernel.constant(5)};")
    kernel.keep("u32", value)
    yield kernel.case("hint", "nanosleep u32")


def cases():
    yield from branches()
    yield from calls()
    yield from endings()
    yield from barriers()
    yield from fences()
