"""Cases of threads that work together: reductions, scans, atomics, warps, sorting."""

import numpy as np

from .plan import Launch, Near, Plan, blocks, case, floats, i32, ints

# -- reduce.cu -------------------------------------------------------------------------


def sums_of_blocks(x, size):
    padded = np.zeros(blocks(x.size, size) * size, x.dtype)
    padded[: x.size] = x
    return padded.reshape(-1, size).sum(axis=1, dtype=np.float64)


@case("reduce.cu")
def sum_tree(rng):
    n = 3000
    x = floats(rng, n)
    out = np.zeros(blocks(n, 256), np.float32)
    return Plan(
        {"in": x, "out": out},
        [Launch("sum_tree", out.size, 256, ["out", "in", i32(n)], shared=1024)],
        ["out"],
        {"out": Near(sums_of_blocks(x, 256), 1e-5, 1e-5)},
    )


@case("reduce.cu")
def sum_interleaved(rng):
    n = 2500
    x = ints(rng, n, -(10**6), 10**6)
    out = np.zeros(blocks(n, 128), np.int32)
    return Plan(
        {"in": x, "out": out},
        [Launch("sum_interleaved", out.size, 128, ["out", "in", i32(n)], shared=512)],
        ["out"],
        {"out": sums_of_blocks(x, 128).astype(np.int32)},
    )


@case("reduce.cu")
def sum_volatile(rng):
    n = 5000
    f, d = floats(rng, n), floats(rng, n, dtype=np.float64)
    i = ints(rng, n, -(10**5), 10**5)
    buffers, launches, expect = {}, [], {}
    for name, x, size in (("float", f, 256), ("int", i, 512), ("double", d, 64)):
        out = np.zeros(blocks(n, 2 * size), x.dtype)
        buffers |= {f"in_{name}": x, f"out_{name}": out}
        args = [f"out_{name}", f"in_{name}", i32(n)]
        launches.append(Launch(f"sum_volatile_{name}", out.size, size, args))
        wanted = sums_of_blocks(x, 2 * size)
        rtol = {"float": 1e-4, "int": 0, "double": 1e-13}[name]
        expect[f"out_{name}"] = Near(wanted, rtol, rtol)
    return Plan(buffers, launches, list(expect), expect)


@case("reduce.cu")
def sum_shuffle(rng):
    n = 7000
    x = floats(rng, n)
    out = np.zeros(3, np.float32)
    part = np.zeros(3 * 256 * blocks(n, 768), np.float32)
    part[:n] = x
    wanted = part.reshape(-1, 3, 256).sum(axis=(0, 2), dtype=float)
    return Plan(
        {"in": x, "out": out},
        [Launch("sum_shuffle", 3, 256, ["out", "in", i32(n)])],
        ["out"],
        {"out": Near(wanted, 1e-5, 1e-4)},
    )


@case("reduce.cu")
def arg_max(rng):
    n = 3000
    x = floats(rng, n)
    x[[17, 600, 2999]] = 2.0  # equals: the first one counts
    return Plan(
        {"in": x, "where": np.zeros(1, np.int32), "what": np.zeros(1, np.float32)},
        [Launch("arg_max", 1, 128, ["where", "what", "in", i32(n)])],
        ["where", "what"],
        {"where": np.array([17], np.int32), "what": np.array([2], np.float32)},
    )


@case("reduce.cu")
def row_moments(rng):
    rows, columns = 20, 150
    x = floats(rng, (rows, columns), 2, 5)
    wide = x.astype(float)
    return Plan(
        {"in": x, "mean": np.zeros(rows), "m2": np.zeros(rows)},
        [Launch("row_moments", rows, 32, ["mean", "m2", "in", i32(columns)])],
        ["mean", "m2"],
        {
            "mean": Near(wide.mean(axis=1), 1e-14),
            "m2": Near(wide.var(axis=1) * columns, 1e-12),
        },
    )


@case("reduce.cu")
def sum_last_block(rng):
    n, grid = 6000, 7
    x = ints(rng, n, -50000, 50000)
    total = np.array([(x.astype(np.int64) ** 2).sum()])
    launch = Launch("sum_last_block", grid, 128, ["out", "parts", "in", i32(n)])
    return Plan(
        {"in": x, "out": np.zeros(1, np.int64), "parts": np.zeros(grid, np.int64)},
        [launch, launch],  # twice: the counter must have come round to zero
        ["out"],
        {"out": total},
    )


# -- scan.cu ---------------------------------------------------------------------------


@case("scan.cu")
def hillis_steele(rng):
    rows, n = 6, 200
    x = ints(rng, (rows, n), -1000, 1000)
    args = ["out", "in", i32(n)]
    return Plan(
        {"in": x, "out": np.zeros_like(x)},
        [Launch("hillis_steele", rows, 256, args, shared=2 * 256 * 4)],
        ["out"],
        {"out": np.cumsum(x, axis=1, dtype=np.int32)},
    )


@case("scan.cu")
def blelloch(rng):
    rows, n = 5, 512
    x = floats(rng, (rows, n))
    wanted = np.cumsum(x, axis=1, dtype=float) - x
    return Plan(
        {"in": x, "out": np.zeros_like(x)},
        [
            Launch(
                "blelloch",
                rows,
                n // 2,
                ["out", "in", i32(n)],
                shared=4 * (n + n // 32),
            )
        ],
        ["out"],
        {"out": Near(wanted, 1e-4, 1e-5)},
    )


@case("scan.cu")
def warp_scan(rng):
    n = 2000
    x = ints(rng, n, 0, 2**32, np.uint32)
    wanted = [
        np.cumsum(part, dtype=np.uint32) for part in np.split(x, range(512, n, 512))
    ]
    return Plan(
        {"in": x, "out": np.zeros_like(x)},
        [Launch("warp_scan", 4, 512, ["out", "in", i32(n)])],
        ["out"],
        {"out": np.concatenate(wanted)},
    )


@case("scan.cu")
def look_back(rng):
    n = 5000
    grid = blocks(n, 128)
    x = ints(rng, n, -1000, 1000)
    flags = {name: np.zeros(grid, np.int32) for name in ("state", "sum", "prefix")}
    args = ["out", "in", "state", "sum", "prefix", "ticket", i32(n)]
    return Plan(
        {"in": x, "out": np.zeros_like(x), **flags, "ticket": np.zeros(1, np.uint32)},
        [Launch("look_back", grid, 128, args)],
        ["out"],
        {"out": np.cumsum(x, dtype=np.int32)},
    )


@case("scan.cu")
def compact(rng):
    n = 240
    x = floats(rng, n)
    kept = x[x > np.float32(0.25)]
    wanted = np.zeros(n, np.float32)
    wanted[: kept.size] = kept
    args = ["out", "count", "in", np.float32(0.25), i32(n)]
    return Plan(
        {"in": x, "out": np.zeros(n, np.float32), "count": np.zeros(1, np.int32)},
        [Launch("compact", 1, 256, args)],
        ["out", "count"],
        {"out": wanted, "count": np.array([kept.size], np.int32)},
    )


# -- atomics.cu ------------------------------------------------------------------------


@case("atomics.cu")
def histogram_shared(rng):
    n = 6000
    x = (floats(rng, n, 0, 16) ** 2).astype(np.uint8)
    return Plan(
        {"in": x, "bins": np.zeros(256, np.uint32)},
        [Launch("histogram_shared", 4, 128, ["bins", "in", i32(n)])],
        ["bins"],
        {"bins": np.bincount(x, minlength=256).astype(np.uint32)},
    )


@case("atomics.cu")
def histogram_global(rng):
    n, count = 3000, 40
    low, width = np.float32(-1), np.float32(0.0625)
    x = floats(rng, n, -1.25, 1.75)
    place = np.clip(np.trunc((x - low) / width).astype(int), 0, count - 1)
    return Plan(
        {"in": x, "bins": np.zeros(count, np.int32)},
        [
            Launch(
                "histogram_global",
                blocks(n, 256),
                256,
                ["bins", "in", low, width, i32(count), i32(n)],
            )
        ],
        ["bins"],
        {"bins": np.bincount(place, minlength=count).astype(np.int32)},
    )


@case("atomics.cu")
def atomic_int(rng):
    n = 1500
    x = ints(rng, n, -(2**31), 2**31)
    u = x.view(np.uint32)
    start = np.zeros(15, np.int32)
    start[[4, 6]] = -1
    start[10] = 300
    wide = int(x.sum(dtype=np.int64))
    down = 300
    for _ in range(n):
        down = 777 if down == 0 or down > 777 else down - 1
    wanted = np.array(
        [
            (wide + 2**31) % 2**32 - 2**31,
            (-wide + 2**31) % 2**32 - 2**31,
            min(0, x.min()),
            max(0, x.max()),
            int(u.min().view(np.int32)),
            int(u.max().view(np.int32)),
            np.bitwise_and.reduce(x | 0x00FF00FF),
            np.bitwise_or.reduce(x & 0x0F0F0F0F),
            np.bitwise_xor.reduce(x),
            n % 1001,
            down,
            1,
            1,
            42,
            1,
        ]
    ).astype(np.int32)
    return Plan(
        {"in": x, "out": start},
        [Launch("atomic_int", blocks(n, 256), 256, ["out", "in", i32(n)])],
        ["out"],
        {"out": wanted},
    )


@case("atomics.cu")
def atomic_long(rng):
    n = 1200
    x = ints(rng, n, -(2**63), 2**63, np.int64)
    u = x.view(np.uint64)
    start = np.zeros(11, np.uint64)
    start[[3, 5]] = 2**64 - 1
    wanted = np.array(
        [
            int(u.astype(object).sum()) % 2**64,
            min(0, int(x.min())) % 2**64,
            max(0, int(x.max())),
            int(u.min()),
            int(u.max()),
            int(np.bitwise_and.reduce(u | np.uint64(0xFF00FF00FF00FF))),
            int(np.bitwise_or.reduce(u & np.uint64(0x0F0F0F0F0F0F0F0F))),
            int(np.bitwise_xor.reduce(u)),
            1 << 40,
            1,
            0x123456789ABCDEF,
        ],
        np.uint64,
    )
    return Plan(
        {"in": x, "out": start},
        [Launch("atomic_long", blocks(n, 256), 256, ["out", "in", i32(n)])],
        ["out"],
        {"out": wanted},
    )


@case("atomics.cu")
def atomic_float(rng):
    n = 1000
    x = (ints(rng, n, -16, 17) / 8).astype(np.float32)
    place = np.arange(n)
    f = np.bincount(place % 7, x, minlength=8)
    f[7] = x.sum(dtype=float)
    d = np.bincount(place % 5, x * 0.5, minlength=5)
    h = np.bincount(place % 64, x, minlength=64)
    buffers = {"f": np.zeros(8, np.float32), "d": np.zeros(5)}
    buffers |= {"h": np.zeros(64, np.float16), "in": x}
    return Plan(
        buffers,
        [Launch("atomic_float", blocks(n, 128), 128, ["f", "d", "h", "in", i32(n)])],
        ["f", "d", "h"],
        {"f": Near(f), "d": Near(d), "h": Near(h)},
    )


@case("atomics.cu")
def cas_loops(rng):
    n = 700
    x = floats(rng, n, -5, 50, np.float64)
    place = np.arange(n)
    most = [max(0.0, x[place % 3 == k].max()) for k in range(3)]
    byte = np.zeros(16, np.uint8)
    for k in range(13):
        byte[k] = place[place % 13 == k].sum() % 256
    return Plan(
        {"most": np.zeros(3), "bytes": np.zeros(16, np.uint8), "in": x},
        [Launch("cas_loops", blocks(n, 128), 128, ["most", "bytes", "in", i32(n)])],
        ["most", "bytes"],
        {"most": np.array(most), "bytes": byte},
    )


@case("atomics.cu")
def spin_lock(rng):
    grid = 24
    return Plan(
        {"lock": np.zeros(1, np.int32), "state": np.zeros(2, np.int64)},
        [Launch("spin_lock", grid, 64, ["lock", "state"])],
        ["lock", "state"],
        {
            "lock": np.zeros(1, np.int32),
            "state": np.array([grid * (grid + 1) // 2, grid]),
        },
    )


@case("atomics.cu")
def spin_lock_lanes(rng):
    grid, block = 2, 64
    wanted = [grid * block * (block - 1) // 2, grid * block]
    return Plan(
        {"lock": np.zeros(1, np.int32), "state": np.zeros(2, np.int32)},
        [Launch("spin_lock_lanes", grid, block, ["lock", "state"])],
        ["lock", "state"],
        {"lock": np.zeros(1, np.int32), "state": np.array(wanted, np.int32)},
    )


@case("atomics.cu")
def aggregated_atomics(rng):
    n = 1000
    x = ints(rng, n, 1, 5000)
    taken = np.sort(x[x % 3 == 0])
    queue = np.zeros(n, np.int32)
    wanted = np.sort(np.concatenate([taken, queue[taken.size :]]))
    return Plan(
        {"queue": queue, "length": np.zeros(1, np.uint32), "in": x},
        [Launch("aggregated", blocks(n, 128), 128, ["queue", "length", "in", i32(n)])],
        ["queue", "length"],
        {"queue": wanted, "length": np.array([taken.size], np.uint32)},
        order_free=("queue",),
    )


# -- warp.cu ---------------------------------------------------------------------------


def mask_of(flags):
    return sum(1 << k for k, flag in enumerate(flags) if flag)


def votes_of_warp(v):
    rows = []
    odd = mask_of(v & 1)
    low = mask_of((v[:16] & 2) != 0)
    agreed = 0xFFFFFFFF if len(set(v >> 7)) == 1 else 1
    for lane, x in enumerate(v):
        row = [mask_of(v > 0), any(v == 17) + 2 * all(v > -100)]
        row += (
            [odd, mask_of((v & 1) & (v > 50))]
            if x & 1
            else [0, 0x80000000 | int(x) % 2**32]
        )
        row += [low if lane < 16 else 7, agreed]
        rows.append(row)
    return rows


@case("warp.cu")
def warp_votes(rng):
    n = 192
    x = ints(rng, n, -120, 128)
    x[:32] = np.abs(x[:32])
    x[40] = 17
    rows = [row for v in x.reshape(-1, 32) for row in votes_of_warp(v)]
    return Plan(
        {"in": x, "out": np.zeros((n, 6), np.uint32)},
        [Launch("votes", 2, 96, ["out", "in"])],
        ["out"],
        {"out": np.array(rows, np.uint32)},
    )


@case("warp.cu")
def warp_matches(rng):
    n = 128
    x = ints(rng, n, 0, 100)
    wide = ints(rng, n, 0, 4, np.uint64) << np.uint64(40)
    rows = []
    for v, w in zip(x.reshape(-1, 32), wide.reshape(-1, 32), strict=True):
        for a, b in zip(v, w, strict=True):
            rows.append([mask_of((v & 7) == (a & 7)), mask_of(w == b), 0])
    return Plan(  # all agree on the last one: the full mask plus one is zero
        {"in": x, "wide": wide, "out": np.zeros((n, 3), np.uint32)},
        [Launch("matches", 1, n, ["out", "in", "wide"])],
        ["out"],
        {"out": np.array(rows, np.uint32)},
    )


def shuffled(v, lane, source, width=32):
    """A shuffle's result: a lane from outside of the segment leaves its own."""
    first = lane // width * width
    inside = first <= source < first + width
    return v[source] if inside else v[lane]


@case("warp.cu")
def warp_shuffles(rng):
    n = 128
    x = ints(rng, n, -(2**31), 2**31)
    wide = floats(rng, n, dtype=np.float64)
    rows, sums = [], []
    for v, w in zip(x.reshape(-1, 32), wide.reshape(-1, 32), strict=True):
        for k in range(32):
            first = k // 8 * 8
            row = [v[5], v[k * 7 % 32], v[first + (k + 1) % 8]]
            row += [shuffled(v, k, k - 3), shuffled(v, k, k - 1, 4)]
            row += [shuffled(v, k, k + 9), shuffled(v, k, k + 2, 16)]
            row += [v[k ^ 21], v[k ^ 4], v[k ^ 3] if k & 4 else -1]
            rows.append(row)
            sums.append(shuffled(w, k, k + 1) + shuffled(w, k, k - 1))
    return Plan(
        {
            "in": x,
            "wide": wide,
            "out": np.zeros((n, 10), np.int32),
            "wide_out": np.zeros(n),
        },
        [Launch("shuffles", 2, 64, ["out", "in", "wide", "wide_out"])],
        ["out", "wide_out"],
        {"out": np.array(rows, np.int32), "wide_out": np.array(sums)},
    )


@case("warp.cu")
def counting_barriers(rng):
    grid, block = 5, 96
    x = ints(rng, (grid, block), -100, 100)
    x[x == 99] = 0
    x[1, 7], x[2, 3], x[3, 90] = 99, -2000, 99
    wanted = (x > 20).sum(1) * 4 + (x > -1000).all(1) * 2 + (x == 99).any(1)
    wanted = np.repeat(wanted, block).astype(np.int32)
    return Plan(
        {"in": x, "out": np.zeros(grid * block, np.int32)},
        [Launch("counting_barriers", grid, block, ["out", "in"])],
        ["out"],
        {"out": wanted},
    )


@case("warp.cu")
def named_barriers(rng):
    t = np.arange(64)
    wanted = sum((t * 10 + k) * 3 ** (3 - k) for k in range(4))
    return Plan(
        {"out": np.zeros(128, np.int32)},
        [Launch("named_barriers", 2, 128, ["out"])],
        ["out"],
        {"out": np.tile(wanted, 2).astype(np.int32)},
    )


@case("warp.cu")
def thinning_warp(rng):
    wanted = [
        sum((32 - k) * (k + 1) + 31 for k in range(lane + 1)) for lane in range(32)
    ]
    return Plan(
        {"out": np.zeros(64, np.int32)},
        [Launch("thinning", 1, 64, ["out"])],
        ["out"],
        {"out": np.array(wanted * 2, np.int32)},
    )


def nested_model(v):
    r = 0
    for a in range(min(v & 7, 5)):
        for b in range(v >> 3 & 7):
            if (a + b) % 3 == 2:
                continue
            if a * b > 12:
                return r + 1000
            r += (a ^ b) + (a if v & 1 else b)
    return r


@case("warp.cu")
def nested_divergence(rng):
    n = 700
    x = ints(rng, n, 0, 64)
    return Plan(
        {"in": x, "out": np.zeros(n, np.int32)},
        [Launch("nested", blocks(n, 128), 128, ["out", "in", i32(n)])],
        ["out"],
        {"out": np.array([nested_model(int(v)) for v in x], np.int32)},
    )


# -- sorting.cu ------------------------------------------------------------------------


@case("sorting.cu")
def bitonic_block(rng):
    x = ints(rng, (4, 512), 0, 2**32, np.uint32)
    return Plan(
        {"data": x},
        [Launch("bitonic_block", 4, 256, ["data"])],
        ["data"],
        {"data": np.sort(x, axis=1)},
    )


@case("sorting.cu")
def bitonic_network(rng):
    n = 1024
    keys = rng.permutation(n).astype(np.float32) - 300
    values = np.arange(n, dtype=np.int32)
    launches, size = [], 2
    while size <= n:
        distance = size // 2
        while distance:
            args = ["keys", "values", i32(distance), i32(size)]
            launches.append(Launch("bitonic_step", n // 256, 256, args))
            distance //= 2
        size *= 2
    return Plan(
        {"keys": keys, "values": values},
        launches,
        ["keys", "values"],
        {"keys": np.sort(keys), "values": np.argsort(keys).astype(np.int32)},
    )


@case("sorting.cu")
def odd_even_sort(rng):
    n = 121
    x = ints(rng, n, -(2**15), 2**15, np.int16)
    return Plan(
        {"data": x},
        [Launch("odd_even", 1, 64, ["data", i32(n)])],
        ["data"],
        {"data": np.sort(x)},
    )


@case("sorting.cu")
def radix_sort(rng):
    x = ints(rng, 256, 0, 2**32, np.uint32)
    names = ["a", "b"]
    launches = []
    for step in range(8):
        to, source = names[(step + 1) % 2], names[step % 2]
        launches.append(Launch("radix_pass", 1, 256, [to, source, i32(4 * step)]))
    return Plan({"a": x, "b": np.zeros_like(x)}, launches, ["a"], {"a": np.sort(x)})


@case("sorting.cu")
def merge_by_rank(rng):
    n, m = 400, 333
    a = np.sort(ints(rng, n, -500, 500, np.int64))
    b = np.sort(ints(rng, m, -500, 500, np.int64))
    both = np.sort(np.concatenate([a, b]))
    return Plan(
        {"a": a, "b": b, "out": np.zeros_like(both)},
        [
            Launch(
                "merge_by_rank",
                blocks(n + m, 128),
                128,
                ["out", "a", "b", i32(n), i32(m)],
            )
        ],
        ["out"],
        {"out": both},
    )
