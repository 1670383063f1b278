"""The cost of making a kernel: cold compared with C, cached, and at first use.

    python bench/bench_compile.py [--quick] [--heavy] [--json FILE] [--strict]

* Cold: an elementwise kernel through NVRTC and the driver, compared with the same work
  in C (floor_compile.c). Each call has another source. This package also writes the
  result to the cache.
* Cached: SourceModule from the cache, without headers and with five user headers.
  "Again" is the second of a text in one process. These rows have no floor.
* nvcc: the same kernel through nvcc into the cache, without its load. The floor is the
  bare nvcc command with the same options and source. Each call has another source.
* First use: `x + y` in a fresh process with a warm cache, after the context was made.
* First kernel: from the import of `pycuda.compiler` to the result of a SourceModule, in
  a fresh process whose context was made, with a bundle of pycuda.precompile and without
  a compiler or a cache.
* With --heavy: a kernel with CUB's block sort, compiled by nvcc and by NVRTC, each time
  with another constant in a fresh process. NVRTC compiles without precompiled headers,
  makes them, and uses them.

Columns and rounds are as in bench_launch.py; times are nanoseconds per call.
"""

import argparse
import itertools
import os
import sys
import tempfile
from pathlib import Path

import common
from bench_launch import Case, cells, child_env, make_row, measure_case
from common import Bound, Subject, SubjectError

KERNEL = """
extern "C" __global__ void axpbyz(float *z, float a, const float *x, float b,
                                  const float *y, unsigned long long n)
{
    unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < n; i += step)
        z[i] = a * x[i] + b * y[i];
}
"""
HEADERS = 5

CASES = [
    Case(
        "nvrtc_load",
        "cold kernel, NVRTC and load",
        ("nvrtc_load",),
        2,
        Bound(times=1.3),
    ),
    Case("nvcc", "cold kernel, nvcc", ("bare_nvcc",), 1, Bound(plus=15_000_000)),
    Case("cached", "SourceModule, cached", (), 20, Bound(at_most=200_000)),
    Case("again", "SourceModule, again", (), 20, Bound(at_most=50_000)),
    Case(
        "cached_headers",
        f"SourceModule, cached, {HEADERS} headers",
        (),
        20,
        Bound(at_most=400_000),
    ),
    Case("cached_nvrtc", "SourceModule, cached, NVRTC", (), 20, Bound(at_most=200_000)),
    Case("load", "module_from_buffer", (), 20),
]
FIRST = Case("first_add", "first x + y", (), 1, Bound(at_most=2_000_000))

FIRST_ADD = """
import time
import numpy as np
import pycuda.autoinit
from pycuda import gpuarray
x = gpuarray.to_gpu(np.ones(1024, np.float32))
y = gpuarray.to_gpu(np.ones(1024, np.float32))
before = time.perf_counter_ns()
z = x + y
pycuda.autoinit.context.synchronize()
print(time.perf_counter_ns() - before)
"""


FIRST_MODULE = Case(
    "first_module", "first SourceModule, with a bundle", (), 1, Bound(at_most=5_000_000)
)

FIRST_RESULT = """
import time
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
values = np.arange(32, dtype=np.float32)
before = time.perf_counter_ns()
from pycuda.compiler import SourceModule
module = SourceModule("__global__ void twice(float *a) { a[threadIdx.x] *= 2; }")
module.get_function("twice")(drv.InOut(values), block=(32, 1, 1))
after = time.perf_counter_ns()
assert values[31] == 62
print(after - before)
"""

HEAVY = [
    (Case("heavy_nvcc", "CUB's block sort, nvcc", (), 1), "nvcc", "0"),
    (Case("heavy_plain", "the same, NVRTC", (), 1), "nvrtc", "0"),
    (Case("heavy_first", "headers precompiled", (), 1), "nvrtc", "1"),
    (Case("heavy_later", "with these headers", (), 1), "nvrtc", "1"),
]

HEAVY_COMPILE = """
import sys
import time
from pycuda.compiler import compile
SOURCE = '''
#include <cub/block/block_radix_sort.cuh>

extern "C" __global__ void block_sort(unsigned *keys)
{
    typedef cub::BlockRadixSort<unsigned, 128, 4> Sort;
    __shared__ typename Sort::TempStorage room;
    unsigned own[4];
    for (int i = 0; i < 4; i++)
        own[i] = keys[threadIdx.x * 4 + i] ^ %s;
    Sort(room).Sort(own);
    for (int i = 0; i < 4; i++)
        keys[threadIdx.x * 4 + i] = own[i];
}
'''
before = time.perf_counter_ns()
compile(SOURCE % sys.argv[2], compiler=sys.argv[1], no_extern_c=True, arch="sm_80")
print(time.perf_counter_ns() - before)
"""


# -- this package, as a subject --------------------------------------------------------


def cases(directory):
    """Return {name: function that makes a number of calls} of this package."""
    import pycuda.driver as drv
    from pycuda._compile import nvcc, recall, store
    from pycuda.compiler import SourceModule, compile

    number = itertools.count()
    target = "ptx" if "software" in drv.Device(0).name() else "cubin"
    image = compile(KERNEL, target=target)
    includes = "".join(f'#include "header{n}.h"\n' for n in range(HEADERS))

    def cold(calls):
        for _ in range(calls):
            source = f"{KERNEL}// {os.getpid()} {next(number)}\n"
            SourceModule(source, compiler="nvrtc", no_extern_c=True)

    major, minor = drv.Device(0).compute_capability()
    arch = f"{'compute' if target == 'ptx' else 'sm'}_{major}{minor}"
    how = {"compiler": "nvcc", "target": target, "arch": arch, "no_extern_c": True}

    def through_nvcc(calls):
        for _ in range(calls):
            compile(f"{KERNEL}// {os.getpid()} {next(number)}\n", **how)

    def bare_nvcc(calls):
        source, image = Path(directory, "bare.cu"), Path(directory, "bare.image")
        command = [
            nvcc.find("nvcc"),
            f"--{target}",
            f"-arch={arch}",
            f"-I{store.HEADERS}",
        ]
        for _ in range(calls):
            source.write_text(f"{KERNEL}// {os.getpid()} {next(number)}\n")
            done = common.run_quietly([*command, "-o", image, source])
            if done.returncode:
                raise SubjectError(common.last_line(done.stderr))
            image.read_bytes()

    def again(calls):
        for _ in range(calls):
            SourceModule(KERNEL)

    def cached(calls):
        for _ in range(calls):
            recall.forget()
            SourceModule(KERNEL)

    def cached_headers(calls):
        for _ in range(calls):
            recall.forget()
            SourceModule(includes + KERNEL, include_dirs=[directory])

    def cached_nvrtc(calls):
        for _ in range(calls):
            recall.forget()
            SourceModule(KERNEL, compiler="nvrtc")

    def load(calls):
        for _ in range(calls):
            drv.module_from_buffer(image)

    return {
        "nvrtc_load": cold,
        "nvcc": through_nvcc,
        "bare_nvcc": bare_nvcc,
        "again": again,
        "cached": cached,
        "cached_headers": cached_headers,
        "cached_nvrtc": cached_nvrtc,
        "load": load,
    }


def serve(directory):
    """Answer requests; the header contains the facts that the floor needs."""
    import pycuda
    import pycuda.autoinit
    import pycuda.driver as drv
    from pycuda._compile import nvrtc

    device = drv.Device(0)
    software = "software" in device.name()
    package = Path(pycuda.__file__).resolve().parent
    major, minor = device.compute_capability()
    header = {
        "version": pycuda.__version__,
        "device": device.name(),
        "arch": f"{'compute' if software else 'sm'}_{major}{minor}",
        "nvrtc": nvrtc.find(),
        "library": str(package / "libpycuda_emulator.so") if software else None,
    }
    if header["nvrtc"] is None:
        header["missing"] = "NVRTC is not installed"
    common.serve(header, cases(directory), drv.Context.synchronize)


# -- measuring -------------------------------------------------------------------------


def start(directory):
    """Start the floor and this package as subjects; return them and the environment."""
    env = child_env(directory)
    for number in range(HEADERS):
        path = Path(directory) / f"header{number}.h"
        path.write_text(f"#define HEADER_{number}\n")
        os.utime(path, (1, 1))  # old, as headers usually are
    source = Path(directory) / "kernel.cu"
    source.write_text(KERNEL)
    command = [sys.executable, __file__, "--serve", str(directory)]
    ours = Subject("pycuda", command, env)
    try:
        about = ours.header
        if about["library"]:
            env = {"FLOOR_LIBCUDA": about["library"], **env}
        program = common.build_floor(directory, "floor_compile")
        command = [str(program), about["nvrtc"], str(source), about["arch"]]
        return Subject("floor", command, env), ours, env
    except SubjectError:
        ours.close()
        raise


def with_bytecode(directory):
    """Return settings that keep modules compiled, as an installed package does."""
    bytecode = str(Path(directory) / "bytecode")
    return {"PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}


def first_add(env, rounds, directory):
    """Return the row of the first addition. Raises SubjectError if it fails."""
    samples = []
    env = {**env, **with_bytecode(directory)}
    for turn in range(rounds + 1):
        done = common.run_quietly([sys.executable, "-c", FIRST_ADD], env)
        if done.returncode != 0:
            raise SubjectError(common.last_line(done.stderr))
        if turn:  # the first run filled the cache
            samples.append([int(done.stdout.split()[-1])])
    return make_row(FIRST, [], samples, {})


def first_module(env, rounds, directory):
    """Return the row of the first kernel with a bundle. Raises SubjectError."""
    program = Path(directory) / "first.py"
    program.write_text(FIRST_RESULT)
    bundle = str(Path(directory) / "first.bundle")
    make = [sys.executable, "-m", "pycuda.precompile", str(program), "-o", bundle]
    done = common.run_quietly(make, env)
    settings = {
        "PYCUDA_BUNDLE": bundle,
        "PYCUDA_DISABLE_CACHE": "1",
        "PATH": "",
        **with_bytecode(directory),
    }
    samples = []
    for turn in range(rounds + 1):
        if done.returncode == 0:
            done = common.run_quietly([sys.executable, program], {**env, **settings})
        if done.returncode != 0:
            raise SubjectError(common.last_line(done.stderr))
        if turn:
            samples.append([int(done.stdout.split()[-1])])
    return make_row(FIRST_MODULE, [], samples, {})


def heavy(env, rounds):
    """Return the rows of a kernel with CUB. Raises SubjectError if one fails."""
    number = itertools.count()
    samples = {case.name: [] for case, _, _ in HEAVY}
    for turn in range(rounds):
        for case, compiler, headers in HEAVY:
            settings = {
                "PYCUDA_PRECOMPILED_HEADERS": headers,
                "PYCUDA_CACHE_DIR": os.path.join(env["PYCUDA_CACHE_DIR"], f"{turn}"),
            }
            command = [sys.executable, "-c", HEAVY_COMPILE, compiler, str(next(number))]
            done = common.run_quietly(command, {**env, **settings})
            if done.returncode != 0:
                raise SubjectError(common.last_line(done.stderr))
            samples[case.name].append([int(done.stdout.split()[-1])])
    return [make_row(case, [], samples[case.name], {}) for case, _, _ in HEAVY]


def run(args, directory):
    rounds, batches = (2, 3) if args.quick else (args.rounds, args.batches)
    floor, ours, env = start(directory)
    rows, missing = [], {}
    try:
        for case in CASES:
            try:
                beside = ours if case.name == "nvcc" else floor
                rows.append(measure_case(case, beside, ours, {}, rounds, batches)[0])
            except SubjectError as e:
                missing[case.title] = str(e)
    finally:
        floor.close()
        ours.close()
    try:
        rows.append(first_add(env, rounds, directory))
    except SubjectError as e:
        missing[FIRST.title] = str(e)
    try:
        rows.append(first_module(env, rounds, directory))
    except SubjectError as e:
        missing[FIRST_MODULE.title] = str(e)
    if args.heavy:
        try:
            rows += heavy(env, rounds)
        except SubjectError as e:
            missing["CUB's block sort"] = str(e)
    return {
        "environment": common.environment(),
        "device": ours.header["device"],
        "driver": common.cuda_version(floor.header["driver"]),
        "nvrtc": ours.header["nvrtc"],
        "arch": ours.header["arch"],
        "rounds": rounds,
        "batches": batches,
        "rows": rows,
        "missing": missing,
    }


# -- reporting -------------------------------------------------------------------------


def times(row):
    """Return our time divided by the floor, as text."""
    if not row["floor"]:
        return "-"
    return f"{row['ours']['median'] / row['floor']['median']:.2f}"


def report(result):
    env = result["environment"]
    head = ["case", "floor", "min", "median", "over", "bound", "verdict", "times"]
    lines = [
        f"{result['device']}, driver for CUDA {result['driver']}, {result['arch']}",
        f"{env['python']}, {env['system']}, {env['cpus']} CPUs, {env['date']}",
        f"{result['rounds']} rounds of {result['batches']} batches; ns per call",
        "",
        common.table(head, [[*cells(row, []), times(row)] for row in result["rows"]]),
    ]
    lines += [f"{what}: {why}" for what, why in sorted(result["missing"].items())]
    return "\n".join(lines)


def parser():
    p = common.parser(__doc__, "2 rounds of 3 batches: a smoke test", strict=True)
    p.add_argument(
        "--heavy", action="store_true", help="also kernels with CUB, which take seconds"
    )
    p.add_argument("--batches", type=int, default=10, help="per round (default 10)")
    p.add_argument("--serve", metavar="DIRECTORY", help=argparse.SUPPRESS)
    return p


def main(argv=None):
    args = parser().parse_args(argv)
    if args.serve:
        serve(args.serve)
        return 0
    if args.rounds < 1 or args.batches < 1:
        parser().error("--rounds and --batches take positive numbers")
    with tempfile.TemporaryDirectory(prefix="pycuda-bench-") as directory:
        result = common.measured(run, args, directory)
    missed = [row for row in result["rows"] if row["verdict"] == "MISS"]
    return common.conclude(args, result, report(result), missed)


if __name__ == "__main__":
    sys.exit(main())
