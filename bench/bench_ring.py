"""The cost of noting a launch: its kernel, shape, stream and line.

    python bench/bench_ring.py [--quick] [--json FILE] [--strict]

Each launch is noted in a ring, so that the error of a kernel, which another call
reports later, can name the launches that it may come from. This benchmark compiles the
extension's own code into a module without a driver (ring.c) and runs it in a loop, so
the small cost is not lost in that of a launch. bench_launch.py has the whole launch.

Columns: minimum and median of the batches in nanoseconds per launch, the bound that
this package sets itself, and the verdict.
"""

import argparse
import importlib.util
import json
import statistics
import sys
import sysconfig
import tempfile
from pathlib import Path

import common
import numpy as np

import pycuda

#: Finding the line by the public functions of the interpreter takes half of it.
BOUND = common.Bound(at_most=20)
PACKAGE = Path(pycuda.__file__).parent
SOURCES = ("driver/events.c", "driver/ticks.c", "python/support/call_site.c")

#: title: (kernels in turn, whether package code calls for the program)
CASES = {
    "one kernel": (1, False),
    "three kernels in turn": (3, False),
    "a call inside the package": (1, True),
}


def build(directory):
    """Compile ring.c with the extension's sources; return the module."""
    target = Path(directory) / f"ring{sysconfig.get_config_var('EXT_SUFFIX')}"
    sources = [common.HERE / "ring.c", *(common.C_SOURCE / name for name in SOURCES)]
    include = [common.C_SOURCE, sysconfig.get_paths()["include"], np.get_include()]
    command = [*common.compiler(), "-std=c11", "-O2", "-fPIC", "-shared"]
    command += [f"-I{folder}" for folder in include]
    command += [*map(str, sources), "-o", str(target)]
    done = common.run_quietly(command)
    if done.returncode != 0:
        raise common.SubjectError(f"{' '.join(command)} failed:\n{done.stderr}")
    spec = importlib.util.spec_from_file_location("ring", target)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def caller(ring, inside):
    """Return the function that measures; `inside`: as code of the package."""
    if not inside:
        return ring.measure
    code = compile(
        "def measure(n, names): return f(n, names)", str(PACKAGE / "x.py"), "exec"
    )
    names = {"f": ring.measure}
    exec(code, names)
    return names["measure"]


def measure_case(ring, title, batches, calls):
    kernels, inside = CASES[title]
    names = tuple(f"kernel {i}" for i in range(kernels))
    run = caller(ring, inside)
    run(calls, names)
    ns = [run(calls, names) for _ in range(batches)]
    if ring.line()[0] != __file__:
        raise common.SubjectError(f"{title}: the wrong line was noted: {ring.line()}")
    verdict = "pass" if statistics.median(ns) <= BOUND.at_most else "MISS"
    return {"title": title, "ours": common.summary(ns), "verdict": verdict}


def report(result):
    env = result["environment"]
    head = ["case", "min", "median", "bound", "verdict"]
    rows = [
        [
            row["title"],
            f"{row['ours']['min']:.1f}",
            f"{row['ours']['median']:.1f}",
            str(BOUND),
            row["verdict"],
        ]
        for row in result["rows"]
    ]
    return "\n".join(
        [
            f"{env['python']}, {env['system']}, {env['cpus']} CPUs, {env['date']}",
            "ns to note a launch",
            "",
            common.table(head, rows),
        ]
    )


def main(argv=None):
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--quick", action="store_true", help="few calls: a smoke test")
    p.add_argument("--json", metavar="FILE", help="also write the result to this file")
    p.add_argument(
        "--strict", action="store_true", help="exit with 1 if a bound is missed"
    )
    args = p.parse_args(argv)
    batches, calls = (3, 1000) if args.quick else (200, 10_000)
    with tempfile.TemporaryDirectory() as directory:
        try:
            ring = build(directory)
            rows = [measure_case(ring, title, batches, calls) for title in CASES]
        except common.SubjectError as error:
            sys.exit(str(error))
    result = {"environment": common.environment(), "rows": rows}
    print(report(result))
    if args.json:
        Path(args.json).write_text(json.dumps(result, indent=2) + "\n")
    if args.strict and any(row["verdict"] == "MISS" for row in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
