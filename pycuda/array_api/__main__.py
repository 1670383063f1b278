"""``python -m pycuda.array_api``: what is implemented of the standard, and how well.

Prints how many names of the standard are implemented. If array_api_strict is installed,
calls the functions with random arguments in both namespaces, and prints the number of
calls and of differences. The exit status is 1 if a name is missing or results differ.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time

import pycuda.driver as drv
from pycuda.array_api import __array_api_version__
from pycuda.array_api._standard_names import missing
from pycuda.tools import make_default_context


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m pycuda.array_api", description=(__doc__ or "").split("\n\n")[1]
    )
    parser.add_argument(
        "--cases", type=int, default=20_000, help="calls to compare (default: 20000)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random calls")
    parser.add_argument(
        "--types",
        type=int,
        default=2,
        help="data types for each function; more take longer (default: 2)",
    )
    parser.add_argument("names", nargs="*", help="functions to compare (default: all)")
    return parser.parse_args()


def _report_names() -> bool:
    """Print what is missing. Return whether anything is."""
    lacks, count = missing()
    for name in lacks:
        print(f"missing: {name}")
    print(
        f"array API standard {__array_api_version__}: {count - len(lacks)} of {count} "
        "names implemented"
    )
    return bool(lacks)


def _report_differences(arguments: argparse.Namespace) -> bool:
    """Compare calls and print the differences. Return whether there are any."""
    from pycuda.array_api._comparison.run import run

    begin = time.monotonic()
    outcome = run(
        arguments.cases, arguments.seed, arguments.types, arguments.names or None
    )
    for _, call, problem in outcome.differences:
        print(f"different: {call}\n    {problem}")
    for name, count in sorted(outcome.unavailable.items()):
        print(f"not installed here: what {name} needs ({count} calls)")
    print(
        f"array_api_strict: {outcome.cases} cases, {len(outcome.differences)} "
        f"differences, {time.monotonic() - begin:.0f} s"
    )
    return bool(outcome.differences)


def main() -> int:
    """Run the command. Return its exit status."""
    arguments = _arguments()
    drv.init()
    context = make_default_context()
    try:
        print(f"device: {context.get_device().name()}")
        failed = _report_names()
        if importlib.util.find_spec("array_api_strict") is None:
            print("array_api_strict is not installed: nothing to compare with")
        else:
            failed |= _report_differences(arguments)
    finally:
        context.pop()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
