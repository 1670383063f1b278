"""Kernels of every kind on the software device, compared with NumPy.

The .cu files are in test/data/kernels, most of them with their PTX. The PTX of the
others contains code of NVIDIA's libraries, so the tests compile these files.
"""

import math
import os

import numpy as np
import pytest

from support.emulator import ROOT, child
from support.emulator_arrays import Arrays
from support.ptx import compile_file

pytest_plugins = ["support.emulator_fixtures"]
KERNELS = ROOT / "test" / "data" / "kernels"
I32 = np.int32


@pytest.fixture(params=["simd", "base"])
def g(request, d, emu_ctx, monkeypatch):
    if request.param == "base":
        monkeypatch.setenv("PYCUDA_EMULATOR_SIMD", "0")
    assert (os.environ.get("PYCUDA_EMULATOR_SIMD") == "0") == (request.param == "base")
    arrays = Arrays(d)
    yield arrays
    arrays.close()


def module(g, name):
    return g.load((KERNELS / f"{name}.ptx").read_text())


def compiled_module(g, name):
    return g.load(compile_file(KERNELS / f"{name}.cu"))


def call(g, m, name, grid, block, arguments, out, shared=0):
    """Launch with arrays of `arguments` on the device. Return the result in `out`."""
    pointers, result = [], None
    for a in arguments:
        if isinstance(a, np.ndarray) and a.shape:
            p = g.up(a)
            if a is out:
                result = p
            pointers.append(p)
        else:
            pointers.append(a)
    g.launch(m, name, grid, block, *pointers, shared=shared)
    return g.down(result, out)


# -- basics ----------------------------------------------------------------------------


@pytest.fixture
def basics(g):
    return module(g, "basics")


def test_multiply_them(g, basics):
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, 400)).astype("f")
    out = np.zeros_like(a)
    assert (call(g, basics, "multiply_them", 1, 400, [out, a, b], out) == a * b).all()


@pytest.mark.parametrize("n", [1, 31, 32, 33, 1000, 100003])
@pytest.mark.parametrize("grid", [1, 7, 40])
def test_saxpy(g, basics, n, grid):
    rng = np.random.default_rng(n)
    x, y = rng.standard_normal((2, n)).astype("f")
    got = call(g, basics, "saxpy", grid, 96, [I32(n), np.float32(2.5), x, y], y)
    want = (2.5 * x.astype("d") + y).astype("f")
    assert (got == want).all()


def test_widths(g, basics):
    rng = np.random.default_rng(2)
    n = 1000
    a = rng.integers(-128, 128, n).astype("i1")
    b = rng.integers(0, 65536, n).astype("u2")
    c = rng.integers(-(2**62), 2**62, n)
    out = np.zeros(n)
    q = np.trunc(c / 7).astype(object)
    q = np.array([int(v) // 7 if v >= 0 else -(-int(v) // 7) for v in c])
    r = np.array([int(v) - 7 * int(k) for v, k in zip(c, q, strict=False)])
    want = a * 2.5 + b - q.astype("d") + r
    assert (
        call(g, basics, "widths", 8, 128, [a, b, c, out, I32(n)], out) == want
    ).all()


def test_position_in_three_dimensions(g, basics):
    out = np.zeros((2 * 2, 3 * 4, 5 * 8), "i4")
    got = call(g, basics, "position", (5, 3, 2), (8, 4, 2), [out], out)
    z, y, x = np.indices(out.shape)
    assert (got == x + 100 * y + 10000 * z).all()


def test_divergent_loops(g, basics):
    start = np.arange(1, 501, dtype="u4")
    out = np.zeros(500, "i4")
    got = call(g, basics, "collatz", 4, 128, [start, out, I32(500)], out)

    def steps(x):
        n = 0
        while x != 1 and n <= 500:
            x, n = (3 * x + 1 if x & 1 else x >> 1), n + 1
        return n

    assert got.tolist() == [steps(int(x)) for x in start]


def nested(i, n):
    total = 0
    for a in range(i % 7):
        for b in range(a, i % 5 + a):
            if (a ^ b) & 1:
                continue
            for c in range(b):
                total += a * 100 + b * 10 + c
                if total % 11 == 3:
                    break
        if total > 5000:
            return total
    return total + n


def test_nested_loops_with_break_continue_goto(g, basics):
    out = np.zeros(256, "i4")
    got = call(g, basics, "nested", 1, 256, [out, I32(9)], out)
    assert got.tolist() == [nested(i, 9) for i in range(256)]


def test_switch(g, basics):
    what = (np.arange(96) * 7 % 12).astype("i4")
    out = np.zeros(96, "i4")
    got = call(g, basics, "choose", 1, 96, [what, out], out)
    cases = {
        0: lambda v: v + 1,
        1: lambda v: v * 3 - 5,
        2: lambda v: v - 5,
        3: lambda v: v ^ 255,
        4: lambda v: -v,
        5: lambda v: v << 3,
        6: lambda v: 38,
        7: lambda v: v // 2,
        8: lambda v: v * v,
        9: lambda v: ~v,
    }
    want = [cases.get(int(w), lambda v: 0)(i) for i, w in enumerate(what)]
    assert got.tolist() == want


RECORD = np.dtype(
    [
        ("tag", "i1"),
        ("small", "i2"),
        ("number", "i4"),
        ("value", "f8"),
        ("vector", "f4", 3),
    ],
    align=True,
)


def test_struct_by_value(g, basics):
    r = np.zeros((), RECORD)
    r["tag"], r["small"], r["number"], r["value"] = 5, -300, 1000, 2.5
    r["vector"] = [1, 2, 3]
    out = np.zeros(40, RECORD)
    got = call(g, basics, "by_value", 1, 64, [r, out, I32(40)], out)
    i = np.arange(40)
    assert (got["tag"] == 5 + i).all() and (got["small"] == -300 - i).all()
    assert (got["number"] == 1000 + i).all() and (got["value"] == 2.5 * i).all()
    assert (got["vector"] == np.stack([0 * i + 1, 2 - i, 0 * i + 3], 1)).all()


def test_recursion_and_function_pointers(g, basics):
    out = np.zeros(64, "i4")
    got = call(g, basics, "calls", 1, 64, [out], out)
    fib = [0, 1]
    while len(fib) < 13:
        fib.append(fib[-1] + fib[-2])
    want = [fib[i % 13] * 1000 + (i + 3 if i & 1 else 2 * i) for i in range(64)]
    assert got.tolist() == want


def test_local_arrays(g, basics):
    out = np.zeros(128, "i4")
    got = call(g, basics, "local_arrays", 1, 128, [out], out)
    want = []
    for i in range(128):
        v = sorted((i * 7 + k * 13) % 31 for k in range(16))[: 1 + i % 16]
        want.append(sum(x * 2 ** (k & 7) for k, x in enumerate(v)))
    assert got.tolist() == want


def test_constants_and_globals(g, d, basics):
    from ctypes import byref, c_size_t, c_uint64

    p, n = c_uint64(), c_size_t()
    d.ok("ModuleGetGlobal", byref(p), byref(n), basics, b"scale")
    assert n.value == 4
    d.write(p, np.float32(1.5).tobytes())
    grid = np.array([[1, 2, 3, 4], [5, 6, 0, 0], [9, 10, 11, 12]])
    i = np.arange(32)
    for extra in (0, 100):
        out = np.zeros(32, "i4")
        got = call(g, basics, "memories", 1, 32, [out], out)
        want = 2 ** (i & 7) + 5 + extra + grid[i % 3, i % 4] + (1.5 * i).astype(int)
        assert (got == want).all()
    d.ok("ModuleGetGlobal", byref(p), byref(n), basics, b"counter")
    assert np.frombuffer(d.read(p, 4), "i4")[0] == 205


def test_vector_types(g, basics):
    rng = np.random.default_rng(3)
    v = rng.standard_normal((64, 4)).astype("f")
    w = rng.standard_normal((64, 2))
    c = rng.integers(0, 256, (64, 4)).astype("u1")
    pointers = [g.up(a) for a in (v, w, c)]
    g.launch(basics, "swap_pairs", 1, 64, *pointers)
    assert (g.down(pointers[0], v) == v[:, ::-1]).all()
    assert (g.down(pointers[1], w) == w[:, ::-1]).all()
    assert (g.down(pointers[2], c) == c[:, [1, 0, 3, 2]]).all()


def test_mandelbrot(g, basics):
    w, h, most = 70, 50, 100
    out = np.zeros((h, w), "i4")
    got = call(
        g, basics, "mandelbrot", (5, 4), (16, 16), [out, I32(w), I32(h), I32(most)], out
    )
    x, y = np.zeros((2, h, w))
    cx = -2.0 + 3.0 * np.arange(w) / w + y
    cy = (-1.0 + 2.0 * np.arange(h) / h)[:, None] + y
    want = np.zeros((h, w), "i4")
    alive = np.ones((h, w), bool)
    for _ in range(most):
        alive &= x * x + y * y < 4
        want += alive
        nx, ny = x * x - y * y + cx, 2 * x * y + cy
        x, y = np.where(alive, nx, x), np.where(alive, ny, y)
    assert (got == want).mean() > 0.999  # the kernel fuses a product of |z| < 4


def test_game_of_life(g, basics):
    rng = np.random.default_rng(4)
    board = (rng.random((45, 61)) < 0.3).astype("u1")
    out = np.zeros_like(board)
    got = call(g, basics, "life", (4, 3), (16, 16), [board, out, I32(61), I32(45)], out)
    n = (
        sum(np.roll(board, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1))
        - board
    )
    assert (got == ((n == 3) | ((n == 2) & (board == 1)))).all()


# -- shared memory ---------------------------------------------------------------------


@pytest.fixture
def shared(g):
    return module(g, "shared")


def test_reduction_with_volatile_tail(g, shared):
    rng = np.random.default_rng(5)
    x = rng.integers(-50, 50, 10007).astype("f")
    out = np.zeros(6, "f")
    got = call(g, shared, "sum_volatile", 6, 256, [x, out, I32(len(x))], out)
    assert got.sum() == x.sum()


@pytest.mark.parametrize("block", [32, 64, 100, 1024])
def test_scan_in_dynamic_shared_memory(g, shared, block):
    x = np.random.default_rng(6).integers(0, 100, (3, block)).astype("i4")
    out = np.zeros_like(x)
    got = call(g, shared, "scan", 3, block, [x, out], out, shared=4 * block)
    assert (got == np.cumsum(x, 1)).all()


def test_static_and_dynamic_shared_memory(g, shared):
    x = np.random.default_rng(7).integers(0, 100, 64).astype("i4")
    out = np.zeros_like(x)
    got = call(g, shared, "two_shared", 1, 64, [x, out], out, shared=256)
    assert (got == x[::-1] + 10 * np.roll(x, -1)).all()


def test_tiled_matmul(g, shared):
    rng = np.random.default_rng(8)
    a, b = rng.integers(-9, 9, (2, 48, 48)).astype("f")
    out = np.zeros_like(a)
    got = call(g, shared, "matmul", (3, 3), (16, 16), [a, b, out, I32(48)], out)
    assert (got == a @ b).all()


def test_sorting_network(g, shared):
    x = np.random.default_rng(9).integers(-(10**6), 10**6, 512).astype("i4")
    assert (call(g, shared, "bitonic", 1, 512, [x], x) == np.sort(x)).all()


def test_histogram_by_atomics(g, shared):
    x = np.random.default_rng(10).integers(0, 256, 20000).astype("u1")
    out = np.zeros(256, "u4")
    got = call(g, shared, "histogram", 9, 128, [x, out, I32(len(x))], out)
    assert (got == np.bincount(x, minlength=256)).all()


@pytest.mark.parametrize("low, high", [(0, 20), (1, 9), (1, 120)])
def test_barriers_that_count(g, shared, low, high):
    x = np.random.default_rng(11).integers(low, high, 96).astype("i4")
    out = np.zeros_like(x)
    got = call(g, shared, "counted_barriers", 1, 96, [x, out], out)
    want = (x > 10).sum() + 1000 * (x > 0).all() + 10000 * (x > 99).any()
    assert (got == want).all()


def test_barrier_after_some_threads_left(g, shared):
    out = np.zeros(128, "i4")
    got = call(g, shared, "early_exit", 1, 128, [out, I32(70)], out)
    assert (got[:70] == np.arange(69, -1, -1)).all() and (got[70:] == 0).all()


def test_barriers_between_two_warps(g, shared):
    out = np.zeros(320, "i4")
    got = call(g, shared, "producer_consumer", 1, 64, [out], out)
    want = [i * 32 + 31 - k for i in range(10) for k in range(32)]
    assert got.tolist() == want


# -- warps -----------------------------------------------------------------------------


@pytest.fixture
def warps(g):
    return module(g, "warps")


def test_shuffles(g, warps):
    x = np.random.default_rng(12).integers(0, 1000, 64).astype("i4")
    out = np.zeros((8, 64), "i4")
    got = call(g, warps, "shuffles", 1, 64, [x, out], out)
    for t in range(64):
        w, k = t // 32 * 32, t % 32
        want = [
            x[w + (t * 5 + 3) % 32],
            x[t - 3] if k >= 3 else x[t],
            x[t + 5] if k + 5 < 32 else x[t],
            x[w + (k ^ 9)],
            x[w + (k & 24 | 2)],
            x[t - 1] if k % 4 else x[t],
            x[t + 2] if k % 16 + 2 < 16 else x[t],
            x[t ^ 1],
        ]
        assert got[:, t].tolist() == want


def test_votes_and_matches(g, warps):
    x = np.random.default_rng(13).integers(0, 100, 64).astype("i4")
    x[40] = 1500
    out = np.zeros((7, 64), "u4")
    got = call(g, warps, "votes", 1, 64, [x, out], out)

    def bits(flags):
        return sum(1 << k for k, f in enumerate(flags) if f)

    for w in (0, 32):
        v = x[w : w + 32]
        same = len(set(v // 1000)) == 1
        for k in range(32):
            want = [
                bits(v > 10),
                (v > 90).any(),
                (v > 0).all(),
                bits(v % 5 == v[k] % 5),
                2**32 - 1 if same else 0,
                same,
                bits([(w + j) % 3 == 0 for j in range(32)]) if (w + k) % 3 == 0 else 0,
            ]
            assert got[:, w + k].tolist() == want


def test_sync_on_both_sides_of_a_branch(g, warps):
    x = np.random.default_rng(14).integers(0, 1000, 32).astype("i4")
    out = np.zeros_like(x)
    got = call(g, warps, "split_sync", 1, 32, [x, out], out)
    t = np.arange(32)
    assert (got == x[::-1] + np.where(t & 1, 1000, 2000)).all()


def test_warp_sums(g, warps):
    x = np.random.default_rng(15).integers(0, 100, 1024).astype("f")
    out = np.zeros(1, "f")
    assert call(g, warps, "warp_sums", 4, 256, [x, out], out)[0] == x.sum()


def test_cooperative_groups(g):
    x = np.random.default_rng(16).integers(0, 100, 64).astype("i4")
    out = np.zeros_like(x)
    got = call(g, compiled_module(g, "groups"), "groups", 1, 64, [x, out], out)
    sums = x.reshape(8, 8).sum(1).repeat(8)
    odd = (sums & 1).astype(bool)
    active = odd.reshape(2, 32).sum(1).repeat(32)
    assert (got == np.where(odd, sums * 100 + active, sums)).all()


def test_atomics(g, warps):
    n = 1000
    i = np.array([0, 0, 5000, -5000, 0], "i4")
    u = np.array([2**32 - 1, 0, 0, 0, 5, 2**32 - 1, 0], "u4")
    many = np.zeros(3, "u8")
    f, e = np.zeros(1, "f"), np.zeros(1)
    pointers = [g.up(a) for a in (i, u, many, f, e)]
    g.launch(warps, "atomics", 10, 100, *pointers)
    i, u, many, f, e = (
        g.down(p, a) for p, a in zip(pointers, (i, u, many, f, e), strict=False)
    )
    total = n * (n - 1) // 2
    assert i.tolist() == [total, -total, 1, -1, 42]
    x = 0
    for t in range(n):
        x ^= t * 2654435761 % 2**32
    assert u[:3].tolist() == [0, 2**32 - 1, x]
    assert u[3] == n % 100
    down = 5
    for _ in range(n):
        down = 99 if down == 0 or down > 99 else down - 1
    assert u[4] == down
    assert u[5:].tolist() == [4000000000 - 999, 3000000000 + 999]
    assert many.tolist() == [n << 33, 999 << 32, total]
    assert f[0] == n / 2 and e[0] == n / 4


@pytest.mark.parametrize("name", ["locked", "spin_locked"])
def test_spin_locks_within_a_warp(g, warps, name):
    lock, count = np.zeros(1, "i4"), np.zeros(1, "i4")
    assert call(g, warps, name, 3, 64, [lock, count], count)[0] == 192


def test_warps_that_wait_for_each_other(g, warps):
    turn, out = np.zeros(1, "i4"), np.zeros(8, "i4")
    got = call(g, warps, "relay", 1, 256, [turn, out], out)
    assert got.tolist() == [10 * w for w in range(8)]


def test_last_block_sums_up(g, warps):
    x = np.random.default_rng(17).integers(0, 1000, 5000).astype("i4")
    for _ in range(3):
        total = np.zeros(1, "i4")
        parts = np.zeros(20, "i4")
        got = call(g, warps, "last_block", 20, 32, [x, parts, total, I32(5000)], total)
        assert got[0] == x.sum()


def test_grid_sync(g, d):
    from ctypes import c_uint, c_void_p

    x = np.random.default_rng(18).integers(0, 10, 256).astype("i4")
    p, q = np.uint64(g.up(x)), np.uint64(g.up(x))
    arguments = [np.array(p), np.array(q), np.array(I32(5))]
    d.ok(
        "LaunchCooperativeKernel",
        d.function(compiled_module(g, "groups"), b"grid_sums"),
        *[c_uint(v) for v in (4, 1, 1, 64, 1, 1)],
        c_uint(0),
        None,
        (c_void_p * 3)(*[a.ctypes.data for a in arguments]),
    )
    d.ok("CtxSynchronize")
    v = x
    for _ in range(5):
        v = np.roll(v, 1) + np.roll(v, -1)
    assert (g.down(int(q), x) == v).all()


# -- mathematics -----------------------------------------------------------------------

UNARY = {
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan, "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh,
    "asinh": math.asinh, "acosh": math.acosh, "atanh": math.atanh, "exp": math.exp,
    "exp2": lambda v: 2.0**v, "exp10": lambda v: 10.0**v, "expm1": math.expm1,
    "log": math.log, "log2": math.log2, "log10": math.log10, "log1p": math.log1p,
    "sqrt": math.sqrt, "cbrt": lambda v: math.copysign(abs(v) ** (1 / 3), v),
    "erf": math.erf, "erfc": math.erfc, "lgamma": math.lgamma, "tgamma": math.gamma,
    "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "rint": round,
    "round": lambda v: math.copysign(math.floor(abs(v) + 0.5), v), "fabs": abs,
}  # fmt: skip
BINARY = {
    "pow": math.pow, "fmod": math.fmod, "atan2": math.atan2, "hypot": math.hypot,
    "fmin": min, "fmax": max, "copysign": math.copysign, "remainder": math.remainder,
    "fdim": lambda x, y: max(x - y, 0.0), "nextafter": math.nextafter,
}  # fmt: skip


def expected(f, *values):
    try:
        return float(f(*values))
    except (ValueError, OverflowError, ZeroDivisionError):
        return math.nan


@pytest.mark.parametrize("kind", ["f", "d"])
def test_mathematics(g, kind):
    m = compiled_module(g, "math")
    dtype = np.float32 if kind == "f" else np.float64
    rng = np.random.default_rng(19)
    x = np.concatenate(
        [rng.uniform(-1, 1, 300), rng.uniform(0, 5, 300), rng.uniform(-100, 100, 200)]
    ).astype(dtype)
    tolerance = 2e-6 if kind == "f" else 4e-15
    for number, (name, f) in enumerate(UNARY.items()):
        out = np.zeros_like(x)
        got = call(
            g, m, f"unary_{kind}", 7, 128, [I32(number), x, out, I32(len(x))], out
        ).astype("d")
        want = np.array([expected(f, float(v)) for v in x])
        with np.errstate(over="ignore"):
            inside = np.isfinite(want) & np.isfinite(want.astype(dtype))
        assert inside.sum() >= 250, name
        scale = np.maximum(np.abs(want[inside]), 1e-30)
        if name in (
            "tan",
            "tgamma",
            "sin",
            "cos",
            "log",
            "log2",
            "log10",
            "lgamma",
            "acos",
        ):
            scale = np.maximum(scale, 1e-2 if name != "lgamma" else 1)
        error = np.abs(got[inside] - want[inside]) / scale
        assert error.max() <= tolerance * (8 if name in ("lgamma", "tgamma") else 1), (
            name
        )
    y = rng.permutation(x)
    for number, (name, f) in enumerate(BINARY.items()):
        if name == "nextafter" and kind == "f":
            continue
        out = np.zeros_like(x)
        got = call(
            g, m, f"binary_{kind}", 7, 128, [I32(number), x, y, out, I32(len(x))], out
        ).astype("d")
        want = np.array(
            [expected(f, float(v), float(w)) for v, w in zip(x, y, strict=False)]
        )
        with np.errstate(over="ignore", under="ignore"):
            inside = np.isfinite(want) & np.isfinite(want.astype(dtype))
        assert inside.sum() >= 400, name
        with np.errstate(under="ignore"):
            error = np.abs(got[inside] - want[inside]) / np.maximum(
                np.abs(want[inside]), np.finfo(dtype).tiny
            )
        exact_here = name in (
            "fmod",
            "fmin",
            "fmax",
            "copysign",
            "remainder",
            "nextafter",
        )
        assert error.max() <= (0 if exact_here else tolerance * 4), name


def test_fast_mathematics(g):
    m = compiled_module(g, "math")
    n = 512
    x = np.random.default_rng(20).uniform(-3, 3, n).astype("f")
    out = np.zeros((6, n), "f")
    got = call(g, m, "fast", 4, 128, [x, out, I32(n)], out)
    v = x.astype("d")
    want = [np.sin(v), np.cos(v), np.exp(v), np.log(abs(v)), 1 / v, abs(v) ** 1.5]
    for a, b in zip(got, want, strict=False):
        assert np.abs(a - b).max() <= 2e-6 * max(1, np.abs(b).max())


# -- printf, malloc --------------------------------------------------------------------


def test_printf(g, d, capfd):
    m = module(g, "runtime")
    g.launch(m, "print_things", 1, 32, I32(2))
    got = capfd.readouterr().out
    lines = []
    for t in range(2):
        lines.append(
            f"{t}|{t * 11:5d}|{t:<5d}|{t:05d}|{t:+d}|{4000000000 + t}|{t * 4096:x}"
            "|BEEF|10"
        )
        lines.append(
            f"-5000000000 10000000000000000000 -7 44 {'ab'[t]} {['zero', 'one'][t]}"
            " % 0x1234"
        )
        lines.append(
            "1.500000 3.142   1.23e+04 0.0001 text    right|left    |cu     42"
        )
    # each printf prints for all lanes before the next printf
    want = [lines[k + 3 * t] for k in range(3) for t in range(2)]
    assert got.splitlines() == want


def test_printf_comes_at_synchronisation(g, d, capfd):
    m = module(g, "runtime")
    f = d.function(m, b"print_nothing")
    assert d.LaunchKernel(f, 3, 1, 1, 2, 1, 1, 0, None, None, None) == 0
    d.ok("CtxSynchronize")
    assert capfd.readouterr().out == "plain\n" * 6


def test_device_heap(g, d):
    m = module(g, "runtime")
    out = np.zeros(100, "i4")
    got = call(g, m, "heap", 1, 100, [out, I32(3)], out)
    assert (got == [3 * t * (t + 1) // 2 for t in range(100)]).all()
    assert "heap" not in d.live()
    out = np.ones(1, "u8")
    assert call(g, m, "too_much", 1, 1, [out], out)[0] == 0


# -- schedules -------------------------------------------------------------------------

SEEDED = """
import numpy as np
sys.path.insert(0, "test")
from support.emulator_arrays import Arrays
d.ok("Init", 0)
d.context()
g = Arrays(d)
m = g.load(open("test/data/kernels/shared.ptx").read())
x = np.arange(512, dtype="i4")[::-1].copy()
p = g.up(x)
g.launch(m, "bitonic", 1, 512, p)
assert (g.down(p, x) == np.sort(x)).all()
y = np.arange(1000).astype("u1")
b = g.up(np.zeros(256, "u4"))
g.launch(m, "histogram", 20, 96, g.up(y), b, np.int32(1000))
assert (g.down(b, np.zeros(256, "u4")) == np.bincount(y, minlength=256)).all()
m = g.load(open("test/data/kernels/runtime.ptx").read())
g.launch(m, "print_nothing", 1, 64)
print("fine")
"""


@pytest.mark.parametrize("seed", ["1", "2", "77"])
@pytest.mark.parametrize("threads", ["1", "4"])
def test_shuffled_schedules_give_the_same(seed, threads):
    got = child(
        "os.chdir(str(ROOT))\n" + SEEDED,
        PYCUDA_EMULATOR_SEED=seed,
        PYCUDA_EMULATOR_THREADS=threads,
    )
    assert got.splitlines() == ["plain"] * 64 + ["fine"]
