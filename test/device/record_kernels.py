"""Record what a GPU computes: `python -m device.record_kernels` in the folder test.

Runs the kernels of all suites of device.batch twice, and writes the checksums of their
answers to test/data/ptx_answers.npz. With --compare, runs all kernels once on the
software device and compares them with that file.
"""

import argparse
import importlib
import os
import sys
import time

import numpy as np

from support.emulator import LIBRARY

from . import batch


def suites():
    return [importlib.import_module(name) for name in batch.SUITES]


def compare(processes):
    """Return the number of kernels whose answers differ, of all suites."""
    wrong = 0
    for suite in suites():
        begin = time.monotonic()
        found = batch.run(suite, LIBRARY, 0, suite.count(), processes)
        bad = np.nonzero(batch.checksums(found) != batch.recorded(suite))[0]
        seconds = time.monotonic() - begin
        print(f"{suite.__name__}: {len(bad)} of {len(found)} differ, {seconds:.1f} s")
        print("  ", *[f"k{n}" for n in bad[:20]])
        wrong += len(bad)
    return wrong


def record(library, out, processes, times):
    """Return whether every kernel gave the same answer each time."""
    data, good = {}, True
    for suite in suites():
        begin = time.monotonic()
        found = [
            batch.checksums(batch.run(suite, library, 0, suite.count(), processes))
            for _ in range(times)
        ]
        bad = sum(len(set(each)) > 1 for each in zip(*found, strict=True))
        seconds = time.monotonic() - begin
        print(
            f"{suite.__name__}: {suite.count()} kernels, {bad} not the same each time"
        )
        print(f"   {seconds:.1f} s", flush=True)
        good &= bad == 0
        data[batch.key(suite)] = found[0]
        data[f"{batch.key(suite)} fingerprint"] = np.uint32(suite.fingerprint())
    np.savez_compressed(out, **data)
    return good


def main():
    parser = argparse.ArgumentParser(
        prog="device.record_kernels", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--out", default=batch.RECORDED, help="the file to write")
    parser.add_argument("--library", default="libcuda.so.1", help="the driver library")
    parser.add_argument("--compare", action="store_true", help="compare, do not record")
    parser.add_argument("--times", type=int, default=2, help="runs of each kernel")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if options.compare:
        return 1 if compare(options.processes) else 0
    good = record(options.library, options.out, options.processes, options.times)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
