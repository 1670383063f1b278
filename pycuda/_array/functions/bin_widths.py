"""NumPy's rules for the number of a histogram's bins, such as "auto"."""

from __future__ import annotations

import numpy as np

from pycuda._driver import _max, _mean, _min, _percentile, _std


def _extent(x):
    """Return the distance of the least and the greatest element."""
    return _numbers(_max(x))[()] - _numbers(_min(x))[()]


def _numbers(x):
    """Return the few elements of a result in host memory."""
    return x.get()


def _sqrt(x):
    return _extent(x) / np.sqrt(x.size)


def _sturges(x):
    return _extent(x) / (np.log2(x.size) + 1.0)


def _rice(x):
    return _extent(x) / (2.0 * x.size ** (1.0 / 3))


def _scott(x):
    deviation = float(_numbers(_std(x)))
    return (24.0 * np.pi**0.5 / x.size) ** (1.0 / 3.0) * deviation


def _doane(x):
    if x.size <= 2:
        return 0.0
    n = x.size
    spread_of_skew = np.sqrt(6.0 * (n - 2) / ((n + 1.0) * (n + 3)))
    deviation = float(_numbers(_std(x)))
    if deviation <= 0:
        return 0.0
    away = (x - float(_numbers(_mean(x)))) / deviation
    skew = float(_numbers(_mean(away * away * away)))
    count = 1.0 + np.log2(n) + np.log2(1.0 + abs(skew) / spread_of_skew)
    return _extent(x) / count


def _freedman_diaconis(x):
    upper, lower = _numbers(_percentile(x, [75, 25]))
    return 2.0 * (upper - lower) * x.size ** (-1.0 / 3.0)


def _auto(x):
    width = max(_freedman_diaconis(x), _sqrt(x) / 2)
    return min(width, _sturges(x)) if width else _sturges(x)


_RULES = {
    "sqrt": _sqrt,
    "sturges": _sturges,
    "rice": _rice,
    "scott": _scott,
    "doane": _doane,
    "fd": _freedman_diaconis,
    "auto": _auto,
}


def count_of_bins(a, rule, range):
    """Return the number of bins that a rule of NumPy gives for the elements."""
    if rule not in _RULES:
        known = ", ".join(_RULES)
        raise ValueError(f"bins is {rule!r}, which is none of the rules {known}")
    a = a.ravel()
    # NumPy tests the range, and gives its outer edges.
    if range is None:
        ends = [] if a.size == 0 else [_numbers(_min(a))[()], _numbers(_max(a))[()]]
        first, last = np.histogram_bin_edges(np.array(ends, a.dtype), 1)
    else:
        first, last = np.histogram_bin_edges(np.zeros(0, a.dtype), 1, range)
        a = a[(a >= first) & (a <= last)]
    if a.size == 0:
        return 1
    width = _RULES[rule](a)
    if a.dtype.kind in "iu" and width < 1:
        width = 1
    return int(np.ceil((float(last) - float(first)) / width)) if width else 1
