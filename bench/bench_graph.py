#!/usr/bin/env python3
"""The cost of graphs in addition to the bare driver: replay, update, many operations.

    python bench/bench_graph.py [--quick] [--json FILE] [--strict]

Each case is measured in several rounds, in which the bare driver (floor_graph.c),
this package and cuda.core, if it is installed, run one after the other. Times are in ns
per call as the caller sees them. A replay is one launch of an executable graph; it is
only enqueued. The rows of 1,000 operations include the wait for their end: the same
operations of arrays of 4 kB, with memory of a pool, one by one and as one graph.
"""

import argparse
import json
import statistics
import sys
import tempfile
from itertools import repeat
from pathlib import Path

import common
from bench_launch import Case, child_env, measure_case, report
from common import BLOCK, COUNT, GRID, Bound, Subject, SubjectError, number

#: The kernels of conjugate gradients in floor_graph.c, which has the same numbers.
SIDE, ITERATIONS = 1024, 200
CG_KERNELS = f"""
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);

#define ROWS ({SIDE} * {SIDE})
#define ROW (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void cg_begin(float *x, float *r, float *d, float *numbers,
                                    int *count)
{{
    x[ROW] = 0;
    r[ROW] = d[ROW] = 1;
    if (ROW == 0) {{
        numbers[0] = ROWS;
        numbers[1] = numbers[2] = 0;
        *count = 0;
    }}
}}

extern "C" __global__ void cg_product(const int *indptr, const int *indices,
                                      const float *data, const float *d, float *q)
{{
    float sum = 0;
    for (int k = indptr[ROW]; k < indptr[ROW + 1]; k++)
        sum += data[k] * d[indices[k]];
    q[ROW] = sum;
}}

extern "C" __global__ void cg_dot(const float *a, const float *b, float *sum)
{{
    __shared__ float warps[32];
    float s = 0;
    for (int i = ROW; i < ROWS; i += gridDim.x * blockDim.x)
        s += a[i] * b[i];
    for (int w = 16; w > 0; w /= 2)
        s += __shfl_down_sync(0xffffffffu, s, w);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x == 0) {{
        for (int w = 1; w < blockDim.x / 32; w++)
            s += warps[w];
        atomicAdd(sum, s);
    }}
}}

extern "C" __global__ void cg_advance(const float *delta, const float *curvature,
                                      const float *d, const float *q, float *x,
                                      float *r)
{{
    float alpha = *delta / *curvature;
    x[ROW] += alpha * d[ROW];
    r[ROW] -= alpha * q[ROW];
}}

extern "C" __global__ void cg_turn(const float *found, const float *delta,
                                   const float *r, float *d)
{{
    d[ROW] = r[ROW] + *found / *delta * d[ROW];
}}

extern "C" __global__ void cg_decide(cudaGraphConditionalHandle again, float *numbers,
                                     int *count)
{{
    numbers[0] = numbers[2];
    numbers[1] = numbers[2] = 0;
    cudaGraphSetConditional(again, ++*count < {ITERATIONS});
}}
"""

CASES = [
    Case("replay_1", "replay, 1 kernel", ("replay_1",), 100, Bound(plus=150)),
    Case("replay_20", "replay, 20 kernels", ("replay_20",), 40, Bound(plus=150)),
    Case(
        "update_kernel", "update of a kernel", ("update_kernel",), 500, Bound(plus=300)
    ),
    Case("operations", "1,000 operations, replayed", ("operations",), 3),
    Case("eager", "1,000 operations, one by one", (), 3),
    Case("cg", "CG, 200 iterations", ("cg",), 2, Bound(times=1.1)),
]

#: How much faster the replay of 1,000 operations must be.
FASTER = 5
OPERATIONS = 1000
LONG = 20


# -- subjects --------------------------------------------------------------------------


def poisson():
    """Return the matrix of floor_graph.c: (indptr, indices, data, shape)."""
    import numpy as np

    rows = np.repeat(np.arange(SIDE * SIDE), 5).reshape(-1, 5)
    columns = rows + np.array([-SIDE, -1, 0, 1, SIDE])
    there = (columns >= 0) & (columns < SIDE * SIDE)
    there[:, 1] &= rows[:, 1] % SIDE != 0
    there[:, 3] &= rows[:, 3] % SIDE != SIDE - 1
    data = np.broadcast_to(np.float32([-1, -1, 4, -1, -1]), there.shape)
    indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    return indptr, columns[there], data[there], (SIDE * SIDE, SIDE * SIDE)


def pycuda_solution():
    """Return the graph of as many iterations as the floor's."""
    import numpy as np

    from pycuda import gpuarray
    from pycuda.sparse.cg import CGStateContainer
    from pycuda.sparse.csr import CsrSpMV

    matrix = CsrSpMV.from_arrays(*poisson())
    solver = CGStateContainer(matrix)
    solver.reset(gpuarray.to_gpu(np.ones(SIDE * SIDE, np.float32)))
    return solver.to_graph(max_iterations=ITERATIONS, tol=0)


def write_image(path):
    """Write the compiled kernels of the floor; print the driver library for it."""
    import subjects

    import pycuda
    from pycuda.compiler import compile

    device, _context = subjects.pycuda_context()
    source = subjects.SOURCE + CG_KERNELS
    Path(path).write_bytes(compile(source, target=subjects.pycuda_target(device)))
    library = None
    if subjects.is_software(device):
        package = Path(pycuda.__file__).resolve().parent
        library = str(package / "libpycuda_emulator.so")
    with common.claim_stdout() as out:
        common.say(out, {"library": library})


def prepare_pycuda():
    import numpy as np
    import subjects

    import pycuda
    from pycuda import gpuarray
    from pycuda.compiler import SourceModule
    from pycuda.tools import DeviceMemoryPool, set_default_allocator

    _device, context = subjects.pycuda_context()
    import pycuda.driver as drv

    k4 = SourceModule(subjects.SOURCE, no_extern_c=True).get_function("k4")
    stream = drv.Stream()
    a, b, c = (gpuarray.zeros(COUNT, np.float32) for _ in range(3))
    n = np.int32(COUNT)

    def chain(length):
        with stream.capture() as graph:
            for _ in range(length):
                k4(a, b, c, n, block=BLOCK, grid=GRID)
        return graph, graph.instantiate()

    graph, one = chain(1)
    _, twenty = chain(LONG)
    node = graph.nodes[0]

    def work():
        x, y = a, b
        for _ in range(OPERATIONS // 4):
            z = x + y
            w = z * 0.5
            x = w - y
            y = w + 1
        return x

    set_default_allocator(DeviceMemoryPool().allocate)
    work()
    with stream.capture() as captured:
        work()
    operations = captured.instantiate()

    solution = pycuda_solution()

    def solve(calls):
        for _ in repeat(None, calls):
            solution.launch(stream)
            stream.synchronize()

    def replay(executable):
        def run(calls):
            launch = executable.launch
            for _ in repeat(None, calls):
                launch(stream)

        return run

    def update_kernel(calls):
        update = one.update_node
        for _ in repeat(None, calls):
            update(node, a, b, c, n)

    def replay_operations(calls):
        for _ in repeat(None, calls):
            operations.launch(stream)
            stream.synchronize()

    def eager(calls):
        with stream:
            for _ in repeat(None, calls):
                work()
                stream.synchronize()

    cases = {
        "replay_1": replay(one),
        "replay_20": replay(twenty),
        "update_kernel": update_kernel,
        "operations": replay_operations,
        "eager": eager,
        "cg": solve,
    }
    return {"version": pycuda.__version__}, cases, context.synchronize


def prepare_cuda_core():
    import cuda.core as package
    import subjects

    try:
        from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
    except ImportError:
        from cuda.core.experimental import (
            Device,
            LaunchConfig,
            Program,
            ProgramOptions,
            launch,
        )
    import numpy as np

    device = Device()
    device.set_current()
    stream = device.create_stream()
    arch = "".join(map(str, device.compute_capability))
    options = ProgramOptions(arch=f"sm_{arch}")
    k4 = Program(subjects.SOURCE, "c++", options).compile("cubin").get_kernel("k4")
    arrays = [device.allocate(4 * COUNT, stream=stream) for _ in range(3)]
    config = LaunchConfig(grid=GRID, block=BLOCK)

    def chain(length):
        builder = stream.create_graph_builder()
        builder.begin_building()
        for _ in range(length):
            launch(builder, config, k4, *arrays, np.int32(COUNT))
        return builder.end_building().complete()

    def replay(graph):
        def run(calls):
            launch = graph.launch
            for _ in repeat(None, calls):
                launch(stream)

        return run

    cases = {"replay_1": replay(chain(1)), "replay_20": replay(chain(LONG))}
    return {"version": package.__version__}, cases, device.sync


PREPARE = {"pycuda": prepare_pycuda, "cuda.core": prepare_cuda_core}


# -- measuring -------------------------------------------------------------------------


def start_floor(directory, env):
    image = Path(directory) / "image"
    done = common.run_quietly([sys.executable, __file__, "--image", str(image)], env)
    if done.returncode != 0:
        raise SubjectError(f"no kernels: {common.last_line(done.stderr)}")
    library = json.loads(done.stdout)["library"]
    if library:
        env = {"FLOOR_LIBCUDA": library, **env}
    program = common.build_floor(directory, "floor_graph")
    return Subject("floor", [str(program), str(image), "--ask"], env)


def run(args, directory):
    rounds, batches = (2, 3) if args.quick else (args.rounds, args.batches)
    env = child_env(directory)
    floor = start_floor(directory, env)
    wanted = ["pycuda"] if args.no_peers else list(PREPARE)
    commands = {name: [sys.executable, __file__, "--serve", name] for name in wanted}
    try:
        subjects, missing = common.start_subjects(commands, env)
    except SubjectError:
        floor.close()
        raise
    ours = subjects.pop("pycuda")
    rows = []
    try:
        for case in CASES:
            if case.name == "cg" and "software" in floor.header["device"]:
                missing[case.title] = "too long for the software device"
                continue
            row, failed = measure_case(case, floor, ours, subjects, rounds, batches)
            rows.append(row)
            missing.update({f"{peer}, {case.title}": e for peer, e in failed.items()})
    finally:
        for subject in (floor, ours, *subjects.values()):
            subject.close()
    times = {row["case"]: row["ours"]["median"] for row in rows}
    return {
        "environment": common.environment(),
        "device": floor.header["device"],
        "driver": common.cuda_version(floor.header["driver"]),
        "version": ours.header["version"],
        "rounds": rounds,
        "batches": batches,
        "rows": rows,
        "faster": times["eager"] / times["operations"],
        "source_module_less_load": None,
        "peers": {name: peer.header["version"] for name, peer in subjects.items()},
        "missing": missing,
    }


def verdict(result):
    """Return the line on 1,000 operations, and whether all bounds hold."""
    fast = result["faster"] >= FASTER
    good = fast and all(row["verdict"] != "MISS" for row in result["rows"])
    per_operation = statistics.median(
        row["ours"]["median"] / OPERATIONS
        for row in result["rows"]
        if row["case"] == "operations"
    )
    line = (
        f"1,000 operations: {result['faster']:.1f} times as fast in a graph "
        f"(at least {FASTER}: {'pass' if fast else 'MISS'}), "
        f"{number(per_operation)} ns per operation"
    )
    return line, good


def main(argv=None):
    p = common.parser(__doc__, "a smoke test", strict=True)
    p.add_argument("--batches", type=int, default=20, help="per round")
    p.add_argument("--no-peers", action="store_true")
    p.add_argument("--serve", choices=list(PREPARE), help=argparse.SUPPRESS)
    p.add_argument("--image", metavar="PATH", help=argparse.SUPPRESS)
    args = p.parse_args(argv)
    if args.image:
        write_image(args.image)
        return 0
    if args.serve:
        common.serve_prepared(PREPARE[args.serve])
        return 0
    with tempfile.TemporaryDirectory(prefix="pycuda-bench-") as directory:
        result = common.measured(run, args, directory)
    line, good = verdict(result)
    return common.conclude(args, result, f"{report(result)}\n{line}", not good)


if __name__ == "__main__":
    sys.exit(main())
