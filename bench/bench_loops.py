#!/usr/bin/env python3
"""The speed of the software device against plain C++ loops, compiled by g++ -O2.

    python bench/bench_loops.py [--quick] [--strict] [--json FILE] [--threads N ...]
                                [--cpu-time]

Five kernels: vector add, tiled matrix product, n-body forces, a sum, Black-Scholes.
The loops (loops.cpp) do the same arithmetic without tiles. Both run in one process, in
turn, with the same number of threads: 1 and 2 unless --threads changes that. A row has
the least time of each. Results are compared first.

The bound is 2.5 times the time of the loop. Vector add of 4 million elements must also
reach a third of the speed of memory, which a copy by memcpy in one thread measures.

Without --cpu-time, the clock is the wall clock. On a machine that runs other programs
too, use --cpu-time: the time that the threads of this process ran. It is meaningful for
one thread.
"""

import argparse
import concurrent.futures
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import common  # noqa: E402
from bench_emulator import MATMUL, cpu_name  # noqa: E402

BOUND = 2.5
MEMORY_BOUND = 3.0
TILE = 16
BLOCK = 256

SOURCE = (
    """
extern "C" {
"""
    + MATMUL
    + """
__global__ void vector_add(float *c, const float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

__global__ void nbody(float4 *force, const float4 *bodies, int n)
{
    __shared__ float4 tile[256];
    float4 p = bodies[blockIdx.x * 256 + threadIdx.x];
    float fx = 0, fy = 0, fz = 0;
    for (int start = 0; start < n; start += 256) {
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 256; j++) {
            float4 q = tile[j];
            float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
            float s = q.w * inverse * inverse * inverse;
            fx += dx * s;
            fy += dy * s;
            fz += dz * s;
        }
        __syncthreads();
    }
    force[blockIdx.x * 256 + threadIdx.x] = make_float4(fx, fy, fz, 0);
}

__global__ void reduction(float *sum, const float *a, int n)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    float v = 0;
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) v += a[i];
    s[t] = v;
    __syncthreads();
    for (int d = 128; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) atomicAdd(sum, s[0]);
}

__device__ float normal(float x)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(x));
    float p = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f
              + k * (-1.821255978f + k * 1.330274429f))));
    float tail = 0.3989422804f * expf(-0.5f * x * x) * p;
    return x > 0 ? 1.0f - tail : tail;
}

__global__ void black_scholes(float *call, float *put, const float *price,
                              const float *strike, const float *years, float rate,
                              float volatility, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = price[i], x = strike[i], t = years[i];
    float root = volatility * sqrtf(t);
    float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / root;
    float d2 = d1 - root;
    float discounted = x * expf(-rate * t);
    float n1 = normal(d1), n2 = normal(d2);
    call[i] = s * n1 - discounted * n2;
    put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
}

}
"""
)


@dataclass(frozen=True)
class Case:
    """A kernel, the loop of the same name, and their arguments.

    ``arrays`` come first, those that are written before the others. ``scalars`` are
    passed to both. The kernel gets ``size`` last; the loop gets it only if
    ``loop_size`` is set. The loop divides ``units`` among its threads.
    """

    name: str
    grid: tuple
    block: tuple
    arrays: tuple
    written: int
    scalars: tuple
    size: int
    units: int
    loop_size: bool = False


def cases(quick):
    import numpy as np

    random = np.random.default_rng(7)
    n = 1 << (16 if quick else 22)
    side = 64 if quick else 256
    bodies = 512 if quick else 2048
    options = 1 << (12 if quick else 18)

    def floats(*shape, low=0.0, high=1.0):
        return random.uniform(low, high, shape).astype(np.float32)

    def empty(*shape):
        return np.zeros(shape, np.float32)

    option_arrays = (
        empty(options),
        empty(options),
        floats(options, low=5, high=30),
        floats(options, low=1, high=100),
        floats(options, low=0.25, high=10),
    )
    return [
        Case(
            "vector_add",
            (n // BLOCK, 1),
            (BLOCK, 1, 1),
            (empty(n), floats(n), floats(n)),
            1,
            (),
            n,
            n,
        ),
        Case(
            "matmul",
            (side // TILE, side // TILE),
            (TILE, TILE, 1),
            (empty(side, side), floats(side, side), floats(side, side)),
            1,
            (),
            side,
            side,
            True,
        ),
        Case(
            "nbody",
            (bodies // BLOCK, 1),
            (BLOCK, 1, 1),
            (empty(bodies, 4), floats(bodies, 4)),
            1,
            (),
            bodies,
            bodies,
            True,
        ),
        Case("reduction", (64, 1), (BLOCK, 1, 1), (empty(1), floats(n)), 1, (), n, n),
        Case(
            "black_scholes",
            (options // BLOCK, 1),
            (BLOCK, 1, 1),
            option_arrays,
            2,
            (np.float32(0.02), np.float32(0.3)),
            options,
            options,
        ),
    ]


# -- the two programs ------------------------------------------------------------------


def compile_loops(folder):
    """Compile loops.cpp with g++ -O2; return the library."""
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if compiler is None:
        sys.exit("bench_loops.py needs a C++ compiler: set CXX or install g++")
    out = Path(folder) / "loops.so"
    source = HERE / "loops.cpp"
    command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(out), str(source)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(out))


class Loop:
    """The plain loop of a case; calling it runs the loop once, in several threads."""

    def __init__(self, library, case, threads, pool):
        self.case, self.threads, self.pool = case, threads, pool
        self.function = getattr(library, case.name)
        self.function.restype = None
        self.arrays = [array.copy() for array in case.arrays]
        self.args = [ctypes.c_void_p(array.ctypes.data) for array in self.arrays]
        if case.name == "reduction":
            self.function.restype = ctypes.c_float
            del self.args[0]
        self.args += [ctypes.c_float(value) for value in case.scalars]
        if case.loop_size:
            self.args.append(ctypes.c_int64(case.size))

    def part(self, number):
        step = self.case.units // self.threads
        begin, end = (ctypes.c_int64(k * step) for k in (number, number + 1))
        return self.function(*self.args, begin, end)

    def __call__(self):
        if self.threads == 1:
            results = [self.part(0)]
        else:
            results = list(self.pool.map(self.part, range(self.threads)))
        if self.case.name == "reduction":
            self.arrays[0][0] = sum(results)

    def results(self):
        return self.arrays[: self.case.written]


class Kernel:
    """The kernel of a case; calling it runs the kernel once."""

    def __init__(self, drv, module, case):
        import numpy as np

        self.drv, self.case = drv, case
        self.function = module.get_function(case.name)
        self.buffers = [drv.to_device(array) for array in case.arrays]
        self.args = [*self.buffers, *case.scalars, np.int32(case.size)]
        self.size = {"grid": case.grid, "block": case.block}

    def __call__(self):
        self.function(*self.args, **self.size)
        self.drv.Context.synchronize()

    def results(self):
        out = []
        for i in range(self.case.written):
            copy = self.case.arrays[i].copy()
            self.drv.memcpy_dtoh(copy, self.buffers[i])
            out.append(copy)
        return out

    def close(self):
        for buffer in self.buffers:
            buffer.free()


def compare(name, ours, theirs):
    """Fail unless the kernel and the loop gave nearly the same numbers."""
    import numpy as np

    for mine, other in zip(ours, theirs, strict=True):
        if not np.allclose(mine, other, rtol=2e-3, atol=2e-3):
            sys.exit(f"{name}: the kernel and the loop differ")


# -- measuring -------------------------------------------------------------------------


def seconds(run, clock):
    start = clock()
    run()
    return clock() - start


def alternate(runs, rounds, clock):
    """Run some functions in turn; return the least time of each."""
    for run in runs:
        run()
    times = [[seconds(run, clock) for run in runs] for _ in range(rounds)]
    return [min(column) for column in zip(*times, strict=True)]


def copy_speed(size, rounds, clock):
    """Return the bytes a second that memcpy moves, reads and writes together."""
    import numpy as np

    source, target = np.ones(size, np.float32), np.ones(size, np.float32)

    def copy():
        ctypes.memmove(target.ctypes.data, source.ctypes.data, source.nbytes)

    (best,) = alternate([copy], rounds, clock)
    return 2 * source.nbytes / best


def measure(case, kernel, loop, rounds, clock):
    kernel()
    loop()
    compare(case.name, kernel.results(), loop.results())
    ours, theirs = alternate([kernel, loop], rounds, clock)
    row = {
        "kernel": case.name,
        "ours_s": ours,
        "loop_s": theirs,
        "ratio": ours / theirs,
        "holds": ours / theirs <= BOUND,
    }
    if case.name == "vector_add":
        moved = sum(array.nbytes for array in case.arrays)
        memory = copy_speed(case.size, rounds, clock)
        row["bytes_per_s"], row["memory_bytes_per_s"] = moved / ours, memory
        row["holds"] = row["holds"] and moved / ours >= memory / MEMORY_BOUND
    return row


def child(args):
    """Measure with one number of threads; print the rows as JSON."""
    import pycuda.driver as drv
    from pycuda.compiler import compile as compile_cuda

    (threads,) = args.threads
    clock = time.process_time if args.cpu_time else time.perf_counter
    rounds = 3 if args.quick else args.rounds
    drv.init()
    context = drv.Device(0).make_context()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        library = compile_loops(folder)
        pool = concurrent.futures.ThreadPoolExecutor(threads)
        try:
            ptx = compile_cuda(
                SOURCE, no_extern_c=True, arch="compute_75", target="ptx"
            )
            module = drv.module_from_buffer(ptx)
            for case in cases(args.quick):
                if args.only and case.name not in args.only:
                    continue
                kernel = Kernel(drv, module, case)
                loop = Loop(library, case, threads, pool)
                rows.append(measure(case, kernel, loop, rounds, clock))
                kernel.close()
        finally:
            pool.shutdown()
            context.pop()
            context.detach()
    print(json.dumps(rows))


def measured(args, threads):
    """Return the rows for a number of threads, measured in a process of its own."""
    options = ["--child", "--threads", str(threads), *["--cpu-time"] * args.cpu_time]
    rows = common.ask_child(__file__, args, threads, options)
    return [{"threads": threads, **row} for row in rows]


# -- the report ------------------------------------------------------------------------


def with_scaling(rows):
    """Add to each row how many times faster it is than the row with fewest threads."""
    first = {}
    for row in rows:
        slowest = first.setdefault(row["kernel"], row["ours_s"])
        row["scaling"] = slowest / row["ours_s"]
    return rows


def report(result):
    head = ["kernel", "threads", "ms", "loop ms", "ratio", "at most", "scaling", ""]
    table = [
        [
            row["kernel"],
            str(row["threads"]),
            f"{row['ours_s'] * 1e3:.2f}",
            f"{row['loop_s'] * 1e3:.2f}",
            f"{row['ratio']:.2f}",
            f"{BOUND:g}",
            f"{row['scaling']:.2f}",
            "ok" if row["holds"] else "MISS",
        ]
        for row in result["rows"]
    ]
    lines = [f"software device on {result['cpu']}, {result['clock']}"]
    lines.append(common.table(head, table))
    for row in result["rows"]:
        if "bytes_per_s" in row:
            ours, memory = (row[k] / 1e9 for k in ("bytes_per_s", "memory_bytes_per_s"))
            lines.append(
                f"{row['kernel']}, threads: {row['threads']}: {ours:.1f} GB/s; memcpy: "
                f"{memory:.1f} GB/s; {memory / ours:.2f} times, at most "
                f"{MEMORY_BOUND:g}"
            )
    return "\n".join(lines)


def parser():
    p = common.parser(__doc__, strict=True, rounds=25)
    p.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    p.add_argument("--cpu-time", action="store_true", help="count CPU time")
    p.add_argument("--only", action="append", default=[], metavar="KERNEL")
    p.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return p


def main(argv=None):
    args = parser().parse_args(argv)
    if args.rounds < 1 or min(args.threads) < 1:
        parser().error("--rounds and --threads take positive numbers")
    if args.child:
        child(args)
        return 0
    rows = [row for threads in args.threads for row in measured(args, threads)]
    result = {
        "environment": common.environment(),
        "cpu": cpu_name(),
        "clock": "CPU time" if args.cpu_time else "wall clock",
        "rounds": args.rounds,
        "rows": with_scaling(rows),
    }
    missed = [row for row in rows if not row["holds"]]
    return common.conclude(args, result, report(result), missed)


if __name__ == "__main__":
    sys.exit(main())
