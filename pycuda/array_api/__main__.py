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
from collections.abc import Sequence
from typing import Any

import pycuda.driver as drv
from pycuda import _command_line
from pycuda.array_api import __array_api_version__
from pycuda.array_api._standard_names import missing
from pycuda.tools import make_default_context


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command line."""
    _command_line.add_json(parser)
    parser.add_argument(
        "--cases",
        type=_command_line.count,
        default=20_000,
        help="calls to compare (default: 20000)",
    )
    parser.add_argument(
        "--seed", type=_command_line.count, default=0, help="of the random calls"
    )
    parser.add_argument(
        "--types",
        type=_command_line.count,
        default=2,
        help="data types for each function; more take longer (default: 2)",
    )
    parser.add_argument("names", nargs="*", help="functions to compare (default: all)")


def _compare(given: argparse.Namespace) -> dict[str, Any] | None:
    """Return what a comparison found, None without array_api_strict."""
    if importlib.util.find_spec("array_api_strict") is None:
        return None
    from pycuda.array_api._comparison.run import run as compare

    begin = time.monotonic()
    outcome = compare(given.cases, given.seed, given.types, given.names or None)
    return {
        "cases": outcome.cases,
        "seconds": time.monotonic() - begin,
        "differences": [
            {"call": call, "problem": problem}
            for _, call, problem in outcome.differences
        ],
        "unavailable": dict(sorted(outcome.unavailable.items())),
    }


def _check(given: argparse.Namespace) -> None:
    """End with a message about a command line that makes no sense."""
    if given.types == 0:
        given.refuse("--types is the number of data types, from 1 on")
    if importlib.util.find_spec("array_api_strict") is None:
        return
    from pycuda.array_api._comparison.run import DRAWERS

    for name in given.names:
        if name not in DRAWERS:
            given.refuse(f"the comparison knows no function {name!r}")


def _examine(given: argparse.Namespace) -> dict[str, Any]:
    """Return what is implemented, and what a comparison found."""
    drv.init()
    context = make_default_context()
    try:
        lacks, count = missing()
        return {
            "device": context.get_device().name(),
            "standard": __array_api_version__,
            "names": count,
            "missing": lacks,
            "comparison": _compare(given),
        }
    finally:
        context.pop()


def _print(found: dict[str, Any]) -> None:
    print(f"device: {found['device']}")
    for name in found["missing"]:
        print(f"missing: {name}")
    count = found["names"]
    print(
        f"array API standard {found['standard']}: {count - len(found['missing'])} of "
        f"{count} names implemented"
    )
    compared = found["comparison"]
    if compared is None:
        print("array_api_strict is not installed: nothing to compare with")
        return
    for each in compared["differences"]:
        print(f"different: {each['call']}\n    {each['problem']}")
    for name, calls in compared["unavailable"].items():
        print(f"not installed here: what {name} needs ({calls} calls)")
    print(
        f"array_api_strict: {compared['cases']} cases, {len(compared['differences'])} "
        f"differences, {compared['seconds']:.0f} s"
    )


def run(given: argparse.Namespace) -> int:
    """Compare with the standard and print the result. Return the exit status."""
    _check(given)
    try:
        found = _examine(given)
    except drv.Error as error:
        return _command_line.fail(given, "array_api", str(error))
    if given.json:
        _command_line.print_json(found)
    else:
        _print(found)
    compared = found["comparison"]
    return int(bool(found["missing"] or (compared and compared["differences"])))


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute the command line. Return the exit status."""
    return _command_line.main("array_api", add_arguments, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
