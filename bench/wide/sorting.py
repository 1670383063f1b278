"""Sorts, partitions, sets and quantiles.

``k`` has random keys of 32 bits. Of the lines, ``K`` are short, ``K1024`` are sorted in
a block.
"""

from wide import Row

DATA = {
    "l": "k.astype(np.int64) * 2147483647 + k",
    "d": "x.astype(np.float64)",
    "few": "k % 1000",
    "other": "((uniform(n) - 0.5) * 4e9).astype(np.int32)",
    "K": "k.reshape(n // 16, 16)",
    "K128": "k.reshape(-1, min(n, 128))",
    "K1024": "k.reshape(-1, min(n, 1024))",
    "K4096": "k.reshape(-1, min(n, 4096))",
}


def _sorts(what, name):
    """Return the rows of a sort and of its indices."""
    return [
        Row(
            f"sort, {what}",
            ours=f"ga.sort({name})",
            cupy=f"cp.sort({name})",
            torch=f"torch.sort({name})",
        ),
        Row(
            f"argsort, {what}",
            ours=f"ga.argsort({name})",
            cupy=f"cp.argsort({name})",
            torch=f"torch.argsort({name})",
        ),
    ]


def _lines(what, name, axis=-1):
    """Return the row of a sort along an axis."""
    return Row(
        f"sort, {what}",
        ours=f"ga.sort({name}, {axis})",
        cupy=f"cp.sort({name}, {axis})",
        torch=f"torch.sort({name}, {axis})",
    )


ROWS = [
    *_sorts("int32", "k"),
    *_sorts("float32", "x"),
    *_sorts("int64", "l"),
    *_sorts("float64", "d"),
    _lines("axis 1 of (n, 16)", "K"),
    _lines("axis 0 of (n, 16)", "K", 0),
    _lines("axis 1 of (n, 128)", "K128"),
    _lines("axis 1 of (n, 1024)", "K1024"),
    _lines("axis 1 of (n, 4096)", "K4096"),
    _lines("axis 0 of a square", "Y", 0),
    Row(
        "sort, descending",
        ours="ga.sort(x, descending=True)",
        torch="torch.sort(x, descending=True).values",
    ),
    Row(
        "lexsort of 2 keys",
        ours="ga.lexsort((k, few))",
        cupy="cp.lexsort(cp.stack((k, few)))",
    ),
    Row(
        "partition",
        ours="ga.partition(x, x.size // 2)",
        cupy="cp.partition(x, x.size // 2)",
        torch="torch.kthvalue(x, x.numel() // 2)",
    ),
    Row("top 10", ours="ga.top_k(x, 10)", torch="torch.topk(x, 10)"),
    Row(
        "unique",
        ours="ga.unique(k)",
        cupy="cp.unique(k)",
        torch="torch.unique(k)",
    ),
    Row(
        "unique with counts, 1000 values",
        ours="ga.unique(few, return_counts=True)",
        cupy="cp.unique(few, return_counts=True)",
        torch="torch.unique(few, return_counts=True)",
    ),
    Row(
        "unique with inverse",
        ours="ga.unique(k, return_inverse=True)",
        cupy="cp.unique(k, return_inverse=True)",
        torch="torch.unique(k, return_inverse=True)",
    ),
    Row(
        "isin",
        ours="ga.isin(k, other)",
        cupy="cp.isin(k, other)",
        torch="torch.isin(k, other)",
    ),
    Row(
        "intersect1d",
        ours="ga.intersect1d(k, other)",
        cupy="cp.intersect1d(k, other)",
    ),
    Row(
        "median",
        ours="ga.median(x)",
        cupy="cp.median(x)",
        torch="torch.median(x)",
    ),
    Row(
        "median, axis 1 of (n, 16)",
        ours="ga.median(X, 1)",
        cupy="cp.median(X, 1)",
        torch="torch.median(X, 1)",
    ),
    Row(
        "nanmedian, axis 1 of (n, 16)",
        ours="ga.nanmedian(X, 1)",
        cupy="cp.nanmedian(X, 1)",
        torch="torch.nanmedian(X, 1)",
    ),
    Row(
        "quantile, axis 1 of (n, 16)",
        ours="ga.quantile(X, 0.3, 1)",
        cupy="cp.quantile(X, 0.3, 1)",
        torch="torch.quantile(X, 0.3, 1)",
        most=1 << 23,
    ),
    Row(
        "quantile with weights",
        ours="ga.quantile(x, 0.5, weights=y, method='inverted_cdf')",
    ),
    Row(
        "3 quantiles",
        ours="ga.quantile(x, [0.25, 0.5, 0.75])",
        cupy="cp.quantile(x, cp.array([0.25, 0.5, 0.75]))",
        torch="torch.quantile(x, torch.tensor([0.25, 0.5, 0.75], device='cuda'))",
        most=1 << 23,
    ),
]
