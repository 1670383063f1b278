#!/usr/bin/env python3
"""Compare pycuda.array_api with the array API standard and with array_api_strict.

    python tools/compare_array_api.py [--cases N] [--types N] [--seed N] [FUNCTION ...]

Prints how many names of the standard are implemented. Calls the functions with random
arguments in both namespaces, and prints the number of calls and of differences. Every
data type needs kernels of its own, so --types limits how many each function is called
with; --seed chooses others. The exit status is 1 if a name is missing or if results
differ.
"""

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "test")]

import pycuda.autoinit  # noqa: E402
from pycuda.array_api import __array_api_version__  # noqa: E402
from support.standard.names import missing  # noqa: E402
from support.standard.run import DRAWERS, run  # noqa: E402


def report_names():
    """Print how many names are implemented. Return whether all are."""
    lacks, count = missing()
    for name in lacks:
        print(f"missing: {name}")
    print(
        f"array API standard {__array_api_version__}: {count - len(lacks)} of {count} "
        "names implemented"
    )
    return not lacks


def report_calls(outcome, seconds):
    """Print what the calls found. Return whether there is no difference."""
    for _, call, problem in outcome.differences:
        print(f"different: {call}\n    {problem}")
    for name, calls in sorted(outcome.unavailable.items()):
        print(f"not installed here: what {name} needs ({calls} calls)")
    print(
        f"array_api_strict: {outcome.cases} cases, {len(outcome.differences)} "
        f"differences, {seconds:.0f} s"
    )
    return not outcome.differences


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=20_000, help="calls to compare")
    parser.add_argument("--seed", type=int, default=0, help="of the random calls")
    parser.add_argument("--types", type=int, default=2, help="types for a function")
    parser.add_argument("names", nargs="*", metavar="FUNCTION", help="default: all")
    given = parser.parse_args()
    if given.types < 1:
        parser.error("--types is the number of data types, from 1 on")
    for name in given.names:
        if name not in DRAWERS:
            parser.error(f"the comparison knows no function {name!r}")
    print(f"device: {pycuda.autoinit.device.name()}")
    is_complete = report_names()
    begin = time.monotonic()
    outcome = run(given.cases, given.seed, given.types, given.names or None)
    is_equal = report_calls(outcome, time.monotonic() - begin)
    return 0 if is_complete and is_equal else 1


if __name__ == "__main__":
    sys.exit(main())
