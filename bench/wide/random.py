"""Random numbers. Each package uses the generator that it uses by default."""

from wide import Row

ROWS = [
    Row(
        "uniform",
        ours="generator.gen_uniform(n, np.float32)",
        cupy="cp.random.random(n, dtype=cp.float32)",
        torch="torch.rand(n, device='cuda')",
        bytes=4,
    ),
    Row(
        "normal",
        ours="generator.gen_normal(n, np.float32)",
        cupy="cp.random.standard_normal(n, dtype=cp.float32)",
        torch="torch.randn(n, device='cuda')",
        bytes=4,
    ),
]
