"""mbarrier, and the copies that tell it: cp.async.bulk, cp.reduce.async.bulk.

All copies are begun by thread 0. The others wait at the mbarrier, or at a barrier after
thread 0 has waited for its group.
"""

import dataclasses

import numpy as np

from . import values
from .case import Kernel

THREADS = 128
FAMILY = "copies"

#: cp.reduce.async.bulk to global memory: operations and their types.
TO_GLOBAL = {
    "add": ("u32", "s32", "u64", "f32", "f64", "f16", "bf16"),
    "min": ("u32", "s32", "u64", "s64", "f16", "bf16"),
    "max": ("u32", "s32", "u64", "s64", "f16", "bf16"),
    "inc": ("u32",),
    "dec": ("u32",),
    "and": ("b32", "b64"),
    "or": ("b32", "b64"),
    "xor": ("b32", "b64"),
}

#: The same to shared memory.
TO_SHARED = {
    "add": ("u32", "s32", "u64"),
    "min": ("u32", "s32"),
    "max": ("u32", "s32"),
    "inc": ("u32",),
    "dec": ("u32",),
    "and": ("b32",),
    "or": ("b32",),
    "xor": ("b32",),
}

SIGNAL = "mbarrier::complete_tx::bytes"


class Copier(Kernel):
    """A kernel with two ranges of shared memory and an mbarrier for one arrival."""

    def __init__(self, name, size):
        super().__init__(name)
        self.threads = THREADS
        self.variables += [
            f".shared .align 128 .b8 near[{size}];",
            f".shared .align 128 .b8 other[{size}];",
            ".shared .align 8 .b64 object;",
        ]
        self.near, self.other, self.object = (
            self.symbol(name) for name in ("near", "other", "object")
        )

    def symbol(self, name):
        register = self.reg("b32")
        self(f"mov.u32 {register}, {name};")
        return register

    def by_one(self, text):
        """Let thread 0 run instructions, and then all threads meet."""
        p, skip = self.reg("pred"), self.label()
        self(f"setp.ne.u32 {p}, {self.tid}, 0; @{p} bra {skip};")
        self(text)
        self(f"{skip}: bar.sync 0;")

    def expect(self, size):
        self.by_one(f"""mbarrier.init.shared::cta.b64 [{self.object}], 1;
                        fence.proxy.async.shared::cta;
                        mbarrier.arrive.expect_tx.shared::cta.b64 _, [{self.object}],
                            {size};""")

    def wait(self, parity=0):
        p, again = self.reg("pred"), self.label()
        self(f"""{again}: mbarrier.try_wait.parity.shared::cta.b64 {p},
                     [{self.object}], {parity};
                 @!{p} bra {again};""")

    def move(self, shared, memory, size, to_shared):
        """Copy words between shared and global memory by all threads."""
        for start in range(0, size, 4 * THREADS):
            word, offset = self.regs("b32", 2)
            far, wide = self.regs("b64", 2)
            near = self.reg("b32")
            self(f"""mad.lo.u32 {offset}, {self.tid}, 4, {start};
                     add.u32 {near}, {shared}, {offset};
                     cvt.u64.u32 {wide}, {offset};
                     add.u64 {far}, {memory}, {wide};""")
            if to_shared:
                self(f"""ld.global.u32 {word}, [{far}];
                         st.shared.u32 [{near}], {word};""")
            else:
                self(f"""ld.shared.u32 {word}, [{near}];
                         st.global.u32 [{far}], {word};""")
        if to_shared:
            self("fence.proxy.async.shared::cta; bar.sync 0;")

    def end(self, **options):
        return self.case(FAMILY, (), block=THREADS, target=90, **options)


def words(name, count):
    return values.random_bits(values.source(name), 32, count)


def ranges():
    """Copies of bytes, in each direction and of several sizes."""
    for size in (16, 512, 2048):
        data = words("bulk", 512)
        kernel = Copier(f"cp.async.bulk to shared {size}", 2048)
        source = kernel.input(data)
        kernel.move(kernel.near, source, 2048, True)
        kernel.expect(size)
        kernel.by_one(f"""cp.async.bulk.shared::cluster.global.{SIGNAL}
            [{kernel.near}], [{source}+{2048 - size}], {size}, [{kernel.object}];""")
        kernel.wait()
        kernel.move(kernel.near, kernel.output(32, 512), 2048, False)
        yield kernel.end()

    kernel = Copier("cp.async.bulk to global", 2048)
    kernel.move(kernel.near, kernel.input(words("bulk", 512)), 2048, True)
    target = kernel.output(32, 512)
    kernel.by_one(f"""
        cp.async.bulk.global.shared::cta.bulk_group [{target}+16], [{kernel.near}], 32;
        cp.async.bulk.commit_group;
        cp.async.bulk.global.shared::cta.bulk_group
            [{target}+1024], [{kernel.near}+512], 1024;
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group.read 1;
        cp.async.bulk.wait_group 0;""")
    yield kernel.end()


def operands(op, kind):
    """Values in memory, and the operands of the reduction: as many as fit in 2 KB."""
    count = 2048 * 8 // values.width(kind)
    name = f"bulk {op} {kind}"
    if op in ("inc", "dec"):
        rng = values.source(name)
        old, bound = values.random_bits(rng, 8, 2 * count).reshape(2, count) % 7
        return old.astype(np.uint32), bound.astype(np.uint32)
    pair = values.binary(kind.replace("b", "u") if kind[0:2] != "bf" else kind, name)
    pick = values.source(name).permutation(len(pair[0]))
    return [np.resize(part[pick], count) for part in pair]


def reductions():
    for op, kinds in TO_GLOBAL.items():
        for kind in kinds:
            memory, operand = operands(op, kind)
            suffix = ".noftz" if op == "add" and kind in ("f16", "bf16") else ""
            kernel = Copier(f"cp.reduce.async.bulk to global {op} {kind}", 2048)
            kernel.move(kernel.near, kernel.input(operand), 2048, True)
            target = kernel.output(values.width(kind), data=memory)
            kernel.by_one(f"""
                cp.reduce.async.bulk.global.shared::cta.bulk_group.{op}{suffix}.{kind}
                    [{target}], [{kernel.near}], 2048;
                cp.async.bulk.commit_group;
                cp.async.bulk.wait_group 0;""")
            yield kernel.end()


class Pair(Copier):
    """A kernel for two blocks of a cluster: each copies to the other, or to itself."""

    def __init__(self, name, size, own=False):
        super().__init__(name, size)
        self.threads = 2 * THREADS
        rank = self.special("%cluster_ctarank")
        if not own:
            self(f"xor.b32 {rank}, {rank}, 1;")
        self.far, self.far_object = self.regs("b32", 2)
        for target, source in ((self.far, self.other), (self.far_object, self.object)):
            self(f"mapa.shared::cluster.u32 {target}, {source}, {rank};")

    def meet(self):
        """The blocks wait for each other."""
        self("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;")

    def parts(self, array, size):
        """The address of this block's part of an array."""
        block, offset = self.special("%ctaid.x"), self.reg("b64")
        self(f"""mul.wide.u32 {offset}, {block}, {size};
                 add.u64 {array}, {array}, {offset};""")
        return array

    def end(self, **options):
        self.meet()
        case = super().end(**options)
        text = case.text.replace("\n)\n{", "\n)\n.reqnctapercluster 2, 1, 1\n{")
        return dataclasses.replace(case, text=text)


def between_blocks():
    """Copies and reductions from shared memory to that of the other block."""
    yield pair("copy", "", words("bulk", 1024), words("bulk 2", 1024))
    for op, kinds in TO_SHARED.items():
        for kind in kinds:
            memory, operand = (
                np.resize(part, 4096 // part.itemsize) for part in operands(op, kind)
            )
            yield pair(f"{op} {kind}", f".{op}.{kind}", operand, memory)


def pair(name, suffix, operand, memory, own=False, **options):
    kernel = Pair(f"cp.async.bulk to shared {name}", 2048, own)
    kernel.move(kernel.near, kernel.parts(kernel.input(operand), 2048), 2048, True)
    memory = kernel.parts(kernel.input(memory, "memory"), 2048)
    kernel.move(kernel.other, memory, 2048, True)
    kernel.threads = 2 * THREADS
    kernel.expect(2048)
    kernel.meet()
    reduce = "reduce." if suffix else ""
    kernel.by_one(f"""
        cp.{reduce}async.bulk.shared::cluster.shared::cta.{SIGNAL}{suffix}
            [{kernel.far}], [{kernel.near}], 2048, [{kernel.far_object}];""")
    kernel.wait()
    out = kernel.parts(kernel.output(32, 1024), 2048)
    kernel.move(kernel.other, out, 2048, False)
    return kernel.end(**options)


def to_oneself():
    """A copy from shared memory to shared memory of the same block."""
    data = words("bulk", 1024), words("bulk 2", 1024)
    yield pair("of the block itself", "", *data, own=True, ends=True)


#: Instructions of one thread on an object for three arrivals. %s: the object. The
#: predicate p or the number n of an instruction is stored after it.
STEPS = """
mbarrier.test_wait.parity.shared::cta.b64 p, [%s], 0;
mbarrier.test_wait.parity.shared::cta.b64 p, [%s], 1;
mbarrier.arrive.shared::cta.b64 s, [%s];
mbarrier.test_wait.shared::cta.b64 p, [%s], s;
mbarrier.pending_count.b64 n, s;
mbarrier.arrive.noComplete.release.cta.shared::cta.b64 s, [%s], 1;
mbarrier.pending_count.b64 n, s;
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%s], 48;
mbarrier.arrive.release.cta.shared::cta.b64 s, [%s];
mbarrier.test_wait.acquire.cta.shared::cta.b64 p, [%s], s;
mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%s], 32;
mbarrier.test_wait.shared::cta.b64 p, [%s], s;
mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%s], 16;
mbarrier.test_wait.shared::cta.b64 p, [%s], s;
mbarrier.try_wait.parity.shared::cta.b64 p, [%s], 0;
mbarrier.test_wait.parity.shared::cta.b64 p, [%s], 1;
mbarrier.arrive_drop.shared::cta.b64 s, [%s];
mbarrier.arrive.expect_tx.shared::cta.b64 s, [%s], 64;
mbarrier.arrive.shared::cta.b64 s, [%s];
mbarrier.test_wait.shared::cta.b64 p, [%s], s;
mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%s], 64;
mbarrier.test_wait.shared::cta.b64 p, [%s], s;
mbarrier.arrive.shared::cta.b64 s, [%s], 2;
mbarrier.test_wait.shared::cta.b64 p, [%s], s;
mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%s], 16;
mbarrier.arrive.shared::cta.b64 s, [%s], 2;
mbarrier.test_wait.shared::cta.b64 p, [%s], s;
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%s], 16;
mbarrier.test_wait.shared::cta.b64 p, [%s], s;
mbarrier.arrive_drop.expect_tx.shared::cta.b64 s, [%s], 16;
cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%s];
mbarrier.test_wait.shared::cta.b64 p, [%s], s;
mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%s], 16;
mbarrier.test_wait.shared::cta.b64 p, [%s], s;
cp.async.mbarrier.arrive.shared::cta.b64 [%s];
mbarrier.arrive.shared::cta.b64 s, [%s];
mbarrier.test_wait.shared::cta.b64 p, [%s], s;
mbarrier.inval.shared::cta.b64 [%s];
"""


def phases():
    """The tests of one thread, after each kind of arrival and each number of bytes."""
    kernel = Copier("mbarrier of one thread", 128)
    steps = STEPS.strip().splitlines()
    told = [line for line in steps if " p," in line or " n," in line]
    out = kernel.output(32, len(told))
    state, p, number = kernel.reg("b64"), kernel.reg("pred"), kernel.reg("b32")
    lines = [f"mbarrier.init.shared::cta.b64 [{kernel.object}], 3;"]
    place = 0
    for line in steps:
        text = line.replace("%s", kernel.object).replace(" s,", f" {state},")
        text = text.replace(", s;", f", {state};").replace(" p,", f" {p},")
        lines.append(text.replace(" n,", f" {number},"))
        if " p," in line:
            lines.append(f"selp.u32 {number}, 1, 0, {p};")
        if line in told:
            lines.append(f"st.global.u32 [{out}+{4 * place}], {number};")
            place += 1
    kernel.by_one("\n".join(lines))
    yield kernel.end()


def multicasts():
    """A copy to both blocks of a cluster, and arrivals at the mbarrier of the other."""
    kernel = Pair("cp.async.bulk multicast", 512)
    source = kernel.input(words("multicast", 128))
    kernel.threads = 2 * THREADS
    p, blocks, skip = kernel.reg("pred"), kernel.reg("b16"), kernel.label()
    kernel.by_one(f"""mbarrier.init.shared::cta.b64 [{kernel.object}], 2;
        fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [{kernel.object}], 512;""")
    kernel.meet()
    kernel(f"""mov.b16 {blocks}, 3;
        setp.ne.u32 {p}, {kernel.tid}, 0;
        @{p} bra {skip};
        mbarrier.arrive.release.cluster.shared::cluster.b64 _, [{kernel.far_object}];
        setp.ne.u32 {p}, {kernel.special("%cluster_ctarank")}, 1;
        @{p} bra {skip};
        cp.async.bulk.shared::cluster.global.{SIGNAL}.multicast::cluster
            [{kernel.near}], [{source}], 512, [{kernel.object}], {blocks};
        {skip}:""")
    kernel.wait()
    kernel.keep("u32", near_word(kernel))
    yield kernel.end()


def near_word(kernel):
    address, word = kernel.regs("b32", 2)
    kernel(f"""mad.lo.u32 {address}, {kernel.tid}, 4, {kernel.near};
               ld.shared.u32 {word}, [{address}];""")
    return word


def cases():
    for make in (ranges, reductions, phases, between_blocks, multicasts, to_oneself):
        yield from make()
