"""Cumulative operations and masks."""

from wide import Row

DATA = {
    "B": "x.reshape(16, n // 16)",
    "S": "x.reshape(n // 16, 16)[:, ::2]",
    "mX": "m.reshape(n // 16, 16)",
}

LAYOUTS = [
    ("X", "(n, 16)"),
    ("B", "(16, n)"),
    ("Y", "a square"),
]

ROWS = [
    Row(
        "cumsum", ours="ga.cumsum(x)", cupy="cp.cumsum(x)", torch="x.cumsum(0)", bytes=8
    ),
    *(
        Row(
            f"cumsum, axis {axis} of {shape}",
            ours=f"ga.cumsum({name}, {axis})",
            cupy=f"cp.cumsum({name}, {axis})",
            torch=f"{name}.cumsum({axis})",
            bytes=8,
        )
        for name, shape in LAYOUTS
        for axis in (0, 1)
    ),
    Row(
        "cumsum, axis 1 of every second column",
        ours="ga.cumsum(S, 1)",
        cupy="cp.cumsum(S, 1)",
        torch="S.cumsum(1)",
    ),
    Row(
        "cumsum of int32",
        ours="ga.cumsum(k)",
        cupy="cp.cumsum(k, dtype=cp.int64)",
        torch="k.cumsum(0)",
        bytes=12,
    ),
    Row(
        "cumsum of a mask",
        ours="ga.cumsum(m)",
        cupy="cp.cumsum(m, dtype=cp.int64)",
        torch="m.cumsum(0)",
        bytes=9,
    ),
    Row(
        "cumprod",
        ours="ga.cumprod(x)",
        cupy="cp.cumprod(x)",
        torch="x.cumprod(0)",
        bytes=8,
    ),
    Row(
        "cumulative_sum, include_initial",
        ours="ga.cumulative_sum(x, include_initial=True)",
        bytes=8,
    ),
    Row(
        "maximum.accumulate",
        ours="ga.cummax(x)",
        torch="x.cummax(0).values",
        bytes=8,
    ),
    Row(
        "minimum.accumulate",
        ours="ga.cummin(x)",
        torch="x.cummin(0).values",
        bytes=8,
    ),
    Row(
        "nonzero",
        ours="ga.nonzero(m)",
        cupy="cp.nonzero(m)",
        torch="m.nonzero()",
        bytes=5,
    ),
    Row(
        "nonzero of (n, 16)",
        ours="ga.nonzero(mX)",
        cupy="cp.nonzero(mX)",
        torch="mX.nonzero(as_tuple=True)",
        bytes=9,
    ),
    Row(
        "flatnonzero of numbers",
        ours="ga.flatnonzero(k)",
        cupy="cp.flatnonzero(k)",
        torch="k.nonzero()",
        bytes=12,
    ),
    Row(
        "argwhere",
        ours="ga.argwhere(mX)",
        cupy="cp.argwhere(mX)",
        torch="torch.argwhere(mX)",
        bytes=9,
    ),
    Row("x[mask]", "x[m]", bytes=7),
    Row("x[mask] of (n, 16)", "X[mX]", bytes=7),
    Row("x[mask] = c", "v[m] = 2.0", bytes=5),
    Row("x[mask] = x[mask]", "v[m] = x[m]", bytes=16),
    Row(
        "extract",
        ours="ga.extract(m, x)",
        cupy="cp.extract(m, x)",
        torch="torch.masked_select(x, m)",
        bytes=7,
    ),
    Row(
        "compress, axis 0",
        ours="ga.compress(mX[:, 0], X, 0)",
        cupy="cp.compress(mX[:, 0], X, 0)",
        torch="X[mX[:, 0]]",
    ),
    Row(
        "putmask",
        ours="ga.putmask(v, m, x)",
        cupy="cp.putmask(v, m, x)",
        bytes=13,
    ),
]
