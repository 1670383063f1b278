"""Cases that are small programs: pictures, algebra, particles, graphs."""

import numpy as np

from .plan import Launch, Near, Plan, blocks, case, floats, i32, ints

# -- images.cu -------------------------------------------------------------------------


def picture_plan(kernel, inputs, out, wanted, width, height, block=(16, 8)):
    grid = (blocks(width, block[0]), blocks(height, block[1]))
    return Plan(
        {**inputs, "out": out},
        [Launch(kernel, grid, block, ["out", *inputs, i32(width), i32(height)])],
        ["out"],
        {"out": wanted},
    )


@case("images.cu")
def game_of_life(rng):
    width, height, steps = 40, 30, 6
    cells = ints(rng, (height, width), 0, 2, np.uint8)
    wanted = cells
    for _ in range(steps):
        turned = [
            np.roll(wanted, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1)
        ]
        alive = sum(turned) - wanted
        wanted = ((alive == 3) | ((alive == 2) & (wanted == 1))).astype(np.uint8)
    names = ["a", "b"]
    launches = [
        Launch(
            "life",
            (3, 4),
            (16, 8),
            [names[(k + 1) % 2], names[k % 2], i32(width), i32(height)],
        )
        for k in range(steps)
    ]
    buffers = {"a": cells, "b": np.zeros_like(cells)}
    return Plan(buffers, launches, ["a"], {"a": wanted})


@case("images.cu")
def mandelbrot(rng):
    width, height, limit = 48, 32, 60
    step = 3.0 / width
    x, y = np.arange(width), np.arange(height)[:, None]
    c = (-2.1 + x * step) + 1j * (1.0 - y * step)
    z, wanted = np.zeros_like(c), np.zeros(c.shape, np.int32)
    for _ in range(limit):
        inside = z.real**2 + z.imag**2 <= 4
        wanted += inside
        z = np.where(inside, z * z + c, z)
    args = ["out", np.float64(-2.1), np.float64(1.0), np.float64(step)]
    return Plan(
        {"out": np.zeros((height, width), np.int32)},
        [
            Launch(
                "mandelbrot",
                (3, 4),
                (16, 8),
                [*args, i32(width), i32(height), i32(limit)],
            )
        ],
        ["out"],
        {"out": wanted},
    )


@case("images.cu")
def julia(rng):
    # Too chaotic for a model in other arithmetic: the devices are each other's.
    width, limit = 32, 40
    args = ["out", np.float32(-0.4), np.float32(0.6), i32(width), i32(limit)]
    return Plan(
        {"out": np.zeros((width, width), np.float32)},
        [Launch("julia", width * width // 128, 128, args)],
        ["out"],
    )


@case("images.cu")
def transpose(rng):
    width, height = 50, 37
    x = floats(rng, (height, width))
    grid = (blocks(width, 16), blocks(height, 16))
    return Plan(
        {"in": x, "out": np.zeros((width, height), np.float32)},
        [Launch("transpose", grid, (16, 8), ["out", "in", i32(width), i32(height)])],
        ["out"],
        {"out": np.ascontiguousarray(x.T)},
    )


@case("images.cu")
def sobel(rng):
    width, height = 45, 33
    x = ints(rng, (height, width), 0, 256, np.uint8)
    p = np.pad(x, 1, mode="edge").astype(int)

    def at(dx, dy):
        return p[1 + dy : 1 + dy + height, 1 + dx : 1 + dx + width]

    gx = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1)
    gy = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1)
    root = np.sqrt((gx * gx + gy * gy).astype(np.float32)).astype(int)
    wanted = np.minimum(255, root).astype(np.uint8)
    return picture_plan("sobel", {"in": x}, np.zeros_like(x), wanted, width, height)


@case("images.cu")
def convolution(rng):
    width, height = 150, 6
    x, taps = floats(rng, (height, width)), floats(rng, 9)
    kernel = np.concatenate([taps[:8], [2 * taps[8]], taps[7::-1]]).astype(float)
    wanted = np.stack([np.convolve(row, kernel, "same") for row in x.astype(float)])
    return Plan(
        {"in": x, "out": np.zeros_like(x)},
        [
            Launch(
                "convolve_rows",
                (blocks(width, 64), height),
                64,
                ["out", "in", i32(width)],
            )
        ],
        ["out"],
        {"out": Near(wanted, 1e-5, 1e-5)},
        constants={"taps": taps},
    )


@case("images.cu")
def median_filter(rng):
    width, height = 40, 21
    x = ints(rng, (height, width), 0, 256, np.uint8)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3)).reshape(-1, 9)
    wanted = np.zeros_like(x)
    middle = np.sort(windows, axis=1)[:, 4]
    wanted[1:-1, 1:-1] = middle.reshape(height - 2, width - 2)
    return picture_plan("median", {"in": x}, np.zeros_like(x), wanted, width, height)


@case("images.cu")
def grey_picture(rng):
    n = 1000
    x = ints(rng, (n, 4), 0, 256, np.uint8)
    # Far enough from where rounding would decide.
    sums = x[:, :3] @ np.array([0.299, 0.587, 0.114]) + 0.5
    x[np.abs(sums - np.round(sums)) < 1e-3] = 0
    sums = x[:, :3] @ np.array([0.299, 0.587, 0.114]) + 0.5
    return Plan(
        {"in": x, "out": np.zeros(n, np.uint8)},
        [Launch("grey", blocks(n, 256), 256, ["out", "in", i32(n)])],
        ["out"],
        {"out": sums.astype(np.uint8)},
    )


@case("images.cu")
def heat_equation(rng):
    width, height, k, steps = 60, 25, np.float32(0.2), 4
    x = floats(rng, (height, width), 0, 10)
    wanted = x.astype(float)
    for _ in range(steps):
        p = np.pad(wanted, 1)
        around = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
        wanted = wanted + float(k) * (around - 4 * wanted)
    names = ["a", "b"]
    launches = [
        Launch(
            "heat",
            (2, 4),
            (32, 8),
            [names[(s + 1) % 2], names[s % 2], k, i32(width), i32(height)],
        )
        for s in range(steps)
    ]
    return Plan(
        {"a": x, "b": np.zeros_like(x)},
        launches,
        ["a"],
        {"a": Near(wanted, 1e-5, 1e-5)},
    )


# -- linear.cu -------------------------------------------------------------------------


@case("linear.cu")
def tiled_matmul(rng):
    m, n, k = 40, 50, 70
    a, b = floats(rng, (m, k)), floats(rng, (k, n))
    args = ["c", "a", "b", i32(m), i32(n), i32(k)]
    return Plan(
        {"a": a, "b": b, "c": np.zeros((m, n), np.float32)},
        [Launch("matmul", (blocks(n, 16), blocks(m, 16)), (16, 16), args)],
        ["c"],
        {"c": Near(a.astype(float) @ b, 1e-4, 1e-5)},
    )


@case("linear.cu")
def matmul_double(rng):
    n = 33
    a, b = floats(rng, (n, n), dtype=np.float64), floats(rng, (n, n), dtype=np.float64)
    return Plan(
        {"a": a, "b": b, "c": np.zeros((n, n))},
        [Launch("matmul_double", (5, 5), (8, 8), ["c", "a", "b", i32(n)])],
        ["c"],
        {"c": Near(a @ b, 1e-12, 1e-14)},
    )


@case("linear.cu")
def sparse_matrix(rng):
    rows, columns = 60, 80
    counts = ints(rng, rows, 0, 70)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    column = ints(rng, int(start[-1]), 0, columns)
    value = floats(rng, column.size, dtype=np.float64)
    x = floats(rng, columns, dtype=np.float64)
    terms = value * x[column]
    wanted = [terms[a:b].sum() for a, b in zip(start, start[1:], strict=False)]
    buffers = {"y": np.zeros(rows), "start": start, "column": column}
    buffers |= {"value": value, "x": x}
    return Plan(
        buffers,
        [
            Launch(
                "sparse_times_vector",
                blocks(rows * 32, 128),
                128,
                [*buffers, i32(rows)],
            )
        ],
        ["y"],
        {"y": Near(np.array(wanted), 1e-12, 1e-13)},
    )


@case("linear.cu")
def linear_systems(rng):
    count, n = 4, 12
    a = floats(rng, (count, n, n), dtype=np.float64)
    b = floats(rng, (count, n), dtype=np.float64)
    wanted = np.linalg.solve(a, b[:, :, None])[:, :, 0]
    return Plan(
        {"x": np.zeros_like(b), "a": a, "b": b},
        [Launch("solve", count, n, ["x", "a", "b", i32(n)], shared=8 * n * (n + 1))],
        ["x"],
        {"x": Near(wanted, 1e-8, 1e-9)},
    )


@case("linear.cu")
def n_body(rng):
    n, dt, steps = 128, np.float32(0.01), 2
    position = floats(rng, (n, 4))
    position[:, 3] = floats(rng, n, 0.1, 1)
    velocity = floats(rng, (n, 3), -0.1, 0.1)
    p, v = position[:, :3].astype(float), velocity.astype(float)
    for _ in range(steps):
        d = p[None] - p[:, None]
        pull = position[:, 3] * ((d * d).sum(axis=2) + 0.01) ** -1.5
        v = v + (pull[:, :, None] * d).sum(axis=1) * float(dt)
        p = p + v * float(dt)
    launches = [
        Launch("bodies", 2, 64, ["position", "velocity", i32(n), dt], shared=64 * 16),
        Launch("move", 2, 64, ["position", "velocity", dt]),
    ] * steps
    wanted = np.concatenate([p, position[:, 3:].astype(float)], axis=1)
    return Plan(
        {"position": position, "velocity": velocity},
        launches,
        ["position", "velocity"],
        {"position": Near(wanted, 1e-4, 1e-5), "velocity": Near(v, 1e-4, 1e-4)},
    )


@case("linear.cu")
def fourier_transform(rng):
    x = floats(rng, 2 * 3 * 256, dtype=np.float64).view(complex).reshape(3, 256)
    return Plan(
        {"data": x},
        [Launch("fft", 3, 128, ["data"])],
        ["data"],
        {"data": Near(np.fft.fft(x, axis=1), 1e-11, 1e-12)},
    )


@case("linear.cu")
def shortest_paths(rng):
    n = 24
    d = np.where(rng.random_sample((n, n)) < 0.2, ints(rng, (n, n), 1, 50), 10**6)
    np.fill_diagonal(d, 0)
    d = d.astype(np.int32)
    wanted = d.copy()
    for k in range(n):
        wanted = np.minimum(wanted, wanted[:, k : k + 1] + wanted[k : k + 1])
    launches = [
        Launch("floyd_warshall", (3, 3), (8, 8), ["d", i32(k), i32(n)])
        for k in range(n)
    ]
    return Plan({"d": d}, launches, ["d"], {"d": wanted})


@case("linear.cu")
def breadth_first_search(rng):
    n, levels = 200, 8
    edges = [np.unique(ints(rng, 3, 0, n)) for _ in range(n)]
    start = np.concatenate([[0], np.cumsum([e.size for e in edges])]).astype(np.int32)
    edge = np.concatenate(edges).astype(np.int32)
    depth = np.full(n, -1, np.int32)
    depth[0] = 0
    wanted = depth.copy()
    for level in range(levels):
        for v in np.flatnonzero(wanted == level):
            reached = edges[v][wanted[edges[v]] < 0]
            wanted[reached] = level + 1
    launches = [
        Launch(
            "bfs_level", 2, 128, ["depth", "changed", "start", "edge", i32(k), i32(n)]
        )
        for k in range(levels)
    ]
    buffers = {"depth": depth, "changed": np.zeros(1, np.int32)}
    buffers |= {"start": start, "edge": edge}
    return Plan(buffers, launches, ["depth"], {"depth": wanted})


def edit_model(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + (x != y)))
    return row[-1]


@case("linear.cu")
def edit_distance(rng):
    count, length = 6, 40
    a, b = (ints(rng, (count, length), 97, 101, np.int8) for _ in range(2))
    wanted = [edit_model(x.tolist(), y.tolist()) for x, y in zip(a, b, strict=True)]
    return Plan(
        {"out": np.zeros(count, np.int32), "a": a, "b": b},
        [Launch("edit_distance", count, length + 1, ["out", "a", "b", i32(length)])],
        ["out"],
        {"out": np.array(wanted, np.int32)},
    )


@case("linear.cu")
def k_means(rng):
    n, k = 1500, 5
    points, centres = floats(rng, (n, 2), 0, 8), floats(rng, (k, 2), 0, 8)
    d = ((points[:, None].astype(float) - centres[None]) ** 2).sum(axis=2)
    nearest = np.sort(d, axis=1)
    clear = nearest[:, 1] - nearest[:, 0] > 1e-4
    points = np.ascontiguousarray(points[clear])
    n, label = points.shape[0], d[clear].argmin(axis=1)
    fixed = (points * np.float32(65536)).astype(np.int64)
    sums = np.stack([np.bincount(label, c, minlength=k) for c in fixed.T], axis=1)
    buffers = {"label": np.zeros(n, np.int32), "sums": np.zeros((k, 2), np.int64)}
    buffers |= {"counts": np.zeros(k, np.int32), "points": points, "centres": centres}
    return Plan(
        buffers,
        [Launch("kmeans", blocks(n, 128), 128, [*buffers, i32(k), i32(n)])],
        ["label", "sums", "counts"],
        {
            "label": label.astype(np.int32),
            "sums": sums.astype(np.int64),
            "counts": np.bincount(label, minlength=k).astype(np.int32),
        },
    )


def scrambled(x):
    x = (x ^ np.uint32(61)) ^ (x >> np.uint32(16))
    x = x * np.uint32(9)
    x = x ^ (x >> np.uint32(4))
    x = x * np.uint32(0x27D4EB2D)
    return x ^ (x >> np.uint32(15))


@case("linear.cu")
def monte_carlo_pi(rng):
    threads, throws = 256, 40
    dart = np.arange(2 * threads * throws, dtype=np.uint32)
    x, y = scrambled(dart).astype(np.float32).reshape(-1, 2).T / np.float32(2**32)
    inside = x.astype(float) ** 2 + y.astype(float) ** 2 < 1
    return Plan(
        {"hits": np.zeros(1, np.uint32)},
        [Launch("darts", 2, threads // 2, ["hits", i32(throws)])],
        ["hits"],
        {"hits": np.array([inside.sum()], np.uint32)},
    )


@case("linear.cu")
def lorenz_attractor(rng):
    n, dt, steps = 64, 0.005, 40
    state = floats(rng, (n, 3), 1, 10, np.float64)

    def slope(p):
        x, y, z = p.T
        return np.stack([10 * (y - x), x * (28 - z) - y, x * y - z * 8 / 3], axis=1)

    s = state
    for _ in range(steps):
        a = slope(s)
        b = slope(s + a * dt / 2)
        c = slope(s + b * dt / 2)
        d = slope(s + c * dt)
        s = s + dt / 6 * (a + 2 * b + 2 * c + d)
    return Plan(
        {"state": state},
        [Launch("lorenz", 2, 32, ["state", np.float64(dt), i32(steps)])],
        ["state"],
        {"state": Near(s, 1e-9, 1e-9)},
    )
