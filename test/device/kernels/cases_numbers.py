"""Cases over numbers: elementwise kernels of every type, functions of mathematics."""

import math

import numpy as np

from .plan import Launch, Near, Plan, blocks, case, floats, i32, ints

# -- elementwise.cu --------------------------------------------------------------------


@case("elementwise.cu")
def saxpy(rng):
    n = 5000
    x, y, a = floats(rng, n), floats(rng, n), np.float32(2.5)
    return Plan(
        {"x": x, "y": y},
        [Launch("saxpy", blocks(n, 256), 256, ["y", "x", a, i32(n)])],
        ["y"],
        {"y": a * x + y},  # rounded twice
    )


@case("elementwise.cu")
def grid_stride(rng):
    n = 3001
    x, y = floats(rng, n, dtype=np.float64), floats(rng, n, dtype=np.float64)
    z = np.zeros(n)
    args = ["z", "x", "y", np.float64(1.5), np.float64(-0.75), i32(n)]
    return Plan(
        {"x": x, "y": y, "z": z},
        [Launch("grid_stride", 4, 96, args)],
        ["z"],
        {"z": Near(1.5 * x - 0.75 * y, 1e-15, 1e-15)},
    )


@case("elementwise.cu")
def block_stride(rng):
    n, per_block = 4000, 700
    x = ints(rng, n, -10000, 10000)
    places = np.arange(n, dtype=np.int32)
    return Plan(
        {"in": x, "out": np.zeros_like(x)},
        [
            Launch(
                "block_stride",
                blocks(n, per_block),
                128,
                ["out", "in", i32(per_block), i32(n)],
            )
        ],
        ["out"],
        {"out": x * x - 3 * x + places % per_block},
    )


@case("elementwise.cu")
def complex_horner(rng):
    n, degree = 600, 6
    z = floats(rng, 2 * n).view(np.complex64)
    c = floats(rng, 2 * (degree + 1)).view(np.complex64)
    args = ["out", "z", "c", i32(degree), i32(n)]
    return Plan(
        {"z": z, "c": c, "out": np.zeros_like(z)},
        [Launch("complex_horner", blocks(n, 128), 128, args)],
        ["out"],
        {"out": Near(np.polyval(c[::-1].astype(complex), z), 1e-4, 1e-5)},
    )


@case("elementwise.cu")
def complex_divide(rng):
    n = 600
    a = floats(rng, 2 * n, -5, 5, np.float64).view(complex)
    b = floats(rng, 2 * n, -5, 5, np.float64).view(complex)
    a[:3] = [1e300 + 1e300j, 1e-310j, np.inf]
    b[:3] = [1e300 - 1e300j, 2.0, 1.0]
    out = np.zeros(n, complex)
    with np.errstate(all="ignore"):
        wanted = a / b
    wanted[2] = complex(np.inf, np.nan)
    return Plan(
        {"a": a, "b": b, "out": out},
        [Launch("complex_divide", blocks(n, 128), 128, ["out", "a", "b", i32(n)])],
        ["out"],
        {"out": Near(wanted, 1e-13, 1e-15)},
    )


def wrapped(x):
    """An int as 32 bits with sign."""
    return (int(x) + (1 << 31)) % (1 << 32) - (1 << 31)


def truncated(x, y):
    """Quotient and remainder as C has them."""
    q = abs(x) // abs(y)
    q = -q if (x < 0) != (y < 0) else q
    return q, x - q * y


def int_model(x, y):
    x, y = int(x), int(y)
    ux, uy = x % (1 << 32), y % (1 << 32)
    q, r = truncated(x, y) if y else (-1, -1)
    less = (x < y) + 2 * (x == y) + 4 * (ux < uy)
    last = (x & y) | ~(x ^ 0x5A5A)
    low = min(x, y) ^ max(x, y)
    row = [x + y, x - y, x * y, q, r, low, abs(x), ux // (uy | 1), less, last]
    return [wrapped(v) for v in row]


@case("elementwise.cu")
def int_ops(rng):
    n = 512
    a = ints(rng, n, -(2**31), 2**31)
    b = np.where(np.arange(n) % 2, ints(rng, n, -50, 50), ints(rng, n, -(2**31), 2**31))
    b = b.astype(np.int32)
    a[:4], b[:4] = [-(2**31) + 1, 2**31 - 1, 0, -7], [-1, 2**31 - 1, 0, 2]
    wanted = [int_model(x, y) for x, y in zip(a, b, strict=True)]
    return Plan(
        {"a": a, "b": b, "out": np.zeros((n, 10), np.int32)},
        [Launch("int_ops", blocks(n, 128), 128, ["out", "a", "b", i32(n)])],
        ["out"],
        {"out": np.array(wanted, np.int32)},
    )


@case("elementwise.cu")
def half_ops(rng):
    n = 1000
    a, b = floats(rng, n, -40, 40, np.float16), floats(rng, n, -4, 4, np.float16)
    a[:6] = np.array([6e-8, 65504, -65504, np.inf, 1e-5, -0.0], np.float16)
    b[:6] = np.array([0.5, 2, 1, -np.inf, 1e-5, 0.0], np.float16)
    x, y = a.astype(float), b.astype(float)
    with np.errstate(all="ignore"):
        root = np.sqrt(np.abs(a.astype(np.float32))) / np.float32(3)
        wanted = [x + y, x * y, x * y + 0.5, np.where(x < y, -x, y), root]
        wanted = np.stack([w.astype(np.float16) for w in wanted], axis=1)
    return Plan(
        {"a": a, "b": b, "out": np.zeros((n, 5), np.float16)},
        [Launch("half_ops", blocks(n, 128), 128, ["out", "a", "b", i32(n)])],
        ["out"],
        {"out": Near(wanted, 0, 0)},
    )


@case("elementwise.cu")
def half2_dot(rng):
    n = 200
    a = floats(rng, (n, 8, 2), -2, 2, np.float16)
    b = floats(rng, (n, 8, 2), -2, 2, np.float16)
    exact = (a.astype(float) * b.astype(float)).sum(axis=(1, 2))
    return Plan(
        {"a": a, "b": b, "out": np.zeros(n, np.float32)},
        [Launch("half2_dot", blocks(n, 64), 64, ["out", "a", "b", i32(n)])],
        ["out"],
        {"out": Near(exact, 1e-2, 5e-2)},
    )


@case("elementwise.cu")
def mixed_types(rng):
    n = 900
    c, s = ints(rng, n, -128, 128, np.int8), ints(rng, n, 0, 65536, np.uint16)
    i, k = ints(rng, n, -(2**31), 2**31), ints(rng, n, -(2**50), 2**50, np.int64)
    f = floats(rng, n, -100, 100)
    wide = c.astype(float)
    wanted = wide * s + (i + k).astype(float) - (f * c.astype(np.float32)).astype(float)
    return Plan(
        {"out": np.zeros(n), "c": c, "s": s, "i": i, "k": k, "f": f},
        [
            Launch(
                "mixed", blocks(n, 128), 128, ["out", "c", "s", "i", "k", "f", i32(n)]
            )
        ],
        ["out"],
        {"out": wanted},
    )


@case("elementwise.cu")
def conversions(rng):
    n = 800
    x = floats(rng, n, -300, 300, np.float64)
    x[:300] *= 1e7
    x[300:340] *= 1e18
    x[:8] = [0.5, -0.5, 1.5, 2**31, -(2.0**31) - 1, np.nan, np.inf, -np.inf]
    names = ["c", "uc", "s", "i", "u", "l", "ul", "f", "h"]
    types = ["i1", "u1", "i2", "i4", "u4", "i8", "u8", "f4", "f2"]
    buffers = {k: np.zeros(n, t) for k, t in zip(names, types, strict=True)}
    with np.errstate(all="ignore"):
        # A double that is no number becomes the least integer.
        whole = np.trunc(np.nan_to_num(x, nan=-np.inf))
        whole = np.clip(whole, -(2.0**31), 2.0**31 - 1)
        single = x.astype(np.float32)
        down = np.where(single > x, np.nextafter(single, np.float32(-np.inf)), single)
        half = single.astype(np.float16)
    expect = {
        "i": whole.astype(np.int32),
        "c": whole.astype(np.int32).astype(np.int8),
        "s": whole.astype(np.int32).astype(np.int16),
        "f": Near(down.astype(np.float32)),
        "h": Near(half),
    }
    args = ["x", *names, i32(n)]
    return Plan(
        {"x": x, **buffers},
        [Launch("conversions", blocks(n, 128), 128, args)],
        names,
        expect,
    )


@case("elementwise.cu")
def special_values(rng):
    tiny = np.float32(1e-45)
    values = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, tiny, -tiny, 1e-38]
    a = np.array([*values, 3.4e38, 1e-20, -3.4e38, 2.0**-126], np.float32)
    a = np.append(a, np.array([0x7FC12345, 0xFFA00001], np.uint32).view(np.float32))
    n = a.size
    x, y = a[None, :], a[:, None]
    with np.errstate(all="ignore"):
        flags = (x < y) + 2 * (x == y) + 4 * (x > y) + 8 * np.isnan(x) + 16 * ~(x <= y)
        fused = (x.astype(float) * y.astype(float) + x.astype(float)).astype(np.float32)
        root = np.copysign(np.sqrt(np.abs(x)), y)
        columns = [x + y, x * y, x / y, np.fmin(x, y), np.fmax(x, y), fused, flags]
        wanted = np.stack([*np.broadcast_arrays(*columns, root)], axis=2)
    return Plan(
        {"a": a, "out": np.zeros((n, n, 8), np.float32)},
        [Launch("specials", (1, n), 32, ["out", "a", "a", i32(n)])],
        ["out"],
        {"out": Near(wanted)},
    )


@case("elementwise.cu")
def vector_types(rng):
    n = 500
    a = floats(rng, (n, 4), -9, 9)
    b = ints(rng, (n, 2), -1000, 1000)
    c = ints(rng, (n, 4), 0, 256, np.uint8)
    f, w = a.astype(float), c.astype(int)
    product = (w[:, 2] * b[:, 1]).astype(float)
    wanted = [f[:, 0] + w[:, 0], f[:, 1] * b[:, 0], f[:, 2] - product]
    wanted = np.stack([*wanted, f[:, 3] + (w[:, 1] ^ w[:, 3])], axis=1)
    return Plan(
        {"a": a, "b": b, "c": c, "out": np.zeros((n, 4), np.float32)},
        [Launch("vectors", blocks(n, 128), 128, ["out", "a", "b", "c", i32(n)])],
        ["out"],
        {"out": wanted.astype(np.float32)},
    )


# -- mathematics.cu --------------------------------------------------------------------


def arguments(rng, n, dtype, bound=20):
    """Numbers of every size up to a bound, both signs, and zero."""
    x = floats(rng, n, -bound, bound, dtype)
    x[: n // 4] *= dtype(1e-3)
    x[0] = 0
    return x


def functions_model(x, single):
    """What functions of both precisions say, computed in double; None: not modelled."""
    p = np.abs(x) + 0.125
    columns = [None] * 16
    columns[0], columns[1], columns[3], columns[4] = (
        np.sin(x),
        np.cos(x),
        np.exp(x),
        np.log(p),
    )
    columns[2] = np.tan(x / 32) if single else np.tan(x)
    columns[5] = p ** (x * (0.25 if single else 0.5))
    columns[6], columns[7] = np.sqrt(p), np.arctan2(x, p - 1)
    if single:
        columns[8], columns[9], columns[10] = np.arcsin(x / 64), np.tanh(x), np.cbrt(x)
        columns[11] = [math.erf(v / 4) for v in x]
        columns[12], columns[13] = np.hypot(x, 3), np.log2(p)
        columns[14], columns[15] = np.exp2(x / 4), p / np.float64(np.float32(3.7))
        return columns
    columns[8] = np.arcsin(x / 64) + np.arccos(x / 64)
    columns[9] = np.sinh(x / 8) - np.tanh(x)
    columns[10] = np.cbrt(x) + 1 / np.cbrt(p)
    erf = np.array([math.erf(v / 4) for v in x])
    columns[11] = erf + np.log1p(p) + np.expm1(x / 16)
    columns[12] = np.hypot(x, 3) + 1 / np.sqrt(p)
    columns[13] = np.log2(p) + np.exp2(x / 4) + np.log10(p)
    rest = [math.remainder(v, 1.3) for v in x]
    columns[14] = np.fmod(x, 0.7) + rest
    columns[15] = 1 / (x + 100) + x / 3
    return columns


# The accurate functions start from ex2.approx, rcp.approx and their kind, whose last
# bits a GPU has from tables of its own. What remains of that lies within twice the
# error that NVIDIA documents for the function: (units in the last place, near zero).
SINGLE, SINGLE_SPECIAL = (8, 1e-6), (32, 5e-6)
DOUBLE, DOUBLE_SPECIAL = (4, 1e-15), (32, 1e-14)


@case("mathematics.cu")
def double_functions(rng):
    n = 256
    x = arguments(rng, n, np.float64)
    wanted = np.stack(functions_model(x, single=False), axis=1)
    return Plan(
        {"x": x, "out": np.zeros((n, 16))},
        [Launch("double_functions", 2, 128, ["out", "x", i32(n)])],
        ["out"],
        {"out": Near(wanted, 1e-13, 1e-14)},
        approx={"out": DOUBLE},
    )


@case("mathematics.cu")
def double_special(rng):
    n = 128
    x = arguments(rng, n, np.float64)
    out = np.zeros((n, 8))
    return Plan(
        {"x": x, "out": out},
        [Launch("double_special", 1, 128, ["out", "x", i32(n)])],
        ["out"],
        {"out": Near(double_special_model(x), 1e-9, 1e-9)},
        approx={"out": DOUBLE_SPECIAL},
    )


def double_special_model(x):
    p = np.abs(x) + 0.25
    erf = np.vectorize(math.erf)
    columns = [[math.gamma(v) for v in p], [math.lgamma(v) for v in p]]
    columns.append([math.erfc(v / 4) for v in x])
    # Bessel functions by the midpoint rule over their integrals, which for a
    # periodic integrand converges faster than any power.
    angle = (np.arange(400) + 0.5) * np.pi / 400
    columns.append(np.cos(x[:, None] * np.sin(angle)).mean(axis=1))
    columns.append(bessel_y1(p))
    columns.append([0.5 * math.erfc(-v / 8 / math.sqrt(2)) for v in x])
    columns.append(inverse(erf, x / 64, -6.0, 6.0))
    columns.append(np.exp(x[:, None] / 4 * np.cos(angle)).mean(axis=1))
    return np.stack(columns, axis=1)


def bessel_y1(p):
    """Y1 by its integral: an oscillating part, and a part that dies off."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    angle, weight = (nodes + 1) * np.pi / 2, weights / 2
    waves = (np.sin(p[:, None] * np.sin(angle) - angle) * weight).sum(axis=1)
    t, w = (nodes + 1) * 4, weights * 4  # from 0 to 8: exp(-0.25 sinh 8) is nothing
    tail = np.exp(-p[:, None] * np.sinh(t)) * (np.exp(t) - np.exp(-t))
    return waves - (tail * w).sum(axis=1) / np.pi


def inverse(function, y, low, high):
    """The inverse of a growing function, by bisection."""
    low, high = np.full_like(y, low), np.full_like(y, high)
    for _ in range(80):
        middle = (low + high) / 2
        above = function(middle) > y
        high, low = np.where(above, middle, high), np.where(above, low, middle)
    return (low + high) / 2


def single_plan(rng, kernel, n, columns, model=None, approx=None):
    x = arguments(rng, n, np.float32)
    plan = Plan(
        {"x": x, "out": np.zeros((n, columns), np.float32)},
        [Launch(kernel, blocks(n, 128), 128, ["out", "x", i32(n)])],
        ["out"],
    )
    if model is not None:
        wanted, rtol, atol = model(x.astype(float))
        plan.expect["out"] = Near(wanted, rtol, atol)
    if approx:
        plan.approx["out"] = approx
    return plan


def float_model(x):
    return np.stack(functions_model(x, single=True), axis=1), 2e-6, 1e-6


def fast_model(x):
    return np.stack(functions_model(x, single=True), axis=1), 2e-5, 1e-5


@case("mathematics.cu")
def float_functions(rng):
    return single_plan(rng, "float_functions", 512, 16, float_model, SINGLE)


# ex2.approx has 2 ulp, lg2.approx 2^-22 absolute near 1, sin.approx and cos.approx
# 2^-20.5 absolute: through pow, tan and exp that grows with the argument, to less than
# 256 ulp or 4e-6 for these.
@case("mathematics.cu", "-use_fast_math", name="float_functions_fast")
def float_functions_fast(rng):
    plan = single_plan(rng, "float_functions", 512, 16, None, approx=(256, 4e-6))
    x = plan.buffers["x"].astype(float)
    plan.expect["out"] = Near(fast_model(x)[0], 1e-4, 1e-4)
    return plan


def float_special_model(x):
    p = np.abs(x) + 0.25
    angle = (np.arange(400) + 0.5) * np.pi / 400
    columns = [[math.gamma(v) for v in p], [math.lgamma(v) for v in p]]
    columns.append([math.erfc(v / 4) for v in x])
    columns.append(np.cos(angle - x[:, None] * np.sin(angle)).mean(axis=1))
    columns.append(bessel_y0(p))
    columns.append(np.sin(np.pi * (x.astype(np.float32) / np.float32(5)).astype(float)))
    shifted = (np.float32(0.5) + x.astype(np.float32) / np.float32(256)).astype(float)

    def normal(v):
        return 0.5 * np.vectorize(math.erfc)(-v / math.sqrt(2))

    columns.append(inverse(normal, shifted, -6.0, 6.0))
    columns.append(np.sin((x.astype(np.float32) * np.float32(1e6)).astype(float)))
    return np.stack(columns, axis=1), 5e-5, 5e-6


def bessel_y0(p):
    nodes, weights = np.polynomial.legendre.leggauss(200)
    angle, weight = (nodes + 1) * np.pi / 2, weights / 2
    waves = (np.sin(p[:, None] * np.sin(angle)) * weight).sum(axis=1)
    t, w = (nodes + 1) * 4, weights * 4
    tail = 2 * np.exp(-p[:, None] * np.sinh(t))
    return waves - (tail * w).sum(axis=1) / np.pi


@case("mathematics.cu")
def float_special(rng):
    return single_plan(
        rng, "float_special", 256, 8, float_special_model, SINGLE_SPECIAL
    )


@case("mathematics.cu")
def rounding(rng):
    n = 300
    x = floats(rng, n, -9, 9, np.float64)
    x[:80] = np.arange(-40, 40) / 4
    plan = Plan(
        {"x": x, "out": np.zeros((n, 16))},
        [Launch("rounding", blocks(n, 128), 128, ["out", "x", i32(n)])],
        ["out"],
    )
    return plan


def intrinsics_model(x):
    p = np.abs(x) + 0.5
    small = x / 11
    columns = [np.sin(small), np.cos(small), np.exp(x / 4), np.log(p), p**1.5]
    columns += [x / (p + 1), 1 / np.sqrt(p), 10 ** (x / 16)]
    return np.stack(columns, axis=1), 1e-5, 1e-5


@case("mathematics.cu")
def intrinsics(rng):
    return single_plan(rng, "intrinsics", 512, 8, intrinsics_model, approx=(16, 2e-6))


def denormal_plan(rng, flushed):
    n = 400
    a = (floats(rng, n) * np.float32(2) ** ints(rng, n, -148, -118)).astype(np.float32)
    b = (floats(rng, n) * np.float32(2) ** ints(rng, n, -148, 6)).astype(np.float32)
    tiny = np.finfo(np.float32).tiny

    def flush(v):
        v = np.asarray(v, np.float32)
        return np.where(np.abs(v) < tiny, np.copysign(np.float32(0), v), v)

    keep = flush if flushed else lambda v: np.asarray(v, np.float32)
    x, y = keep(a), keep(b)
    fused = (x.astype(float) * y.astype(float) + x.astype(float)).astype(np.float32)
    twice = keep(x * np.float32(1e-30)) * np.float32(1e-9)
    last = np.where(x < y, a, keep(np.abs(y)))
    columns = [x + y, x * y, x - y, fused, twice, last]
    wanted = np.stack([keep(c) for c in columns[:5]] + [last], axis=1)
    return Plan(
        {"a": a, "b": b, "out": np.zeros((n, 6), np.float32)},
        [Launch("denormals", blocks(n, 128), 128, ["out", "a", "b", i32(n)])],
        ["out"],
        {"out": Near(wanted)},
    )


@case("mathematics.cu")
def denormals(rng):
    return denormal_plan(rng, flushed=False)


@case("mathematics.cu", "-ftz=true")
def denormals_flushed(rng):
    return denormal_plan(rng, flushed=True)


def black_scholes_plan(rng, fast):
    n = 1000
    spot, strike = floats(rng, n, 5, 30), floats(rng, n, 1, 100)
    years = floats(rng, n, 0.25, 10)
    rate, volatility = np.float32(0.02), np.float32(0.3)
    s, k, t = (v.astype(float) for v in (spot, strike, years))
    r, v = float(rate), float(volatility)
    d1 = (np.log(s / k) + (r + v * v / 2) * t) / (v * np.sqrt(t))

    def normal(x):
        return 0.5 * np.vectorize(math.erfc)(-x / math.sqrt(2))

    n1, n2 = normal(d1), normal(d1 - v * np.sqrt(t))
    paid = k * np.exp(-r * t)
    call, put = s * n1 - paid * n2, paid * (1 - n2) - s * (1 - n1)
    args = ["call", "put", "spot", "strike", "years", rate, volatility, i32(n)]
    # Differences of amounts up to 100: their error is absolute.
    return Plan(
        {
            "spot": spot,
            "strike": strike,
            "years": years,
            "call": np.zeros(n, np.float32),
            "put": np.zeros(n, np.float32),
        },
        [Launch("black_scholes", blocks(n, 128), 128, args)],
        ["call", "put"],
        {"call": Near(call, 1e-5, 2e-4), "put": Near(put, 1e-5, 2e-4)},
        approx=dict.fromkeys(("call", "put"), (4, 0.0001 if fast else 5e-05)),
    )


@case("mathematics.cu")
def black_scholes(rng):
    return black_scholes_plan(rng, fast=False)


@case("mathematics.cu", "-use_fast_math")
def black_scholes_fast(rng):
    return black_scholes_plan(rng, fast=True)
