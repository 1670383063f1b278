#!/usr/bin/env python3
"""Capture a solver as a graph, and let the device decide when it has finished.

    python graph_solver.py [--size N] [--tolerance T] [--picture PATH]

The program solves Poisson's equation on a line by Jacobi's method: every step computes
each value from its two neighbours. It is solved twice. First, the steps are captured
and launched in groups, and the host looks at the change after each group. Then a graph
with a loop does everything in one launch: a kernel compares the change with the
tolerance and ends the loop. Both solutions are compared with the exact one.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit  # makes a context
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

SOURCE = """
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);

extern "C" __global__ void step(float *to, const float *from, const float *rhs, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float left = i > 0 ? from[i - 1] : 0;
        float right = i < n - 1 ? from[i + 1] : 0;
        to[i] = 0.5f * (left + right + rhs[i]);
    }
}

extern "C" __global__ void decide(cudaGraphConditionalHandle again, const float *change,
                                  float tolerance, int *rounds, int most)
{
    ++*rounds;
    cudaGraphSetConditional(again, *change > tolerance && *rounds < most);
}
"""
STEPS = 50  # between two looks at the change
MOST = 2000  # rounds


def exact(n):
    """Return the solution for a right-hand side of ones."""
    i = np.arange(1, n + 1)
    return i * (n + 1 - i) / 2


def steps(kernel, x, other, rhs):
    """Enqueue a group of steps; return the largest change of the last two."""
    n = np.int32(x.size)
    shape = {"block": (128, 1, 1), "grid": (-(-x.size // 128), 1)}
    for _ in range(STEPS // 2):
        kernel(other, x, rhs, n, **shape)
        kernel(x, other, rhs, n, **shape)
    return gpuarray.max(abs(x - other))


def solve_in_groups(kernel, stream, x, rhs, tolerance):
    """Launch a captured group until the change is small. Return the rounds."""
    other = gpuarray.empty_like(x)
    with stream.capture() as graph:
        change = steps(kernel, x, other, rhs)
    executable = graph.instantiate()
    for rounds in range(1, MOST + 1):
        executable.launch(stream)
        stream.synchronize()
        if change.get() <= tolerance:
            return rounds
    return MOST


def solver_graph(module, stream, x, rhs, tolerance):
    """Return a graph that solves by one launch, and the number of its rounds."""
    rounds = gpuarray.zeros(1, np.int32)
    other = gpuarray.empty_like(x)
    graph = drv.Graph()
    again = graph.condition(1)
    reset = graph.add_set(rounds, 0, width=4)
    loop = graph.add_while(again, after=reset)
    with stream.capture(loop.bodies[0]):
        change = steps(module.get_function("step"), x, other, rhs)
        decide = module.get_function("decide")
        tolerance, most = np.float32(tolerance), np.int32(MOST)
        decide(again, change, tolerance, rounds, most, block=(1, 1, 1))
    return graph, rounds


def main(argv=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=32)
    parser.add_argument("--tolerance", type=float, default=1e-5)
    parser.add_argument("--picture", default="graph_solver.svg", help="the SVG file")
    args = parser.parse_args(argv)
    print("device:", pycuda.autoinit.device.name())

    module = SourceModule(SOURCE, no_extern_c=True)
    stream = drv.Stream()
    rhs = gpuarray.to_gpu(np.ones(args.size, np.float32))
    expected = exact(args.size)

    x = gpuarray.zeros_like(rhs)
    kernel = module.get_function("step")
    rounds = solve_in_groups(kernel, stream, x, rhs, args.tolerance)
    error = abs(x.get() - expected).max() / expected.max()
    print(f"host decides:   {rounds * STEPS} steps, error {error:.1e}")

    y = gpuarray.zeros_like(rhs)
    graph, count = solver_graph(module, stream, y, rhs, args.tolerance)
    graph.instantiate().launch(stream)  # one launch; nothing waits
    stream.synchronize()
    other_error = abs(y.get() - expected).max() / expected.max()
    print(
        f"device decides: {int(count.get()[0]) * STEPS} steps, error {other_error:.1e}"
    )
    with open(args.picture, "w", encoding="utf-8") as file:
        file.write(graph._repr_svg_())
    print("written:", args.picture)

    same = rounds == int(count.get()[0])
    if not (same and error < 1e-3 and other_error < 1e-3):
        print("the solutions are wrong", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
