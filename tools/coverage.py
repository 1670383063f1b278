#!/usr/bin/env python3
"""Find the lines of C that no test runs: build with gcc --coverage, test, and count.

    python tools/coverage.py                        run the suite, print the tables
    python tools/coverage.py test/driver/test_launch.py -k word
    python tools/coverage.py --report               print the tables of earlier runs

The build is in build/coverage and is not optimized, because an optimizer joins and
removes lines. The unit tests of driver/ (test/c) are built and run there too. gcovr
counts: a line ran if it ran in any of the objects that contain it. Its table of each
room names the missed lines of each file; build/coverage/lines.html shows them. Exits
with 1 if a test failed, or if the share of lines that ran is below the bound of a room.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from instrumented import (
    ROOT,
    SOURCE,
    Failed,
    build,
    compiler,
    must,
    must_be_tested,
    package_environment,
    pytest_arguments,
    pytest_command,
    test_files,
    write,
)

FOLDER = ROOT / "build" / "coverage"
FLAGS = ("--coverage", "-fprofile-update=prefer-atomic")

#: The percentage of each room's lines that must run.
BOUNDS = {"driver": 100, "python": 90, "device": 90}

COMMAND = """\
#!/bin/sh
exec {compiler} "$@" -O0
"""


# -- running ---------------------------------------------------------------------------


def run_units(folder):
    """Build and run each unit test of driver/ in its own folder."""
    sys.path.append(str(ROOT / "test"))
    from driver import test_core_c

    for unit in test_core_c.UNITS:
        place = folder / unit
        place.mkdir(parents=True, exist_ok=True)
        program = test_core_c.build(compiler(), unit, place, (*FLAGS, "-O0"))
        must([program], cwd=place)


def run_tests(library, arguments):
    """Run pytest with these arguments on the build; return the failure or None."""
    run = {"cwd": library, "env": package_environment(library)}
    must_be_tested(sys.executable, library, **run)
    arguments = pytest_arguments(arguments)
    if not any(isinstance(word, Path) for word in arguments):
        arguments += test_files()
    spread = ["-q", "-n", os.cpu_count() or 1, "--dist", "loadfile"]
    try:
        must([*pytest_command(sys.executable), *spread, *arguments], **run)
    except Failed as failure:
        return failure
    return None


def run(folder, arguments):
    """Build, drop earlier counts, run all tests; return the failure or None."""
    folder.mkdir(parents=True, exist_ok=True)
    command = folder / "bin" / "gcc"
    write(command, COMMAND.format(compiler=compiler()))
    library = build(folder, FLAGS, command)
    for path in folder.rglob("*.gcda"):
        path.unlink()
    run_units(folder / "units")
    return run_tests(library, arguments)


# -- counting --------------------------------------------------------------------------


def gcovr(*words):
    """Run gcovr on the sources; return its status."""
    command = [sys.executable, "-m", "gcovr", "--root", SOURCE, *words]
    return subprocess.run([str(word) for word in command], check=False).returncode


def report(folder):
    """Print the table of each room; return the rooms below their bounds."""
    counts = folder / "lines.json"
    # A function of a header is in several objects, under one name.
    merge = ["--merge-mode-functions", "separate"]
    if gcovr(*merge, "-j", os.cpu_count() or 1, "--json", counts, folder) != 0:
        raise Failed("gcovr could not read the counts")
    gcovr("-a", counts, "--html-details", folder / "lines.html")
    below = []
    for room, bound in BOUNDS.items():
        chosen = ["-a", counts, "--filter", f"{SOURCE}/{room}/"]
        if gcovr(*chosen, "--fail-under-line", bound) != 0:
            below.append(room)
    return below


def parser():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--report", action="store_true")
    return p


def main(argv=None):
    args, rest = parser().parse_known_args(argv)
    try:
        failure = None if args.report else run(FOLDER, rest)
        below = report(FOLDER)
        if failure:
            raise failure
        if below:
            raise Failed(f"below the bound: {' '.join(below)}")
    except Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
