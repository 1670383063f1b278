"""Cumulative operations and masks."""

from wide import Row

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
        for name, shape in (("X", "(n, 16)"), ("Y", "a square"))
        for axis in (0, 1)
    ),
    Row(
        "nonzero",
        ours="np.nonzero(m)",
        cupy="cp.nonzero(m)",
        torch="m.nonzero()",
        bytes=5,
    ),
    Row("x[mask]", "x[m]", bytes=7),
    Row("x[mask] = c", "v[m] = 2.0", bytes=5),
]
