#!/usr/bin/env python3
"""Fused functions: whole array programs, beside plain arrays and compiled ones.

    python bench/bench_fuse.py [--sizes N ...] [--only TEXT] [--rounds N] [--ms N]
                               [--json PATH]

A program is written once, for a namespace of the array API standard and arrays. It runs
with plain GPUArrays, under ``pycuda.fuse``, and where they are installed with CuPy,
``cupy.fuse``, PyTorch and ``torch.compile``. All results are compared with those of
NumPy. A batch of calls is enqueued and synchronised once, and each round times one
batch of each. The table has the median time of a call in milliseconds, and the seconds
of the first fused call.

``--sizes`` are numbers of elements. A package that refuses a program has a dash.
"""

import argparse
import importlib
import json
import statistics
import sys
import time

import numpy as np

SIZES = (2**14, 2**20, 2**24)
PROGRAMS = {}


def program(*shapes, dtype="float32", tolerance=1e-4):
    """Note a program. ``shapes`` are functions of the number of elements."""

    def note(function):
        PROGRAMS[function.__name__] = function, shapes, dtype, tolerance
        return function

    return note


def line(n):
    """Return the shape of n elements in a line."""
    return (n,)


def square(n):
    """Return the shape of a square of n elements."""
    side = int(n**0.5)
    return (side, side)


def rows(n):
    """Return the shape of rows of 256 elements."""
    return (max(n // 256, 1), 256)


# -- the programs ----------------------------------------------------------------------


@program(line, line, line, line)
def arithmetic(xp, a, b, c, d):
    """Add and multiply: one pass."""
    return a * b + c * d - a * 0.5


@program(line, line)
def black_scholes(xp, price, strike):
    """Prices of options, with a rational approximation of the normal distribution."""
    price, strike = price + 0.5, strike + 0.5
    root = 0.2 * 0.5**0.5
    d1 = (xp.log(price / strike) + (0.03 + 0.02) * 0.5) / root
    d2 = d1 - root

    def normal(x):
        k = 1 / (1 + 0.2316419 * xp.abs(x))
        tail = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 - k * 1.8)))
        value = 1 - 0.39894228 * xp.exp(-0.5 * x * x) * tail
        return xp.where(x < 0, 1 - value, value)

    return price * normal(d1) - strike * 0.985 * normal(d2)


@program(square)
def stencil(xp, u):
    """Ten steps of a 5-point stencil."""
    for _ in range(10):
        inner = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u = inner + 0.0
    return u


@program(square, square)
def wave(xp, u, before):
    """Ten steps of the wave equation; the region shrinks by one element a step."""
    for _ in range(10):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        inner = u[1:-1, 1:-1]
        following = 2 * inner - before[1:-1, 1:-1] + 0.1 * (around - 4 * inner)
        u, before = following, inner
    return u


@program(square, square)
def escape(xp, x, y):
    """Fifty masked steps of an escape-time fractal."""
    real, imaginary = 3 * x - 2, 2 * y - 1
    a, b, times = real * 0, real * 0, real * 0
    for _ in range(50):
        inside = a * a + b * b < 4
        a, b = (
            xp.where(inside, a * a - b * b + real, a),
            xp.where(inside, 2 * a * b + imaginary, b),
        )
        times = times + xp.where(inside, xp.ones_like(a), xp.zeros_like(a))
    return times


@program(square)
def periodic(xp, u):
    """Ten steps of diffusion on a torus."""
    for _ in range(10):
        around = xp.roll(u, 1, axis=0) + xp.roll(u, -1, axis=0)
        around = around + xp.roll(u, 1, axis=1) + xp.roll(u, -1, axis=1)
        u = u + 0.1 * (around - 4 * u)
    return u


@program(square)
def sobel(xp, u):
    """The size of the gradient of a picture."""
    right = u[:-2, 2:] + 2 * u[1:-1, 2:] + u[2:, 2:]
    left = u[:-2, :-2] + 2 * u[1:-1, :-2] + u[2:, :-2]
    below = u[2:, :-2] + 2 * u[2:, 1:-1] + u[2:, 2:]
    above = u[:-2, :-2] + 2 * u[:-2, 1:-1] + u[:-2, 2:]
    return xp.sqrt((right - left) ** 2 + (below - above) ** 2)


@program(square)
def life(xp, u):
    """Ten steps of the game of life; the region shrinks by one element a step."""
    u = xp.where(u > 0.5, xp.ones_like(u), xp.zeros_like(u))
    for _ in range(10):
        lines = u[:-2, :] + u[1:-1, :] + u[2:, :]
        around = lines[:, :-2] + lines[:, 1:-1] + lines[:, 2:] - u[1:-1, 1:-1]
        alive = (around == 3) | ((around == 2) & (u[1:-1, 1:-1] > 0.5))
        u = xp.where(alive, xp.ones_like(around), xp.zeros_like(around))
    return u


@program(rows)
def softmax(xp, x):
    """Softmax of the rows."""
    e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    return e / xp.sum(e, axis=1, keepdims=True)


@program(rows)
def layer_norm(xp, x):
    """Layer normalisation of the rows."""
    centered = x - xp.mean(x, axis=1, keepdims=True)
    variance = xp.mean(centered * centered, axis=1, keepdims=True)
    return centered / xp.sqrt(variance + 1e-5)


@program(rows, lambda n: (256,), tolerance=1e-3)
def logistic(xp, x, w):
    """Five steps of a logistic regression."""
    for _ in range(5):
        errors = 1 / (1 + xp.exp(-(x @ w))) - 0.5
        w = w - 0.1 * (errors @ x) / x.shape[0]
    return w


@program(lambda n: (int(n**0.5), 3), tolerance=1e-3)
def n_body(xp, x):
    """Accelerations of bodies."""
    apart = x[None, :, :] - x[:, None, :]
    squares = xp.sum(apart * apart, axis=2) + 0.01
    return xp.sum(apart / (squares * xp.sqrt(squares))[:, :, None], axis=1)


@program(square, square)
def reaction_diffusion(xp, u, v):
    """Five steps of the Gray-Scott model; the region shrinks."""
    for _ in range(5):
        a, b = u[1:-1, 1:-1], v[1:-1, 1:-1]
        du = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * a
        dv = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4 * b
        reaction = a * b * b
        u = a + 0.16 * du - reaction + 0.035 * (1 - a)
        v = b + 0.08 * dv + reaction - 0.1 * b
    return u + v


# -- the packages ----------------------------------------------------------------------


class Plain:
    """GPUArrays, operation by operation."""

    name = "plain"

    def __init__(self):
        import pycuda.autoprimaryctx
        import pycuda.driver as drv
        import pycuda.fuse
        from pycuda import array_api, gpuarray
        from pycuda.tools import DeviceMemoryPool

        self.fuse = pycuda.fuse.fuse
        self.xp = array_api
        self.pool = DeviceMemoryPool()
        self.gpuarray = gpuarray
        self.synchronize = drv.Context.synchronize

    def array(self, values):
        """Return an array on the device."""
        return self.gpuarray.to_gpu(values, allocator=self.pool.allocate)

    def host(self, array):
        """Return an array of the host."""
        return array.get()

    def function(self, source):
        """Return a function of arrays."""
        return lambda *arrays: source(self.xp, *arrays)


class Fused(Plain):
    """GPUArrays under pycuda.fuse."""

    name = "fused"

    def function(self, source):
        """Return a function of arrays."""
        return self.fuse(lambda x, *rest: source(x.__array_namespace__(), x, *rest))


class Cupy:
    """CuPy."""

    name = "cupy"

    def __init__(self):
        self.cupy = importlib.import_module("cupy")
        self.synchronize = self.cupy.cuda.Device().synchronize

    def array(self, values):
        """Return an array on the device."""
        return self.cupy.asarray(values)

    def host(self, array):
        """Return an array of the host."""
        return array.get()

    def function(self, source):
        """Return a function of arrays."""
        return lambda *arrays: source(self.cupy, *arrays)


class CupyFuse(Cupy):
    """CuPy under cupy.fuse."""

    name = "cupy.fuse"

    def function(self, source):
        """Return a function of arrays."""
        return self.cupy.fuse(super().function(source))


class Torch:
    """PyTorch."""

    name = "torch"
    mode = None

    def __init__(self):
        self.torch = importlib.import_module("torch")
        if not self.torch.cuda.is_available():
            raise ImportError("PyTorch finds no GPU")
        self.xp = importlib.import_module("array_api_compat.torch")
        self.synchronize = self.torch.cuda.synchronize

    def array(self, values):
        """Return an array on the device."""
        return self.torch.from_numpy(values).cuda()

    def host(self, array):
        """Return an array of the host."""
        return array.cpu().numpy()

    def function(self, source):
        """Return a function of arrays."""
        return lambda *arrays: source(self.xp, *arrays)


class TorchCompile(Torch):
    """PyTorch under torch.compile."""

    name = "torch.compile"

    def function(self, source):
        """Return a function of arrays."""
        self.torch._dynamo.reset()
        return self.torch.compile(super().function(source), mode=self.mode)


class TorchReduce(TorchCompile):
    """The same, launched as a graph."""

    name = "reduce-overhead"
    mode = "reduce-overhead"


def packages():
    """Return what is installed."""
    found = []
    for kind in (Plain, Fused, Cupy, CupyFuse, Torch, TorchCompile, TorchReduce):
        try:
            found.append(kind())
        except ImportError as error:
            print(f"no {kind.name}: {error}", file=sys.stderr)
    return found


# -- the measurement -------------------------------------------------------------------


def batch_time(package, function, arrays, calls):
    """Return the seconds of some calls."""
    package.synchronize()
    begin = time.perf_counter()
    for _ in range(calls):
        function(*arrays)
    package.synchronize()
    return time.perf_counter() - begin


def differs(got, want, tolerance):
    """Say whether a result is another one than NumPy's."""
    return not np.allclose(got, want, rtol=tolerance, atol=tolerance, equal_nan=True)


def measure(name, size, found, options):
    """Return the row of a program: its times, first calls and faults by package."""
    source, shapes, dtype, tolerance = PROGRAMS[name]
    generator = np.random.default_rng(5)
    values = [generator.random(shape(size)).astype(dtype) for shape in shapes]
    want = source(np, *values)
    row = {"program": name, "size": size, "ms": {}, "first_s": {}, "fault": {}}
    ready = []
    for package in found:
        try:
            arrays = [package.array(each) for each in values]
            function = package.function(source)
            begin = time.perf_counter()
            got = package.host(function(*arrays))
            row["first_s"][package.name] = time.perf_counter() - begin
            if differs(got, want, tolerance):
                row["fault"][package.name] = "differs"
            once = batch_time(package, function, arrays, 1)
            calls = max(1, min(1000, int(options.ms / 1000 / max(once, 1e-6))))
            ready.append((package, function, arrays, calls, []))
        except Exception as error:  # what a peer refuses must not end the run
            row["fault"][package.name] = f"{type(error).__name__}: {error}"[:200]
            if package.name in ("plain", "fused"):
                raise
    for _ in range(options.rounds):
        for package, function, arrays, calls, times in ready:
            times.append(batch_time(package, function, arrays, calls) / calls)
    for package, _, _, _, times in ready:
        row["ms"][package.name] = statistics.median(times) * 1000
    return row


def table(row, names):
    """Return the line of a row."""
    cells = [f"{row['program']:20} {row['size']:>10}"]
    for name in names:
        time_ = row["ms"].get(name)
        mark = "!" if row["fault"].get(name) == "differs" else " "
        cells.append("-".rjust(16) if time_ is None else f"{time_:15.4f}{mark}")
    cells.append(f"{row['first_s']['fused']:8.2f}")
    return " ".join(cells)


def main(arguments=None):
    """Run the programs; return 1 if a result of this package differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--only", default="", help="programs whose name has this text")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--ms", type=float, default=20, help="least time of a batch")
    parser.add_argument("--json", help="file for all numbers")
    options = parser.parse_args(arguments)
    found = packages()
    names = [package.name for package in found]
    heads = " ".join(f"{name:>16}" for name in names)
    print(f"{'program':20} {'elements':>10} {heads}  first s")
    made = []
    for name in PROGRAMS:
        if options.only not in name:
            continue
        for size in options.sizes:
            made.append(measure(name, size, found, options))
            print(table(made[-1], names), flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(made, file, indent=1)
    ours = {"plain", "fused"}
    return int(any(ours & set(row["fault"]) for row in made))


if __name__ == "__main__":
    sys.exit(main())
