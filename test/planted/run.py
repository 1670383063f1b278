"""Run the planted programs with all checks, and count what the checks find.

    python test/planted/run.py [-v] [KIND | KIND/NAME ...]

Each program runs as a script, once with its fault and once without. All are children of
this process, which has imported the package before. A child is a fork, so it saves the
time of the imports, but nothing of the driver: the parent does not use it.
"""

import argparse
import gc
import os
import shutil
import signal
import sys
import tempfile
import textwrap
import types
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np  # noqa: F401  for the children

from planted.program import programs
from pycuda import _reports, compiler, gpuarray  # noqa: F401

SECONDS = 60  # for one program

ENVIRONMENT = {
    "PYCUDA_DRIVER": "emulator",
    "PYCUDA_CHECK": "all",
    "PYCUDA_COMPILER": "nvrtc",
    "PYCUDA_EMULATOR_DEVICES": "1",
    "PYTHONWARNINGS": "ignore",
}


class Outcome:
    """What a run of a program gave."""

    def __init__(self, status, output, reports):
        self.status = status
        self.output = output
        self.reports = reports


class Result:
    """The outcomes of a program with its fault and without."""

    def __init__(self, program, script, faulty, right):
        self.program = program
        self.faulty = faulty
        self.right = right
        self.found = [each for each in faulty.reports if each.kind == program.kind]
        marked = program.marked("FAULT", script)
        self.is_right_line = bool(self.found) and all(
            is_about(each, marked) for each in self.found
        )
        self.is_false = bool(right.reports) or right.status != 0
        self.names_launch = self._names("launch", program.marked("LAUNCH", script))
        self.names_memory = self._names("memory", program.marked("MADE", script))

    def _names(self, role, marked):
        """Say whether the reports name the marked line. None if no line is marked."""
        if not marked:
            return None
        return bool(self.found) and all(
            set(each.lines(role)) == marked for each in self.found
        )

    def __str__(self):
        words = "found" if self.found else "NOT FOUND"
        if self.found and not self.is_right_line:
            words = "found, WRONG LINE"
        if self.names_launch is False:
            words += ", no line of the launch"
        if self.names_memory is False:
            words += ", no line of the memory"
        if self.is_false:
            words += ", FALSE REPORT"
        return f"{self.program.name}: {words}"


def is_about(report, marked):
    """Say whether a report names lines of the fault, and no other lines as such."""
    accesses = {
        (os.path.basename(file) if file.endswith(".cu") else file, line)
        for file, line in report.lines("access")
    }
    return bool(accesses) and accesses <= marked


class _Child(BaseException):
    """Raised in a child process: leave all functions of the parent."""


def _fork(script, text, folder):
    """Start a process for a script. Return its number; in the child raise _Child."""
    folder.mkdir()
    child = os.fork()
    if child == 0:
        raise _Child(script, text, folder)
    return child


def _become(script, text, folder):
    """In a child: be a Python that runs the script. Return at its end."""
    os.environ.update(ENVIRONMENT, PYCUDA_CHECK_LOG=str(folder / "reports"))
    output = os.open(folder / "output", os.O_WRONLY | os.O_CREAT, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    signal.alarm(SECONDS)
    main = types.ModuleType("__main__")
    main.__file__ = script
    sys.modules["planted.runner"] = sys.modules["__main__"]
    sys.modules["__main__"] = main
    sys.argv[:] = [script]
    gc.collect()  # else objects of the parent could start a collection in the program
    exec(compile(text, script, "exec"), vars(main))


def _outcome(status, folder):
    log = folder / "reports"
    reports = _reports.read(log.read_text()) if log.exists() else []
    output = (folder / "output").read_text(errors="replace")
    return Outcome(os.waitstatus_to_exitcode(status), output, reports)


def run(wanted, folder, is_exchanged):
    """Run programs, as many at a time as there are processors. Return the results."""
    jobs = []
    for i, program in enumerate(wanted):
        script = folder / f"{i:02d}" / f"{program.path.name}"
        script.parent.mkdir()
        script.write_text(program.faulty)
        texts = {"faulty": program.faulty, "right": program.right}
        if is_exchanged:
            texts = {"faulty": program.right, "right": program.faulty}
        for name, text in texts.items():
            jobs.append((str(script), text, script.parent / name))
    waiting, running, outcomes = jobs[::-1], {}, {}
    while waiting or running:
        while waiting and len(running) < len(os.sched_getaffinity(0)):
            job = waiting.pop()
            running[_fork(*job)] = job[2]
        child, status = os.wait()
        where = running.pop(child)
        outcomes[where] = _outcome(status, where)
    results = []
    for program, faulty, right in zip(wanted, jobs[::2], jobs[1::2], strict=True):
        results.append(
            Result(program, faulty[0], outcomes[faulty[2]], outcomes[right[2]])
        )
    return results


def show(result, is_verbose):
    """Print a result, with its reports and output if it is bad or if asked."""
    is_good = result.is_right_line and not result.is_false
    is_good = is_good and False not in (result.names_launch, result.names_memory)
    print(result)
    for name, outcome in (("faulty", result.faulty), ("right", result.right)):
        if is_verbose or (not is_good and (name == "faulty" or result.is_false)):
            print(f"  {name}: status {outcome.status}")
            for each in outcome.reports:
                print(textwrap.indent(f"[{each.kind}] {each.text}", "    "))
            if is_verbose or not outcome.reports:
                print(textwrap.indent(outcome.output[-3000:], "    | "))


def main():
    """Run the programs that the command line names, by default all. Return a status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="KIND or KIND/NAME")
    parser.add_argument("-v", "--verbose", action="store_true", help="show all reports")
    parser.add_argument(
        "--exchange",
        action="store_true",
        help="take each faulty text for the right one",
    )
    given = parser.parse_args()
    wanted = programs()
    if given.names:
        wanted = [p for p in wanted if {p.name, p.kind} & set(given.names)]
    folder = Path(tempfile.mkdtemp())
    results = run(wanted, folder, given.exchange)  # a child leaves here
    shutil.rmtree(folder)
    for result in results:
        show(result, given.verbose)
    n = len(results)
    found = sum(bool(each.found) for each in results)
    lines = sum(each.is_right_line for each in results)
    false = sum(each.is_false for each in results)
    launches = [r.names_launch for r in results if r.names_launch is not None]
    memories = [r.names_memory for r in results if r.names_memory is not None]
    print(
        f"line of the launch {sum(launches)} of {len(launches)}, "
        f"of the memory {sum(memories)} of {len(memories)}"
    )
    print(f"found {found} of {n}, right line {lines} of {n}, false {false} of {n}")
    return found < n or lines < n or false > 0


if __name__ == "__main__":
    job = None
    try:
        status = main()
    except _Child as child:
        job = child.args
    if job is None:
        sys.exit(status)
    _become(*job)
