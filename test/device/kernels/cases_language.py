"""Cases of the language itself and of the kinds of memory; text that kernels print."""

import numpy as np

from .plan import Launch, Near, Plan, blocks, case, floats, i32, ints


def rows_plan(kernel, inputs, out, wanted, extra=(), block=128):
    """One launch of (out, inputs..., n); an element of each input a thread."""
    n = len(next(iter(inputs.values())))
    args = ["out", *inputs, *extra, i32(n)]
    return Plan(
        {**inputs, "out": out},
        [Launch(kernel, blocks(n, block), block, args)],
        ["out"],
        {} if wanted is None else {"out": wanted},
    )


def signed(value, bits=32):
    half = 1 << (bits - 1)
    return (int(value) + half) % (1 << bits) - half


def unsigned(value, bits=32):
    return int(value) % (1 << bits)


# -- memory.cu -------------------------------------------------------------------------


@case("memory.cu")
def constant_initialised(rng):
    n = 1000
    x = floats(rng, n, -8, 8)
    places = np.arange(n)
    lookup = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.float32)
    table = np.array([10, 20, 30, 40], np.float32)
    scaled = x * lookup[places & 7] + table[places & 3]  # rounded at each step
    return rows_plan("constants", {"x": x}, np.zeros_like(x), scaled + np.float32(30))


@case("memory.cu")
def constant_memory(rng):
    n = 700
    x = floats(rng, n, dtype=np.float64)
    poly = floats(rng, 6, dtype=np.float64)
    wanted = np.polyval(poly[::-1], x)
    plan = rows_plan("polynomial", {"x": x}, np.zeros(n), Near(wanted, 1e-13, 1e-15))
    plan.constants["poly"] = poly
    plan.variables["visible"] = np.zeros(32, np.int32)
    plan.expect["visible"] = (wanted[:32] * 100).astype(np.int32)
    return plan


@case("memory.cu")
def initialised_variables(rng):
    words = []
    for word in (b"zero", b"one", b"two"):
        s = 0
        for c in word:
            s = s * 31 + c
        words.append(s)
    out = np.array([1.5, 2.5, 3.5, -1, 0.25, 1e-3, 1.75], np.float32)
    return Plan(
        {"out": np.zeros(7, np.float32), "letters": np.zeros(3, np.int32)},
        [Launch("initialised", 1, 32, ["out", "letters"])],
        ["out", "letters"],
        {"out": out, "letters": np.array(words, np.int32)},
    )


@case("memory.cu")
def dynamic_shared(rng):
    n = 100
    d = floats(rng, n, dtype=np.float64)
    s, c = ints(rng, n, -(2**15), 2**15, np.int16), ints(rng, n, 0, 256, np.uint8)
    t = np.arange(n, dtype=np.int16)
    return Plan(
        {"d": d, "s": s, "c": c},
        [Launch("dynamic_shared", 1, n, ["d", "s", "c"], shared=n * 11)],
        ["d", "s", "c"],
        {"d": d[::-1] + c.sum(), "s": s[::-1] ^ t, "c": c[t.astype(int) * 7 % n]},
    )


def digits_model(v):
    digits = [0] * 16
    for k in range(8):
        digits[v >> 4 * k & 15] += k + 1
    s = 0
    for x in sorted(digits):
        s = s * 7 + x
    return signed(s)


@case("memory.cu")
def local_array(rng):
    x = ints(rng, 400, -(2**31), 2**31)
    wanted = np.array([digits_model(unsigned(v)) for v in x], np.int32)
    return rows_plan("local_array", {"x": x}, np.zeros_like(x), wanted, block=100)


@case("memory.cu")
def struct_by_value(rng):
    n = 300
    layout = np.dtype(
        {
            "names": ["tag", "scale", "shift", "offset", "bias"],
            "formats": ["i1", "f8", ("i2", 3), ("f4", 2), "i8"],
            "offsets": [0, 8, 16, 24, 32],
            "itemsize": 40,
        }
    )
    p = np.zeros((), layout)
    p["tag"], p["scale"], p["bias"] = 5, 1.25, -(2**40)
    p["shift"], p["offset"] = [1, 2, 4], [0.5, -2.25]
    q = np.array((3, -4, 50, 6), np.dtype([(k, "i4") for k in "xyzw"], align=True))
    x = ints(rng, n, -(10**6), 10**6)
    place = np.arange(n)
    parts = [x * 1.25, x >> np.array([1, 2, 4])[place % 3], 0.5 + 2.25 * 5, -(2**40)]
    wanted = sum(parts) + np.where(place & 1, -1, 300)
    return Plan(
        {"x": x, "out": np.zeros(n)},
        [Launch("by_value", blocks(n, 128), 128, ["out", p[()], "x", q[()], i32(n)])],
        ["out"],
        {"out": Near(wanted.astype(float), 1e-15)},
    )


def list_model(t):
    s = 0
    for k in reversed(range(t % 9 + 1)):
        s = s * 3 + t * k + 1
    return signed(s)


@case("memory.cu")
def heap_lists(rng):
    n = 128
    wanted = np.array([list_model(t) for t in range(n)], np.int32)
    return Plan(
        {"out": np.zeros(n, np.int32)},
        [Launch("heap_lists", 2, 64, ["out"])],
        ["out"],
        {"out": wanted},
    )


@case("memory.cu")
def heap_shared(rng):
    wanted = []
    for block in range(3):
        s = 0
        for t in range(40):
            s = signed(s * 5 + t * t - block, 64)
        wanted.append(s)
    return Plan(
        {"out": np.zeros(3, np.int64)},
        [Launch("heap_shared", 3, 40, ["out"])],
        ["out"],
        {"out": np.array(wanted)},
    )


def casts_model(i, f, d):
    bits = int(d.view(np.uint64))
    f_bits = int(f.view(np.uint32))
    digest = 2166136261
    for byte in bits.to_bytes(8, "little"):
        digest = unsigned((digest ^ byte) * 16777619)
    joined = signed(i << 32 | f_bits, 64) >> 7
    return [digest, (bits ^ f_bits) & 0xFFFFFFFF, bits >> 32, unsigned(joined)]


@case("memory.cu")
def bit_casts(rng):
    n = 300
    f, d = floats(rng, n, -1e5, 1e5), floats(rng, n, -1e-5, 1e-5, np.float64)
    rows = [casts_model(i, a, b) for i, (a, b) in enumerate(zip(f, d, strict=True))]
    wanted = np.array(rows, np.uint32)
    return rows_plan("bit_casts", {"f": f, "d": d}, np.zeros((n, 4), np.uint32), wanted)


@case("memory.cu")
def bytes_to_words(rng):
    n = 64
    t = np.arange(n)[:, None]
    k = np.arange(4)[None, :]
    raw = (t * 5 + k * k).astype(np.uint8)
    words = np.roll(raw.reshape(-1).view(np.uint32), -1)
    upper = raw.reshape(-1).view(np.uint16)[1::2]
    return Plan(
        {"words": np.zeros(n, np.uint32), "bytes": np.zeros(4 * n, np.uint8)},
        [Launch("bytes_to_words", 1, n, ["words", "bytes", i32(n)])],
        ["words", "bytes"],
        {"words": words + upper.astype(np.uint32), "bytes": raw.reshape(-1)},
    )


# -- language.cu -----------------------------------------------------------------------


@case("language.cu")
def templates(rng):
    n = 200
    f, d = floats(rng, n), floats(rng, n, dtype=np.float64)
    x = ints(rng, n, -1000, 1000)
    dots, sums, most = [], [], []
    for i in range(n):
        k = np.arange(5)
        dots.append(np.dot(f[(i + k) % n].astype(float), f[(i + 2 * k) % n]))
        sums.append(7 + x[: i % 40].sum())
        most.append(max([-1.0, *d[: i % 50]]))
    buffers = {"dots": np.zeros(n, np.float32), "sums": np.zeros(n, np.int32)}
    buffers |= {"most": np.zeros(n), "f": f, "x": x, "d": d}
    return Plan(
        buffers,
        [Launch("templates", 2, 128, ["dots", "sums", "most", "f", "x", "d", i32(n)])],
        ["dots", "sums", "most"],
        {
            "dots": Near(np.array(dots), 1e-5, 1e-6),
            "sums": np.array(sums, np.int32),
            "most": np.array(most),
        },
    )


@case("language.cu")
def lambdas(rng):
    n = 100
    c = np.arange(n) * 0.25
    x = (np.arange(16) + 0.5) / 16
    y = -1 + (np.arange(8) + 0.5) * 0.375
    wanted = (x**2).mean() + c + 3 * (c - y.mean())
    return Plan(
        {"out": np.zeros(n, np.float32)},
        [Launch("lambdas", 1, 128, ["out", i32(n)])],
        ["out"],
        {"out": Near(wanted, 1e-5, 1e-5)},
    )


@case("language.cu")
def recursion(rng):
    n, length = 64, 12
    fib = [0, 1]
    while len(fib) < 13:
        fib.append(fib[-1] + fib[-2])
    t = np.arange(n)
    x = floats(rng, (n, length))
    return Plan(
        {"a": np.zeros(n, np.int32), "f": np.zeros(n, np.uint32), "sorted": x},
        [Launch("recursion", 2, 32, ["a", "f", "sorted", i32(length)])],
        ["a", "f", "sorted"],
        {
            "a": (2 * (t % 5) + 3).astype(np.int32),
            "f": np.array(fib, np.uint32)[t % 13],
            "sorted": np.sort(x, axis=1),
        },
    )


@case("language.cu")
def function_pointers(rng):
    n = 300
    x = floats(rng, n, 0.5, 2)
    program = ints(rng, 9, 0, 4)
    functions = [lambda v: 2 * v, lambda v: v * v, lambda v: 1 / v, lambda v: -v]
    wanted = x.astype(float)
    for step in program:
        which = (step + np.arange(n)) & 3
        wanted = np.choose(which, [f(wanted) for f in functions])
    args = ["out", "in", "program", i32(program.size), i32(n)]
    return Plan(
        {"in": x, "out": np.zeros(n, np.float32), "program": program},
        [Launch("function_pointers", blocks(n, 128), 128, args)],
        ["out"],
        {"out": Near(wanted, 1e-5)},
    )


@case("language.cu")
def virtual_functions(rng):
    n = 100
    i = np.arange(n)
    areas = np.where(i % 3 == 0, 3.140625 * (i * 0.5) ** 2, i * (i % 3 + 0.5))
    return Plan(
        {"areas": np.zeros(n, np.float32), "sides": np.zeros(n, np.int32)},
        [Launch("virtual_functions", 1, 128, ["areas", "sides", i32(n)])],
        ["areas", "sides"],
        {
            "areas": Near(areas, 1e-6),
            "sides": np.where(i % 3 == 0, 0, 4).astype(np.int32),
        },
    )


def byte_code_model(a, code):
    b, pc = 1, 0
    while pc < len(code):
        op = code[pc]
        if op == 0:
            a += b
        elif op == 1:
            a -= b
        elif op == 2:
            a *= 3
        elif op == 3:
            b ^= a
        elif op == 4:
            a = b >> 1
        elif op == 5:
            a, b = b, a
        elif op == 6:
            a = -a
        elif op == 7:
            b += pc
        elif op == 8:
            pc += a & 1
        elif op == 9:
            a |= 0x10
        elif op == 10:
            b &= 0xFFFF
        else:
            a += 1
        a, b, pc = signed(a), signed(b), pc + 1
    return [a, b]


@case("language.cu")
def byte_code(rng):
    n, length = 200, 60
    code = ints(rng, length, 0, 13, np.uint8)
    wanted = [byte_code_model(i, code.tolist()) for i in range(n)]
    return Plan(
        {"out": np.zeros((n, 2), np.int32), "code": code},
        [Launch("byte_code", blocks(n, 64), 64, ["out", "code", i32(length), i32(n)])],
        ["out"],
        {"out": np.array(wanted, np.int32)},
    )


def toward_zero(x, y):
    q = abs(x) // y
    return -q if x < 0 else q


def switch_model(v):
    kind = v & 15
    if kind in (1, 2):
        return (v - 7 if kind == 1 else 0) + toward_zero(v, 3)
    if kind == 4:
        return sum(k * v for k in range(v >> 4 & 7))
    if kind == 9:
        return 0
    simple = {
        0: v * 3,
        3: v - 11 * toward_zero(v, 11),
        5: bin(v % 2**32).count("1"),
        6: v << 3,
        7: v >> 2,
        8: ~v,
        10: v ^ 0x1234,
        11: min(v, 1000),
    }
    return simple.get(kind, -v)


@case("language.cu")
def lane_switch(rng):
    x = ints(rng, 1000, -(2**31), 2**31)
    wanted = np.array([signed(switch_model(int(v))) for v in x], np.int32)
    return rows_plan("lane_switch", {"x": x}, np.zeros_like(x), wanted)


def collatz_model(v):
    steps = 0
    while v > 1:
        if steps > 200:
            return -steps
        if v & 1:
            v = 3 * v + 1
            if v % 5 == 0:
                steps += 2
                continue
        else:
            v >>= 1
        steps += 1
    return steps


@case("language.cu")
def loops_with_exits(rng):
    x = ints(rng, 400, 0, 2**16)
    wanted = np.array([collatz_model(int(v)) for v in x], np.int32)
    return rows_plan("goto_loops", {"x": x}, np.zeros_like(x), wanted)


def first_bit(v):
    return (v & -v).bit_length()


def reversed_bits(v, width):
    return int(f"{v:0{width}b}"[::-1], 2)


def bits_model(x, y):
    w = x << 32 | y
    sx, sy = signed(x), signed(y)
    both = y << 32 | x
    picked = [(both >> 8 * (selector & 7)) & 255 for selector in (5, 1, 6, 3)]
    left = ((y << 32 | x) << (y & 31)) >> 32
    right = (y << 32 | x) >> min(y & 63, 32)
    short = [signed(v & 0xFFFFFF, 24) for v in (x, y)]
    return [
        bin(x).count("1"),
        32 - x.bit_length(),
        reversed_bits(x, 32),
        first_bit(x),
        bin(w).count("1"),
        64 - w.bit_length(),
        reversed_bits(w, 64) >> 13,
        first_bit(w),
        sum(byte << 8 * k for k, byte in enumerate(picked)),
        left,
        right,
        x * y >> 32,
        sx * sy >> 32,
        abs(sx - sy) + 5,
        (x & 0xFFFFFF) * (y & 0xFFFFFF) + short[0] * short[1],
        (sx + sy) >> 1 ^ (x + y + 1) >> 1,
    ]


@case("language.cu")
def bit_tricks(rng):
    n = 300
    a, b = ints(rng, n, 0, 2**32, np.uint32), ints(rng, n, 0, 2**32, np.uint32)
    a[:4], b[:4] = [0, 1, 2**31, 2**32 - 1], [0, 32, 63, 2**32 - 1]
    rows = [
        [unsigned(v) for v in bits_model(int(x), int(y))]
        for x, y in zip(a, b, strict=True)
    ]
    wanted = np.array(rows, np.uint32)
    return rows_plan(
        "bit_tricks", {"a": a, "b": b}, np.zeros((n, 16), np.uint32), wanted
    )


def parts(v, width, is_signed):
    found = [v >> k & ((1 << width) - 1) for k in range(0, 32, width)]
    return [signed(p, width) for p in found] if is_signed else found


def dots_model(i, x, y):
    def dot(p, q):
        return sum(u * v for u, v in zip(p, q, strict=True))

    low, high = parts(y, 8, True)[:2], parts(y, 8, True)[2:]
    pair = parts(x, 16, True)
    row = [dot(parts(x, 8, True), parts(y, 8, True)) + i]
    row += [dot(parts(x, 8, False), parts(y, 8, False)) + i]
    row += [dot(pair, low) - i, dot(pair, high) + i * i]
    return [signed(v) for v in row]


@case("language.cu")
def dot_products(rng):
    n = 300
    a, b = ints(rng, n, -(2**31), 2**31), ints(rng, n, -(2**31), 2**31)
    pairs = zip(a, b, strict=True)
    rows = [dots_model(i, unsigned(x), unsigned(y)) for i, (x, y) in enumerate(pairs)]
    wanted = np.array(rows, np.int32)
    return rows_plan(
        "dot_products", {"a": a, "b": b}, np.zeros((n, 4), np.int32), wanted
    )


@case("language.cu")
def simd_bytes(rng):
    n = 300
    a, b = ints(rng, n, 0, 2**32, np.uint32), ints(rng, n, 0, 2**32, np.uint32)
    x, y = (v.view(np.uint8).reshape(n, 4).astype(int) for v in (a, b))
    pairs = np.maximum(a.view(np.int16), b.view(np.int16)).view(np.uint32)
    columns = [x + y, np.abs(x - y), None, (x > y) * 255]
    columns += [np.minimum(x + y, 255), (x + y + 1) >> 1]
    words = [
        pairs if c is None else c.astype(np.uint8).view(np.uint32).ravel()
        for c in columns
    ]
    return rows_plan(
        "simd_bytes",
        {"a": a, "b": b},
        np.zeros((n, 6), np.uint32),
        np.stack(words, axis=1),
    )


def long_model(x, y):
    y = y or 1
    ux, uy, s = unsigned(x, 64), unsigned(y, 64), y & 63
    q = abs(x) // abs(y)
    q = -q if (x < 0) != (y < 0) else q
    row = [q, x - q * y, ux // uy, ux % uy, ux << s | ux >> (63 & -s), x >> s]
    row += [x * y >> 64, ux * uy >> 64, x * y + (x < y), abs(x) // 1000003 + ux % 97]
    return [signed(v, 64) for v in row]


@case("language.cu")
def long_division_and_shifts(rng):
    n = 300
    a = ints(rng, n, -(2**63) + 1, 2**63, np.int64)
    b = ints(rng, n, -(2**63), 2**63, np.int64) >> ints(rng, n, 0, 63, np.int64)
    a[:3], b[:3] = [2**63 - 1, -1, 0], [-1, 2**40, 0]
    rows = [long_model(int(x), int(y)) for x, y in zip(a, b, strict=True)]
    wanted = np.array(rows, np.int64)
    return rows_plan("long_math", {"a": a, "b": b}, np.zeros((n, 10), np.int64), wanted)


def wide_model(x, y):
    def number(words):
        return sum(int(w) << 32 * k for k, w in enumerate(words))

    total = number(x) + number(y)
    product = number(x[:2]) * number(y[:2]) - (int(x[3]) << 96) - int(y[2])
    return [v >> 32 * k & 0xFFFFFFFF for v in (total, product) for k in range(4)]


@case("language.cu")
def wide_arithmetic(rng):
    n = 200
    a, b = (ints(rng, (n, 4), 0, 2**32, np.uint32) for _ in range(2))
    a[:20], b[10:30] = 2**32 - 1, 2**32 - 1
    rows = [wide_model(x, y) for x, y in zip(a, b, strict=True)]
    wanted = np.array(rows, np.uint32)
    return rows_plan("wide_math", {"a": a, "b": b}, np.zeros((n, 8), np.uint32), wanted)


def inline_model(i, v):
    t = -21 if v < 0 else 21 + v
    field = signed(v >> 3 & 0x1FF, 9)
    lane = i % 32
    return signed((field * 5 + t) ^ lane << 20 ^ signed(lane << 26))


@case("language.cu")
def inline_ptx(rng):
    x = ints(rng, 300, -(2**30), 2**30)
    wanted = [inline_model(i, int(v)) for i, v in enumerate(x)]
    return rows_plan(
        "inline_ptx", {"x": x}, np.zeros_like(x), np.array(wanted, np.int32)
    )


@case("language.cu")
def indices_in_three_dimensions(rng):
    grid, block = (3, 2, 2), (5, 4, 3)

    def packed(x, y, z):
        return x | y << 8 | z << 16

    rows = [
        [
            packed(tx, ty, tz),
            packed(bx, by, bz),
            packed(*block) | 32 << 24,
            packed(*grid),
        ]
        for bz in range(grid[2])
        for by in range(grid[1])
        for bx in range(grid[0])
        for tz in range(block[2])
        for ty in range(block[1])
        for tx in range(block[0])
    ]
    return Plan(
        {"out": np.zeros((len(rows), 4), np.int32)},
        [Launch("where_am_i", grid, block, ["out"])],
        ["out"],
        {"out": np.array(rows, np.int32)},
    )


# -- printing.cu -----------------------------------------------------------------------


def lines_of(t, v):
    u = v % 2**32
    yield f"thread {t} has {v}, {u}, {u:x}, {u:08X}"
    yield f"{t:2}: {v * 0.5:f} {v * 1e10:.3e} {v / 3:g}|{v * 0.25:8.2f}|{t:<8.1f}|"
    word = "odd" if t & 1 else "even"
    yield f"{t:2} long {v * 10**10} {2**64 - 1 - t} {chr(ord('a') + t)} 100% {word}"


@case("printing.cu")
def printf(rng):
    x = ints(rng, 10, -100000, 100000)
    lines = ["no arguments"]
    for t, v in enumerate(x.tolist()):
        lines += lines_of(t, v)
    text = b"".join(sorted(f"{line}\n".encode() for line in lines))
    return Plan(
        {"in": x},
        [Launch("say", 1, 32, ["in", i32(x.size)])],
        [],
        {"lines": np.frombuffer(text, np.uint8)},
        lines=lines,
    )
