"""Joining and moving elements."""

from wide import Row

ROWS = [
    Row(
        "concatenate",
        ours="ga.concatenate((x, y))",
        cupy="cp.concatenate((x, y))",
        torch="torch.cat((x, y))",
        bytes=16,
    ),
    Row(
        "stack",
        ours="ga.stack((x, y))",
        cupy="cp.stack((x, y))",
        torch="torch.stack((x, y))",
        bytes=16,
    ),
    Row(
        "roll",
        ours="np.roll(x, 100)",
        cupy="cp.roll(x, 100)",
        torch="torch.roll(x, 100)",
        bytes=8,
    ),
]
