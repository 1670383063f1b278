"""Code shared by the benchmarks: timing, statistics, bounds, tables, measured programs.

A *subject* is a child process that measures on request. It reads ``case batches calls``
from stdin and answers with the nanoseconds per call of each batch. The bare driver
(``floor.c``), this package and its peers are all subjects. They are measured in turn
within one run, each in its own process.
"""

import argparse
import contextlib
import datetime
import gc
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

HERE = Path(__file__).resolve().parent
C_SOURCE = HERE.parent / "src" / "cpp_free_c"

# The kernels k4 and k0, for the image that the floor loads, this package and the peers.
KERNELS = """
extern "C" __global__ void k4(float *a, float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

extern "C" __global__ void k0()
{
}
"""
COUNT = 1024  # floats, that is 4 kB
BLOCK = (128, 1, 1)
GRID = (COUNT // BLOCK[0], 1, 1)


# -- statistics ------------------------------------------------------------------------


def summary(ns):
    """Return minimum, median and 95th percentile (nearest rank) of some numbers."""
    ns = sorted(ns)
    if not ns:
        raise ValueError("nothing was measured")
    rank = -(-95 * len(ns) // 100)
    return {"min": ns[0], "median": statistics.median(ns), "p95": ns[rank - 1]}


def round_medians(rounds):
    """Return the median of each round; a round is the list of its batches."""
    return [statistics.median(batches) for batches in rounds]


def lowest_rounds(*subjects):
    """Return, for each round, the batches of the subject with the lowest median."""
    return [
        min(batches, key=statistics.median) for batches in zip(*subjects, strict=True)
    ]


def over_floor(ours, floor):
    """Return the median over the rounds of the difference between ours and the floor.

    Differences are taken within a round, in which both ran within a second of each
    other. A drift of the clock or of the machine between rounds therefore cancels out.
    """
    pairs = zip(round_medians(ours), round_medians(floor), strict=True)
    return statistics.median(a - b for a, b in pairs)


@dataclass(frozen=True)
class Bound:
    """The limit of a cost: floor + ``plus``, floor * ``times``, or ``at_most``."""

    plus: float | None = None
    times: float | None = None
    at_most: float | None = None

    def __post_init__(self):
        if sum(x is not None for x in (self.plus, self.times, self.at_most)) != 1:
            raise ValueError("a bound is exactly one of plus, times, at_most")

    def __str__(self):
        if self.plus is not None:
            return f"floor + {self.plus:,.0f}"
        if self.times is not None:
            return f"floor x {self.times:g}"
        return f"{self.at_most:,.0f}"

    def holds(self, ours, floor=None):
        """Return whether our rounds are within the bound; see ``over_floor``."""
        if self.at_most is not None:
            return statistics.median(round_medians(ours)) <= self.at_most
        if self.plus is not None:
            return over_floor(ours, floor) <= self.plus
        pairs = zip(round_medians(ours), round_medians(floor), strict=True)
        return statistics.median(a / b for a, b in pairs) <= self.times


# -- timing ----------------------------------------------------------------------------


def measure(run, synchronize, batches, calls):
    """Return the nanoseconds per call of each batch; ``run(calls)`` runs one batch.

    A batch starts on an idle device. The wait for the device is not timed, so the
    result is the caller's cost and not the device's. One untimed batch runs first. The
    garbage collector is off during the measurement.
    """
    clock = time.perf_counter_ns
    ns = []
    run(calls)
    synchronize()
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(batches):
            start = clock()
            run(calls)
            elapsed = clock() - start
            synchronize()
            ns.append(elapsed / calls)
    finally:
        if enabled:
            gc.enable()
    return ns


# -- subjects --------------------------------------------------------------------------


class SubjectError(Exception):
    """A subject could not start, or could not measure the requested case."""


class Subject:
    """A running child process that measures on request (see the module's docstring)."""

    def __init__(self, name, command, env=None):
        self.name = name
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
        )
        try:
            self.header = self._answer()
        except SubjectError:
            self.close()
            raise
        if "missing" in self.header:
            self.close()
            raise SubjectError(self.header["missing"])

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise SubjectError(f"{self.name} ended, exit status {self.process.wait()}")
        try:
            return json.loads(line)
        except ValueError:
            raise SubjectError(f"{self.name} answered {line!r}") from None

    def ask(self, case, batches, calls):
        """Return the nanoseconds per call of each batch."""
        try:
            self.process.stdin.write(f"{case} {batches} {calls}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            status = self.process.wait()
            raise SubjectError(f"{self.name} ended, exit status {status}") from None
        answer = self._answer()
        if "error" in answer:
            raise SubjectError(f"{self.name}, {case}: {answer['error']}")
        return answer["ns"]

    def close(self):
        """End the process, and give it time to release its context."""
        with contextlib.suppress(BrokenPipeError):  # it may have ended already
            self.process.stdin.close()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.close()


def serve(header, cases, synchronize):
    """Run the child's side of a ``Subject``: answer requests until stdin ends."""
    with claim_stdout() as out:
        say(out, header)
        for line in sys.stdin:
            name, batches, calls = line.split()
            if name not in cases:
                say(out, {"case": name, "error": "no such case"})
                continue
            try:
                ns = measure(cases[name], synchronize, int(batches), int(calls))
            except Exception as e:  # noqa: BLE001 - sent to the parent
                say(out, {"case": name, "error": f"{type(e).__name__}: {e}"})
            else:
                say(out, {"case": name, "calls": int(calls), "ns": ns})


def serve_prepared(prepare):
    """Serve the result of ``prepare()``: (header, cases, synchronize).

    A package that is not installed, or fails, reports the reason; the run continues.
    """
    try:
        header, cases, synchronize = prepare()
    except ImportError as error:
        reason = f"not installed ({error})"
    except Exception as error:  # noqa: BLE001 - reported
        reason = f"{type(error).__name__}: {error}"
    else:
        serve({**header, "cases": sorted(cases)}, cases, synchronize)
        return
    with claim_stdout() as out:
        say(out, {"missing": reason})


def streaming_cases(size, make, ops, synchronize, count=1):
    """Return cases ``<name>@<size>`` that wait for the device; arrays are made once."""
    arrays = []

    def timed(call):
        def run(calls):
            if not arrays:
                arrays.extend(make() for _ in range(count))
            for _ in repeat(None, calls):
                call(*arrays)
            synchronize()

        return run

    cases = {f"{name}@{size}": timed(call) for name, call in ops.items()}
    cases[f"forget@{size}"] = lambda calls: arrays.clear()
    return cases


def start_subjects(commands, env):
    """Start {name: command}; return the subjects and {name: why one is missing}.

    Raises SubjectError if this package itself is missing.
    """
    subjects, missing = {}, {}
    for name, command in commands.items():
        try:
            subjects[name] = Subject(name, command, env)
        except SubjectError as error:
            missing[name] = str(error)
    if "pycuda" in missing:
        for subject in subjects.values():
            subject.close()
        raise SubjectError(missing["pycuda"])
    return subjects, missing


def claim_stdout():
    """Return a file on the old stdout; from now on libraries print to stderr."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return out


def say(out, answer):
    out.write(json.dumps(answer) + "\n")
    out.flush()


def run_quietly(command, env=None):
    """Run a command to its end and capture its output; the caller checks the status."""
    return subprocess.run(command, check=False, capture_output=True, text=True, env=env)


def ask_child(script, args, threads, options, **variables):
    """Return what a benchmark of the software device prints as a child, from JSON.

    The libraries read the variables of the environment when they are loaded. ``args``
    has the options that such benchmarks share.
    """
    environ = {
        **os.environ,
        "PYCUDA_DRIVER": "emulator",
        "PYCUDA_EMULATOR_THREADS": str(threads),
        "PYTHONPATH": str(HERE.parent),
        **variables,
    }
    command = [sys.executable, script, *options, "--rounds", str(args.rounds)]
    command += ["--quick"] * args.quick
    for name in args.only:
        command += ["--only", name]
    out = subprocess.run(command, env=environ, stdout=subprocess.PIPE, check=True)
    return json.loads(out.stdout)


def last_line(text):
    """Return the last line, in which Python programs and compilers name the error."""
    return (text.strip().splitlines() or ["no message"])[-1]


def import_cost(python, module, env=None):
    """Return the nanoseconds to import a module in a fresh interpreter with NumPy."""
    code = (
        "import sys\n"
        "sys.path[:] = [p for p in sys.path if p]\n"  # not the current directory
        "import time, numpy\n"
        "start = time.perf_counter_ns()\n"
        f"import {module}\n"
        "print(time.perf_counter_ns() - start)"
    )
    done = run_quietly([python, "-c", code], env)
    if done.returncode != 0:
        raise SubjectError(f"import {module}: {last_line(done.stderr)}")
    return int(done.stdout.split()[-1])


def compiler():
    """Return the command of the C compiler as a list."""
    found = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if not found:
        raise SubjectError("no C compiler: install cc, or name one in CC")
    return found.split()


def build_floor(directory, name="floor"):
    """Compile a program of the floor into a directory; return the program's path."""
    program = Path(directory) / name
    command = [*compiler(), "-std=c11", "-O2", "-I", str(C_SOURCE)]
    command += [str(HERE / f"{name}.c"), "-o", str(program), "-ldl"]
    done = run_quietly(command)
    if done.returncode != 0:
        raise SubjectError(f"{' '.join(command)} failed:\n{done.stderr}")
    return program


# -- reports ---------------------------------------------------------------------------


def number(value):
    """Format nanoseconds: an integer with thousands separators, - for None."""
    return "-" if value is None else f"{value:,.0f}"


def table(head, rows):
    """Return columns as text: the first left-aligned, the others right-aligned."""
    lines = [head, *rows]
    if any(len(line) != len(head) for line in lines):
        raise ValueError("rows of different length")
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]

    def text(line):
        cells = [line[0].ljust(widths[0])]
        cells += [c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True)]
        return "  ".join(cells).rstrip()

    rule = "  ".join("-" * w for w in widths)
    return "\n".join([text(head), rule, *map(text, rows)])


def kernel_module_version():
    """Return the version of NVIDIA's kernel module, or None if there is none."""
    try:
        words = Path("/proc/driver/nvidia/version").read_text().split()
    except OSError:
        return None
    numbers = [w for w in words if w[0].isdigit() and "." in w]
    return numbers[0] if numbers else None


def environment():
    """Return date, versions and machine, which a reader needs to judge the numbers."""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(
            timespec="seconds"
        ),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.machine()}",
        "cpus": os.cpu_count(),
        "kernel_module": kernel_module_version(),
    }


def cuda_version(number):
    """Format a CUDA version number: 13000 gives "13.0"."""
    return f"{number // 1000}.{number % 1000 // 10}"


def write_json(path, data):
    """Write a file atomically: completely or not at all."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(data, indent=1) + "\n")
    part.replace(path)


# -- command lines ---------------------------------------------------------------------


def parser(text, quick="small sizes: a smoke test", strict=False, rounds=5):
    """Return a parser with the options of all benchmarks. Without quick: None."""
    p = argparse.ArgumentParser(
        description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if quick is not None:
        p.add_argument("--quick", action="store_true", help=quick)
    p.add_argument("--json", metavar="FILE", help="also write the result to this file")
    if strict:
        p.add_argument(
            "--strict", action="store_true", help="exit with 1 if a bound is missed"
        )
    p.add_argument("--rounds", type=int, default=rounds)
    return p


def measured(run, *arguments):
    """Return ``run(*arguments)``. End the process if a subject cannot measure."""
    try:
        return run(*arguments)
    except SubjectError as error:
        print(f"cannot measure: {error}", file=sys.stderr)
        sys.exit(2)


def conclude(args, result, text, missed=False):
    """Print and store a result. Return the exit status: 1 for a miss with --strict."""
    print(text)
    if args.json:
        write_json(args.json, result)
    return 1 if missed and args.strict else 0
