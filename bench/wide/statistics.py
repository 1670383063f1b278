"""Searching and counting."""

from wide import Row

DATA = {
    "sorted_values": "ga.sort(uniform(min(n, 2**20)))",
    "edges": "ga.linspace(0, 1, 101, dtype=np.float32)",
    "small": "(uniform(n) * 1000).astype(np.int32)",
    "large": "(uniform(n) * 1000000).astype(np.int32)",
}


def _search(name, values, text):
    return Row(
        name,
        ours=f"ga.{text.format(values)}",
        cupy=f"cp.{text.format(values)}",
        torch=f"torch.{text.format(values)}",
    )


ROWS = [
    _search("searchsorted in 2**20", "x", "searchsorted(sorted_values, {})"),
    _search("searchsorted in 101", "x", "searchsorted(edges, {})"),
    Row(
        "digitize, 100 bins",
        ours="ga.digitize(x, edges)",
        cupy="cp.digitize(x, edges)",
        torch="torch.bucketize(x, edges, right=True)",
        bytes=12,
    ),
    _search("bincount, 1000 bins", "small", "bincount({})"),
    _search("bincount, 10**6 bins", "large", "bincount({})"),
    _search("bincount, weights", "small, x", "bincount({})"),
    Row(
        "histogram, 100 bins, range",
        ours="ga.histogram(x, 100, (0, 1))[0]",
        cupy="cp.histogram(x, 100, (0, 1))[0]",
        torch="torch.histc(x, 100, 0, 1)",
        bytes=4,
    ),
    Row(
        "histogram, 100 bins",
        ours="ga.histogram(x, 100)[0]",
        cupy="cp.histogram(x, 100)[0]",
        torch="torch.histc(x, 100)",
        bytes=8,
    ),
    Row(
        "histogram, edges",
        ours="ga.histogram(x, edges)[0]",
        cupy="cp.histogram(x, edges)[0]",
        bytes=4,
    ),
]
