"""Tests of distributions. One correct sample in a million exceeds their bounds."""

import math

import numpy as np

ALPHA = 1e-6
_NORMAL_QUANTILE = 4.892  # for ALPHA, two-sided


def uniform_cdf(x):
    return np.clip(x, 0, 1)


def normal_cdf(x):
    return np.array([0.5 * math.erfc(-each / math.sqrt(2)) for each in x])


def kolmogorov_smirnov(sample, cdf):
    """Return the distance of a sample from a distribution, divided by its bound."""
    x = np.sort(np.asarray(sample, np.float64).ravel())
    y = cdf(x)
    n = len(x)
    above = (np.arange(1, n + 1) / n - y).max()
    below = (y - np.arange(n) / n).max()
    return max(above, below) / math.sqrt(-math.log(ALPHA / 2) / (2 * n))


def chi_squared(observed, expected):
    """Return the statistic of counts divided by its bound (Wilson and Hilferty)."""
    observed, expected = np.asarray(observed, float), np.asarray(expected, float)
    assert expected.min() >= 5
    freedom = len(observed) - 1
    part = 2 / (9 * freedom)
    quantile = 4.753  # for ALPHA, one-sided
    bound = freedom * (1 - part + quantile * math.sqrt(part)) ** 3
    return (((observed - expected) ** 2 / expected).sum()) / bound


def mean_is(sample, mean, deviation):
    """Return the error of a sample's mean, divided by its bound."""
    sample = np.asarray(sample, np.float64).ravel()
    allowed = _NORMAL_QUANTILE * deviation / math.sqrt(len(sample))
    return abs(sample.mean() - mean) / allowed


def poisson_counts(sample, mean):
    """Return the observed and expected counts of ranges of values."""
    sample = np.asarray(sample).astype(np.int64).ravel()
    top = int(mean + 10 * math.sqrt(mean) + 20)
    k = np.arange(top + 1)
    logs = k * math.log(mean) - mean - np.array([math.lgamma(each + 1) for each in k])
    expected = len(sample) * np.exp(logs)
    expected[-1] += len(sample) - expected.sum()
    observed = np.bincount(np.minimum(sample, top), minlength=top + 1)
    ranges = np.minimum(np.cumsum(expected) - expected / 2, len(sample) - 1)
    # Join values that are expected fewer than 20 times.
    _, starts = np.unique((ranges / 20).astype(int), return_index=True)
    joined = [np.add.reduceat(counts, starts) for counts in (observed, expected)]
    if joined[1][-1] < 10:
        joined = [[*counts[:-2], counts[-2] + counts[-1]] for counts in joined]
    if joined[1][0] < 10:
        joined = [[counts[0] + counts[1], *counts[2:]] for counts in joined]
    return joined
