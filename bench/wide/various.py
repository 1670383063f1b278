"""Choices, indices, borders, bits, sampled curves and polynomials."""

from wide import Row

DATA = {
    "three": "np.minimum((uniform(n) * 3).astype(np.int32), 2)",
    "layers": "ga.stack([x, y, v])",
    "byte": "(uniform(n) * 256).astype(np.uint8)",
    "few": "uniform(31)",
    "points": "ga.linspace(0, 1, 1001, dtype=np.float64)",
    "heights": "uniform(1001).astype(np.float64)",
    "double": "uniform(n).astype(np.float64)",
    "cubic": "uniform(4)",
    "observations": "uniform(n).reshape(16, n // 16)",
}


def _np(name, call, **options):
    """Return the row of a call of NumPy's protocol, and of CuPy's function."""
    return Row(name, ours=f"np.{call}", cupy=f"cp.{call}", **options)


ROWS = [
    _np("choose of 3", "choose(three, layers)", bytes=12),
    _np("unravel_index", "unravel_index(i, (side, n // side))[1]", bytes=24),
    _np("ravel_multi_index, wrap", "ravel_multi_index((i, i), (n, 7), 'wrap')"),
    _np("pad, mean", "pad(x, 100, 'mean')", bytes=12),
    _np("pad, maximum of 2 axes", "pad(Y, 3, 'maximum')"),
    _np("pad, linear_ramp", "pad(Y, 3, 'linear_ramp')", bytes=8),
    _np("pad, odd reflection", "pad(Y, 3, 'reflect', reflect_type='odd')", bytes=8),
    _np("float_power", "float_power(x, 3)", bytes=12),
    Row("bitwise_count", ours="np.bitwise_count(k)", bytes=5),
    _np("packbits", "packbits(m)", bytes=1.125),
    _np("unpackbits", "unpackbits(byte)", bytes=9),
    _np("convolve with 31", "convolve(x, few)", bytes=8),
    _np("correlate with 31, same", "correlate(x, few, 'same')", bytes=8),
    Row(
        "cov of 16",
        ours="np.cov(observations)",
        cupy="cp.cov(observations)",
        torch="torch.cov(observations)",
    ),
    Row(
        "corrcoef of 16",
        ours="np.corrcoef(observations)",
        cupy="cp.corrcoef(observations)",
        torch="torch.corrcoef(observations)",
    ),
    _np("interp, 1001 points", "interp(double, points, heights)", bytes=16),
    Row(
        "trapezoid",
        ours="np.trapezoid(x)",
        cupy="cp.trapezoid(x)",
        torch="torch.trapezoid(x)",
        bytes=4,
    ),
    _np("unwrap", "unwrap(x)", bytes=8),
    _np("polyval of degree 3", "polyval(cubic, x)", bytes=8),
    _np("histogram2d, 10 by 10", "histogram2d(x, y, range=[(0, 1), (0, 1)])[0]"),
    Row(
        "fill_diagonal",
        ours="np.fill_diagonal(Y, 1)",
        cupy="cp.fill_diagonal(Y, 1)",
        torch="Y.fill_diagonal_(1)",
    ),
]
