#!/usr/bin/env python3
"""Copies of ordinary host memory: bytes a second beside the driver, CuPy and PyTorch.

    python bench/bench_copies.py [--quick] [--sweep] [--sizes N ...] [--rounds N]
                                 [--json PATH]

All subjects run in one process, in the primary context, on the same arrays, one after
the other. A row has the median of some calls, in GB/s. Directions:

up           from an ordinary array to the device
down         from the device to an array that was written before
down fresh   from the device to a new array
rows up      from every other column of a matrix, which is packed on the way
rows down    from every other column of a matrix on the device to a new array

Columns: "ours"; "driver", the same calls with PYCUDA_STAGING=0, which leaves the copies
to the driver; "pinned", the same bytes from and to page-locked memory, the speed of the
bus; the installed peers. The column "first" has the first copy of the context, which
makes the pieces. With --sweep, the tables have the speeds of this package by the size
of the copy, the number of threads, and the bytes of the pieces.
"""

import itertools
import os
import statistics
import sys
import time

import common

KB, MB, GB = 1 << 10, 1 << 20, 1 << 30
SIZES = (4 * KB, 64 * KB, 256 * KB, MB, 2 * MB, 4 * MB, 8 * MB, 16 * MB, 64 * MB)
SIZES += (256 * MB, GB)
DIRECTIONS = ("up", "down", "down fresh", "rows up", "rows down")
VARIABLE = "PYCUDA_STAGING"
SWEEP_SIZES = (MB, 4 * MB, 16 * MB, 64 * MB, GB)
THREADS = (2, 4, 8, 16)
TOTALS = (16, 64, 256)  # MiB


def size_text(size):
    """Return "4 kB", "16 MB" or "1 GB"."""
    for unit, name in ((GB, "GB"), (MB, "MB"), (KB, "kB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


# -- subjects --------------------------------------------------------------------------


class Ours:
    """This package: each direction is a call that ends when the bytes are there."""

    def __init__(self, data):
        import pycuda.autoprimaryctx  # noqa: F401
        import pycuda.driver as drv
        from pycuda import gpuarray

        self.driver = drv
        self.data = data
        self.device = gpuarray.to_gpu(data.source)
        half = data.matrix.shape[1] // 2
        self.half = gpuarray.empty((data.matrix.shape[0], half), data.matrix.dtype)
        self.whole = gpuarray.to_gpu(data.matrix)

    def synchronize(self):
        self.driver.Context.synchronize()

    def choose(self, setting):
        """Use another value of the variable from now on."""
        if setting is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = setting
        self.driver.release_staging()

    def run(self, direction):
        data = self.data
        if direction == "up":
            self.device.set(data.source)
        elif direction == "down":
            self.device.get(data.target)
        elif direction == "down fresh":
            self.device.get()
        elif direction == "rows up":
            self.half.set(data.matrix[:, ::2])
        else:
            self.whole[:, ::2].get()


class Pinned:
    """The same copies from and to page-locked memory."""

    def __init__(self, ours):
        self.ours = ours
        drv, data = ours.driver, ours.data
        self.host = drv.pagelocked_empty(data.source.shape, data.source.dtype)
        self.host[:] = 1

    def run(self, direction):
        if direction == "up":
            self.ours.device.set(self.host)
        elif direction == "down":
            self.ours.device.get(self.host)
        else:
            raise NotImplementedError


class CuPy:
    """CuPy."""

    def __init__(self, data):
        import cupy

        self.cupy = cupy
        self.data = data
        self.device = cupy.asarray(data.source)
        self.whole = cupy.asarray(data.matrix)
        self.half = cupy.empty_like(self.whole[:, ::2], order="C")

    def run(self, direction):
        data = self.data
        if direction == "up":
            self.device.set(data.source)
        elif direction == "down":
            self.device.get(out=data.target)
        elif direction == "down fresh":
            self.device.get()
        elif direction == "rows up":
            self.half.set(data.matrix[:, ::2])
        else:
            self.whole[:, ::2].get()
        self.cupy.cuda.get_current_stream().synchronize()


class Torch:
    """PyTorch."""

    def __init__(self, data):
        import torch

        self.torch = torch
        self.source = torch.from_numpy(data.source)
        self.target = torch.from_numpy(data.target)
        self.matrix = torch.from_numpy(data.matrix)
        self.device = self.source.cuda()
        self.whole = self.matrix.cuda()
        self.half = self.whole[:, ::2].contiguous()

    def run(self, direction):
        if direction == "up":
            self.device.copy_(self.source)
        elif direction == "down":
            self.target.copy_(self.device)
        elif direction == "down fresh":
            self.device.cpu()
        elif direction == "rows up":
            self.half.copy_(self.matrix[:, ::2])
        else:
            self.whole[:, ::2].cpu()
        self.torch.cuda.synchronize()


class Data:
    """The host arrays of one size, whose memory was written."""

    def __init__(self, size):
        import numpy as np

        self.size = size
        self.source = np.arange(size // 4, dtype=np.float32)
        self.target = np.ones(size // 4, dtype=np.float32)
        columns = min(1024, size // 8)
        self.matrix = np.ones((size // 4 // columns, columns), np.float32)


def peers(data):
    """Return the installed peers by name."""
    found = {}
    for name, make in (("cupy", CuPy), ("torch", Torch)):
        try:
            found[name] = make(data)
        except Exception as error:
            print(f"# {name}: {type(error).__name__}: {error}", file=sys.stderr)
    return found


# -- measuring -------------------------------------------------------------------------


def seconds(run, calls):
    """Return the seconds of one call."""
    begin = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - begin) / calls


def calls_of(size):
    """Return how many copies of a size are timed together."""
    return max(1, min(200, (32 * MB) // size))


def warm_calls(size):
    """Return how many copies let this package make its pieces."""
    return min(2000, 1 + (128 * MB) // size)


def copied(direction, size):
    """Return the bytes that a direction copies."""
    return size // 2 if direction.startswith("rows") else size


def speed(size, direction, times):
    """Return the median GB/s."""
    return copied(direction, size) / statistics.median(times) / 1e9


def measure_size(size, rounds):
    """Yield one row for each direction."""
    data = Data(size)
    ours = Ours(data)
    subjects = {"ours": ours, "driver": ours, "pinned": Pinned(ours), **peers(data)}
    for direction in DIRECTIONS:
        times = {name: [] for name in ("first", *subjects)}
        ours.choose(None)
        times["first"].append(seconds(lambda: ours.run(direction), 1))  # noqa: B023
        for name, subject in subjects.items():
            if subject is ours:
                ours.choose("0" if name == "driver" else None)
                for _ in range(warm_calls(size) if name == "ours" else 2):
                    subject.run(direction)
            for _ in range(rounds):
                try:
                    ours.synchronize()
                    run = lambda: subject.run(direction)  # noqa: B023, E731
                    times[name].append(seconds(run, calls_of(size)))
                except NotImplementedError:
                    break
        yield {
            "size": size,
            "direction": direction,
            **{n: speed(size, direction, t) if t else None for n, t in times.items()},
        }
    ours.choose(None)


def measure_sweep(size, rounds):
    """Yield one row for each number of threads and bytes of the pieces."""
    ours = Ours(Data(size))
    for threads, total in [(0, 0), *itertools.product(THREADS, TOTALS)]:
        ours.choose(f"{total}M,threads={threads or 1}")
        row = {"size": size, "threads": threads, "pieces": total}
        for direction in DIRECTIONS[:3]:
            run = lambda: ours.run(direction)  # noqa: B023, E731
            for _ in range(warm_calls(size)):
                run()
            times = [seconds(run, calls_of(size)) for _ in range(rounds)]
            row[direction] = speed(size, direction, times)
        yield row
    ours.choose(None)


def show(rows):
    """Print rows as a table, and return them."""
    rows = list(rows)
    if rows:
        head = list(rows[0])
        lines = []
        for row in rows:
            line = []
            for name in head:
                value = row.get(name)
                if name == "size":
                    value = size_text(value)
                elif isinstance(value, float):
                    value = f"{value:.2f}"
                line.append("-" if value is None else str(value))
            lines.append(line)
        print(common.table(head, lines), flush=True)
    return rows


def main(argv=None):
    """Run the benchmark."""
    parser = common.parser(__doc__, "two sizes, one round")
    parser.add_argument("--sweep", action="store_true", help="by threads and pieces")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    args = parser.parse_args(argv)
    if args.quick:
        args.sizes, args.rounds = (4 * KB, 2 * MB), 1
    result = {"environment": common.environment(), "rows": []}
    if args.sweep:
        result["sweep"] = []
        for size in SWEEP_SIZES:
            result["sweep"] += show(measure_sweep(size, args.rounds))
    else:
        for size in args.sizes:
            result["rows"] += show(measure_size(size, args.rounds))
    if args.json:
        common.write_json(args.json, result)


if __name__ == "__main__":
    main()
