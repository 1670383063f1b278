#!/usr/bin/env python3
"""Whole programs on the software device beside NumPy, g++ -O3 and clang++ -O3.

    python bench/bench_programs.py [--quick] [--json FILE] [--rounds N]
                                   [--sizes N ...] [--only PROGRAM]

Programs of kernels run beside the same work in plain C++ (programs.cpp), compiled by
``g++ -O3`` and by ``clang++ -O3 -march=native``, with one thread and with two. Programs
of arrays are one function each, which runs with ``pycuda.array_api``, whose arrays
come from a pool, and with NumPy, in one thread; a size is its number of elements. All
results are compared with those of NumPy first.

All run in one process, in turn, and the least time of each counts. With one thread that
is CPU time, which other work on the machine hardly changes. With two threads it is the
wall clock, which includes the start of the threads of the C++. ``scaling`` is the CPU
time of one thread over the wall clock of two: a core that other work uses lowers it.
"""

import argparse
import ctypes
import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import bench_loops  # noqa: E402
import common  # noqa: E402
from bench_emulator import cpu_name  # noqa: E402

SIZES = (2**14, 2**20)
COMPILERS = {
    "g++": ("-O3",),
    "clang++": ("-O3", "-march=native"),
}
BLOCK = 256

# The matrix product and the bodies are those of bench_loops.py.
SOURCE = """
typedef unsigned int u32;

extern "C" {

__global__ void stencil(float *out, const float *in, int n)
{
    __shared__ float s[18][18];
    int tx = threadIdx.x, ty = threadIdx.y;
    int left = blockIdx.x * 16, top = blockIdx.y * 16;
    for (int i = ty * 16 + tx; i < 18 * 18; i += 256) {
        int x = left + i % 18, y = top + i / 18;
        s[i / 18][i % 18] = x < n && y < n ? in[y * n + x] : 0;
    }
    __syncthreads();
    int x = left + tx + 1, y = top + ty + 1;
    if (x < n - 1 && y < n - 1)
        out[y * n + x] = 0.5f * s[ty + 1][tx + 1]
            + 0.125f * (s[ty + 1][tx] + s[ty + 1][tx + 2]
                        + s[ty][tx + 1] + s[ty + 2][tx + 1]);
}

__global__ void histogram(u32 *bins, const unsigned char *in, int n)
{
    __shared__ u32 s[256];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        atomicAdd(&s[in[i]], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}

__global__ void count_digits(u32 *counts, const u32 *in, int shift)
{
    __shared__ u32 s[16];
    int t = threadIdx.x;
    if (t < 16) s[t] = 0;
    __syncthreads();
    atomicAdd(&s[in[blockIdx.x * 256 + t] >> shift & 15], 1);
    __syncthreads();
    if (t < 16) counts[t * gridDim.x + blockIdx.x] = s[t];
}

__global__ void scan(u32 *counts, int n)
{
    __shared__ u32 s[256];
    int t = threadIdx.x;
    u32 before = 0;
    for (int start = 0; start < n; start += 256) {
        u32 v = start + t < n ? counts[start + t] : 0;
        s[t] = v;
        __syncthreads();
        for (int d = 1; d < 256; d <<= 1) {
            u32 w = t >= d ? s[t - d] : 0;
            __syncthreads();
            s[t] += w;
            __syncthreads();
        }
        if (start + t < n) counts[start + t] = before + s[t] - v;
        before += s[255];
        __syncthreads();
    }
}

__global__ void scatter(u32 *out, const u32 *in, const u32 *starts, int shift)
{
    __shared__ u32 warps[8][16];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (t < 128) warps[t / 16][t % 16] = 0;
    __syncthreads();
    u32 v = in[blockIdx.x * 256 + t], digit = v >> shift & 15;
    u32 same = __match_any_sync(~0u, digit);
    u32 rank = __popc(same & ((1u << lane) - 1));
    if (rank == 0) warps[warp][digit] = __popc(same);
    __syncthreads();
    for (int w = 0; w < warp; w++) rank += warps[w][digit];
    out[starts[digit * gridDim.x + blockIdx.x] + rank] = v;
}

__global__ void sum_rows(float *out, const float *in, int n)
{
    __shared__ float s[8];
    int t = threadIdx.x;
    float v = 0;
    for (int x = t; x < n; x += 256) v += in[blockIdx.x * n + x];
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(~0u, v, d);
    if (t % 32 == 0) s[t / 32] = v;
    __syncthreads();
    if (t == 0) {
        for (int k = 1; k < 8; k++) v += s[k];
        out[blockIdx.x] = v;
    }
}

__global__ void sum_columns(float *out, const float *in, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    float v = 0;
    for (int y = 0; y < n; y++) v += in[y * n + x];
    out[x] = v;
}

__global__ void spmv(float *out, const float *values, const float *x,
                     const int *columns, const int *starts, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0;
    for (int k = starts[row]; k < starts[row + 1]; k++)
        sum += values[k] * x[columns[k]];
    out[row] = sum;
}

__constant__ int turns[16] = {7, 12, 17, 22, 5, 9, 14, 20,
                              4, 11, 16, 23, 6, 10, 15, 21};

__global__ void digest(u32 *out, const u32 *table, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u32 a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
#pragma unroll
    for (int k = 0; k < 64; k++) {
        u32 f = k < 16 ? (b & c) | (~b & d) : k < 32 ? (d & b) | (~d & c)
              : k < 48 ? b ^ c ^ d : c ^ (b | ~d);
        u32 v = a + f + table[k] + i;
        int turn = turns[k / 16 * 4 + k % 4];
        a = d;
        d = c;
        c = b;
        b += v << turn | v >> (32 - turn);
    }
    out[i] = a ^ b ^ c ^ d;
}

__global__ void saxpy(float *y, const float *x, float a, int n)
{
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        y[i] = a * y[i] + x[i];
}

__global__ void blur(unsigned short *out, const unsigned short *in, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= n - 2 || y >= n - 2) return;
    const unsigned short *p = in + y * n + x;
    int rows = 0;
    for (int k = 0; k < 3; k++)
        rows += (p[k * n] + p[k * n + 1] + p[k * n + 2]) / 3;
    out[y * n + x] = rows / 3;
}

}
"""


# -- programs of kernels ---------------------------------------------------------------


@dataclass(frozen=True)
class Program:
    """Kernels and the C++ function of the same name.

    ``arrays`` are the arguments, the one that is written first. ``launch(k, *buffers)``
    launches the kernels ``k[name]``. ``expected`` is what NumPy's function returns, for
    all elements of the result.
    """

    name: str
    arrays: tuple
    size: int
    launch: object
    expected: object


def programs(quick):
    import numpy as np

    random = np.random.default_rng(7)
    n = 1 << (12 if quick else 20)
    side = 64 if quick else 1024
    product = 64 if quick else 256
    bodies = 512 if quick else 2048
    rows = 1 << (10 if quick else 16)
    i32, f32, u32 = np.int32, np.float32, np.uint32

    def floats(*shape):
        return random.uniform(0, 1, shape).astype(f32)

    def flat(name, blocks, *scalars, block=(BLOCK, 1, 1)):
        grid = blocks if isinstance(blocks, tuple) else (blocks, 1)

        def launch(k, *buffers):
            k[name](*buffers, *scalars, grid=grid, block=block)

        return launch

    def clear(k, buffer, nbytes):
        k["memset"](buffer, 0, nbytes)

    def run_histogram(k, bins, data):
        clear(k, bins, 1024)
        k["histogram"](bins, data, i32(n), grid=(64, 1), block=(BLOCK, 1, 1))

    def run_sort(k, out, data, other, counts):
        blocks = n // BLOCK
        size = {"grid": (blocks, 1), "block": (BLOCK, 1, 1)}
        source = data
        for shift in range(0, 32, 4):
            target = out if shift // 4 % 2 else other
            k["count_digits"](counts, source, i32(shift), **size)
            one = {"grid": (1, 1), "block": (BLOCK, 1, 1)}
            k["scan"](counts, i32(16 * blocks), **one)
            k["scatter"](target, source, counts, i32(shift), **size)
            source = target

    def run_sum(k, out, data):
        clear(k, out, 4)
        k["reduction"](out, data, i32(n), grid=(64, 1), block=(BLOCK, 1, 1))

    def run_chain(k, y, x):
        clear(k, y, 4 * n)
        for _ in range(8):
            k["saxpy"](y, x, f32(0.5), i32(n), grid=(64, 1), block=(BLOCK, 1, 1))

    def stencil(out, a):
        out = np.zeros_like(a)
        sides = a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1]
        out[1:-1, 1:-1] = f32(0.5) * a[1:-1, 1:-1] + f32(0.125) * sides
        return out

    def spmv(out, values, x, columns, starts):
        return np.add.reduceat(values * x[columns], starts[:-1])

    def nbody(out, a):
        d = a[None, :, :3] - a[:, None, :3]
        r = 1 / np.sqrt((d * d).sum(2) + f32(1e-3))
        force = (d * (a[None, :, 3] * r * r * r)[:, :, None]).sum(1)
        return np.concatenate([force, np.zeros((len(a), 1), f32)], 1)

    def digest(out, table):
        i = np.arange(n, dtype=u32)
        words = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)
        a, b, c, d = (np.full(n, word, u32) for word in words)
        turns = ((7, 12, 17, 22), (5, 9, 14, 20), (4, 11, 16, 23), (6, 10, 15, 21))
        for k in range(64):
            if k < 16:
                f = (b & c) | (~b & d)
            elif k < 32:
                f = (d & b) | (~d & c)
            else:
                f = b ^ c ^ d if k < 48 else c ^ (b | ~d)
            v = a + f + table[k] + i
            turn = turns[k // 16][k % 4]
            a, d, c, b = d, c, b, b + (v << u32(turn) | v >> u32(32 - turn))
        return a ^ b ^ c ^ d

    def chain(out, x):
        y = np.zeros_like(x)
        for _ in range(8):
            y = f32(0.5) * y + x
        return y

    def blur(out, a):
        a = a.astype(i32)
        across = (a[:, :-2] + a[:, 1:-1] + a[:, 2:]) // 3
        out = np.zeros(a.shape, np.uint16)
        out[:-2, :-2] = (across[:-2] + across[1:-1] + across[2:]) // 3
        return out

    def empty(*shape, dtype=f32):
        return np.zeros(shape, dtype)

    square = floats(side, side)
    sine = np.abs(np.sin(np.arange(1, 65)))
    table = np.floor(sine * 2.0**32).astype(u32)
    image = random.integers(0, 4096, (side, side), dtype=np.uint16)
    keys = random.integers(0, 2**32, n, dtype=u32)
    tiles = (-(-(side - 2) // 16),) * 2
    matrices = floats(product, product), floats(product, product)
    tile = (product // 16,) * 2
    sparse = (
        floats(16 * rows),
        floats(rows),
        random.integers(0, rows, 16 * rows, dtype=i32),
        np.arange(0, 16 * rows + 1, 16, dtype=i32),
    )
    return [
        Program(
            "matmul",
            (empty(product, product), *matrices),
            product,
            flat("matmul", tile, i32(product), block=(16, 16, 1)),
            lambda out, a, b: a @ b,
        ),
        Program(
            "stencil",
            (empty(side, side), square),
            side,
            flat("stencil", tiles, i32(side), block=(16, 16, 1)),
            stencil,
        ),
        Program(
            "histogram",
            (empty(256, dtype=u32), random.integers(0, 256, n, dtype=np.uint8)),
            n,
            run_histogram,
            lambda out, a: np.bincount(a, minlength=256),
        ),
        Program(
            "radix_sort",
            (empty(n, dtype=u32), keys, keys.copy(), empty(n // 16, dtype=u32)),
            n,
            run_sort,
            lambda out, a, *_: np.sort(a),
        ),
        Program(
            "sum_all", (empty(1), floats(n)), n, run_sum, lambda out, a: a.sum()[None]
        ),
        Program(
            "sum_rows",
            (empty(side), square),
            side,
            flat("sum_rows", side, i32(side)),
            lambda out, a: a.sum(1),
        ),
        Program(
            "sum_columns",
            (empty(side), square),
            side,
            flat("sum_columns", side // 64, i32(side), block=(64, 1, 1)),
            lambda out, a: a.sum(0),
        ),
        Program(
            "spmv",
            (empty(rows), *sparse),
            rows,
            flat("spmv", rows // 256, i32(rows)),
            spmv,
        ),
        Program(
            "nbody",
            (empty(bodies, 4), floats(bodies, 4)),
            bodies,
            flat("nbody", bodies // BLOCK, i32(bodies)),
            nbody,
        ),
        Program(
            "digest",
            (empty(n, dtype=u32), table),
            n,
            flat("digest", n // 256, i32(n)),
            digest,
        ),
        Program("saxpy_chain", (empty(n), floats(n)), n, run_chain, chain),
        Program(
            "blur",
            (empty(side, side, dtype=np.uint16), image),
            side,
            flat("blur", (side // 32, side // 8), i32(side), block=(32, 8, 1)),
            blur,
        ),
    ]


# -- programs of arrays ----------------------------------------------------------------


def kmeans(xp, points):
    """Five steps with eight centres; the points are pairs."""
    centres = points[:8, :]
    for _ in range(5):
        apart = points[:, None, :] - centres[None, :, :]
        nearest = xp.argmin(xp.sum(apart * apart, axis=2), axis=1)
        mine = xp.astype(nearest[:, None] == xp.arange(8)[None, :], xp.float32)
        counts = xp.sum(mine, axis=0)[:, None] + 1e-6
        centres = xp.matmul(xp.matrix_transpose(mine), points) / counts
    return centres


def kalman(xp, data):
    """Two steps of a filter with four states for each row of 16 elements."""
    filters = xp.reshape(data, (-1, 4, 4))
    eye = xp.eye(4, dtype=xp.float32)
    step = eye + 0.1 * xp.eye(4, k=2, dtype=xp.float32)
    back = xp.matrix_transpose(step)
    state = filters[:, :, :1]
    spread = xp.matmul(filters, xp.matrix_transpose(filters)) + eye
    for _ in range(2):
        state = xp.matmul(step, state)
        spread = xp.matmul(xp.matmul(step, spread), back) + 0.01 * eye
        gain = spread[:, :, :1] / (spread[:, :1, :1] + 0.1)
        state = state + gain * (filters[:, 1:2, 1:2] - state[:, :1, :])
        spread = spread - xp.matmul(gain, spread[:, :1, :])
    return state


def jacobi(xp, field):
    """50 steps on a square."""
    for _ in range(50):
        inner = field[1:-1, :-2] + field[1:-1, 2:] + field[:-2, 1:-1] + field[2:, 1:-1]
        field[1:-1, 1:-1] = 0.25 * inner
    return field


def knn(xp, points):
    """The four nearest of all points for 16 points."""
    apart = points[None, :, :] - points[:16, None, :]
    squares = xp.sum(apart * apart, axis=2)
    return xp.sort(squares, axis=1)[:, :4]


def life(xp, field):
    """Ten generations on a torus."""
    cells = xp.astype(field > 0.5, xp.int32)
    for _ in range(10):
        rows = cells + xp.roll(cells, 1, axis=0) + xp.roll(cells, -1, axis=0)
        near = rows + xp.roll(rows, 1, axis=1) + xp.roll(rows, -1, axis=1) - cells
        alive = (near == 3) | ((near == 2) & (cells == 1))
        cells = xp.astype(alive, xp.int32)
    return cells


ARRAYS = {
    kmeans: lambda n: (n // 2, 2),
    kalman: lambda n: (n,),
    jacobi: lambda n: (1 << n.bit_length() // 2,) * 2,
    knn: lambda n: (n // 2, 2),
    life: lambda n: (1 << n.bit_length() // 2,) * 2,
}


# -- measuring -------------------------------------------------------------------------


def compile_programs(folder):
    """Compile programs.cpp with each compiler; return {name: library}."""
    found = {}
    for name, flags in COMPILERS.items():
        if shutil.which(name) is None:
            continue
        out = Path(folder) / f"{name}.so"
        command = [name, *flags, "-shared", "-fPIC", "-pthread", "-o", str(out)]
        subprocess.run([*command, str(HERE / "programs.cpp")], check=True)
        found[name] = ctypes.CDLL(str(out))
    if not found:
        sys.exit("bench_programs.py needs g++ or clang++")
    return found


def compare(name, result, expected):
    """Fail unless a result is nearly that of NumPy."""
    import numpy as np

    if not np.allclose(result, expected, rtol=2e-3, atol=2e-3):
        sys.exit(f"{name}: the result differs from NumPy's")


def least(runs, rounds):
    """Run some functions in turn; return {name: the least CPU and wall seconds}."""
    best = {name: [float("inf")] * 2 for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            cpu, wall = time.process_time(), time.perf_counter()
            run()
            spent = time.process_time() - cpu, time.perf_counter() - wall
            best[name] = [min(a, b) for a, b in zip(best[name], spent, strict=True)]
    return {name: {"cpu": cpu, "wall": wall} for name, (cpu, wall) in best.items()}


def measure_program(drv, functions, libraries, program, threads, rounds):
    buffers = [drv.to_device(array) for array in program.arrays]

    def ours():
        program.launch(functions, *buffers)
        drv.Context.synchronize()

    expected = program.expected(*program.arrays)
    ours()
    result = program.arrays[0].copy()
    drv.memcpy_dtoh(result, buffers[0])
    compare(program.name, result, expected)
    runs = {"ours": ours}
    for name, library in libraries.items():
        arrays = [array.copy() for array in program.arrays]
        addresses = [array.ctypes.data for array in arrays]
        pointers = (ctypes.c_void_p * len(arrays))(*addresses)
        function = getattr(library, program.name)

        def run(function=function, pointers=pointers, kept=arrays):
            function(pointers, ctypes.c_int64(program.size), ctypes.c_int(threads))

        run()
        compare(f"{program.name}, {name}", arrays[0], expected)
        runs[name] = run
    if threads == 1:
        runs["numpy"] = lambda: program.expected(*program.arrays)
    times = least(runs, rounds)
    for buffer in buffers:
        buffer.free()
    return {"program": program.name, "size": program.size, "seconds": times}


def measure_arrays(function, shape, size, rounds):
    import numpy as np

    import pycuda.array_api as xp
    from pycuda.driver import Context
    from pycuda.tools import DeviceMemoryPool, set_default_allocator

    # As a program should; NumPy's arrays reuse memory, too.
    set_default_allocator(DeviceMemoryPool().allocate)
    host = np.random.default_rng(7).uniform(0, 1, shape(size)).astype(np.float32)
    ours_data, theirs_data = xp.asarray(host, copy=True), host.copy()

    def ours():
        result = function(xp, ours_data)
        Context.synchronize()
        return result

    expected = function(np, theirs_data)
    compare(function.__name__, np.asarray(ours().get()), expected)
    times = least({"ours": ours, "numpy": lambda: function(np, theirs_data)}, rounds)
    return {"program": function.__name__, "size": size, "seconds": times}


def child(args):
    """Measure with one number of threads; print the rows as JSON."""
    import pycuda.autoprimaryctx  # noqa: F401 - makes a context
    import pycuda.driver as drv
    from pycuda.compiler import compile as compile_cuda

    rounds = 2 if args.quick else args.rounds
    rows = []

    def wanted(name):
        return not args.only or name in args.only

    functions = {"memset": drv.memset_d8}
    for source in (SOURCE, bench_loops.SOURCE):
        ptx = compile_cuda(source, no_extern_c=True, arch="compute_75", target="ptx")
        module = drv.module_from_buffer(ptx)
        for line in source.split("__global__ void ")[1:]:
            name = line.split("(")[0]
            functions[name] = module.get_function(name)
    with tempfile.TemporaryDirectory() as folder:
        libraries = compile_programs(folder)
        for program in programs(args.quick):
            if wanted(program.name):
                rows.append(
                    measure_program(
                        drv, functions, libraries, program, args.child, rounds
                    )
                )
    if args.child == 1:
        for function, shape in ARRAYS.items():
            for size in args.sizes:
                if wanted(function.__name__):
                    rows.append(measure_arrays(function, shape, size, rounds))
    print(json.dumps(rows))


def measured(args, threads):
    """Return the rows for a number of threads, measured in a process of its own."""
    options = ["--child", str(threads), "--sizes", *map(str, args.sizes)]
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    rows = common.ask_child(__file__, args, threads, options, **one)
    return [{"threads": threads, **row} for row in rows]


# -- the report ------------------------------------------------------------------------


def report(result):
    one = {}
    head = ["program", "size", "threads", "ms", "g++", "clang++", "NumPy", "scaling"]
    lines = []
    for row in result["rows"]:
        seconds, clock = row["seconds"], "cpu" if row["threads"] == 1 else "wall"
        ours = seconds["ours"]
        first = one.setdefault((row["program"], row["size"]), ours["cpu"])
        ratios = [
            f"{ours[clock] / seconds[name][clock]:.2f}" if name in seconds else "-"
            for name in ("g++", "clang++", "numpy")
        ]
        counts = [str(row["size"]), str(row["threads"]), f"{ours[clock] * 1e3:.2f}"]
        scaling = f"{first / ours['wall']:.2f}" if row["threads"] > 1 else "-"
        lines.append([row["program"], *counts, *ratios, scaling])
    text = common.table(head, lines)
    return f"software device on {result['cpu']}; our time over that of others\n{text}"


def parser():
    p = common.parser(__doc__, rounds=10)
    p.add_argument("--sizes", type=int, nargs="+", metavar="N")
    p.add_argument("--only", action="append", default=[], metavar="PROGRAM")
    p.add_argument("--child", type=int, help=argparse.SUPPRESS)
    return p


def main(argv=None):
    args = parser().parse_args(argv)
    args.sizes = args.sizes or ([2**10] if args.quick else list(SIZES))
    if args.rounds < 1 or min(args.sizes) < 2**10:
        parser().error("--rounds takes positive numbers, --sizes 1024 and more")
    if args.child:
        child(args)
        return 0
    result = {
        "environment": common.environment(),
        "cpu": cpu_name(),
        "rounds": args.rounds,
        "rows": [row for threads in (1, 2) for row in measured(args, threads)],
    }
    return common.conclude(args, result, report(result))


if __name__ == "__main__":
    sys.exit(main())
