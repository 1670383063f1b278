"""Random numbers. Each package uses the generator that it uses by default."""

from wide import Row

ROWS = [
    Row(
        "uniform",
        ours="generator.fill_uniform(ga.empty(n, np.float32, allocate))",
        cupy="cp.random.random(n, dtype=cp.float32)",
        torch="torch.rand(n, device='cuda')",
        bytes=4,
    ),
    Row(
        "normal",
        ours="generator.fill_normal(ga.empty(n, np.float32, allocate))",
        cupy="cp.random.standard_normal(n, dtype=cp.float32)",
        torch="torch.randn(n, device='cuda')",
        bytes=4,
    ),
]
