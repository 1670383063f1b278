"""Norms, and solvers and decompositions of a square matrix ``S``.

``S`` has a 256th of the n elements, so that the largest is 1024 x 1024.
"""

from wide import Row

DATA = {
    "S": "x[: side // 16 * (side // 16)].reshape(side // 16, side // 16).copy()",
    "P": "S @ S.T",
}


def solver(name, call, torch=None):
    """Return the row of a function that numpy.linalg, CuPy and PyTorch have."""
    return Row(
        name,
        ours=f"np.linalg.{call}",
        cupy=f"cp.linalg.{call}",
        torch=f"torch.linalg.{torch or call}",
    )


ROWS = [
    solver("norm", "norm(x)"),
    solver("norm, axis 1 of (n, 16)", "norm(X, axis=1)", "norm(X, dim=1)"),
    solver("norm 1 of a matrix", "norm(Y, 1)"),
    solver("solve", "solve(S, S)"),
    solver("inv", "inv(S)"),
    solver("det", "det(S)"),
    solver("slogdet", "slogdet(S)"),
    solver("qr", "qr(S)"),
    solver("svd, values", "svd(S, compute_uv=False)", "svdvals(S)"),
    solver("eigvalsh", "eigvalsh(P)"),
]
