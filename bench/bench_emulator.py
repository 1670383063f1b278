#!/usr/bin/env python3
"""The speed of kernels on the software device: billions of lane-instructions a second.

    python bench/bench_emulator.py [--quick] [--strict] [--json FILE] [--threads N]

A lane-instruction is one PTX instruction of one thread. The numbers are counted: a copy
of the program runs once that adds one to a counter for each lane entering each basic
block. The count of each block is multiplied by the number of its instructions. An
instruction whose guard is false counts too, because the interpreter also processes it.
The timed program has no counters. It runs on one core unless --threads changes that.

A second table has small work: launches of 32 threads, copies of 4 kB and events. It is
microseconds of CPU time for each of many calls and for their completion.
"""

import os
import platform
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import common  # noqa: E402

# The product of matrices of a multiple of 16 rows and columns, by tiles.
MATMUL = """
__global__ void matmul(float *c, const float *a, const float *b, int n)
{
    __shared__ float as[16][16], bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    float s = 0;
    for (int t = 0; t < n; t += 16) {
        as[ty][tx] = a[row * n + t + tx];
        bs[ty][tx] = b[(t + ty) * n + column];
        __syncthreads();
        for (int e = 0; e < 16; e++) s += as[ty][e] * bs[e][tx];
        __syncthreads();
    }
    c[row * n + column] = s;
}
"""

SOURCE = (
    """
extern "C" {
"""
    + MATMUL
    + """
__global__ void saxpy(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void reduction(float *out, const float *in, int n)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    float v = 0;
    for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) v += in[i];
    s[t] = v;
    __syncthreads();
    for (int d = 128; d > 0; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void mandelbrot(int *out, float left, float top, float step, int width,
                           int limit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float cr = left + (i % width) * step, ci = top - (i / width) * step;
    float zr = 0, zi = 0;
    int k = 0;
    for (; k < limit && zr * zr + zi * zi <= 4.0f; k++) {
        float t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = t;
    }
    out[i] = k;
}

__global__ void exponentials(float *x, int rounds, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    for (int k = 0; k < rounds; k++) v = expf(-v);
    x[i] = v;
}

__global__ void few(int *out, int value)
{
    out[threadIdx.x] = value;
}

}
"""
)


@dataclass(frozen=True)
class Case:
    """A kernel, its launch, and the speed that it must reach."""

    kernel: str
    grid: tuple
    block: tuple
    args: tuple  # ("buffer", floats) or a NumPy scalar
    bound: float


def cases(quick):
    import numpy as np

    n = 1 << (16 if quick else 20)
    side = 64 if quick else 256
    width = 128 if quick else 512
    i32, f32 = np.int32, np.float32

    def buffer(size):
        return "buffer", size

    return [
        Case("saxpy", (n // 256,), (256,), (buffer(n), buffer(n), f32(2), i32(n)), 2),
        Case("reduction", (64,), (256,), (buffer(64), buffer(n), i32(n)), 3),
        Case(
            "matmul",
            (side // 16, side // 16),
            (16, 16),
            (*[buffer(side * side)] * 3, i32(side)),
            3,
        ),
        Case(
            "mandelbrot",
            (width * width // 128,),
            (128,),
            (
                buffer(width * width),
                f32(-2.1),
                f32(1.4),
                f32(2.8 / width),
                i32(width),
                i32(100),
            ),
            3,
        ),
        Case(
            "exponentials",
            (n // 1024,),
            (256,),
            (buffer(n // 4), i32(20), i32(n // 4)),
            3,
        ),
    ]


# -- counting --------------------------------------------------------------------------


def kernel_text(ptx, kernel):
    """Return the PTX text from a kernel's directive to the end of its body."""
    start = re.search(rf"^\.visible \.entry {kernel}\(", ptx, re.MULTILINE).start()
    return ptx[start : ptx.index("\n}", start) + 2]


def is_instruction(line):
    """Return whether a line is no label, directive, bracket or comment."""
    return line.endswith(";") and not line.startswith((".", "//", "{", "}"))


def ends_block(line):
    words = line.split()
    opcode = words[1] if words[0].startswith("@") else words[0]
    return opcode.rstrip(";").split(".")[0] in ("bra", "brx", "ret", "exit")


def with_counters(ptx, kernel):
    """Return the program with a counter in each basic block, and the blocks' sizes.

    The counters are the variable ``counters``, 64 bits each.
    """
    text = kernel_text(ptx, kernel)
    head, body = text.split("\n{\n", 1)
    sizes, out, starts = [], [], True
    for line in body.splitlines():
        bare = line.split("//")[0].strip()
        if bare.endswith(":"):
            starts = True
        elif is_instruction(bare):
            if starts:
                if not sizes:
                    out.append(".reg .b64 %counters;\nmov.u64 %counters, counters;")
                out.append(f"red.global.add.u64 [%counters+{8 * len(sizes)}], 1;")
                sizes.append(0)
            sizes[-1] += 1
            starts = ends_block(bare)
        out.append(line)
    table = f".visible .global .align 8 .b64 counters[{len(sizes)}];\n"
    counted = table + head + "\n{\n" + "\n".join(out)
    return ptx.replace(text, counted), sizes


# -- measuring -------------------------------------------------------------------------


class Launcher:
    """The kernel of a case with its buffers; calling it runs the kernel once."""

    def __init__(self, drv, case, ptx):
        import numpy as np

        self.drv = drv
        self.module = drv.module_from_buffer(ptx.encode())
        self.function = self.module.get_function(case.kernel)
        self.args, self.buffers = [], []
        self.size = {"grid": case.grid, "block": case.block}
        for arg in case.args:
            if isinstance(arg, tuple):
                start = np.linspace(0, 1, arg[1], dtype=np.float32)
                arg = drv.to_device(start)
                self.buffers.append(arg)
            self.args.append(arg)

    def __call__(self):
        self.function(*self.args, **self.size)
        self.drv.Context.synchronize()

    def close(self):
        for buffer in self.buffers:
            buffer.free()


def count_instructions(drv, case, ptx):
    import numpy as np

    program, sizes = with_counters(ptx, case.kernel)
    launcher = Launcher(drv, case, program)
    try:
        launcher()
        counts = np.zeros(len(sizes), np.uint64)
        drv.memcpy_dtoh(counts, launcher.module.get_global("counters")[0])
    finally:
        launcher.close()
    return sum(int(c) * s for c, s in zip(counts, sizes, strict=True))


def measure(drv, case, ptx, rounds):
    count = count_instructions(drv, case, ptx)
    launcher = Launcher(drv, case, ptx)
    try:
        launcher()
        times = []
        for _ in range(rounds):
            start = time.perf_counter()
            launcher()
            times.append(time.perf_counter() - start)
    finally:
        launcher.close()
    times.sort()
    best, middle = count / times[0] / 1e9, count / times[len(times) // 2] / 1e9
    return {
        "kernel": case.kernel,
        "lane_instructions": count,
        "best_s": times[0],
        "median_s": times[len(times) // 2],
        "best": best,
        "median": middle,
        "bound": case.bound,
        "verdict": "ok" if best >= case.bound else "MISS",
    }


# -- small work ------------------------------------------------------------------------

MOST = 3.0  # microseconds


def small_calls(drv, function):
    """Return {title: function} of calls that do little."""
    import numpy as np

    bytes_ = 4096
    memory, other = drv.mem_alloc(bytes_), drv.mem_alloc(bytes_)
    host = np.zeros(bytes_, np.uint8)
    stream, event = drv.Stream(), drv.Event()
    shape = {"grid": (1, 1), "block": (32, 1, 1)}
    one = np.int32(1)

    def marked():
        event.record(stream)
        event.synchronize()

    return {
        "launch": lambda: function(memory, one, **shape),
        "copy to the device": lambda: drv.memcpy_htod(memory, host),
        "copy to the host": lambda: drv.memcpy_dtoh(host, memory),
        "copy on the device": lambda: drv.memcpy_dtod(other, memory, bytes_),
        "fill": lambda: drv.memset_d8(memory, 0, bytes_),
        "event": marked,
    }


def measure_small(drv, ptx, quick):
    function = drv.module_from_buffer(ptx).get_function("few")
    count = 1000 if quick else 100_000
    rows = []
    for title, call in small_calls(drv, function).items():
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            for _ in range(count):
                call()
            drv.Context.synchronize()
            best = min(best, (time.process_time() - start) / count)
        verdict = "ok" if best * 1e6 <= MOST else "MISS"
        rows.append({"call": title, "best_s": best, "bound": MOST, "verdict": verdict})
    return rows


def cpu_name():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.processor()


def run(args):
    # The library reads these variables when it is loaded.
    os.environ["PYCUDA_DRIVER"] = "emulator"
    os.environ["PYCUDA_EMULATOR_THREADS"] = str(args.threads)

    import pycuda.driver as drv
    from pycuda.compiler import compile as compile_cuda

    drv.init()
    context = drv.Device(0).make_context()
    try:
        ptx = compile_cuda(SOURCE, no_extern_c=True, arch="compute_75", target="ptx")
        rounds = 3 if args.quick else args.rounds
        rows = [measure(drv, case, ptx.decode(), rounds) for case in cases(args.quick)]
        calls = measure_small(drv, ptx, args.quick)
        device = drv.Device(0).name()
    finally:
        context.pop()
        context.detach()
    return {
        "environment": common.environment(),
        "cpu": cpu_name(),
        "device": device,
        "threads": args.threads,
        "simd": os.environ.get("PYCUDA_EMULATOR_SIMD", "best"),
        "rounds": rounds,
        "rows": rows,
        "calls": calls,
    }


def report(result):
    head = ["kernel", "lane-instr.", "ms", "median", "best", "at least", ""]
    rows = [
        [
            row["kernel"],
            common.number(row["lane_instructions"]),
            f"{row['best_s'] * 1e3:.2f}",
            f"{row['median']:.2f}",
            f"{row['best']:.2f}",
            f"{row['bound']:g}",
            row["verdict"],
        ]
        for row in result["rows"]
    ]
    title = f"{result['device']} on {result['cpu']}, threads: {result['threads']}"
    unit = "median, best: billions of lane-instructions a second"
    calls = [
        [row["call"], f"{row['best_s'] * 1e6:.2f}", f"{row['bound']:g}", row["verdict"]]
        for row in result["calls"]
    ]
    small = common.table(["call", "us", "at most", ""], calls)
    return f"{title}\n{common.table(head, rows)}\n{unit}\n\n{small}"


def parser():
    p = common.parser(__doc__, strict=True, rounds=15)
    p.add_argument("--threads", type=int, default=1)
    return p


def main(argv=None):
    args = parser().parse_args(argv)
    if args.rounds < 1 or args.threads < 1:
        parser().error("--rounds and --threads take positive numbers")
    result = run(args)
    both = result["rows"] + result["calls"]
    missed = [row for row in both if row["verdict"] == "MISS"]
    return common.conclude(args, result, report(result), missed)


if __name__ == "__main__":
    sys.exit(main())
