#!/usr/bin/env python3
"""Find the lines of C that no test runs: build with gcc --coverage, test, and count.

    python tools/coverage.py                        run the suite, print the table
    python tools/coverage.py test/driver/test_launch.py -k word
    python tools/coverage.py --report               print the table of earlier runs
    python tools/coverage.py --report --lines driver/release.c

The build is in build/coverage and is not optimized, because an optimizer joins and
removes lines. The unit tests of driver/ (test/c) are built and run there too.
A line counts as run if it ran in any of the objects that contain it. Exits
with 1 if a test failed, or if the share of lines that ran is below the bound of a room.
It then lists the missed lines of each file; --lines prints their text. Counts from
another build, from changed sources, or from a run that executed nothing are refused.
"""

import argparse
import json
import os
import shutil
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
#: Objects for each call of gcov, to limit the length of the command line.
AT_ONCE = 50


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


def read_notes(notes):
    """Run gcov on these objects; return for each a list of paths and their lines."""
    gcov = shutil.which("gcov")
    if gcov is None:
        raise Failed("gcov is missing: it comes with gcc")
    done = subprocess.run(
        [gcov, "--stdout", "--json-format", *notes],
        capture_output=True,
        text=True,
        check=False,
    )
    objects = [json.loads(text) for text in done.stdout.splitlines()]
    if done.returncode != 0 or "mismatch" in done.stderr or len(objects) != len(notes):
        raise Failed(f"another build left these numbers: {done.stderr}")
    return [
        [
            (Path(found["current_working_directory"], file["file"]), file["lines"])
            for file in found["files"]
        ]
        for found in objects
    ]


def files_of(found, source):
    """Yield the files of the rooms in an object, by their path below ``source``."""
    for path, lines in found:
        name = os.path.relpath(os.path.normpath(path), source)
        if Path(name).parts[0] in BOUNDS:
            yield name, lines


def collect(folder, source):
    """Return {file: {line: whether it ran}} of the files of the rooms, sorted.

    Files are given by their path below ``source``. All objects below the folder count.
    """
    notes = sorted(folder.rglob("*.gcno"))
    if not any(folder.rglob("*.gcda")):
        raise Failed(f"nothing ran: there are no numbers in {folder}")
    merged, changed = {}, set()
    for start in range(0, len(notes), AT_ONCE):
        part = notes[start : start + AT_ONCE]
        for built, found in zip(part, read_notes(part), strict=True):
            files = dict(files_of(found, source))
            if not all((source / name).exists() for name in files):
                continue  # it was built from a source that was removed
            for name, lines in files.items():
                if (source / name).stat().st_mtime > built.stat().st_mtime:
                    changed.add(name)
                ran = merged.setdefault(name, {})
                for line in lines:
                    number = line["line_number"]
                    ran[number] = ran.get(number, False) or line["count"] > 0
    if changed:
        raise Failed(f"changed since the build: {' '.join(sorted(changed))}")
    return dict(sorted(merged.items()))


def percent(ran, lines):
    """Return the percentage as text, rounded down: 100.0 means all lines."""
    return f"{1000 * ran // lines / 10:.1f}"


def ranges(numbers):
    """Return line numbers as text, such as 3, 7-9."""
    spans = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)


def missed(ran):
    return sorted(number for number, done in ran.items() if not done)


def is_below(ran, lines, bound):
    return 100 * ran < bound * lines


def print_table(merged):
    """Print a row per room, and files below the bound; return the rooms below it."""
    below, files = [], []
    print(f"{'room':10}{'lines':>8}{'run':>8}{'percent':>9}{'bound':>7}")
    for room, bound in BOUNDS.items():
        found = {
            name: ran for name, ran in merged.items() if Path(name).parts[0] == room
        }
        lines = sum(len(ran) for ran in found.values())
        ran = sum(sum(one.values()) for one in found.values())
        if ran == 0:
            raise Failed(f"nothing of {room} ran")
        print(f"{room:10}{lines:8}{ran:8}{percent(ran, lines):>9}{bound:7}")
        if is_below(ran, lines, bound):
            below.append(room)
        files += [
            (name, one)
            for name, one in found.items()
            if is_below(sum(one.values()), len(one), bound)
        ]
    for name, one in files:
        share = percent(sum(one.values()), len(one))
        print(f"{name} {share}: missed {ranges(missed(one))}")
    return below


def print_lines(merged, source, wanted):
    """Print the missed lines of the files whose paths end with these words."""
    found = [
        name
        for name in merged
        if any(f"/{name}".endswith(f"/{word}") for word in wanted)
    ]
    if not found:
        raise Failed(f"no such file was built: {' '.join(wanted)}")
    for name in found:
        text = (source / name).read_text().splitlines()
        for number in missed(merged[name]):
            print(f"{name}:{number}: {text[number - 1]}")


def parser():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--report", action="store_true")
    p.add_argument("--lines", action="append", default=[], metavar="FILE")
    return p


def main(argv=None):
    args, rest = parser().parse_known_args(argv)
    try:
        failure = None if args.report else run(FOLDER, rest)
        merged = collect(FOLDER, SOURCE)
        below = print_table(merged)
        if args.lines:
            print_lines(merged, SOURCE, args.lines)
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
