"""Index arrays."""

from wide import Row

#: ``i4``: indices of 32 bits; ``r``: rows of X; ``j``: places along the last axis of X.
DATA = {
    "i4": "i.astype(np.int32)",
    "r": "i[:n // 16] // 16",
    "j": "(i % 16).reshape(n // 16, 16)",
    "V": "v.reshape(n // 16, 16)",
}

ROWS = [
    Row("x[idx]", "x[i]"),
    Row("x[idx] of int32", "x[i4]"),
    Row("v[idx] = v", "v[i] = y"),
    Row("v[idx] = 5", "v[i] = 5"),
    Row("X[rows]", "X[r]", bytes=8.5),
    Row("V[rows] = X", "V[r] = X", bytes=8.5),
    Row("X[rows, 3]", "X[r, 3]"),
    Row("X[:, [3, 1]]", "X[:, i[:2] % 16]", most=2**14),
    Row(
        "take, axis 1 of (n / 16, 16)",
        ours="ga.take(X, j[0], axis=1)",
        cupy="X.take(j[0], axis=1)",
        torch="torch.index_select(X, 1, j[0])",
        bytes=8,
    ),
    Row(
        "take, clipped",
        ours="ga.take(x, i, mode='clip')",
        cupy="x[cp.clip(i, 0, x.size - 1)]",
        torch="x[i.clamp(0, x.numel() - 1)]",
    ),
    Row(
        "put",
        ours="ga.put(v, i, y)",
        cupy="cp.put(v, i, y)",
        torch="v.put_(i, y)",
    ),
    Row(
        "np.add.at",
        ours="np.add.at(v, i, y)",
        cupy="cp.add.at(v, i, y)",
        torch="v.index_add_(0, i, y)",
    ),
    Row(
        "take_along_axis, axis 1 of (n / 16, 16)",
        ours="ga.take_along_axis(X, j, 1)",
        cupy="cp.take_along_axis(X, j, 1)",
        torch="torch.take_along_dim(X, j, 1)",
        bytes=16,
    ),
    Row(
        "put_along_axis, axis 1 of (n / 16, 16)",
        ours="ga.put_along_axis(V, j, X, 1)",
        cupy="cp.put_along_axis(V, j, X, 1)",
        torch="V.scatter_(1, j, X)",
        bytes=16,
    ),
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
