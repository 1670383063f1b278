#!/usr/bin/env python3
"""Arrays from files and to files: bytes a second beside NumPy, CuPy and PyTorch.

    python bench/bench_files.py [--quick] [--size N] [--rounds N] [--seconds N]
                                [--folder PATH] [--json PATH]

A row has the median of some calls, in GB/s. All subjects of a row take turns. Rows:

read          a .npy file that is in the page cache
read cold     a file that was dropped from the page cache
read raw      elements without a header, in the page cache
read .npz     an archive without compression, in the page cache
write         a new .npy file, in the page cache when the call ends
write disk    the same, and fsync
write .npz    a new archive without compression
1 kB          a file of 1,000 bytes, in microseconds a call

Columns: "disk", the file alone, by as many threads as are fastest; "bus", a copy of the
same size from or to page-locked memory; "bound", ours over the slower of both; "ours";
"numpy", numpy.load and to_gpu, or get and numpy.save; "load", numpy.load alone; the
installed peers. A bound below 0.9 misses the aim of this package.
"""

import os
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import common

PART = 4 << 20
ROWS = (
    *("read", "read cold", "read raw", "read .npz"),
    *("write", "write disk", "write .npz", "1 kB"),
)


# -- the disk and the bus --------------------------------------------------------------


class Disk:
    """Reads and writes of a file by some threads."""

    def __init__(self, path, size, threads):
        self.path, self.size, self.threads = path, size, threads
        self.pool = ThreadPoolExecutor(threads)
        self.buffers = [memoryview(bytearray(b"x" * PART)) for _ in range(threads)]

    def _move(self, fd, number, call):
        buffer = self.buffers[number]
        for at in range(number * PART, self.size, self.threads * PART):
            call(fd, [buffer[: min(PART, self.size - at)]], at)

    def _all(self, flags, call):
        fd = os.open(self.path, flags, 0o600)
        try:
            done = [
                self.pool.submit(self._move, fd, number, call)
                for number in range(self.threads)
            ]
            for each in done:
                each.result()
        finally:
            os.close(fd)

    def read(self):
        self._all(os.O_RDONLY, os.preadv)

    def write(self):
        self._all(os.O_WRONLY | os.O_CREAT | os.O_TRUNC, os.pwritev)


def drop(path):
    """Drop a file from the page cache."""
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def flush(path):
    """Wait until a file is on the disk."""
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


# -- subjects --------------------------------------------------------------------------


def subjects_of(folder, size):
    """Return {row: {column: call}}. A call that writes makes the file of its row."""
    import numpy as np

    import pycuda.autoprimaryctx  # noqa: F401
    import pycuda.driver as drv
    from pycuda import gpuarray

    host = np.arange(size // 4, dtype=np.float32)
    x = gpuarray.to_gpu(host)
    path = {name: str(folder / name) for name in ("x.npy", "x.bin", "x.npz", "s.npy")}
    new = {name: str(folder / name) for name in ("new.npy", "new.npz")}
    np.save(path["x.npy"], host)
    host.tofile(path["x.bin"])
    np.savez(path["x.npz"], x=host)
    np.save(path["s.npy"], host[:250])
    for name in path.values():
        flush(name)
    pinned = drv.pagelocked_empty(host.shape, host.dtype)
    pinned[:] = 1

    def by_disk(name, method):
        counts = sorted({1, 4, min(8, os.cpu_count())})
        return {
            f"disk {threads}": getattr(Disk(name, size, threads), method)
            for threads in counts
        }

    def synchronized(call):
        def run():
            result = call()
            drv.Context.synchronize()
            return result

        return run

    rows = {
        "read": {
            **by_disk(path["x.npy"], "read"),
            "bus": lambda: x.set(pinned),
            "ours": lambda: gpuarray.load(path["x.npy"]),
            "numpy": lambda: gpuarray.to_gpu(np.load(path["x.npy"])),
            "load": lambda: np.load(path["x.npy"]),
        },
        "read raw": {
            **by_disk(path["x.bin"], "read"),
            "bus": lambda: x.set(pinned),
            "ours": lambda: gpuarray.fromfile(path["x.bin"], np.float32),
            "numpy": lambda: gpuarray.to_gpu(np.fromfile(path["x.bin"], np.float32)),
            "load": lambda: np.fromfile(path["x.bin"], np.float32),
        },
        "read .npz": {
            **by_disk(path["x.npz"], "read"),
            "bus": lambda: x.set(pinned),
            "ours": lambda: gpuarray.load(path["x.npz"])["x"],
            "numpy": lambda: gpuarray.to_gpu(np.load(path["x.npz"])["x"]),
            "load": lambda: np.load(path["x.npz"])["x"],
        },
        "write": {
            **by_disk(new["new.npy"], "write"),
            "bus": lambda: x.get(pinned),
            "ours": lambda: np.save(new["new.npy"], x),
            "numpy": lambda: np.save(new["new.npy"], x.get()),
        },
        "write .npz": {
            **by_disk(new["new.npz"], "write"),
            "bus": lambda: x.get(pinned),
            "ours": lambda: np.savez(new["new.npz"], x=x),
            "numpy": lambda: np.savez(new["new.npz"], x=x.get()),
        },
        "1 kB": {
            "ours": lambda: gpuarray.load(path["s.npy"]),
            "numpy": lambda: gpuarray.to_gpu(np.load(path["s.npy"])),
            "load": lambda: np.load(path["s.npy"]),
        },
    }
    add_peers(rows, path, new, host)
    for calls in rows.values():
        for name in calls:
            calls[name] = synchronized(calls[name])
    rows["read cold"], rows["write disk"] = rows["read"], rows["write"]
    return rows


def add_peers(rows, path, new, host):
    """Add the columns of the installed peers."""
    import numpy as np

    try:
        import cupy

        y = cupy.asarray(host)
        rows["read"]["cupy"] = lambda: cupy.load(path["x.npy"])
        rows["read raw"]["cupy"] = lambda: cupy.fromfile(path["x.bin"], np.float32)
        rows["read .npz"]["cupy"] = lambda: cupy.load(path["x.npz"])["x"]
        rows["write"]["cupy"] = lambda: cupy.save(new["new.npy"], y)
        rows["write .npz"]["cupy"] = lambda: cupy.savez(new["new.npz"], x=y)
        rows["1 kB"]["cupy"] = lambda: cupy.load(path["s.npy"])
    except Exception as error:
        print(f"# cupy: {type(error).__name__}: {error}", file=sys.stderr)
    try:
        import torch

        z = torch.from_numpy(host).cuda()

        def load(name):
            return torch.from_numpy(np.load(name)).cuda()

        rows["read"]["torch"] = lambda: load(path["x.npy"])
        rows["read raw"]["torch"] = lambda: torch.from_file(
            path["x.bin"], size=host.size
        ).cuda()
        rows["write"]["torch"] = lambda: np.save(new["new.npy"], z.cpu().numpy())
        rows["1 kB"]["torch"] = lambda: load(path["s.npy"])
    except Exception as error:
        print(f"# torch: {type(error).__name__}: {error}", file=sys.stderr)


# -- measuring -------------------------------------------------------------------------


def seconds(call, calls=1):
    """Return the seconds of one call."""
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - begin) / calls


def measure(row, subjects, folder, rounds, budget):
    """Return {column: seconds of each call}; stop when the budget is used."""
    times = {name: [] for name in subjects}
    begin = time.perf_counter()
    for turn in range(rounds):
        for name, call in subjects.items():
            if turn and time.perf_counter() - begin > budget:
                return times
            if row == "read cold":
                drop(folder / "x.npy")
            elif row.startswith("write") and name != "bus":
                for old in folder.glob("new.*"):
                    old.unlink()
            elif turn == 0:
                call()  # makes the pieces, and warms the page cache
            if row == "write disk" and name != "bus":
                times[name].append(
                    seconds(lambda: (call(), flush(folder / "new.npy")))  # noqa: B023
                )
            else:
                times[name].append(seconds(call, 200 if row == "1 kB" else 1))
    return times


def row_of(row, size, times):
    """Return a row of the table."""
    if row == "1 kB":
        return {
            "row": row,
            **{name: 1e6 * statistics.median(each) for name, each in times.items()},
        }
    speeds = {n: size / statistics.median(each) / 1e9 for n, each in times.items()}
    disks = {name: speeds.pop(name) for name in list(speeds) if "disk" in name}
    result = {"row": row, "disk": max(disks.values()), "bus": speeds.pop("bus")}
    result["bound"] = speeds["ours"] / min(result["disk"], result["bus"])
    return {**result, **speeds, "disks": disks}


COLUMNS = ["row", "disk", "bus", "bound", "ours", "numpy", "load", "cupy", "torch"]


def show(rows):
    """Print rows as a table."""
    lines = []
    for row in rows:
        cells = [row.get(name) for name in COLUMNS]
        lines.append(
            [
                "-"
                if cell is None
                else cell
                if isinstance(cell, str)
                else f"{cell:.2f}"
                for cell in cells
            ]
        )
    print(common.table(COLUMNS, lines), flush=True)


def main(argv=None):
    """Run the benchmark."""
    parser = common.parser(__doc__, "16 MiB, one round")
    parser.add_argument("--size", type=int, default=1 << 30, help="bytes of the file")
    parser.add_argument(
        "--seconds", type=float, default=30, help="for all but the first calls"
    )
    parser.add_argument("--folder", help="where the files are, on the disk to measure")
    args = parser.parse_args(argv)
    if args.quick:
        args.size, args.rounds = 16 << 20, 1
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder = Path(name)
        subjects = subjects_of(folder, args.size)
        rows = []
        for row in ROWS:
            budget = args.seconds / len(ROWS)
            times = measure(row, subjects[row], folder, args.rounds, budget)
            rows.append(row_of(row, args.size, times))
    show(rows)
    if args.json:
        common.write_json(
            args.json, {"environment": common.environment(), "rows": rows}
        )


if __name__ == "__main__":
    main()
