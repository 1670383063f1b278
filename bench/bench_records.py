#!/usr/bin/env python3
"""What the record of allocations and a timeline cost.

    python bench/bench_records.py [--rounds 15] [--json FILE]

Each row is a call with and without the record, in turns, in one process. The times are
the shortest of all rounds, in nanoseconds for each call. The bound for an allocation is
50 ns in a loop. The first one in a call of a Python function takes longer since Python
3.11: the interpreter makes the object of its frame. A launch with a timeline is slower
by two events of the driver. Without one it runs the same code as if timelines did not
exist.
"""

import json
import sys
import time

import common
import numpy as np

import pycuda.autoinit
import pycuda.driver as drv
import pycuda.memory
from pycuda import _driver
from pycuda.compiler import SourceModule

#: The bound of an allocation and its release, in nanoseconds.
BOUND = 50


def per_call(loop, count):
    """Return nanoseconds for each call of a loop."""
    begin = time.perf_counter_ns()
    loop(count)
    return (time.perf_counter_ns() - begin) / count


def compare(with_record, without, loop, count, rounds):
    """Return the shortest times with and without, and their difference."""
    on, off = [], []
    per_call(loop, count)
    for number in range(2 * rounds):
        if number % 2:
            with_record()
            on.append(per_call(loop, count))
        else:
            without()
            off.append(per_call(loop, count))
        drv.Context.synchronize()
    return min(on), min(off), min(on) - min(off)


def allocations(rounds):
    """Yield the rows of allocations."""
    pool = drv.DeviceMemoryPool()
    pool.allocate(1024).free()
    take = pool.allocate

    def on():
        pycuda.memory.record()

    def off():
        pycuda.memory.record(False)

    def take_many(count):
        for _ in range(count):
            take(1024)

    def take_once():
        take(1024)

    def take_in_functions(count):
        for _ in range(count):
            take_once()

    def allocate(count):
        for _ in range(count):
            drv.mem_alloc(1024)

    yield "pool: allocate and free", *compare(on, off, take_many, 20_000, rounds)
    yield (
        "pool, first in a function",
        *compare(on, off, take_in_functions, 20_000, rounds),
    )
    yield "mem_alloc and free", *compare(on, off, allocate, 300, 10 * rounds)
    held = [take(1024) for _ in range(5_000)]
    yield "pool, among 5,000 others", *compare(on, off, take_many, 20_000, rounds)
    del held
    on()


def launches(rounds):
    """Yield the rows of a launch."""
    f = SourceModule("__global__ void nothing(int *x) {}").get_function("nothing")
    memory = drv.mem_alloc(64)
    f.prepare("P")

    def launch(count):
        for _ in range(count):
            f.prepared_call((1, 1), (32, 1, 1), memory)

    def on():
        if not _driver._timeline_is_on():
            _driver._timeline_begin(1_000_000)

    def off():
        if _driver._timeline_is_on():
            drv.Context.synchronize()
            _driver._timeline_finish()

    yield "launch, with a timeline", *compare(on, off, launch, 300, rounds)
    off()


def main():
    parser = common.parser(__doc__, quick=None, rounds=15)
    given = parser.parse_args()
    rows = [*allocations(given.rounds), *launches(given.rounds)]
    print(f"{drv.Context.get_device().name()}, NumPy {np.__version__}")
    print(f"{'ns for each call':<28}{'with':>10}{'without':>10}{'cost':>10}")
    failed = False
    for name, on, off, cost in rows:
        bounded = "launch" not in name and "first" not in name
        verdict = f"  (bound {BOUND})" if bounded else ""
        failed |= bounded and cost > BOUND
        print(f"{name:<28}{on:>10.0f}{off:>10.0f}{cost:>10.1f}{verdict}")
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(rows, file)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
