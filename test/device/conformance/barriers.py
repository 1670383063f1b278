"""Barriers of a part of a block: with counts, by parts of warps, after exits.

Where the manual is silent, the answer of a GPU decides. Some kernels never end on a
GPU, so the way a launch ends (success, error, never) is a part of the answer.
"""

import numpy as np

from .case import Kernel

#: How many results each thread stores at the end of the kernel.
RESULTS = 3

#: The initial value of the results. Threads that exit early do not store any.
UNTOUCHED = 0x77777777


def case(name, threads, text):
    """Make a case from the text of a kernel.

    The fields of the text: {tid}, {warp} and {lane} are the thread's numbers. {p}, {q}
    and {s} are predicates: p is true in the lower half of a warp, q in odd threads, and
    s is free. {n} and {m} are words, {a} and {b} addresses, {d0} to {d2} the results.
    {near} is the address of 256 words of shared memory, {mine} that of the thread's own
    word. {A}, {B} and {C} are labels.
    """
    kernel = Kernel(name)
    kernel.threads = threads
    names = {"tid": kernel.tid, "warp": kernel.reg("b32"), "lane": kernel.reg("b32")}
    names |= dict(zip("pqs", kernel.regs("pred", 3), strict=True))
    names |= dict(zip("nm", kernel.regs("b32", 2), strict=True))
    names |= dict(zip("ab", kernel.regs("b64", 2), strict=True))
    names |= {letter: kernel.label() for letter in "ABC"}
    results = kernel.regs("b32", RESULTS)
    names |= {f"d{i}": register for i, register in enumerate(results)}
    bases = [
        kernel.output(
            32, threads, f"d{i}", np.full(threads, UNTOUCHED, dtype=np.uint32)
        )
        for i in range(RESULTS)
    ]
    if "{near}" in text or "{mine}" in text:
        kernel.variables.append(".shared .align 4 .u32 near[256];")
        names["near"] = kernel.reg("b64")
        kernel(f"mov.u64 {names['near']}, near;")
        names["mine"] = kernel.at(names["near"], 4, kernel.tid)
    start = """shr.u32 {warp}, {tid}, 5;
               and.b32 {lane}, {tid}, 31;
               setp.lt.u32 {p}, {lane}, 16;
               and.b32 {n}, {tid}, 1;
               setp.ne.u32 {q}, {n}, 0;"""
    kernel(start.format(**names))
    for register in results:
        kernel(f"mov.u32 {register}, 0;")
    kernel(text.format(**names))
    for base, register in zip(bases, results, strict=True):
        kernel.store(base, "u32", register)
    return kernel.case("barrier", (), block=threads, threads=threads, ends=True)


#: A wait of some microseconds, so that the others reach the barrier first.
WAIT = "\n".join(["nanosleep.u32 20000;"] * 3)

#: Set {s} in the threads of the first warp.
FIRST_WARP = "setp.lt.u32 {s}, {tid}, 32;"


def two_ways(where_false, where_true, then, predicate="{s}"):
    """Return text that branches by the predicate, then continues in common."""
    return f"""@{predicate} bra {{A}};
               {where_false}
               bra {{B}};
               {{A}}:
               {where_true}
               {{B}}:
               {then}"""


def by_warp(others, first, then):
    """Return text with one way for the first warp and one for the other warps."""
    return f"{FIRST_WARP}\n{two_ways(others, first, then)}"


def counts():
    """Each thread arrives once. The count is below, equal to or above their number."""
    for op in ("bar.sync", "barrier.sync"):
        for threads in (16, 48, 64, 80):
            for count in (32, 64, 96):
                text = f"{op} 1, {count};\nmov.u32 {{d0}}, 1;"
                yield case(f"{op} 1, {count} of {threads} threads", threads, text)
        for count in (0, 1, 16, 33, 48, 63, 1024, 1056, 4096, 0xFFFFFFFF):
            text = f"mov.u32 {{n}}, {count};\n{op} 1, {{n}};\nmov.u32 {{d0}}, 1;"
            yield case(f"{op} 1 with a count of {count} by register", 64, text)
        for number in (1, 15, 16, 17, 255, 0x80000001):
            text = f"mov.u32 {{n}}, {number};\n{op} {{n}};\nmov.u32 {{d0}}, 1;"
            yield case(f"{op} of number {number} by register", 48, text)
    for op in (
        "bar.cta.sync", "barrier.cta.sync", "barrier.cta.sync.aligned",
        "barrier.sync.aligned",
    ):  # fmt: skip
        for threads in (48, 64, 80):
            text = f"""st.shared.u32 [{{mine}}], {{tid}};
                       {op} 1, 64;
                       ld.shared.u32 {{d0}}, [{{near}}+128];"""
            yield case(f"{op} 1, 64 of {threads} threads", threads, text)


EXITS = {
    # words: (number of threads, instruction that sets {s} in threads that exit)
    "half of a warp left": (64, "setp.ge.u32 {s}, {tid}, 48;"),
    "half of each warp left": (64, "not.pred {s}, {p};"),
    "odd threads left": (64, "mov.pred {s}, {q};"),
    "a warp left": (64, "setp.ge.u32 {s}, {tid}, 32;"),
    "a part of a warp left": (48, "setp.ge.u32 {s}, {tid}, 40;"),
    "the short warp left": (48, "setp.ge.u32 {s}, {tid}, 32;"),
}


def exits():
    for words, (threads, leaving) in EXITS.items():
        for barrier in ("bar.sync 1, 64", "barrier.sync 1, 64", "bar.sync 0"):
            yield case(
                f"{barrier} after {words}",
                threads,
                f"{leaving}\n@{{s}} exit;\n{barrier};\nmov.u32 {{d0}}, 1;",
            )
            yield case(
                f"{barrier} before {words}",
                threads,
                f"""{leaving}
                    @!{{s}} bra {{A}};
                    {WAIT}
                    exit;
                    {{A}}:
                    {barrier};
                    mov.u32 {{d0}}, 1;""",
            )


def parts():
    """Parts of a warp arrive at a barrier at different instructions, or alone."""
    for op in ("bar.sync", "barrier.sync"):
        yield case(
            f"{op} 0 at two places",
            64,
            "st.shared.u32 [{mine}], {tid};\n"
            + two_ways(
                f"{op} 0;\nld.shared.u32 {{d0}}, [{{near}}];",
                f"{op} 0;\nld.shared.u32 {{d0}}, [{{near}}+252];",
                "mov.u32 {d1}, 1;",
                predicate="{p}",
            ),
        )
        for count in (32, 64):
            yield case(
                f"{op} 1, {count} at two places",
                64,
                two_ways(
                    f"{op} 1, {count};\nmov.u32 {{d0}}, 1;",
                    f"{op} 1, {count};\nmov.u32 {{d0}}, 2;",
                    "mov.u32 {d1}, 1;",
                    predicate="{p}",
                ),
            )
            if op == "bar.sync":
                continue  # undefined: .aligned, but only a part of a warp arrives
            yield case(
                f"{op} 1, {count} of half of each warp",
                64,
                f"""@!{{p}} bra {{A}};
                    {op} 1, {count};
                    mov.u32 {{d0}}, 1;
                    {{A}}:
                    bar.sync 0;
                    mov.u32 {{d1}}, 1;""",
            )
            yield case(
                f"{op} 1, {count} and 2, {count} of halves of each warp",
                64,
                two_ways(
                    f"{op} 1, {count};\nmov.u32 {{d0}}, 1;",
                    f"{op} 2, {count};\nmov.u32 {{d0}}, 2;",
                    "mov.u32 {d1}, 1;",
                    predicate="{p}",
                ),
            )
        yield case(
            f"{op} 1, 32 under a predicate of a part of a warp",
            48,
            f"@{{p}} {op} 1, 32;\nmov.u32 {{d0}}, 1;",
        )
        yield case(
            f"{op} 1, 32 under a predicate of a warp",
            64,
            f"""setp.lt.u32 {{s}}, {{tid}}, 32;
                @{{s}} {op} 1, 32;
                mov.u32 {{d0}}, 1;""",
        )
        yield case(
            f"{op} with numbers that differ in a warp",
            64,
            f"""selp.u32 {{n}}, 1, 2, {{p}};
                {op} {{n}}, 32;
                mov.u32 {{d0}}, 1;""",
        )
        yield case(
            f"{op} of which one half has a count",
            64,
            by_warp(f"{op} 1;", f"{op} 1, 64;", "mov.u32 {d0}, 1;"),
        )


def arrivals():
    for prefix in ("bar", "barrier", "barrier.cta"):
        for threads in (48, 64, 80, 96):
            need = -(-threads // 32) * 32
            yield case(
                f"{prefix}.arrive of all but a warp, {threads} threads",
                threads,
                "st.shared.u32 [{mine}], {tid};\n"
                + by_warp(
                    f"{prefix}.arrive 1, {need};",
                    f"""{prefix}.sync 1, {need};
                        ld.shared.u32 {{d0}}, [{{near}}+{4 * threads - 4}];""",
                    "mov.u32 {d1}, 1;",
                ),
            )
    for prefix in ("bar", "barrier"):
        yield case(
            f"{prefix}.arrive twice",
            64,
            by_warp(
                f"{prefix}.arrive 1, 96;\n{prefix}.arrive 1, 96;",
                f"{prefix}.sync 1, 96;\nmov.u32 {{d0}}, 1;",
                "mov.u32 {d1}, 1;",
            ),
        )
        yield case(
            f"{prefix}.arrive that completes, then sync",
            64,
            f"{prefix}.arrive 1, 64;\n{prefix}.sync 1, 64;\nmov.u32 {{d0}}, 1;",
        )
        yield case(
            f"{prefix}.arrive that nobody waits for",
            64,
            f"{prefix}.arrive 1, 96;\nmov.u32 {{d0}}, 1;",
        )
        yield case(
            f"{prefix}.arrive and exit",
            64,
            f"""setp.lt.u32 {{s}}, {{tid}}, 32;
                @{{s}} bra {{A}};
                {prefix}.arrive 1, 64;
                exit;
                {{A}}:
                {WAIT}
                {prefix}.sync 1, 64;
                mov.u32 {{d0}}, 1;""",
        )
        for count in (32, 48, 64):
            yield case(
                f"{prefix}.arrive of half a warp, {count}",
                64,
                f"mov.u32 {{n}}, {count};\n"
                + by_warp(
                    f"@{{p}} {prefix}.arrive 1, {{n}};",
                    f"{WAIT}\n{prefix}.sync 1, {{n}};\nmov.u32 {{d0}}, 1;",
                    "mov.u32 {d1}, 1;",
                ),
            )
        yield case(
            f"{prefix}.arrive by register, 33",
            64,
            f"mov.u32 {{n}}, 33;\n{prefix}.arrive 1, {{n}};\nmov.u32 {{d0}}, 1;",
        )
    yield case(
        "a producer and a consumer",
        64,
        """mov.u32 {n}, 0;
           setp.lt.u32 {s}, {tid}, 32;
           {A}:
           @!{s} bra {B};
           bar.sync 1, 64;
           mul.lo.u32 {m}, {n}, {n};
           add.u32 {m}, {m}, {tid};
           st.shared.u32 [{mine}], {m};
           bar.arrive 2, 64;
           bra {C};
           {B}:
           bar.arrive 1, 64;
           bar.sync 2, 64;
           ld.shared.u32 {m}, [{mine}+-128];
           mad.lo.u32 {d0}, {d0}, 3, {m};
           {C}:
           add.u32 {n}, {n}, 1;
           setp.lt.u32 {q}, {n}, 10;
           @{q} bra {A};""",
    )


def reductions():
    """Threads that have exited, or never existed, do not vote in a reduction."""
    for prefix, end in (("bar", ""), ("barrier", ""), ("barrier.cta", ".aligned")):
        # The order of the words: red, operation, then .aligned, then the type.
        for threads in (16, 48, 64, 80):
            need = -(-threads // 32) * 32
            for count in ("", f", {need}"):
                popc, both, one = (
                    f"{prefix}.red.{op}{end}.{kind}"
                    for op, kind in (("popc", "u32"), ("and", "pred"), ("or", "pred"))
                )
                text = f"""setp.ge.u32 {{s}}, {{tid}}, 0;
                           {popc} {{d0}}, 1{count}, {{s}};
                           {popc} {{n}}, 1{count}, !{{s}};
                           {popc} {{m}}, 1{count}, {{q}};
                           shl.b32 {{n}}, {{n}}, 8;
                           shl.b32 {{m}}, {{m}}, 16;
                           or.b32 {{d0}}, {{d0}}, {{n}};
                           or.b32 {{d0}}, {{d0}}, {{m}};
                           {both} {{p}}, 1{count}, {{s}};
                           selp.u32 {{d1}}, 1, 0, {{p}};
                           {both} {{p}}, 1{count}, {{q}};
                           selp.u32 {{n}}, 2, 0, {{p}};
                           or.b32 {{d1}}, {{d1}}, {{n}};
                           {one} {{p}}, 1{count}, {{q}};
                           selp.u32 {{d2}}, 1, 0, {{p}};
                           {one} {{p}}, 1{count}, !{{s}};
                           selp.u32 {{n}}, 2, 0, {{p}};
                           or.b32 {{d2}}, {{d2}}, {{n}};"""
                name = f"{prefix}.red of {threads} threads{count or ', all'}"
                yield case(name, threads, text)
        for words, (threads, leaving) in EXITS.items():
            for count in ("", ", 64"):
                kind = f"{prefix}.red.popc{end}.u32"
                both = f"{prefix}.red.and{end}.pred"
                text = f"""{leaving}
                           @{{s}} exit;
                           setp.ge.u32 {{s}}, {{tid}}, 0;
                           {kind} {{d0}}, 1{count}, {{s}};
                           {kind} {{d1}}, 1{count}, !{{s}};
                           {both} {{p}}, 1{count}, {{s}};
                           selp.u32 {{d2}}, 1, 2, {{p}};"""
                name = f"{prefix}.red after {words}{count or ', all'}"
                yield case(name, threads, text)
    yield case(
        "barrier.red at two places",
        64,
        "setp.ge.u32 {s}, {tid}, 0;\n"
        + two_ways(
            "barrier.red.popc.u32 {d0}, 1, 64, {s};",
            "barrier.red.popc.u32 {d0}, 1, 64, {q};",
            "mov.u32 {d1}, 1;",
            predicate="{p}",
        ),
    )
    for prefix in ("bar", "barrier"):
        yield case(
            f"{prefix}.red and arrive",
            64,
            by_warp(
                f"{prefix}.arrive 1, 64;",
                f"{prefix}.red.popc.u32 {{d0}}, 1, 64, {{s}};",
                "mov.u32 {d1}, 1;",
            ),
        )
        yield case(
            f"{prefix}.red in two pairs of warps",
            128,
            "setp.lt.u32 {s}, {tid}, 64;\n"
            + two_ways(
                f"""{prefix}.red.popc.u32 {{d0}}, 1, 64, {{q}};
                    {prefix}.red.or.pred {{p}}, 1, 64, {{s}};""",
                f"""{prefix}.red.popc.u32 {{d0}}, 2, 64, {{s}};
                    {prefix}.red.or.pred {{p}}, 2, 64, {{s}};""",
                "selp.u32 {d1}, 1, 2, {p};",
            ),
        )


#: Two warps arrive at barrier 1 by different instructions.
PAIRS = {
    "sync 64 and sync 96": ("sync 1, 64", "sync 1, 96"),
    "sync 64 and arrive 96": ("sync 1, 64", "arrive 1, 96"),
    "sync and arrive 64": ("sync 1", "arrive 1, 64"),
    "red.popc and sync": ("red.popc.u32 {d0}, 1, 64, {q}", "sync 1, 64"),
    "red.popc and red.or": (
        "red.popc.u32 {d0}, 1, 64, {q}",
        "red.or.pred {p}, 1, 64, {q}",
    ),
    "red.and and red.or": (
        "red.and.pred {p}, 1, 64, {q}",
        "red.or.pred {p}, 1, 64, {q}",
    ),
}


def mixtures():
    for words, (first, second) in PAIRS.items():
        text = by_warp(
            f"{WAIT}\nbarrier.{second};",
            f"barrier.{first};",
            "selp.u32 {d1}, 1, 2, {p};",
        )
        yield case(f"barriers of a block: {words}", 64, text)
    yield case(
        "barrier.sync with counts that differ in a warp",
        64,
        """selp.u32 {n}, 32, 64, {p};
           barrier.sync 1, {n};
           mov.u32 {d0}, 1;""",
    )
    for words, count in (("apart", 96), ("apart, 64", 64)):
        yield case(
            f"barrier.arrive of both halves of a warp {words}",
            64,
            by_warp(
                f"""@{{p}} bra {{C}};
                    barrier.arrive 1, {count};
                    bra {{B}};
                    {{C}}:
                    {WAIT}
                    barrier.arrive 1, {count};""",
                f"barrier.sync 1, {count};\nmov.u32 {{d0}}, 1;",
                "mov.u32 {d1}, 1;",
            ),
        )
    yield case(
        # Half of warp 2 waits while warps 0 and 1 meet. Then it meets warp 0.
        "barrier.sync of a warp half of which came a phase before",
        96,
        f"""setp.ge.u32 {{s}}, {{tid}}, 64;
            @{{s}} bra {{A}};
            {WAIT}
            barrier.sync 1, 64;
            add.u32 {{d0}}, {{d0}}, 1;
            setp.ge.u32 {{s}}, {{tid}}, 32;
            @{{s}} bra {{B}};
            barrier.sync 1, 64;
            add.u32 {{d0}}, {{d0}}, 1;
            bra {{B}};
            {{A}}:
            @{{p}} bra {{C}};
            {WAIT}
            {WAIT}
            {WAIT}
            {{C}}:
            barrier.sync 1, 64;
            add.u32 {{d0}}, {{d0}}, 4;
            {{B}}:
            mov.u32 {{d1}}, 1;""",
    )
    for number, count in ((1, 0), (1, 4096), (1, 4160), (17, 64), (1, 1056)):
        yield case(
            f"barrier.arrive of number {number} with {count} by registers",
            64,
            f"mov.u32 {{n}}, {number};\nmov.u32 {{m}}, {count};\n"
            + by_warp(
                "barrier.arrive {n}, {m};",
                "barrier.sync {n}, {m};",
                "mov.u32 {d1}, 1;",
            ),
        )


def flights():
    """Several barriers are in use at the same time."""
    for prefix in ("bar", "barrier"):
        yield case(
            f"{prefix}.sync in a ring of warps",
            128,
            # Each warp meets its left and its right neighbor ten times.
            f"""mov.u32 {{n}}, 0;
                mov.u32 {{d0}}, {{tid}};
                and.b32 {{m}}, {{warp}}, 1;
                setp.ne.u32 {{q}}, {{m}}, 0;
                shr.u32 {{d1}}, {{warp}}, 1;
                add.u32 {{d1}}, {{d1}}, 1;
                add.u32 {{d2}}, {{warp}}, 1;
                shr.u32 {{d2}}, {{d2}}, 1;
                and.b32 {{d2}}, {{d2}}, 1;
                add.u32 {{d2}}, {{d2}}, 5;
                {{A}}:
                st.shared.u32 [{{mine}}], {{d0}};
                {prefix}.sync {{d1}}, 64;
                xor.b32 {{m}}, {{tid}}, 32;
                mul.wide.u32 {{a}}, {{m}}, 4;
                add.s64 {{a}}, {{near}}, {{a}};
                ld.shared.u32 {{m}}, [{{a}}];
                mad.lo.u32 {{d0}}, {{d0}}, 3, {{m}};
                {prefix}.sync {{d1}}, 64;
                st.shared.u32 [{{mine}}], {{d0}};
                {prefix}.sync {{d2}}, 64;
                xor.b32 {{m}}, {{tid}}, 96;
                @!{{q}} add.u32 {{m}}, {{tid}}, 96;
                @{{q}} add.u32 {{m}}, {{tid}}, 32;
                and.b32 {{m}}, {{m}}, 127;
                mul.wide.u32 {{a}}, {{m}}, 4;
                add.s64 {{a}}, {{near}}, {{a}};
                ld.shared.u32 {{m}}, [{{a}}];
                mad.lo.u32 {{d0}}, {{d0}}, 5, {{m}};
                {prefix}.sync {{d2}}, 64;
                add.u32 {{n}}, {{n}}, 1;
                setp.lt.u32 {{s}}, {{n}}, 10;
                @{{s}} bra {{A}};""",
        )
        yield case(
            f"{prefix}.sync of the short warp with each other",
            80,
            # Warps 0 and 2 at barrier 1, then 1 and 2 at barrier 2, then all.
            f"""st.shared.u32 [{{mine}}], {{tid}};
                setp.eq.u32 {{s}}, {{warp}}, 1;
                @{{s}} bra {{A}};
                {prefix}.sync 1, 64;
                ld.shared.u32 {{d0}}, [{{near}}+256];
                setp.eq.u32 {{s}}, {{warp}}, 0;
                @{{s}} bra {{B}};
                {{A}}:
                {prefix}.sync 2, 64;
                ld.shared.u32 {{d1}}, [{{near}}+128];
                {{B}}:
                {prefix}.sync 3, 96;
                mov.u32 {{d2}}, 1;""",
        )
        yield case(
            f"{prefix}.sync with the order of two barriers exchanged",
            64,
            by_warp(
                f"{prefix}.sync 1, 64;\n{prefix}.sync 2, 64;",
                f"{prefix}.sync 2, 64;\n{prefix}.sync 1, 64;",
                "mov.u32 {d0}, 1;",
            ),
        )


def cases():
    yield from counts()
    yield from exits()
    yield from parts()
    yield from arrivals()
    yield from reductions()
    yield from mixtures()
    yield from flights()
