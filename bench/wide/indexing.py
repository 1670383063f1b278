"""Index arrays."""

from wide import Row

ROWS = [
    Row("x[idx]", "x[i]"),
    Row("v[idx] = v", "v[i] = y"),
    Row(
        "x[::-1], a copy",
        ours="x[::-1].copy()",
        cupy="x[::-1].copy()",
        torch="x.flip(0)",
        bytes=8,
    ),
    Row(
        "x[::2], a copy",
        ours="x[::2].copy()",
        cupy="x[::2].copy()",
        torch="x[::2].clone()",
        bytes=6,
    ),
    Row(
        "Y.T, a copy",
        ours="Y.T.copy()",
        cupy="cp.ascontiguousarray(Y.T)",
        torch="Y.T.contiguous()",
        bytes=8,
    ),
]
