#!/usr/bin/env python3
"""Run the tests of other programs on the software device, and compare with an H200.

    python tools/clients.py numba                 all tests of numba-cuda
    python tools/clients.py numba tinygrad -j 2   two clients, two processes at a time
    python tools/clients.py numba --tests ID ...  some tests
    python tools/clients.py                       all clients

It makes the environment of a client from test/clients/requirements, the first time in
minutes. It prints how many of the tests that pass on an H200 pass here, and each test
that differs without a known reason; then it exits with 1.

On a machine with a GPU, in an environment that has the client:

    python tools/clients.py numba --record [--missing] [--seconds 100] [--source FOLDER]

runs the tests on the GPU and writes their outcomes to test/clients/h200.
"""

import argparse
import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "test")]

from clients import environments, lists, programs, runs  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="CLIENT")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--tests", nargs="+", metavar="ID", help="run only these")
    parser.add_argument("--quick", action="store_true", help="a few, in seconds")
    parser.add_argument("--make", action="store_true", help="make environments only")
    parser.add_argument("--seconds", type=float, help="end after this time")
    parser.add_argument("--log", type=Path, metavar="FILE", help="write each outcome")
    parser.add_argument("--record", action="store_true", help="run on a GPU")
    parser.add_argument(
        "--missing", action="store_true", help="only what has no record"
    )
    parser.add_argument("--source", type=Path, metavar="FOLDER", help="of the tests")
    return parser.parse_args()


def start(client, given):
    """Return the run of a client, before its first test."""
    deadline = None
    if given.seconds is not None:
        deadline = time.monotonic() + given.seconds
    if given.record:
        place = Path(given.source or programs.SUITES)
        variables = dict(os.environ)
        for name, value in client.variables:
            if "{" not in value:
                variables[name] = value
        return runs.Run(sys.executable, variables, place, deadline, given.log)
    place = environments.environment(client)
    return runs.Run(
        place / "bin" / "python",
        programs.variables(client, place),
        client.folder(place),
        deadline,
        given.log,
    )


def choose(client, run, given, recorded):
    """Return the ids of the tests to run."""
    if given.tests:
        return given.tests
    if given.quick:
        return list(client.quick)
    tests = run.list_tests(client.modules)
    if given.missing:
        tests = [test for test in tests if test not in recorded]
    return tests


def run_client(client, given):
    """Run one client. Return whether nothing differs without a known reason."""
    if given.make:
        print(f"{client.name}: {environments.environment(client)}", flush=True)
        return True
    path = lists.H200 / f"{client.name}.txt"
    recorded = lists.read(path)
    began = time.monotonic()
    run = start(client, given)
    tests = choose(client, run, given, recorded)
    results = run.run(tests, given.jobs)
    outcomes = {test: result[0] for test, result in results.items()}
    if given.record:
        recorded.update(outcomes)
        lists.write(path, f"{client.version}\non one NVIDIA H200", recorded)
        print(f"{client.name}: {len(outcomes)} of {len(tests)} tests recorded")
        return True
    comparison = lists.Comparison(recorded, outcomes, lists.differences(client.name))
    print(comparison.text(client.name))
    for test, (outcome, _, note) in sorted(results.items()):
        if note and (outcome == "ok" or test in comparison.unexpected):
            print(f"  {test}: {note}")
    print(f"{client.name}: {time.monotonic() - began:.0f} s", flush=True)
    return not comparison.unexpected


def main():
    given = arguments()
    names = given.names or list(programs.CLIENTS)
    unknown = [name for name in names if name not in programs.CLIENTS]
    if unknown:
        sys.exit(
            f"no such client: {', '.join(unknown)}; there are "
            f"{', '.join(programs.CLIENTS)}"
        )
    try:
        results = [run_client(programs.CLIENTS[name], given) for name in names]
    except environments.Unavailable as error:
        sys.exit(f"cannot run {names}: {error}")
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
