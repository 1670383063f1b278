"""Reductions."""

from wide import Row


def _axes(name, bytes=4):
    """Return a row for all elements, axis 0 and axis 1 of (n, 16), and of a square."""
    return [
        Row(name, f"x.{name}()", bytes=bytes),
        *(
            Row(f"{name}, axis {axis} of (n, 16)", f"X.{name}({axis})", bytes=bytes)
            for axis in (0, 1)
        ),
        *(
            Row(f"{name}, axis {axis} of a square", f"Y.{name}({axis})", bytes=bytes)
            for axis in (0, 1)
        ),
    ]


def _extreme(name):
    """Return the rows of min or max, which torch calls by another name for axes."""
    return [
        Row(name, f"x.{name}()", bytes=4),
        *(
            Row(
                f"{name}, axis {axis} of (n, 16)",
                ours=f"X.{name}({axis})",
                cupy=f"X.{name}({axis})",
                torch=f"X.a{name}({axis})",
                bytes=4,
            )
            for axis in (0, 1)
        ),
    ]


ROWS = [
    *_axes("sum"),
    Row("mean", "x.mean()", bytes=4),
    *_axes("argmax"),
    *_extreme("max"),
    Row(
        "var",
        ours="x.var()",
        cupy="x.var()",
        torch="x.var(correction=0)",
        bytes=4,
    ),
    *(
        Row(
            f"var, axis {axis} of (n, 16)",
            ours=f"X.var({axis})",
            cupy=f"X.var({axis})",
            torch=f"X.var({axis}, correction=0)",
            bytes=4,
        )
        for axis in (0, 1)
    ),
    Row("std", ours="x.std()", cupy="x.std()", torch="x.std(correction=0)", bytes=4),
    Row("any", "m.any()", bytes=1),
    Row("prod", "x.prod()", bytes=4),
    Row(
        "count_nonzero",
        ours="ga.count_nonzero(m)",
        cupy="cp.count_nonzero(m)",
        torch="torch.count_nonzero(m)",
        bytes=1,
    ),
    Row(
        "nansum",
        ours="ga.nansum(x)",
        cupy="cp.nansum(x)",
        torch="torch.nansum(x)",
        bytes=4,
    ),
    Row(
        "nanmean, axis 0 of (n, 16)",
        ours="ga.nanmean(X, 0)",
        cupy="cp.nanmean(X, 0)",
        torch="torch.nanmean(X, 0)",
        bytes=4,
    ),
    Row("nanvar", ours="ga.nanvar(x)", cupy="cp.nanvar(x)", bytes=4),
    Row("nanmax", ours="ga.nanmax(x)", cupy="cp.nanmax(x)", bytes=4),
    Row("ptp", ours="x.ptp()", cupy="cp.ptp(x)", bytes=4),
    Row(
        "average, weights",
        ours="ga.average(x, weights=y)",
        cupy="cp.average(x, weights=y)",
        bytes=12,
    ),
    Row(
        "dot",
        ours="ga.dot(x, y)",
        cupy="cp.dot(x, y)",
        torch="torch.dot(x, y)",
        bytes=8,
    ),
]
