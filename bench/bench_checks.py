#!/usr/bin/env python3
"""The cost of the checks of the software device (PYCUDA_CHECK).

    python bench/bench_checks.py [--quick] [--strict] [--json FILE] [--words WORDS ...]
                                 [--only KERNEL ...] [--rounds N] [--processes N]
                                 [--threads N]

The kernels are those of bench_loops.py. Each list of words, and the empty one, has as
many processes, which take turns. There are two streams, so that ``sync`` follows all
accesses. A row has the least time of a launch in one of them and the wait for it. The
cost is this time divided by the time without the words. The bounds are 1.5 for
``memory,sync`` and 4 for ``all``.

Times are CPU times of the process, because the machine may run other programs too.
"""

import argparse
import json
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import bench_loops  # noqa: E402
import common  # noqa: E402
from bench_emulator import cpu_name  # noqa: E402

WORDS = (
    "memory",
    "init",
    "race",
    "barrier",
    "init,race,barrier",
    "memory,sync",
    "all",
)
BOUNDS = {"memory,sync": 1.5, "all": 4.0}


# -- measuring, in a process for each list of words ------------------------------------


class StreamKernel(bench_loops.Kernel):
    """The kernel of a case; calling it runs the kernel once, in a stream."""

    def __init__(self, drv, module, case, stream):
        super().__init__(drv, module, case)
        self.stream = stream

    def __call__(self):
        self.function(*self.args, **self.size, stream=self.stream)
        self.stream.synchronize()


def child(args):
    """Measure all kernels with the words of this process; print seconds as JSON."""
    import pycuda.driver as drv
    from pycuda.compiler import compile as compile_cuda

    drv.init()
    context = drv.Device(0).make_context()
    seconds = {}
    try:
        ptx = compile_cuda(
            bench_loops.SOURCE, no_extern_c=True, arch="compute_75", target="ptx"
        )
        module = drv.module_from_buffer(ptx)
        streams = [drv.Stream(), drv.Stream()]
        for case in bench_loops.cases(args.quick):
            if args.only and case.name not in args.only:
                continue
            kernel = StreamKernel(drv, module, case, streams[0])
            (best,) = bench_loops.alternate([kernel], args.rounds, time.process_time)
            seconds[case.name] = best
            kernel.close()
    finally:
        context.pop()
        context.detach()
    print(json.dumps(seconds))


def measured(args, words):
    """Return the seconds of each kernel with these words, "" for none."""
    return common.ask_child(
        __file__, args, args.threads, ["--child"], PYCUDA_CHECK=words
    )


# -- the report ------------------------------------------------------------------------


def rows_of(words, seconds, plain):
    """Return a row for each kernel."""
    bound = BOUNDS.get(words)
    return [
        {
            "words": words,
            "kernel": kernel,
            "s": seconds[kernel],
            "plain_s": plain[kernel],
            "cost": seconds[kernel] / plain[kernel],
            "bound": bound,
            "holds": bound is None or seconds[kernel] / plain[kernel] <= bound,
        }
        for kernel in seconds
    ]


def run(args):
    lists = ["", *(args.words or WORDS)]
    seconds = {words: {} for words in lists}
    for _ in range(args.processes):
        for words in lists:
            for kernel, time_ in measured(args, words).items():
                best = seconds[words].get(kernel, time_)
                seconds[words][kernel] = min(best, time_)
    plain = seconds.pop("")
    return {
        "environment": common.environment(),
        "cpu": cpu_name(),
        "threads": args.threads,
        "rounds": args.rounds,
        "processes": args.processes,
        "rows": [
            row for words in seconds for row in rows_of(words, seconds[words], plain)
        ],
    }


def report(result):
    """Return a table with a row for each kernel and a column for each list of words."""
    costs, plain = {}, {}
    for row in result["rows"]:
        plain[row["kernel"]] = row["plain_s"]
        text = f"{row['cost']:.2f}" + ("" if row["holds"] else " MISS")
        costs.setdefault(row["words"], {})[row["kernel"]] = text
    head = ["kernel", "plain, ms", *costs]
    table = [
        [
            kernel,
            f"{plain[kernel] * 1e3:.2f}",
            *(costs[words][kernel] for words in costs),
        ]
        for kernel in plain
    ]
    title = f"{result['cpu']}, threads: {result['threads']}"
    return f"{title}\n{common.table(head, table)}\ntimes of a launch without checks"


def parser():
    p = common.parser(__doc__, strict=True, rounds=15)
    p.add_argument("--words", action="append", default=[], metavar="WORDS")
    p.add_argument("--only", action="append", default=[], metavar="KERNEL")
    p.add_argument("--processes", type=int, default=3, help="of each list of words")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return p


def main(argv=None):
    args = parser().parse_args(argv)
    if min(args.rounds, args.processes, args.threads) < 1:
        parser().error("--rounds, --processes and --threads take positive numbers")
    if args.child:
        return child(args)
    result = run(args)
    missed = [row for row in result["rows"] if not row["holds"]]
    return common.conclude(args, result, report(result), missed)


if __name__ == "__main__":
    sys.exit(main())
