"""Products of matrices and vectors. ``Y`` is a square matrix of n elements."""

from wide import Row

DATA = {
    "Yd": "Y.astype(np.float64)",
    "Yh": "Y.astype(np.float16)",
    "Yc": "Y.astype(np.complex64)",
    "Yi": "(Y * 100).astype(np.int32)",
    "Y2": "Y.copy()",
    "w": "uniform(side)",
    "B": "x.reshape(n // 4096, 64, 64)",
    "K": "uniform(256).reshape(16, 16)",
    "three": "x[: n // 4 * 3].reshape(n // 4, 3)",
    "other": "y[: n // 4 * 3].reshape(n // 4, 3)",
}

ROWS = [
    Row("Y @ Y", "Y @ Y"),
    Row("Y.T @ Y", "Y.T @ Y", most=2**22),
    Row("Y @ Y, float64", "Yd @ Yd", most=2**22),
    Row("Y @ Y, float16", "Yh @ Yh"),
    Row("Y @ Y, complex64", "Yc @ Yc", most=2**22),
    Row("Y @ Y, int32", ours="Yi @ Yi", cupy="Yi @ Yi", most=2**22),
    Row("Y @ vector", "Y @ w", bytes=4),
    Row("vector @ Y", "w @ Y", bytes=4),
    Row("batch of 64 x 64", "B @ B", bytes=8),
    Row("(n, 16) @ (16, 16)", "X @ K", bytes=8),
    Row("(16, n) @ (n, 16)", "X.T @ X", bytes=4),
    Row(
        "matmul, out",
        ours="ga.matmul(Y, Y, Y2)",
        cupy="cp.matmul(Y, Y, Y2)",
        torch="torch.matmul(Y, Y, out=Y2)",
        most=2**22,
    ),
    Row("vdot", ours="ga.vdot(x, y)", cupy="cp.vdot(x, y)", torch="x.dot(y)", bytes=8),
    Row(
        "vecdot, (n, 16)",
        ours="ga.vecdot(X, X)",
        cupy="(X * X).sum(-1)",
        torch="torch.linalg.vecdot(X, X)",
        bytes=5,  # sectors of 32 bytes have two of the elements that are read
    ),
    Row(
        "outer",
        ours="ga.outer(w, w)",
        cupy="cp.outer(w, w)",
        torch="torch.outer(w, w)",
        bytes=4,
    ),
    Row(
        "kron",
        ours="ga.kron(Y[::4, ::4], K[:4, :4])",
        cupy="cp.kron(Y[::4, ::4], K[:4, :4])",
        torch="torch.kron(Y[::4, ::4], K[:4, :4])",
        bytes=4.25,
    ),
    Row("trace", ours="ga.trace(Y)", cupy="cp.trace(Y)", torch="torch.trace(Y)"),
    Row(
        "cross",
        ours="ga.cross(three, other)",
        cupy="cp.cross(three, other)",
        torch="torch.linalg.cross(three, other)",
        bytes=9,
    ),
    Row(
        "tensordot",
        ours="ga.tensordot(B, B, ((0, 2), (0, 2)))",
        cupy="cp.tensordot(B, B, ((0, 2), (0, 2)))",
        torch="torch.tensordot(B, B, ((0, 2), (0, 2)))",
    ),
    *(
        Row(
            f"einsum {text}",
            ours=f"ga.einsum('{text}', {names})",
            cupy=f"cp.einsum('{text}', {names})",
            torch=f"torch.einsum('{text}', {names})",
            most=most,
        )
        for text, names, most in (
            ("ij,jk->ik", "Y, Y", 2**22),
            ("bij,bkj->bik", "B, B", None),
            ("ij,ij->i", "Y, Y", None),
            ("ij,j->i", "Y, w", None),
        )
    ),
]
