#!/usr/bin/env python3
"""Fused functions: whole array programs, beside plain arrays and compiled ones.

    python bench/bench_fuse.py [--quick] [--sizes N ...] [--programs A,B] [--only TEXT]
                               [--packages A,B] [--rounds N] [--ms N] [--most S]
                               [--first S] [--budget S] [--json PATH]
    python bench/bench_fuse.py --prepare PROCESSES [--json PATH]

The programs are those of ``fused_programs.py``. They run with plain GPUArrays, under
``pycuda.fuse``, and where they are installed with CuPy, ``cupy.fuse``, PyTorch and
``torch.compile``. Steps of a program are called by a loop of Python, and under
``pycuda.fuse`` by ``pycuda.fuse.loop``.

All results are compared: up to 2**20 elements with those of NumPy, above with
those of the plain arrays, within the tolerance of the program. Fused ones are compared
with the plain ones bit for bit, save the bits inside a NaN. A batch of calls is
enqueued and synchronised once, and each round times one batch of each. The table has
the median time of a call in milliseconds, the seconds of first calls, and for programs
that one pass can do the bandwidth of the fused one in parts of that of ``copy``.

A package that refuses a program has a dash, and a note says why. It is not timed if its
first call takes more than ``--first`` seconds or a later one more than ``--most``. The
file of ``--json`` has a row in each line. It is written after each row, and rows that
it has are not measured again. ``--prepare`` compiles the programs of ``torch.compile``
in so many processes, into the cache that TORCHINDUCTOR_CACHE_DIR names, and notes in
the file how long that took.
"""

import argparse
import concurrent.futures
import contextlib
import functools
import importlib
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import numpy as np
from fused_programs import PROGRAMS

SIZES = (2**14, 2**20, 2**24)
#: Larger results are compared with those of the plain arrays.
NUMPY_UP_TO = 2**20


# -- the packages ----------------------------------------------------------------------


def names(base, **own):
    """Return a namespace: the functions of a module, and others."""
    made = ModuleType(f"{base.__name__}_names")
    made.__dict__.update(vars(base), **own)
    return made


def stepped(function, steps):
    """Return a function that calls one as often as a program has steps."""
    if not steps:
        return function

    def run(*state):
        for _ in range(steps):
            state = function(*state)
        return state

    return run


class Numpy:
    """NumPy, whose results are the reference."""

    name = "numpy"
    xp = names(np, counts=lambda x, n: np.bincount(x, minlength=n).astype(np.float32))


class Plain:
    """GPUArrays, operation by operation."""

    name = "plain"

    def __init__(self):
        import pycuda.autoprimaryctx
        import pycuda.driver as drv
        import pycuda.fuse
        from pycuda import array_api, gpuarray
        from pycuda.tools import DeviceMemoryPool

        self.fuse = pycuda.fuse
        self.xp = names(array_api, pad=np.pad, counts=self.counts)
        self.pool = DeviceMemoryPool()
        self.gpuarray = gpuarray
        self.synchronize = drv.Context.synchronize

    @staticmethod
    def counts(x, n):
        """Return how often each number below n is in x."""
        return np.bincount(x, minlength=n).astype(np.float32)

    def array(self, values):
        """Return an array on the device."""
        return self.gpuarray.to_gpu(values, allocator=self.pool.allocate)

    def host(self, array):
        """Return an array of the host."""
        return array.get()

    def function(self, program):
        """Return a function of arrays."""
        one = functools.partial(program.source, self.xp)
        return stepped(one, program.steps)


class FusedNames:
    """The namespace of a function that is recorded."""

    def __init__(self, array):
        self._namespace = array.__array_namespace__()
        self.pad = np.pad
        self.counts = Plain.counts

    def __getattr__(self, name):
        return getattr(self._namespace, name)


class Fused(Plain):
    """GPUArrays under pycuda.fuse."""

    name = "fused"

    def function(self, program):
        """Return a function of arrays."""

        def function(x, *rest):
            xp = FusedNames(x)
            if not program.steps:
                return program.source(xp, x, *rest)
            return self.fuse.loop(
                program.steps, lambda state: program.source(xp, *state), (x, *rest)
            )

        return self.fuse.fuse(function)


class Cupy:
    """CuPy."""

    name = "cupy"

    def __init__(self):
        cupy = self.cupy = importlib.import_module("cupy")
        self.synchronize = cupy.cuda.Device().synchronize
        self.xp = names(
            cupy,
            counts=lambda x, n: cupy.bincount(x, minlength=n).astype(cupy.float32),
            cumulative_sum=cupy.cumsum,
        )

    def array(self, values):
        """Return an array on the device."""
        return self.cupy.asarray(values)

    def host(self, array):
        """Return an array of the host."""
        return array.get()

    def one(self, program):
        """Return a function of arrays: the program or one step."""
        return lambda *arrays: program.source(self.xp, *arrays)

    def function(self, program):
        """Return a function of arrays."""
        return stepped(self.one(program), program.steps)


class CupyFuse(Cupy):
    """CuPy under cupy.fuse."""

    name = "cupy.fuse"

    def one(self, program):
        """Return a function of arrays: the program or one step."""
        return self.cupy.fuse(kernel_name=program.name)(super().one(program))


class Torch:
    """PyTorch."""

    name = "torch"

    def __init__(self):
        torch = self.torch = importlib.import_module("torch")
        if not torch.cuda.is_available():
            raise ImportError("PyTorch finds no GPU")
        self.xp = self.adapted(torch)
        self.synchronize = torch.cuda.synchronize

    @staticmethod
    def adapted(torch):
        """Return a namespace with the standard's names and arguments."""
        return names(
            torch,
            max=lambda x, axis, keepdims: torch.amax(x, axis, keepdims),
            sum=lambda x, axis=None, keepdims=False: (
                torch.sum(x) if axis is None else torch.sum(x, axis, keepdims)
            ),
            mean=lambda x, axis=None, keepdims=False: (
                torch.mean(x) if axis is None else torch.mean(x, axis, keepdims)
            ),
            argmin=lambda x, axis: torch.argmin(x, axis),
            roll=lambda x, shift, axis: torch.roll(x, shift, axis),
            pad=lambda x, width: torch.nn.functional.pad(x, (width,) * 4),
            stack=lambda arrays, axis: torch.stack(list(arrays), axis),
            cumulative_sum=lambda x: torch.cumsum(x, 0),
            take=lambda x, index: x[index.long()],
            take_along_axis=lambda x, i, axis: torch.take_along_dim(x, i, axis),
            counts=lambda x, n: torch.zeros(
                n, dtype=torch.float32, device=x.device
            ).index_add_(
                0, x.long(), torch.ones((), device=x.device).expand(x.shape[0])
            ),
        )

    def array(self, values):
        """Return an array on the device."""
        return self.torch.from_numpy(values).cuda()

    def host(self, array):
        """Return an array of the host."""
        return array.cpu().numpy()

    def one(self, program):
        """Return a function of arrays: the program or one step."""
        return lambda *arrays: program.source(self.xp, *arrays)

    def function(self, program):
        """Return a function of arrays."""
        return stepped(self.one(program), program.steps)


class TorchCompile(Torch):
    """PyTorch under torch.compile."""

    name = "torch.compile"
    mode = None

    def one(self, program):
        """Return a function of arrays: the program or one step."""
        if self.mode is None:  # the first of the two; both are kept for the row
            self.torch._dynamo.reset()
        return self.torch.compile(super().one(program), mode=self.mode, dynamic=False)


class TorchReduce(TorchCompile):
    """The same, launched as a graph."""

    name = "reduce-overhead"
    mode = "reduce-overhead"

    def function(self, program):
        """Return a function of arrays. A call may write to the results of the last."""
        run = super().function(program)
        mark = self.torch.compiler.cudagraph_mark_step_begin

        def function(*arrays):
            mark()
            return run(*arrays)

        return function


KINDS = (Plain, Fused, Cupy, CupyFuse, Torch, TorchCompile, TorchReduce)
OURS = ("plain", "fused")
COMPILED = ("torch.compile", "reduce-overhead")


def packages(wanted):
    """Return what is installed of the packages wanted; no text: all."""
    found = []
    for kind in KINDS:
        if wanted and kind.name not in wanted:
            continue
        try:
            found.append(kind())
        except ImportError as error:
            print(f"no {kind.name}: {error}", file=sys.stderr)
    return found


# -- the measurement -------------------------------------------------------------------


class TooLongError(Exception):
    """A package takes more time than it gets."""


@contextlib.contextmanager
def at_most(seconds, what):
    """Raise an error in a block of code that takes longer."""

    def stop(*_):
        raise TooLongError(f"{what} takes more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def batch_time(package, function, arrays, calls):
    """Return the seconds of some calls."""
    package.synchronize()
    begin = time.perf_counter()
    for _ in range(calls):
        function(*arrays)
    package.synchronize()
    return time.perf_counter() - begin


def results(package, returned):
    """Return what a function returned as a list of arrays of the host."""
    if not isinstance(returned, (tuple, list)):
        returned = (returned,)
    if package is None:
        return [np.asarray(each) for each in returned]
    return [np.asarray(package.host(each)) for each in returned]


def differs(got, want, tolerance, chaotic=0.0):
    """Say whether a result is another one, in parts of the largest number wanted.

    The share ``chaotic`` of the elements may be others.
    """
    finite = np.abs(want[np.isfinite(want)])
    scale = float(finite.max()) if finite.size else 1.0
    if got.shape != want.shape:
        return True
    close = np.isclose(got, want, tolerance, tolerance * scale, equal_nan=True)
    return bool(1 - close.mean() > chaotic)


def bits(array):
    """Return the bits of a result, with one NaN for all."""
    array = np.array(array)
    if array.dtype.kind == "f":
        array[np.isnan(array)] = np.nan
    return array.dtype, array.shape, array.tobytes()


def values_of(program, size):
    """Return the arguments of a program, from random numbers to 1 or to 255."""
    generator = np.random.default_rng(5)
    made = []
    for shape, dtype in zip(program.shapes, program.dtypes, strict=True):
        values = np.asarray(generator.random(shape(size)))
        if np.dtype(dtype).kind in "iu":
            values = values * 256
        made.append(values.astype(dtype))
    return (
        made if program.start is None else list(map(np.asarray, program.start(*made)))
    )


class Row:
    """The measurement of a program with a size."""

    def __init__(self, program, size, options):
        self.program, self.options = program, options
        self.values = values_of(program, size)
        self.data = {"program": program.name, "size": size, "bytes": 0, "ms": {}}
        self.data.update(first_s={}, fault={})
        self.want, self.plain = None, None
        if size <= NUMPY_UP_TO:
            run = stepped(lambda *a: program.source(Numpy.xp, *a), program.steps)
            self.want = results(None, run(*self.values))

    def judge(self, name, got):
        """Note a result that differs."""
        if self.want is None:
            self.want = got
        if any(
            differs(each, want, self.program.tolerance, self.program.chaotic)
            for each, want in zip(got, self.want, strict=True)
        ):
            self.data["fault"][name] = "differs"
        if name == "plain":
            self.plain = got
            self.data["bytes"] = sum(each.nbytes for each in (*self.values, *got))
        if name == "fused" and self.plain is not None:  # both ran
            same = list(map(bits, got)) == list(map(bits, self.plain))
            if not same:
                self.data["fault"][name] = "has other bits"

    def start(self, package):
        """Call a program first; return its function, its arguments, and calls."""
        options, ours = self.options, package.name in OURS
        longest = 1e6 if ours else options.first
        with at_most(longest, "the first call"):
            arrays = [package.array(each) for each in self.values]
            function = package.function(self.program)
            begin = time.perf_counter()
            returned = function(*arrays)
            package.synchronize()
            self.data["first_s"][package.name] = time.perf_counter() - begin
        self.judge(package.name, results(package, returned))
        with at_most(longest, "the next calls"):
            for _ in range(2):  # a graph of torch.compile is made in the second call
                function(*arrays)
            once = batch_time(package, function, arrays, 1)
        if not ours and once > options.most:
            raise TooLongError(f"a call takes {once:.1f} s")
        calls = max(1, min(1000, int(options.ms / 1000 / max(once, 1e-6))))
        return function, arrays, calls

    def measure(self, found):
        """Return the numbers of the row."""
        ready = []
        for package in found:
            try:
                ready.append((package, *self.start(package), []))
            except Exception as error:  # what one refuses must not end the run
                text = f"{type(error).__name__}: {error}"
                self.data["fault"][package.name] = " ".join(text.split())[:200]
        for _ in range(self.options.rounds):
            for package, function, arrays, calls, times in ready:
                times.append(batch_time(package, function, arrays, calls) / calls)
        for package, _, _, _, times in ready:
            self.data["ms"][package.name] = statistics.median(times) * 1000
        return self.data


# -- the table -------------------------------------------------------------------------


def ratio(row):
    """Return the time of the fused program in parts of the best other one's."""
    others = [ms for name, ms in row["ms"].items() if name != "fused"]
    fused = row["ms"].get("fused")
    return None if fused is None or not others else fused / min(others)


def bandwidth(row, copies):
    """Return the bandwidth in parts of a copy's, None if more than a pass is needed."""
    fused = row["ms"].get("fused")
    if not PROGRAMS[row["program"]].one_pass or row["size"] not in copies or not fused:
        return None
    return row["bytes"] / fused / copies[row["size"]]


def copies_of(rows):
    """Return the bytes of a copy in a millisecond, by size."""
    found = {}
    for row in rows:
        if row["program"] == "copy":
            found[row["size"]] = row["bytes"] / min(row["ms"].values())
    return found


def head(shown):
    """Return the first line of the table."""
    cells = "".join(f"{name:>16}" for name in shown)
    firsts = "".join(f"{name[:13]:>14}" for name in ("fused", *COMPILED))
    return f"{'program':18}{'elements':>10}{cells}   ratio  copy{firsts}"


def table(row, shown, copies, prepared):
    """Return the line of a row."""
    cells = [f"{row['program']:18}{row['size']:>10}"]
    for name in shown:
        ms = row["ms"].get(name)
        mark = "!" if row["fault"].get(name) else " "
        cells.append("-".rjust(16) if ms is None else f"{ms:15.4f}{mark}")
    for number, width in ((ratio(row), 8), (bandwidth(row, copies), 6)):
        cells.append("-".rjust(width) if number is None else f"{number:{width}.2f}")
    for name in ("fused", *COMPILED):
        key = row["program"], row["size"], name
        first = prepared.get(key, row["first_s"].get(name))
        cells.append("-".rjust(14) if first is None else f"{first:12.2f} s")
    return "".join(cells)


# -- files -----------------------------------------------------------------------------


def lines_of(path):
    """Return what a file of --json has, nothing if there is none."""
    if not path or not Path(path).exists():
        return []
    return [json.loads(text) for text in Path(path).read_text().splitlines()]


def append(path, row):
    """Append a row to a file."""
    if path:
        with open(path, "a") as file:
            file.write(json.dumps(row) + "\n")


# -- compiling ahead -------------------------------------------------------------------


def compile_only(options):
    """Call programs under torch.compile once, and note how long that took."""
    for package in packages(options.packages):
        for program, size in chosen(options):
            made = {"prepared": package.name, "program": program.name, "size": size}
            try:
                with at_most(options.first, "the first call"):
                    arrays = [package.array(each) for each in values_of(program, size)]
                    begin = time.perf_counter()
                    package.function(program)(*arrays)
                    package.synchronize()
                    made["seconds"] = time.perf_counter() - begin
            except Exception as error:  # the measurement will note it, too
                made["fault"] = f"{type(error).__name__}: {error}"[:200]
            append(options.json, made)
    return 0


def prepare(options):
    """Compile in several processes, one for each program and way to compile."""
    command = [sys.executable, __file__, "--compile-only"]
    command += ["--first", str(options.first), "--sizes", *map(str, options.sizes)]
    command += ["--json", options.json] if options.json else []
    wanted = dict.fromkeys(program.name for program, _ in chosen(options))
    env = {**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": "1"}

    def one(name_and_package):
        name, package = name_and_package
        run = [*command, "--programs", name, "--packages", package]
        return subprocess.run(run, check=False, env=env).returncode

    pairs = [(name, package) for name in wanted for package in COMPILED]
    with concurrent.futures.ThreadPoolExecutor(options.prepare) as pool:
        return int(any(list(pool.map(one, pairs))))


# -- the program -----------------------------------------------------------------------


def listed(text):
    """Return the parts of a text with commas."""
    return [part for part in text.split(",") if part]


def chosen(options):
    """Return the programs and sizes to be measured."""
    unknown = set(options.programs) - set(PROGRAMS)
    if unknown:
        raise SystemExit(f"no such program: {', '.join(sorted(unknown))}")
    found = []
    for program in PROGRAMS.values():
        if options.programs and program.name not in options.programs:
            continue
        if options.only in program.name:
            sizes = dict.fromkeys(min(size, program.most) for size in options.sizes)
            found += [(program, size) for size in sizes]
    return found


def parsed(arguments):
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("--quick", action="store_true", help="one small size and one short round")
    add("--sizes", type=int, nargs="+", default=SIZES, help="numbers of elements")
    add("--programs", type=listed, default=[], help="names, with commas")
    add("--only", default="", help="programs whose name has this text")
    add("--packages", type=listed, default=[], help="names, with commas")
    add("--rounds", type=int, default=5)
    add("--ms", type=float, default=10, help="least time of a batch")
    add("--most", type=float, default=2, help="seconds of a call that is timed")
    add("--first", type=float, default=60, help="seconds that a first call gets")
    add("--budget", type=float, default=1e6, help="seconds; no row begins later")
    add("--json", help="file for all numbers, a row in each line")
    add("--prepare", type=int, metavar="PROCESSES", help="compile only, for torch")
    add("--compile-only", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.quick:
        options.sizes, options.rounds, options.ms = [256], 1, 0.1
    return options


def main(arguments=None):
    """Run the programs; return 1 if a result of this package differs."""
    begin = time.monotonic()
    options = parsed(arguments)
    if options.compile_only:
        return compile_only(options)
    if options.prepare:
        return prepare(options)
    found = packages(options.packages)
    shown = [package.name for package in found]
    before = lines_of(options.json)
    prepared = {
        (row["program"], row["size"], row["prepared"]): row.get("seconds")
        for row in before
        if "prepared" in row
    }
    rows = [row for row in before if "prepared" not in row]
    done = {(row["program"], row["size"]) for row in rows}
    print(head(shown))
    for program, size in chosen(options):
        if (program.name, size) in done:
            continue
        if time.monotonic() - begin > options.budget:
            print("the budget is spent; call again with the same --json")
            break
        rows.append(Row(program, size, options).measure(found))
        append(options.json, rows[-1])
        print(table(rows[-1], shown, copies_of(rows), prepared), flush=True)
        for name, fault in rows[-1]["fault"].items():
            print(f"    {name}: {fault}", flush=True)
    return int(any(set(OURS) & set(row["fault"]) for row in rows))


if __name__ == "__main__":
    sys.exit(main())
