#!/usr/bin/env python3
"""Arrays: nanoseconds per call over the bare driver, and bytes moved per second.

    python bench/bench_array.py [--rounds N] [--batches N] [--most N] [--json PATH]

The first table lists the caller's cost of operations on 1,024 elements. Its floor is
the same driver calls made from C (``floor.c``). The second table lists the throughput
by size, up to ``--most`` elements (2**28 is 1 GiB of float32): a batch of calls is
timed until the device has finished it. CuPy and PyTorch are measured too if they are
installed. All are measured in turn, each in its own process.
"""

import argparse
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import repeat

import common
from bench_launch import child_env, start_floor
from common import Bound, SubjectError

SMALL = 1024
PEERS = ("cupy", "torch")


@dataclass(frozen=True)
class Case:
    """An operation on small arrays; its floor is a sum of cases of floor.c."""

    name: str
    title: str
    calls: int
    bound: Bound
    floor: tuple[str, ...] = ()


LAUNCH = "launch_extra_4"
CASES = [
    Case("add", "x + y, pool", 300, Bound(plus=900), (LAUNCH,)),
    Case("add_stream_pool", "x + y, MemoryPool", 300, Bound(plus=1100), (LAUNCH,)),
    Case("add_alloc", "x + y, mem_alloc", 100, Bound(plus=900), ("alloc_launch_free",)),
    Case("compound", "2*x + 3*y - x*y, pool", 60, Bound(plus=4500), (LAUNCH,) * 5),
    Case("iadd", "x += y", 300, Bound(plus=600), (LAUNCH,)),
    Case("sum", "sum(x), pool", 300, Bound(at_most=6000), (LAUNCH,)),
    Case("view", "x[10:500]", 1000, Bound(at_most=300)),
    Case("reshape", "x.reshape(32, 32)", 1000, Bound(at_most=250)),
    Case("empty", "empty, pool", 1000, Bound(at_most=500)),
    Case("to_gpu", "to_gpu, 4 kB", 100, Bound(plus=2500), ("to_gpu",)),
    Case("get", "get, 4 kB", 100, Bound(plus=2500), ("get",)),
]

# name -> (title, arrays of float32 read and written)
STREAMING = {
    "linear": ("a*x + b*y", 3),
    "sin": ("sin(x)", 2),
    "fill": ("fill", 1),
    "total": ("sum(x)", 1),
    "greatest": ("max(x)", 1),
    "dot": ("dot(x, y)", 2),
    "scan": ("inclusive scan", 2),
    "turned": ("copy of x.T", 2),
}


def rows_of(size):
    """Return the number of rows of the matrix that ``turned`` copies."""
    return 1000 if size % 1000 == 0 else 1024


# -- subjects --------------------------------------------------------------------------


def loop(call):
    """Return a case that calls one function repeatedly."""

    def run(calls):
        for _ in repeat(None, calls):
            call()

    return run


def small_cases(x, y, ops):
    """Return the cases with the same code in all packages, and those in ``ops``."""

    def iadd(calls):
        z = x
        for _ in repeat(None, calls):
            z += y

    cases = {
        "add": loop(lambda: x + y),
        "compound": loop(lambda: 2 * x + 3 * y - x * y),
        "iadd": iadd,
        "view": loop(lambda: x[10:500]),
        "reshape": loop(lambda: x.reshape(32, 32)),
    }
    return cases | {name: loop(call) for name, call in ops.items()}


def prepare_pycuda(sizes):
    import numpy as np

    import pycuda
    import pycuda.driver as drv
    from pycuda import cumath, gpuarray
    from pycuda.scan import InclusiveScanKernel
    from pycuda.tools import DeviceMemoryPool

    drv.init()
    context = drv.Device(0).make_context()
    pool = DeviceMemoryPool()
    host = np.arange(SMALL, dtype=np.float32)
    x, y = (gpuarray.to_gpu(host, pool.allocate) for _ in range(2))
    plain, other = gpuarray.to_gpu(host), gpuarray.to_gpu(host)
    if (x + y).get().tolist() != (host + host).tolist():
        raise RuntimeError("x + y is wrong")
    stream_pool = drv.MemoryPool()
    u, v = (gpuarray.to_gpu(host, stream_pool) for _ in range(2))
    ops = {
        "add_stream_pool": lambda: u + v,
        "add_alloc": lambda: plain + other,
        "sum": lambda: gpuarray.sum(x),
        "empty": lambda: gpuarray.empty(SMALL, np.float32, pool.allocate),
        "to_gpu": lambda: gpuarray.to_gpu(host, pool.allocate),
        "get": x.get,
    }
    cases = small_cases(x, y, ops)
    scan = InclusiveScanKernel(np.float32, "a + b")

    def turned(a, b):
        rows = rows_of(a.size)
        b.reshape(-1, rows)[...] = a.reshape(rows, -1).T

    streaming = {
        "linear": lambda a, b: a.mul_add(2, b, 3),
        "sin": lambda a, b: cumath.sin(a),
        "fill": lambda a, b: a.fill(1),
        "total": lambda a, b: gpuarray.sum(a),
        "greatest": lambda a, b: gpuarray.max(a),
        "dot": lambda a, b: gpuarray.dot(a, b),
        "scan": lambda a, b: scan(a, b, pool.allocate),
        "turned": turned,
    }
    for size in sizes:

        def make(size=size):
            return gpuarray.zeros(size, np.float32, pool.allocate)

        cases |= common.streaming_cases(size, make, streaming, context.synchronize, 2)
    device = drv.Device(0).name()
    header = {"version": pycuda.__version__, "device": device}
    return header, cases, context.synchronize


def prepare_cupy(sizes):
    import cupy

    x, y = (cupy.arange(SMALL, dtype=cupy.float32) for _ in range(2))
    host = x.get()
    ops = {
        "sum": x.sum,
        "empty": lambda: cupy.empty(SMALL, cupy.float32),
        "to_gpu": lambda: cupy.asarray(host),
        "get": x.get,
    }
    cases = small_cases(x, y, ops)
    wait = cupy.cuda.Device().synchronize

    def turned(a, b):
        rows = rows_of(a.size)
        b.reshape(-1, rows)[...] = a.reshape(rows, -1).T

    streaming = {
        "linear": lambda a, b: 2 * a + 3 * b,
        "sin": lambda a, b: cupy.sin(a),
        "fill": lambda a, b: a.fill(1),
        "total": lambda a, b: a.sum(),
        "greatest": lambda a, b: a.max(),
        "dot": lambda a, b: a.dot(b),
        "scan": lambda a, b: cupy.cumsum(a, out=b),
        "turned": turned,
    }
    for size in sizes:

        def make(size=size):
            return cupy.zeros(size, cupy.float32)

        cases |= common.streaming_cases(size, make, streaming, wait, 2)
    return {"version": cupy.__version__}, cases, wait


def prepare_torch(sizes):
    import torch

    x, y = (torch.arange(SMALL, dtype=torch.float32, device="cuda") for _ in range(2))
    host = x.cpu()
    ops = {
        "sum": x.sum,
        "empty": lambda: torch.empty(SMALL, device="cuda"),
        "to_gpu": lambda: host.to("cuda"),
        "get": x.cpu,
    }
    cases = small_cases(x, y, ops)
    wait = torch.cuda.synchronize

    def turned(a, b):
        rows = rows_of(a.numel())
        b.view(-1, rows).copy_(a.view(rows, -1).T)

    streaming = {
        "linear": lambda a, b: torch.add(2 * a, b, alpha=3),
        "sin": lambda a, b: torch.sin(a),
        "fill": lambda a, b: a.fill_(1),
        "total": lambda a, b: a.sum(),
        "greatest": lambda a, b: a.max(),
        "dot": torch.dot,
        "scan": lambda a, b: torch.cumsum(a, 0, out=b),
        "turned": turned,
    }
    for size in sizes:

        def make(size=size):
            return torch.zeros(size, device="cuda")

        cases |= common.streaming_cases(size, make, streaming, wait, 2)
    return {"version": torch.__version__}, cases, wait


PREPARE = {"pycuda": prepare_pycuda, "cupy": prepare_cupy, "torch": prepare_torch}


# -- measuring -------------------------------------------------------------------------


def sizes_up_to(most):
    """Return 1,000, 10,000, ... and ``most`` at the end."""
    sizes, size = [], 1000
    while size < most:
        sizes.append(size)
        size *= 10
    return [*sizes, most]


def ask(subject, case, batches, calls):
    """Return the median of the batches, None if the subject has no such case."""
    if case not in subject.header.get("cases", ()):
        return None
    return statistics.median(subject.ask(case, batches, calls))


def measure_small(case, floor, subjects, rounds, batches):
    """Return a row: the floor and the median of each subject, in alternating order."""
    samples = {name: [] for name in ("floor", *subjects)}
    for turn in range(rounds):
        names = list(samples) if turn % 2 == 0 else list(samples)[::-1]
        for name in names:
            if name == "floor":
                parts = [floor.ask(part, batches, 100) for part in case.floor]
                samples[name].append(sum(map(statistics.median, parts)))
                continue
            ns = ask(subjects[name], case.name, batches, case.calls)
            if ns is not None:
                samples[name].append(ns)
    row = {name: statistics.median(ns) for name, ns in samples.items() if ns}
    ours = [[ns] for ns in samples["pycuda"]]
    floors = [[ns] for ns in samples["floor"]]
    return {
        "case": case.name,
        "title": case.title,
        "ns": row,
        "over": common.over_floor(ours, floors),
        "bound": str(case.bound),
        "verdict": "pass" if case.bound.holds(ours, floors) else "MISS",
    }


def measure_streaming(name, size, subjects, rounds, batches):
    """Return a row: the gigabytes moved per second by each subject."""
    title, arrays = STREAMING[name]
    calls = 200 if size <= 1_000_000 else 10
    row = {}
    for subject_name, subject in subjects.items():
        ns = [ask(subject, f"{name}@{size}", batches, calls) for _ in range(rounds)]
        if None not in ns:
            row[subject_name] = 4 * arrays * size / statistics.median(ns)
    return {"case": name, "title": title, "size": size, "GB/s": row}


def start(directory, sizes):
    env = child_env(directory)
    floor = start_floor(directory, env)
    sizes = ["--sizes", *map(str, sizes)]
    commands = {
        name: [sys.executable, __file__, "--serve", name, *sizes] for name in PREPARE
    }
    try:
        subjects, missing = common.start_subjects(commands, env)
    except SubjectError:
        floor.close()
        raise
    return floor, subjects, missing


def run(args):
    sizes = sizes_up_to(args.most)
    began = time.time()
    with tempfile.TemporaryDirectory(prefix="bench-") as directory:
        floor, subjects, missing = start(directory, sizes)
        try:
            small = [
                measure_small(case, floor, subjects, args.rounds, args.batches)
                for case in CASES
            ]
            streaming = []
            for size in sizes:
                streaming += [
                    measure_streaming(name, size, subjects, args.rounds, args.batches)
                    for name in STREAMING
                ]
                for subject in subjects.values():  # the next arrays are larger
                    subject.ask(f"forget@{size}", 1, 1)
            versions = {name: s.header["version"] for name, s in subjects.items()}
            device = subjects["pycuda"].header["device"]
        finally:
            for subject in (floor, *subjects.values()):
                subject.close()
    return {
        "environment": common.environment(),
        "device": device,
        "versions": versions,
        "missing": missing,
        "seconds": time.time() - began,
        "small": small,
        "streaming": streaming,
    }


def report(result):
    """Return the tables as text."""
    names = [name for name in PREPARE if name in result["versions"]]
    rows = [
        [
            row["title"],
            common.number(row["ns"].get("floor", 0)),
            *(common.number(row["ns"][n]) if n in row["ns"] else "-" for n in names),
            common.number(row["over"]),
            row["bound"],
            row["verdict"],
        ]
        for row in result["small"]
    ]
    head = [f"ns per call, {SMALL} elements", "floor", *names]
    text = common.table([*head, "over", "bound", "verdict"], rows)
    rows = [
        [
            row["title"],
            f"{row['size']:,}",
            *(f"{row['GB/s'][n]:,.1f}" if n in row["GB/s"] else "-" for n in names),
        ]
        for row in result["streaming"]
    ]
    text += "\n\n" + common.table(["GB/s moved, float32", "elements", *names], rows)
    for name, reason in result["missing"].items():
        text += f"\n{name}: {reason}"
    return f"{result['device']}\n\n{text}"


def main(argv=None):
    parser = common.parser(__doc__, quick=None)
    parser.add_argument("--batches", type=int, default=5)
    parser.add_argument("--most", type=int, default=10**8, metavar="ELEMENTS")
    parser.add_argument("--serve", choices=sorted(PREPARE), help=argparse.SUPPRESS)
    parser.add_argument("--sizes", type=int, nargs="*", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.serve:
        common.serve_prepared(lambda: PREPARE[args.serve](args.sizes or []))
        return 0
    if args.most % rows_of(args.most) or args.most <= 0:
        parser.error("--most must be a multiple of 1000 or of 1024")
    result = common.measured(run, args)
    return common.conclude(args, result, report(result))


if __name__ == "__main__":
    sys.exit(main())
