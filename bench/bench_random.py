#!/usr/bin/env python3
"""Random numbers: gigabytes written per second, for each generator.

    python bench/bench_random.py [--rounds N] [--batches N] [--most N] [--quick]
                                 [--json PATH]

The arrays are of float32, with a million and with ``--most`` elements (2**28 is 1 GiB).
A batch of fills is timed until the device has finished it. The fill with one value
shows the speed of the device's memory. CuPy and PyTorch are measured too if they are
installed: with the same generator if they have it, and in the rows "default" with their
own. All are measured in turn, each in its own process. The time to make the states is
the median of several generators, made one after the other after the code was loaded.
"""

import argparse
import statistics
import sys
import tempfile
import time

import common
from bench_launch import child_env

GENERATORS = ("XORWOW", "Philox", "MRG32k3a", "Sobol32", "ScrambledSobol32")
# name -> title; a subject has the cases that its package supports.
CASES = {
    "fill": "fill with one value",
    "uniform-default": "uniform, default",
    "normal-default": "normal, default",
    **{f"uniform-{name}": f"uniform, {name}" for name in GENERATORS},
    **{f"normal-{name}": f"normal, {name}" for name in GENERATORS},
}
STATES = {f"make-{name}": f"making the states, {name}" for name in GENERATORS}


# -- subjects --------------------------------------------------------------------------


def prepare_pycuda(sizes):
    import numpy as np

    import pycuda
    import pycuda.driver as drv
    from pycuda import curandom, gpuarray
    from pycuda.tools import DeviceMemoryPool, set_default_allocator

    drv.init()
    context = drv.Device(0).make_context()
    set_default_allocator(DeviceMemoryPool().allocate)  # keeps the memory of rand()
    ops = {
        "fill": lambda a: a.fill(1),
        "uniform-default": lambda a: curandom.rand(a.shape),
    }
    cases = {}
    for name in GENERATORS:
        kind = getattr(curandom, f"{name}RandomNumberGenerator")
        generator = kind()
        ops[f"uniform-{name}"] = generator.fill_uniform
        ops[f"normal-{name}"] = generator.fill_normal

        def make_states(calls, kind=kind):
            for _ in range(calls):
                kind()
            context.synchronize()

        cases[f"make-{name}"] = make_states
    sample = gpuarray.empty(10_000, np.float32)
    for name, call in ops.items():
        if name.startswith("uniform-XORWOW"):
            call(sample)
            if not 0.45 < sample.get().mean() < 0.55:
                raise RuntimeError("the numbers are wrong")
    for size in sizes:

        def make(size=size):
            return gpuarray.empty(size, np.float32)

        cases |= common.streaming_cases(size, make, ops, context.synchronize)
    header = {"version": pycuda.__version__, "device": drv.Device(0).name()}
    return header, cases, context.synchronize


def prepare_cupy(sizes):
    import cupy

    ops = {
        "fill": lambda a: a.fill(1),
        "uniform-default": lambda a: cupy.random.rand(a.size, dtype=cupy.float32),
        "normal-default": lambda a: cupy.random.randn(a.size, dtype=cupy.float32),
    }
    kinds = {"XORWOW": "XORWOW", "Philox": "Philox4x3210", "MRG32k3a": "MRG32k3a"}
    for name, kind in kinds.items():
        generator = cupy.random.Generator(getattr(cupy.random, kind)(seed=1))
        ops[f"uniform-{name}"] = lambda a, g=generator: g.random(
            a.size, dtype=cupy.float32, out=a
        )
        ops[f"normal-{name}"] = lambda a, g=generator: g.standard_normal(
            a.size, dtype=cupy.float32, out=a
        )
    wait = cupy.cuda.Device().synchronize
    cases = {}
    for size in sizes:

        def make(size=size):
            return cupy.zeros(size, cupy.float32)

        cases |= common.streaming_cases(size, make, ops, wait)
    return {"version": cupy.__version__}, cases, wait


def prepare_torch(sizes):
    import torch

    ops = {
        "fill": lambda a: a.fill_(1),
        "uniform-default": lambda a: torch.rand(a.shape, device="cuda"),
        "normal-default": lambda a: torch.randn(a.shape, device="cuda"),
        "uniform-Philox": lambda a: a.uniform_(),
        "normal-Philox": lambda a: a.normal_(),
    }
    wait = torch.cuda.synchronize
    cases = {}
    for size in sizes:

        def make(size=size):
            return torch.zeros(size, device="cuda")

        cases |= common.streaming_cases(size, make, ops, wait)
    return {"version": torch.__version__}, cases, wait


PREPARE = {"pycuda": prepare_pycuda, "cupy": prepare_cupy, "torch": prepare_torch}


# -- measuring -------------------------------------------------------------------------


def ask(subject, case, batches, calls):
    """Return the nanoseconds of the batches, None if the subject has no such case."""
    if case not in subject.header.get("cases", ()):
        return None
    return subject.ask(case, batches, calls)


def measure(case, size, subjects, rounds, batches):
    """Return a row: gigabytes written per second by subject, in alternating order."""
    calls = 200 if size <= 1_000_000 else 10
    samples = {name: [] for name in subjects}
    for turn in range(rounds):
        for name in list(subjects)[:: 1 if turn % 2 == 0 else -1]:
            ns = ask(subjects[name], f"{case}@{size}", batches, calls)
            samples[name] += ns or ()
    row = {name: 4 * size / statistics.median(ns) for name, ns in samples.items() if ns}
    return {"case": case, "title": CASES[case], "size": size, "GB/s": row}


def start(directory, sizes):
    env = child_env(directory)
    sizes = ["--sizes", *map(str, sizes)]
    commands = {
        name: [sys.executable, __file__, "--serve", name, *sizes] for name in PREPARE
    }
    return common.start_subjects(commands, env)


def run(args):
    sizes = sorted({min(1_000_000, args.most), args.most})
    began = time.time()
    with tempfile.TemporaryDirectory(prefix="bench-") as directory:
        subjects, missing = start(directory, sizes)
        try:
            states = [
                {
                    "case": case,
                    "title": title,
                    "ns": statistics.median(
                        subjects["pycuda"].ask(case, args.batches, 3)
                    ),
                }
                for case, title in STATES.items()
            ]
            streaming = []
            for size in sizes:
                streaming += [
                    measure(case, size, subjects, args.rounds, args.batches)
                    for case in CASES
                ]
                for subject in subjects.values():  # the next array is larger
                    subject.ask(f"forget@{size}", 1, 1)
            versions = {name: s.header["version"] for name, s in subjects.items()}
            device = subjects["pycuda"].header["device"]
        finally:
            for subject in subjects.values():
                subject.close()
    return {
        "environment": common.environment(),
        "device": device,
        "versions": versions,
        "missing": missing,
        "seconds": time.time() - began,
        "states": states,
        "streaming": [row for row in streaming if row["GB/s"]],
    }


def report(result):
    """Return the tables as text."""
    names = [name for name in PREPARE if name in result["versions"]]
    rows = [
        [
            row["title"],
            f"{row['size']:,}",
            *(f"{row['GB/s'][n]:,.1f}" if n in row["GB/s"] else "-" for n in names),
        ]
        for row in result["streaming"]
    ]
    text = common.table(["GB/s written, float32", "elements", *names], rows)
    rows = [[row["title"], f"{row['ns'] / 1e6:,.2f}"] for row in result["states"]]
    text += "\n\n" + common.table(["a generator", "ms"], rows)
    for name, reason in result["missing"].items():
        text += f"\n{name}: {reason}"
    return f"{result['device']}\n\n{text}"


def main(argv=None):
    parser = common.parser(__doc__, "one round of two batches")
    parser.add_argument("--batches", type=int, default=5)
    parser.add_argument("--most", type=int, default=2**28, metavar="ELEMENTS")
    parser.add_argument("--serve", choices=sorted(PREPARE), help=argparse.SUPPRESS)
    parser.add_argument("--sizes", type=int, nargs="*", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.serve:
        common.serve_prepared(lambda: PREPARE[args.serve](args.sizes or []))
        return 0
    if args.most <= 0:
        parser.error("--most must be above 0")
    if args.quick:
        args.rounds, args.batches = 1, 2
    result = common.measured(run, args)
    return common.conclude(args, result, report(result))


if __name__ == "__main__":
    sys.exit(main())
