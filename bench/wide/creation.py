"""New arrays: sequences, triangles, diagonals, grids."""

from wide import Row

ROWS = [
    Row(
        "linspace",
        ours="ga.linspace(0.0, 1.0, x.size, dtype=np.float32, allocator=allocate)",
        cupy="cp.linspace(0.0, 1.0, x.size, dtype=cp.float32)",
        torch="torch.linspace(0.0, 1.0, x.numel(), device='cuda')",
        bytes=4,
    ),
    Row(
        "eye",
        ours="ga.eye(Y.shape[0], dtype=np.float32, allocator=allocate)",
        cupy="cp.eye(Y.shape[0], dtype=cp.float32)",
        torch="torch.eye(Y.shape[0], device='cuda')",
        bytes=4,
    ),
    Row(
        "tri",
        ours="ga.tri(Y.shape[0], dtype=np.float32, allocator=allocate)",
        cupy="cp.tri(Y.shape[0], dtype=cp.float32)",
        torch="torch.tril(torch.ones(Y.shape, device='cuda'))",
        bytes=4,
    ),
    Row(
        "tril",
        ours="ga.tril(Y)",
        cupy="cp.tril(Y)",
        torch="torch.tril(Y)",
        bytes=6,
    ),
    Row(
        "triu, k=1",
        ours="ga.triu(Y, 1)",
        cupy="cp.triu(Y, 1)",
        torch="torch.triu(Y, 1)",
        bytes=6,
    ),
    Row(
        "triu of a transposed matrix",
        ours="ga.triu(Y.T)",
        cupy="cp.triu(Y.T)",
        torch="torch.triu(Y.T)",
        bytes=6,
    ),
    Row(
        "diag of a row",
        ours="ga.diag(Y[0])",
        cupy="cp.diag(Y[0])",
        torch="torch.diag(Y[0])",
        bytes=4,
    ),
    Row(
        "meshgrid of two rows",
        ours="ga.meshgrid(Y[0], Y[1])[1]",
        cupy="cp.meshgrid(Y[0], Y[1])[1]",
        torch="[t.contiguous() for t in torch.meshgrid(Y[0], Y[1], indexing='xy')][1]",
        bytes=8,
    ),
    Row(
        "broadcast_to",
        ours="ga.broadcast_to(Y[0], Y.shape)",
        cupy="cp.broadcast_to(Y[0], Y.shape)",
        torch="torch.broadcast_to(Y[0], Y.shape)",
    ),
    Row(
        "expand_dims",
        ours="ga.expand_dims(x, 0)",
        cupy="cp.expand_dims(x, 0)",
        torch="x.unsqueeze(0)",
    ),
    Row(
        "moveaxis",
        ours="ga.moveaxis(X, 0, 1)",
        cupy="cp.moveaxis(X, 0, 1)",
        torch="torch.moveaxis(X, 0, 1)",
    ),
]
